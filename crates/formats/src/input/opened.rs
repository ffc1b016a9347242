//! Inputs checked before any work starts, and again after they were read.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::error::{InputError, Trouble};

/// An input that can be opened.
#[derive(Debug, Clone)]
pub struct Input {
    /// Its name; `-` is standard input.
    pub path: PathBuf,
    /// Its kind.
    pub source: Source,
    /// A copy of its bytes without a name, if it is a stream that is read more than once.
    pub copy: Option<Arc<File>>,
}

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A regular file of this many bytes.
    File {
        /// Size when it was checked; reading stops there.
        size: u64,
        /// Device and inode.
        identity: (u64, u64),
        /// Time of the last change to its bytes: seconds and nanoseconds.
        modified: (i64, i64),
    },
    /// A pipe or a device: read sequentially.
    Stream,
    /// Standard input redirected from a file. Bytes after its end may be a line still being written, or
    /// the run's own output.
    Redirected {
        /// Size when it was checked; reading stops there.
        size: u64,
    },
}

/// Longest time that a write may take between setting the modification time and the size.
const WRITE_IN_PROGRESS_MS: u32 = 50;

/// Checks every input, so that all unreadable ones are reported before any work starts.
pub fn check(paths: &[PathBuf]) -> (Vec<Input>, Vec<InputError>) {
    let (mut inputs, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        match look(path) {
            Ok(source) => inputs.push(Input { path: path.clone(), source, copy: None }),
            Err(trouble) => errors.push(InputError::new(path, None, trouble)),
        }
    }
    (inputs, errors)
}

fn look(path: &Path) -> Result<Source, Trouble> {
    if path == Path::new("-") {
        return standard_input().map_err(Trouble::Io);
    }
    let metadata = fs::metadata(path).map_err(Trouble::Io)?;
    if metadata.is_dir() {
        return Err(Trouble::Directory);
    }
    if !metadata.is_file() {
        // Opening a pipe here and closing it again would cut off its only writer.
        return Ok(Source::Stream);
    }
    let mut file = File::open(path).map_err(Trouble::Io)?;
    // Asked once more, of the open file: its name may stand for another file by now.
    let metadata = file.metadata().map_err(Trouble::Io)?;
    // Files in /proc and /sys report size 0 although they have content.
    if metadata.len() == 0 && file.read(&mut [0]).map_err(Trouble::Io)? > 0 {
        return Ok(Source::Stream);
    }
    Ok(source_of(&metadata))
}

fn source_of(file: &Metadata) -> Source {
    Source::File {
        size: file.len(),
        identity: (file.dev(), file.ino()),
        modified: (file.mtime(), file.mtime_nsec()),
    }
}

/// Checks standard input, which may be a file at any position.
pub(super) fn standard_input() -> io::Result<Source> {
    let mut file = stdin()?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Ok(Source::Stream);
    }
    let (at, size) = (file.stream_position()?, metadata.len());
    // Files in /proc report size 0 although they have content.
    if size == 0 && file.read_at(&mut [0], at)? > 0 {
        return Ok(Source::Stream);
    }
    Ok(Source::Redirected { size })
}

/// Standard input without the standard library's buffer.
pub(super) fn stdin() -> io::Result<File> {
    // A duplicate, so that dropping this file does not close standard input for the rest of the
    // process.
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

impl Input {
    /// The same input with its bytes in `file`, which has no name, if they can be read only once.
    ///
    /// # Errors
    ///
    /// It cannot be read, or the file cannot be written.
    pub fn copied_to(self, file: impl FnOnce() -> io::Result<File>) -> io::Result<Self> {
        if let Source::File { .. } = self.source {
            return Ok(self);
        }
        let mut file = file()?;
        let mut pipe = self.open_stream().map_err(io::Error::other)?;
        io::copy(&mut pipe, &mut file)?;
        let source = source_of(&file.metadata()?);
        Ok(Self { path: self.path, source, copy: Some(Arc::new(file)) })
    }

    /// Device and inode of the file that its name stands for now.
    pub fn identity(&self) -> Option<(u64, u64)> {
        let metadata = match self.path == Path::new("-") {
            true => stdin().and_then(|file| file.metadata()),
            false => fs::metadata(&self.path),
        };
        metadata.ok().map(|found| (found.dev(), found.ino()))
    }
}

/// A regular file that is being read.
#[derive(Debug)]
pub struct OpenFile {
    /// The file itself.
    pub file: File,
    path: PathBuf,
    size: u64,
    identity: (u64, u64),
    modified: (i64, i64),
    /// Whether it has no name, so that nothing can take its place.
    is_copy: bool,
}

impl OpenFile {
    /// Opens the file of `input`, and fails if it is no longer the file that was checked.
    pub fn open(input: &Input) -> Result<Option<Self>, InputError> {
        let Source::File { size, identity, modified } = input.source else { return Ok(None) };
        let error = |trouble| InputError::new(&input.path, None, trouble);
        let file = match &input.copy {
            Some(copy) => copy.try_clone(),
            None => File::open(&input.path),
        };
        let (file, path) = (file.map_err(|e| error(Trouble::Io(e)))?, input.path.clone());
        let opened = Self { file, path, size, identity, modified, is_copy: input.copy.is_some() };
        opened.verify()?;
        Ok(Some(opened))
    }

    /// Its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Size when it was checked.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Checks that the bytes read are those of the file as it was checked, as far as the system can
    /// tell: its name still refers to it, and it did not shrink. A file that grew is a live log, read
    /// up to its size at opening. The same size with a new modification time means it was rewritten.
    pub fn verify(&self) -> Result<(), InputError> {
        let error = |trouble| Err(InputError::new(&self.path, None, trouble));
        let mut now = match self.file.metadata() {
            Ok(now) => now,
            Err(e) => return error(Trouble::Io(e)),
        };
        // A write in progress sets the modification time first, and the size once its bytes are there.
        for _ in 0..WRITE_IN_PROGRESS_MS {
            if now.len() != self.size || (now.mtime(), now.mtime_nsec()) == self.modified {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
            now = match self.file.metadata() {
                Ok(now) => now,
                Err(e) => return error(Trouble::Io(e)),
            };
        }
        if now.len() < self.size {
            return Err(InputError::new(&self.path, Some(now.len()), Trouble::Shrank));
        }
        if now.len() == self.size && (now.mtime(), now.mtime_nsec()) != self.modified {
            return error(Trouble::Replaced);
        }
        if self.is_copy {
            return Ok(());
        }
        // A file replaced by a rename keeps its bytes under the open handle. Only the name shows
        // that the handle is no longer the input that the user meant.
        let named = match fs::metadata(&self.path) {
            Ok(named) => Some((named.dev(), named.ino())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => None,
            Err(e) => return error(Trouble::Io(e)),
        };
        if (now.dev(), now.ino()) != self.identity || named != Some(self.identity) {
            return error(Trouble::Replaced);
        }
        Ok(())
    }
}
