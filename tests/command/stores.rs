//! Seen stores: `--save-seen`, `--max-age` and `uniqurl seen`.

use super::{Place, Run};
use std::fs;
use std::io::Write;
use std::thread;
use std::time::Duration;

/// The stores `a` (of the list `a`) and `both` (of the lists `a` and `b`, in two adds).
fn stores() -> Place {
    let place = Place::with([
        ("a", b"HTTP://B:80\nhttp://a/\nbad\n"),
        ("b", b"http://c/\nhttp://a/\n"),
        ("late", b"http://d/\n"),
    ]);
    place.run(["seen", "add", "a.seen", "a"]).exits(0);
    place.run(["seen", "add", "both", "a"]).exits(0);
    place.run(["dedup", "--save-seen", "both", "b"]).exits(0);
    place
}

#[test]
fn keys_are_added_asked_removed_and_exported() {
    let place = Place::with([("a", b"HTTP://B:80\nhttp://a/\nbad\nhttp://a\n"), ("log", b"/x\n")]);
    let run = place.run(["seen", "add", "s", "a"]).exits(0);
    assert_eq!(run.out(), "");
    assert!(
        run.err.contains("records 4 = unique 2 + duplicates 1 + rejected 1 + blank 0; "),
        "{}",
        run.err
    );
    let more = ["seen", "add", "s", "-q", "-f", "target", "--base", "https://c/", "log"];
    assert_eq!(place.run(more).exits(0).err, "");
    assert_eq!(place.keys_of("s"), "http://a/\nhttp://b/\nhttps://c/x\n");
    let run = place.run(["seen", "contains", "s", "http://A", "http://b/"]).exits(0);
    assert_eq!(run.out(), "seen\thttp://A\nseen\thttp://b/\n");
    let run = place.run(["seen", "contains", "s", "http://A", "b\\\u{e9}", "http://z/"]).exits(1);
    assert_eq!(run.out(), "seen\thttp://A\nrejected\tb\\x5C\\xC3\\xA9\nnew\thttp://z/\n");
    let stdin = "http://a/\r\n\nhttp://y/\nhttp://b";
    let run = place.run_on(["seen", "contains", "s", "-", "/x", "--base", "https://c"], stdin);
    let answers = "seen\thttp://a/\nnew\thttp://y/\nseen\thttp://b\nseen\t/x\n";
    assert_eq!(run.exits(1).out(), answers);
    place.run_on(["seen", "remove", "s"], "http://b/\nhttp://y/\n").exits(0);
    assert_eq!(place.keys_of("s"), "http://a/\nhttps://c/x\n");
    place.run(["dedup", "a", "-q", "--save-seen", "s", "-o", "new"]).exits(0);
    assert_eq!(place.text("new"), "http://b/\n", "it came again");
    for (name, start) in [("x.gz", &b"\x1F\x8B"[..]), ("x.zst", b"\x28\xB5\x2F\xFD")] {
        place.run(["seen", "export", "s", "-o", name]).exits(0);
        assert!(place.read(name).starts_with(start), "{name}");
        let again = place.run(["dedup", name]).exits(0);
        assert_eq!(again.out(), place.keys_of("s"));
    }
}

#[test]
fn many_urls_are_asked_in_portions() {
    let place = Place::new();
    let urls: String = (0..150_000).map(|i| format!("http://h/{}\n", i % 140_000)).collect();
    let some: String = (0..140_000).step_by(3).map(|i| format!("http://h/{i}\n")).collect();
    place.run_on(["seen", "add", "s", "-"], some).exits(0);
    let run = place.run_on(["seen", "contains", "s", "-"], urls.clone()).exits(1);
    let expected = urls.lines().enumerate().map(|(i, url)| {
        let answer = if i % 140_000 % 3 == 0 { "seen" } else { "new" };
        format!("{answer}\t{url}\n")
    });
    assert!(run.out() == expected.collect::<String>());
}

#[test]
fn stats_and_verify_tell_numbers_rules_and_adds() {
    let place = stores();
    let text = place.run(["seen", "stats", "both"]).exits(0);
    for line in ["keys         3\n", "rules        crawl@1\n", "key          url\n"] {
        assert!(text.out().contains(line), "{}", text.out());
    }
    assert!(text.out().contains("\n  add 2: 20"), "{}", text.out());
    let stats = place.run(["seen", "stats", "both", "--json"]).exits(0);
    let stats: serde_json::Value = serde_json::from_slice(&stats.out).expect("an object");
    assert_eq!((&stats["keys"], &stats["rules"]), (&3.into(), &"crawl@1".into()));
    let runs = stats["runs"].as_array().expect("a list");
    let adds = runs.iter().flat_map(|run| run["adds"].as_array().expect("a list"));
    let adds: Vec<_> = adds.map(|add| (add["add"].as_u64(), add["keys"].as_u64())).collect();
    assert_eq!(adds, [(Some(1), Some(2)), (Some(2), Some(1))]);
    let verified = place.run(["seen", "verify", "both"]).exits(0);
    assert!(verified.out().starts_with("ok: keys 3, runs "), "{}", verified.out());
    let bytes: u64 = fs::read_dir(place.path("both"))
        .expect("a directory")
        .map(|entry| entry.expect("an entry").metadata().expect("there").len())
        .sum();
    assert_eq!(stats["bytes"], bytes);
}

#[test]
fn compacted_store_holds_the_same_keys_in_one_run() {
    let place = stores();
    place.run(["seen", "remove", "both", "late"]).exits(0);
    let keys = place.keys_of("both");
    let run = place.run(["seen", "compact", "both", "--memory", "16M"]).exits(0);
    assert!(run.out().contains(" -> 1, bytes "), "{}", run.out());
    assert_eq!(place.keys_of("both"), keys);
    assert_eq!(place.run(["seen", "export", "both", "--after", "1"]).exits(0).out(), "http://c/\n");
    assert!(place.run(["seen", "stats", "both"]).exits(0).out().contains("\nrun-"));
}

/// The tests of the store find every flipped bit.
#[test]
fn damage_is_found_and_an_old_export_stays() {
    let place = stores();
    place.write("list", "old");
    let entries = fs::read_dir(place.path("both")).expect("a directory");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let run = paths.filter(|path| path.to_string_lossy().contains("run-")).min().expect("a run");
    let mut bytes = fs::read(&run).expect("readable");
    bytes[20] ^= 1;
    fs::write(&run, bytes).expect("written");
    for arguments in [&["seen", "verify", "both"][..], &["seen", "export", "both", "-o", "list"]] {
        let told = place.run(arguments).exits(2);
        assert!(told.err.starts_with("uniqurl: both/run-"), "{}", told.err);
    }
    assert_eq!(place.text("list"), "old");
}

#[test]
fn limited_runs_add_exactly_the_keys_that_they_write() {
    let list = "http://c/\nhttp://a/\nhttp://b/\nhttp://a/\nhttp://c/\nhttp://d/\n";
    for arguments in [
        &["--limit", "2"][..],
        &["--limit", "1", "--order", "sorted"],
        &["--min-count", "2"],
        &["--top", "1"],
        &["--limit", "0"],
        &["--host", "d"],
    ] {
        let place = Place::with([("in", list.as_bytes())]);
        let run = |more: &[&str]| {
            let fixed = ["dedup", "in", "-q", "-o", "out", "--save-seen", "s"];
            place.run([&fixed[..], arguments, more].concat()).exits(0);
            let text = place.text("out");
            let keys = text.lines().map(|line| line.rsplit('\t').next().expect("a key"));
            let mut keys: Vec<String> = keys.map(|key| format!("{key}\n")).collect();
            keys.sort();
            keys
        };
        let mut written = run(&[]);
        assert_eq!(place.keys_of("s"), written.concat(), "{arguments:?}");
        // The next run goes on with others.
        written.extend(run(&[]));
        written.sort();
        assert_eq!(place.keys_of("s"), written.concat(), "{arguments:?}");
    }
}

#[test]
fn keys_of_more_than_the_greatest_age_are_new() {
    let place = Place::with([("in", b"http://a/\nhttp://b/\n"), ("new", b"http://c/\n")]);
    place.run(["dedup", "in", "--save-seen", "s"]).exits(0);
    thread::sleep(Duration::from_millis(2_100));
    let age = |option, age, input| {
        place.run(["dedup", input, option, "s", "--max-age", age]).exits(0).out().to_owned()
    };
    assert_eq!(age("--seen", "1h", "in"), "");
    assert_eq!(age("--seen", "1s", "in"), "http://a/\nhttp://b/\n");
    assert_eq!(age("--save-seen", "1h", "new"), "http://c/\n");
    let first = place.run(["dedup", "in", "--limit", "1", "--save-seen", "s", "--max-age", "1s"]);
    assert_eq!(first.exits(0).out(), "http://a/\n");
    // It has a new date now, and the other key has its old one.
    assert_eq!(place.keys_of("s"), "http://a/\nhttp://b/\nhttp://c/\n");
    let stats = place.run(["seen", "stats", "s", "--json"]).exits(0);
    let stats: serde_json::Value = serde_json::from_slice(&stats.out).expect("an object");
    let runs = stats["runs"].as_array().expect("a list");
    let adds = runs.iter().flat_map(|run| run["adds"].as_array().expect("a list"));
    let second = adds.clone().find(|add| add["add"] == 2).expect("three adds");
    let date = second["time"].as_str().expect("a date");
    let run = place.run(["seen", "forget", "s", "--older-than", date]).exits(0);
    assert_eq!(run.out(), "keys forgotten 1\n");
    assert_eq!(place.keys_of("s"), "http://a/\nhttp://c/\n");
    let run = place.run(["seen", "forget", "s", "--older-than", "2000-01-01"]).exits(0);
    assert_eq!(run.out(), "keys forgotten 0\n");
    let run = place.run(["seen", "forget", "s", "--older-than", "1w"]).exits(0);
    assert_eq!(run.out(), "keys forgotten 0\n");
    place.run(["seen", "forget", "s", "--older-than", "9999-12-31"]).exits(0);
    assert_eq!(place.keys_of("s"), "");
    assert_eq!(
        place.run(["seen", "contains", "s", "http://a/"]).exits(1).out(),
        "new\thttp://a/\n"
    );
}

/// `seen add` says that the URLs were seen now, whether the store has them or not.
#[test]
fn added_keys_get_the_date_of_the_last_add() {
    let place = Place::with([("in", b"http://a/\n")]);
    place.run(["seen", "add", "s", "in"]).exits(0);
    thread::sleep(Duration::from_millis(2_100));
    place.run(["seen", "add", "s", "in"]).exits(0);
    assert_eq!(place.run(["seen", "export", "s", "--after", "1"]).exits(0).out(), "http://a/\n");
    assert_eq!(place.keys_of("s"), "http://a/\n");
}

#[test]
fn closed_pipe_adds_no_key() {
    let place = Place::with([("old", b"http://old/\n")]);
    place.run(["dedup", "old", "--save-seen", "s"]).exits(0);
    let line = |i| format!("http://example.com/a/rather/long/path/to/fill/the/pipe/{i:09}\n");
    place.write("in", (0..50_000).map(line).collect::<String>());
    for arguments in [
        &["dedup", "in", "--save-seen", "s"][..],
        &["dedup", "in", "--save-seen", "s", "--order", "sorted"],
    ] {
        let run = place.run_closed(arguments).exits(141);
        assert_eq!(run.err, "");
        assert_eq!(place.keys_of("s"), "http://old/\n");
    }
}

#[test]
fn failed_run_adds_no_key() {
    let place = Place::with([("in", b"http://a/\nbad\n"), ("old", b"http://old/\n")]);
    place.run(["dedup", "old", "--save-seen", "s"]).exits(0);
    for (arguments, status) in [
        (&["dedup", "in", "--save-seen", "s", "--max-rejected", "0"][..], 3),
        (&["dedup", "in", "--save-seen", "s", "-o", "/dev/full"], 2),
        (&["dedup", "in", "--save-seen", "s", "-o", "out", "--stats", "/dev/full"], 2),
        (&["seen", "add", "s", "in", "--max-rejected", "0"], 3),
        (&["seen", "remove", "s", "old", "in", "--max-rejected", "0"], 3),
        (&["seen", "add", "s", "in", "none"], 2),
    ] {
        place.run(arguments).exits(status);
        assert_eq!(place.keys_of("s"), "http://old/\n", "{arguments:?}");
        assert_eq!(place.names(), ["in", "old", "s"], "{arguments:?}");
    }
    place.run(["seen", "add", "s", "in", "none", "--keep-going"]).exits(1);
    assert_eq!(place.keys_of("s"), "http://a/\nhttp://old/\n");
}

/// Adds one URL to the store `s`, in which `meanwhile` happens once it is open.
fn add_while(place: &Place, meanwhile: impl FnOnce()) -> Run {
    let mut child = place.start(&["dedup", "-", "-q", "-o", "out", "--save-seen", "s"]);
    let mut input = child.stdin.take().expect("piped");
    // More than a pipe and its buffers hold, so the store is open once it is accepted.
    input.write_all(&b"http://new/\n".repeat(200_000)).expect("taken");
    meanwhile();
    drop(input);
    Run::of(child.wait_with_output().expect("ended"))
}

#[test]
fn output_has_no_name_if_its_keys_cannot_be_written() {
    let place = Place::with([("old", b"http://old/\n")]);
    place.run(["dedup", "old", "--save-seen", "s"]).exits(0);
    let manifest = place.path("s/manifest.new");
    let run = add_while(&place, || fs::create_dir(&manifest).expect("made")).exits(2);
    assert!(run.err.contains("s/manifest.new: Is a directory"), "{}", run.err);
    assert_eq!(place.names(), ["old", "s"]);
    fs::remove_dir(&manifest).expect("empty");
    assert_eq!(place.keys_of("s"), "http://old/\n");
}

#[test]
fn one_run_at_a_time_writes_to_a_store() {
    let place = Place::with([("in", b"http://a/\nhttp://b/\n"), ("old", b"http://old/\n")]);
    place.run(["dedup", "old", "--save-seen", "s"]).exits(0);
    let mut first = place.start(&["dedup", "-", "--save-seen", "s"]);
    let mut input = first.stdin.take().expect("piped");
    input.write_all(&b"http://a/\n".repeat(200_000)).expect("taken");
    for arguments in [
        &["dedup", "in", "--save-seen", "s"][..],
        &["seen", "add", "s", "in"],
        &["seen", "remove", "s", "in"],
        &["seen", "compact", "s"],
        &["seen", "forget", "s", "--older-than", "2000-01-01"],
    ] {
        let run = place.run(arguments).exits(2);
        let told = "another process writes to this store\nhint: wait for it with --wait\n";
        assert!(run.err.contains(told), "{}", run.err);
        assert_eq!(run.out(), "");
    }
    // Readers see the store as it is.
    assert_eq!(place.run(["dedup", "in", "--seen", "s"]).exits(0).summary("seen"), 0);
    assert_eq!(place.keys_of("s"), "http://old/\n");
    let waiting = place.start(&["dedup", "in", "--save-seen", "s", "--wait"]);
    thread::sleep(Duration::from_millis(300));
    drop(input);
    assert_eq!(Run::of(first.wait_with_output().expect("ended")).exits(0).out(), "http://a/\n");
    let second = Run::of(waiting.wait_with_output().expect("ended")).exits(0);
    assert_eq!((second.out(), second.summary("seen")), ("http://b/\n", 1));
    assert_eq!(place.keys_of("s"), "http://a/\nhttp://b/\nhttp://old/\n");
}

/// Whatever is lost when nothing can be written is lost before any output appears.
#[test]
fn directory_that_cannot_be_written_is_an_early_error() {
    let place = stores();
    place.set_mode("", 0o777);
    place.set_mode("both", 0o555);
    let arguments = ["dedup", "late", "--save-seen", "both", "-o", "out"];
    let Some(run) = place.run_as_other(&arguments) else { return };
    let run = run.exits(2);
    assert!(run.err.contains("both") && !place.path("out").exists(), "{}", run.err);
    place.set_mode("both", 0o755);
}
