//! `uniqurl bench`: the stages it measures, the results it writes and the results it compares. The
//! tests never judge how long anything took.

use super::packed::gzip;
use super::{Place, Run, built};
use serde_json::{Value, json};

/// Little work of every sort, in `here.json`.
const SMALL: [&str; 9] =
    ["bench", "-q", "--size", "60K", "--repeats", "2", "--threads", "1,2", "--json=here.json"];

fn small(place: &Place, arguments: &[&str]) -> Run {
    place.run(SMALL.iter().chain(arguments)).exits(0)
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|v| v.as_str().expect("a string")).collect()
}

#[test]
fn result_holds_the_requested_measurements() {
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
    assert_eq!((&result["format"], &result["flags"]["seed"]), (&json!(1), &json!(7)));
    assert_eq!(result["uniqurl"], env!("CARGO_PKG_VERSION"));
    assert_eq!(strings(&result["flags"]["profile"]), ["syntax@1", "crawl@1"]);
    assert!(result["date"].as_str().is_some_and(|d| d.len() == 20 && d.ends_with('Z')));
    let machine = &result["machine"];
    assert!(machine["cpu"]["arch"].is_string() && machine["cpu"]["features"].is_array());
    assert!(machine["allowed"]["cpu_count"].is_u64() && machine["why_null"].is_object());
    let rows = result["results"].as_array().expect("rows");
    // The product: 2 corpora, 2 profiles, 4 stages, 1 scanner, 1 and 2 threads.
    assert_eq!(rows.len(), 32);
    for row in rows {
        assert_eq!(row["seconds"]["runs"].as_array().expect("times").len(), 2);
        for number in ["gb_per_second", "ns_per_url", "x_newlines"] {
            assert!(row[number].as_f64().is_some_and(|n| n > 0.0), "{number} in {row}");
        }
        let [median, min, max] = ["median", "min", "max"].map(|n| row["seconds"][n].as_f64());
        assert!(min <= median && median <= max, "{row}");
    }
    let works = |row: &&Value| row["stage"] == "whole" && row["threads"] == 2;
    assert_eq!(rows.iter().filter(works).count(), 4);
    assert_eq!(result["limits"].as_array().expect("rows").len(), 8);
    let corpora = result["corpora"].as_array().expect("two");
    assert_eq!((&corpora[0]["name"], &corpora[1]["name"]), (&json!("access"), &json!("mixed")));
    for corpus in corpora {
        assert!(corpus["bytes"].as_u64().is_some_and(|bytes| bytes >= 60 << 10));
        assert!(corpus["sha256"].as_str().is_some_and(|hash| hash.len() == 64));
    }
    for word in ["x newlines", "memory copy", "newline count", "syntax@1", "dedup", "SHA-256"] {
        assert!(table.out().contains(word), "{word} is not in {}", table.out());
    }
    assert_eq!(table.err, "");
}

#[cfg(target_os = "linux")]
#[test]
fn result_says_how_the_process_is_confined() {
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
    let place = Place::new();
    let arguments = ["bench", "--profile=all", "--size=6K", "--repeats=1", "-j2", "--json=-"];
    let run = place.run(arguments.iter().chain(&["--corpus=dirty,access"])).exits(0);
    let result: Value = serde_json::from_slice(&run.out).expect("JSON alone");
    let flags = &result["flags"];
    let mut scanners = strings(&flags["backend"]);
    scanners.reverse();
    let mut expected = built::scanners();
    expected.sort();
    scanners.sort_unstable();
    assert_eq!(scanners, expected);
    assert_eq!(strings(&flags["stage"]), ["scan", "normalize", "dedup", "whole"]);
    assert_eq!(strings(&flags["profile"]).len(), uniqurl::Profile::ALL.len());
    let rows = 2 * uniqurl::Profile::ALL.len() * 4 * expected.len();
    assert_eq!(result["results"].as_array().expect("rows").len(), rows);
}

#[test]
fn every_corpus_is_measured_under_crawl_unless_others_are_named() {
    let place = Place::new();
    small(&place, &["--backend=scalar"]);
    let result = place.json("here.json");
    let expected = ["clean", "mixed", "dirty", "dup", "access"];
    assert_eq!(strings(&result["flags"]["corpus"]), expected);
    assert_eq!(strings(&result["flags"]["profile"]), ["crawl@1"]);
    let corpora = result["corpora"].as_array().expect("corpora");
    assert!(corpora.iter().map(|corpus| &corpus["name"]).eq(&expected));
    assert_eq!(result["results"].as_array().expect("rows").len(), 5 * 4 * 2);
}

#[test]
fn a_corpus_is_the_same_for_the_same_seed() {
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
    let place = Place::new();
    for threads in ["1", "1,2"] {
        let arguments = ["bench", "-q", "--size=20K", "--repeats=1", "--corpus=clean,access"];
        place.run(arguments.iter().chain(&["--plot=here.svg", "-j", threads])).exits(0);
        let svg = place.text("here.svg");
        assert!(svg.starts_with("<svg ") && svg.trim_end().ends_with("</svg>"), "{svg}");
        is_nested(&svg);
        for word in
            ["clean, crawl@1", "access, crawl@1", "GB/s", "whole", "newline count", "scalar"]
        {
            assert!(svg.contains(word), "{word}");
        }
        assert_eq!(svg.contains("by number of threads"), threads == "1,2");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn json_or_plot_on_standard_output_is_alone() {
    let place = Place::new();
    let small =
        ["bench", "-q", "--size=6K", "--repeats=1", "-j1", "--corpus=clean", "--stage=scan"];
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
fn results_of_the_same_bytes_are_compared() {
    let place = Place::new();
    small(&place, &["--corpus=clean", "--stage=normalize,dedup"]);
    let mut faster = place.json("here.json");
    for row in faster["results"].as_array_mut().expect("rows") {
        let median = row["seconds"]["median"].as_f64().expect("a time");
        row["seconds"]["median"] = json!(median / 2.0);
    }
    place.write("faster.json", faster.to_string());
    let run = place.run(["bench", "--compare", "here.json", "faster.json"]).exits(0);
    let rows = 2 * 2 * built::scanners().len();
    assert_eq!(run.out().matches(" 2.00x ").count(), rows, "{}", run.out());
    assert!(run.out().contains(&format!("{rows} rows")) && run.err.is_empty());

    // Compressed, as --json writes it to a name that ends in `.gz`.
    place.write("here.json.gz", gzip(&place.read("here.json")));
    let packed = place.run(["bench", "--compare", "here.json.gz", "faster.json"]).exits(0);
    assert_eq!(packed.out(), run.out());

    // Another machine may have other scanners: then the fastest scanner of each machine is
    // compared.
    for row in faster["results"].as_array_mut().expect("rows") {
        row["backend"] = json!("riscv\u{1b}");
    }
    faster["uniqurl"] = json!("9.9.9");
    place.write("other.json", faster.to_string());
    let run = place.run(["bench", "--compare", "here.json", "other.json"]).exits(0);
    assert!(run.out().contains(":riscv\\x1B") && run.out().contains("4 rows"), "{}", run.out());
    assert!(run.err.contains("B of uniqurl 9.9.9"), "{}", run.err);

    let mut one = place.json("here.json");
    one["results"].as_array_mut().expect("rows").truncate(1);
    place.write("one.json", one.to_string());
    let run = place.run(["bench", "--compare", "one.json", "one.json"]).exits(0);
    assert!(run.out().contains(" 1 row, of 1 in A and 1 in B."), "{}", run.out());
}

#[test]
fn results_that_cannot_be_compared_are_rejected() {
    let place = Place::new();
    small(&place, &["--corpus=clean", "--stage=scan", "--backend=scalar"]);
    let here = place.json("here.json");
    let changed = |name: &str, change: fn(&mut Value)| {
        let mut other = here.clone();
        change(&mut other);
        place.write(name, other.to_string());
    };
    changed("bytes.json", |other| other["corpora"][0]["sha256"] = json!("0"));
    changed("format.json", |other| other["format"] = json!(2));
    changed("rows.json", |other| other["results"] = json!([]));
    changed("shape.json", |other| other["results"] = json!(5));
    place.write("text.json", "no JSON");
    place.write("cut.json", &gzip(b"{}")[..9]);
    place.write("stats.json", "{}");
    for (name, why) in [
        ("bytes.json", "measured different bytes as `clean`"),
        ("format.json", "version 2 of the format"),
        ("rows.json", "no measurement in common"),
        ("shape.json", "not a result of uniqurl bench"),
        ("text.json", "not a result of uniqurl bench"),
        ("stats.json", "not a result of uniqurl bench"),
        ("missing.json", "missing.json: "),
        ("cut.json", "cut.json@0: truncated: "),
    ] {
        let run = place.run(["bench", "--compare", "here.json", name]).exits(2);
        assert!(run.err.contains(why) && run.out.is_empty(), "{name}: {}", run.err);
        assert!(run.err.contains(name), "{}", run.err);
    }
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
    let place = Place::new();
    let mut command = built::command();
    command.env("TMPDIR", place.path("")).current_dir(place.path(""));
    command.args(SMALL).arg("--corpus=clean").assert().success();
    assert_eq!(place.names(), ["here.json"]);
}
