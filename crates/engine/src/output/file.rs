//! One output: bytes are gathered, compressed if the name asks for it, and become visible once the output
//! is committed. `place.rs` decides where the bytes are until then.

use super::compress::{BLOCK, BLOCKS, CompressWriter};
use super::place::{self, Place};
use super::sync_writer::{Sync, SyncWriter};
use super::vectored;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, IoSlice, IsTerminal, Write};
use std::path::{Path, PathBuf};
use uniqurl_formats::input::pipe;
use uniqurl_text::Printable;

/// Small writes are gathered up to this many bytes; larger ones pass through.
const BUFFER: usize = 64 << 10;

/// If many files are open, each gathers at least this much. Smaller blocks would hardly be compressed: with
/// blocks of 32 KiB the files are 6 % larger than with 1 MiB, with 16 KiB 11 %.
const SMALLEST_BUFFER: usize = 8 << 10;
const SMALLEST_BLOCK: usize = 32 << 10;

/// The destination of a run's bytes. They take effect once [`commit`](Self::commit) returns; an
/// `Output` that is dropped before leaves no trace of a regular file. After a write error it is
/// unknown which bytes were written, and the output can no longer be committed.
///
/// If the name ends in `.gz` or `.zst`, the bytes are compressed.
///
/// Standard output and error, pipes and devices are written directly: bytes written there cannot be taken
/// back. A closed pipe is an error of kind [`BrokenPipe`](io::ErrorKind::BrokenPipe). Every error
/// names the path.
///
/// ```
/// use std::{fs, io::Write};
/// use uniqurl_engine::output::Output;
///
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("urls.txt");
/// let mut output = Output::create(&path)?;
/// output.write_all(b"http://example.com/\n")?;
/// assert!(!path.exists());
/// output.commit()?;
/// assert_eq!(fs::read(&path)?, b"http://example.com/\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Output {
    /// The name that errors give.
    name: PathBuf,
    /// Never flushed by being dropped: see `Drop`.
    writer: Option<BufWriter<CompressWriter>>,
    place: Place,
    /// Whether every byte is on the disk.
    prepared: bool,
    /// The kind of the first error, after which nobody knows which bytes are there.
    failed: Option<io::ErrorKind>,
}

impl Output {
    /// Opens the output: `-` is standard output.
    ///
    /// # Errors
    ///
    /// Every failure that can be known fails here, before any work: a directory that is missing or not
    /// writable, a file that is write-protected or another user's in a directory such as `/tmp`, a mount
    /// point.
    pub fn create(path: &Path) -> io::Result<Self> {
        let opened = place::open(path);
        Self::with(path, opened, BUFFER, [BLOCK, BLOCKS])
    }

    /// Makes one of many outputs that are open at once, in a private directory. It holds about `share` bytes:
    /// small writes are gathered up to that size, and blocks to compress have that size. Errors name it by its
    /// final `name`. It has its name in the directory from the start.
    pub(super) fn create_one_of_many(path: &Path, name: &Path, share: usize) -> io::Result<Self> {
        let buffer = share.clamp(SMALLEST_BUFFER, BUFFER);
        let made = OpenOptions::new().write(true).create_new(true).open(path);
        let opened = made.map(|file| (file, Place::InPrivateDirectory));
        Self::with(name, opened, buffer, [share.clamp(SMALLEST_BLOCK, BLOCK), 1])
    }

    /// Holds `blocks` blocks of `block` bytes before they are compressed.
    fn with(
        name: &Path,
        opened: io::Result<(File, Place)>,
        buffer: usize,
        [block, blocks]: [usize; 2],
    ) -> io::Result<Self> {
        let (file, place) = opened.map_err(|error| named(name, error))?;
        let sync = match place {
            Place::Direct => {
                pipe::set_pipe_size(&file);
                Sync::Never
            }
            _ => Sync::AtTheEnd,
        };
        let pack = CompressWriter::new(name, SyncWriter::new(file, sync), block, blocks);
        let writer = Some(BufWriter::with_capacity(buffer, pack));
        Ok(Self { name: name.to_owned(), writer, place, prepared: false, failed: None })
    }

    /// True for a pipe, a terminal or a device: bytes written there cannot be taken back.
    pub fn is_direct(&self) -> bool {
        matches!(self.place, Place::Direct)
    }

    /// True if the output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.writer.as_ref().is_some_and(|writer| writer.get_ref().spool().file().is_terminal())
    }

    /// A sentence about the bytes that were written directly and cannot be taken back, if any were.
    pub fn given(&self) -> Option<String> {
        let written = self.writer.as_ref().map_or(0, |writer| writer.get_ref().spool().written());
        let to = Named(&self.name);
        (self.is_direct() && written > 0).then(|| format!("{written} bytes had gone to {to}"))
    }

    /// The name it was opened by.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Brings every byte to the disk, so that [`commit`](Self::commit) only has to give the file its name.
    /// With several outputs, prepare all before committing any: then a full disk
    /// commits none.
    ///
    /// # Errors
    ///
    /// Not all bytes could be written, now or before; the name was meanwhile taken by something that cannot
    /// be replaced; or its directory is gone.
    pub fn prepare(&mut self) -> io::Result<()> {
        if let Some(kind) = self.failed {
            let error = io::Error::new(kind, "an earlier error ended the output");
            return Err(named(&self.name, error));
        }
        if self.prepared {
            return Ok(());
        }
        let writer = self.writer.as_mut().expect("only commit takes the writer");
        let spool = writer.get_ref().spool().file();
        // The mode comes before the sync of `finish`, which brings both to the disk.
        let given = self.place.give_mode(spool);
        let done = given.and_then(|()| writer.flush()).and_then(|()| writer.get_mut().finish());
        self.noted(done)?;
        // Otherwise a change there would be noticed only after other outputs have their names.
        self.place.is_free().map_err(|error| named(&self.name, error))?;
        self.prepared = true;
        Ok(())
    }

    /// Makes the file appear, whole.
    ///
    /// # Errors
    ///
    /// As for [`prepare`](Self::prepare), or it could not be given its name. The old file, or none, is
    /// then there as before, unless it was the very last step that failed: syncing the directory.
    pub fn commit(mut self) -> io::Result<()> {
        self.prepare()?;
        let writer = self.writer.take().expect("only commit takes the writer");
        // `prepare` has flushed the buffer.
        let (pack, _) = writer.into_parts();
        let place = std::mem::replace(&mut self.place, Place::Direct);
        let published = place.publish(pack.spool().file());
        published.map_err(|error| named(&self.name, error))
    }

    /// Names the path in the error of a write, and remembers the error. An interrupted write
    /// can be repeated.
    fn noted<T>(&mut self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            // An interrupted write has written nothing, and callers repeat it.
            if error.kind() != io::ErrorKind::Interrupted {
                self.failed.get_or_insert(error.kind());
            }
            named(&self.name, error)
        })
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.prepared = false;
        let writer = self.writer.as_mut().expect("only commit takes the writer");
        let written = writer.write(bytes);
        self.noted(written)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        // The reader of a pipe wakes up once for each write, and works while the next ones are made.
        if self.is_direct() || parts.iter().map(|part| part.len()).sum::<usize>() < BUFFER {
            return self.write(vectored::first(parts));
        }
        self.prepared = false;
        let writer = self.writer.as_mut().expect("only commit takes the writer");
        // Large writes go past the buffer, once the bytes before them are written.
        let written = writer.flush().and_then(|()| writer.get_mut().write_vectored(parts));
        self.noted(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let writer = self.writer.as_mut().expect("only commit takes the writer");
        let flushed = writer.flush();
        self.noted(flushed)
    }
}

impl Drop for Output {
    /// Bytes still in the buffer of an output that is given up are not wanted, on a pipe either.
    fn drop(&mut self) {
        if let Some(writer) = self.writer.take() {
            let _ = writer.into_parts();
        }
    }
}

/// An error that names the path and keeps its kind.
pub(super) fn named(path: &Path, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", Named(path)))
}

/// An output as messages name it.
struct Named<'a>(&'a Path);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 == Path::new("-") {
            true => f.write_str("standard output"),
            false => Printable::path(self.0).fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn written(path: &Path, text: &str) -> Output {
        let mut output = Output::create(path).expect("created");
        output.write_all(text.as_bytes()).expect("written");
        output
    }

    /// The names in a directory, hidden ones too.
    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).expect("readable");
        let name = |e: io::Result<fs::DirEntry>| e.expect("an entry").file_name();
        let mut names: Vec<_> =
            entries.map(|e| name(e).into_string().expect("ASCII names")).collect();
        names.sort();
        names
    }

    #[test]
    fn file_appears_complete_at_commit() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out");
        let mut output = written(&path, "one\n");
        output.flush().expect("flushed");
        assert!(!path.exists());
        output.prepare().expect("prepared");
        assert!(!path.exists());
        output.write_all(b"two\n").expect("written after preparing");
        output.commit().expect("committed");
        assert_eq!(fs::read(&path).expect("there"), b"one\ntwo\n");
        assert_eq!(names(dir.path()), ["out"]);
    }

    #[test]
    fn dropped_output_keeps_the_old_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let old = dir.path().join("old");
        fs::write(&old, "old").expect("written");
        drop(written(&old, &"new".repeat(BUFFER)));
        drop(written(&dir.path().join("new"), "new"));
        assert_eq!(fs::read(&old).expect("there"), b"old");
        assert_eq!(names(dir.path()), ["old"]);
    }

    #[test]
    fn replaced_file_keeps_its_permissions() {
        let dir = tempfile::tempdir().expect("a directory");
        let plain = dir.path().join("plain");
        fs::write(&plain, "").expect("written");
        let new = dir.path().join("new");
        written(&new, "x").commit().expect("committed");
        let mode = |path: &Path| fs::metadata(path).expect("there").mode() & 0o7777;
        assert_eq!(mode(&new), mode(&plain));
        for old in [0o600, 0o640, 0o666, 0o755, 0o4755, 0o2755, 0o1777, 0o7777] {
            fs::set_permissions(&new, fs::Permissions::from_mode(old)).expect("set");
            written(&new, "y").commit().expect("committed");
            // SUID, SGID and the sticky bit are for the old contents.
            assert_eq!(mode(&new), old & 0o777);
        }
    }

    #[test]
    fn target_of_a_symbolic_link_is_replaced_and_the_link_stays() {
        let dir = tempfile::tempdir().expect("a directory");
        let (sub, link, dangling) =
            (dir.path().join("sub"), dir.path().join("link"), dir.path().join("dangling"));
        fs::create_dir(&sub).expect("made");
        fs::write(sub.join("file"), "old").expect("written");
        symlink("sub/hop", &link).expect("linked");
        symlink("file", sub.join("hop")).expect("linked");
        symlink("sub/new", &dangling).expect("linked");
        written(&link, "1").commit().expect("committed");
        written(&dangling, "2").commit().expect("committed");
        assert!(link.is_symlink() && dangling.is_symlink() && sub.join("hop").is_symlink());
        assert_eq!(fs::read(sub.join("file")).expect("there"), b"1");
        assert_eq!(fs::read(sub.join("new")).expect("there"), b"2");
        symlink("loop", dir.path().join("loop")).expect("linked");
        let error = Output::create(&dir.path().join("loop")).expect_err("a loop");
        assert!(error.to_string().contains("symbolic links"), "{error}");
    }

    #[test]
    fn unwritable_path_is_an_early_error_with_a_printable_name() {
        let dir = tempfile::tempdir().expect("a directory");
        fs::write(dir.path().join("file"), "").expect("written");
        for bad in ["missing/out", "", "file/out", "missing\x1b[31m/out", "..", "new/", "new/."] {
            let path = dir.path().join(bad);
            let text = Output::create(&path).expect_err(bad).to_string();
            assert!(text.starts_with(&Printable::path(&path).to_string()), "{text}");
            assert!(text.bytes().all(|b| (0x20..=0x7E).contains(&b)), "{text}");
            assert!(!text.contains(".uniqurl-"), "{text}");
        }
    }

    #[test]
    fn devices_and_pipes_are_written_in_place() {
        written(Path::new("/dev/null"), "x").commit().expect("committed");
        assert!(!fs::metadata("/dev/null").expect("there").is_file());
        let error = {
            let mut full = written(Path::new("/dev/full"), "x");
            full.prepare().expect_err("the device is always full")
        };
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(error.to_string().starts_with("/dev/full: "), "{error}");

        let (mut reader, writer) = io::pipe().expect("a pipe");
        let path = PathBuf::from(format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer)));
        let output = written(&path, "through");
        drop(writer);
        output.commit().expect("committed");
        let mut text = String::new();
        reader.read_to_string(&mut text).expect("read");
        assert_eq!(text, "through");
    }

    #[test]
    fn parts_of_any_size_are_written_in_order() {
        let dir = tempfile::tempdir().expect("a directory");
        let text: Vec<u8> = (0..9 * BUFFER).map(|i| (i % 253) as u8).collect();
        for name in ["out", "out.gz"] {
            let path = dir.path().join(name);
            for step in [1000, BUFFER / 2, BUFFER - 1, BUFFER, 2 * BUFFER + 1] {
                let mut output = Output::create(&path).expect("created");
                let parts: Vec<_> = text.chunks(step).flat_map(|part| [part, b""]).collect();
                for (i, parts) in parts.chunks(7).enumerate() {
                    if i % 3 == 2 {
                        parts.iter().for_each(|part| output.write_all(part).expect("written"));
                        continue;
                    }
                    let write = |parts: &[IoSlice<'_>]| output.write_vectored(parts);
                    vectored::write_all(parts.iter().copied(), write).expect("written");
                }
                output.commit().expect("committed");
                let file = File::open(&path).expect("there");
                let mut found = Vec::new();
                match name {
                    "out" => (&file).read_to_end(&mut found),
                    _ => flate2::read::MultiGzDecoder::new(&file).read_to_end(&mut found),
                }
                .expect("read");
                assert!(found == text, "{name}, {step}");
            }
        }
    }

    #[test]
    fn no_file_appears_after_a_write_error() {
        let dir = tempfile::tempdir().expect("a directory");
        let readable = dir.path().join("readable");
        fs::write(&readable, "").expect("written");
        for name in ["out", "out.gz", "out.zst"] {
            let path = dir.path().join(name);
            let mut output = Output::create(&path).expect("created");
            // Nothing can be written through it.
            let spool = SyncWriter::new(File::open(&readable).expect("there"), Sync::AtTheEnd);
            let pack = CompressWriter::new(&path, spool, BLOCK, BLOCKS);
            output.writer = Some(BufWriter::with_capacity(BUFFER, pack));
            let written = output.write_all(&[b'x'; 2 * BUFFER]).and_then(|()| output.prepare());
            let error = written.expect_err("nothing can be written");
            let again = output.prepare().expect_err("nothing was written");
            assert_eq!(again.kind(), error.kind());
            assert!(again.to_string().starts_with(&path.display().to_string()), "{again}");
            output.write_all(b"more").expect("buffered");
            output.commit().expect_err("not all was written");
            assert_eq!(names(dir.path()), ["readable"]);
        }
    }

    #[test]
    fn commit_can_be_retried_after_an_interruption() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut output = written(&dir.path().join("out"), "one\n");
        let interrupted = output.noted::<()>(Err(io::ErrorKind::Interrupted.into()));
        assert_eq!(interrupted.expect_err("told").kind(), io::ErrorKind::Interrupted);
        output.commit().expect("committed");
        assert_eq!(names(dir.path()), ["out"]);
    }

    #[test]
    fn commit_works_once_its_name_is_free_again() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("out");
        let mut output = written(&path, "one\n");
        fs::create_dir(&path).expect("made");
        output.prepare().expect_err("a directory has the name");
        fs::remove_dir(&path).expect("removed");
        output.commit().expect("committed");
        assert_eq!(fs::read(&path).expect("there"), b"one\n");
    }

    #[test]
    fn closed_pipe_gives_broken_pipe() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let path = PathBuf::from(format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&writer)));
        let mut output = Output::create(&path).expect("opened");
        drop((reader, writer));
        let error = output.write_all(&vec![b'x'; 2 * BUFFER]).expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
