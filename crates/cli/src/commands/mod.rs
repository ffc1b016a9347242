//! The subcommands: each takes its arguments and gives an exit status.

pub mod dedup;
pub mod normalize;
pub mod explain;
mod explained_key;
pub mod compare;
pub mod profiles;
pub mod rules;
pub mod formats;
pub mod set;
pub mod seen;
pub mod bench;
pub mod generate;

use std::io;
use std::process::ExitCode;

use crate::args::Command;
use crate::args::rules::import::RuleFileCommand;
use crate::status::status_of;

/// Runs a subcommand.
///
/// # Errors
///
/// Wrong usage that only shows once the arguments are put to use. Other errors are printed already.
pub fn run(command: Command) -> Result<ExitCode, clap::Error> {
    let mut out = io::stdout();
    let status = match command {
        Command::Dedup(args) => dedup::main(*args)?,
        Command::Normalize(args) => normalize::main(&args)?,
        Command::Explain(args) => explain::main(&args)?,
        Command::Compare(args) => compare::main(&args)?,
        Command::Profiles { name, form } => status_of(profiles::write(name, form, &mut out)),
        Command::Rules { command: RuleFileCommand::Import(import) } => {
            rules::main(&import, &mut out)
        }
        Command::Formats { name } => status_of(formats::write(name, &mut out)),
        Command::Set(args) => set::main(&args),
        Command::Seen(args) => seen::main(args)?,
        Command::Bench(args) => return Ok(bench::main(&args)),
        Command::Completions { shell } => status_of(generate::completions(shell, &mut out)),
        Command::Man { names, all } => status_of(generate::man(&names, all.as_deref(), &mut out)?),
    };
    Ok(status.into())
}
