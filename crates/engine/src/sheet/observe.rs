//! What the page of `--report` shows beside the accounting, of one chunk.

use std::collections::HashMap;
use std::path::Path;

use super::Sheet;
use super::text::Url;
use crate::output::Observed;
use uniqurl::bytes::AllocError;
use uniqurl::bytes::Printable;
use uniqurl::bytes::alloc::{self};
use uniqurl::key::Located;

/// How many records of a chunk have a host, and how many of them are of URLs that were in the set.
#[derive(Debug)]
pub(super) struct Host {
    /// Its bytes in one of those URLs; none where no host is named.
    name: Url,
    records: u64,
    duplicates: u64,
}

/// Adds the hosts of these sheets, which were [observed](Sheet::observe), in their order.
pub(crate) fn add_hosts(sheets: &[Sheet], observed: &mut Observed) {
    let counts = |count: fn(&Host) -> u64| {
        let hosts =
            sheets.iter().flat_map(|sheet| sheet.hosts.iter().map(move |host| (sheet, host)));
        let hosts = hosts.filter(move |(_, host)| count(host) > 0);
        hosts.map(move |(sheet, host)| (sheet.text.get(host.name), count(host)))
    };
    let Observed { records, duplicates, .. } = observed;
    rayon::join(
        || counts(|host| host.records).for_each(|(host, count)| records.add(host, count)),
        || counts(|host| host.duplicates).for_each(|(host, count)| duplicates.add(host, count)),
    );
}

impl Sheet {
    /// Observes the chunk, once it is known which of its URLs are new to the set. `sets` says whether
    /// there is one.
    pub(crate) fn observe(&mut self, path: &Path, sets: bool) -> Result<(), AllocError> {
        let mut observed = Observed::default();
        let (mut is_new, mut is_seen) = (Vec::new(), Vec::new());
        for marks in [&mut is_new, &mut is_seen] {
            alloc::try_reserve_exact(marks, self.urls.len())?;
            marks.resize(self.urls.len(), false);
        }
        for entry in &self.entries {
            is_new[entry.sequence as usize] = entry.new_place().is_some();
            is_seen[entry.sequence as usize] = entry.is_seen();
        }
        let canonical = if self.canonical.is_empty() { &self.urls } else { &self.canonical };
        let found = is_new.into_iter().zip(is_seen);
        let mut hosts = std::mem::take(&mut self.hosts);
        let mut numbers = HashMap::new();
        for ((url, key), (is_new, is_seen)) in canonical.iter().zip(&self.urls).zip(found) {
            if !url.is_canonical() {
                continue;
            }
            let text = self.text.get(*url);
            let host = Located::split(text).map_or(&text[..0], |located| located.host);
            alloc::try_reserve_in_map(&mut numbers, 1)?;
            let number = numbers.entry(host).or_insert(hosts.len());
            if *number == hosts.len() {
                let before = host.as_ptr() as usize - text.as_ptr() as usize;
                let name = Url { at: url.at + before as u32, len: host.len() as u32 };
                alloc::try_reserve(&mut hosts, 1)?;
                hosts.push(Host { name, records: 0, duplicates: 0 });
            }
            let host = &mut hosts[*number];
            host.records += 1;
            // What the set did not hold when it took no more may come again all the same.
            if is_new {
                // A line feed ends each.
                observed.unique_bytes += self.text.get(*key).len() as u64 + 1;
            } else if sets && !is_seen {
                host.duplicates += 1;
            }
        }
        self.hosts = hosts;
        let file = Printable::path(path).to_string();
        let mut masked = Vec::new();
        for reject in &self.rejected {
            let number = self.before.in_input + u64::from(reject.sequence) + 1;
            for code in reject.reject.in_order() {
                if observed.samples.wants(code) {
                    masked.clear();
                    self.mask_raw(reject, &mut masked);
                    observed.samples.add(code, &file, number, &masked);
                }
            }
        }
        self.observed = Some(Box::new(observed));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use std::sync::Arc;

    use crate::{Job, RunError, Setup, Watch, run};
    use uniqurl::bytes::alloc::failing::{self, Plan};
    use uniqurl::{Normalizer, Profile};
    use uniqurl_formats::input;

    /// How often memory is asked for. Each time there is none, and the run ends with word of it or goes on.
    fn refusals(observes: bool) -> u64 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("in");
        std::fs::write(&path, "http://a/\nhttp://b/\n").unwrap();
        let (inputs, _) = input::check(&[path]);
        let watch = Watch::default();
        let setup = Setup {
            threads: 1,
            observes,
            ..Setup::new(Normalizer::new(&Profile::SYNTAX), Job::Dedup(Default::default()), &watch)
        };
        let fails = |k: &u64| {
            let plan = Plan::at(*k, false);
            failing::follow(Some(Arc::clone(&plan)));
            let (_, result) = run(&setup, &inputs, &mut Vec::new(), None);
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
    fn hosts_that_find_no_memory_end_the_run() {
        assert!(refusals(true) > refusals(false));
    }

    #[test]
    fn hosts_are_counted_over_all_chunks_whatever_stands_around_them() {
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
            // As many records as the least common multiple of these numbers come before the first again.
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
            let normalizer = Normalizer::new(&Profile::SYNTAX);
            let setup = Setup {
                threads,
                chunk_size: 200,
                observes: true,
                ..Setup::new(normalizer, Job::Dedup(Default::default()), &watch)
            };
            let (report, result) = run(&setup, &inputs, &mut Vec::new(), None);
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
}
