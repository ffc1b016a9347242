//! From lines to canonical URLs: one by one in place, and as a column.

#![allow(missing_docs, reason = "of what criterion's macros make")]

mod measure;

use criterion::{Criterion, criterion_group, criterion_main};
use measure::{Corpus, Kind, id, stage};
use uniqurl::internal::Backend;
use uniqurl::{Batch, Normalizer, Profile};

const BYTES: u64 = 16_000_000;

fn normalize(criterion: &mut Criterion) {
    for kind in [Kind::Clean, Kind::Mixed, Kind::Dirty] {
        let corpus = Corpus::new(kind, BYTES);
        let mut group = stage(criterion, "normalize", &corpus);
        for backend in Backend::available() {
            let normalizer = Normalizer::new(Profile::Crawl).with_backend(backend);
            let mut scratch = Vec::new();
            let mut pass = || {
                let (mut accepted, mut length) = (0u64, 0);
                for url in corpus.urls() {
                    if let Ok(canonical) = normalizer.canonical(url, &mut scratch) {
                        accepted += 1;
                        length += canonical.as_bytes().len();
                    }
                }
                (accepted, length)
            };
            assert_eq!(pass().0, corpus.accepted());
            group.bench_function(id(backend, &corpus), |bencher| bencher.iter(&mut pass));
        }
    }
}

fn normalize_batch(criterion: &mut Criterion) {
    for kind in [Kind::Clean, Kind::Mixed, Kind::Dirty] {
        let corpus = Corpus::new(kind, BYTES);
        let (mut values, mut offsets) = (Vec::new(), vec![0]);
        for url in corpus.urls() {
            values.extend_from_slice(url);
            offsets.push(values.len() as u32);
        }
        let normalizer = Normalizer::new(Profile::Crawl);
        let mut out = Batch::default();
        normalizer.normalize_batch(&values, &offsets, &mut out).expect("offsets of these values");
        let accepted = out.outcomes.iter().filter(|o| **o == Ok(())).count() as u64;
        assert_eq!(accepted, corpus.accepted());
        let mut group = stage(criterion, "normalize_batch", &corpus);
        group.bench_function(id(Backend::best(), &corpus), |bencher| {
            bencher.iter(|| normalizer.normalize_batch(&values, &offsets, &mut out));
        });
    }
}

criterion_group!(benches, normalize, normalize_batch);
criterion_main!(benches);
