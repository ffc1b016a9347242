//! The `uniqurl` command: its arguments, and the messages of a run.

// The arguments.
mod args;

// The subcommands.
mod commands;

// A run over inputs.
mod request;
mod run;
mod inputs;
mod outputs;
mod stores;
mod failure;
mod tables;
mod ring_table;
mod open_files;
mod address_space;
mod dates;
mod command_line;

// Messages to the user.
mod signals;
mod last_resort;
mod progress;
mod summary_line;
mod diagnostics;
mod hints;
mod status;
mod diff_view;

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use args::Stdin;
use uniqurl::internal::Backend;

/// Faster than the system's allocator with many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // First of all, for it may start the process anew.
    address_space::start_again_if_limited();
    tables::expect_panics();
    open_files::allow_most();
    let arguments: Vec<OsString> = env::args_os().collect();
    let parsed = args::parse(arguments.clone(), Backend::best().name(), Stdin::of_process());
    let status = parsed.and_then(|cli| commands::run(cli.command));
    status.unwrap_or_else(|error| args::report(&error, &arguments).into())
}
