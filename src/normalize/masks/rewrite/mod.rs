//! A dirty URL in one pass over the scanner's masks.
//!
//! The plain loop, for a URL that starts with `http://` or `https://` in whatever case, or a request
//! target:
//!
//! ```text
//! copy scheme and host in lower case, then the port if it has to be named
//! until the end, or the number sign of a fragment that goes:
//!     copy as far as nothing happens
//!     rewrite what happens there: a triplet, a byte that is not allowed, a dot segment
//! ```
//!
//! Each block of 64 bytes has a mask with a bit for each event: a byte that a query does not allow as
//! itself, or a full stop after a slash. So the time depends on the number of events, hardly on the
//! length. If the instruction set can compress a block, and two blocks hold the URL, triplets and a dot
//! segment are no events: they are rewritten at once.
//!
//! Rare cases are declined and left to `normalize`, which knows all rules and the offset of each error,
//! and has the last word. This module only ever writes the bytes that `normalize` would write.

use std::hint::select_unpredictable;
use std::ops::Range;

use self::port::Port;
use crate::bytes::{Triplet, is_unreserved};
use crate::normalize::exact::host;
use crate::normalize::exact::ports::DefaultPorts;
use crate::profile::scheme::Kind;
use crate::profile::{Access, Policy, Schemes, Switch};
use crate::simd::{BLOCK, Block, OutputBuffer, Survey, UrlKind, Vector, VectorOp, up_to};

mod path;
mod port;

/// Longest URL that is accepted, because the worst case of its growth is reserved.
const LONGEST: usize = 4096;
/// The most output bytes for one input byte.
pub const GROWTH: usize = 3;
/// Additional output bytes: the slash of an empty path.
const BESIDE: usize = 1;

/// Appends the canonical form of the URL `bytes[start..end]` to `out`, or appends nothing and declines: the
/// caller then uses the exact path.
pub(in crate::normalize) struct Rewrite<'a> {
    pub(in crate::normalize) profile: &'a Policy,
    /// Custom default ports.
    pub(in crate::normalize) ports: Option<&'a DefaultPorts>,
    pub(in crate::normalize) kind: UrlKind,
    pub(in crate::normalize) bytes: &'a [u8],
    pub(in crate::normalize) start: usize,
    pub(in crate::normalize) end: usize,
    pub(in crate::normalize) out: &'a mut Vec<u8>,
}

/// The URL needs the exact path.
struct Declined;

impl VectorOp for Rewrite<'_> {
    /// False if the URL was declined.
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        let Range { start, end } = self.trimmed();
        let length = end - start;
        if length > LONGEST {
            return false;
        }
        // Bytes after the URL may be read if they belong to the buffer. A short URL at the end of the buffer
        // is copied to a padded one.
        let mut source = &self.bytes[start..];
        let padded: [u8; 3 * BLOCK];
        if source.len() < 2 * BLOCK {
            padded = filled_up(source);
            source = &padded;
        }
        let mut buffer = OutputBuffer::new(self.out, GROWTH * length + BESIDE);
        let mut pass = Pass {
            profile: self.profile,
            ports: self.ports,
            source,
            length,
            buffer: &mut buffer,
            run: 0,
            path: 0,
            path_at: 0,
        };
        let done = pass.all(vector, self.kind).is_ok();
        if done {
            buffer.finish();
        }
        done
    }
}

impl Rewrite<'_> {
    /// The range of the URL without the blanks that are trimmed.
    #[inline(always)]
    fn trimmed(&self) -> Range<usize> {
        let Range { mut start, mut end } = self.start..self.end;
        if self.profile.access == Access::Retrieval {
            while start < end && self.bytes[end - 1] <= 0x20 {
                end -= 1;
            }
            while start < end && self.bytes[start] <= 0x20 {
                start += 1;
            }
        }
        start..end
    }
}

struct Pass<'a, 'buffer, 'out> {
    profile: &'a Policy,
    ports: Option<&'a DefaultPorts>,
    /// The URL and the bytes that happen to follow it: at least two blocks.
    source: &'a [u8],
    /// Length of the URL.
    length: usize,
    buffer: &'buffer mut OutputBuffer<'out>,
    /// Bytes before this offset have been copied or replaced.
    run: usize,
    /// The offset of the path in the URL; `path_at` is the one in the output.
    path: usize,
    path_at: usize,
}

impl Pass<'_, '_, '_> {
    #[inline(always)]
    fn all<V: Vector>(&mut self, vector: V, kind: UrlKind) -> Result<(), Declined> {
        let first = vector.survey(block(self.source, 0, &mut None));
        let path = match kind {
            UrlKind::Absolute => {
                let host = self.scheme()?;
                self.authority(vector, host, &first)?
            }
            UrlKind::Target => 0,
        };
        self.path_and_query(vector, first, path)
    }

    /// Length of `http://` or `https://`; other schemes are declined.
    #[inline(always)]
    fn scheme(&self) -> Result<usize, Declined> {
        /// Masks and expected values of the first bytes. The masks ignore bit 5 of letters: their case.
        const SCHEMES: [(u64, u64); 2] = [
            (
                u64::from_le_bytes(*b"\xDF\xDF\xDF\xDF\xFF\xFF\xFF\0"),
                u64::from_le_bytes(*b"HTTP://\0"),
            ),
            (
                u64::from_le_bytes(*b"\xDF\xDF\xDF\xDF\xDF\xFF\xFF\xFF"),
                u64::from_le_bytes(*b"HTTPS://"),
            ),
        ];
        // Looked up by that one letter, since a branch on it would often be mispredicted.
        let s = usize::from(self.source[4] & 0xDF == b'S');
        let (mask, expected) = SCHEMES[s];
        let word = self.source.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let length = 7 + s;
        // The bytes after a short URL may look like the rest of a scheme.
        let found = (word & mask == expected) & (self.length > length);
        if found { Ok(length) } else { Err(Declined) }
    }

    /// Appends scheme and authority, and returns the start of the path. `host` is the start of the
    /// authority, and `first` is the survey of the URL's first block.
    #[inline(always)]
    fn authority<V: Vector>(
        &mut self,
        vector: V,
        host: usize,
        first: &Survey,
    ) -> Result<usize, Declined> {
        // The end of the URL also ends its authority.
        let ends = (first.slash | first.ends) >> host;
        let end = self.length.min(host + ends.trailing_zeros() as usize);
        // The masks of the authority are those of the first block.
        if end > BLOCK {
            return Err(Declined);
        }
        let odd = first.not_reg_name & up_to(end) & u64::MAX << host;
        let find = |byte| vector.find(block(self.source, 0, &mut None), byte) & odd;
        let colons = find(b':');
        let (mut name, mut others) = (host, odd & !colons);
        if self.drops_userinfo() {
            // The last `@` ends the userinfo.
            let at = find(b'@');
            name = BLOCK - (at | ((1 << host) - 1)).leading_zeros() as usize;
            others &= !at;
        }
        let colons = colons & !up_to(name);
        // The exact path knows what is wrong with two colons.
        if colons & colons.wrapping_sub(1) != 0 {
            return Err(Declined);
        }
        let name_end = end.min(colons.trailing_zeros() as usize);
        self.buffer.extend(if host == b"http://".len() { *b"http://\0" } else { *b"https://" });
        self.buffer.truncate(host);
        self.name(name..name_end, others, first.dot)?;
        if name_end < end {
            self.port(name_end + 1, end, host)?;
        }
        Ok(end)
    }

    /// Appends the registered name `source[name]`. `odd` and `dots` are masks of the first block: `odd` has
    /// the bytes that need work, except colons and the `@` of dropped userinfo; `dots` has the full stops.
    #[inline(always)]
    fn name(&mut self, name: Range<usize>, mut odd: u64, dots: u64) -> Result<(), Declined> {
        let before = self.buffer.length();
        let escaped = odd != 0;
        self.run = name.start;
        while odd != 0 {
            let at = odd.trailing_zeros() as usize;
            odd &= odd - 1;
            if !name.contains(&at) || self.source[at] != b'%' {
                let outside = (odd | 1 << at) & !(up_to(name.end) & !up_to(name.start));
                if self.profile.access == Access::Identifier || outside != 0 {
                    return Err(Declined);
                }
                let ascii = domain(&self.source[name]).ok_or(Declined)?;
                self.buffer.truncate(before);
                self.buffer.copy(&ascii, 0, ascii.len());
                return Ok(());
            }
            let triplet = Triplet::read(&self.source[at..name.end]);
            let Some(Triplet { value, .. }) = triplet else { return Err(Declined) };
            if !is_unreserved(value) {
                return Err(Declined);
            }
            self.buffer.copy_lower(self.source, self.run, at);
            self.buffer.push(value.to_ascii_lowercase());
            self.run = at + 3;
        }
        let drops_dots = self.profile.access == Access::Retrieval;
        // Read from the mask: loading the bytes that were just written would stall on the store.
        let last = if drops_dots { ones_before(dots, name.end) } else { 0 };
        self.buffer.copy_lower(self.source, self.run, name.end - last);
        // A decoded triplet may be a full stop too, which the mask does not show.
        while escaped && drops_dots && self.buffer.written().last() == Some(&b'.') {
            self.buffer.truncate(self.buffer.length() - 1);
        }
        // Nothing is left of the host, and the exact path knows the reason to reject it.
        if self.buffer.length() <= before { Err(Declined) } else { Ok(()) }
    }

    /// Whether userinfo is dropped, for the schemes that are accepted here.
    #[inline(always)]
    fn drops_userinfo(&self) -> bool {
        self.profile.access == Access::Retrieval
            && !self.profile.switches.contains(Switch::KeepUserinfo)
    }

    /// Appends the port `source[start..end]` if the profile names it.
    #[inline(always)]
    fn port(&mut self, start: usize, end: usize, scheme: usize) -> Result<(), Declined> {
        let (name, port) =
            if scheme == b"http://".len() { (&b"http"[..], 80) } else { (&b"https"[..], 443) };
        let default = self.ports.map_or(Some(port), |ports| ports.of(name));
        let word = self.source[start..].first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let Some(Port { value, zeros }) = Port::read(word, end - start) else {
            return Err(Declined);
        };
        if self.profile.schemes == Schemes::Alike {
            self.buffer.push(b':');
            self.buffer.copy(self.source, start, end);
            return Ok(());
        }
        let is_named = default.is_none_or(|default| value != u32::from(default));
        // Always written, and truncated if it is not named: a branch would mispredict.
        let before = self.buffer.length();
        let digits = word >> (8 * zeros);
        self.buffer.extend(*b":");
        self.buffer.extend(digits.to_le_bytes());
        let length = 1 + end - start - zeros;
        self.buffer.truncate(before + select_unpredictable(is_named & (start < end), length, 0));
        Ok(())
    }
}

/// The ASCII form of a registered name (UTS 46). `None` if it is invalid or needs more room than reserved.
#[cold]
#[inline(never)]
fn domain(name: &[u8]) -> Option<Vec<u8>> {
    let mut ascii = Vec::new();
    host::to_ascii(name, host::DENIED, 0, &mut ascii).ok()?;
    host::drop_trailing_dots(0, Kind::Network, &mut ascii);
    Some(ascii).filter(|ascii| (1..=GROWTH * name.len()).contains(&ascii.len()))
}

/// The number of consecutive set bits directly below bit `end`, which is at least 1.
#[inline(always)]
fn ones_before(mask: u64, end: usize) -> usize {
    (mask << (BLOCK - end)).leading_ones() as usize
}

/// The block of `source` at `at`. If `source` is too short, the block is padded in `room`.
#[inline(always)]
fn block<'a>(source: &'a [u8], at: usize, room: &'a mut Option<Block>) -> &'a Block {
    let rest = source.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(block) => block,
        None => room.insert(filled_up(rest)),
    }
}

/// `bytes`, padded with zeros.
#[cold]
fn filled_up<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut filled = [0; N];
    filled[..bytes.len()].copy_from_slice(bytes);
    filled
}

#[cfg(test)]
mod tests;
