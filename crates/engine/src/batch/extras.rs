//! Data that a batch keeps for jobs that write more than keys.

use std::sync::Arc;

use super::bytes;
use super::groups::BatchGroups;
use super::text::UrlRef;
use crate::output::TallyColumns;
use uniqurl::internal::{AllocError, alloc};
use uniqurl_formats::record;
use uniqurl_store::keep_policy::KeptRecord;
use uniqurl_store::tally::ResponseTally;

/// Buffers for columns and decoded paths.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// The canonical URL of each record, if keys replace them.
    pub(crate) canonical: Vec<UrlRef>,
    /// The decoded path of each URL that [has a form](UrlRef::has_form), in order.
    pub(crate) decoded: DecodedPaths,
    /// The format at the start of the chunk, if columns are extracted from its records.
    pub(crate) format: Option<Arc<record::Format>>,
    /// The columns of tallies that records of the batch have numbers for.
    pub(crate) measured: TallyColumns,
    /// The group of each key, if only the first keys of a group are kept.
    pub(crate) groups: BatchGroups,
    /// Lines or tallies for keys that are in the set.
    pub(crate) ranked: RankedLines,
}

/// Paths one after the other, and where each ends.
#[derive(Debug, Default)]
pub(crate) struct DecodedPaths {
    pub(crate) paths: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

/// The line of each record whose key is in the set, after the value that records are compared by; or the
/// tally of each such key.
#[derive(Debug, Default)]
pub(crate) struct RankedLines {
    bytes: Vec<u8>,
    /// Shard and position of the key, and where the line ends; in the order of the records.
    ends: Vec<(u64, usize)>,
}

impl Extras {
    pub(super) fn clear(&mut self) {
        self.canonical.clear();
        self.decoded.paths.clear();
        self.decoded.ends.clear();
        self.format = None;
        self.measured = TallyColumns::default();
        self.groups.clear();
        self.ranked.bytes.clear();
        self.ranked.ends.clear();
    }

    pub(super) fn memory(&self) -> usize {
        // `format` is shared, and `measured` has no buffer.
        let Self { canonical, decoded, format: _, measured: _, groups, ranked } = self;
        bytes(canonical)
            + bytes(&decoded.paths)
            + bytes(&decoded.ends)
            + groups.memory()
            + bytes(&ranked.bytes)
            + bytes(&ranked.ends)
    }
}

impl DecodedPaths {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.paths[start..*end])
    }
}

impl RankedLines {
    /// Adds the line that `append` appends for the key at `place`, of at most `room` bytes.
    pub(crate) fn add(
        &mut self,
        place: u64,
        room: usize,
        value: &[u8],
        append: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), AllocError> {
        alloc::try_reserve(&mut self.bytes, room)?;
        KeptRecord::append_value(value, &mut self.bytes);
        append(&mut self.bytes);
        alloc::try_reserve(&mut self.ends, 1)?;
        self.ends.push((place, self.bytes.len()));
        Ok(())
    }

    /// Adds the tally of the key at `place`.
    pub(crate) fn add_tally(
        &mut self,
        place: u64,
        tally: &ResponseTally,
    ) -> Result<(), AllocError> {
        tally.append(&mut self.bytes)?;
        alloc::try_reserve(&mut self.ends, 1)?;
        self.ends.push((place, self.bytes.len()));
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts.zip(&self.ends).map(|(start, (place, end))| (*place, &self.bytes[start..*end]))
    }
}
