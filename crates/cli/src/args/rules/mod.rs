//! The arguments that change the rules of a profile, which every subcommand that normalizes has.

mod apply;
pub mod import;

pub(crate) use apply::{Unsupported, read_text};

use std::cell::OnceCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{ArgPredicate, PossibleValue, TypedValueParser};

use crate::args::help::{self, COMMON, INPUT, RULES};
use crate::args::values::{ProfileParser, charset, checks, one_of, ring};
use crate::inputs::names::is_standard_input;
use uniqurl::uri::Charset;
use uniqurl::{Profile, Redirects, RejectReason, Ring, Switch};

/// The profile of all URLs.
#[derive(Debug, Args)]
pub struct ProfileArgs {
    /// Decide by this profile which URLs are the same
    #[arg(short, long, value_name = "NAME", default_value = "crawl", default_value_if("ring", ArgPredicate::IsPresent, "ring"), conflicts_with = "profile_file", value_parser = ProfileParser::new(), hide_possible_values = true, help_heading = COMMON, long_help = help::of_profiles(
            "Decide by this profile which URLs are the same",
            "The profiles:"
        ))]
    pub profile: Profile,
}

/// The options that change the rules of a profile.
#[derive(Debug, Args)]
#[command(next_help_heading = RULES)]
pub struct RulesArgs {
    /// Resolve relative URLs against URL, as in logs without hosts
    ///
    /// A log that names no hosts takes its host from URL.
    #[arg(long, value_name = "URL", help_heading = INPUT)]
    pub base: Option<OsString>,

    /// Read URLs without a scheme as if they began with this one
    ///
    /// Such URLs are example.com/x and //example.com/x.
    #[arg(long, value_name = "SCHEME", help_heading = INPUT)]
    pub assume_scheme: Option<OsString>,

    /// Accept URLs that these checks of the profile reject (servlet, sanitize)
    ///
    /// Codes are separated by commas. Only these profiles have checks:
    ///   servlet   fragment, decode, no-leading-slash, leading-dot-dot, encoded-slash,
    ///             dot-segment-parameter, encoded-dot-segment, empty-segment-before-dot-dot,
    ///             empty-segment-parameter, backslash, control
    ///   sanitize  encoded-unreserved, encoded-dot-segment, encoded-slash, encoded-backslash,
    ///             nul, control, double-encoding, overlong-utf8, rare-ipv4, userinfo,
    ///             well-known-port
    #[arg(
        verbatim_doc_comment,
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        value_parser = checks(),
        hide_possible_values = true
    )]
    pub allow: Vec<RejectReason>,

    /// Turn on these checks, which are off by default (sanitize)
    ///
    /// device-name: a segment that Windows takes for a device. bidi-control: a character that changes the
    /// direction of text. mixed-script-host: a label of several scripts. double-encoding-query: a triplet
    /// encoded once more, after the path.
    #[arg(
        long,
        value_name = "CODE,...",
        value_delimiter = ',',
        value_parser = checks(),
        hide_possible_values = true
    )]
    pub deny: Vec<RejectReason>,

    /// Turn on a switch of the profile, such as strip-tracking or sort-query
    ///
    /// NAME may be several names with commas between. scheme, crawl and aggressive have these
    /// switches:
    ///   sort-query            Sort the query parameters by name; equal names keep their order.
    ///   strip-tracking        Drop utm_*, fbclid, gclid and the rest of the list in uniqurl.
    ///   strip-session         Drop jsessionid, phpsessid, aspsessionid*, sid with 32
    ///                         hexadecimal digits, and segments like (S(id)).
    ///   strip-www             Drop www. from the host while two labels remain.
    ///   fold-scheme           Write https as http if the URL has no port.
    ///   strip-trailing-slash  Drop slashes at the end of the path, except for the root.
    ///   strip-index           Drop index.html and similar names from the end of the path.
    ///   squeeze-slashes       Drop empty segments of the path.
    ///   blank-values          Drop the values of query parameters, and keep their names.
    ///   squeeze-query         Drop an empty query and blank parameters (&& and =).
    ///   drop-query            Drop the query.
    ///   lower-path            Write the path in lower case, except for triplets.
    ///   keep-fragment         Keep the fragment.
    ///   keep-userinfo         Keep user name and password.
    ///
    /// scheme turns on the last two and no other. crawl turns on none. aggressive turns on all
    /// but fold-scheme, blank-values and the last four. servlet has one switch,
    /// keep-empty-segments.
    #[arg(
        verbatim_doc_comment,
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = switches(),
        hide_possible_values = true
    )]
    pub with: Vec<Switch>,

    /// Turn off a switch of the profile: a name that --with takes
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = switches(),
        hide_possible_values = true
    )]
    pub without: Vec<Switch>,

    /// Drop the query parameters whose names match GLOB
    ///
    /// In GLOB, * matches any bytes and ? any one byte. GLOB is one name; the option may be given several
    /// times. Triplets in a name are decoded before the match, and case counts. The option is for scheme,
    /// crawl and aggressive.
    #[arg(long, value_name = "GLOB", value_parser = parameter)]
    pub drop_param: Vec<String>,

    /// Drop all query parameters except those whose names match GLOB
    #[arg(long, value_name = "GLOB", value_parser = parameter)]
    pub keep_param: Vec<String>,

    /// Read the rules from a profile file, as uniqurl profiles NAME writes it
    ///
    /// FILE is TOML, or - for standard input. It names a built-in profile as its base, and the
    /// differences: switches, checks, parameters, default ports, and rules for single hosts. Options that
    /// it can replace do not combine with it.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["ring", "allow", "deny", "with", "without", "drop_param", "keep_param"]
    )]
    pub profile_file: Option<PathBuf>,

    /// Replace each URL in the first column of FILE by the URL in the second
    ///
    /// Each line holds two URLs with a tab between them. A URL is replaced by the end of its chain of
    /// redirects, and a cycle ends at its smallest member. - is standard input.
    #[arg(long, value_name = "FILE")]
    pub redirects: Option<PathBuf>,

    /// Decode and encode these bytes of a path, as in 'decode=2F,3A encode=21,24'
    ///
    /// Bytes are in hexadecimal, and either list may be left out. The lists can name these sixteen
    /// bytes, each in one list: : / [ ] @ ! $ & ' ( ) * + , ; = (a byte in neither list keeps its
    /// spelling). Commas, blanks and quotation marks may separate them, and the two @pparam strings
    /// of a rule for Apache Traffic Server replace the two lists. FILE holds a table of 256 numbers,
    /// as `uniqurl profiles NAME --as c` writes it. The option is for the profile ring, and selects it if no
    /// profile is named.
    #[arg(long, value_name = "LISTS|FILE", value_parser = ring)]
    pub ring: Option<Ring>,

    /// Convert triplets in this charset, such as latin1, to UTF-8
    ///
    /// LABEL is one of the Encoding Standard: latin1 (which is windows-1252 there), shift_jis,
    /// gbk, koi8-r. The conversion comes before the rules of the profile. It reads the octets
    /// between two delimiters: if they are UTF-8, they stay; if not, all of them are read in
    /// the charset. The profiles string, ia and whatwg do not support it.
    #[arg(verbatim_doc_comment, long, value_name = "LABEL", value_parser = charset)]
    pub transcode: Option<Charset>,

    /// The redirects, read once for all profiles, because a pipe can be read only once.
    #[arg(skip)]
    read: OnceCell<Result<Redirects, String>>,

    /// Most bytes of memory that it may take.
    #[arg(skip)]
    most: Option<usize>,
}

impl RulesArgs {
    /// Limits the memory of the redirects to what a run with this budget has for them.
    pub fn limit(&mut self, budget: u64) {
        let most = budget / 4 * 3;
        self.most = Some(usize::try_from(most).unwrap_or(usize::MAX));
    }

    /// The option whose file is standard input, if any.
    pub fn of_standard_input(&self) -> Option<&'static str> {
        self.files().find(|(_, file)| is_standard_input(file)).map(|(option, _)| option)
    }

    /// The files that are read before any input.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [("--redirects", &self.redirects), ("--profile-file", &self.profile_file)];
        files.into_iter().filter_map(|(option, file)| Some((option, file.as_deref()?)))
    }

    /// Rejects options that contradict each other.
    pub fn check(&self) -> Result<(), String> {
        if self.files().filter(|(_, file)| is_standard_input(file)).count() > 1 {
            return Err("standard input cannot be both --redirects and --profile-file".into());
        }
        // Nobody can tell which of the two was meant.
        match self.with.iter().find(|switch| self.without.contains(switch)) {
            Some(switch) => Err(format!("{} cannot be both on and off", switch.name())),
            None => Ok(()),
        }
    }
}

/// A pattern for names of parameters. One that reads as a list or a pair would fit none, without a word.
fn parameter(glob: &str) -> Result<String, &'static str> {
    if glob.contains([',', '|']) {
        Err("a comma or a bar does not separate names")
    } else if glob.contains('=') {
        Err("a name has no value")
    } else {
        Ok(glob.to_owned())
    }
}

fn switches() -> impl TypedValueParser<Value = Switch> {
    let value = |switch: &Switch| PossibleValue::new(switch.name()).help(switch.sentence());
    one_of(Switch::ALL.iter().map(value), |name| name.parse().ok())
}
