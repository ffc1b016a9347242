//! Syncing of directories, so that the names in them survive a crash of the system.

use std::fs::File;
use std::io;
use std::path::Path;

/// A directory that is open to be synced, where that can be done.
#[derive(Debug)]
pub struct DirectorySync(Option<File>);

impl DirectorySync {
    /// Opens it. Once it is open, only the disk can fail.
    ///
    /// # Errors
    ///
    /// There is no such directory, or the system's error.
    pub fn open(directory: &Path) -> io::Result<Self> {
        unless_impossible(File::open(directory).map(Some), None).map(Self)
    }

    /// Brings the names in it to the disk.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn sync(&self) -> io::Result<()> {
        self.0.as_ref().map_or(Ok(()), |directory| unless_impossible(directory.sync_all(), ()))
    }
}

/// Some file systems cannot sync a directory, and some directories cannot be opened.
fn unless_impossible<T>(done: io::Result<T>, instead: T) -> io::Result<T> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match done {
        // A run that has written everything must not fail for what this system never offered.
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => {
            Ok(instead)
        }
        done => done,
    }
}

/// The directory of a path.
pub fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        // The parent of `out` is the empty path, which no call can open.
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}
