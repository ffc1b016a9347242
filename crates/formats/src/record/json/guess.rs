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

/// A member `url` or `uri`. A value that begins with a slash is a request target, as in a list: it
/// cannot supply a host, but a member beside it can.
pub(in crate::record) fn guess(line: &[u8]) -> Option<Json> {
    let mut buffer = Vec::new();
    let mut json = |text: &str| {
        let json = Json::parse(text).ok()?;
        let said = json.said(line, &mut buffer).ok()?;
        let fits = match said.get(RecordPart::Target) {
            Some(target) => target.starts_with(b"/"),
            None => said.get(RecordPart::Url).is_some(),
        };
        fits.then_some(json)
    };
    ["url", "uri"].into_iter().find_map(|name| {
        let target = format!("target=/{name}");
        let json_of_target = json(&target);
        if json_of_target.is_none() {
            return json(&format!("/{name}"));
        }
        let Some(host) = HOSTS.into_iter().find(|name| value(line, name).is_some_and(is_authority))
        else {
            return json_of_target;
        };
        let is_scheme = |scheme: &[u8]| matches!(scheme, b"http" | b"https");
        let scheme = match value(line, "scheme").is_some_and(is_scheme) {
            true => "scheme=/scheme,",
            false => "",
        };
        json(&format!("{scheme}host=/{host},{target}"))
    })
}

/// The text of a member, without its quotation marks.
fn value<'a>(line: &'a [u8], name: &str) -> Option<&'a [u8]> {
    slice::at(line, &[name])?.strip_prefix(b"\"")?.strip_suffix(b"\"")
}
