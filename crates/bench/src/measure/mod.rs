//! Stages of the work, measured together with the limits of the machine.

// One run of the process.
pub mod plan;
pub mod subject;
pub mod stopwatch;
pub mod stage;
mod pipeline;
pub mod check;
pub mod size;
pub mod prepare;
pub mod rounds;
pub mod estimate;
pub mod restart;

// The result of all runs.
pub mod statistics;
pub mod result;
pub mod assemble;
pub mod score;
pub mod table;
pub mod plot;

// Two results.
pub mod effect;
pub mod compare;

#[cfg(test)]
mod synthetic;
