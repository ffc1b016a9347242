//! Checks of the crate that measures, as a whole.

mod corpus;
mod floors;
#[path = "../library/imports.rs"]
#[allow(dead_code, reason = "the library's own tests use more")]
mod imports;
