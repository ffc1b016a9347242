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

/// The engine's tests say how figures are written; here stands which of them a page has.
#[test]
fn report_tells_how_a_run_ended_and_what_it_counted() {
    let many: String = (0..60_000).map(|i| format!("http://h{}.example/{i}\n", i % 7)).collect();
    let place = Place::with([
        ("in", HOSTILE),
        ("many", many.as_bytes()),
        ("bad", b"http://h:x/\nbad\nworse\n"),
        ("old", b"http://a.example/~\n"),
    ]);
    let complete = "unique</td><td class=\"n\">2</td><td class=\"n\">28.57 %</td>";
    let relative =
        "<code>relative</code></td><td class=\"n\">2</td><td class=\"n\">66.67 %</td><td>";
    for (arguments, status, shown, absent) in [
        ("dedup -p syntax in", 0, complete, "</span>seen"),
        (
            "dedup -p syntax in",
            0,
            "<p>7 records; every one is in one of these.</p>",
            "</span>filtered",
        ),
        ("dedup in --seen old", 0, "</span>seen", "</span>filtered"),
        ("dedup in --not-host b.example", 0, "</span>filtered", "</span>seen"),
        ("normalize in", 0, "<title>uniqurl normalize</title>", "duplicates"),
        (
            "normalize in none --keep-going",
            1,
            "<p>Written, but incomplete: an input was skipped.</p>",
            "!",
        ),
        (
            "dedup bad",
            3,
            "<p>Stopped by a limit, before the output was complete.</p>",
            "temporary files",
        ),
        ("dedup -f lines bad", 3, relative, "!"),
        ("dedup many --memory 1M", 0, "<dt>temporary files</dt>", "!"),
        ("dedup many --memory 1G", 0, "unique</td><td class=\"n\">60,000</td>", "temporary files"),
    ] {
        let outputs = ["-o", "out", "--report", "page.html"];
        place.run(arguments.split(' ').chain(outputs)).exits(status);
        let page = page(&place);
        assert!(
            page.contains(shown) && (absent == "!" || !page.contains(absent)),
            "{arguments}: {page}"
        );
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
