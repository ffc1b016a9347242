//! Data that a batch keeps for jobs that write more than keys.

use std::sync::Arc;

use super::bytes;
use super::groups::BatchGroups;
use super::text::UrlRef;
use crate::output::TallyColumns;
use uniqurl::internal::{AllocError, alloc};
use uniqurl_formats::record;

/// Buffers for columns and decoded paths.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// The canonical URL of each record, if keys replace them.
    pub(crate) canonical: Vec<UrlRef>,
    /// The decoded path of each URL that [has a form](UrlRef::has_form), in order.
    pub(crate) decoded: Texts<()>,
    /// The format at the start of the chunk, if columns are extracted from its records.
    pub(crate) format: Option<Arc<record::Format>>,
    /// The columns of tallies that records of the batch have numbers for.
    pub(crate) measured: TallyColumns,
    /// The group of each key, if only the first keys of a group are kept.
    pub(crate) groups: BatchGroups,
    /// The line of each record whose key is in the set, after the value that records are compared by, or the tally
    /// of each such key; with shard and position of the key.
    pub(crate) ranked: Texts<u64>,
}

/// Texts one after the other, each with a value and where it ends.
#[derive(Debug)]
pub(crate) struct Texts<T> {
    bytes: Vec<u8>,
    ends: Vec<(T, usize)>,
}

impl Extras {
    pub(super) fn clear(&mut self) {
        self.canonical.clear();
        self.decoded.clear();
        self.format = None;
        self.measured = TallyColumns::default();
        self.groups.clear();
        self.ranked.clear();
    }

    pub(super) fn memory(&self) -> usize {
        // `format` is shared, and `measured` has no buffer.
        let Self { canonical, decoded, format: _, measured: _, groups, ranked } = self;
        bytes(canonical) + decoded.memory() + groups.memory() + ranked.memory()
    }
}

impl<T> Default for Texts<T> {
    fn default() -> Self {
        Self { bytes: Vec::new(), ends: Vec::new() }
    }
}

impl<T: Copy> Texts<T> {
    /// Adds the text that `append` appends, of at most `room` bytes unless it asks for more.
    pub(crate) fn add(
        &mut self,
        value: T,
        room: usize,
        append: impl FnOnce(&mut Vec<u8>) -> Result<(), AllocError>,
    ) -> Result<(), AllocError> {
        alloc::try_reserve(&mut self.bytes, room)?;
        append(&mut self.bytes)?;
        alloc::try_reserve(&mut self.ends, 1)?;
        self.ends.push((value, self.bytes.len()));
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (T, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts.zip(&self.ends).map(|(start, (value, end))| (*value, &self.bytes[start..*end]))
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    fn memory(&self) -> usize {
        bytes(&self.bytes) + bytes(&self.ends)
    }
}
