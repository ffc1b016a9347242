//! The options that `dedup` and `normalize` share.

mod check;
mod choices;
mod format_file;

pub(in crate::args) use check::idle;
pub use choices::{BadInput, Directories, FormatChoice, MessageLevel};

use crate::args::archives::ArchiveArgs;
use crate::args::filters::FilterArgs;
use crate::args::help::{self, COMMON, INPUT, OUTPUT, RESOURCES, RULES};
use crate::args::policy::PolicyArgs;
use crate::args::profile_choices::{ProfileChoices, Unsupported};
use crate::args::values::{
    FormatParser, ProfileParser, backend, backends, charset, checks, code, delimiter, envelope,
    key, keys, max_record, max_url, number, ring,
};
use crate::inputs::names::is_standard_input;
use crate::progress::When;
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use uniqurl::internal::Backend;
use uniqurl::uri::Charset;
use uniqurl::{Key, Normalizer, Profile, RejectReason, Ring};
use uniqurl_engine::MOST_THREADS;
use uniqurl_engine::{cores, most_threads, most_workers};
use uniqurl_formats::record::{EnvelopeChoice, Format, FormatTable, Kinds, Separator};
use uniqurl_text::Secrets;

/// The options that `dedup` and `normalize` share.
// A field for each option, so more than a dozen. A heading of --help comes where its first field is.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Files to read; - or no FILE is standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Write to FILE; .gz and .zst compress, .csv, .parquet, .arrow make a table
    ///
    /// FILE appears when it is complete, or not at all. - is standard output, the default. It gets lines
    /// while the input is read, unless their order or counts need its end.
    ///
    /// A table of dedup has the columns that its lines would have. They are called canonical, or as
    /// --key, --fields and --count name them. A table of normalize has the columns record, original,
    /// canonical (or as --key names it) and reject. A value is null where a line would be empty.
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
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "auto",
        value_parser = FormatParser,
        hide_possible_values = true,
        help_heading = COMMON,
        long_help = help::FORMAT
    )]
    pub format: FormatChoice,

    /// Separate the columns of csv by C, a character of ASCII or `\t`
    ///
    /// Without it, the first rows tell whether that is a comma, a semicolon, a tab or a bar.
    #[arg(
        long,
        value_name = "C",
        value_parser = delimiter,
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub delimiter: Option<u8>,

    /// Add the formats that FILE describes
    ///
    /// FILE holds entries of the form that `uniqurl formats NAME` prints. --format takes their names,
    /// and auto looks for them first.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = INPUT)]
    pub format_file: Option<PathBuf>,

    /// The formats with a name, those of the file included.
    #[arg(skip = Arc::clone(FormatTable::shipped()))]
    pub formats: Arc<FormatTable>,

    /// Take this envelope off each line before the format reads it
    ///
    /// docker: the JSON objects of Docker's json-file. cri: the prefix of containerd and Kubernetes. syslog: a
    /// header of RFC 3164 or RFC 5424, or journald's JSON. journald: the objects of journalctl -o json.
    /// Lines without the envelope are rejected. auto takes an envelope off if most of the first lines
    /// have it, and reads the others as they are. none takes nothing off.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        value_parser = PossibleValuesParser::new(EnvelopeChoice::NAMES).map(envelope),
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub envelope: EnvelopeChoice,

    /// Decide by this profile which URLs are the same
    #[arg(
        short,
        long,
        value_name = "NAME",
        default_value = "crawl",
        value_parser = ProfileParser::new(),
        hide_possible_values = true,
        help_heading = COMMON,
        long_help = help::of_profiles(
            "Decide by this profile which URLs are the same",
            "The profiles:"
        )
    )]
    pub profile: Profile,

    /// Print errors and warnings only, neither progress nor summary
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

    /// Read the names of inputs from FILE
    ///
    /// FILE holds one name a line, or names that end with NUL. - is standard input.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = INPUT)]
    pub files_from: Option<PathBuf>,

    /// Read and write lists whose records end with NUL instead of a line feed
    ///
    /// sort -z and xargs -0 use such lists. The option implies --format lines and works with no other
    /// format. A line feed or a carriage return is then a byte of the URL, and the profile judges it.
    /// The lists of --seen also end with NUL, and so does each URL, count or row of columns in the
    /// output. The JSON of --json, --rejects and --stats stays lines.
    /// --files-from detects its separator by itself.
    #[arg(
        id = "null",
        short = '0',
        long = "null",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(Separator::from_flag),
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub separator: Separator,

    /// Read the files below the directories that are named
    ///
    /// Files are read in the order of their names. Names that begin with a dot are skipped, and links
    /// are not followed.
    #[arg(
        short = 'r',
        long = "recursive",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(Directories::from_flag),
        help_heading = INPUT
    )]
    pub directories: Directories,

    /// The records of archives to read.
    #[command(flatten)]
    pub archives: ArchiveArgs,

    /// Resolve relative URLs against URL, as in logs without hosts
    ///
    /// A log that names no hosts takes its host from URL.
    #[arg(long, value_name = "URL", help_heading = INPUT)]
    pub base: Option<OsString>,

    /// Read URLs without a scheme as if they began with this one
    ///
    /// Such URLs are example.com/x and //example.com/x.
    #[arg(long, value_name = "SCHEME", hide_short_help = true, help_heading = INPUT)]
    pub assume_scheme: Option<OsString>,

    /// Reject URLs that are longer than this; K, M and G are powers of 1024
    ///
    /// BYTES can be at most 64M.
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "64K",
        value_parser = max_url,
        allow_negative_numbers = true,
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub max_url: usize,

    /// Reject records that are longer than this, such as lines of a log; the default is 16M
    ///
    /// Only the part of a record that holds the URL counts for --max-url. Each record is held in memory as a whole.
    /// BYTES can be at most 512M.
    #[arg(
        long,
        value_name = "BYTES",
        value_parser = max_record,
        allow_negative_numbers = true,
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub max_record: Option<usize>,

    /// Skip inputs that are missing or damaged; the exit status is then 1
    #[arg(
        long = "keep-going",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(BadInput::from_flag),
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub bad_input: BadInput,

    /// The records and URLs to keep.
    #[command(flatten)]
    pub filters: FilterArgs,

    /// Accept URLs that these checks of the profile reject (servlet, sanitize)
    #[arg(
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(checks()).map(code),
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = RULES,
        long_help = help::ALLOW
    )]
    pub allow: Vec<RejectReason>,

    /// Reject also URLs that these checks find, which are off by default (sanitize)
    ///
    /// device-name: a segment that Windows takes for a device. bidi-control: a character that changes the
    /// direction of text. mixed-script-host: a label of several scripts. double-encoding-query: a triplet
    /// encoded once more, after the path.
    #[arg(
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(checks()).map(code),
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = RULES
    )]
    pub deny: Vec<RejectReason>,

    /// The switches, parameters and files that change the profile.
    #[command(flatten)]
    pub policy: PolicyArgs,

    /// Decode and encode these bytes of a path, as in 'decode=2F,3A encode=21,24'
    ///
    /// Bytes are in hexadecimal, and either list may be left out. The lists can name these sixteen
    /// bytes, each in one list: : / [ ] @ ! $ & ' ( ) * + , ; = (a byte in neither list keeps its
    /// spelling). Commas, blanks and quotation marks may separate them, and the two @pparam strings
    /// of a rule for Apache Traffic Server replace the two lists. FILE holds a table of 256 numbers,
    /// as `uniqurl profiles NAME --as c` writes it. The option is for the profile ring, and selects it if no profile is named.
    #[arg(long, value_name = "LISTS|FILE", value_parser = ring, hide_short_help = true, help_heading = RULES)]
    pub ring: Option<Ring>,

    /// The charset of triplets that are not UTF-8.
    #[arg(
        long,
        value_name = "LABEL",
        value_parser = charset,
        hide_short_help = true,
        help_heading = RULES,
        help = help::TRANSCODE,
        long_help = help::TRANSCODE_LONG
    )]
    pub transcode: Option<Charset>,

    /// Write this form of each URL; it decides which URLs are unique, and is counted and sorted
    #[arg(
        long,
        value_name = "KEY",
        default_value = "url",
        value_parser = PossibleValuesParser::new(keys()).map(key),
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    key: Key,

    /// Write each rejected record to FILE, as a JSON object a line
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub rejects: Option<PathBuf>,

    /// Mask userinfo, query values and fragments in --rejects and in the column original
    #[arg(
        long = "redact",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(secrets),
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub secrets: Secrets,

    /// Write the accounting of the run to FILE, as JSON
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = OUTPUT)]
    pub stats: Option<PathBuf>,

    /// Write a report about the run to FILE, as HTML
    ///
    /// It shows the accounting: records by outcome, by reason of rejection and by input, bytes and time.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    /// Write each task of the run with its CPU time to FILE, as a JSON object a line
    #[arg(long, value_name = "FILE", hide = true, help_heading = OUTPUT)]
    pub trace: Option<PathBuf>,

    /// Use N threads, 1 to 1024 [default: one for each core]
    ///
    /// One of them for each core computes, and two on a single core. The others wait for pipes;
    /// there are at most 64 in all, or 16 for each core if that is more.
    #[arg(
        short = 'j',
        long,
        value_name = "N",
        value_parser = number(1..=MOST_THREADS),
        allow_negative_numbers = true,
        hide_short_help = true,
        help_heading = RESOURCES
    )]
    threads: Option<u16>,

    /// Use the scanner for this instruction set
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        value_parser = PossibleValuesParser::new(backends()).try_map(backend),
        hide_short_help = true,
        help_heading = RESOURCES
    )]
    pub backend: Backend,
}

impl RunArgs {
    /// The key of each URL.
    pub fn key(&self) -> Key {
        self.key
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

    /// The options that change the profile.
    pub(crate) fn choices(&self) -> ProfileChoices<'_> {
        ProfileChoices {
            allow: &self.allow,
            deny: &self.deny,
            policy: &self.policy,
            ring: self.ring.as_ref(),
            transcode: self.transcode,
            base: self.base.as_deref(),
            assume_scheme: self.assume_scheme.as_deref(),
        }
    }

    /// The profile with the options that change it, except those that read files.
    pub fn normalizer(&self) -> Result<Normalizer, String> {
        let normalizer = self.choices().turned(self.profile, Unsupported::Refused)?;
        Ok(normalizer.with_backend(self.backend))
    }

    /// Whether the arguments make standard input an input or the list of inputs.
    pub(crate) fn reads_standard_input(&self) -> bool {
        self.files.iter().any(|file| is_standard_input(file))
            || self.files_from.as_deref().map_or(self.files.is_empty(), is_standard_input)
    }
}

fn secrets(redact: bool) -> Secrets {
    if redact { Secrets::Masked } else { Secrets::Shown }
}
