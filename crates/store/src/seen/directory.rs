//! The directory of a store, as its writer holds it: locked, and free of files that no manifest names.
//!
//! A power failure may undo a rename until the directory is synced. So the directory is synced before a
//! manifest names a run, and before a file goes that the manifest before named.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::{SeenStoreError, SeenStoreProblem};
use super::lock::{LOCK, WhenBusy, lock};
use super::manifest::{MANIFEST, Manifest, run_number};
use crate::directory_sync::{DirectorySync, directory_of};

/// The name of a manifest that is being written.
pub(super) const NEW_MANIFEST: &str = "manifest.new";

/// A directory that only this process writes to.
#[derive(Debug)]
pub(super) struct WriterDirectory {
    path: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
}

impl WriterDirectory {
    /// Locks the directory of a store, and makes one if nothing has the name.
    pub(super) fn make(path: &Path, when_busy: WhenBusy) -> Result<Self, SeenStoreError> {
        // Made without a look at it first: of two first runs, one makes it and the other finds it.
        match fs::create_dir(path) {
            Ok(()) => sync(directory_of(path))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(SeenStoreError::io(path, error)),
        }
        // Before the lock, whose file would stay behind in a directory that is no store.
        if !may_be_store(|| names(path), || has_manifest(path))? {
            return Err(SeenStoreError::new(path, SeenStoreProblem::NotAStore));
        }
        Self::lock(path, when_busy)
    }

    /// Locks a directory.
    pub(super) fn lock(path: &Path, when_busy: WhenBusy) -> Result<Self, SeenStoreError> {
        Ok(Self { path: path.to_owned(), _lock: lock(path, when_busy)? })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has a manifest.
    pub(super) fn has_manifest(&self) -> Result<bool, SeenStoreError> {
        has_manifest(&self.path)
    }

    /// Syncs it: the names in it then survive a crash of the system.
    pub(super) fn sync(&self) -> Result<(), SeenStoreError> {
        sync(&self.path)
    }

    /// Removes what killed writers left behind: runs that the manifest does not name, and a manifest that was not
    /// finished.
    pub(super) fn remove_orphans(&self, manifest: &Manifest) -> Result<(), SeenStoreError> {
        let mut orphans = Vec::new();
        for name in names(&self.path)? {
            let is_listed = || manifest.runs.iter().any(|run| run.name == name);
            // Only names that a writer has given: other files in the directory are the user's.
            if name == NEW_MANIFEST || run_number(&name).is_some() && !is_listed() {
                orphans.push(self.path.join(name));
            }
        }
        if orphans.is_empty() {
            return Ok(());
        }
        // A crash may undo the rename that made them orphans, and the manifest before it names
        // them.
        self.sync()?;
        for orphan in orphans {
            fs::remove_file(&orphan).map_err(|error| SeenStoreError::io(&orphan, error))?;
        }
        Ok(())
    }

    /// Removes a file that nothing needs any more. If it stays, the next writer removes it.
    pub(super) fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.path.join(name));
    }

    /// Writes a manifest under a temporary name. It takes its place by [`Self::name_manifest`].
    pub(super) fn write_manifest(&self, manifest: &Manifest) -> Result<u64, SeenStoreError> {
        let path = self.path.join(NEW_MANIFEST);
        let write = || {
            let text = manifest.to_bytes()?;
            // A killed writer may have left one: without a manifest, no orphans were removed.
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(true).open(&path)?;
            file.write_all(&text)?;
            // Before the rename: a name that reaches the disk before its bytes would name an empty
            // manifest.
            file.sync_all()?;
            Ok(text.len() as u64)
        };
        write().map_err(|error| SeenStoreError::io(&path, error))
    }

    /// Lets the manifest that was written take the place of the one before.
    pub(super) fn name_manifest(&self) -> Result<(), SeenStoreError> {
        let path = self.path.join(MANIFEST);
        fs::rename(self.path.join(NEW_MANIFEST), &path)
            .map_err(|error| SeenStoreError::io(&path, error))
    }
}

/// Whether a directory has a manifest. If that cannot be told, a new one must not take its place.
fn has_manifest(path: &Path) -> Result<bool, SeenStoreError> {
    let manifest = path.join(MANIFEST);
    // Links are not followed: where one leads nowhere, a rename would replace it without a word.
    match fs::symlink_metadata(&manifest) {
        Ok(_) => Ok(true),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(false),
            _ => Err(SeenStoreError::io(&manifest, error)),
        },
    }
}

/// Whether a directory is a store, or may be one that is being made. The names are looked at first: where another
/// process makes the store meanwhile, its manifest is there before any name that an unfinished one cannot have.
fn may_be_store(
    names: impl FnOnce() -> Result<Vec<String>, SeenStoreError>,
    has_manifest: impl FnOnce() -> Result<bool, SeenStoreError>,
) -> Result<bool, SeenStoreError> {
    match names() {
        Ok(names) if names.iter().all(|name| name == LOCK || name == NEW_MANIFEST) => Ok(true),
        Ok(_) => has_manifest(),
        Err(SeenStoreError { problem: SeenStoreProblem::Io(error), .. })
            if error.kind() == io::ErrorKind::NotADirectory =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// The names in a directory. Bytes that are no UTF-8 are replaced, which makes no name of a store.
fn names(path: &Path) -> Result<Vec<String>, SeenStoreError> {
    let read = || fs::read_dir(path)?.map(|entry| Ok(entry?.file_name())).collect();
    let names: io::Result<Vec<_>> = read();
    let names = names.map_err(|error| SeenStoreError::io(path, error))?;
    Ok(names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect())
}

/// Syncs a directory.
fn sync(path: &Path) -> Result<(), SeenStoreError> {
    let synced = DirectorySync::open(path).and_then(|directory| directory.sync());
    synced.map_err(|error| SeenStoreError::io(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_another_process_makes_meanwhile_is_a_store() {
        let states: [&[&str]; 5] = [
            &[],
            &[LOCK],
            &[LOCK, NEW_MANIFEST],
            &[LOCK, MANIFEST],
            &[LOCK, MANIFEST, NEW_MANIFEST, "run-0000000001"],
        ];
        // Each look comes when the other process has gone on by some steps.
        for first in 0..states.len() {
            for second in first..states.len() {
                let looks = std::cell::RefCell::new([first, second].into_iter());
                let look = || states[looks.borrow_mut().next().unwrap()];
                let names = || Ok(look().iter().map(|name| (*name).to_owned()).collect());
                let may_be = may_be_store(names, || Ok(look().contains(&MANIFEST)));
                assert!(may_be.unwrap(), "{:?}, then {:?}", states[first], states[second]);
            }
        }
    }
}
