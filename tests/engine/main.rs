//! Whole jobs without the command: files in, sets and columns out.
#![allow(missing_docs, reason = "tests are named by the fact that they protect")]

mod runs;
mod written;

mod carry;
mod claims;
mod containers;
mod flow;
mod limit_by;
mod messages;
mod pipeline;
mod requests;
mod seen;
mod spill;
mod streams;
mod tables;
mod tally;
mod whole;
