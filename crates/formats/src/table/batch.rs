//! Batches of rows on their way from a reader of a container to the cutter of chunks.

use arrow_array::{ArrayRef, RecordBatch};

use super::error::TableError;

/// Limit for a footer or a batch if no memory limit is set.
const UNSAID: usize = 4 << 30;

/// Options for reading a table.
#[derive(Debug, Clone, Copy)]
pub struct TableOptions {
    /// Size of a chunk in bytes.
    pub chunk_size: usize,
    /// Longest cell in bytes.
    pub max_record: usize,
    /// Threads that decode row groups.
    pub threads: usize,
    /// Total memory limit in bytes; `usize::MAX` if none is set.
    pub memory: usize,
    /// Whether rows with the same cell may be merged into one row with a count.
    pub once: bool,
}

impl TableOptions {
    /// The limit for data that exists only once per table.
    pub(super) fn at_once(&self) -> usize {
        if self.memory == usize::MAX { UNSAID } else { self.memory }
    }
}

/// The reason that a batch is not taken.
pub(super) enum Stop {
    /// The receiver is gone.
    Unwanted,
    /// The file has this error.
    Failed(TableError),
}

/// Takes the columns of a batch, and the file offset that the batch reaches.
pub(super) type Take<'a> = &'a mut dyn FnMut(&[Column], u64) -> Result<(), Stop>;

/// The same for a batch with all of its columns.
pub(super) type TakeBatch<'a> = &'a mut dyn FnMut(&RecordBatch, u64) -> Result<(), Stop>;

/// A column of a batch, below the structs that contain it.
pub(super) struct Column {
    pub above: Vec<ArrayRef>,
    pub array: ArrayRef,
}
