//! Measures one store.

use std::path::Path;

use uniqurl_store::seen::SortedKeys;

use crate::clock::{Clock, Seconds};
use crate::contenders::{Contender, Entry, Failure};
use crate::feed::Feed;
use crate::keys::{BATCH, Keys};
use crate::pread::Blocks;

/// Batches that are looked up, of each kind.
const ROUNDS: u64 = 5;

/// No more adds are begun after this time: some stores would take hours.
const ADDING: f64 = 240.0;

/// The figures of a store.
pub struct Measured {
    pub entry: Entry,
    /// Making and sorting the keys.
    pub sort: Seconds,
    /// Building the store from sorted keys.
    pub build: Seconds,
    pub bytes: u64,
    pub half_new: LookUps,
    pub none_new: LookUps,
    pub adds: Vec<Seconds>,
    /// Work that the adds left.
    pub settle: Seconds,
    /// Reading the blocks that a batch touches, and these.
    pub pread: Option<(Seconds, Blocks)>,
}

/// Look-ups of one kind.
pub struct LookUps {
    pub keys: u64,
    pub time: Seconds,
}

pub fn measure(entry: Entry, keys: Keys, directory: &Path) -> Result<Measured, Failure> {
    // Goes when this function ends, with all that the store wrote.
    let directory = tempfile::Builder::new().prefix("bench-seen-").tempdir_in(directory)?;
    let mut store = (entry.create)(directory.path(), keys.built + keys.adds * BATCH)?;
    let (sort, build) = build(store.as_mut(), keys, directory.path())?;
    eprintln!("  built in {:.1} s, after {:.1} s of sorting", build.wall, sort.wall);
    let files = store.files()?;
    let bytes = files.iter().map(|file| Ok(file.metadata()?.len())).sum::<Result<_, Failure>>()?;
    let half_new = look_ups(store.as_ref(), keys, true)?;
    let none_new = look_ups(store.as_ref(), keys, false)?;
    let pread = match entry.block {
        Some(size) => {
            let blocks = Blocks::draw(&files, size, BATCH / 2)?;
            Some((blocks.read()?, blocks))
        }
        None => None,
    };
    eprintln!("  {:.0} look-ups a second", half_new.keys as f64 / half_new.time.wall);
    let mut adds = Vec::new();
    for add in 0..keys.adds {
        let batch = keys.added(add);
        let clock = Clock::start();
        let added = store.add(&batch)?;
        adds.push(clock.elapsed());
        expect(added, batch.len() as u64, "added")?;
        if adds.iter().map(|add| add.wall).sum::<f64>() > ADDING {
            break;
        }
    }
    let clock = Clock::start();
    store.settle()?;
    let settle = clock.elapsed();
    Ok(Measured { entry, sort, build, bytes, half_new, none_new, adds, settle, pread })
}

fn build(
    store: &mut dyn Contender,
    keys: Keys,
    directory: &Path,
) -> Result<(Seconds, Seconds), Failure> {
    let clock = Clock::start();
    let mut feed = Feed::start(keys, directory);
    let built = store.build(&mut feed);
    let all = clock.elapsed();
    // The error of the store comes first: the feed fails because of it.
    let sort = feed.finish();
    built?;
    let sort = sort?;
    Ok((sort, all - sort))
}

fn look_ups(store: &dyn Contender, keys: Keys, half_new: bool) -> Result<LookUps, Failure> {
    let mut sum = LookUps { keys: 0, time: Seconds::default() };
    for round in 0..ROUNDS {
        let (batch, known) = keys.asked(round, half_new);
        let clock = Clock::start();
        let found = store.look_up(&batch)?;
        sum.time += clock.elapsed();
        sum.keys += batch.len() as u64;
        expect(found, known, "found")?;
    }
    Ok(sum)
}

/// A store that answers wrongly is not measured.
fn expect(number: u64, expected: u64, verb: &str) -> Result<(), Failure> {
    if number == expected {
        Ok(())
    } else {
        Err(format!("{verb} {number} keys, not {expected}").into())
    }
}
