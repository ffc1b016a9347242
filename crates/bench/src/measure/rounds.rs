//! The rounds: first everything is checked once, then everything is timed in turn again and again, so that
//! disturbances of the machine affect all rows alike.

use super::check::{self, Expected};
use super::result::{CorpusInfo, LimitRow, StageRow, Times};
use super::stage::{Limit, Stage};
use super::subject::{LoadedCorpus, Team};
use crate::corpus::Kind;
use std::sync::atomic::{AtomicU64, Ordering};
use uniqurl::{Backend, Normalizer, Profile};

/// The plan of a benchmark.
#[derive(Debug, Clone)]
pub struct BenchPlan {
    /// Seed of the corpora.
    pub seed: u64,
    /// Bytes of each, at least.
    pub size: u64,
    /// Timed rounds.
    pub repeats: u32,
    /// The corpora.
    pub kinds: Vec<Kind>,
    /// The profiles.
    pub profiles: Vec<&'static Profile>,
    /// The stages.
    pub stages: Vec<Stage>,
    /// The scanners.
    pub backends: Vec<Backend>,
    /// The numbers of threads.
    pub threads: Vec<usize>,
}

/// The result for one corpus.
#[derive(Debug)]
pub struct CorpusResult {
    /// The corpus.
    pub corpus: CorpusInfo,
    /// The machine's limits.
    pub limits: Vec<LimitRow>,
    /// The stages.
    pub rows: Vec<StageRow>,
}

/// One stage under one profile by one scanner.
struct Cell {
    profile: usize,
    stage: Stage,
    normalizer: Normalizer,
}

impl BenchPlan {
    /// Passes over a corpus that are timed or checked.
    pub fn passes(&self) -> u64 {
        let cells = self.profiles.len() * self.stages.len() * self.backends.len();
        let passes = (cells + Limit::ALL.len()) * self.threads.len() * self.kinds.len();
        passes as u64 * (u64::from(self.repeats) + 1)
    }

    /// Measures everything on one corpus, and counts the bytes gone through.
    pub fn measure(&self, kind: Kind, done: &AtomicU64) -> Result<CorpusResult, String> {
        let sample = LoadedCorpus::new(kind, self.seed, self.size)?;
        let mut copy = Vec::new();
        copy.try_reserve_exact(sample.bytes.len())
            .map_err(|_| "no memory for a copy".to_owned())?;
        copy.resize(sample.bytes.len(), 0);
        let expected: Vec<_> =
            self.profiles.iter().map(|p| Expected::new(&sample, p)).collect::<Result<_, _>>()?;
        let teams: Vec<_> =
            self.threads.iter().map(|threads| Team::new(*threads)).collect::<Result<_, _>>()?;
        let cells = self.cells();
        let mut of_limits = vec![Vec::new(); teams.len() * Limit::ALL.len()];
        let mut of_cells = vec![Vec::new(); teams.len() * cells.len()];
        for round in 0..=self.repeats {
            let (mut of_limits, mut of_cells) = (of_limits.iter_mut(), of_cells.iter_mut());
            for team in &teams {
                let threads = team.threads();
                for (limit, runs) in Limit::ALL.into_iter().zip(&mut of_limits) {
                    let (time, answer) = limit.run(&sample, team, &mut copy);
                    check::check_limit(limit, &sample, &copy, &answer).map_err(|wrong| {
                        format!("{}, {}, {threads} threads: {wrong}", kind.name(), limit.name())
                    })?;
                    done.fetch_add(sample.truth.bytes, Ordering::Relaxed);
                    runs.extend((round > 0).then_some(time.as_secs_f64()));
                }
                for (cell, runs) in cells.iter().zip(&mut of_cells) {
                    let result = cell.stage.run(&sample, &cell.normalizer, team);
                    let result = result.and_then(|(time, answer)| {
                        expected[cell.profile].check(cell.stage, &answer).map(|()| time)
                    });
                    let time = result.map_err(|wrong| {
                        let (profile, stage) =
                            (self.profiles[cell.profile].name(), cell.stage.name());
                        let backend = cell.normalizer.backend().name();
                        let corpus = kind.name();
                        format!(
                            "{corpus}, {profile}, {stage}, {backend}, {threads} threads: {wrong}"
                        )
                    })?;
                    done.fetch_add(sample.truth.bytes, Ordering::Relaxed);
                    runs.extend((round > 0).then_some(time.as_secs_f64()));
                }
            }
        }
        Ok(self.report(&sample, &cells, of_limits, of_cells))
    }

    fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (profile, rules) in self.profiles.iter().enumerate() {
            for stage in &self.stages {
                for backend in &self.backends {
                    let normalizer = Normalizer::new(rules).with_backend(*backend);
                    cells.push(Cell { profile, stage: *stage, normalizer });
                }
            }
        }
        cells
    }

    /// Makes rows of the times, which are in the order of the rounds.
    fn report(
        &self,
        sample: &LoadedCorpus,
        cells: &[Cell],
        of_limits: Vec<Vec<f64>>,
        of_cells: Vec<Vec<f64>>,
    ) -> CorpusResult {
        let name = || sample.kind.name().to_owned();
        let corpus = CorpusInfo {
            name: name(),
            seed: self.seed,
            bytes: sample.truth.bytes,
            records: sample.truth.lines,
            distinct: sample.truth.distinct,
            sha256: sample.sha256.clone(),
        };
        let (mut of_limits, mut of_cells) = (of_limits.into_iter(), of_cells.into_iter());
        let (mut limits, mut rows) = (Vec::new(), Vec::new());
        for &threads in &self.threads {
            let mut newlines = f64::NAN;
            for (limit, runs) in Limit::ALL.into_iter().zip(&mut of_limits) {
                let seconds = Times::new(runs);
                if limit == Limit::Newlines {
                    newlines = seconds.median;
                }
                limits.push(LimitRow {
                    corpus: name(),
                    limit: limit.name().to_owned(),
                    threads,
                    gb_per_second: corpus.rate(seconds.median),
                    ns_per_url: corpus.nanoseconds(seconds.median),
                    seconds,
                });
            }
            for (cell, runs) in cells.iter().zip(&mut of_cells) {
                let seconds = Times::new(runs);
                let profile = self.profiles[cell.profile];
                rows.push(StageRow {
                    corpus: name(),
                    profile: profile.to_string(),
                    stage: cell.stage.name().to_owned(),
                    backend: cell.normalizer.backend().name().to_owned(),
                    threads,
                    gb_per_second: corpus.rate(seconds.median),
                    ns_per_url: corpus.nanoseconds(seconds.median),
                    x_newlines: seconds.median / newlines,
                    seconds,
                });
            }
        }
        CorpusResult { corpus, limits, rows }
    }

    /// Estimates the duration in seconds from a small corpus of each kind. None if all corpora are small.
    pub fn estimate(&self) -> Result<Option<f64>, String> {
        const SMALL: u64 = 2 << 20;
        if self.size <= 4 * SMALL {
            return Ok(None);
        }
        let small = BenchPlan { size: SMALL, repeats: 1, ..self.clone() };
        let mut total = 0.0;
        let times = self.size as f64 / SMALL as f64;
        for kind in &self.kinds {
            let start = std::time::Instant::now();
            let measured = small.measure(*kind, &AtomicU64::new(0))?;
            let all = start.elapsed().as_secs_f64();
            let limits: f64 = measured.limits.iter().map(|row| row.seconds.median).sum();
            let rows: f64 = measured.rows.iter().map(|row| row.seconds.median).sum();
            let passes = limits + rows;
            // The rest of the time is spent on generating the corpus and finding its truth.
            let around = (all - 2.0 * passes).max(0.0);
            total += times * (passes * (f64::from(self.repeats) + 1.0) + around);
        }
        Ok(Some(total))
    }
}
