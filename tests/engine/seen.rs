//! Runs beyond their memory, stores from before a run, and the keys that a run pushes to one.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;

use uniqurl::{Key, Normalizer, Profile};
use uniqurl_engine::output::Field;
use uniqurl_engine::{Dedup, Keep, RunError, SeenBefore};
use uniqurl_store::seen::{
    KeySink, Novelty, SeenStore, SeenWriter, StoreRules, UnixTime, WhenBusy,
};

use crate::runs::{
    FIRST, ORDERS, Takes, checked, limit, memory, plan_of, ran_for, ran_into, ran_on, stream,
};

/// Adds keys to the store in a directory, which is made if it is not there.
fn add(store: &Path, time: u64, keys: &BTreeSet<String>) {
    let rules = StoreRules::of(&Normalizer::new(Profile::Crawl), Key::Url, None);
    let mut writer = SeenWriter::create_or_open(store, &rules, WhenBusy::Fail).unwrap();
    let mut run = writer.begin_add(UnixTime(time), Novelty::Unknown).unwrap();
    keys.iter().for_each(|key| run.push(key.as_bytes()).unwrap());
    let run = run.finish().unwrap();
    assert_eq!(writer.commit(run, 1 << 20).unwrap().warning, None);
}

fn before(store: &Path, since: Option<u64>) -> SeenBefore {
    let store = Arc::new(SeenStore::open(store).unwrap());
    SeenBefore { store, since: since.map(UnixTime) }
}

fn url(key: u16) -> String {
    // Some keys are longer than a block of a store or of a spilled file.
    let length = if key % 61 == 7 { 4_000 } else { usize::from(key % 60) };
    format!("http://h/{key}{}", "/long".repeat(length))
}

#[derive(Debug, Clone)]
struct Case {
    /// Number of a key, and how it is written.
    records: Vec<(u16, u8)>,
    /// The keys of the list, of the first store, and of the second: an old add and a new one.
    seen: [Vec<u16>; 4],
    are_stores: bool,
    dedup: Dedup,
    key: Key,
    keep: Keep,
    fields: Vec<Field>,
    takes: Takes,
    budget: Option<u64>,
    threads: usize,
    chunk_size: usize,
}

prop_compose! {
    fn cases()(
        keys in 1u16..900,
        records in prop::collection::vec((0u16..900, 0u8..12), 1..2000),
        seen in prop::array::uniform4(prop::collection::vec(0u16..900, 0..200)),
        key in prop::option::of(prop::sample::select(Key::ALL)),
        (order, takes) in (
            prop::sample::select(&ORDERS[..]),
            prop::sample::select(vec![Takes::Output, Takes::Rejects, Takes::Keys]),
        ),
        (count, min_count, limit) in
            (any::<bool>(), 1u64..4, prop::option::weighted(0.3, 0u64..900)),
        keep in prop::sample::select(vec![Keep::First, Keep::Last]),
        fields in prop::sample::select(vec![
            vec![],
            vec![Field::Canonical, Field::First, Field::Original],
            vec![Field::Canonical, Field::Count, Field::Host, Field::Count, Field::First],
        ]),
        // From nothing to almost enough.
        budget in prop::option::weighted(0.8, prop::sample::select(vec![
            0, 100_000, 400_000, 800_000, 1_500_000, 3_000_000,
        ])),
        threads in 1usize..6,
        chunk_size in prop::sample::select(vec![100, 4_000, 200_000]),
    ) -> Case {
        let records = records.into_iter().map(|(key, form)| (key % keys, form)).collect();
        let dedup = Dedup { order, count: count && fields.is_empty(), min_count, limit };
        let keep = if fields.is_empty() { Keep::First } else { keep };
        // The stores of these tests hold URLs.
        let (are_stores, key) = (key.is_none(), key.unwrap_or(Key::Url));
        Case {
            records, seen, are_stores, dedup, key, keep, fields, takes, budget, threads, chunk_size,
        }
    }
}

fn line((key, form): &(u16, u8)) -> String {
    match form {
        0 => " \t\n".to_owned(),
        1 => format!("no url {key}\n"),
        2..6 => format!("{}\n", url(*key).replacen("http://h", "HTTP://H:80", 1)),
        _ => format!("{}\n", url(*key)),
    }
}

/// A run in memory with lists of seen URLs is the same as one with a budget, with stores of the
/// same keys, or with both. It pushes the keys that it writes.
fn assert_budget_and_stores_change_nothing(case: &Case) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let write = |name: &str, text: String| std::fs::write(path(name), text).unwrap();
    let text = |keys: &BTreeSet<String>| keys.iter().map(|key| format!("{key}\n")).collect();
    let [of_list, of_first, old, new] =
        case.seen.each_ref().map(|keys| keys.iter().map(|key| url(*key)).collect());
    write("list", text(&of_list));
    write("stores", text(&(&of_first | &new)));
    // Two files, one of them given twice, and one without a record.
    let (one, other) = case.records.split_at(case.records.len() / 3);
    write("a", one.iter().map(line).collect());
    write("b", other.iter().map(line).collect());
    write("empty", String::new());
    let inputs = checked(&["a", "empty", "b", "a"].map(path));
    let mut plan = plan_of("lines", case.dedup);
    (plan.policy.key, plan.policy.keep) = (case.key, case.keep.clone());
    plan.output.fields.clone_from(&case.fields);
    plan.input.seen = checked(&["list", "stores"].map(path));
    limit(&mut plan, 1, 4_000, None);
    let expected = ran_for(&plan, &inputs, case.takes).unwrap();
    assert_eq!(expected.report.spilled.written, 0);
    if case.are_stores {
        add(&path("first"), 1, &of_first);
        add(&path("second"), 1, &old);
        add(&path("second"), 5, &new);
        plan.input.seen.pop();
        plan.input.stores = vec![before(&path("first"), None), before(&path("second"), Some(5))];
    }
    limit(&mut plan, case.threads, case.chunk_size, None);
    std::fs::create_dir(path("spill")).unwrap();
    plan.limits.memory = case.budget.map(|budget| memory(budget, &path("spill")));
    let found = ran_for(&plan, &inputs, case.takes).unwrap();
    found.assert_same(&expected, case);
    assert_eq!(std::fs::read_dir(path("spill")).unwrap().count(), 0, "nothing is left behind");
    let is_whole = (case.dedup.min_count, case.dedup.limit) == (1, None) && case.fields.is_empty();
    let fits = found.out.len() as u64 <= case.budget.unwrap_or(u64::MAX);
    assert!(fits || !is_whole || found.report.spilled.written > 0, "{case:?}");
    if (case.key, case.takes) == (Key::Url, Takes::Keys) {
        let column = usize::from(case.dedup.count);
        let lines = found.text().lines();
        let written: BTreeSet<_> =
            lines.map(|line| line.split('\t').nth(column).unwrap().as_bytes()).collect();
        assert!(found.keys.0.iter().map(Vec::as_slice).eq(written), "{case:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Law 7 over memory.
    #[test]
    fn neither_a_budget_nor_stores_in_place_of_lists_change_a_result(case in cases()) {
        assert_budget_and_stores_change_nothing(&case);
    }
}

#[test]
fn damaged_store_ends_the_run_with_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let keys: BTreeSet<_> = (0..2_000).map(|n| format!("http://h/{n}")).collect();
    add(&path, 1, &keys);
    let mut plan = plan_of("lines", FIRST);
    plan.input.stores = vec![before(&path, None)];
    let run_file = std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
    let run_file = run_file.max_by_key(|path| std::fs::metadata(path).unwrap().len()).unwrap();
    let mut bytes = std::fs::read(&run_file).unwrap();
    bytes[100] ^= 1;
    // In place: the store is open.
    std::fs::write(&run_file, bytes).unwrap();
    let list: String = keys.iter().map(|key| format!("{key}\n")).collect();
    match ran_on(&plan, list.as_bytes()).result {
        Err(RunError::Store(error)) => assert_eq!(error.path, run_file),
        other => panic!("{other:?}"),
    }
}

/// Records of a slow pipe are written before the run waits for more.
#[cfg(target_os = "linux")]
#[test]
fn records_of_a_slow_pipe_do_not_wait_for_a_full_window() {
    use std::io::{self, Write};
    use std::os::fd::AsRawFd;
    use std::sync::mpsc::channel;

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    add(&path, 1, &["http://h/1".to_owned()].into());
    let mut plan = plan_of("lines", FIRST);
    plan.input.stores = vec![before(&path, None)];
    let (reader, mut writer) = io::pipe().unwrap();
    let inputs = stream(Path::new(&format!("/proc/self/fd/{}", reader.as_raw_fd())));
    let (sender, shown) = channel();
    let running = std::thread::spawn(move || {
        ran_into(&plan, &inputs, |bytes| sender.send(bytes.to_vec()).map_err(io::Error::other))
    });
    for n in 1..4 {
        writeln!(writer, "http://h/1\nhttp://h/{}", n * 10).unwrap();
        let line = shown.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
        assert_eq!(line, format!("http://h/{}\n", n * 10).into_bytes());
    }
    drop(writer);
    running.join().unwrap().unwrap();
    drop(reader);
}
