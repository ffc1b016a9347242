//! The `uniqurl` command: the meaning of its arguments, and what a person sees of a run.

// From arguments to a plan.
mod entry;
pub mod flags;
pub mod policy;
mod choices;
pub mod filters;
pub mod archives;
pub mod names;
pub mod memory;
mod available;

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
mod status;
mod hints;

// The other subcommands.
pub mod compare;
pub mod set;
pub mod explain;
pub mod paint;
pub mod profiles;
pub mod bench;
pub mod generate;

use status::say;

use std::process::ExitCode;

/// Faster than the system's where many threads allocate.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    entry::main()
}
