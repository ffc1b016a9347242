//! The options that `dedup` and `normalize` share.

mod check;
mod format_file;
mod outputs;

use crate::args::archives::ArchiveArgs;
use crate::args::filters::FilterArgs;
use crate::args::format::{FormatChoice, FormatParser};
use crate::args::help::{COMMON, INPUT, OUTPUT, RESOURCES};
use crate::args::routes::RoutesArgs;
use crate::args::rules::{ProfileArgs, RulesArgs};
use crate::args::values::{
    backend, backends, delimiter, keys, max_record, max_url, number, one_of,
};
use crate::inputs::names::is_standard_input;
use crate::progress::When;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use std::sync::Arc;
use uniqurl::Key;
use uniqurl::internal::Backend;
use uniqurl_engine::MOST_THREADS;
use uniqurl_engine::{cores, most_threads, most_workers};
use uniqurl_formats::record::{EnvelopeChoice, Format, FormatTable, Kinds, Separator};

/// The options that `dedup` and `normalize` share.
// A field for each option, so more than a dozen. A heading of --help comes where its first field is.
#[derive(Debug, Args)]
#[command(next_help_heading = INPUT)]
pub struct RunArgs {
    /// Files to read; - or no FILE is standard input
    #[arg(value_name = "FILE", help_heading = None::<&str>)]
    pub files: Vec<PathBuf>,

    /// Write to FILE; .gz and .zst compress, .csv, .parquet, .arrow make a table
    ///
    /// FILE appears when it is complete, or not at all. - is standard output, the default. A table of
    /// dedup has the columns that its lines would have, named as --fields names them. A table of normalize
    /// has the columns record, original, canonical (or as --key names it) and reject.
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        hide_default_value = true,
        help_heading = COMMON
    )]
    pub output: PathBuf,

    /// Read records of this format, such as combined or csv:COL
    ///
    /// --input-format is the same option. FORMAT says where the URL is in a record; `uniqurl
    /// formats` lists all of them, such as combined, s3 or envoy. These are said by what they
    /// read:
    ///   auto             Detect the format of each input.
    ///   lines, target    The URL, or the target of an HTTP request, is the whole line.
    ///   text, sitemap    Every URL in free text or HTML, or every <loc> of a sitemap, is read.
    ///   csv:COL, tsv:COL, parquet:COL, arrow:COL
    ///                    The URL is in this column: a name, or a number counted from 1.
    ///   ws:N             The URL is field N between white space.
    ///   json:POINTER     Each line is a JSON value, and the pointer finds the URL: json:/url.
    ///   log:'FORMAT'     Logs that a format string of Apache or nginx describes.
    ///   warc, wat, wat:links, arc, cdx, cdxj
    ///                    Web archives, the links in them, and their indexes.
    ///
    /// csv, tsv, json, parquet and arrow also read a URL from parts, as in
    /// json:host=/request/host,target=/request/uri. The parts are scheme, host, and either
    /// target or path and query. The parts status, method, mime, time and agent serve the
    /// filters.
    ///
    /// Inputs may be compressed with gzip, zstd, bzip2 or xz, whatever their names are.
    #[arg(
        verbatim_doc_comment,
        short,
        long,
        value_name = "FORMAT",
        default_value = "auto",
        alias = "input-format",
        value_parser = FormatParser,
        hide_possible_values = true,
        help_heading = COMMON
    )]
    pub format: FormatChoice,

    /// Separate the columns of csv by C, a character of ASCII or `\t`
    ///
    /// Without it, the first rows tell whether that is a comma, a semicolon, a tab or a bar.
    #[arg(long, value_name = "C", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// Add the formats that FILE describes
    ///
    /// FILE holds entries as `uniqurl formats NAME` prints them. auto looks for them first.
    #[arg(long, value_name = "FILE")]
    pub format_file: Option<PathBuf>,

    /// The formats with a name, those of the file included.
    #[arg(skip = Arc::clone(FormatTable::shipped()))]
    pub formats: Arc<FormatTable>,

    /// Take this envelope off each line before the format reads it
    ///
    /// docker: the JSON objects of Docker's json-file. cri: the prefix of containerd and Kubernetes. syslog: a
    /// header of RFC 3164 or RFC 5424, or journald's JSON. journald: the objects of journalctl -o json.
    /// Lines without a named envelope are rejected.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        value_parser = one_of(EnvelopeChoice::NAMES, EnvelopeChoice::named)
    )]
    pub envelope: EnvelopeChoice,

    /// The profile.
    #[command(flatten)]
    pub profile: ProfileArgs,

    /// Print errors and warnings only, neither progress nor summary
    #[arg(short, long, help_heading = COMMON)]
    pub quiet: bool,

    /// Show progress on standard error: auto, always or never
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t = When::Auto,
        hide_possible_values = true,
        help_heading = COMMON
    )]
    pub progress: When,

    /// Read the names of inputs from FILE
    ///
    /// FILE holds one name a line, or names that end with NUL. - is standard input.
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,

    /// Read and write lists whose records end with NUL instead of a line feed
    ///
    /// sort -z and xargs -0 use such lists. The option implies --format lines, also for the lists of
    /// --seen. JSON stays lines, and --files-from detects its separator by itself.
    #[arg(short = '0', long)]
    pub null: bool,

    /// Read the files below the directories that are named
    ///
    /// Names that begin with a dot are skipped, and links are not followed.
    #[arg(short, long)]
    pub recursive: bool,

    /// The records of archives to read.
    #[command(flatten)]
    pub archives: ArchiveArgs,

    /// Reject URLs that are longer than this; K, M and G are powers of 1024
    ///
    /// BYTES can be at most 64M.
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "64K",
        value_parser = max_url,
        allow_negative_numbers = true
    )]
    pub max_url: usize,

    /// Reject records that are longer than this, such as lines of a log; the default is 16M
    ///
    /// Only the part of a record that holds the URL counts for --max-url. Each record is held in memory as a whole.
    /// BYTES can be at most 512M.
    #[arg(long, value_name = "BYTES", value_parser = max_record, allow_negative_numbers = true)]
    pub max_record: Option<usize>,

    /// Skip inputs that are missing or damaged; the exit status is then 1
    #[arg(long)]
    pub keep_going: bool,

    /// The records and URLs to keep.
    #[command(flatten)]
    pub filters: FilterArgs,

    /// The rules that change the profile.
    #[command(flatten)]
    pub rules: RulesArgs,

    /// The routes of templates.
    #[command(flatten)]
    pub routes: RoutesArgs,

    /// Write this form of each URL; it decides which URLs are unique, and is counted and sorted
    #[arg(
        long,
        value_name = "KEY",
        default_value = "url",
        value_parser = keys(),
        help_heading = OUTPUT
    )]
    pub key: Key,

    /// Write each rejected record to FILE, as a JSON object a line
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub rejects: Option<PathBuf>,

    /// Mask userinfo, query values and fragments in --rejects and in the column original
    #[arg(long, help_heading = OUTPUT)]
    pub redact: bool,

    /// Write the accounting of the run to FILE, as JSON
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub stats: Option<PathBuf>,

    /// Write a report about the run to FILE, as HTML
    ///
    /// It shows the accounting: records by outcome, by reason of rejection and by input, bytes and time.
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    /// Write each task of the run with its CPU time to FILE, as a JSON object a line
    #[arg(long, value_name = "FILE", hide = true, help_heading = OUTPUT)]
    pub trace: Option<PathBuf>,

    /// Use N threads, 1 to 1024 [default: one for each core]
    #[arg(
        short = 'j',
        long,
        value_name = "N",
        value_parser = number(1..=MOST_THREADS),
        allow_negative_numbers = true,
        help_heading = RESOURCES
    )]
    threads: Option<u16>,

    /// Use the scanner for this instruction set
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        value_parser = PossibleValuesParser::new(backends()).try_map(backend),
        help_heading = RESOURCES
    )]
    pub backend: Backend,
}

impl RunArgs {
    /// The byte that ends each record of a list.
    pub fn separator(&self) -> Separator {
        Separator::from_flag(self.null)
    }

    /// The number of threads to start, at most as many as can be busy.
    pub fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => most_threads(cores()).min(threads.into()),
            None => cores().min(MOST_THREADS.into()),
        }
    }

    /// How many of them compute at most. A trace is recorded as if each had a core, to model larger machines.
    pub fn most_workers(&self) -> usize {
        if self.trace.is_some() { usize::MAX } else { most_workers(cores()) }
    }

    /// The records of WARC files to read.
    pub fn kinds(&self) -> Kinds {
        self.archives.kinds()
    }

    /// The options about records that have no effect on this format.
    pub fn idle(&self, format: &Format) -> impl Iterator<Item = &'static str> {
        self.filters.idle(format).into_iter().chain(self.archives.idle(format))
    }

    /// Whether the arguments make standard input an input or the list of inputs.
    pub(crate) fn reads_standard_input(&self) -> bool {
        self.files.iter().any(|file| is_standard_input(file))
            || self.files_from.as_deref().map_or(self.files.is_empty(), is_standard_input)
    }
}
