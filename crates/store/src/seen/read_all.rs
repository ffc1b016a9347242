//! Reads a whole store: to verify it, or to write its keys.

use std::io::Write;
use std::path::Path;

use uniqurl::internal::alloc;

use super::error::SeenStoreError;
use super::manifest::MANIFEST;
use super::merge_reader::MergeReader;
use super::run::{Mark, Run};
use super::stats::StoreStats;
use super::store::SeenStore;

/// Bytes that are written at once.
const WRITTEN: usize = 256 << 10;

impl SeenStore {
    /// Reads everything, and checks checksums, the order and the numbers of keys.
    ///
    /// # Errors
    ///
    /// A run cannot be read or is damaged.
    pub fn verify(&self) -> Result<StoreStats, SeenStoreError> {
        // Each run by itself comes first, since merging relies on the order of keys in it.
        self.runs().iter().try_for_each(Run::verify)?;
        // Which entries count is known across runs only, so all of them are read a second time.
        let mut keys = 0;
        let mut entries = MergeReader::new(self.path(), self.runs())?;
        while let Some(entry) = entries.next()? {
            keys += u64::from(entry.is_newest && entry.mark != Mark::Removed);
        }
        let stats = self.stats();
        if keys != stats.keys {
            let reason = format!("it says {} keys, and the runs hold {keys}", stats.keys);
            return Err(SeenStoreError::damaged(&self.path().join(MANIFEST), 0, &reason));
        }
        Ok(stats)
    }

    /// Writes the keys in the order of their bytes, each with a line feed; those of adds after the add
    /// number `after` only, if there is one. Returns their number.
    ///
    /// # Errors
    ///
    /// A run cannot be read or is damaged, or `out` fails, which is an error of `name`.
    pub fn export(
        &self,
        after: Option<u64>,
        out: &mut dyn Write,
        name: &Path,
    ) -> Result<u64, SeenStoreError> {
        let is_wanted = |number| after.is_none_or(|after| number > after);
        // Runs that are older than all wanted ones decide about no wanted key.
        let has_wanted = |run: &Run| run.adds().iter().any(|add| is_wanted(add.number));
        let older = self.runs().iter().take_while(|run| !has_wanted(run)).count();
        let runs = &self.runs()[older..];
        let mut entries = MergeReader::new(self.path(), runs)?;
        let mut written = 0;
        let mut lines = Vec::new();
        while let Some(entry) = entries.next()? {
            let Mark::Added(add) = entry.mark else { continue };
            if !entry.is_newest || !is_wanted(runs[entry.run].adds()[add as usize].number) {
                continue;
            }
            if lines.len() + entry.key.len() >= WRITTEN {
                out.write_all(&lines).map_err(|error| SeenStoreError::io(name, error))?;
                lines.clear();
            }
            alloc::try_reserve(&mut lines, entry.key.len() + 1)
                .map_err(|_| SeenStoreError::memory(self.path()))?;
            lines.extend_from_slice(entry.key);
            lines.push(b'\n');
            written += 1;
        }
        out.write_all(&lines).map_err(|error| SeenStoreError::io(name, error))?;
        Ok(written)
    }
}
