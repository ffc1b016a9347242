//! The whole job on a list: chunks, threads and a budget that spills give what plain code gives.
//! The first two bytes choose the size of the chunks and the profile.
#![no_main]

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use uniqurl::pipeline::{Dedup, Format, Job, Memory, Order, Setup, Watch, run};
use uniqurl::{Backend, Normalizer, Outcome, Profile, input, record};

fuzz_target!(|data: &[u8]| {
    let [chunk_size, choice, list @ ..] = data else { return };
    let profile = Profile::ALL[*choice as usize % Profile::ALL.len()];
    // A byte-order mark is a matter of files, not of lines.
    if list.starts_with(b"\xEF\xBB\xBF") {
        return;
    }
    let scalar = Normalizer::new(profile).with_backend(Backend::Scalar);
    // A carriage return ends a line with its line feed, never alone.
    let lines: Vec<&[u8]> = list
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| match line.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        })
        .collect();
    let (mut order, mut counts, mut rejected, mut blank) = (Vec::new(), HashMap::new(), 0, 0);
    for line in &lines {
        if line.iter().all(|byte| b" \t".contains(byte)) {
            blank += 1;
            continue;
        }
        let mut url = Vec::new();
        match scalar.normalize(line, &mut url) {
            Outcome::Reject(_) => rejected += 1,
            Outcome::Canonical => {
                let count = counts.entry(url.clone()).or_insert(0u64);
                if *count == 0 {
                    order.push(url);
                }
                *count += 1;
            }
        }
    }
    let mut expected = Vec::new();
    for url in &order {
        expected.extend_from_slice(format!("{}\t", counts[url]).as_bytes());
        expected.extend_from_slice(url);
        expected.push(b'\n');
    }

    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("list");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(list)).expect("written");
    let (inputs, errors) = input::check(&[path]);
    assert!(errors.is_empty());
    let spilling = Memory { budget: 1, directory: directory.path().to_owned(), tell: |_| {} };
    for (threads, memory) in [(1, None), (2, None), (2, Some(spilling))] {
        let watch = Watch::default();
        let dedup = Dedup { order: Order::First, count: true, ..Dedup::default() };
        let setup = Setup {
            format: Format::Fixed(Arc::new(record::Format::Lines)),
            threads,
            chunk_size: usize::from(*chunk_size) + 1,
            memory,
            ..Setup::new(Normalizer::new(profile), Job::Dedup(dedup), &watch)
        };
        let mut out = Vec::new();
        let (report, result) = run(&setup, &inputs, &mut out, None);
        result.expect("nothing can fail");
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        let tally = report.tally;
        assert_eq!(
            (tally.records, tally.unique, tally.rejected, tally.blank),
            (lines.len() as u64, order.len() as u64, rejected, blank)
        );
    }
});
