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
//! What happens, and where, is a bit of a mask for each 64 bytes: a byte that a query does not allow
//! as itself, or a full stop behind a slash. So the time goes by what is wrong with a URL and hardly
//! by its length. Where an instruction set can leave bytes out of a block, and two blocks hold the URL,
//! its triplets are no events: they are all rewritten at once.
//!
//! What is rare is declined: it is left to `normalize`, which knows all of the rules and the place of
//! each trouble, and has the last word. This module only ever writes what that would write.

use std::ops::Range;

use super::escape::{self, Triplet, triplet_of};
use crate::profile::{Access, Grammar, Ports, Profile, Schemes, Switch};
use crate::scan::{BLOCK, Block, Lead, Page, Survey, Vector, Work, up_to};

/// Longest URL that is taken. Room is made for the worst that can become of it.
const LONGEST: usize = 4096;
/// Bytes that come out where one goes in, at most.
const GROWTH: usize = 3;
/// Bytes that come out beside: the slash of an empty path.
const BESIDE: usize = 1;

/// Appends the canonical form of the URL `bytes[start..end]` to `out`, or says that it has to be done
/// another way, and appends nothing.
pub(super) struct Rewrite<'a> {
    pub(super) profile: &'a Profile,
    pub(super) lead: Lead,
    pub(super) bytes: &'a [u8],
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) out: &'a mut Vec<u8>,
}

/// The URL needs a closer look.
struct Declined;

impl Work for Rewrite<'_> {
    /// Whether it is done.
    type Output = bool;

    #[inline(always)]
    fn run<V: Vector>(self, vector: V) -> bool {
        let Range { start, end } = self.trimmed();
        let length = end - start;
        if length > LONGEST {
            return false;
        }
        // Bytes behind the URL may be looked at if they belong to the buffer. A short URL at the end
        // of one gets a buffer of its own.
        let mut source = &self.bytes[start..];
        let padded: [u8; 3 * BLOCK];
        if source.len() < 2 * BLOCK {
            padded = filled_up(source);
            source = &padded;
        }
        let mut page = Page::new(self.out, GROWTH * length + BESIDE);
        let mut pass = Pass {
            profile: self.profile,
            source,
            length,
            page: &mut page,
            run: 0,
            path: 0,
            path_at: 0,
        };
        let done = pass.all(vector, self.lead).is_ok();
        if done {
            page.finish();
        }
        done
    }
}

impl Rewrite<'_> {
    /// Where the URL is without the blanks around it that go.
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

struct Pass<'a, 'page, 'out> {
    profile: &'a Profile,
    /// The URL, and what happens to stand behind it: two blocks at least.
    source: &'a [u8],
    /// Length of the URL.
    length: usize,
    page: &'page mut Page<'out>,
    /// What stands before it has been copied, or replaced.
    run: usize,
    /// Where the path is in the URL, and where in the output.
    path: usize,
    path_at: usize,
}

impl Pass<'_, '_, '_> {
    #[inline(always)]
    fn all<V: Vector>(&mut self, vector: V, lead: Lead) -> Result<(), Declined> {
        let first = vector.survey(block(self.source, 0, &mut None));
        let path = match lead {
            Lead::Absolute => {
                let host = self.scheme()?;
                self.authority(vector, host, &first)?
            }
            Lead::Target => 0,
        };
        self.path_and_query(vector, first, path)
    }

    /// Length of `http://` or `https://`; of no other scheme is it known what to do here.
    #[inline(always)]
    fn scheme(&self) -> Result<usize, Declined> {
        /// Which bits of the first bytes matter, and how they are: of letters bit 5 does not.
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
        // Looked up by the one letter, since a branch on it would be guessed wrong often.
        let s = usize::from(self.source[4] & 0xDF == b'S');
        let (mask, expected) = SCHEMES[s];
        let word = self.source.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        let length = 7 + s;
        // What stands behind a short URL may look like the rest of one.
        let found = (word & mask == expected) & (self.length > length);
        if found { Ok(length) } else { Err(Declined) }
    }

    /// Appends scheme and authority, and says where the path starts. `host` is where the authority
    /// does, and the URL's first block is `first`.
    #[inline(always)]
    fn authority<V: Vector>(
        &mut self,
        vector: V,
        host: usize,
        first: &Survey,
    ) -> Result<usize, Declined> {
        // Where the URL ends, its authority does.
        let ends = (first.slash | first.ends) >> host;
        let end = self.length.min(host + ends.trailing_zeros() as usize);
        if end > BLOCK {
            return Err(Declined);
        }
        let odd = vector.below(first.not_reg_name, end) & u64::MAX << host;
        let find = |byte| vector.find(block(self.source, 0, &mut None), byte) & odd;
        let colons = find(b':');
        let (mut name, mut others) = (host, odd & !colons);
        if self.drops_userinfo() {
            // "Credentials do not go into output files", and the last `@` ends them.
            let at = find(b'@');
            name = BLOCK - (at | ((1 << host) - 1)).leading_zeros() as usize;
            others &= !at;
        }
        let colons = colons & !vector.below(u64::MAX, name);
        if colons & colons.wrapping_sub(1) != 0 {
            return Err(Declined);
        }
        let name_end = end.min(colons.trailing_zeros() as usize);
        self.page.extend(if host == b"http://".len() { *b"http://\0" } else { *b"https://" });
        self.page.truncate(host);
        self.name(name..name_end, others, first.dot)?;
        if name_end < end {
            self.port(name_end + 1, end, host)?;
        }
        Ok(end)
    }

    /// Appends the registered name `source[name]`. Where bytes stand out of the first block that are no
    /// colon, and no `@` of userinfo that goes, is `odd`; where full stops are, `dots`.
    #[inline(always)]
    fn name(&mut self, name: Range<usize>, mut odd: u64, dots: u64) -> Result<(), Declined> {
        let before = self.page.length();
        let escaped = odd != 0;
        self.run = name.start;
        while odd != 0 {
            let at = odd.trailing_zeros() as usize;
            odd &= odd - 1;
            if !name.contains(&at) || self.source[at] != b'%' {
                return Err(Declined);
            }
            let triplet = Triplet::read(&self.source[at..name.end]);
            let Some(Triplet { value, .. }) = triplet else { return Err(Declined) };
            if !escape::is_unreserved(value) {
                return Err(Declined);
            }
            self.page.copy_lower(self.source, self.run, at);
            self.page.push(value.to_ascii_lowercase());
            self.run = at + 3;
        }
        let drops_dots = self.profile.access == Access::Retrieval;
        // Asked of the mask: what was just written would have to be waited for.
        let last = if drops_dots { ones_before(dots, name.end) } else { 0 };
        self.page.copy_lower(self.source, self.run, name.end - last);
        while escaped && drops_dots && self.page.written().last() == Some(&b'.') {
            self.page.truncate(self.page.length() - 1);
        }
        if self.page.length() <= before { Err(Declined) } else { Ok(()) }
    }

    /// Whether userinfo goes from the schemes that are known here.
    #[inline(always)]
    fn drops_userinfo(&self) -> bool {
        self.profile.access == Access::Retrieval
            && !self.profile.switches.contains(Switch::KeepUserinfo)
    }

    /// Appends the port `source[start..end]` where it has to be named.
    #[inline(always)]
    fn port(&mut self, start: usize, end: usize, scheme: usize) -> Result<(), Declined> {
        let default = if scheme == b"http://".len() { 80 } else { 443 };
        let port = &self.source[start..end];
        if port.len() > 5 || !port.iter().all(u8::is_ascii_digit) {
            return Err(Declined);
        }
        if self.profile.schemes == Schemes::Alike {
            self.page.push(b':');
            self.page.copy(self.source, start, end);
            return Ok(());
        }
        if port.is_empty() {
            return Ok(());
        }
        let value = port.iter().fold(0, |n, digit| n * 10 + u32::from(digit - b'0'));
        if value > 65535 {
            return Err(Declined);
        }
        if value != default || self.profile.ports == Ports::Others {
            let zeros = port.iter().take_while(|digit| **digit == b'0').count();
            self.page.push(b':');
            self.page.copy(self.source, start + zeros.min(port.len() - 1), end);
        }
        Ok(())
    }

    /// Appends what stands from `path` on.
    #[inline(always)]
    fn path_and_query<V: Vector>(
        &mut self,
        vector: V,
        first: Survey,
        path: usize,
    ) -> Result<(), Declined> {
        (self.path, self.run, self.path_at) = (path, path, self.page.length());
        if self.profile.schemes == Schemes::Known
            && (path == self.length || self.source[path] != b'/')
        {
            self.page.push(b'/');
        }
        if V::NORMALIZES_TRIPLETS && self.at_once(vector, &first) {
            return Ok(());
        }
        self.one_by_one(vector, first)
    }

    /// Appends what stands from the path on where two blocks hold it and nothing happens in it but
    /// triplets, which are rewritten all at once, and a fragment that goes; or says that it is not so, and
    /// appends nothing. `low` is the first block's.
    #[inline(always)]
    fn at_once<V: Vector>(&mut self, vector: V, low: &Survey) -> bool {
        let ([first, second, ..], _) = self.source.as_chunks::<BLOCK>() else {
            return false;
        };
        if self.length > 2 * BLOCK || self.profile.switches.contains(Switch::KeepFragment) {
            return false;
        }
        let high = vector.survey(second);
        let find = |byte| both(vector.find(first, byte), vector.find(second, byte));
        let before = |end| vector.below(u64::MAX, end);
        let inside = both(
            before(self.length) & !before(self.path),
            before(self.length.saturating_sub(BLOCK)),
        );
        let number = find(b'#') & inside;
        // What stands before the first of them.
        let inside = inside & number.wrapping_sub(1) & !number;
        let percent = find(b'%') & inside;
        let behind_slash = both(low.slash, high.slash) << 1 & inside;
        let other = both(low.not_query, high.not_query) & inside & !percent;
        let dots = behind_slash & both(low.dot, high.dot);
        if other | dots != 0 {
            return false;
        }
        if percent == 0 {
            let end = self.length.min(number.trailing_zeros() as usize);
            self.page.copy_long(self.source, self.path, end);
            return true;
        }
        let Some(normalized) = vector.normalize_triplets([first, second], percent, inside) else {
            return false;
        };
        if normalized.dots & behind_slash != 0 {
            return false;
        }
        for (block, length) in &normalized.blocks {
            self.page.put(block, *length);
        }
        true
    }

    /// Appends what stands from the path on, one event after the other.
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
                    // Within a dot segment that went.
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
        self.page.copy(self.source, self.run, end);
        Ok(())
    }

    /// Writes `bytes` in place of the `length` ones at `at`.
    #[inline(always)]
    fn replace<const N: usize>(&mut self, at: usize, length: usize, bytes: [u8; N]) {
        self.page.copy(self.source, self.run, at);
        self.page.extend(bytes);
        self.run = at + length;
    }

    /// Deals with a percent sign.
    #[inline(always)]
    fn percent(&mut self, at: usize, in_path: bool) -> Result<(), Declined> {
        match Triplet::read(&self.source[at..self.length]) {
            Some(triplet) if triplet.is_canonical() => {}
            Some(Triplet { value, .. }) if !escape::is_unreserved(value) => {
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

    /// Removes the dot segment at `at`, behind a slash; says whether it is one.
    ///
    /// RFC 3986 section 5.2.4: all before it is in the output and free of dot segments. The slash
    /// before it stays, the one behind it goes. `..` takes back a segment; each byte is taken back at
    /// most once, so the whole is linear.
    #[inline(always)]
    fn dot_segment(&mut self, at: usize) -> bool {
        let url = &self.source[..self.length];
        let one = at + dot(&url[at..]);
        let two = one + dot(&url[one..]);
        if !matches!(url.get(two), None | Some(b'/' | b'?' | b'#')) {
            return false;
        }
        self.page.copy(self.source, self.run, at);
        if two > one {
            let path = &self.page.written()[self.path_at..];
            let before = &path[..path.len() - 1];
            let kept = before.iter().rposition(|byte| *byte == b'/').map_or(1, |slash| slash + 1);
            self.page.truncate(self.path_at + kept);
        }
        self.run = two + usize::from(url.get(two) == Some(&b'/'));
        true
    }
}

/// How many bits right below bit `end`, which is at least 1, are set.
#[inline(always)]
fn ones_before(mask: u64, end: usize) -> usize {
    (mask << (BLOCK - end)).leading_ones() as usize
}

/// Length of the full stop that `bytes` starts with, spelled as a triplet or not; 0 if it does not.
#[inline(always)]
fn dot(bytes: &[u8]) -> usize {
    match bytes {
        [b'.', ..] => 1,
        [b'%', b'2', b'e' | b'E', ..] => 3,
        _ => 0,
    }
}

/// The block of `source` from `at` on, filled up in `room` where `source` ends before it does.
#[inline(always)]
fn block<'a>(source: &'a [u8], at: usize, room: &'a mut Option<Block>) -> &'a Block {
    let rest = source.get(at..).unwrap_or_default();
    match rest.first_chunk() {
        Some(block) => block,
        None => room.insert(filled_up(rest)),
    }
}

/// `bytes` and zeros behind it.
#[cold]
fn filled_up<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut filled = [0; N];
    filled[..bytes.len()].copy_from_slice(bytes);
    filled
}

/// The masks of two blocks as one.
#[inline(always)]
fn both(low: u64, high: u64) -> u128 {
    u128::from(low) | u128::from(high) << BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::cases;
    use crate::profile::Switches;
    use crate::scan::{Backend, Kernel};
    use crate::url::normalize;
    use crate::url::parts::Parts;

    /// What `normalize` makes of it without the blanks around it that go, if anything.
    fn normalized(url: &[u8], lead: Lead, profile: &Profile) -> Option<Vec<u8>> {
        let is_blank = |byte: &u8| *byte <= 0x20 && profile.access == Access::Retrieval;
        let start = url.iter().position(|byte| !is_blank(byte))?;
        let end = url.iter().rposition(|byte| !is_blank(byte))? + 1;
        let url = &url[start..end];
        let mut out = Vec::new();
        let result = match lead {
            Lead::Absolute => normalize::absolute(&Parts::split(url), profile, &mut out),
            Lead::Target => normalize::path_and_query(&Parts::split_target(url), profile, &mut out),
        };
        result.ok().map(|()| out)
    }

    fn kernels() -> Vec<Kernel> {
        Backend::available().into_iter().filter_map(Kernel::new).collect()
    }

    fn profiles() -> Vec<Profile> {
        let (mut keeping, mut others) = (Profile::CRAWL, Profile::CRAWL);
        keeping.switches = Switches::of(&[Switch::KeepFragment, Switch::KeepUserinfo]);
        others.ports = Ports::Others;
        vec![Profile::SYNTAX, Profile::SCHEME, Profile::CRAWL, keeping, others]
    }

    /// Checks a URL, with bytes behind it and without; counts where it was done.
    fn check(url: &[u8], lead: Lead, done: &mut u32) {
        let behind = [url, b"/../%2e#".repeat(20).as_slice()].concat();
        for profile in &profiles() {
            let expected = normalized(url, lead, profile);
            for kernel in kernels() {
                for bytes in [url, &behind] {
                    let mut out = b"before".to_vec();
                    let (start, end) = (0, url.len());
                    let rewrite = Rewrite { profile, lead, bytes, start, end, out: &mut out };
                    let case = (profile.name(), kernel.backend(), url.escape_ascii().to_string());
                    if kernel.run(rewrite) {
                        assert_eq!(Some(&out[6..]), expected.as_deref(), "{case:?}");
                        *done += 1;
                    } else {
                        assert_eq!(out, b"before", "{case:?}");
                    }
                }
            }
        }
    }

    /// Text of some pieces by number.
    fn drawn(pieces: &[&str], state: &mut u64, most: u64) -> String {
        let mut next = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *state >> 33
        };
        (0..next() % most).map(|_| pieces[next() as usize % pieces.len()]).collect()
    }

    const PATH: [&str; 24] = [
        "/", "/", "/.", "/..", "/../", "/./", "/%2e", "/.%2E", "/%2e%2e/", ".", "%2E", "..", "a",
        "bc", "%7e", "%41", "%2f", "%C3%a9", "%", "%4", " ", "\u{e9}", "?", "#",
    ];

    #[test]
    fn paths_and_queries_come_out_as_normalize_has_them() {
        let (mut state, mut done) = (1, 0);
        let many = cases(4000);
        for n in 0..many {
            // Filled up, so that what happens stands at every place of a block.
            let path = drawn(&PATH, &mut state, 9);
            let url = format!("http://h/{}{path}", "x".repeat(n % 150));
            check(url.as_bytes(), Lead::Absolute, &mut done);
            check(&url.as_bytes()[8..], Lead::Target, &mut done);
            check(format!("https://H{path}").as_bytes(), Lead::Absolute, &mut done);
        }
        assert!(done as usize > many * 15 / 2 * kernels().len(), "{done}");
    }

    #[test]
    fn authorities_come_out_as_normalize_has_them() {
        // The last port is that of `http` but for a 33rd bit.
        const PIECES: [&str; 21] = [
            "a",
            "B",
            "c.D",
            ".",
            "..",
            ":",
            ":80",
            ":443",
            ":0080",
            ":65536",
            ":8080",
            "@",
            "u@",
            "u:P@",
            "%41",
            "%2e",
            "%C3%BC",
            "[",
            "-",
            " ",
            ":4294967376",
        ];
        const BEHIND: [&str; 8] = ["", "/", "?q", "#f", "/x", "/%7e/..", " ", "/\x1F\t"];
        let (mut state, mut done) = (2, 0);
        let many = cases(6000);
        for n in 0..many {
            let scheme = ["http://", "HTTPS://", "hTtp://", "https://", "http:/", "ftp://"][n % 6];
            let host = drawn(&PIECES, &mut state, 6);
            let behind = BEHIND[n / 6 % BEHIND.len()];
            let before = ["", "", " ", "\t\x00"][n / 48 % 4];
            let url = format!("{before}{scheme}{host}{behind}");
            check(url.as_bytes(), Lead::Absolute, &mut done);
            let long = format!("http://{}{host}{}", "w".repeat(n % 70), behind);
            check(long.as_bytes(), Lead::Absolute, &mut done);
        }
        assert!(done as usize > many * 5 / 2 * kernels().len(), "{done}");
    }

    #[test]
    fn bytes_behind_a_url_are_no_part_of_it() {
        let url = b"HTTPS://u@H%2e:443/a/%2E%2e/.?%7e#f";
        let step = if cfg!(miri) { 11 } else { 1 };
        for start in (0..url.len()).step_by(step) {
            for end in (start..=url.len()).step_by(step) {
                for profile in [&Profile::CRAWL, &Profile::SYNTAX] {
                    let lead = Lead::Absolute;
                    let expected = normalized(&url[start..end], lead, profile);
                    for kernel in kernels() {
                        for filling in [&b""[..], &[b'/'; 200]] {
                            let bytes = &[url, filling].concat();
                            let mut out = Vec::new();
                            let rewrite =
                                Rewrite { profile, lead, bytes, start, end, out: &mut out };
                            if kernel.run(rewrite) {
                                assert_eq!(Some(out), expected, "{start}..{end}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_everybody_writes_is_done_here() {
        for url in [
            "HTTP://EXAMPLE.com",
            "https://u:p@Example.com:443/%7Ea/../b?c=%2f#d",
            "http://ex%41mple.com./a b/%",
            "https://example.com:8080/./?q\u{e9}",
        ] {
            let mut out = Vec::new();
            let bytes = url.as_bytes();
            let (lead, profile) = (Lead::Absolute, &Profile::CRAWL);
            let rewrite =
                Rewrite { profile, lead, bytes, start: 0, end: bytes.len(), out: &mut out };
            assert!(Kernel::best().run(rewrite), "{url}");
        }
    }
}
