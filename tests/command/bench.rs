//! `uniqurl bench`: the stages it measures, the results it writes and the results it compares. The
//! tests never judge how long anything took.

use super::shared::say;
use super::{Place, Run, bench_schema, built};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// Little work of every sort, in `here.json`.
const SMALL: [&str; 7] =
    ["bench", "-q", "--size=60K", "--runs=2", "--repeats=3", "--threads=1,2", "--json=here.json"];

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

#[test]
fn result_holds_the_requested_measurements() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let arguments = [
        "--corpus",
        "access,mixed",
        "--profile",
        "syntax,crawl",
        "--backend",
        "scalar",
        "--seed=7",
    ];
    let table = small(&place, &arguments);
    let result = place.json("here.json");
    assert_eq!((&result["format"], &result["flags"]["seed"]), (&json!(2), &json!(7)));
    assert_eq!(result["uniqurl"], env!("CARGO_PKG_VERSION"));
    assert_eq!(strings(&result["flags"]["profile"]), ["syntax@1", "crawl@1"]);
    assert!(result["date"].as_str().is_some_and(|d| d.len() == 20 && d.ends_with('Z')));
    let runs = result["runs"].as_array().expect("runs");
    assert_ne!(runs[0]["order_seed"], runs[1]["order_seed"]);
    let machine = &result["machine"];
    assert!(machine["cpu"]["arch"].is_string() && machine["cpu"]["features"].is_array());
    assert!(machine["allowed"]["cpu_count"].is_u64() && machine["why_null"].is_object());
    let rows = result["results"].as_array().expect("rows");
    // 2 corpora, 2 profiles: 4 stages with 1 and 2 threads, 3 stages with 2.
    assert_eq!(rows.len(), 44);
    for row in rows.iter().chain(result["limits"].as_array().expect("rows")) {
        let runs = row["seconds"]["runs"].as_array().expect("runs");
        assert_eq!(runs.len(), 2);
        assert!(runs.iter().all(|run| run.as_array().is_some_and(|times| times.len() == 3)));
        for number in ["gb_per_second", "ns_per_url"] {
            assert!(row[number].as_f64().is_some_and(|n| n > 0.0), "{number} in {row}");
        }
        let [median, low, high] = ["median", "low", "high"].map(|n| row["seconds"][n].as_f64());
        assert!(low <= median && median <= high, "{row}");
    }
    assert!(rows.iter().all(|row| row["roofline"].as_f64().is_some_and(|share| share > 0.0)));
    let works = |row: &&Value| row["stage"] == "seen" && row["threads"] == 2;
    assert_eq!(rows.iter().filter(works).count(), 4);
    assert_eq!(result["limits"].as_array().expect("rows").len(), 12);
    let corpora = result["corpora"].as_array().expect("two");
    assert_eq!((&corpora[0]["name"], &corpora[1]["name"]), (&json!("access"), &json!("mixed")));
    for corpus in corpora {
        assert!(corpus["bytes"].as_u64().is_some_and(|bytes| bytes >= 60 << 10));
        assert!(corpus["sha256"].as_str().is_some_and(|hash| hash.len() == 64));
    }
    // A small run has no score, and says why.
    assert!(result["score"].is_null() && result["why_null"]["score"].is_string());
    for word in ["roofline", "memory read", "newline count", "syntax@1", "dedup", "SHA-256"] {
        assert!(table.out().contains(word), "{word} is not in {}", table.out());
    }
    assert!(!table.out().contains("uniqurl-bench"), "{}", table.out());
    assert_eq!(table.err, "");
}

#[cfg(target_os = "linux")]
#[test]
fn result_says_how_the_process_is_confined() {
    if cannot_restart() {
        return;
    }
    use rustix::thread::{CpuSet, disable_transparent_huge_pages};
    use rustix::thread::{sched_getaffinity, sched_setaffinity};
    // The mask is that of one thread and of the processes that it starts.
    let confined = std::thread::spawn(|| {
        let mine = sched_getaffinity(None).expect("a mask");
        let cpu = (0..CpuSet::MAX_CPU).find(|cpu| mine.is_set(*cpu)).expect("a CPU");
        let mut one = CpuSet::new();
        one.set(cpu);
        sched_setaffinity(None, &one).expect("pinned");
        disable_transparent_huge_pages(true).expect("disabled");
        let place = Place::new();
        small(&place, &["--corpus=clean", "--stage=scan"]);
        disable_transparent_huge_pages(false).expect("enabled");
        (cpu, place.json("here.json"))
    });
    let (cpu, result) = confined.join().expect("a result");
    let machine = &result["machine"];
    assert_eq!(machine["allowed"]["cpus"], cpu.to_string());
    assert_eq!(machine["allowed"]["cpu_count"], 1);
    let pages = &machine["memory"]["transparent_huge_pages"];
    assert!(*pages == "never" || pages.is_null(), "{pages}");
}

#[test]
fn every_profile_stage_and_backend_gives_the_right_answer() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let arguments = ["bench", "--profile=all", "--size=6K", "--repeats=1", "-j2", "--json=-"];
    let backends = format!("--backend={}", built::scanners().join(","));
    let more = ["--corpus=dirty,access", "--runs=1", &backends];
    let run = place.run(arguments.iter().chain(&more)).exits(0);
    let result: Value = serde_json::from_slice(&run.out).expect("JSON alone");
    let flags = &result["flags"];
    let mut scanners = strings(&flags["backend"]);
    scanners.reverse();
    let mut expected = built::scanners();
    expected.sort();
    scanners.sort_unstable();
    assert_eq!(scanners, expected);
    assert_eq!(
        strings(&flags["stage"]),
        ["scan", "normalize", "dedup", "end-to-end", "gz", "beyond-memory", "seen"]
    );
    assert_eq!(strings(&flags["profile"]).len(), uniqurl::Profile::ALL.len());
    let rows = 2 * uniqurl::Profile::ALL.len() * (3 * expected.len() + 4);
    assert_eq!(result["results"].as_array().expect("rows").len(), rows);
}

#[test]
fn every_corpus_is_measured_under_crawl_unless_others_are_named() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, &["--backend=scalar"]);
    let result = place.json("here.json");
    let expected = ["clean", "mixed", "dirty", "dup", "access"];
    assert_eq!(strings(&result["flags"]["corpus"]), expected);
    assert_eq!(strings(&result["flags"]["profile"]), ["crawl@1"]);
    let corpora = result["corpora"].as_array().expect("corpora");
    assert!(corpora.iter().map(|corpus| &corpus["name"]).eq(&expected));
    assert_eq!(result["results"].as_array().expect("rows").len(), 5 * (4 * 2 + 3));
}

#[test]
fn a_corpus_is_the_same_for_the_same_seed() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let hash = |seed: &str| {
        small(&place, &["--corpus=dup", "--stage=scan", "--backend=scalar", "--seed", seed]);
        place.json("here.json")["corpora"][0]["sha256"].clone()
    };
    let (first, again, other) = (hash("3"), hash("3"), hash("4"));
    assert_eq!(first, again);
    assert_ne!(first, other);
}

#[test]
fn the_plot_is_well_formed() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    for threads in ["1", "1,2"] {
        let arguments = ["bench", "-q", "--size=20K", "--repeats=1", "--corpus=clean,access"];
        let more = ["--backend=scalar", "--runs=2", "--plot=here.svg", "-j", threads];
        place.run(arguments.iter().chain(&more)).exits(0);
        let svg = place.text("here.svg");
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
        is_nested(&svg);
        for word in
            ["clean, crawl@1", "access, crawl@1", "GB/s", "end-to-end", "newline count", "scalar"]
        {
            assert!(svg.contains(word), "{word}");
        }
        assert_eq!(svg.contains("by number of threads"), threads == "1,2");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn json_or_plot_on_standard_output_is_alone() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let small = ["bench", "-q", "--size=6K", "--runs=1", "-j1", "--corpus=clean", "--stage=scan"];
    for name in ["-", "/dev/stdout"] {
        let json = place.run(small.iter().chain(&["--json", name, "--plot=a.svg"])).exits(0);
        serde_json::from_slice::<Value>(&json.out).expect("JSON alone");
        let plot = place.run(small.iter().chain(&["--plot", name, "--json=a.json"])).exits(0);
        assert!(plot.out().starts_with("<svg "), "{}", plot.out());
        assert!(plot.out().trim_end().ends_with("</svg>"), "{}", plot.out());
    }
}

#[test]
fn versioned_profile_names_are_accepted() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, &["--corpus=clean", "--stage=scan", "--profile=syntax@1,crawl,syntax"]);
    assert_eq!(strings(&place.json("here.json")["flags"]["profile"]), ["syntax@1", "crawl@1"]);
    let run = place.run(["bench", "--profile", "crawl@9"]).exits(2);
    assert!(run.err.contains("the only version of the profile crawl is crawl@1"), "{}", run.err);
}

/// Whether every element of an XML text is closed in order.
fn is_nested(xml: &str) {
    let mut open = Vec::new();
    for tag in xml.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').expect("a tag ends");
        assert!(!text.contains('>') && tag.matches('"').count() % 2 == 0, "{tag}>{text}");
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn unknown_names_are_wrong_usage() {
    let place = Place::new();
    for arguments in [
        &["--corpus", "sample"][..],
        &["--corpus", "clean,"],
        &["--profile", "crawl@1@"],
        &["--stage", "read"],
        &["--backend", "mmx"],
        &["--threads", "0"],
        &["--threads", "1,x"],
        &["--size", "0"],
        &["--size", "65G"],
        &["--repeats", "0"],
        &["--runs", "0"],
        &["--pin", "core"],
        &["--stage", "whole"],
        &["--one-run", "--compare", "x", "y"],
        &["--seed", "-1"],
        &["--json", "x", "--plot", "x"],
        &["--json", "x", "--plot", "./x"],
        &["--json", "x.parquet"],
        &["--json", "x.json.bz2"],
        &["--plot", "x.arrow"],
        &["--plot", "x.svg.xz"],
        &["--compare", "x"],
        &["--compare", "x", "y", "--json", "z"],
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
    for option in ["--json", "--plot"] {
        // A corpus of this size could not be drawn within the time of a test.
        let run = place.run(["bench", "--size=64G", option, "no/such/file"]).exits(2);
        assert!(run.err.contains("no/such/file"), "{}", run.err);
    }
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

#[test]
fn result_follows_the_schema_in_the_docs() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    for arguments in [&["--corpus=clean"][..], &["--runs=1", "--corpus=access", "--pin=cores"]] {
        small(&place, arguments);
        bench_schema::check(&place.json("here.json"));
    }
}

#[test]
fn failure_of_a_run_is_the_failure_of_the_benchmark() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let mut command = built::process();
    command.args(["bench", "--one-run"]).current_dir(place.path(""));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let order = json!({
        "order_seed": 1, "repeats": 1, "pin": "none", "directory": "/",
        "corpora": [{
            "info": {
                "name": "clean", "seed": 1, "bytes": 1, "records": 1, "distinct": 1, "sha256": ""
            },
            "file": "/no/such/file", "packed": [], "sum": 0, "profiles": []
        }],
        "limits": [{ "corpus": "clean", "limit": "memory read", "threads": 1 }], "rows": []
    });
    // The pipe stays open: a run ends when its pipe does.
    let mut orders = child.stdin.take().expect("a pipe");
    writeln!(orders, "{order}").expect("written");
    let output = child.wait_with_output().expect("ended");
    let message: Value = serde_json::from_slice(&output.stdout).expect("a message");
    let error = message["error"].as_str().expect("an error");
    assert!(error.starts_with("/no/such/file: "), "{error}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn run_ends_with_the_process_that_started_it() {
    let place = Place::with([("corpus", b"http://a/\n")]);
    // It would last for hours.
    let order = json!({
        "order_seed": 1, "repeats": u32::MAX, "pin": "none", "directory": "/",
        "corpora": [{
            "info": {
                "name": "clean", "seed": 1, "bytes": 10, "records": 1, "distinct": 1, "sha256": ""
            },
            "file": place.path("corpus"), "packed": [], "sum": 0, "profiles": []
        }],
        "limits": [{ "corpus": "clean", "limit": "newline count", "threads": 1 }], "rows": []
    });
    let mut command = built::process();
    command.args(["bench", "--one-run"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("started");
    let mut orders = child.stdin.take().expect("a pipe");
    writeln!(orders, "{order}").expect("written");
    let mut messages = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    assert_eq!(messages.next().expect("a message").expect("text"), r#"{"did":10}"#);
    drop(orders);
    assert_eq!(child.wait().expect("ended").code(), Some(1));
}
