//! The arguments of `uniqurl bench`.

#[cfg(test)]
mod tests;

use crate::args::help::{self, COMMON, OUTPUT};
use crate::args::{self, check_output_name, wrong};
use clap::Args;
use std::path::{Path, PathBuf};
use uniqurl_bench::corpus::Kind;
use uniqurl_engine::MOST_THREADS;
use uniqurl_engine::cores;

/// The heading of the options that choose measurements.
const MEASUREMENTS: &str = "Measurements";

/// Largest size of a corpus, which stays in memory together with a copy of it.
const MAX_SIZE: u64 = 64 << 30;

/// The corpora for measuring; `sample` is one for tests.
const KINDS: [Kind; 5] = [Kind::Clean, Kind::Mixed, Kind::Dirty, Kind::Dup, Kind::Access];

/// `uniqurl bench`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Measure this machine, in two minutes or so
  uniqurl bench

  # Keep the result
  uniqurl bench --save here.json

  # Compare two machines, or two versions
  uniqurl bench --compare here.json there.json

  # Find a difference of 5 %: many short runs say more than few long ones
  uniqurl bench --runs 15 --size 32M --save here.json",
    after_help = help::MORE,
    after_long_help = "\
Each stage also does the work of the stages before it:
  scan        Find the records, and prove with vector code that most URLs are canonical.
  normalize   Write the canonical form of all other URLs.
  dedup       Put the canonical URLs into the set.
  end-to-end  Run the pipeline of the command, from a temporary file in the page cache to a sink
              that counts bytes. The file is in $TMPDIR, or else in /tmp.

Three limits of the machine use the same bytes and number of threads: memory-read adds them up, memory-copy \
copies them, and newline-count counts their line feeds with memchr. The profile is crawl, and the scanner the \
fastest of this processor.

The process restarts for each run, and does its rows in random order. Rates are medians over runs; the 95 % \
interval is across runs. The last line is the number to cite, or says why there is none: it needs all corpora, \
one thread and all cores, and a size of at least 256M.

Every result is checked against what the generator of the corpora knows. A wrong result ends the benchmark with \
exit status 2."
)]
pub struct BenchArgs {
    /// Print errors and warnings only, and no row before all are measured
    #[arg(short, long, help_heading = COMMON)]
    pub quiet: bool,

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
        value_parser = args::one_of(KINDS.map(Kind::name), Kind::named),
        hide_possible_values = true,
        verbatim_doc_comment,
        help_heading = MEASUREMENTS
    )]
    corpus: Vec<Kind>,

    /// Measure these numbers of threads [default: 1, and one for each core]
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

    /// Make each corpus this large; K, M and G are powers of 1024
    ///
    /// The default is 256M, as far as there is memory.
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = size,
        allow_negative_numbers = true,
        help_heading = MEASUREMENTS
    )]
    pub size: Option<u64>,

    /// Restart the process N times
    #[arg(
        long,
        value_name = "N",
        default_value_t = 5,
        value_parser = args::number(1..=100u64),
        allow_negative_numbers = true,
        help_heading = MEASUREMENTS
    )]
    pub runs: u64,

    /// Write the result to FILE as JSON
    ///
    /// - is standard output, which then has no table.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub save: Option<PathBuf>,

    /// Measure nothing, and compare two results of --save
    ///
    /// The last line says how many times as fast B is, with a 95 % interval. The files may be
    /// compressed.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 2,
        value_names = ["A", "B"],
        conflicts_with_all = ["corpus", "threads", "size", "runs", "save", "one_run"],
        help_heading = OUTPUT
    )]
    pub compare: Vec<PathBuf>,

    /// Measure once, as standard input orders. The process starts itself so.
    #[arg(long, hide = true)]
    pub one_run: bool,
}

impl BenchArgs {
    /// Rejects an output that is a table.
    pub fn check(&self) -> Result<(), clap::Error> {
        let Some(path) = &self.save else { return Ok(()) };
        check_output_name("--save", path, Some("--save writes no table")).map_err(wrong)
    }

    /// Whether standard output has the JSON, beside which nothing else may stand.
    pub fn writes_to_stdout(&self) -> bool {
        // Other names lead there as well, such as /dev/stdout.
        self.save.as_ref().is_some_and(|path| args::share_a_place(&[path, Path::new("-")]))
    }

    /// The corpora, each once.
    pub fn corpora(&self) -> Vec<Kind> {
        let is_chosen = |kind: &Kind| self.corpus.is_empty() || self.corpus.contains(kind);
        KINDS.into_iter().filter(is_chosen).collect()
    }

    /// The numbers of threads, each once, ascending.
    pub fn threads(&self) -> Vec<usize> {
        let mut threads: Vec<usize> = self.threads.iter().map(|n| usize::from(*n)).collect();
        if threads.is_empty() {
            threads = vec![1, cores().min(MOST_THREADS.into())];
        }
        threads.sort_unstable();
        threads.dedup();
        threads
    }
}

fn size(text: &str) -> Result<u64, String> {
    match args::size(text)? {
        0 => Err("nothing can be measured on no bytes".into()),
        bytes if bytes > MAX_SIZE => Err("more than 64G".into()),
        bytes => Ok(bytes),
    }
}
