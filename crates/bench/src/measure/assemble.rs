//! Makes the rows of a result of the passes of all runs.

use super::plan::{LimitKey, RowKey, RunOrder};
use super::result::{CorpusInfo, LimitRow, RunInfo, StageRow, Times};
use super::rounds::RunResult;
use super::stage::Limit;
use super::statistics::median;
use super::stopwatch::TimedPass;
use crate::counters::Usage;

/// The limits of a result, in the order of the plan.
pub fn limits(order: &RunOrder, runs: &[RunResult]) -> Vec<LimitRow> {
    let row = |(n, key): (usize, &LimitKey)| {
        let passes = runs.iter().map(|run| &run.limits[n]);
        let (seconds, usage) = combine(passes);
        let corpus = corpus(order, &key.corpus)?;
        Some(LimitRow {
            key: key.clone(),
            gb_per_second: corpus.rate(seconds.median),
            ns_per_url: corpus.nanoseconds(seconds.median),
            seconds,
            usage,
        })
    };
    order.limits.iter().enumerate().filter_map(row).collect()
}

/// The rows of a result, in the order of the plan.
pub fn rows(order: &RunOrder, runs: &[RunResult], limits: &[LimitRow]) -> Vec<StageRow> {
    let row = |(n, key): (usize, &RowKey)| {
        let (seconds, usage) = combine(runs.iter().map(|run| &run.rows[n]));
        let corpus = corpus(order, &key.corpus)?;
        let read = limits.iter().find(|limit| {
            let LimitKey { corpus, limit, threads } = &limit.key;
            (corpus, *threads) == (&key.corpus, key.threads) && limit == Limit::Read.name()
        });
        Some(StageRow {
            key: key.clone(),
            gb_per_second: corpus.rate(seconds.median),
            ns_per_url: corpus.nanoseconds(seconds.median),
            roofline: read?.seconds.median / seconds.median,
            seconds,
            usage,
        })
    };
    order.rows.iter().enumerate().filter_map(row).collect()
}

/// The state of the machine around each run. The orders are those of the runs.
pub fn run_infos(seeds: &[u64], runs: &[RunResult]) -> Vec<RunInfo> {
    let info = |(order_seed, run): (&u64, &RunResult)| RunInfo {
        order_seed: *order_seed,
        before: run.before.clone(),
        after: run.after.clone(),
        disturbance: run.after.since(&run.before),
    };
    seeds.iter().zip(runs).map(info).collect()
}

fn corpus<'o>(order: &'o RunOrder, name: &str) -> Option<&'o CorpusInfo> {
    order.corpora.iter().map(|corpus| &corpus.info).find(|info| info.name == name)
}

/// The times of each run, and the resources of a pass.
fn combine<'r>(runs: impl Iterator<Item = &'r Vec<TimedPass>>) -> (Times, Usage) {
    let (mut times, mut usages) = (Vec::new(), Vec::new());
    for run in runs {
        times.push(run.iter().map(|pass| pass.seconds).collect());
        usages.extend(run.iter().map(|pass| &pass.usage));
    }
    (Times::new(times), median_usage(&usages))
}

/// The median of each value that all passes have.
fn median_usage(usages: &[&Usage]) -> Usage {
    let seconds = |of: fn(&Usage) -> Option<f64>| {
        let values: Option<Vec<f64>> = usages.iter().map(|usage| of(usage)).collect();
        values.map(|values| median(&values))
    };
    let count = |of: fn(&Usage) -> Option<u64>| {
        let values: Option<Vec<f64>> =
            usages.iter().map(|usage| of(usage).map(|n| n as f64)).collect();
        values.map(|values| median(&values).round() as u64)
    };
    Usage {
        cpu_seconds: seconds(|usage| usage.cpu_seconds),
        system_seconds: seconds(|usage| usage.system_seconds),
        minor_faults: count(|usage| usage.minor_faults),
        major_faults: count(|usage| usage.major_faults),
        cycles: count(|usage| usage.cycles),
        instructions: count(|usage| usage.instructions),
        cache_misses: count(|usage| usage.cache_misses),
        joules: seconds(|usage| usage.joules),
    }
}
