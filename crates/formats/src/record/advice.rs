//! Finds the columns that make a URL, and names the format that reads all of them.
//!
//! In: the columns of the first records, in a [`Census`]. Out: the parts of a URL with their columns. No
//! column that varies and is of a kind that the URL lacks is left out: a query beside a target without `?`,
//! a host beside a target. So two URLs never become one for want of a part.

use super::census::{Census, Column, names_site};
use super::hosts::has_public_suffix;
use super::value_kind::ValueKind;

/// The columns of the parts of a URL.
#[derive(Debug)]
pub(super) struct Columns<'c> {
    /// `url`, `target` or `path`, and its column.
    pub source: (&'static str, &'c Column),
    pub scheme: Option<&'c Column>,
    pub host: Option<&'c Column>,
    pub query: Option<&'c Column>,
}

impl<'c> Columns<'c> {
    /// The columns that make the URLs of some records. None if there are none, or if a URL that is as
    /// likely stands in an array, where no pointer leads to.
    pub fn find(census: &'c Census) -> Option<Self> {
        let columns = &census.columns;
        let is_request = census.has(ValueKind::Method);
        let target = Self::of_target(census, is_request);
        let is_url = |column: &&Column| {
            let rank = rank_of_url(&column.name);
            // `url` and `uri` say so by themselves, so half of the records that have the column are
            // enough. Other names are believed only where half of all records hold a URL there.
            let all = if rank > 2 { column.full().count().max(1) } else { column.values.len() };
            column.count(ValueKind::Url) * 2 >= all && rank > 0 && !column.is_item
        };
        // The last of equals is taken, so the first one has to come last.
        let url = columns.iter().rev().filter(is_url).max_by_key(|column| {
            (rank_of_url(&column.name), column.varies(), column.is_filled_by(ValueKind::Url))
        });
        let Some(url) = url else { return target };
        // The URL beside a target is that of the page before, unless it holds the target, or its name says
        // otherwise and that of the target does not.
        let is_whole = |target: &Self| {
            let pairs = url.values.iter().zip(&target.source.1.values);
            let mut both = pairs.filter_map(|(url, target)| url.as_ref().zip(target.as_ref()));
            let is_request = target.host.is_some() || is_request;
            let is_named = rank_of_target(&target.source.1.name) > 2;
            !is_named && (rank_of_url(&url.name) > 1 || !is_request)
                || both.all(|(url, target)| url.ends_with(target))
        };
        if target.as_ref().is_some_and(|target| !is_whole(target)) {
            return target;
        }
        let in_array = columns.iter().filter(|column| column.is_item && column.is(ValueKind::Url));
        let hidden = in_array.map(|column| rank_of_url(&column.name)).max();
        let rank = Some(rank_of_url(&url.name));
        (hidden < rank || hidden == rank && url.object().is_empty()).then_some(Self {
            source: ("url", url),
            scheme: None,
            host: None,
            query: None,
        })
    }

    /// The columns of a request: its target, with all that stands beside it.
    fn of_target(census: &'c Census, is_request: bool) -> Option<Self> {
        let columns = || census.columns.iter().filter(|column| !column.is_item);
        let is_target =
            |column: &&Column| column.is(ValueKind::Target) && rank_of_target(&column.name) > 0;
        let target =
            columns().rev().filter(is_target).max_by_key(|column| rank_of_target(&column.name))?;
        let host = Self::host_beside(census, target);
        // A path may be that of a file.
        let (is_named, is_member) =
            (rank_of_target(&target.name) > 1, target.place.starts_with('/'));
        let is_one =
            // A program writes the paths of its own files beside the name of its machine, so in
            // JSON a host alone makes no request of a path.
            if is_member { host.is_some() && is_request } else { host.is_some() || is_request };
        if !is_named && !is_one {
            return None;
        }
        let scheme = columns().find(|column| column.is(ValueKind::Scheme) && !column.is_of_other());
        let query = Self::query_beside(census, target);
        let source = if query.is_some() { "path" } else { "target" };
        Some(Self {
            source: (source, target),
            // A scheme without a host makes no URL.
            scheme: scheme.filter(|_| host.is_some()),
            host,
            query,
        })
    }

    /// The column of the site. One that says so by its name comes first, then one that varies: a host that is
    /// the same in all records while another differs is no site, but the machine that wrote them.
    pub fn host_beside(census: &'c Census, target: &Column) -> Option<&'c Column> {
        // Names of metrics and classes have dots, too.
        let is_of_web = |column: &Column| {
            !column.place.starts_with('/') || column.full().all(has_public_suffix)
        };
        let is_host = |column: &&Column| {
            let is_near = target.place.starts_with(column.object());
            !column.is_item
                && column.is_filled_by(ValueKind::Host)
                && !column.is_of_other()
                && (column.varies()
                    || (is_near && names_site(&column.name))
                    || column.name.is_empty())
                && (names_site(&column.name) || is_near && is_of_web(column))
        };
        census.columns.iter().rev().filter(is_host).max_by_key(|column| {
            let is_beside = column.object() == target.object();
            let name = &column.name;
            let is_sure =
                ["authority", "vhost", "http_host"].iter().any(|sure| name.contains(sure));
            let common = name.bytes().zip(target.name.bytes()).take_while(|(a, b)| a == b).count();
            (names_site(name), column.varies(), is_beside, is_sure, common)
        })
    }

    /// The column with the query of targets that have none themselves.
    pub fn query_beside(census: &'c Census, target: &Column) -> Option<&'c Column> {
        let has_own =
            |row: usize| target.values[row].as_ref().is_some_and(|target| target.contains(&b'?'));
        // IIS and its kin write the query into the field after the path, so in lines without names
        // the next column is the first candidate.
        let after = target.place.parse::<usize>().map(|number| (number + 1).to_string());
        let is_query = |column: &&Column| {
            let is_named = is_name_of_query(&column.name)
                && column.full().all(|value| {
                    use ValueKind::{Number, Target, Url};
                    !matches!(ValueKind::of(value), Number | Target | Url)
                });
            let is_next = after.as_ref().is_ok_and(|after| *after == column.place);
            // Of words, any may be a label and a value.
            let is_such = is_next
                || is_marked(column)
                || !column.name.is_empty() && column.varies() && !explains_values(column);
            // The key of a search beside a URL is no part of it.
            let rows = || column.values.iter().enumerate().filter(|(_, value)| value.is_some());
            !column.is_item
                && column.object() == target.object()
                && (is_named || is_such && column.is(ValueKind::Query))
                // A query that the targets have already must not be appended a second time.
                && rows().any(|(row, _)| !has_own(row))
                && rows()
                    .all(|(row, value)| !has_own(row) || value.as_ref().is_none_or(Vec::is_empty))
        };
        census.columns.iter().find(is_query)
    }

    /// True if the names alone say what the columns are, so that no user has to look at them: a member `url`
    /// or `uri` at the top, or a `path` in an access log that names a host.
    pub fn are_sure(&self, census: &Census) -> bool {
        let (_, source) = self.source;
        let has = |name: &str| census.columns.iter().any(|column| column.place == name);
        let is_access_log = || self.host.is_some() && (has("/status") || has("/method"));
        let is_sure =
            matches!(&*source.place, "/url" | "/uri") || source.place == "/path" && is_access_log();
        let says_query = |query: &Column| is_name_of_query(&query.name) || is_marked(query);
        is_sure
            && self.host.is_none_or(|host| names_site(&host.name))
            && self.query.is_none_or(says_query)
    }

    /// The name of the format that reads these columns. `kind` is the text before its colon, and `name`
    /// how a column is named after it.
    pub fn format(&self, kind: &str, name: impl Fn(&Column) -> String) -> String {
        let (part, source) = self.source;
        if part == "url" {
            return format!("{kind}:{}", name(source));
        }
        let parts = [
            ("scheme", self.scheme),
            ("host", self.host),
            (part, Some(source)),
            ("query", self.query),
        ];
        let parts = parts
            .into_iter()
            .filter_map(|(part, column)| Some(format!("{part}={}", name(column?))));
        format!("{kind}:{}", parts.collect::<Vec<_>>().join(","))
    }
}

/// True if a column of this name holds the query of the request beside it.
pub(super) fn is_name_of_query(name: &str) -> bool {
    name.contains("query")
        || ["args", "param", "params", "qs", "search", "uri_param"].contains(&name)
}

/// True if its values begin as queries do, where they are written with their mark.
fn is_marked(column: &Column) -> bool {
    column.is_filled_by(ValueKind::Query) && column.full().all(|value| value.starts_with(b"?"))
}

/// Parts of the names of columns whose values are names and values by themselves, as those of cookies are.
const WITH_VALUES: [&str; 9] =
    ["cookie", "cache", "header", "tag", "label", "trace", "auth", "accept", "session"];

/// True for the name of a column with names and values that are no query.
fn explains_values(column: &Column) -> bool {
    column.is_of_other() || WITH_VALUES.iter().any(|part| column.name.contains(part))
}

/// How likely a column of this name is to hold the URL: 0 for that of a page before.
fn rank_of_url(name: &str) -> u8 {
    let has = |part: &str| name.contains(part);
    match name {
        _ if has("refer") || has("schema") || has("namespace") => 0,
        "url" | "uri" => 3,
        // Not `location`, to which a client is sent.
        "loc" => 2,
        _ if ["url", "uri", "href", "link", "address", "page"].into_iter().any(has) => 2,
        _ => 1,
    }
}

/// How likely a column of this name is to hold the target of a request: 0 for that of a file.
fn rank_of_target(name: &str) -> u8 {
    let has = |part: &&str| name.contains(*part);
    match name {
        _ if ["refer", "file", "dir", "script"].iter().any(has) => 0,
        _ if ["uri", "url"].iter().any(has) => 3,
        _ if ["path", "target", "request", "page"].iter().any(has) => 2,
        _ => 1,
    }
}
