//! Writers by masks: they rewrite most dirty URLs in one pass, and decline the rest.
//!
//! What they write is never looked at again, so they are held to the exact path by tests.

pub(in crate::normalize) mod rewrite;
pub(in crate::normalize) mod parameters;
pub(in crate::normalize) mod cuts;
pub(in crate::normalize) mod fast_path;
