//! Work that grows with the input, counted in instructions: twice the input takes twice the work.
//!
//! In: the command, and [`cases`]. Out: a line of the table for each case, and a broken promise for each text
//! whose work grows faster than the text does. Instructions and not seconds, which depend on what else runs;
//! counted by valgrind, since virtual machines often have no counters. valgrind has no AVX-512, so the scanner
//! is the one for AVX2.
//!
//! Each case runs three times, with texts of one, two and four units. The differences of the three counts hold
//! no constant, neither the start of the program nor that of a format: for `a + b*n + c*n*n` instructions they
//! are `b + 3*c` and `2*b + 12*c`. Their quotient, the growth, is 2 where `c` is 0, and 4 where `b` is.

mod cases;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;

use crate::{Extent, Row, Torture};
use cases::Case;

/// The growth that one text may have. Sorting and buffers that double stay below 2.3; at 2.6 the square makes
/// up half of what the second doubling adds.
const MOST: f64 = 2.6;

/// The growth from which on the texts of a case are tried apart. One square among many texts shows as little
/// more than 2, but counts repeat to within one in a thousand.
const SUSPICIOUS: f64 = 2.2;

/// The sizes of the texts, in units.
const UNITS: [usize; 3] = [1, 2, 4];

/// Fewer instructions than this are no growth: runs over the same input differ by up to half as many.
const NOISE: f64 = 100_000.0;

/// A square with this factor, in instructions a byte a byte, takes a third of a second at 1 MB, and 1.5 minutes at
/// the 16 MiB that a record may have. Smaller ones cannot be told from buffers that grow in steps.
const LEAST_SQUARE: f64 = 0.001;

/// What a short run draws: cases, and texts of each.
const DRAWN: (usize, usize) = (6, 8);

/// The instructions of a run at each of [`UNITS`].
#[derive(Clone, Copy)]
struct Counts([u64; 3]);

impl Counts {
    /// The instructions that the largest texts take beyond the smallest.
    fn added(self) -> f64 {
        self.0[2] as f64 - self.0[0] as f64
    }

    /// The instructions that the second doubling adds, divided by those of the first. Two if there are fewer than the
    /// least square would add to texts of this unit, in bytes.
    fn growth(self, unit: usize) -> f64 {
        let [one, two, four] = self.0.map(|count| count as f64);
        let least = LEAST_SQUARE * ((UNITS[2].pow(2) - UNITS[0].pow(2)) * unit.pow(2)) as f64;
        match self.added() < least.max(NOISE) {
            true => 2.0,
            false => (four - two) / (two - one).max(1.0),
        }
    }

    /// A line of the table.
    fn line(self, name: &str, unit: usize) -> String {
        let [one, two, four] = self.0.map(|count| count as f64 / 1e6);
        let name = name.replace('\t', "\\t").replace('|', "\\|");
        format!("| {name} | {one:.1} | {two:.1} | {four:.1} | {:.2} |", self.growth(unit))
    }
}

/// All cases, or in a short run some of them.
pub fn of_every_reader(torture: &mut Torture) -> Row {
    let row = Row::new("twice the input takes twice the instructions, whatever reads it");
    let mut row = match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => row,
        Ok(output) => return row.skipped(format!("valgrind: {}", output.status)),
        Err(error) => return row.skipped(format!("valgrind: {error}")),
    };
    let mut cases = cases::all();
    let total = cases.len();
    if torture.extent == Extent::Short {
        let (most_cases, most_texts) = DRAWN;
        while cases.len() > most_cases {
            cases.swap_remove(torture.below(cases.len() as u64) as usize);
        }
        for case in &mut cases {
            case.draw(most_texts, |length| torture.below(length as u64) as usize);
        }
    }
    row.figure = format!("{} of {total} cases", cases.len());
    let directory = torture.root.join("work");
    let queue = Mutex::new(cases.iter().enumerate());
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for worker in 0..thread::available_parallelism().map_or(1, usize::from) {
            let directory = directory.join(worker.to_string());
            let trial = Trial { command: &torture.command, directory };
            let (queue, results) = (&queue, &results);
            scope.spawn(move || {
                loop {
                    let Some((number, case)) = queue.lock().expect("whole").next() else { break };
                    let result = trial.judge(case);
                    results.lock().expect("whole").push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("whole");
    results.sort_by_key(|(number, _)| *number);
    row.table.push("| work, in million instructions | 1 unit | 2 | 4 | growth |".to_owned());
    row.table.push("|---|---|---|---|---|".to_owned());
    for (_, (lines, broken)) in results {
        row.table.extend(lines);
        row.broken.extend(broken);
    }
    row
}

/// What a worker needs.
struct Trial<'a> {
    command: &'a Path,
    /// For the texts of one run.
    directory: PathBuf,
}

impl Trial<'_> {
    /// Lines of the table, and the texts that break the promise.
    fn judge(&self, case: &Case) -> (Vec<String>, Vec<String>) {
        let (mut lines, mut broken) = (Vec::new(), Vec::new());
        // Texts among which one may grow too fast, to be halved until it stands alone.
        let mut groups = Vec::from([Range { start: 0, end: case.texts.len() }]);
        while let Some(group) = groups.pop() {
            let is_whole = group.len() == case.texts.len();
            let name = match &case.texts[group.clone()] {
                [text] if !is_whole => format!("{}, {}", case.name, text.name),
                _ => case.name.clone(),
            };
            let counts = match self.counts(case, &group) {
                Ok(counts) => counts,
                Err(why) => {
                    broken.push(format!("{name}: {why}"));
                    continue;
                }
            };
            let is_suspicious = counts.growth(case.unit) > SUSPICIOUS;
            if is_whole || (group.len() == 1 && is_suspicious) {
                lines.push(counts.line(&name, case.unit));
            }
            // A limit ends a run early. Others have to look at each byte, or nothing is measured.
            if is_whole
                && case.status != LIMIT
                && counts.added() < case.bytes(UNITS[2] - UNITS[0]) as f64
            {
                broken.push(format!("{name}: too few instructions to have read the texts"));
            }
            if is_suspicious && group.len() > 1 {
                let middle = group.start + group.len() / 2;
                groups.extend([middle..group.end, group.start..middle]);
            } else if counts.growth(case.unit) > MOST {
                broken.push(counts.line(&name, case.unit));
            }
        }
        (lines, broken)
    }

    /// The counts where these texts grow, and the others stay at a unit.
    fn counts(&self, case: &Case, group: &Range<usize>) -> Result<Counts, String> {
        let mut counts = [0; 3];
        for (count, units) in counts.iter_mut().zip(UNITS) {
            *count = self.run(case, |at| if group.contains(&at) { units } else { 1 })?;
        }
        Ok(Counts(counts))
    }

    /// The instructions of a run whose texts have so many units each.
    fn run(&self, case: &Case, units_of: impl Fn(usize) -> usize) -> Result<u64, String> {
        let _ = fs::remove_dir_all(&self.directory);
        fs::create_dir_all(&self.directory).map_err(|error| error.to_string())?;
        let texts: Vec<_> = (case.texts.iter().enumerate())
            .map(|(at, text)| (text.name.as_str(), text.of(case.unit * units_of(at))))
            .collect();
        let log = self.directory.join("log of valgrind");
        let mut command = Command::new("valgrind");
        command.current_dir(&self.directory).stdin(Stdio::null()).stdout(Stdio::null());
        command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
        command.arg(format!("--log-file={}", log.display())).arg(self.command);
        command.args(case.arguments(&texts));
        for (name, text) in &texts {
            fs::write(self.directory.join(name), text).map_err(|error| error.to_string())?;
        }
        let run = command.output().map_err(|error| error.to_string())?;
        if run.status.code() != Some(case.status) {
            let said: String = String::from_utf8_lossy(&run.stderr).chars().take(300).collect();
            return Err(format!("{}, and it said {said:?}", run.status));
        }
        let log = fs::read_to_string(&log).map_err(|error| error.to_string())?;
        instructions(&log).ok_or_else(|| format!("no count in {log:?}"))
    }
}

/// The exit status of a run that a limit ended.
const LIMIT: i32 = 3;

/// The number in `==1== I   refs:      63,103,766`.
fn instructions(log: &str) -> Option<u64> {
    let (_, number) = log.lines().find_map(|line| line.split_once(" refs:"))?;
    number.trim().replace(',', "").parse().ok()
}
