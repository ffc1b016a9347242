//! The next state of a store, on the disk before anything refers to it.
//!
//! Everything that a full disk can stop is done here. Only a rename remains, so a caller can finish other work
//! first, and then let the state take effect.

use std::ops::Range;
use std::sync::Arc;

use super::directory::WriterDirectory;
use super::error::SeenStoreError;
use super::manifest::Manifest;
use super::new_run::NewRun;
use super::run::{Run, RunInfo};
use super::store::SeenStore;

/// The run that takes the place of a range of runs, if any is left.
pub(super) type RunChange = (Range<usize>, Option<(NewRun, Run)>);

/// A manifest under a temporary name, and the runs that it adds. If it is dropped, those are removed.
#[derive(Debug)]
pub(super) struct NextState {
    pub(super) directory: Arc<WriterDirectory>,
    /// The manifest that it was made from.
    pub(super) before: Manifest,
    pub(super) manifest: Manifest,
    /// Bytes of the manifest.
    pub(super) bytes: u64,
    pub(super) files: Vec<NewRun>,
    /// What happens to the runs, from the newest one on.
    pub(super) runs: Vec<(Range<usize>, Option<Run>)>,
    /// Runs that no manifest names then.
    pub(super) gone: Vec<RunInfo>,
}

impl NextState {
    /// Writes the manifest of `store` with the other numbers of `manifest`, in which new runs take the place of
    /// ranges of runs, in ascending order.
    pub(super) fn write(
        store: &SeenStore,
        directory: &Arc<WriterDirectory>,
        mut manifest: Manifest,
        changes: Vec<RunChange>,
    ) -> Result<Self, SeenStoreError> {
        let (mut files, mut runs, mut gone) = (Vec::new(), Vec::new(), Vec::new());
        // From the newest run on, so that the places of those before stay.
        for (range, run) in changes.into_iter().rev() {
            let run = run.map(|(file, run)| {
                // No name is given twice: a reader may still be about to open the run that had it.
                manifest.next_run = manifest.next_run.max(file.number() + 1);
                files.push(file);
                run
            });
            let info = run.as_ref().map(|run| run.info().clone());
            gone.extend(manifest.runs.splice(range.clone(), info));
            runs.push((range, run));
        }
        let bytes = directory.write_manifest(&manifest)?;
        let (directory, before) = (Arc::clone(directory), store.manifest().clone());
        Ok(Self { directory, before, manifest, bytes, files, runs, gone })
    }
}
