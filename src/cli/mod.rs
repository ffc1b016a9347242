//! The command: what its arguments mean and what a person sees of a run.

// From arguments to a plan.
mod main;
pub mod flags;
pub mod policy;
mod choices;
pub mod filters;
pub mod archives;
pub mod names;
pub mod checkpoint;
pub mod memory;
mod available;
mod cores;

// A run.
mod run;
mod found;
mod walk;
mod open_files;
mod outputs;
mod tables;
mod signals;
pub mod progress;
mod tell;
mod beginning;
mod status;
mod remedy;

// The other subcommands.
pub mod compare;
pub mod set;
pub mod explain;
pub mod paint;
pub mod profiles;
pub mod bench;
pub mod generate;

pub use main::main;
use status::say;
