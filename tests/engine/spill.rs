//! Law 7 over memory: every budget gives the same result to the byte.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uniqurl::{Key, Normalizer, Profile};
use uniqurl_engine::output::Field;
use uniqurl_engine::{
    Dedup, InputFormat, Job, JobPlan, Memory, Report, RunError, SetOrder, Sinks, Watch, run,
};
use uniqurl_formats::{input, record};

/// Lists that share URLs with the next one, with blank lines and nonsense between them.
fn lists() -> Vec<Vec<u8>> {
    let mut state = 11u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let list = |_| {
        let mut list = Vec::new();
        for _ in 0..1000 {
            let line = match next(12) {
                0 => " \t".to_owned(),
                1 => format!("no url {}", next(9)),
                2 => format!("HTTP://H{}.Example:80/%7Ea/../{}", next(40), next(90)),
                3 => format!("http://often.example/{}", next(20)),
                4 => format!("http://h/{}/{}", "long/".repeat(next(60) as usize), next(50)),
                _ => format!("http://h{}.example/{}", next(40), next(90)),
            };
            list.extend(line.into_bytes());
            list.push(b'\n');
        }
        list
    };
    (0..3).map(list).collect()
}

/// A directory with the lists, and paths to them.
struct Place {
    directory: tempfile::TempDir,
    paths: Vec<PathBuf>,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("spill")).unwrap();
        let mut paths = Vec::new();
        for (i, list) in lists().into_iter().enumerate() {
            let path = directory.path().join(format!("list {i}"));
            std::fs::File::create(&path).unwrap().write_all(&list).unwrap();
            paths.push(path);
        }
        // A file without a record, and a file given twice.
        let empty = directory.path().join("empty");
        std::fs::write(&empty, "").unwrap();
        paths.splice(1..1, [empty, paths[0].clone()]);
        Self { directory, paths }
    }

    fn spill(&self) -> PathBuf {
        self.directory.path().join("spill")
    }
}

/// The options of a run.
#[derive(Debug, Clone)]
struct Case {
    dedup: Dedup,
    key: Key,
    fields: Vec<Field>,
    threads: usize,
    chunk_size: usize,
}

fn ran(
    case: &Case,
    paths: &[PathBuf],
    memory: Option<(u64, &Path)>,
) -> (Vec<u8>, Vec<u8>, Report, Result<(), RunError>) {
    let (inputs, errors) = input::check(paths);
    assert!(errors.is_empty());
    let memory = memory.map(|(budget, directory)| Memory {
        budget,
        directory: directory.to_owned(),
        tell: |_| {},
    });
    let watch = Watch::default();
    let mut plan = JobPlan::new(Normalizer::new(&Profile::CRAWL), Job::Dedup(case.dedup));
    plan.input.format = InputFormat::Fixed(Arc::new(record::Format::Lines));
    plan.policy.key = case.key;
    plan.output.fields = case.fields.clone();
    plan.limits.threads = case.threads;
    plan.limits.chunk_size = case.chunk_size;
    plan.limits.memory = memory;
    let (mut out, mut rejects) = (Vec::new(), Vec::new());
    let (report, result) =
        run(&plan, &inputs, Sinks::to(&mut out).with_rejects(&mut rejects), &watch);
    (out, rejects, report, result)
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for order in [SetOrder::First, SetOrder::Sorted, SetOrder::None] {
        for (count, min_count, limit) in [
            (false, 1, None),
            (true, 1, None),
            (false, 2, None),
            (true, 3, Some(100)),
            (false, 1, Some(700)),
            (false, 1, Some(0)),
        ] {
            let dedup = Dedup { order, count, min_count, limit };
            let columns = [
                vec![],
                vec![Field::Canonical, Field::First, Field::Original],
                vec![Field::Count, Field::Host, Field::Count, Field::First],
            ];
            for fields in columns {
                if !count || fields.is_empty() {
                    let key = Key::ALL[cases.len() % Key::ALL.len()];
                    let threads = [1, 2, 5][cases.len() % 3];
                    let chunk_size = [300, 5_000, 20_000][cases.len() / 3 % 3];
                    cases.push(Case { dedup, key, fields, threads, chunk_size });
                }
            }
        }
    }
    cases
}

/// From nothing to almost enough.
const BUDGETS: [u64; 6] = [0, 1 << 16, 600_000, 1_200_000, 2_500_000, 5_000_000];

#[test]
fn output_and_counts_do_not_depend_on_the_budget() {
    let place = Place::new();
    let mut spilled_at = [0; BUDGETS.len()];
    for (i, case) in cases().into_iter().enumerate() {
        let (out, rejects, report, result) = ran(&case, &place.paths, None);
        result.unwrap();
        assert_eq!(report.spilled.written, 0);
        let at = i % BUDGETS.len();
        {
            let budget = BUDGETS[at];
            let memory = Some((budget, &*place.spill()));
            let (now, rejected, other, result) = ran(&case, &place.paths, memory);
            result.unwrap();
            assert!(now == out, "{budget}: {case:?}");
            assert!(rejected == rejects, "{budget}: {case:?}");
            assert_eq!(other.tally, report.tally, "{budget}: {case:?}");
            assert_eq!(other.files, report.files, "{budget}: {case:?}");
            spilled_at[at] += u64::from(other.spilled.written > 0);
        }
    }
    assert!(spilled_at[..4].iter().all(|runs| *runs > 0), "{spilled_at:?}");
    assert_eq!(std::fs::read_dir(place.spill()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn a_set_that_just_fits_is_not_spilled() {
    let place = Place::new();
    let dedup = Dedup { order: SetOrder::First, count: false, min_count: 1, limit: None };
    let case = Case { dedup, key: Key::Url, fields: vec![], threads: 2, chunk_size: 5_000 };
    let (.., report, result) = ran(&case, &place.paths, Some((1 << 30, Path::new("/no/such"))));
    result.unwrap();
    assert_eq!(report.spilled.written, 0);
}

#[test]
fn unusable_temporary_directory_is_an_error_with_its_name() {
    let place = Place::new();
    let dedup = Dedup { order: SetOrder::First, count: false, min_count: 1, limit: None };
    let case = Case { dedup, key: Key::Url, fields: vec![], threads: 2, chunk_size: 5_000 };
    let (.., result) = ran(&case, &place.paths, Some((0, Path::new("/no/such"))));
    let error = result.unwrap_err();
    assert!(matches!(error, RunError::Spill(_)));
    assert!(error.to_string().starts_with("/no/such: spill: "), "{error}");
}

/// Law 7 with `--seen` and `--save-seen`: output, saved set and accounting are the same whichever
/// part does not fit, the seen URLs or the new ones.
#[test]
fn seen_and_saved_sets_do_not_depend_on_the_budget() {
    let place = Place::new();
    let (seen, _) = input::check(&[place.paths[2].clone(), place.paths[1].clone()]);
    let (inputs, _) = input::check(&place.paths);
    let ran = |order, count, threads, chunk_size, budget: Option<u64>| {
        let memory = budget.map(|budget| Memory { budget, directory: place.spill(), tell: |_| {} });
        let watch = Watch::default();
        let dedup = Dedup { order, count, min_count: 1, limit: None };
        let mut plan = JobPlan::new(Normalizer::new(&Profile::CRAWL), Job::Dedup(dedup));
        plan.input.format = InputFormat::Fixed(Arc::new(record::Format::Lines));
        plan.output.fields = if count { vec![] } else { vec![Field::Canonical, Field::First] };
        plan.limits.threads = threads;
        plan.limits.chunk_size = chunk_size;
        plan.limits.memory = memory;
        plan.input.seen = seen.clone();
        let (mut out, mut saved) = (Vec::new(), Vec::new());
        let sinks = Sinks { out: &mut out, rejects: None, seen: Some(&mut saved) };
        let (report, result) = run(&plan, &inputs, sinks, &watch);
        result.unwrap();
        let tally = report.tally;
        let of_set = tally.unique + tally.duplicates + tally.seen;
        assert_eq!(tally.records, of_set + tally.rejected + tally.blank);
        assert!(tally.seen > 0 && tally.unique > 0);
        (out, saved, report.tally, report.files, report.spilled.written)
    };
    let mut spilled = [0; BUDGETS.len()];
    for order in [SetOrder::First, SetOrder::Sorted] {
        for count in [false, true] {
            let (out, saved, tally, files, _) = ran(order, count, 1, 5_000, None);
            for (at, budget) in BUDGETS.into_iter().enumerate() {
                let now = ran(order, count, 1 + at % 3, [300, 5_000][at % 2], Some(budget));
                assert!(now.0 == out && now.1 == saved, "{budget} {order:?} {count}");
                assert_eq!((&now.2, &now.3), (&tally, &files), "{budget} {order:?} {count}");
                spilled[at] += u64::from(now.4 > 0);
            }
        }
    }
    assert!(spilled[..4].iter().all(|runs| *runs > 0), "{spilled:?}");
    assert_eq!(std::fs::read_dir(place.spill()).unwrap().count(), 0, "nothing is left behind");
}
