//! Writes to a store: one writer at a time.
//!
//! A change makes new runs under their final names, and then replaces the manifest, which is the moment when
//! the change happens. Before that, new runs are files that nothing names; after it, merged runs are.

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

/// The run that takes the place of a range of runs, if any is left.
type RunChange = (Range<usize>, Option<(NewRun, Run)>);

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

    /// Puts a prepared run into the store, and merges runs of about the same size within `memory` bytes. A
    /// run without keys changes nothing. Returns the number of keys that came or went.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written. The store is then as it was before, or as after the add.
    pub fn commit(&mut self, run: PreparedRun, memory: usize) -> Result<u64, SeenStoreError> {
        let PreparedRun { change, run, changed } = run;
        let Some(run) = run else { return Ok(0) };
        let mut manifest = self.store.manifest().clone();
        if !run.0.is_of(&self.directory) || run.0.number() != manifest.next_run {
            return Err(misplaced(self.directory.path()));
        }
        match change {
            Change::Add(_) => {
                manifest.next_add += 1;
                manifest.keys += changed;
            }
            Change::Removal => manifest.keys = manifest.keys.saturating_sub(changed),
        }
        let end = self.store.runs().len();
        self.replace(manifest, vec![(end..end, Some(run))])?;
        let entries = |store: &SeenStore| -> Vec<u64> {
            store.runs().iter().map(|run| run.info().entries).collect()
        };
        while let Some(runs) = runs_to_merge(&entries(&self.store)) {
            self.merge(runs, None, memory)?;
        }
        Ok(changed)
    }

    /// Merges all runs into one, within `memory` bytes.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written; the store is as it was then.
    pub fn compact(&mut self, memory: usize) -> Result<(), SeenStoreError> {
        match self.store.runs().len() {
            0 | 1 => Ok(()),
            runs => self.merge(0..runs, None, memory).map(drop),
        }
    }

    /// Drops the keys that were added before this time, within `memory` bytes, and returns their number.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written; the store is as it was then.
    pub fn forget(&mut self, before: UnixTime, memory: usize) -> Result<u64, SeenStoreError> {
        let adds = self.store.runs().iter().flat_map(Run::adds);
        if !adds.into_iter().any(|add| add.keys > 0 && add.time < before) {
            return Ok(0);
        }
        match self.store.entries() == self.store.manifest().keys {
            true => self.forget_alone(before),
            false => self.merge(0..self.store.runs().len(), Some(before), memory),
        }
    }

    /// Forgets keys of a store in which each key has one entry: each run loses its own.
    fn forget_alone(&mut self, before: UnixTime) -> Result<u64, SeenStoreError> {
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
        self.replace(manifest, changes)?;
        Ok(forgotten)
    }

    /// Merges a range of runs into one, and returns the number of keys that were forgotten. If they are too many
    /// for the memory, the newest are merged first, which usually are the smallest.
    fn merge(
        &mut self,
        runs: Range<usize>,
        since: Option<UnixTime>,
        memory: usize,
    ) -> Result<u64, SeenStoreError> {
        let (Range { start, mut end }, at_once) = (runs, runs_at_once(memory));
        while end - start > at_once {
            let before = self.store.runs().len();
            self.merge_at_once(end - at_once..end, None)?;
            end -= before - self.store.runs().len();
        }
        self.merge_at_once(start..end, since)
    }

    fn merge_at_once(
        &mut self,
        range: Range<usize>,
        since: Option<UnixTime>,
    ) -> Result<u64, SeenStoreError> {
        let mut manifest = self.store.manifest().clone();
        let runs = &self.store.runs()[range.clone()];
        let merge = RunMerge { runs, has_oldest: range.start == 0, since };
        let MergeResult { run, forgotten } = merge.write(&self.directory, manifest.next_run)?;
        manifest.keys = manifest.keys.saturating_sub(forgotten);
        self.replace(manifest, vec![(range, run)])?;
        Ok(forgotten)
    }

    /// Lets new runs take the place of ranges of runs, in ascending order, with the other numbers of `manifest`.
    fn replace(
        &mut self,
        mut manifest: Manifest,
        changes: Vec<RunChange>,
    ) -> Result<(), SeenStoreError> {
        let (mut files, mut new, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        // From the newest run on, so that the places of those before stay.
        for (range, run) in changes.into_iter().rev() {
            let run = run.map(|(file, run)| {
                manifest.next_run = manifest.next_run.max(file.number() + 1);
                files.push(file);
                run
            });
            let info = run.as_ref().map(|run| run.info().clone());
            gone.extend(manifest.runs.splice(range.clone(), info));
            new.push((range, run));
        }
        let bytes = self.directory.write_manifest(&manifest)?;
        // Even if it fails, the manifest may name them from now on.
        files.iter_mut().for_each(NewRun::keep);
        self.directory.name_manifest()?;
        self.store.update(manifest, bytes, |mut runs| {
            for (range, run) in new {
                runs.splice(range, run);
            }
            runs
        });
        self.directory.sync()?;
        for run in gone {
            self.directory.remove(&run.name);
        }
        Ok(())
    }
}

/// The error of a prepared run that belongs to another state of the store.
fn misplaced(path: &Path) -> SeenStoreError {
    let text = "the run was prepared for another state of the store";
    SeenStoreError::io(path, io::Error::new(io::ErrorKind::InvalidInput, text))
}
