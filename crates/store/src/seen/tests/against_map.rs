//! Random operations on a store and on a map.

use std::collections::BTreeMap;

use super::*;
use crate::test_util::cases;

/// For each key the number and the time of its add.
type KeyMap = BTreeMap<Vec<u8>, (u64, u64)>;

/// Operations; they add, remove or look up more than a million keys.
const STEPS: usize = 3_000;

/// Keys that are drawn from.
const UNIVERSE: u64 = 6_000;

fn key(number: u64) -> Vec<u8> {
    match number {
        0 => Vec::new(),
        n if n % 7 == 0 => format!("{:0width$}", n, width = n as usize % 500).into_bytes(),
        n => format!("https://host-{}.example/path/{n}", n % 11).into_bytes(),
    }
}

/// A directory in memory if there can be one: on a disk, syncs would take nearly all of the time.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Distinct keys in order: usually few, sometimes many.
fn draw(random: &mut Random) -> Vec<Vec<u8>> {
    let most = [5, 50, 3_500][random.below(3) as usize];
    let count = random.below(most);
    let mut keys: Vec<_> = (0..count).map(|_| key(random.below(UNIVERSE))).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn lines(map: &KeyMap, after: Option<u64>) -> String {
    let wanted = map.iter().filter(|(_, (add, _))| after.is_none_or(|after| *add > after));
    wanted.map(|(key, _)| String::from_utf8(key.clone()).unwrap() + "\n").collect()
}

fn assert_same(store: &SeenStore, map: &KeyMap) {
    assert_eq!(store.stats().keys, map.len() as u64);
    assert_eq!(exported(store, None), lines(map, None));
}

#[test]
fn a_store_answers_like_a_map_after_any_operations() {
    let directory = directory();
    let path = directory.path().join("store");
    let mut random = Random(1);
    let (mut map, mut next_add, mut time, mut keys_seen) = (KeyMap::new(), 1, 0, 0);
    let mut open = writer(&path);
    let mut reader = (SeenStore::open(&path).unwrap(), map.clone());
    for step in 0..cases(STEPS) {
        time += random.below(3);
        let memory = [0, 1 << 30][random.below(2) as usize];
        match random.below(32) {
            0..8 => {
                let keys = draw(&mut random);
                let novel = keys.iter().filter(|key| !map.contains_key(*key)).count() as u64;
                assert_eq!(add(&mut open, time, Novelty::Unknown, &keys), novel);
                keys_seen += keys.len();
                next_add += u64::from(!keys.is_empty());
                map.extend(keys.into_iter().map(|key| (key, (next_add - 1, time))));
            }
            8..14 => {
                let mut keys = draw(&mut random);
                keys.retain(|key| !map.contains_key(key));
                assert_eq!(add(&mut open, time, Novelty::AllNew, &keys), keys.len() as u64);
                keys_seen += keys.len();
                next_add += u64::from(!keys.is_empty());
                map.extend(keys.into_iter().map(|key| (key, (next_add - 1, time))));
            }
            14..19 => {
                let keys = draw(&mut random);
                let went = keys.iter().filter(|key| map.remove(*key).is_some()).count() as u64;
                assert_eq!(remove(&mut open, &keys), went);
                keys_seen += keys.len();
            }
            19..28 => {
                let keys = draw(&mut random);
                let since = [None, Some(time / 2), Some(time), Some(time + 1)];
                let since = since[random.below(4) as usize];
                let is_in = |key: &Vec<u8>| {
                    map.get(key).is_some_and(|(_, time)| since.is_none_or(|since| *time >= since))
                };
                let expected: Vec<bool> = keys.iter().map(is_in).collect();
                let answers = open.store().look_up(keys.as_slice(), since.map(UnixTime)).unwrap();
                assert!(answers == expected, "step {step}");
                keys_seen += keys.len();
            }
            28 => {
                let before = time.saturating_sub(random.below(60));
                let old: Vec<_> =
                    map.extract_if(.., |_, (_, time)| *time < before).map(drop).collect();
                let forgotten = changed(open.forget(UnixTime(before), memory));
                assert_eq!(forgotten, old.len() as u64, "step {step}");
            }
            29 => {
                if random.below(4) == 0 {
                    open.compact(memory).unwrap();
                    assert!(open.store().stats().runs.len() <= 1);
                }
            }
            30 => {
                drop(open);
                open = writer(&path);
            }
            _ => {
                assert_same(&reader.0, &reader.1);
                reader = (SeenStore::open(&path).unwrap(), map.clone());
                let after = random.below(next_add + 1);
                assert_eq!(exported(open.store(), Some(after)), lines(&map, Some(after)));
                open.store().verify().unwrap();
            }
        }
        assert_eq!(open.store().stats().keys, map.len() as u64, "step {step}");
    }
    assert_same(open.store(), &map);
    assert_same(&SeenStore::open(&path).unwrap(), &map);
    assert!(keys_seen >= 1_000_000 || cases(STEPS) < STEPS, "{keys_seen} keys");
}

#[test]
fn stats_tell_the_adds_of_each_run_after_merges() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(&directory.path().join("store"));
    for n in 1..=10u64 {
        // Each add has a key of its own, and one that all share.
        let keys = ["a".to_owned(), format!("b{n:02}")];
        assert_eq!(add(&mut writer, 100 * n, Novelty::Unknown, &keys), if n == 1 { 2 } else { 1 });
    }
    let stats = writer.store().stats();
    let [run] = stats.runs.as_slice() else { panic!("{stats:?}") };
    assert_eq!((stats.keys, run.keys, run.removed), (11, 11, 0));
    let adds = (1..=10).map(|number| AddStats {
        number,
        time: UnixTime(100 * number),
        keys: 1 + u64::from(number == 10),
    });
    assert_eq!(run.adds, adds.collect::<Vec<_>>());
    assert_eq!(exported(writer.store(), Some(8)), "a\nb09\nb10\n");
}

#[test]
fn to_forget_drops_whole_runs_and_rewrites_mixed_ones_alone() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(&directory.path().join("store"));
    add(&mut writer, 10, Novelty::AllNew, &["a", "b"]);
    add(&mut writer, 20, Novelty::AllNew, &["c"]);
    writer.compact(MEMORY).unwrap();
    add(&mut writer, 5, Novelty::AllNew, &["d"]);
    add(&mut writer, 30, Novelty::AllNew, &["e"]);
    let before = writer.store().stats().runs;
    assert_eq!(changed(writer.forget(UnixTime(11), MEMORY)), 3);
    let after = writer.store().stats().runs;
    assert_eq!(exported(writer.store(), None), "c\ne\n");
    assert_eq!(after.len(), 2);
    assert_eq!(after[1], before[2], "a run that keeps all of its keys is not written again");
    assert_eq!(names(writer.store().path()).len(), 4);
}

#[test]
fn an_older_entry_does_not_come_back_when_the_newest_is_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(&directory.path().join("store"));
    // The newer add has an earlier time: a clock went back.
    add(&mut writer, 50, Novelty::AllNew, &["a", "b"]);
    add(&mut writer, 10, Novelty::Unknown, &["a"]);
    assert_eq!(changed(writer.forget(UnixTime(20), MEMORY)), 1);
    assert_eq!(exported(writer.store(), None), "b\n");
    writer.store().verify().unwrap();
}

#[test]
fn the_bytes_of_an_export_depend_only_on_the_set() {
    let directory = tempfile::tempdir().unwrap();
    let keys: Vec<String> = (0..500).map(|n| format!("http://h/{n:03}")).collect();
    let mut one = writer(&directory.path().join("one"));
    add(&mut one, 1, Novelty::AllNew, &keys);
    let mut other = writer(&directory.path().join("other"));
    for part in keys.chunks(7).rev() {
        add(&mut other, 1, Novelty::Unknown, part);
        remove(&mut other, &part[..2]);
        add(&mut other, 2, Novelty::Unknown, part);
    }
    assert_eq!(exported(one.store(), None), exported(other.store(), None));
    assert_eq!(exported(one.store(), None), keys.join("\n") + "\n");
}

#[test]
fn a_store_may_have_more_runs_than_are_merged_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = writer(&directory.path().join("store"));
    let mut expected = Vec::new();
    for tier in [3, 2, 1, 0] {
        for n in 0..9 {
            let count = 10u64.pow(tier);
            let keys: Vec<_> = (0..count).map(|k| format!("{k:04}-{tier}-{n}")).collect();
            add(&mut writer, 1, Novelty::AllNew, &keys);
            expected.extend(keys);
        }
    }
    assert_eq!(writer.store().stats().runs.len(), 36);
    assert_eq!(remove(&mut writer, &["0000-0-0"]), 1);
    expected.retain(|key| key != "0000-0-0");
    expected.sort_unstable();
    writer.compact(0).unwrap();
    let stats = writer.store().verify().unwrap();
    assert_eq!((stats.runs.len(), stats.runs[0].removed), (1, 0));
    assert_eq!(exported(writer.store(), None), expected.join("\n") + "\n");
}
