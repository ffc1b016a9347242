//! The exact normalizer: one pass over the components of a URL, in the order that the rungs need.
//!
//! The order matters and the text-book order is wrong in two places: percent-decoding comes before
//! case (`http://%45X.com/` is `http://ex.com/`) and before dot segments (`%2E%2e` is one). A path that
//! would read as a host afterwards gets `/.` in front of it. With that each rung is idempotent.

use crate::bytes::{Reject, RejectReason};
use crate::normalize::exact::escape::{self, PATH, QUERY, USERINFO};
use crate::normalize::exact::path::remove_dot_segments;
use crate::normalize::exact::ports::DefaultPorts;
use crate::normalize::explain::Rule;
use crate::normalize::parts::{AuthorityParts, Parts, find_outside_scheme};
use crate::normalize::trace::{Place, Trace};
use crate::profile::ring::Acts;
use crate::profile::scheme::{self, Kind, Scheme};
use crate::profile::{Grammar, Policy, Schemes, Switch};

/// Appends URLs and their components in canonical form.
///
/// On a rejection `out` holds a part of it, which the caller truncates.
pub(crate) struct Ladder<'w, T> {
    pub(in crate::normalize) profile: &'w Policy,
    /// Custom default ports.
    ports: Option<&'w DefaultPorts>,
    pub(in crate::normalize) out: &'w mut Vec<u8>,
    pub(in crate::normalize) trace: &'w mut T,
}

impl<'w, T: Trace> Ladder<'w, T> {
    #[inline(always)]
    pub(crate) fn new(
        profile: &'w Policy,
        ports: Option<&'w DefaultPorts>,
        out: &'w mut Vec<u8>,
        trace: &'w mut T,
    ) -> Self {
        Self { profile, ports, out, trace }
    }

    /// Appends a URL with a scheme, split into `parts`.
    #[inline(always)]
    pub(crate) fn absolute(&mut self, parts: &Parts<'_>) -> Result<(), Reject> {
        let at = self.out.len();
        let mut facts = *self.scheme_name(parts)?;
        if let Some(ports) = self.ports {
            facts.port = ports.of(&self.out[at..self.out.len() - 1]);
        }
        let facts = &facts;
        let known = self.profile.schemes == Schemes::Known;
        let network = known && facts.kind == Kind::Network;
        if network && parts.authority.is_none() {
            let after_colon = parts.scheme.map_or(0, <[u8]>::len) + 1;
            return Err(Reject::new(RejectReason::NoAuthority, after_colon));
        }
        self.authority(parts, facts)?;
        // Before dot segments are removed: after an authority a path needs no guard.
        let gains_authority = known
            && facts.kind == Kind::File
            && parts.authority.is_none()
            && parts.path.starts_with(b"/");
        if gains_authority {
            self.out.extend_from_slice(b"//");
            self.trace.component(Rule::FileAuthority, Place::Host, Some(b""));
        }
        let path_at = self.out.len();
        if network && parts.path.is_empty() {
            self.out.push(b'/');
            self.trace.component(Rule::EmptyPath, Place::Path, Some(b"/"));
        }
        self.path_and_query(parts)?;
        if parts.authority.is_none() && !gains_authority {
            let guarded = self.out[path_at..].starts_with(b"//");
            if guarded {
                self.out.splice(path_at..path_at, *b"/.");
            }
            let rest = &mut self.out[path_at..];
            // Neither of them is in a path as itself, so the first one ends it.
            let path_end = memchr::memchr2(b'?', b'#', rest).unwrap_or(rest.len());
            let path = &mut rest[..path_end];
            if guarded {
                self.trace.component(Rule::PathGuard, Place::Path, Some(path));
            }
            if known && facts.kind == Kind::Mailto {
                lower_domains(path);
                self.trace.component(Rule::MailDomain, Place::Path, Some(path));
            } else if known && facts.kind == Kind::Urn {
                lower_namespace(path);
                self.trace.component(Rule::UrnNamespace, Place::Path, Some(path));
            }
        }
        Ok(())
    }

    /// Appends path, query and fragment, the path without any guard.
    #[inline(always)]
    pub(crate) fn path_and_query(&mut self, parts: &Parts<'_>) -> Result<(), Reject> {
        let at = self.out.len();
        self.component(parts.path, (&PATH, Place::Path), parts.path_start())?;
        // A path without a leading slash is opaque: `mailto:a/../b` holds no dot segment.
        if parts.path.first() == Some(&b'/') {
            let end = self.out.len();
            remove_dot_segments(self.out, at, end);
            if T::RECORDS && self.out.len() < end {
                self.trace.component(Rule::DotSegments, Place::Path, Some(&self.out[at..]));
            }
        }
        if let Some(query) = parts.query {
            self.out.push(b'?');
            self.component(query, (&QUERY, Place::Query), parts.query_start())?;
        }
        if !self.profile.switches.contains(Switch::KeepFragment) {
            self.trace.component(Rule::DropFragment, Place::Fragment, None);
        } else if let Some(fragment) = parts.fragment {
            self.out.push(b'#');
            self.component(fragment, (&QUERY, Place::Fragment), parts.fragment_start())?;
        }
        Ok(())
    }

    /// Appends the scheme in lower case and its colon (section 6.2.2.1).
    #[inline(always)]
    pub(in crate::normalize) fn scheme_name(
        &mut self,
        parts: &Parts<'_>,
    ) -> Result<&'static Scheme, Reject> {
        let name = parts.scheme.unwrap_or_default();
        let at = self.out.len();
        escape::push_lower(name, self.out);
        let facts = scheme::facts(&self.out[at..]);
        // A known scheme needs no check of its bytes.
        if facts.name.is_empty()
            && let Some(i) = find_outside_scheme(name)
        {
            return Err(Reject::new(RejectReason::Scheme, i));
        }
        let written = parts.scheme.map(|_| &self.out[at..]);
        self.trace.component(Rule::SchemeCase, Place::Scheme, written);
        self.out.push(b':');
        Ok(facts)
    }

    #[inline(always)]
    fn authority(&mut self, parts: &Parts<'_>, facts: &Scheme) -> Result<(), Reject> {
        let Some(authority) = parts.authority else { return Ok(()) };
        self.out.extend_from_slice(b"//");
        let at = self.out.len();
        let start = parts.authority_start();
        let AuthorityParts { userinfo, host_port } = AuthorityParts::split(authority);
        // Browsers end the host at a backslash, other programs do not: `https://good.com\@evil.com/`.
        let misread = |userinfo| memchr::memchr(b'\\', userinfo);
        if self.profile.grammar == Grammar::Repaired
            && let Some(at) = userinfo.and_then(misread)
        {
            return Err(Reject::new(RejectReason::Host, start + at));
        }
        // RFC 3986 section 7.5: URIs are "displayed by browsers, stored in clear text bookmarks, and logged", so
        // a password in one "should be considered an error (or simply ignored)".
        if facts.kind == Kind::Network && !self.profile.switches.contains(Switch::KeepUserinfo) {
            self.trace.component(Rule::DropUserinfo, Place::Userinfo, None);
        } else if let Some(userinfo) = userinfo {
            self.component(userinfo, (&USERINFO, Place::Userinfo), start)?;
            self.out.push(b'@');
        }
        self.host(host_port, facts, start + authority.len() - host_port.len())?;
        // RFC 8089 section 2: an empty host and "localhost" name the same file. Checked on the result, or
        // `file://localhost:/` would need two passes.
        if self.profile.schemes == Schemes::Known
            && facts.kind == Kind::File
            && &self.out[at..] == b"localhost"
        {
            self.out.truncate(at);
            self.trace.component(Rule::FileLocalhost, Place::Host, Some(b""));
        }
        Ok(())
    }

    /// Appends one component with its percent-encoding normalized: decodes unreserved triplets, writes the
    /// digits of the others in upper case, and rejects or encodes bytes that the grammar does not allow.
    ///
    /// `start` is the offset of the component in the URL, for the position of a rejection.
    pub(in crate::normalize) fn component(
        &mut self,
        bytes: &[u8],
        (acts, place): (&Acts, Place),
        start: usize,
    ) -> Result<(), Reject> {
        escape::respell(bytes, acts, self.out, |change, written| {
            let at = change.range.start;
            // A change of one byte is a byte that the grammar does not allow, or a `%` without two
            // digits. What is left are triplets, which may always be respelled.
            if change.range.len() == 1 && self.profile.grammar != Grammar::Repaired {
                let code =
                    if bytes[at] == b'%' { RejectReason::Escape } else { RejectReason::Byte };
                return Err(Reject::new(code, start + at));
            }
            if T::RECORDS {
                self.trace.respelled(change.rule(), place, change.range.clone(), written);
            }
            Ok(())
        })
    }
}

/// Lower-cases the namespace of a `urn:`, if the path starts with one (RFC 8141 sections 2 and 3.1):
/// `NID = (alphanum) 0*30(ldh) (alphanum)`
fn lower_namespace(path: &mut [u8]) {
    let Some(colon) = memchr::memchr(b':', path) else { return };
    let name = &mut path[..colon];
    let ends = [name.first(), name.last()];
    let is_one = (2..=32).contains(&name.len())
        && ends.into_iter().flatten().all(u8::is_ascii_alphanumeric)
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
    if is_one {
        name.make_ascii_lowercase();
    }
}

/// Lower-cases the domain of each address in the path of a `mailto:` URL (section 6.2.3, RFC 6068).
fn lower_domains(path: &mut [u8]) {
    for address in path.split_mut(|byte| *byte == b',') {
        if let Some(at) = address.iter().rposition(|byte| *byte == b'@') {
            escape::lower_outside_triplets(&mut address[at + 1..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::trace::NoTrace;

    #[test]
    fn a_rejection_names_the_first_offending_byte() {
        let mut out = Vec::new();
        let mut rejected = |bytes: &[u8], start| {
            Ladder::new(&Policy::SYNTAX, None, &mut out, &mut NoTrace).component(
                bytes,
                (&PATH, Place::Path),
                start,
            )
        };
        let reject = rejected(b"ab c%", 10);
        assert_eq!(reject, Err(Reject::new(RejectReason::Byte, 12)));
        let reject = rejected(b"a%4g c", 0);
        assert_eq!(reject, Err(Reject::new(RejectReason::Escape, 1)));
    }
}
