//! INT, TERM and HUP end a run within 200 ms, and a closed pipe ends it quietly.

use crate::place::{DEDUP, Found, Place, Sender, wait};
use crate::{Row, Torture};
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Their names and numbers.
const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];

const LIMIT: Duration = Duration::from_millis(200);

/// If an idle process takes this long to die, the machine is too busy to measure.
const BUSY: Duration = Duration::from_millis(40);

const LINES: usize = 60_000;

/// The work a run is doing.
#[derive(Debug, Clone, Copy)]
enum Doing {
    /// Reading, sorting and writing files, at a random point.
    Files,
    /// Waiting for more from a pipe.
    Reading,
    /// Waiting for a reader of a full pipe.
    Writing,
}

/// At random times, whatever the run is doing.
pub fn at_random(torture: &mut Torture) -> Row {
    let mut row = Row::new("INT, TERM, HUP: dies by it within 200 ms, nothing left");
    let place = Place::new(torture, "signal", LINES);
    let start = Instant::now();
    let mut command = place.command(&torture.command);
    command.args(DEDUP).stderr(Stdio::null()).status().expect("started");
    let duration = start.elapsed().as_micros() as u64;
    let mut sender = Sender::new();
    let (start, mut tried, mut late, mut busy) = (Instant::now(), 0, 0, 0);
    let mut slowest = Duration::ZERO;
    while torture.goes_on(tried, 3000, start) {
        let (name, signal) = SIGNALS[tried % 3];
        let doing = [Doing::Files, Doing::Reading, Doing::Writing][tried / 3 % 3];
        tried += 1;
        let mut child = begin(&place, torture, doing, duration);
        let sent = Instant::now();
        sender.send(name, child.id());
        let status = wait(&mut child);
        let took = sent.elapsed();
        let mut said = String::new();
        let _ = child.stderr.take().map(|mut error| error.read_to_string(&mut said));
        match judge(&place, doing, status, signal, &said) {
            Ok(true) => late += 1,
            Ok(false) if took > LIMIT && control(&mut sender) > BUSY => busy += 1,
            Ok(false) if took > LIMIT => {
                row.broken.push(format!("{doing:?} {name}: {} ms", took.as_millis()));
            }
            Ok(false) => slowest = slowest.max(took),
            Err(why) => row.broken.push(format!("{doing:?} {name}: {why}")),
        }
    }
    row.figure = format!(
        "{tried} signals, slowest end {} ms; {late} came when it was all over, {busy} when the \
         machine was too busy to measure",
        slowest.as_millis()
    );
    row
}

/// Starts a run and waits until it is in this state.
fn begin(place: &Place, torture: &mut Torture, doing: Doing, duration: u64) -> Child {
    place.age();
    let mut command = place.command(&torture.command);
    command.stderr(Stdio::piped()).stdout(Stdio::piped());
    match doing {
        Doing::Files => {
            let mut child = command.args(DEDUP).spawn().expect("started");
            drop(child.stdout.take());
            thread::sleep(Duration::from_micros(torture.below(duration * 6 / 5)));
            child
        }
        Doing::Reading => {
            command.args(["normalize", "-"]).stdin(Stdio::piped());
            let mut child = command.spawn().expect("started");
            let mut input = child.stdin.take().expect("piped");
            // A slow source that never ends.
            thread::spawn(move || {
                while input.write_all(b"http://a/\nx\n").is_ok() {
                    thread::sleep(Duration::from_millis(20));
                }
            });
            child.stdout.as_mut().expect("piped").read_exact(&mut [0]).expect("a line");
            child
        }
        Doing::Writing => {
            let mut child = command.args(["normalize", "in"]).spawn().expect("started");
            child.stdout.as_mut().expect("piped").read_exact(&mut [0]).expect("a line");
            thread::sleep(Duration::from_millis(torture.below(20)));
            child
        }
    }
}

/// Checks the end of a run. Returns whether the run was over before the signal came.
fn judge(
    place: &Place,
    doing: Doing,
    status: Result<ExitStatus, String>,
    signal: i32,
    said: &str,
) -> Result<bool, String> {
    let (status, found) = (status?, place.outputs()?);
    // The bytes that clear the bar may precede the summary.
    let last = said.lines().last().unwrap_or_default();
    let summary = last.find("records ").is_some_and(|at| adds_up(&last[at..]));
    match (status.signal(), status.code(), found) {
        (Some(number), _, Found::Old) if number == signal => {
            // Before it watches for signals, a run prints nothing.
            let silent = said.is_empty() && matches!(doing, Doing::Files);
            if summary || silent { Ok(false) } else { Err(format!("it said {said:?}")) }
        }
        (None, Some(0), Found::New) if summary => Ok(true),
        other => Err(format!("{other:?}, and it said {said:?}")),
    }
}

/// Whether the terms of `records R = a A + b B ...;` add up.
fn adds_up(line: &str) -> bool {
    let Some((records, terms)) = line.split(';').next().and_then(|sum| sum.split_once('=')) else {
        return false;
    };
    let numbers = |text: &str| -> u64 {
        text.split_whitespace().filter_map(|word| word.parse::<u64>().ok()).sum()
    };
    line.starts_with("records ") && numbers(records) == numbers(terms)
}

/// The time an idle process takes to die.
fn control(sender: &mut Sender) -> Duration {
    let mut child = Command::new("sleep").arg("100").spawn().expect("started");
    thread::sleep(Duration::from_millis(20));
    let start = Instant::now();
    sender.send("TERM", child.id());
    let _ = wait(&mut child);
    start.elapsed()
}

/// A reader that closes the pipe at a random point.
pub fn closed_pipe(torture: &mut Torture) -> Row {
    let mut row = Row::new("a closed pipe: status 141, not a word");
    let place = Place::new(torture, "pipe", LINES);
    let (start, mut tried) = (Instant::now(), 0);
    while torture.goes_on(tried, 1000, start) {
        tried += 1;
        let mut command = place.command(&torture.command);
        command.args(["normalize", "in"]).stderr(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut out = child.stdout.take().expect("piped");
        let mut some = vec![0; torture.below(1 << 20) as usize];
        let _ = out.read_exact(&mut some);
        drop(out);
        let status = wait(&mut child);
        let mut said = String::new();
        let _ = child.stderr.take().map(|mut error| error.read_to_string(&mut said));
        match status {
            Ok(status) if status.code() == Some(141) && said.is_empty() => {}
            other => row.broken.push(format!("{other:?}, and it said {said:?}")),
        }
    }
    row.figure = format!("{tried} readers went away");
    row
}
