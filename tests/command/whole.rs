//! `--whole` and `--dropped`: records as they came.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::Place;
use super::packed::gzip;
use serde_json::json;

const CSV: &str = "url,text\nhttp://a/,\"x\ny\"\nhttp://A,second\r\nhttp://b/,\"q\"\"uote\"\nx y,bad\n\nhttp://a/#f,last";

#[test]
fn rows_of_csv_come_as_they_are_after_one_header() {
    let place = place([("a.csv", CSV), ("b.csv", "url,text\r\nhttp://c/,1\nhttp://b,2\n")]);
    let both = ["dedup", "--whole", "a.csv", "b.csv", "-o", "out.csv"];
    place.run(both.iter().chain(&["--dropped", "dropped"])).exits(0);
    let kept = "url,text\nhttp://a/,\"x\ny\"\nhttp://b/,\"q\"\"uote\"\nhttp://c/,1\n";
    assert_eq!(place.text("out.csv"), kept);
    let dropped = "url,text\nhttp://A,second\r\nhttp://a/#f,last\nhttp://b,2\n";
    assert_eq!(place.text("dropped"), dropped);
    let last = place.run(both.iter().take(4).chain(&["--keep", "last", "-q"])).exits(0);
    assert_eq!(last.out(), "url,text\nhttp://a/#f,last\nhttp://c/,1\nhttp://b,2\n");
    // Divided, each file has the header, and any byte may be in a record.
    place.run(both.iter().take(4).chain(&["--split-by", "hash:2", "-o", "shards"])).exits(0);
    let shards = ["shards/shard-00000", "shards/shard-00001"].map(|name| place.text(name));
    let rows: Vec<&str> =
        shards.iter().map(|text| text.strip_prefix("url,text\n").unwrap()).collect();
    assert_eq!(rows.concat().len(), kept.len() - "url,text\n".len());
    assert!(rows.concat().contains("http://a/,\"x\ny\"\n"), "{rows:?}");
}

#[test]
fn directives_of_logs_stay_where_they_are() {
    let first = "#Version: 1.0\n#Fields: cs-uri-stem\n/a\n/a\n";
    let second = "#Fields: x cs-uri-stem\n1 /a\n2 /b\n";
    let place = place([("1", first), ("2", second)]);
    let run = place.run(["dedup", "-q", "--whole", "-f", "w3c", "--base", "http://h", "1", "2"]);
    let kept = "#Version: 1.0\n#Fields: cs-uri-stem\n/a\n#Fields: x cs-uri-stem\n2 /b\n";
    assert_eq!(run.exits(0).out(), kept);
}

#[test]
fn records_that_can_be_read_once_are_copied() {
    let place = place([("a.csv", CSV)]);
    let named = place.run(["dedup", "-q", "--whole", "a.csv"]).exits(0);
    for (arguments, input) in [
        (&["-"][..], CSV.as_bytes().to_vec()),
        (&["-", "-f", "csv:url"], CSV.as_bytes().to_vec()),
        (&["-j", "1"], gzip(CSV.as_bytes())),
    ] {
        let piped = place.run_on(["dedup", "-q", "--whole"].iter().chain(arguments), input);
        assert_eq!(piped.exits(0).out(), named.out(), "{arguments:?}");
    }
    assert_eq!(place.shell("uniqurl dedup -q --whole < a.csv").exits(0).out(), named.out());
}

#[test]
fn lists_end_their_records_as_they_are_read() {
    let place = place([("list", "http://a/\0http://A\0\0http://b/\n")]);
    let run = place.run(["dedup", "-q", "-0", "--whole", "--dropped", "dropped", "list"]).exits(0);
    assert_eq!(
        (run.out(), place.text("dropped").as_str()),
        ("http://a/\0http://b/\n\0", "http://A\0")
    );
}

#[test]
fn seen_and_filtered_records_are_dropped() {
    let lines = "{\"url\":\"http://a/1\"}\n{\"url\":\"http://b/\"}\n{\"url\":\"http://a/2\"}\n{}\n";
    let place = place([("docs.jsonl", lines), ("bad", "b\n"), ("seen", "http://a/1\n")]);
    let run = place.run([
        "dedup",
        "--whole",
        "docs.jsonl",
        "-f",
        "json:/url",
        "--not-hosts",
        "bad",
        "--seen",
        "seen",
        "--dropped",
        "dropped",
        "--save-seen",
        "store",
    ]);
    let run = run.exits(0);
    assert_eq!(run.out(), "{\"url\":\"http://a/2\"}\n");
    let dropped = "{\"url\":\"http://a/1\"}\n{\"url\":\"http://b/\"}\n";
    assert_eq!(place.text("dropped"), dropped);
    let counts = ["unique", "seen", "filtered", "rejected"].map(|term| run.summary(term));
    assert_eq!(counts, [1, 1, 1, 1]);
    let again = place.run(["dedup", "--whole", "docs.jsonl", "--seen", "store", "-f", "json:/url"]);
    assert_eq!(again.exits(0).out(), "{\"url\":\"http://a/1\"}\n{\"url\":\"http://b/\"}\n");
}

#[test]
fn what_cannot_be_copied_is_refused() {
    let place = place([
        ("a.csv", CSV),
        ("c.csv", "n,url\n1,http://c/\n"),
        ("page.txt", "see http://a/ and http://b/\n"),
        ("map.xml", "<urlset><url><loc>http://a/</loc></url></urlset>\n"),
    ]);
    for (arguments, told) in [
        (&["a.csv", "c.csv"][..], "c.csv: its header differs from that of the inputs before it"),
        (&["page.txt", "-f", "text"], "page.txt: format: its records do not stand by themselves"),
        (&["map.xml"], "map.xml: format: its records do not stand by themselves"),
        (&["a.csv", "-o", "out.parquet"], "a.csv: format: its records are no rows of a table"),
        (&["a.csv", "--order", "sorted"], "--whole keeps the order of the records"),
        (&["a.csv", "--count"], "cannot be used with"),
        (&["a.csv", "--dropped", "d.arrow"], "--output and --dropped are tables of one kind"),
        (&["a.csv", "-o", "x", "--dropped", "x"], "would write to the same place"),
    ] {
        let run = place.run(["dedup", "--whole"].iter().chain(arguments)).exits(2);
        assert!(run.err.contains(told), "{arguments:?}: {}", run.err);
    }
    assert!(!place.names().contains(&"out.parquet".to_owned()));
    assert!(place.run(["dedup", "a.csv", "--dropped", "x"]).exits(2).err.contains("--whole"));
}

fn place<const N: usize>(files: [(&str, &str); N]) -> Place {
    Place::with(files.map(|(name, text)| (name, text.as_bytes())))
}

/// Documents of which many share a URL, in many spellings.
fn documents() -> (String, Vec<String>) {
    let (mut lines, mut urls) = (String::new(), Vec::new());
    let mut random = 7_u64;
    for n in 0..6_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(n);
        let (page, spelling) = (random >> 33 & 0x7FF, random >> 50 & 3);
        let host =
            ["example.org", "EXAMPLE.org", "example.org:80", "example.ORG"][spelling as usize];
        let text = "x".repeat((random >> 40 & 0xFF) as usize);
        let document = json!({ "url": format!("http://{host}/{page}"), "n": n % 97, "text": text });
        writeln!(lines, "{document}").unwrap();
        urls.push(format!("http://example.org/{page}"));
    }
    (lines, urls)
}

#[test]
fn documents_are_those_of_a_plain_program_with_any_threads_memory_and_choice() {
    let (text, urls) = documents();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let place = place([("docs.jsonl", &text)]);
    let greatest = |kept: usize, n: usize| n % 97 > kept % 97;
    for (keep, replaces) in [
        ("first", &(|_, _| false) as &dyn Fn(usize, usize) -> bool),
        ("last", &|_, _| true),
        ("max:n", &greatest),
    ] {
        let mut kept: HashMap<&str, usize> = HashMap::new();
        for (n, url) in urls.iter().enumerate() {
            let kept = kept.entry(url).or_insert(n);
            if replaces(*kept, n) {
                *kept = n;
            }
        }
        let kept: HashSet<usize> = kept.into_values().collect();
        let of = |is_kept: bool| -> String {
            let records = (0..lines.len()).filter(|n| kept.contains(n) == is_kept);
            records.map(|n| lines[n]).collect()
        };
        for options in [&["-j", "1"][..], &["-j", "7"], &["-j", "3", "--memory", "1M"]] {
            let always = ["dedup", "-q", "--whole", "--dropped", "dropped", "--keep", keep];
            let run = place.run(always.iter().chain(options).chain(&["docs.jsonl"])).exits(0);
            assert!(run.out() == of(true), "{keep} {options:?}");
            assert!(place.text("dropped") == of(false), "{keep} {options:?}");
        }
    }
}
