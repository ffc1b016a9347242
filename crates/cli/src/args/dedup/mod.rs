//! The options of `uniqurl dedup`.

mod check;

use crate::args::help::{self, INCREMENTAL, OUTPUT};
use crate::args::memory::MemoryArgs;
use crate::args::run_args::RunArgs;
use crate::args::values::{age, number, one_of};
use clap::builder::ArgPredicate;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use uniqurl_engine::output::{Field, TallyColumns};
use uniqurl_engine::{Group, Keep, LimitBy, SplitBy};
use uniqurl_text::is_control;

/// The help of `--redact` for a set, which has columns of the input too.
pub(crate) const REDACT: &str =
    "Mask userinfo, query values and fragments in --rejects, original and --carry";

/// `uniqurl dedup`
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    arg = help::help_flag(),
    // `mut_arg` moves an argument to the end, and the heading Resources goes where its first argument is.
    mut_arg("threads", |arg| arg),
    mut_arg("backend", |arg| arg),
    mut_arg("redact", |arg| arg.help(REDACT)),
    help_template = help::TEMPLATE,
    before_long_help = "\
Examples:
  # Write each URL once, in the order of first occurrence
  uniqurl dedup urls.txt.gz more.txt -o unique.txt.zst

  # Read an access log whose lines name no host
  uniqurl dedup --format combined --base https://example.com access.log

  # Write the URLs that occur at least twice, each with its count
  uniqurl dedup --count --min-count 2 --order sorted urls.txt

  # Write the status, bytes and time of the most frequent pages
  uniqurl dedup --key template --top 20 --tally status,bytes,time access.log

  # Treat more URLs as equal, but keep www.
  uniqurl dedup --profile aggressive --without strip-www urls.txt

  # Drop tracking parameters, and all parameters like ref
  uniqurl dedup --with sort-query,strip-tracking --drop-param 'ref*' urls.txt

  # Write only URLs that no run before this one has written
  uniqurl dedup --save-seen seen today.txt -o new.txt

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
        long_help = help::of_values::<OrderArg>("Write the URLs in this order: first, sorted or count"),
        help_heading = OUTPUT
    )]
    pub order: OrderArg,

    /// Write the number of occurrences and a tab before each URL
    #[arg(short, long, help_heading = OUTPUT)]
    pub count: bool,

    /// Write these columns for each key, separated by tabs, instead of the key
    ///
    /// LIST names columns, separated by commas:
    ///   canonical  The canonical URL.
    ///   scheme, userinfo, host, port, path, query, fragment
    ///              A part of the URL, empty if the URL has none.
    ///   domain, surt, ssurt, hash
    ///              The URL in the form of --key; domain is empty if the URL has no host.
    ///   count      The number of records that have the key. --count is then an error.
    ///   first      The place of the first of them (or the one that --keep names), as
    ///              file:record:offset.
    ///   original   The URL in that record. A backslash and bytes outside 0x20-0x7E are
    ///              written as \xHH.
    ///   decoded    The decoded path of the profile servlet, written in the same way.
    #[arg(
        verbatim_doc_comment,
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = one_of(Field::ALL.iter().map(|field| field.name()), Field::named),
        conflicts_with = "count",
        hide_possible_values = true,
        help_heading = OUTPUT
    )]
    pub fields: Vec<Field>,

    /// Add these columns of the input to the output, after the key or --fields
    ///
    /// The values come from the first record of a URL, or the one that --keep names. A
    /// backslash and bytes outside 0x20-0x7E are written as \xHH. The format decides how a
    /// column is named:
    ///   csv, tsv, parquet, arrow
    ///          A name in the header, or a number counted from 1.
    ///   cdx    A letter of the legend, or a name such as timestamp, mime, status or digest.
    ///   json, cdxj
    ///          A member of the object, or a pointer such as /a/b.
    ///   w3c, cloudfront, ltsv
    ///          A name in #Fields, a label, or one of the next names.
    ///   logs   client, time, method, status, bytes, referrer, agent: those that the format has.
    #[arg(
        verbatim_doc_comment,
        long,
        value_name = "COL,...",
        value_delimiter = ',',
        help_heading = OUTPUT
    )]
    pub carry: Vec<String>,

    /// Choose the record that --carry and the columns first, original and decoded describe
    ///
    ///   first    The first record of the URL. This is the default.
    ///   last     The last one.
    ///   max:COL  The one with the greatest value in a column, named as for --carry. If
    ///            several have it, the first of them.
    ///
    /// Numbers are compared by their value, other values by their bytes, and a number is more than
    /// those. An empty value or a dash is less than any other. URLs stay in the order of their first
    /// records.
    #[arg(
        verbatim_doc_comment,
        long,
        value_name = "first|last|max:COL",
        default_value = "first",
        hide_default_value = true,
        value_parser = keep,
        help_heading = OUTPUT
    )]
    pub keep: Keep,

    /// Write a JSON object for each key, with the names of --fields and --carry
    ///
    /// A string that is not UTF-8 is in base64, and its name ends in _base64. A value that the record does
    /// not have is null.
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,

    /// Write whole records as they came, one for each key, instead of the keys
    ///
    /// The records come in the order of the inputs: lines of a list or log, objects of JSON, rows of CSV, whose
    /// header is written once. --keep chooses which record of a key it is. Inputs are read twice; standard
    /// input is copied to a temporary file for that.
    #[arg(long, conflicts_with_all = ["fields", "carry", "json", "count", "tally", "top"], help_heading = OUTPUT)]
    pub whole: bool,

    /// Write the records that --whole leaves out to FILE
    ///
    /// These are the duplicates, the records of URLs that were seen before, and the filtered ones. Rejected
    /// records go to --rejects.
    #[arg(long, value_name = "FILE", requires = "whole", help_heading = OUTPUT)]
    pub dropped: Option<PathBuf>,

    /// Divide the URLs among N files (1 to 4096) in the directory that --output names
    ///
    /// host:N puts all URLs of a host into one file, and all URLs without a host into one. domain:N
    /// does so with all hosts of a registrable domain. hash:N divides evenly. The files are called
    /// shard-00000 and so on, and every run puts a URL into the same one. The directory must be new or
    /// empty. It appears when all files are complete, or not at all.
    #[arg(
        long,
        value_name = "host:N|domain:N|hash:N",
        value_parser = split_by,
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
        help_heading = OUTPUT
    )]
    pub split_suffix: Option<String>,

    /// Write {slug} in templates where a segment has more than N values
    ///
    /// Values are counted under the same parent of a host: the text of a segment without extensions and parameters, if it
    /// has letters or digits besides variables. Templates that become equal are one, with the records of all. It is
    /// decided when all inputs are read, so neither their order nor --threads matters, and the templates have to fit
    /// into --memory. Paths of --routes stay as they are.
    #[arg(
        long,
        value_name = "N",
        value_parser = number(1u64..),
        allow_negative_numbers = true,
        help_heading = OUTPUT
    )]
    pub slugs: Option<u64>,

    /// Write only URLs that occur at least N times
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        hide_default_value = true,
        value_parser = number(1u64..),
        allow_negative_numbers = true,
        help_heading = OUTPUT
    )]
    pub min_count: u64,

    /// Write at most N URLs
    #[arg(
        short = 'n',
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
        help_heading = OUTPUT
    )]
    pub top: Option<u64>,

    /// Add up the responses of each key: status, errors, bytes, time; implies --count
    ///
    /// LIST names groups of columns, separated by commas. The columns come after the key, in
    /// this order:
    ///   status  The number of records with a status of 1xx, 2xx, 3xx, 4xx and 5xx. --json
    ///           names them status_1xx to status_5xx.
    ///   errors  The share of records with a status of 4xx or 5xx, from 0 to 1.
    ///   bytes   The sum of the bytes sent.
    ///   time    The median, the 99th percentile and the maximum of the time taken, in
    ///           seconds: time_p50, time_p99 and time_max.
    ///
    /// The percentiles are within 1 % of the exact ones. A record without a number does not
    /// count in its column.
    #[arg(
        verbatim_doc_comment,
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        conflicts_with_all = ["fields", "carry"],
        hide_possible_values = true,
        help_heading = OUTPUT
    )]
    pub tally: Vec<TallyArg>,

    /// Keep only the first N URLs of each template, domain, host or path
    ///
    /// The first ones are those that occur first, under every --order. URLs of --seen do not count. All
    /// records of other URLs count as filtered. template:N groups URLs that differ only in numbers, dates,
    /// identifiers and the values of the query, path:N those that differ only in query and fragment,
    /// domain:N and host:N those of a registrable domain or a host.
    #[arg(long, value_name = "GROUP:N", value_parser = limit_by, help_heading = OUTPUT)]
    pub limit_by: Option<LimitBy>,

    /// Write only URLs that are not in PATH, a seen store or a list of URLs
    ///
    /// The option may be given several times. A store is a directory that --save-seen or `uniqurl seen
    /// add` made; its rules and its key must be those of this run. A list holds one URL a line, which are
    /// brought into canonical form first, and - is standard input. A record whose URL is in PATH counts as
    /// seen.
    #[arg(long, value_name = "PATH", help_heading = INCREMENTAL)]
    pub seen: Vec<PathBuf>,

    /// Write only URLs that are not in STORE, and add them to it
    ///
    /// STORE is a directory, which is made if nothing has the name. It gets the keys that this run
    /// writes, after all outputs are complete: a run that fails, or whose reader is gone, adds none. The
    /// option implies --seen STORE.
    #[arg(long, value_name = "STORE", help_heading = INCREMENTAL)]
    pub save_seen: Option<PathBuf>,

    /// Treat keys older than this as new, such as 12h, 30d or 2w
    ///
    /// With --save-seen such keys are added again when they are written.
    #[arg(long, value_name = "AGE", value_parser = age, help_heading = INCREMENTAL)]
    pub max_age: Option<u64>,

    /// Wait while another process writes to the store of --save-seen
    ///
    /// Without this option the run fails then, before it reads its inputs.
    #[arg(long, requires = "save_seen", help_heading = INCREMENTAL)]
    pub wait: bool,

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
    /// The share of records with a status of 4xx or 5xx.
    Errors,
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
            errors: has(TallyArg::Errors),
            bytes: has(TallyArg::Bytes),
            time: has(TallyArg::Time),
        }
    }

    /// Whether a count is written before each URL.
    pub fn writes_counts(&self) -> bool {
        // With --fields, the columns are those that are named.
        let is_implied = self.order == OrderArg::Count && self.fields.is_empty();
        is_implied || !self.tally.is_empty() || self.count
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
        // `parse` would take a plus sign.
        Ok(shards) if (1..=MOST_SHARDS).contains(&shards) && !text.contains('+') => {
            Ok((by, shards))
        }
        _ => Err(format!("N is a number from 1 to {MOST_SHARDS}")),
    }
}

/// Reads `GROUP:N`.
fn limit_by(text: &str) -> Result<LimitBy, String> {
    let (name, most) = text.split_once(':').unwrap_or((text, ""));
    let group = Group::ALL.into_iter().find(|group| group.name() == name);
    let group = group.ok_or("expected template:N, domain:N, domain-icann:N, host:N or path:N")?;
    let most = number(1u64..)(most).map_err(|error| format!("N is {error}"))?;
    Ok(LimitBy { group, most })
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
    // A slash would lead out of the directory.
    if text.contains('/') {
        Err("a name has no slash in it")
    } else if text.contains(is_control) {
        // They would be in the names of the shards, which other programs print.
        Err("a name has no control characters in it")
    } else {
        Ok(text.to_owned())
    }
}
