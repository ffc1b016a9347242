//! The whole job against a few lines of plain code, for any chunks, threads, scanner and kind of
//! input.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::PathBuf;

use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile};
use uniqurl_engine::{
    Dedup, Job, JobPlan, MaxRejected, Memory, ResourceLimits, RunError, Sinks, SpillNotice, Watch,
    run,
};
use uniqurl_formats::input::Trouble;

use crate::runs::{
    FIRST, Takes, checked, file, gzip, limit, numbers, plan, plan_of, ran, ran_for, ran_into,
    ran_on,
};

/// Lists with every kind of line.
fn list() -> Vec<u8> {
    let mut list = Vec::new();
    let mut next = numbers(9);
    for i in 0..400u32 {
        let n = next(64);
        let line = match i % 11 {
            0 => format!("HTTP://Example.COM:80/%7Ea/../{n}#x\n"),
            1 => format!("http://example.com/{n}\r\n"),
            2 => "   \t\n".to_owned(),
            3 => "\n".to_owned(),
            4 => format!("no url {n}\n"),
            5 => format!("https://example.org/{n}?q=%C3%A9&r= s\n"),
            6 => format!("http://h:99999/{n}\n"),
            _ => format!("https://www.example.net/a/b/{n}.html\n"),
        };
        list.extend(line.into_bytes());
    }
    list.extend(b"https://www.example.net/the-last-one-has-no-line-feed");
    list
}

/// A canonical URL or the code, for each line; `None` for a blank one.
fn plainly(list: &[u8], profile: Profile) -> Vec<Option<Result<Vec<u8>, &'static str>>> {
    let normalizer = Normalizer::new(profile).with_backend(Backend::Scalar);
    let mut lines: Vec<&[u8]> = list.split(|byte| *byte == b'\n').collect();
    if lines.last() == Some(&&b""[..]) {
        lines.pop();
    }
    let line = |line: &&[u8]| {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(|byte| b" \t".contains(byte)) {
            return None;
        }
        let mut out = Vec::new();
        Some(match normalizer.append(line, &mut out) {
            Ok(()) => Ok(out),
            Err(reject) => Err(reject.code.name()),
        })
    };
    lines.iter().map(line).collect()
}

/// The distinct URLs in the order of appearance, and the count of each.
fn plainly_counted(list: &[u8], profile: Profile) -> Vec<(Vec<u8>, u64)> {
    let mut places = HashMap::new();
    let mut counted: Vec<(Vec<u8>, u64)> = Vec::new();
    for url in plainly(list, profile).into_iter().flatten().flatten() {
        let place = *places.entry(url.clone()).or_insert_with(|| {
            counted.push((url, 0));
            counted.len() - 1
        });
        counted[place].1 += 1;
    }
    counted
}

/// A plan for lists under this profile.
fn plan_for(job: Job, profile: Profile, threads: usize, chunk_size: usize) -> JobPlan {
    let mut plan = plan_of("lines", FIRST);
    (plan.job, plan.normalizer) = (job, Normalizer::new(profile));
    limit(&mut plan, threads, chunk_size, None);
    plan
}

fn lines(urls: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    urls.into_iter()
        .flat_map(|mut url| {
            url.push(b'\n');
            url
        })
        .collect()
}

#[test]
fn output_is_that_of_plain_code_for_any_profile_scanner_threads_and_chunks() {
    let list = list();
    let inputs = file(&list);
    let inputs = checked(&[inputs.path().into()]);
    let scanners = Backend::available();
    let ways =
        Profile::ALL.iter().flat_map(|profile| scanners.iter().map(move |by| (*profile, *by)));
    let ways: Vec<_> = ways.collect();
    let sizes = (1..80).chain((80..list.len() + 100).step_by(997)).chain([1 << 20]);
    assert!(ways.len() < 80);
    let mut rejects = HashMap::new();
    for (i, chunk_size) in sizes.enumerate() {
        let (profile, backend) = ways[i % ways.len()];
        let threads = [1, 2, 3, 8][(i + i / ways.len()) % 4];
        let case = format!("{} {backend:?}, {threads} threads, {chunk_size}", profile.name());
        let ran = |job| {
            let mut plan = plan_for(job, profile, threads, chunk_size);
            plan.normalizer = plan.normalizer.with_backend(backend);
            ran_for(&plan, &inputs, Takes::Rejects).unwrap()
        };
        let records = plainly(&list, profile);
        let of_plain = records.iter().filter(|record| matches!(record, Some(Err(_)))).count();
        assert!(of_plain > 0 || profile != Profile::Crawl);

        let found = ran(Job::Dedup(Dedup { count: true, ..FIRST }));
        let counted = plainly_counted(&list, profile);
        let urls = counted.iter().map(|(url, _)| url.clone());
        assert!(ran(Job::Dedup(FIRST)).out == lines(urls), "{case}");
        let counted =
            counted.iter().map(|(url, count)| [format!("{count}\t").as_bytes(), url].concat());
        assert!(found.out == lines(counted), "{case}");
        let (tally, rejected) = (found.report.tally, found.rejects);
        assert_eq!(rejected.split_inclusive(|byte| *byte == b'\n').count(), of_plain);
        assert_eq!(*rejects.entry(profile.name()).or_insert_with(|| rejected.clone()), rejected);
        assert_eq!(tally.records, tally.unique + tally.duplicates + tally.rejected + tally.blank);
        assert_eq!((tally.records, tally.rejected), (records.len() as u64, of_plain as u64));
        assert_eq!(found.report.bytes, list.len() as u64);

        let urls = records.iter().map(|record| match record {
            Some(Ok(url)) => url.clone(),
            _ => Vec::new(),
        });
        assert!(ran(Job::Normalize { json: false }).out == lines(urls), "{case}");
        let objects = ran(Job::Normalize { json: true });
        assert_eq!(objects.text().lines().count(), records.len(), "{case}");
        for (number, (line, record)) in (1..).zip(objects.text().lines().zip(&records)) {
            let object: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(object["record"], number);
            match record {
                None => assert_eq!(object["blank"], true),
                Some(Ok(url)) => assert_eq!(object["out"].as_str().unwrap().as_bytes(), url),
                Some(Err(code)) => assert_eq!(object["reject"][0], *code),
            }
        }
    }
}

#[test]
fn limits_beyond_their_bounds_are_clamped() {
    let list = list();
    let mut plan = plan(FIRST);
    let expected = lines(plainly_counted(&list, Profile::Crawl).into_iter().map(|(url, _)| url));
    let limits = plan.limits.clone();
    for limits in [
        ResourceLimits { threads: 0, ..limits.clone() },
        ResourceLimits { threads: 8, most_workers: 0, ..limits.clone() },
        ResourceLimits { threads: 8, most_workers: 3, ..limits.clone() },
        ResourceLimits { chunk_size: 0, ..limits.clone() },
        ResourceLimits { chunk_size: usize::MAX, ..limits.clone() },
        ResourceLimits { max_url: usize::MAX, chunk_size: 100, ..limits.clone() },
    ] {
        plan.limits = limits;
        assert!(ran_on(&plan, &list).unwrap().out == expected, "{:?}", plan.limits);
    }
}

#[test]
fn reject_percentage_is_clamped() {
    let run_with = |list: &[u8], percent: f64| {
        let mut plan = plan(FIRST);
        plan.policy.max_rejected = Some(MaxRejected::Percent(percent));
        ran_on(&plan, list)
    };
    let (good, mixed, bad) = (b"http://h/\n", b"http://h/\nno\n", b"no\n");
    for least in [0.0, -0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
        run_with(good, least).unwrap();
        let error = run_with(mixed, least).error("more than none");
        assert!(error.contains("more than 0 %"), "{least}: {error}");
    }
    for most in [100.0, 101.0, f64::INFINITY] {
        run_with(bad, most).unwrap();
    }
}

#[test]
fn many_inputs_equal_their_concatenation() {
    let list = list();
    let files: Vec<_> = list.chunks(777).map(file).collect();
    let paths: Vec<_> = files.iter().map(|file| file.path().to_owned()).collect();
    // A line ends at the end of its file, so the files together are not the list.
    let whole = list.chunks(777).collect::<Vec<_>>().join(&b'\n');
    let expected = lines(plainly_counted(&whole, Profile::Crawl).into_iter().map(|(url, _)| url));
    for threads in [1, 4] {
        let plan = plan_for(Job::Dedup(FIRST), Profile::Crawl, threads, 100);
        let found = ran(&plan, &checked(&paths)).unwrap();
        assert!(found.out == expected);
        assert_eq!(found.report.files.len(), paths.len());
    }
}

#[test]
fn write_error_ends_the_run() {
    let file = file(&list());
    let mut plan = plan_for(Job::Dedup(FIRST), Profile::Crawl, 2, 100);
    plan.input.keep_going = true;
    let inputs = checked(&[file.path().into()]);
    let result = ran_into(&plan, &inputs, |_| Err(io::Error::other("full")));
    assert_eq!(result.unwrap_err().to_string(), "full");
}

#[test]
fn stopped_run_ends_while_it_waits_for_a_pipe() {
    use std::os::fd::AsRawFd;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    let (pipe, mut writer) = io::pipe().unwrap();
    writer.write_all(b"http://a.com/\nhttp://b.com/\n").unwrap();
    let inputs = checked(&[PathBuf::from(format!("/dev/fd/{}", pipe.as_raw_fd()))]);
    let (watch, plan) = (Watch::default(), plan(FIRST));
    let mut out = Vec::new();
    let (report, result) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while watch.counted().0.unique < 2 {
                std::thread::sleep(Duration::from_millis(1));
            }
            watch.stop.store(true, Ordering::Relaxed);
        });
        run(&plan, &inputs, Sinks::to(&mut out), &watch)
    });
    assert!(matches!(result, Err(RunError::Stopped)), "{result:?}");
    assert_eq!((report.tally.records, report.tally.unique), (2, 2));
    drop(writer);

    let (_, result) = run(&plan, &inputs, Sinks::to(&mut Vec::new()), &watch);
    assert!(matches!(result, Err(RunError::Stopped)), "before it began: {result:?}");
}

#[test]
fn spill_size_is_estimated_early() {
    use std::sync::atomic::{AtomicU64, Ordering};

    static NEEDED: AtomicU64 = AtomicU64::new(0);
    fn note(spilling: &SpillNotice<'_>) {
        NEEDED.store(spilling.needed.unwrap(), Ordering::Relaxed);
    }
    let place = tempfile::tempdir().unwrap();
    let list: String = (0..10_000).map(|i| format!("http://h/{i}/{}\n", "x".repeat(390))).collect();
    for (budget, chunk_size) in [(1 << 20, 40 << 10), (2 << 20, 80 << 10), (2 << 20, 200 << 10)] {
        let mut plan = plan(FIRST);
        let directory = place.path().to_owned();
        plan.limits.memory = Some(Memory { budget, directory, tell: note });
        plan.limits.chunk_size = chunk_size;
        assert!(ran_on(&plan, list.as_bytes()).unwrap().report.spilled.written > 0);
        let needed = NEEDED.swap(0, Ordering::Relaxed);
        // Few lines of the list are in the set, and each URL is there once.
        let length = list.len() as u64;
        assert!((length / 5 * 4..=length).contains(&needed), "{needed} bytes with {budget}");
    }
}

/// Reads a file whose modification time changes once the first lines are written.
pub(super) fn assert_rewriting_is_an_error(format: &str, bytes: &[u8]) {
    let file = file(bytes);
    let inputs = checked(&[file.path().into()]);
    let mut plan = plan_of(format, FIRST);
    limit(&mut plan, 1, 1000, None);
    is_replaced(ran_into(&plan, &inputs, |_| {
        let file = std::fs::File::options().write(true).open(file.path())?;
        file.set_modified(std::time::UNIX_EPOCH)
    }));
}

#[track_caller]
fn is_replaced(result: Result<(), RunError>) {
    match result {
        Err(RunError::Input(error)) if matches!(error.trouble, Trouble::Replaced) => {}
        result => panic!("{result:?}"),
    }
}

/// Many lines, and the same packed.
fn many_lines() -> (String, Vec<u8>) {
    let lines: String = (0..200_000).map(|n| format!("http://h/{n}\n")).collect();
    let packed = gzip(lines.as_bytes());
    (lines, packed)
}

#[test]
fn file_rewritten_while_it_is_read_is_an_error() {
    let (lines, packed) = many_lines();
    assert_rewriting_is_an_error("lines", lines.as_bytes());
    // The position of the header decides how a chunk is read.
    assert_rewriting_is_an_error("csv:url", format!("url\n{lines}").as_bytes());
    assert_rewriting_is_an_error("lines", &packed);
}

#[test]
fn seen_list_rewritten_while_it_is_read_is_an_error() {
    fn rewrite(spilling: &SpillNotice<'_>) {
        let file = std::fs::File::options().write(true).open(spilling.directory.join("seen"));
        file.unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let (lines, packed) = many_lines();
    // Apparent damage may also come from a rewrite.
    for bytes in [lines.as_bytes(), &packed, &packed[..packed.len() - 9]] {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("seen");
        std::fs::write(&path, bytes).unwrap();
        let mut plan = plan(FIRST);
        plan.input.seen = checked(&[path]);
        limit(&mut plan, 1, 1000, None);
        plan.limits.memory =
            Some(Memory { budget: 1, directory: place.path().into(), tell: rewrite });
        is_replaced(ran(&plan, &[]).result);
    }
}
