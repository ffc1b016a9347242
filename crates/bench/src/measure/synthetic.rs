//! Synthetic noise and results, for tests.

use super::plan::{LimitKey, RowKey};
use super::result::{Build, CorpusInfo, Document, FORMAT, Flags, LimitRow, StageRow, Times};
use super::score::{CORPORA, PROFILE, STAGES};
use super::stage::Limit;
use crate::corpus::random::Rng;
use crate::counters::Usage;
use crate::machine::{Machine, WhyNull};

/// A number from the standard normal distribution, by twelve uniform ones.
pub fn normal(rng: &mut Rng) -> f64 {
    let sum: f64 = (0..12).map(|_| (rng.bits() >> 11) as f64 / (1u64 << 53) as f64).sum();
    sum - 6.0
}

/// A result in which each row of all corpora and stages of the score has this rate, in one run.
pub fn document(
    backends: &[&str],
    threads: &[usize],
    size: u64,
    rate: impl Fn(&RowKey) -> f64,
) -> Document {
    let mut document = Document {
        format: FORMAT,
        uniqurl: "0.0.0".into(),
        date: "2026-01-01T00:00:00Z".into(),
        build: Build {
            commit: None,
            compiler: None,
            profile: None,
            allocator: "none".into(),
            why_null: WhyNull::default(),
        },
        machine: Machine::here(),
        flags: Flags {
            size,
            seed: 1,
            runs: 1,
            repeats: 1,
            pin: "none".into(),
            corpus: CORPORA.map(str::to_owned).to_vec(),
            profile: vec![PROFILE.to_owned()],
            stage: STAGES.map(|(stage, _)| stage.to_owned()).to_vec(),
            backend: backends.iter().map(|name| (*name).to_owned()).collect(),
            threads: threads.to_vec(),
        },
        runs: Vec::new(),
        corpora: Vec::new(),
        limits: Vec::new(),
        results: Vec::new(),
        score: None,
        why_null: WhyNull::default(),
    };
    for name in CORPORA {
        let name = name.to_owned();
        let (distinct, sha256) = (size / 100, String::new());
        let info = CorpusInfo { name, seed: 1, bytes: size, records: distinct, distinct, sha256 };
        for &threads in threads {
            for limit in Limit::ALL {
                let (corpus, limit) = (info.name.clone(), limit.name().to_owned());
                document.limits.push(LimitRow {
                    key: LimitKey { corpus, limit, threads },
                    seconds: Times::new(vec![vec![size as f64 / 10e9]]),
                    gb_per_second: 10.0,
                    ns_per_url: 1.0,
                    usage: Usage::default(),
                });
            }
            for (stage, _) in STAGES {
                for backend in backends {
                    let key = RowKey {
                        corpus: info.name.clone(),
                        profile: PROFILE.into(),
                        stage: stage.into(),
                        backend: (*backend).into(),
                        threads,
                    };
                    let rate = rate(&key);
                    document.results.push(StageRow {
                        key,
                        seconds: Times::new(vec![vec![size as f64 / rate / 1e9]]),
                        gb_per_second: rate,
                        ns_per_url: 1.0,
                        roofline: rate / 10.0,
                        usage: Usage::default(),
                    });
                }
            }
        }
        document.corpora.push(info);
    }
    document
}
