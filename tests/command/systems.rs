//! The profiles of single systems, and their options.

use super::{Place, json_lines};
use serde_json::json;

#[test]
fn servlet_reports_canonical_and_decoded_paths_and_all_codes() {
    let place =
        Place::with([("in", b"http://H:80/a;v=1/%20b?q\nhttp://h/a\n/a%2Fb\\c\n\n/\xFF\n//h/x\n")]);
    let run = place.run(["normalize", "--json", "-p", "servlet", "in"]).exits(0);
    assert_eq!(
        json_lines(&run.out),
        [
            json!({"record": 1, "out": "http://h/a/%20b?q", "decoded": "/a/ b"}),
            json!({"record": 2, "out": "http://h/a", "decoded": "/a"}),
            json!({"record": 3, "reject": ["encoded-slash", "backslash"], "at": 2}),
            json!({"record": 4, "blank": true}),
            json!({"record": 5, "reject": ["decode"], "at": 1}),
            json!({"record": 6, "out": "/h/x", "decoded": "/h/x"}),
        ]
    );
    let allow = ["--allow", "encoded-slash,backslash,decode"];
    let arguments = ["normalize", "--json", "-p", "servlet", "in"];
    let run = place.run(arguments.into_iter().chain(allow)).exits(0);
    let objects = json_lines(&run.out);
    assert_eq!(objects[2], json!({"record": 3, "out": "/a%2Fb%5Cc", "decoded": "/a%2Fb\\c"}));
    assert_eq!(objects[4], json!({"record": 5, "out": "/%25FF", "decoded_base64": "L/8="}));
}

#[test]
fn decoded_path_follows_the_rules_of_its_host() {
    let place = Place::with([("in", &b"http://api.example/a%20b;v=1/%20c\nhttp://h/a;v=1\n"[..])]);
    let of_one = "name = \"site\"\nversion = 1\nbase = \"crawl\"\n[host.\"api.example\"]\nbase = \"servlet\"\n";
    let of_others =
        "name = \"site\"\nversion = 1\nbase = \"servlet\"\n[host.\"h\"]\nbase = \"crawl\"\n";
    for profile in [of_one, of_others] {
        place.write("site.toml", profile);
        let run = place.run(["normalize", "--json", "--profile-file", "site.toml", "in"]).exits(0);
        assert_eq!(
            json_lines(&run.out),
            [
                json!({"record": 1, "out": "http://api.example/a%20b/%20c", "decoded": "/a b/ c"}),
                json!({"record": 2, "out": "http://h/a;v=1"}),
            ]
        );
        let fields = ["--fields", "decoded,canonical", "--profile-file", "site.toml", "in"];
        let run = place.run(["dedup"].into_iter().chain(fields)).exits(0);
        assert_eq!(run.out(), "/a b/ c\thttp://api.example/a%20b/%20c\n\thttp://h/a;v=1\n");
    }
}

#[test]
fn plain_lines_hold_the_canonical_form_only() {
    let place = Place::with([("in", b"/a//b\n/a%20b\n/a;x/b\n")]);
    let run = place.run(["dedup", "-p", "servlet", "in"]).exits(0);
    assert_eq!(run.out(), "/a/b\n/a%20b\n");
    let arguments = ["dedup", "-p", "servlet", "--with", "keep-empty-segments", "in"];
    assert_eq!(place.run(arguments).exits(0).out(), "/a//b\n/a%20b\n/a/b\n");
}

#[test]
fn record_with_several_codes_counts_once_and_under_each_code() {
    let place = Place::with([("in", b"http://u@127.1/%00\nhttp://h/\nhttp://u@h/\n")]);
    let arguments = ["dedup", "-p", "sanitize", "in", "--stats", "stats", "--rejects", "rejects"];
    let run = place.run(arguments).exits(0);
    assert_eq!(run.out(), "http://h/\n");
    assert_eq!((run.summary("records"), run.summary("rejected")), (3, 2));
    let stats = place.json("stats");
    assert_eq!(stats["rejected"], 2);
    assert_eq!(stats["codes"], json!({"userinfo": 2, "rare-ipv4": 1, "nul": 1}));
    let rejects = place.json_lines("rejects");
    assert_eq!(rejects[0]["codes"], json!(["userinfo", "nul", "rare-ipv4"]));
    assert_eq!((&rejects[0]["at"], &rejects[1]["at"]), (&json!(7), &json!(7)));

    let arguments = ["dedup", "-p", "sanitize", "--allow", "userinfo", "in", "--stats", "stats"];
    assert_eq!(place.run(arguments).exits(0).out(), "http://h/\nhttp://u@h/\n");
    assert_eq!(place.json("stats")["profile"], "sanitize@1 allow=userinfo");
}

#[test]
fn purges_and_requests_of_mediawiki_have_equal_forms() {
    let log = br#"1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "GET /wiki/O'Brien%3a_%28x%29?a=b HTTP/1.1" 200 1
1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] "GET //h/..%2f HTTP/1.1" 200 1
"#;
    let place = Place::with([("log", log), ("purge", b"/wiki/O%27Brien:_(x)?a=b\n")]);
    let arguments = ["dedup", "-p", "mediawiki", "log", "purge", "-f", "target"];
    let purge = place.run(["dedup", "-p", "mediawiki", "purge", "-f", "target"]).exits(0);
    let logged = place.run(["normalize", "-p", "mediawiki", "log"]).exits(0);
    assert_eq!(logged.out(), "/wiki/O%27Brien:_(x)?a=b\n//h/../\n");
    assert!(logged.out().starts_with(purge.out()));
    // Lines are targets as well, and both warn that no host is known.
    place.write("other", place.read("purge"));
    let lines = place.run(["dedup", "-p", "mediawiki", "purge", "other", "-f", "lines"]).exits(0);
    assert_eq!(lines.out, purge.out);
    assert!(lines.err.contains("2 request targets name no host"), "{}", lines.err);
    let base = ["--base", "https://en.wikipedia.org"];
    let based = place.run(arguments[..4].iter().copied().chain(base)).exits(0);
    let expected =
        "https://en.wikipedia.org/wiki/O%27Brien:_(x)?a=b\nhttps://en.wikipedia.org//h/../\n";
    assert_eq!(based.out(), expected);
    let lines = ["normalize", "-p", "mediawiki", "purge", "-f", "lines"].into_iter().chain(base);
    assert_eq!(place.run(lines).exits(0).out(), expected.split_inclusive('\n').next().unwrap());
}

#[test]
fn rings_take_records_without_a_slash_only_from_formats_of_targets() {
    let lines = "h:80/x\nmailto:a\n /x\nhttp:/x\nfoo?q\nh%3A80\n*\nhttp://H:80/x\n/%2Fx\n";
    let place = Place::with([("in", lines.as_bytes())]);
    for (profile, last) in [("mediawiki", "//x"), ("restbase", "/%2Fx"), ("upload", "//x")] {
        let read = |format: &str| {
            let arguments = ["normalize", "--json", "-f", format, "-p", profile, "in"];
            json_lines(&place.run(arguments).exits(0).out)
        };
        let (lines, targets) = (read("lines"), read("target"));
        for relative in &lines[..6] {
            assert_eq!(relative["reject"], json!(["relative"]), "{profile} {relative}");
        }
        assert_eq!(lines[6..], targets[6..], "{profile}");
        assert_eq!(lines[6]["reject"], json!(["asterisk-form"]), "{profile}");
        assert_eq!(lines[7]["out"], "http://h/x", "{profile}");
        assert_eq!(lines[8]["out"], last, "{profile}");
        assert_eq!(targets[2]["out"], "%20/x", "{profile}");
        assert_eq!(targets[4]["out"], "foo?q", "{profile}");
        // Read again, it would be the target of a tunnel.
        let tunnel = if profile == "upload" { json!(null) } else { json!(["relative"]) };
        assert_eq!(targets[5]["reject"], tunnel, "{profile}");
    }
    // A request line names a method, and its target starts with a slash.
    let log = "1.2.3.4 - - [10/Oct/2000:13:55:36 +0000] \"GET foo HTTP/1.1\" 200 1\n";
    let run = place.run_on(["normalize", "--json", "-f", "clf", "-p", "mediawiki"], log).exits(0);
    assert_eq!(json_lines(&run.out)[0]["reject"], json!(["relative"]));
}

#[test]
fn custom_ring_is_a_profile() {
    let place = Place::with([("in", b"/a%2fb%3A!\nhttp://h/%24\n")]);
    let lists = "decode=2F,3A encode=21,24";
    let run = place.run(["normalize", "--ring", lists, "in", "--stats", "stats"]).exits(0);
    assert_eq!(run.out(), "/a/b:%21\nhttp://h/%24\n");
    assert_eq!(place.json("stats")["profile"], format!("ring@1 {lists}"));
    assert_eq!(place.run(["normalize", "-p", "ring", "--ring", lists, "in"]).exits(0).out, run.out);
    let plain = place.run(["normalize", "-p", "ring", "in"]).exits(0);
    assert_eq!(plain.out(), "/a%2Fb%3A!\nhttp://h/%24\n");
}

#[test]
fn ring_is_read_from_a_pasted_rule_or_a_table() {
    let place = Place::with([("in", b"/a%2fb%3A!\nhttp://h/%24(\n/[\n")]);
    let encode = "21 24 26 27 28 29 2A 2B 2C 3A 3B 3D 40 5B 5D";
    let upload = place.run(["normalize", "-p", "upload", "in"]).exits(0).out;
    for pasted in [
        format!("'@pparam=\"2F\"' '@pparam=\"{encode}\"'"),
        format!("@pparam=\"2F\"\n@pparam=\"{encode}\""),
        format!("decode=\"2F\" encode=\"{encode}\""),
    ] {
        let run = place.run(["normalize", "--ring", &pasted, "in"]).exits(0);
        assert_eq!(run.out, upload, "{pasted}");
    }
    for name in ["mediawiki", "restbase", "upload", "ring"] {
        let expected = place.run(["normalize", "-p", name, "in"]).exits(0).out;
        for form in ["c", "vcl", "lua"] {
            let table = place.run(["profiles", name, "--as", form]).exits(0);
            assert!(table.out().contains(&format!("{name}_decoder_ring")), "{}", table.out());
            place.write("table", &table.out);
            let run = place.run(["normalize", "--ring", "table", "in"]).exits(0);
            assert_eq!(run.out, expected, "{name} {form}");
            let told = place.run(["explain", "--ring", "table", "/%2F"]).exits(0);
            assert!(told.out().contains("\nring@1 decode="), "{}", told.out());
        }
        let toml = place.run(["profiles", name, "--as", "toml"]).exits(0);
        assert_eq!(toml.out, place.run(["profiles", name]).exits(0).out);
    }
    let entry = |byte: usize| match byte {
        0x30..=0x39 | 0x41..=0x5A | 0x61..=0x7A | 0x2D | 0x2E | 0x5F | 0x7E => "1",
        0x23 | 0x3F | 0x2F => "2",
        _ => "0",
    };
    let numbers: Vec<&str> = (0..256).map(entry).collect();
    place.write("table", numbers.join(" "));
    let run = place.run(["normalize", "--ring", "table", "in"]).exits(0);
    assert_eq!(run.out(), "/a%2Fb%3A%21\nhttp://h/%24%28\n/%5B\n");
    for (table, told) in [
        (numbers[1..].join(","), "255 entries, where the table of a ring has 256"),
        (numbers.join(",").replacen('0', "1", 1), "byte 00 (\\x00) does not have the entry"),
        (numbers.join(",").replacen('2', "0", 1), "byte 23 (#) does not have the entry"),
        (format!("ring = {}", numbers.join(",")), "not a table of the numbers 0, 1 and 2"),
    ] {
        place.write("table", table);
        let run = place.run(["normalize", "--ring", "table", "in"]).exits(2);
        assert!(run.err.contains(told), "{}", run.err);
    }
    for (arguments, told) in [
        (&["profiles", "crawl", "--as", "c"][..], "profile crawl has no ring"),
        (&["profiles", "--as", "c"], "required"),
        (&["profiles", "upload", "--as", "php"], "(expected one of toml, c, vcl, lua)"),
        (&["dedup", "--ring", "missing", "in"], "from byte 0 on, and no file"),
    ] {
        let run = place.run(arguments).exits(2);
        assert!(run.err.contains(told), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn error_for_an_invalid_ring_names_the_byte() {
    let place = Place::with([("in", b"/\n")]);
    for (lists, told) in [
        ("decode=2F,3A encode=21,3a", "byte 3A (:)"),
        ("decode=41", "byte 41 (A)"),
        ("encode=3F", "byte 3F (?)"),
        ("encode=25", "byte 25 (%)"),
        ("encode=00", "byte 00 (\\x00)"),
        ("decode=2", "from byte 7 on"),
        ("2F", "from byte 0 on"),
    ] {
        let run = place.run(["dedup", "--ring", lists, "in"]).exits(2);
        assert!(run.err.contains(told), "{lists}: {}", run.err);
    }
}

#[test]
fn unsupported_allow_codes_are_wrong_usage() {
    let place = Place::with([("in", b"/\n")]);
    for arguments in [
        &["--allow", "control"][..],
        &["-p", "string", "--allow", "control"],
        &["-p", "mediawiki", "--allow", "control"],
        &["-p", "servlet", "--allow", "nul"],
        &["-p", "sanitize", "--allow", "fragment"],
        &["-p", "servlet", "--allow", "port"],
        &["-p", "servlet", "--allow", "frob"],
        &["-p", "sanitize", "--with", "keep-empty-segments"],
        &["--with", "keep-empty-segments"],
        &["-p", "crawl", "--ring", "decode=2F"],
        &["-p", "upload", "--ring", "decode=2F"],
    ] {
        let run = place.run(["dedup", "in"].iter().chain(arguments)).exits(2);
        assert!(run.out.is_empty() && run.err.contains("--help"), "{arguments:?} {}", run.err);
    }
}

#[test]
fn checks_apply_to_log_targets() {
    let log = br#"h - - [10/Oct/2000:13:55:36 +0000] "GET /a/%2e%2e/b HTTP/1.1" 200 1
h - - [10/Oct/2000:13:55:36 +0000] "GET http://u@H/a HTTP/1.1" 200 1
h - - [10/Oct/2000:13:55:36 +0000] "GET /a/./b;c HTTP/1.1" 200 1
"#;
    let place = Place::with([("log", log)]);
    let base = ["--base", "https://B:443"];
    for (profile, rejected) in [
        ("sanitize", [json!(["encoded-dot-segment", "encoded-unreserved"]), json!(["userinfo"])]),
        ("servlet", [json!(["encoded-dot-segment"]), json!(null)]),
    ] {
        let arguments = ["normalize", "--json", "-p", profile, "log"];
        let hostless = place.run(arguments).exits(0);
        let joined = place.run(arguments.into_iter().chain(base)).exits(0);
        for run in [&hostless, &joined] {
            let objects = json_lines(&run.out);
            assert_eq!(objects[0]["reject"], rejected[0], "{profile}");
            assert_eq!(objects[0]["at"], 3, "the position is one in the target");
            assert_eq!(objects[1]["reject"], rejected[1], "{profile}");
        }
        let last = if profile == "servlet" { "/a/b" } else { "/a/b;c" };
        assert_eq!(json_lines(&hostless.out)[2]["out"], last);
        assert_eq!(json_lines(&joined.out)[2]["out"], format!("https://b{last}"));
    }
}

#[test]
fn servlet_judges_targets_without_a_slash_and_rejects_such_lines() {
    let place = Place::with([("in", b"foo/b%61r?q\n*\nmailto:a\n?q\n x/%2F\n\\\n/a\n")]);
    for arguments in [
        &[][..],
        &["--base", "http://B:80"],
        &["--allow", "no-leading-slash"],
        &["--allow", "no-leading-slash", "--base", "http://B:80"],
    ] {
        let read = |format: &str| {
            let common = ["normalize", "--json", "-p", "servlet", "in", "-f", format];
            place.run(common.iter().chain(arguments)).exits(0).out
        };
        let (lines, targets) = (read("lines"), read("target"));
        let (lines, objects) = (json_lines(&lines), json_lines(&targets));
        for (i, line) in lines.iter().enumerate() {
            match i {
                1 | 6 => assert_eq!(line, &objects[i], "{arguments:?}"),
                _ => assert_eq!(line["reject"], json!(["relative"]), "{arguments:?} {line}"),
            }
        }
        let origin = if arguments.contains(&"--base") { "http://b" } else { "" };
        if arguments.contains(&"--allow") {
            assert_eq!(objects[0]["out"], format!("{origin}/foo/bar?q"));
            assert_eq!(objects[0]["decoded"], "/foo/bar");
            assert_eq!(objects[1]["reject"], json!(["asterisk-form"]));
            assert_eq!(objects[4]["reject"], json!(["encoded-slash"]));
            assert_eq!(objects[4]["at"], 3, "the position is one in the target");
        } else {
            assert_eq!(objects[0]["reject"], json!(["no-leading-slash"]));
            assert_eq!(objects[1]["reject"], json!(["asterisk-form", "no-leading-slash"]));
            assert_eq!(objects[4]["reject"], json!(["no-leading-slash", "encoded-slash"]));
        }
        assert_eq!(objects[6]["out"], format!("{origin}/a"));
    }
    let log = "b:443 - - [10/Oct/2000:13:55:36 +0000] \"GET foo/./x HTTP/1.1\" 200 1\n";
    let allow = ["normalize", "-f", "vhost", "-p", "servlet", "--allow", "no-leading-slash"];
    assert_eq!(place.run_on(allow, log).exits(0).out(), "https://b/foo/x\n");
}

#[test]
fn decoded_path_is_a_field_under_servlet() {
    let input = b"/a;v=1/%20b?q\n/a%2Fb\n\nhttp://h/x%09\n/\xC3\xA9\n/a/%20b?q\n";
    let place = Place::with([("in", input)]);
    let arguments = ["dedup", "-p", "servlet", "--allow", "control", "in", "--fields"];
    for order in ["first", "sorted"] {
        let fields = ["decoded,canonical", "--order", order];
        let run = place.run(arguments.into_iter().chain(fields)).exits(0);
        let mut lines: Vec<_> = run.out().lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["/\\xC3\\xA9\t/%C3%A9", "/a/ b\t/a/%20b?q", "/x\\x09\thttp://h/x%09"]);
    }
    let run = place.run(["dedup", "in", "--fields", "decoded"]).exits(2);
    assert!(run.err.contains("profile crawl has no column decoded"), "{}", run.err);
}

#[test]
fn checks_that_are_off_are_asked_for_by_name() {
    let place = Place::with([("in", &b"http://h/aux\nhttp://h/%E2%80%AE\nhttp://h/a\n"[..])]);
    let run = place.run(["normalize", "-p", "sanitize", "in"]).exits(0);
    assert_eq!(run.out(), "http://h/aux\nhttp://h/%E2%80%AE\nhttp://h/a\n");
    let deny = ["--deny", "device-name,bidi-control"];
    let run = place.run(["normalize", "-p", "sanitize", "in"].into_iter().chain(deny)).exits(0);
    assert_eq!(run.out(), "\n\nhttp://h/a\n");
    let run = place.run(["explain", "-p", "sanitize", "http://h/aux", "--deny", "device-name"]);
    assert!(run.out().contains("device-name"), "{}", run.out());
    assert!(
        run.out().contains("Without device-name under --deny this check is off."),
        "{}",
        run.out()
    );
    for wrong in [
        &["--deny", "nul", "--allow", "nul"][..],
        &["--deny", "no-such-check"],
        &["-p", "crawl", "--deny", "nul"],
    ] {
        let arguments = ["normalize", "in", "-p", "sanitize"].into_iter();
        let arguments = if wrong[0] == "-p" {
            ["normalize", "in"].into_iter().collect()
        } else {
            arguments.collect::<Vec<_>>()
        };
        place.run(arguments.into_iter().chain(wrong.iter().copied())).exits(2);
    }
}

#[test]
fn wayback_is_another_name_of_ia() {
    let place =
        Place::with([("in", &b"http://WWW.h/A?foosid=0123456789abcdef0123456789abcdef\n"[..])]);
    for name in ["ia", "ia@1", "wayback", "wayback@1"] {
        let run = place.run(["normalize", "-p", name, "--key", "surt", "in"]).exits(0);
        assert_eq!(run.out(), "h)/a?foo\n", "{name}");
    }
}
