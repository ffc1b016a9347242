//! The parts of one record of each format, then odd values, then cut lines.

mod columns;
mod numbers;
