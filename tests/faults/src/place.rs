//! A directory in which the command runs, with old outputs in it, and the states a run may leave
//! them in.

use crate::Torture;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The content of the outputs before a run.
pub const OLD: &str = "old\n";

/// A run that takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

/// The arguments of a run with every output.
pub const DEDUP: &[&str] = &[
    "dedup",
    "in",
    "-j",
    "2",
    "--order",
    "sorted",
    "--rejects",
    "rejects",
    "--stats",
    "stats",
    "-o",
    "out",
];

/// The outputs of [`DEDUP`], in the order in which they are committed.
pub const OUTPUTS: [&str; 3] = ["rejects", "stats", "out"];

pub struct Place {
    pub path: PathBuf,
    /// The output a run makes of the input.
    pub out: Vec<u8>,
    pub rejects: Vec<u8>,
}

/// The state of a run's outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// All are the old ones.
    Old,
    /// All are new and whole.
    New,
    /// Some side outputs, which are committed before the main one, are new.
    Begun,
    /// All are old except the accounting, which reports the failure.
    Told,
    /// All are new and whole, and the accounting reports a failure that came after the renames.
    Late,
}

impl Place {
    /// A new directory with `lines` lines of input, and the result of an undisturbed run.
    pub fn new(torture: &Torture, name: &str, lines: usize) -> Self {
        let path = torture.root.join(name);
        fs::create_dir_all(&path).expect("a directory");
        let mut text = String::new();
        for line in 0..lines {
            text += &match line % 50 {
                7 => format!("relative/{line}\n"),
                8 => "HTTP://Example.COM:80/%7Ea\n".to_owned(),
                _ => format!("http://host{}.example.com/a/path/{line}?q=%C3%A9\n", line % 97),
            };
        }
        fs::write(path.join("in"), text).expect("written");
        let mut place = Self { path, out: Vec::new(), rejects: Vec::new() };
        place.age();
        let run = place.command(&torture.command).args(DEDUP).output().expect("started");
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        place.out = place.read("out");
        place.rejects = place.read("rejects");
        place.age();
        place
    }

    /// Puts old outputs in place.
    pub fn age(&self) {
        for name in OUTPUTS {
            fs::write(self.path.join(name), OLD).expect("written");
        }
    }

    pub fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.path).stdin(Stdio::null());
        command
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path.join(name)).unwrap_or_default()
    }

    /// Removes and returns names that should not be there.
    pub fn leftovers(&self) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path).expect("readable").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "in" && !name.starts_with("more") && !OUTPUTS.contains(&name.as_str()) {
                let _ = fs::remove_file(entry.path());
                names.push(name);
            }
        }
        names
    }

    /// Counts and removes new outputs that a kill left under their first names, and checks that
    /// each is whole. A file that replaces another is first named beside it, since no single call
    /// does both.
    pub fn first_names(&self) -> Result<usize, String> {
        let mut found = 0;
        for entry in fs::read_dir(&self.path).expect("readable").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if !name.starts_with(".uniqurl-") {
                continue;
            }
            let held = fs::read(entry.path()).expect("readable");
            let is_stats = held.starts_with(b"{") && held.trim_ascii_end().ends_with(b"}");
            if held != self.rejects && held != self.out && !is_stats {
                return Err(format!("{name} is partial: {} bytes", held.len()));
            }
            let _ = fs::remove_file(entry.path());
            found += 1;
        }
        if found > 1 { Err(format!("{found} outputs have their first names")) } else { Ok(found) }
    }

    /// The state of the outputs; a state that should never occur is an error. The old ones are put
    /// back.
    pub fn outputs(&self) -> Result<Found, String> {
        let [rejects, stats, out] = OUTPUTS.map(|name| self.read(name));
        self.age();
        let leftovers = self.leftovers();
        if !leftovers.is_empty() {
            return Err(format!("left behind: {}", leftovers.join(" ")));
        }
        let is_new = |name: &str, found: &[u8], new: bool| match (found == OLD.as_bytes(), new) {
            (true, _) => Ok(false),
            (false, true) => Ok(true),
            (false, false) => Err(format!("{name} is partial: {} bytes", found.len())),
        };
        let whole = stats.starts_with(b"{") && stats.trim_ascii_end().ends_with(b"}");
        let of_failure = String::from_utf8_lossy(&stats).contains("\"status\": 2");
        let found = (
            is_new("rejects", &rejects, rejects == self.rejects)?,
            is_new("stats", &stats, whole)?,
            is_new("out", &out, out == self.out)?,
        );
        match found {
            (false, false, false) => Ok(Found::Old),
            (true, true, true) if !of_failure => Ok(Found::New),
            (true, true, true) => Ok(Found::Late),
            (_, true, false) if of_failure => Ok(Found::Told),
            (true, _, false) if !of_failure => Ok(Found::Begun),
            other => Err(format!("rejects, stats, out do not belong together: {other:?}")),
        }
    }
}

/// Waits for the end; kills a process that hangs.
pub fn wait(child: &mut Child) -> Result<ExitStatus, String> {
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(status) = child.try_wait().expect("waited for") {
            return Ok(status);
        }
        thread::sleep(Duration::from_micros(500));
    }
    let _ = child.kill();
    let _ = child.wait();
    Err("it hangs".to_owned())
}

/// Runs to the end; kills a process that hangs. Standard output and error must be small.
pub fn run(command: &mut Command) -> Result<Output, String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let (mut out, mut err) = (child.stdout.take(), child.stderr.take());
    let reader = thread::spawn(move || {
        let mut stdout = Vec::new();
        let _ = out.as_mut().map(|out| out.read_to_end(&mut stdout));
        stdout
    });
    let errors = thread::spawn(move || {
        let mut stderr = Vec::new();
        let _ = err.as_mut().map(|err| err.read_to_end(&mut stderr));
        stderr
    });
    let status = wait(&mut child)?;
    let (stdout, stderr) = (reader.join().expect("read"), errors.join().expect("read"));
    Ok(Output { status, stdout, stderr })
}

/// Sends signals without the time it takes to start a program.
pub struct Sender {
    shell: Child,
    input: ChildStdin,
}

impl Sender {
    pub fn new() -> Self {
        let mut shell = Command::new("/bin/sh").stdin(Stdio::piped()).spawn().expect("a shell");
        let input = shell.stdin.take().expect("piped");
        Self { shell, input }
    }

    pub fn send(&mut self, signal: &str, process: u32) {
        writeln!(self.input, "kill -s {signal} {process} 2>/dev/null").expect("the shell reads");
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
