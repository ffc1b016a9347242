//! Guesses the pointers to the parts of a URL from one line of a log in JSON that has no name.

use super::super::hosts::is_authority;
use super::super::part::RecordPart;
use super::{Json, slice};

/// Members that name the site of a request.
const HOSTS: [&str; 9] = [
    "http_host",
    "vhost",
    "virtual_host",
    "host",
    "server_name",
    "domain",
    "authority",
    ":authority",
    "site",
];

/// True if a member of this name holds the query of the request beside it. Without it, two URLs that differ
/// in their query alone would be one.
pub(in crate::record) fn is_name_of_query(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("query") || ["args", "param", "params", "uri_param"].contains(&&*name)
}

/// A member `url` or `uri`, or `path` in an access log that names a host. A value that begins with a
/// slash is a request target, as in a list: it cannot supply a host, but a member beside it can.
pub(in crate::record) fn guess(line: &[u8]) -> Option<Json> {
    let mut buffer = Vec::new();
    let mut json = |text: &str| {
        let json = Json::parse(text).ok()?;
        let said = json.said(line, &mut buffer).ok()?;
        let target = said.get(RecordPart::Target).or(said.get(RecordPart::Path));
        let fits = match target {
            Some(target) => target.starts_with(b"/"),
            None => said.get(RecordPart::Url).is_some(),
        };
        fits.then_some(json)
    };
    let is_access_log = || ["status", "method"].iter().any(|name| value_at(line, name).is_some());
    ["url", "uri", "path"].into_iter().find_map(|name| {
        let target = match query_beside(line, name) {
            Some(query) => format!("path=/{name},query=/{query}"),
            None => format!("target=/{name}"),
        };
        let json_of_target = json(&target);
        // A path alone may be that of a file.
        if name == "path" && !is_access_log() {
            return None;
        }
        if json_of_target.is_none() {
            return json(&format!("/{name}")).filter(|_| name != "path");
        }
        let Some(host) = HOSTS.into_iter().find(|name| value(line, name).is_some_and(is_authority))
        else {
            return json_of_target.filter(|_| name != "path");
        };
        let is_scheme = |scheme: &[u8]| matches!(scheme, b"http" | b"https");
        let scheme = match value(line, "scheme").is_some_and(is_scheme) {
            true => "scheme=/scheme,",
            false => "",
        };
        json(&format!("{scheme}host=/{host},{target}"))
    })
}

/// The member with the query of a target that has none itself.
fn query_beside<'a>(line: &'a [u8], target: &str) -> Option<&'a str> {
    if value(line, target)?.contains(&b'?') {
        return None;
    }
    let names = slice::members(line).filter(|(_, value)| value.starts_with(b"\""));
    let mut names = names.filter_map(|(name, _)| std::str::from_utf8(name).ok());
    // A name with other characters would need escapes in a pointer.
    let is_plain = |name: &str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
    };
    names.find(|name| is_name_of_query(name) && is_plain(name))
}

fn value_at<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    slice::at(line, &[name])
}

/// The text of a member, without its quotation marks.
fn value<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    value_at(line, name)?.strip_prefix(b"\"")?.strip_suffix(b"\"")
}
