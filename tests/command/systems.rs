//! The profiles of single systems and of browsers, and their options. The library's vectors say what each makes of a
//! URL; here stands that records, options and outputs reach them.

use super::{Place, json_lines};
use serde_json::json;

#[test]
fn servlet_reports_canonical_and_decoded_paths_and_all_codes() {
    let place = Place::with([("in", b"http://H:80/a;v=1/%20b?q\n/a%2Fb\\c\n\n/\xFF\n/a%2Fb\\c\n")]);
    let run = |more: &[&str]| {
        let arguments = ["normalize", "--json", "-p", "servlet", "in"];
        json_lines(&place.run([&arguments[..], more].concat()).exits(0).out)
    };
    let objects = run(&[]);
    assert_eq!(objects[0], json!({"record": 1, "out": "http://h/a/%20b?q", "decoded": "/a/ b"}));
    let codes = ["encoded-slash", "backslash"];
    assert_eq!(objects[1], json!({"record": 2, "reject": codes, "at": 2}));
    assert_eq!(objects[2], json!({"record": 3, "blank": true}));
    assert_eq!(objects[3], json!({"record": 4, "reject": ["decode"], "at": 1}));
    let objects = run(&["--allow", "encoded-slash,backslash,decode"]);
    assert_eq!(objects[1], json!({"record": 2, "out": "/a%2Fb%5Cc", "decoded": "/a%2Fb\\c"}));
    assert_eq!(objects[3], json!({"record": 4, "out": "/%25FF", "decoded_base64": "L/8="}));
}

#[test]
fn decoded_path_follows_the_rules_of_its_host() {
    let place = Place::with([("in", &b"http://api.example/a%20b;v=1/%20c\nhttp://h/a;v=1\n"[..])]);
    for (base, host, other) in [("crawl", "api.example", "servlet"), ("servlet", "h", "crawl")] {
        let rules = format!(
            "name = 'site'\nversion = 1\nbase = '{base}'\n[host.'{host}']\nbase = '{other}'\n"
        );
        place.write("site.toml", rules);
        let rules = ["--profile-file", "site.toml", "in"];
        let run = place.run([&["normalize", "--json"], &rules[..]].concat()).exits(0);
        let first = "http://api.example/a%20b/%20c";
        let objects = [
            json!({"record": 1, "out": first, "decoded": "/a b/ c"}),
            json!({"record": 2, "out": "http://h/a;v=1"}),
        ];
        assert_eq!(json_lines(&run.out), objects);
        let run = place.run([&["dedup", "--fields", "decoded,canonical"], &rules[..]].concat());
        assert_eq!(run.exits(0).out(), format!("/a b/ c\t{first}\n\thttp://h/a;v=1\n"));
    }
}

#[test]
fn record_with_several_codes_counts_once_and_under_each_code() {
    let place = Place::with([("in", b"http://u@127.1/%00\nhttp://h/\nhttp://u@h/\n")]);
    let arguments = ["dedup", "-p", "sanitize", "in", "--stats", "stats", "--rejects", "rejects"];
    let run = place.run(arguments).exits(0);
    assert_eq!((run.out(), run.summary("rejected")), ("http://h/\n", 2));
    let stats = place.json("stats");
    assert_eq!(stats["codes"], json!({"userinfo": 2, "rare-ipv4": 1, "nul": 1}));
    let rejects = place.json_lines("rejects");
    assert_eq!(rejects[0]["codes"], json!(["userinfo", "nul", "rare-ipv4"]));
    let arguments = ["dedup", "-p", "sanitize", "--allow", "userinfo", "in", "--stats", "stats"];
    assert_eq!(place.run(arguments).exits(0).out(), "http://h/\nhttp://u@h/\n");
    assert_eq!(place.json("stats")["profile"], "sanitize@1 allow=userinfo");
}

#[test]
fn checks_that_are_off_are_asked_for_by_name() {
    let place = Place::with([("in", &b"http://h/aux\nhttp://h/%E2%80%AE\nhttp://h/a\n"[..])]);
    let sanitize = ["normalize", "-p", "sanitize", "in"];
    assert_eq!(place.run(sanitize).exits(0).out(), place.text("in"));
    let deny = ["--deny", "device-name,bidi-control"];
    assert_eq!(place.run([&sanitize[..], &deny].concat()).exits(0).out(), "\n\nhttp://h/a\n");
    let run = place.run(["explain", "-p", "sanitize", "http://h/aux", "--deny", "device-name"]);
    let told = "Without device-name under --deny this check is off.";
    assert!(run.out().contains(told), "{}", run.out());
}

/// Only a format of targets says that a record without a slash is one.
#[test]
fn lines_without_a_slash_are_no_targets() {
    let place = Place::with([("in", b"foo/b%61r?q\n/%2e\nhttp://H:80/x\n")]);
    let allow = ["--allow", "no-leading-slash,encoded-dot-segment"];
    for (profile, more, target, path) in
        [("servlet", &allow[..], "/foo/bar?q", "/"), ("mediawiki", &[], "foo/bar?q", "/.")]
    {
        for (format, first) in [("lines", ""), ("target", target)] {
            let arguments = ["normalize", "-p", profile, "-f", format, "in"];
            let run = place.run([&arguments[..], more].concat()).exits(0);
            assert_eq!(run.out(), format!("{first}\n{path}\nhttp://h/x\n"), "{profile} {format}");
        }
    }
}

#[test]
fn decoded_path_is_a_field_under_servlet() {
    let input = b"/a;v=1/%20b?q\n/a%2Fb\n\nhttp://h/x%09\n/\xC3\xA9\n/a/%20b?q\n";
    let place = Place::with([("in", input)]);
    let arguments = ["dedup", "-p", "servlet", "--allow", "control", "in", "--order", "sorted"];
    let run = place.run([&arguments[..], &["--fields", "decoded,canonical"]].concat()).exits(0);
    assert_eq!(run.out(), "/\\xC3\\xA9\t/%C3%A9\n/a/ b\t/a/%20b?q\n/x\\x09\thttp://h/x%09\n");
}

#[test]
fn ring_is_read_from_lists_a_pasted_rule_or_a_table() {
    let place = Place::with([("in", b"/a%2fb%3A!\nhttp://h/%24\n/[\n")]);
    let normalize = |more: &[&str]| {
        place.run([&["normalize", "in", "--stats", "stats"], more].concat()).exits(0).out
    };
    let lists = "decode=2F,3A encode=21,24";
    let custom = normalize(&["--ring", lists]);
    assert_eq!(custom, b"/a/b:%21\nhttp://h/%24\n/[\n");
    assert_eq!(place.json("stats")["profile"], format!("ring@1 {lists}"));
    assert_eq!(
        normalize(&["-p", "ring", "--ring", "'@pparam=\"2F 3A\"' '@pparam=\"21 24\"'"]),
        custom
    );
    let upload = normalize(&["-p", "upload"]);
    for form in ["c", "vcl", "lua"] {
        let table = place.run(["profiles", "upload", "--as", form]).exits(0);
        assert!(table.out().contains("upload_decoder_ring"), "{}", table.out());
        place.write("table", &table.out);
        assert_eq!(normalize(&["--ring", "table"]), upload, "{form}");
    }
    let run = place.run(["explain", "--ring", "decode=21", "http://h/%21"]).exits(0);
    assert!(run.out().contains("\n  = http://h/!\n"), "{}", run.out());
    let toml = place.run(["profiles", "upload", "--as", "toml"]).exits(0);
    assert_eq!(toml.out, place.run(["profiles", "upload"]).exits(0).out);
}

#[test]
fn whatwg_reads_lists_logs_and_references_as_browsers_do() {
    let list = b"HTTP://u:@EXAMPLE.com:80/a/../%7e b?it's#f\nhttp:\\\\0x7f.1\\a|b\nhttp://a\xFFb/\n..\\c\n";
    let log =
        "h - - [10/Oct/2000:13:55:36 +0000] \"GET //evil.example\\\\a/../b HTTP/1.1\" 200 1\n";
    let place = Place::with([("in", list), ("log", log.as_bytes())]);
    let run = |more: &[&str]| {
        let run = place.run([&["normalize", "--json", "-p", "whatwg"], more].concat()).exits(0);
        json_lines(&run.out)
    };
    let objects = run(&["in"]);
    assert_eq!(objects[0]["out"], "http://u@example.com/%7e%20b?it%27s#f");
    assert_eq!(objects[1]["out"], "http://127.0.0.1/a|b");
    assert_eq!(objects[2], json!({"record": 3, "reject": ["byte"], "at": 8}));
    assert_eq!(objects[3], json!({"record": 4, "reject": ["relative"], "at": 0}));
    let base = ["--base", "https://B:443/a/b/?x#y"];
    assert_eq!(run(&[&["in"], &base[..]].concat())[3]["out"], "https://b/a/c");
    // The target of a log never becomes a host.
    assert_eq!(run(&["log"])[0]["out"], "//evil.example/b");
    assert_eq!(run(&[&["log"], &base[..]].concat())[0]["out"], "https://b//evil.example/b");
}

#[test]
fn transcode_rewrites_triplets_as_utf8() {
    // Erlang's guide: uri_string:transcode("/%F6re%26bro%20", [{in_encoding, latin1}]).
    let list = b"http://h/%F6re%26bro%20\nhttp://h/%C3%B6re%26bro%20\nhttp://wiki/%F6%2f\n";
    let rules = b"name = 'mine'\nversion = 1\nbase = 'crawl'\n[host.wiki]\nbase = 'mediawiki'\n";
    let place = Place::with([("in", &list[..]), ("mine", rules)]);
    let latin1 = ["dedup", "--transcode", "latin1", "in", "--stats", "stats"];
    let urls = "http://h/%C3%B6re%26bro%20\nhttp://wiki/%C3%B6%2F\n";
    assert_eq!(place.run(latin1).exits(0).out(), urls);
    assert_eq!(place.json("stats")["profile"], "crawl@1 transcode=windows-1252");
    let by_host = place.run([&latin1[..], &["--profile-file", "mine"]].concat()).exits(0);
    assert_eq!(by_host.out(), urls.replace("%2F", "/"));
    let run = place.run(["explain", "--transcode", "latin1", "http://h/%F6"]).exits(0);
    let step = "  transcode (RFC 3986 section 2.5)\n  triplets of another charset are rewritten as UTF-8\n";
    assert!(run.out().contains(step), "{}", run.out());
}
