//! From lines to canonical URLs: one by one in place, and as a column; and from those to templates.

#![allow(missing_docs, reason = "of what criterion's macros make")]

mod measure;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use measure::{Corpus, Kind, id, stage};
use uniqurl::internal::Backend;
use uniqurl::key::{Key, Routes};
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

/// The routes of an application as its OpenAPI document has them: collections and items, and those below an item.
fn declared() -> Vec<String> {
    let names: Vec<String> =
        "user order repo issue pull comment label team member project invoice payment customer \
        subscription product price event webhook file folder tag branch commit release asset"
            .split_whitespace()
            .map(|name| format!("{name}s"))
            .collect();
    let mut routes = Vec::new();
    for (at, name) in names.iter().enumerate() {
        routes.extend(["", "/{id}"].map(|end| format!("/api/v1/{name}{end}")));
        for below in 1..20 {
            let below = &names[(at + below) % names.len()];
            routes.extend(["", "/{item}"].map(|end| format!("/api/v1/{name}/{{id}}/{below}{end}")));
        }
    }
    routes
}

/// Templates of URLs that are drawn from these routes, by types alone and by the routes; elements are URLs.
fn templates(criterion: &mut Criterion) {
    const URLS: usize = 200_000;
    let all = declared();
    let mut routes = Routes::default();
    all.iter().for_each(|route| routes.add(route).expect("a route"));
    assert_eq!(routes.len(), 1000);
    let mut number = 0u64;
    let mut draw = |below: u64| {
        number = number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(1);
        (number >> 33) % below
    };
    let mut url = || {
        let mut url = "https://api.shop.example.com".to_owned();
        for segment in all[draw(1000) as usize][1..].split('/') {
            let value = match (segment.starts_with('{'), draw(4)) {
                (false, _) => segment.to_owned(),
                (true, 0) => draw(100_000).to_string(),
                (true, 1) => format!("name-{}", draw(1000)),
                (true, 2) => format!("{:08x}-1234-4abc-8def-{:012x}", draw(1 << 31), draw(1 << 31)),
                (true, _) => "ann".to_owned(),
            };
            url.extend(["/", &value]);
        }
        url + if draw(3) == 0 { "?page=2&limit=50" } else { "" }
    };
    let urls: Vec<String> = (0..URLS).map(|_| url()).collect();
    let mut group = criterion.benchmark_group("template");
    group.sample_size(20).throughput(Throughput::Elements(URLS as u64));
    let mut out = Vec::new();
    for (name, routes) in [("types", None), ("routes", Some(&routes))] {
        let mut pass = || {
            out.clear();
            urls.iter().for_each(|url| Key::Template.append_by(routes, url.as_bytes(), &mut out));
            out.len()
        };
        assert!(pass() > 0);
        group.bench_function(name, |bencher| bencher.iter(&mut pass));
    }
}

criterion_group!(benches, normalize, normalize_batch, templates);
criterion_main!(benches);
