//! The way of most URLs: bit masks show which segments and query names can hold a part of a type. All
//! other bytes are copied as they are.
//!
//! Work goes on in windows of 64 bytes, which start at a slash or at a query name. A segment or name
//! that the masks cannot settle, or that no window holds, goes to [`Writer`], which decides by itself.

use std::ops::Range;

use memchr::{memchr2, memchr3};

use super::byte_class::{self, ODD, classes_of};
use super::extension;
use super::extension::last_word;
use super::write::{Writer, longest};
use crate::bytes::set::{ALPHA, AsciiSet, DIGIT, NibbleTable, UPPER};
use crate::simd::{BLOCK, Block, OutputBuffer, Vector, VectorOp, up_to};

const DIGITS: NibbleTable = NibbleTable::new(DIGIT);
const HEX_DIGITS: NibbleTable = NibbleTable::new(byte_class::HEX_DIGITS);
const CAPITALS: NibbleTable = NibbleTable::new(UPPER);
/// The ASCII characters that are neither letter nor digit.
const SEPARATORS: NibbleTable =
    NibbleTable::new(AsciiSet::range(0, 0x7F).without(ALPHA).without(DIGIT));
/// Bytes that take a segment or a name to [`Writer`].
const RARE: NibbleTable = NibbleTable::new(byte_class::RARE);

/// The shortest token that does not begin with `eyJ`, and the fewest changes in it.
const TOKEN: usize = 16;
const TOKEN_CHANGES: u32 = 4;
/// So many query names are compared here; [`Writer`] compares more.
const FEW_NAMES: usize = 16;

/// Appends the template of a URL.
pub(super) struct ByMasks<'a> {
    /// The URL, and any bytes that are readable after it.
    pub(super) from: &'a [u8],
    /// The length of the URL.
    pub(super) length: usize,
    pub(super) out: &'a mut Vec<u8>,
}

/// The masks of a window that types need. Bits after its end mean nothing.
struct Masks {
    digit: u64,
    dot: u64,
    /// Letters and digits.
    word: u64,
    /// Bytes that take their part to [`Writer`].
    rare: u64,
    /// Where eight hexadecimal digits start, four digits that may be a year with more numbers after them, or
    /// a number after a dot after a digit.
    hard: u64,
    /// Where five digits start.
    five: u64,
    /// Changes between digit and letter, and upper case letters.
    changes: (u64, u64),
}

impl Masks {
    /// The masks of a block whose bytes at the bits of `url` are the URL's.
    #[inline(always)]
    fn new<V: Vector>(vector: V, block: &Block, url: u64) -> Self {
        let digit = vector.find_in_set(block, &DIGITS) & url;
        let hex = vector.find_in_set(block, &HEX_DIGITS) & url;
        let word = !vector.find_in_set(block, &SEPARATORS) & url;
        let dot = vector.find(block, b'.');
        let two = digit & digit >> 1;
        let four = two & two >> 2;
        let hex_two = hex & hex >> 1;
        let hex_four = hex_two & hex_two >> 2;
        let eight_hex = hex_four & hex_four >> 4;
        // No slash is after a year that is in a segment with its month.
        let year = four & !((digit | vector.find(block, b'/')) >> 4);
        let year = year & digit >> 5 & !(digit >> 7) & digit >> 8;
        Self {
            digit,
            dot,
            word,
            rare: vector.find_in_set(block, &RARE),
            hard: eight_hex | year | dot & digit << 1 & digit >> 1,
            five: four & digit >> 4,
            changes: (
                (digit ^ digit >> 1) & word & word >> 1,
                vector.find_in_set(block, &CAPITALS),
            ),
        }
    }

    /// The bytes by which a segment or name can be other than itself.
    #[inline(always)]
    fn telling(&self) -> u64 {
        self.digit | self.rare | self.hard
    }

    /// The digits in the bytes `start..end` of the window, which are `inside`, and whether they become `{int}`.
    /// All other bytes stay. `None` if the masks cannot tell. `is_extension` tells whether the bytes from an
    /// offset on are one.
    #[inline(always)]
    fn number(
        &self,
        inside: u64,
        start: usize,
        end: usize,
        is_extension: impl Fn(usize) -> bool,
    ) -> Option<(Range<usize>, bool)> {
        let length = end - start;
        let changes =
            (self.changes.0 & inside).count_ones() + (self.changes.1 & inside).count_ones();
        let may_be_token = (length >= TOKEN) & (changes >= TOKEN_CHANGES);
        // The bit at the end stops the count where every byte is a digit.
        let digits = (!self.digit >> start | 1 << length).trailing_zeros() as usize;
        let after = start + digits + 1;
        let rest = inside & !up_to(after);
        // No branches here: no branch can predict which segments are numbers.
        let is_dotted = (digits > 0) & (digits < length) & (self.dot >> (start + digits) & 1 != 0);
        let is_odd = ((self.rare | self.hard) & inside != 0)
            | may_be_token
            | (is_dotted & ((self.dot | self.digit) & rest != 0));
        if is_odd {
            return None;
        }
        let is_int = (digits == length) | (is_dotted & is_extension(after));
        if (self.five & inside == 0) | is_int {
            return Some((start..start + digits, is_int));
        }
        // The digits are at most seven, since eight are hexadecimal.
        let first = (self.five & inside).trailing_zeros() as usize;
        let last = first + (!self.digit >> first).trailing_zeros() as usize;
        // There is a second long number, and one pass can write only one.
        if self.five & inside & !up_to(last) != 0 {
            return None;
        }
        // Only letters may be before them in their run, and nothing after.
        let run = BLOCK - (!self.word & up_to(first)).leading_zeros() as usize;
        let in_run = up_to(first) & !up_to(run.max(start));
        let is_int = self.digit & in_run == 0 && self.word & inside & !up_to(last) & 1 << last == 0;
        Some((first..last, is_int))
    }
}

impl VectorOp for ByMasks<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) {
        let Self { from, length, out } = self;
        let url = &from[..length];
        // Other schemes, hosts beyond the first block and odd bytes in an authority are rare.
        let Some(path) = path_start(vector, from, length) else { return Writer::new(out).url(url) };
        let mut buffer = OutputBuffer::new(&mut *out, room_for(length));
        // The bytes up to `written` are written; the window starts at a slash.
        let (mut at, mut written) = (path, 0);
        let end = loop {
            let mut room = None;
            let block = block(vector, from, at, &mut room);
            let slash = vector.find(block, b'/');
            let of_url = up_to(length - at);
            let ends = vector.find(block, b'?') | vector.find(block, b'#') | !of_url;
            let masks = Masks::new(vector, block, of_url);
            // Where the last segment ends that the window holds.
            let window = match ends {
                0 => BLOCK - 1 - slash.leading_zeros() as usize,
                _ => ends.trailing_zeros() as usize,
            };
            if window == 0 && ends == 0 {
                // A long segment.
                let start = at + 1;
                let end = segment_end(url, start);
                copy(vector, &mut buffer, from, written, start);
                buffer.finish();
                segment(&mut *out, &url[start..end], start);
                buffer = OutputBuffer::new(&mut *out, room_for(length - end));
                (at, written) = (end, end);
                if url.get(at) == Some(&b'/') {
                    continue;
                }
                break end;
            }
            // The slash that ends the window is no border inside of it, but a number after it may
            // make a date.
            let (all_slashes, slash) = (slash, slash & up_to(window));
            let borders = slash | 1 << window;
            let mut telling = masks.telling() & up_to(window);
            let mut next = at + window;
            while telling != 0 {
                let first = telling.trailing_zeros() as usize;
                let start = BLOCK - (slash & up_to(first)).leading_zeros() as usize;
                let end = (borders & !up_to(first)).trailing_zeros() as usize;
                let inside = up_to(end) & !up_to(start);
                telling &= !up_to(end);
                let here = at + start;
                let number = masks.number(inside, start, end, |after| {
                    extension::is_extension_before(from, at + end, end.saturating_sub(after))
                });
                let Some((number, is_int)) = number else {
                    copy(vector, &mut buffer, from, written, here);
                    buffer.finish();
                    segment(&mut *out, &url[here..at + end], here);
                    buffer = OutputBuffer::new(&mut *out, room_for(length - at - end));
                    written = at + end;
                    continue;
                };
                // The next window has the digit after this one.
                let is_before_number =
                    all_slashes >> end & (masks.digit >> end >> 1 | (end == BLOCK - 1) as u64) & 1;
                if is_int & (end - start == 4) & (is_before_number != 0) {
                    // Perhaps a date over segments: the writer takes the rest of the path.
                    copy(vector, &mut buffer, from, written, here);
                    buffer.finish();
                    next = here + memchr2(b'?', b'#', &url[here..]).unwrap_or(length - here);
                    segments(&mut *out, &url[..next], here);
                    buffer = OutputBuffer::new(&mut *out, room_for(length - next));
                    written = next;
                    break;
                }
                // Without a branch, since no branch can predict which segments have numbers.
                copy(vector, &mut buffer, from, written, at + number.start);
                buffer.extend(*b"{int}");
                buffer.truncate(buffer.length() - if is_int { 0 } else { 5 });
                written = at + if is_int { number.end } else { number.start };
            }
            at = next;
            if url.get(at) != Some(&b'/') {
                break at;
            }
        };
        copy(vector, &mut buffer, from, written, end);
        let before = buffer.length();
        if url.get(end) == Some(&b'?') && !query(vector, from, length, end + 1, &mut buffer) {
            buffer.truncate(before);
            buffer.finish();
            Writer::new(out).query_at(url, end);
        } else {
            buffer.finish();
        }
    }
}

/// Room for the template of a URL, and for a copy that is longer than its part.
#[inline(always)]
pub(super) const fn room_for(length: usize) -> usize {
    longest(length).saturating_add(2 * BLOCK)
}

/// Appends `from[start..end]`.
#[inline(always)]
fn copy<V: Vector>(
    vector: V,
    buffer: &mut OutputBuffer<'_>,
    from: &[u8],
    start: usize,
    end: usize,
) {
    if from.len() - start >= 2 * BLOCK && end - start <= 2 * BLOCK {
        buffer.copy_long(from, start, end);
    } else if V::PADS && end - start <= BLOCK {
        // Near the end of the buffer there are no two blocks to read, and a copy by length is a
        // call.
        buffer.put(&vector.padded(&from[start..end]), end - start);
    } else {
        buffer.copy(from, start, end);
    }
}

/// As [`copy`], for short parts.
#[inline(always)]
fn copy_name<V: Vector>(
    vector: V,
    buffer: &mut OutputBuffer<'_>,
    from: &[u8],
    start: usize,
    end: usize,
) {
    if V::PADS && from.len() - start < BLOCK && end - start <= BLOCK {
        buffer.put(&vector.padded(&from[start..end]), end - start);
    } else {
        buffer.copy(from, start, end);
    }
}

/// Where the segment ends that `start` is in.
fn segment_end(url: &[u8], start: usize) -> usize {
    memchr3(b'/', b'?', b'#', &url[start..]).map_or(url.len(), |more| start + more)
}

/// Appends the query that starts at `start`. Returns false if it did not.
#[inline(always)]
fn query<V: Vector>(
    vector: V,
    from: &[u8],
    length: usize,
    start: usize,
    buffer: &mut OutputBuffer<'_>,
) -> bool {
    let url = &from[..length];
    let mut names = [(0, 0); FEW_NAMES];
    // One bit for each name, by its first bytes: a name without its bit is new.
    let (mut count, mut seen) = (0, 0_u64);
    let base = buffer.length();
    let mut at = start;
    let is_done = 'windows: loop {
        if at >= length {
            break true;
        }
        let mut room = None;
        let block = block(vector, from, at, &mut room);
        let ampersand = vector.find(block, b'&');
        let equals = vector.find(block, b'=');
        let of_url = up_to(length - at);
        let ends = vector.find(block, b'#') | !of_url;
        let masks = Masks::new(vector, block, of_url);
        let telling = masks.telling();
        let window = if ends == 0 { BLOCK } else { ends.trailing_zeros() as usize };
        let mut next = 0;
        while next < window {
            let pair_ends = (ampersand | ends) & !up_to(next);
            let name_ends = (equals | ampersand | ends) & !up_to(next);
            // No name ends in this window. Another window starts at this pair; a name that is
            // longer than a window is left to the writer.
            if name_ends == 0 {
                if next == 0 {
                    break 'windows false;
                }
                at += next;
                continue 'windows;
            }
            let end = name_ends.trailing_zeros() as usize;
            if end > next {
                let inside = up_to(end) & !up_to(next);
                let separator = buffer.length();
                // With the byte before.
                copy_name(vector, buffer, from, at + next - 1, at + end);
                let mut bit = bit_of(from, at + end, end - next);
                if telling & inside != 0 {
                    let number = masks.number(inside, next, end, |_| false);
                    let Some((number, is_int)) = number else { break 'windows false };
                    // A number in a name stays.
                    if is_int & (number.start == next) & (number.end == end) {
                        buffer.truncate(separator + 1);
                        buffer.extend(*b"{int}");
                        // All numbers share a bit, since they are one name.
                        bit = 0;
                    }
                }
                let name = (separator + 1, buffer.length());
                let known = (seen >> bit & 1 != 0) && {
                    let written = buffer.written();
                    let text = |name: (usize, usize)| &written[name.0..name.1];
                    names[..count].iter().any(|known| text(*known) == text(name))
                };
                if known {
                    buffer.truncate(separator);
                } else {
                    seen |= 1 << bit;
                    let Some(free) = names.get_mut(count) else { break 'windows false };
                    *free = name;
                    count += 1;
                }
            }
            if pair_ends == 0 {
                // A long value.
                let Some(more) = memchr2(b'&', b'#', &url[at + end..]) else { break 'windows true };
                at += end + more + 1;
                if url[at - 1] == b'#' {
                    break 'windows true;
                }
                continue 'windows;
            }
            next = pair_ends.trailing_zeros() as usize + 1;
        }
        if ends != 0 {
            break true;
        }
        at += window;
    };
    // Empty names may be before the first.
    if buffer.length() > base {
        buffer.replace(base, b'?');
    }
    is_done
}

/// A bit for a name of so many bytes.
#[inline(always)]
fn bit_of(from: &[u8], end: usize, length: usize) -> u32 {
    // Long names with equal ends differ in their lengths at least. A collision costs one
    // comparison.
    let word = last_word(from, end, length) ^ length as u64;
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58) as u32
}

/// Where the path of a URL with a scheme of the web, or of a target, starts, or else `None`. Bytes before
/// are literals.
#[inline(always)]
fn path_start<V: Vector>(vector: V, from: &[u8], length: usize) -> Option<usize> {
    let front = from.first_chunk::<8>()?;
    if front[0] == b'/' {
        // Two slashes begin an authority, whose bytes are no segments.
        return (length == 1 || front[1] != b'/').then_some(0);
    }
    let word = u64::from_le_bytes(*front);
    let (long, short) = (u64::from_le_bytes(*b"https://"), u64::from_le_bytes(*b"http://\0"));
    if word != long && word & up_to(56) != short {
        return None;
    }
    let scheme = 7 + usize::from(word == long);
    // The bytes of the scheme may be those after a short URL.
    if length < scheme {
        return None;
    }
    let mut room = None;
    let block = block(vector, from, 0, &mut room);
    let ends = vector.find(block, b'/') | vector.find(block, b'?') | vector.find(block, b'#');
    let ends = ends & !up_to(scheme);
    if ends == 0 {
        return None;
    }
    let path = ends.trailing_zeros() as usize;
    let rare = vector.find_in_set(block, &RARE) & up_to(path) & !up_to(scheme);
    let is_plain = rare == 0 || classes_of(&from[scheme..path]) & ODD == 0;
    (path < length && is_plain && from[path] == b'/').then_some(path)
}

/// The block at `at`, padded with zeros if `from` is shorter.
#[inline(always)]
fn block<'a, V: Vector>(
    vector: V,
    from: &'a [u8],
    at: usize,
    room: &'a mut Option<Block>,
) -> &'a Block {
    match from.get(at..).and_then(<[u8]>::first_chunk) {
        Some(block) => block,
        None => room.insert(vector.padded(from.get(at..).unwrap_or_default())),
    }
}

#[inline(never)]
fn segment(out: &mut Vec<u8>, segment: &[u8], at: usize) {
    Writer::new(out).segment(segment, classes_of(segment), at);
}

/// The segments from `start` on, where one starts, up to the end of `url`.
#[inline(never)]
fn segments(out: &mut Vec<u8>, url: &[u8], start: usize) {
    Writer::new(out).segments(url, start, start);
}

#[cfg(test)]
mod tests {
    use super::super::Template;
    use super::*;
    use crate::simd::tests::kernels;
    use crate::test_util::cases;

    const PARTS: &[&str] = &[
        "/",
        "/",
        "/",
        "?",
        "&",
        "=",
        "#",
        "-",
        ".",
        "_",
        ";",
        ":",
        "@",
        "%40",
        "'",
        "{int}",
        "\0",
        "\u{e9}",
        "7",
        "12",
        "2024",
        "02",
        "29",
        "12345",
        "20240229",
        "2024-02-29",
        "a1b2c3d4",
        "AbC1dEfG2hIjKlMnO",
        "192.168.0.1",
        "550e8400-e29b-41d4-a716-446655440000",
        "eyJ",
        "item",
        "word-two-three",
        "v1",
        "JPG",
        ".html",
        ".tar.gz",
        ".mp4",
        ".woff2",
        "utm_source",
        "x1y2z3",
        "longer-than-the-window-of-a-block-is-",
    ];

    #[test]
    fn masks_and_writer_make_one_template_on_every_backend() {
        let mut state = 7_u64;
        let mut draw = |most: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % most
        };
        for _ in 0..cases(3_000) {
            let mut url =
                String::from(["http://h/", "https://h:80/", "/", "http://", "//", "x:"][draw(6)]);
            (0..draw(24)).for_each(|_| url.push_str(PARTS[draw(PARTS.len())]));
            let mut expected = b"before".to_vec();
            Writer::new(&mut expected).url(url.as_bytes());
            for after in ["", "1", "/1/2024/02/?7", "x".repeat(200).as_str()] {
                let text = format!("{url}{after}");
                for kernel in kernels() {
                    let mut out = b"before".to_vec();
                    Template::append_at(kernel, text.as_bytes(), 0..url.len(), &mut out);
                    assert_eq!(out, expected, "{kernel:?} {url} {}", out.escape_ascii());
                    // Without the copy of a short URL, and with scalar masks.
                    out.truncate(6);
                    let (from, length) = (text.as_bytes(), url.len());
                    kernel.run(ByMasks { from, length, out: &mut out });
                    assert_eq!(out, expected, "{kernel:?} {url} {}", out.escape_ascii());
                }
            }
        }
    }
}
