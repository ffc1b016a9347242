//! The page of `--report`.

use super::Place;

const HOSTILE: &[u8] = b"http://h/<script>alert(1)</script>\n\
    http://h/\"onload='x'&amp;\n\
    http://user:secret@h:x/?key=secret#secret\n\
    http://b.example/\n\
    http://B.example/\n\
    http://a.example/%7e\n\
    \n";

fn page(place: &Place) -> String {
    let page = place.text("page.html");
    assert!(page.is_ascii(), "{page}");
    page
}

#[test]
fn report_describes_the_run() {
    let place = Place::with([("in", HOSTILE)]);
    place.run(["dedup", "-p", "syntax", "in", "-o", "out", "--report", "page.html"]).exits(0);
    let page = page(&place);
    for shown in [
        "<title>uniqurl dedup</title>",
        "<p>7 records; every one is in one of these.</p>",
        "unique</td><td class=\"n\">2</td><td class=\"n\">28.57 %</td>",
        "duplicates</td><td class=\"n\">1</td>",
        "rejected</td><td class=\"n\">3</td>",
        "blank</td><td class=\"n\">1</td>",
        "<code>b.example</code></td><td class=\"n\">2</td>",
        "<code>in</code></td><td>ok</td>",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

#[test]
fn report_escapes_html_and_masks_secrets() {
    let name = "<b>&\"'.txt";
    let place = Place::with([(name, HOSTILE)]);
    place.run(["dedup", "-p", "syntax", name, "-o", "out", "--report", "page.html"]).exits(0);
    let page = page(&place);
    assert!(page.contains("http://h/&lt;script&gt;alert(1)&lt;/script&gt;"), "{page}");
    assert!(page.contains("http://h/&quot;onload=&#39;x&#39;&amp;amp;"), "{page}");
    assert!(page.contains("&lt;b&gt;&amp;&quot;&#39;.txt"), "{page}");
    assert!(
        !page.contains("<script") && !page.contains("<b>") && !page.contains("secret"),
        "{page}"
    );
    // The page loads nothing.
    assert!(
        page.contains("default-src 'none'") && !page.contains("src=") && !page.contains("href")
    );
}

#[test]
fn report_of_a_failed_run_says_so() {
    let place = Place::with([("in", &b"http://h:x/\n"[..])]);
    place.run(["dedup", "in", "-o", "out", "--report", "page.html"]).exits(3);
    assert!(page(&place).contains("<p>Stopped by a limit, before the output was complete.</p>"));
    assert!(!place.path("out").exists());
}

#[test]
fn report_covers_keys_and_spilled_sets() {
    let lines: String = (0..60_000).map(|i| format!("http://h{}.example/{i}\n", i % 7)).collect();
    let place = Place::with([("in", lines.as_bytes())]);
    let rest = ["in", "-o", "out", "--report", "page.html"];
    place.run(["dedup", "--memory", "1M"].into_iter().chain(rest)).exits(0);
    let spilled = page(&place);
    assert!(spilled.contains("Duplicates are not counted by host"), "{spilled}");
    assert!(
        spilled.contains("<code>h0.example</code></td><td class=\"n\">8,572</td>"),
        "{spilled}"
    );
    place.run(["dedup", "--key", "hash"].into_iter().chain(rest)).exits(0);
    let hashed = page(&place);
    assert!(hashed.contains("<code>h0.example</code></td><td class=\"n\">8,572</td>"), "{hashed}");
    assert!(hashed.contains("distinct keys</td><td class=\"n\">2.0 MB</td>"), "{hashed}");
}

#[test]
fn duplicates_are_counted_by_host_if_nothing_spilled() {
    let lines: String =
        (0..72_000).map(|i| format!("http://h.example/{i:08}/abcdefghij\n")).collect();
    let place = Place::with([("in", lines.repeat(2).as_bytes())]);
    let rest = ["-j2", "--report", "page.html", "--stats", "stats", "-o", "out"];
    let mut spilled = Vec::new();
    for memory in ["7M", "8M", "9M", "12M"] {
        let run = place.run(["dedup", "in", "--memory", memory].into_iter().chain(rest)).exits(0);
        assert_eq!(run.summary("duplicates"), 72_000);
        let counted =
            page(&place).matches("<code>h.example</code></td><td class=\"n\">72,000").count();
        let bytes = place.json("stats")["spilled"].as_u64().unwrap();
        assert_eq!(counted, usize::from(bytes == 0), "{memory}: spilled {bytes}");
        spilled.push(bytes > 0);
    }
    assert!(spilled.contains(&true) && spilled.contains(&false), "{spilled:?}");
}

#[test]
fn normalize_writes_a_report() {
    let place = Place::with([("in", HOSTILE)]);
    place.run(["normalize", "in", "-o", "out", "--report", "page.html"]).exits(0);
    let page = page(&place);
    assert!(page.contains("<title>uniqurl normalize</title>") && !page.contains("duplicates"));
}

#[test]
fn report_needs_its_own_path() {
    let place = Place::with([("in", HOSTILE)]);
    let run = place.run(["dedup", "in", "--stats", "x", "--report", "x"]).exits(2);
    assert!(run.err.contains("would write to the same place"), "{}", run.err);
}

#[test]
fn report_mentions_skipped_inputs() {
    let place = Place::with([("in", HOSTILE)]);
    let arguments =
        ["normalize", "in", "none", "--keep-going", "-o", "out", "--report", "page.html"];
    place.run(arguments).exits(1);
    let page = page(&place);
    assert!(page.contains("<p>Written, but incomplete: an input was skipped.</p>"), "{page}");
}

/// Lines of a combined log: 90 requests a minute apart. Every tenth was not found.
fn log() -> String {
    let line = |i: usize| {
        let (hour, minute) = (22 + i / 60, i % 60);
        let status = if i.is_multiple_of(10) { 404 } else { 200 };
        let target = if i.is_multiple_of(3) { format!("/item/{i}?id=secret") } else { "/".into() };
        format!(
            "1.2.3.4 - - [10/Oct/2000:{hour}:{minute:02}:36 -0700] \"GET {target} HTTP/1.1\" \
             {status} 5 \"-\" \"-\"\n"
        )
    };
    (0..90).map(line).collect()
}

#[test]
fn report_shows_templates_statuses_and_times_of_a_log() {
    let place = Place::with([("access.log", log().as_bytes())]);
    for threads in ["-j1", "-j3"] {
        let base = ["dedup", "-p", "syntax", "--base", "http://u:secret@h.example/", threads];
        let rest = ["access.log", "-o", "out", "--report", "page.html"];
        place.run(base.into_iter().chain(rest)).exits(0);
        let page = page(&place);
        for shown in [
            "<code>http://***@h.example/</code></td><td class=\"n\">60</td>",
            "<code>http://***@h.example/item/0?id=***</code></td><td class=\"n\">1</td>",
            "--base &#39;http://***@h.example/&#39;",
            "<code>http://***@h.example/item/{int}?id</code></td><td class=\"n\">30</td>",
            "<code>2xx</code></td><td class=\"n\">81</td><td class=\"n\">90.00 %</td>",
            "<code>4xx</code></td><td class=\"n\">9</td><td class=\"n\">10.00 %</td>",
            "<code>404</code></td><td class=\"n\">9</td>",
            "<p>Each bar spans 1 minute. Records in the highest: 1. Times are in UTC.</p>",
            "<title>2000-10-11 05:00:00: 1, 1 with errors</title>",
            "<title>2000-10-11 05:01:00: 1</title>",
            "<span>2000-10-11 05:00:00</span><span>2000-10-11 06:30:00</span>",
        ] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        assert_eq!(page.matches("class=\"some\"").count(), 90);
        assert!(!page.contains("secret"), "{page}");
    }
}

#[test]
fn report_of_a_list_has_no_statuses_and_no_times() {
    let place = Place::with([("in", HOSTILE)]);
    place.run(["dedup", "-f", "lines", "in", "-o", "out", "--report", "page.html"]).exits(0);
    let page = page(&place);
    assert!(page.contains("id=\"templates\""), "{page}");
    assert!(!page.contains("id=\"statuses\"") && !page.contains("id=\"times\""), "{page}");
}

#[test]
fn report_counts_records_after_a_header_in_their_chunk() {
    let fields = "#Fields: date time cs-uri-stem sc-status\n";
    let moved = "#Fields: sc-status cs-uri-stem time date\n";
    let log = format!(
        "{fields}2000-10-10 13:55:36 /a 200\n{moved}404 /b 13:55:38 2000-10-10\n500 /c - 2000-10-10\n"
    );
    let place = Place::with([("in", log.as_bytes())]);
    let rest = ["-f", "w3c", "in", "--carry", "sc-status", "-o", "out", "--report", "page.html"];
    place.run(["dedup"].into_iter().chain(rest)).exits(0);
    let page = page(&place);
    for shown in [
        "<code>200</code></td><td class=\"n\">1</td>",
        "<code>404</code></td><td class=\"n\">1</td>",
        "<code>500</code></td><td class=\"n\">1</td>",
        "<title>2000-10-10 13:55:36: 1</title>",
        "<title>2000-10-10 13:55:38: 1, 1 with errors</title>",
        "<span>2000-10-10 13:55:36</span><span>2000-10-10 13:55:39</span>",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

#[test]
fn report_names_the_run_first_and_its_throughput_last() {
    let place = Place::with([("in put", HOSTILE)]);
    place.run(["dedup", "-p", "syntax", "in put", "-o", "out", "--report", "page.html"]).exits(0);
    let page = page(&place);
    let command = "<dt>command</dt><dd><code>uniqurl dedup -p syntax &#39;in put&#39; -o out --report page.html</code>";
    assert!(page.contains(command), "{page}");
    let version = concat!("<dt>version</dt><dd>", env!("CARGO_PKG_VERSION"), "</dd>");
    assert!(page.contains("<dt>date</dt><dd>20") && page.contains(version), "{page}");
    let sections: Vec<_> =
        page.split("<h2 id=\"").skip(1).filter_map(|section| section.split('"').next()).collect();
    let expected =
        ["accounting", "urls", "templates", "hosts", "rejected", "size", "inputs", "pace"];
    assert_eq!(sections, expected);
}

#[test]
fn sizes_are_compared_decompressed() {
    let lines = "http://h.example/a\n".repeat(100_000);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, lines.as_bytes()).unwrap();
    let place = Place::with([("in.gz", &packed.finish().unwrap()[..]), ("in", lines.as_bytes())]);
    for (input, threads) in [("in.gz", "-j1"), ("in", "-j1"), ("in", "-j3")] {
        place.run(["dedup", threads, input, "-o", "out", "--report", "page.html"]).exits(0);
        let page = page(&place);
        for shown in [
            "<td>input, decompressed</td><td class=\"n\">1.9 MB</td>",
            "<td>canonical URLs in it</td><td class=\"n\">1.9 MB</td>",
            "<td>distinct URLs</td><td class=\"n\">19 B</td>",
            "<code>http://h.example/a</code></td><td class=\"n\">100,000</td>",
        ] {
            assert!(page.contains(shown), "{input}: {shown}: {page}");
        }
        assert_eq!(page.contains("1.9 MB were read from the inputs"), input == "in");
    }
}

#[test]
fn urls_that_come_once_make_no_list() {
    let lines: String = (0..60_000).map(|i| format!("http://h.example/{i}\n")).collect();
    let place = Place::with([("in", lines.as_bytes())]);
    place.run(["dedup", "in", "-o", "out", "--report", "page.html"]).exits(0);
    let page = page(&place);
    assert!(page.contains("<p>No URL is frequent.</p>"), "{page}");
    assert!(
        page.contains("<code>http://h.example/{int}</code></td><td class=\"n\">60,000"),
        "{page}"
    );
}
