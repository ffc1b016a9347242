//! The error of a set that cannot grow.

use std::fmt;

use crate::bytes::AllocError;

/// The set cannot take another URL: memory ran out, or one of its 64 shards holds 4 GiB of URLs. The
/// URLs it held remain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetFull(pub(super) ());

impl From<AllocError> for SetFull {
    fn from(_: AllocError) -> Self {
        SetFull(())
    }
}

impl fmt::Display for SetFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the set of URLs is full: out of memory, or 4 GiB of URLs in one of its shards")
    }
}

impl std::error::Error for SetFull {}
