//! Stores from before a run, and the keys that a run pushes to one.

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

use crate::runs::{FIRST, ORDERS, Takes, checked, memory, plan_of, ran_for, ran_on, stream};

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
    // Some keys are longer than a block of the store.
    let length = if key % 61 == 7 { 20_000 } else { usize::from(key % 9) };
    format!("http://h/{key}{}", "/long".repeat(length / 5))
}

#[derive(Debug, Clone)]
struct Case {
    /// Number of a key, and how it is spelled.
    records: Vec<(u16, bool)>,
    /// The keys of the list, of the first store, and of the second: an old add and a new one.
    seen: [Vec<u16>; 4],
    dedup: Dedup,
    keep: Keep,
    with_fields: bool,
    budget: Option<u64>,
    threads: usize,
    chunk_size: usize,
}

prop_compose! {
    fn cases()(
        records in prop::collection::vec((0u16..700, any::<bool>()), 1..1500),
        seen in prop::array::uniform4(prop::collection::vec(0u16..700, 0..200)),
        order in prop::sample::select(&ORDERS[..]),
        (count, min_count) in (any::<bool>(), 1u64..4),
        limit in prop::option::weighted(0.3, 0u64..400),
        keep in prop::sample::select(vec![Keep::First, Keep::Last]),
        with_fields in any::<bool>(),
        budget in prop::option::of(prop::sample::select(vec![0, 200_000, 1 << 20, 3 << 20])),
        threads in 1usize..5,
        chunk_size in prop::sample::select(vec![100, 4_000, 200_000]),
    ) -> Case {
        let dedup = Dedup { order, count: count && !with_fields, min_count, limit };
        Case { records, seen, dedup, keep, with_fields, budget, threads, chunk_size }
    }
}

/// A run with stores is the same as one with lists of the same keys, and pushes the keys that it writes.
fn assert_stores_are_lists(case: &Case) {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let text = |keys: &BTreeSet<String>| keys.iter().map(|key| format!("{key}\n")).collect();
    let [of_list, of_first, old, new] =
        case.seen.each_ref().map(|keys| keys.iter().map(|key| url(*key)).collect());
    add(&path("first"), 1, &of_first);
    add(&path("second"), 1, &old);
    add(&path("second"), 5, &new);
    let of_list: String = text(&of_list);
    std::fs::write(path("list"), &of_list).unwrap();
    std::fs::write(path("stores"), text(&(&of_first | &new))).unwrap();
    // Two files, one of them given twice.
    let spelled = |(key, upper): &(u16, bool)| match upper {
        true => format!("{}\n", url(*key).replacen("http://h", "HTTP://H", 1)),
        false => format!("{}\n", url(*key)),
    };
    let (one, other) = case.records.split_at(case.records.len() / 3);
    std::fs::write(path("a"), one.iter().map(spelled).collect::<String>()).unwrap();
    std::fs::write(path("b"), other.iter().map(spelled).collect::<String>()).unwrap();
    let inputs = checked(&["a", "b", "a"].map(path));
    let mut plan = plan_of("lines", case.dedup);
    if case.with_fields {
        plan.policy.keep = case.keep.clone();
        plan.output.fields = vec![Field::Canonical, Field::Original];
    }
    plan.input.seen = checked(&["list", "stores"].map(path));
    let of_lists = ran_for(&plan, &inputs, Takes::Keys).unwrap();
    plan.input.seen.pop();
    plan.input.stores = vec![before(&path("first"), None), before(&path("second"), Some(5))];
    plan.limits.threads = case.threads;
    plan.limits.chunk_size = case.chunk_size;
    plan.limits.memory = case.budget.map(|budget| memory(budget, directory.path()));
    let found = ran_for(&plan, &inputs, Takes::Keys).unwrap();
    assert!(found.out == of_lists.out, "{case:?}");
    let accounts = [&found, &of_lists].map(|run| (&run.report.tally, &run.report.files));
    assert_eq!(accounts[0], accounts[1], "{case:?}");
    assert!(found.keys == of_lists.keys, "{case:?}");
    let key_of = |line: &[u8]| {
        let mut columns = line.split(|byte| *byte == b'\t');
        let column = if case.dedup.count { columns.nth(1) } else { columns.next() };
        column.unwrap().to_vec()
    };
    let lines = found.out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let written: BTreeSet<_> = lines.map(key_of).collect();
    assert!(found.keys.0.iter().eq(&written), "{case:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn stores_give_the_results_of_lists_with_the_same_keys(case in cases()) {
        assert_stores_are_lists(&case);
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
    use std::sync::mpsc::{Sender, channel};
    use uniqurl_engine::{Sinks, Watch, run};

    struct Shown(Sender<Vec<u8>>);
    impl Write for Shown {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    add(&path, 1, &["http://h/1".to_owned()].into());
    let mut plan = plan_of("lines", FIRST);
    plan.input.stores = vec![before(&path, None)];
    let (reader, mut writer) = io::pipe().unwrap();
    let inputs = stream(Path::new(&format!("/proc/self/fd/{}", reader.as_raw_fd())));
    let (sender, shown) = channel();
    let running = std::thread::spawn(move || {
        let mut out = Shown(sender);
        run(&plan, &inputs, Sinks::to(&mut out), &Watch::default()).1
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
