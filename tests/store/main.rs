//! Checks of the crate of stores as a whole.

mod floors;
#[path = "../library/imports.rs"]
#[allow(dead_code, reason = "the library's own tests use more")]
mod imports;
