//! The options that `dedup` and `normalize` share.

mod check;
mod choices;

pub use choices::{BadInput, Directories, FormatChoice, MessageLevel};

use crate::args::archives::ArchiveArgs;
use crate::args::filters::FilterArgs;
use crate::args::policy::PolicyArgs;
use crate::args::profile_choices::{ProfileChoices, Unsupported};
use crate::args::values::{
    FormatParser, ProfileParser, backend, backends, charset, checks, code, key, keys, max_url,
    number, ring,
};
use crate::args::{INPUT, MESSAGES, OUTPUT, RESOURCES, RULES};
use crate::inputs::names::is_standard_input;
use crate::progress::When;
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args};
use std::ffi::OsString;
use std::path::PathBuf;
use uniqurl::bytes::Secrets;
use uniqurl::normalize::Charset;
use uniqurl::{Backend, Key, Normalizer, Profile, RejectReason, Ring};
use uniqurl_engine::MOST_THREADS;
use uniqurl_engine::{cores, most_threads};
use uniqurl_formats::record::{Format, Kinds, Separator};

/// What `--transcode` does, for `explain` too.
pub(crate) const TRANSCODE_HELP: &str =
    "Read triplets that are not UTF-8 in this charset, such as latin1, and write them as UTF-8";
pub(crate) const TRANSCODE_LONG_HELP: &str =
    "Read triplets that are not UTF-8 in this charset, and write them as UTF-8

LABEL is one of the Encoding Standard: latin1 (which is windows-1252 there), shift_jis, gbk, koi8-r. It \
     acts before the profile, on the octets between two delimiters: where they are UTF-8 they stay, else \
     all of them are read in the charset. Not for string, ia and whatwg.";

/// The options that all subcommands with inputs have.
// A field for each option, so more than a dozen.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Inputs; - or none: standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// Read the names of inputs from FILE, one a line or each ended by NUL; -: standard input
    #[arg(long, value_name = "FILE", help_heading = INPUT)]
    pub files_from: Option<PathBuf>,

    /// Where the URL is in a record
    ///
    /// auto: chosen by looking at each input. lines: the whole line. target: the line is the target
    /// of an HTTP request. text: every URL in free text. clf, combined, vhost: the logs of Apache,
    /// nginx and others. log:'FORMAT': a format string of Apache or nginx. w3c: the extended logs of
    /// IIS and others. elb, alb, cloudfront: Amazon's logs. haproxy: its HTTP log. ws:N: the N-th
    /// field between white space, counted from 1. csv:COL, tsv:COL: the column of this name in the
    /// header, or of this number; without any name there is no header. json:POINTER: a JSON value a
    /// line, and where in it the URL is, as in json:/url; json:caddy, json:cloudflare,
    /// json:nginx-json. cdx, cdxj: the indexes of web archives. warc: the targets of a web archive's
    /// records. wat, wat:links: the targets of the responses that a WAT file tells of, or all links in
    /// them. arc: the URLs of an ARC file. parquet:COL, arrow:COL: the column of this name (struct.field
    /// inside of another) or number of a Parquet file, or of an Arrow file or stream; parquet, arrow:
    /// the one called url, or the only one that holds text.
    ///
    /// csv, tsv, json, parquet and arrow also take parts, as in
    /// json:host=/request/host,target=/request/uri: scheme, host, target or path and query; beside them
    /// status, method and mime, for the filters.
    ///
    /// Inputs may be compressed with gzip, zstd, bzip2 or xz, whatever their names.
    #[arg(
        short,
        long,
        value_name = "FORMAT",
        default_value = "auto",
        value_parser = FormatParser,
        hide_possible_values = true,
        help_heading = INPUT,
        help = "Where the URL is in a record: auto, lines, target, clf, combined, vhost, \
                log:'FORMAT', w3c, elb, alb, cloudfront, haproxy, ws:N, csv:COL, tsv:COL, \
                json:POINTER, cdx, cdxj, warc, wat, wat:links, arc, parquet:COL, arrow:COL, text"
    )]
    pub format: FormatChoice,

    /// Records of lists end with NUL instead of a line feed: of inputs, and of what is written
    ///
    /// As for sort -z and xargs -0. It is for lists of URLs, --format lines, which it implies: a line
    /// feed or a carriage return is then a byte of the URL, and the profile's to judge. The lists of
    /// --seen end so too, and each URL, count or row of columns that is written. JSON stays lines: that
    /// of --json, --rejects and --stats; so do saved sets. --files-from tells by itself.
    #[arg(
        id = "null",
        short = '0',
        long = "null",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(Separator::from_flag),
        help_heading = INPUT,
        help = "Records of lists end with NUL instead of a line feed: of inputs, and of what is \
                written"
    )]
    pub separator: Separator,

    /// Read the files below directories, in the order of their names
    ///
    /// What begins with a dot is passed over there, and links are not followed.
    #[arg(
        short = 'r',
        long = "recursive",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(Directories::from_flag),
        help_heading = INPUT,
        help = "Read the files below directories, in the order of their names"
    )]
    pub directories: Directories,

    /// What to take of web archives.
    #[command(flatten)]
    pub archives: ArchiveArgs,

    /// What to keep.
    #[command(flatten)]
    pub filters: FilterArgs,

    /// Resolve relative references against this URL; logs without hosts take theirs from it
    #[arg(long, value_name = "URL", help_heading = INPUT)]
    pub base: Option<OsString>,

    /// Read `example.com/x` and `//example.com/x` as if they began with this scheme
    #[arg(long, value_name = "SCHEME", help_heading = INPUT)]
    pub assume_scheme: Option<OsString>,

    /// Reject longer URLs; at most 64M, where K, M, G are powers of 1024
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "64K",
        value_parser = max_url,
        allow_negative_numbers = true,
        help_heading = INPUT
    )]
    pub max_url: usize,

    /// Which URLs are the same
    #[arg(
        short,
        long,
        value_name = "NAME",
        default_value = "crawl",
        value_parser = ProfileParser::new(),
        help_heading = RULES
    )]
    pub profile: &'static Profile,

    /// What is written, and so what is unique, counted and sorted
    #[arg(
        long,
        value_name = "KEY",
        default_value = "url",
        value_parser = PossibleValuesParser::new(keys()).map(key),
        help_heading = OUTPUT
    )]
    pub key: Key,

    /// Accept what these checks of the profile reject
    ///
    /// A list of codes between commas. servlet: fragment, decode, no-leading-slash, leading-dot-dot,
    /// encoded-slash, dot-segment-parameter, encoded-dot-segment, empty-segment-before-dot-dot,
    /// empty-segment-parameter, backslash, control. sanitize: encoded-unreserved,
    /// encoded-dot-segment, encoded-slash, encoded-backslash, nul, control, double-encoding,
    /// overlong-utf8, rare-ipv4, userinfo, well-known-port. Other profiles have no such checks.
    #[arg(
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(checks()).map(code),
        hide_possible_values = true,
        help_heading = RULES,
        help = "Accept what these checks of the profile reject (servlet, sanitize)"
    )]
    pub allow: Vec<RejectReason>,

    /// What is turned on and off beside that.
    #[command(flatten)]
    pub policy: PolicyArgs,

    /// Decode and encode these bytes of a path, as in 'decode=2F,3A encode=21,24'
    ///
    /// Bytes are in hexadecimal, and either list may be left out. It can name these sixteen, each
    /// in one list: : / [ ] @ ! $ & ' ( ) * + , ; = (the others of them stay as they are spelled).
    /// It is for the profile ring, and implies it where no profile is named.
    #[arg(
        long,
        value_name = "LISTS",
        value_parser = ring,
        help_heading = RULES,
        help = "Decode and encode these bytes of a path, as in 'decode=2F,3A encode=21,24'"
    )]
    pub ring: Option<Ring>,

    /// The charset of triplets that are not UTF-8.
    #[arg(
        long,
        value_name = "LABEL",
        value_parser = charset,
        help_heading = RULES,
        help = TRANSCODE_HELP,
        long_help = TRANSCODE_LONG_HELP
    )]
    pub transcode: Option<Charset>,

    /// Write to FILE, whole or not at all, compressed if it ends in .gz or .zst, a table if in .parquet
    /// or .arrow; -: standard output
    ///
    /// A table of a set has the columns that lines would have, called canonical (or as --key, --fields
    /// and --count name them); one of normalize has record, original, canonical (or as --key names it) and
    /// reject. What a line leaves empty is null there.
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        hide_default_value = true,
        help_heading = OUTPUT,
        help = "Write to FILE, whole or not at all, compressed if it ends in .gz or .zst, a table if \
                in .parquet or .arrow; -: standard output"
    )]
    pub output: PathBuf,

    /// Write each rejected record to FILE, as a JSON object a line
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub rejects: Option<PathBuf>,

    /// Mask userinfo, values of queries and fragments in --rejects and in the column original
    #[arg(
        long = "redact",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(secrets),
        help_heading = OUTPUT
    )]
    pub secrets: Secrets,

    /// Write the accounting to FILE, as JSON
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub stats: Option<PathBuf>,

    /// Write a page about the run to FILE, as HTML: the accounting, samples of what was rejected, the
    /// rules that acted, the most frequent hosts, and the throughput
    #[arg(long, value_name = "FILE", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,

    /// Go on without the inputs that are missing or damaged; the exit status is then 1
    #[arg(
        long = "keep-going",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(BadInput::from_flag),
        help_heading = INPUT
    )]
    pub bad_input: BadInput,

    /// How many threads work, 1 to 1024 [default: one for each core]
    ///
    /// No more than 16 for each core are started where that is more than 64: others would only wait.
    #[arg(
        short = 'j',
        long,
        value_name = "N",
        value_parser = number(1..=MOST_THREADS),
        allow_negative_numbers = true,
        help_heading = RESOURCES
    )]
    threads: Option<u16>,

    /// Which scanner to use
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        value_parser = PossibleValuesParser::new(backends()).try_map(backend),
        help_heading = RESOURCES
    )]
    pub backend: Backend,

    /// Only errors and warnings on standard error: neither progress nor summary
    #[arg(
        short = 'q',
        long = "quiet",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(MessageLevel::from_flag),
        help_heading = MESSAGES
    )]
    pub messages: MessageLevel,

    /// When to show progress on standard error
    #[arg(
        long,
        value_name = "WHEN",
        value_enum,
        default_value_t = When::Auto,
        help_heading = MESSAGES
    )]
    pub progress: When,
}

impl RunArgs {
    /// How many threads work; no more than find something to do.
    pub fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => most_threads(cores()).min(threads.into()),
            None => cores().min(MOST_THREADS.into()),
        }
    }

    /// Which records of WARC files to read.
    pub fn kinds(&self) -> Kinds {
        self.archives.kinds()
    }

    /// The options about records that can do nothing to those of this format.
    pub fn idle(&self, format: &Format) -> impl Iterator<Item = &'static str> {
        self.filters.idle(format).into_iter().chain(self.archives.idle(format))
    }

    /// What was chosen beside the profile.
    pub(crate) fn choices(&self) -> ProfileChoices<'_> {
        ProfileChoices {
            allow: &self.allow,
            policy: &self.policy,
            ring: self.ring.as_ref(),
            transcode: self.transcode,
            base: self.base.as_deref(),
            assume_scheme: self.assume_scheme.as_deref(),
        }
    }

    /// The profile with what was chosen beside it, but for what takes files to be read.
    pub fn normalizer(&self) -> Result<Normalizer, String> {
        let normalizer = self.choices().turned(self.profile, Unsupported::Refused)?;
        Ok(normalizer.with_backend(self.backend))
    }

    /// Whether standard input is an input or the list of them, as far as arguments say.
    pub(crate) fn reads_standard_input(&self) -> bool {
        self.files.iter().any(|file| is_standard_input(file))
            || self.files_from.as_deref().map_or(self.files.is_empty(), is_standard_input)
    }
}

fn secrets(redact: bool) -> Secrets {
    if redact { Secrets::Masked } else { Secrets::Shown }
}
