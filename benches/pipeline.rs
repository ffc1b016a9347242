//! The whole job as a process, from a file in the page cache to a file.

#![allow(missing_docs, reason = "of what criterion's macros make")]

mod measure;

use std::fs;
use std::process::Command;

use criterion::{Criterion, criterion_group, criterion_main};
use measure::{Corpus, Kind, id, stage};
use uniqurl::internal::Backend;

/// Enough to make the start of the process negligible.
const BYTES: u64 = 64_000_000;

fn pipeline(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let input = directory.path().join("input");
    let output = directory.path().join("output");
    for kind in [Kind::Clean, Kind::Mixed, Kind::Dirty, Kind::Dup, Kind::Access] {
        let corpus = Corpus::new(kind, BYTES);
        fs::write(&input, &corpus.bytes).expect("room for the corpus");
        let format = if kind == Kind::Access { "combined" } else { "lines" };
        let run = || {
            let status = Command::new(env!("CARGO_BIN_EXE_uniqurl"))
                .args(["dedup", "-q", "--format", format, "--output"])
                .arg(&output)
                .arg(&input)
                .status();
            assert!(status.expect("uniqurl starts").success());
        };
        run();
        let found = fs::read(&output).expect("an output").iter().filter(|b| **b == b'\n').count();
        assert_eq!(found as u64, corpus.truth.distinct, "{}", kind.name());
        let mut group = stage(criterion, "pipeline", &corpus);
        group.bench_function(id(Backend::best(), &corpus), |bencher| bencher.iter(run));
    }
}

criterion_group!(benches, pipeline);
criterion_main!(benches);
