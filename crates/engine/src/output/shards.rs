//! A directory of several outputs. It is whole or absent: the files are written to a temporary directory
//! next to it, which is renamed when all of them are on the disk.
//!
//! Unlike a file, a directory needs a name until then: a killed process leaves one that begins with
//! `.uniqurl-`. Until the rename only its owner may enter it, so the files in it have their names and modes from
//! the start.

use std::borrow::Cow;
use std::fs::{self, DirBuilder};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::file::{Output, named};
use super::place::to_last;
use super::replaced::{may_be_replaced, mode_of_successor};
use super::target::resolve;
use super::temporary::Temporary;
use crate::split::{MARK, MARK_OF_RECORD};
use rustix::fs::{Access, access};
use uniqurl_formats::record::Separator;
use uniqurl_store::{DirectorySync, directory_of};

/// Bytes that all files together gather before they are written, and as many again before they are
/// compressed.
const BUFFERS: usize = 64 << 20;

/// The mode of the temporary directory, which holds records.
const PRIVATE: u32 = 0o700;

/// One of the files. Its errors name it.
pub(super) trait ShardFile: Write + Send {
    /// Brings every byte to the disk.
    fn prepare(&mut self) -> io::Result<()>;
}

impl ShardFile for Output {
    fn prepare(&mut self) -> io::Result<()> {
        Output::prepare(self)
    }
}

/// Files `shard-00000`, `shard-00001`, ... in a directory.
///
/// The bytes written are framed ([`Framing`]).
pub struct ShardFiles {
    /// The name the user gave.
    name: PathBuf,
    /// The directory that the name leads to.
    target: PathBuf,
    temporary: Temporary,
    /// The mode that the directory is to have.
    mode: u32,
    files: Vec<Box<dyn ShardFile>>,
    framing: Framing,
    /// The start of an incomplete line, with its mark.
    begun: Vec<u8>,
}

/// How the bytes for the files follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Lines that end with a line feed, each after [`MARK`] bytes: the number of its file, the lowest byte first. They
    /// end with this separator in the files.
    Lines(Separator),
    /// Any bytes, after the number of their file and their number, [`MARK_OF_RECORD`] bytes together.
    Records,
}

impl ShardFiles {
    /// Makes the files in a temporary directory. `suffix` is the end of their names; if it is
    /// `.gz` or `.zst`, they are compressed.
    ///
    /// # Errors
    ///
    /// The name is taken by anything but an empty directory, or nothing can be made next to it.
    pub fn create(name: &Path, count: u32, suffix: &str, framing: Framing) -> io::Result<Self> {
        Self::create_with(name, count, suffix, framing, |path, name, share| {
            Ok(Box::new(Output::create_one_of_many(path, name, share)?))
        })
    }

    /// The same with files that `file` makes: of a path, the name for errors, and the bytes that the file
    /// may gather.
    pub(super) fn create_with(
        name: &Path,
        count: u32,
        suffix: &str,
        framing: Framing,
        file: impl Fn(&Path, &Path, usize) -> io::Result<Box<dyn ShardFile>>,
    ) -> io::Result<Self> {
        let unnamed = |error| named(name, error);
        // A trailing slash would follow a link, so it is dropped.
        let target = resolve(&name.components().collect::<PathBuf>()).map_err(unnamed)?;
        let (temporary, mode) = make(&target).map_err(unnamed)?;
        let share = BUFFERS / count.max(1) as usize;
        let file = |shard| {
            let shard = format!("shard-{shard:05}{suffix}");
            file(&temporary.path().join(&shard), &name.join(shard), share)
        };
        let files = (0..count).map(file).collect::<io::Result<_>>()?;
        let (name, begun) = (name.to_owned(), Vec::new());
        Ok(Self { name, target, temporary, mode, files, framing, begun })
    }

    /// Brings every byte to the disk, and checks again that the directory can get its name. Otherwise
    /// that error would show only after other outputs have their names.
    pub fn prepare(&mut self) -> io::Result<()> {
        // Errors of its files would show the temporary name, which the user never gave.
        if !self.temporary.path().is_dir() {
            let text = "the directory, which has another name until it is complete, was removed";
            return Err(named(&self.name, io::Error::new(io::ErrorKind::NotFound, text)));
        }
        // Outside of a pool of threads there is only this one.
        match rayon::current_thread_index() {
            Some(_) => {
                // Each file is a task, since one may hold most of the lines.
                let prepared = self.files.par_iter_mut().with_max_len(1).map(|file| file.prepare());
                // The error is that of the first file, whichever comes to its end first.
                prepared.collect::<Vec<_>>().into_iter().collect::<io::Result<()>>()?;
            }
            None => self.files.iter_mut().try_for_each(|file| file.prepare())?,
        }
        old(&self.target).map(drop).map_err(|error| named(&self.name, error))
    }

    /// Makes the directory appear, with all that is in it.
    pub fn commit(mut self) -> io::Result<()> {
        self.prepare()?;
        let Self { name, target, temporary, mode, .. } = self;
        // Opened first: the mode may forbid it.
        let moved = DirectorySync::open(temporary.path()).and_then(|directory| {
            fs::set_permissions(temporary.path(), fs::Permissions::from_mode(mode))?;
            // One sync for the names of all the files: there may be thousands.
            directory.sync()?;
            to_last(&target, || temporary.rename(&target))
        });
        moved.map_err(|error| named(&name, error))
    }

    /// Writes a line, which is after its mark and ends with a line feed.
    fn line(&mut self, marked: &[u8]) -> io::Result<()> {
        let Some((mark, line)) = marked.split_first_chunk::<MARK>() else { return Ok(()) };
        let shard = u32::from_le_bytes(*mark) as usize;
        let Some(file) = self.files.get_mut(shard) else {
            return Err(io::Error::other("no such shard"));
        };
        match self.framing {
            Framing::Lines(Separator::LineFeed) => file.write_all(line),
            Framing::Lines(Separator::Nul) => {
                file.write_all(&line[..line.len() - 1])?;
                file.write_all(&[Separator::Nul.byte()])
            }
            Framing::Records => file.write_all(&line[MARK_OF_RECORD - MARK..]),
        }
    }

    /// The length of the line at the start of `bytes`, with its mark; None if its end is not there yet.
    fn length(&self, bytes: &[u8]) -> Option<usize> {
        let length = match self.framing {
            // A mark may hold the byte of a line feed.
            Framing::Lines(_) => MARK + memchr::memchr(b'\n', bytes.get(MARK..)?)? + 1,
            Framing::Records => {
                let length = bytes.get(MARK..MARK_OF_RECORD)?.try_into().ok()?;
                MARK_OF_RECORD + u64::from_le_bytes(length) as usize
            }
        };
        (length <= bytes.len()).then_some(length)
    }
}

/// Makes a temporary directory next to the target, and tells which mode it is to have: that of an existing
/// target, or of any new directory.
fn make(target: &Path) -> io::Result<(Temporary, u32)> {
    let old = old(target)?;
    if target.file_name().is_none() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let around = directory_of(target);
    let create = |path: &Path| DirBuilder::new().mode(PRIVATE).create(path);
    let ((), temporary) = Temporary::make(around, create)?;
    let path = temporary.path();
    // A umask may forbid even the owner to make files in it. SGID of the directory around it stays, so that
    // files in it have that group.
    let own = fs::metadata(path)?.mode() & 0o7777 | PRIVATE;
    fs::set_permissions(path, fs::Permissions::from_mode(own))?;
    let mode = match old {
        Some(old) => mode_of_successor(target, &old, &fs::metadata(path)?),
        // The umask, or a default access control list, decides: an empty directory shows it.
        None => {
            let ((), probe) = Temporary::make(around, |path| fs::create_dir(path))?;
            fs::metadata(probe.path())?.mode() & 0o7777
        }
    };
    Ok((temporary, mode))
}

/// The empty directory that has the name already and can be replaced. A link is an error, whatever its
/// target.
fn old(target: &Path) -> io::Result<Option<fs::Metadata>> {
    let old = match fs::symlink_metadata(target) {
        Ok(old) => old,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // rename(2) puts no directory in the place of a link.
    if old.is_symlink() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    if fs::read_dir(target)?.next().is_some() {
        let text = "the directory is not empty";
        return Err(io::Error::new(io::ErrorKind::DirectoryNotEmpty, text));
    }
    may_be_replaced(target, &old)?;
    if access(target, Access::WRITE_OK | Access::EXEC_OK).is_err() {
        let text = "nothing can be made in it with its permissions";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(Some(old))
}

impl Write for ShardFiles {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let begun = std::mem::take(&mut self.begun);
        let all =
            if begun.is_empty() { Cow::Borrowed(bytes) } else { [&begun, bytes].concat().into() };
        let mut rest = &all[..];
        while let Some(length) = self.length(rest) {
            let (line, behind) = rest.split_at(length);
            self.line(line)?;
            rest = behind;
        }
        self.begun.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.files.iter_mut().try_for_each(|file| file.flush())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: Framing = Framing::Lines(Separator::LineFeed);

    #[test]
    fn lines_reach_their_shard_wherever_writes_are_cut() {
        let mut text = Vec::new();
        let mut expected = vec![Vec::new(); 3];
        for i in 0..60u32 {
            // Marks, and lines with control characters in them.
            let shard = i % 3;
            let line = format!("{}\u{1}\0{i}\n", "x".repeat(i as usize % 7)).into_bytes();
            text.extend(shard.to_le_bytes());
            text.extend(&line);
            expected[shard as usize].extend(line);
        }
        for step in 1..40 {
            let directory = tempfile::tempdir().unwrap();
            let target = directory.path().join("shards");
            let mut shards = ShardFiles::create(&target, 3, ".txt", LINES).unwrap();
            for part in text.chunks(step) {
                shards.write_all(part).unwrap();
            }
            assert!(!target.exists());
            shards.commit().unwrap();
            for (i, expected) in expected.iter().enumerate() {
                let name = target.join(format!("shard-0000{i}.txt"));
                assert!(fs::read(name).unwrap() == *expected, "{step}");
            }
            assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn line_feed_in_a_shard_number_ends_no_line() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("shards");
        for step in [1, 3, 100] {
            let mut shards =
                ShardFiles::create(&target, 11, "", Framing::Lines(Separator::Nul)).unwrap();
            for part in b"\n\0\0\0a\n\n\0\0\0b\n".chunks(step) {
                shards.write_all(part).unwrap();
            }
            shards.commit().unwrap();
            assert_eq!(fs::read(target.join("shard-00010")).unwrap(), b"a\0b\0");
            fs::remove_dir_all(&target).unwrap();
        }
    }

    #[test]
    fn error_for_a_removed_directory_names_the_output() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("shards");
        let mut shards = ShardFiles::create(&target, 2, ".zst", LINES).unwrap();
        shards.write_all(b"\0\0\0\0a\n").unwrap();
        fs::remove_dir_all(shards.temporary.path()).unwrap();
        let error = shards.commit().expect_err("it is gone").to_string();
        assert!(error.starts_with(&format!("{}: the directory", target.display())), "{error}");
        assert!(error.ends_with("was removed") && !error.contains(".uniqurl-"), "{error}");
    }

    #[test]
    fn many_compressed_files_share_one_memory_limit() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("shards");
        let mut shards = ShardFiles::create(&target, 2000, ".gz", LINES).unwrap();
        let line = [&b"\0\0\0\0"[..], &[b'x'; 999], b"\n"].concat();
        shards.write_all(&line.repeat(100)).unwrap();
        shards.commit().unwrap();
        // Blocks of 32 KiB: a member for each.
        let packed = fs::read(target.join("shard-00000.gz")).unwrap();
        let members = memchr::memmem::find_iter(&packed, b"\x1f\x8b\x08\0\0\0\0\0").count();
        assert_eq!(members, 100_000_usize.div_ceil(BUFFERS / 2000));
    }

    #[test]
    fn dropped_shards_leave_no_files() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("shards");
        let mut shards = ShardFiles::create(&target, 4, ".gz", LINES).unwrap();
        shards.write_all(b"\0\0\0\0a\n").unwrap();
        drop(shards);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
        fs::create_dir(&target).unwrap();
        ShardFiles::create(&target, 1, "", LINES).unwrap().commit().unwrap();
        let error = ShardFiles::create(&target, 1, "", LINES).err().expect("not empty");
        assert!(error.to_string().contains("not empty"), "{error}");
    }
}
