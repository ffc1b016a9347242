//! A file of a checkpoint: packed with a checksum, and there whole or not at all.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use zstd::stream::{read, write};

use crate::output::{Output, Printable};
use crate::room;
use crate::spill::Entry;

/// The fastest level that still finds what URLs have in common.
const LEVEL: i32 = 1;

/// Bytes of a group after which another begins.
const GROUP: usize = 64 << 10;

/// One that is being written.
pub(in crate::pipeline) struct Part {
    encoder: write::Encoder<'static, Output>,
    /// Entries that are not written yet.
    pending: Vec<u8>,
}

impl Part {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut encoder = write::Encoder::new(Output::create(path)?, LEVEL)?;
        encoder.include_checksum(true)?;
        Ok(Self { encoder, pending: Vec::new() })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.encoder.write_all(bytes)
    }

    /// Writes a group: its length, and what it is of.
    pub(super) fn group<'a>(
        &mut self,
        slices: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> io::Result<()> {
        let length = slices.clone().map(<[u8]>::len).sum::<usize>() as u64;
        self.encoder.write_all(&length.to_le_bytes())?;
        slices.into_iter().try_for_each(|slice| self.encoder.write_all(slice))
    }

    /// Writes entries, in groups of some.
    pub(in crate::pipeline) fn entries<'e>(
        &mut self,
        mut entries: impl Iterator<Item = Entry<'e>>,
    ) -> io::Result<()> {
        entries.try_for_each(|entry| {
            entry.append(&mut self.pending)?;
            if self.pending.len() >= GROUP { self.write_pending() } else { Ok(()) }
        })
    }

    fn write_pending(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        self.group(std::iter::once(pending.as_slice()))?;
        self.pending = pending;
        self.pending.clear();
        Ok(())
    }

    /// Makes it appear.
    pub(super) fn commit(mut self) -> io::Result<()> {
        if !self.pending.is_empty() {
            self.write_pending()?;
        }
        self.encoder.finish()?.commit()
    }
}

/// Reads a part.
pub(in crate::pipeline) struct Groups {
    path: PathBuf,
    decoder: read::Decoder<'static, BufReader<File>>,
}

impl Groups {
    pub(in crate::pipeline) fn open(path: PathBuf) -> io::Result<Self> {
        match File::open(&path).and_then(read::Decoder::new) {
            Ok(decoder) => Ok(Self { path, decoder }),
            Err(error) => Err(damaged(&path, &error)),
        }
    }

    /// Reads the next group into `group`; whether there was one.
    pub(in crate::pipeline) fn next(&mut self, group: &mut Vec<u8>) -> io::Result<bool> {
        group.clear();
        let mut length = Vec::new();
        let read = self.decoder.by_ref().take(8).read_to_end(&mut length);
        if read.map_err(|error| damaged(&self.path, &error))? == 0 {
            return Ok(false);
        }
        let Ok(length) = length.try_into().map(u64::from_le_bytes) else {
            return Err(self.damaged());
        };
        while (group.len() as u64) < length {
            let more = (length - group.len() as u64).min(GROUP as u64);
            room::reserve(group, more as usize)?;
            let read = self.decoder.by_ref().take(more).read_to_end(group);
            if read.map_err(|error| damaged(&self.path, &error))? == 0 {
                return Err(self.damaged());
            }
        }
        Ok(true)
    }

    /// Copies all of it, where it holds no groups.
    pub(in crate::pipeline) fn copy(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = vec![0; GROUP];
        loop {
            match self.decoder.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(read) => out.write_all(&bytes[..read])?,
                Err(error) => return Err(damaged(&self.path, &error)),
            }
        }
    }

    /// What it holds is not what a run wrote.
    pub(in crate::pipeline) fn damaged(&self) -> io::Error {
        damaged(&self.path, &io::Error::other("it is not as it was written"))
    }
}

fn damaged(path: &Path, error: &io::Error) -> io::Error {
    let path = Printable::path(path);
    let text = format!("{path}: {error}; remove the directory of the checkpoint to start anew");
    io::Error::new(error.kind(), text)
}
