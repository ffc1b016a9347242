//! The links of a page, as they stand in it, and what they are resolved against.

use super::base::{Base, TooLong};

/// They are kept where they do not all fit on one sheet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Links {
    /// None where its address is no base.
    base: Option<Base>,
    /// Its references one behind the other, and where each ends.
    references: Vec<u8>,
    ends: Vec<usize>,
}

impl Links {
    pub(super) fn new(base: Option<Base>) -> Self {
        Self { base, references: Vec::new(), ends: Vec::new() }
    }

    /// Adds a link. Attributes may have white space around what they say.
    pub(super) fn add(&mut self, reference: &[u8]) {
        self.references.extend_from_slice(reference.trim_ascii());
        self.ends.push(self.references.len());
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Appends the n-th link, counted from 0: resolved, or as it stands where it cannot be.
    pub(super) fn append(&self, n: usize, out: &mut Vec<u8>) -> Result<(), TooLong> {
        let start = n.checked_sub(1).map_or(0, |before| self.ends[before]);
        let reference = &self.references[start..self.ends[n]];
        match &self.base {
            Some(base) => base.resolve(reference, out),
            None => {
                out.extend_from_slice(reference);
                Ok(())
            }
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        self.base.as_ref().map_or(0, Base::memory)
            + self.references.capacity()
            + self.ends.capacity() * size_of::<usize>()
    }
}
