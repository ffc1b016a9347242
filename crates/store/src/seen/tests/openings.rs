//! Stores that are opened: by several, or that are none.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use super::manifest::Manifest;
use super::*;
use uniqurl::Switch;

#[test]
fn a_reader_answers_as_of_its_start_after_the_runs_were_merged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    add(&mut open, 1, Novelty::AllNew, &["a", "b"]);
    add(&mut open, 2, Novelty::AllNew, &["c"]);
    let reader = SeenStore::open(&path).unwrap();
    remove(&mut open, &["a"]);
    add(&mut open, 3, Novelty::AllNew, &["d"]);
    open.compact(MEMORY).unwrap();
    assert_eq!(exported(open.store(), None), "b\nc\nd\n");
    assert_eq!(exported(&reader, None), "a\nb\nc\n");
    let answers = reader.look_up(["a", "b", "c", "d"].as_slice(), None).unwrap();
    assert_eq!(answers, [true, true, true, false]);
    reader.verify().unwrap();
}

#[test]
fn a_store_can_be_opened_at_any_time_while_runs_are_merged() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    let (is_done, openings) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut last = 0;
            while !is_done.load(Ordering::Relaxed) {
                let store = SeenStore::open(&path).unwrap();
                let keys = store.verify().unwrap().keys;
                assert!(keys >= last, "{keys} after {last}");
                last = keys;
                openings.fetch_add(1, Ordering::Relaxed);
            }
        });
        let until = |n| n >= 100 && openings.load(Ordering::Relaxed) >= 10;
        for n in (0..).take_while(|n| !until(*n)) {
            add(&mut open, n, Novelty::AllNew, &[format!("{n:06}")]);
            if n % 3 == 0 {
                open.compact(MEMORY).unwrap();
            }
        }
        is_done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_second_writer_fails_or_waits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut first = writer(&path);
    for second in [
        SeenWriter::open(&path, WhenBusy::Fail),
        SeenWriter::create_or_open(&path, &rules(), WhenBusy::Fail),
    ] {
        let error = second.unwrap_err();
        assert!(matches!(error.problem, SeenStoreProblem::Busy), "{error}");
        assert_eq!(error.path, path);
    }
    thread::scope(|scope| {
        let second = scope.spawn(|| {
            let second = SeenWriter::open(&path, WhenBusy::Wait).unwrap();
            exported(second.store(), None)
        });
        add(&mut first, 1, Novelty::AllNew, &["a"]);
        drop(first);
        assert_eq!(second.join().unwrap(), "a\n");
    });
}

#[test]
fn a_prepared_run_keeps_other_writers_out_and_fits_one_state_only() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut first = writer(&path);
    let mut run = first.begin_add(UnixTime(1), Novelty::AllNew).unwrap();
    run.push(b"a").unwrap();
    let prepared = run.finish().unwrap();
    assert!(first.begin_add(UnixTime(1), Novelty::AllNew).is_err());
    assert!(names(&path).contains(&"run-0000000001".to_owned()));
    assert_eq!(changed(first.commit(prepared, MEMORY)), 1);

    let mut run = first.begin_add(UnixTime(1), Novelty::AllNew).unwrap();
    run.push(b"b").unwrap();
    let prepared = run.finish().unwrap();
    drop(first);
    let error = SeenWriter::open(&path, WhenBusy::Fail).unwrap_err();
    assert!(matches!(error.problem, SeenStoreProblem::Busy), "{error}");
    let mut other = writer(&directory.path().join("other"));
    add(&mut other, 1, Novelty::AllNew, &["x"]);
    assert!(other.commit(prepared, MEMORY).is_err());
    assert_eq!(exported(other.store(), None), "x\n");
    assert_eq!(exported(writer(&path).store(), None), "a\n");
}

#[test]
fn a_path_that_is_no_store_is_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("file"), "").unwrap();
    fs::create_dir(path.join("full")).unwrap();
    fs::write(path.join("full/notes"), "").unwrap();
    fs::create_dir(path.join("other")).unwrap();
    fs::write(path.join("other/manifest"), "Manifest-Version: 1.0\n").unwrap();
    for name in ["missing", "file", "file/store", "full", "other"] {
        let path = path.join(name);
        let is_missing = matches!(name, "missing" | "file/store");
        for error in [
            SeenStore::open(&path).unwrap_err(),
            SeenWriter::open(&path, WhenBusy::Fail).unwrap_err(),
        ] {
            match error.problem {
                SeenStoreProblem::Missing => assert!(is_missing, "{error}"),
                SeenStoreProblem::NotAStore => assert!(!is_missing, "{error}"),
                _ => panic!("{error}"),
            }
        }
    }
    for name in ["file", "full", "other"] {
        let path = path.join(name);
        let error = SeenWriter::create_or_open(&path, &rules(), WhenBusy::Fail).unwrap_err();
        assert!(matches!(error.problem, SeenStoreProblem::NotAStore), "{error}");
    }
    assert_eq!(names(path), ["file", "full", "other"]);
    assert_eq!(names(&path.join("full")), ["notes"]);
}

#[test]
fn other_rules_are_refused_with_the_difference() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    drop(writer(&path));
    let other = Normalizer::new(Profile::Crawl).with_switches([Switch::StripWww]).unwrap();
    let other = StoreRules::of(&other, Key::Url, None);
    let error = SeenWriter::create_or_open(&path, &other, WhenBusy::Fail).unwrap_err();
    let expected = format!(
        "{}: its rules are `crawl@1`, and those of this run are `crawl@1 with=strip-www`",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    assert!(SeenStore::open(&path).unwrap().check_rules(&other).is_err());
    let open = SeenWriter::open(&path, WhenBusy::Fail).unwrap();
    assert_eq!(*open.store().rules(), rules());
}

#[test]
fn a_run_that_is_lost_or_damaged_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    add(&mut writer(&path), 1, Novelty::AllNew, &["a", "b"]);
    let run = path.join("run-0000000001");
    let bytes = fs::read(&run).unwrap();
    fs::remove_file(&run).unwrap();
    assert_eq!(SeenStore::open(&path).unwrap_err().path, run);
    fs::write(&run, &bytes[1..]).unwrap();
    assert_eq!(SeenStore::open(&path).unwrap_err().path, run);
}

#[test]
fn a_wrong_number_of_keys_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let mut open = writer(&path);
    add(&mut open, 1, Novelty::AllNew, &["a", "b"]);
    remove(&mut open, &["a"]);
    drop(open);
    SeenStore::open(&path).unwrap().verify().unwrap();
    let (mut manifest, _) = Manifest::read(&path).unwrap();
    manifest.keys = 2;
    fs::write(path.join("manifest"), manifest.to_bytes().unwrap()).unwrap();
    let error = SeenStore::open(&path).unwrap().verify().unwrap_err().to_string();
    assert!(error.ends_with("damaged: it says 2 keys, and the runs hold 1"), "{error}");
}
