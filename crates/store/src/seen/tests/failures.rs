//! Changes that fail: an error means that nothing is changed, and nothing that fails later is an error.

use std::fs;

use super::*;

/// Keys of adds of one key each, in order.
fn key(n: u64) -> [String; 1] {
    [format!("{n:03}")]
}

fn prepared(writer: &SeenWriter, key: &[u8]) -> Result<PreparedRun, SeenStoreError> {
    let mut run = writer.begin_add(UnixTime(1), Novelty::AllNew).unwrap();
    run.push(key).unwrap();
    run.finish()
}

#[test]
fn a_merge_that_fails_is_a_warning_after_the_add_and_the_next_add_merges() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    for n in 0..9 {
        add(&mut open, n, Novelty::AllNew, &key(n));
    }
    // The file of the merged run cannot be made.
    let taken = "run-0000000011";
    fs::write(path.join(taken), "").unwrap();
    let run = prepared(&open, b"009").unwrap();
    let Changed { keys, warning } = open.commit(run, MEMORY).unwrap();
    let warning = warning.expect("a warning");
    assert!(keys == 1 && warning.contains(taken) && warning.contains("is changed"), "{warning}");
    for store in [open.store(), &SeenStore::open(&path).unwrap()] {
        let stats = store.stats();
        assert_eq!((stats.keys, stats.runs.len()), (10, 10));
        store.verify().unwrap();
    }
    drop(open);
    let mut open = writer(&path);
    assert_eq!(add(&mut open, 10, Novelty::AllNew, &key(10)), 1);
    assert_eq!((open.store().stats().keys, open.store().stats().runs.len()), (11, 1));
    assert_eq!(names(&path), ["lock", "manifest", "run-0000000012"]);
}

#[test]
fn the_manifest_of_a_change_is_written_before_the_change_happens() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    let run = prepared(&open, b"a").unwrap();
    let waiting = fs::read(path.join("manifest.new")).unwrap();
    assert_eq!(exported(&SeenStore::open(&path).unwrap(), None), "");
    assert_eq!(changed(open.commit(run, MEMORY)), 1);
    assert_eq!(fs::read(path.join("manifest")).unwrap(), waiting);
}

#[test]
fn a_manifest_that_cannot_be_written_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    add(&mut open, 1, Novelty::AllNew, &["a"]);
    let before = fs::read(path.join("manifest")).unwrap();
    fs::create_dir(path.join("manifest.new")).unwrap();
    assert_eq!(prepared(&open, b"b").unwrap_err().path, path.join("manifest.new"));
    fs::remove_dir(path.join("manifest.new")).unwrap();
    assert_eq!(names(&path), ["lock", "manifest", "run-0000000001"]);
    assert_eq!(fs::read(path.join("manifest")).unwrap(), before);
    assert_eq!(add(&mut open, 2, Novelty::AllNew, &["b"]), 1);
}

#[test]
fn a_prepared_run_does_not_undo_what_happened_since() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    add(&mut open, 1, Novelty::AllNew, &["a"]);
    let run = prepared(&open, b"b").unwrap();
    // It makes no run, so it does not meet the one that is prepared.
    assert_eq!(changed(open.forget(UnixTime(2), MEMORY)), 1);
    assert!(open.commit(run, MEMORY).is_err());
    assert_eq!(exported(open.store(), None), "");
    assert_eq!(names(&path), ["lock", "manifest"]);
}
