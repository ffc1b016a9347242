//! What the page of `--report` shows beside the accounting, of one chunk.

use std::path::Path;

use super::Sheet;
use crate::key::Located;
use crate::output::{Observed, Printable, redact};

impl Sheet {
    /// Observes the chunk, once it is known which of its URLs are new to the set. `sets` says whether
    /// there is one.
    pub(in crate::pipeline) fn observe(&mut self, path: &Path, sets: bool) {
        let mut observed = Observed::default();
        let mut is_new = vec![false; self.urls.len()];
        let mut is_seen = vec![false; self.urls.len()];
        for entry in &self.entries {
            is_new[entry.sequence as usize] = entry.new_place().is_some();
            is_seen[entry.sequence as usize] = entry.is_seen();
        }
        let canonical = if self.canonical.is_empty() { &self.urls } else { &self.canonical };
        let found = is_new.into_iter().zip(is_seen);
        for ((url, key), (is_new, is_seen)) in canonical.iter().zip(&self.urls).zip(found) {
            if !url.is_canonical() {
                continue;
            }
            let host = Located::split(self.text.get(*url)).map_or(&b""[..], |located| located.host);
            observed.records.add(host, 1);
            if is_new {
                // A line feed ends each.
                observed.unique_bytes += self.text.get(*key).len() as u64 + 1;
            } else if sets && !is_seen && !self.spills {
                observed.duplicates.add(host, 1);
            }
        }
        let file = Printable::path(path).to_string();
        let mut masked = Vec::new();
        for reject in &self.rejected {
            let number = self.before.in_input + u64::from(reject.sequence) + 1;
            for code in reject.reject.in_order() {
                if observed.samples.wants(code) {
                    masked.clear();
                    redact(self.raw(reject), &mut masked);
                    observed.samples.add(code, &file, number, &masked);
                }
            }
        }
        self.observed = Some(Box::new(observed));
    }
}
