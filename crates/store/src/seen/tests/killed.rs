//! The states in which a killed writer leaves a store.

use std::collections::BTreeMap;
use std::fs;

use super::*;

/// The files of a store, by name.
type Files = BTreeMap<String, Vec<u8>>;

fn read(path: &Path) -> Files {
    let read = |name: String| (name.clone(), fs::read(path.join(&name)).unwrap());
    names(path).into_iter().map(read).collect()
}

fn write(path: &Path, files: &Files) {
    let _ = fs::remove_dir_all(path);
    fs::create_dir(path).unwrap();
    files.iter().for_each(|(name, bytes)| fs::write(path.join(name), bytes).unwrap());
}

/// The states between two, in the order that a writer goes through them, each with whether the change has
/// happened.
fn states(before: &Files, after: &Files) -> Vec<(Files, bool)> {
    let mut states = vec![(before.clone(), false)];
    let mut files = before.clone();
    let mut put_by_parts = |files: &mut Files, name: &str, bytes: &[u8]| {
        for length in [0, 1, bytes.len() / 2, bytes.len() - 1, bytes.len()] {
            files.insert(name.to_owned(), bytes[..length].to_vec());
            states.push((files.clone(), false));
        }
    };
    for (name, bytes) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        put_by_parts(&mut files, name, bytes);
    }
    put_by_parts(&mut files, "manifest.new", &after["manifest"]);
    let manifest = files.remove("manifest.new").unwrap();
    files.insert("manifest".to_owned(), manifest);
    states.push((files.clone(), true));
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        files.remove(name);
        states.push((files.clone(), true));
    }
    assert_eq!(files, *after);
    states
}

/// Checks that a change leaves the store as it was before or after, wherever the writer is killed, and that the
/// change can be made then.
fn assert_survives(make: impl FnOnce(&mut SeenWriter), change: impl Fn(&mut SeenWriter)) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    make(&mut open);
    let before = (read(&path), exported(open.store(), None));
    change(&mut open);
    let after = (read(&path), exported(open.store(), None));
    drop(open);
    for (n, (files, is_changed)) in states(&before.0, &after.0).iter().enumerate() {
        write(&path, files);
        let expected = if *is_changed { &after } else { &before };
        let reader = SeenStore::open(&path).unwrap();
        assert_eq!(exported(&reader, None), expected.1, "state {n}");
        let mut open = writer(&path);
        assert_eq!(exported(open.store(), None), expected.1, "state {n}");
        assert_eq!(read(&path), expected.0, "state {n}: orphans are removed");
        open.store().verify().unwrap();
        if !is_changed {
            change(&mut open);
            assert_eq!(exported(open.store(), None), after.1, "state {n}");
        }
        assert_eq!(exported(&reader, None), expected.1, "state {n}");
    }
}

fn make(writer: &mut SeenWriter) {
    add(writer, 10, Novelty::AllNew, &["a", "b", "c"]);
    add(writer, 20, Novelty::AllNew, &["d", "e"]);
}

#[test]
fn an_add_of_a_killed_writer_happened_or_not() {
    assert_survives(make, |writer| {
        add(writer, 30, Novelty::Unknown, &["b", "f"]);
    });
}

#[test]
fn a_removal_of_a_killed_writer_happened_or_not() {
    assert_survives(make, |writer| {
        remove(writer, &["b", "x"]);
    });
}

#[test]
fn a_merge_of_a_killed_writer_changes_no_key() {
    assert_survives(
        |writer| {
            make(writer);
            remove(writer, &["b", "d"]);
        },
        |writer| writer.compact(MEMORY).unwrap(),
    );
}

#[test]
fn a_killed_writer_forgot_all_old_keys_or_none() {
    assert_survives(
        |writer| {
            make(writer);
            writer.compact(MEMORY).unwrap();
            add(writer, 10, Novelty::AllNew, &["f"]);
            add(writer, 30, Novelty::AllNew, &["g"]);
        },
        |writer| {
            changed(writer.forget(UnixTime(15), MEMORY));
        },
    );
}

#[test]
fn a_store_that_was_not_finished_is_made_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    drop(writer(&path));
    let made = read(&path);
    let unfinished = |names: &[(&str, usize)]| -> Files {
        let of = |(name, length): &(&str, usize)| {
            ((*name).to_owned(), made["manifest"][..*length].to_vec())
        };
        names.iter().map(of).collect()
    };
    let all = made["manifest"].len();
    let new = "manifest.new";
    for names in [&[][..], &[("lock", 0)], &[("lock", 0), (new, 0)], &[("lock", 0), (new, all)]] {
        write(&path, &unfinished(names));
        let error = SeenStore::open(&path).unwrap_err();
        assert!(matches!(error.problem, SeenStoreProblem::NotAStore), "{error}");
        assert_eq!(exported(writer(&path).store(), None), "");
        assert_eq!(read(&path), made);
    }
}

#[test]
fn a_run_that_is_dropped_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    make(&mut open);
    let before = read(&path);
    let mut run = open.begin_add(UnixTime(1), Novelty::AllNew).unwrap();
    run.push(b"x").unwrap();
    drop(run);
    assert_eq!(read(&path), before);
    let mut run = open.begin_add(UnixTime(1), Novelty::Unknown).unwrap();
    run.push(b"x").unwrap();
    let prepared = run.finish().unwrap();
    assert_ne!(read(&path), before);
    drop(prepared);
    assert_eq!(read(&path), before);
    // Nor does one without entries.
    let mut run = open.begin_removal().unwrap();
    run.push(b"x").unwrap();
    let prepared = run.finish().unwrap();
    assert_eq!(changed(open.commit(prepared, MEMORY)), 0);
    assert_eq!(add::<&str>(&mut open, 1, Novelty::AllNew, &[]), 0);
    assert_eq!(read(&path), before);
}

#[test]
fn a_store_whose_keys_are_all_removed_is_empty() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    make(&mut open);
    assert_eq!(remove(&mut open, &["a", "b", "c", "d", "e"]), 5);
    open.compact(MEMORY).unwrap();
    assert_eq!(names(&path), ["lock", "manifest"]);
    make(&mut open);
    assert_eq!(changed(open.forget(UnixTime(100), MEMORY)), 5);
    assert_eq!(names(&path), ["lock", "manifest"]);
    assert_eq!(add(&mut open, 1, Novelty::Unknown, &["a"]), 1);
    assert_eq!(open.store().stats().runs[0].adds[0].number, 5, "numbers are not used again");
}
