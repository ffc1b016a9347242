//! The arguments: their values, their meaning and the text of `--help`.
//!
//! In: the command line. Out: a [`Cli`] that holds no contradiction, or a usage error, which is exit status 2.

// Texts and values that several subcommands share, and usage errors.
pub(crate) mod help;
pub(crate) mod usage;
pub(crate) mod values;
pub(crate) mod output_paths;

// Options that several subcommands share, by subject.
pub mod format;
pub mod rules;
pub mod archives;
pub mod filters;
pub mod routes;
pub mod memory;
pub mod run_args;

// The options of each subcommand.
pub mod dedup;
pub mod normalize;
pub mod explain;
pub mod compare;
pub mod set;
pub mod seen;
pub mod bench;

// The command line as a whole.
mod default_command;
mod suggestions;
pub mod cli;
mod parse;
mod report;

pub use cli::Command;
pub use default_command::Stdin;
pub(crate) use output_paths::{check_output_name, share_a_place};
pub use parse::parse;
pub use report::report;
pub(crate) use usage::wrong;
pub(crate) use values::{number, one_of, size};

#[cfg(test)]
mod tests;
