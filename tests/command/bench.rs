//! `uniqurl bench`: the work it measures, the results it writes and the results it compares. The tests never judge
//! how long anything took; the crate's own tests judge its statistics.

use super::packed::gzip;
use super::shared::say;
use super::{Place, built};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// True for a command that an emulator runs: it starts itself without the emulator, and fails.
pub(super) fn cannot_restart() -> bool {
    let is_emulated = std::env::var_os("UNIQURL_COMMAND").is_some();
    if is_emulated {
        say("NOT TRIED: an emulated command cannot start itself again");
    }
    is_emulated
}

/// A little work, its result in `here.json`, and its table.
fn small(place: &Place, arguments: &str) -> String {
    let fixed = "bench -q --size=60K --runs=2 --threads=1 --save=here.json";
    let run = place.run(fixed.split(' ').chain(arguments.split(' '))).exits(0);
    assert_eq!(run.err, "");
    run.out().to_owned()
}

#[test]
fn result_holds_the_requested_measurements() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let table = small(&place, "--corpus access,mixed --threads 1,2");
    let result = place.json("here.json");
    let members = |value: &Value| -> Vec<String> {
        value.as_object().expect("an object").keys().cloned().collect()
    };
    // A change of a name is a new version of the format.
    assert_eq!(result["format"], 3);
    let names =
        ["corpora", "date", "format", "machine", "no_score", "program", "rows", "runs", "score"];
    assert_eq!(members(&result), names);
    let names = "corpus cpu_seconds cycles gb_per_second instructions ns_per_url seconds \
                 share_of_memory_read threads work";
    assert!(members(&result["rows"][0]).iter().eq(names.split_whitespace().collect::<Vec<_>>()));
    assert_eq!(result["program"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(result["program"]["scanner"], built::scanners()[0]);
    // 2 corpora, 7 kinds of work, 1 and 2 threads, in 2 runs.
    let rows = result["rows"].as_array().expect("rows");
    assert_eq!((rows.len(), result["runs"].as_array().map(Vec::len)), (28, Some(2)));
    for row in rows {
        assert_eq!(row["seconds"].as_array().map(Vec::len), Some(2));
        let rate = &row["gb_per_second"];
        let [low, high] = ["low", "high"].map(|end| rate["interval"][end].as_f64());
        let median = rate["median"].as_f64();
        assert!(low.is_some() && low <= median && median <= high, "{row}");
    }
    let names = result["corpora"].as_array().expect("two").iter().map(|corpus| &corpus["name"]);
    assert!(names.eq(["mixed", "access"]));
    let heading = "work           threads     GB/s  95 % interval     ns/URL  of memory-read";
    let no_score = "\nuniqurl-bench 1: none, since `clean` was not measured\n";
    assert!(table.contains(heading) && table.ends_with(no_score), "{table}");
    let hash = |result: &Value| result["corpora"][0]["sha256"].clone();
    small(&place, "--corpus mixed --runs 1");
    assert_eq!(
        hash(&result),
        hash(&place.json("here.json")),
        "a corpus has the same bytes each time"
    );
}

#[test]
fn rows_of_the_first_run_are_told_as_they_are_measured() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let mut command = built::command();
    command.args("bench --size=6K --runs=2 --corpus=clean --threads=1 --save -".split(' '));
    command.env("TMPDIR", place.path("")).current_dir(place.path(""));
    let output = command.output().expect("started");
    serde_json::from_slice::<Value>(&output.stdout).expect("JSON alone");
    let err = String::from_utf8(output.stderr).expect("text");
    let told: Vec<_> = err.lines().collect();
    assert_eq!(told[1], "run 1 of 2, each row as it is measured:");
    assert!(told[2..9].iter().all(|row| row.starts_with("  ") && row.ends_with(" GB/s")), "{err}");
    assert!(told[10].starts_with("run 2 of 2 took ") && told.len() == 11, "{err}");
    assert!(place.names().is_empty(), "the file of the corpus is removed");
}

#[test]
fn run_ends_with_the_process_that_started_it() {
    let place = Place::new();
    // No one writes to this file, so the run waits for it.
    place.pipe("pipe");
    let mut command = built::process();
    command.args(["bench", "--one-run"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let mut orders = child.stdin.take().expect("a pipe");
    let info = json!({"name": "clean", "bytes": 10, "records": 1, "distinct": 1, "sha256": ""});
    let expected = json!({"sum": 0, "clean": 0, "records": 1, "rejected": 0, "blank": 0, "distinct": 1, "output": 0});
    let corpus = json!({"info": info, "file": place.path("pipe"), "expected": expected});
    writeln!(orders, "{}", json!({"run": 1, "threads": [1], "corpora": [corpus]}))
        .expect("written");
    drop(orders);
    assert_eq!(child.wait().expect("ended").code(), Some(1));
    let mut messages = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(messages.next().is_none());
}

#[test]
fn results_of_the_same_bytes_are_compared() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, "--corpus=clean");
    let here = place.json("here.json");
    let changed = |name: &str, change: fn(&mut Value)| {
        let mut other = here.clone();
        change(&mut other);
        place.write(name, other.to_string());
    };
    changed("faster.json", |other| {
        for row in other["rows"].as_array_mut().expect("rows") {
            let times = row["seconds"].as_array_mut().expect("times");
            times.iter_mut().for_each(|time| *time = json!(time.as_f64().expect("a time") / 2.0));
        }
        other["program"]["version"] = json!("9.9.9");
        other["machine"]["cpu"] = json!("RISC\u{1b}");
    });
    // Compressed, as --save writes it to a name that ends in `.gz`.
    place.write("here.json.gz", gzip(&place.read("here.json")));
    let run = place.run(["bench", "--compare", "here.json.gz", "faster.json"]).exits(0);
    assert!(
        run.out().contains("Geometric mean of B/A: 2.000 of 4 rows, 95 % interval "),
        "{}",
        run.out()
    );
    for warning in ["B of uniqurl 9.9.9", "A is of another machine (", "RISC\\x1B"] {
        assert!(run.err.contains(warning), "{}", run.err);
    }
    let same = place.run(["bench", "--compare", "here.json", "here.json"]).exits(0);
    assert!(same.out().trim_end().ends_with("no difference."), "{}", same.out());

    changed("bytes.json", |other| other["corpora"][0]["sha256"] = json!("0"));
    changed("format.json", |other| other["format"] = json!(2));
    changed("rows.json", |other| other["rows"] = json!([]));
    place.write("stats.json", "{}");
    place.write("cut.json", &gzip(b"{}")[..9]);
    for (name, why) in [
        ("bytes.json", "measured different bytes as `clean`"),
        ("format.json", "version 2 of the format"),
        ("rows.json", "no measurement in common"),
        ("stats.json", "not a result of uniqurl bench"),
        ("missing.json", "missing.json: "),
        ("cut.json", "cut.json@0: truncated: "),
    ] {
        let run = place.run(["bench", "--compare", "here.json", name]).exits(2);
        assert!(run.err.contains(why) && run.out.is_empty(), "{name}: {}", run.err);
        assert!(run.err.contains(name), "{}", run.err);
    }
}
