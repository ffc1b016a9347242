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

#[test]
fn report_shows_temporary_files_of_a_set_beyond_memory() {
    let lines: String = (0..60_000).map(|i| format!("http://h{}.example/{i}\n", i % 7)).collect();
    let place = Place::with([("in", lines.as_bytes())]);
    let rest = ["in", "-o", "out", "--report", "page.html"];
    for (memory, is_spilled) in [("1M", true), ("1G", false)] {
        place.run(["dedup", "--memory", memory].into_iter().chain(rest)).exits(0);
        let page = page(&place);
        assert!(page.contains("unique</td><td class=\"n\">60,000</td>"), "{page}");
        assert_eq!(page.contains("<dt>temporary files</dt>"), is_spilled, "{memory}: {page}");
    }
}

#[test]
fn report_shows_the_terms_of_the_run() {
    let place = Place::with([("in", HOSTILE), ("old", b"http://a.example/~\n")]);
    let rest = ["in", "-o", "out", "--report", "page.html"];
    let terms = ["seen", "filtered"];
    for (options, present) in [
        (&["dedup"][..], [false, false]),
        (&["dedup", "--seen", "old"], [true, false]),
        (&["dedup", "--not-host", "b.example"], [false, true]),
    ] {
        place.run(options.iter().chain(&rest)).exits(0);
        let page = page(&place);
        let found = terms.map(|term| page.contains(&format!("</span>{term}")));
        assert_eq!(found, present, "{options:?}: {page}");
    }
}

#[test]
fn report_names_the_run_first() {
    let place = Place::with([("in put", HOSTILE)]);
    let base = ["dedup", "-p", "syntax", "--base", "http://u:secret@h.example/"];
    let rest = ["in put", "-o", "out", "--report", "page.html"];
    place.run(base.into_iter().chain(rest)).exits(0);
    let page = page(&place);
    assert!(!page.contains("secret"), "{page}");
    let command = "<dt>command</dt><dd><code>uniqurl dedup -p syntax --base \
        &#39;http://***@h.example/&#39; &#39;in put&#39; -o out --report page.html</code>";
    assert!(page.contains(command), "{page}");
    let version = concat!("<dt>version</dt><dd>", env!("CARGO_PKG_VERSION"), "</dd>");
    assert!(page.contains("<dt>date</dt><dd>20") && page.contains(version), "{page}");
    assert!(page.contains("<dt>read</dt><dd>161 B in "), "{page}");
    let sections: Vec<_> =
        page.split("<h2 id=\"").skip(1).filter_map(|section| section.split('"').next()).collect();
    assert_eq!(sections, ["records", "rejected", "inputs"]);
}

#[test]
fn reasons_of_rejection_are_listed_by_count() {
    let place = Place::with([("in", &b"http://h:x/\nbad\nworse\nhttp://a/\n"[..])]);
    place.run(["dedup", "-f", "lines", "in", "-o", "out", "--report", "page.html"]).exits(0);
    let page = page(&place);
    let rejected = page.split("id=\"rejected\"").nth(1).expect("a section");
    let relative =
        "<code>relative</code></td><td class=\"n\">2</td><td class=\"n\">66.67 %</td><td>";
    let port = "<code>port</code></td><td class=\"n\">1</td><td class=\"n\">33.33 %</td><td>";
    let [first, second] = [relative, port].map(|row| rejected.find(row).expect(row));
    assert!(first < second, "{page}");
}
