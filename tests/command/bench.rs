//! `uniqurl bench`: the work it measures, the results it writes and the results it compares. The
//! tests never judge how long anything took.

use super::shared::say;
use super::{Place, Run, built};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// Little work, in `here.json`.
const SMALL: [&str; 6] =
    ["bench", "-q", "--size=60K", "--runs=2", "--threads=1,2", "--save=here.json"];

/// True for a command that an emulator runs: it starts itself without the emulator, and fails.
pub(super) fn cannot_restart() -> bool {
    let is_emulated = std::env::var_os("UNIQURL_COMMAND").is_some();
    if is_emulated {
        say("NOT TRIED: an emulated command cannot start itself again");
    }
    is_emulated
}

pub(super) fn small(place: &Place, arguments: &[&str]) -> Run {
    place.run(SMALL.iter().chain(arguments)).exits(0)
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|v| v.as_str().expect("a string")).collect()
}

/// The paths of all members, `[]` for the elements of a list.
fn members(value: &Value, path: &str, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                members(value, format!("{path}.{name}").trim_start_matches('.'), out);
            }
        }
        Value::Array(values) => values.iter().for_each(|v| members(v, &format!("{path}[]"), out)),
        _ => drop(out.insert(path.to_owned())),
    }
}

#[test]
fn members_of_the_json_are_these() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, &["--corpus=clean"]);
    let mut found = BTreeSet::new();
    members(&place.json("here.json"), "", &mut found);
    // A change of a name is a new version of the format.
    let expected = "corpora[].bytes corpora[].distinct corpora[].name corpora[].records \
        corpora[].sha256 date format machine.arch machine.cpu machine.cpus machine.memory_bytes machine.os \
        no_score program.build program.commit program.compiler program.profile program.scanner program.version \
        rows[].corpus rows[].cpu_seconds rows[].cycles rows[].gb_per_second.interval.high rows[].gb_per_second.interval.low \
        rows[].gb_per_second.median rows[].instructions rows[].ns_per_url rows[].seconds[] \
        rows[].share_of_memory_read rows[].threads rows[].work runs[].load runs[].others runs[].seconds \
        runs[].stolen score";
    assert!(found.iter().eq(&expected.split_whitespace().collect::<Vec<_>>()), "{found:?}");
}

#[test]
fn result_holds_the_requested_measurements() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let table = small(&place, &["--corpus", "access,mixed"]);
    let result = place.json("here.json");
    assert_eq!(result["format"], 3);
    let program = &result["program"];
    assert_eq!(
        (&program["version"], &program["profile"]),
        (&json!(env!("CARGO_PKG_VERSION")), &json!("crawl@1"))
    );
    assert_eq!(program["scanner"], built::scanners()[0]);
    assert!(result["date"].as_str().is_some_and(|d| d.len() == 20 && d.ends_with('Z')));
    assert!(result["machine"]["cpus"].is_u64());
    assert_eq!(result["runs"].as_array().expect("runs").len(), 2);
    // 2 corpora, 7 kinds of work, 1 and 2 threads.
    let rows = result["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 28);
    for row in rows {
        assert_eq!(row["seconds"].as_array().expect("times").len(), 2);
        for number in ["ns_per_url", "share_of_memory_read", "cpu_seconds"] {
            assert!(row[number].as_f64().is_some_and(|n| n > 0.0), "{number} in {row}");
        }
        let rate = &row["gb_per_second"];
        let [low, high] = ["low", "high"].map(|end| rate["interval"][end].as_f64());
        let median = rate["median"].as_f64();
        assert!(low.is_some() && low <= median && median <= high, "{row}");
    }
    let works = |row: &&Value| row["work"] == "end-to-end" && row["threads"] == 2;
    assert_eq!(rows.iter().filter(works).count(), 2);
    let corpora = result["corpora"].as_array().expect("two");
    assert_eq!((&corpora[0]["name"], &corpora[1]["name"]), (&json!("mixed"), &json!("access")));
    for corpus in corpora {
        assert!(corpus["bytes"].as_u64().is_some_and(|bytes| bytes >= 60 << 10));
        assert!(corpus["sha256"].as_str().is_some_and(|hash| hash.len() == 64));
    }
    for text in [
        "work           threads     GB/s  95 % interval     ns/URL  of memory-read",
        "ns/URL          nanoseconds for each record",
        "end-to-end      all that `uniqurl dedup` does",
        "the median of 2 runs",
    ] {
        assert!(table.out().contains(text), "{text} is not in {}", table.out());
    }
    assert_eq!(table.err, "");
    // A small run has no score, and says why.
    let reason = "`clean` was not measured";
    assert_eq!((&result["score"], &result["no_score"]), (&Value::Null, &json!(reason)));
    let last = table.out().trim_end().lines().last().expect("a line");
    assert_eq!(last, format!("uniqurl-bench 1: none, since {reason}"));
}

#[test]
fn rows_of_the_first_run_are_told_as_they_are_measured() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let arguments = ["bench", "--size=6K", "--runs=2", "--corpus=clean,dup", "--threads=1"];
    let run = place.run(arguments).exits(0);
    let told: Vec<_> = run.err.lines().collect();
    assert_eq!(told[0], "drawing 2 corpora of 6144 bytes");
    assert_eq!(told[1], "run 1 of 2, each row as it is measured:");
    let rows = told[2..16].iter();
    assert!(rows.clone().all(|row| row.starts_with("  ") && row.ends_with(" GB/s")), "{}", run.err);
    assert_eq!(rows.filter(|row| row.contains(" dedup ")).count(), 2);
    assert!(told[16].starts_with("run 1 of 2 took ") && told[16].ends_with(" s are left"));
    assert!(told[17].starts_with("run 2 of 2 took ") && told.len() == 18, "{}", run.err);
}

#[test]
fn every_corpus_is_measured_unless_others_are_named() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, &["--runs=1"]);
    let result = place.json("here.json");
    let corpora = result["corpora"].as_array().expect("corpora");
    let names = corpora.iter().map(|corpus| corpus["name"].clone()).collect();
    assert_eq!(strings(&Value::Array(names)), ["clean", "mixed", "dirty", "dup", "access"]);
    assert_eq!(
        result["no_score"],
        format!("the corpora have {} bytes and not 268435456", corpora[0]["bytes"])
    );
    // One run has no interval.
    assert!(result["rows"][0]["gb_per_second"]["interval"].is_null());
}

#[test]
fn corpus_has_the_same_bytes_each_time() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let hash = || {
        small(&place, &["--corpus=dup", "--runs=1", "-j1"]);
        place.json("here.json")["corpora"][0]["sha256"].clone()
    };
    assert_eq!(hash(), hash());
}

#[test]
fn json_on_standard_output_is_alone() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    for name in ["-", "/dev/stdout"] {
        let arguments =
            ["bench", "-q", "--size=6K", "--runs=1", "-j1", "--corpus=clean", "--save", name];
        let json = place.run(arguments).exits(0);
        serde_json::from_slice::<Value>(&json.out).expect("JSON alone");
    }
}

#[test]
fn unknown_names_are_wrong_usage() {
    let place = Place::new();
    for arguments in [
        &["--corpus", "sample"][..],
        &["--corpus", "clean,"],
        &["--threads", "0"],
        &["--threads", "1,x"],
        &["--size", "0"],
        &["--size", "65G"],
        &["--runs", "0"],
        &["--runs", "101"],
        &["--one-run", "--compare", "x", "y"],
        &["--save", "x.parquet"],
        &["--save", "x.json.bz2"],
        &["--compare", "x"],
        &["--compare", "x", "y", "--save", "z"],
        &["file"],
    ] {
        let run = place.run(["bench"].iter().chain(arguments)).exits(2);
        assert!(run.err.contains("--help") && run.out.is_empty(), "{arguments:?}: {}", run.err);
    }
    assert!(place.names().is_empty());
}

#[test]
fn unwritable_output_fails_before_measuring() {
    let place = Place::new();
    // A corpus of this size could not be drawn within the time of a test.
    let run = place.run(["bench", "--size=64G", "--save", "no/such/file"]).exits(2);
    assert!(run.err.contains("no/such/file"), "{}", run.err);
}

#[test]
fn temporary_corpus_file_is_removed() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let mut command = built::command();
    command.env("TMPDIR", place.path("")).current_dir(place.path(""));
    command.args(SMALL).arg("--corpus=clean").assert().success();
    assert_eq!(place.names(), ["here.json"]);
}

/// The order of a run on a file as `clean`.
fn order(file: &str, bytes: u64) -> Value {
    json!({
        "run": 1, "threads": [1],
        "corpora": [{
            "info": {"name": "clean", "bytes": bytes, "records": 1, "distinct": 1, "sha256": ""},
            "file": file,
            "expected": {
                "sum": 0, "clean": 0, "records": 1, "rejected": 0, "blank": 0, "distinct": 1, "output": 0
            }
        }]
    })
}

#[test]
fn failure_of_a_run_is_the_failure_of_the_benchmark() {
    if cannot_restart() {
        return;
    }
    let place = Place::with([("corpus", b"http://a/\n")]);
    for (file, reason) in [("/no/such/file", "/no/such/file: "), ("corpus", "clean, ")] {
        let mut command = built::process();
        command.args(["bench", "--one-run"]).current_dir(place.path(""));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        // The pipe stays open: a run ends when its pipe does.
        let mut orders = child.stdin.take().expect("a pipe");
        writeln!(orders, "{}", order(file, 10)).expect("written");
        let output = child.wait_with_output().expect("ended");
        let last = String::from_utf8(output.stdout).expect("text");
        let message: Value =
            serde_json::from_str(last.lines().last().expect("a message")).expect("JSON");
        let error = message["error"].as_str().expect("an error");
        assert!(error.starts_with(reason), "{error}");
        assert_eq!(output.status.code(), Some(2));
    }
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
    writeln!(orders, "{}", order(&place.path("pipe").to_string_lossy(), 10)).expect("written");
    drop(orders);
    assert_eq!(child.wait().expect("ended").code(), Some(1));
    let mut messages = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert!(messages.next().is_none());
}
