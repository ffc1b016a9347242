//! The group of each key of a batch.

use super::{UrlRef, WorkBatch, bytes};
use crate::limit_by::KeyGroup;
use uniqurl::internal::{AllocError, Hash, HashKey, alloc};

/// Groups by the number of the record, each with its hash.
#[derive(Debug, Default)]
pub(crate) struct BatchGroups {
    bytes: Vec<u8>,
    /// Where the group of each record starts and ends. Neighbours of one group share its bytes.
    spans: Vec<(usize, usize)>,
    hashes: Vec<Hash>,
}

/// A group and its hash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupRef<'g> {
    pub(crate) hash: Hash,
    pub(crate) bytes: &'g [u8],
}

impl BatchGroups {
    /// The group of a record.
    pub(crate) fn of(&self, sequence: u32) -> GroupRef<'_> {
        let (start, end) = self.spans[sequence as usize];
        GroupRef { hash: self.hashes[sequence as usize], bytes: &self.bytes[start..end] }
    }

    /// The hash of each group, in the order of the records.
    pub(super) fn hashes(&self) -> &[Hash] {
        &self.hashes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.hashes.clear();
    }

    /// Bytes of the groups.
    pub(crate) fn text(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn memory(&self) -> usize {
        bytes(&self.bytes) + bytes(&self.spans) + bytes(&self.hashes)
    }

    /// Adds the group of the next record.
    fn push(&mut self, group: &[u8], hasher: &HashKey) -> Result<(), AllocError> {
        // Neighbouring records are often of one site, and then the group is neither copied nor hashed again.
        let last = self.spans.last().copied();
        let same = last.filter(|(start, end)| self.bytes[*start..*end] == *group);
        let (span, hash) = match (same, self.hashes.last()) {
            (Some(span), Some(hash)) => (span, *hash),
            _ => {
                alloc::try_reserve(&mut self.bytes, group.len())?;
                let start = self.bytes.len();
                self.bytes.extend_from_slice(group);
                ((start, self.bytes.len()), hasher.hash(group))
            }
        };
        alloc::try_reserve(&mut self.spans, 1)?;
        alloc::try_reserve(&mut self.hashes, 1)?;
        self.spans.push(span);
        self.hashes.push(hash);
        Ok(())
    }
}

impl WorkBatch {
    /// Finds the group of each key.
    pub(super) fn find_groups(
        &mut self,
        group: KeyGroup<'_>,
        hasher: &HashKey,
    ) -> Result<(), AllocError> {
        let groups = &mut self.extras.get_or_insert_default().groups;
        groups.clear();
        let (text, buffers) = (&mut self.scratch, self.text.buffers());
        // A record without a key has an empty group, so that groups have the numbers of the records.
        for key in &self.keys {
            text.clear();
            if key.is_canonical() {
                group.append(buffers.get(*key), text);
            }
            groups.push(text, hasher)?;
        }
        Ok(())
    }

    /// Drops the keys that *insert* has found to be beyond the limit of their group, as filters drop URLs.
    pub(crate) fn drop_filtered(&mut self) {
        let tally = &mut self.tally.records;
        for entry in self.entries.all.iter().filter(|entry| entry.is_filtered()) {
            tally.filtered += 1;
            tally.canonical -= 1;
            let at = entry.sequence as usize;
            self.keys[at] = UrlRef::UNWANTED;
            // Filled only where keys replace the URLs. Then both have to say that the record is filtered.
            if let Some(extras) = &mut self.extras
                && let Some(url) = extras.canonical.get_mut(at)
            {
                *url = UrlRef::UNWANTED;
            }
        }
    }
}
