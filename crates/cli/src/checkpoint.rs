//! The options about checkpoints, and which options must not change between a run and the next.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{ArgMatches, Args, CommandFactory};
use sha2::{Digest, Sha256};

use super::flags::{self, Cli, to_parse};
use super::names::is_standard_input;
use uniqurl::bytes::Printable;
use uniqurl_engine;
use uniqurl_formats::input::{Input, Source};

/// Where a run leaves what it has absorbed.
#[derive(Debug, Args)]
pub struct Checkpoints {
    /// Keep in DIR what is done, and go on from there if the run is killed
    ///
    /// Given again with the same inputs and options, the command goes on behind the files that it had
    /// read to their ends, and the result is the same to the byte. It refuses, and says why, if what
    /// it had read, an option that matters, or the version has changed. Inputs, --seen, --redirects and
    /// --profile-file must be files. DIR is made if it is missing, and removed when the run is complete.
    #[arg(
        long,
        value_name = "DIR",
        help_heading = flags::RESOURCES,
        help = "Keep in DIR what is done, and go on from there if the run is killed"
    )]
    pub checkpoint: Option<PathBuf>,

    /// Write to that directory no more often than every SECONDS, and when a file is read to its end
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 30,
        value_parser = flags::number(0u64..),
        allow_negative_numbers = true,
        requires = "checkpoint",
        help_heading = flags::RESOURCES
    )]
    pub checkpoint_every: u64,
}

/// What changes how a run works, and not what comes of it.
const HARMLESS: [&str; 13] = [
    "files",
    "files_from",
    "directories",
    "output",
    "threads",
    "memory",
    "temp_dir",
    "messages",
    "progress",
    "backend",
    "checkpoint",
    "checkpoint_every",
    "help",
];

/// Outputs: that there is one matters, not which.
const OUTPUTS: [&str; 4] = ["rejects", "stats", "report", "save_seen"];

/// Files that are options: what they hold matters.
const FILES: [&str; 2] = ["profile_file", "redirects"];

impl Checkpoints {
    /// Opens the checkpoint, if there is to be one, of a run behind what was `seen`, whose own set goes
    /// to `saved`.
    pub fn open(
        &self,
        inputs: &[Input],
        seen: &[Input],
        saved: Option<&Path>,
    ) -> io::Result<Option<uniqurl_engine::Checkpoint>> {
        let Some(directory) = &self.checkpoint else { return Ok(None) };
        let mut all = inputs.iter().chain(seen);
        if let Some(stream) = all.find(|input| !matches!(input.source, Source::File { .. })) {
            return Err(read_once(&stream.path));
        }
        let every = Duration::from_secs(self.checkpoint_every);
        let given = to_parse().get_matches_from(std::env::args_os());
        let options = given.subcommand().map(|(name, given)| that_matter(name, given));
        let options = options.transpose()?.unwrap_or_default();
        let opened = uniqurl_engine::Checkpoint::open(directory, every, options, inputs, seen)?;
        Ok(Some(if saved.is_some() { opened.with_saved_set() } else { opened }))
    }
}

fn that_matter(subcommand: &str, given: &ArgMatches) -> io::Result<uniqurl_engine::Options> {
    let mut options = uniqurl_engine::Options::new();
    let command = Cli::command();
    let arguments = command.find_subcommand(subcommand).into_iter().flat_map(|c| c.get_arguments());
    for argument in arguments.filter(|argument| !HARMLESS.contains(&argument.get_id().as_str())) {
        let id = argument.get_id().as_str();
        let Ok(Some(raw)) = given.try_get_raw(id) else { continue };
        let mut values: Vec<String> =
            raw.map(|value| Printable(value.as_encoded_bytes()).to_string()).collect();
        if OUTPUTS.contains(&id) {
            values = vec!["given".to_owned()];
        }
        if FILES.contains(&id) {
            for path in given.get_raw(id).into_iter().flatten() {
                values.push(content(Path::new(path))?);
            }
        }
        options.insert(format!("--{}", argument.get_long().unwrap_or(id)), values);
    }
    Ok(options)
}

fn read_once(path: &Path) -> io::Error {
    let name = Printable::path(path);
    io::Error::other(format!("{name} cannot be read twice; --checkpoint is for files"))
}

/// A name for what a file holds.
fn content(path: &Path) -> io::Result<String> {
    // A pipe was read when the rules were made, so all of them would have the name of nothing.
    if is_standard_input(path) || fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(read_once(path));
    }
    let read = fs::File::open(path).and_then(|mut file| {
        let mut hash = Hash(Sha256::new());
        io::copy(&mut file, &mut hash)?;
        Ok(hash.0.finalize())
    });
    let hash = read.map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}", Printable::path(path)))
    })?;
    let digits = hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Ok(format!("(sha256 {digits})"))
}

struct Hash(Sha256);

impl io::Write for Hash {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
