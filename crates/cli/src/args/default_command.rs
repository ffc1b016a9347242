//! A command line without a subcommand: with piped input it is `dedup`.
//!
//! In: the arguments of the process. Out: the same, with `dedup` before options that have no subcommand.
//! Only piped input decides so, and only if nothing else in the arguments can be meant.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::CommandFactory;
use rustix::fs::{FileType, fstat};

use super::{Cli, innermost, to_parse};
use crate::inputs::names::is_standard_input;

/// The subcommand that stands for none.
const DEFAULT: &str = "dedup";

/// Options that `uniqurl` has without a subcommand.
const OWN: [&str; 4] = ["-h", "--help", "-V", "--version"];

/// The kind of standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::args) enum Stdin {
    Terminal,
    /// A pipe, a socket or a file.
    Piped,
    /// A device such as /dev/null, where no one sends URLs.
    Other,
}

impl Stdin {
    /// The standard input of this process.
    pub fn of_process() -> Self {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            return Stdin::Terminal;
        }
        match fstat(&stdin).map(|found| FileType::from_raw_mode(found.st_mode)) {
            Ok(FileType::Fifo | FileType::Socket | FileType::RegularFile) => Stdin::Piped,
            _ => Stdin::Other,
        }
    }
}

/// The arguments of this process after its name, as they are parsed.
pub(super) fn words() -> Vec<OsString> {
    let arguments = std::env::args_os().collect();
    with_command(arguments, Stdin::of_process()).into_iter().skip(1).collect()
}

/// Names the subcommand where piped input stands for it.
pub(super) fn with_command(arguments: Vec<OsString>, stdin: Stdin) -> Vec<OsString> {
    let words = arguments.get(1..).unwrap_or_default();
    if stdin != Stdin::Piped || arguments.is_empty() || !lack_command(words) {
        return arguments;
    }
    let mut named = arguments.clone();
    named.insert(1, DEFAULT.into());
    // Otherwise the same line would work in a pipe and fail at a terminal.
    if names_files(&named) { arguments } else { named }
}

/// Whether the words are options alone, or nothing. A word that is also a subcommand may be meant as one.
fn lack_command(words: &[OsString]) -> bool {
    let command = Cli::command();
    let is_subcommand = |word: &OsString| command.find_subcommand(word).is_some();
    let Some(first) = words.first() else { return true };
    let is_option = first.as_encoded_bytes().starts_with(b"-");
    is_option && !OWN.iter().any(|own| first == OsStr::new(own)) && !words.iter().any(is_subcommand)
}

/// Whether the arguments of `dedup` name inputs besides standard input.
fn names_files(arguments: &[OsString]) -> bool {
    let Ok(matches) = to_parse().try_get_matches_from(arguments) else { return false };
    let mut named = ["files", "files_from"]
        .into_iter()
        .filter_map(|id| innermost(&matches).get_many::<PathBuf>(id))
        .flatten();
    named.any(|file| !is_standard_input(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(line: &str, stdin: Stdin) -> String {
        let arguments = std::iter::once("uniqurl").chain(line.split_whitespace());
        let named = with_command(arguments.map(OsString::from).collect(), stdin);
        named[1..].join(OsStr::new(" ")).into_string().expect("text")
    }

    #[test]
    fn piped_input_stands_for_dedup() {
        for line in ["", "--count", "-q --order sorted", "-", "--files-from -", "-p string --frob"]
        {
            let expected = format!("dedup {line}");
            assert_eq!(named(line, Stdin::Piped), expected.trim_end(), "{line}");
            assert_eq!(named(line, Stdin::Terminal), line);
            assert_eq!(named(line, Stdin::Other), line);
        }
    }

    #[test]
    fn other_command_lines_stay() {
        for line in [
            "-h",
            "--help",
            "-V",
            "--version",
            "help",
            "normalize",
            "frob",
            "urls.txt",
            "--count urls.txt",
            "--files-from list",
            "-q explain http://h/",
        ] {
            assert_eq!(named(line, Stdin::Piped), line);
        }
    }
}
