//! A run: keys in the order of their bytes, each with a mark, in a file that is never changed.
//!
//! The file is a magic number, zones, a footer, and a trailer. A zone holds up to 65,536 keys: blocks of
//! front-coded keys (`block`), then a filter of its keys (`filter`), then the index of its blocks. The footer
//! holds the adds and the index of the zones. Blocks, filters, indexes and the footer are parts (`part`):
//! each has a checksum of its own, so that damage is found where it is read.
//!
//! A zone can be used alone: look-ups read the filter of a zone, then its index, then the blocks that may
//! hold the keys. Memory does not grow with the run, but for the footer: about a hundred bytes for a zone.

mod block;
mod filter;
mod footer;
mod part;
mod reader;
mod search;
mod verify;
mod writer;

use serde::{Deserialize, Serialize};

pub(super) use filter::hash;
pub(super) use part::RunFile;
pub(super) use reader::{Run, RunReader};
pub(super) use search::WantedKeys;
pub(super) use writer::RunWriter;

/// What the manifest says about a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunInfo {
    /// The name of the file.
    pub(super) name: String,
    /// Bytes of the file.
    pub(super) bytes: u64,
    /// Keys in it.
    pub(super) entries: u64,
    /// Those that it takes out of older runs.
    pub(super) removed: u64,
    /// The checksum of its footer, which tells it from any other run.
    pub(super) checksum: u32,
}

/// What a run says about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The key is taken out.
    Removed,
    /// The key was brought by this add of the run, counted from 0.
    Added(u32),
}

impl Mark {
    /// The number in the file.
    fn to_number(self) -> u32 {
        match self {
            Self::Removed => 0,
            Self::Added(add) => add + 1,
        }
    }

    /// The mark of a number in the file.
    fn of_number(number: u32) -> Self {
        number.checked_sub(1).map_or(Self::Removed, Self::Added)
    }
}

/// The first bytes of a run.
const MAGIC: &[u8; 8] = b"uqrun\x001\n";

/// The last bytes: where the footer is, its length, their checksum.
const TRAILER: usize = 16;

/// Keys of a full zone.
const ZONE_KEYS: usize = 1 << 16;

/// Bytes of keys and lengths that end a zone earlier.
const ZONE_BYTES: usize = 16 << 20;

/// Bytes of a block before it is packed, unless one key is longer. Blocks of 32 KiB make files of URLs
/// 3 % smaller, and a look-up of one key unpacks twice the bytes.
const BLOCK: usize = 16 << 10;

/// Bytes of keys, spelled out, that end a block earlier, so that unpacking one takes little memory.
const SPELLED_OUT: usize = 1 << 20;

#[cfg(test)]
mod tests;
