//! The whole job against a few lines of plain code, for any chunks, threads, scanner and kind of
//! input.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile};
use uniqurl_engine::{
    Dedup, Job, JobPlan, MaxRejected, Memory, ResourceLimits, RunError, Sinks, SpillNotice, Watch,
    run,
};
use uniqurl_formats::input::Trouble;

use crate::runs::{FIRST, Takes, checked, file, numbers, plan, plan_of, ran, ran_for, ran_on};

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
    plan.limits.threads = threads;
    plan.limits.chunk_size = chunk_size;
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
fn output_does_not_depend_on_chunk_size_or_threads() {
    let list = list();
    let file = file(&list);
    let expected = lines(plainly_counted(&list, Profile::Crawl).into_iter().map(|(url, _)| url));
    let sizes = (1..80).chain((80..list.len() + 100).step_by(997));
    let records = plainly(&list, Profile::Crawl);
    let of_plain = records.iter().filter(|record| matches!(record, Some(Err(_)))).count();
    assert!(of_plain > 0);
    let mut rejects = None;
    for (i, chunk_size) in sizes.enumerate() {
        let threads = [1, 2, 3, 8][i % 4];
        let backend = Backend::available()[i / 4 % Backend::available().len()];
        let mut plan = plan_for(Job::Dedup(FIRST), Profile::Crawl, threads, chunk_size);
        plan.normalizer = plan.normalizer.with_backend(backend);
        let found = ran_for(&plan, &checked(&[file.path().into()]), Takes::Rejects).unwrap();
        let (tally, rejected) = (found.report.tally, found.rejects);
        assert!(found.out == expected, "chunks of {chunk_size}, {threads} threads, {backend:?}");
        assert_eq!(*rejects.get_or_insert_with(|| rejected.clone()), rejected);
        assert_eq!(rejected.split_inclusive(|byte| *byte == b'\n').count(), of_plain);
        assert_eq!(tally.records, tally.unique + tally.duplicates + tally.rejected + tally.blank);
        assert_eq!((tally.records, tally.rejected), (records.len() as u64, of_plain as u64));
        assert_eq!(found.report.bytes, list.len() as u64);
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
fn every_profile_and_backend_agrees_with_plain_code() {
    let list = list();
    for profile in Profile::ALL {
        let expected = plainly_counted(&list, *profile);
        for backend in Backend::available() {
            let job = Job::Dedup(Dedup { count: true, ..FIRST });
            let mut plan = plan_for(job, *profile, 2, 1000);
            plan.normalizer = plan.normalizer.with_backend(backend);
            let counted =
                expected.iter().map(|(url, count)| [format!("{count}\t").as_bytes(), url].concat());
            let found = ran_on(&plan, &list).unwrap();
            assert!(found.out == lines(counted), "{} {backend:?}", profile.name());
        }
    }
}

/// The other orders and their limits are in `spill.rs`.
#[test]
fn limit_and_counts_do_not_change_the_set() {
    let list = list();
    let counted = plainly_counted(&list, Profile::Crawl);
    for (min_count, limit) in [(3, None), (1, Some(5)), (2, Some(3)), (1, Some(0))] {
        let dedup = Dedup { min_count, limit, ..FIRST };
        let often = counted.iter().filter(|(_, count)| *count >= min_count);
        let often = often.take(limit.map_or(usize::MAX, |limit| limit as usize));
        let plan = plan_for(Job::Dedup(dedup), Profile::Crawl, 3, 500);
        let expected = lines(often.map(|(url, _)| url.clone()));
        assert!(!expected.is_empty() || limit == Some(0));
        assert!(ran_on(&plan, &list).unwrap().out == expected, "{dedup:?}");
    }
}

#[test]
fn many_inputs_equal_their_concatenation() {
    let list = list();
    let files: Vec<_> = list.chunks(777).map(file).collect();
    let paths: Vec<_> = files.iter().map(|file| file.path().to_owned()).collect();
    // A line ends at the end of its file, so the files together are not the list.
    let whole: Vec<u8> = list
        .chunks(777)
        .flat_map(|part| {
            let feed: &[u8] = if part.ends_with(b"\n") { b"" } else { b"\n" };
            [part, feed].concat()
        })
        .collect();
    let expected = lines(plainly_counted(&whole, Profile::Crawl).into_iter().map(|(url, _)| url));
    for threads in [1, 4] {
        let plan = plan_for(Job::Dedup(FIRST), Profile::Crawl, threads, 100);
        let found = ran_for(&plan, &checked(&paths), Takes::Rejects).unwrap();
        assert!(found.out == expected);
        assert_eq!(found.report.files.len(), paths.len());
        // Records are numbered, and offsets counted, within their own file.
        let rejects: Vec<_> = found.rejects.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(rejects.len() as u64, found.report.tally.rejected);
        assert!(rejects.len() > paths.len() / 2);
        for reject in rejects {
            let reject: serde_json::Value = serde_json::from_slice(reject).unwrap();
            let text = std::fs::read(reject["file"].as_str().unwrap()).unwrap();
            let offset = reject["offset"].as_u64().unwrap() as usize;
            let raw = reject["raw"].as_str().unwrap().as_bytes();
            assert!(text[offset..].starts_with(raw));
            let before = text[..offset].iter().filter(|byte| **byte == b'\n').count();
            assert_eq!(reject["record"].as_u64().unwrap(), before as u64 + 1);
        }
    }
}

#[test]
fn normalize_writes_one_line_for_each_record_in_order() {
    let list = list();
    for profile in Profile::ALL {
        let records = plainly(&list, *profile);
        for (chunk_size, threads) in [(1, 2), (64, 3), (5000, 1), (1 << 20, 2)] {
            let normalized = |json| {
                let plan = plan_for(Job::Normalize { json }, *profile, threads, chunk_size);
                ran_on(&plan, &list).unwrap().out
            };
            let expected = records.iter().map(|record| match record {
                Some(Ok(url)) => url.clone(),
                _ => Vec::new(),
            });
            assert!(normalized(false) == lines(expected));
            let objects: Vec<serde_json::Value> = normalized(true)
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(|line| serde_json::from_slice(line).unwrap())
                .collect();
            assert_eq!(objects.len(), records.len());
            for (number, (object, record)) in (1..).zip(objects.iter().zip(&records)) {
                assert_eq!(object["record"], number);
                match record {
                    None => assert_eq!(object["blank"], true),
                    Some(Ok(url)) => assert_eq!(object["out"].as_str().unwrap().as_bytes(), url),
                    Some(Err(code)) => assert_eq!(object["reject"][0], *code),
                }
            }
        }
    }
}

#[test]
fn write_error_ends_the_run() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("full"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let file = file(&list());
    let mut plan = plan_for(Job::Dedup(FIRST), Profile::Crawl, 2, 100);
    plan.input.keep_going = true;
    let inputs = checked(&[file.path().into()]);
    let (_, result) = run(&plan, &inputs, Sinks::to(&mut Full), &Watch::default());
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
    struct Rewriting<'a>(&'a Path);
    impl Write for Rewriting<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let file = std::fs::File::options().write(true).open(self.0)?;
            file.set_modified(std::time::UNIX_EPOCH)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let file = file(bytes);
    let inputs = checked(&[file.path().into()]);
    let mut plan = plan_of(format, FIRST);
    plan.limits.threads = 1;
    plan.limits.chunk_size = 1000;
    is_replaced(run(&plan, &inputs, Sinks::to(&mut Rewriting(file.path())), &Watch::default()).1);
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
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(lines.as_bytes()).unwrap();
    (lines, packer.finish().unwrap())
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
        plan.limits.threads = 1;
        plan.limits.chunk_size = 1000;
        plan.limits.memory =
            Some(Memory { budget: 1, directory: place.path().into(), tell: rewrite });
        is_replaced(ran(&plan, &[]).result);
    }
}
