//! The whole job against a few lines of plain code, for any chunks, threads, scanner and kind of
//! input.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uniqurl::internal::Backend;
use uniqurl::{Normalizer, Profile};
use uniqurl_engine::{
    Dedup, InputFormat, Job, JobPlan, MaxRejected, Memory, Report, ResourceLimits, RunError,
    SetOrder, Sinks, SpillNotice, Watch, run,
};
use uniqurl_formats::{input, record};

/// Lists with every kind of line.
fn list() -> Vec<u8> {
    let mut list = Vec::new();
    let mut state = 9u64;
    for i in 0..400u32 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let n = state >> 58;
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

struct Case {
    job: Job,
    profile: Profile,
    backend: Backend,
    threads: usize,
    chunk_size: usize,
}

impl Case {
    fn run(&self, paths: &[PathBuf]) -> (Vec<u8>, Vec<u8>, Report) {
        let (inputs, errors) = input::check(paths);
        assert!(errors.is_empty());
        let watch = Watch::default();
        let mut plan = JobPlan::new(
            Normalizer::new(self.profile).with_backend(self.backend),
            self.job.clone(),
        );
        plan.input.format = InputFormat::Fixed(Arc::new(record::Format::Lines));
        plan.limits.threads = self.threads;
        plan.limits.chunk_size = self.chunk_size;
        let (mut out, mut rejects) = (Vec::new(), Vec::new());
        let (report, result) =
            run(&plan, &inputs, Sinks::to(&mut out).with_rejects(&mut rejects), &watch);
        result.unwrap();
        (out, rejects, report)
    }
}

const FIRST: Dedup = Dedup { order: SetOrder::First, count: false, min_count: 1, limit: None };

fn file(list: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(list).unwrap();
    file
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
        let case =
            Case { job: Job::Dedup(FIRST), profile: Profile::Crawl, backend, threads, chunk_size };
        let (out, rejected, report) = case.run(&[file.path().to_owned()]);
        assert!(out == expected, "chunks of {chunk_size}, {threads} threads, {backend:?}");
        assert_eq!(*rejects.get_or_insert_with(|| rejected.clone()), rejected);
        assert_eq!(rejected.split_inclusive(|byte| *byte == b'\n').count(), of_plain);
        let tally = report.tally;
        assert_eq!(tally.records, tally.unique + tally.duplicates + tally.rejected + tally.blank);
        assert_eq!((tally.records, tally.rejected), (records.len() as u64, of_plain as u64));
        assert_eq!(report.bytes, list.len() as u64);
    }
}

#[test]
fn limits_beyond_their_bounds_are_clamped() {
    let list = list();
    let file = file(&list);
    let (inputs, errors) = input::check(&[file.path().to_owned()]);
    assert!(errors.is_empty());
    let watch = Watch::default();
    let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(Dedup::default()));
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
        let mut out = Vec::new();
        let (_, result) = run(&plan, &inputs, Sinks::to(&mut out), &watch);
        result.unwrap();
        assert!(
            out == expected,
            "{} threads, chunks of {}, URLs of {}",
            plan.limits.threads,
            plan.limits.chunk_size,
            plan.limits.max_url
        );
    }
}

#[test]
fn reject_percentage_is_clamped() {
    let run_with = |list: &[u8], percent: f64| {
        let file = file(list);
        let (inputs, _) = input::check(&[file.path().to_owned()]);
        let watch = Watch::default();
        let job = Job::Dedup(Dedup::default());
        let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), job);
        plan.policy.max_rejected = Some(MaxRejected::Percent(percent));
        run(&plan, &inputs, Sinks::to(&mut Vec::new()), &watch).1
    };
    let (good, mixed, bad) = (b"http://h/\n", b"http://h/\nno\n", b"no\n");
    for least in [0.0, -0.0, -1.0, f64::NEG_INFINITY, f64::NAN] {
        run_with(good, least).unwrap();
        let error = run_with(mixed, least).unwrap_err();
        assert!(error.to_string().contains("more than 0 %"), "{least}: {error}");
    }
    for most in [100.0, 101.0, f64::INFINITY] {
        run_with(bad, most).unwrap();
    }
}

#[test]
fn every_profile_and_backend_agrees_with_plain_code() {
    let list = list();
    let file = file(&list);
    for profile in Profile::ALL {
        let expected = plainly_counted(&list, *profile);
        for backend in Backend::available() {
            let job = Job::Dedup(Dedup { count: true, ..FIRST });
            let case = Case { job, profile: *profile, backend, threads: 2, chunk_size: 1000 };
            let (out, ..) = case.run(&[file.path().to_owned()]);
            let counted =
                expected.iter().map(|(url, count)| [format!("{count}\t").as_bytes(), url].concat());
            assert!(out == lines(counted), "{} {backend:?}", profile.name());
        }
    }
}

#[test]
fn order_limit_and_counts_do_not_change_the_set() {
    let list = list();
    let file = file(&list);
    let counted = plainly_counted(&list, Profile::Crawl);
    let out = |dedup| {
        let case = Case {
            job: Job::Dedup(dedup),
            profile: Profile::Crawl,
            backend: Backend::best(),
            threads: 3,
            chunk_size: 500,
        };
        case.run(&[file.path().to_owned()]).0
    };
    let mut sorted: Vec<_> = counted.iter().map(|(url, _)| url.clone()).collect();
    sorted.sort();
    assert!(out(Dedup { order: SetOrder::Sorted, ..FIRST }) == lines(sorted.clone()));
    let mut by_count = counted.clone();
    by_count.sort_by_key(|(url, count)| (std::cmp::Reverse(*count), url.clone()));
    for limit in [None, Some(0), Some(1), Some(7), Some(u64::MAX)] {
        let most = by_count.iter().map(|(url, _)| url.clone());
        let most = lines(most.take(limit.map_or(usize::MAX, |limit| limit as usize)));
        assert!(out(Dedup { order: SetOrder::Count, limit, ..FIRST }) == most, "{limit:?}");
    }
    let often = counted.iter().filter(|(_, count)| *count >= 3).map(|(url, _)| url.clone());
    let often = lines(often);
    assert!(!often.is_empty() && out(Dedup { min_count: 3, ..FIRST }) == often);
    assert!(
        out(Dedup { limit: Some(5), ..FIRST })
            == lines(counted.iter().take(5).map(|(url, _)| url.clone()))
    );
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
        let case = Case {
            job: Job::Dedup(FIRST),
            profile: Profile::Crawl,
            backend: Backend::best(),
            threads,
            chunk_size: 100,
        };
        let (out, rejects, report) = case.run(&paths);
        assert!(out == expected);
        assert_eq!(report.files.len(), paths.len());
        // Records are numbered, and offsets counted, within their own file.
        let rejects: Vec<_> = rejects.split_inclusive(|byte| *byte == b'\n').collect();
        assert_eq!(rejects.len() as u64, report.tally.rejected);
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
    let file = file(&list);
    for profile in Profile::ALL {
        let records = plainly(&list, *profile);
        for (chunk_size, threads) in [(1, 2), (64, 3), (5000, 1), (1 << 20, 2)] {
            let backend = Backend::best();
            let job = Job::Normalize { json: false };
            let (out, ..) = Case { job, profile: *profile, backend, threads, chunk_size }
                .run(&[file.path().to_owned()]);
            let expected = records.iter().map(|record| match record {
                Some(Ok(url)) => url.clone(),
                _ => Vec::new(),
            });
            assert!(out == lines(expected));
            let job = Job::Normalize { json: true };
            let (out, ..) = Case { job, profile: *profile, backend, threads, chunk_size }
                .run(&[file.path().to_owned()]);
            let objects: Vec<serde_json::Value> = out
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
fn merged_sets_equal_the_set_of_both_inputs() {
    let list = list();
    let (a, b) = list.split_at(list.len() / 2);
    let dedup = |paths: &[PathBuf]| {
        let job = Job::Dedup(FIRST);
        let backend = Backend::best();
        Case { job, profile: Profile::Crawl, backend, threads: 2, chunk_size: 300 }.run(paths).0
    };
    let (a, b) = (file(a), file(b));
    let both = dedup(&[a.path().to_owned(), b.path().to_owned()]);
    let sets = [file(&dedup(&[a.path().to_owned()])), file(&dedup(&[b.path().to_owned()]))];
    assert!(dedup(&[sets[0].path().to_owned(), sets[1].path().to_owned()]) == both);
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
    let (inputs, _) = input::check(&[file.path().to_owned()]);
    let watch = Watch::default();
    let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(FIRST));
    plan.limits.threads = 2;
    plan.limits.chunk_size = 100;
    plan.input.keep_going = true;
    let (_, result) = run(&plan, &inputs, Sinks::to(&mut Full), &watch);
    assert_eq!(result.unwrap_err().to_string(), "full");
}

#[test]
fn stopped_run_ends_while_it_waits_for_a_pipe() {
    use std::os::fd::AsRawFd;
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    let (pipe, mut writer) = io::pipe().unwrap();
    writer.write_all(b"http://a.com/\nhttp://b.com/\n").unwrap();
    let path = PathBuf::from(format!("/dev/fd/{}", pipe.as_raw_fd()));
    let (inputs, errors) = input::check(&[path]);
    assert!(errors.is_empty());
    let watch = Watch::default();
    let job = Job::Dedup(Dedup::default());
    let plan = JobPlan::new(Normalizer::new(Profile::Crawl), job);
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
    std::fs::write(place.path().join("list"), &list).unwrap();
    let (inputs, _) = input::check(&[place.path().join("list")]);
    for (budget, chunk_size) in [(1 << 20, 40 << 10), (2 << 20, 80 << 10), (2 << 20, 200 << 10)] {
        let watch = Watch::default();
        let memory = Memory { budget, directory: place.path().to_owned(), tell: note };
        let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(Dedup::default()));
        plan.limits.memory = Some(memory);
        plan.limits.chunk_size = chunk_size;
        let (report, result) = run(&plan, &inputs, Sinks::to(&mut Vec::new()), &watch);
        assert!(result.is_ok() && report.spilled.written > 0);
        let needed = NEEDED.swap(0, Ordering::Relaxed);
        // Few lines of the list are in the set, and each URL is there once.
        let length = list.len() as u64;
        assert!((length / 5 * 4..=length).contains(&needed), "{needed} bytes with {budget}");
    }
}

/// The library's messages name no options of the command.
#[test]
fn error_for_a_refused_list_names_no_option() {
    let place = tempfile::tempdir().unwrap();
    for (text, why) in [
        (&b"http://a/\0http://b/\0"[..], "its records end with NUL"),
        (b"PAR1\x15\x04", "a table is not a list of URLs"),
        (b"x\n\ny\n", "none of its 2 lines is a URL under crawl@1"),
    ] {
        let path = place.path().join("seen");
        std::fs::write(&path, text).unwrap();
        let (seen, errors) = input::check(&[path]);
        assert!(errors.is_empty());
        let watch = Watch::default();
        let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(FIRST));
        plan.input.seen = seen;
        match run(&plan, &[], Sinks::to(&mut Vec::new()), &watch).1 {
            Err(RunError::Seen(error)) => {
                let told = error.to_string();
                assert!(told.contains(&format!(": seen: {why}")), "{told}");
                assert!(!told.contains(" -"), "{told}");
            }
            other => panic!("{}: {other:?}", text.escape_ascii()),
        }
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
    let (inputs, errors) = input::check(&[file.path().to_owned()]);
    assert!(errors.is_empty());
    let watch = Watch::default();
    let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(FIRST));
    plan.input.format = InputFormat::Fixed(Arc::new(record::Format::parse(format).unwrap()));
    plan.limits.threads = 1;
    plan.limits.chunk_size = 1000;
    match run(&plan, &inputs, Sinks::to(&mut Rewriting(file.path())), &watch).1 {
        Err(RunError::Input(error)) if matches!(error.trouble, input::Trouble::Replaced) => {}
        result => panic!("{format}: {result:?}"),
    }
}

#[test]
fn file_rewritten_while_it_is_read_is_an_error() {
    let lines: String = (0..200_000).map(|n| format!("http://h/{n}\n")).collect();
    assert_rewriting_is_an_error("lines", lines.as_bytes());
    // The position of the header decides how a chunk is read.
    assert_rewriting_is_an_error("csv:url", format!("url\n{lines}").as_bytes());
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(lines.as_bytes()).unwrap();
    assert_rewriting_is_an_error("lines", &packer.finish().unwrap());
}

#[test]
fn seen_list_rewritten_while_it_is_read_is_an_error() {
    fn rewrite(spilling: &SpillNotice<'_>) {
        let file = std::fs::File::options().write(true).open(spilling.directory.join("seen"));
        file.unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let lines: String = (0..200_000).map(|n| format!("http://h/{n}\n")).collect();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(lines.as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    // Apparent damage may also come from a rewrite.
    for bytes in [lines.as_bytes(), &packed, &packed[..packed.len() - 9]] {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("seen");
        std::fs::write(&path, bytes).unwrap();
        let (seen, errors) = input::check(&[path]);
        assert!(errors.is_empty());
        let watch = Watch::default();
        let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(FIRST));
        plan.input.seen = seen;
        plan.limits.threads = 1;
        plan.limits.chunk_size = 1000;
        plan.limits.memory =
            Some(Memory { budget: 1, directory: place.path().into(), tell: rewrite });
        match run(&plan, &[], Sinks::to(&mut Vec::new()), &watch).1 {
            Err(RunError::Input(error)) if matches!(error.trouble, input::Trouble::Replaced) => {}
            result => panic!("{result:?}"),
        }
    }
}
