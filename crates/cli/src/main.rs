//! The `uniqurl` command: its arguments, and the messages of a run.

// The arguments.
mod args;

// The subcommands.
mod commands;

// A run over inputs.
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

use std::io;
use std::process::ExitCode;

use args::{Cli, Command};
use commands::{bench, compare, dedup, explain, formats, generate, normalize, profiles, seen, set};
use status::wrote;
use uniqurl::internal::Backend;

/// Faster than the system's allocator with many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    address_space::start_again_if_limited();
    tables::expect_panics();
    open_files::allow_most();
    match Cli::parse_or_exit(Backend::best().name()).command {
        Command::Dedup(args) => dedup::main(*args),
        Command::Normalize(args) => normalize::main(&args),
        Command::Explain(args) => wrote(explain::main(&args)),
        Command::Compare(args) => compare::main(&args),
        Command::Profiles { name, form } => {
            wrote(profiles::write(name, form, &mut io::stdout().lock()))
        }
        Command::Formats { name } => wrote(formats::write(name, &mut io::stdout().lock())),
        Command::Set(args) => set::main(&args),
        Command::Seen(args) => seen::main(args),
        Command::Bench(args) => bench::main(&args),
        Command::Completions { shell } => {
            wrote(generate::completions(shell, &mut io::stdout().lock()))
        }
        Command::Man { command } => wrote(generate::man(command, &mut io::stdout().lock())),
    }
}
