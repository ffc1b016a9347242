//! The set alone, on URLs that are canonical already.

#![allow(missing_docs, reason = "of what criterion's macros make")]

mod measure;

use criterion::{Criterion, criterion_group, criterion_main};
use measure::{Corpus, Kind, id, stage};
use uniqurl::internal::Backend;
use uniqurl::{Canonical, Normalizer, Profile, UrlSet};

const BYTES: u64 = 16_000_000;

fn dedup(criterion: &mut Criterion) {
    for kind in [Kind::Clean, Kind::Mixed, Kind::Dup] {
        let corpus = Corpus::new(kind, BYTES);
        let normalizer = Normalizer::new(Profile::Crawl);
        let mut scratch = vec![Vec::new(); corpus.lines.len()];
        let urls: Vec<Canonical<'_>> = corpus
            .urls()
            .zip(&mut scratch)
            .map(|(url, scratch)| normalizer.canonical(url, scratch).expect("no line is rejected"))
            .collect();
        let distinct = || {
            let mut set = UrlSet::new();
            for url in &urls {
                set.insert(*url).expect("16 MB of URLs fit a set");
            }
            set.len() as u64
        };
        assert_eq!(distinct(), corpus.truth.distinct);
        let mut group = stage(criterion, "dedup", &corpus);
        // The set has no backend; the name keeps its three parts.
        group.bench_function(id(Backend::best(), &corpus), |bencher| bencher.iter(distinct));
    }
}

criterion_group!(benches, dedup);
criterion_main!(benches);
