//! Measuring: corpora from a seed, stages on them, and charts.

#![warn(missing_debug_implementations)]

pub mod corpus;
pub mod machine;
pub mod counters;
pub mod placement;
pub mod measure;

#[cfg(test)]
#[path = "../../../src/test_util.rs"]
mod test_util;
