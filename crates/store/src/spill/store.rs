//! One temporary file, which never has a name, so that nothing of it outlives the process.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::costs::{Costs, Spilled};
use uniqurl::internal::alloc;
use uniqurl_text::Printable;

/// Blocks in a file, written and read at any place by any thread.
#[derive(Debug)]
pub struct Store {
    file: File,
    directory: PathBuf,
    end: AtomicU64,
    costs: Mutex<Costs>,
}

/// Where a block is.
#[derive(Debug, Default, Clone, Copy)]
pub struct Extent {
    at: u64,
    length: u32,
    /// Its bytes before packing.
    raw: u32,
}

impl Extent {
    /// Its bytes before packing.
    pub(super) fn raw(self) -> u64 {
        self.raw.into()
    }

    #[cfg(test)]
    pub(super) fn new(at: u64, length: u32) -> Self {
        Self { at, length, raw: 0 }
    }
}

/// What was spilled could not be written, or not be read back.
#[derive(Debug)]
pub struct SpillError {
    /// The directory that the temporary file is in.
    pub directory: PathBuf,
    /// What happened.
    pub error: io::Error,
}

impl fmt::Display for SpillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: spill: {}", Printable::path(&self.directory), self.error)
    }
}

/// The source is that of its [`error`](SpillError::error), whose words this one has.
impl std::error::Error for SpillError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.error.source()
    }
}

/// Makes a file without a name in `directory`, for records, which only this user may open.
///
/// # Errors
///
/// No file can be made there, or the directory belongs to another user and is not shared, as `/tmp` is
/// (mode `+t`).
pub fn temporary_file(directory: &Path) -> io::Result<File> {
    const STICKY: u32 = 0o1000;
    let file = tempfile::tempfile_in(directory)?;
    // Only the umask decides about the mode of a file that never had a name.
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    let around = fs::metadata(directory)?;
    if around.uid() != file.metadata()?.uid() && around.mode() & STICKY == 0 {
        let text = "it is another user's, and not shared (mode +t)";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(file)
}

impl Store {
    /// An empty one: made without a name where the file system can do that, else its name is gone
    /// before anything is written.
    pub fn create(directory: &Path) -> Result<Self, SpillError> {
        let directory = directory.to_owned();
        match temporary_file(&directory) {
            Ok(file) => {
                Ok(Self { file, directory, end: AtomicU64::new(0), costs: Mutex::default() })
            }
            Err(error) => Err(SpillError { directory, error }),
        }
    }

    /// Bytes written, and the bytes that they were before packing.
    pub fn spilled(&self) -> Spilled {
        Spilled { written: self.end.load(Ordering::Relaxed), ..self.costs().spilled() }
    }

    /// Packs all blocks from now on, whatever that costs.
    pub fn pack_all(&self) {
        self.costs().packs_all = true;
    }

    pub(super) fn costs(&self) -> MutexGuard<'_, Costs> {
        self.costs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An error of this file.
    pub fn error(&self, error: io::Error) -> SpillError {
        SpillError { directory: self.directory.clone(), error }
    }

    /// A block that is not as it was written.
    pub(super) fn damaged(&self, extent: Extent, reason: &str) -> SpillError {
        let text = format!("damaged block at offset {}: {reason}", extent.at);
        self.error(io::Error::new(io::ErrorKind::InvalidData, text))
    }

    /// Writes a block, which had `raw` bytes before packing.
    pub(super) fn append(&self, block: &[u8], raw: u32) -> Result<Extent, SpillError> {
        let length = u32::try_from(block.len()).expect("blocks are small");
        let at = self.end.fetch_add(u64::from(length), Ordering::Relaxed);
        self.file.write_all_at(block, at).map_err(|error| self.error(error))?;
        Ok(Extent { at, length, raw })
    }

    /// Reads a block into `out`, which then holds nothing else.
    pub(super) fn read(&self, extent: Extent, out: &mut Vec<u8>) -> Result<(), SpillError> {
        let length = extent.length as usize;
        alloc::try_reserve(out, length.saturating_sub(out.len()))
            .map_err(|error| self.error(error.into()))?;
        out.resize(length, 0);
        self.file.read_exact_at(out, extent.at).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(extent, "the file ends before it"),
            _ => self.error(error),
        })
    }

    /// Changes one byte, as a bad disk would.
    #[cfg(test)]
    pub(super) fn damage(&self, at: u64) {
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, at).unwrap();
        self.file.write_all_at(&[byte[0] ^ 1], at).unwrap();
    }
}
