//! Estimates the duration of a benchmark from small corpora.

use super::plan::BenchPlan;
use super::prepare;
use super::rounds;
use crate::counters::Counters;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Bytes of a small corpus.
const SMALL: u64 = 2 << 20;

/// The duration in seconds. Files go to the directory. None if all corpora are small.
pub fn estimate(plan: &BenchPlan, directory: &Path) -> Result<Option<f64>, String> {
    if plan.size <= 4 * SMALL {
        return Ok(None);
    }
    let small = BenchPlan { size: SMALL, repeats: 1, runs: 1, ..plan.clone() };
    let directory = directory.join("small");
    fs::create_dir(&directory).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let order = prepare::order(&small, &directory, 0)?;
    let preparation = start.elapsed().as_secs_f64();
    let start = Instant::now();
    rounds::measure(&order, &mut Counters::open(), &|_| ())?;
    let round = start.elapsed().as_secs_f64();
    fs::remove_dir_all(&directory).map_err(|error| error.to_string())?;
    let rounds = f64::from(plan.runs) * f64::from(plan.repeats);
    Ok(Some((preparation + rounds * round) * plan.size as f64 / SMALL as f64))
}
