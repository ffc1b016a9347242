//! A run ends in order on a signal.

use super::bench::cannot_restart;
use super::shared::say;
use super::{Place, built};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The signals that end a run in order.
const SIGNALS: [Signal; 3] = [Signal::INT, Signal::TERM, Signal::HUP];

/// Far more than a run may take; an emulated machine is slow.
const LIMIT: Duration = Duration::from_secs(100);

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it is there");
}

/// Waits until something is so.
fn wait(is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LIMIT, "it does not come");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for the process to end in any way.
fn end(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("waited for") {
            return status;
        }
        if start.elapsed() > LIMIT {
            child.kill().expect("killed");
            panic!("it does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The signals that this process, and so the command, was not started to ignore.
fn heeded() -> impl Iterator<Item = Signal> {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("a number");
    SIGNALS.into_iter().filter(move |signal| {
        let ignored = mask >> (signal.as_raw() - 1) & 1 == 1;
        if ignored {
            say(&format!("NOT TRIED: {signal:?} is ignored here"));
        }
        !ignored
    })
}

/// Writes a line again and again, as a slow source does, until the reader is gone.
fn feed(mut input: ChildStdin, line: &'static [u8]) {
    thread::spawn(move || {
        while input.write_all(line).is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
}

fn piped(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("started")
}

fn error(child: &mut Child) -> String {
    let mut text = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut text).expect("text");
    text
}

#[test]
fn interrupted_run_prints_its_accounting_and_keeps_old_files() {
    for signal in heeded() {
        let place = Place::with([("out", b"old"), ("stats", b"old")]);
        let outputs = ["-o", "out", "--stats", "stats", "--rejects", "rejects"];
        let arguments = [&["dedup", "-", "--progress", "always"], &outputs[..]].concat();
        let mut child = place.start(&arguments);
        let mut input = child.stdin.take().expect("piped");
        input.write_all(&b"http://a/\nhttp://A\nx\n".repeat(100_000)).expect("taken");
        feed(input, b"http://a/\n");
        // Read is not yet counted. What the run writes of its rejected lines is.
        wait(|| bytes(&child, "wchar") > 65_536);
        send(&child, signal);
        assert_eq!(end(&mut child).signal(), Some(signal.as_raw()));
        let shown = error(&mut child);
        let last = shown.lines().last().expect("a summary");
        let last = &last[last.find("records ").unwrap_or(0)..];
        assert!(last.starts_with("records "), "{shown:?}");
        assert!(last.contains("; inputs 0 ok, 0 damaged, 0 missing, 1 unfinished; "), "{shown:?}");
        assert_eq!((place.text("out"), place.text("stats")), ("old".into(), "old".into()));
        assert_eq!(place.names(), ["out", "stats"]);
    }
}

#[test]
fn skipped_bytes_of_an_overlong_record_count_as_read() {
    let Some(signal) = heeded().next() else { return };
    let place = Place::new();
    File::create(place.path("sparse")).expect("made").set_len(1 << 40).expect("longer");
    // Twice what a run reads ahead of what it counts, so that some of it counts by then.
    let read = 96 << 20;
    for (arguments, least) in [
        (["dedup", "-", "-f", "lines"], 16 << 20),
        (["dedup", "-", "-f", "csv:1"], 16 << 20),
        (["dedup", "sparse", "-f", "csv:1"], 1),
    ] {
        let mut child = place.start(&[&arguments[..], &["-j", "2"]].concat());
        let mut input = child.stdin.take().expect("piped");
        let piped = if arguments[1] == "-" { read as usize } else { 0 };
        input.write_all(&vec![b'x'; piped]).expect("taken");
        wait(|| bytes(&child, "rchar") >= read);
        send(&child, signal);
        assert_eq!(end(&mut child).signal(), Some(signal.as_raw()));
        let shown = error(&mut child);
        let (_, rest) = shown
            .split_once("; inputs 0 ok, 0 damaged, 0 missing, 1 unfinished; ")
            .expect("an accounting");
        let bytes = rest.split(' ').next().and_then(|bytes| bytes.parse().ok());
        assert!(bytes.unwrap_or(0) >= least, "{arguments:?}: {shown}");
    }
}

/// The bytes that a process has read (`rchar`) or written (`wchar`) by now.
fn bytes(child: &Child, kind: &str) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{}/io", child.id())).expect("Linux");
    let line = io.lines().find_map(|line| line.strip_prefix(kind)).expect("a count");
    line.trim_start_matches(": ").parse().expect("a number")
}

#[test]
fn second_signal_does_not_lose_the_accounting() {
    let Some(signal) = heeded().next() else { return };
    for pause in (0..20).map(|n| Duration::from_micros(n * 20)) {
        let place = Place::with([("list", b"http://a/\nhttp://b/\n")]);
        let mut child = place.start(&["dedup", "list", "-"]);
        let mut input = child.stdin.take().expect("piped");
        input.write_all(b"http://c/\n").expect("written");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        (0..3).for_each(|_| assert!(out.read_line(&mut String::new()).expect("a line") > 0));
        send(&child, signal);
        thread::sleep(pause);
        send(&child, signal);
        assert_eq!(end(&mut child).signal(), Some(signal.as_raw()));
        let shown = error(&mut child);
        assert!(shown.starts_with("records 3 = unique 3 "), "{pause:?}: {shown:?}");
        assert!(shown.contains("; inputs 1 ok, 0 damaged, 0 missing, 1 unfinished; "), "{shown:?}");
    }
}

#[test]
fn run_that_waits_for_a_reader_can_be_interrupted() {
    let place = Place::new();
    place.write("in", "http://example.com/a/rather/long/path/to/fill/the/pipe\n".repeat(100_000));
    for (signal, quiet) in heeded().zip([true, false, true]) {
        let arguments = ["normalize", "in", "-q"];
        let mut child = place.start(if quiet { &arguments } else { &arguments[..2] });
        // Reads the first line and leaves the rest unread.
        let mut out = BufReader::with_capacity(64, child.stdout.take().expect("piped"));
        out.read_line(&mut String::new()).expect("a line");
        send(&child, signal);
        assert_eq!(end(&mut child).signal(), Some(signal.as_raw()));
        assert_eq!(error(&mut child).starts_with("records "), !quiet);
    }
}

#[test]
fn signal_ignored_at_the_start_stays_ignored() {
    if std::env::var_os("UNIQURL_COMMAND").is_some() {
        // An emulator handles signals itself, and hides from the command which were ignored.
        return say("NOT TRIED: ignored signals do not reach an emulated command as such");
    }
    let place = Place::new();
    let built = built::process();
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "trap '' HUP INT; exec \"$@\"", "sh"]);
    command.arg(built.get_program()).args(built.get_args());
    command.args(["normalize", "-"]).current_dir(place.path(""));
    let mut child = piped(command);
    let mut input = child.stdin.take().expect("piped");
    // The run is under way once a line is answered.
    input.write_all(b"http://B\n").expect("read");
    let mut answer = [0; 10];
    child.stdout.as_mut().expect("piped").read_exact(&mut answer).expect("a line");
    for signal in [Signal::HUP, Signal::INT, Signal::HUP, Signal::INT] {
        send(&child, signal);
        thread::sleep(Duration::from_millis(100));
    }
    input.write_all(b"http://A\n").expect("read");
    drop(input);
    assert_eq!(end(&mut child).code(), Some(0));
    let mut text = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut text).expect("text");
    assert_eq!(text, "http://a/\n");
}

#[test]
fn file_size_limit_is_an_error_and_not_a_signal() {
    let place = Place::with([("out", b"old")]);
    place.write("in", "http://example.com/a/long/path/that/fills/a/file\n".repeat(9_000));
    let run = place.shell("ulimit -f 8; uniqurl normalize in -o out").exits(2);
    let told = "out: File too large (os error 27)\nhint: allow longer files with ulimit -f";
    assert!(run.err.contains(told), "{}", run.err);
    assert_eq!((place.text("out"), place.names()), ("old".into(), vec!["in".into(), "out".into()]));
}

#[test]
fn interrupted_benchmark_removes_its_corpus() {
    if cannot_restart() {
        return;
    }
    for signal in heeded() {
        let place = Place::new();
        let mut command = built::process();
        command.args(["bench", "-q", "--size", "1M", "--runs", "100", "--corpus", "clean"]);
        command.args(["-j", "1"]).env("TMPDIR", place.path(""));
        let mut child = piped(command);
        wait(|| !place.names().is_empty());
        send(&child, signal);
        assert_eq!(end(&mut child).signal(), Some(signal.as_raw()));
        assert_eq!((error(&mut child), place.names()), (String::new(), Vec::new()));
    }
}
