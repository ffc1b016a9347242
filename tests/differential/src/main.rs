//! Tests every backend and every profile on generated and mutated URLs, against the other backends
//! of this CPU, second implementations and the laws.
//!
//! An *execution* is one URL under one profile through all backends and the oracle. Everything
//! follows from a seed and the number of a block, so a run can be stopped, resumed and repeated.

mod case;
mod check;
mod exhaustive;
mod second;
mod setting;
mod shrink;
mod tally;
mod threads;

#[path = "../../library/subject/draw.rs"]
mod drawn;
#[allow(dead_code, missing_docs, reason = "the tests of the library use more")]
#[path = "../../library/windows/mod.rs"]
mod windows;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use case::Block;
use generator::Rng;
use setting::Setting;
use shrink::Question;
use tally::{PROFILES, Tally};
// The second implementations, the generator and the laws are those of the tests.
use uniqurl_test_support::{browser, generator, law, oracle, tsv};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "\
usage: scripts/prove [--executions N] [--seconds N] [--seed N] [--threads N] [--profile NAME]...
                     [--urls FILE] [--state FILE] [--block N] [--exhaustive SYMBOLS]

  --executions N  end after so many (default: 1000000000)
  --seconds N     end after so long, whichever comes first
  --seed N        where the URLs come from (default: 8459564886084709376)
  --threads N     default: all cores
  --profile NAME  only this one; can be repeated
  --urls FILE     real URLs to change, one a line (default: corpora/sample.txt)
  --state FILE    where the counts are kept; a run with the same seed goes on from there
  --block N       this block alone, as a failure names it
  --exhaustive N  instead, every window that vector code can see, and every URL of up to N symbols
";

/// The URLs to mutate unless others are named.
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpora/sample.txt");

/// The options of a run.
struct Wish {
    executions: u64,
    seconds: u64,
    seed: u64,
    threads: usize,
    profiles: Vec<&'static str>,
    urls: PathBuf,
    state: Option<PathBuf>,
    block: Option<u64>,
    exhaustive: Option<usize>,
}

impl Wish {
    fn read(mut args: impl Iterator<Item = String>) -> Result<Wish, String> {
        let mut wish = Wish {
            executions: 1_000_000_000,
            seconds: u64::MAX,
            seed: 0x7566_6971_7572_6C00,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            profiles: Vec::new(),
            urls: SAMPLE.into(),
            state: None,
            block: None,
            exhaustive: None,
        };
        while let Some(flag) = args.next() {
            let value = args.next().ok_or_else(|| USAGE.to_owned())?;
            let number = || value.parse::<u64>().map_err(|_| format!("{value:?} is no number"));
            match flag.as_str() {
                "--executions" => wish.executions = number()?,
                "--seconds" => wish.seconds = number()?,
                "--seed" => wish.seed = number()?,
                "--threads" => wish.threads = number()?.max(1) as usize,
                "--profile" => {
                    let known = PROFILES.iter().find(|name| **name == value);
                    wish.profiles.push(*known.ok_or_else(|| format!("no profile {value:?}"))?);
                }
                "--urls" => wish.urls = value.into(),
                "--state" => wish.state = Some(value.into()),
                "--exhaustive" => wish.exhaustive = Some(number()?.min(9) as usize),
                "--block" => wish.block = Some(number()?),
                _ => return Err(USAGE.to_owned()),
            }
        }
        if wish.profiles.is_empty() {
            wish.profiles = PROFILES.to_vec();
        }
        Ok(wish)
    }
}

/// The progress of a run: all blocks below `next` are done.
#[derive(Default)]
struct Progress {
    next: u64,
    seconds: f64,
    tally: Tally,
}

/// Blocks between two checks of the clock and saves of the state.
const ROUND: u64 = 64;

impl Progress {
    /// Resumes from the saved state, if it has this seed.
    fn resume(wish: &Wish) -> Result<Progress, String> {
        let Some(file) = wish.state.as_ref().filter(|file| file.exists()) else {
            return Ok(Progress::default());
        };
        let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
        let lines: Vec<&str> = text.lines().collect();
        let read = || {
            let [seed, next, seconds, tally @ ..] = &lines[..] else { return None };
            let seed: u64 = seed.strip_prefix("seed\t")?.parse().ok()?;
            Some((
                seed,
                Progress {
                    next: next.strip_prefix("blocks\t")?.parse().ok()?,
                    seconds: seconds.strip_prefix("seconds\t")?.parse().ok()?,
                    tally: Tally::read(tally)?,
                },
            ))
        };
        match read() {
            Some((seed, progress)) if seed == wish.seed => Ok(progress),
            Some((seed, _)) => Err(format!("{} is of seed {seed}", file.display())),
            None => Err(format!("{} is no state of this version", file.display())),
        }
    }

    fn save(&self, wish: &Wish) -> Result<(), String> {
        let Some(file) = &wish.state else { return Ok(()) };
        let (seed, next, seconds) = (wish.seed, self.next, self.seconds);
        let head = format!("seed\t{seed}\nblocks\t{next}\nseconds\t{seconds:.1}\n");
        let text = head + &self.counts();
        let written = file.with_extension("next");
        std::fs::write(&written, text)
            .and_then(|()| std::fs::rename(&written, file))
            .map_err(|error| format!("{}: {error}", file.display()))
    }

    fn counts(&self) -> String {
        self.tally.lines().map(|(kind, name, count)| format!("{kind}\t{name}\t{count}\n")).collect()
    }
}

fn main() -> ExitCode {
    if std::env::args().skip(1).any(|argument| argument == "--help" || argument == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("prove: {}", message.trim_end());
            ExitCode::from(2)
        }
    }
}

/// Returns whether everything passed.
fn run() -> Result<bool, String> {
    let wish = Wish::read(std::env::args().skip(1))?;
    let text =
        std::fs::read(&wish.urls).map_err(|error| format!("{}: {error}", wish.urls.display()))?;
    let real: Vec<Vec<u8>> = text
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty() && line.len() < 1000)
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec())
        .collect();
    if real.is_empty() {
        return Err(format!("{} holds no URL", wish.urls.display()));
    }
    let mut progress = Progress::resume(&wish)?;
    let plain: Vec<Setting> = wish.profiles.iter().copied().map(setting::plain).collect();
    let names: Vec<&str> = plain[0].libraries.iter().map(|one| one.backend().name()).collect();
    println!(
        "seed {}, {} threads, backends {}, {} profiles, {} real URLs",
        wish.seed,
        wish.threads,
        names.join(" "),
        plain.len(),
        real.len()
    );
    shrink::keep_panics();
    if let Some(symbols) = wish.exhaustive {
        let found = exhaustive::run(&plain, wish.threads, symbols);
        println!("{}", found.as_deref().unwrap_or_default());
        return Ok(found.is_none());
    }
    if let Some(block) = wish.block {
        let found = one_block(&wish, &plain, &real, block, &mut progress.tally);
        println!("{}", found.as_deref().unwrap_or("nothing is wrong with it"));
        return Ok(found.is_none());
    }
    let started = Instant::now();
    let (before, mut told) = (progress.seconds, 0);
    while progress.tally.executions() < wish.executions
        && started.elapsed().as_secs() < wish.seconds
    {
        let round = progress.next..progress.next + ROUND;
        progress.next = round.end;
        let one = |number, tally: &mut Tally| one_block(&wish, &plain, &real, number, tally);
        if let Some(found) = threads::ask(wish.threads, round, 1, &mut progress.tally, one) {
            println!("{found}");
            return Ok(false);
        }
        progress.seconds = before + started.elapsed().as_secs_f64();
        progress.save(&wish)?;
        if started.elapsed().as_secs() / 10 > told {
            told = started.elapsed().as_secs() / 10;
            eprintln!("{}", so_far(&progress));
        }
    }
    print!("{}", progress.counts());
    println!("{}, no difference; seed {}", so_far(&progress), wish.seed);
    Ok(true)
}

fn so_far(progress: &Progress) -> String {
    let executions = progress.tally.executions();
    let rate = executions as f64 / progress.seconds.max(0.001);
    format!(
        "{executions} executions in {:.0} s, {rate:.0} a second, {} blocks",
        progress.seconds, progress.next
    )
}

/// Checks one block under every profile. Returns the failure, if any.
fn one_block(
    wish: &Wish,
    plain: &[Setting],
    real: &[Vec<u8>],
    number: u64,
    tally: &mut Tally,
) -> Option<String> {
    // Two steps of the generator, so that neighbouring block numbers give unrelated streams.
    let mut rng = Rng::new(Rng::new(wish.seed).bits() ^ number);
    let mut rng = Rng::new(rng.bits());
    let block = Block::draw(&mut rng, real);
    let drawn: Vec<Option<Setting>> = wish
        .profiles
        .iter()
        .map(|&profile| rng.one_in(2).then(|| setting::draw(&mut rng, profile)))
        .collect();
    let mut questions: Vec<Question> = Vec::new();
    for (plain, drawn) in plain.iter().zip(&drawn) {
        questions.push(Question::One(drawn.as_ref().unwrap_or(plain)));
    }
    let rung = |name| plain.iter().find(|setting| setting.profile == name);
    for (fine, coarse) in [("syntax", "scheme"), ("scheme", "crawl"), ("crawl", "aggressive")] {
        if let (Some(fine), Some(coarse)) = (rung(fine), rung(coarse)) {
            questions.push(Question::Two(fine, coarse));
        }
    }
    for question in questions {
        if shrink::trouble(|| question.ask(&block, tally)).is_some() {
            let text = shrink::report(question, &block);
            let profiles: String =
                wish.profiles.iter().map(|profile| format!(" --profile {profile}")).collect();
            let all = wish.profiles.len() == PROFILES.len();
            // The drawn URLs depend on these as well.
            let urls = match wish.urls == Path::new(SAMPLE) {
                true => String::new(),
                false => format!(" --urls '{}'", wish.urls.display()),
            };
            return Some(format!(
                "A difference. scripts/prove --seed {} --block {number}{}{urls}\n\n{text}",
                wish.seed,
                if all { "" } else { &profiles }
            ));
        }
    }
    None
}
