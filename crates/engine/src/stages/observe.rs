//! Observes one batch for the page of `--report`.

use std::collections::HashMap;
use std::path::Path;

use crate::batch::{Extras, HostCount, NameCounts, UrlRef, WorkBatch};
use crate::output::Observed;
use uniqurl::Template;
use uniqurl::internal::{AllocError, Located, alloc};
use uniqurl_formats::record::{Extracted, FieldReader, PartSet, RecordPart};
use uniqurl_text::{HIDDEN, Printable, redact};

/// Adds the hosts, URLs and templates of these batches, which were [observed](observe), in order.
pub(crate) fn add_names(batches: &[WorkBatch], observed: &mut Observed) {
    let counts = |count: fn(&HostCount) -> u64| {
        let hosts = batches.iter().flat_map(|batch| {
            let hosts = batch.extras.iter().flat_map(|extras| &extras.hosts);
            hosts.map(move |host| (batch, host))
        });
        let hosts = hosts.filter(move |(_, host)| count(host) > 0);
        hosts.map(move |(batch, host)| (batch.text.get(host.name), count(host)))
    };
    let of_batches = || batches.iter().flat_map(|batch| &batch.extras);
    let Observed { records, duplicates, urls, templates, .. } = observed;
    // The tables are independent.
    rayon::scope(|scope| {
        scope.spawn(|_| {
            counts(|host| host.duplicates).for_each(|(host, count)| duplicates.add(host, count));
        });
        scope.spawn(|_| {
            let counts = of_batches().flat_map(|extras| extras.templates.iter());
            counts.for_each(|(template, count)| templates.add(template, count));
        });
        scope.spawn(|_| {
            let counts = of_batches().flat_map(|extras| extras.urls.iter());
            counts.for_each(|(url, count)| urls.add(url, count));
        });
        counts(|host| host.records).for_each(|(host, count)| records.add(host, count));
    });
}

/// Observes a batch, once it is known which of its keys are new. `has_set` says whether there is a set.
pub(crate) fn observe(batch: &mut WorkBatch, path: &Path, has_set: bool) -> Result<(), AllocError> {
    let mut observed = Observed::default();
    let mut hosts = std::mem::take(&mut batch.extras.get_or_insert_default().hosts);
    count_hosts(batch, has_set, &mut observed, &mut hosts)?;
    let Extras { urls, templates, .. } = &mut **batch.extras.get_or_insert_default();
    let (mut urls, mut templates) = (std::mem::take(urls), std::mem::take(templates));
    count_urls(batch, &mut urls, &mut templates)?;
    count_numbers(batch, &mut observed)?;
    // The first of the batches that share a chunk has all of it.
    if batch.sequence.from == 0 {
        observed.unpacked_bytes = batch.text.chunk().len() as u64;
    }
    let file = Printable::path(path).to_string();
    let mut masked = Vec::new();
    for reject in &batch.rejected {
        let number = batch.number_in_input(reject.sequence as usize);
        for code in reject.reject.in_order() {
            // Few records become samples, so the others are not masked.
            if observed.samples.wants(code) {
                masked.clear();
                batch.mask_raw(reject, &mut masked);
                observed.samples.add(code, &file, number, &masked);
            }
        }
    }
    let extras = batch.extras.get_or_insert_default();
    (extras.hosts, extras.urls, extras.templates) = (hosts, urls, templates);
    extras.observed = Some(Box::new(observed));
    Ok(())
}

/// Counts the records of each URL and of each template. Secrets are masked first, so that none gets into a
/// count.
fn count_urls(
    batch: &WorkBatch,
    urls: &mut NameCounts,
    templates: &mut NameCounts,
) -> Result<(), AllocError> {
    let canonical = batch.canonical();
    let (mut masked, mut ends) = (Vec::new(), Vec::new());
    alloc::try_reserve_exact(&mut ends, canonical.len())?;
    for url in canonical.iter().filter(|url| url.is_canonical()) {
        let text = batch.text.get(*url);
        alloc::try_reserve(&mut masked, longest_masked(text.len()))?;
        redact(text, &mut masked);
        ends.push((masked.len(), 1));
    }
    let distinct = totals(&masked, &ends)?;
    let mut made = Vec::new();
    ends.clear();
    for (url, count) in distinct {
        urls.add(url, count)?;
        alloc::try_reserve(&mut made, Template::longest(url.len()))?;
        Template::of(url, &mut made);
        ends.push((made.len(), count));
    }
    totals(&made, &ends)?
        .into_iter()
        .try_for_each(|(template, count)| templates.add(template, count))
}

/// The distinct names among those one after the other in `bytes`, by first occurrence, each with its total.
/// `ends` says where each name ends, and its count.
fn totals<'b>(bytes: &'b [u8], ends: &[(usize, u64)]) -> Result<Vec<(&'b [u8], u64)>, AllocError> {
    let (mut numbers, mut totals, mut start) = (HashMap::new(), Vec::new(), 0);
    for (end, count) in ends {
        let name = &bytes[start..*end];
        start = *end;
        alloc::try_reserve_in_map(&mut numbers, 1)?;
        let number = *numbers.entry(name).or_insert(totals.len());
        if number == totals.len() {
            alloc::try_reserve(&mut totals, 1)?;
            totals.push((name, 0));
        }
        totals[number].1 += count;
    }
    Ok(totals)
}

/// The greatest length of a URL of `length` bytes once its secrets are masked: each may be empty.
fn longest_masked(length: usize) -> usize {
    length + (length + 2) * HIDDEN.len()
}

/// Counts the statuses and times of the records with a canonical URL.
fn count_numbers(batch: &WorkBatch, observed: &mut Observed) -> Result<(), AllocError> {
    let format = batch.extras.as_ref().and_then(|extras| extras.format.as_ref());
    let Some(format) = format else { return Ok(()) };
    let asked = PartSet::of(&[RecordPart::Status, RecordPart::Time]);
    let mut reader = FieldReader::new(format, asked);
    if reader.parts().is_empty() {
        return Ok(());
    }
    let chunk = batch.text.chunk();
    let mut canonical = batch.canonical().iter();
    for (line, found) in batch.text.all_records() {
        if found == Extracted::Skipped {
            reader.pass(line.of(chunk));
            continue;
        }
        let Some(url) = canonical.next() else { break };
        if !url.is_canonical() {
            continue;
        }
        let numbers = reader.read(line.of(chunk))?.numbers;
        if let Some(status) = numbers.status {
            observed.statuses.add(status);
        }
        if let Some(time) = numbers.time {
            observed.times.add(time, numbers.status);
        }
    }
    Ok(())
}

/// Counts the records of each host, and the bytes of the new keys.
fn count_hosts(
    batch: &WorkBatch,
    has_set: bool,
    observed: &mut Observed,
    hosts: &mut Vec<HostCount>,
) -> Result<(), AllocError> {
    let (mut is_new, mut is_seen) = (Vec::new(), Vec::new());
    for marks in [&mut is_new, &mut is_seen] {
        alloc::try_reserve_exact(marks, batch.keys.len())?;
        marks.resize(batch.keys.len(), false);
    }
    for entry in &batch.entries.all {
        is_new[entry.sequence as usize] = entry.new_place().is_some();
        is_seen[entry.sequence as usize] = entry.is_seen();
    }
    let found = is_new.into_iter().zip(is_seen);
    let mut numbers = HashMap::new();
    for ((url, key), (is_new, is_seen)) in batch.canonical().iter().zip(&batch.keys).zip(found) {
        if !url.is_canonical() {
            continue;
        }
        let text = batch.text.get(*url);
        let host = Located::split(text).map_or(&text[..0], |located| located.host);
        alloc::try_reserve_in_map(&mut numbers, 1)?;
        let number = numbers.entry(host).or_insert(hosts.len());
        if *number == hosts.len() {
            let before = host.as_ptr() as usize - text.as_ptr() as usize;
            let name = UrlRef { at: url.at + before as u32, len: host.len() as u32 };
            alloc::try_reserve(hosts, 1)?;
            hosts.push(HostCount { name, records: 0, duplicates: 0 });
        }
        let host = &mut hosts[*number];
        host.records += 1;
        observed.canonical_bytes += text.len() as u64 + 1;
        // A key that a full set did not hold may come again all the same.
        if is_new {
            // A line feed ends each.
            observed.unique_bytes += batch.text.get(*key).len() as u64 + 1;
        } else if has_set && !is_seen {
            host.duplicates += 1;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use std::sync::Arc;

    use crate::{Job, JobPlan, RunError, Sinks, Watch, run};
    use uniqurl::internal::alloc::failing::{self, Plan};
    use uniqurl::{Normalizer, Profile};
    use uniqurl_formats::input;

    /// The number of allocations in a run. Each is made to fail once: the run then ends with an error, or
    /// goes on.
    fn refusals(observes: bool) -> u64 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("in");
        std::fs::write(&path, "http://a/\nhttp://b/\n").unwrap();
        let (inputs, _) = input::check(&[path]);
        let watch = Watch::default();
        let normalizer = Normalizer::new(Profile::Syntax);
        let mut job_plan = JobPlan::new(normalizer, Job::Dedup(Default::default()));
        job_plan.output.observes = observes;
        let fails = |k: &u64| {
            let plan = Plan::at(*k, false);
            failing::follow(Some(Arc::clone(&plan)));
            let (_, result) = run(&job_plan, &inputs, Sinks::to(&mut Vec::new()), &watch);
            failing::follow(None);
            match result {
                Ok(()) | Err(RunError::Set(_) | RunError::Memory) => {}
                Err(RunError::Output(error)) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory);
                }
                Err(error) => panic!("{k}: {error}"),
            }
            plan.has_failed()
        };
        (0..).take_while(fails).count() as u64
    }

    #[test]
    fn failed_allocation_while_counting_hosts_ends_the_run() {
        assert!(refusals(true) > refusals(false));
    }

    #[test]
    fn hosts_are_counted_across_all_chunks() {
        let mut lines = String::new();
        let mut counts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for i in 0..900 {
            let (host, path) = (format!("h{}", i % 7), i % 90);
            let url = match i % 5 {
                0 => format!("http://u:p@{host}:8/{path}?q=http://h/"),
                1 => format!("HTTP://{host}/{path}"),
                2 => format!("mailto:a@{host}{path}"),
                _ => format!("http://{host}?{path}"),
            };
            let (records, duplicates) =
                counts.entry(if i % 5 == 2 { String::new() } else { host }).or_default();
            *records += 1;
            // Records repeat after the least common multiple of these numbers.
            *duplicates += u64::from(i >= 630);
            lines += &url;
            lines.push('\n');
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("in");
        std::fs::write(&path, lines).unwrap();
        let (inputs, _) = input::check(&[path]);
        let watch = Watch::default();
        for threads in [1, 3] {
            let normalizer = Normalizer::new(Profile::Syntax);
            let mut plan = JobPlan::new(normalizer, Job::Dedup(Default::default()));
            plan.limits.threads = threads;
            plan.limits.chunk_size = 200;
            plan.output.observes = true;
            let (report, result) = run(&plan, &inputs, Sinks::to(&mut Vec::new()), &watch);
            result.unwrap();
            let observed = report.observed.unwrap();
            let expected = |count: fn(&(u64, u64)) -> u64| {
                counts.iter().map(|(host, counts)| (host.clone(), count(counts))).collect()
            };
            let found = |top: Vec<(&[u8], u64)>| -> BTreeMap<String, u64> {
                top.into_iter()
                    .map(|(host, n)| (String::from_utf8_lossy(host).into_owned(), n))
                    .collect()
            };
            assert_eq!(found(observed.records.top(99)), expected(|counts| counts.0));
            assert_eq!(found(observed.duplicates.top(99)), expected(|counts| counts.1));
        }
    }

    #[test]
    fn observations_do_not_depend_on_chunks_or_threads() {
        let line = |i: u32| {
            let (day, minute, status) = (1 + i % 28, i % 60, 200 + i % 7);
            format!(
                "h - - [{day:02}/Oct/2000:13:{minute:02}:36 -0700] \"GET /{}/{i} HTTP/1.1\" {status} 5\n",
                i % 3
            )
        };
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("in");
        std::fs::write(&path, (0..900).map(line).collect::<String>()).unwrap();
        let (inputs, _) = input::check(&[path]);
        let watch = Watch::default();
        let mut all = Vec::new();
        for (threads, chunk_size) in [(1, 1 << 20), (1, 300), (3, 300), (3, 7000)] {
            let normalizer = Normalizer::new(Profile::Syntax);
            let mut plan = JobPlan::new(normalizer, Job::Dedup(Default::default()));
            (plan.limits.threads, plan.limits.chunk_size) = (threads, chunk_size);
            plan.output.observes = true;
            let (report, result) = run(&plan, &inputs, Sinks::to(&mut Vec::new()), &watch);
            result.unwrap();
            let observed = report.observed.unwrap();
            let owned = |names: Vec<(&[u8], u64)>| -> Vec<_> {
                names.into_iter().map(|(name, n)| (name.to_vec(), n)).collect()
            };
            let sizes = [observed.unpacked_bytes, observed.canonical_bytes, observed.unique_bytes];
            let names = [&observed.templates, &observed.urls].map(|names| owned(names.top(999)));
            all.push((names, observed.statuses, observed.times, sizes));
        }
        let ([templates, urls], statuses, times, sizes) = &all[0];
        assert_eq!(
            (urls.len(), sizes[0]),
            (900, std::fs::metadata(&inputs[0].path).unwrap().len())
        );
        assert_eq!(sizes[1], sizes[2]);
        assert_eq!(*templates, [(b"/{int}/{int}".to_vec(), 900)]);
        assert_eq!(statuses.codes().next(), Some((200, 129)));
        assert_eq!((times.width(), times.stretches().map(|(_, n)| n.all).sum()), (21_600, 900));
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
