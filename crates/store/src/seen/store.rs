//! A store as its readers see it: the manifest and the runs at the time it was opened.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::error::{SeenStoreError, SeenStoreProblem};
use super::manifest::{MANIFEST, Manifest};
use super::rules::StoreRules;
use super::run::Run;
use super::stats::{RunStats, StoreStats};

/// A store, as of the time it was opened: later adds do not change it.
#[derive(Debug)]
pub struct SeenStore {
    path: PathBuf,
    manifest: Manifest,
    manifest_bytes: u64,
    /// Those of the manifest, oldest first. Their files stay open, so that they are there even if a writer
    /// has merged them.
    runs: Vec<Run>,
}

/// How often the manifest is read while a writer merges runs that it names.
const TRIES: usize = 16;

impl SeenStore {
    /// Whether there is a directory of this name that may be a store: one that holds a manifest.
    pub fn is_at(path: &Path) -> bool {
        path.join(MANIFEST).is_file()
    }

    /// Opens the store in the directory `path`.
    ///
    /// # Errors
    ///
    /// There is none, it has another version, or a file of it cannot be read or is damaged.
    pub fn open(path: &Path) -> Result<Self, SeenStoreError> {
        let (mut manifest, mut manifest_bytes) = Manifest::read(path)?;
        for _ in 0..TRIES {
            let runs: Result<_, _> =
                manifest.runs.iter().map(|info| Run::open(path, info)).collect();
            let gone = match runs {
                Ok(runs) => {
                    return Ok(Self { path: path.to_owned(), manifest, manifest_bytes, runs });
                }
                Err(error) if is_gone(&error) => error,
                Err(error) => return Err(error),
            };
            // Either a writer has merged the run since, or it is lost.
            let before = manifest;
            (manifest, manifest_bytes) = Manifest::read(path)?;
            if manifest == before {
                return Err(gone);
            }
        }
        let text = "its runs are merged faster than they can be opened";
        Err(SeenStoreError::io(path, io::Error::other(text)))
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The rules of its keys.
    pub fn rules(&self) -> &StoreRules {
        &self.manifest.rules
    }

    /// An error if the rules of the store are not these, with the difference.
    ///
    /// # Errors
    ///
    /// The rules differ.
    pub fn check_rules(&self, rules: &StoreRules) -> Result<(), SeenStoreError> {
        match self.rules().difference(rules) {
            None => Ok(()),
            Some(problem) => Err(SeenStoreError::new(&self.path, problem)),
        }
    }

    /// Numbers about it.
    pub fn stats(&self) -> StoreStats {
        let runs: Vec<RunStats> = self.runs.iter().map(stats_of_run).collect();
        let bytes = self.manifest_bytes + runs.iter().map(|run| run.bytes).sum::<u64>();
        StoreStats { keys: self.manifest.keys, bytes, runs }
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Its runs, oldest first.
    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Number of entries of all runs.
    pub(super) fn entries(&self) -> u64 {
        self.runs.iter().map(|run| run.info().entries).sum()
    }

    /// Takes over another manifest, in which runs take the place of ranges of runs, from the newest one on.
    pub(super) fn update(
        &mut self,
        manifest: Manifest,
        manifest_bytes: u64,
        changes: Vec<(Range<usize>, Option<Run>)>,
    ) {
        for (range, run) in changes {
            self.runs.splice(range, run);
        }
        (self.manifest, self.manifest_bytes) = (manifest, manifest_bytes);
        debug_assert!(self.runs.iter().map(Run::info).eq(&self.manifest.runs));
    }
}

fn stats_of_run(run: &Run) -> RunStats {
    let info = run.info();
    RunStats {
        name: info.name.clone(),
        bytes: info.bytes,
        keys: info.entries - info.removed,
        removed: info.removed,
        // A merge lists an add before it can know whether newer runs have all of its keys.
        adds: run.adds().iter().copied().filter(|add| add.keys > 0).collect(),
    }
}

fn is_gone(error: &SeenStoreError) -> bool {
    match &error.problem {
        SeenStoreProblem::Io(error) => error.kind() == io::ErrorKind::NotFound,
        problem => matches!(problem, SeenStoreProblem::Missing),
    }
}
