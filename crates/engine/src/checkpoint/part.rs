//! A file of a checkpoint: packed, there whole or not at all, and known again by what the manifest says
//! of it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use zstd::stream::{read, write};

use crate::output::Output;
use uniqurl::bytes::Printable;
use uniqurl::bytes::alloc;
use uniqurl_store::spill::Entry;

/// The fastest level that still finds what URLs have in common.
const LEVEL: i32 = 1;

/// Bytes of a group after which another begins.
const GROUP: usize = 64 << 10;

/// What a file is known by, beside its name: else one that took the place of another would pass for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seal {
    length: u64,
    /// CRC-32 of its bytes as they are on the disk.
    checksum: u32,
}

/// Counts what goes by.
struct Sealing<T> {
    inner: T,
    hasher: Hasher,
    length: u64,
}

impl<T> Sealing<T> {
    fn new(inner: T) -> Self {
        Self { inner, hasher: Hasher::new(), length: 0 }
    }

    fn end(self) -> (T, Seal) {
        (self.inner, Seal { length: self.length, checksum: self.hasher.finalize() })
    }
}

impl<T: Write> Write for Sealing<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// One that is being written.
pub(crate) struct Part {
    encoder: write::Encoder<'static, Sealing<Output>>,
    /// Entries that are not written yet.
    pending: Vec<u8>,
}

impl Part {
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let output = Sealing::new(Output::create(path)?);
        let mut encoder = write::Encoder::new(output, LEVEL)?;
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
    pub(crate) fn entries<'e>(
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
    pub(super) fn commit(mut self) -> io::Result<Seal> {
        if !self.pending.is_empty() {
            self.write_pending()?;
        }
        let (output, seal) = self.encoder.finish()?.end();
        output.commit()?;
        Ok(seal)
    }
}

/// Reads a part.
pub(crate) struct Groups {
    path: PathBuf,
    decoder: read::Decoder<'static, BufReader<File>>,
}

impl Groups {
    /// Opens it, and reads it through first: nothing of a file that is another is taken.
    pub(crate) fn open(path: PathBuf, seal: Seal) -> io::Result<Self> {
        match open(&path, seal) {
            Ok(decoder) => Ok(Self { path, decoder }),
            Err(error) => Err(damaged(&path, &error)),
        }
    }

    /// Reads the next group into `group`; whether there was one.
    pub(crate) fn next(&mut self, group: &mut Vec<u8>) -> io::Result<bool> {
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
            alloc::try_reserve(group, more as usize)?;
            let read = self.decoder.by_ref().take(more).read_to_end(group);
            if read.map_err(|error| damaged(&self.path, &error))? == 0 {
                return Err(self.damaged());
            }
        }
        Ok(true)
    }

    /// Copies all of it, where it holds no groups.
    pub(crate) fn copy(&mut self, out: &mut dyn Write) -> io::Result<()> {
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
    pub(crate) fn damaged(&self) -> io::Error {
        damaged(&self.path, &changed())
    }
}

fn open(path: &Path, seal: Seal) -> io::Result<read::Decoder<'static, BufReader<File>>> {
    let mut file = File::open(path)?;
    let mut sealing = Sealing::new(io::sink());
    io::copy(&mut BufReader::with_capacity(GROUP, &file), &mut sealing)?;
    if sealing.end().1 != seal {
        return Err(changed());
    }
    file.rewind()?;
    read::Decoder::new(file)
}

pub(super) fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is not as it was written")
}

fn damaged(path: &Path, error: &io::Error) -> io::Error {
    let path = Printable::path(path);
    let text = format!("{path}: {error}; remove the directory of the checkpoint to start anew");
    io::Error::new(error.kind(), text)
}
