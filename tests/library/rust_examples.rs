//! The programs of `examples/`: each is compiled here too, and its work is done on samples.

#[allow(dead_code, reason = "main")]
#[path = "../../examples/dedup_list.rs"]
mod dedup_list;
#[allow(dead_code, reason = "main")]
#[path = "../../examples/first_program.rs"]
mod first_program;
#[allow(dead_code, reason = "main")]
#[path = "../../examples/explain.rs"]
mod explain;
#[allow(dead_code, reason = "main")]
#[path = "../../examples/frontier.rs"]
mod frontier;
#[allow(dead_code, reason = "main")]
#[path = "../../examples/log_to_set.rs"]
mod log_to_set;

/// Every program of the directory is one of these.
#[test]
fn each_example_is_tested() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = files.map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(
        names,
        ["dedup_list.rs", "explain.rs", "first_program.rs", "frontier.rs", "log_to_set.rs"]
    );
}

#[test]
fn first_program_prints_each_url_once_with_its_host() {
    let urls = ["example.com/%7Ea", "HTTP://Example.com:80/~a", "https://h.example"];
    let lines = first_program::distinct(&urls.map(str::to_owned)).unwrap();
    assert_eq!(
        lines,
        [r#"example.com "http://example.com/~a""#, r#"h.example "https://h.example/""#]
    );
    let crawl = uniqurl::Normalizer::new(uniqurl::Profile::Crawl);
    assert!(
        first_program::canonical(&crawl, "no url").unwrap_err().to_string().starts_with("relative")
    );
}

#[test]
fn list_is_deduplicated() {
    let mut out = Vec::new();
    let list = b"http://example.com/~a\nHTTP://Example.COM:80/%7Ea\nno url\nhttp://b\n";
    assert_eq!(dedup_list::dedup(list, &mut out).unwrap(), 1);
    assert_eq!(out, b"http://example.com/~a\nhttp://b/\n");
    let sample = include_bytes!("../../corpora/sample.txt");
    let (mut once, mut twice) = (Vec::new(), Vec::new());
    dedup_list::dedup(sample, &mut once).unwrap();
    assert_eq!(dedup_list::dedup(&once, &mut twice).unwrap(), 0);
    assert!(!once.is_empty() && once == twice);
}

#[test]
fn frontier_gives_each_url_once() {
    let mut frontier = frontier::Frontier::new();
    let links = ["a/./b", "HTTP://h/a/b", "b?q", "mailto:a@h", "https://[", "#top"];
    frontier.add("http://h/x", &links).unwrap();
    frontier.add("http://h/a/", &["b", "c"]).unwrap();
    frontier.add("no page", &["d"]).unwrap();
    let urls: Vec<_> = frontier.collect();
    assert_eq!(urls, ["http://h/a/b", "http://h/b?q", "http://h/x", "http://h/a/c"]);
}

#[test]
fn log_becomes_a_set_of_pages() {
    let sample = include_bytes!("../../corpora/sample.log");
    let pages = log_to_set::pages(&sample[..]).unwrap();
    let lines = sample.split(|byte| *byte == b'\n').count();
    assert!(pages.len() > 100 && pages.len() < lines, "{} of {lines}", pages.len());
    let log =
        b"h - - [t] \"GET /%7Ea HTTP/1.1\" 200 1\nh - - [t] \"GET /~a HTTP/1.1\" 200 1\nnonsense\n\
        h - - [t] \"\\x16\\x03\" 400 0\nh - - [t] \"GET //evil HTTP/1.1\" 404 1\n";
    let pages = log_to_set::pages(&log[..]).unwrap();
    let mut pages: Vec<_> = pages.iter().collect();
    pages.sort_unstable();
    assert_eq!(pages, [&b"//evil"[..], b"/~a"]);
}

#[test]
fn explanation_names_each_rule() {
    let text = explain::explain("HTTP://h:80/%7Ea");
    let rules: Vec<_> =
        text.lines().skip(1).filter_map(|line| line.split("  by ").nth(1)).collect();
    let expected = ["decode-unreserved: ", "scheme-case: ", "default-port: "];
    assert!(rules.iter().zip(expected).all(|(rule, name)| rule.starts_with(name)), "{text}");
    assert!(rules.len() == 3 && text.contains("\n  http://h/~a  by default-port"), "{text}");
    assert!(explain::explain("http://h:99999/").contains("  rejected: port-range at byte 9"));
}
