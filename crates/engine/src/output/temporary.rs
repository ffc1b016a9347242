//! Names that files and directories have before they are outputs.
//!
//! A file under such a name is removed when its [`Temporary`] is dropped. A process that has to end
//! at once drops nothing; so all temporary names are on a list, and [`remove_all`] removes them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::Builder;

use uniqurl_text::Printable;

/// The mode of a temporary file, which holds records.
pub(super) const PRIVATE: u32 = 0o600;

/// The names in use. A thread that makes one holds the lock until the name is on the list.
static NAMES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every temporary file of this process. From then on a thread that makes or drops one waits for
/// ever: this is for a process that is about to end. A rename takes no lock, so a file that gets its own
/// name meanwhile may keep it.
pub fn remove_all() {
    let mut names = names();
    for name in names.drain(..) {
        remove(&name);
    }
    // Keeps the lock for ever, so that no thread can make another temporary file.
    std::mem::forget(names);
}

/// Removes a file, or a directory with its content. Errors are ignored, since no caller could handle them.
fn remove(path: &Path) {
    let _ = fs::remove_file(path)
        // An empty one need not be opened, which a umask may forbid.
        .or_else(|_| fs::remove_dir(path))
        .or_else(|_| fs::remove_dir_all(path));
}

/// The name of a file or directory that is removed when this is dropped.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
}

impl Temporary {
    /// Has `create` make a file or a directory in `directory`, under a name that is free.
    pub fn make<T>(
        directory: &Path,
        create: impl FnMut(&Path) -> io::Result<T>,
    ) -> io::Result<(T, Self)> {
        let mut names = names();
        let mut builder = Builder::new();
        builder.prefix(".uniqurl-").suffix(".tmp");
        let made = builder.make_in(directory, create).map_err(|error| because_of(directory, error));
        let (made, path) = made?.into_parts();
        // The list takes over from the path, which would forget that it is on the list.
        let path = path.keep().map_err(|failed| failed.error)?;
        names.push(path.clone());
        Ok((made, Self { path }))
    }

    /// The name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its own name, instead of a file that has it.
    pub(super) fn rename(self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)
    }
}

/// Names the directory in an error of creating something in it.
pub(super) fn because_of(directory: &Path, error: io::Error) -> io::Error {
    let shown = Printable::path(directory);
    let text = match error.kind() {
        io::ErrorKind::NotFound if !directory.exists() => {
            format!("the directory {shown} is missing")
        }
        // File systems of the kernel, such as `/proc`, answer "not found" to the creation of a file.
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => {
            format!("nothing can be made in the directory {shown}: {error}")
        }
        _ => return error,
    };
    io::Error::new(error.kind(), text)
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename no file has this name, and nothing is removed.
        let mut names = names();
        remove(&self.path);
        names.retain(|name| *name != self.path);
    }
}

fn names() -> MutexGuard<'static, Vec<PathBuf>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_util::not_tried;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn directory_without_permissions_is_removed() {
        if rustix::process::geteuid().is_root() {
            not_tried("root may open every directory");
        }
        let around = tempfile::tempdir().expect("a directory");
        let make = |path: &Path| {
            fs::create_dir(path)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o000))
        };
        drop(Temporary::make(around.path(), make).expect("made"));
        assert_eq!(fs::read_dir(around.path()).expect("there").count(), 0);
    }
}
