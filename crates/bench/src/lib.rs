//! Measuring: corpora from a seed, the work that is timed on them, and the limits of the machine.

#![warn(missing_debug_implementations)]

pub mod corpus;
pub mod machine;
pub mod counters;
pub mod measure;

#[cfg(test)]
#[path = "../../../src/test_util.rs"]
mod test_util;
