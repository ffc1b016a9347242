//! A short URL or target that the scanner proved clean under the ladder, and where its parts are.
//!
//! Containers and rings, where a glance does not settle it, look at the marks, a bit for each byte, instead
//! of at the bytes.

use crate::simd::{Lead, Marks};

/// A URL of at most 128 bytes that is its own canonical form under the ladder, or was proven clean for
/// the profile but for what is looked for here.
pub(super) struct Clean<'a> {
    pub(super) url: &'a [u8],
    pub(super) marks: &'a Marks,
    /// Where the host starts; 0 in a target, which has none.
    pub(super) host: usize,
    /// Where the path starts and ends.
    pub(super) path: usize,
    pub(super) path_end: usize,
}

impl<'a> Clean<'a> {
    #[inline(always)]
    pub(super) fn new(url: &'a [u8], lead: Lead, marks: &'a Marks) -> Self {
        let (host, path) = match lead {
            Lead::Target => (0, 0),
            Lead::Absolute => {
                // The scanner found `http://` or `https://`, a host, and a slash among the first 64
                // bytes.
                let host = 7 + usize::from(url.get(4) == Some(&b's'));
                (host, host + (marks.slash as u64 >> host).trailing_zeros() as usize)
            }
        };
        let path_end = (marks.question.trailing_zeros() as usize).min(url.len());
        Self { url, marks, host, path, path_end }
    }

    /// The bits of the path.
    #[inline(always)]
    pub(super) fn in_path(&self, mask: u128) -> u128 {
        mask & from(self.path) & !from(self.path_end)
    }

    /// Whether an empty segment that is not the last is in the path.
    #[inline(always)]
    pub(super) fn has_empty_segment(&self) -> bool {
        let doubled = self.marks.slash & self.marks.slash << 1;
        // Most URLs have none but the one before the host.
        doubled.count_ones() > u32::from(self.host > 0) && self.in_path(doubled) != 0
    }

    #[inline(always)]
    pub(super) fn host_name(&self) -> &'a [u8] {
        &self.url[self.host..self.path]
    }
}

/// Whether two slashes stand together in a path. A search for both at once costs more to begin with than a
/// path takes.
pub(super) fn has_double_slash(path: &[u8]) -> bool {
    memchr::memchr_iter(b'/', path).any(|at| path.get(at + 1) == Some(&b'/'))
}

/// The bits from `start` on.
#[inline(always)]
fn from(start: usize) -> u128 {
    if start < 128 { u128::MAX << start } else { 0 }
}
