//! The rules by which a URL is clean under each profile. The proof of [`simd`](crate::simd) is compiled
//! for each of them.

use crate::bytes::Triplet;
use crate::bytes::set::{self, AsciiSet};
use crate::profile::{archive, heuristic, sanitize, servlet, whatwg};
use crate::simd::{Query, Rules, all_bits, query_of};

const QUESTION: AsciiSet = AsciiSet::of(b"?");

/// The sanitizer: the ladder, and only triplets that cannot hide anything.
#[derive(Clone, Copy)]
pub(crate) struct Sanitizer;

impl Rules for Sanitizer {
    const TAIL: AsciiSet = set::CLEAN_TAIL;

    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        let stays =
            |triplet: Triplet| triplet.is_canonical() && sanitize::is_harmless(triplet.value);
        all_bits(bad, at, |i| url[i] == b'%' && Triplet::read(&url[i..]).is_some_and(stays))
    }
}

/// A servlet container: the ladder, and a path that is mapped unchanged. Empty segments are not
/// checked here.
#[derive(Clone, Copy)]
pub(crate) struct Servlet;

impl Rules for Servlet {
    const TAIL: AsciiSet = servlet::CLEAN_TAIL;

    /// A query keeps the bytes that a path does not keep.
    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool {
        let query = query.get_or_insert_with(|| query_of(url));
        all_bits(bad, at, |i| match url[i] {
            // A path has all of its triplets decoded, and decoding may change it.
            b'%' => query.contains(&i) && Triplet::is_canonical_at_start(&url[i..]),
            b';' => query.contains(&i),
            _ => false,
        })
    }
}

/// Heuristic merges: the ladder, and no session id in the path. The other merges are not checked here.
#[derive(Clone, Copy)]
pub(crate) struct Aggressive;

impl Rules for Aggressive {
    const TAIL: AsciiSet = heuristic::CLEAN_TAIL.without(QUESTION);
    const QUERIES: bool = true;
    const TRIPLETS_STAY: bool = true;

    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        all_bits(bad, at, |i| match url[i] {
            b'%' => Triplet::is_canonical_at_start(&url[i..]),
            // There is a byte before it: a URL begins with its scheme, and a target with a slash.
            b'(' | b';' => !heuristic::may_start_session(&url[i - 1..]),
            _ => false,
        })
    }
}

/// The keys of web-archive indexes: a host that the ladder leaves, and a path and a query that hold
/// nothing to decode, to encode or to fold, and no session segment. The other rules are not checked here.
#[derive(Clone, Copy)]
pub(crate) struct IaKey;

impl Rules for IaKey {
    const TAIL: AsciiSet = archive::CLEAN_TAIL.without(QUESTION);
    const QUERIES: bool = true;

    /// Capital letters do not stay, not even as digits of triplets.
    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, _: &mut Query) -> bool {
        all_bits(bad, at, |i| match url[i] {
            b'%' => Triplet::read(&url[i..]).is_some_and(|triplet| archive::keeps(triplet.value)),
            // A session segment starts with this byte.
            b'(' => url[i - 1] != b'/',
            _ => false,
        })
    }
}

/// The same, except that case is not checked: it is folded while the URL is written.
#[derive(Clone, Copy)]
pub(crate) struct IaFolded;

impl Rules for IaFolded {
    const TAIL: AsciiSet = archive::FOLDABLE_TAIL.without(QUESTION);
    const QUERIES: bool = true;

    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool {
        IaKey::bad_stays(url, at, bad, query)
    }
}

/// The URL Standard.
#[derive(Clone, Copy)]
pub(crate) struct Browser;

impl Rules for Browser {
    const TAIL: AsciiSet = whatwg::CLEAN_TAIL.without(AsciiSet::of(b"%"));

    /// Triplets stay, even invalid ones, but `%2e` may be a dot segment. An apostrophe stays outside
    /// of queries.
    #[inline(never)]
    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool {
        all_bits(bad, at, |i| match &url[i..] {
            [b'%', b'2', b'e' | b'E', ..] => false,
            [b'%', ..] => true,
            [b'\'', ..] => !query.get_or_insert_with(|| query_of(url)).contains(&i),
            _ => false,
        })
    }

    /// A host that ends in a number is an IPv4 address, and numbers start with a digit.
    #[inline(always)]
    fn last_label_stays(first: u8) -> bool {
        !first.is_ascii_digit()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::bytes::Span;
    use crate::bytes::set::{CLEAN_HOST, CLEAN_TAIL};
    use crate::normalize::judge::proof::is_proven;
    use crate::profile::Profile;
    use crate::simd::tests::{
        Anything, STEP, assert_masks_classify_every_byte, drawn_byte, kernels, url_of,
    };
    use crate::simd::{
        BLOCK, Bits, ByFastPath, ByFastPathOr, Clean, FastPathResult, Kernel, Rfc3986, SpanBatch,
        UrlKind,
    };
    use crate::test_util::cases;

    /// The result of the fast path under each of the rules that has one.
    fn results(
        kernel: Kernel,
        bytes: &[u8],
        range: Range<usize>,
        kind: UrlKind,
    ) -> [FastPathResult; 6] {
        [
            kernel.judge(bytes, range.clone(), ByFastPath(Rfc3986, kind, Anything)),
            kernel.judge(bytes, range.clone(), ByFastPath(Sanitizer, kind, Anything)),
            kernel.judge(bytes, range.clone(), ByFastPath(Servlet, kind, Anything)),
            kernel.judge(bytes, range.clone(), ByFastPath(Aggressive, kind, Anything)),
            kernel.judge(bytes, range.clone(), ByFastPath(IaKey, kind, Anything)),
            kernel.judge(bytes, range, ByFastPath(IaFolded, kind, Anything)),
        ]
    }

    /// A URL or target of bytes that are clean nearly everywhere, without a triplet.
    fn drawn_clean(case: usize, state: &mut u64) -> (Vec<u8>, UrlKind) {
        let mut url: Vec<u8> =
            if case.is_multiple_of(2) { b"http://h/".to_vec() } else { b"/".to_vec() };
        for _ in 0..case % 140 {
            let byte = drawn_byte(state);
            url.push(if CLEAN_TAIL.contains(byte) && byte != b'%' {
                byte
            } else {
                b"?&=A(;"[case % 6]
            });
        }
        (url, if case.is_multiple_of(2) { UrlKind::Absolute } else { UrlKind::Target })
    }

    /// The kernel's proof for a URL or target with nothing around it.
    fn is_clean_alone(kernel: Kernel, profile: Profile, url: &[u8], kind: UrlKind) -> bool {
        is_proven(kernel, profile.rules(), url, 0..url.len(), kind)
    }

    #[test]
    fn masks_classify_every_byte_in_every_lane() {
        assert_masks_classify_every_byte(|| Browser);
        assert_masks_classify_every_byte(|| Sanitizer);
        assert_masks_classify_every_byte(|| Servlet);
        assert_masks_classify_every_byte(|| Aggressive);
        assert_masks_classify_every_byte(|| IaKey);
        assert_masks_classify_every_byte(|| IaFolded);
    }

    #[test]
    fn clean_urls_are_recognized_as_clean() {
        let mut state = 9;
        let (mut clean_by, drawn) = ([0; 6], cases(10_000));
        for case in 0..drawn {
            let (mut url, kind) = drawn_clean(case, &mut state);
            if case % 7 == 0 {
                url.extend(vec![b'y'; case % 600]);
            }
            let by_ladder = plainly_clean(Profile::Crawl, &url, kind);
            let session = url.windows(3).any(|three| match three {
                [_, b';', initial] => b"jJpPaAsS".contains(initial),
                three => three.eq_ignore_ascii_case(b"/(s"),
            });
            let segment = url.windows(2).any(|pair| pair == b"/(");
            let capital = url.iter().any(u8::is_ascii_uppercase);
            let path = url.split(|byte| *byte == b'?').next().unwrap_or_default();
            let mapped = !path.contains(&b';');
            let clean = [true, true, mapped, !session, !segment && !capital, !segment]
                .map(|clean| clean && by_ladder);
            for (kernel, room) in
                kernels().into_iter().flat_map(|kernel| [0, 64, 600].map(|room| (kernel, room)))
            {
                let bytes = [&url[..], &vec![b'?'; room]].concat();
                let found = results(kernel, &bytes, 0..url.len(), kind);
                for ((clean, found), clean_by) in clean.iter().zip(found).zip(&mut clean_by) {
                    let fits = url.len() <= 128 || (url.len() <= 512 && bytes.len() >= 512);
                    let expected = match (clean, fits) {
                        (false, _) => FastPathResult::Unclean,
                        (true, false) => FastPathResult::TooLong,
                        (true, true) => FastPathResult::Done,
                    };
                    assert_eq!(found, expected, "{kernel:?} {room} {}", url.escape_ascii());
                    *clean_by += usize::from(*clean);
                }
                if kind == UrlKind::Absolute {
                    let span = Span { start: 0, end: url.len() as u32 };
                    let batch = || SpanBatch::last(&bytes, std::slice::from_ref(&span));
                    let mut bits = [const { Vec::new() }; 2];
                    kernel.judge_each(
                        batch(),
                        ByFastPathOr(IaKey, Anything, |_: &[u8], _| true),
                        Bits(&mut bits[0]),
                    );
                    kernel.judge_each(
                        batch(),
                        ByFastPathOr(Servlet, Anything, |_: &[u8], _| true),
                        Bits(&mut bits[1]),
                    );
                    let expected = [[u64::from(clean[4])], [u64::from(mapped && by_ladder)]];
                    assert_eq!(bits, expected, "{kernel:?} {room} {}", url.escape_ascii());
                }
            }
        }
        assert!(clean_by.iter().all(|clean| *clean > drawn / 100), "{clean_by:?}");
    }

    /// Both blocks of a window may hold a bad byte at the same position.
    #[test]
    fn bad_bytes_at_the_same_offset_of_two_blocks_are_found() {
        for at in (20..BLOCK).step_by(STEP.min(9)) {
            for trouble in [b" ", b"(", b"A", b"%", b"[", b"#"] {
                let mut url = url_of(2 * BLOCK, at, trouble);
                url[BLOCK + at] = trouble[0];
                let span = Span { start: 0, end: url.len() as u32 };
                for kernel in kernels() {
                    let alone = results(kernel, &url, 0..url.len(), UrlKind::Absolute);
                    let mut bits = [const { Vec::new() }; 6];
                    let batch = || SpanBatch::last(&url, std::slice::from_ref(&span));
                    let [a, b, c, d, e, f] = &mut bits;
                    kernel.judge_each(
                        batch(),
                        ByFastPathOr(Rfc3986, Anything, |_: &[u8], _| true),
                        Bits(a),
                    );
                    kernel.judge_each(
                        batch(),
                        ByFastPathOr(Sanitizer, Anything, |_: &[u8], _| true),
                        Bits(b),
                    );
                    kernel.judge_each(
                        batch(),
                        ByFastPathOr(Servlet, Anything, |_: &[u8], _| true),
                        Bits(c),
                    );
                    kernel.judge_each(
                        batch(),
                        ByFastPathOr(Aggressive, Anything, |_: &[u8], _| true),
                        Bits(d),
                    );
                    kernel.judge_each(
                        batch(),
                        ByFastPathOr(IaKey, Anything, |_: &[u8], _| true),
                        Bits(e),
                    );
                    kernel.judge_each(
                        batch(),
                        ByFastPathOr(IaFolded, Anything, |_: &[u8], _| true),
                        Bits(f),
                    );
                    for (alone, bits) in alone.iter().zip(&bits) {
                        let context = || format!("{kernel:?} {}", url.escape_ascii());
                        assert_eq!(
                            bits[..],
                            [u64::from(*alone == FastPathResult::Done)],
                            "{}",
                            context()
                        );
                    }
                    let clean = plainly_clean(Profile::Crawl, &url, UrlKind::Absolute);
                    assert_eq!(
                        is_clean_alone(kernel, Profile::Crawl, &url, UrlKind::Absolute),
                        clean,
                        "{}",
                        url.escape_ascii()
                    );
                }
            }
        }
    }

    /// The plain loop of the head of [`simd`](crate::simd), one byte at a time.
    fn plainly_clean(profile: Profile, url: &[u8], kind: UrlKind) -> bool {
        let browser = profile == Profile::Whatwg;
        let tail = match kind {
            UrlKind::Target => 0,
            UrlKind::Absolute => {
                let Some(start) = [b"https://".as_slice(), b"http://"]
                    .iter()
                    .find(|scheme| url.starts_with(scheme))
                    .map(|scheme| scheme.len())
                else {
                    return false;
                };
                let host = url[start..].iter().take_while(|b| CLEAN_HOST.contains(**b)).count();
                if host == 0 || url[start + host - 1] == b'.' {
                    return false;
                }
                let label = url[start..start + host].split(|byte| *byte == b'.').next_back();
                if browser && label.unwrap()[0].is_ascii_digit() {
                    return false;
                }
                start + host
            }
        };
        let set = if browser { whatwg::CLEAN_TAIL } else { CLEAN_TAIL };
        url.get(tail) == Some(&b'/')
            && (0..url.len()).all(|i| {
                let in_query = || {
                    let end = url.iter().position(|byte| *byte == b'#').unwrap_or(url.len());
                    i < end && url[..i].contains(&b'?')
                };
                set.contains(url[i]) || url[i] == b'%' || browser && url[i] == b'\'' && !in_query()
            })
            && !url.windows(2).any(|pair| pair == b"/.")
            && (0..url.len()).filter(|i| url[*i] == b'%').all(|i| {
                let digits = url.get(i + 1..i + 3).unwrap_or_default();
                let text = std::str::from_utf8(digits).unwrap_or_default();
                if browser {
                    return !text.eq_ignore_ascii_case("2e");
                }
                let upper = text.bytes().all(|b| b.is_ascii_digit() || (b'A'..=b'F').contains(&b));
                upper
                    && u8::from_str_radix(text, 16).is_ok_and(|value| {
                        !value.is_ascii_alphanumeric() && !b"-._~".contains(&value)
                    })
            })
    }

    #[test]
    fn unclean_bytes_are_found_at_every_offset_of_every_length() {
        let troubles: [&[u8]; 17] = [
            b"", b"%41", b"%2f", b"%2F", b"%", b"/.", b"/./", b"//", b"#", b" ", b"\xC3", b"A",
            b"%2e", b".7", b"'", b"?'", b"?#'",
        ];
        for length in (0..=200).step_by(if cfg!(miri) { 2 * STEP } else { 1 }) {
            let step = if cfg!(target_arch = "x86_64") { STEP } else { 7 };
            for at in (0..=length).step_by(step) {
                for trouble in troubles.into_iter().step_by(STEP.min(3)) {
                    let url = url_of(length, at, trouble);
                    for profile in [Profile::Crawl, Profile::Whatwg] {
                        // A host that ends after the first block is left to the scalar path; this one
                        // ends before.
                        let expected = plainly_clean(profile, &url, UrlKind::Absolute);
                        for kernel in kernels() {
                            assert_eq!(
                                is_clean_alone(kernel, profile, &url, UrlKind::Absolute),
                                expected,
                                "{} {:?} {}",
                                profile.name(),
                                kernel.backend(),
                                url.escape_ascii()
                            );
                        }
                    }
                }
            }
        }
    }

    /// A triplet next to others is checked by masks of its digits.
    #[test]
    fn every_triplet_is_checked_at_every_offset() {
        const DIGITS: &[u8] = b"0123456789ABCDEFabcdefGg/:@`%\x80\xB9";
        let step = if cfg!(target_arch = "x86_64") { STEP.min(9) } else { 3 };
        let (mut clean, mut tried) = (0, 0);
        // Around the ends of blocks, and some other places.
        for at in (20..=200).filter(|at| at % 64 >= 59 || at % 7 == 0).step_by(STEP.min(19)) {
            for first in DIGITS.iter().step_by(STEP.min(9)) {
                for second in DIGITS.iter().step_by(step) {
                    let mut url = url_of(210, 30, b"%C3%A9");
                    for (start, triplet) in [(at, [b'%', *first, *second]), (at + 3, *b"%E2")] {
                        url[start..start + 3].copy_from_slice(&triplet);
                    }
                    // The whole URL, and cuts in or after a triplet, where bytes follow the end.
                    for end in [at + 1, at + 2, at + 3, at + 5, url.len()] {
                        let expected =
                            plainly_clean(Profile::Crawl, &url[..end], UrlKind::Absolute);
                        clean += usize::from(expected);
                        tried += 1;
                        for kernel in kernels() {
                            let context =
                                || format!("{:?} {}", kernel.backend(), url[..end].escape_ascii());
                            let alone = is_clean_alone(
                                kernel,
                                Profile::Crawl,
                                &url[..end],
                                UrlKind::Absolute,
                            );
                            assert_eq!(alone, expected, "{}", context());
                            let mut bits = Vec::new();
                            let span = [Span { start: 0, end: end as u32 }];
                            kernel.judge_each(
                                SpanBatch::last(&url, &span),
                                Clean(Rfc3986, UrlKind::Absolute),
                                Bits(&mut bits),
                            );
                            assert_eq!(bits, [u64::from(expected)], "{}", context());
                        }
                    }
                }
            }
        }
        assert!(clean > tried / 20, "too few were clean: {clean} of {tried}");
    }

    #[test]
    fn random_urls_agree_with_the_plain_definition_of_clean() {
        let mut state = 2;
        let mut clean = [0; 2];
        let drawn = cases(200_000);
        for i in 0..drawn {
            let starts: [&[u8]; 6] =
                [b"https://", b"http://", b"/", b"http://a.b/", b"https://h/%", b""];
            let mut url = starts[i % 6].to_vec();
            for _ in 0..i % 67 {
                let byte = drawn_byte(&mut state);
                if i % 5 == 0 || CLEAN_TAIL.contains(byte) && byte != b'%' {
                    url.push(byte);
                }
            }
            for (n, profile) in [Profile::Syntax, Profile::Whatwg].into_iter().enumerate() {
                for kind in [UrlKind::Absolute, UrlKind::Target] {
                    let expected = plainly_clean(profile, &url, kind);
                    clean[n] += usize::from(expected);
                    for kernel in kernels() {
                        let found = match kind {
                            UrlKind::Absolute => {
                                is_clean_alone(kernel, profile, &url, UrlKind::Absolute)
                            }
                            UrlKind::Target => {
                                is_clean_alone(kernel, profile, &url, UrlKind::Target)
                            }
                        };
                        let case =
                            (profile.name(), kernel.backend(), url.escape_ascii().to_string());
                        assert_eq!(found, expected, "{case:?}");
                    }
                }
            }
        }
        assert!(clean.iter().all(|n| *n > drawn / 20), "too few clean URLs were drawn: {clean:?}");
    }

    #[test]
    fn string_profile_rejects_only_line_breaks_and_targets() {
        for kernel in kernels() {
            assert!(is_clean_alone(kernel, Profile::String, b"\xFF %zz", UrlKind::Absolute));
            assert!(!is_clean_alone(kernel, Profile::String, b"a\rb", UrlKind::Absolute));
            assert!(!is_clean_alone(kernel, Profile::String, b"a", UrlKind::Target));
        }
    }
}
