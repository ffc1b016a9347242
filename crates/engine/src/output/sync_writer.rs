//! A file that is brought to the disk while it is written, so that the sync at its end has little
//! left to wait for.
//!
//! Measured with 600 MiB to a file on ext4, medians of seven runs, wall time to the end of the
//! commit: as fast as memory gives the bytes, 0.21 s against 0.27 s with one sync at the end; at the
//! pace of a job that makes 600 MB/s, 1.09 s against 1.54 s.
//!
//! Large writes are faster: the kernel keeps a file in folios, which are no larger than a single write.
//! 684 MiB in writes of 120,345 bytes take 0.21 s and the sync after them 0.21 s; in writes six times as
//! large 0.15 s and 0.18 s.

use std::fs::File;
use std::io::{self, IoSlice, Write};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use uniqurl_formats::input::pipe::write_blocking;

/// How much is written before the disk is set to work on it.
const WRITEBACK: u64 = 64 << 20;

/// Whether a file has to be on the disk when it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sync {
    /// A pipe or a device: there is no disk.
    Never,
    /// A file that is about to get its name.
    AtTheEnd,
}

/// The file, and the thread that syncs it.
#[derive(Debug)]
pub(super) struct SyncWriter {
    file: Arc<File>,
    sync: Sync,
    /// Bytes that were written.
    written: u64,
    /// Bytes since the disk was last set to work.
    unsynced: u64,
    writeback: Option<Writeback>,
}

#[derive(Debug)]
struct Writeback {
    /// Each message asks for one sync. Closed, it ends the thread.
    ask: SyncSender<()>,
    thread: JoinHandle<io::Result<()>>,
}

impl SyncWriter {
    pub fn new(file: File, sync: Sync) -> Self {
        Self { file: Arc::new(file), sync, written: 0, unsynced: 0, writeback: None }
    }

    /// Asks the thread for a sync. One that is still busy with the last will see these bytes too, or
    /// be asked again later.
    fn start_writeback(&mut self) -> io::Result<()> {
        self.unsynced = 0;
        if let Some(running) = self.writeback.take_if(|running| running.thread.is_finished()) {
            // It ends by itself only on an error. The kernel reports that once, so it must not be
            // lost: a later sync would succeed.
            running.join()?;
        }
        if self.writeback.is_none() {
            // If no thread can be started, the sync at the end does all the work.
            self.writeback = Writeback::spawn(Arc::clone(&self.file)).ok();
        }
        if let Some(writeback) = &self.writeback {
            let _ = writeback.ask.try_send(());
        }
        Ok(())
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Bytes that were written so far.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Syncs the remaining bytes to the disk.
    pub fn finish(&mut self) -> io::Result<()> {
        if let Some(writeback) = self.writeback.take() {
            writeback.join()?;
        }
        match self.sync {
            Sync::AtTheEnd => self.file.sync_all(),
            Sync::Never => Ok(()),
        }
    }
}

impl Writeback {
    fn spawn(file: Arc<File>) -> io::Result<Self> {
        // One waiting request is enough: a sync covers all bytes written before it.
        let (ask, asked) = sync_channel(1);
        let sync = move || asked.iter().try_for_each(|()| file.sync_data());
        let thread = thread::Builder::new().name("writeback".into()).spawn(sync)?;
        Ok(Self { ask, thread })
    }

    fn join(self) -> io::Result<()> {
        // Closing the channel ends the thread once it has synced.
        drop(self.ask);
        self.thread.join().expect("syncing does not panic")
    }
}

impl Write for SyncWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let write = || (&*self.file).write_vectored(parts);
        let written = write_blocking(&self.file, write)?;
        self.written += written as u64;
        if self.sync == Sync::AtTheEnd {
            self.unsynced += written as u64;
            if self.unsynced >= WRITEBACK {
                self.start_writeback()?;
            }
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn file_is_synced_only_if_asked() {
        // A pipe cannot be synced, so the error shows whether a sync was attempted.
        for (sync, is_told) in [(Sync::AtTheEnd, true), (Sync::Never, false)] {
            let (_reader, writer) = io::pipe().expect("a pipe");
            let mut spool = SyncWriter::new(File::from(std::os::fd::OwnedFd::from(writer)), sync);
            spool.write_all(b"text").expect("written");
            assert_eq!(spool.finish().is_err(), is_told, "{sync:?}");
        }
    }
}
