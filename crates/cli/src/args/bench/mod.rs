//! The arguments of `uniqurl bench`.

mod choices;
#[cfg(test)]
mod tests;

use crate::args::help::{self, COMMON, OUTPUT};
use crate::args::{self, MessageLevel, ProfileParser, ProfileSelection, check_output_name};
use crate::progress::When;
use choices::{KINDS, backends, kind, kinds, or_all, pin, pins, size, stage, stages, unique};
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{ArgAction, Args};
use std::path::{Path, PathBuf};
use uniqurl::Profile;
use uniqurl::internal::Backend;
use uniqurl_bench::corpus::Kind;
use uniqurl_bench::machine::Topology;
use uniqurl_bench::measure::size::default_repeats;
use uniqurl_bench::measure::stage::Stage;
use uniqurl_bench::placement::{Pin, Placement};
use uniqurl_engine::MOST_THREADS;
use uniqurl_engine::cores;

/// The heading of the options that choose measurements.
const MEASUREMENTS: &str = "Measurements";

/// `uniqurl bench`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Measure this machine under crawl, in ten minutes or more
  uniqurl bench

  # Keep the result, as JSON and as a plot
  uniqurl bench --json here.json --plot here.svg

  # Compare two machines, or two versions
  uniqurl bench --compare here.json there.json

  # Measure one scanner with one thread under all profiles
  uniqurl bench --corpus clean --stage normalize --profile all --threads 1 --backend avx2

  # Measure a large log, from file to output
  uniqurl bench --corpus access --stage end-to-end --size 1G --runs 9",
    after_help = help::MORE,
    after_long_help = "\
Each of the first four stages also does the work of the stages before it:
  scan           Find the records, and prove with vector code that most URLs are clean.
  normalize      Write the canonical form of all other URLs.
  dedup          Put the canonical URLs into the set.
  end-to-end     Run the pipeline of the command, from a temporary file in the page cache to a
                 sink that counts bytes. The file is in $TMPDIR, or else in /tmp.
  gz             The same, from gzip files.
  beyond-memory  The same, within a quarter of the memory that the set needs.
  seen           The same, beside a seen store that holds half of the keys.

The pipelines run with the fastest scanner, and the last three with the most threads.

Three more measurements use the same bytes and number of threads: memory read adds them up, memory copy \
copies them, and newline count counts their line feeds with memchr. The roofline is the share of the memory \
read's speed that a row reaches.

The process restarts for each run, and does its rows in random order. Times are medians over runs; the 95 % \
interval is across runs. The last line is the number to cite. It needs all corpora, the first four stages, the \
profile crawl, one thread and all cores, and a size of at least 256M.

Every result is checked. For the profile crawl, the generator knows the right result. \
For every other profile, a slow pass over single URLs with the standard library's set must give the same \
result. A wrong result ends the benchmark with exit status 2."
)]
// A field for each option, so more than a dozen.
pub struct BenchArgs {
    /// Print errors and warnings only, neither progress nor the expected duration
    #[arg(
        short = 'q',
        long = "quiet",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(MessageLevel::from_flag),
        help_heading = COMMON
    )]
    pub messages: MessageLevel,

    /// Choose when to show progress on standard error
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t = When::Auto,
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub progress: When,

    /// Measure these corpora: clean, mixed, dirty, dup, access [default: all]
    ///
    ///   clean   Canonical URLs, 9 distinct ones of 13.
    ///   mixed   One URL in ten needs work.
    ///   dirty   Each URL needs work.
    ///   dup     65 lines for each distinct URL.
    ///   access  A web server's log in the combined format.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(kinds()).map(kind),
        hide_possible_values = true,
        verbatim_doc_comment,
        help_heading = MEASUREMENTS
    )]
    pub corpus: Vec<Kind>,

    /// Measure these profiles, or all
    #[arg(
        short,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "crawl",
        value_parser = ProfileParser::or_all(),
        hide_possible_values = true,
        help_heading = MEASUREMENTS
    )]
    pub profile: Vec<ProfileSelection>,

    /// Measure these stages [default: all]
    ///
    /// They are scan, normalize, dedup, end-to-end, gz, beyond-memory and seen.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(stages()).map(stage),
        hide_possible_values = true,
        help_heading = MEASUREMENTS
    )]
    pub stage: Vec<Stage>,

    /// Measure these scanners [default: the fastest of this CPU]
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(backends()).try_map(args::backend),
        hide_possible_values = true,
        help_heading = MEASUREMENTS
    )]
    pub backend: Vec<Backend>,

    /// Measure these numbers of threads [default: 1, 2, 4, ..., one for each core]
    #[arg(
        short = 'j',
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = args::number(1..=MOST_THREADS),
        allow_negative_numbers = true,
        help_heading = MEASUREMENTS
    )]
    threads: Vec<u16>,

    /// Pin threads to cores or to memory nodes
    ///
    ///   none   The system places threads.
    ///   cores  Each thread has its own core; SMT siblings come last.
    ///   nodes  Each thread stays on a memory node.
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "none",
        value_parser = PossibleValuesParser::new(pins()).map(pin),
        hide_possible_values = true,
        verbatim_doc_comment,
        help_heading = MEASUREMENTS
    )]
    pub pin: Pin,

    /// Make each corpus this large; K, M and G are powers of 1024
    ///
    /// The default is the larger of 256M and 4 times the last-level cache, as far as there is memory.
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = size,
        allow_negative_numbers = true,
        help_heading = MEASUREMENTS
    )]
    pub size: Option<u64>,

    /// Generate the corpora from this seed
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = args::number(0u64..),
        allow_negative_numbers = true,
        help_heading = MEASUREMENTS
    )]
    pub seed: u64,

    /// Restart the process N times
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = args::number(1..=1000u32),
        allow_negative_numbers = true,
        help_heading = MEASUREMENTS
    )]
    pub runs: u32,

    /// Time each measurement N times in each run
    ///
    /// The default is 3, and fewer for corpora above 256M.
    #[arg(
        long,
        value_name = "N",
        value_parser = args::number(1..=1000u32),
        allow_negative_numbers = true,
        help_heading = MEASUREMENTS
    )]
    repeats: Option<u32>,

    /// Write the result to FILE as JSON
    ///
    /// - is standard output, which then has no table.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub json: Option<PathBuf>,

    /// Draw the result to FILE as SVG
    ///
    /// It has bars for scanners, and lines over threads. - is standard output, which then has no
    /// table.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub plot: Option<PathBuf>,

    /// Measure nothing, and compare two results of --json
    ///
    /// The last line says how many times as fast B is, with a 95 % interval. The files may be
    /// compressed.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 2,
        value_names = ["A", "B"],
        conflicts_with_all = [
            "corpus", "profile", "stage", "backend", "threads", "pin", "size", "seed", "runs", "repeats",
            "json", "plot", "one_run",
        ],
        help_heading = OUTPUT
    )]
    pub compare: Vec<PathBuf>,

    /// Measure once, as standard input orders. The process starts itself so.
    #[arg(long, hide = true)]
    pub one_run: bool,
}

impl BenchArgs {
    /// Rejects options that contradict each other.
    pub fn check(&self) -> Result<(), clap::Error> {
        let conflict = |message| args::usage("bench", ErrorKind::ArgumentConflict, message);
        for (option, path) in [("--json", &self.json), ("--plot", &self.plot)] {
            let Some(path) = path else { continue };
            check_output_name(option, path, Some(&format!("{option} writes no table")))
                .map_err(conflict)?;
        }
        match (&self.json, &self.plot) {
            (Some(json), Some(plot)) if args::share_a_place(&[json, plot]) => {
                Err(conflict("--json and --plot would write to the same place".into()))
            }
            _ => Ok(()),
        }
    }

    /// Whether standard output has the JSON or the plot, beside which nothing else may stand.
    pub fn writes_to_stdout(&self) -> bool {
        let mut files = [&self.json, &self.plot].into_iter().flatten();
        files.any(|path| args::share_a_place(&[path, Path::new("-")]))
    }

    /// The corpora, each once.
    pub fn corpora(&self) -> Vec<Kind> {
        unique(or_all(&self.corpus, &KINDS))
    }

    /// The profiles, each once.
    pub fn profiles(&self) -> Vec<Profile> {
        if self.profile.contains(&ProfileSelection::All) {
            return Profile::ALL.to_vec();
        }
        let one = |profile: &ProfileSelection| match profile {
            ProfileSelection::One(profile) => Some(*profile),
            ProfileSelection::All => None,
        };
        unique(self.profile.iter().filter_map(one).collect())
    }

    /// The stages, each once, in the order of the data flow.
    pub fn stages(&self) -> Vec<Stage> {
        let stages = or_all(&self.stage, &Stage::ALL);
        Stage::ALL.into_iter().filter(|stage| stages.contains(stage)).collect()
    }

    /// The scanners, each once, slowest first.
    pub fn backends(&self) -> Vec<Backend> {
        let available = Backend::available();
        let fastest = &available[available.len() - 1..];
        let backends = or_all(&self.backend, fastest);
        available.into_iter().filter(|backend| backends.contains(backend)).collect()
    }

    /// How often each run times a row on corpora of this size.
    pub fn repeats(&self, size: u64) -> u32 {
        self.repeats.unwrap_or_else(|| default_repeats(size))
    }

    /// The numbers of threads, each once, ascending.
    pub fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<usize> = self.threads.iter().map(|n| usize::from(*n)).collect();
        if threads.is_empty() {
            let placement = Placement::new(self.pin, &Topology::here());
            threads = placement.thread_counts(cores().min(MOST_THREADS.into()));
        }
        threads.sort_unstable();
        threads.dedup();
        threads
    }
}
