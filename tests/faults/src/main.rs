//! `scripts/torture`: the promises the command keeps under faults, one row for each promise.
//!
//! In: the built command, and whether there is little time. Out: the scorecard. A new promise is a
//! file here with a function that gives a [`Row`], and a line in [`ROWS`].

mod amplification;
mod bombs;
mod budget;
mod control_group;
mod disk;
mod faults;
mod kills;
mod place;
mod races;
mod seen_store;
mod seen_syncs;
mod signals;
mod syncs;
mod work;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The result of testing one promise.
pub struct Row {
    /// The promise in a few words.
    pub promise: &'static str,
    /// The trials, in numbers.
    pub figure: String,
    /// The violations, one line each.
    pub broken: Vec<String>,
    /// The reason it could not be tried.
    pub skipped: Option<String>,
    /// Lines of a table of its own, below the scorecard.
    pub table: Vec<String>,
}

impl Row {
    /// A promise that nothing has broken so far.
    pub fn new(promise: &'static str) -> Self {
        Self {
            promise,
            figure: String::new(),
            broken: Vec::new(),
            skipped: None,
            table: Vec::new(),
        }
    }

    /// Marks a promise that cannot be tried here.
    pub fn skipped(mut self, why: impl Into<String>) -> Self {
        self.skipped = Some(why.into());
        self
    }
}

/// The context every row needs.
pub struct Torture {
    /// The command under test.
    pub command: PathBuf,
    /// The parent of the rows' directories.
    pub root: PathBuf,
    /// The amount of testing.
    pub extent: Extent,
    random: u64,
}

/// The amount of time a scorecard may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Two minutes at most in all.
    Short,
    /// As often as the promises say.
    Full,
}

impl Torture {
    /// A random number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.random >> 33) % limit.max(1)
    }

    /// Whether to try once more, after `tried` of `full` times. The first try began at `start`.
    pub fn goes_on(&self, tried: usize, full: usize, start: Instant) -> bool {
        match self.extent {
            Extent::Full => tried < full,
            Extent::Short => tried < full && (tried < 4 || start.elapsed() < SHARE),
        }
    }
}

/// The time of a row in a short run.
const SHARE: Duration = Duration::from_secs(3);

/// A promise by the name that `--only` takes.
type Promise = (&'static str, fn(&mut Torture) -> Row);

/// The promises, in the order of the scorecard.
const ROWS: &[Promise] = &[
    ("kills", kills::at_random),
    ("kill-points", kills::at_named_points),
    ("killed-shards", kills::of_shards),
    ("signals", signals::at_random),
    ("closed-pipe", signals::closed_pipe),
    ("signal-faults", faults::signal_at_every_call),
    ("error-faults", faults::error_at_every_call),
    ("short-calls", faults::short_calls),
    ("syncs", syncs::before_names),
    ("shard-syncs", syncs::shards),
    ("disk", disk::full),
    ("races", races::changing_inputs),
    ("seen-kills", seen_store::kills),
    ("seen-faults", seen_store::faults),
    ("seen-merge", seen_store::merges),
    ("seen-syncs", seen_syncs::before_names),
    ("seen-disk", disk::store),
    ("seen-writers", seen_store::writers),
    ("line", budget::one_line),
    ("bombs", budget::bombs),
    ("distinct", budget::distinct_urls),
    ("longer-lines", budget::longer_lines),
    ("many-members", bombs::many_members),
    ("amplification", amplification::longer_urls),
    ("redirects", amplification::many_redirects),
    ("columns", amplification::columns),
    ("control-group", control_group::default_budget),
];

/// Rows that take minutes however few trials they run, so that a short run tries them only by name.
const LONG_ROWS: &[Promise] = &[("work", work::of_every_reader)];

fn main() -> ExitCode {
    let mut extent = Extent::Full;
    let mut command = None;
    let mut only: Option<String> = None;
    let mut seed = std::process::id().into();
    for argument in std::env::args().skip(1) {
        if argument == "--short" {
            extent = Extent::Short;
        } else if let Some(names) = argument.strip_prefix("--only=") {
            only = Some(names.to_owned());
        } else if let Some(number) = argument.strip_prefix("--seed=") {
            seed = match number.parse() {
                Ok(number) => number,
                Err(_) => return wrong(&format!("no number: {number}")),
            };
        } else {
            command = Some(PathBuf::from(argument));
        }
    }
    // A relative name would lead elsewhere from the directories of the rows.
    let command = command.and_then(|name| name.canonicalize().ok());
    let Some(command) = command else {
        return wrong("usage: torture [--short] [--only=ROW,...] [--seed=N] COMMAND");
    };
    let long = if extent == Extent::Full || only.is_some() { LONG_ROWS } else { &[] };
    let rows: Vec<_> = ROWS.iter().chain(long).collect();
    // An unknown name would try nothing, and so break no promise.
    let mut names = only.iter().flat_map(|only| only.split(','));
    if let Some(name) = names.find(|name| rows.iter().all(|(row, _)| row != name)) {
        return wrong(&format!("no row: {name}"));
    }
    let root = std::env::temp_dir().join(format!("uniqurl-torture-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("a directory");
    let mut torture = Torture { command, root: root.clone(), extent, random: seed };
    let start = Instant::now();
    println!("seed {seed}\n\n| promise | figure | result |\n|---|---|---|");
    let (mut kept, mut broken, mut skipped) = (0, 0, 0);
    let mut tables = Vec::new();
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only.split(',').any(|n| n == name));
    for (_, row) in rows.into_iter().filter(|(name, _)| wanted(name)) {
        let row = row(&mut torture);
        let result = match (&row.skipped, row.broken.len()) {
            (Some(why), _) => {
                skipped += 1;
                format!("NOT TRIED: {why}")
            }
            (None, 0) => {
                kept += 1;
                "kept".to_owned()
            }
            (None, times) => {
                broken += 1;
                format!("BROKEN {times} times")
            }
        };
        println!("| {} | {} | {result} |", row.promise, row.figure);
        for line in row.broken.iter().take(20) {
            eprintln!("    broken: {line}");
        }
        tables.extend(row.table);
    }
    // The remaining files belong to broken rows and are kept for inspection.
    if broken == 0 {
        let _ = std::fs::remove_dir_all(&root);
    }
    if !tables.is_empty() {
        println!("\n{}", tables.join("\n"));
    }
    let seconds = start.elapsed().as_secs();
    println!("\ntorture: {kept} kept, {broken} broken, {skipped} not tried; {seconds} s");
    ExitCode::from(u8::from(broken > 0))
}

/// Reports wrong arguments.
fn wrong(why: &str) -> ExitCode {
    eprintln!("torture: {why}");
    ExitCode::from(2)
}
