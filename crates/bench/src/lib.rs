//! Measuring: corpora from a seed, stages on them, and charts.

#![allow(missing_debug_implementations, reason = "a part of the command")]

pub mod corpus;
pub mod measure;
