//! Tests the vector code against scalar, on every backend of this CPU.

use super::block::{BLOCK, Block};
use super::loops::{Bits, ByFastPath, Clean, SpanBatch, Verbatim};
use super::masked_url::{FastPath, MaskedUrl};
use super::rules::{Query, Rfc3986, Rules, all_bits, query_of};
use super::url_kind::UrlKind;
use super::vector::{Masks, Survey, Vector, VectorOp};
use super::{Backend, Kernel};
use crate::bytes::Span;
use crate::bytes::set::{AsciiSet, CLEAN_TAIL, NibbleTable, QUERY, REG_NAME};
use crate::test_util::cases;
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
use crate::test_util::not_tried;

/// Miri tests only every so many of exhaustive cases.
pub(crate) const STEP: usize = if cfg!(miri) { 37 } else { 1 };

pub(crate) fn kernels() -> Vec<Kernel> {
    Backend::available().into_iter().filter_map(Kernel::new).collect()
}

/// Rules that leave question marks out of their set.
#[derive(Clone, Copy)]
struct Questions;

impl Rules for Questions {
    const TAIL: AsciiSet = CLEAN_TAIL.without(AsciiSet::of(b"?("));
    const QUERIES: bool = true;

    fn bad_stays(url: &[u8], at: usize, bad: u128, query: &mut Query) -> bool {
        let query = query.get_or_insert_with(|| query_of(url));
        all_bits(bad, at, |i| url[i] == b'(' && query.contains(&i))
    }
}

impl Kernel {
    /// True if a URL without surrounding bytes is proven clean.
    pub(crate) fn is_clean_alone(self, url: &[u8]) -> bool {
        self.judge(url, 0..url.len(), Clean(Rfc3986, UrlKind::Absolute))
    }

    /// The same for a target.
    pub(crate) fn is_clean_target_alone(self, target: &[u8]) -> bool {
        self.judge(target, 0..target.len(), Clean(Rfc3986, UrlKind::Target))
    }
}

#[test]
fn search_for_line_breaks_stays_within_its_range() {
    for kernel in kernels() {
        for (length, behind) in [(200, 0), (200, 3), (60, 0), (129, 0), (1, 200)] {
            for at in 0..length + behind {
                let mut bytes = vec![b'a'; length + behind];
                bytes[at] = if at % 2 == 0 { b'\n' } else { b'\r' };
                for start in [0, 1, 64, 65].into_iter().filter(|start| *start < length) {
                    let is_line = kernel.judge(&bytes, start..length, Verbatim);
                    let context = || format!("{:?} {start} {at} {length}", kernel.backend());
                    assert_eq!(is_line, !(start..length).contains(&at), "{}", context());
                }
            }
        }
    }
}

/// Bytes that matter to the scanner, and some that do not.
pub(crate) fn drawn_byte(state: &mut u64) -> u8 {
    const MATTERING: &[u8] = b"//..%%::??##@@[]''  az09AZ-_~\x00\x20\x7F\x80\xFF\r\n\\^";
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let bits = *state >> 33;
    match bits % 4 {
        0 => MATTERING[(bits >> 2) as usize % MATTERING.len()],
        1 => (bits >> 2) as u8,
        _ => b"abcdefghijklmnopqrstuvwxyz012345"[(bits >> 2) as usize % 32],
    }
}

/// The results for one block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Found {
    masks: Masks,
    survey: Survey,
    feeds: u64,
    asked: u64,
}

/// Bytes to search for.
const ASKED: NibbleTable = NibbleTable::new(AsciiSet::of(b"%;Az"));

struct Find<'a, R>(&'a Block, R);

impl<R: Rules> VectorOp for Find<'_, R> {
    type Output = Found;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Found {
        let block = self.0;
        Found {
            masks: vector.masks::<R>(block),
            survey: vector.survey(block),
            feeds: vector.find(block, b'\n'),
            asked: vector.find_in_set(block, &ASKED),
        }
    }
}

/// The bytes of two blocks that are `inside`, their triplets in normal form.
struct Normalize<'a>([&'a Block; 2], u128, u128);

impl VectorOp for Normalize<'_> {
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
fn triplets_are_rewritten_to_normal_form() {
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

/// A part of a URL with its triplets in normal form, and the positions of decoded full stops. Returns
/// `None` if a percent sign starts no triplet.
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

/// Returns whether the instruction set normalizes triplets.
struct Normalizes;

impl VectorOp for Normalizes {
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, _: V) -> bool {
        V::NORMALIZES_TRIPLETS
    }
}

/// The masks of one block by each backend, scalar first.
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
    } else if cfg!(all(target_arch = "wasm32", target_feature = "simd128")) {
        &[Backend::Scalar, Backend::Wasm]
    } else {
        &[Backend::Scalar]
    };
    let expected: Vec<_> = expected.iter().copied().filter(|b| b.is_available()).collect();
    assert_eq!(Backend::available(), expected);
    assert_eq!(Backend::available().last(), Some(&Backend::best()));
    for backend in Backend::ALL {
        assert_eq!(backend.to_string().parse::<Backend>(), Ok(*backend));
    }
    eprintln!(
        "backends tested: {}",
        Backend::available().iter().map(|b| b.name()).collect::<Vec<_>>().join(" ")
    );
}

#[test]
fn masks_classify_every_byte_in_every_lane() {
    assert_masks_classify_every_byte(|| Rfc3986);
    assert_masks_classify_every_byte(|| Questions);
}

pub(crate) fn assert_masks_classify_every_byte<R: Rules>(rules: fn() -> R) {
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

/// Finishes every URL.
#[derive(Clone, Copy)]
pub(crate) struct Anything;

impl FastPath for Anything {
    #[inline(always)]
    fn finish<V: Vector, const N: usize>(self, masked: &MaskedUrl<'_, V, N>) -> bool {
        masked.path_end() <= masked.length
    }
}

#[test]
fn masks_of_random_blocks_agree_with_scalar() {
    let mut state = 1;
    for _ in 0..cases(200_000) {
        let block = std::array::from_fn(|_| drawn_byte(&mut state));
        for all in [all_masks(&block, || Rfc3986), all_masks(&block, || Questions)] {
            for (backend, found) in &all[1..] {
                assert_eq!(*found, all[0].1, "{backend:?} {block:?}");
            }
        }
    }
}

/// A URL of a given length with `trouble` at a given position.
pub(crate) fn url_of(length: usize, at: usize, trouble: &[u8]) -> Vec<u8> {
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
fn batch_check_agrees_with_single_checks_at_every_alignment() {
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
        Kernel::scalar().judge_each(
            SpanBatch::last(&bytes, &spans),
            Clean(Rfc3986, UrlKind::Absolute),
            Bits(&mut expected),
        );
        for (i, span) in spans.iter().enumerate() {
            let clean = Kernel::scalar().is_clean_alone(span.of(&bytes));
            assert_eq!(expected[i / 64] >> (i % 64) & 1 == 1, clean);
        }
        for kernel in kernels() {
            let mut found = Vec::new();
            kernel.judge_each(
                SpanBatch::last(&bytes, &spans),
                Clean(Rfc3986, UrlKind::Absolute),
                Bits(&mut found),
            );
            assert_eq!(found, expected, "{:?}", kernel.backend());
        }
    }
}

#[test]
fn line_splitting_agrees_with_a_plain_split() {
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

/// Bytes between two inaccessible pages: a kernel that reads outside its slice crashes.
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) fn between_guard_pages() -> &'static mut [u8] {
    use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect};

    const PAGE: usize = 64 << 10; // the largest that Linux uses
    // SAFETY: a fresh anonymous mapping of five pages, which nothing else refers to and which is never
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
                let scalar = Kernel::scalar();
                assert_eq!(kernel.is_clean_alone(slice), scalar.is_clean_alone(&text));
                kernel.is_clean_target_alone(slice);
                kernel.judge(slice, 0..length, Verbatim);
                let mut lines = Vec::new();
                kernel.lines(slice, &mut lines);
                assert_eq!(lines.len(), usize::from(length > 0));
                let mut bits = Vec::new();
                let clean = u64::from(scalar.is_clean_alone(&text));
                kernel.judge_each(
                    SpanBatch::last(slice, &lines),
                    Clean(Rfc3986, UrlKind::Absolute),
                    Bits(&mut bits),
                );
                assert_eq!(bits.first().copied().unwrap_or_default(), clean);
                kernel.judge_each(SpanBatch::last(slice, &lines), Verbatim, Bits(&mut bits));
                for kind in [UrlKind::Absolute, UrlKind::Target] {
                    // From every byte of the last register.
                    for start in (length.saturating_sub(70)..=length).chain([0]) {
                        kernel.judge(slice, start..length, ByFastPath(Rfc3986, kind, Anything));
                        kernel.judge(slice, start..length, ByFastPath(Questions, kind, Anything));
                    }
                }
            }
        }
    }
}

/// A vector longer than the rest of the text must leave the bytes after it alone.
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

/// How many of the 64 alignments to test for each length.
#[cfg(all(target_os = "linux", not(miri)))]
fn alignments() -> usize {
    std::env::var("UNIQURL_ALIGNMENTS").map_or(4, |n| n.parse().expect("a number"))
}

/// Up to a block away from a guard page, so that length and alignment are independent. Code that reads
/// whole aligned blocks may be right only for slices that end with one.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn no_kernel_reads_outside_its_slice_at_any_alignment() {
    let middle = between_guard_pages();
    let step = BLOCK / alignments().clamp(1, BLOCK);
    for length in 0..=1024 {
        let text = url_of(length, length, b"");
        let clean = Kernel::scalar().is_clean_alone(&text);
        // Every alignment occurs within as many lengths as are skipped.
        for away in (length % step..BLOCK).step_by(step) {
            let last = middle.len() - length - away;
            for start in [away, last] {
                let slice = &mut middle[start..start + length];
                slice.copy_from_slice(&text);
                let slice = &*slice;
                for kernel in kernels() {
                    assert_eq!(kernel.is_clean_alone(slice), clean);
                    kernel.judge(slice, 0..length, Clean(Questions, UrlKind::Absolute));
                    let mut lines = Vec::new();
                    kernel.lines(slice, &mut lines);
                    let mut bits = Vec::new();
                    kernel.judge_each(
                        SpanBatch::last(slice, &lines),
                        Clean(Rfc3986, UrlKind::Absolute),
                        Bits(&mut bits),
                    );
                    assert_eq!(bits.first().copied().unwrap_or_default(), u64::from(clean));
                    kernel.judge(
                        slice,
                        0..length,
                        ByFastPath(Questions, UrlKind::Absolute, Anything),
                    );
                }
            }
        }
    }
}

/// A slice that fills its allocation, for AddressSanitizer, which detects reads of adjacent bytes.
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
                kernel.is_clean_alone(slice);
                kernel.is_clean_target_alone(slice);
                let mut lines = Vec::new();
                kernel.lines(slice, &mut lines);
                kernel.judge_each(
                    SpanBatch::last(slice, &lines),
                    Clean(Rfc3986, UrlKind::Absolute),
                    Bits(&mut Vec::new()),
                );
                let range = before..allocation.len();
                kernel.judge(
                    &allocation,
                    range,
                    ByFastPath(Questions, UrlKind::Absolute, Anything),
                );
            }
        }
    }
}

/// Pads a text.
struct Pad<'a>(&'a [u8]);

impl VectorOp for Pad<'_> {
    type Output = Block;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> Block {
        vector.padded(self.0)
    }
}

#[test]
fn texts_are_padded_with_zeros() {
    let text: [u8; BLOCK] = std::array::from_fn(|i| i as u8 + 1);
    for length in (0..=BLOCK).step_by(STEP) {
        let mut expected = text;
        expected[length..].fill(0);
        for kernel in kernels() {
            assert_eq!(kernel.run(Pad(&text[..length])), expected, "{kernel:?} {length}");
        }
    }
}
