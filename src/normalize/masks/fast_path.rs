//! Fast path for `aggressive` and `ia`: URLs that are clean under the ladder are rewritten by masks.

use std::ops::Range;

use crate::normalize::exact::ia::clean::KeyCuts;
use crate::normalize::explain::tell_merges;
use crate::normalize::judge::rules::{Aggressive, IaFolded};
use crate::normalize::masks::cuts::Write;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::parts::Parts;
use crate::normalize::ruleset::Ruleset;
use crate::normalize::trace::Trace;
use crate::profile::System;
use crate::simd::{ByFastPath, FastPathResult, UrlKind};

impl Normalizer {
    /// Whether only the rules of a profile that does more than the ladder act.
    #[inline]
    pub(in crate::normalize) fn has_fast_path(&self) -> bool {
        self.rules.profile.system.has_masks()
            && self.hosts.is_none()
            && self.leaves_all()
            && self.rules.does_more()
    }
}

impl Ruleset {
    /// Whether the profile does more than the ladder.
    #[inline]
    pub(in crate::normalize) fn does_more(&self) -> bool {
        match self.profile.system {
            System::Ladder => self.heuristics.act(),
            System::Browser => false,
            System::Archive | System::Sanitizer | System::Servlet | System::Ring(_) => true,
        }
    }

    /// Appends the canonical form of the URL or target `bytes[range]` under a profile that does more than the
    /// ladder, if the URL is clean under the ladder. Otherwise appends nothing and returns `None`: the caller
    /// then takes the exact path.
    #[inline(never)]
    pub(in crate::normalize) fn rewrite_by_fast_path(
        &self,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let (kernel, heuristics) = (self.kernel, &self.heuristics);
        let is_archive = self.profile.system == System::Archive;
        let result = match is_archive {
            true => {
                let write = Write { cuts: KeyCuts, out };
                kernel.judge(bytes, range.clone(), ByFastPath(IaFolded, kind, write))
            }
            false => {
                let write = Write { cuts: heuristics.steps(), out };
                kernel.judge(bytes, range.clone(), ByFastPath(Aggressive, kind, write))
            }
        };
        match result {
            FastPathResult::Done => Some(()),
            FastPathResult::Unclean => {
                // The scanner proves no URL with a port.
                let is_clean =
                    kind == UrlKind::Absolute && self.is_clean_but_for_port(bytes, range.clone());
                is_clean.then(|| out.extend_from_slice(&bytes[range]))
            }
            FastPathResult::TooLong | FastPathResult::Declined if is_archive => None,
            // The URL is clean under the ladder, so only the merges are left to do.
            FastPathResult::TooLong | FastPathResult::Declined => {
                heuristics.append(&Parts::of(kind, &bytes[range]), out);
                Some(())
            }
        }
    }

    /// Applies the heuristic merges to the canonical URL or target in `out[at..]`.
    #[inline]
    pub(in crate::normalize) fn merge<T: Trace>(
        &self,
        at: usize,
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) {
        let heuristics = &self.heuristics;
        if !heuristics.act() {
            return;
        }
        if T::RECORDS {
            tell_merges(heuristics, out[at..].to_vec(), kind, trace);
        }
        // A short URL is copied to the stack, so the fast path needs no second allocation.
        let mut room = [0; 256];
        let length = out.len() - at;
        if let Some(copy) = room.get_mut(..length) {
            copy.copy_from_slice(&out[at..]);
            out.truncate(at);
            let write = Write { cuts: heuristics.steps(), out };
            let result = self.kernel.judge(&room, 0..length, ByFastPath(Aggressive, kind, write));
            if result == FastPathResult::Done {
                return;
            }
            out.extend_from_slice(&room[..length]);
        }
        heuristics.rewrite(at, kind, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::exact::ia;
    use crate::normalize::trace::NoTrace;
    use crate::profile::{Profile, Switch};
    use crate::simd::{Backend, Kernel};
    use crate::test_util::cases;

    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "a", "B", "b", "www.", "www1.", "1", ".", "..", "/", "/", "//", "?", "?", "&", "&", "&", "=", "=", "%2F", "%20", "%C3%A9",
        "%25", "%2525", "%23", "%0A", "%7F", ";", "(", ";jsessionid=1", "(S(a1))", "index.html", "Default.ASP", "sid=", "SID=",
        "?q=x;sid=0123456789abcdef0123456789ABCDEF", "&foosid=0123456789abcdef0123456789abcdef", "&acfid=1&cftoken=2",
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

    /// The result of the exact normalizer.
    fn exact(normalizer: &Normalizer, url: &[u8], kind: UrlKind) -> Result<Vec<u8>, ()> {
        let (mut out, mut canonical) = (Vec::new(), url.to_vec());
        if normalizer.rules.profile.system != System::Archive {
            let scheme = normalizer.profile() == Profile::Scheme;
            let rung = Normalizer::new(if scheme { Profile::Scheme } else { Profile::Crawl });
            canonical.clear();
            if rung.append_as(kind, url, &mut canonical) != Ok(()) {
                return Err(());
            }
        }
        let parts = Parts::of(kind, &canonical);
        match (normalizer.rules.profile.system, kind) {
            (System::Archive, UrlKind::Absolute) => {
                ia::absolute(&parts, &mut out, &mut NoTrace).map_err(|_| ())?
            }
            (System::Archive, UrlKind::Target) => {
                ia::path_and_query(&parts, &mut out, &mut NoTrace);
            }
            _ => normalizer.rules.heuristics.append(&parts, &mut out),
        }
        Ok(out)
    }

    #[test]
    fn fast_path_agrees_with_the_exact_path() {
        let aggressive = || Normalizer::new(Profile::Aggressive);
        let switched = |switch: Switch| aggressive().without_switches([switch]).unwrap();
        let steps = Profile::Aggressive.switches().iter().map(switched);
        let lists = aggressive().with_dropped_parameters(["a*"]).unwrap();
        let more = [Switch::LowerPath, Switch::FoldScheme, Switch::DropQuery, Switch::BlankValues];
        let more = more.map(|switch| aggressive().with_switches([switch]).unwrap());
        let one = Normalizer::new(Profile::Scheme).with_switches([Switch::SortQuery]).unwrap();
        let normalizers: Vec<Normalizer> = [Normalizer::new(Profile::Ia), aggressive(), lists, one]
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
            for kind in [UrlKind::Absolute, UrlKind::Target] {
                let context = || format!("{backend:?} {} {}", i, url.escape_ascii());
                let clean = match kind {
                    UrlKind::Absolute => kernel.is_clean_alone(&url),
                    UrlKind::Target => kernel.is_clean_target_alone(&url),
                };
                let exact = exact(&normalizer, &url, kind);
                // With bytes after the URL, and without.
                for bytes in [url.clone(), [&url[..], &[b'/'; 600]].concat()] {
                    let mut out = b"before".to_vec();
                    match normalizer.rules.rewrite_by_fast_path(
                        &bytes,
                        0..url.len(),
                        kind,
                        &mut out,
                    ) {
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
                    if normalizer.rules.is_clean(&bytes, range, kind) {
                        assert!(exact.as_ref() == Ok(&url), "{}", context());
                        proven += 1;
                    }
                }
                let mut out = Vec::new();
                let outcome = normalizer.append_as(kind, &url, &mut out);
                if clean && outcome == Ok(()) {
                    assert_eq!(Ok(out), exact, "{}", context());
                }
            }
        }
        assert!(written > many / 30 && proven > many / 100, "{written} written, {proven} proven");
    }
}
