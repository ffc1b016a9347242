//! Stores against plain sets in memory.

mod against_map;
mod failures;
mod killed;
mod openings;
mod sorting;

use std::path::Path;

use uniqurl::key::Key;
use uniqurl::{Normalizer, Profile};

use super::*;

/// Memory that merges all runs at once.
const MEMORY: usize = 1 << 30;

fn rules() -> StoreRules {
    StoreRules::of(&Normalizer::new(Profile::Crawl), Key::Url, None)
}

fn writer(path: &Path) -> SeenWriter {
    SeenWriter::create_or_open(path, &rules(), WhenBusy::Fail).unwrap()
}

/// Adds keys, which are in order, at this time, and returns the number of those that came.
fn add<K: AsRef<[u8]>>(writer: &mut SeenWriter, time: u64, novelty: Novelty, keys: &[K]) -> u64 {
    let mut run = writer.begin_add(UnixTime(time), novelty).unwrap();
    keys.iter().for_each(|key| run.push(key.as_ref()).unwrap());
    let run = run.finish().unwrap();
    changed(writer.commit(run, MEMORY))
}

/// The keys of a change after which nothing failed.
fn changed(done: Result<Changed, SeenStoreError>) -> u64 {
    let Changed { keys, warning } = done.unwrap();
    assert_eq!(warning, None);
    keys
}

/// Takes keys out, which are in order, and returns the number of those that went.
fn remove<K: AsRef<[u8]>>(writer: &mut SeenWriter, keys: &[K]) -> u64 {
    let mut run = writer.begin_removal().unwrap();
    keys.iter().for_each(|key| run.push(key.as_ref()).unwrap());
    let run = run.finish().unwrap();
    changed(writer.commit(run, MEMORY))
}

/// The export of a store.
fn exported(store: &SeenStore, after: Option<u64>) -> String {
    let mut out = Vec::new();
    let count = store.export(after, &mut out, Path::new("out")).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert_eq!(text.lines().count() as u64, count);
    text
}

/// The names in a directory, in order.
fn names(path: &Path) -> Vec<String> {
    let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

/// The same numbers in each run of the tests.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % end
    }
}
