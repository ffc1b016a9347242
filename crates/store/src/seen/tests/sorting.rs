//! Keys that are sorted before they are added.

use std::collections::BTreeSet;

use super::*;
use crate::test_util::cases;

/// Keeps the keys, and checks their order.
#[derive(Default)]
struct Collected(Vec<Vec<u8>>);

impl KeySink for Collected {
    fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        assert!(self.0.last().is_none_or(|last| last.as_slice() < key));
        self.0.push(key.to_vec());
        Ok(())
    }
}

#[test]
fn keys_are_sorted_and_distinct_in_any_memory() {
    let directory = tempfile::tempdir().unwrap();
    for memory in [0, 100 << 10, 1 << 30] {
        let mut random = Random(memory as u64);
        let mut sorter = KeySorter::new(memory, directory.path());
        let mut expected = BTreeSet::new();
        for _ in 0..cases(20_000) {
            let key = match random.below(100) {
                0 => "long".repeat(random.below(1_000) as usize),
                n => format!("http://host-{n}/{}", random.below(1_000)),
            };
            sorter.push(key.as_bytes()).unwrap();
            expected.insert(key.into_bytes());
        }
        let mut sorted = Collected::default();
        sorter.finish(&mut sorted).unwrap();
        assert!(sorted.0.iter().eq(&expected), "{memory}");
    }
}

#[test]
fn no_keys_are_sorted_too() {
    let mut sorted = Collected::default();
    KeySorter::new(0, Path::new("/nowhere")).finish(&mut sorted).unwrap();
    assert!(sorted.0.is_empty());
}

#[test]
fn a_temporary_file_that_cannot_be_made_is_an_error() {
    let mut sorter = KeySorter::new(0, Path::new("/nowhere"));
    let error = (0..10_000).find_map(|n| sorter.push(format!("{n}").as_bytes()).err());
    assert_eq!(error.expect("an error").path, Path::new("/nowhere"));
}
