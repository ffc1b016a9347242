//! Steps for the query of a canonical URL: drops and sorts parameters.

use memchr::memchr;

use super::Heuristics;
use crate::profile::Switch;
use crate::profile::heuristic::is_session;

impl Heuristics {
    /// Appends `?` and the query in its final form, or nothing if nothing is left of it.
    pub(super) fn append_query(&self, query: &[u8], out: &mut Vec<u8>) {
        if self.is_on(Switch::DropQuery) {
            return;
        }
        if query.is_empty() {
            if !self.is_on(Switch::SqueezeQuery) {
                out.push(b'?');
            }
            return;
        }
        let mut stripped = false;
        let mut left: Vec<&[u8]> = Vec::new();
        for parameter in query.split(|byte| *byte == b'&') {
            let (name, value) = name_and_value(parameter);
            if self.drops(parameter, name, value) {
                stripped = true;
            } else {
                left.push(parameter);
            }
        }
        if self.is_on(Switch::SortQuery) {
            // Stable: the order of equal names may matter to the server.
            left.sort_by_key(|parameter| name_and_value(parameter).0);
        }
        // A lone `?` goes if all parameters were removed (`?=`), or if only an empty one is left (`?&a`).
        // One that is empty because its value went (`?=a`) was no empty one before.
        if stripped && matches!(left[..], [] | [b""]) {
            return;
        }
        for (i, parameter) in left.iter().enumerate() {
            out.push(if i == 0 { b'?' } else { b'&' });
            let blanks = self.is_on(Switch::BlankValues);
            out.extend_from_slice(if blanks { name_and_value(parameter).0 } else { parameter });
        }
    }

    /// Whether a step removes the parameter.
    #[inline]
    pub(super) fn drops(&self, parameter: &[u8], name: &[u8], value: &[u8]) -> bool {
        (self.is_on(Switch::SqueezeQuery)
            && (matches!(parameter, b"" | b"=")
                || name.is_empty() && self.is_on(Switch::BlankValues)))
            || (self.is_on(Switch::StripSession) && is_session(name, value))
            || (self.is_on(Switch::StripTracking) && self.is_tracking(name))
            || (self.has_lists() && self.is_unwanted(name))
    }
}

/// Splits a parameter at its first `=` into name and value.
#[inline]
pub(super) fn name_and_value(parameter: &[u8]) -> (&[u8], &[u8]) {
    match memchr(b'=', parameter) {
        Some(equals) => (&parameter[..equals], &parameter[equals + 1..]),
        None => (parameter, b""),
    }
}
