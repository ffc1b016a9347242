//! Where the bytes of an output are until it is committed, and how they get their name.
//!
//! A regular file is whole or absent: its bytes go to a temporary file in the same directory, which
//! takes the name only when all of them are on the disk. Until then an old file of that name is intact,
//! so an output may also be one of the inputs.
//!
//! On Linux the temporary file has no name at all until then (`O_TMPFILE`), so even a killed process
//! leaves no file. Until it has its name nobody but its owner may open it.

use super::replaced::{Attributes, Replaced, may_be_replaced};
use super::temporary::Temporary;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::iter;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use uniqurl_text::Printable;

/// The number of links that Linux follows.
const LINKS: usize = 40;

/// The mode of a temporary file, which holds records.
const PRIVATE: u32 = 0o600;

/// Where the bytes are until the commit.
#[derive(Debug)]
pub(super) enum Place {
    /// Where they belong: nothing to commit.
    Direct,
    /// In a file without a name.
    #[cfg(target_os = "linux")]
    Nameless { target: PathBuf, attributes: Attributes },
    /// In a file that is removed when this is dropped.
    Named { temporary: Temporary, target: PathBuf, attributes: Attributes },
}

impl Place {
    /// The file that the bytes are for, and its attributes.
    fn parts(&self) -> Option<(&Path, &Attributes)> {
        match self {
            Place::Direct => None,
            #[cfg(target_os = "linux")]
            Place::Nameless { target, attributes } => Some((target, attributes)),
            Place::Named { target, attributes, .. } => Some((target, attributes)),
        }
    }

    /// The file that the bytes are for.
    pub(super) fn target(&self) -> Option<&Path> {
        self.parts().map(|(target, _)| target)
    }

    /// Gives a complete temporary file the attributes of the output.
    pub(super) fn give_attributes(&self, file: &File) -> io::Result<()> {
        self.parts().map_or(Ok(()), |(_, attributes)| attributes.give_to(file))
    }

    /// Lets the file replace an old one, and take its attributes.
    fn replacing(mut self, old: fs::Metadata) -> Self {
        match &mut self {
            Place::Direct => {}
            #[cfg(target_os = "linux")]
            Place::Nameless { target, attributes } => {
                *attributes = Attributes::Old(Replaced::of(target, old));
            }
            Place::Named { target, attributes, .. } => {
                *attributes = Attributes::Old(Replaced::of(target, old));
            }
        }
        self
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
        gives_way(&target, old)?;
    }
    let (file, place) = temporary(target)?;
    Ok(match found {
        Some(old) => (file, place.replacing(old)),
        None => (file, place),
    })
}

/// Whether a name is that of a descriptor of this process.
fn is_descriptor(path: &Path) -> bool {
    let directories = ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"];
    directories.iter().any(|directory| path.starts_with(directory))
}

/// A path, and the target of each link that it is followed through.
fn links(path: &Path) -> impl Iterator<Item = PathBuf> {
    let next = |path: &PathBuf| Some(directory(path).join(fs::read_link(path).ok()?));
    iter::successors(Some(path.to_owned()), next).take(LINKS)
}

/// The path at the end of a chain of symbolic links, whether or not anything is there.
pub(super) fn resolve(path: &Path) -> io::Result<PathBuf> {
    use io::ErrorKind::{InvalidInput, NotFound};
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = directory(&path).join(target),
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
    match (fs::canonicalize(directory(&target)), target.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => target,
    }
}

/// Opens a temporary file beside `target`, which is to get the permissions of any new file.
fn temporary(target: PathBuf) -> io::Result<(File, Place)> {
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
    #[cfg(target_os = "linux")]
    if let Some((file, mode)) = nameless::create(directory(&target))? {
        return Ok((file, Place::Nameless { target, attributes: Attributes::New(mode) }));
    }
    named_temporary(target)
}

fn named_temporary(target: PathBuf) -> io::Result<(File, Place)> {
    let around = directory(&target);
    let with = |mode| {
        move |path: &Path| OpenOptions::new().write(true).create_new(true).mode(mode).open(path)
    };
    // The umask, or a default access control list of the directory, decides about the mode of new files. An
    // empty file shows it, since asking for the umask would change it for all threads.
    let mode = Temporary::make(around, with(0o666))?.0.metadata()?.mode() & 0o7777;
    let (file, temporary) = Temporary::make(around, with(PRIVATE))?;
    Ok((file, Place::Named { temporary, target, attributes: Attributes::New(mode) }))
}

/// Whether a file can take the place of this one.
fn gives_way(target: &Path, old: &fs::Metadata) -> io::Result<()> {
    // Renaming over the file would get round its write protection. A pipe would wait for a reader.
    if old.is_file() {
        OpenOptions::new().write(true).open(target)?;
    }
    may_be_replaced(target, old)
}

/// Whether a file can still have the name that was looked at when it was opened.
pub(super) fn is_free(target: &Path) -> io::Result<()> {
    match fs::metadata(target) {
        Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(old) => gives_way(target, &old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => is_there(directory(target)),
        Err(error) => Err(error),
    }
}

fn is_there(directory: &Path) -> io::Result<()> {
    match fs::metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = format!("the directory {} is missing", Printable::path(directory));
            Err(io::Error::new(error.kind(), text))
        }
        found => found.map(drop),
    }
}

/// Gives the bytes their name. It `lasts` through a crash if the directory around it is synced.
pub(super) fn publish(
    #[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "all have names"))]
    file: &File,
    place: Place,
    lasts: bool,
) -> io::Result<()> {
    let Some(target) = place.target().map(Path::to_owned) else { return Ok(()) };
    let name = || match place {
        Place::Direct => Ok(()),
        #[cfg(target_os = "linux")]
        Place::Nameless { .. } => nameless::name(file, &target),
        Place::Named { temporary, .. } => temporary.rename(&target),
    };
    if lasts { to_last(&target, name) } else { name() }
}

/// Lets `name` give the name `target`, and syncs the directory so that the name survives a crash.
pub(super) fn to_last(target: &Path, name: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    // Opened before there is a name: it must not fail after.
    let directory = match File::open(directory(target)) {
        Ok(directory) => Some(directory),
        Err(error) if cannot_sync(&error) => None,
        Err(error) => return Err(error),
    };
    name()?;
    directory.as_ref().map_or(Ok(()), sync).map_err(|error| {
        let text = format!("it is there, but may be gone after a crash of the system: {error}");
        io::Error::new(error.kind(), text)
    })
}

/// Syncs a directory, where that can be done.
pub(super) fn sync(directory: &File) -> io::Result<()> {
    match directory.sync_all() {
        Err(error) if !cannot_sync(&error) => Err(error),
        _ => Ok(()),
    }
}

/// Some file systems cannot sync a directory, and some systems cannot open one.
fn cannot_sync(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported)
}

/// The directory of a path.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Files that have no name until they are complete.
#[cfg(target_os = "linux")]
mod nameless {
    use super::super::temporary::because_of;
    use super::{File, MetadataExt, OpenOptions, OpenOptionsExt};
    use super::{PRIVATE, Path, PathBuf, Temporary, directory, fs, io};
    use rustix::fs::{AtFlags, CWD, OFlags, linkat};
    use rustix::io::Errno;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::PermissionsExt;

    /// A nameless file in `directory`, with the mode that a new file would have there; or `None` where there
    /// can be none.
    pub fn create(directory: &Path) -> io::Result<Option<(File, u32)>> {
        let mut options = OpenOptions::new();
        options.write(true).mode(0o666).custom_flags(OFlags::TMPFILE.bits() as i32);
        match options.open(directory) {
            // Without /proc it could never be given a name.
            Ok(file) => {
                if !proc_path(&file).exists() {
                    return Ok(None);
                }
                let mode = file.metadata()?.mode() & 0o7777;
                // Nobody can have opened a file that has no name.
                file.set_permissions(fs::Permissions::from_mode(PRIVATE))?;
                Ok(Some((file, mode)))
            }
            // The answers of file systems and kernels without O_TMPFILE (open(2)). If the directory is really
            // missing, creating the named file fails.
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => Ok(None),
                _ => Err(because_of(directory, error)),
            },
        }
    }

    /// Names the file. `linkat` never replaces a file, so if the name is taken the file gets another name
    /// first, and is renamed: a process that is killed in these microseconds leaves that name.
    pub fn name(file: &File, target: &Path) -> io::Result<()> {
        let link = |path: &Path| {
            linkat(CWD, proc_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)
                .map_err(io::Error::from)
        };
        match link(target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Temporary::make(directory(target), link)?.1.rename(target)
            }
            done => done,
        }
    }

    fn proc_path(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn named_temporary_file_is_renamed_or_removed() {
        let dir = tempfile::tempdir().expect("a directory");
        let plain = dir.path().join("plain");
        fs::write(&plain, "").expect("written");
        let target = dir.path().join("out");
        let count = || fs::read_dir(dir.path()).expect("readable").count();
        let (mut file, place) = named_temporary(target.clone()).expect("created");
        file.write_all(b"text").expect("written");
        assert!(!target.exists() && count() == 2);
        assert_eq!(file.metadata().expect("open").mode() & 0o7777, PRIVATE);
        place.give_attributes(&file).expect("given");
        publish(&file, place, true).expect("named");
        assert_eq!(fs::read(&target).expect("there"), b"text");
        let mode = |path: &Path| fs::metadata(path).expect("there").mode();
        assert_eq!(mode(&target), mode(&plain), "as any new file");
        drop(named_temporary(target.clone()).expect("created"));
        assert_eq!(count(), 2);
    }
}
