//! One run of the process: each corpus with its rows in random order, so that a disturbance of the machine affects no
//! row more than another.

use super::order::{PreparedCorpus, RunOrder};
use super::passes::Subject;
use super::subject::{Team, TestBytes, untouched};
use super::work::Work;
use crate::corpus::Kind;
use crate::corpus::random::Rng;
use crate::counters::{Cost, Counters};
use crate::machine::{Disturbance, RunStart};
use uniqurl_formats::input::{self, Input};

/// Measures as ordered. Tells the cost of each row, by its number in [`RunOrder::rows`].
pub fn measure(
    order: &RunOrder,
    counters: &mut Counters,
    tell: &dyn Fn(usize, Cost),
) -> Result<Disturbance, String> {
    let start = RunStart::now();
    let rows = order.rows();
    let mut rng = Rng::new(order.run);
    let mut corpora: Vec<_> = order.corpora.iter().collect();
    shuffle(&mut corpora, &mut rng);
    // Threads that live for the whole run: a pass does not pay for their start.
    let teams = order.threads.iter().map(|threads| Team::new(*threads));
    let teams = teams.collect::<Result<Vec<_>, _>>()?;
    let largest = teams.last().ok_or("nothing to measure")?;
    for corpus in corpora {
        let (bytes, mut copy, file) = load(corpus, largest)?;
        let of_corpus = rows.iter().enumerate().filter(|(_, row)| row.corpus == corpus.info.name);
        let mut of_corpus: Vec<_> = of_corpus.collect();
        shuffle(&mut of_corpus, &mut rng);
        for (n, row) in of_corpus {
            let team = teams.iter().find(|team| team.threads() == row.threads);
            let team = team.ok_or("no such team")?;
            let mut subject = Subject { bytes: &bytes, file: &file, copy: &mut copy, team };
            let passes = 0..passes(row.work, corpus.info.bytes);
            let costs = passes.map(|_| subject.pass(row.work, &corpus.expected, counters));
            let costs = costs.collect::<Result<Vec<_>, _>>().map_err(|wrong| {
                format!("{}, {}, {} threads: {wrong}", row.corpus, row.work, row.threads)
            })?;
            // Others only make a pass slower.
            let fastest = costs.into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
            tell(n, fastest.ok_or("no pass")?);
        }
    }
    Ok(start.disturbance())
}

/// How often a run works on a corpus of this size.
fn passes(work: Work, bytes: u64) -> u64 {
    // What takes milliseconds may fall into a disturbance as a whole, so it is done several times; the rest, which is
    // most of the time, once. The number depends on the size and not on the time that a pass takes: otherwise the slower
    // of two programs would get fewer passes.
    const SMALL: u64 = 64 << 20;
    const OF_LIMITS: u64 = 768 << 20;
    match work.is_limit() {
        true => (OF_LIMITS / bytes.max(1)).clamp(3, 50),
        false if bytes < SMALL => 5,
        false => 1,
    }
}

fn load(corpus: &PreparedCorpus, team: &Team) -> Result<(TestBytes, Vec<u8>, Vec<Input>), String> {
    let kind = Kind::named(&corpus.info.name).ok_or("unknown corpus")?;
    let bytes = TestBytes::read(kind, &corpus.file, corpus.info.bytes, team)?;
    let mut copy = untouched(corpus.info.bytes)?;
    // Touches its pages, which would be a part of the first pass otherwise.
    team.copy(&bytes.bytes, &mut copy);
    let (inputs, errors) = input::check(std::slice::from_ref(&corpus.file));
    errors.first().map_or(Ok((bytes, copy, inputs)), |error| Err(error.to_string()))
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
    use crate::measure::prepare;
    use std::cell::RefCell;

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

    #[test]
    fn limits_and_small_corpora_get_more_passes() {
        let of = |work| [1, 32 << 20, 256 << 20].map(|bytes| passes(work, bytes));
        assert_eq!(of(Work::MemoryRead), [50, 24, 3]);
        assert_eq!(of(Work::Dedup), [5, 5, 1]);
    }

    #[test]
    fn each_row_of_each_corpus_is_measured_once_and_its_answer_is_right() {
        let directory = tempfile::tempdir().expect("made");
        let corpora = prepare::corpora(&Kind::ALL, 200_000, directory.path()).expect("drawn");
        let mut order = RunOrder { run: 1, threads: vec![1, 3], corpora };
        let told = RefCell::new(Vec::new());
        let tell = |n, _| told.borrow_mut().push(n);
        measure(&order, &mut Counters::open(), &tell).expect("right answers");
        let mut told = told.into_inner();
        assert!(!told.is_sorted());
        told.sort_unstable();
        assert!(told.into_iter().eq(0..order.rows().len()));

        order.corpora[0].expected.distinct += 1;
        let error = measure(&order, &mut Counters::open(), &|_, _| ()).expect_err("wrong");
        assert!(error.starts_with("clean, ") && error.contains("distinct: "), "{error}");
    }
}
