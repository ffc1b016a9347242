//! Writes to a store: one writer at a time.
//!
//! A change makes new runs under their final names and a manifest under a temporary one, and then renames that,
//! which is the moment when the change happens. Before it, new runs are files that nothing names; after it,
//! merged runs are. An error means that the change has not happened; what fails later is a warning.
//!
//! ```text
//! write the new run, sync it and the directory     a kill leaves a run that nothing names
//! write `manifest.new`, sync it                    a kill leaves that too
//! the caller gives its outputs their names         a kill gives URLs twice, and loses none
//! rename `manifest.new` to `manifest`              the change happens
//! sync the directory                               a crash no longer undoes it
//! remove the runs that were merged                 a kill leaves them to the next writer
//! ```
//!
//! All of it is done under the lock of the directory. Readers need none: they keep the runs of their manifest open.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::builder::{Change, Novelty, PreparedRun, RunBuilder};
use super::directory::WriterDirectory;
use super::error::SeenStoreError;
use super::lock::WhenBusy;
use super::manifest::Manifest;
use super::merge::{MergeResult, RunMerge, runs_at_once};
use super::new_run::NewRun;
use super::next_state::{NextState, RunChange};
use super::rules::StoreRules;
use super::run::Run;
use super::store::SeenStore;
use super::tiers::runs_to_merge;
use super::time::UnixTime;

/// The right to write to a store. Readers go on reading the store as they found it.
#[derive(Debug)]
pub struct SeenWriter {
    directory: Arc<WriterDirectory>,
    store: SeenStore,
}

/// The number of keys that were dropped for their age, and the error of a sync after that.
type Forgotten = (u64, Option<SeenStoreError>);

/// A change of the keys, which has happened.
#[derive(Debug)]
#[must_use = "it may hold a warning"]
pub struct Changed {
    /// The number of keys that came or went.
    pub keys: u64,
    /// A sentence about what failed after it. The store is whole all the same: either its directory could not
    /// be synced, or runs could not be merged, which the next commit tries again.
    pub warning: Option<String>,
}

impl Changed {
    /// A change after which the directory could not be synced, if there is an error.
    fn of(keys: u64, unsynced: Option<SeenStoreError>) -> Self {
        let warning = unsynced.map(|error| {
            format!("{error}; the store is changed, but a crash of the system may undo that")
        });
        Self { keys, warning }
    }
}

impl SeenWriter {
    /// Takes the right to write to the store in the directory `path`, and makes an empty store if nothing has
    /// the name. What killed writers left behind is removed.
    ///
    /// # Errors
    ///
    /// The directory is no store, the store has other rules, another process writes to it, or a file of it
    /// cannot be read or written.
    pub fn create_or_open(
        path: &Path,
        rules: &StoreRules,
        when_busy: WhenBusy,
    ) -> Result<Self, SeenStoreError> {
        let directory = WriterDirectory::make(path, when_busy)?;
        // Under the lock once more: another process may have made the store while this one waited.
        if !directory.has_manifest()? {
            directory.write_manifest(&Manifest::new(rules.clone()))?;
            directory.name_manifest()?;
            directory.sync()?;
        }
        let writer = Self::of(directory)?;
        writer.store.check_rules(rules)?;
        Ok(writer)
    }

    /// The same for a store that is there, whatever its rules.
    ///
    /// # Errors
    ///
    /// As above, and if there is no store.
    pub fn open(path: &Path, when_busy: WhenBusy) -> Result<Self, SeenStoreError> {
        // A directory that is no store gets no lock.
        Manifest::read(path)?;
        Self::of(WriterDirectory::lock(path, when_busy)?)
    }

    fn of(directory: WriterDirectory) -> Result<Self, SeenStoreError> {
        let store = SeenStore::open(directory.path())?;
        directory.remove_orphans(store.manifest())?;
        Ok(Self { directory: Arc::new(directory), store })
    }

    /// The store as it is now.
    pub fn store(&self) -> &SeenStore {
        &self.store
    }

    /// Begins an add at this time.
    ///
    /// # Errors
    ///
    /// The file cannot be made.
    pub fn begin_add(
        &self,
        time: UnixTime,
        novelty: Novelty,
    ) -> Result<RunBuilder<'_>, SeenStoreError> {
        let is_empty = self.store.runs().is_empty();
        // There is nothing to look a key up in.
        let novelty = if is_empty { Novelty::AllNew } else { novelty };
        let add = (self.store.manifest().next_add, time);
        self.begin(Change::Add(novelty), &[add])
    }

    /// Begins to take keys out. Keys that are not in the store may be among them; they change nothing.
    ///
    /// # Errors
    ///
    /// The file cannot be made.
    pub fn begin_removal(&self) -> Result<RunBuilder<'_>, SeenStoreError> {
        self.begin(Change::Removal, &[])
    }

    fn begin(
        &self,
        change: Change,
        adds: &[(u64, UnixTime)],
    ) -> Result<RunBuilder<'_>, SeenStoreError> {
        let number = self.store.manifest().next_run;
        let run = NewRun::create(&self.directory, number, adds)?;
        Ok(RunBuilder::new(&self.store, change, run))
    }

    /// Puts a prepared run into the store, and then merges runs of about the same size within `memory` bytes.
    /// A run without keys changes nothing.
    ///
    /// # Errors
    ///
    /// The run was prepared for another state of the store, or its manifest cannot be renamed. Nothing came or
    /// went then.
    pub fn commit(&mut self, run: PreparedRun, memory: usize) -> Result<Changed, SeenStoreError> {
        let PreparedRun { next, changed: keys } = run;
        let Some(next) = next else { return Ok(Changed::of(0, None)) };
        // A prepared run borrows nothing. If another change came between, its manifest would undo
        // that one.
        let is_of_here = Arc::ptr_eq(&next.directory, &self.directory);
        if !is_of_here || next.before != *self.store.manifest() {
            return Err(misplaced(self.directory.path()));
        }
        let mut changed = Changed::of(keys, self.take_effect(next)?);
        // Not after a failed sync: a merge needs one too before it may remove a run.
        if changed.warning.is_none()
            && let Err(error) = self.merge_tiers(memory)
        {
            let text = "the store is changed, and a later change merges its runs";
            changed.warning = Some(format!("{error}; {text}"));
        }
        Ok(changed)
    }

    /// Merges until there are few enough runs of each size.
    fn merge_tiers(&mut self, memory: usize) -> Result<(), SeenStoreError> {
        let entries = |store: &SeenStore| -> Vec<u64> {
            store.runs().iter().map(|run| run.info().entries).collect()
        };
        while let Some(runs) = runs_to_merge(&entries(&self.store)) {
            self.merge(runs, memory)?;
        }
        Ok(())
    }

    /// Merges all runs into one, within `memory` bytes.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written. The keys are as they were then, and as many runs as before or fewer.
    pub fn compact(&mut self, memory: usize) -> Result<(), SeenStoreError> {
        match self.store.runs().len() {
            0 | 1 => Ok(()),
            runs => self.merge(0..runs, memory),
        }
    }

    /// Drops the keys that were added before this time, within `memory` bytes.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written. No key is gone then.
    pub fn forget(&mut self, before: UnixTime, memory: usize) -> Result<Changed, SeenStoreError> {
        let adds = self.store.runs().iter().flat_map(Run::adds);
        if !adds.into_iter().any(|add| add.keys > 0 && add.time < before) {
            return Ok(Changed::of(0, None));
        }
        // With as many entries as keys, no older entry of a key comes to light where one goes.
        let (forgotten, unsynced) = match self.store.entries() == self.store.manifest().keys {
            true => self.forget_alone(before)?,
            false => {
                // Elsewhere an older entry of a forgotten key would count again, so all runs are
                // read together.
                let all = self.merge_until_few(0..self.store.runs().len(), memory)?;
                self.merge_at_once(all, Some(before))?
            }
        };
        Ok(Changed::of(forgotten, unsynced))
    }

    /// Forgets keys of a store in which each key has one entry: each run loses its own.
    fn forget_alone(&mut self, before: UnixTime) -> Result<Forgotten, SeenStoreError> {
        let mut manifest = self.store.manifest().clone();
        let mut number = manifest.next_run;
        let (mut changes, mut forgotten) = (Vec::new(), 0);
        for (n, run) in self.store.runs().iter().enumerate() {
            let of_run = run.adds().iter().filter(|add| add.time < before).map(|add| add.keys);
            let of_run: u64 = of_run.sum();
            if of_run == 0 {
                continue;
            }
            let mut rest = None;
            if of_run < run.info().entries {
                let runs = std::slice::from_ref(run);
                let merge = RunMerge { runs, has_oldest: n == 0, since: Some(before) };
                rest = merge.write(&self.directory, number)?.run;
                number += 1;
            }
            changes.push((n..n + 1, rest));
            forgotten += of_run;
        }
        manifest.keys = manifest.keys.saturating_sub(forgotten);
        Ok((forgotten, self.replace(manifest, changes)?))
    }

    /// Merges a range of runs into one, which changes no key.
    fn merge(&mut self, runs: Range<usize>, memory: usize) -> Result<(), SeenStoreError> {
        let rest = self.merge_until_few(runs, memory)?;
        self.merge_at_once(rest, None)?.1.map_or(Ok(()), Err)
    }

    /// Merges runs of a range until the memory suffices for all of them at once, and returns what the range is
    /// then. The newest are merged first, which usually are the smallest.
    fn merge_until_few(
        &mut self,
        runs: Range<usize>,
        memory: usize,
    ) -> Result<Range<usize>, SeenStoreError> {
        let (Range { start, mut end }, at_once) = (runs, runs_at_once(memory));
        while end - start > at_once {
            let before = self.store.runs().len();
            self.merge_at_once(end - at_once..end, None)?.1.map_or(Ok(()), Err)?;
            end -= before - self.store.runs().len();
        }
        Ok(start..end)
    }

    /// Merges runs into one, without keys from before a time.
    fn merge_at_once(
        &mut self,
        range: Range<usize>,
        since: Option<UnixTime>,
    ) -> Result<Forgotten, SeenStoreError> {
        let mut manifest = self.store.manifest().clone();
        let runs = &self.store.runs()[range.clone()];
        let merge = RunMerge { runs, has_oldest: range.start == 0, since };
        let MergeResult { run, forgotten } = merge.write(&self.directory, manifest.next_run)?;
        manifest.keys = manifest.keys.saturating_sub(forgotten);
        Ok((forgotten, self.replace(manifest, vec![(range, run)])?))
    }

    /// Lets new runs take the place of ranges of runs, in ascending order, with the other numbers of `manifest`.
    fn replace(
        &mut self,
        manifest: Manifest,
        changes: Vec<RunChange>,
    ) -> Result<Option<SeenStoreError>, SeenStoreError> {
        let next = NextState::write(&self.store, &self.directory, manifest, changes)?;
        self.take_effect(next)
    }

    /// Lets the next state take the place of this one. It has done so where an error is returned inside of `Ok`:
    /// then a crash of the system may bring back the state before.
    fn take_effect(&mut self, next: NextState) -> Result<Option<SeenStoreError>, SeenStoreError> {
        let NextState { manifest, bytes, mut files, runs: changes, gone, .. } = next;
        // Even if it fails, the manifest may name them from now on.
        files.iter_mut().for_each(NewRun::keep);
        self.directory.name_manifest()?;
        self.store.update(manifest, bytes, changes);
        if let Err(error) = self.directory.sync() {
            // The manifest before may come back, so the runs that it names stay. The next writer removes them.
            return Ok(Some(error));
        }
        for run in gone {
            self.directory.remove(&run.name);
        }
        Ok(None)
    }
}

/// The error of a prepared run that belongs to another state of the store.
fn misplaced(path: &Path) -> SeenStoreError {
    let text = "the run was prepared for another state of the store";
    SeenStoreError::io(path, io::Error::new(io::ErrorKind::InvalidInput, text))
}
