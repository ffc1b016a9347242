//! What the test binaries share: second implementations of the standards, laws, generators of URLs, readers of the
//! vectors and samples, and the reader of imports behind the floor tests.
#![allow(missing_docs, reason = "only tests read it")]

// Inputs.
pub mod generator;
#[cfg(feature = "samples")]
pub mod cases;
#[cfg(feature = "samples")]
pub mod shared;
pub mod tsv;

// Second implementations, and what holds for any of them.
pub mod oracle;
pub mod browser;
pub mod variant;
pub mod law;

// The source itself.
pub mod imports;
