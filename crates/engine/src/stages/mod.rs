//! The stages of a run, in the order of the data: each takes batches one step further.

pub(crate) mod read;
pub(crate) mod insert;
pub(crate) mod limit;
pub(crate) mod format;

// Parts of the stages, to be measured.
mod timed;

pub use timed::{StageBuffers, Stages};
