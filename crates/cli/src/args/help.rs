//! The texts of `-h` and `--help` that several subcommands share, and the long lists in them.
//!
//! A paragraph is one line here, because clap wraps lines. Lines that begin with spaces are rows of a
//! table.

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ValueEnum};
use uniqurl::Profile;

// The headings, in the order of `--help`.
pub(crate) const COMMON: &str = "Common";
pub(crate) const INPUT: &str = "Input";
pub(crate) const FILTERS: &str = "Filters";
pub(crate) const RULES: &str = "Rules";
pub(crate) const OUTPUT: &str = "Output";
pub(crate) const INCREMENTAL: &str = "Incremental";
pub(crate) const RESOURCES: &str = "Resources";

/// Puts the examples, which are the text before the help, after the first sentence.
pub(crate) const TEMPLATE: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

/// The last line of `-h` if it leaves options out.
pub(crate) const MORE: &str = "--help lists all options, with examples and details.";

/// The end of `--help` for `dedup` and `normalize`.
pub(crate) const EXIT_STATUS: &str = "\
Exit status:
  0    The run is complete.
  1    The output is written, but an input was skipped (--keep-going).
  2    The run failed or the usage is wrong. No file of results is written.
  3    A limit stopped the run. No file of results is written.
  141  The reader of a pipe is gone.";

/// `-h` and `--help`, under the heading that clap gives to no option by itself.
pub(crate) fn help_flag() -> Arg {
    Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help_heading(COMMON)
        .help("Show the common options (-h), or all of them (--help)")
}

/// The help of `--transcode`.
pub(crate) const TRANSCODE: &str = "Convert triplets in this charset, such as latin1, to UTF-8";
/// The same in `--help`.
pub(crate) const TRANSCODE_LONG: &str = "\
Convert triplets in this charset, such as latin1, to UTF-8

LABEL is one of the Encoding Standard: latin1 (which is windows-1252 there), shift_jis, gbk, koi8-r. The \
conversion comes before the rules of the profile. It reads the octets between two delimiters: if they are \
UTF-8, they stay; if not, all of them are read in the charset. The profiles string, ia and whatwg do not \
support it.";

/// The help of `--format`.
pub(crate) const FORMAT: &str = "\
Read records of this format, such as combined or csv:COL

FORMAT says where the URL is in a record:
  auto             Detect the format of each input.
  lines            The URL is the whole line.
  target           The line is the target of an HTTP request.
  text             Every URL in free text, HTML, XML or a robots.txt is read.
  sitemap          Every <loc> of an XML sitemap is read.
  clf, combined, vhost
                   Access logs of Apache, nginx and others.
  log:'FORMAT'     Logs that a format string of Apache or nginx describes.
  w3c              Extended logs of IIS and others.
  elb, alb, cloudfront
                   Access logs of Amazon.
  haproxy          HTTP logs of HAProxy.
  ltsv             Logs of labels and values between tabs.
  ws:N             The URL is field N between white space, counted from 1.
  csv:COL, tsv:COL
                   The URL is in this column: a name in the header, or a number.
                   A file has no header if all columns are numbers. The columns of csv
                   may stand between commas, semicolons, tabs or bars.
  json:POINTER     Each line is a JSON value, and the pointer finds the URL: json:/url.
  NAME             A format that uniqurl formats lists, such as s3, envoy or traefik.
  cdx, cdxj        Indexes of web archives.
  warc             The target URLs of the records of a web archive.
  wat              The target URLs of the responses that a WAT file describes.
  wat:links        All links in a WAT file.
  arc              The URLs of an ARC file.
  parquet:COL, arrow:COL
                   The URL is in this column of a Parquet file, or of an Arrow file or
                   stream: a name (struct.field for a nested one), or a number.
  parquet, arrow   The same, for the column called url, or the only column of text.

csv, tsv, json, parquet and arrow also read a URL from parts, as in \
json:host=/request/host,target=/request/uri. The parts are scheme, host, and either target or path and \
query. The parts status, method, mime, time and agent serve the filters.

Inputs may be compressed with gzip, zstd, bzip2 or xz, whatever their names are.";

/// The help of `--allow`.
pub(crate) const ALLOW: &str = "\
Accept URLs that these checks of the profile reject (servlet, sanitize)

Codes are separated by commas. Only these profiles have checks:
  servlet   fragment, decode, no-leading-slash, leading-dot-dot, encoded-slash,
            dot-segment-parameter, encoded-dot-segment, empty-segment-before-dot-dot,
            empty-segment-parameter, backslash, control
  sanitize  encoded-unreserved, encoded-dot-segment, encoded-slash, encoded-backslash,
            nul, control, double-encoding, overlong-utf8, rare-ipv4, userinfo,
            well-known-port";

/// The help of `--with`.
pub(crate) const WITH: &str = "\
Turn on a switch of the profile, such as strip-tracking or sort-query

Separate several names by commas, or give the option several times. scheme, crawl and aggressive have \
these switches:
  sort-query            Sort the query parameters by name; equal names keep their order.
  strip-tracking        Drop utm_*, fbclid, gclid and the rest of the list in uniqurl.
  strip-session         Drop jsessionid, phpsessid, aspsessionid*, sid with 32
                        hexadecimal digits, and segments like (S(id)).
  strip-www             Drop www. from the host while two labels remain.
  fold-scheme           Write https as http if the URL has no port.
  strip-trailing-slash  Drop slashes at the end of the path, except for the root.
  strip-index           Drop index.html and similar names from the end of the path.
  squeeze-slashes       Drop empty segments of the path.
  blank-values          Drop the values of query parameters, and keep their names.
  squeeze-query         Drop an empty query and blank parameters (&& and =).
  drop-query            Drop the query.
  lower-path            Write the path in lower case, except for triplets.
  keep-fragment         Keep the fragment.
  keep-userinfo         Keep user name and password.

scheme turns on the last two and no other. crawl turns on none. aggressive turns on all but fold-scheme, \
blank-values and the last four. servlet has one switch, keep-empty-segments.";

/// The help of `--fields`.
pub(crate) const FIELDS: &str = "\
Write these columns for each key, separated by tabs, instead of the key

LIST names columns, separated by commas:
  canonical  The canonical URL.
  scheme, userinfo, host, port, path, query, fragment
             A part of the URL, empty if the URL has none.
  domain, surt, ssurt, hash
             The URL in the form of --key; domain is empty if the URL has no host.
  count      The number of records that have the key. --count is then an error.
  first      The place of the first of them (or the one that --keep names), as
             file:record:offset.
  original   The URL in that record. A backslash and bytes outside 0x20-0x7E are
             written as \\xHH.
  decoded    The decoded path of the profile servlet, written in the same way.";

/// The help of `--tally`.
pub(crate) const TALLY: &str = "\
Add up the responses of each key: status, bytes and time; implies --count

LIST names groups of columns, separated by commas. The columns come after the key, in this order:
  status  The number of records with a status of 1xx, 2xx, 3xx, 4xx and 5xx. --json
          names them status_1xx to status_5xx.
  bytes   The sum of the bytes sent.
  time    The median, the 99th percentile and the maximum of the time taken, in
          seconds: time_p50, time_p99 and time_max.

The percentiles are exact for keys with up to 16 times, and within 1 % of the exact ones for all others. \
Everything else is exact. A record without a number does not count in its column. A column without a \
number in any record is empty (null in JSON).";

/// The help of `--carry`.
pub(crate) const CARRY: &str = "\
Add these columns of the input to the output, after the key or --fields

The values come from the first record of a URL, or the one that --keep names. They are separated by tabs, \
and empty if the record has none. A backslash and bytes outside 0x20-0x7E are written as \\xHH. The format \
decides how a column is named:
  csv, tsv, parquet, arrow
         A name in the header, or a number counted from 1. Dates, times, numbers and
         booleans of parquet and arrow are written as text.
  cdx    A letter of the legend, or urlkey, timestamp, url, mime, status, digest,
         redirect, robotflags, length, offset, filename. Lines of 14 columns also have
         orig.length, orig.offset, orig.filename.
  json   A member of the object, or a pointer such as /a/b.
  cdxj   The same, or urlkey, timestamp.
  w3c, cloudfront
         A name in #Fields, or one of the next names.
  ltsv   A label, or one of the next names.
  access logs
         client, time, method, status, bytes, referrer, agent: those that the format has.
         A time is written as 2026-11-27T08:00:00Z. The presets of json have these names
         too; a member of the same name comes first.";

/// The help of `--keep`.
pub(crate) const KEEP: &str = "\
Choose the record that --carry and the columns first, original and decoded describe

  first    The first record of the URL. This is the default.
  last     The last one.
  max:COL  The one with the greatest value in a column, named as for --carry. If
           several have it, the first of them.

Two numbers are compared as numbers, and all other values by their bytes. An empty value or a dash is \
less than any other. URLs stay in the order of their first records.";

/// The help of an option with a few values, which get a line each.
///
/// `-h` has room for their names only, and clap can only hide them in both texts.
pub(crate) fn of_values<T: ValueEnum>(first_sentence: &str) -> String {
    let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let row = |value: PossibleValue| {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        format!("\n  {:10}  {help}", value.get_name())
    };
    format!("{first_sentence}\n{}", values.map(row).collect::<String>())
}

/// The help of an option that takes names of profiles.
///
/// `-h` has no room for them, and clap can only hide them in both texts.
pub(crate) fn of_profiles(first_sentence: &str, details: &str) -> String {
    let row = |profile: &Profile| format!("\n  {:10}  {}", profile.name(), profile.summary());
    let rows: String = Profile::ALL.iter().map(row).collect();
    format!("{first_sentence}\n\n{details}{rows}")
}
