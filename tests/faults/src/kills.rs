//! `kill -9`: at any moment, an output is the old one or the new one.

use crate::place::{DEDUP, Found, Place, wait};
use crate::{Row, Torture, faults};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const LINES: usize = 60_000;

/// At random times.
pub fn at_random(torture: &mut Torture) -> Row {
    let mut row = Row::new("kill -9 at random times");
    let place = Place::new(torture, "kill", LINES);
    let start = Instant::now();
    let mut command = place.command(&torture.command);
    command.args(DEDUP).stderr(Stdio::null()).status().expect("started");
    let duration = start.elapsed().as_micros() as u64;
    let (start, mut tried, mut named, mut found) = (Instant::now(), 0, 0, [0; 3]);
    while torture.goes_on(tried, 1000, start) {
        place.age();
        let mut command = place.command(&torture.command);
        let mut child = command.args(DEDUP).stderr(Stdio::null()).spawn().expect("started");
        thread::sleep(Duration::from_micros(torture.below(duration * 6 / 5)));
        let _ = child.kill();
        let _ = wait(&mut child);
        match place.first_names() {
            Ok(first_names) => named += first_names,
            Err(why) => row.broken.push(why),
        }
        match place.outputs() {
            Ok(Found::Old) => found[0] += 1,
            Ok(Found::New) => found[1] += 1,
            Ok(Found::Begun) => found[2] += 1,
            // Only a run that went on could account for a failure.
            Ok(found) => row.broken.push(format!("{found:?}")),
            Err(why) => row.broken.push(why),
        }
        tried += 1;
    }
    let [old, new, begun] = found;
    row.figure = format!(
        "{tried} kills: {old} old, {new} new, {begun} between two renames; {named} left the new file's \
         first name"
    );
    row
}

/// At the calls that make an output.
pub fn at_named_points(torture: &mut Torture) -> Row {
    let mut row = Row::new("kill -9 at the calls that make an output");
    if let Err(why) = faults::can_trace() {
        return row.skipped(why);
    }
    let place = Place::new(torture, "point", 2_000);
    let (mut tried, mut named) = (0, 0);
    for call in ["openat", "pwrite64", "write", "fsync", "fdatasync", "linkat", "rename", "close"] {
        for k in 1.. {
            let injection = format!("{call}:signal=KILL:when={k}");
            match faults::inject(torture, &place, DEDUP, call, &injection) {
                Ok(run) if !run.injected => break,
                Ok(_) => tried += 1,
                Err(why) => {
                    row.broken.push(format!("{injection}: {why}"));
                    break;
                }
            }
            match place.first_names() {
                Ok(first_names) if first_names <= usize::from(call == "rename") => {
                    named += first_names;
                }
                Ok(_) => row.broken.push(format!("{injection}: left a file's first name")),
                Err(why) => row.broken.push(format!("{injection}: {why}")),
            }
            match place.outputs() {
                Ok(Found::Old | Found::New | Found::Begun) => {}
                found => row.broken.push(format!("{injection}: {found:?}")),
            }
        }
    }
    if tried == 0 {
        row.broken.push("no call was reached".to_owned());
    }
    row.figure = format!("{tried} kills; {named} at a rename left the new file's first name");
    row
}
