//! `--split-by`: a directory of shards.

use super::{Place, built};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
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
    for (turn, arguments) in [
        &["--order", "first"][..],
        &["--order", "sorted"],
        &["--count"],
        &["--count", "--order", "sorted", "--min-count", "2"],
        &["--fields", "canonical,first"],
        &["--fields", "canonical,count,host", "--order", "sorted"],
        &["--order", "sorted", "--limit", "500"],
        &["--top", "500", "--count"],
    ]
    .iter()
    .enumerate()
    {
        let whole = place.run([&["dedup", "in"], *arguments].concat()).exits(0);
        for (by, memory, threads) in
            [("host", "1G", "1"), ("hash", "1M", "2"), ("host", "1M", "2"), ("hash", "1G", "2")]
        {
            let suffix = ["", ".gz", ".zst", ".txt"][turn % 4];
            let directory = format!("{by}-{memory}-{turn}");
            let split = format!("{by}:7");
            let fixed = ["dedup", "in", "-o", &directory, "--split-by", &split, "-j", threads];
            let how = ["--memory", memory, "--split-suffix", suffix];
            let run = place.run([&fixed[..], *arguments, &how].concat()).exits(0);
            assert!(run.out.is_empty());
            assert_eq!(run.summary("unique"), whole.summary("unique"));
            let shards = shards(&place, &directory);
            let names: Vec<_> = (0..7).map(|i| format!("shard-{i:05}{suffix}")).collect();
            assert_eq!(shards.keys().cloned().collect::<Vec<_>>(), names);
            assert!(shards.values().filter(|text| !text.is_empty()).count() > 4, "{arguments:?}");
            let mut home: BTreeMap<&str, &str> = BTreeMap::new();
            let mut all = Vec::new();
            for (name, text) in &shards {
                let lines: Vec<_> = text.lines().collect();
                // The order of the whole output, without the lines of other parts.
                let own: BTreeSet<_> = lines.iter().copied().collect();
                let expected = whole.out().lines().filter(|line| own.contains(line));
                assert_eq!(expected.collect::<Vec<_>>(), lines, "{name} {arguments:?}");
                for line in &lines {
                    let counted = arguments.contains(&"--count");
                    let url = line.split('\t').nth(usize::from(counted)).expect("a URL");
                    if by == "host" {
                        assert_eq!(*home.entry(host(url)).or_insert(name), name, "{url}");
                    }
                }
                all.extend(lines);
            }
            let mut expected: Vec<_> = whole.out().lines().collect();
            all.sort_unstable();
            expected.sort_unstable();
            assert_eq!(all, expected, "{arguments:?}");
            fs::remove_dir_all(place.path(&directory)).expect("removed");
        }
    }
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn tables_hold_the_lines_of_the_lists() {
    let place = Place::with([("in", list().as_bytes())]);
    for (turn, arguments) in [
        &["--order", "first"][..],
        &["--order", "sorted", "--count", "--min-count", "2"],
        &["--fields", "host,canonical"],
        &["--limit", "0"],
    ]
    .iter()
    .enumerate()
    {
        let start = ["dedup", "in", "--split-by", "host:7", "-o"];
        place.run([&start[..], &["lists"], *arguments].concat()).exits(0);
        let lists = shards(&place, "lists");
        let (mut tables, kind) = (Vec::new(), ["parquet", "arrow"][turn % 2]);
        for (memory, threads) in [("1G", "1"), ("1M", "2")] {
            let suffix = format!(".of-7.{kind}");
            let how = ["tables", "--split-suffix", &suffix, "--memory", memory, "-j", threads];
            place.run([&start[..], &how, *arguments].concat()).exits(0);
            let mut files = BTreeMap::new();
            for (name, text) in &lists {
                let table = format!("tables/{name}{suffix}");
                let format = format!("{kind}:canonical");
                let read = place.run(["normalize", "-p", "string", "-f", &format, &table]).exits(0);
                let place_of_url = usize::from(turn == 1 || turn == 2);
                let urls = text.lines().map(|line| line.split('\t').nth(place_of_url));
                let urls: Vec<_> = urls.map(|url| url.expect("a URL")).collect();
                assert_eq!(read.out().lines().collect::<Vec<_>>(), urls, "{table} {arguments:?}");
                files.insert(name.clone(), place.read(&table));
            }
            let names = fs::read_dir(place.path("tables")).expect("readable").count();
            assert_eq!(names, 7);
            tables.push(files);
            fs::remove_dir_all(place.path("tables")).expect("removed");
        }
        assert!(tables[0] == tables[1], "{arguments:?}");
        fs::remove_dir_all(place.path("lists")).expect("removed");
    }
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn tables_of_a_failed_run_leave_no_directory() {
    let place = Place::with([("in", list().as_bytes())]);
    let start = ["dedup", "in", "-o", "out", "--split-by", "hash:3", "--split-suffix", ".parquet"];
    // The accounting is written when the tables are made.
    let run = place.run([&start[..], &["--stats", "/dev/full"]].concat()).exits(2);
    assert!(run.err.contains("/dev/full"), "{}", run.err);
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
    for (by, key) in [
        ("host", "domain"),
        ("host", "surt"),
        ("host", "ssurt"),
        ("host", "hash"),
        ("domain", "surt"),
        ("domain", "ssurt"),
        ("domain", "hash"),
    ] {
        let split = format!("{by}:5");
        let run = place.run(["dedup", "in", "-o", "out", "--split-by", &split, "--key", key]);
        let told = format!("--split-by {by}:N needs a {by}, which --key {key} does not tell");
        let run = run.exits(2);
        assert!(run.err.contains(&told), "{}", run.err);
    }
    let arguments = ["dedup", "in", "-o", "out", "--split-by", "domain:2", "--key", "domain"];
    place.run(arguments).exits(0);
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
    let place = Place::with([("in", b"http://a/\n"), ("bad", b"relative\n"), ("file", b"old")]);
    fs::create_dir(place.path("full")).expect("made");
    place.write("full/one", "old");
    let before = place.names();
    for (arguments, words) in [
        (&["in", "-o", "full"][..], "full: the directory is not empty"),
        (&["in", "-o", "file"], "file: "),
        (&["in", "-o", "no/such"], "no/such: "),
        (&["in", "-o", ".."], "..: "),
        (&["in", "none", "-o", "new"], "none: missing"),
        (&["in", "-o", "new", "--rejects", "/dev/full", "bad"], "/dev/full"),
        (&["in"], "--split-by writes a directory, which -o has to name"),
        (&["in", "-o", "new", "--key", "hash"], "--key hash"),
    ] {
        let run = place.run([&["dedup", "--split-by", "host:3"], arguments].concat()).exits(2);
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
        assert_eq!(place.names(), before, "{arguments:?}");
    }
    place.run(["dedup", "bad", "--split-by", "hash:3", "-o", "new"]).exits(3);
    for wrong in ["host", "host:", "host:0", "host:4097", "path:3", "host:+3", "hash:-1"] {
        place.run(["dedup", "in", "-o", "new", "--split-by", wrong]).exits(2);
    }
    place.run(["dedup", "in", "-o", "new", "--split-suffix", ".gz"]).exits(2);
    place
        .run(["dedup", "in", "-o", "new", "--split-by", "hash:2", "--split-suffix", "a/b"])
        .exits(2);
    assert_eq!(place.names(), before);
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
    let mut killed = built::process()
        .args(["dedup", "-", "-q", "-f", "lines", "--split-by", "hash:3", "-o", "out"])
        .current_dir(place.path(""))
        .stdin(Stdio::piped())
        .spawn()
        .expect("started");
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
    let built = built::process();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "ulimit -f 8; exec \"$@\"", "sh"]);
    command.arg(built.get_program()).args(built.get_args());
    command.args(["dedup", "in", "-q", "-o", "out", "--split-by", "hash:2"]);
    let run = command.current_dir(place.path("")).output().expect("started");
    let shown = String::from_utf8(run.stderr).expect("text");
    assert_eq!(run.status.code(), Some(2), "{shown}");
    assert!(shown.starts_with("uniqurl: out/shard-0000"), "{shown}");
    assert!(shown.contains(": File too large") && !shown.contains(".uniqurl-"), "{shown}");
    assert_eq!(place.names(), ["in"]);
}
