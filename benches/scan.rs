//! The vector passes alone: finding the lines of a chunk, and proving URLs clean.

#![allow(missing_docs, reason = "of what criterion's macros make")]

mod measure;

use criterion::{Criterion, criterion_group, criterion_main};
use measure::{Corpus, Kind, id, stage};
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile, internal};

const BYTES: u64 = 8_000_000;

fn lines(criterion: &mut Criterion) {
    let corpus = Corpus::new(Kind::Clean, BYTES);
    let mut group = stage(criterion, "lines", &corpus);
    let mut found = Vec::with_capacity(corpus.lines.len());
    for backend in Backend::available() {
        internal::lines(backend, &corpus.bytes, &mut found);
        assert_eq!(found, corpus.lines, "{}", backend.name());
        group.bench_function(id(backend, &corpus), |bencher| {
            bencher.iter(|| {
                found.clear();
                internal::lines(backend, &corpus.bytes, &mut found);
                found.len()
            });
        });
        found.clear();
    }
}

fn is_clean(criterion: &mut Criterion) {
    for kind in [Kind::Clean, Kind::Mixed, Kind::Dirty] {
        let corpus = Corpus::new(kind, BYTES);
        let mut group = stage(criterion, "is_clean", &corpus);
        let count = |normalizer: &Normalizer| {
            corpus.urls().filter(|url| normalizer.is_clean(url)).count() as u64
        };
        let normalizer = Normalizer::new(Profile::Crawl);
        let scalar = count(&normalizer.clone().with_backend(Backend::Scalar));
        // The scanner may call a canonical URL dirty, but it proves at least nine in ten clean.
        let canonical = corpus.truth.lines - corpus.truth.dirty;
        assert!(scalar <= canonical && scalar >= canonical * 9 / 10, "{scalar} of {canonical}");
        for backend in Backend::available() {
            let normalizer = normalizer.clone().with_backend(backend);
            assert_eq!(count(&normalizer), scalar, "{}", backend.name());
            group.bench_function(id(backend, &corpus), |bencher| {
                bencher.iter(|| count(&normalizer));
            });
        }
    }
}

criterion_group!(benches, lines, is_clean);
criterion_main!(benches);
