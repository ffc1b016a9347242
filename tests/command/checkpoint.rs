//! A run that was stopped goes on where it was, or says why it does not.

use super::packed::gzip;
use super::shared::say;
use super::{NOT_OF_ROOT, Place, Run, built, is_root};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// URLs of which many come again in other lists, with rejected and blank lines between them.
fn list(number: u32) -> String {
    (0..3_000u32)
        .map(|i| match i % 11 {
            9 => format!("relative/{number}/{i}\n"),
            10 => "\n".to_owned(),
            _ => format!("HTTP://H{}.example:80/{}\n", i % 300, (i * 7919 + number * 331) % 9_000),
        })
        .collect()
}

/// The same with columns behind them, of which the last is longer in each list.
fn table(number: u32) -> String {
    let column = "x".repeat(number as usize * 400);
    let line = |(i, line): (usize, &str)| format!("{line}\t{}\t{column}\n", i * 37 % 101);
    list(number).lines().enumerate().map(line).collect()
}

/// Four lists, the last of them damaged; and lists of what was seen before, the last of which is too much
/// for a small memory.
fn place() -> Place {
    place_of(list)
}

fn place_of(list: fn(u32) -> String) -> Place {
    let place = Place::new();
    for (number, name) in (0..).zip(["a", "b", "c"]) {
        place.write(name, list(number));
    }
    let old = self::list(1);
    place.write("old", old.lines().step_by(3).map(|l| format!("{l}\n")).collect::<String>());
    place.write("more", "http://h1.example/1\nhttp://h7.example:8080/\n");
    let many = (0..60_000).map(|i| format!("http://m.example/{i}\n"));
    place.write("many", many.collect::<String>() + &place.text("old"));
    let whole = gzip(list(3).as_bytes());
    place.write("d.gz", &whole[..whole.len() / 2]);
    place
}

const FIXED: &[&str] = &["dedup", "a", "b", "c", "d.gz", "-j", "2", "--stats", "stats"];
const KEPT: &[&str] = &["--checkpoint", "kept", "--checkpoint-every", "0"];

/// What a run wrote, by name, without what may differ between two runs. It is removed.
fn taken(place: &Place, run: Run) -> BTreeMap<String, Vec<u8>> {
    let mut taken = BTreeMap::from([("standard output".to_owned(), run.out)]);
    for name in ["rejects", "saved"] {
        if let Ok(bytes) = fs::read(place.path(name)) {
            taken.insert(name.to_owned(), bytes);
            fs::remove_file(place.path(name)).expect("removed");
        }
    }
    for entry in fs::read_dir(place.path("shards")).into_iter().flatten() {
        let entry = entry.expect("an entry");
        let bytes = fs::read(entry.path()).expect("a file");
        taken.insert(entry.file_name().to_string_lossy().into_owned(), bytes);
    }
    let _ = fs::remove_dir_all(place.path("shards"));
    if let Ok(page) = fs::read_to_string(place.path("page")) {
        // How fast it was.
        let (before, rest) = page.split_once("<h2 id=\"pace\">").expect("it is there");
        let (_, after) = rest.split_once("<h2 ").expect("it is not the last");
        taken.insert("page".to_owned(), [before, after].concat().into_bytes());
        fs::remove_file(place.path("page")).expect("removed");
    }
    let mut stats = place.json("stats");
    for name in ["seconds", "spilled"] {
        stats.as_object_mut().expect("an object").remove(name);
    }
    taken.insert("stats".to_owned(), stats.to_string().into_bytes());
    taken
}

/// Asserts that two runs wrote the same.
fn assert_same(one: &BTreeMap<String, Vec<u8>>, other: &BTreeMap<String, Vec<u8>>, what: &str) {
    assert!(one.keys().eq(other.keys()), "{what}: {:?} {:?}", one.keys(), other.keys());
    for (name, bytes) in one {
        assert!(*bytes == other[name], "{what}: {name}");
    }
}

/// Gives up at a damaged input, goes on once that is whole, and compares with a run that was not stopped.
/// The last of the arguments of the two runs may differ.
fn assert_goes_on(arguments: &[&str], first: &[&str], second: &[&str]) {
    let what = format!("{arguments:?} {first:?} {second:?}");
    let list = if arguments.contains(&"tsv:1") { table } else { list };
    let place = place_of(list);
    let run = |more: &[&[&str]]| place.run([&[FIXED, arguments], more].concat().concat());
    run(&[first, KEPT]).exits(2);
    let manifest = place.json("kept/checkpoint.json");
    assert_eq!(manifest["moved"] != 0, arguments.contains(&MOVING) && first.contains(&SMALL));
    place.write("d.gz", gzip(list(3).as_bytes()));
    let resumed = run(&[second, KEPT]).exits(0);
    let said = "uniqurl: going on behind the first 3 of 4 inputs\n";
    assert!(resumed.err.contains(said), "{}", resumed.err);
    assert!(!place.path("kept").exists(), "{what}");
    let resumed = taken(&place, resumed);
    let at_once = taken(&place, run(&[first]).exits(0));
    assert_same(&resumed, &at_once, &what);
}

#[test]
fn a_run_that_failed_goes_on_to_the_same_bytes() {
    for arguments in [
        &["--rejects", "rejects"][..],
        &["--count", "--min-count", "2", "--order", "sorted"],
        &["--fields", "count,first,original", "--limit", "5000"],
        &["--memory", "1M", "--temp-dir", ".", "--rejects", "rejects", "--count"],
        &["--memory", "1M", "--temp-dir", ".", "--order", "sorted", "--fields", "first,canonical"],
        &["--seen", "old", "--count"],
        &["--seen", "old", "--seen", "more", "--save-seen", "saved", "--order", "sorted"],
        &["--save-seen", "saved", "--fields", "first,canonical"],
        &["--split-by", "host:5", "-o", "shards", "--split-suffix", ".zst", "--rejects", "rejects"],
        &["--split-by", "hash:3", "-o", "shards", "--count", "--order", "sorted"],
        &["--report", "page", "--rejects", "rejects"],
        &["--report", "page", "--key", "surt", "--seen", "old"],
        &["--keep", "last", "--fields", "canonical,first"],
        &["--keep", "max:2", "-f", "tsv:1", "--carry", "2", "--fields", "count,first,canonical"],
        &["--keep", "max:2", "-f", "tsv:1", "--carry", "2", "--memory", "1M", "--temp-dir", "."],
        &["--keep", "last", "-f", "tsv:1", "--carry", "2", "--seen", "old", "--save-seen", "saved"],
    ] {
        assert_goes_on(arguments, &[], &[]);
    }
}

#[test]
fn the_bytes_of_a_run_that_goes_on_are_told_with_the_time_that_all_of_them_took() {
    let place = place();
    let arguments = [FIXED, KEPT, &["--report", "page", "-o", "out"]].concat();
    place.run(&arguments).exits(2);
    let taken = place.json("kept/checkpoint.json")["milliseconds"].as_u64().expect("a number");
    assert!(taken > 0);
    // One more that ends before it absorbs anything adds nothing.
    place.run(&arguments).exits(2);
    place.write("d.gz", gzip(list(3).as_bytes()));
    let run = place.run(&arguments).exits(0);
    let stats = place.json("stats");
    let seconds = stats["seconds"].as_f64().expect("a number");
    assert!(seconds > taken as f64 / 1000.0, "{seconds} s, and {taken} ms before");
    let told = format!("{} bytes in {seconds:.2} s", stats["bytes"]);
    assert!(run.err.contains(&told), "{told}: {}", run.err);
    assert!(place.text("page").contains(&format!(" in {seconds:.2} s: ")));
}

#[test]
fn a_checkpoint_below_a_directory_that_is_read_is_no_input() {
    let place = Place::new();
    let whole = gzip(list(3).as_bytes());
    fs::create_dir(place.path("in")).expect("a directory");
    place.write("in/a", list(0));
    // Both before and behind the inputs.
    for kept in ["in/0", "in/kept", "./in/../in/kept"] {
        place.write("in/d.gz", &whole[..whole.len() / 2]);
        let run = ["dedup", "-r", "in", "--checkpoint", kept, "--checkpoint-every", "0"];
        place.run(run).exits(2);
        assert!(place.path(kept).join("checkpoint.json").exists());
        place.write("in/d.gz", &whole);
        let resumed = place.run(run).exits(0);
        assert!(resumed.err.contains("going on behind the first 1 of 2"), "{}", resumed.err);
        assert!(resumed.out == place.run(["dedup", "-r", "in"]).exits(0).out, "{kept}");
    }
}

/// A memory in which a set is at home until lines of [`table`] become longer, and a column that does.
const SMALL: &str = "5M";
const MOVING: &str = "3";

#[test]
fn a_set_that_was_moved_out_of_memory_is_found_where_it_went() {
    let (small, large) = (&["--memory", SMALL, "--temp-dir", "."][..], &["--memory", "1G"][..]);
    for arguments in [
        &["-f", "tsv:1", "--keep", "last", "--carry", MOVING][..],
        &["-f", "tsv:1", "--keep", "last", "--carry", MOVING, "--count", "--order", "sorted"],
        &["-f", "tsv:1", "--keep", "last", "--carry", MOVING, "--save-seen", "saved"],
    ] {
        for (first, second) in [(small, small), (small, large), (large, small)] {
            assert_goes_on(arguments, first, second);
        }
    }
}

#[test]
fn what_was_seen_stays_seen_whatever_the_memory_of_the_next_run() {
    let (small, large) = (&["--memory", "1M", "--temp-dir", "."][..], &["--memory", "1G"][..]);
    for (seen, order) in [("old", "first"), ("many", "first"), ("many", "sorted")] {
        let arguments =
            format!("--seen {seen} --save-seen saved --order {order} --fields count,host");
        let arguments: Vec<_> = arguments.split(' ').collect();
        for (first, second) in [(small, small), (small, large), (large, small)] {
            assert_goes_on(&arguments, first, second);
        }
    }
}

#[test]
fn a_set_that_was_seen_and_has_changed_is_refused_and_one_that_was_replaced_told_of() {
    let place = place();
    let arguments = [FIXED, KEPT, &["--seen", "old", "-o", "out"]].concat();
    place.run(&arguments).exits(2);
    let run = place.run([&arguments[..], &["--seen", "more"]].concat()).exits(2);
    assert!(run.err.contains("--seen was old and is old,more"), "{}", run.err);
    let old = place.read("old");
    place.write("old", [&old[..], b"http://new.example/\n"].concat());
    let run = place.run(&arguments).exits(2);
    assert!(
        run.err.contains("old was read as what was seen before, and its size has changed"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("saved set") && !place.path("out").exists(), "{}", run.err);
    let run = place.run_on(["dedup", "a", "--seen", "-", "--checkpoint", "k"], "").exits(2);
    assert!(run.err.contains("- cannot be read twice"), "{}", run.err);
    // The end of a run whose kill came between its last output and the end of its checkpoint.
    place.write("old", "");
    fs::remove_dir_all(place.path("kept")).expect("removed");
    let arguments = [&arguments[..], &["--save-seen", "old"]].concat();
    place.run(&arguments).exits(2);
    place.write("old", &old);
    let run = place.run(&arguments).exits(2);
    assert!(run.err.contains("if the saved set has replaced it, all outputs"), "{}", run.err);
}

#[test]
fn a_run_that_has_replaced_what_was_seen_is_known_without_a_checkpoint_too() {
    let place = Place::new();
    place.write("today", "http://a/\nhttp://b/\n");
    place.write("old", "http://a/\n");
    place.run(["dedup", "old", "--save-seen", "seen"]).exits(0);
    let arguments =
        ["dedup", "today", "--seen", "seen", "--save-seen", "seen", "--checkpoint", "kept"];
    // It ends before its outputs get their names; nothing is replaced yet.
    let to_full = [&arguments[..], &["--stats", "/dev/full", "-o", "out"]].concat();
    place.run(&to_full).exits(2);
    let again = [&arguments[..], &["--stats", "stats", "-o", "out"]].concat();
    // As a kill between the last output and the end of the checkpoint leaves it.
    let before = place.read("seen");
    place.run(["dedup", "today", "--seen", "seen", "--save-seen", "seen"]).exits(0);
    let run = place.run(&again).exits(2);
    assert!(run.err.contains("if the saved set has replaced it, all outputs"), "{}", run.err);
    assert!(!place.path("out").exists());
    place.write("seen", before);
    fs::remove_dir_all(place.path("kept")).expect("removed");
    place.run(&to_full).exits(2);
    place.run(&again).exits(0);
    assert_eq!(place.text("out"), "http://b/\n");
    assert!(!place.path("kept").exists());
}

#[test]
fn a_directory_of_shards_that_a_killed_run_has_made_is_told_of() {
    let place = Place::with([("in", b"http://a/\nhttp://b/\n")]);
    let arguments = ["dedup", "in", "--split-by", "hash:2", "-o", "shards", "--save-seen", "seen"];
    let kept = [&arguments[..], &["--checkpoint", "kept"]].concat();
    // It has a checkpoint, and no output yet.
    place.run([&kept[..], &["--stats", "/dev/full"]].concat()).exits(2);
    assert!(place.path("kept").exists());
    // As a kill between the directory and the saved set leaves it.
    place.run(["dedup", "in", "--split-by", "hash:2", "-o", "shards"]).exits(0);
    let again = [&kept[..], &["--stats", "stats"]].concat();
    let words = "shards go into a new one; if a run with this checkpoint has made it, move it away";
    let run = place.run(&again).exits(2);
    assert!(run.err.contains(words), "{}", run.err);
    fs::rename(place.path("shards"), place.path("moved")).expect("moved");
    place.run(&again).exits(0);
    assert!(place.path("seen").exists() && !place.path("kept").exists());
    // Without a checkpoint there is nothing to go on with.
    let run = place.run(&again).exits(2);
    assert!(!run.err.contains("checkpoint has made it"), "{}", run.err);
}

#[test]
fn a_run_that_is_killed_once_it_has_a_checkpoint_goes_on() {
    let place = place();
    place.write("d.gz", gzip(list(3).as_bytes()));
    let expected = place.run(FIXED).exits(0).out;
    let (mut killed, mut going_on) = (0, 0);
    // A run can be over before it is killed.
    while killed < 3 || going_on == 0 && killed < 30 {
        killed += 1;
        let mut child = built::process()
            .args([FIXED, KEPT, &["-o", "out"]].concat())
            .current_dir(place.path(""))
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let start = Instant::now();
        while !place.path("kept/checkpoint.json").exists()
            && child.try_wait().expect("waited for").is_none()
            && start.elapsed() < Duration::from_secs(60)
        {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
        let run = place.run([FIXED, KEPT].concat()).exits(0);
        going_on += u32::from(run.err.contains("going on behind"));
        assert!(run.out == expected && !place.path("kept").exists());
    }
    assert!(going_on > 0, "every run was over before it was killed");
}

#[test]
fn what_has_changed_is_told_and_refused() {
    let place = place();
    let arguments = [FIXED, KEPT, &["-o", "out"]].concat();
    place.write("out", "old");
    place.run(&arguments).exits(2);
    let (text, file) = (place.read("b"), place.path("b"));
    let modified = fs::metadata(&file).expect("there").modified().expect("a time");
    let write = |text: &[u8], same_time: bool| {
        fs::write(&file, text).expect("written");
        let time = if same_time { modified } else { modified + Duration::from_secs(1) };
        File::options().write(true).open(&file).expect("there").set_modified(time).expect("set");
    };
    let refused = |arguments: &[&str], why: &str| {
        let run = place.run(arguments).exits(2);
        assert!(run.err.contains(why) && run.err.contains("kept: "), "{}", run.err);
        assert_eq!(place.text("out"), "old");
    };
    let mut other = text.clone();
    other[3] = b'q';
    write(&other, true);
    refused(&arguments, "b was absorbed, and its content has changed since");
    write(&text, false);
    refused(&arguments, "b was absorbed, and its time has changed since");
    write(&[&text[..], b"\n"].concat(), true);
    refused(&arguments, "b was absorbed, and its size has changed since");
    write(&text, true);
    refused(&[&arguments[..], &["--count"]].concat(), "--count was false and is true");
    refused(&[&arguments[..], &["-p", "scheme"]].concat(), "--profile was crawl and is scheme");
    refused(&[&arguments[..], &["--rejects", "r"]].concat(), "--rejects was not given and is");
    let swapped: Vec<_> = arguments.iter().map(|a| if *a == "a" { "b" } else { *a }).collect();
    refused(&swapped, "b stands among the inputs where a was");
    refused(
        &["dedup", "a", "--stats", "stats", "-o", "out", "--checkpoint", "kept"],
        "b was an input",
    );
    let manifest = place.text("kept/checkpoint.json");
    let version = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(manifest.contains(&version));
    place.write("kept/checkpoint.json", manifest.replace(&version, "\"version\":\"0.0.0\""));
    refused(&arguments, "it was written by version 0.0.0");
    place.write("kept/checkpoint.json", &manifest[..manifest.len() / 2]);
    refused(&arguments, "checkpoint.json: ");
    place.write("kept/checkpoint.json", manifest);
    // Threads, memory and the names of the outputs change nothing of the result.
    place.write("d.gz", gzip(list(3).as_bytes()));
    let inputs = ["dedup", "a", "b", "c", "d.gz", "--stats", "other"];
    place.run([&inputs, KEPT, &["-j", "1", "--memory", "1G", "-o", "new"]].concat()).exits(0);
    assert!(!place.path("kept").exists());
}

#[test]
fn a_part_that_came_back_damaged_is_an_error_with_its_name() {
    for part in ["urls-1", "urls-3", "counts-3", "rejects-2"] {
        let place = place();
        let arguments = [FIXED, KEPT, &["--count", "--rejects", "rejects", "-o", "out"]].concat();
        place.run(&arguments).exits(2);
        let name = format!("kept/{part}");
        let mut bytes = place.read(&name);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        place.write(&name, bytes);
        let run = place.run(&arguments).exits(2);
        assert!(run.err.contains(&name) && run.err.contains("to start anew"), "{}", run.err);
        assert!(!place.path("out").exists());
    }
}

/// What a disk, or whoever copies a checkpoint, may make of it: each was taken for another checkpoint, with
/// another result.
#[test]
fn a_part_that_is_missing_or_stands_in_the_place_of_another_is_refused() {
    const SPILLING: &[&str] = &["--memory", "1M", "--temp-dir", "."];
    const ALL: &[&str] = &["--report", "page", "--rejects", "rejects"];
    for (arguments, parts) in [
        (SPILLING, &["spilled-2"][..]),
        (ALL, &["urls-2", "rejects-2", "observed-3"]),
        (&["--count"], &["counts-3"]),
    ] {
        let place = place();
        let arguments = [FIXED, KEPT, arguments, &["-o", "out"]].concat();
        place.run(&arguments).exits(2);
        for part in parts {
            let name = format!("kept/{part}");
            let whole = place.read(&name);
            let refused = |name: &str| {
                let run = place.run(&arguments).exits(2);
                assert!(run.err.contains(name) && run.err.contains("to start anew"), "{}", run.err);
                assert!(!place.path("out").exists());
            };
            fs::remove_file(place.path(&name)).expect("removed");
            refused(&name);
            let Some(kind) = part.strip_suffix("-2") else {
                place.write(&name, whole);
                continue;
            };
            let sibling = format!("kept/{kind}-3");
            let other = place.read(&sibling);
            place.write(&name, &other);
            refused(&name);
            place.write(&sibling, &whole);
            refused(&name);
            place.write(&name, whole);
            refused(&sibling);
            place.write(&sibling, other);
        }
        place.write("d.gz", gzip(list(3).as_bytes()));
        place.run(&arguments).exits(0);
    }
}

#[test]
fn a_number_that_was_changed_in_a_manifest_is_refused() {
    let place = place();
    let arguments = [FIXED, KEPT, &["-o", "out"]].concat();
    place.run(&arguments).exits(2);
    let manifest = place.text("kept/checkpoint.json");
    let found = place.json("kept/checkpoint.json");
    for name in ["records", "canonical"] {
        let was = found["files"][0][name].as_u64().expect("a number");
        let number = |number: u64| format!("\"{name}\":{number}");
        let changed = manifest.replacen(&number(was), &number(was + 4), 1);
        assert!(changed != manifest);
        place.write("kept/checkpoint.json", changed);
        let run = place.run(&arguments).exits(2);
        let said = "kept: checkpoint.json: it is not as it was written; remove the directory";
        assert!(run.err.contains(said), "{}", run.err);
        assert!(!place.path("out").exists());
    }
}

#[test]
fn a_directory_that_is_in_use_or_holds_other_files_is_refused() {
    let place = place();
    fs::create_dir(place.path("kept")).expect("made");
    place.write("kept/urls.txt", "mine");
    let run = place.run([FIXED, KEPT].concat()).exits(2);
    assert!(run.err.contains("kept: urls.txt is no part of a checkpoint"), "{}", run.err);
    assert_eq!(place.text("kept/urls.txt"), "mine");
    fs::remove_file(place.path("kept/urls.txt")).expect("removed");
    let lock = File::create(place.path("kept/lock")).expect("made");
    lock.try_lock().expect("nobody has it");
    let run = place.run([FIXED, KEPT].concat()).exits(2);
    assert!(run.err.contains("kept: another run works with this checkpoint"), "{}", run.err);
    drop(lock);
    place.write("d.gz", gzip(list(3).as_bytes()));
    place.run([FIXED, KEPT].concat()).exits(0);
    assert!(!place.path("kept").exists());
}

#[test]
fn a_checkpoint_whose_lock_was_removed_is_one_and_a_lock_that_is_another_is_named() {
    let place = place();
    let arguments = [FIXED, KEPT, &["-o", "out"]].concat();
    place.run(&arguments).exits(2);
    place.write("kept/lock", "4711\n");
    let run = place.run(&arguments).exits(2);
    assert!(run.err.contains("kept: lock is no part of a checkpoint"), "{}", run.err);
    // Who takes it for what a killed run has forgotten removes it.
    fs::remove_file(place.path("kept/lock")).expect("removed");
    place.write("d.gz", gzip(list(3).as_bytes()));
    let run = place.run(&arguments).exits(0);
    assert!(run.err.contains("going on behind the first 3 of 4 inputs"), "{}", run.err);
    assert!(!place.path("kept").exists());
}

#[test]
fn files_that_are_called_as_parts_are_stay_where_they_are() {
    let place = Place::with([("in", b"http://a/\n")]);
    for (name, text) in [
        ("mine/urls-00", "http://b/\n"),
        ("mine/urls-1", "http://c/\n"),
        ("mine/lock", "x"),
        ("yours/counts-7", "7\n"),
        ("theirs/lock", "A checkpoint of uniqurl.\n"),
        ("theirs/urls-01", "http://d/\n"),
    ] {
        fs::create_dir_all(place.path(name).parent().expect("a directory")).expect("made");
        place.write(name, text);
    }
    for (directory, named) in [("mine", "lock"), ("yours", "counts-7"), ("theirs", "urls-01")] {
        let run = place.run(["dedup", "in", "--checkpoint", directory, "-o", "out"]).exits(2);
        let said =
            format!("{directory}: {named} is no part of a checkpoint; name another directory");
        assert!(run.err.contains(&said), "{}", run.err);
    }
    place.run(["dedup", "--checkpoint", "mine", "-r", "mine", "-o", "out"]).exits(2);
    assert_eq!(place.text("mine/urls-1"), "http://c/\n");
    assert_eq!(place.text("mine/urls-00"), "http://b/\n");
    assert_eq!(place.text("yours/counts-7"), "7\n");
    assert!(!place.path("out").exists());
}

#[test]
fn what_is_wrong_with_the_place_of_a_checkpoint_is_told() {
    let place = Place::with([("in", b"http://a/\n")]);
    for name in ["first", "second"] {
        fs::create_dir(place.path(name)).expect("made");
        place.write(format!("{name}/lock"), "A checkpoint of uniqurl.\n");
    }
    fs::create_dir(place.path("first/checkpoint.json")).expect("made");
    fs::create_dir(place.path("second/urls-1")).expect("made");
    for (directory, told) in [
        ("in", "in: it is a file, and no directory; name another directory"),
        ("in/kept", "in/kept: Not a directory"),
        ("none/kept", "none/kept: there is no directory none"),
        ("first", "first: checkpoint.json is no part of a checkpoint; name another directory"),
        ("second", "second: urls-1 is no part of a checkpoint; name another directory"),
    ] {
        let run = place.run(["dedup", "in", "--checkpoint", directory]).exits(2);
        assert!(run.err.starts_with(&format!("uniqurl: {told}")), "{}", run.err);
    }
}

#[test]
fn a_directory_in_which_the_umask_forbids_files_is_told_of_and_gone() {
    if !is_root() {
        return say("NOT TRIED: only root runs as another user");
    }
    let place = Place::with([("a", list(0).as_bytes())]);
    fs::set_permissions(place.path(""), fs::Permissions::from_mode(0o777)).expect("set");
    for umask in ["0200", "0300", "0400"] {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]);
        command.arg(built::process().get_program()).args(built::process().get_args());
        command.args(["dedup", "a", "--checkpoint", "done", "-o", "out"]);
        command.current_dir(place.path("")).uid(2).gid(2);
        let run = Run::of(command.output().expect("a shell"));
        if !run.is_of_command() {
            return say(NOT_OF_ROOT);
        }
        let run = run.exits(2);
        let told = "uniqurl: done: nothing can be made in it with the permissions that the umask";
        assert!(run.err.starts_with(told), "{}", run.err);
        assert_eq!(place.names(), ["a"], "{umask}");
    }
}

#[test]
fn a_checkpoint_without_a_manifest_is_told_of() {
    let place = place();
    let arguments = [FIXED, KEPT, &["-o", "out"]].concat();
    let told = "uniqurl: nothing to go on behind: ";
    assert!(!place.run(&arguments).exits(2).err.contains(told));
    fs::remove_file(place.path("kept/checkpoint.json")).expect("removed");
    assert!(place.path("kept/urls-1").exists());
    let run = place.run(&arguments).exits(2);
    assert!(run.err.starts_with(told), "{}", run.err);
    fs::remove_file(place.path("kept/checkpoint.json")).expect("removed");
    assert!(!place.run([&arguments[..], &["-q"]].concat()).exits(2).err.contains(told));
}

#[test]
fn what_cannot_be_read_twice_has_no_checkpoint() {
    let place = place();
    let run = place.run_on(["dedup", "a", "-", "--checkpoint", "kept"], "http://a/\n").exits(2);
    assert!(run.err.contains("- cannot be read twice"), "{}", run.err);
    for name in ["-", "/dev/stdin"] {
        let arguments = ["dedup", "a", "--checkpoint", "kept", "--redirects", name];
        let run = place.run_on(arguments, "http://a/\thttp://b/\n").exits(2);
        assert!(run.err.contains(&format!("{name} cannot be read twice")), "{}", run.err);
    }
    place.run(["dedup", "a", "--checkpoint-every", "1"]).exits(2);
    place.run(["normalize", "a", "--checkpoint", "kept"]).exits(2);
    assert!(!place.path("kept").exists());
}

#[test]
fn a_checkpoint_may_be_as_rare_as_a_number_can_say() {
    let place = Place::with([("in", b"http://a/\n")]);
    for every in ["18446744073709551615", "9223372036854775807"] {
        let arguments = ["dedup", "in", "--checkpoint", "kept", "--checkpoint-every", every];
        assert_eq!(place.run(arguments).exits(0).out(), "http://a/\n");
        assert_eq!(place.names(), ["in"]);
    }
}

#[test]
fn what_is_said_of_a_file_that_is_given_twice_is_kept_for_each() {
    let place = place();
    place.run([&["dedup", "a", "a", "d.gz"], KEPT].concat()).exits(2);
    let manifest = place.json("kept/checkpoint.json");
    assert_eq!(manifest["guessed"], serde_json::json!([[0, "lines"], [1, "lines"]]));
}

#[test]
fn records_that_a_run_before_has_rejected_count_for_the_limit() {
    let place = Place::with([("a", b"http://h/\nx\ny\n")]);
    let whole = gzip(b"z\nhttp://i/\n");
    place.write("b.gz", &whole[..10]);
    let run = || place.run([&["dedup", "a", "b.gz", "--max-rejected", "2"], KEPT].concat());
    run().exits(2);
    place.write("b.gz", &whole);
    let run = run().exits(3);
    assert!(run.err.contains("going on behind the first 1 of 2"), "{}", run.err);
    assert!(run.err.contains("b.gz@0: record 1: more than 2 records"), "{}", run.err);
}

#[test]
fn what_is_told_of_inputs_is_told_of_those_before_too() {
    for (format, line, told) in [
        ("target", "/a\n", "6 request targets name no host"),
        ("lines", "http://h/\ta\n", "6 of 6 lines hold a tab"),
        ("auto", "{\"url\":\"http://h/\"}\n", "a.gz and 1 more: read as json:/url"),
    ] {
        let place = Place::new();
        let whole = [gzip(line.repeat(3).as_bytes()), vec![0; 512]].concat();
        place.write("a.gz", &whole);
        place.write("b.gz", &whole[..10]);
        let run = || place.run([&["dedup", "a.gz", "b.gz", "-f", format], KEPT].concat());
        run().exits(2);
        place.write("b.gz", &whole);
        let run = run().exits(0);
        for told in ["going on behind the first 1 of 2", told, "a.gz: 512 zeros"] {
            assert!(run.err.contains(told), "{told}: {}", run.err);
        }
    }
}
