//! A command line without a subcommand is one of `dedup`.
//!
//! In: the arguments of the process. Out: the same, with `dedup` before options and files that have no subcommand.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::Path;

use clap::Command;
use rustix::fs::{FileType, fstat};

/// The subcommand that stands for none.
const DEFAULT: &str = "dedup";

/// Options that `uniqurl` has without a subcommand.
const OWN: [&str; 4] = ["-h", "--help", "-V", "--version"];

/// The kind of standard input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stdin {
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

/// Names the subcommand if the arguments lack it.
pub(super) fn with_command(
    root: &Command,
    mut arguments: Vec<OsString>,
    stdin: Stdin,
) -> Vec<OsString> {
    let lacks_command = match arguments.get(1..).unwrap_or_default() {
        // At a terminal the help is of more use than a wait for input.
        // A process may be started without even its own name, and then there is no place after that.
        [] => stdin == Stdin::Piped && !arguments.is_empty(),
        words => is_of_dedup(root, words),
    };
    if lacks_command {
        arguments.insert(1, DEFAULT.into());
    }
    arguments
}

/// Whether the words begin with an option of `dedup`, or with a file. A word that is also a subcommand may be
/// meant as one, as in `-q explain http://h/`.
fn is_of_dedup(root: &Command, words: &[OsString]) -> bool {
    let is_subcommand = |word: &OsString| word == "help" || root.find_subcommand(word).is_some();
    let first = &words[0];
    match first.as_encoded_bytes() {
        // A dash alone is standard input, and no option.
        b"-" => true,
        [b'-', ..] => {
            !OWN.iter().any(|own| first == OsStr::new(own)) && !words.iter().any(is_subcommand)
        }
        _ => !is_subcommand(first) && is_file_name(first),
    }
}

/// Whether a word names a file: one that is there, or a name that no subcommand has.
fn is_file_name(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    Path::new(word).exists() || bytes.contains(&b'/') || bytes.contains(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::parse::command;

    fn named(line: &str, stdin: Stdin) -> String {
        let arguments = std::iter::once("uniqurl").chain(line.split_whitespace());
        let named = with_command(&command(), arguments.map(OsString::from).collect(), stdin);
        named[1..].join(OsStr::new(" ")).into_string().expect("text")
    }

    #[test]
    fn options_and_files_without_a_command_are_those_of_dedup() {
        for line in [
            "--count",
            "-q --order sorted",
            "-",
            "--files-from -",
            "-p string --frob",
            "urls.txt",
            "--count urls.txt",
            "src",
            "logs/a --top 10",
        ] {
            for stdin in [Stdin::Piped, Stdin::Terminal, Stdin::Other] {
                assert_eq!(named(line, stdin), format!("dedup {line}"));
            }
        }
        assert_eq!(named("", Stdin::Piped), "dedup");
    }

    #[test]
    fn other_command_lines_stay() {
        let lines =
            ["-h", "--help", "-V", "--version", "help", "normalize", "frob", "-q explain x"];
        for line in lines {
            assert_eq!(named(line, Stdin::Piped), line);
        }
        assert_eq!([Stdin::Terminal, Stdin::Other].map(|stdin| named("", stdin)), ["", ""]);
    }
}
