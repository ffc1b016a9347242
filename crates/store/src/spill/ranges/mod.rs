//! Ranges of keys: partitions that follow each other in order, so that their output needs no merge.
//!
//! Input are the bounds between ranges, which come from a sample, and a stream for each range. Output is
//! one range at a time in memory, sorted and without duplicates. A range that does not fit is divided
//! into smaller ones, by bounds from a sample of its own.

mod bounds;
mod entries;
mod load;
mod each;
mod writers;
mod rank;

pub use each::each_range;
pub use entries::RangeEntries;
pub use load::RangePlan;
pub use rank::{RANK, Ranking};
pub use writers::RangeWriters;

#[cfg(test)]
mod tests;
