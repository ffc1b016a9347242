//! The arguments that choose records and URLs, and limit how many may be rejected.

use clap::Args;

use crate::args::help::{FILTERS, INPUT};
use uniqurl::Normalizer;
use uniqurl_engine::{BadUrlFilter, MaxRejected, UrlFilter};
use uniqurl_formats::record::{BadFilter, Filter, Format};

/// The records and URLs to keep.
#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Keep only records with these statuses, such as 200,304 or 2xx
    ///
    /// These formats have a status: access logs, w3c, elb, alb, cloudfront, haproxy, varnishlog, cdx,
    /// cdxj, the presets of json, and csv, tsv, json, parquet and arrow with a part status=.
    #[arg(
        long,
        value_name = "LIST",
        value_parser = status,
        hide_short_help = true,
        help_heading = FILTERS
    )]
    pub status: Vec<String>,

    /// Keep only records with these methods, such as GET,HEAD; case counts
    #[arg(
        long,
        value_name = "LIST",
        value_parser = method,
        hide_short_help = true,
        help_heading = FILTERS
    )]
    pub method: Vec<String>,

    /// Keep only records of these media types, such as text/html or text/*
    #[arg(
        long,
        value_name = "LIST",
        value_parser = mime,
        hide_short_help = true,
        help_heading = FILTERS
    )]
    pub mime: Vec<String>,

    /// Keep only canonical URLs with these schemes, such as http,https
    #[arg(
        long,
        value_name = "LIST",
        value_parser = schemes,
        hide_short_help = true,
        help_heading = FILTERS
    )]
    pub schemes: Vec<String>,

    /// Keep only canonical URLs whose host matches, such as '*.example.com'
    ///
    /// In GLOB, * matches any bytes and also dots, ? matches any one byte, {a,b} matches either, and
    /// an IPv6 address is in brackets. '*.example.com' does not match example.com itself, but
    /// '{*.example.com,example.com}' does. A block of addresses, such as 10.0.0.0/8 or 2001:db8::/32,
    /// matches the addresses in it by their value. The option may be given several times, and one match is
    /// enough. A request target without a host is dropped.
    #[arg(long, value_name = "GLOB|BLOCK", value_parser = host, help_heading = FILTERS)]
    pub host: Vec<String>,

    /// Drop canonical URLs whose host matches
    ///
    /// GLOB and BLOCK are as for --host. The option may be given several times, and one match is
    /// enough. A URL without a host is kept.
    #[arg(
        long,
        value_name = "GLOB|BLOCK",
        value_parser = host,
        hide_short_help = true,
        help_heading = FILTERS
    )]
    pub not_host: Vec<String>,

    /// Keep only canonical URLs that this regular expression matches
    ///
    /// The match may be anywhere in the URL. (?i) at the start ignores case. The option may be given
    /// several times, and one match is enough.
    #[arg(long = "match", value_name = "REGEX", value_parser = pattern, help_heading = FILTERS)]
    pub patterns: Vec<String>,

    /// Drop canonical URLs that this regular expression matches
    ///
    /// The option may be given several times, and one match is enough, even if --match matches too.
    #[arg(
        long = "not-match",
        value_name = "REGEX",
        value_parser = pattern,
        hide_short_help = true,
        help_heading = FILTERS
    )]
    pub unwanted: Vec<String>,

    /// Stop with status 3 if more than N records, or P% of them, are rejected
    ///
    /// A number stops the run at the first record too many, and the message names that record. The
    /// accounting also counts the records that were read with it. A percentage is checked at the
    /// end. In both cases no file is written, but standard output or a pipe keeps the URLs that it
    /// already has. Without this option, a dedup stops if all records are rejected; 100% allows that.
    #[arg(
        long,
        value_name = "N|P%",
        value_parser = max_rejected,
        allow_negative_numbers = true,
        hide_short_help = true,
        help_heading = INPUT
    )]
    pub max_rejected: Option<MaxRejected>,
}

impl FilterArgs {
    /// The filter for records.
    pub fn records(&self) -> Filter {
        let mut filter = Filter::default();
        // Parsing cannot fail here: the lists were checked before.
        self.status.iter().for_each(|list| drop(filter.status(list)));
        self.method.iter().for_each(|list| drop(filter.method(list)));
        self.mime.iter().for_each(|list| drop(filter.mime(list)));
        filter
    }

    /// The filter for URLs that are canonical under the normalizer.
    pub fn urls(&self, normalizer: &Normalizer) -> UrlFilter {
        let mut wanted = UrlFilter::default();
        self.schemes.iter().for_each(|list| drop(wanted.schemes(list)));
        self.host.iter().for_each(|glob| drop(wanted.host(glob)));
        self.not_host.iter().for_each(|glob| drop(wanted.unwanted_host(glob)));
        // Hosts may be given as they are spelled in the input, with a final full stop. Keep that spelling as
        // well: hosts of unknown schemes do not lose theirs.
        if normalizer.drops_final_stops() {
            without_stops(&self.host).for_each(|glob| drop(wanted.host(glob)));
            without_stops(&self.not_host).for_each(|glob| drop(wanted.unwanted_host(glob)));
        }
        self.patterns.iter().for_each(|pattern| drop(wanted.pattern(pattern)));
        self.unwanted.iter().for_each(|pattern| drop(wanted.unwanted_pattern(pattern)));
        wanted
    }

    /// The options that have no effect on records of this format.
    pub fn idle(&self, format: &Format) -> Vec<&'static str> {
        self.records().lacking(format.facts()).map(option).collect()
    }
}

/// The globs that end in full stops, without those.
fn without_stops(globs: &[String]) -> impl Iterator<Item = &str> {
    let stopped = globs.iter().filter_map(|glob| glob.strip_suffix('.'));
    stopped.map(|glob| glob.trim_end_matches('.')).filter(|glob| !glob.is_empty())
}

/// The option of a filter.
fn option(name: &str) -> &'static str {
    match name {
        "status" => "--status",
        "method" => "--method",
        _ => "--mime",
    }
}

fn checked<E>(list: &str, result: Result<(), E>) -> Result<String, E> {
    result.map(|()| list.to_owned())
}

fn status(list: &str) -> Result<String, BadFilter> {
    checked(list, Filter::default().status(list))
}

fn method(list: &str) -> Result<String, BadFilter> {
    checked(list, Filter::default().method(list))
}

fn mime(list: &str) -> Result<String, BadFilter> {
    checked(list, Filter::default().mime(list))
}

fn schemes(list: &str) -> Result<String, BadUrlFilter> {
    checked(list, UrlFilter::default().schemes(list))
}

fn host(glob: &str) -> Result<String, BadUrlFilter> {
    checked(glob, UrlFilter::default().host(glob))
}

fn pattern(pattern: &str) -> Result<String, BadUrlFilter> {
    checked(pattern, UrlFilter::default().pattern(pattern))
}

fn max_rejected(text: &str) -> Result<MaxRejected, &'static str> {
    let error = "not a number of records like 100, or a percentage like 0.5%";
    match text.strip_suffix('%') {
        None => text.parse().map(MaxRejected::Count).map_err(|_| error),
        Some(percent) => {
            let percent: f64 = percent.parse().map_err(|_| error)?;
            if (0.0..=100.0).contains(&percent) {
                Ok(MaxRejected::Percent(percent))
            } else {
                Err(error)
            }
        }
    }
}
