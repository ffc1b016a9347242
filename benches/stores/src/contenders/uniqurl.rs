//! The seen store.

use std::path::{Path, PathBuf};

use rayon::{ThreadPool, ThreadPoolBuilder};
use uniqurl::{Key, Normalizer, Profile};
use uniqurl_store::seen::{
    KeySink, Novelty, SeenWriter, SortedKeys, StoreRules, UnixTime, WhenBusy,
};

use super::{Contender, Entry, Failure, MEMORY, THREADS, files_of};
use crate::feed::Feed;
use crate::keys::Batch;

/// Bytes of a packed block, about: 16 KiB of keys.
const BLOCK: usize = 5 << 10;

pub fn entry() -> Entry {
    Entry {
        name: "uniqurl",
        setup: "one add; merges are part of the adds".to_owned(),
        block: Some(BLOCK),
        create: |directory, _| Ok(Box::new(Seen::create(&directory.join("store"))?)),
    }
}

struct Seen {
    path: PathBuf,
    writer: SeenWriter,
    pool: ThreadPool,
}

impl Seen {
    fn create(path: &Path) -> Result<Self, Failure> {
        let rules = StoreRules::of(&Normalizer::new(&Profile::CRAWL), Key::Url);
        let writer = SeenWriter::create_or_open(path, &rules, WhenBusy::Fail)?;
        let pool = ThreadPoolBuilder::new().num_threads(THREADS).build()?;
        Ok(Self { path: path.to_owned(), writer, pool })
    }

    fn answers(&self, keys: &Batch) -> Result<Vec<bool>, Failure> {
        Ok(self.pool.install(|| self.writer.store().look_up(keys, None))?)
    }
}

impl Contender for Seen {
    fn build(&mut self, feed: &mut Feed) -> Result<(), Failure> {
        let mut run = self.writer.begin_add(UnixTime::now(), Novelty::AllNew)?;
        let mut batch = Batch::default();
        while feed.next(&mut batch) {
            for key in batch.iter() {
                run.push(key)?;
            }
        }
        let prepared = run.finish()?;
        let Self { writer, pool, .. } = self;
        pool.install(|| writer.commit(prepared, MEMORY))?;
        Ok(())
    }

    fn look_up(&self, keys: &Batch) -> Result<u64, Failure> {
        Ok(self.answers(keys)?.into_iter().filter(|seen| *seen).count() as u64)
    }

    fn add(&mut self, keys: &Batch) -> Result<u64, Failure> {
        let seen = self.answers(keys)?;
        let mut run = self.writer.begin_add(UnixTime::now(), Novelty::AllNew)?;
        for index in (0..keys.len()).filter(|index| !seen[*index]) {
            run.push(keys.get(index))?;
        }
        let prepared = run.finish()?;
        let Self { writer, pool, .. } = self;
        Ok(pool.install(|| writer.commit(prepared, MEMORY))?)
    }

    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        files_of(&self.path)
    }
}
