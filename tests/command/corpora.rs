//! The command's counts match the generator's for every generated corpus.

use super::built;
use uniqurl_bench::corpus::{Amount, Kind, Truth, in_memory};

#[test]
fn command_gives_the_counts_of_every_corpus() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let input = directory.path().join("input");
    let stats = directory.path().join("stats");
    for kind in Kind::ALL {
        let (corpus, truth) = in_memory(kind, 4, Amount::Lines(30_000));
        std::fs::write(&input, &corpus).expect("room for the corpus");
        let format = if kind == Kind::Access { "combined" } else { "lines" };
        let mut runs = vec![(None, truth.distinct)];
        if kind == Kind::Access {
            runs.push((Some(Truth::BASE), truth.distinct_with_base));
        }
        for (base, distinct) in runs {
            let output = built::command()
                .args(["dedup", "--format", format, "--stats"])
                .arg(&stats)
                .args(base.map(|base| format!("--base={base}/")))
                .arg(&input)
                .output()
                .expect("uniqurl starts");
            let summary = String::from_utf8_lossy(&output.stderr);
            let expected = format!(
                "records {} = unique {distinct} + duplicates {} + rejected {} + blank {};",
                truth.lines,
                truth.lines - distinct - truth.rejected - truth.blank,
                truth.rejected,
                truth.blank
            );
            assert!(summary.contains(&expected), "{kind:?}: {expected}\n{summary}");
            let written = output.stdout.iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(written as u64, distinct);
            let text = std::fs::read_to_string(&stats).expect("statistics");
            let stats: serde_json::Value = serde_json::from_str(&text).expect("one object");
            for (code, n) in &truth.codes {
                assert_eq!(stats["codes"][code].as_u64(), Some(*n), "{code}");
            }
        }
    }
}
