//! Inputs that cannot be cut are decoded side by side, and the results are those of reading them one after
//! another.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use uniqurl_engine::{Dedup, JobPlan, MaxRejected, Memory, Report, RunError, Sinks, Watch, run};
use uniqurl_formats::input::{Input, InputState, Source};

use crate::runs::{self, FIRST, Takes, checked, gzip, limit, numbers, pack, ran_for};

/// Lines, a tenth of them no URLs; the lists of different seeds share some URLs.
fn list(seed: u64, lines: u64) -> Vec<u8> {
    let mut next = numbers(seed);
    let mut text = Vec::new();
    for i in 0..lines {
        let n = next(1 << 20);
        match i % 10 {
            0 => writeln!(text, "http://h:99999/{n}").unwrap(),
            1..5 => writeln!(text, "HTTP://Example.COM/{}", n % 700).unwrap(),
            _ => writeln!(text, "http://h{}.example/{n}", n % 9).unwrap(),
        }
    }
    text
}

/// The kind of an input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    /// Read like a pipe.
    Stream,
    /// Checked, and then removed.
    Missing,
}

struct Mix {
    _directory: tempfile::TempDir,
    inputs: Vec<Input>,
}

impl Mix {
    fn new(inputs: &[(&str, Kind, Vec<u8>)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let inputs = inputs.iter().enumerate().map(|(n, (name, kind, bytes))| {
            let path = directory.path().join(format!("{n}-{name}"));
            fs::write(&path, bytes).unwrap();
            match kind {
                Kind::Stream => Input { path, source: Source::Stream, copy: None },
                Kind::File | Kind::Missing => {
                    let input = checked(&[path]).remove(0);
                    if *kind == Kind::Missing {
                        fs::remove_file(&input.path).unwrap();
                    }
                    input
                }
            }
        });
        Self { inputs: inputs.collect(), _directory: directory }
    }

    /// The results of a run that may not depend on its number of threads.
    fn run(&self, plan: &JobPlan) -> Results {
        let found = ran_for(plan, &self.inputs, Takes::Rejects);
        let told = told(&found.report, &found.result);
        match found.result {
            Err(RunError::Rejected(_)) => (Vec::new(), Vec::new(), told),
            _ => (found.out, found.rejects, told),
        }
    }
}

/// The output, the rejected records, and what is told of the run.
type Results = (Vec<u8>, Vec<u8>, String);

fn told(report: &Report, result: &Result<(), RunError>) -> String {
    let name = |path: &Path| PathBuf::from(path.file_name().unwrap());
    let files = report.files.iter().map(|file| {
        // How much of an unfinished input was read depends on the number of threads.
        let read = (file.state != InputState::Unfinished).then_some(file.bytes);
        format!("{:?}", (name(&file.path), file.state, read, &file.tally))
    });
    let mut files: Vec<_> = files.collect();
    let error = match result {
        Ok(()) => String::new(),
        Err(RunError::Rejected(error)) => {
            // The records of the last input are counted up to the end of a chunk.
            files.pop();
            format!("{:?}", error.first.as_ref().map(|(path, record, at)| (name(path), record, at)))
        }
        Err(error) => error.to_string(),
    };
    let damaged: Vec<_> = report.damaged.iter().map(|(n, error)| (n, error.to_string())).collect();
    format!("{files:#?} {:?} {damaged:?} {:?} {error}", report.guessed, report.cut)
}

fn mix() -> Mix {
    let damaged = |mut packed: Vec<u8>| {
        let middle = packed.len() / 2;
        packed[middle..middle + 40].fill(0xA5);
        packed
    };
    // Files of some size alone have their members decoded in parallel.
    let stored = |bytes: &[u8]| pack(bytes, flate2::Compression::none());
    let members: Vec<u8> = list(5, 14_000).chunks(1_500).flat_map(stored).collect();
    assert!(members.len() > 300_000);
    let csv: String =
        (0..1_500).map(|n| format!("{n},\"http://h/{}\",\"two\nlines\"\n", n % 900)).collect();
    let json: String =
        (0..1_500).map(|n| format!("{{\"url\":\"http://h/{}\"}}\n", n % 1_100)).collect();
    let zstd = zstd::encode_all(&list(7, 8_000)[..], 1).unwrap();
    Mix::new(&[
        ("plain.txt", Kind::File, list(1, 3_000)),
        ("a.gz", Kind::File, gzip(&list(2, 8_000))),
        ("pipe", Kind::Stream, list(3, 3_000)),
        ("empty", Kind::File, Vec::new()),
        ("empty-pipe", Kind::Stream, Vec::new()),
        ("members.gz", Kind::File, members),
        ("b.zst", Kind::File, zstd),
        ("damaged.gz", Kind::File, damaged(gzip(&list(4, 8_000)))),
        ("c.gz", Kind::Stream, gzip(&list(2, 8_000))),
        ("gone.gz", Kind::Missing, gzip(&list(6, 100))),
        ("quoted.csv", Kind::File, format!("id,url,note\n{csv}").into_bytes()),
        ("lines.txt", Kind::File, list(8, 3_000)),
        ("records.json", Kind::Stream, json.into_bytes()),
        ("last.gz", Kind::File, gzip(&list(9, 4_000))),
        ("cut.gz", Kind::File, gzip(&list(9, 4_000))[..3_000].to_vec()),
    ])
}

fn plan(threads: usize, chunk_size: usize, dedup: Dedup) -> JobPlan {
    let mut plan = runs::plan(dedup);
    limit(&mut plan, threads, chunk_size, None);
    plan
}

#[test]
fn results_do_not_depend_on_the_number_of_streams_at_once() {
    let mix = mix();
    let budgets = [None, Some(Memory::new(24 << 20))];
    for (keep_going, dedup, most) in [
        (true, FIRST, None),
        (false, FIRST, None),
        (true, Dedup { limit: Some(2_000), ..FIRST }, None),
        (true, Dedup { count: true, ..FIRST }, None),
        (true, FIRST, Some(3_500)),
        (false, FIRST, Some(1_500)),
        (true, FIRST, Some(10)),
    ] {
        let mut first = None;
        for (threads, workers) in [(1, 1), (2, 2), (3, 3), (8, 8), (8, 2)] {
            let chunk_size = [20_000, 230_000][workers % 2];
            let budget = &budgets[workers / 2 % 2];
            let mut plan = plan(threads, chunk_size, dedup);
            plan.limits.most_workers = workers;
            plan.input.keep_going = keep_going;
            plan.policy.max_rejected = most.map(MaxRejected::Count);
            plan.limits.memory = budget.clone();
            let results = mix.run(&plan);
            let first = first.get_or_insert_with(|| results.clone());
            assert_eq!(results.2, first.2, "{threads} {chunk_size} {dedup:?} {most:?}");
            assert!(results == *first, "{threads} {chunk_size} {dedup:?} {most:?}");
        }
        if let (false, None, Some((out, _, told))) = (keep_going, most, first) {
            // All of the inputs before the damaged one is written, and none after it is reported.
            assert!(out.len() > 200_000, "{}", out.len());
            assert!(told.contains("7-damaged.gz") && !told.contains("9-gone.gz"), "{told}");
        }
    }
}

#[test]
fn standard_input_and_pipes_given_twice_are_read_once() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let input = Input { path: path.clone(), source: Source::Stream, copy: None };
    let watch = Watch::default();
    let (report, result) = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut written = 0;
            for part in [list(1, 40_000), list(2, 40_000)] {
                // A pipe that gets another writer before its end is seen goes on.
                while watch.bytes.load(Ordering::Relaxed) < written {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                if written > 0 {
                    std::thread::sleep(std::time::Duration::from_millis(300));
                }
                let mut pipe = fs::OpenOptions::new().write(true).open(&path).unwrap();
                pipe.write_all(&part).unwrap();
                written = part.len() as u64;
            }
        });
        let mut out = Vec::new();
        let inputs = [input.clone(), input];
        run(&plan(4, 10_000, FIRST), &inputs, Sinks::to(&mut out), &watch)
    });
    result.unwrap();
    let records: Vec<_> = report.files.iter().map(|file| file.tally.records).collect();
    assert_eq!(records, [40_000, 40_000]);
}
