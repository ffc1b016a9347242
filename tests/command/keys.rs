//! Output other than the URL: `--key` and `--fields`.

use super::{Place, json_lines};
use serde_json::json;
use std::collections::HashMap;

const LIST: &str = "http://b.example.com/\nhttps://example.com/\nHTTP://example.com:80\n\
                    http://example.com/z?q\nnonsense\n\nhttp://example.com/\n";

#[test]
fn dedup_counts_and_sorts_by_key() {
    let place = Place::with([("list", LIST.as_bytes())]);
    let run = place.run(["dedup", "--key", "surt", "list"]).exits(0);
    assert_eq!(run.out(), "com,example,b)/\ncom,example)/\ncom,example)/z?q\n");
    assert_eq!(
        (run.summary("records"), run.summary("unique"), run.summary("duplicates")),
        (7, 3, 2)
    );
    assert_eq!((run.summary("rejected"), run.summary("blank")), (1, 1));
    let arguments = ["dedup", "--key", "surt", "--count", "--order", "sorted", "list"];
    let run = place.run(arguments).exits(0);
    assert_eq!(run.out(), "3\tcom,example)/\n1\tcom,example)/z?q\n1\tcom,example,b)/\n");
    let run = place.run(["dedup", "--key", "surt", "--min-count", "2", "list"]).exits(0);
    assert_eq!(run.out(), "com,example)/\n");
    let run = place.run(["dedup", "--key", "ssurt", "--order", "sorted", "list"]).exits(0);
    assert_eq!(
        run.out(),
        "com,example,//443:https@/\ncom,example,//80:http@/\ncom,example,//80:http@/z?q\n\
         com,example,b,//80:http@/\n"
    );
    let run = place.run(["dedup", "--key", "hash", "list"]).exits(0);
    assert_eq!(run.out().lines().count(), 4);
    assert!(run.out().lines().all(|line| line.len() == 32));
    let plain = place.run(["dedup", "list"]).exits(0);
    assert_eq!(place.run(["dedup", "--key", "url", "list"]).exits(0).out(), plain.out());
}

const HOSTS: &str = "http://www.example.co.uk/a\nmailto:a@example.co.uk\nHTTPS://b.Example.co.uk.:8443/\n\
                     nonsense\n\nhttp://a.github.io/\nhttp://b.github.io/\nhttp://[::1]:80/\n\
                     http://192.0.2.1/\nurn:a:b\nhttp://a.github.io/b\n";

#[test]
fn domain_key_rejects_urls_without_a_host() {
    let place = Place::with([("list", HOSTS.as_bytes())]);
    let arguments = ["dedup", "--key", "domain", "--rejects", "rejects", "--stats", "stats"];
    for (more, expected) in [
        (
            &["--count"][..],
            "2\texample.co.uk\n2\ta.github.io\n1\tb.github.io\n1\t[::1]\n1\t192.0.2.1\n",
        ),
        (&["--order", "sorted"], "192.0.2.1\n[::1]\na.github.io\nb.github.io\nexample.co.uk\n"),
        (
            &["--memory", "1M", "-j", "2"],
            "example.co.uk\na.github.io\nb.github.io\n[::1]\n192.0.2.1\n",
        ),
    ] {
        let run = place.run([&arguments[..], more, &["list"]].concat()).exits(0);
        assert_eq!(run.out(), expected);
        let terms = ["records", "unique", "duplicates", "rejected", "blank"];
        assert_eq!(terms.map(|term| run.summary(term)), [11, 5, 2, 3, 1]);
        let rejects: Vec<_> = place
            .json_lines("rejects")
            .iter()
            .map(|reject| json!([reject["record"], reject["codes"], reject["at"], reject["raw"]]))
            .collect();
        assert_eq!(
            rejects,
            [
                json!([2, ["no-host"], 0, "mailto:a@example.co.uk"]),
                json!([4, ["relative"], 0, "nonsense"]),
                json!([10, ["no-host"], 0, "urn:a:b"]),
            ]
        );
        let stats = place.json("stats");
        assert_eq!(stats["codes"], json!({"no-host": 2, "relative": 1}));
        assert_eq!(stats["suffix_list"], uniqurl::key::suffix_list_date());
    }
    // A filter comes first.
    let run = place.run(["dedup", "--key", "domain", "--schemes", "http,https", "list"]).exits(0);
    assert_eq!((run.summary("filtered"), run.summary("rejected")), (2, 1));
}

#[test]
fn domain_key_works_in_every_format_and_job() {
    let log = "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 1\n".repeat(2);
    let csv = "url,x\nhttp://a.example.org/,1\nmailto:a@b,2\nurn:a:b,3\n";
    let servlet = "http://a.example/%41\n/%42\nhttp://b.example/%43\n";
    let place = Place::with([
        ("log", log.as_bytes()),
        ("csv", csv.as_bytes()),
        ("servlet", servlet.as_bytes()),
    ]);
    let normalize = ["normalize", "--key", "domain", "-f", "csv:url", "csv"];
    assert_eq!(place.run(normalize).exits(0).out(), "example.org\n\n\n");
    let objects = json_lines(&place.run(normalize.iter().chain(&["--json"])).exits(0).out);
    assert_eq!(
        objects,
        [
            json!({"record": 1, "out": "example.org"}),
            json!({"record": 2, "reject": ["no-host"], "at": 0}),
            json!({"record": 3, "reject": ["no-host"], "at": 0}),
        ]
    );
    // All targets are rejected, and none is reported as hostless beside that.
    let run = place.run(["dedup", "--key", "domain", "--max-rejected", "9", "log", "log"]).exits(0);
    assert_eq!((run.summary("rejected"), run.summary("unique")), (4, 0));
    assert!(!run.err.contains("without a host"), "{}", run.err);
    let base = ["dedup", "--key", "domain", "--base", "http://www.example.com/", "log"];
    assert_eq!(place.run(base).exits(0).out(), "example.com\n");
    // Each record keeps its own decoded path.
    let arguments = ["dedup", "-p", "servlet", "--key", "domain", "--fields", "domain,decoded"];
    let run = place.run(arguments.iter().chain(&["servlet"])).exits(0);
    assert_eq!(run.out(), "a.example\t/A\nb.example\t/C\n");
}

#[test]
fn domain_column_is_empty_without_a_host() {
    let place = Place::with([("list", HOSTS.as_bytes())]);
    let run = place.run(["dedup", "--fields", "domain,host", "list"]).exits(0);
    assert_eq!(
        run.out(),
        "example.co.uk\twww.example.co.uk\n\t\nexample.co.uk\tb.example.co.uk\n\
         a.github.io\ta.github.io\nb.github.io\tb.github.io\n[::1]\t[::1]\n\
         192.0.2.1\t192.0.2.1\n\t\na.github.io\ta.github.io\n"
    );
    let run = place.run(["dedup", "--json", "--fields", "domain", "--limit", "1", "list"]).exits(0);
    assert_eq!(json_lines(&run.out), [json!({"domain": "example.co.uk"})]);
}

#[test]
fn store_of_domains_has_no_answer_for_urls_without_a_host() {
    let place = Place::with([("list", HOSTS.as_bytes())]);
    place.run(["dedup", "--key", "domain", "--save-seen", "store", "list"]).exits(0);
    let ask = ["seen", "contains", "--key", "domain", "store"];
    let urls = ["http://x.example.co.uk/", "http://x.example/", "mailto:a@example.co.uk"];
    let run = place.run([&ask[..], &urls].concat()).exits(1);
    let words: Vec<_> = run.out().lines().map(|line| line.split('\t').next()).collect();
    assert_eq!(words, [Some("seen"), Some("new"), Some("rejected")]);
}

#[test]
fn normalize_writes_the_key_of_each_record() {
    let place = Place::with([("list", LIST.as_bytes())]);
    let run = place.run(["normalize", "--key", "surt", "list"]).exits(0);
    assert_eq!(
        run.out(),
        "com,example,b)/\ncom,example)/\ncom,example)/\ncom,example)/z?q\n\n\ncom,example)/\n"
    );
    let run = place.run(["normalize", "--json", "--key", "ssurt", "list"]).exits(0);
    let objects = super::json_lines(&run.out);
    assert_eq!(objects[0]["out"], "com,example,b,//80:http@/");
    assert_eq!(
        (&objects[4]["reject"][0], &objects[5]["blank"]),
        (&"relative".into(), &true.into())
    );
}

#[test]
fn ia_profile_with_surt_gives_archive_keys() {
    let place = Place::new();
    let list = "http://www.Archive.org/Goo/?b&a\nhttps://archive.org:443/goo?a&b\nmailto:A@b\n";
    let run = place.run_on(["dedup", "-p", "ia", "--key", "surt"], list).exits(0);
    assert_eq!(run.out(), "org,archive)/goo?a&b\nmailto:A@b\n");
}

#[test]
fn rejects_are_the_same_with_and_without_a_key() {
    let place = Place::with([("list", LIST.as_bytes())]);
    place.run(["dedup", "--rejects", "plain", "list"]).exits(0);
    place.run(["dedup", "--rejects", "keyed", "--key", "surt", "list"]).exits(0);
    assert_eq!(place.text("plain"), place.text("keyed"));
    assert_eq!(place.json_lines("keyed").len(), 1);
}

#[test]
fn fields_split_the_canonical_url() {
    let place = Place::with([("in", b"HTTP://u:p@[::1]:8080/a?b#c\nx://h:/#\n")]);
    let arguments = ["dedup", "in", "--fields", "scheme,userinfo,host,port,path,query,fragment"];
    let run = |more: &[&str]| place.run(arguments.iter().chain(more)).exits(0);
    let of_scheme = run(&["-p", "scheme"]);
    assert_eq!(of_scheme.out(), "http\tu:p\t[::1]\t8080\t/a\tb\tc\nx\t\th\t\t/\t\t\n");
    // Profiles that drop userinfo and fragment leave their columns empty.
    assert_eq!(run(&[]).out(), "http\t\t[::1]\t8080\t/a\tb\t\nx\t\th\t\t/\t\t\n");
    let objects = json_lines(&run(&["-p", "scheme", "--json"]).out);
    assert_eq!(
        objects[0],
        json!({"scheme": "http", "userinfo": "u:p", "host": "[::1]", "port": "8080",
               "path": "/a", "query": "b", "fragment": "c"})
    );
}

#[test]
fn fields_describe_the_first_record() {
    let place = Place::with([
        ("a", b"http://b.example/x?y\n\nHTTP://a.example:80\\z\n"),
        ("b", b"http://a.example/\xE9\nhttp://u:p@A.example/ \t\nhttp://b.example/x?y\n"),
    ]);
    let fields = "scheme,host,path,query,first,original";
    let run = place.run(["dedup", "-p", "crawl", "--fields", fields, "a", "b"]).exits(0);
    // `80\z` is no port.
    assert_eq!(
        run.out(),
        "http\tb.example\t/x\ty\ta:1:0\thttp://b.example/x?y\n\
         http\ta.example\t/%E9\t\tb:1:0\thttp://a.example/\\xE9\n\
         http\ta.example\t/\t\tb:2:19\thttp://u:p@A.example/ \\x09\n"
    );
    assert_eq!((run.summary("unique"), run.summary("rejected")), (3, 1));
}

#[test]
fn fields_are_written_in_the_given_order_and_may_repeat() {
    let place = Place::with([("list", LIST.as_bytes())]);
    let run =
        place.run(["dedup", "--key", "surt", "--fields", "count,canonical,count,surt", "list"]);
    assert_eq!(
        run.exits(0).out(),
        "1\thttp://b.example.com/\t1\tcom,example,b)/\n3\thttps://example.com/\t3\tcom,example)/\n\
         1\thttp://example.com/z?q\t1\tcom,example)/z?q\n"
    );
}

#[test]
fn lines_with_fields_are_sorted_by_key() {
    let place = Place::with([("list", LIST.as_bytes())]);
    let sorted = ["dedup", "--key", "surt", "--fields", "first", "--order", "sorted", "list"];
    assert_eq!(place.run(sorted).exits(0).out(), "list:2:22\nlist:4:65\nlist:1:0\n");
    let limited = [&sorted[..], &["--limit", "2"]].concat();
    assert_eq!(place.run(limited).exits(0).out(), "list:2:22\nlist:4:65\n");
    let often = [&sorted[..], &["--min-count", "2"]].concat();
    assert_eq!(place.run(often).exits(0).out(), "list:2:22\n");
}

#[test]
fn original_of_a_log_is_its_request_target() {
    let log = b"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /A%7e\\x22?b HTTP/1.1\" 200 1\n\
                1.2.3.4 - - [10/Oct/2000:13:55:37 -0700] \"GET http://h/c HTTP/1.1\" 200 1\n";
    let place = Place::with([("log", &log[..])]);
    let run = place.run(["dedup", "--fields", "canonical,host,original,first", "log"]).exits(0);
    let second = log.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    assert_eq!(
        run.out(),
        format!("/A~%22?b\t\t/A%7e\"?b\tlog:1:0\nhttp://h/c\th\thttp://h/c\tlog:2:{second}\n")
    );
    let based = ["dedup", "--base", "http://s/", "--fields", "canonical,original", "log"];
    let run = place.run(based).exits(0);
    assert_eq!(run.out(), "http://s/A~%22?b\t/A%7e\"?b\nhttp://h/c\thttp://h/c\n");
}

#[test]
fn fields_escape_odd_bytes_and_name_standard_input() {
    let place = Place::new();
    let list = b"a\tb\\\n\x00\xFF\n";
    let run =
        place.run_on(["dedup", "-p", "string", "--fields", "canonical,first,surt", "-"], list);
    assert_eq!(
        run.exits(0).out(),
        "a\\x09b\\x5C\t-:1:0\ta\\x09b\\x5C\n\\x00\\xFF\t-:2:5\t\\x00\\xFF\n"
    );
}

#[test]
fn keys_and_fields_do_not_depend_on_threads() {
    let place = Place::new();
    let mut list = String::new();
    for i in 0..20_000u64 {
        let n = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 47;
        let host = ["www.a.example", "A.example", "b.example:80"][(n % 3) as usize];
        list.push_str(&format!("http://{host}/Path/{}/?{}\n", n / 7, n % 2));
    }
    place.write("list", &list);
    // The expected result by a plain loop: the first line of each path, with any spelling of its
    // host.
    let mut seen: HashMap<String, (usize, u64)> = HashMap::new();
    let mut order = Vec::new();
    for (i, line) in list.lines().enumerate() {
        let key = line.to_lowercase().replace("www.", "").replace(":80", "").replace("/?", "?");
        let entry = seen.entry(key.clone()).or_insert_with(|| {
            order.push(key);
            (i, 0)
        });
        entry.1 += 1;
    }
    let offsets: Vec<usize> = list
        .lines()
        .scan(0, |at, line| Some(std::mem::replace(at, *at + line.len() + 1)))
        .collect();
    let lines: Vec<_> = list.lines().collect();
    let expected: String = order
        .iter()
        .map(|key| {
            let (i, count) = seen[key];
            format!("{key}\t{count}\tlist:{}:{}\t{}\n", i + 1, offsets[i], lines[i])
        })
        .collect();
    for threads in ["1", "2", "5"] {
        let fields = "canonical,count,first,original";
        let run =
            place.run(["dedup", "-p", "ia", "-j", threads, "--fields", fields, "list"]).exits(0);
        assert!(run.out() == expected, "{threads} threads");
        let keyed =
            ["dedup", "-p", "ia", "-j", threads, "--key", "surt", "--fields", fields, "list"];
        assert!(place.run(keyed).exits(0).out() == expected, "{threads} threads, as SURTs");
        let waits = ["dedup", "-p", "ia", "-j", threads, "--fields", "canonical,first", "list"];
        let at_once = place.run(waits).exits(0);
        let limited = place.run(waits.iter().chain(&["--limit", "1000000"])).exits(0);
        assert!(at_once.out() == limited.out(), "{threads} threads, at once or at the end");
    }
}

const PAGES: &str = "http://h.example/user/1\nhttp://h.example/user/22?page=2\nnonsense\n\n\
                     HTTP://h.example/user/3?page=1\nhttp://h.example/en/user/4\n\
                     http://h.example/de/user/5\nhttp://g.example/user/6\n";

#[test]
fn template_key_is_unique_counted_and_sorted() {
    let place = Place::with([("list", PAGES.as_bytes())]);
    let run = place.run(["dedup", "--key", "template", "--order", "count", "list"]).exits(0);
    assert_eq!(
        run.out(),
        "2\thttp://h.example/user/{int}?page\n1\thttp://g.example/user/{int}\n\
         1\thttp://h.example/de/user/{int}\n1\thttp://h.example/en/user/{int}\n\
         1\thttp://h.example/user/{int}\n"
    );
}

#[test]
fn hosts_are_keys() {
    let list = "http://a.x.example/1\nhttps://u@a.x.example:8/2\nhttp://b.x.example/\nmailto:a@h\n";
    let place = Place::with([("in", list.as_bytes())]);
    let run = place.run(["dedup", "--key", "host", "--count", "in"]).exits(0);
    assert_eq!(run.out(), "2\ta.x.example\n1\tb.x.example\n");
    assert_eq!((run.summary("rejected"), run.summary("duplicates")), (1, 1));
    let run = place.run(["dedup", "-q", "--key", "host", "--limit-by", "domain:1", "in"]).exits(0);
    assert_eq!(run.out(), "a.x.example\n");
    let split = ["dedup", "--key", "host", "--split-by", "host:2", "-o", "out", "in"];
    place.run(split).exits(0);
    assert!(
        place.run(["explain", "--key", "host", "http://h:8/"]).exits(0).out().contains("  = h\n")
    );
}
