//! Proves that URLs are clean under a profile.
//!
//! The vector code proves that a URL is clean under RFC 3986 or the URL Standard. Further rules of a profile
//! are checked by its masks (the fast path), and byte by byte if the masks do not decide.

use std::ops::Range;

use memchr::memchr;

use crate::bytes::Span;
use crate::bytes::set::CLEAN_HOST;
use crate::normalize::exact::{ia, ring, sanitize, servlet, whatwg};
use crate::normalize::judge::rules::{Aggressive, Browser, IaKey, Sanitizer, Servlet};
use crate::normalize::lines::Note;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::options::hosts::Hosts;
use crate::normalize::ruleset::Ruleset;
use crate::profile::sanitize::{FIRST_FREE_PORT, OF_HARMLESS};
use crate::profile::{Grammar, Policy, System};
use crate::simd::{
    ByFastPath, ByFastPathOr, Clean, FastPathResult, Kernel, Rfc3986, SpanBatch, UrlKind, Vector,
    Verbatim, Visitor,
};

impl Normalizer {
    /// Calls the visitor with each URL, and with whether it is proven clean.
    pub(in crate::normalize) fn judge_each(&self, batch: SpanBatch<'_>, visitor: Note<'_>) {
        let (kernel, heuristics) = (self.kernel(), &self.rules.heuristics);
        let bytes = batch.bytes;
        let if_long = |url: &[u8], result| {
            result == FastPathResult::TooLong && self.rules.leaves_by_bytes(url, UrlKind::Absolute)
        };
        if let Some(hosts) = &self.hosts {
            let of_ladder = self.rules.profile.system == System::Ladder && self.leaves_all();
            if of_ladder && self.rules.profile.grammar != Grammar::Ignored {
                // Few URLs are of hosts with rules of their own, so the general rules judge first. What they call
                // unclean and those of its host clean is only written once more.
                let visitor = ByHost { normalizer: self, hosts, bytes, visitor };
                if !heuristics.act() {
                    return kernel.judge_each(batch, Clean(Rfc3986, UrlKind::Absolute), visitor);
                }
                let judge = ByFastPathOr(Aggressive, heuristics.steps(), if_long);
                return kernel.judge_each(batch, judge, visitor);
            }
            let is_clean = |range: Range<usize>| self.is_clean_by_host(hosts, &bytes[range]);
            return kernel.judge_each(batch, is_clean, visitor);
        }
        if !(self.leaves_all() || self.acts_by_system_alone()) {
            let is_clean = |range| self.is_clean_in(bytes, range, UrlKind::Absolute);
            return kernel.judge_each(batch, is_clean, visitor);
        }
        // Systems check bytes where the fast path declines. The steps of `aggressive` and `ia` do not, since
        // they change nearly every URL that it declines.
        let by_bytes = |url: &[u8], _| self.rules.leaves_by_bytes(url, UrlKind::Absolute);
        match self.rules.profile.system {
            System::Archive => {
                kernel.judge_each(batch, ByFastPathOr(IaKey, ia::clean::KeyCuts, if_long), visitor);
            }
            System::Servlet => {
                let empty = self.rules.empty_segments();
                kernel.judge_each(batch, ByFastPathOr(Servlet, empty, by_bytes), visitor);
            }
            System::Sanitizer => {
                let judge = ByFastPathOr(Sanitizer, sanitize::NoAddress, by_bytes);
                kernel.judge_each(batch, judge, visitor);
            }
            System::Ladder if heuristics.act() => {
                let judge = ByFastPathOr(Aggressive, heuristics.steps(), if_long);
                kernel.judge_each(batch, judge, visitor);
            }
            _ => match self.rules.ring() {
                Some(ring) => {
                    kernel.judge_each(batch, ByFastPathOr(Rfc3986, ring, by_bytes), visitor)
                }
                None if self.rules.profile.grammar == Grammar::Ignored => {
                    kernel.judge_each(batch, Verbatim, visitor);
                }
                None if self.rules.profile.system == System::Browser => {
                    kernel.judge_each(batch, Clean(Browser, UrlKind::Absolute), visitor);
                }
                None => kernel.judge_each(batch, Clean(Rfc3986, UrlKind::Absolute), visitor),
            },
        }
    }

    /// Whether every URL that the scanner proves clean stays unchanged.
    #[inline]
    pub(in crate::normalize) fn leaves_all(&self) -> bool {
        self.redirects.is_none() && self.rules.leaves_all()
    }

    /// Whether only a container, a ring or the sanitizer acts.
    #[inline]
    fn acts_by_system_alone(&self) -> bool {
        !(self.rules.profile.system.has_masks() || self.rules.profile.system == System::Browser)
            && self.redirects.is_none()
            && self.rules.reads_utf8_alone()
            && !self.rules.checks_harmless()
    }

    /// Whether no redirect replaces a canonical URL.
    #[inline]
    pub(in crate::normalize) fn stays(&self, canonical: &[u8]) -> bool {
        self.redirects.as_ref().is_none_or(|ends| ends.of(canonical).is_none())
    }
}

/// Passes on which URLs are clean by the general rules and by those of their hosts.
struct ByHost<'a> {
    normalizer: &'a Normalizer,
    hosts: &'a Hosts,
    bytes: &'a [u8],
    visitor: Note<'a>,
}

impl Visitor for ByHost<'_> {
    #[inline(always)]
    fn visit<V: Vector>(&mut self, vector: V, number: usize, span: Span, is_clean: bool) {
        let url = &self.bytes[span.range()];
        let is_clean = is_clean && self.normalizer.stays_clean_by_host(self.hosts, url);
        self.visitor.visit(vector, number, span, is_clean);
    }
}

impl Ruleset {
    /// Whether the URL or target `bytes[range]` is proven clean by these rules.
    #[inline]
    pub(in crate::normalize) fn is_clean(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
    ) -> bool {
        if let Some(result) = self.fast_path(bytes, range.clone(), kind) {
            let url = &bytes[range];
            return match result {
                FastPathResult::Unclean => false,
                FastPathResult::Declined if self.profile.system.has_masks() => false,
                FastPathResult::Declined | FastPathResult::TooLong => self.leaves(url, kind),
                FastPathResult::Done => !self.is_transcoded(url, kind),
            };
        }
        is_proven(self.kernel, &self.profile, bytes, range.clone(), kind)
            && (self.leaves_all() || self.leaves(&bytes[range], kind))
    }

    /// The result of the fast path, under a profile that has one.
    #[inline]
    fn fast_path(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
    ) -> Option<FastPathResult> {
        let kernel = self.kernel;
        let heuristics = &self.heuristics;
        match self.profile.system {
            System::Archive => {
                Some(kernel.judge(bytes, range, ByFastPath(IaKey, kind, ia::clean::KeyCuts)))
            }
            System::Servlet => {
                Some(kernel.judge(bytes, range, ByFastPath(Servlet, kind, self.empty_segments())))
            }
            System::Ring(_) => {
                self.ring().map(|ring| kernel.judge(bytes, range, ByFastPath(Rfc3986, kind, ring)))
            }
            // The masks know nothing of these checks.
            System::Sanitizer if self.checks_harmless() => Some(FastPathResult::Unclean),
            System::Sanitizer => {
                Some(kernel.judge(bytes, range, ByFastPath(Sanitizer, kind, sanitize::NoAddress)))
            }
            System::Ladder if heuristics.act() => {
                Some(kernel.judge(bytes, range, ByFastPath(Aggressive, kind, heuristics.steps())))
            }
            System::Ladder | System::Browser => None,
        }
    }

    /// Whether a URL with a port is its own form. The scanner proves no URL with a port clean.
    #[inline(never)]
    pub(in crate::normalize) fn is_clean_but_for_port(
        &self,
        bytes: &[u8],
        range: Range<usize>,
    ) -> bool {
        let url = &bytes[range.clone()];
        let (own, host_at) = match url {
            [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => (&b"80"[..], 7),
            [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => (&b"443"[..], 8),
            _ => return false,
        };
        let Some(slash) = memchr(b'/', &url[host_at..]) else { return false };
        let authority = &url[host_at..host_at + slash];
        // An empty host is never clean.
        let Some(colon @ 1..) = memchr(b':', authority) else { return false };
        let (host, port) = (&authority[..colon], &authority[colon + 1..]);
        let (lowest, leaves_host) = match self.profile.system {
            System::Sanitizer => (FIRST_FREE_PORT, sanitize::is_no_address(host)),
            System::Browser => (0, !whatwg::host::ends_in_number(host)),
            System::Archive => (0, ia::clean::is_canonical_host(host)),
            _ => (0, self.heuristics.is_canonical_host(host)),
        };
        // A greater port than 65535 fails to parse as 16 bits, and zeros in front would go.
        let port_stays = !matches!(port, [] | [b'0', ..])
            && port != own
            && port.iter().all(u8::is_ascii_digit)
            && std::str::from_utf8(port).is_ok_and(|port| port.parse().is_ok_and(|n| lowest <= n))
            && self.ports.is_none();
        let host_stays = leaves_host
            && !host.ends_with(b".")
            && host.iter().all(|byte| CLEAN_HOST.contains(*byte));
        // The rest is proven as a target: the scanner declines whatever has a port.
        let path = range.start + host_at + slash;
        port_stays && host_stays && self.is_clean(bytes, path..range.end, UrlKind::Target)
    }

    /// Whether every URL that the scanner proves clean stays unchanged.
    #[inline]
    fn leaves_all(&self) -> bool {
        (self.profile.system.has_masks() || self.profile.system == System::Browser)
            && self.reads_utf8_alone()
    }

    /// Whether a check is on that the scanner proves nothing for.
    #[inline]
    fn checks_harmless(&self) -> bool {
        self.profile.system == System::Sanitizer && !OF_HARMLESS.without(self.allowed).is_empty()
    }

    /// Whether no other charset is set for triplets.
    #[inline]
    fn reads_utf8_alone(&self) -> bool {
        #[cfg(feature = "transcode")]
        return self.transcoding.is_none();
        #[cfg(not(feature = "transcode"))]
        return true;
    }

    /// Whether another charset is set and changes the triplets of this URL.
    #[inline]
    fn is_transcoded(&self, url: &[u8], kind: UrlKind) -> bool {
        #[cfg(feature = "transcode")]
        if !self.reads_utf8_alone() {
            return self.transcoded(url, kind).is_some();
        }
        let _ = (url, kind);
        false
    }

    /// Whether a URL or target that the scanner proved clean is clean here.
    #[inline]
    fn leaves(&self, url: &[u8], kind: UrlKind) -> bool {
        !self.is_transcoded(url, kind) && self.leaves_by_bytes(url, kind)
    }

    #[inline]
    fn leaves_by_bytes(&self, url: &[u8], kind: UrlKind) -> bool {
        let heuristics = &self.heuristics;
        match (self.profile.system, kind) {
            (System::Archive, _) => ia::clean::is_canonical(url, kind),
            (System::Browser, _) => true,
            (System::Ladder, _) if !heuristics.act() => true,
            (System::Ladder, _) => heuristics.is_canonical(url, kind),
            (System::Sanitizer, UrlKind::Absolute) => {
                behind_slashes(url).is_some_and(sanitize::is_no_address)
            }
            (System::Sanitizer, UrlKind::Target) => true,
            (System::Servlet | System::Ring(_), UrlKind::Absolute) => behind_slashes(url)
                .is_some_and(|rest| {
                    let path = memchr(b'/', rest).map_or(&b""[..], |slash| &rest[slash..]);
                    self.leaves_path(path, 1)
                }),
            (System::Servlet | System::Ring(_), UrlKind::Target) => self.leaves_path(url, 0),
        }
    }

    /// Whether the system leaves the path at the start of `path_and_query` unchanged. A ring does not act
    /// on its first `fixed` bytes.
    #[inline]
    fn leaves_path(&self, path_and_query: &[u8], fixed: usize) -> bool {
        let end = memchr(b'?', path_and_query).unwrap_or(path_and_query.len());
        let path = &path_and_query[..end];
        match self.ring() {
            Some(ring) => ring::is_canonical(ring, &path[fixed.min(end)..]),
            None => servlet::is_canonical(path, self.empty_segments()),
        }
    }
}

/// Whether the URL or target `bytes[range]` is proven clean by the rules of the ladder or of the URL
/// Standard.
#[inline]
pub(in crate::normalize) fn is_proven(
    kernel: Kernel,
    rules: &Policy,
    bytes: &[u8],
    range: Range<usize>,
    kind: UrlKind,
) -> bool {
    if rules.grammar == Grammar::Ignored {
        // A target must start with a slash even then.
        let starts_well = kind == UrlKind::Absolute || bytes[range.clone()].first() == Some(&b'/');
        return kernel.judge(bytes, range, Verbatim) && starts_well;
    }
    match rules.system {
        System::Browser => kernel.judge(bytes, range, Clean(Browser, kind)),
        _ => kernel.judge(bytes, range, Clean(Rfc3986, kind)),
    }
}

/// The text after `http://` or `https://` in a URL that the scanner proved clean.
#[inline]
pub(in crate::normalize) fn behind_slashes(url: &[u8]) -> Option<&[u8]> {
    // The fifth byte is the colon of `http:` or the last letter of `https:`.
    url.get(if url.get(4) == Some(&b':') { 7 } else { 8 }..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::trace::NoTrace;
    use crate::profile::Profile;

    #[test]
    fn port_fast_path_agrees_with_the_exact_path() {
        #[rustfmt::skip]
        const HOSTS: &[&str] = &[
            "h.example", "H.example", "1a.b", "a.1", "a.1a", "a.0x1", "a.08", "1.2.3.4", "1.2.3", "h.", "", "u@h",
            "[::1]", "a!b", "xn--a", "h%41",
        ];
        #[rustfmt::skip]
        const PORTS: &[&str] = &[
            "1", "80", "443", "444", "21", "1023", "1024", "8080", "65535", "65536", "080", "0", "", "8a", "+1",
        ];
        #[rustfmt::skip]
        const TAILS: &[&str] = &[
            "/", "", "/a/b?c=d", "//a", "/.", "/..a", "/%2e", "/%41", "/%C3%A9", "/%", "/a;b", "/!'", "/?'", "/a b", "#f",
            "/|^", "/?a|b", "/\u{e9}", "/A//B",
        ];
        // Miri would take hours for all cases.
        let each = if cfg!(miri) { 61 } else { 1 };
        for profile in Profile::ALL.iter().filter(|profile| !profile.rules().system.has_masks()) {
            let normalizer = Normalizer::new(*profile);
            let (mut made, mut proven) = (0, 0);
            for (scheme, other) in [("http", "https"), ("https", "ftp"), ("ftp", "http")] {
                for host in HOSTS {
                    for (port, tail) in
                        PORTS.iter().flat_map(|port| TAILS.iter().map(move |tail| (port, tail)))
                    {
                        made += 1;
                        if made % each != 0 {
                            continue;
                        }
                        let url = format!("{scheme}://{host}:{port}{tail}");
                        let bytes = format!("{url}{other}://x:1/").into_bytes();
                        if !normalizer.rules.is_clean_but_for_port(&bytes, 0..url.len()) {
                            continue;
                        }
                        let mut out = Vec::new();
                        let result = normalizer.rules.rewrite_by_system(
                            url.as_bytes(),
                            UrlKind::Absolute,
                            &mut out,
                            &mut NoTrace,
                        );
                        let out = result.map(|()| String::from_utf8_lossy(&out).into_owned());
                        assert_eq!(out.as_deref(), Ok(&*url), "{}", profile.name());
                        proven += 1;
                    }
                }
            }
            assert!(proven * each > 50, "{}: {proven}", profile.name());
        }
    }
}
