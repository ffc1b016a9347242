//! Where the bytes of an output are until it is committed, and how they get their name.
//!
//! A regular file is whole or absent: its bytes go to a temporary file in the same directory, which
//! takes the name only when all of them are on the disk. Until then an old file of that name is intact,
//! so an output may also be one of the inputs.
//!
//! On Linux the temporary file has no name at all until then (`O_TMPFILE`), so even a killed process
//! leaves no file. Until it has its name nobody but its owner may open it.

use super::nameless;
use super::replaced::{may_be_named, may_be_replaced, mode_of_successor};
use super::target::{links, resolve};
use super::temporary::{PRIVATE, Temporary};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use uniqurl_store::{DirectorySync, directory_of};

/// Where the bytes are until the commit.
#[derive(Debug)]
pub(super) enum Place {
    /// In a pipe or a device, where they belong: nothing to commit.
    Direct,
    /// In a file of a directory that only its owner may enter, and that appears as a whole.
    InPrivateDirectory,
    /// In a file that is to be `target` and to have this mode. Until then it has the name, which is removed
    /// when this is dropped, or none.
    Temporary { target: PathBuf, mode: u32, name: Option<Temporary> },
}

impl Place {
    /// Gives a complete temporary file the permissions of the output.
    pub(super) fn give_mode(&self, file: &File) -> io::Result<()> {
        match self {
            Place::Temporary { mode, .. } => {
                file.set_permissions(fs::Permissions::from_mode(*mode))
            }
            _ => Ok(()),
        }
    }

    /// Whether a file can still have the name that was looked at when it was opened.
    pub(super) fn is_free(&self) -> io::Result<()> {
        match self {
            Place::Temporary { target, .. } => may_be_named(target),
            _ => Ok(()),
        }
    }

    /// Gives the bytes their name, which lasts through a crash.
    pub(super) fn publish(self, file: &File) -> io::Result<()> {
        match self {
            Place::Temporary { target, name: Some(name), .. } => {
                to_last(&target, || name.rename(&target))
            }
            Place::Temporary { target, name: None, .. } => {
                to_last(&target, || nameless::name(file, &target))
            }
            _ => Ok(()),
        }
    }
}

/// Opens the file that a path names, or a file that will get this name. Fails early on every error that can
/// be known.
pub(super) fn open(path: &Path) -> io::Result<(File, Place)> {
    match standard(path) {
        Some(file) => Ok((file?, Place::Direct)),
        None => open_named(path),
    }
}

/// A standard stream that goes by this name, as a file, without the buffer of the standard library.
/// Opening its name would replace the file that the stream writes to, while other processes still write
/// there.
fn standard(path: &Path) -> Option<io::Result<File>> {
    let descriptor = links(path).find(|path| is_descriptor(path));
    let path = descriptor.as_deref().unwrap_or(path);
    let is_one_of = |names: &[&str]| names.iter().any(|name| path == Path::new(name));
    if is_one_of(&["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1"]) {
        Some(another(&io::stdout()))
    } else if is_one_of(&["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2", "/proc/thread-self/fd/2"])
    {
        Some(another(&io::stderr()))
    } else {
        None
    }
}

fn another(stream: &impl std::os::fd::AsFd) -> io::Result<File> {
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

fn open_named(path: &Path) -> io::Result<(File, Place)> {
    let found = match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        // Opened by the given name: a link in /dev/fd to a pipe leads nowhere by its text.
        Ok(found) if !found.is_file() => {
            return Ok((OpenOptions::new().write(true).open(path)?, Place::Direct));
        }
        Ok(_) if links(path).any(|path| is_descriptor(&path)) => {
            // It can be written to only through that, which takes unsafe code.
            return Err(io::Error::other(
                "a file cannot be replaced under the name of a descriptor",
            ));
        }
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let target = resolve(path)?;
    if let Some(old) = &found {
        may_be_replaced(&target, old)?;
    }
    let (file, new_mode, name) = temporary(&target)?;
    let mode = match found {
        Some(old) => mode_of_successor(&target, &old, &file.metadata()?),
        None => new_mode,
    };
    Ok((file, Place::Temporary { target, mode, name }))
}

/// Whether a name is that of a descriptor of this process.
fn is_descriptor(path: &Path) -> bool {
    let directories = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];
    directories.iter().any(|directory| path.starts_with(directory))
}

/// A temporary file for a target, the mode that a new file would have there, and its name if it has one.
type TemporaryFile = (File, u32, Option<Temporary>);

/// Opens a temporary file beside `target`.
fn temporary(target: &Path) -> io::Result<TemporaryFile> {
    let ends_in =
        |name: &OsStr| target.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes());
    match target.file_name() {
        None => return Err(io::ErrorKind::IsADirectory.into()),
        // A slash after it, or a slash and a dot.
        Some(name) if !ends_in(name) => {
            let text = "not a directory, although its name ends in a slash";
            return Err(io::Error::new(io::ErrorKind::NotADirectory, text));
        }
        Some(_) => {}
    }
    match nameless::create(directory_of(target))? {
        Some((file, mode)) => Ok((file, mode, None)),
        None => named_temporary(directory_of(target)),
    }
}

fn named_temporary(around: &Path) -> io::Result<TemporaryFile> {
    let with = |mode| {
        move |path: &Path| OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
    };
    // The umask, or a default access control list of the directory, decides about the mode of new files. An
    // empty file shows it, since asking for the umask would change it for all threads.
    let mode = Temporary::make(around, with(0o666))?.0.metadata()?.mode() & 0o7777;
    let (file, name) = Temporary::make(around, with(PRIVATE))?;
    Ok((file, mode, Some(name)))
}

/// Lets `name` give the name `target`, and syncs the directory so that the name survives a crash.
pub(super) fn to_last(target: &Path, name: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // Opened before there is a name: it must not fail after.
    let directory = DirectorySync::open(directory_of(target))?;
    name()?;
    directory.sync().map_err(|error| {
        let text = format!("it is there, but may be gone after a crash of the system: {error}");
        io::Error::new(error.kind(), text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn named_temporary_file_is_renamed_or_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let plain = dir.path().join("plain");
        fs::write(&plain, "").expect("written");
        let target = dir.path().join("out");
        let count = || fs::read_dir(dir.path()).expect("readable").count();
        let (mut file, mode, name) = named_temporary(dir.path()).expect("created");
        let place = Place::Temporary { target: target.clone(), mode, name };
        file.write_all(b"text").expect("written");
        assert!(!target.exists() && count() == 2);
        assert_eq!(file.metadata().expect("open").mode() & 0o7777, PRIVATE);
        place.give_mode(&file).expect("given");
        place.publish(&file).expect("named");
        assert_eq!(fs::read(&target).expect("there"), b"text");
        let mode = |path: &Path| fs::metadata(path).expect("there").mode();
        assert_eq!(mode(&target), mode(&plain), "as any new file");
        drop(named_temporary(dir.path()).expect("created"));
        assert_eq!(count(), 2);
    }
}
