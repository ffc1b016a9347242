//! Shared by the benchmarks: corpora in memory, and settings that end in minutes.
//!
//! A benchmark is named stage/backend/corpus and gives bytes of input per second. Its result is
//! checked against the truth of the corpus before it is timed.

#![allow(dead_code, reason = "each benchmark uses a part of it")]

#[path = "../../crates/bench/src/corpus/mod.rs"]
mod generator;

use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use uniqurl::internal::{Backend, Span};

pub use generator::{Kind, Truth};

/// A corpus, its lines and the truth about it.
pub struct Corpus {
    pub kind: Kind,
    pub bytes: Vec<u8>,
    pub lines: Vec<Span>,
    pub truth: Truth,
}

impl Corpus {
    /// A corpus of this kind and size, always with the same seed.
    pub fn new(kind: Kind, bytes: u64) -> Self {
        let (bytes, truth) = generator::in_memory(kind, 1, generator::Amount::Bytes(bytes));
        let mut lines = Vec::new();
        uniqurl::internal::lines(Backend::Scalar, &bytes, &mut lines);
        assert_eq!(lines.len() as u64, truth.lines);
        Self { kind, bytes, lines, truth }
    }

    /// The lines.
    pub fn urls(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|span| span.of(&self.bytes))
    }

    /// Lines that have a canonical form.
    pub fn accepted(&self) -> u64 {
        self.truth.lines - self.truth.rejected - self.truth.blank
    }
}

/// A group of benchmarks for one stage.
pub fn stage<'a>(
    criterion: &'a mut Criterion,
    name: &str,
    corpus: &Corpus,
) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .throughput(Throughput::Bytes(corpus.bytes.len() as u64));
    group
}

/// The rest of a benchmark's name.
pub fn id(backend: Backend, corpus: &Corpus) -> String {
    format!("{}/{}", backend.name(), corpus.kind.name())
}
