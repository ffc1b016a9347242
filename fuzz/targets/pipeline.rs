//! The whole job on a list: chunks, threads and a budget that spills give the result of plain code,
//! in any order, and with URLs seen before. The first two bytes choose the size of the chunks, and
//! the profile, the order and whether the first lines are such URLs.
#![no_main]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile};
use uniqurl_engine::{
    Dedup, InputFormat, Job, JobPlan, Memory, RunError, SetOrder, Sinks, Watch, run,
};
use uniqurl_formats::{input, record};

fuzz_target!(|data: &[u8]| {
    let [chunk_size, choice, list @ ..] = data else { return };
    let choice = usize::from(*choice);
    let profile = Profile::ALL[choice % Profile::ALL.len()];
    let choice = choice / Profile::ALL.len();
    let order = [SetOrder::First, SetOrder::Sorted][choice % 2];
    // Byte-order and compression marks belong to files, not to lines.
    let marks: [&[u8]; 5] =
        [b"\xEF\xBB\xBF", b"\x1F\x8B", b"\x28\xB5\x2F\xFD", b"\xFD7zXZ", b"BZh"];
    if marks.iter().any(|mark| list.starts_with(mark)) || list.get(1..4) == Some(b"\x2A\x4D\x18") {
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
    // Text after a tab may be taken for the URL of a list with counts.
    let earlier = if choice / 2 % 2 == 1 && !list.contains(&b'\t') { lines.len() / 3 } else { 0 };
    let normalized = |line: &[u8]| {
        let mut url = Vec::new();
        (scalar.append(line, &mut url) == Ok(())).then_some(url)
    };
    let before: HashSet<Vec<u8>> =
        lines[..earlier].iter().filter_map(|line| normalized(line)).collect();
    let (mut urls, mut counts, mut rejected, mut blank, mut seen) =
        (Vec::new(), HashMap::new(), 0, 0, 0);
    for line in &lines {
        if line.iter().all(|byte| b" \t".contains(byte)) {
            blank += 1;
            continue;
        }
        match normalized(line) {
            None => rejected += 1,
            Some(url) if before.contains(&url) => seen += 1,
            Some(url) => {
                let count = counts.entry(url.clone()).or_insert(0u64);
                if *count == 0 {
                    urls.push(url);
                }
                *count += 1;
            }
        }
    }
    if order == SetOrder::Sorted {
        urls.sort();
    }
    let mut expected = Vec::new();
    for url in &urls {
        expected.extend_from_slice(format!("{}\t", counts[url]).as_bytes());
        expected.extend_from_slice(url);
        expected.push(b'\n');
    }

    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &[u8]| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("written");
        let (inputs, errors) = input::check(&[path]);
        assert!(errors.is_empty());
        inputs
    };
    let inputs = file("list", list);
    // The first line fits no other file format, and equals no other line under any profile.
    let head = b"seen:///first/line/of/all\n".as_slice();
    let seen_lines = lines[..earlier].iter().flat_map(|line| [*line, b"\n"].concat());
    let inputs_before = match earlier {
        0 => Vec::new(),
        _ => file("seen", &head.iter().copied().chain(seen_lines).collect::<Vec<u8>>()),
    };
    let spilling = Memory { budget: 1, directory: directory.path().to_owned(), tell: |_| {} };
    let mut refused = 0;
    for (threads, memory) in [(1, None), (2, None), (2, Some(spilling))] {
        let watch = Watch::default();
        let dedup = Dedup { order, count: true, ..Dedup::default() };
        let mut plan = JobPlan::new(Normalizer::new(profile), Job::Dedup(dedup));
        plan.input.format = InputFormat::Fixed(Arc::new(record::Format::Lines));
        plan.limits.threads = threads;
        plan.limits.chunk_size = usize::from(*chunk_size) + 1;
        plan.limits.memory = memory;
        plan.input.seen = inputs_before.clone();
        let mut out = Vec::new();
        let (report, result) = run(&plan, &inputs, Sinks::to(&mut out), &watch);
        match result {
            // Lines that are mostly no URLs, or that may be another format: every run has to refuse
            // them.
            Err(RunError::Seen(_)) if earlier > 0 => {
                refused += 1;
                continue;
            }
            result => result.expect("nothing else can fail"),
        }
        assert_eq!(out.escape_ascii().to_string(), expected.escape_ascii().to_string());
        let tally = report.tally;
        assert_eq!(
            (tally.records, tally.unique, tally.rejected, tally.blank, tally.seen),
            (lines.len() as u64, urls.len() as u64, rejected, blank, seen)
        );
    }
    assert!([0, 3].contains(&refused), "{refused} of 3 runs refuse what was seen");
});
