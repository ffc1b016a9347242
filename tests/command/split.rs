//! `--split-by`: a directory of shards.

use super::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::time::Duration;

fn list() -> String {
    let line = |i: u32| match i % 10 {
        7 => format!("mailto:someone-{}@h\n", i % 50),
        8 => format!("https://H{}.example:8080/{}\n", i % 97, i % 400),
        9 => "relative\n".to_owned(),
        _ => format!("HTTP://H{}.example:80/{}\n", i % 97, i.wrapping_mul(7919) % 3_000),
    };
    (0..9_000).chain(0..2_000).map(line).collect()
}

/// The shards of a directory by name, unpacked.
fn shards(place: &Place, directory: &str) -> BTreeMap<String, String> {
    let entries = fs::read_dir(place.path(directory)).expect("readable");
    let read = |entry: std::io::Result<fs::DirEntry>| {
        let entry = entry.expect("an entry");
        let bytes = fs::read(entry.path()).expect("read");
        let name = entry.file_name().into_string().expect("text");
        let text = match name.rsplit('.').next() {
            Some("zst") => zstd::decode_all(&bytes[..]).expect("zstd"),
            Some("gz") => {
                let mut text = Vec::new();
                let mut unpacked = flate2::read::MultiGzDecoder::new(&bytes[..]);
                std::io::Read::read_to_end(&mut unpacked, &mut text).expect("gzip");
                text
            }
            _ => bytes,
        };
        (name, String::from_utf8(text).expect("text"))
    };
    entries.map(read).collect()
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or("", |(_, rest)| rest);
    rest.split(['/', ':']).next().unwrap_or_default()
}

#[test]
fn each_line_is_in_one_shard_and_each_host_in_one() {
    let place = Place::with([("in", list().as_bytes())]);
    for (arguments, by, memory, suffix) in [
        (&["--order", "first"][..], "host", "1G", ""),
        (&["--order", "sorted"], "hash", "1M", ".gz"),
        (&["--count"], "host", "1M", ".zst"),
        (&["--fields", "canonical,count,host", "--order", "sorted"], "hash", "1G", ".txt"),
        (&["--top", "500", "--count"], "host", "1M", ""),
    ] {
        let whole = place.run([&["dedup", "in"], arguments].concat()).exits(0);
        let split = format!("{by}:7");
        let fixed = ["dedup", "in", "-o", "out", "--split-by", &split, "--split-suffix", suffix];
        let run = place.run([&fixed[..], &["--memory", memory], arguments].concat()).exits(0);
        assert!(run.out.is_empty());
        assert_eq!(run.summary("unique"), whole.summary("unique"));
        let shards = shards(&place, "out");
        assert!(
            shards.keys().eq(&(0..7).map(|i| format!("shard-{i:05}{suffix}")).collect::<Vec<_>>())
        );
        assert!(shards.values().filter(|text| !text.is_empty()).count() > 4, "{arguments:?}");
        let mut home: BTreeMap<&str, &str> = BTreeMap::new();
        let mut all = Vec::new();
        for (name, text) in &shards {
            let lines: Vec<_> = text.lines().collect();
            // The order of the whole output, without the lines of other parts.
            let own: BTreeSet<_> = lines.iter().copied().collect();
            assert!(
                whole.out().lines().filter(|line| own.contains(line)).eq(text.lines()),
                "{name}"
            );
            for line in &lines {
                let url = line.split('\t').nth(usize::from(arguments.contains(&"--count")));
                let host = host(url.expect("a URL"));
                assert!(by == "hash" || home.entry(host).or_insert(name) == name, "{line}");
            }
            all.extend(lines);
        }
        let mut expected: Vec<_> = whole.out().lines().collect();
        all.sort_unstable();
        expected.sort_unstable();
        assert_eq!(all, expected, "{arguments:?}");
        fs::remove_dir_all(place.path("out")).expect("removed");
    }
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn tables_hold_the_lines_of_the_lists() {
    let place = Place::with([("in", list().as_bytes())]);
    for (arguments, column, kind, memory) in [
        (&["--order", "first"][..], 0, "parquet", "1M"),
        (&["--order", "sorted", "--count", "--min-count", "2"], 1, "arrow", "1G"),
        (&["--fields", "host,canonical"], 1, "parquet", "1G"),
        (&["--limit", "0"], 0, "csv", "1M"),
    ] {
        let start = ["dedup", "in", "--split-by", "host:7", "--memory", memory, "-o"];
        place.run([&start[..], &["lists"], arguments].concat()).exits(0);
        let suffix = format!(".of-7.{kind}");
        let how = ["tables", "--split-suffix", &suffix];
        place.run([&start[..], &how, arguments].concat()).exits(0);
        for (name, text) in &shards(&place, "lists") {
            let table = format!("tables/{name}{suffix}");
            let format = format!("{kind}:canonical");
            let read = place.run(["normalize", "-p", "string", "-f", &format, &table]).exits(0);
            let urls = text.lines().map(|line| line.split('\t').nth(column).expect("a URL"));
            assert!(read.out().lines().eq(urls), "{table} {arguments:?}");
        }
        assert_eq!(fs::read_dir(place.path("tables")).expect("readable").count(), 7);
        for directory in ["lists", "tables"] {
            fs::remove_dir_all(place.path(directory)).expect("removed");
        }
    }
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn all_hosts_of_a_domain_are_in_one_shard() {
    let line = |i: u32| match i % 9 {
        8 => format!("mailto:a{i}@h\n"),
        n => format!("http://h{n}.d{}.co.uk:{i}/\n", i / 9 % 40),
    };
    let place = Place::with([("in", (0..3_000).map(line).collect::<String>().as_bytes())]);
    for key in ["url", "template"] {
        let arguments = ["dedup", "in", "-o", "out", "--split-by", "domain:5", "--key", key];
        place.run(arguments).exits(0);
        let mut home: BTreeMap<String, String> = BTreeMap::new();
        let mut used = BTreeSet::new();
        for (name, text) in shards(&place, "out") {
            for line in text.lines() {
                // The label that starts with a `d`, if there is a host.
                let labels = line.split(['.', '/']);
                let domain = labels.filter(|label| label.starts_with('d')).collect::<String>();
                assert_eq!(*home.entry(domain).or_insert_with(|| name.clone()), name, "{line}");
                used.insert(name.clone());
            }
        }
        assert_eq!((home.len(), used.len()), (41, 5), "{key}");
        fs::remove_dir_all(place.path("out")).expect("removed");
    }
}

#[test]
fn shard_of_a_url_is_the_same_in_every_run() {
    let place = Place::with([("in", list().as_bytes()), ("few", &list().as_bytes()[60_000..])]);
    for (key, split) in
        [("url", "host:5"), ("url", "domain:5"), ("surt", "hash:5"), ("ssurt", "hash:5")]
    {
        let mut homes: Vec<BTreeMap<String, String>> = Vec::new();
        for (input, order) in [("in", "first"), ("few", "sorted")] {
            let fixed = ["dedup", input, "-o", "out", "--split-by", split, "--key", key];
            place.run([&fixed[..], &["--order", order]].concat()).exits(0);
            let shards = shards(&place, "out");
            let lines = shards.iter().flat_map(|(name, text)| {
                text.lines().map(move |line| (line.to_owned(), name.clone()))
            });
            homes.push(lines.collect());
            fs::remove_dir_all(place.path("out")).expect("removed");
        }
        assert!(!homes[1].is_empty());
        assert!(homes[1].iter().all(|(url, home)| homes[0].get(url) == Some(home)), "{key}");
    }
}

#[test]
fn shards_support_null_and_seen() {
    let place =
        Place::with([("in", b"http://a/\0http://b/\0http://c/\0"), ("old", b"http://b/\0")]);
    let arguments = ["dedup", "-0", "in", "--seen", "old", "--split-by", "hash:1", "-o", "out"];
    place.run(arguments).exits(0);
    assert_eq!(place.text("out/shard-00000"), "http://a/\0http://c/\0");
}

#[test]
fn split_directory_is_complete_or_absent() {
    let place = Place::with([("in", b"http://a/\n"), ("bad", b"relative\n")]);
    for arguments in [
        &["in", "--rejects", "/dev/full", "bad"][..],
        // The accounting is written when the tables are made.
        &["in", "--split-suffix", ".parquet", "--stats", "/dev/full"],
    ] {
        let fixed = ["dedup", "--split-by", "host:3", "-o", "new"];
        let run = place.run([&fixed[..], arguments].concat()).exits(2);
        assert!(run.err.contains("/dev/full"), "{arguments:?}: {}", run.err);
        assert_eq!(place.names(), ["bad", "in"]);
    }
    // An empty directory is accepted, and a run without a URL still fills it.
    fs::create_dir(place.path("empty")).expect("made");
    place.run(["dedup", "/dev/null", "-o", "empty/", "--split-by", "host:2"]).exits(0);
    assert_eq!(shards(&place, "empty").len(), 2);
}

/// Nothing of a killed run has the name of the output, and the directory that it leaves is in nobody's way.
#[test]
fn killed_run_leaves_only_a_directory_under_a_temporary_name() {
    let place = Place::with([("in", b"http://a/\n")]);
    let left = || place.names().into_iter().filter(|name| name.starts_with(".uniqurl-")).count();
    let arguments = ["dedup", "-", "-q", "-f", "lines", "--split-by", "hash:3", "-o", "out"];
    let mut killed = place.start(&arguments);
    while left() == 0 {
        assert!(killed.try_wait().expect("waited for").is_none());
        std::thread::sleep(Duration::from_millis(1));
    }
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    assert!(!place.path("out").exists());
    let before = left();
    place.run(["dedup", "in", "--split-by", "hash:2", "-o", "out"]).exits(0);
    assert_eq!((shards(&place, "out").len(), left()), (2, before));
}

/// It cannot be replaced, and the run refuses it before any other output gets its name.
#[test]
fn output_name_that_became_a_link_ends_the_run_without_outputs() {
    let place = Place::new();
    place.pipe("pipe");
    fs::create_dir(place.path("there")).expect("made");
    let arguments = ["dedup", "pipe", "-f", "lines", "--split-by", "host:2", "-o", "out"];
    let others = ["--rejects", "rejects", "--stats", "/dev/null"];
    let link = || symlink("there", place.path("out")).expect("linked");
    let run = place.run_meanwhile("pipe", &[&arguments[..], &others].concat(), Stdio::null(), link);
    assert!(run.exits(2).err.contains("out: "));
    assert_eq!(place.names(), ["out", "pipe", "there"]);
}

#[test]
fn split_directory_keeps_its_permissions_and_links() {
    let place = Place::with([("in", b"http://a/\n"), ("rejects", b"old")]);
    let fixed = ["dedup", "in", "--split-by", "hash:2", "--rejects", "rejects", "-o"];
    for (mode, name) in [(0o700, "private"), (0o2750, "group/"), (0o755, "open")] {
        fs::create_dir(place.path(name)).expect("made");
        fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).expect("set");
        place.run(fixed.iter().chain(&[name])).exits(0);
        let permissions = fs::metadata(place.path(name)).expect("there").permissions();
        assert_eq!((permissions.mode() & 0o7777, shards(&place, name).len()), (mode, 2), "{name}");
    }
    fs::create_dir(place.path("there")).expect("made");
    for (name, target) in [("link", "there"), ("slash", "there/"), ("dangling", "new")] {
        symlink(target, place.path(name)).expect("linked");
        let output = if name == "slash" { "slash/" } else { name };
        place.run(fixed.iter().chain(&[output])).exits(0);
        assert!(place.path(name).is_symlink(), "{name}");
        assert_eq!(shards(&place, target).len(), 2, "{name}");
        fs::remove_dir_all(place.path(target)).expect("removed");
        fs::create_dir_all(place.path("there")).expect("made");
    }
    symlink("loop", place.path("loop")).expect("linked");
    let run = place.run(fixed.iter().chain(&["loop"])).exits(2);
    assert!(run.err.contains("loop: too many levels of symbolic links"), "{}", run.err);
    assert_eq!(
        place.names(),
        ["dangling", "group", "in", "link", "loop", "open", "private", "rejects", "slash", "there"]
    );
}

#[test]
fn error_for_a_shard_names_its_final_path() {
    let place = Place::new();
    place.write("in", (0..20_000).map(|i| format!("http://h/{i}\n")).collect::<String>());
    let run = place.shell("ulimit -f 8; uniqurl dedup in -q -o out --split-by hash:2").exits(2);
    assert!(run.err.starts_with("uniqurl: out/shard-0000"), "{}", run.err);
    assert!(run.err.contains(": File too large") && !run.err.contains(".uniqurl-"), "{}", run.err);
    assert_eq!(place.names(), ["in"]);
}
