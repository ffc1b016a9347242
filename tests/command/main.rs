//! The behaviour of the command, seen from outside: the facts its users rely on, section by
//! section.
#![cfg(unix)]
#![allow(missing_docs, reason = "tests are named by the fact that they protect")]

#[cfg(target_os = "linux")]
mod address_space;
mod built;

use uniqurl_test_support::{cases, generator, oracle, shared};

mod archives;
mod bench;
mod carry;
mod compare;
mod corpora;
mod envelopes;
mod escapes;
mod explain;
mod filters;
mod formats;
mod growth;
mod guide;
mod host_lists;
mod hostile;
mod inputs;
mod laws;
mod limit_by;
mod messages;
mod null;
mod open_files;
mod orders;
mod outputs;
mod packed;
mod permissions;
mod policy;
mod records;
mod report;
mod root;
mod rule_imports;
mod routes;
mod sameness;
mod seen;
mod sessions;
mod set;
mod shared_archives;
#[cfg(target_os = "linux")]
mod signals;
mod slugs;
mod spill;
mod suggestions;
mod split;
mod stores;
mod streams;
mod summary;
mod tables;
mod tally;
#[cfg(target_os = "linux")]
mod terminals;
mod usage;
mod whole;
mod wild;

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// A directory for one test, in which the command runs.
struct Place(TempDir);

/// The exit status and the output of a finished run.
struct Run {
    status: Option<i32>,
    out: Vec<u8>,
    err: String,
}

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// A directory with these files in it.
    fn with<const N: usize>(files: [(&str, &[u8]); N]) -> Self {
        let place = Self::new();
        for (name, bytes) in files {
            place.write(name, bytes);
        }
        place
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: impl AsRef<Path>, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).expect("written");
    }

    fn read(&self, name: impl AsRef<Path>) -> Vec<u8> {
        fs::read(self.path(name)).expect("there and readable")
    }

    fn text(&self, name: impl AsRef<Path>) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    fn json(&self, name: impl AsRef<Path>) -> Value {
        serde_json::from_slice(&self.read(name)).expect("one document")
    }

    fn json_lines(&self, name: impl AsRef<Path>) -> Vec<Value> {
        json_lines(&self.read(name))
    }

    /// The names in the directory, hidden ones too.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("readable");
        let mut names: Vec<_> = entries
            .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Makes a named pipe.
    fn pipe(&self, name: &str) {
        let made = Command::new("mkfifo").arg(self.path(name)).status().expect("mkfifo");
        assert!(made.success());
    }

    /// Runs the command on `input` until it reads the named pipe `pipe`, calls `meanwhile`, then
    /// lets the command go on.
    fn run_meanwhile(
        &self,
        pipe: &str,
        arguments: &[&str],
        input: impl Into<Stdio>,
        meanwhile: impl FnOnce(),
    ) -> Run {
        let mut command = built::process();
        command.args(arguments).current_dir(self.path("")).stdin(input);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let child = child.expect("started");
        // It opens once a reader opens it.
        let writer = fs::OpenOptions::new().write(true).open(self.path(pipe)).expect("read");
        meanwhile();
        drop(writer);
        Run::of(child.wait_with_output().expect("ended"))
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).expect("set");
    }

    /// Runs as a user to whom permissions apply: the one who runs the tests, or for root the user 2. None if that
    /// one cannot run the command here, which is a failure where `CI=true`.
    fn run_as_other(&self, arguments: &[&str]) -> Option<Run> {
        let mut command = built::process();
        command.args(arguments).current_dir(self.path(""));
        if rustix::process::geteuid().is_root() {
            command.uid(2).gid(2);
        }
        let output = command.output().ok();
        if output.is_none() {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "user 2 cannot run the command");
            shared::say("NOT TRIED: user 2 cannot run the command here");
        }
        output.map(Run::of)
    }

    /// Appends to a file.
    fn append(&self, name: &str, bytes: &[u8]) {
        let file = fs::OpenOptions::new().append(true).open(self.path(name));
        file.expect("there").write_all(bytes).expect("written");
    }

    /// The keys of a seen store, one a line.
    #[track_caller]
    fn keys_of(&self, store: &str) -> String {
        self.run(["seen", "export", store]).exits(0).out().to_owned()
    }

    /// Runs a line of the shell, in which `uniqurl` is the command.
    fn shell(&self, line: &str) -> Run {
        // The program, and arguments if an emulator runs it.
        let process = built::process();
        let words = std::iter::once(process.get_program()).chain(process.get_args());
        let program = words.collect::<Vec<_>>().join(OsStr::new(" "));
        let mut command = Command::new("sh");
        command.args(["-c", &format!("uniqurl() {{ $UNIQURL \"$@\"; }}; {line}")]);
        command.env("UNIQURL", program).stdin(Stdio::null()).current_dir(self.path(""));
        Run::of(command.output().expect("sh"))
    }

    /// Starts the command with its standard streams piped.
    fn start(&self, arguments: &[&str]) -> Child {
        let mut command = built::process();
        command.args(arguments).current_dir(self.path("")).stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
    }

    /// Runs with a reader that goes away once it has a line.
    fn run_closed(&self, arguments: &[&str]) -> Run {
        let mut child = self.start(arguments);
        let mut first = String::new();
        let out = child.stdout.take().expect("piped");
        BufReader::with_capacity(64, out).read_line(&mut first).expect("a line");
        assert!(first.len() > 1, "{first}");
        Run::of(child.wait_with_output().expect("ended"))
    }

    fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Run {
        self.run_on(arguments, b"")
    }

    /// Runs the command with `input` on its standard input.
    fn run_on<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: impl Into<Vec<u8>>,
    ) -> Run {
        let mut command = built::command();
        let output = command
            .args(arguments)
            .current_dir(self.0.path())
            .write_stdin(input)
            .output()
            .expect("started");
        Run::of(output)
    }
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            status: output.status.code(),
            out: output.stdout,
            err: String::from_utf8(output.stderr).expect("messages are ASCII"),
        }
    }

    #[track_caller]
    fn exits(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{}", self.err);
        self
    }

    fn out(&self) -> &str {
        std::str::from_utf8(&self.out).expect("text")
    }

    /// The numbers of the summary line by name.
    #[track_caller]
    fn summary(&self, name: &str) -> u64 {
        let line = self.err.lines().last().expect("a summary");
        assert!(line.starts_with("records "), "{line}");
        let words: Vec<_> = line.split([' ', ';', ',']).filter(|word| !word.is_empty()).collect();
        let number = match name {
            "ok" | "damaged" | "missing" | "refused" | "unfinished" | "bytes" => {
                words.windows(2).find(|pair| pair[1] == name).map(|pair| pair[0])
            }
            _ => words.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1]),
        };
        let number = number.unwrap_or_else(|| panic!("no {name} in {line}"));
        number.parse().unwrap_or_else(|_| panic!("{name} is {number} in {line}"))
    }
}

fn json_lines(text: &[u8]) -> Vec<Value> {
    let lines = text.split(|&b| b == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("an object a line")).collect()
}
