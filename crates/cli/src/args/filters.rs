//! The arguments that choose records and URLs, and limit how many may be rejected.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::args::help::{FILTERS, INPUT};
use crate::args::values::time;
use uniqurl::Normalizer;
use uniqurl_engine::output::HostListStats;
use uniqurl_engine::{
    BadRequestFilter, BadUrlFilter, HostList, MaxRejected, RequestFilter, UrlFilter,
};
use uniqurl_formats::input::read_whole;
use uniqurl_formats::record::{Filter, Format};
use uniqurl_text::Printable;

/// Agents of crawlers, monitors and programs, a pattern a line.
const BOTS: &str = include_str!("../../data/bots.txt");

/// Extensions of pictures, one a line.
const IMAGES: &str = include_str!("../../data/images.txt");

/// The URLs without a query. A fragment may hold a question mark, too.
const NO_QUERY: &str = r"^[^?#]*(#.*)?$";

/// The records and URLs to keep.
// A field for each option, so more than a dozen.
#[derive(Debug, Args)]
#[command(next_help_heading = FILTERS)]
pub struct FilterArgs {
    /// Keep only records with these statuses, such as 200,304 or 2xx
    ///
    /// Logs and indexes have a status, and csv, tsv, json, parquet and arrow with a part status=.
    #[arg(long, value_name = "LIST", value_parser = checked(|text| Filter::default().status(text)))]
    pub status: Vec<String>,

    /// Keep only records with these methods, such as GET,HEAD; case counts
    #[arg(long, value_name = "LIST", value_parser = checked(|text| Filter::default().method(text)))]
    pub method: Vec<String>,

    /// Keep only records of these media types, such as text/html or text/*
    #[arg(long, value_name = "LIST", value_parser = checked(|text| Filter::default().mime(text)))]
    pub mime: Vec<String>,

    /// Keep only records whose agent this regular expression matches, such as '(?i)bot'
    ///
    /// The match may be anywhere in the agent as the log writes it. The option may be given several
    /// times, and one match is enough. A record without an agent is dropped.
    #[arg(long = "agent", value_name = "REGEX", value_parser = agent)]
    pub agents: Vec<String>,

    /// Drop records whose agent this regular expression matches, or bots: crawlers and programs
    ///
    /// One match is enough, even if --agent matches too. A record without an agent is kept.
    #[arg(long = "not-agent", value_name = "REGEX", value_parser = agent)]
    pub unwanted_agents: Vec<String>,

    /// Keep only records from this time on, such as 2026-11-27, 2026-11-27T08:00:00Z or 12h
    ///
    /// TIME is a date, whose first second counts, or a date and time with a zone such as +01:00 or
    /// without one; both are in UTC where they name no zone. An age such as 12h, 30d or 2w is so long
    /// before now. A record without a readable time is dropped.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub since: Option<i64>,

    /// Keep only records before this time, which itself is not in
    ///
    /// TIME is as for --since. A day is --since 2026-11-27 --until 2026-11-28.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub until: Option<i64>,

    /// Keep only canonical URLs with these extensions, such as jpg,css
    ///
    /// The extension is at the end of the last segment of the path, before any ; or query; case does not
    /// count. gz matches a.gz and a.tar.gz, and tar.gz only the latter. A path without an extension is
    /// dropped.
    #[arg(long, value_name = "LIST", value_parser = extension)]
    pub ext: Vec<String>,

    /// Drop canonical URLs with these extensions, such as css,js, or images: those of pictures
    ///
    /// LIST is as for --ext. A path without an extension is kept.
    #[arg(long, value_name = "LIST", value_parser = extension)]
    pub not_ext: Vec<String>,

    /// Keep only canonical URLs with a query
    #[arg(long)]
    pub has_query: bool,

    /// Keep only canonical URLs with these schemes, such as http,https
    #[arg(long, value_name = "LIST", value_parser = checked(|text| UrlFilter::default().schemes(text)))]
    pub schemes: Vec<String>,

    /// Keep only canonical URLs whose host matches, such as '*.example.com'
    ///
    /// In GLOB, * matches any bytes and also dots, ? matches any one byte, {a,b} matches either, and
    /// an IPv6 address is in brackets. '*.example.com' does not match example.com itself, but
    /// '{*.example.com,example.com}' does. A block of addresses, such as 10.0.0.0/8 or 2001:db8::/32,
    /// matches the addresses in it by their value. The option may be given several times, and one match is
    /// enough. A request target without a host is dropped.
    #[arg(long, value_name = "GLOB|BLOCK", value_parser = host)]
    pub host: Vec<String>,

    /// Drop canonical URLs whose host matches
    ///
    /// GLOB and BLOCK are as for --host. The option may be given several times, and one match is
    /// enough. A URL without a host is kept.
    #[arg(long, value_name = "GLOB|BLOCK", value_parser = host)]
    pub not_host: Vec<String>,

    /// Keep only canonical URLs whose host, or a domain above it, is in FILE
    ///
    /// FILE holds a name a line, such as example.com, which stands for its subdomains as well. *.example.com,
    /// ||example.com^ and the lines of hosts files are read, too, and so are addresses; comments begin with # or !.
    /// The option may be given several times, and beside --host one match of any of them is enough. - is standard
    /// input.
    #[arg(long, value_name = "FILE")]
    pub hosts: Vec<PathBuf>,

    /// Drop canonical URLs whose host, or a domain above it, is in FILE
    ///
    /// FILE is as for --hosts. A URL without a host is kept.
    #[arg(long, value_name = "FILE")]
    pub not_hosts: Vec<PathBuf>,

    /// Keep only canonical URLs that this regular expression matches
    ///
    /// The match may be anywhere in the URL. (?i) at the start ignores case. The option may be given
    /// several times, and one match is enough.
    #[arg(long = "match", value_name = "REGEX", value_parser = checked(|text| UrlFilter::default().pattern(text)))]
    pub patterns: Vec<String>,

    /// Drop canonical URLs that this regular expression matches
    ///
    /// One match is enough, even if --match matches too.
    #[arg(long = "not-match", value_name = "REGEX", value_parser = checked(|text| UrlFilter::default().pattern(text)))]
    pub unwanted: Vec<String>,

    /// Stop with status 3 if more than N records, or P% of them, are rejected
    ///
    /// A number stops the run at the first record too many, and a percentage at the end. No file is
    /// written then, but a pipe keeps the URLs that it already has. Without this option, a dedup stops if
    /// all records are rejected; 100% allows that.
    #[arg(
        long,
        value_name = "N|P%",
        value_parser = max_rejected,
        allow_negative_numbers = true,
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

    /// The filter for records by who made the request, and when.
    pub fn requests(&self) -> RequestFilter {
        let mut filter = RequestFilter::default();
        self.agents.iter().for_each(|pattern| drop(filter.agent(pattern)));
        self.unwanted_agents.iter().for_each(|pattern| drop(filter.unwanted_agent(pattern)));
        self.since.iter().for_each(|since| filter.since(*since));
        self.until.iter().for_each(|until| filter.until(*until));
        filter
    }

    /// The filter for URLs that are canonical under the normalizer.
    ///
    /// # Errors
    ///
    /// A sentence about a list of hosts that cannot be read.
    pub fn urls(&self, normalizer: &Normalizer) -> Result<UrlFilter, String> {
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
        if self.has_query {
            drop(wanted.unwanted_pattern(NO_QUERY));
        }
        self.ext.iter().for_each(|list| drop(wanted.extension(list)));
        self.not_ext.iter().for_each(|list| drop(wanted.unwanted_extension(list)));
        self.hosts.iter().try_for_each(|file| read_hosts(file).map(|list| wanted.hosts(list)))?;
        let mut unwanted = self.not_hosts.iter();
        unwanted.try_for_each(|file| read_hosts(file).map(|list| wanted.unwanted_hosts(list)))?;
        Ok(wanted)
    }

    /// The files that are read before any input.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let wanted = self.hosts.iter().map(|file| ("--hosts", &**file));
        wanted.chain(self.not_hosts.iter().map(|file| ("--not-hosts", &**file)))
    }

    /// What the lists of hosts did, `records` of each.
    pub fn host_lists(&self, urls: &UrlFilter, records: &[u64]) -> Vec<HostListStats> {
        let lists = self.files().zip(urls.host_lists()).enumerate();
        let stats = lists.map(|(i, ((option, file), list))| HostListStats {
            option: option.trim_start_matches('-'),
            file: file.to_string_lossy().into_owned(),
            names: list.len(),
            // A run without a record has counted nothing.
            records: records.get(i).copied().unwrap_or_default(),
        });
        stats.collect()
    }

    /// The options that have no effect on records of this format.
    pub fn idle(&self, format: &Format) -> Vec<&'static str> {
        let (records, requests) = (self.records(), self.requests());
        let facts = format.facts();
        let lacking = records.lacking(facts).chain(requests.lacking(facts));
        lacking.map(|field| self.option(field)).collect()
    }

    /// The option that asks for a field.
    pub fn option(&self, field: &str) -> &'static str {
        match field {
            "status" => "--status",
            "method" => "--method",
            "mime" => "--mime",
            "agent" if !self.agents.is_empty() => "--agent",
            "agent" => "--not-agent",
            "time" if self.since.is_some() => "--since",
            "time" => "--until",
            _ => "--record-types",
        }
    }

    /// The reason why no record can be kept, if there is one.
    pub fn contradiction(&self) -> Option<&'static str> {
        let (since, until) = (self.since?, self.until?);
        (since >= until).then_some("--since is not before --until, so no record is between them")
    }
}

/// The error about an option that asks for a field which the records of a format do not have.
pub(crate) fn idle_message(option: &str, format: &str) -> String {
    let format = Printable(format.as_bytes());
    format!("{option} can do nothing with the format {format}: its records have no such field")
}

/// The globs that end in full stops, without those.
fn without_stops(globs: &[String]) -> impl Iterator<Item = &str> {
    let stopped = globs.iter().filter_map(|glob| glob.strip_suffix('.'));
    stopped.map(|glob| glob.trim_end_matches('.')).filter(|glob| !glob.is_empty())
}

fn lines(text: &str, between: &str) -> String {
    text.lines().collect::<Vec<_>>().join(between)
}

/// Takes each text that can be added to a filter as it stands.
fn checked<E>(
    add: impl Fn(&str) -> Result<(), E> + Clone,
) -> impl Fn(&str) -> Result<String, E> + Clone {
    move |text| add(text).map(|()| text.to_owned())
}

/// A pattern, or that of a named filter.
fn agent(pattern: &str) -> Result<String, BadRequestFilter> {
    let pattern = match pattern {
        "bots" => format!("(?i){}", lines(BOTS, "|")),
        pattern => pattern.to_owned(),
    };
    RequestFilter::default().agent(&pattern).map(|()| pattern)
}

/// A list of extensions, with those of a named filter in the place of its name.
fn extension(list: &str) -> Result<String, BadUrlFilter> {
    let names = list.split(',').map(|name| match name {
        "images" => lines(IMAGES, ","),
        name => name.to_owned(),
    });
    let list = names.collect::<Vec<_>>().join(",");
    UrlFilter::default().extension(&list).map(|()| list)
}

fn host(glob: &str) -> Result<String, String> {
    // Taken for a glob, the name of a list would match no host, without a word.
    if Path::new(glob).is_file() {
        return Err("it is the name of a file, and --hosts or --not-hosts reads one".to_owned());
    }
    checked(|text| UrlFilter::default().host(text))(glob).map_err(|error| error.to_string())
}

fn read_hosts(file: &Path) -> Result<HostList, String> {
    let text = read_whole(file).map_err(|error| error.to_string())?;
    HostList::read(&text).map_err(|error| format!("{}: {error}", Printable::path(file)))
}

fn max_rejected(text: &str) -> Result<MaxRejected, &'static str> {
    let error = "not a number of records like 100, or a percentage like 0.5%";
    match text.strip_suffix('%') {
        None => text.parse().map(MaxRejected::Count).map_err(|_| error),
        Some(percent) => {
            let percent: f64 = percent.parse().map_err(|_| error)?;
            // NaN is in no range, and so is refused.
            if (0.0..=100.0).contains(&percent) {
                Ok(MaxRejected::Percent(percent))
            } else {
                Err(error)
            }
        }
    }
}
