//! Every system call fails, once each, and a signal arrives at every call.
//!
//! The k-th call of a kind fails, for every k until a run has no k-th such call, so the number of
//! calls need not be known.

use crate::place::{DEDUP, Found, Place, run};
use crate::{Extent, Row, Torture};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

/// Calls about files, directories, pipes and threads. `?`: not on every processor.
const CALLS: &str = "?open openat ?stat ?newfstatat statx fstat ?readlink readlinkat read pread64 lseek \
                     write writev close fcntl ?dup dup3 fchmod fchown ftruncate fsync fdatasync linkat \
                     ?rename renameat ?renameat2 ?unlink unlinkat ?socketpair pipe2 clone3";

/// The errors that the calls return.
const ERRORS: &[&str] = &["EIO", "ENOSPC", "EINTR", "EMFILE", "EDQUOT", "EACCES"];

/// A run under strace.
pub struct Traced {
    pub output: Output,
    /// Whether the run made such a call.
    pub injected: bool,
    /// The calls that were traced.
    pub log: String,
}

/// Whether calls can be made to fail here.
pub fn can_trace() -> Result<(), String> {
    let traced = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    match traced {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("strace: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(error) => Err(format!("strace: {error}")),
    }
}

/// Runs with an injection.
pub fn inject(
    torture: &Torture,
    place: &Place,
    arguments: &[&str],
    call: &str,
    injection: &str,
) -> Result<Traced, String> {
    inject_at(torture, place, arguments, call, injection, None)
}

/// Runs with an injection into calls about one file of the place, or any. The log is outside the place, so that
/// it does not count as a leftover.
pub fn inject_at(
    torture: &Torture,
    place: &Place,
    arguments: &[&str],
    call: &str,
    injection: &str,
    file: Option<&str>,
) -> Result<Traced, String> {
    place.age();
    let log = torture.root.join("strace.log");
    let mut command = Command::new("strace");
    command.current_dir(&place.path).args(["-f", "-q", "-o"]).arg(&log);
    command.arg(format!("--trace={call}")).arg(format!("--inject={injection}"));
    // As the command names it, and as the system names an open file.
    for name in file.into_iter().flat_map(|file| [file.into(), place.path.join(file)]) {
        command.arg("--trace-path").arg(name);
    }
    command.arg(&torture.command).args(arguments);
    if arguments.contains(&"-") {
        command.stdin(fs::File::open(place.path.join("in")).expect("there"));
    } else {
        command.stdin(Stdio::null());
    }
    let output = run(&mut command)?;
    let log = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    let injected =
        log.contains("INJECTED") || log.contains("+++ killed") || log.contains("--- SIG");
    Ok(Traced { output, injected, log })
}

/// Every call fails with every error.
pub fn error_at_every_call(torture: &mut Torture) -> Row {
    let mut row = Row::new("a system call fails: told with a name, nothing half, nothing left");
    if let Err(why) = can_trace() {
        return row.skipped(why);
    }
    let place = Place::new(torture, "fault", 300);
    let stream = place
        .command(&torture.command)
        .args(STREAM)
        .stdin(fs::File::open(place.path.join("in")).expect("there"))
        .output()
        .expect("started")
        .stdout;
    let (mut tried, mut harmless, mut turn) = (0, 0, 0);
    for arguments in [DEDUP, STREAM] {
        for call in CALLS.split(' ') {
            'calls: for k in 1.. {
                // If there is little time, each call fails with one of the errors, in turn.
                let errors = match torture.extent {
                    Extent::Full => ERRORS,
                    Extent::Short => {
                        turn += 1;
                        &ERRORS[turn % ERRORS.len()..][..1]
                    }
                };
                for error in errors {
                    let name = call.trim_start_matches('?');
                    let injection = format!("{call}:error={error}:when={k}");
                    match inject(torture, &place, arguments, call, &injection) {
                        // Old strace does not know the call at all.
                        Ok(run) if !run.injected => break 'calls,
                        Ok(run) => {
                            tried += 1;
                            let found = place.outputs();
                            match judge(name, &run, found, arguments, &stream) {
                                Ok(true) => harmless += 1,
                                Ok(false) => {}
                                Err(why) => row.broken.push(format!("{injection}: {why}")),
                            }
                        }
                        Err(why) => {
                            row.broken.push(format!("{injection}: {why}"));
                        }
                    }
                }
            }
        }
    }
    if tried == harmless {
        row.broken.push(format!("none of {tried} faults was told"));
    }
    row.figure =
        format!("{tried} faults: {harmless} made no difference, {} were told", tried - harmless);
    row
}

/// From standard input to standard output.
const STREAM: &[&str] = &["dedup", "-", "-j", "2"];

/// Judges a run with a fault. Returns whether the fault made no difference.
fn judge(
    call: &str,
    run: &Traced,
    found: Result<Found, String>,
    arguments: &[&str],
    stream: &[u8],
) -> Result<bool, String> {
    let said = String::from_utf8_lossy(&run.output.stderr);
    let is_stream = arguments == STREAM;
    let found = found?;
    match run.output.status.code() {
        Some(0) if is_stream && run.output.stdout == stream => Ok(true),
        Some(0) if !is_stream && found == Found::New => Ok(true),
        Some(2 | 3) => {
            let named =
                ["in: ", "in@", "-: ", "-@", "out: ", "stats: ", "rejects: ", "standard output"];
            let named = named.iter().any(|name| said.contains(name));
            let threads = said.contains("threads") || said.contains("watch for signals");
            // strace counts the calls of each thread, so that the message itself may fail as well.
            let silenced = is_silenced(&run.log);
            // The name exists by then, and the message says so.
            let late = call == "fsync" && said.contains("may be gone after a crash");
            let old = matches!(found, Found::Old | Found::Told | Found::Begun);
            match (named || threads || silenced, old || late) {
                (true, true) => Ok(false),
                (false, _) => Err(format!("the message names nothing: {said:?}")),
                (_, false) => Err(format!("status 2, but {found:?}")),
            }
        }
        // The system could not load the program.
        Some(127 | 1) if said.contains("error while loading") && found == Found::Old => Ok(false),
        _ => Err(format!("{}, {found:?}, it said {said:?}, after {}", run.output.status, run.log)),
    }
}

/// Whether a write to standard error was made to fail, by the log of strace. A call interrupted by
/// one of another thread has two lines, which begin with the number of its thread.
fn is_silenced(log: &str) -> bool {
    let mut lines = log.lines();
    while let Some(line) = lines.next() {
        if !line.contains("write(2, ") {
            continue;
        }
        let end = if line.contains("<unfinished") {
            let thread = line.split_whitespace().next();
            let resumed = |other: &&str| {
                other.split_whitespace().next() == thread && other.contains("write resumed")
            };
            lines.clone().find(resumed).unwrap_or_default()
        } else {
            line
        };
        if end.contains("INJECTED") {
            return true;
        }
    }
    false
}

/// A signal at every call.
pub fn signal_at_every_call(torture: &mut Torture) -> Row {
    let mut row = Row::new("TERM at every system call: dies by it or was complete, nothing left");
    if let Err(why) = can_trace() {
        return row.skipped(why);
    }
    let place = Place::new(torture, "term", 300);
    let (start, mut tried, mut complete) = (Instant::now(), 0, 0);
    // The calls that make the outputs come first, in case there is little time.
    for call in CALLS.split(' ').rev() {
        for k in 1.. {
            if !torture.goes_on(tried, usize::MAX, start) {
                break;
            }
            let injection = format!("{call}:signal=TERM:when={k}");
            let run = match inject(torture, &place, DEDUP, call, &injection) {
                Ok(run) if !run.injected => break,
                Ok(run) => run,
                Err(why) => {
                    row.broken.push(format!("{injection}: {why}"));
                    continue;
                }
            };
            tried += 1;
            let status = run.output.status;
            match (status.signal(), status.code(), place.outputs()) {
                (Some(15), _, Ok(Found::Old)) => {}
                (None, Some(0), Ok(Found::New)) => complete += 1,
                (.., found) => row.broken.push(format!("{injection}: {status}, {found:?}")),
            }
        }
    }
    if tried == complete {
        row.broken.push(format!("none of {tried} signals ended a run"));
    }
    row.figure = format!("{tried} signals; {complete} came when the outputs were being named");
    row
}

/// Reads and writes that are cut short or interrupted, and a file system without nameless files.
pub fn short_calls(torture: &mut Torture) -> Row {
    let mut row = Row::new("short reads and writes, EINTR, no O_TMPFILE: the same bytes");
    let shim: PathBuf = torture.root.join("short.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-x", "c", "-", "-ldl", "-o"]).arg(&shim);
    let source = torture.root.join("short.c");
    fs::write(&source, include_str!("short.c")).expect("written");
    compiler.stdin(fs::File::open(&source).expect("there"));
    match run(&mut compiler) {
        Ok(output) if output.status.success() => {}
        Ok(output) => return row.skipped(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(why) => return row.skipped(format!("cc: {why}")),
    }
    let place = Place::new(torture, "short", 3_000);
    let stream =
        place.command(&torture.command).args(["normalize", "in"]).output().expect("started");
    // A static command would not load it, and then nothing below could fail.
    let mut failing = place.command(&torture.command);
    failing.args(["normalize", "in"]).env("LD_PRELOAD", &shim).env("SHIM", "failing");
    match run(&mut failing) {
        Ok(run) if run.status.code() == Some(2) => {}
        run => {
            return row.skipped(format!("the library has no effect: {:?}", run.map(|r| r.status)));
        }
    }
    let mut tried = 0;
    for mode in ["short", "interrupted", "nameless", "short interrupted nameless"] {
        for most in [1, 7, 100, 4097] {
            let shimmed = |arguments: &[&str]| {
                let mut command = place.command(&torture.command);
                command.args(arguments).env("LD_PRELOAD", &shim);
                command.env("SHIM", mode).env("SHIM_MOST", most.to_string());
                if arguments.contains(&"-") {
                    command.stdin(fs::File::open(place.path.join("in")).expect("there"));
                }
                run(&mut command)
            };
            tried += 2;
            match (shimmed(DEDUP), place.outputs()) {
                (Ok(run), Ok(Found::New)) if run.status.success() => {}
                (run, found) => row.broken.push(format!("{mode} {most}: {run:?}, {found:?}")),
            }
            match shimmed(&["normalize", "-"]) {
                Ok(run) if run.status.success() && run.stdout == stream.stdout => {}
                run => {
                    row.broken.push(format!("{mode} {most}, stream: {:?}", run.map(|r| r.status)))
                }
            }
        }
    }
    row.figure = format!("{tried} runs");
    row
}
