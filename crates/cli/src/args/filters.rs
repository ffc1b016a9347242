//! The arguments that say which records and URLs to keep, and how much may be lost.

use clap::Args;

use uniqurl::Normalizer;
use uniqurl_engine::{BadUrlFilter, MaxRejected, UrlFilter};
use uniqurl_formats::record::{BadFilter, Filter, Format};

const FILTERS: &str = "Filters";

/// What to keep.
#[derive(Debug, Args)]
pub struct FilterArgs {
    /// Keep only records with these statuses, as in 200,304 or 2xx
    ///
    /// For formats that have a status: access logs, w3c, elb, alb, cloudfront, haproxy, cdx, cdxj, the
    /// presets of json, and csv, tsv, json, parquet and arrow with a part status=.
    #[arg(long, value_name = "LIST", value_parser = status, help_heading = FILTERS,
          help = "Keep only records with these statuses, as in 200,304 or 2xx")]
    pub status: Vec<String>,

    /// Keep only records with these methods, as in GET,HEAD; case counts
    #[arg(long, value_name = "LIST", value_parser = method, help_heading = FILTERS)]
    pub method: Vec<String>,

    /// Keep only records of these media types, as in text/html or text/*
    #[arg(long, value_name = "LIST", value_parser = mime, help_heading = FILTERS)]
    pub mime: Vec<String>,

    /// Keep only canonical URLs with these schemes, as in http,https
    #[arg(long, value_name = "LIST", value_parser = schemes, help_heading = FILTERS)]
    pub schemes: Vec<String>,

    /// Keep only canonical URLs whose host is like this, as in '*.example.com'; may be given several
    /// times
    ///
    /// In GLOB * stands for any bytes, dots too, ? for any one byte, {a,b} for either, and an IPv6 address
    /// is in brackets. '*.example.com' leaves out example.com itself; '{*.example.com,example.com}' does
    /// not. Of several, one that fits is enough. A request target without a host is dropped.
    #[arg(long, value_name = "GLOB", value_parser = host, help_heading = FILTERS,
          help = "Keep only canonical URLs whose host is like this, as in '*.example.com'; may be \
                  given several times")]
    pub host: Vec<String>,

    /// Keep only canonical URLs in which this regular expression is found; may be given several times
    ///
    /// Of several, one that is found is enough. (?i) before it takes either case.
    #[arg(long = "match", value_name = "REGEX", value_parser = pattern, help_heading = FILTERS,
          help = "Keep only canonical URLs in which this regular expression is found; may be given \
                  several times")]
    pub patterns: Vec<String>,

    /// Drop canonical URLs in which this regular expression is found; may be given several times
    ///
    /// Of several, one that is found is enough, whatever --match finds.
    #[arg(long = "not-match", value_name = "REGEX", value_parser = pattern, help_heading = FILTERS,
          help = "Drop canonical URLs in which this regular expression is found; may be given \
                  several times")]
    pub unwanted: Vec<String>,

    /// Stop with status 3 when more than N records, or P% of them, are rejected
    ///
    /// A number stops the run at the first record that is one too many, which is named; the accounting
    /// also counts what was read along with it. A percentage is judged at the end. No file is
    /// written in either case; what went to standard output or a pipe before stays there. Without it, a
    /// dedup stops so where all of them are rejected; 100% takes any.
    #[arg(long, value_name = "N|P%", value_parser = max_rejected, help_heading = FILTERS,
          allow_negative_numbers = true,
          help = "Stop with status 3 when more than N records, or P% of them, are rejected")]
    pub max_rejected: Option<MaxRejected>,
}

impl FilterArgs {
    /// Which records to keep.
    pub fn records(&self) -> Filter {
        let mut filter = Filter::default();
        // Parsing cannot fail here: the lists were checked before.
        self.status.iter().for_each(|list| drop(filter.status(list)));
        self.method.iter().for_each(|list| drop(filter.method(list)));
        self.mime.iter().for_each(|list| drop(filter.mime(list)));
        filter
    }

    /// Which URLs to keep of those that are canonical under the normalizer.
    pub fn urls(&self, normalizer: &Normalizer) -> UrlFilter {
        let mut wanted = UrlFilter::default();
        self.schemes.iter().for_each(|list| drop(wanted.schemes(list)));
        self.host.iter().for_each(|glob| drop(wanted.host(glob)));
        // Hosts may be given as they are spelled in the input, with a final full stop. Keep that spelling as
        // well: hosts of unknown schemes do not lose theirs.
        if normalizer.drops_final_stops() {
            let stopped = self.host.iter().filter_map(|glob| glob.strip_suffix('.'));
            let globs = stopped.map(|glob| glob.trim_end_matches('.'));
            globs.filter(|glob| !glob.is_empty()).for_each(|glob| drop(wanted.host(glob)));
        }
        self.patterns.iter().for_each(|pattern| drop(wanted.pattern(pattern)));
        self.unwanted.iter().for_each(|pattern| drop(wanted.unwanted_pattern(pattern)));
        wanted
    }

    /// The options that can do nothing to records of this format.
    pub fn idle(&self, format: &Format) -> Vec<&'static str> {
        self.records().lacking(format.facts()).map(option).collect()
    }
}

/// The option of what a filter judges by.
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
