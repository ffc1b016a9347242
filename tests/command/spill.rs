//! A set larger than its memory limit.

use super::open_files::run_under;
use super::packed::gzip;
use super::shared::say;
use super::{NOT_OF_ROOT, Place, Run, built, is_root};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// URLs that repeat far later, with rejected and blank lines between them.
fn list() -> String {
    (0..9_000u32)
        .map(|i| match i % 9 {
            7 => format!("http://h/{}\n", i / 3),
            8 => "\nrelative\n".to_owned(),
            _ => format!("HTTP://H{}.example:80/{}\n", i % 700, i.wrapping_mul(7919) % 6_000),
        })
        .collect()
}

/// The accounting without the fields that may differ between two runs.
fn accounting(stats: &Value) -> Value {
    let mut stats = stats.clone();
    for name in ["seconds", "spilled", "spilling"] {
        stats.as_object_mut().expect("an object").remove(name);
    }
    stats
}

#[test]
fn output_does_not_depend_on_the_budget() {
    let place = Place::with([("a", list().as_bytes()), ("b", &list().as_bytes()[50_000..])]);
    fs::create_dir(place.path("temp")).expect("made");
    for arguments in [
        &["a", "b"][..],
        &["b", "a", "--count", "--min-count", "2"],
        &["a", "b", "--order", "sorted", "--fields", "canonical,count,first"],
        &["a", "b", "--order", "sorted", "--key", "surt", "--limit", "1000"],
        &["a", "b", "--order", "count"],
        &["b", "a", "--top", "1000", "--json"],
    ] {
        let run = |memory: &str| {
            let fixed = ["dedup", "-j", "2", "--rejects", "rejects", "--stats", "stats"];
            let memory = ["--memory", memory, "--temp-dir", "temp"];
            let run = place.run([&fixed[..], arguments, &memory].concat()).exits(0);
            (run.out, run.err, place.read("rejects"), place.json("stats"))
        };
        let (out, notes, rejects, stats) = run("1G");
        assert!(!notes.contains("spilled") && stats["spilled"] == 0, "{notes}");
        let (small_out, notes, small_rejects, small_stats) = run("1M");
        assert!(small_out == out && small_rejects == rejects, "{arguments:?}");
        assert_eq!(accounting(&small_stats), accounting(&stats), "{arguments:?}");
        let spilled = small_stats["spilled"].as_u64().expect("a number");
        assert!(spilled > 0, "{arguments:?}");
        let told = "bytes, since the run may hold no more than";
        assert!(notes.contains(&format!("temp: spilled {spilled} {told}")), "{notes}");
        assert_eq!(fs::read_dir(place.path("temp")).expect("readable").count(), 0);
    }
}

#[test]
fn lines_of_first_records_stay_in_a_full_set() {
    // The long lines come once the set is full, and take more memory than the lines before.
    let line = |i: u32, length: usize| format!("http://h/{i}\t{}\n", "x".repeat(length));
    let list: String = (0..9_000).map(|i| line(i, if i < 6_000 { 0 } else { 900 })).collect();
    let place = Place::with([("list", list.as_bytes())]);
    let fixed = ["dedup", "list", "-f", "tsv:1", "-j", "2", "--temp-dir", ".", "--stats", "stats"];
    let run = |memory: &str| {
        let more = ["--carry", "2", "--count", "--memory", memory];
        (place.run([&fixed[..], &more].concat()).exits(0).out, place.json("stats"))
    };
    let ((out, stats), (small_out, small_stats)) = (run("1G"), run("4M"));
    assert!(out == small_out);
    assert_eq!(accounting(&stats), accounting(&small_stats));
    assert!(small_stats["spilled"].as_u64() > Some(0));
}

#[test]
fn lines_that_outgrow_a_full_set_are_spilled() {
    // Eight thousand URLs come three times, the second time with the longest line, and then with others
    // between them.
    let line = |i: u32, length: usize| {
        format!("http://h{}.example/{i}\t{length}\t{}\n", i % 7, "x".repeat(length))
    };
    let lines = |length: usize| (0..8_000).map(move |i| line(i, length + i as usize % 9));
    let others = (0..8_000).map(|i| line(8_000 + i, 9));
    let between = lines(900).zip(others).map(|(long, other)| long + &other);
    let list: String = lines(0).chain(between).chain(lines(40)).collect();
    let place = Place::with([("list", list.as_bytes())]);
    let fixed = ["dedup", "list", "-f", "tsv:1", "-j", "2", "--temp-dir", ".", "--stats", "stats"];
    for arguments in [
        &["--keep", "last", "--carry", "2,3"][..],
        &["--keep", "max:2", "--carry", "3", "--count", "--order", "sorted"],
        &["--keep", "max:2", "--fields", "count,first", "--carry", "3", "--min-count", "3"],
        &["--keep", "last", "--carry", "3", "--save-seen", "saved"],
        &["--keep", "last", "--carry", "3", "--order", "count", "--save-seen", "saved"],
    ] {
        let run = |memory: &str| {
            let _ = fs::remove_dir_all(place.path("saved"));
            let run = place.run([&fixed[..], arguments, &["--memory", memory]].concat()).exits(0);
            let has_store = arguments.contains(&"--save-seen");
            let saved = if has_store { place.keys_of("saved") } else { String::new() };
            (run.out, saved, place.json("stats"))
        };
        let (out, saved, stats) = run("1G");
        // All keys are in memory when the longer lines come.
        let (small_out, small_saved, small_stats) = run("6M");
        assert!(out == small_out && saved == small_saved, "{arguments:?}");
        assert_eq!(accounting(&stats), accounting(&small_stats), "{arguments:?}");
        assert!(small_stats["spilled"].as_u64() > Some(0), "{arguments:?}");
    }
}

#[test]
fn unusable_temp_dir_is_an_error_and_nothing_is_written() {
    let place = Place::with([("in", list().as_bytes()), ("out", b"old")]);
    let arguments = ["dedup", "in", "-o", "out", "--memory", "1M", "--temp-dir", "no/such"];
    let run = place.run(arguments).exits(2);
    assert!(run.err.contains("--temp-dir no/such: No such file or directory"), "{}", run.err);
    assert_eq!(place.text("out"), "old");
    assert_eq!(place.names(), ["in", "out"]);
}

#[test]
fn unusable_tmpdir_is_a_warning() {
    let place = Place::with([("in", b"http://a/\n")]);
    let run = |arguments: &[&str]| {
        let mut command = built::command();
        command.args(["dedup", "-q", "in"]).args(arguments).env("TMPDIR", "no/such");
        let output = command.current_dir(place.path("")).output().expect("started");
        assert!(output.status.success());
        String::from_utf8(output.stderr).expect("text")
    };
    assert!(run(&[]).starts_with("uniqurl: warning: TMPDIR: no/such: No such file"));
    assert_eq!(run(&["--temp-dir", "."]), "");
}

#[test]
fn file_size_limit_gives_no_temp_dir_advice() {
    let urls: String = (0..30_000).map(|i| format!("http://h/{i}/{}\n", i % 7919)).collect();
    let place = Place::with([("in", urls.as_bytes())]);
    let arguments = ["dedup", "in", "-o", "/dev/null", "--memory", "1M", "--temp-dir", "."];
    let run = run_under(&place, "-f 100", &arguments).exits(2);
    let told = ".: spill: File too large (os error 27)\nhint: allow longer files with ulimit -f";
    assert!(run.err.contains(told) && !run.err.contains("--temp-dir"), "{}", run.err);
}

#[test]
fn quiet_run_does_not_report_spilling() {
    let place = Place::with([("in", list().as_bytes())]);
    let arguments = ["dedup", "-q", "in", "--memory", "1M", "--temp-dir", "."];
    assert_eq!(place.run(arguments).exits(0).err, "");
}

#[test]
fn aborted_spilled_run_counts_no_false_duplicates() {
    let place = Place::with([("list", list().as_bytes()), ("last", b"relative\n")]);
    let urls: String = (0..30_000).map(|i| format!("http://h/{}\n", i % 20_000)).collect();
    place.write("in", &urls);
    let packed = gzip(urls.as_bytes());
    place.write("cut.gz", &packed[..packed.len() - 20]);
    let of_set = |run: &super::Run| ["unique", "duplicates"].map(|term| run.summary(term));
    for (arguments, status) in [
        (&["in", "last", "--max-rejected", "0"][..], 3),
        (&["in", "cut.gz"], 2),
        (&["in", "last", "--max-rejected", "0", "--count"], 3),
        (&["in", "last", "--max-rejected", "0", "--keep", "last", "--fields", "first"], 3),
        (&["in", "last", "--max-rejected", "0", "--seen", "list"], 3),
    ] {
        let fixed = ["dedup", "-o", "out", "--stats", "stats", "--report", "page", "-j", "2"];
        let run = |memory: &str| {
            let memory = ["--memory", memory, "--temp-dir", "."];
            place.run([&fixed[..], arguments, &memory].concat()).exits(status)
        };
        let [unique, duplicates] = of_set(&run("1G"));
        let early = run("1M");
        let undecided = early.summary("undecided");
        let [sure, again] = of_set(&early);
        assert!(undecided > 0 && sure <= unique && again <= duplicates, "{}", early.err);
        let seen = if arguments.contains(&"--seen") { early.summary("seen") } else { 0 };
        let others = early.summary("rejected") + early.summary("blank");
        assert_eq!(early.summary("records"), sure + again + undecided + seen + others);
        let stats = place.json("stats");
        assert_eq!(stats["undecided"], undecided, "{arguments:?}");
        assert_eq!((&stats["unique"], &stats["duplicates"]), (&sure.into(), &again.into()));
        let of_files = stats["files"].as_array().expect("files").iter();
        assert_eq!(of_files.filter_map(|file| file["undecided"].as_u64()).sum::<u64>(), undecided);
        assert!(place.text("page").contains("undecided</td>"));
        let settled = place.run(["dedup", "in", "--memory", "1M", "--stats", "stats"]).exits(0);
        assert!(
            !settled.err.contains("undecided") && place.json("stats").get("undecided").is_none()
        );
    }
}

/// The thread that flushes a large output to the disk early only helps; a run works without it.
#[test]
fn run_without_a_flush_thread_succeeds() {
    if !is_root() {
        return say("NOT TRIED: only root runs as a user with no processes");
    }
    let place = Place::new();
    let line = |i| format!("http://example.com/{i}{}\n", "x".repeat(60_000));
    place.write("in", (0..1200).map(line).collect::<String>());
    fs::set_permissions(place.path(""), fs::Permissions::from_mode(0o777)).expect("set");
    let mut ends = [0; 2];
    // Root has no limit of processes, and this user has no others.
    for limit in 1..10 {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid=54321", "--regid=54321", "--clear-groups"]);
        command.args(["prlimit", &format!("--nproc={limit}")]);
        let run = built::process();
        command.arg(run.get_program()).args(run.get_args());
        command.args(["dedup", "-p", "string", "-j", "1", "in", "-o", "out"]);
        let run = command.current_dir(place.path("")).output();
        let Ok(run) = run.map(Run::of) else { return say(NOT_OF_ROOT) };
        // Either the run fails to start a thread, or it gets all of them.
        match run.status {
            Some(0) => ends[0] += 1,
            Some(2) => ends[1] += 1,
            _ => return say(NOT_OF_ROOT),
        }
        assert!(!run.err.contains("uniqurl: out"), "{limit}: {}", run.err);
    }
    assert!(ends[0] > 0 && ends[1] > 0, "{ends:?}");
}
