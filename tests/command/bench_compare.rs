//! `uniqurl bench --compare`: which results it compares, and its verdict.

use super::bench::{cannot_restart, small};
use super::packed::gzip;
use super::{Place, built};
use serde_json::{Value, json};

/// The same result with all times of rows multiplied by `factor`.
fn scaled(result: &Value, factor: f64) -> Value {
    let mut result = result.clone();
    for row in result["results"].as_array_mut().expect("rows") {
        let scale = |time: &mut Value| *time = json!(time.as_f64().expect("a time") * factor);
        ["median", "low", "high"].iter().for_each(|name| scale(&mut row["seconds"][*name]));
        let runs = row["seconds"]["runs"].as_array_mut().expect("runs");
        runs.iter_mut().flat_map(|run| run.as_array_mut().expect("times")).for_each(scale);
    }
    result
}

#[test]
fn results_of_the_same_bytes_are_compared() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    let backends = format!("--backend={}", built::scanners().join(","));
    small(&place, &["--corpus=clean", "--stage=normalize,dedup", "--runs=3", &backends]);
    let here = place.json("here.json");
    let mut faster = scaled(&here, 0.5);
    place.write("faster.json", faster.to_string());
    let run = place.run(["bench", "--compare", "here.json", "faster.json"]).exits(0);
    let rows = 2 * 2 * built::scanners().len();
    assert_eq!(run.out().matches(" 2.00x ").count(), rows, "{}", run.out());
    assert!(run.out().contains(&format!("{rows} rows")) && run.err.is_empty());
    assert!(run.out().contains("Geometric mean of B/A: 2.000, 95 % interval "), "{}", run.out());
    let same = place.run(["bench", "--compare", "here.json", "here.json"]).exits(0);
    assert!(same.out().trim_end().ends_with("no difference."), "{}", same.out());

    // Compressed, as --json writes it to a name that ends in `.gz`.
    place.write("here.json.gz", gzip(&place.read("here.json")));
    let packed = place.run(["bench", "--compare", "here.json.gz", "faster.json"]).exits(0);
    assert_eq!(packed.out(), run.out());

    // The largest effect comes first.
    let mut one_slower = here.clone();
    let slow = scaled(&here, 100.0)["results"][2].clone();
    one_slower["results"][2] = slow;
    place.write("slower.json", one_slower.to_string());
    let run = place.run(["bench", "--compare", "here.json", "slower.json"]).exits(0);
    let ratios = run.out().lines().filter(|line| line.contains("x  ")).collect::<Vec<_>>();
    assert!(ratios[0].contains(" 0.01x "), "{}", run.out());

    // Another machine may have other scanners: then the fastest scanner of each machine is
    // compared.
    for row in faster["results"].as_array_mut().expect("rows") {
        row["backend"] = json!("riscv\u{1b}");
    }
    faster["uniqurl"] = json!("9.9.9");
    faster["machine"]["cpu"]["model"] = json!("RISC");
    place.write("other.json", faster.to_string());
    let run = place.run(["bench", "--compare", "here.json", "other.json"]).exits(0);
    assert!(run.out().contains(":riscv\\x1B") && run.out().contains("4 rows"), "{}", run.out());
    assert!(run.err.contains("B of uniqurl 9.9.9"), "{}", run.err);
    assert!(
        run.err.contains("A is of another machine (") && run.err.contains("RISC"),
        "{}",
        run.err
    );

    let mut one = place.json("here.json");
    one["results"].as_array_mut().expect("rows").truncate(1);
    place.write("one.json", one.to_string());
    let run = place.run(["bench", "--compare", "one.json", "one.json"]).exits(0);
    assert!(run.out().contains("\n1 row, of 1 in A and 1 in B."), "{}", run.out());
}

#[test]
fn results_that_cannot_be_compared_are_rejected() {
    if cannot_restart() {
        return;
    }
    let place = Place::new();
    small(&place, &["--corpus=clean", "--stage=scan", "--backend=scalar"]);
    let here = place.json("here.json");
    let changed = |name: &str, change: fn(&mut Value)| {
        let mut other = here.clone();
        change(&mut other);
        place.write(name, other.to_string());
    };
    changed("bytes.json", |other| other["corpora"][0]["sha256"] = json!("0"));
    changed("format.json", |other| other["format"] = json!(1));
    changed("rows.json", |other| other["results"] = json!([]));
    changed("shape.json", |other| other["results"] = json!(5));
    place.write("text.json", "no JSON");
    place.write("cut.json", &gzip(b"{}")[..9]);
    place.write("stats.json", "{}");
    for (name, why) in [
        ("bytes.json", "measured different bytes as `clean`"),
        ("format.json", "version 1 of the format"),
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
