//! `uniqurl bench --compare`: which results it compares, and its verdict.

use super::Place;
use super::bench::{cannot_restart, small};
use super::packed::gzip;
use serde_json::{Value, json};

/// The same result with all times of the stages multiplied by `factor`.
fn scaled(result: &Value, factor: f64) -> Value {
    let mut result = result.clone();
    for row in result["rows"].as_array_mut().expect("rows").iter_mut().filter(|row| is_stage(row)) {
        let seconds = row["seconds"].as_array_mut().expect("times");
        seconds.iter_mut().for_each(|time| *time = json!(time.as_f64().expect("a time") * factor));
    }
    result
}

fn is_stage(row: &Value) -> bool {
    let limits = ["memory-read", "memory-copy", "newline-count"];
    !limits.contains(&row["work"].as_str().expect("a name"))
}

#[test]
fn results_of_the_same_bytes_are_compared() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, &["--corpus=clean", "--runs=3"]);
    let here = place.json("here.json");
    place.write("faster.json", scaled(&here, 0.5).to_string());
    let run = place.run(["bench", "--compare", "here.json", "faster.json"]).exits(0);
    // Four stages, one thread and two.
    assert_eq!(run.out().matches(" 2.00x ").count(), 8, "{}", run.out());
    let verdict = "Geometric mean of B/A: 2.000 of 8 rows, 95 % interval ";
    assert!(run.out().contains(verdict), "{}", run.out());
    let same = place.run(["bench", "--compare", "here.json", "here.json"]).exits(0);
    assert!(same.out().trim_end().ends_with("no difference."), "{}", same.out());

    // Compressed, as --save writes it to a name that ends in `.gz`.
    place.write("here.json.gz", gzip(&place.read("here.json")));
    let packed = place.run(["bench", "--compare", "here.json.gz", "faster.json"]).exits(0);
    assert_eq!(packed.out(), run.out());

    // The largest effect comes first.
    let mut one_slower = here.clone();
    let rows = one_slower["rows"].as_array_mut().expect("rows");
    let at = rows.iter().position(|row| row["work"] == "dedup").expect("a row");
    rows[at] = scaled(&here, 100.0)["rows"][at].clone();
    place.write("slower.json", one_slower.to_string());
    let run = place.run(["bench", "--compare", "here.json", "slower.json"]).exits(0);
    let ratios = run.out().lines().filter(|line| line.contains("x  ")).collect::<Vec<_>>();
    assert!(ratios[0].contains(" dedup ") && ratios[0].contains(" 0.01x "), "{}", run.out());

    let mut one = here.clone();
    one["rows"]
        .as_array_mut()
        .expect("rows")
        .retain(|row| row["work"] == "scan" && row["threads"] == 1);
    place.write("one.json", one.to_string());
    let run = place.run(["bench", "--compare", "one.json", "one.json"]).exits(0);
    assert!(run.out().contains(" of 1 row, "), "{}", run.out());
}

#[test]
fn other_machine_other_version_and_busy_machine_are_warned_of() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, &["--corpus=clean", "--threads=1"]);
    let mut here = place.json("here.json");
    let others = |result: &mut Value, share: f64| {
        let runs = result["runs"].as_array_mut().expect("runs");
        runs.iter_mut().for_each(|run| (run["others"], run["stolen"]) = (json!(share), json!(0)));
    };
    others(&mut here, 0.01);
    place.write("here.json", here.to_string());
    let quiet = place.run(["bench", "--compare", "here.json", "here.json"]).exits(0);
    assert_eq!(quiet.err, "");

    let mut other = here.clone();
    others(&mut other, 0.4);
    other["program"]["version"] = json!("9.9.9");
    other["machine"]["cpu"] = json!("RISC\u{1b}");
    place.write("other.json", other.to_string());
    let run = place.run(["bench", "--compare", "here.json", "other.json"]).exits(0);
    for warning in [
        "B of uniqurl 9.9.9",
        "A is of another machine (",
        "RISC\\x1B",
        "the machine was busy when B was measured: others took 40 % of its CPU time",
    ] {
        assert!(run.err.contains(warning), "{}", run.err);
    }
}

#[test]
fn results_that_cannot_be_compared_are_rejected() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, &["--corpus=clean", "--threads=1"]);
    let here = place.json("here.json");
    let changed = |name: &str, change: fn(&mut Value)| {
        let mut other = here.clone();
        change(&mut other);
        place.write(name, other.to_string());
    };
    changed("bytes.json", |other| other["corpora"][0]["sha256"] = json!("0"));
    changed("format.json", |other| other["format"] = json!(2));
    changed("rows.json", |other| other["rows"] = json!([]));
    changed("shape.json", |other| other["rows"] = json!(5));
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
