//! Output other than the URL: `--key` and `--fields`. What a key is of each URL stands in the library's vectors.

use super::{Place, json_lines};
use serde_json::json;

const LIST: &str = "http://b.example.com/\nhttps://example.com/\nHTTP://example.com:80\n\
                    http://example.com/z?q\nnonsense\n\nhttp://example.com/\n";

#[test]
fn dedup_counts_and_sorts_by_key() {
    let place = Place::with([("list", LIST.as_bytes())]);
    for (options, out) in [
        (&["--key", "surt"][..], "com,example,b)/\ncom,example)/\ncom,example)/z?q\n"),
        (
            &["--key", "surt", "--count", "--order", "sorted"],
            "3\tcom,example)/\n1\tcom,example)/z?q\n1\tcom,example,b)/\n",
        ),
        (&["--key", "surt", "--min-count", "2"], "com,example)/\n"),
        (
            &["--key", "ssurt", "--order", "sorted", "--limit", "2"],
            "com,example,//443:https@/\ncom,example,//80:http@/\n",
        ),
        (&["--key", "url", "--limit", "1"], "http://b.example.com/\n"),
        (&["--key", "hash", "--limit", "1"], "ec9d68517c8eff612182397cdda2ab17\n"),
        (
            &["--key", "surt", "--fields", "count,canonical,count,surt", "--limit", "2"],
            "1\thttp://b.example.com/\t1\tcom,example,b)/\n3\thttps://example.com/\t3\tcom,example)/\n",
        ),
        // Lines with fields are sorted by key.
        (
            &["--key", "surt", "--fields", "first", "--order", "sorted"],
            "list:2:22\nlist:4:65\nlist:1:0\n",
        ),
    ] {
        let run = place.run([&["dedup", "list", "--rejects", "rejects"], options].concat());
        assert_eq!(run.exits(0).out(), out, "{options:?}");
        assert_eq!(place.json_lines("rejects")[0]["raw"], "nonsense", "{options:?}");
    }
    let run = place.run(["dedup", "--key", "surt", "list"]).exits(0);
    let terms = ["records", "unique", "duplicates", "rejected", "blank"];
    assert_eq!(terms.map(|term| run.summary(term)), [7, 3, 2, 1, 1]);
    let run = place.run(["normalize", "--key", "surt", "list"]).exits(0);
    let keys =
        "com,example,b)/\ncom,example)/\ncom,example)/\ncom,example)/z?q\n\n\ncom,example)/\n";
    assert_eq!(run.out(), keys);
}

const HOSTS: &str = "http://www.example.co.uk/a\nmailto:a@example.co.uk\nHTTPS://b.Example.co.uk.:8443/\n\
                     nonsense\n\nhttp://a.github.io/\nhttp://[::1]:80/\n";

#[test]
fn domain_key_rejects_urls_without_a_host() {
    let place = Place::with([("list", HOSTS.as_bytes())]);
    let domain = ["--key", "domain", "list"];
    let outputs = ["--count", "--rejects", "rejects", "--stats", "stats"];
    let run = place.run([&["dedup"], &domain[..], &outputs].concat()).exits(0);
    assert_eq!(run.out(), "2\texample.co.uk\n1\ta.github.io\n1\t[::1]\n");
    let terms = ["records", "unique", "duplicates", "rejected", "blank"];
    assert_eq!(terms.map(|term| run.summary(term)), [7, 3, 1, 2, 1]);
    let rejects = place.json_lines("rejects");
    let told =
        rejects.iter().map(|reject| [&reject["record"], &reject["codes"][0], &reject["raw"]]);
    let first = [&json!(2), &json!("no-host"), &json!("mailto:a@example.co.uk")];
    assert_eq!(told.collect::<Vec<_>>()[0], first);
    let stats = place.json("stats");
    assert_eq!(stats["codes"], json!({"no-host": 1, "relative": 1}));
    assert_eq!(stats["suffix_list"], uniqurl::key::suffix_list_date());
    // A filter comes first.
    let run = place.run([&["dedup", "--schemes", "http,https"], &domain[..]].concat()).exits(0);
    assert_eq!((run.summary("filtered"), run.summary("rejected")), (1, 1));
    let run = place.run([&["normalize", "--json"], &domain[..]].concat()).exits(0);
    let objects = json_lines(&run.out);
    assert_eq!(objects[0], json!({"record": 1, "out": "example.co.uk"}));
    assert_eq!(objects[1], json!({"record": 2, "reject": ["no-host"], "at": 0}));
    // As a column it is empty.
    let run = place.run(["dedup", "--fields", "domain,host", "--limit", "2", "list"]).exits(0);
    assert_eq!(run.out(), "example.co.uk\twww.example.co.uk\n\t\n");
    // A store of domains has no answer.
    place.run([&["dedup", "--save-seen", "store"], &domain[..]].concat()).exits(0);
    let urls = ["http://x.example.co.uk/", "http://x.example/", "mailto:a@example.co.uk"];
    let run = place.run([&["seen", "contains", "--key", "domain", "store"], &urls[..]].concat());
    let answers = run.out().lines().map(|line| line.split('\t').next());
    assert!(answers.eq(["seen", "new", "rejected"].map(Some)), "{}", run.out());
}

#[test]
fn domain_key_of_request_targets_needs_a_base() {
    let log = "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 1\n".repeat(2);
    let place = Place::with([("log", log.as_bytes())]);
    // All targets are rejected, and none is reported as hostless beside that.
    let run = place.run(["dedup", "--key", "domain", "--max-rejected", "9", "log", "log"]).exits(0);
    assert_eq!((run.summary("rejected"), run.summary("unique")), (4, 0));
    assert!(!run.err.contains("without a host"), "{}", run.err);
    let base = ["dedup", "--key", "domain", "--base", "http://www.example.com/", "log"];
    assert_eq!(place.run(base).exits(0).out(), "example.com\n");
    // Each record keeps its own decoded path.
    let servlet = "http://a.example/%41\n/%42\nhttp://b.example/%43\n";
    let arguments = ["dedup", "-p", "servlet", "--key", "domain", "--fields", "domain,decoded"];
    assert_eq!(place.run_on(arguments, servlet).exits(0).out(), "a.example\t/A\nb.example\t/C\n");
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
    let list = b"a\tb\\\n\x00\xFF\n";
    let fields = ["dedup", "-p", "string", "--fields", "canonical,first,surt", "-"];
    let lines = "a\\x09b\\x5C\t-:1:0\ta\\x09b\\x5C\n\\x00\\xFF\t-:2:5\t\\x00\\xFF\n";
    assert_eq!(place.run_on(fields, list).exits(0).out(), lines);
    let parts = "scheme,userinfo,host,port,path,query,fragment";
    let fields = ["dedup", "--json", "-p", "scheme", "--fields", parts];
    let run = place.run_on(fields, "HTTP://u:p@[::1]:8080/a?b#c\n").exits(0);
    let object = json!({"scheme": "http", "userinfo": "u:p", "host": "[::1]", "port": "8080",
                        "path": "/a", "query": "b", "fragment": "c"});
    assert_eq!(json_lines(&run.out), [object]);
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
fn templates_and_hosts_are_keys() {
    let pages = "http://h.example/user/1\nhttp://h.example/user/22?page=2\nnonsense\n\n\
                 HTTP://h.example/user/3?page=1\nhttp://g.example/user/6\n";
    let place = Place::new();
    let run = place.run_on(["dedup", "--key", "template", "--order", "count"], pages).exits(0);
    assert_eq!(
        run.out(),
        "2\thttp://h.example/user/{int}?page\n1\thttp://g.example/user/{int}\n\
         1\thttp://h.example/user/{int}\n"
    );
    let list = "http://a.x.example/1\nhttps://u@a.x.example:8/2\nhttp://b.x.example/\nmailto:a@h\n";
    let run = place.run_on(["dedup", "--key", "host", "--count"], list).exits(0);
    assert_eq!(run.out(), "2\ta.x.example\n1\tb.x.example\n");
    assert_eq!((run.summary("rejected"), run.summary("duplicates")), (1, 1));
    let limited = ["dedup", "-q", "--key", "host", "--limit-by", "domain:1"];
    assert_eq!(place.run_on(limited, list).exits(0).out(), "a.x.example\n");
}
