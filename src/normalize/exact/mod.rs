//! The exact path: normalizes a URL by its components, and reports each rule to a trace.
//!
//! The ladder comes first; the other profiles add to it or replace a part of it.

// The ladder of RFC 3986.
pub(in crate::normalize) mod escape;
pub(in crate::normalize) mod path;
pub(in crate::normalize) mod resolve;
pub(in crate::normalize) mod uts46;
pub(in crate::normalize) mod host;
pub(in crate::normalize) mod ports;
pub(in crate::normalize) mod ladder;

// The other profiles.
pub(in crate::normalize) mod heuristic;
pub(in crate::normalize) mod ia;
pub(in crate::normalize) mod whatwg;
pub(in crate::normalize) mod servlet;
pub(in crate::normalize) mod ring;
pub(in crate::normalize) mod sanitize;
pub(in crate::normalize) mod system;
mod decoded;
