//! The memory budget where little input becomes much: longer URLs, long lists of rules, many columns.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufWriter, Write};

use crate::bombs::THREADS;
use crate::budget::{End, judge, mega, promised, run};
use crate::place::Place;
use crate::{Extent, Row, Torture};

/// Short references and links that a base, a page's address or a redirect makes 60 KB long.
pub fn longer_urls(torture: &mut Torture) -> Row {
    let mut row = Row::new("short records that become long URLs, -j 1 to 32: within the budget");
    let place = Place::new(torture, "longer-urls", 10);
    let (extent, budget) = (torture.extent, 8 << 20);
    let records = if extent == Extent::Full { 100_000 } else { 4_000 };
    let long = format!("http://e.example/{}/", "a".repeat(60_000));
    // A fragment, which goes, makes each record as long as a chunk needs to be cut.
    let lines = |record: &str| {
        (0..records).fold(String::new(), |mut text, i| {
            let _ = writeln!(text, "{record}#{i:030}");
            text
        })
    };
    let links = (0..records).map(|i| format!("{{\"path\":\"A@/href\",\"url\":\"x#{i:030}\"}}"));
    let links = links.collect::<Vec<_>>().join(",");
    let files = [
        ("more-lines", lines("x")),
        ("more-urls", lines("http://r.example/")),
        ("more-redirects", format!("http://r.example/\t{long}\n")),
        ("more.wat", wat(&long, &links)),
    ];
    for (name, text) in files {
        fs::write(place.path.join(name), text).expect("written");
    }
    let mut peaks = Vec::new();
    for arguments in [
        &["-f", "lines", "--base", &long, "more-lines"][..],
        &["-f", "lines", "--redirects", "more-redirects", "more-urls"],
        &["-f", "wat:links", "more.wat"],
    ] {
        let mut most = Vec::new();
        for threads in THREADS {
            if extent == Extent::Short && threads != 2 {
                continue;
            }
            let mut command = place.command(&torture.command);
            command.args(["dedup", "--memory", "8M", "-o", "out", "-j", &threads.to_string()]);
            let end = run(command.args(arguments), |_| Ok(()));
            let name = arguments.last().unwrap_or(&"");
            let what = format!("{name} -j {threads}");
            let end = judge(extent, &mut row, &what, (budget, threads), 0, end);
            most.extend(end.map(|end| mega(end.peak)));
        }
        peaks.push(most);
    }
    row.figure =
        format!("{records} records of 60 KB from a base, a redirect, a page; peaks {peaks:?} MB");
    row
}

/// A record about a page with these links.
fn wat(page: &str, links: &str) -> String {
    let body = format!(
        "{{\"Envelope\":{{\"WARC-Header-Metadata\":{{\"WARC-Type\":\"response\",\"WARC-Target-URI\":\
         \"{page}\"}},\"Payload-Metadata\":{{\"HTTP-Response-Metadata\":{{\"HTML-Metadata\":{{\
         \"Links\":[{links}]}}}}}}}}}}"
    );
    format!(
        "WARC/1.0\r\nWARC-Type: metadata\r\nWARC-Target-URI: {page}\r\nContent-Type: \
         application/json\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n",
        body.len()
    )
}

/// A list of redirects that does not fit, and one that does.
pub fn many_redirects(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("a long list of redirects counts in the budget, or is refused with the figure");
    let place = Place::new(torture, "redirects", 10);
    let extent = torture.extent;
    let pairs = if extent == Extent::Full { 5_000_000 } else { 100_000 };
    let file = fs::File::create(place.path.join("more-pairs")).expect("created");
    let mut file = BufWriter::new(file);
    for i in 0..pairs {
        writeln!(file, "http://host{i}.example/old\thttp://host{i}.example/new").expect("written");
    }
    drop(file);
    let mut peaks = Vec::new();
    // A pair takes about 200 bytes while the list is read.
    let enough = 1 + pairs * 400 / (1 << 20);
    for (mebibytes, code) in [(4, 2), (enough / 4, 2), (enough, 0)] {
        let mut command = place.command(&torture.command);
        let memory = format!("{mebibytes}M");
        command.args(["dedup", "-j", "2", "-o", "out", "--redirects", "more-pairs", "in"]);
        let end = run(command.args(["--memory", &memory]), |_| Ok(()));
        if let (Ok(end), 2) = (&end, code)
            && !end.said.contains("memory")
        {
            row.broken.push(format!("--memory {memory}: it said {:?}", end.said));
        }
        let budget = mebibytes << 20;
        let what = format!("{pairs} pairs, --memory {memory}");
        let end = judge(extent, &mut row, &what, (budget, 2), code, end);
        peaks.push((memory, end.map_or(0, |end| mega(end.peak))));
    }
    row.figure = format!("{pairs} pairs; peaks {peaks:?} MB");
    row
}

/// Outputs that gather their lines: shards, carried columns, tables.
pub fn columns(torture: &mut Torture) -> Row {
    let mut row = Row::new("shards, carried columns and tables: within the budget");
    let place = Place::new(torture, "columns", 10);
    let (extent, budget) = (torture.extent, 16 << 20);
    let records = if extent == Extent::Full { 5_000_000 } else { 20_000 };
    let file = fs::File::create(place.path.join("more-in")).expect("created");
    let mut file = BufWriter::new(file);
    let long = "x".repeat(700);
    for i in 0..records {
        writeln!(file, "https://host{}.example.com/{i}\t{i}{long}", i % 997).expect("written");
    }
    drop(file);
    let mut peaks = Vec::new();
    for (name, arguments) in [
        ("more-shards", &["--split-by", "hash:100"][..]),
        ("more-carried", &["--carry", "2"]),
        ("more.parquet", &["--carry", "2", "--fields", "canonical,host,path,original"]),
        ("more.csv", &["--carry", "2", "--fields", "canonical,host,path,original"]),
    ] {
        let threads = 2;
        let attempt = || {
            let mut command = place.command(&torture.command);
            command.args(["dedup", "-f", "tsv:1", "--memory", "16M", "-j", "2", "-o", name]);
            run(command.args(arguments).arg("more-in"), |_| Ok(()))
        };
        let is_over = |end: &Result<End, String>| {
            end.as_ref().is_ok_and(|end| end.peak > promised(extent, budget, threads))
        };
        // The allocator gives freed memory back a while later, and on a busy machine a run of half a second
        // may end before. So a short run may be over the limit twice, but not each time.
        let mut end = attempt();
        for _ in 0..if extent == Extent::Short { 2 } else { 0 } {
            if is_over(&end) {
                end = attempt();
            }
        }
        let end = judge(extent, &mut row, name, (budget, threads), 0, end);
        peaks.extend(end.map(|end| mega(end.peak)));
        let made = place.path.join(name);
        let _ = fs::remove_file(&made).or_else(|_| fs::remove_dir_all(made));
    }
    row.figure = format!("{records} records; peaks {peaks:?} MB of {}", mega(budget));
    row
}
