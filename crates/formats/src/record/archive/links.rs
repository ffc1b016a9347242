//! The unresolved links of a page, and their base.

use super::base::{Base, TooLong};

/// The links of a page, kept between passes if they do not all fit into one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Links {
    /// None if the page's address cannot be a base.
    base: Option<Base>,
    /// The references, concatenated; `ends` has the end of each.
    references: Vec<u8>,
    ends: Vec<usize>,
}

impl Links {
    pub(super) fn new(base: Option<Base>) -> Self {
        Self { base, references: Vec::new(), ends: Vec::new() }
    }

    /// Adds a link, without the white space that attributes may have around it.
    pub(super) fn add(&mut self, reference: &[u8]) {
        self.references.extend_from_slice(reference.trim_ascii());
        self.ends.push(self.references.len());
    }

    /// The number of links.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Appends the n-th link, counted from 0: resolved, or unchanged if that is impossible.
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

    /// Bytes of memory in use.
    pub(super) fn memory(&self) -> usize {
        self.base.as_ref().map_or(0, Base::memory)
            + self.references.capacity()
            + self.ends.capacity() * size_of::<usize>()
    }
}
