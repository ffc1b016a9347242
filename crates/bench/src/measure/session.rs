//! All runs of a measurement: the process restarts for each, so that a result is not that of one layout of memory.

use super::order::RunOrder;
use super::restart::restart;
use crate::counters::Cost;
use crate::machine::Disturbance;
use std::process::Command;

/// All that was measured.
#[derive(Debug)]
pub struct Session {
    /// What each run had to measure.
    pub order: RunOrder,
    /// The costs of each row, one of each run.
    pub costs: Vec<Vec<Cost>>,
    /// What others did during each run.
    pub runs: Vec<Disturbance>,
}

/// Starts the command, which has to call [`serve`](super::restart::serve), so many times. Tells lines for people: each
/// row of the first run as it is measured, and then how long the others will take.
pub fn measure(
    command: &dyn Fn() -> Command,
    mut order: RunOrder,
    runs: u64,
    tell: &dyn Fn(String),
) -> Result<Session, String> {
    let rows = order.rows();
    let mut costs = vec![Vec::new(); rows.len()];
    let mut disturbances = Vec::new();
    tell(format!("run 1 of {runs}, each row as it is measured:"));
    for run in 1..=runs {
        // It seeds the order, so two results of one plan have the same orders, and rows that suffer from the row before
        // them do so in both.
        order.run = run;
        let mut note = |n: usize, cost: Cost| {
            let (Some(row), Some(costs)) = (rows.get(n), costs.get_mut(n)) else { return };
            costs.push(cost);
            if let (1, Some(corpus)) = (run, order.corpus(&row.corpus)) {
                let rate = corpus.info.rate(cost.seconds);
                let (name, threads) = (&row.corpus, threads(row.threads));
                tell(format!("  {name:7} {:14} {threads:>12} {rate:8.2} GB/s", row.work));
            }
        };
        let disturbance = restart(command(), &order, &mut note)?;
        // A program that is replaced while it is measured may be of another version.
        if costs.iter().any(|costs| costs.len() as u64 != run) {
            return Err(format!("run {run} did not measure each row once"));
        }
        let (took, left) = (disturbance.seconds, (runs - run) as f64 * disturbance.seconds);
        let others =
            if run < runs { format!(", about {left:.0} s are left") } else { String::new() };
        tell(format!("run {run} of {runs} took {took:.1} s{others}"));
        disturbances.push(disturbance);
    }
    Ok(Session { order, costs, runs: disturbances })
}

fn threads(count: usize) -> String {
    format!("{count} {}", if count == 1 { "thread" } else { "threads" })
}
