//! Rewrites path, query and fragment: all at once if possible, else one event after the other.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::{Declined, Pass, block};
use crate::bytes::{Triplet, is_unreserved, triplet_of};
use crate::profile::{Grammar, Schemes, Switch};
use crate::simd::{BLOCK, Survey, Vector, up_to};

impl Pass<'_, '_, '_> {
    /// Appends the rest of the URL from `path` on.
    #[inline(always)]
    pub(super) fn path_and_query<V: Vector>(
        &mut self,
        vector: V,
        first: Survey,
        path: usize,
    ) -> Result<(), Declined> {
        (self.path, self.run, self.path_at) = (path, path, self.buffer.length());
        // An empty path is a slash (section 6.2.3).
        if self.profile.schemes == Schemes::Known
            && (path == self.length || self.source[path] != b'/')
        {
            self.buffer.push(b'/');
        }
        if V::NORMALIZES_TRIPLETS && self.at_once(vector, &first) {
            return Ok(());
        }
        self.one_by_one(vector, first)
    }

    /// Appends the rest from the path on, if two blocks hold it and it contains no events but triplets
    /// (rewritten all at once), a dot segment, and a fragment that is dropped. Otherwise appends nothing and
    /// returns false. `low` is the survey of the first block.
    #[inline(always)]
    fn at_once<V: Vector>(&mut self, vector: V, low: &Survey) -> bool {
        let ([first, second, ..], _) = self.source.as_chunks::<BLOCK>() else {
            return false;
        };
        if self.length > 2 * BLOCK || self.profile.switches.contains(Switch::KeepFragment) {
            return false;
        }
        let high = vector.survey(second);
        let inside =
            both(up_to(self.length) & !up_to(self.path), up_to(self.length.saturating_sub(BLOCK)));
        let odd = both(low.not_query, high.not_query);
        // A query may hold question marks.
        let number = both(low.ends, high.ends) & odd & inside;
        // The bytes before the first of them.
        let inside = inside & number.wrapping_sub(1) & !number;
        let percent = both(vector.find(first, b'%'), vector.find(second, b'%')) & inside;
        let behind_slash = both(low.slash, high.slash) << 1 & inside;
        let other = odd & inside & !percent;
        let dots = behind_slash & both(low.dot, high.dot);
        if other != 0 {
            return false;
        }
        if percent == 0 {
            let end = self.length.min(number.trailing_zeros() as usize);
            if dots != 0 {
                return self.without_dot_segment(self.source, [low, &high], self.path..end);
            }
            self.buffer.copy_long(self.source, self.path, end);
            return true;
        }
        let Some(normalized) = vector.normalize_triplets([first, second], percent, inside) else {
            return false;
        };
        let [(first, in_first), (second, in_second)] = &normalized.blocks;
        if normalized.dots & behind_slash | dots != 0 {
            let mut text = [0; 3 * BLOCK];
            text[..BLOCK].copy_from_slice(first);
            text[*in_first..][..BLOCK].copy_from_slice(second);
            let (blocks, _) = text.as_chunks();
            let (low, high) = (vector.survey(&blocks[0]), vector.survey(&blocks[1]));
            return self.without_dot_segment(&text, [&low, &high], 0..in_first + in_second);
        }
        self.buffer.put(first, *in_first);
        self.buffer.put(second, *in_second);
        true
    }

    /// Appends the path and query `text[part]`, if two blocks hold them and at most one dot segment is in the
    /// path. Otherwise appends nothing and returns false. There are no other events.
    #[inline(always)]
    fn without_dot_segment(
        &mut self,
        text: &[u8],
        [low, high]: [&Survey; 2],
        part: Range<usize>,
    ) -> bool {
        let Range { start, end } = part;
        // A shift by 128 would overflow.
        if end >= 2 * BLOCK {
            return false;
        }
        let before = |end: usize| (1_u128 << end) - 1;
        let ends = both(low.ends, high.ends) & before(end) & !before(start);
        let path_end = end.min(ends.trailing_zeros() as usize);
        let path = before(path_end) & !before(start);
        let slash = both(low.slash, high.slash) & path;
        let dot = both(low.dot, high.dot) & path;
        let dots = slash << 1 & dot;
        if dots & dots.wrapping_sub(1) != 0 {
            return false;
        }
        let mut hole = end..end;
        if dots != 0 {
            let at = dots.trailing_zeros() as usize;
            let two = dot >> at >> 1 & 1 == 1;
            let behind = at + 1 + usize::from(two);
            let slash_follows = slash >> behind & 1 == 1;
            if slash_follows | (behind == path_end) {
                // RFC 3986 section 5.2.4: `..` removes the segment before it, too.
                let above = slash & before(at - 1);
                let up = 2 * BLOCK - above.leading_zeros() as usize;
                let from = select_unpredictable(two & (above != 0), up, at);
                hole = from..behind + usize::from(slash_follows);
            }
        }
        self.buffer.copy(text, start, hole.start);
        self.buffer.copy(text, hole.end, end);
        true
    }

    /// Appends the rest from the path on, one event after the other.
    #[inline(always)]
    fn one_by_one<V: Vector>(&mut self, vector: V, first: Survey) -> Result<(), Declined> {
        let (mut low, mut slash) = (first, 0);
        let mut inside = u128::MAX << self.path;
        let mut fragment = None;
        // Whether the path ended before these blocks.
        let mut query = false;
        let mut at = 0;
        // Two blocks at a time, which nearly every URL fits into.
        let end = 'url: loop {
            let high = vector.survey(block(self.source, at + BLOCK, &mut None));
            let rest = self.length - at;
            inside &= both(up_to(rest), up_to(rest.saturating_sub(BLOCK)));
            let dots = both(
                (low.slash << 1 | slash) & low.dot,
                (high.slash << 1 | low.slash >> (BLOCK - 1)) & high.dot,
            );
            let ends = both(low.ends, high.ends) & inside;
            let in_path = |i: usize| !query && ends & ((1 << (i - at)) - 1) == 0;
            let mut events = (both(low.not_query, high.not_query) | dots) & inside;
            while events != 0 {
                let i = at + events.trailing_zeros() as usize;
                events &= events - 1;
                match self.source[i] {
                    // Within a dot segment that was removed.
                    _ if i < self.run => {}
                    b'%' => self.percent(i, in_path(i))?,
                    b'.' => _ = in_path(i) && self.dot_segment(i),
                    b'#' if fragment.is_none() => {
                        if !self.profile.switches.contains(Switch::KeepFragment) {
                            break 'url i;
                        }
                        fragment = Some(i);
                    }
                    byte if self.profile.grammar == Grammar::Repaired => {
                        self.replace(i, 1, triplet_of(byte));
                    }
                    _ => return Err(Declined),
                }
            }
            at += 2 * BLOCK;
            if at >= self.length {
                break self.length;
            }
            query |= ends != 0;
            inside = u128::MAX;
            slash = high.slash >> (BLOCK - 1);
            low = vector.survey(block(self.source, at, &mut None));
        };
        self.buffer.copy(self.source, self.run, end);
        Ok(())
    }

    /// Writes `bytes` in place of the `length` bytes at `at`.
    #[inline(always)]
    fn replace<const N: usize>(&mut self, at: usize, length: usize, bytes: [u8; N]) {
        self.buffer.copy(self.source, self.run, at);
        self.buffer.extend(bytes);
        self.run = at + length;
    }

    /// Rewrites the percent sign or triplet at `at`.
    #[inline(always)]
    fn percent(&mut self, at: usize, in_path: bool) -> Result<(), Declined> {
        match Triplet::read(&self.source[at..self.length]) {
            Some(triplet) if triplet.is_canonical() => {}
            Some(Triplet { value, .. }) if !is_unreserved(value) => {
                self.replace(at, 3, triplet_of(value));
            }
            Some(Triplet { value: b'.', .. })
                if in_path && self.source[at - 1] == b'/' && self.dot_segment(at) => {}
            Some(Triplet { value, .. }) => self.replace(at, 3, [value]),
            None if self.profile.grammar == Grammar::Repaired => self.replace(at, 1, *b"%25"),
            None => return Err(Declined),
        }
        Ok(())
    }

    /// Removes the dot segment at `at`, after a slash; returns whether it is one.
    ///
    /// RFC 3986 section 5.2.4: all bytes before it are in the output and free of dot segments. The slash
    /// before it stays, the one after it goes. `..` removes a segment; each byte is removed at
    /// most once, so the whole is linear.
    #[inline(always)]
    fn dot_segment(&mut self, at: usize) -> bool {
        let url = &self.source[..self.length];
        let one = at + dot(&url[at..]);
        let two = one + dot(&url[one..]);
        if !matches!(url.get(two), None | Some(b'/' | b'?' | b'#')) {
            return false;
        }
        self.buffer.copy(self.source, self.run, at);
        if two > one {
            let path = &self.buffer.written()[self.path_at..];
            // Without its last slash, so that the search stops at the one before the segment.
            let before = &path[..path.len() - 1];
            let kept = before.iter().rposition(|byte| *byte == b'/').map_or(1, |slash| slash + 1);
            self.buffer.truncate(self.path_at + kept);
        }
        self.run = two + usize::from(url.get(two) == Some(&b'/'));
        true
    }
}

/// Length of the full stop that `bytes` starts with, raw or as a triplet; 0 if there is none.
#[inline(always)]
fn dot(bytes: &[u8]) -> usize {
    match bytes {
        [b'.', ..] => 1,
        [b'%', b'2', b'e' | b'E', ..] => 3,
        _ => 0,
    }
}

/// The masks of two blocks as one.
#[inline(always)]
fn both(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << BLOCK
}
