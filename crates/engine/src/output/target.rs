//! Where a path leads: through symbolic links, to a name in a directory.

use std::fs;
use std::io;
use std::iter;
use std::path::{Path, PathBuf};
use uniqurl_store::directory_of;

/// The number of links that Linux follows.
const LINKS: usize = 40;

/// A path, and the target of each link that it is followed through.
pub(super) fn links(path: &Path) -> impl Iterator<Item = PathBuf> {
    let next = |path: &PathBuf| Some(directory_of(path).join(fs::read_link(path).ok()?));
    iter::successors(Some(path.to_owned()), next).take(LINKS)
}

/// The path at the end of a chain of symbolic links, whether or not anything is there.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    use io::ErrorKind::{InvalidInput, NotFound};
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            // A relative target counts from the directory of the link.
            Ok(target) => path = directory_of(&path).join(target),
            // Something else than a link, or nothing, has the name.
            Err(error) if matches!(error.kind(), InvalidInput | NotFound) => return Ok(path),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

/// The final target of a path, whether or not a file is there. Two outputs with the same place would replace
/// each other. Hard links are different places, since an output replaces the name and not the file.
pub fn place(path: &Path) -> PathBuf {
    let target = resolve(path).unwrap_or_else(|_| path.to_owned());
    // The directory alone is looked up, since the file may not be there yet.
    match (fs::canonicalize(directory_of(&target)), target.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => target,
    }
}
