//! Routes that people declare: path templates that go before the types.
//!
//! In: the routes of an application, `/user/{id}/orders`. Out: for a URL, the route that it takes. The routes are a
//! trie of segments, so a URL is compared segment by segment, however many routes there are. A segment has at most
//! three ways on, tried in this order: its own text, a segment with text and variables (`{base}...{head}`), and a
//! variable alone. A way that leads to no route is left, and the next is tried; each node is entered once at most.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

use sha2::{Digest, Sha256};

use super::Template;
use super::byte_class::{ODD, is};
use super::write::Writer;
use crate::bytes::{Triplet, push_triplet};
use crate::key::host::split_port;
use crate::normalize::{AuthorityParts, Parts, is_scheme};

/// Most segments of a route: a search goes as deep as the longest, and no stack may overflow.
const MOST_SEGMENTS: usize = 256;

/// Routes by which [templates](Template) are made where one fits; other URLs are typed.
///
/// ```
/// use uniqurl::key::Routes;
///
/// let mut routes = Routes::default();
/// routes.add("/user/me")?;
/// routes.add("/user/{name}/orders/{order}")?;
/// routes.add("api.example/repos/{owner}/{repo}/compare/{base}...{head}")?;
/// let mut template = Vec::new();
/// for (url, expected) in [
///     ("http://h.example/user/me", "http://h.example/user/me"),
///     ("http://h.example/user/ann/orders/7?page=2", "http://h.example/user/{name}/orders/{order}?page"),
///     ("http://api.example/repos/a/b/compare/x...y", "http://api.example/repos/{owner}/{repo}/compare/{base}...{head}"),
///     // No route is like this one.
///     ("http://h.example/user/ann/7", "http://h.example/user/ann/{int}"),
/// ] {
///     template.clear();
///     routes.append(url.as_bytes(), &mut template);
///     assert_eq!(template, expected.as_bytes());
/// }
/// # Ok::<(), uniqurl::key::BadRoute>(())
/// ```
///
/// # Rules
///
/// A route is a path that begins with a slash, perhaps after a host, which then has to be the URL's; a scheme, a port
/// and a query are not compared. `{name}` is a variable: one or more bytes of one segment, its parameters included. A
/// route fits a path of as many segments. Where several fit, the routes of the host come first, and then the first
/// segment in which they differ decides: text before text with variables, the longer text first, before a variable
/// alone.
///
/// # Limits
///
/// Finding a route takes time linear in the length of the path for routes that differ in their texts, and never more
/// than one look at each segment of each route.
#[derive(Clone, Default)]
pub struct Routes {
    all_hosts: Trie,
    of_hosts: HashMap<Box<[u8]>, Trie>,
    count: usize,
}

/// Why a text is no route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadRoute {
    /// It has no slash where the path would begin.
    Path,
    /// A brace without its partner, or one within another.
    Brace,
    /// A variable whose name is empty or holds something else than letters, digits, `_`, `-` and `.`.
    Name,
    /// Two variables with nothing between them: nobody could tell where the first ends.
    Adjoining,
    /// More than 256 segments.
    Long,
}

impl fmt::Display for BadRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Path => "a route begins with a slash, or with a host and a slash",
            Self::Brace => "a brace stands alone",
            Self::Name => "the name of a variable has letters, digits, _, - and . alone",
            Self::Adjoining => "two variables have nothing between them",
            Self::Long => "a route has at most 256 segments",
        })
    }
}

impl std::error::Error for BadRoute {}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes").field("len", &self.count).finish_non_exhaustive()
    }
}

#[derive(Clone, Default)]
struct Trie {
    /// The first is the root.
    nodes: Vec<Node>,
}

#[derive(Clone, Default)]
struct Node {
    /// The heads of the texts, in order: apart, so that a search among many reads few cache lines.
    heads: Vec<u64>,
    /// In the order of their heads, and of their bytes; each with the node after it.
    texts: Vec<(Box<[u8]>, usize)>,
    /// The longest text first.
    mixed: Vec<(Mixed, usize)>,
    variable: Option<usize>,
    /// The path of the route that ends here, as templates have it.
    route: Option<Box<[u8]>>,
}

/// A segment of texts with a variable between each two.
#[derive(Clone, PartialEq, Eq)]
struct Mixed {
    texts: Vec<Box<[u8]>>,
}

/// A segment of a route.
enum Segment {
    Text(Box<[u8]>),
    Mixed(Mixed),
    Variable,
}

impl Routes {
    /// Adds a route. Of two that fit the same paths, the first stays.
    ///
    /// # Errors
    ///
    /// The text is no route.
    pub fn add(&mut self, route: &str) -> Result<(), BadRoute> {
        let route = route.split_once("://").map_or(route, |(_, rest)| rest);
        let slash = route.find('/').ok_or(BadRoute::Path)?;
        let (host, path) = route.split_at(slash);
        // A port is not compared; the colons of an IPv6 address stand before its bracket.
        let host = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        if host.contains(['{', '}', '?', '#', '@']) {
            return Err(BadRoute::Path);
        }
        let path = &path[..path.find(['?', '#']).unwrap_or(path.len())];
        if path[1..].split('/').count() > MOST_SEGMENTS {
            return Err(BadRoute::Long);
        }
        let (mut segments, mut text) = (Vec::new(), Vec::new());
        for segment in path[1..].split('/') {
            text.push(b'/');
            segments.push(Segment::read(segment, &mut text)?);
        }
        let trie = match host {
            "" => &mut self.all_hosts,
            host => self.of_hosts.entry(host.to_ascii_lowercase().as_bytes().into()).or_default(),
        };
        self.count += usize::from(trie.add(segments, text));
        Ok(())
    }

    /// How many routes there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// A text that tells these routes from others: the first 16 digits of the SHA-256 of all of them in order.
    #[doc(hidden)]
    pub fn fingerprint(&self) -> String {
        let mut all: Vec<(&[u8], &[u8])> = Vec::with_capacity(self.count);
        let tries = self.of_hosts.iter().map(|(host, trie)| (&**host, trie));
        for (host, trie) in tries.chain([(&b""[..], &self.all_hosts)]) {
            all.extend(trie.nodes.iter().filter_map(|node| Some((host, node.route.as_deref()?))));
        }
        all.sort_unstable();
        let lines: Vec<u8> =
            all.iter().flat_map(|(host, path)| [host, path, &b"\n"[..]].concat()).collect();
        let digest = Sha256::digest(&lines);
        digest[..8].iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// About how many bytes of memory they take.
    #[doc(hidden)]
    pub fn memory(&self) -> usize {
        let tries = self.of_hosts.values().chain([&self.all_hosts]);
        let routes = tries.flat_map(|trie| &trie.nodes);
        routes
            .map(|node| {
                size_of::<(Node, (Box<[u8]>, usize))>()
                    + 2 * node.route.as_deref().map_or(0, <[u8]>::len)
            })
            .sum()
    }

    /// The path of the route that a canonical URL takes, as its template has it.
    pub fn find(&self, url: &[u8]) -> Option<&[u8]> {
        Some(self.find_at(url, path_start(url))?.0)
    }

    /// The route of the path that starts at `path`, and the length of the bytes after that path.
    fn find_at(&self, url: &[u8], path: usize) -> Option<(&[u8], usize)> {
        let segments = url[path..].strip_prefix(b"/")?;
        let of_host = match self.of_hosts.is_empty() {
            true => None,
            false => self.of_hosts.get(host(&url[..path])),
        };
        let tries = of_host.into_iter().chain([&self.all_hosts]);
        let mut tries = tries.filter(|trie| !trie.nodes.is_empty());
        tries.find_map(|trie| trie.find(0, segments, &mut || ()))
    }

    /// Appends the template of any bytes to `out`: by its route, or else as [`Template::of`] does.
    pub fn append(&self, url: &[u8], out: &mut Vec<u8>) {
        let path = path_start(url);
        let Some((route, after)) = self.find_at(url, path) else { return Template::of(url, out) };
        let mut writer = Writer::new(out);
        // Nearly all that is before a path is such bytes, which are literals. No early exit, so that the compiler can
        // vectorize the loop.
        let is_plain = |byte: &u8| matches!(byte, b'a'..=b'z' | b'-'..=b':');
        match url[..path].iter().fold(true, |all, byte| all & is_plain(byte)) {
            true => writer.out.extend_from_slice(&url[..path]),
            false => writer.literals(&url[..path], 0),
        }
        writer.out.extend_from_slice(route);
        let end = url.len() - after;
        if url.get(end) == Some(&b'?') {
            writer.query_at(url, end);
        }
    }
}

/// Where the path of a URL starts, as [`Parts::split`] finds it. A request target is a path, whatever it begins with.
pub(super) fn path_start(url: &[u8]) -> usize {
    if url.first() == Some(&b'/') {
        return 0;
    }
    let is_end = |byte: &u8| matches!(byte, b':' | b'/' | b'?' | b'#');
    let scheme = match url.iter().position(is_end) {
        Some(end) if end > 0 && url[end] == b':' => end + 1,
        _ => 0,
    };
    match url[scheme..].strip_prefix(b"//") {
        Some(rest) => scheme + 2 + segment_end(rest),
        None => scheme,
    }
}

/// The host of the bytes before a path, empty if it has none.
fn host(before_path: &[u8]) -> &[u8] {
    let Parts { scheme, authority, .. } = Parts::split(before_path);
    let authority = authority.filter(|_| scheme.is_some_and(is_scheme));
    authority.map_or(&[], |authority| split_port(AuthorityParts::split(authority).host_port).0)
}

/// The length of the segment, or the authority, at the start of `rest`: up to a `/`, `?` or `#`.
// By words: a segment is too short for what a search costs before it begins.
#[inline]
pub(super) fn segment_end(rest: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 0xFF;
    // The lowest bit is that of a zero; those above it may be wrong.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let (words, left) = rest.as_chunks();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // A slash differs from a question mark in one bit.
        let ends = zeros((word | ONES << 4) ^ (ONES * 0x3F)) | zeros(word ^ (ONES * 0x23));
        if ends != 0 {
            return 8 * at + ends.trailing_zeros() as usize / 8;
        }
    }
    let of_left = left.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#'));
    rest.len() - left.len() + of_left.unwrap_or(left.len())
}

impl Trie {
    /// Returns false if the trie has a route for these paths.
    fn add(&mut self, segments: Vec<Segment>, text: Vec<u8>) -> bool {
        if self.nodes.is_empty() {
            self.nodes.push(Node::default());
        }
        let mut at = 0;
        for segment in segments {
            let next = self.nodes.len();
            let node = &mut self.nodes[at];
            at = match segment {
                Segment::Text(text) => match node.place_of(&text) {
                    Ok(place) => node.texts[place].1,
                    Err(place) => {
                        node.heads.insert(place, head(&text, text.len()));
                        node.texts.insert(place, (text, next));
                        next
                    }
                },
                Segment::Variable => *node.variable.get_or_insert(next),
                Segment::Mixed(mixed) => match node.mixed.iter().find(|(other, _)| *other == mixed)
                {
                    Some((_, at)) => *at,
                    None => {
                        let place =
                            node.mixed.partition_point(|(other, _)| other.rank() < mixed.rank());
                        node.mixed.insert(place, (mixed, next));
                        next
                    }
                },
            };
            if at == next {
                self.nodes.push(Node::default());
            }
        }
        let route = &mut self.nodes[at].route;
        let is_new = route.is_none();
        route.get_or_insert(text.into());
        is_new
    }

    /// The route of the rest of a path, from a node on, and the length of the bytes after the path. `enter` is called
    /// for each node.
    // Each call goes a segment further, so there are as many as a route has segments, and the last way needs none.
    fn find(
        &self,
        mut at: usize,
        mut rest: &[u8],
        enter: &mut impl FnMut(),
    ) -> Option<(&[u8], usize)> {
        loop {
            enter();
            let node = &self.nodes[at];
            let end = segment_end(rest);
            let segment = &rest[..end];
            let text = node.text(rest, end);
            let mixed = node.mixed.iter().filter(|(mixed, _)| mixed.fits(segment));
            let mut first = text.into_iter().chain(mixed.map(|(_, next)| *next));
            let variable = node.variable.filter(|_| !segment.is_empty());
            if rest.get(end) != Some(&b'/') {
                let route =
                    first.chain(variable).find_map(|next| self.nodes[next].route.as_deref());
                return Some((route?, rest.len() - end));
            }
            rest = &rest[end + 1..];
            if node.mixed.is_empty() && (text.is_none() || variable.is_none()) {
                at = text.or(variable)?;
                continue;
            }
            if let Some(route) = first.find_map(|next| self.find(next, rest, enter)) {
                return Some(route);
            }
            at = variable?;
        }
    }
}

impl Node {
    /// Where a text is, or would be.
    fn place_of(&self, text: &[u8]) -> Result<usize, usize> {
        let wanted = head(text, text.len());
        let first = self.heads.partition_point(|head| *head < wanted);
        let same = self.heads[first..].partition_point(|head| *head == wanted);
        let texts = &self.texts[first..first + same];
        let found = texts.binary_search_by(|(other, _)| (**other).cmp(text));
        found.map(|place| first + place).map_err(|place| first + place)
    }

    /// The node after the text of this length at the start of `rest`.
    #[inline]
    fn text(&self, rest: &[u8], length: usize) -> Option<usize> {
        let wanted = head(rest, length);
        // Numbers are searched without a branch, and one text is compared.
        let place = self.heads.partition_point(|head| *head < wanted);
        if self.heads.get(place) != Some(&wanted) {
            return None;
        }
        let (text, next) = &self.texts[place];
        // Of the same length, so up to eight bytes are equal if their words are.
        if text.len() == length && (length <= 8 || **text == rest[..length]) {
            return Some(*next);
        }
        // Another text has the same head.
        let place = self.place_of(&rest[..length]).ok()?;
        Some(self.texts[place].1)
    }
}

/// A number in which nearly all texts differ, of that of a length at the start of `rest`: its first eight bytes, mixed
/// with the last eight if it is longer. Bytes after the text do not matter.
#[inline]
fn head(rest: &[u8], length: usize) -> u64 {
    let first = match rest.first_chunk() {
        Some(first) => u64::from_le_bytes(*first),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    match rest[..length].last_chunk() {
        Some(last) if length > 8 => first ^ u64::from_le_bytes(*last).rotate_left(29),
        // A shift by all bits is none.
        _ => first & u64::MAX.checked_shr(64 - 8 * length as u32).unwrap_or(0),
    }
}

impl Segment {
    /// Reads a segment of a route, and appends it to `out` as templates have it.
    fn read(segment: &str, out: &mut Vec<u8>) -> Result<Self, BadRoute> {
        let (mut texts, mut rest) = (Vec::new(), segment);
        loop {
            let open = rest.find(['{', '}']).unwrap_or(rest.len());
            let text = literal(&rest.as_bytes()[..open]);
            out.extend_from_slice(&text);
            texts.push(text);
            if open == rest.len() {
                break;
            }
            let (name, after) = rest[open..]
                .strip_prefix('{')
                .and_then(|rest| rest.split_once('}'))
                .ok_or(BadRoute::Brace)?;
            if name.contains('{') {
                return Err(BadRoute::Brace);
            }
            let is_of_names = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
            // RFC 6570 section 2.3: a variable has no hyphen, and stops only between characters.
            let written = name.replace('-', "_");
            let parts: Vec<&str> = written.split('.').filter(|part| !part.is_empty()).collect();
            if parts.is_empty() || !name.bytes().all(is_of_names) {
                return Err(BadRoute::Name);
            }
            let name = parts.join(".");
            out.extend_from_slice(format!("{{{name}}}").as_bytes());
            rest = after;
        }
        let inner = texts.get(1..texts.len() - 1).unwrap_or_default();
        if inner.iter().any(|text| text.is_empty()) {
            return Err(BadRoute::Adjoining);
        }
        Ok(match &mut texts[..] {
            [text] => Self::Text(std::mem::take(text)),
            [before, after] if before.is_empty() && after.is_empty() => Self::Variable,
            _ => Self::Mixed(Mixed { texts }),
        })
    }
}

/// Text of a route as canonical URLs have it: triplets of unreserved characters decoded, in upper case, and a triplet
/// for each byte that may not stand in a template.
fn literal(text: &[u8]) -> Box<[u8]> {
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        match Triplet::read(&text[at..]) {
            Some(triplet) => {
                match triplet.value {
                    value if crate::bytes::is_unreserved(value) => out.push(value),
                    value => push_triplet(value, &mut out),
                }
                at += 3;
                continue;
            }
            None if is(*byte, ODD) => push_triplet(*byte, &mut out),
            None => out.push(*byte),
        }
        at += 1;
    }
    out.into()
}

impl Mixed {
    /// The longest text first, then the fewest variables, then the order of bytes: what goes first does not depend on
    /// the order in which routes are declared.
    fn rank(&self) -> (Reverse<usize>, usize, &[Box<[u8]>]) {
        let length = self.texts.iter().map(|text| text.len()).sum();
        (Reverse(length), self.texts.len(), &self.texts)
    }

    /// Whether a segment has these texts in their order, with at least a byte for each variable.
    fn fits(&self, segment: &[u8]) -> bool {
        let [first, inner @ .., last] = &self.texts[..] else { return false };
        let Some(mut rest) =
            segment.strip_prefix(&**first).and_then(|rest| rest.strip_suffix(&**last))
        else {
            return false;
        };
        // The earliest place of each text leaves the most for those after it.
        for text in inner {
            let Some(at) = rest.get(1..).and_then(|rest| place_of(text, rest)) else {
                return false;
            };
            rest = &rest[1 + at + text.len()..];
        }
        !rest.is_empty()
    }
}

/// Where a text begins. The name of a variable in braces is one piece, so that a template takes the route that it came
/// from.
fn place_of(text: &[u8], from: &[u8]) -> Option<usize> {
    let mut found = memchr::memmem::find_iter(from, text);
    found.find(|at| {
        let before = &from[..*at];
        let opened = memchr::memrchr(b'{', before);
        opened.is_none_or(|open| memchr::memchr(b'}', &before[open..]).is_some())
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn routes(all: &[&str]) -> Routes {
        let mut routes = Routes::default();
        all.iter()
            .for_each(|route| routes.add(route).unwrap_or_else(|error| panic!("{route}: {error}")));
        routes
    }

    fn template(routes: &Routes, url: &str) -> String {
        let mut out = Vec::new();
        routes.append(url.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_goes_before_variables_and_longer_text_before_shorter() {
        let routes = routes(&[
            "/{a}/x",
            "/v/{b}",
            "/v/{b}/{c}",
            "/v/{b}/end",
            "/f/{name}.json",
            "/f/{name}.min.json",
            "/f/{name}",
            "/c/{base}...{head}",
            "/d/",
            "/caf%c3%a9/%7e{x}",
            "h.example/v/{of_host}",
            "https://H.example:8443/only/{x}?page",
        ]);
        for (path, expected) in [
            ("/v/x", "/v/{b}"),
            ("/u/x", "/{a}/x"),
            ("/v/1/end", "/v/{b}/end"),
            ("/v/1/2", "/v/{b}/{c}"),
            ("/v/1/end/2", "/v/{int}/end/{int}"),
            ("/f/a.json", "/f/{name}.json"),
            ("/f/a.min.json", "/f/{name}.min.json"),
            ("/f/.json", "/f/{name}"),
            ("/f/", "/f/"),
            ("/c/a...b", "/c/{base}...{head}"),
            ("/c/a.b...c...d", "/c/{base}...{head}"),
            ("/c/...b", "/c/...b"),
            ("/d/", "/d/"),
            ("/d", "/d"),
            ("/caf%C3%A9/~q", "/caf%C3%A9/~{x}"),
            ("/v/x?b=1&a=2&b=3#f", "/v/{b}?b&a"),
            ("/17", "/{int}"),
        ] {
            assert_eq!(template(&routes, path), expected, "{path}");
            assert_eq!(
                template(&routes, &format!("http://g.example:8{path}")),
                format!("http://g.example:8{expected}")
            );
        }
        assert_eq!(template(&routes, "http://h.example/v/x"), "http://h.example/v/{of_host}");
        assert_eq!(template(&routes, "http://h.example:1/only/1"), "http://h.example:1/only/{x}");
        assert_eq!(template(&routes, "http://g.example/only/1"), "http://g.example/only/{int}");
        assert_eq!(routes.len(), 12);
    }

    #[test]
    fn what_is_no_route_is_an_error() {
        for (text, error) in [
            ("", BadRoute::Path),
            ("user", BadRoute::Path),
            ("{host}/a", BadRoute::Path),
            ("/a{", BadRoute::Brace),
            ("/a}", BadRoute::Brace),
            ("/{a{b}}", BadRoute::Brace),
            ("/{a/b}", BadRoute::Brace),
            ("/{}", BadRoute::Name),
            ("/{a b}", BadRoute::Name),
            ("/{..}", BadRoute::Name),
            ("/{+a}", BadRoute::Name),
            ("/{a}{b}", BadRoute::Adjoining),
        ] {
            assert_eq!(Routes::default().add(text), Err(error), "{text}");
        }
        for (segments, is_ok) in
            [(MOST_SEGMENTS, true), (MOST_SEGMENTS + 1, false), (1 << 20, false)]
        {
            let added = Routes::default().add(&"/{a}".repeat(segments));
            assert_eq!(added, if is_ok { Ok(()) } else { Err(BadRoute::Long) }, "{segments}");
        }
    }

    #[test]
    fn texts_of_one_head_are_told_apart() {
        // Two exchanged pieces between the first and the last eight bytes.
        let all = [
            "/abcdefgh-1-stuvwxyz",
            "/abcdefgh-3-stuvwxyz",
            "/abcdefgh-2-stuvwxyz",
            "/abcdefgh",
            "/a",
            "/",
        ];
        assert_eq!(head(b"abcdefgh-1-stuvwxyz", 19), head(b"abcdefgh-2-stuvwxyz", 19));
        let routes = routes(&all);
        for route in all {
            assert_eq!(routes.find(route.as_bytes()), Some(route.as_bytes()));
        }
        assert_eq!(routes.find(b"/abcdefgh-4-stuvwxyz"), None);
    }

    /// Each node is a prefix of a route, and is entered once at most for a URL: the steps are not more than the nodes,
    /// where trying each route anew, or each way at each variable, would double them with each segment.
    #[test]
    fn steps_of_a_search_do_not_grow_with_the_ways_through_the_routes() {
        const DEPTH: usize = 12;
        let mut steps = Vec::new();
        for count in [2500, 5000, 10_000] {
            // Each of the first segments is a text, a text with a variable, or a variable, and all of them fit the URL;
            // the last segment fits none.
            let mut routes = Routes::default();
            for number in 0..count {
                let ways = (0..DEPTH)
                    .map(|at| ["/aa", "/{v}", "/a{v}"][number / 3usize.pow(at as u32 % 9) % 3]);
                routes.add(&format!("{}/end{number}", ways.collect::<String>())).unwrap();
            }
            let trie = &routes.all_hosts;
            for (path, most) in [
                ("aa/".repeat(DEPTH) + "none", trie.nodes.len()),
                ("aa/".repeat(DEPTH - 1) + "aa", trie.nodes.len()),
                // Nothing that begins like this is a route.
                ("b".repeat(100_000), 1),
                (format!("aa/{}", "/".repeat(100_000)), 4),
            ] {
                let mut entered = 0;
                assert_eq!(trie.find(0, path.as_bytes(), &mut || entered += 1), None);
                assert!(entered <= most, "{entered} of {most}");
                steps.push(entered);
            }
        }
        let (few, many) = (steps[0], steps[8]);
        assert!(many <= 5 * few, "{few} steps among 2500 routes, {many} among 10000");
    }

    #[test]
    fn steps_of_a_usual_search_are_the_segments() {
        let mut routes = Routes::default();
        for resource in 0..40 {
            for part in 0..25 {
                routes.add(&format!("/api/r{resource}/{{id}}/part{part}/{{part}}")).unwrap();
            }
            routes.add(&format!("/api/r{resource}/search")).unwrap();
        }
        for (path, steps) in
            [("api/r7/17/part9/x", 5), ("api/r7/search", 3), ("api/other/17/part9/x", 2)]
        {
            let mut entered = 0;
            routes.all_hosts.find(0, path.as_bytes(), &mut || entered += 1);
            assert_eq!(entered, steps, "{path}");
        }
    }

    /// Second implementation: each route as a list of segments, compared one by one.
    fn slow(all: &[&str], path: &str) -> Option<usize> {
        fn fits(text: &str, segment: &str) -> bool {
            match text.split_once('{') {
                None => text == segment,
                Some((before, rest)) => segment.strip_prefix(before).is_some_and(|segment| {
                    let after = rest.split_once('}').unwrap().1;
                    (1..=segment.len()).any(|length| fits(after, &segment[length..]))
                }),
            }
        }
        // Text, then text with variables, the longest and simplest first, then a variable alone.
        let rank = |text: &str| {
            let texts =
                text.split('{').map(|part| part.split_once('}').map_or(part, |(_, text)| text));
            let texts: Vec<String> = texts.map(str::to_owned).collect();
            let length: usize = texts.iter().map(String::len).sum();
            let kind = if texts.len() == 1 {
                0
            } else if length > 0 {
                1
            } else {
                2
            };
            (
                kind,
                Reverse(if kind == 0 { 0 } else { length }),
                texts.len(),
                if kind == 0 { Vec::new() } else { texts },
            )
        };
        let fitting = all.iter().enumerate().filter(|(_, route)| {
            let (route, path): (Vec<_>, Vec<_>) =
                (route.split('/').collect(), path.split('/').collect());
            route.len() == path.len()
                && route.iter().zip(path).all(|(text, segment)| fits(text, segment))
        });
        fitting
            .min_by_key(|(at, route)| (route.split('/').map(rank).collect::<Vec<_>>(), *at))
            .map(|(at, _)| at)
    }

    proptest! {
        #[test]
        fn the_trie_agrees_with_a_list_of_routes(
            all in prop::collection::vec("(/(a|ab|b|\\{v\\}|a\\{v\\}|\\{v\\}b|a\\{v\\}b|\\{v\\}-\\{w\\}|-\\{v\\}-b)){1,3}", 0..12),
            paths in prop::collection::vec("(/[ab-]{0,4}){1,3}", 1..12),
        ) {
            let all: Vec<&str> = all.iter().map(|route| &**route).collect();
            let routes = routes(&all);
            for path in &paths {
                let expected = slow(&all, path).map(|at| all[at].as_bytes());
                // Of routes that differ in the names of their variables alone, the first stays; here names are equal.
                prop_assert_eq!(routes.find(path.as_bytes()), expected, "{}", path);
                let once = template(&routes, path);
                prop_assert_eq!(template(&routes, &once), once.clone());
                prop_assert_eq!(template(&routes, &once.replace('{', "%7B").replace('}', "%7D")), once);
            }
        }

        #[test]
        fn paths_are_found_where_urls_are_split(
            url in prop_oneof![
                prop::collection::vec(prop::sample::select(b"ab:/?#@1".to_vec()), 0..40),
                prop::collection::vec(any::<u8>(), 0..40),
            ],
        ) {
            let parts = match url.first() {
                Some(b'/') => Parts::split_target(&url),
                _ => Parts::split(&url),
            };
            prop_assert_eq!(path_start(&url), parts.path_start());
            let end = url.iter().position(|byte| b"/?#".contains(byte));
            prop_assert_eq!(segment_end(&url), end.unwrap_or(url.len()));
        }

        #[test]
        fn any_bytes_have_a_template(url in prop::collection::vec(any::<u8>(), 0..60)) {
            let routes = routes(&["/{a}", "/{a}/b{c}", "/x/{a}-{b}"]);
            let mut out = Vec::new();
            routes.append(&url, &mut out);
            prop_assert!(out.len() <= 3 * url.len() + 60);
        }
    }
}
