//! Which URLs are proven clean under a profile, and what becomes at once of those that are clean under
//! the ladder alone.
//!
//! The scanner proves that a URL is clean under the ladder. What a profile does beside that is looked
//! for here: with the scanner's marks, a bit for each byte, where the URL is short enough to have some,
//! else byte by byte.

use std::ops::Range;

use memchr::memchr;

use super::clean::Clean;
use super::normalizer::Normalizer;
use super::parts::Parts;
use super::{heuristic, ia, ring, sanitize, servlet};
use crate::profile::System;
use crate::profile::set::CLEAN_HOST;
use crate::scan::{
    Act, Container, Delimiters, Experience, Few, Foldable, Index, Ladder, Lead, Look, Marked,
    Marks, NOTHING, Piece, Seen, Settled, Unescaped,
};

impl Normalizer {
    /// Appends one bit for each span, 64 to a word: whether the URL there is proven clean.
    #[cfg(feature = "batch")]
    pub(crate) fn clean(&self, piece: Piece<'_>, out: &mut Vec<u64>) {
        self.judge_each(piece, crate::scan::Bits(out));
    }

    /// Does something about each URL, by whether it is proven clean.
    pub(super) fn judge_each(&self, piece: Piece<'_>, act: impl Act) {
        let (kernel, heuristics) = (self.kernel(), &self.choices.heuristics);
        if self.choices.hosts.is_none() && self.look().is_some() {
            return self.judge_each_by_marks(piece, act);
        }
        if self.choices.hosts.is_some() || !self.leaves_all() {
            return kernel.each(piece, |url| self.is_clean(url), act);
        }
        let is_clean = |url: &[u8]| self.leaves_by_bytes(url, Lead::Absolute);
        if let Some(archive) = self.rules.archive {
            kernel.settle_each::<Index>(piece, archive, is_clean, act);
        } else if self.profile().system == System::Ladder && heuristics.act() {
            kernel.settle_each::<Experience>(piece, heuristics.steps(), is_clean, act);
        } else {
            kernel.clean(&self.rules, piece, act);
        }
    }

    /// The same where marks are made for the profile: a loop for each kind of profile, so that nothing about
    /// it is asked for each URL. What is not inlined into a loop lacks the instruction set, and takes
    /// many instructions to find or count bits.
    fn judge_each_by_marks(&self, piece: Piece<'_>, act: impl Act) {
        let kernel = self.kernel();
        match (self.ring(), self.profile().system) {
            (Some(ring), _) => {
                let judge = self.judge(
                    #[inline(always)]
                    |clean| ring::leaves_marked(ring, clean, 1),
                );
                kernel.mark_each::<Ladder, Few>(piece, ring.encoded(), ring, judge, act);
            }
            (_, System::Servlet) => {
                let empty = self.empty_segments();
                let judge = self.judge(
                    #[inline(always)]
                    |clean| servlet::leaves_marked(clean, empty),
                );
                kernel.mark_each::<Container, Delimiters>(piece, &NOTHING, empty, judge, act);
            }
            _ => {
                let judge = self.judge(
                    #[inline(always)]
                    |clean| sanitize::leaves(clean.host_name()),
                );
                let settle = sanitize::NoAddress;
                kernel.mark_each::<Unescaped, Delimiters>(piece, &NOTHING, settle, judge, act);
            }
        }
    }

    /// Whether a URL is clean, by what was seen of it and what `leaves` says of its marks.
    #[inline(always)]
    fn judge<'a>(
        &'a self,
        leaves: impl Fn(&Clean<'_>) -> bool + 'a,
    ) -> impl Fn(&[u8], Seen<'_>) -> bool + 'a {
        let lead = Lead::Absolute;
        let by_rules_alone = self.reads_utf8_alone() && self.choices.redirects.is_none();
        #[inline(always)]
        move |url, seen| match seen {
            Seen::Settled => by_rules_alone || !self.is_transcoded(url, lead) && self.stays(url),
            Seen::Marked(Marked::Unclean, _) => false,
            Seen::Marked(Marked::TooLong, _) => self.leaves(url, lead),
            Seen::Marked(Marked::Clean, marks) => {
                leaves(&Clean::new(url, lead, marks))
                    && (by_rules_alone || !self.is_transcoded(url, lead) && self.stays(url))
            }
        }
    }

    /// Whether the URL or target `bytes[range]` is proven clean by the rules for any host.
    #[inline]
    pub(super) fn is_clean_by_rules(&self, bytes: &[u8], range: Range<usize>, lead: Lead) -> bool {
        if let Some(settled) = self.settled(bytes, range.clone(), lead) {
            let url = &bytes[range];
            return match settled {
                Settled::Unclean | Settled::No => false,
                Settled::TooLong => self.leaves(url, lead),
                Settled::Yes => self.stays_as_read(url, lead),
            };
        }
        if let Some(look) = self.look() {
            let mut marks = Marks::default();
            let marked = self.kernel().mark(bytes, range.clone(), lead, look, &mut marks);
            return self.is_marked_clean(&bytes[range], lead, marked, &marks);
        }
        let url = &bytes[range];
        let proven = match lead {
            Lead::Absolute => self.kernel().is_clean(&self.rules, url),
            Lead::Target => self.kernel().is_clean_target(&self.rules, url),
        };
        proven && self.leaves(url, lead)
    }

    #[inline(always)]
    fn is_marked_clean(&self, url: &[u8], lead: Lead, marked: Marked, marks: &Marks) -> bool {
        match marked {
            Marked::Unclean => false,
            Marked::TooLong => self.leaves(url, lead),
            Marked::Clean => {
                self.leaves_by_marks(&Clean::new(url, lead, marks))
                    && !self.is_transcoded(url, lead)
                    && self.stays(url)
            }
        }
    }

    /// What a glance settles, where the profile is one that takes no more than that.
    #[inline]
    fn settled(&self, bytes: &[u8], range: Range<usize>, lead: Lead) -> Option<Settled> {
        let kernel = self.kernel();
        if let Some(archive) = self.rules.archive {
            return Some(kernel.settle::<Index>(bytes, range, lead, archive));
        }
        let heuristics = &self.choices.heuristics;
        let act = self.profile().system == System::Ladder && heuristics.act();
        act.then(|| kernel.settle::<Experience>(bytes, range, lead, heuristics.steps()))
    }

    /// Whether the profile does more than the ladder.
    #[inline]
    fn does_more(&self) -> bool {
        self.rules.archive.is_some()
            || match self.profile().system {
                System::Ladder => self.choices.heuristics.act(),
                System::Browser => false,
                System::Sanitizer | System::Servlet | System::Ring(_) => true,
            }
    }

    /// How to prove that a URL is clean, where the profile does more than the ladder and marks are made.
    #[inline]
    fn look(&self) -> Option<Look<'_>> {
        match self.profile().system {
            System::Servlet => Some(Look::Container),
            System::Ring(_) => self.ring().map(|ring| Look::Path(ring.encoded())),
            System::Sanitizer => Some(Look::Unescaped),
            System::Ladder | System::Browser => None,
        }
    }

    #[inline(always)]
    fn leaves_by_marks(&self, clean: &Clean<'_>) -> bool {
        match (self.ring(), self.profile().system) {
            // In an absolute URL the first slash is no part of what a ring acts on.
            (Some(ring), _) => ring::leaves_marked(ring, clean, usize::from(clean.host > 0)),
            (_, System::Servlet) => servlet::leaves_marked(clean, self.empty_segments()),
            _ => sanitize::leaves(clean.host_name()),
        }
    }

    /// Appends the canonical form of the URL or target `bytes[range]` under a profile of the ladder that
    /// does more than the scanner's proof says, where it is clean but for that. `None`, and nothing
    /// appended, where it is to be made the exact way.
    #[inline]
    pub(super) fn rewrite_clean(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        lead: Lead,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        if !self.does_more() {
            return None;
        }
        self.rewrite_at_a_glance(bytes, range, lead, out)
    }

    /// Whether nothing acts but the rules of a profile that does more than the ladder.
    #[inline]
    pub(super) fn acts_at_a_glance(&self) -> bool {
        self.profile().system == System::Ladder
            && self.choices.hosts.is_none()
            && self.leaves_all()
            && self.does_more()
    }

    /// The same for such a profile.
    #[inline(never)]
    pub(super) fn rewrite_at_a_glance(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        lead: Lead,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let (kernel, heuristics) = (self.kernel(), &self.choices.heuristics);
        let settled = match self.rules.archive {
            Some(archive) => {
                let write = ia::clean::Write { archive, out };
                kernel.settle::<Foldable>(bytes, range.clone(), lead, write)
            }
            None => {
                let write = heuristic::clean::Write { steps: heuristics.steps(), out };
                kernel.settle::<Experience>(bytes, range.clone(), lead, write)
            }
        };
        match settled {
            Settled::Yes => Some(()),
            Settled::Unclean => {
                if lead == Lead::Absolute && self.is_clean_but_for_port(bytes, range.clone()) {
                    out.extend_from_slice(&bytes[range]);
                    return Some(());
                }
                None
            }
            Settled::TooLong | Settled::No if self.rules.archive.is_some() => None,
            Settled::TooLong | Settled::No => {
                let parts = match lead {
                    Lead::Absolute => Parts::split(&bytes[range]),
                    Lead::Target => Parts::split_target(&bytes[range]),
                };
                heuristics.append(&parts, out);
                Some(())
            }
        }
    }

    /// Takes what merges by experience take from the canonical URL or target between `at` and the end of
    /// `out`.
    #[inline]
    pub(super) fn merge(&self, at: usize, lead: Lead, out: &mut Vec<u8>) {
        let heuristics = &self.choices.heuristics;
        if !heuristics.act() {
            return;
        }
        // What is proven clean needs no second allocation.
        let mut room = [0; 256];
        let length = out.len() - at;
        if let Some(copy) = room.get_mut(..length) {
            copy.copy_from_slice(&out[at..]);
            out.truncate(at);
            let write = heuristic::clean::Write { steps: heuristics.steps(), out };
            let settled = self.kernel().settle::<Experience>(&room, 0..length, lead, write);
            if settled == Settled::Yes {
                return;
            }
            out.extend_from_slice(&room[..length]);
        }
        match lead {
            Lead::Absolute => heuristics.rewrite(at, out),
            Lead::Target => heuristics.rewrite_target(at, out),
        }
    }

    /// Whether a URL with a port, which the scanner proves of none, is its own form under a profile of
    /// the ladder that does more, a container or a ring.
    #[inline(never)]
    pub(super) fn is_clean_but_for_port(&self, bytes: &[u8], range: Range<usize>) -> bool {
        let url = &bytes[range.clone()];
        let (own, host_at) = match url {
            [b'h', b't', b't', b'p', b':', b'/', b'/', ..] => (&b"80"[..], 7),
            [b'h', b't', b't', b'p', b's', b':', b'/', b'/', ..] => (&b"443"[..], 8),
            _ => return false,
        };
        let Some(slash) = memchr(b'/', &url[host_at..]) else { return false };
        let authority = &url[host_at..host_at + slash];
        let Some(colon) = memchr(b':', authority) else { return false };
        let (host, port) = (&authority[..colon], &authority[colon + 1..]);
        let port_stays = !matches!(port, [] | [b'0', ..])
            && port != own
            && port.iter().all(u8::is_ascii_digit)
            && std::str::from_utf8(port).is_ok_and(|port| port.parse::<u16>().is_ok())
            && self.choices.ports.is_none();
        let host_stays = !host.is_empty()
            && !host.ends_with(b".")
            && host.iter().all(|byte| CLEAN_HOST.contains(*byte))
            && match self.rules.archive {
                Some(archive) => ia::clean::keeps_host_whole(host, archive),
                None => self.choices.heuristics.leave_host(host),
            };
        let path = range.start + host_at + slash;
        port_stays && host_stays && self.is_clean_by_rules(bytes, path..range.end, Lead::Target)
    }

    /// Whether every URL that the scanner proves clean is left.
    #[inline]
    pub(super) fn leaves_all(&self) -> bool {
        matches!(self.profile().system, System::Ladder | System::Browser)
            && self.choices.redirects.is_none()
            && self.reads_utf8_alone()
    }

    /// Whether triplets are in no other charset.
    #[inline]
    fn reads_utf8_alone(&self) -> bool {
        #[cfg(feature = "transcode")]
        return self.choices.transcoding.is_none();
        #[cfg(not(feature = "transcode"))]
        return true;
    }

    /// Whether triplets are in another charset that says something else.
    #[inline]
    fn is_transcoded(&self, url: &[u8], lead: Lead) -> bool {
        #[cfg(feature = "transcode")]
        if !self.reads_utf8_alone() {
            return match lead {
                Lead::Absolute => self.transcoded(url).is_some(),
                Lead::Target => self.transcoded_target(url).is_some(),
            };
        }
        let _ = (url, lead);
        false
    }

    /// Whether a URL or target that the scanner proved clean is clean here.
    #[inline]
    fn leaves(&self, url: &[u8], lead: Lead) -> bool {
        self.stays_as_read(url, lead) && self.leaves_by_bytes(url, lead)
    }

    /// Whether it is, given that the rules of the profile leave it.
    #[inline]
    fn stays_as_read(&self, url: &[u8], lead: Lead) -> bool {
        !self.is_transcoded(url, lead) && self.stays(url)
    }

    /// Whether no redirect leads away from a canonical URL.
    #[inline]
    pub(super) fn stays(&self, canonical: &[u8]) -> bool {
        self.choices.redirects.as_ref().is_none_or(|ends| ends.of(canonical).is_none())
    }

    #[inline]
    fn leaves_by_bytes(&self, url: &[u8], lead: Lead) -> bool {
        let heuristics = &self.choices.heuristics;
        if let Some(archive) = self.rules.archive {
            return ia::clean::leaves_long(url, lead, archive);
        }
        match (self.profile().system, lead) {
            (System::Browser, _) => true,
            (System::Ladder, _) if !heuristics.act() => true,
            (System::Ladder, Lead::Absolute) => heuristics.leave_clean(url),
            (System::Ladder, Lead::Target) => heuristics.leave_clean_target(url),
            (System::Sanitizer, Lead::Absolute) => {
                behind_slashes(url).is_some_and(sanitize::leaves)
            }
            (System::Sanitizer, Lead::Target) => true,
            (System::Servlet | System::Ring(_), Lead::Absolute) => {
                behind_slashes(url).is_some_and(|rest| {
                    let path = memchr(b'/', rest).map_or(&b""[..], |slash| &rest[slash..]);
                    self.leaves_path(path, 1)
                })
            }
            (System::Servlet | System::Ring(_), Lead::Target) => self.leaves_path(url, 0),
        }
    }

    /// Whether the system leaves the path at the start of `path_and_query`. Its first `fixed` bytes
    /// are no part of what a ring acts on.
    #[inline]
    fn leaves_path(&self, path_and_query: &[u8], fixed: usize) -> bool {
        let end = memchr(b'?', path_and_query).unwrap_or(path_and_query.len());
        let path = &path_and_query[..end];
        match self.ring() {
            Some(ring) => ring::leaves(ring, &path[fixed.min(end)..]),
            None => servlet::leaves(path, self.empty_segments()),
        }
    }
}

/// What follows `http://` or `https://` in a URL that the scanner proved clean.
#[inline]
fn behind_slashes(url: &[u8]) -> Option<&[u8]> {
    url.get(if url.get(4) == Some(&b':') { 7 } else { 8 }..)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::profile::{Profile, Switch, archive};
    use crate::scan::{Backend, Kernel};
    use crate::url::outcome::Outcome;

    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "a", "B", "b", "www.", "www1.", "1", ".", "..", "/", "/", "//", "?", "?", "&", "&", "&", "=", "=", "%2F", "%20", "%C3%A9",
        "%25", "%2525", "%23", "%0A", "%7F", ";", "(", ";jsessionid=1", "(S(a1))", "index.html", "Default.ASP", "sid=", "SID=",
        "0123456789abcdef0123456789ABCDEF", "cfid=1", "CFTOKEN=2", "utm_source=x", "Fbclid", "phpsessid=1", "x.aspx",
        "(abcdefghijklmnopqrstuvwx)", "aspsessionidABCDEFGH=ABCDEFGHIJKLMNOPQRSTUVWX", "z=9", "a=1", "a=", "-", "+", "'", "!",
        "abcdefghijklmnopqrstuvwxyz0123456789", "c", "cat=1", "%c3%a9", "%0a", "%2f", "%5e",
        "&category_b=1", "&category_a=2", "&CATEGORY_A&", "category=", "/index.html", "?a1=2&a=3", "&b1=2&b",
        "a-value-that-is-longer-than-a-block-of-sixty-four-bytes-which-few-parameters-are",
    ];

    const FRONTS: &[&str] = &[
        "http://h.example/",
        "https://www.h.example/",
        "http://www.com/",
        "http://www1.2/",
        "https://www.www.a.b/x/",
        "http://1/",
        "http://.a..b/",
        "http://h/?",
        "http://h/(",
        "http://h/a/(",
        "https://h.example",
        "/",
        "//",
        "http://www2.w.x/a?b=1&a",
        "http://h.example:8080/",
        "https://www.h.example:8443/",
        "http://www.com:1/",
        "https://h:80/",
        "http://h:80/",
        "http://h:08/",
        "http://h:/",
        "http://h:+1/",
        "https://h:65535/",
        "https://h:65536/",
        "http://H:1/",
        "http://h..x:1/",
        "http://h.:1/",
        "http://1:1/",
    ];

    fn drawn(state: &mut u64) -> Vec<u8> {
        let mut draw = |n: usize| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*state >> 33) as usize % n
        };
        let mut url = FRONTS[draw(FRONTS.len())].to_owned();
        for _ in 0..draw(12) {
            url.push_str(WORDS[draw(WORDS.len())]);
        }
        url.into_bytes()
    }

    /// What the exact normalizer makes of a URL.
    fn exact(normalizer: &Normalizer, url: &[u8], lead: Lead) -> Result<Vec<u8>, ()> {
        let (mut out, mut canonical) = (Vec::new(), url.to_vec());
        if normalizer.rules.archive.is_none() {
            let scheme = *normalizer.profile() == Profile::SCHEME;
            let rung = Normalizer::new(if scheme { &Profile::SCHEME } else { &Profile::CRAWL });
            canonical.clear();
            let outcome = match lead {
                Lead::Absolute => rung.normalize(url, &mut canonical),
                Lead::Target => rung.normalize_target(url, &mut canonical),
            };
            if outcome != Outcome::Canonical {
                return Err(());
            }
        }
        let parts = match lead {
            Lead::Absolute => Parts::split(&canonical),
            Lead::Target => Parts::split_target(&canonical),
        };
        match (normalizer.rules.archive, lead) {
            (Some(rules), Lead::Absolute) => {
                ia::absolute(&parts, rules, &mut out).map_err(|_| ())?
            }
            (Some(rules), Lead::Target) => ia::path_and_query(&parts, rules, &mut out),
            (None, _) => normalizer.choices.heuristics.append(&parts, &mut out),
        }
        Ok(out)
    }

    #[test]
    fn what_is_written_at_once_is_what_the_exact_way_writes() {
        let archive::Archive { twins, sessions, initials, .. } = archive::IA;
        assert!(twins.iter().all(|twin| twin.len() > 1 && initials.contains(twin[0])));
        assert!(sessions.iter().all(|session| initials.contains(session.name[0])));
        let aggressive = || Normalizer::new(&Profile::AGGRESSIVE);
        let switched = |switch: Switch| aggressive().without_switches([switch]).unwrap();
        let steps = Profile::AGGRESSIVE.switches().iter().map(switched);
        let lists = aggressive().with_dropped_parameters(["a*"]).unwrap();
        let more = [Switch::LowerPath, Switch::FoldScheme, Switch::DropQuery];
        let more = more.map(|switch| aggressive().with_switches([switch]).unwrap());
        let one = Normalizer::new(&Profile::SCHEME).with_switches([Switch::SortQuery]).unwrap();
        let normalizers: Vec<Normalizer> =
            [Normalizer::new(&Profile::IA), aggressive(), lists, one]
                .into_iter()
                .chain(steps)
                .chain(more)
                .collect();
        let backends = Backend::available();
        let (mut state, mut written, mut proven) = (1, 0, 0);
        let many = cases(30_000).max(80);
        for case in 0..many {
            let url = drawn(&mut state);
            let backend = backends[case % backends.len()];
            let kernel = Kernel::new(backend).unwrap();
            let i = if case % 3 == 0 { 0 } else { case % normalizers.len() };
            let normalizer = normalizers[i].clone().with_backend(backend);
            for lead in [Lead::Absolute, Lead::Target] {
                let context = || format!("{backend:?} {} {}", i, url.escape_ascii());
                let clean = match lead {
                    Lead::Absolute => kernel.is_clean(&Profile::CRAWL, &url),
                    Lead::Target => kernel.is_clean_target(&Profile::CRAWL, &url),
                };
                let exact = exact(&normalizer, &url, lead);
                // With room behind it, and without.
                for bytes in [url.clone(), [&url[..], &[b'/'; 600]].concat()] {
                    let mut out = b"before".to_vec();
                    match normalizer.rewrite_clean(&bytes, 0..url.len(), lead, &mut out) {
                        Some(()) => {
                            let got = out.strip_prefix(b"before").unwrap();
                            let expected =
                                exact.as_deref().map(|url| url.escape_ascii().to_string());
                            assert_eq!(
                                Ok(got.escape_ascii().to_string()),
                                expected,
                                "{}",
                                context()
                            );
                            written += 1;
                        }
                        None => assert_eq!(out, b"before", "{}", context()),
                    }
                    let range = 0..url.len();
                    if normalizer.is_clean_by_rules(&bytes, range, lead) {
                        assert!(exact.as_ref() == Ok(&url), "{}", context());
                        proven += 1;
                    }
                }
                let mut out = Vec::new();
                let outcome = match lead {
                    Lead::Absolute => normalizer.normalize(&url, &mut out),
                    Lead::Target => normalizer.normalize_target(&url, &mut out),
                };
                if clean && outcome == Outcome::Canonical {
                    assert_eq!(Ok(out), exact, "{}", context());
                }
            }
        }
        assert!(written > many / 30 && proven > many / 100, "{written} written, {proven} proven");
    }
}
