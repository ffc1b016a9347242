//! The options of `uniqurl dedup`.

mod check;
mod limit_by;

use crate::args::help::{self, INCREMENTAL, OUTPUT};
use crate::args::memory::MemoryArgs;
use crate::args::normalize::RecordForm;
use crate::args::{RunArgs, age, number, when_busy};
use clap::builder::{ArgPredicate, BoolishValueParser, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;
use uniqurl_engine::output::{Field, TallyColumns};
use uniqurl_engine::{Keep, LimitBy, SplitBy};
use uniqurl_store::seen::WhenBusy;
use uniqurl_text::is_control;

/// The help of `--redact` for a set, which has columns of the input too.
pub(crate) const REDACT: &str =
    "Mask userinfo, query values and fragments in --rejects, in the column original and in --carry";

/// `uniqurl dedup`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    // `mut_arg` moves an argument to the end, and the heading Resources goes where its first argument is.
    mut_arg("threads", |arg| arg),
    mut_arg("backend", |arg| arg),
    mut_arg("secrets", |arg| arg.help(REDACT)),
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Write each URL once, in the order of first occurrence
  uniqurl dedup urls.txt.gz more.txt -o unique.txt.zst

  # Read an access log whose lines name no host
  uniqurl dedup --format combined --base https://example.com access.log

  # Read a log that Apache wrote with this LogFormat
  uniqurl dedup --format 'log:%v %h %l %u %t \"%r\" %>s' vhost.log

  # Keep the requests to one domain with these statuses
  uniqurl dedup --format caddy --status 2xx,304 --host '*.example.com' access.json

  # Read the URL and the status from two columns
  uniqurl dedup --format csv:url=link,status=code --status 2xx export.csv

  # Read all log files of a directory, in any order
  find . -name '*.log' -print0 | uniqurl dedup --files-from -

  # Write the text pages of all indexes below a directory
  uniqurl dedup --mime 'text/*' -r indexes

  # Write all links of a web archive
  uniqurl dedup --format wat:links crawl.warc.wat.gz

  # Write the URLs that occur at least twice, each with its count
  uniqurl dedup --count --min-count 2 --order sorted urls.txt

  # Write the 20 most frequent URLs, each after its count
  uniqurl dedup --top 20 access.log

  # Write the status, bytes and time of the most frequent pages
  uniqurl dedup --key template --top 20 --tally status,bytes,time access.log

  # Write other columns than the URL
  uniqurl dedup --fields count,canonical,first access.log

  # Write the latest status and digest of each URL
  uniqurl dedup --carry status,digest --keep max:timestamp index.cdx

  # Treat more URLs as equal, but keep www.
  uniqurl dedup --profile aggressive --without strip-www urls.txt

  # Write one URL of each template, such as /user/{int}
  uniqurl dedup --limit-by template:1 urls.txt

  # Drop tracking parameters, and all parameters like ref
  uniqurl dedup --with sort-query,strip-tracking --drop-param 'ref*' urls.txt

  # Write the keys of a web archive's index
  uniqurl dedup --profile ia --key surt --order sorted urls.txt

  # Accept encoded slashes in the paths of a servlet container
  uniqurl dedup --profile servlet --allow encoded-slash access.log

  # Choose the bytes of a path that are decoded and encoded
  uniqurl dedup --ring 'decode=2F,3A encode=21,24' paths.txt

  # Write only URLs that no run before this one has written
  uniqurl dedup --save-seen seen today.txt -o new.txt

  # Write them again when they were written more than 30 days ago
  uniqurl dedup --save-seen seen --max-age 30d today.txt -o new.txt

  # Divide the URLs among 16 files, all URLs of a host in one file
  uniqurl dedup --split-by host:16 --split-suffix .zst urls.txt -o shards

  # Use at most 2 GiB of memory
  uniqurl dedup --memory 2G --temp-dir /var/tmp crawl-*.txt -o unique.txt

  # Write the rejected records, the accounting and a report beside the URLs
  uniqurl dedup --rejects bad.jsonl --stats stats.json --report report.html urls.txt -o unique.txt",
    after_help = help::MORE,
    after_long_help = help::EXIT_STATUS
)]
// A field for each option, so more than a dozen.
pub struct DedupArgs {
    /// The options that `dedup` and `normalize` share.
    #[command(flatten)]
    pub common: RunArgs,

    /// Write the URLs in this order: first, sorted or count
    #[arg(
        long,
        value_enum,
        default_value_t = OrderArg::First,
        default_value_if("top", ArgPredicate::IsPresent, "count"),
        hide_possible_values = true,
        help_heading = OUTPUT,
        long_help = help::of_values::<OrderArg>("Write the URLs in this order: first, sorted or count")
    )]
    pub order: OrderArg,

    /// Write the number of occurrences and a tab before each URL
    #[arg(
        long = "count",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(DedupColumns::from_flag),
        help_heading = OUTPUT
    )]
    pub columns: DedupColumns,

    /// Write these columns for each key, separated by tabs, instead of the key
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(fields()).map(field),
        conflicts_with = "columns",
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = OUTPUT,
        long_help = help::FIELDS
    )]
    pub fields: Vec<Field>,

    /// Add these columns of the input to the output, after the key or --fields
    #[arg(
        long,
        value_name = "COL,...",
        value_delimiter = ',',
        hide_short_help = true,
        help_heading = OUTPUT,
        long_help = help::CARRY
    )]
    pub carry: Vec<String>,

    /// Choose the record that --carry and the columns first, original and decoded describe
    #[arg(
        long,
        value_name = "first|last|max:COL",
        default_value = "first",
        hide_default_value = true,
        value_parser = keep,
        hide_short_help = true,
        help_heading = OUTPUT,
        long_help = help::KEEP
    )]
    pub keep: Keep,

    /// Write a JSON object for each key, with the names of --fields and --carry
    ///
    /// Without --fields the object holds the key. count is a number, and any other value is a string.
    /// A string that is not UTF-8 is in base64, and its name ends in _base64. A value that the record
    /// does not have is null.
    #[arg(
        long = "json",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(RecordForm::from_flag),
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub form: RecordForm,

    /// Divide the URLs among N files (1 to 4096) in the directory that --output names
    ///
    /// host:N puts all URLs of a host into one file, and all URLs without a host into one. domain:N
    /// does so with all hosts of a registrable domain. hash:N divides evenly. The N files are called
    /// shard-00000, shard-00001 and so on, and each is in the order of --order. Every run puts a URL
    /// into the same file: it takes the SHA-256 of the host, of the domain, or with hash:N of the whole
    /// key as it is written, reads the first 8 bytes as a number with the highest byte first, and
    /// divides it by N; the remainder is the number of the file. The directory must be new or empty. It
    /// appears when all files are complete, or not at all.
    #[arg(
        long,
        value_name = "host:N|domain:N|hash:N",
        value_parser = split_by,
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub split_by: Option<(SplitBy, u32)>,

    /// End the names of these files in SUFFIX; .gz and .zst compress, .csv, .parquet and .arrow make tables
    ///
    /// A table is made of its lines when all inputs are read. Until then the lines are in a temporary
    /// directory beside the one that --output names.
    #[arg(
        long,
        value_name = "SUFFIX",
        requires = "split_by",
        value_parser = suffix,
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub split_suffix: Option<String>,

    /// Write only URLs that occur at least N times
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        hide_default_value = true,
        value_parser = number(1u64..),
        allow_negative_numbers = true,
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub min_count: u64,

    /// Write at most N URLs
    #[arg(
        long,
        value_name = "N",
        value_parser = number(0u64..),
        allow_negative_numbers = true,
        help_heading = OUTPUT
    )]
    pub limit: Option<u64>,

    /// Write the N most frequent URLs, short for --order count --limit N
    #[arg(
        long,
        value_name = "N",
        value_parser = number(0u64..),
        allow_negative_numbers = true,
        conflicts_with = "limit",
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub top: Option<u64>,

    /// Add up the responses of each key: status, bytes and time; implies --count
    #[arg(
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        conflicts_with_all = ["fields", "carry"],
        hide_possible_values = true,
        hide_short_help = true,
        help_heading = OUTPUT,
        long_help = help::TALLY
    )]
    pub tally: Vec<TallyArg>,

    /// Keep only the first N URLs of each template, domain, host or path
    ///
    /// The first ones are those that occur first, under every --order. URLs of --seen do not count, and
    /// --min-count and --limit choose from the URLs that are kept. Once a group has N URLs, all records
    /// of its other URLs count as filtered. If the URLs to keep of a group do not fit into --memory, the run
    /// ends with status 3.
    ///
    /// template:N groups URLs that differ only in numbers, dates, identifiers and the values of the
    /// query. domain:N groups URLs of a registrable domain, and host:N those of a host, whatever their
    /// port; all URLs without a host are one group. path:N groups URLs that differ only in query and
    /// fragment. template and path need --key url, and host and domain a key that keeps them.
    #[arg(
        long,
        value_name = "GROUP:N",
        value_parser = limit_by::limit_by,
        hide_short_help = true,
        help_heading = OUTPUT
    )]
    pub limit_by: Option<LimitBy>,

    /// Write only URLs that are not in PATH, a seen store or a list of URLs
    ///
    /// The option may be given several times. A store is a directory that --save-seen or `uniqurl seen
    /// add` made; its profile, switches, lists and key must be those of this run. A file is a list of
    /// URLs, one a line. They are brought into canonical form first, and a list without a single URL is
    /// an error. A list may be compressed, an empty file is an empty list, and - is standard input. A
    /// record whose URL is in PATH counts as seen, and so does each repetition of it.
    #[arg(long, value_name = "PATH", help_heading = INCREMENTAL)]
    pub seen: Vec<PathBuf>,

    /// Write only URLs that are not in STORE, and add them to it
    ///
    /// STORE is a directory, which is made if nothing has the name. It gets the keys that this run
    /// writes, after all outputs are complete: a run that fails, or whose reader is gone, adds none. The
    /// option implies --seen STORE.
    #[arg(long, value_name = "STORE", help_heading = INCREMENTAL)]
    pub save_seen: Option<PathBuf>,

    /// Take keys for new that stores got longer ago than this, such as 12h, 30d or 2w
    ///
    /// AGE is a number of seconds (s), minutes (m), hours (h), days (d) or weeks (w). With --save-seen
    /// such keys are added again when they are written.
    #[arg(
        long,
        value_name = "AGE",
        value_parser = age,
        hide_short_help = true,
        help_heading = INCREMENTAL
    )]
    pub max_age: Option<u64>,

    /// Wait while another process writes to the store of --save-seen
    ///
    /// Without this option the run fails then, before it reads its inputs.
    #[arg(
        long = "wait",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(when_busy),
        requires = "save_seen",
        hide_short_help = true,
        help_heading = INCREMENTAL
    )]
    pub when_busy: WhenBusy,

    /// The memory to use.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// The order of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// In order of first occurrence, for any number of threads
    First,
    /// In order of their bytes
    Sorted,
    /// By count, the most frequent first, and then in order of their bytes; implies --count
    Count,
}

/// Columns of `--tally`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TallyArg {
    /// The number of records with each class of status.
    Status,
    /// The sum of bytes.
    Bytes,
    /// The median, the 99th percentile and the maximum of durations.
    Time,
}

impl DedupArgs {
    /// The columns of `--tally`.
    pub fn tally_columns(&self) -> TallyColumns {
        let has = |column| self.tally.contains(&column);
        TallyColumns {
            status: has(TallyArg::Status),
            bytes: has(TallyArg::Bytes),
            time: has(TallyArg::Time),
        }
    }

    /// Whether a count is written before each URL.
    pub fn writes_counts(&self) -> bool {
        let is_implied = self.order == OrderArg::Count && self.fields.is_empty();
        is_implied || !self.tally.is_empty() || self.columns == DedupColumns::CountAndUrl
    }
}

/// The columns of a line of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupColumns {
    /// The URL.
    Url,
    /// How often it occurs, a tab, the URL.
    CountAndUrl,
}

impl DedupColumns {
    fn from_flag(count: bool) -> Self {
        if count { DedupColumns::CountAndUrl } else { DedupColumns::Url }
    }
}

/// As many files as most systems let a process have open.
const MOST_SHARDS: u32 = 4096;

fn split_by(text: &str) -> Result<(SplitBy, u32), String> {
    let (by, shards) = text.split_once(':').unwrap_or((text, ""));
    let by = match by {
        "host" => SplitBy::Host,
        "domain" => SplitBy::Domain,
        "hash" => SplitBy::Hash,
        _ => return Err("expected host:N, domain:N or hash:N".into()),
    };
    match shards.parse() {
        Ok(shards) if (1..=MOST_SHARDS).contains(&shards) && !text.contains('+') => {
            Ok((by, shards))
        }
        _ => Err(format!("N is a number from 1 to {MOST_SHARDS}")),
    }
}

fn keep(text: &str) -> Result<Keep, &'static str> {
    match (text, text.strip_prefix("max:")) {
        ("first", _) => Ok(Keep::First),
        ("last", _) => Ok(Keep::Last),
        (_, Some(column)) if !column.is_empty() => Ok(Keep::Max(column.to_owned())),
        _ => Err("neither first, last nor max:COL"),
    }
}

fn suffix(text: &str) -> Result<String, &'static str> {
    if text.contains('/') {
        Err("a name has no slash in it")
    } else if text.contains(is_control) {
        Err("a name has no control characters in it")
    } else {
        Ok(text.to_owned())
    }
}

fn fields() -> Vec<&'static str> {
    Field::ALL.iter().map(|field| field.name()).collect()
}

fn field(name: String) -> Field {
    Field::named(&name).expect("only names of columns are accepted")
}
