//! A set larger than its memory limit.

use super::Place;
use super::open_files::run_under;
use super::packed::gzip;
use std::fs;

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

/// The engine's tests say that no budget changes a result; here stands that the options reach it.
#[test]
fn spilling_is_told_and_leaves_nothing() {
    let place = Place::with([("in", list().as_bytes())]);
    fs::create_dir(place.path("temp")).expect("made");
    let run = |options: &[&str]| {
        let fixed =
            ["dedup", "in", "--temp-dir", "temp", "--rejects", "rejects", "--stats", "stats"];
        let run = place.run([&fixed[..], options].concat()).exits(0);
        assert_eq!(fs::read_dir(place.path("temp")).expect("readable").count(), 0);
        let spilled = place.json("stats")["spilled"].as_u64().expect("a number");
        (run.out, run.err, place.read("rejects"), spilled)
    };
    let (out, notes, rejects, spilled) = run(&["--memory", "1G"]);
    assert!(!notes.contains("spilled") && spilled == 0, "{notes}");
    let (small_out, notes, small_rejects, spilled) = run(&["--memory", "1M"]);
    assert!(small_out == out && small_rejects == rejects);
    let told = format!("temp: spilled {spilled} bytes, since the run may hold no more than");
    assert!(spilled > 0 && notes.contains(&told), "{notes}");
    assert_eq!(run(&["--memory", "1M", "-q"]).1, "");
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
        let told = ["undecided", "unique", "duplicates"].map(|term| stats[term].as_u64());
        assert_eq!(told, [undecided, sure, again].map(Some), "{arguments:?}");
        assert!(place.text("page").contains("undecided</td>"));
        let settled = place.run(["dedup", "in", "--memory", "1M", "--stats", "stats"]).exits(0);
        assert!(
            !settled.err.contains("undecided") && place.json("stats").get("undecided").is_none()
        );
    }
}
