//! Work on corpora, measured together with the limits of the machine.

// One run of the process.
pub mod work;
pub mod subject;
pub mod passes;

// The result of all runs.
pub mod statistics;
pub mod result;
pub mod score;
pub mod table;
pub mod compare;

pub mod order;
pub mod prepare;
pub mod run;
pub mod restart;
pub mod session;
