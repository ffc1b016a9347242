//! Checkpoints: whatever the moment of the kill, the next run ends with the bytes of one that was
//! never killed.

use crate::place::{OUTPUTS, Place, run, wait};
use crate::{Row, Torture, faults};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// Inputs, and lines in each.
const INPUTS: usize = 12;
const LINES: usize = 4_000;

/// Outputs beside those of every run: a set for later runs, and a directory.
const SAVED: &str = "more-saved";
const SHARDS: &str = "more-shards";

/// A place with several inputs, and what an undisturbed run makes of them.
struct Resumed {
    place: Place,
    /// Of the runs that are killed; stands beside the place.
    checkpoint: PathBuf,
    arguments: Vec<String>,
    expected: Vec<Vec<u8>>,
}

impl Resumed {
    fn new(torture: &Torture, name: &str, lines: usize, options: &str) -> Self {
        let place = Place::new(torture, name, lines);
        let text = String::from_utf8(place.read("in")).expect("text");
        let mut arguments = vec!["dedup".to_owned(), "in".to_owned()];
        for i in 1..INPUTS {
            // Some of it is new in each.
            let other = text.replace("host1", &format!("host{i}-1"));
            fs::write(place.path.join(format!("more{i}")), other).expect("written");
            arguments.push(format!("more{i}"));
        }
        arguments.extend(["-j", "2", "--rejects", "rejects", "--stats", "stats"].map(Into::into));
        arguments.extend(options.split_whitespace().map(Into::into));
        if !options.contains("-o ") {
            arguments.extend(["-o", "out"].map(Into::into));
        }
        let seen: String = text.split_inclusive('\n').step_by(5).collect();
        fs::write(place.path.join("more-seen"), seen).expect("written");
        let mut command = place.command(&torture.command);
        let peaceful = command.args(&arguments).output().expect("started");
        assert!(peaceful.status.success(), "{}", String::from_utf8_lossy(&peaceful.stderr));
        let checkpoint = torture.root.join(format!("{name}-kept"));
        let kept = ["--checkpoint", &checkpoint.to_string_lossy(), "--checkpoint-every", "0"];
        arguments.extend(kept.map(Into::into));
        let mut this = Self { place, checkpoint, arguments, expected: Vec::new() };
        this.expected = this.outputs();
        this.make_room();
        this
    }

    /// Removes the outputs that not every run has, one of which must be new, and what a run that was
    /// killed left of it.
    fn make_room(&self) {
        let _ = fs::remove_file(self.place.path.join(SAVED));
        for entry in fs::read_dir(&self.place.path).expect("readable").flatten() {
            let name = entry.file_name();
            if name == SHARDS || name.to_string_lossy().starts_with(".uniqurl-") {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }

    /// The outputs, without what may differ between two runs.
    fn outputs(&self) -> Vec<Vec<u8>> {
        let shards = (0..3).map(|shard| format!("{SHARDS}/shard-{shard:05}"));
        let names = OUTPUTS.iter().chain(&[SAVED]).map(|name| (*name).to_owned());
        let outputs = names.chain(shards).map(|name| {
            let text = self.place.read(&name);
            let of_run = |line: &&[u8]| {
                let line = line.trim_ascii_start();
                line.starts_with(b"\"seconds\"") || line.starts_with(b"\"spilled\"")
            };
            let lines = text.split_inclusive(|byte| *byte == b'\n').filter(|line| !of_run(line));
            lines.collect::<Vec<_>>().concat()
        });
        outputs.collect()
    }

    /// Runs to the end; whether it went on behind something.
    fn finish(&self, torture: &Torture) -> Result<bool, String> {
        let mut command = self.place.command(&torture.command);
        let run = run(command.args(&self.arguments))?;
        let said = String::from_utf8_lossy(&run.stderr);
        if !run.status.success() {
            return Err(format!("{}: {said}", run.status));
        }
        if self.outputs() != self.expected {
            return Err("the outputs are others".to_owned());
        }
        self.make_room();
        if self.checkpoint.exists() {
            return Err("the checkpoint is still there".to_owned());
        }
        Ok(said.contains("going on behind"))
    }
}

/// At random times, several times in a row.
pub fn at_random(torture: &mut Torture) -> Row {
    let mut row = Row::new("kill -9 at random times, and go on: the bytes of one run");
    let ways = [
        "",
        "--count --order sorted",
        "--memory 1M --temp-dir . --fields first,canonical",
        "--seen more-seen --save-seen more-saved",
        "--split-by host:3 -o more-shards --count",
        "--keep last --fields canonical,first",
    ];
    let ways: Vec<_> = ways
        .iter()
        .enumerate()
        .map(|(i, options)| Resumed::new(torture, &format!("resume{i}"), LINES, options))
        .collect();
    let begun = Instant::now();
    ways[0].finish(torture).expect("an undisturbed run");
    let duration = begun.elapsed().as_micros() as u64;
    let (start, mut kills, mut went_on) = (Instant::now(), 0, 0);
    while torture.goes_on(kills, 1000, start) {
        let way = &ways[torture.below(ways.len() as u64) as usize];
        for _ in 0..1 + torture.below(3) {
            let mut command = way.place.command(&torture.command);
            command.args(&way.arguments).stderr(Stdio::null());
            let mut child = command.spawn().expect("started");
            thread::sleep(Duration::from_micros(torture.below(duration)));
            let _ = child.kill();
            let _ = wait(&mut child);
            way.make_room();
            kills += 1;
        }
        match way.finish(torture) {
            Ok(went) => went_on += usize::from(went),
            Err(why) => {
                row.broken.push(why);
                let _ = fs::remove_dir_all(&way.checkpoint);
            }
        }
    }
    row.figure = format!("{kills} kills; {went_on} runs went on behind files that were absorbed");
    row
}

/// At the calls that make a checkpoint.
pub fn at_named_points(torture: &mut Torture) -> Row {
    let mut row = Row::new("kill -9 at the calls that make a checkpoint, and go on");
    if let Err(why) = faults::can_trace() {
        return row.skipped(why);
    }
    let way = Resumed::new(torture, "resume-point", 300, "--memory 1M --temp-dir . --count");
    let arguments: Vec<&str> = way.arguments.iter().map(String::as_str).collect();
    let (start, mut tried, mut went_on) = (Instant::now(), 0, 0);
    for call in ["linkat", "?rename", "fsync", "?unlink", "unlinkat", "?mkdir", "write", "openat"] {
        for k in 1.. {
            if !torture.goes_on(tried, usize::MAX, start) {
                break;
            }
            let injection = format!("{call}:signal=KILL:when={k}");
            match faults::inject(torture, &way.place, &arguments, call, &injection) {
                Ok(run) if !run.injected => break,
                Ok(_) => tried += 1,
                Err(why) => {
                    row.broken.push(format!("{injection}: {why}"));
                    break;
                }
            }
            match way.finish(torture) {
                Ok(went) => went_on += usize::from(went),
                Err(why) => {
                    row.broken.push(format!("{injection}: {why}"));
                    let _ = fs::remove_dir_all(&way.checkpoint);
                }
            }
        }
    }
    row.figure = format!("{tried} kills; {went_on} runs went on behind files that were absorbed");
    row
}
