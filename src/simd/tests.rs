//! The vector code against scalar, on every backend that this CPU has.

use std::ops::Range;

use super::glance::{Glance, Settle};
use super::kernel::Lead;
use super::loops::{Bits, Piece, Settled};
use super::rules::{
    Asked, Browser, Container, Experience, Foldable, Index, Ladder, Rules, Unescaped,
};
use super::vector::{BLOCK, Block, Masks, Survey, Vector, Work};
use super::{Backend, Kernel};
use crate::bytes::Span;
use crate::profile::set::{AsciiSet, CLEAN_HOST, CLEAN_TAIL, QUERY, REG_NAME};
use crate::profile::{Profile, System, whatwg};
use crate::test_util::cases;
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
use crate::test_util::not_tried;

/// Of what is exhausted elsewhere, an interpreter takes every so many.
const STEP: usize = if cfg!(miri) { 37 } else { 1 };

fn kernels() -> Vec<Kernel> {
    Backend::available().into_iter().filter_map(Kernel::new).collect()
}

impl Kernel {
    /// Whether a URL with nothing around it is proven clean.
    pub(crate) fn is_clean_alone(self, profile: &Profile, url: &[u8]) -> bool {
        self.is_clean(profile, url, 0..url.len(), Lead::Absolute)
    }

    /// The same of a target.
    pub(crate) fn is_clean_target_alone(self, profile: &Profile, target: &[u8]) -> bool {
        self.is_clean(profile, target, 0..target.len(), Lead::Target)
    }
}

/// Bytes that matter to the scanner, and some that do not.
fn drawn_byte(state: &mut u64) -> u8 {
    const MATTERING: &[u8] = b"//..%%::??##@@[]''  az09AZ-_~\x00\x20\x7F\x80\xFF\r\n\\^";
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let bits = *state >> 33;
    match bits % 4 {
        0 => MATTERING[(bits >> 2) as usize % MATTERING.len()],
        1 => (bits >> 2) as u8,
        _ => b"abcdefghijklmnopqrstuvwxyz012345"[(bits >> 2) as usize % 32],
    }
}

/// What is found in one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    masks: Masks,
    survey: Survey,
    feeds: u64,
    asked: u64,
}

/// Bytes to ask for.
const ASKED: Asked = Asked::new(AsciiSet::of(b"%;Az"));

struct Find<'a, R>(&'a Block, R);

impl<R: Rules> Work for Find<'_, R> {
    type Output = Found;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Found {
        let block = self.0;
        Found {
            masks: vector.masks::<R>(block),
            survey: vector.survey(block),
            feeds: vector.find(block, b'\n'),
            asked: vector.find_asked(block, &ASKED),
        }
    }
}

/// The bytes of two blocks that are `inside`, their triplets in normal form.
struct Normalize<'a>([&'a Block; 2], u128, u128);

impl Work for Normalize<'_> {
    type Output = Option<Option<(Vec<u8>, u128)>>;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Self::Output {
        let Self(blocks, percent, inside) = self;
        if !V::NORMALIZES_TRIPLETS {
            return None;
        }
        let normalized = vector.normalize_triplets(blocks, percent, inside).map(|normalized| {
            let parts = normalized.blocks.iter().map(|(block, length)| &block[..*length]);
            (parts.collect::<Vec<_>>().concat(), normalized.dots)
        });
        Some(normalized)
    }
}

#[test]
fn triplets_come_out_in_normal_form() {
    const PIECES: [&str; 16] = [
        "%41", "%7e", "%2E", "%2e", "%2f", "%c3%A9", "%00", "%fF", "%5a", "a", "Bc", "/", "?x=",
        "%zz", "%4", "\u{e9}",
    ];
    let (mut state, mut answers) = (1_u64, 0);
    let mut draw = |most: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % most
    };
    for case in 0..cases(20_000) {
        let mut text = vec![b'x'; draw(130)];
        while text.len() < 2 * BLOCK {
            let known = if case % 8 == 0 { PIECES.len() } else { 13 };
            text.extend_from_slice(PIECES[draw(known)].as_bytes());
        }
        let (blocks, _) = text.as_chunks::<BLOCK>();
        let (start, end) = (draw(BLOCK), BLOCK + draw(BLOCK + 1));
        let part = &text[start..end];
        let inside = (start..end).fold(0, |bits, i| bits | 1 << i);
        let at = |bytes: Vec<usize>| bytes.iter().fold(0, |bits, i| bits | 1 << (start + i));
        let percent = at((0..part.len()).filter(|i| part[*i] == b'%').collect());
        let expected = in_normal_form(part).map(|(out, dots)| (out, at(dots)));
        for kernel in kernels() {
            let found = kernel.run(Normalize([&blocks[0], &blocks[1]], percent, inside));
            if let Some(found) = found {
                assert_eq!(found, expected, "{} {start}..{end}", text.escape_ascii());
                answers += usize::from(found.is_some());
            }
        }
    }
    let normalizers = kernels().into_iter().filter(|kernel| kernel.run(Normalizes));
    assert!(answers >= normalizers.count() * cases(20_000) / 2, "{answers}");
}

/// A part of a URL with its triplets in normal form, and where those of full stops were; nothing, if a
/// percent sign starts none.
fn in_normal_form(part: &[u8]) -> Option<(Vec<u8>, Vec<usize>)> {
    let (mut out, mut dots) = (Vec::new(), Vec::new());
    let mut i = 0;
    while i < part.len() {
        if part[i] != b'%' {
            out.push(part[i]);
            i += 1;
            continue;
        }
        let digits = part.get(i + 1..i + 3).filter(|two| two.iter().all(u8::is_ascii_hexdigit))?;
        let value = u8::from_str_radix(str::from_utf8(digits).unwrap(), 16).unwrap();
        if value.is_ascii_alphanumeric() || b"-._~".contains(&value) {
            out.push(value);
        } else {
            out.extend(format!("%{value:02X}").bytes());
        }
        if value == b'.' {
            dots.push(i);
        }
        i += 3;
    }
    Some((out, dots))
}

/// Whether the instruction set normalizes triplets.
struct Normalizes;

impl Work for Normalizes {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, _: V) -> bool {
        V::NORMALIZES_TRIPLETS
    }
}

/// The masks of one block by each backend, scalar's first.
fn all_masks<R: Rules>(block: &Block, rules: fn() -> R) -> Vec<(Backend, Found)> {
    let found = |kernel: Kernel| (kernel.backend(), kernel.run(Find(block, rules())));
    kernels().into_iter().map(found).collect()
}

#[test]
fn every_backend_of_this_cpu_is_listed() {
    let expected: &[Backend] = if cfg!(target_arch = "x86_64") {
        &[Backend::Scalar, Backend::Sse42, Backend::Avx2, Backend::Avx512]
    } else if cfg!(all(target_arch = "aarch64", target_endian = "little")) {
        &[Backend::Scalar, Backend::Neon]
    } else {
        &[Backend::Scalar]
    };
    let expected: Vec<_> = expected.iter().copied().filter(|b| b.is_available()).collect();
    assert_eq!(Backend::available(), expected);
    assert_eq!(Backend::available().last(), Some(&Backend::best()));
    for backend in Backend::ALL {
        assert_eq!(Backend::named(&backend.to_string()), Some(*backend));
    }
    #[cfg(target_arch = "x86_64")]
    {
        assert_eq!(Backend::Sse42.is_available(), is_x86_feature_detected!("sse4.2"));
        let bits = is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        assert_eq!(Backend::Avx2.is_available(), bits && is_x86_feature_detected!("avx2"));
        assert_eq!(Backend::Avx512.is_available(), bits && is_x86_feature_detected!("avx512vbmi2"));
    }
    eprintln!(
        "backends tested: {}",
        Backend::available().iter().map(|b| b.name()).collect::<Vec<_>>().join(" ")
    );
}

#[test]
fn every_byte_in_every_lane_has_the_bits_of_its_sets() {
    every_byte_has_the_bits_of_its_sets(|| Ladder);
    every_byte_has_the_bits_of_its_sets(|| Browser);
    every_byte_has_the_bits_of_its_sets(|| Unescaped);
    every_byte_has_the_bits_of_its_sets(|| Container);
    every_byte_has_the_bits_of_its_sets(|| Experience);
    every_byte_has_the_bits_of_its_sets(|| Index);
}

fn every_byte_has_the_bits_of_its_sets<R: Rules>(rules: fn() -> R) {
    for byte in (0..=255u8).step_by(STEP) {
        for lane in (0..BLOCK).step_by(STEP.min(29)) {
            for background in [b'a', b'/', 0xFF] {
                let mut block = [background; BLOCK];
                block[lane] = byte;
                for (backend, Found { masks, survey, feeds, asked }) in all_masks(&block, rules) {
                    let bit = |mask: u64| mask >> lane & 1 == 1;
                    let case = (backend, byte, lane);
                    assert_eq!(bit(masks.host_bad), !R::HOST.contains(byte), "{case:?}");
                    assert_eq!(bit(masks.bad), !R::TAIL.contains(byte), "{case:?}");
                    assert_eq!(bit(masks.slash), byte == b'/', "{case:?}");
                    assert_eq!(bit(masks.dot), byte == b'.', "{case:?}");
                    assert_eq!(bit(feeds), byte == b'\n', "{case:?}");
                    assert_eq!(bit(asked), byte >= 0x80 || b"%;Az".contains(&byte), "{case:?}");
                    assert_eq!(bit(survey.slash), byte == b'/', "{case:?}");
                    assert_eq!(bit(survey.dot), byte == b'.', "{case:?}");
                    assert_eq!(bit(survey.ends), b"?#".contains(&byte), "{case:?}");
                    assert_eq!(bit(survey.not_query), !QUERY.contains(byte), "{case:?}");
                    assert_eq!(bit(survey.not_reg_name), !REG_NAME.contains(byte), "{case:?}");
                    let rest = !(1 << lane);
                    assert_eq!(masks.slash & rest, if background == b'/' { rest } else { 0 });
                }
            }
        }
    }
}

/// Is settled by any glance.
#[derive(Clone, Copy)]
struct Anything;

impl Settle for Anything {
    #[inline(always)]
    fn settles<V: Vector, const N: usize>(self, glance: &Glance<'_, V, N>) -> bool {
        glance.path_end() <= glance.length
    }
}

/// What is settled under each of the rules for which a glance is taken.
fn settled(kernel: Kernel, bytes: &[u8], range: Range<usize>, lead: Lead) -> [Settled; 6] {
    [
        kernel.settle::<Ladder>(bytes, range.clone(), lead, Anything),
        kernel.settle::<Unescaped>(bytes, range.clone(), lead, Anything),
        kernel.settle::<Container>(bytes, range.clone(), lead, Anything),
        kernel.settle::<Experience>(bytes, range.clone(), lead, Anything),
        kernel.settle::<Index>(bytes, range.clone(), lead, Anything),
        kernel.settle::<Foldable>(bytes, range, lead, Anything),
    ]
}

/// A URL or target of bytes that are clean nearly everywhere, without a triplet.
fn drawn_clean(case: usize, state: &mut u64) -> (Vec<u8>, Lead) {
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
    (url, if case.is_multiple_of(2) { Lead::Absolute } else { Lead::Target })
}

#[test]
fn a_glance_is_taken_at_what_is_plainly_clean() {
    let mut state = 9;
    let (mut clean_by, drawn) = ([0; 6], cases(10_000));
    for case in 0..drawn {
        let (mut url, lead) = drawn_clean(case, &mut state);
        if case % 7 == 0 {
            url.extend(vec![b'y'; case % 600]);
        }
        let by_ladder = plainly_clean(&Profile::CRAWL, &url, lead);
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
            let found = settled(kernel, &bytes, 0..url.len(), lead);
            for ((clean, found), clean_by) in clean.iter().zip(found).zip(&mut clean_by) {
                let fits = url.len() <= 128 || (url.len() <= 512 && bytes.len() >= 512);
                let expected = match (clean, fits) {
                    (false, _) => Settled::Unclean,
                    (true, false) => Settled::TooLong,
                    (true, true) => Settled::Yes,
                };
                assert_eq!(found, expected, "{kernel:?} {room} {}", url.escape_ascii());
                *clean_by += usize::from(*clean);
            }
            if lead == Lead::Absolute {
                let span = Span { start: 0, end: url.len() as u32 };
                let piece = || Piece::last(&bytes, std::slice::from_ref(&span));
                let mut bits = [const { Vec::new() }; 2];
                kernel.settle_each::<Index>(piece(), Anything, |_, _| true, Bits(&mut bits[0]));
                kernel.settle_each::<Container>(piece(), Anything, |_, _| true, Bits(&mut bits[1]));
                let expected = [[u64::from(clean[4])], [u64::from(mapped && by_ladder)]];
                assert_eq!(bits, expected, "{kernel:?} {room} {}", url.escape_ascii());
            }
        }
    }
    assert!(clean_by.iter().all(|clean| *clean > drawn / 100), "{clean_by:?}");
}

/// What is wrong with both blocks of a window may be at the same place in them.
#[test]
fn blocks_alike_are_not_taken_for_clean() {
    for at in (20..BLOCK).step_by(STEP.min(9)) {
        for trouble in [b" ", b"(", b"A", b"%", b"[", b"#"] {
            let mut url = url_of(2 * BLOCK, at, trouble);
            url[BLOCK + at] = trouble[0];
            let span = Span { start: 0, end: url.len() as u32 };
            for kernel in kernels() {
                let alone = settled(kernel, &url, 0..url.len(), Lead::Absolute);
                let mut bits = [const { Vec::new() }; 6];
                let piece = || Piece::last(&url, std::slice::from_ref(&span));
                let [a, b, c, d, e, f] = &mut bits;
                kernel.settle_each::<Ladder>(piece(), Anything, |_, _| true, Bits(a));
                kernel.settle_each::<Unescaped>(piece(), Anything, |_, _| true, Bits(b));
                kernel.settle_each::<Container>(piece(), Anything, |_, _| true, Bits(c));
                kernel.settle_each::<Experience>(piece(), Anything, |_, _| true, Bits(d));
                kernel.settle_each::<Index>(piece(), Anything, |_, _| true, Bits(e));
                kernel.settle_each::<Foldable>(piece(), Anything, |_, _| true, Bits(f));
                for (alone, bits) in alone.iter().zip(&bits) {
                    let context = || format!("{kernel:?} {}", url.escape_ascii());
                    assert_eq!(bits[..], [u64::from(*alone == Settled::Yes)], "{}", context());
                }
                let clean = plainly_clean(&Profile::CRAWL, &url, Lead::Absolute);
                assert_eq!(
                    kernel.is_clean_alone(&Profile::CRAWL, &url),
                    clean,
                    "{}",
                    url.escape_ascii()
                );
            }
        }
    }
}

#[test]
fn masks_of_mixed_blocks_are_those_of_scalar() {
    let mut state = 1;
    for _ in 0..cases(200_000) {
        let block = std::array::from_fn(|_| drawn_byte(&mut state));
        for all in [all_masks(&block, || Ladder), all_masks(&block, || Browser)] {
            for (backend, found) in &all[1..] {
                assert_eq!(*found, all[0].1, "{backend:?} {block:?}");
            }
        }
    }
}

/// The plain loop of the module's head, one byte at a time.
fn plainly_clean(profile: &Profile, url: &[u8], lead: Lead) -> bool {
    let browser = profile.system == System::Browser;
    let tail = match lead {
        Lead::Target => 0,
        Lead::Absolute => {
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
                && u8::from_str_radix(text, 16)
                    .is_ok_and(|value| !value.is_ascii_alphanumeric() && !b"-._~".contains(&value))
        })
}

/// URLs of a given length with one trouble, or none, at a given place.
fn url_of(length: usize, at: usize, trouble: &[u8]) -> Vec<u8> {
    let mut url = b"https://example.com/".to_vec();
    url.resize(length.max(url.len()), b'a');
    url.truncate(length);
    for (i, byte) in trouble.iter().enumerate() {
        if let Some(place) = url.get_mut(at + i) {
            *place = *byte;
        }
    }
    url
}

#[test]
fn a_trouble_is_found_at_every_place_of_every_length() {
    let troubles: [&[u8]; 17] = [
        b"", b"%41", b"%2f", b"%2F", b"%", b"/.", b"/./", b"//", b"#", b" ", b"\xC3", b"A", b"%2e",
        b".7", b"'", b"?'", b"?#'",
    ];
    for length in (0..=200).step_by(if cfg!(miri) { 2 * STEP } else { 1 }) {
        let step = if cfg!(target_arch = "x86_64") { STEP } else { 7 };
        for at in (0..=length).step_by(step) {
            for trouble in troubles.into_iter().step_by(STEP.min(3)) {
                let url = url_of(length, at, trouble);
                for profile in [&Profile::CRAWL, &Profile::WHATWG] {
                    // A host that ends behind the first block is left to the scalar path; this one
                    // ends before.
                    let expected = plainly_clean(profile, &url, Lead::Absolute);
                    for kernel in kernels() {
                        assert_eq!(
                            kernel.is_clean_alone(profile, &url),
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

/// A triplet beside others is judged by masks of its digits.
#[test]
fn every_triplet_among_others_is_judged_at_every_place() {
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
                // Whole, and cut behind each byte of it where digits go on behind the end.
                for end in [at + 1, at + 2, at + 3, at + 5, url.len()] {
                    let expected = plainly_clean(&Profile::CRAWL, &url[..end], Lead::Absolute);
                    clean += usize::from(expected);
                    tried += 1;
                    for kernel in kernels() {
                        let context =
                            || format!("{:?} {}", kernel.backend(), url[..end].escape_ascii());
                        let alone = kernel.is_clean_alone(&Profile::CRAWL, &url[..end]);
                        assert_eq!(alone, expected, "{}", context());
                        let mut bits = Vec::new();
                        let span = [Span { start: 0, end: end as u32 }];
                        kernel.clean_each(
                            &Profile::CRAWL,
                            Piece::last(&url, &span),
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
fn drawn_urls_and_targets_are_clean_only_if_they_plainly_are() {
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
        for (n, profile) in [&Profile::SYNTAX, &Profile::WHATWG].into_iter().enumerate() {
            for lead in [Lead::Absolute, Lead::Target] {
                let expected = plainly_clean(profile, &url, lead);
                clean[n] += usize::from(expected);
                for kernel in kernels() {
                    let found = match lead {
                        Lead::Absolute => kernel.is_clean_alone(profile, &url),
                        Lead::Target => kernel.is_clean_target_alone(profile, &url),
                    };
                    let case = (profile.name(), kernel.backend(), url.escape_ascii().to_string());
                    assert_eq!(found, expected, "{case:?}");
                }
            }
        }
    }
    assert!(clean.iter().all(|n| *n > drawn / 20), "too few clean URLs were drawn: {clean:?}");
}

#[test]
fn in_bulk_and_one_by_one_are_the_same_at_every_alignment() {
    let mut state = 3;
    for alignment in (0..64).step_by(STEP) {
        let mut bytes = vec![b'/'; alignment];
        let mut spans = Vec::new();
        for length in (0..=200usize).step_by(STEP.min(7)) {
            let start = bytes.len() as u32;
            bytes.extend(url_of(length, length / 2, &[drawn_byte(&mut state)]));
            spans.push(Span { start, end: bytes.len() as u32 });
        }
        let mut expected = Vec::new();
        Kernel::scalar().clean_each(
            &Profile::CRAWL,
            Piece::last(&bytes, &spans),
            Bits(&mut expected),
        );
        for (i, span) in spans.iter().enumerate() {
            let clean = Kernel::scalar().is_clean_alone(&Profile::CRAWL, span.of(&bytes));
            assert_eq!(expected[i / 64] >> (i % 64) & 1 == 1, clean);
        }
        for kernel in kernels() {
            let mut found = Vec::new();
            kernel.clean_each(&Profile::CRAWL, Piece::last(&bytes, &spans), Bits(&mut found));
            assert_eq!(found, expected, "{:?}", kernel.backend());
        }
    }
}

#[test]
fn lines_are_those_of_a_plain_split() {
    let mut state = 4;
    for length in (0..=300usize).step_by(STEP) {
        for density in [2, 8, 64] {
            let text: Vec<u8> = (0..length)
                .map(|_| match drawn_byte(&mut state) % density {
                    0 => b'\n',
                    1 => b'\r',
                    _ => b'a',
                })
                .collect();
            let mut expected: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
            if expected.last().is_some_and(|line| line.is_empty()) {
                expected.pop();
            }
            let whole = text.iter().filter(|byte| **byte == b'\n').count();
            for line in &mut expected[..whole] {
                *line = line.strip_suffix(b"\r").unwrap_or(line);
            }
            for kernel in kernels() {
                let mut lines = Vec::new();
                kernel.lines(&text, &mut lines);
                let found: Vec<&[u8]> = lines.iter().map(|line| line.of(&text)).collect();
                assert_eq!(found, expected, "{:?} {}", kernel.backend(), text.escape_ascii());
            }
        }
    }
}

#[test]
fn simple_comparison_finds_nothing_but_line_breaks() {
    for kernel in kernels() {
        assert!(kernel.is_clean_alone(&Profile::STRING, b"\xFF %zz"));
        assert!(!kernel.is_clean_alone(&Profile::STRING, b"a\rb"));
        assert!(!kernel.is_clean_target_alone(&Profile::STRING, b"a"));
    }
}

/// Bytes between two pages that may not be touched: a kernel that reads outside its slice dies.
#[cfg(all(target_os = "linux", not(miri)))]
fn between_guard_pages() -> &'static mut [u8] {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};

    const PAGE: usize = 64 << 10; // the largest that Linux uses
    // SAFETY: a fresh anonymous mapping of five pages, which nothing else knows of and which is never
    // unmapped; only its middle three pages are made into a slice, after the outer two are closed.
    unsafe {
        let start = mmap_anonymous(
            std::ptr::null_mut(),
            5 * PAGE,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE,
        )
        .unwrap();
        mprotect(start, PAGE, MprotectFlags::empty()).unwrap();
        mprotect(start.byte_add(4 * PAGE), PAGE, MprotectFlags::empty()).unwrap();
        std::slice::from_raw_parts_mut(start.byte_add(PAGE).cast(), 3 * PAGE)
    }
}

/// At the end of a page, the length of the slice is also its alignment.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn no_kernel_reads_outside_its_slice() {
    let middle = between_guard_pages();
    for length in 0..=1024 {
        let text = url_of(length, length, b"");
        let end = middle.len();
        for at_end in [true, false] {
            let range = if at_end { end - length..end } else { 0..length };
            middle[range.clone()].copy_from_slice(&text);
            let slice = &middle[range];
            for kernel in kernels() {
                for profile in [&Profile::CRAWL, &Profile::WHATWG] {
                    let clean = kernel.is_clean_alone(profile, slice);
                    assert_eq!(clean, plainly_clean(profile, slice, Lead::Absolute));
                    kernel.is_clean_target_alone(profile, slice);
                    let mut lines = Vec::new();
                    kernel.lines(slice, &mut lines);
                    assert_eq!(lines.len(), usize::from(length > 0));
                    let mut bits = Vec::new();
                    kernel.clean_each(profile, Piece::last(slice, &lines), Bits(&mut bits));
                    assert_eq!(bits.first().copied().unwrap_or_default(), u64::from(clean));
                }
                for lead in [Lead::Absolute, Lead::Target] {
                    settled(kernel, slice, 0..length, lead);
                    // From every byte of the last register on.
                    for start in length.saturating_sub(70)..=length {
                        settled(kernel, slice, start..length, lead);
                    }
                }
            }
        }
    }
}

/// A vector that is longer than what is left of the text has to leave the rest alone.
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
#[test]
fn no_hash_reads_outside_its_slice() {
    let hashes: Vec<_> = kernels()
        .into_iter()
        .filter_map(|kernel| super::Vaes::new(kernel, |word| word as u64 * 0x0123_4567_89AB_CDEF))
        .collect();
    if hashes.is_empty() {
        not_tried("this CPU has no VAES");
    }
    let middle = between_guard_pages();
    for length in 0..=520 {
        let text = url_of(length, length, b"");
        for start in [0, middle.len() - length] {
            let slice = &mut middle[start..start + length];
            slice.copy_from_slice(&text);
            for hash in &hashes {
                assert_eq!(hash.hash(slice), hash.hash(&text));
            }
        }
    }
}

/// How many of the 64 alignments each length is tried at.
#[cfg(all(target_os = "linux", not(miri)))]
fn alignments() -> usize {
    std::env::var("UNIQURL_ALIGNMENTS").map_or(4, |n| n.parse().expect("a number"))
}

/// Away from a guard page by up to a block, so that length and alignment are independent: what reads by
/// whole aligned blocks may be right for those slices alone that end with one.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn no_kernel_reads_outside_its_slice_whatever_its_alignment() {
    let middle = between_guard_pages();
    let step = BLOCK / alignments().clamp(1, BLOCK);
    for length in 0..=1024 {
        let text = url_of(length, length, b"");
        let clean = plainly_clean(&Profile::CRAWL, &text, Lead::Absolute);
        // Every alignment comes about within as many lengths as are left out.
        for away in (length % step..BLOCK).step_by(step) {
            let last = middle.len() - length - away;
            for start in [away, last] {
                let slice = &mut middle[start..start + length];
                slice.copy_from_slice(&text);
                let slice = &*slice;
                for kernel in kernels() {
                    assert_eq!(kernel.is_clean_alone(&Profile::CRAWL, slice), clean);
                    kernel.is_clean_alone(&Profile::WHATWG, slice);
                    let mut lines = Vec::new();
                    kernel.lines(slice, &mut lines);
                    let mut bits = Vec::new();
                    kernel.clean_each(&Profile::CRAWL, Piece::last(slice, &lines), Bits(&mut bits));
                    assert_eq!(bits.first().copied().unwrap_or_default(), u64::from(clean));
                    settled(kernel, slice, 0..length, Lead::Absolute);
                }
            }
        }
    }
}

/// A slice that is all of its allocation, for AddressSanitizer, which sees every byte beside it.
#[test]
fn no_kernel_reads_outside_an_allocation_of_any_length_and_alignment() {
    let lengths = (0..=1024).step_by(if cfg!(miri) { 211 } else { 7 });
    for length in lengths {
        for before in (0..BLOCK).step_by(if cfg!(miri) { 29 } else { 5 }) {
            let mut allocation = vec![0; before];
            allocation.extend(url_of(length, length / 2, b"%41"));
            let allocation = allocation.into_boxed_slice();
            for kernel in kernels() {
                let slice = &allocation[before..];
                kernel.is_clean_alone(&Profile::CRAWL, slice);
                kernel.is_clean_target_alone(&Profile::WHATWG, slice);
                let mut lines = Vec::new();
                kernel.lines(slice, &mut lines);
                kernel.clean_each(
                    &Profile::CRAWL,
                    Piece::last(slice, &lines),
                    Bits(&mut Vec::new()),
                );
                settled(kernel, &allocation, before..allocation.len(), Lead::Absolute);
            }
        }
    }
}

/// What is rewritten in bulk is copied by whole registers, too.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn nothing_is_rewritten_from_outside_the_slice() {
    use crate::{Normalizer, Scratch};

    let middle = between_guard_pages();
    let end = middle.len();
    let normalizers: Vec<Normalizer> = Profile::ALL
        .iter()
        .flat_map(|profile| {
            let with = |backend| Normalizer::new(profile).with_backend(backend);
            Backend::available().into_iter().map(with)
        })
        .collect();
    for length in 0..=260 {
        for trouble in [&b""[..], b"/../%7e", b"%C3%a9?A=1&", b"HTTP"] {
            let text = url_of(length, length / 2, trouble);
            for at_end in [true, false] {
                let range = if at_end { end - length..end } else { 0..length };
                middle[range.clone()].copy_from_slice(&text);
                let slice = &middle[range];
                let span = Span { start: 0, end: length as u32 };
                for normalizer in &normalizers {
                    let mut alone = Vec::new();
                    let _ = normalizer.normalize(&text, &mut alone);
                    normalizer.for_each(slice, &[span], &mut Scratch::default(), |_, url| {
                        assert_eq!(url.map_or(&b""[..], |url| url.as_bytes()), alone);
                    });
                }
            }
        }
    }
}
