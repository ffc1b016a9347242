//! One run of the process: all rows in random order, again and again, so that a disturbance of the machine
//! affects no row more than another.

use super::check;
use super::plan::{LimitKey, PreparedCorpus, RowKey, RunOrder};
use super::stage::{Limit, Stage, StageInputs};
use super::stopwatch::TimedPass;
use super::subject::{Team, TestBytes, untouched};
use crate::corpus::Kind;
use crate::corpus::random::Rng;
use crate::counters::Counters;
use crate::machine::{Conditions, Topology};
use crate::placement::{Pin, Placement};
use serde::{Deserialize, Serialize};
use std::path::Path;
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile};
use uniqurl_formats::input::{self, Input};

/// All that one run measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The state of the machine when the run began.
    pub before: Conditions,
    /// The state when it ended.
    pub after: Conditions,
    /// The passes of each limit, in the order of [`RunOrder::limits`].
    pub limits: Vec<Vec<TimedPass>>,
    /// The passes of each row, in the order of [`RunOrder::rows`].
    pub rows: Vec<Vec<TimedPass>>,
}

/// A row or a limit, by its number in the order.
#[derive(Debug, Clone, Copy)]
enum Item {
    Limit(usize),
    Row(usize),
}

/// Measures as ordered. Calls `did` with the number of bytes after each pass.
pub fn measure(
    order: &RunOrder,
    counters: &mut Counters,
    did: &dyn Fn(u64),
) -> Result<RunResult, String> {
    let pin = Pin::named(&order.pin).ok_or("unknown kind of placement")?;
    let placement = Placement::new(pin, &Topology::here());
    let mut result = RunResult {
        before: Conditions::now(),
        after: Conditions::now(),
        limits: vec![Vec::new(); order.limits.len()],
        rows: vec![Vec::new(); order.rows.len()],
    };
    let mut rng = Rng::new(order.order_seed);
    let mut corpora: Vec<_> = order.corpora.iter().collect();
    shuffle(&mut corpora, &mut rng);
    for corpus in corpora {
        let mut bench = CorpusBench::new(order, corpus, &placement)?;
        for _ in 0..order.repeats {
            shuffle(&mut bench.items, &mut rng);
            for n in 0..bench.items.len() {
                let item = bench.items[n];
                let pass = bench.pass(item, counters)?;
                match item {
                    Item::Limit(n) => result.limits[n].push(pass),
                    Item::Row(n) => result.rows[n].push(pass),
                }
                did(corpus.info.bytes);
            }
        }
    }
    result.after = Conditions::now();
    Ok(result)
}

/// A corpus that is ready for its passes.
struct CorpusBench<'o> {
    order: &'o RunOrder,
    corpus: &'o PreparedCorpus,
    bytes: TestBytes,
    copy: Vec<u8>,
    file: Vec<Input>,
    packed: Vec<Input>,
    teams: Vec<Team>,
    items: Vec<Item>,
}

impl<'o> CorpusBench<'o> {
    fn new(
        order: &'o RunOrder,
        corpus: &'o PreparedCorpus,
        placement: &Placement,
    ) -> Result<Self, String> {
        let name = &corpus.info.name;
        let of_limits = order.limits.iter().enumerate().filter(|(_, key)| key.corpus == *name);
        let of_rows = order.rows.iter().enumerate().filter(|(_, key)| key.corpus == *name);
        let mut threads: Vec<usize> = of_limits.clone().map(|(_, key)| key.threads).collect();
        threads.extend(of_rows.clone().map(|(_, key)| key.threads));
        threads.sort_unstable();
        threads.dedup();
        let teams: Vec<_> = threads
            .iter()
            .map(|threads| Team::new(*threads, placement))
            .collect::<Result<_, _>>()?;
        let largest = teams.last().ok_or("nothing to measure")?;
        let kind = Kind::named(name).ok_or("unknown corpus")?;
        let bytes = TestBytes::read(kind, &corpus.file, corpus.info.bytes, largest)?;
        let mut copy = untouched(corpus.info.bytes)?;
        // Touches its pages, which would be a part of the first pass otherwise.
        largest.copy(&bytes.bytes, &mut copy);
        let items =
            of_limits.map(|(n, _)| Item::Limit(n)).chain(of_rows.map(|(n, _)| Item::Row(n)));
        let items = items.collect();
        Ok(Self {
            order,
            corpus,
            bytes,
            copy,
            file: inputs(std::slice::from_ref(&corpus.file))?,
            packed: inputs(&corpus.packed)?,
            teams,
            items,
        })
    }

    /// Does one row or limit once, and checks its answer.
    fn pass(&mut self, item: Item, counters: &mut Counters) -> Result<TimedPass, String> {
        let order = self.order;
        match item {
            Item::Limit(n) => self.limit(&order.limits[n], counters),
            Item::Row(n) => self.row(&order.rows[n], counters),
        }
    }

    fn limit(&mut self, key: &LimitKey, counters: &mut Counters) -> Result<TimedPass, String> {
        let LimitKey { corpus, limit, threads } = key;
        let kind = Limit::named(limit).ok_or("unknown limit")?;
        let team = self.teams.iter().find(|team| team.threads() == *threads);
        let team = team.ok_or("no such team")?;
        let (pass, answer) = kind.run(&self.bytes, team, &mut self.copy, counters);
        let right = (self.corpus.sum, self.corpus.info.records);
        check::check_limit(kind, &self.bytes.bytes, &self.copy, &answer, right)
            .map_err(|wrong| format!("{corpus}, {limit}, {threads} threads: {wrong}"))?;
        Ok(pass)
    }

    fn row(&self, key: &RowKey, counters: &mut Counters) -> Result<TimedPass, String> {
        let RowKey { corpus, profile, stage, backend, threads } = key;
        let kind = Stage::named(stage).ok_or("unknown stage")?;
        let rules = profile.parse::<Profile>().map_err(|_| "unknown profile")?;
        let scanner = backend.parse::<Backend>().map_err(|_| "unknown scanner")?;
        let team = self.teams.iter().find(|team| team.threads() == *threads);
        let prepared = self.corpus.profiles.iter().find(|prepared| prepared.name == *profile);
        let prepared = prepared.ok_or("a profile without answers")?;
        let inputs = StageInputs {
            bytes: &self.bytes,
            file: &self.file,
            packed: &self.packed,
            profile: prepared,
            directory: Path::new(&self.order.directory),
        };
        let normalizer = Normalizer::new(rules).with_backend(scanner);
        let result = kind.run(&inputs, &normalizer, team.ok_or("no such team")?, counters);
        result
            .and_then(|(pass, answer)| prepared.expected.check(kind, &answer).map(|()| pass))
            .map_err(|wrong| {
                format!("{corpus}, {profile}, {stage}, {backend}, {threads} threads: {wrong}")
            })
    }
}

fn inputs(paths: &[std::path::PathBuf]) -> Result<Vec<Input>, String> {
    let (inputs, errors) = input::check(paths);
    errors.first().map_or(Ok(inputs), |error| Err(error.to_string()))
}

/// Puts the items into a random order (Fisher and Yates).
fn shuffle<T>(items: &mut [T], rng: &mut Rng) {
    for n in (1..items.len()).rev() {
        items.swap(n, rng.below(n as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shuffle_keeps_all_items_and_depends_on_the_seed_alone() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            shuffle(&mut items, &mut Rng::new(seed));
            items
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let mut sorted = shuffled(3);
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..20));
    }
}
