//! Heuristic merges, each one a switch: `aggressive` applies them to the result of `crawl`.
//!
//! The input is a URL or request target in the canonical form of its rung. The output is one that no step
//! changes any more. The order of the steps is: fold-scheme, strip-www, lower-path,
//! squeeze-slashes, strip-session, strip-index, strip-trailing-slash, drop-query, the lists of
//! parameters, strip-tracking, blank-values, squeeze-query, sort-query; and all again until nothing
//! changes.
//!
//! This terminates, and each component reaches its fixed point in one pass. The scheme, the case of
//! letters and the order of parameters settle at once; every other step only removes bytes, so there
//! are at most as many rounds as bytes. No step reads the output of another component's steps. A host
//! loses every `www.` that it may. A path segment does not depend on its neighbours, except on empty
//! ones. The end of a path is shortened from its end backwards, because `/index.html/index.html/` would
//! take one round for each segment otherwise. In a query each parameter is judged by itself.

pub(in crate::normalize) mod clean;
mod path;
mod query;

use std::sync::{Arc, LazyLock};

use crate::bytes::decoded;
use crate::normalize::parts::{AuthorityParts, Parts, split_host};
#[cfg(feature = "profile-file")]
use crate::profile::glob::Glob;
use crate::profile::glob::{Case, Globs};
use crate::profile::heuristic::{TRACKING_CASE, add_sessions, tracking};
use crate::profile::starts::Starts;
use crate::profile::switch::STEPS;
use crate::profile::{Switch, Switches};
use crate::simd::UrlKind;

/// The steps that act in addition to the rung.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::normalize) struct Heuristics {
    switches: Switches,
    /// Parameters to drop: the lists that a section of a profile file inherits, and its own.
    pub(in crate::normalize) dropped: Vec<Arc<Globs>>,
    /// The only parameters to keep.
    pub(in crate::normalize) kept: Option<Arc<Globs>>,
    /// The case of both lists.
    pub(in crate::normalize) case: Case,
    pub(in crate::normalize) tracking: Arc<Globs>,
    /// Starts of the parameters that switches and lists may drop; `None` if any may go.
    starts: Option<Arc<Starts>>,
}

static TRACKING: LazyLock<Arc<Globs>> =
    LazyLock::new(|| Arc::new(Globs::new(tracking().collect(), TRACKING_CASE)));

static STARTS: LazyLock<Arc<Starts>> = LazyLock::new(|| Arc::new(starts(&TRACKING)));

/// Starts of the parameters that may identify a session or serve tracking.
fn starts(tracking: &Globs) -> Starts {
    let mut starts = tracking.starts().clone();
    add_sessions(&mut starts);
    starts
}

impl Heuristics {
    /// The heuristics for those of the switches that are steps.
    pub(in crate::normalize) fn new(switches: Switches) -> Self {
        let (tracking, starts) = (Arc::clone(&TRACKING), Some(Arc::clone(&STARTS)));
        // The other switches keep something, and act in the ladder.
        let (dropped, case) = (Vec::new(), PARAMETER_CASE);
        Self { switches: switches.and(STEPS), dropped, kept: None, case, tracking, starts }
    }

    /// Replaces the switches.
    pub(in crate::normalize) fn set(&mut self, switches: Switches) {
        self.switches = switches.and(STEPS);
    }

    pub(in crate::normalize) fn drop_parameters(&mut self, globs: Option<Globs>) {
        self.dropped = globs.into_iter().map(Arc::new).collect();
        self.find_starts();
    }

    /// Compares the lists of parameters in this case.
    #[cfg(feature = "profile-file")]
    pub(in crate::normalize) fn set_case(&mut self, case: Case) {
        let recased = |globs: &mut Arc<Globs>| {
            *globs = Arc::new(Globs::new(globs.patterns().map(Glob::new).collect(), case));
        };
        self.case = case;
        self.dropped.iter_mut().chain(&mut self.kept).for_each(recased);
    }

    /// Drops these parameters, too.
    #[cfg(feature = "profile-file")]
    pub(in crate::normalize) fn drop_more(&mut self, globs: Globs) {
        self.dropped.push(Arc::new(globs));
        self.find_starts();
    }

    pub(in crate::normalize) fn keep_parameters(&mut self, globs: Option<Globs>) {
        self.kept = globs.map(Arc::new);
        self.find_starts();
    }

    fn find_starts(&mut self) {
        self.starts = self.kept.is_none().then(|| {
            // A file may have thousands of sections, and few have tracking parameters of their own.
            let is_own = !Arc::ptr_eq(&self.tracking, &TRACKING);
            let mut starts = if is_own { starts(&self.tracking) } else { Starts::clone(&STARTS) };
            self.dropped.iter().for_each(|globs| starts.add_all(globs.starts()));
            Arc::new(starts)
        });
    }

    /// Starts of the parameters that may be dropped.
    pub(in crate::normalize) fn starts(&self) -> &Starts {
        self.starts.as_deref().unwrap_or(Starts::ALL)
    }

    /// Adds these patterns of tracking parameters to the built-in list.
    #[cfg(feature = "profile-file")]
    pub(in crate::normalize) fn track(&mut self, more: Vec<Glob>) {
        self.tracking = Arc::new(Globs::new(tracking().chain(more).collect(), TRACKING_CASE));
        self.find_starts();
    }

    /// Whether any step is active.
    #[inline]
    pub(in crate::normalize) fn act(&self) -> bool {
        !self.switches.is_empty() || self.has_lists()
    }

    /// Whether there are lists of parameters to drop or to keep.
    #[inline]
    fn has_lists(&self) -> bool {
        !self.dropped.is_empty() || self.kept.is_some()
    }

    /// This step alone; without a switch, the lists of parameters alone.
    pub(in crate::normalize) fn alone(&self, switch: Option<Switch>) -> Self {
        let mut alone = self.clone();
        alone.switches = switch.map_or(Switches::NONE, |one| self.switches.and(one.into()));
        if switch.is_some() {
            (alone.dropped, alone.kept) = (Vec::new(), None);
        }
        alone
    }

    #[inline]
    fn is_on(&self, switch: Switch) -> bool {
        self.switches.contains(switch)
    }

    /// Brings the canonical URL or target between `at` and the end of `out` into its final form.
    pub(in crate::normalize) fn rewrite(&self, at: usize, kind: UrlKind, out: &mut Vec<u8>) {
        let url = out.split_off(at);
        self.append(&Parts::of(kind, &url), out);
    }

    /// Whether no step changes a URL or target that is clean under every rung.
    pub(in crate::normalize) fn is_canonical(&self, url: &[u8], kind: UrlKind) -> bool {
        let (parts, mut out) = (Parts::of(kind, url), Vec::with_capacity(url.len()));
        // Half of the hosts lose a `www.`, and need no comparison.
        parts.authority.is_none_or(|host| self.is_canonical_host(host)) && {
            self.append(&parts, &mut out);
            out == url
        }
    }

    /// Whether no step changes a host without a port. `false` may only mean that this was not checked.
    #[inline]
    pub(in crate::normalize) fn is_canonical_host(&self, host: &[u8]) -> bool {
        !(self.is_on(Switch::StripWww) && host.starts_with(WWW))
    }

    pub(in crate::normalize) fn append(&self, parts: &Parts<'_>, out: &mut Vec<u8>) {
        let authority = parts.authority.map(AuthorityParts::split);
        if let Some(scheme) = parts.scheme {
            // With a port, the two schemes name different services.
            let has_port = authority.is_some_and(|of| !split_host(of.host_port).1.is_empty());
            let folds = self.is_on(Switch::FoldScheme) && scheme == b"https" && !has_port;
            out.extend_from_slice(if folds { b"http" } else { scheme });
            out.push(b':');
        }
        if let Some(AuthorityParts { userinfo, host_port }) = authority {
            out.extend_from_slice(b"//");
            if let Some(userinfo) = userinfo {
                out.extend_from_slice(userinfo);
                out.push(b'@');
            }
            let www = self.is_on(Switch::StripWww);
            out.extend_from_slice(if www { without_www(host_port) } else { host_port });
        }
        match parts.path {
            [b'/', ..] => {
                let at = out.len();
                let guarded = parts.authority.is_none() && parts.scheme.is_some();
                // The guard comes off, since what made it necessary may go.
                let guard = if guarded && parts.path.starts_with(GUARD) { 2 } else { 0 };
                self.append_path(&parts.path[guard..], out);
                if guarded && out[at..].starts_with(b"//") {
                    out.splice(at..at, *b"/.");
                }
            }
            // A path without a leading slash is opaque.
            opaque => out.extend_from_slice(opaque),
        }
        if let Some(query) = parts.query {
            self.append_query(query, out);
        }
        if let Some(fragment) = parts.fragment {
            out.push(b'#');
            out.extend_from_slice(fragment);
        }
    }

    /// Whether a parameter serves tracking; `name` is spelled as in the URL.
    #[inline]
    fn is_tracking(&self, name: &[u8]) -> bool {
        // A pattern stands for the name that is meant: brackets and spaces are triplets in a
        // canonical URL.
        self.tracking.match_any(&decoded(name))
    }

    /// Whether the lists drop a parameter; `name` is spelled as in the URL.
    fn is_unwanted(&self, name: &[u8]) -> bool {
        let name = decoded(name);
        self.dropped.iter().any(|globs| globs.match_any(&name))
            || self.kept.as_ref().is_some_and(|globs| !globs.match_any(&name))
    }
}

/// Lists of parameters are compared with names as they are, case included, unless a profile file says otherwise.
pub(in crate::normalize) const PARAMETER_CASE: Case = Case::Exact;

/// The start of a path that would otherwise be read as an authority.
const GUARD: &[u8] = b"/.//";

const WWW: &[u8; 4] = b"www.";

/// Host and port without each `www.` at the front that leaves at least two labels.
fn without_www(host_port: &[u8]) -> &[u8] {
    let end = split_host(host_port).0.len();
    let mut start = 0;
    while host_port[start..end].starts_with(WWW) {
        let rest = &host_port[start + WWW.len()..end];
        // Empty labels, as after a trailing dot, do not count. The search ends at the second label.
        if rest.split(|byte| *byte == b'.').filter(|label| !label.is_empty()).nth(1).is_none() {
            break;
        }
        start += WWW.len();
    }
    &host_port[start..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn www_is_stripped_while_two_labels_remain() {
        for (host, expected) in [
            ("www.example.com", "example.com"),
            ("www.com", "www.com"),
            ("www.www.com", "www.com"),
            ("www.www.www.a.b:8", "a.b:8"),
            ("www.a.:8", "www.a.:8"),
            ("www.a.b.", "a.b."),
            ("www..a", "www..a"),
            ("www2.a.b", "www2.a.b"),
            ("www.", "www."),
            ("www.a:8.b", "www.a:8.b"),
        ] {
            assert_eq!(without_www(host.as_bytes()), expected.as_bytes(), "{host}");
        }
    }
}
