//! Inputs that are cut, continued or replaced while they are read.

use crate::place::{Place, run};
use crate::{Row, Torture};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

const LINES: usize = 60_000;

/// A list in which no line is the prefix of another, canonical except for the rejected lines.
fn list(host: &str, lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|i| format!("http://{host}.com/{i}/end\n").into_bytes()).collect()
}

/// All three, at random times. Each result is compared with the content of the input at some
/// moment.
pub fn changing_inputs(torture: &mut Torture) -> Row {
    let mut row = Row::new("inputs cut, continued, replaced while read: no URL is invented");
    let place = Place::new(torture, "race", 10);
    let (before, other) = (list("before", LINES), list("other", LINES));
    let input = place.path.join("in");
    let arguments = ["normalize", "in", "-j", "2", "-f", "lines"];
    fs::write(&input, &before).expect("written");
    let start = Instant::now();
    place.command(&torture.command).args(arguments).output().expect("started");
    let duration = start.elapsed().as_micros() as u64;
    let (start, mut tried, mut told) = (Instant::now(), 0, 0);
    while torture.goes_on(tried, 1000, start) {
        let how = ["cut", "continued", "replaced"][tried % 3];
        tried += 1;
        fs::write(&input, &before).expect("written");
        fs::write(place.path.join("more-other"), &other).expect("written");
        let cut = torture.below(before.len() as u64);
        let pause = Duration::from_micros(torture.below(duration));
        let (path, replacement) = (input.clone(), place.path.join("more-other"));
        let changer = thread::spawn(move || {
            thread::sleep(pause);
            let open = || OpenOptions::new().append(true).open(&path).expect("there");
            match how {
                "cut" => {
                    OpenOptions::new()
                        .write(true)
                        .open(&path)
                        .and_then(|f| f.set_len(cut))
                        .expect("cut");
                }
                // In pieces that end at any byte.
                "continued" => {
                    let mut file = open();
                    for piece in list("more", 2_000).chunks(1_000 + cut as usize % 997) {
                        file.write_all(piece).expect("written");
                    }
                }
                _ => fs::rename(&replacement, &path).expect("renamed"),
            }
        });
        let run = run(place.command(&torture.command).args(arguments));
        changer.join().expect("changed");
        let run = match run {
            Ok(run) => run,
            Err(why) => {
                row.broken.push(format!("{how}: {why}"));
                continue;
            }
        };
        let said = String::from_utf8_lossy(&run.stderr);
        let fine = match (run.status.code(), how) {
            (Some(2), "cut" | "replaced") => {
                told += 1;
                said.contains("in") && said.contains(": changed: ")
            }
            (Some(0), "cut") => {
                is_of(&run.stdout, &before) || is_of(&run.stdout, &before[..cut as usize])
            }
            (Some(0), "replaced") => is_of(&run.stdout, &before) || is_of(&run.stdout, &other),
            // Whole lines of the final content, and at least the content at the start.
            (Some(0), "continued") => {
                let now = fs::read(&input).expect("there");
                now.starts_with(&run.stdout)
                    && run.stdout.len() >= before.len()
                    && run.stdout.ends_with(b"\n")
            }
            _ => false,
        };
        if !fine {
            let bytes = run.stdout.len();
            row.broken.push(format!("{how}: {}, {bytes} bytes, it said {said:?}", run.status));
        }
    }
    row.figure = format!("{tried} races, {told} of them told as an error");
    row
}

/// Whether the result is that of this input. A cut last line is the last record of its file: it
/// gives a URL or nothing.
fn is_of(result: &[u8], input: &[u8]) -> bool {
    let whole = input.iter().rposition(|byte| *byte == b'\n').map_or(0, |feed| feed + 1);
    let lines = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count();
    let last = usize::from(whole < input.len());
    result.starts_with(&input[..whole]) && lines(result) == lines(&input[..whole]) + last
}
