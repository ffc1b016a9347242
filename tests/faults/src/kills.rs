//! `kill -9`: at any moment, an output is the old one or the new one.

use crate::place::{DEDUP, Found, Place, run, wait};
use crate::{Row, Torture, faults};
use std::fs;
use std::process::{Command, Stdio};
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

/// `kill -9` of runs with shards, and the run after them.
pub fn of_shards(torture: &mut Torture) -> Row {
    let mut row = Row::new("a killed run with shards leaves a temporary name, or all shards");
    let place = Place::new(torture, "killed-shards", 20_000);
    let program = torture.command.clone();
    let split = || {
        let mut command = Command::new(&program);
        command.args(["dedup", "-q", "in", "--split-by", "hash:4", "-o", "more-out"]);
        command.current_dir(&place.path).stdin(Stdio::null());
        command
    };
    let output = place.path.join("more-out");
    let shards = || -> Vec<Vec<u8>> {
        let shard = |i| fs::read(output.join(format!("shard-0000{i}"))).unwrap_or_default();
        (0..4).map(shard).collect()
    };
    let undisturbed = Instant::now();
    let _ = split().status();
    let duration = undisturbed.elapsed().as_micros() as u64;
    let whole = shards();
    let (start, mut tried, mut left, mut complete) = (Instant::now(), 0, 0, 0);
    while torture.goes_on(tried, 100, start) {
        let _ = fs::remove_dir_all(&output);
        let mut killed = split().spawn().expect("started");
        thread::sleep(Duration::from_micros(torture.below(duration * 6 / 5)));
        let _ = killed.kill();
        let _ = wait(&mut killed);
        if output.exists() {
            complete += 1;
            if shards() != whole {
                row.broken.push("a directory with its name is partial".to_owned());
            }
            let _ = fs::remove_dir_all(&output);
        }
        for entry in fs::read_dir(&place.path).expect("readable").flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(b".uniqurl-") {
                left += 1;
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        match run(&mut split()) {
            Ok(run) if run.status.success() && shards() == whole => {}
            Ok(run) => row.broken.push(format!("the run after a killed one: {}", run.status)),
            Err(why) => row.broken.push(why),
        }
        tried += 1;
    }
    row.figure = format!("{tried} kills: {left} temporary directories, {complete} whole outputs");
    row
}
