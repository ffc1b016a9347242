//! The options of `uniqurl dedup`.

mod check;

use crate::args::memory::MemoryArgs;
use crate::args::normalize::RecordForm;
use crate::args::{INPUT, OUTPUT, RunArgs, number};
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, ValueEnum};
use std::path::PathBuf;
use uniqurl_engine::output::Field;
use uniqurl_engine::{Keep, SplitBy};

/// What `--redact` does to a set, which has columns of the input too.
pub(crate) const REDACT_HELP: &str = "Mask userinfo, values of queries and fragments in --rejects, \
                                      in the column original and in those of --carry";

/// `uniqurl dedup`
// A field for each option, so more than a dozen.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  uniqurl dedup urls.txt more.txt -o unique.txt
  uniqurl dedup --format combined --base https://example.com access.log
  uniqurl dedup --format 'log:%v %h %l %u %t \"%r\" %>s' access.log
  uniqurl dedup --format csv:url=link,status=code --status 2xx export.csv
  uniqurl dedup --format json:caddy --status 2xx,304 --host '*.example.com' access.json
  uniqurl dedup --mime 'text/*' -r indexes
  find . -name '*.log' -print0 | uniqurl dedup --files-from - --order none
  uniqurl dedup urls.txt.gz -o unique.txt.zst
  uniqurl dedup --format wat:links crawl.warc.wat.gz
  uniqurl dedup --count --min-count 2 --order sorted urls.txt
  uniqurl dedup --memory 2G --temp-dir /var/tmp crawl-*.txt -o unique.txt
  uniqurl dedup --profile aggressive --without strip-www urls.txt
  uniqurl dedup --with sort-query,strip-tracking --drop-param 'ref*' urls.txt
  uniqurl dedup --profile ia --key surt --order sorted urls.txt
  uniqurl dedup --seen seen.zst --save-seen seen.zst today.txt -o new.txt
  uniqurl dedup --split-by host:16 --split-suffix .zst urls.txt -o shards
  uniqurl dedup --fields count,canonical,first access.log
  uniqurl dedup --carry status,digest --keep max:timestamp index.cdx
  uniqurl dedup --report report.html urls.txt -o unique.txt
  uniqurl dedup --profile syntax --rejects bad.jsonl --stats stats.json urls.txt
  uniqurl dedup --profile servlet --allow encoded-slash access.log
  uniqurl dedup --ring 'decode=2F,3A encode=21,24' paths.txt

Exit status: 0 complete; 1 written, but an input was skipped (--keep-going); 2 failed or wrong
usage, no file of results written; 3 stopped by a limit, no file of results written; 141 the reader
of a pipe is gone.")]
// A field for each option, so more than a dozen.
pub struct DedupArgs {
    /// The options that both subcommands have.
    #[command(flatten)]
    pub common: RunArgs,

    /// In which order to write the URLs
    #[arg(long, value_enum, default_value_t = OrderArg::First, help_heading = OUTPUT)]
    pub order: OrderArg,

    /// Write how often each URL occurs before it: the count, a tab, the URL
    #[arg(
        long = "count",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(DedupColumns::from_flag),
        help_heading = OUTPUT
    )]
    pub columns: DedupColumns,

    /// Write these columns of each key instead of the key, between tabs
    ///
    /// canonical: the URL. scheme, host, path, query: its parts, empty where it has none. surt,
    /// ssurt, hash: as for --key. count: how many records have the key. first: where the first of
    /// them is (or the one that --keep names), as file:record:offset. original: the URL as that record
    /// has it, with bytes outside 0x20-0x7E and the backslash as \xHH. decoded: the decoded path of the
    /// profile servlet, likewise. Not with --count, which is the column count here.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(fields()).map(field),
        conflicts_with = "columns",
        hide_possible_values = true,
        help_heading = OUTPUT,
        help = "Write these columns of each key instead of the key, between tabs: canonical, scheme, \
                host, path, query, surt, ssurt, hash, count, first, original, decoded"
    )]
    pub fields: Vec<Field>,

    /// Write these columns of the input behind the key or --fields, as they stand in the first record
    ///
    /// Between tabs, with bytes outside 0x20-0x7E and the backslash as \xHH; empty where the record has
    /// none. A column is a name in the header, or a number counted from 1 (csv, tsv, parquet, arrow); a
    /// letter of the legend, or urlkey, timestamp, url, mime, status, digest, redirect, robotflags,
    /// length, offset, filename, and of 14 columns orig.length, orig.offset, orig.filename (cdx); a member
    /// of the object, or a pointer as /a/b (json, cdxj, which also has urlkey and timestamp); a name in
    /// #Fields (w3c, cloudfront). Of parquet and arrow, dates, times, numbers and booleans are written as
    /// text. --keep names another record than the first.
    #[arg(
        long,
        value_name = "COL,...",
        value_delimiter = ',',
        help_heading = OUTPUT,
        help = "Write these columns of the input behind the key or --fields, as they stand in the first \
                record, or the one that --keep names: of csv, tsv, json, cdx, cdxj, w3c, cloudfront, \
                parquet and arrow"
    )]
    pub carry: Vec<String>,

    /// Which record of a URL --carry and the columns first, original and decoded tell of
    ///
    /// first: the first one. last: the last one. max:COL: the one with the greatest value in a column, as
    /// --carry names it; of several the first. Two numbers are compared as numbers, anything else by its
    /// bytes; nothing, or a dash, is less than any value. URLs stay in the order of their first records.
    #[arg(
        long,
        value_name = "first|last|max:COL",
        default_value = "first",
        hide_default_value = true,
        value_parser = keep,
        help_heading = OUTPUT,
        help = "Which record of a URL --carry and the columns first, original and decoded tell of: the \
                first one, the last one, or the one with the greatest value in a column"
    )]
    pub keep: Keep,

    /// Write an object of JSON for each key, with the names of --fields and --carry
    ///
    /// Without --fields it holds the key. count is a number, anything else a string; where that is no
    /// UTF-8, it is in base64 and its name ends in _base64. What the record has not is null.
    #[arg(
        long = "json",
        action = ArgAction::SetTrue,
        value_parser = BoolishValueParser::new().map(RecordForm::from_flag),
        help_heading = OUTPUT,
        help = "Write an object of JSON for each key, with the names of --fields and --carry"
    )]
    pub form: RecordForm,

    /// Divide the URLs among N files in the directory that --output names: host:N or hash:N
    ///
    /// host:N keeps all URLs of a host in one file, and all without a host; hash:N divides evenly. N is
    /// 1 to 4096. The files are shard-00000, shard-00001, ..., N of them, each in the order of --order. A
    /// URL is in the same one in every run: the first 8 bytes of the SHA-256 of its host, or of all that
    /// is written as its key, as a number with the highest byte first, modulo N. The directory must be new
    /// or empty; it appears when all files are complete, or not at all.
    #[arg(
        long,
        value_name = "host:N|hash:N",
        value_parser = split_by,
        help_heading = OUTPUT,
        help = "Divide the URLs among N files (1 to 4096) in the directory that --output names, by host \
                or evenly"
    )]
    pub split_by: Option<(SplitBy, u32)>,

    /// What the names of these files end in, as in .txt or .zst; .gz and .zst compress
    #[arg(long, value_name = "SUFFIX", requires = "split_by", value_parser = suffix, help_heading = OUTPUT)]
    pub split_suffix: Option<String>,

    /// Write only the URLs that occur at least N times
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
        long,
        value_name = "N",
        value_parser = number(0u64..),
        allow_negative_numbers = true,
        help_heading = OUTPUT
    )]
    pub limit: Option<u64>,

    /// Write only URLs that are not in FILE: a set that --save-seen kept, or a list of URLs
    ///
    /// May be given several times. A saved set must have been made under the same profile, switches,
    /// lists and key. Any other file is a list of URLs, one a line, which are brought into canonical
    /// form first; a list without a single URL is refused. FILE may be compressed, an empty one is an
    /// empty set, and - is standard input. A record whose URL is in FILE is counted as seen, however
    /// often it comes.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = INPUT,
        help = "Write only URLs that are not in FILE: a set that --save-seen kept, or a list of \
                URLs; may be given several times"
    )]
    pub seen: Vec<PathBuf>,

    /// Keep all keys of --seen and of this run in FILE, for the --seen of a later run
    ///
    /// FILE is written whole or not at all, after all other outputs, and compressed if it ends in .gz or
    /// .zst. It may be one of --seen. It holds a line about profile, switches, lists and key, and then
    /// the keys, sorted by their bytes. Not with --limit and --min-count, which leave URLs out that a
    /// later run should write.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["limit", "min_count"],
        help_heading = OUTPUT,
        help = "Keep all keys of --seen and of this run in FILE, for the --seen of a later run"
    )]
    pub save_seen: Option<PathBuf>,

    /// How much it may hold.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

/// In which order a set is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OrderArg {
    /// By first occurrence, whatever the number of threads
    First,
    /// By their bytes
    Sorted,
    /// Whatever is fastest
    None,
}

/// What a line of a set holds.
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
        "hash" => SplitBy::Hash,
        _ => return Err("neither host:N nor hash:N".into()),
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
    if text.contains(['/', '\0']) { Err("a name has no slash in it") } else { Ok(text.to_owned()) }
}

fn fields() -> Vec<&'static str> {
    Field::ALL.iter().map(|field| field.name()).collect()
}

fn field(name: String) -> Field {
    Field::named(&name).expect("only names of columns are accepted")
}
