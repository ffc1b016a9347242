//! `compare`: at which rung two URLs are the same, and what two profiles make of inputs.

use super::{Place, json_lines};
use serde_json::json;

#[test]
fn the_lowest_rung_that_joins_two_urls_is_named_alone() {
    let place = Place::new();
    for (a, b, rung) in [
        ("http://h/", "http://h/", "string"),
        ("relative", "relative", "string"),
        // RFC 3986 section 6.2.2.
        ("example://a/b/c/%7Bfoo%7D", "eXAMPLE://a/./b/../b/%63/%7bfoo%7d", "syntax"),
        ("HTTP://www.EXAMPLE.com/", "http://www.example.com/", "syntax"),
        // Section 6.2.3.
        ("http://example.com", "http://example.com/", "scheme"),
        ("http://example.com:/", "http://example.com:80/", "scheme"),
        ("mailto:Joe@Example.COM", "mailto:Joe@example.com", "scheme"),
        // Section 6.1.
        ("http://example.com/#a", "http://example.com/#b", "crawl"),
        // The sanitizer's question: these are the same in the host, and the others are not.
        ("http://ex%61mple.com/", "http://example.com/", "syntax"),
        ("http://example.com/ind%65x.html", "http://example.com/index.html", "syntax"),
        ("http://example.com/a/b", "http://example.com/a%2Fb", "different"),
        ("http://example.com/?a", "http://example.com/%3Fa", "different"),
        ("http://example.com/?a+b", "http://example.com/?a%2Bb", "different"),
        ("http://example.com/%41", "http://example.com/%2541", "different"),
        // A rung that rejects either is passed over.
        ("http://h/^", "http://h/%5E", "crawl"),
        ("http:/h", "http:/h", "string"),
        ("", "", "string"),
        ("", "http://h/", "different"),
    ] {
        let status = i32::from(rung == "different");
        let run = place.run(["compare", a, b]).exits(status);
        assert_eq!(run.out(), format!("{rung}\n"), "{a} {b}");
        assert!(run.err.lines().all(|line| line.len() <= 80), "{}", run.err);
        let quiet = place.run(["compare", "-q", b, a]).exits(status);
        assert_eq!((quiet.out(), &*quiet.err), (run.out(), ""), "{b} {a}");
    }
}

#[test]
fn why_it_is_no_lower_rung_is_told_beside() {
    let place = Place::new();
    let run =
        place.run(["compare", "http://example.com:80/%7Ea", "http://example.com/~A/"]).exits(1);
    assert_eq!(
        run.err,
        "\
aggressive: they differ
  A http://example.com/~a
                        ^
  B http://example.com/~A
                        ^
"
    );
    // Erlang's guide: the first of these is no URI.
    let run = place.run(["compare", "https://local host", "https://local%20host"]).exits(1);
    assert_eq!(
        run.err,
        "\
aggressive: passed over, since it rejects A and B

  rejected at byte 8
    https://local host
            ^

  rejected at byte 8
    https://local%20host
            ^
  idna: a host that UTS 46 ToASCII refuses.
  A host is letters, digits, hyphens and dots, in any script IDNA allows.

crawl: passed over likewise

scheme: passed over, since it rejects A

  rejected at byte 13
    https://local host
                 ^
  byte: a byte that the grammar does not allow here.
  A host is letters, digits, hyphens and dots; the profile crawl writes other
  scripts in ASCII.

syntax: passed over likewise

string: they differ
  A https://local host
                 ^
  B https://local%20host
                 ^^^
"
    );
    // Two targets, which no rung reads without a base.
    let run = place.run(["compare", "/wiki/A%2fB", "/wiki/A/B"]).exits(1);
    assert_eq!(
        run.err,
        "\
aggressive: passed over, since it rejects A and B

  rejected at byte 0
    /wiki/A%2fB
    ^

  rejected at byte 0
    /wiki/A/B
    ^
  relative: a relative reference, and no base that resolves it.
  --base says what it is relative to; --assume-scheme https reads example.com/x
  as https://example.com/x.

crawl, scheme, syntax: passed over likewise

string: they differ
  A /wiki/A%2fB
           ^^^
  B /wiki/A/B
           ^
"
    );
    let run = place.run(["compare", "--color", "always", "http://h/#a", "http://h/"]).exits(0);
    assert_eq!(run.out(), "crawl\n");
    assert!(run.err.contains("A http://h/\x1b[1;31m#a\x1b[0m\n"), "{}", run.err);
}

#[test]
fn a_program_gets_every_rung() {
    let run = Place::new().run(["compare", "--json", "http://h", "http://h/^"]).exits(1);
    assert!(run.err.is_empty());
    let rung = |profile: &str, a: &str| json!({"profile": profile, "a": a, "b_reject": ["byte"], "b_at": 9});
    assert_eq!(
        json_lines(&run.out),
        [json!({
            "rung": "different", "a": "http://h", "b": "http://h/^",
            "rungs": [
                {"profile": "string@1", "a": "http://h", "b": "http://h/^"},
                rung("syntax@1", "http://h"),
                rung("scheme@1", "http://h/"),
                {"profile": "crawl@1", "a": "http://h/", "b": "http://h/%5E"},
                {"profile": "aggressive@1", "a": "http://h/", "b": "http://h/%5E"},
            ],
        })]
    );
}

#[test]
fn relative_references_are_compared_on_a_base() {
    let place = Place::new();
    place.run(["compare", "../b", "/b"]).exits(1);
    let base = ["--base", "http://h/a/"];
    let run = place.run(["compare", "../b", "/b"].into_iter().chain(base)).exits(0);
    assert_eq!(run.out(), "syntax\n");
}

#[test]
fn names_of_files_are_no_urls() {
    let place = Place::with([("a.txt", b"http://h/\n"), ("b.txt", b"http://h/\n")]);
    let told = "uniqurl: warning: a.txt is a file, and its name was compared; --profiles A,B ";
    let run = place.run(["compare", "-q", "a.txt", "b.txt"]).exits(1);
    assert_eq!(run.out(), "different\n");
    assert!(run.err.starts_with(told) && run.err.lines().count() == 1, "{}", run.err);
    assert!(run.err.contains("`uniqurl set diff`"), "{}", run.err);
    for urls in [["none.txt", "http://h/"], ["http://h/a.txt", "http://h/b.txt"]] {
        let run = place.run(["compare", "-q"].into_iter().chain(urls)).exits(1);
        assert_eq!(run.err, "");
    }
    // A base makes URLs of them.
    let based = ["compare", "-q", "--base", "http://h/", "a.txt", "b.txt"];
    assert_eq!(place.run(based).exits(1).err, "");
}

#[test]
fn redirects_that_come_through_a_pipe_are_those_of_every_profile() {
    let place = Place::with([("in", b"http://h/a\n")]);
    let list = "http://h/a\thttp://h/b\n";
    let redirects = ["compare", "--redirects", "/dev/stdin"];
    let with = |more: &[&'static str]| [&redirects, more].concat();
    let run = place.run_on(with(&["HTTP://h/a", "http://h/b"]), list).exits(0);
    assert_eq!(run.out(), "syntax\n");
    let www = "http://h/a\thttp://www.h.example/\n";
    let run = place.run_on(with(&["--profiles", "crawl,aggressive", "in"]), www).exits(1);
    assert!(run.out().contains("http://www.h.example/"), "{}", run.out());
    let explain = ["explain", "-p", "all", "--redirects", "/dev/stdin", "http://h/a"];
    let run = place.run_on(explain, list).exits(0);
    assert!(!run.out().contains("redirects=0"), "{}", run.out());
}

const LINKS: &[u8] = b"http://h/a\nhttp://www.H/b?\nhttp://h/ x\n/x\n\nhttp://H/\nhttp://h/A\n";

#[test]
fn what_two_profiles_read_differently_is_listed() {
    let place = Place::with([("links", LINKS)]);
    let run = place.run(["compare", "--profiles", "scheme,ia", "links"]).exits(1);
    assert_eq!(
        run.out(),
        "\
links:2: different hosts
  url       http://www.H/b?
  scheme@1  http://www.h/b?
  ia@1      http://h/b
links:3: rejected by one
  url       http://h/ x
  scheme@1  rejected at byte 9: byte
  ia@1      http://h/%20x
links:7: different forms
  url       http://h/A
  scheme@1  http://h/A
  ia@1      http://h/a
"
    );
    assert!(run.err.contains("3 URLs are read differently: 1 name another host"), "{}", run.err);
    assert_eq!((run.summary("records"), run.summary("rejected"), run.summary("blank")), (7, 2, 1));
    // The other way around, from a pipe, on one thread, in objects.
    let arguments = ["compare", "--profiles", "ia,scheme", "--json", "-j1", "-q"];
    let run = place.run_on(arguments, LINKS).exits(1);
    assert!(run.err.is_empty(), "{}", run.err);
    let objects = json_lines(&run.out);
    assert_eq!(objects.len(), 3);
    assert_eq!(
        objects[1],
        json!({
            "file": "-", "record": 3, "offset": 27, "difference": "reject", "url": "http://h/ x",
            "says": [
                {"profile": "ia@1", "out": "http://h/%20x"},
                {"profile": "scheme@1", "reject": ["byte"], "at": 9},
            ],
        })
    );
}

#[test]
fn redact_masks_the_urls_and_the_forms_that_are_listed() {
    let place = Place::with([(
        "links",
        b"http://u:SECRET@h/A?k=SECRET#SECRET\nhttp://u:SECRET@h:x/?SECRET\n",
    )]);
    let arguments = ["compare", "--profiles", "scheme,ia", "--redact", "links"];
    let run = place.run(arguments).exits(1);
    assert_eq!(
        run.out(),
        "\
links:1: different forms
  url       http://***@h/A?k=***#***
  scheme@1  http://***@h/A?k=***#***
  ia@1      http://h/a?k=***
"
    );
    let run = place.run(arguments.into_iter().chain(["--json"])).exits(1);
    assert!(run.out().contains(r#""url":"http://***@h/A?k=***#***""#), "{}", run.out());
    assert!(!run.out().contains("SECRET") && !run.out().contains("secret"), "{}", run.out());
}

#[test]
fn options_of_inputs_are_refused_with_two_urls() {
    let place = Place::with([("in", LINKS)]);
    for options in [
        &["--output", "out"][..],
        &["--report", "page"],
        &["--format", "csv:url"],
        &["--recursive"],
        &["--files-from", "in"],
        &["--redact"],
        &["--keep-going"],
        &["--max-rejected", "1"],
        &["--schemes", "http"],
        &["--max-url", "1K"],
        &["--threads", "1"],
        &["--backend", "scalar"],
        &["--progress", "never"],
    ] {
        let run = place.run([&["compare", "http://h/", "http://h/"], options].concat()).exits(2);
        let told = format!("{} is for the inputs of --profiles A,B", options[0]);
        assert!(run.out.is_empty() && run.err.contains(&told), "{}", run.err);
        let inputs = Place::with([("in", LINKS)]);
        let run = inputs.run([&["compare", "--profiles", "crawl,ia", "in"], options].concat());
        assert!(!run.err.contains("is for the inputs"), "{}", run.err);
    }
    let redirects = Place::with([("list", b"http://a/\thttp://b/\n")]);
    let rules = "compare -q --json http://a/ http://b/ --redirects list --with sort-query \
                 --drop-param x --color never --base http://h/ --assume-scheme http --transcode latin1";
    redirects.run(rules.split_whitespace()).exits(0);
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn help_says_of_compare_what_it_does() {
    let run = Place::new().run(["compare", "--help"]).exits(0);
    let help = run.out().split_whitespace().collect::<Vec<_>>().join(" ");
    for wrong in
        ["parquet or .arrow; -", ".parquet or", "--rejects", "column original", "--profile-file"]
    {
        assert!(!help.contains(wrong), "{wrong}: {help}");
    }
    for told in ["1 different, or an input was skipped", "3 stopped by a limit"] {
        assert!(help.contains(told), "{help}");
    }
}

#[test]
fn compare_ends_as_it_says() {
    let place = Place::with([("same", b"http://h/a\n"), ("bad", b"x\n")]);
    let profiles = ["compare", "--profiles", "syntax,crawl"];
    for (arguments, status) in [
        (&["same"][..], 0),
        (&["same", "missing", "--keep-going"], 1),
        (&["same", "missing"], 2),
        (&["bad", "--max-rejected", "0"], 3),
    ] {
        place.run([&profiles, arguments].concat()).exits(status);
    }
}

#[test]
fn profiles_that_agree_are_status_0() {
    let place = Place::with([("links", b"http://h/a\nx\nhttp://h/b\n")]);
    let run = place.run(["compare", "--profiles", "syntax,crawl", "links"]).exits(0);
    assert_eq!(run.out(), "");
    assert!(run.err.contains("0 URLs are read differently"), "{}", run.err);
}

#[test]
fn nothing_is_said_of_differences_where_nothing_was_read() {
    // The head of a gzip file, and nothing that could be unpacked.
    let place = Place::with([("bad.gz", b"\x1F\x8B\x08\0damaged"), ("links", LINKS)]);
    let arguments = ["compare", "--profiles", "scheme,ia", "--keep-going"];
    for (input, status) in [("missing", 1), ("bad.gz", 1), ("/dev/null", 0)] {
        let run = place.run(arguments.into_iter().chain([input])).exits(status);
        assert!(!run.err.contains("read differently"), "{input}: {}", run.err);
        assert_eq!(run.summary("records"), 0);
    }
    let run = place.run(arguments.into_iter().chain(["bad.gz", "links"])).exits(1);
    assert!(run.err.contains("3 URLs are read differently"), "{}", run.err);
}

#[test]
fn targets_of_logs_are_compared_as_the_profiles_read_them() {
    let log = b"h - - [10/Oct/2000:13:55:36 +0000] \"GET /a%2fb//..;x HTTP/1.1\" 200 1\n";
    let place = Place::with([("log", log)]);
    let arguments = ["compare", "--profiles", "crawl,mediawiki", "--json", "log"];
    let run = place.run(arguments).exits(1);
    let says = &json_lines(&run.out)[0]["says"];
    assert_eq!((&says[0]["out"], &says[1]["out"]), (&json!("/a%2Fb//..;x"), &json!("/a/b//..;x")));
    let run = place.run(arguments.into_iter().chain(["--base", "https://b"])).exits(1);
    let object = &json_lines(&run.out)[0];
    assert_eq!(object["url"], "https://b/a%2fb//..;x");
    assert_eq!(object["says"][1]["out"], "https://b/a/b//..;x");
}

#[test]
fn each_profile_reads_records_as_it_does_alone() {
    let log = [
        "/a", // A URL of the ladder, and no target of a ring.
        "mailto:x",
        // Blanks before a target are none of it where the profile trims.
        r"\x20/a", // What a ring rejects as `*` the ladder does as well.
        "*",
    ]
    .map(|target| format!("h - - [10/Oct/2000:13:55:36 +0000] \"GET {target} HTTP/1.1\" 200 1\n"))
    .concat();
    let place = Place::with([("log", log.as_bytes()), ("list", b"\xEF\xBB\xBFhttp://h/\n")]);
    for (profiles, base, records) in [
        ("syntax,mediawiki", None, &[2][..]),
        ("scheme,crawl", None, &[3]),
        ("crawl,mediawiki", None, &[2, 3]),
        ("string,crawl", Some("HTTP://B:80"), &[1, 3]),
    ] {
        let (one, other) = profiles.split_once(',').unwrap();
        for (one, other) in [(one, other), (other, one)] {
            let profiles = format!("{one},{other}");
            let mut options = vec!["-f", "combined", "log", "--json"];
            options.extend(base.iter().flat_map(|base| ["--base", base]));
            let alone = |profile| {
                let run = place.run(["normalize", "-p", profile].iter().chain(&options)).exits(0);
                json_lines(&run.out)
            };
            let alone = [alone(one), alone(other)];
            let run = place.run(["compare", "--profiles", &profiles].iter().chain(&options));
            let found = json_lines(&run.exits(1).out);
            let listed: Vec<_> =
                found.iter().map(|object| object["record"].as_u64().unwrap()).collect();
            assert_eq!(listed, records, "{profiles}");
            for object in &found {
                let record = object["record"].as_u64().unwrap() as usize - 1;
                for (says, alone) in object["says"].as_array().unwrap().iter().zip(&alone) {
                    for member in ["out", "reject", "at"] {
                        assert_eq!(says.get(member), alone[record].get(member), "{profiles}");
                    }
                }
            }
        }
    }
    // A byte-order mark that one of them skips is no difference.
    for profiles in ["crawl,syntax", "syntax,crawl"] {
        place.run(["compare", "--profiles", profiles, "list"]).exits(0);
    }
}

#[test]
fn where_a_host_or_the_target_behind_it_is_rejected_is_told_as_alone() {
    let place = Place::with([("in", b"h:99999,/a\nh,/%zz\n")]);
    let options = ["-f", "csv:host=1,path=2", "in", "--json"];
    let at = |profile: &str| {
        let run = place.run(["normalize", "-p", profile].into_iter().chain(options)).exits(0);
        json_lines(&run.out).into_iter().find_map(|object| object.get("at").cloned())
    };
    assert_eq!((at("crawl"), at("syntax")), (Some(json!(9)), Some(json!(1))));
    for (profiles, crawl) in [("crawl,syntax", 0), ("syntax,crawl", 1)] {
        let arguments = ["compare", "--profiles", profiles];
        let run = place.run(arguments.into_iter().chain(options)).exits(1);
        let [host, target] = &json_lines(&run.out)[..] else { panic!("{profiles}: two differ") };
        assert_eq!(host["says"][crawl]["at"], 9, "{profiles}");
        assert_eq!(target["says"][1 - crawl]["at"], 1, "{profiles}");
    }
}

#[test]
fn a_url_is_wanted_in_either_form() {
    // Both take the first two; `crawl` alone the others.
    let links = b"http://a/\nhttp://b/\nhttp://a/^\nhttp://b/^\nhttp:\\\\a\n";
    let place = Place::with([("links", links)]);
    for (profiles, lines, filtered) in [
        ("syntax,crawl", &[3][..], 1),
        ("crawl,syntax", &[3], 2),
        ("crawl,whatwg", &[5], 2),
        ("whatwg,crawl", &[5], 2),
    ] {
        let arguments = ["compare", "--json", "--host", "a", "--profiles", profiles, "links"];
        let run = place.run(arguments).exits(1);
        let found: Vec<_> =
            json_lines(&run.out).iter().map(|object| object["record"].as_u64().unwrap()).collect();
        assert_eq!(found, lines, "{profiles}");
        assert!(run.err.contains(&format!("+ filtered {filtered} +")), "{profiles}: {}", run.err);
    }
}

#[test]
fn a_choice_is_for_the_profile_that_has_it() {
    let links = b"http://u@h/a%2Fb\n/a//b%2Fc\n";
    let place = Place::with([("in", links)]);
    for (profiles, options, says) in [
        (
            "crawl,sanitize",
            "--allow userinfo,encoded-slash",
            ["http://h/a%2Fb", "http://u@h/a%2Fb"],
        ),
        (
            "sanitize,crawl",
            "--allow userinfo,encoded-slash",
            ["http://u@h/a%2Fb", "http://h/a%2Fb"],
        ),
        ("servlet,mediawiki", "--allow encoded-slash", ["http://u@h/a%2Fb", "http://u@h/a/b"]),
        (
            "servlet,ring",
            "--allow encoded-slash --ring decode=2F",
            ["http://u@h/a%2Fb", "http://u@h/a/b"],
        ),
    ] {
        let run = place.run(
            ["compare", "--json", "--profiles", profiles, "in"]
                .into_iter()
                .chain(options.split_whitespace()),
        );
        let listed = json_lines(&run.exits(1).out);
        let outs = [0, 1].map(|i| listed[0]["says"][i]["out"].clone());
        assert_eq!(outs, says, "{profiles} {options}");
    }
    let kept = ["compare", "--json", "--profiles", "servlet,crawl", "in", "--allow"];
    let more = ["encoded-slash", "--with", "keep-empty-segments"];
    let run = place.run(kept.into_iter().chain(more)).exits(1);
    assert_eq!(json_lines(&run.out)[1]["says"][0]["out"], "/a//b%2Fc");
}

#[test]
fn a_choice_that_no_profile_has_is_refused() {
    let place = Place::with([("in", LINKS)]);
    for (arguments, told) in [
        ("--profiles crawl,ia in --allow userinfo", "profile ia makes no check userinfo"),
        ("--profiles string,syntax in --with strip-www", "profile syntax has no switch strip-www"),
        ("--profiles string,syntax in --without strip-www", "no switch strip-www"),
        ("--profiles string,syntax in --drop-param x", "profile syntax"),
        ("--profiles crawl,mediawiki in --ring decode=2F", "profile mediawiki takes no ring"),
        ("--profiles string,whatwg in --transcode latin1", "profile whatwg"),
        (
            "http://h/ http://h/ --allow userinfo",
            "no rung of the ladder makes a check userinfo; with --profiles A,B name a profile that does",
        ),
        (
            "http://h/ http://h/ --ring decode=2F",
            "no rung of the ladder takes a ring; with --profiles A,B name a profile that does",
        ),
        (
            "http://h/ http://h/ --with keep-empty-segments",
            "no rung of the ladder has a switch keep-empty-segments; with --profiles A,B",
        ),
    ] {
        let run = place.run(["compare"].into_iter().chain(arguments.split_whitespace())).exits(2);
        assert!(run.err.contains(told), "{arguments}: {}", run.err);
    }
    let help = place.run(["compare", "--help"]).exits(0);
    let help = help.out().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("It is for the profile ring, which --profiles has to name."), "{help}");
    assert!(!help.contains("implies it"), "{help}");
}

#[test]
fn wrong_usage_is_status_2() {
    let place = Place::with([("in", LINKS)]);
    for arguments in [
        &["compare"][..],
        &["compare", "a"],
        &["compare", "a", "b", "c"],
        &["compare", "--profiles", "crawl", "in"],
        &["compare", "--profiles", "crawl,crawl", "in"],
        &["compare", "--profiles", "crawl,ia,scheme", "in"],
        &["compare", "--profiles", "crawl,frob", "in"],
        &["compare", "-p", "crawl", "a", "b"],
        &["compare", "--key", "surt", "a", "b"],
        &["compare", "--profiles", "crawl,ia", "in", "--stats", "s"],
        &["compare", "--profiles", "crawl,ia", "missing"],
        &["compare", "--base", "relative", "a", "b"],
    ] {
        assert!(place.run(arguments).exits(2).out.is_empty(), "{arguments:?}");
    }
}
