//! A run that no manifest names yet.

use std::fs::File;
use std::sync::Arc;

use super::directory::{NEW_MANIFEST, WriterDirectory};
use super::error::SeenStoreError;
use super::manifest::run_name;
use super::run::{Run, RunFile, RunWriter};
use super::time::UnixTime;

/// The file of a run, which is removed if it is dropped before a manifest may name it.
#[derive(Debug)]
pub(super) struct NewRun {
    /// Nobody else writes to the store as long as the file may be removed.
    directory: Arc<WriterDirectory>,
    number: u64,
    is_kept: bool,
}

impl NewRun {
    /// Makes the file of the run `number`, for keys of these adds.
    pub(super) fn create(
        directory: &Arc<WriterDirectory>,
        number: u64,
        adds: &[(u64, UnixTime)],
    ) -> Result<(Self, RunWriter), SeenStoreError> {
        // A file that is there is another's, so it must not be removed.
        let name = run_name(number);
        let path = directory.path().join(&name);
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        let file = RunFile::of(file, &path)?;
        // From here on the file is removed if anything fails.
        let new = Self { directory: Arc::clone(directory), number, is_kept: false };
        Ok((new, RunWriter::new(file, name, adds)?))
    }

    /// Brings the run to the disk, with its name. None: it has no entries, and its file is gone.
    pub(super) fn finish(self, writer: RunWriter) -> Result<Option<(Self, Run)>, SeenStoreError> {
        let run = writer.finish()?;
        if run.info().entries == 0 {
            return Ok(None);
        }
        // Both before a manifest names it: the bytes, and the name.
        run.sync()?;
        self.directory.sync()?;
        Ok(Some((self, run)))
    }

    pub(super) fn directory(&self) -> &Arc<WriterDirectory> {
        &self.directory
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Keeps the file, since a manifest is about to name it.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for NewRun {
    fn drop(&mut self) {
        if !self.is_kept {
            // A manifest that names it may wait to take effect.
            self.directory.remove(NEW_MANIFEST);
            self.directory.remove(&run_name(self.number));
        }
    }
}
