//! The command: what its arguments mean and what a person sees of a run.

pub mod archives;
mod available;
pub mod bench;
pub mod checkpoint;
mod choices;
pub mod compare;
pub mod explain;
pub mod filters;
pub mod flags;
pub mod generate;
mod main;
pub mod memory;
pub mod names;
mod open_files;
mod outputs;
pub mod paint;
pub mod policy;
pub mod profiles;
pub mod progress;
mod run;
pub mod set;
mod signals;
mod status;
mod tables;
mod tell;
mod walk;

pub use main::main;
use status::say;
