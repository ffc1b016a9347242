//! Names of hosts from a file: those of a blocklist, or of the sites that a crawl may visit.
//!
//! Each name stands for itself and for every name below it, so a host is looked up once for each of its ends that
//! the list could hold. The names lie one after another in one buffer, and a table holds where: a name costs its own
//! bytes and about twelve more, where a set of strings would take fifty.
//!
//! Nearly all ends of nearly all hosts are in no list, and the table of a large one fits into no near cache. So a filter
//! of a few bits for each name is asked first, and an end reads one word of it: 5 million names need 8 MB. That halves
//! the time. To remember the last hosts of a chunk did not help: three of four hosts of a crawl are new ones.

use std::fmt;
use std::hash::BuildHasher;
use std::net::{IpAddr, Ipv6Addr};

use hashbrown::HashTable;
use uniqurl::internal::Located;
use uniqurl::{Normalizer, Profile};

/// Bytes of a name. DNS has at most 253; the length is kept in a byte.
const LONGEST: usize = u8::MAX as usize;

/// Bytes of a label, and of a name, in DNS (RFC 1035 section 2.3.4).
const LONGEST_LABEL: usize = 63;
const LONGEST_NAME: usize = 253;

/// Numbers of labels that are told apart; a name with more counts as one with so many.
const MOST_LABELS: u32 = 31;

/// A set of host names, each of which stands for the names below it, too.
///
/// ```
/// use uniqurl_engine::HostList;
///
/// let list = HostList::read(b"# trackers\n0.0.0.0 ads.example\n||Tracker.example^\n")?;
/// assert_eq!(list.len(), 2);
/// assert!(list.contains(b"ads.example") && list.contains(b"a.b.tracker.example"));
/// assert!(!list.contains(b"example") && !list.contains(b"bads.example"));
/// # Ok::<(), uniqurl_engine::BadHostList>(())
/// ```
pub struct HostList {
    /// The length of each name in a byte, then its bytes.
    names: Vec<u8>,
    /// Where names begin in that buffer.
    table: HashTable<u32>,
    /// The hash has a new key in every run: a list of strangers cannot be made to collide.
    hasher: rapidhash::fast::RandomState,
    /// Four bits for the hash of each name, all in one word. An end without its bits is in no table.
    bits: Vec<u64>,
    /// A bit for each number of labels that some name has. Other ends of a host are not looked up.
    labels: u32,
}

/// Why a file is no list of hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadHostList {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with it, in words.
    pub why: String,
}

impl fmt::Display for BadHostList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

impl std::error::Error for BadHostList {}

impl fmt::Debug for HostList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostList").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl HostList {
    /// Reads a list: a name a line, also as `*.name`, as `||name^` in filters of blockers, or as the names after the
    /// address in a hosts file. Comments begin with `#` or `!`.
    ///
    /// Names are brought into canonical form first, and addresses may stand in the place of names.
    ///
    /// # Errors
    ///
    /// A line is none of these.
    pub fn read(text: &[u8]) -> Result<Self, BadHostList> {
        let mut list = Self {
            names: Vec::new(),
            table: HashTable::new(),
            bits: Vec::new(),
            hasher: rapidhash::fast::RandomState::default(),
            labels: 0,
        };
        let canonical = Normalizer::new(Profile::Crawl);
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        let mut start = 0;
        for (i, end) in memchr::memchr_iter(b'\n', text).chain([text.len()]).enumerate() {
            let line = &text[start..end];
            start = end + 1;
            let fail = |why: String| BadHostList { line: i + 1, why };
            // What follows takes ten times as long.
            let name = line.strip_suffix(b"\r").unwrap_or(line);
            if is_canonical_name(name) {
                list.push(name).map_err(fail)?;
                continue;
            }
            let line = str::from_utf8(line).map_err(|_| fail("not UTF-8".to_owned()))?;
            for name in names_of(line).map_err(fail)? {
                list.add(name, &canonical).map_err(fail)?;
            }
        }
        list.build();
        Ok(list)
    }

    /// How many names it holds.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Bytes of memory that it takes.
    pub fn memory(&self) -> usize {
        let bits = self.bits.capacity() * size_of::<u64>();
        self.names.capacity() + self.table.allocation_size() + bits
    }

    /// Whether a host, as [canonical URLs](uniqurl::Canonical) have it, or a name above it is in the list. Takes
    /// linear time.
    pub fn contains(&self, host: &[u8]) -> bool {
        // Profiles that leave hosts as they are pass other spellings.
        let is_plain = |byte: &u8| byte.is_ascii() && !byte.is_ascii_uppercase() && *byte != b'%';
        if host.iter().all(is_plain) {
            return self.holds_end_of(host.strip_suffix(b".").unwrap_or(host));
        }
        let (canonical, mut scratch) = (Normalizer::new(Profile::Crawl), Vec::new());
        let host = canonical_host(host, &canonical, &mut scratch);
        host.is_some_and(|host| self.holds_end_of(host))
    }

    /// Whether it holds a name or an end of it at a full stop.
    fn holds_end_of(&self, name: &[u8]) -> bool {
        // Nothing is below an address: `a.1.2.3.4` is a name, but none that anybody lists by its end.
        if !ends_in_name(name) {
            return self.holds(name);
        }
        // From the shortest: the ends that a list can hold are short, however long the host is.
        let start = name.len().saturating_sub(LONGEST + 1);
        let ends = name[start..].iter().enumerate().rev().filter(|(_, byte)| **byte == b'.');
        let mut labels = 0;
        for (dot, _) in ends {
            labels += 1;
            if self.has_names_of(labels) && self.holds(&name[start + dot + 1..]) {
                return true;
            }
        }
        self.has_names_of(labels + 1) && self.holds(name)
    }

    fn has_names_of(&self, labels: u32) -> bool {
        self.labels & 1 << labels.min(MOST_LABELS) != 0
    }

    fn holds(&self, name: &[u8]) -> bool {
        let hash = self.hasher.hash_one(name);
        let Some((word, bits)) = self.bits_of(hash) else { return false };
        self.bits[word] & bits == bits
            && self.table.find(hash, |at| name_at(&self.names, *at) == name).is_some()
    }

    /// The bits of a hash, and the word they are in, if there are any.
    #[inline]
    fn bits_of(&self, hash: u64) -> Option<(usize, u64)> {
        let bits = [0, 6, 12, 18].into_iter().fold(0, |bits, at| bits | 1 << (hash >> at & 63));
        // The upper half as a part of all words, which need not be a power of two then.
        let word = ((hash >> 32) * self.bits.len() as u64) >> 32;
        (!self.bits.is_empty()).then_some((word as usize, bits))
    }

    /// Makes the table of the names in the buffer, each once, and sets their bits.
    fn build(&mut self) {
        /// Bits for each name. A third of all bits are set then, and one in a hundred other ends passes.
        const EACH: usize = 12;
        let Self { names, table, hasher, .. } = self;
        let (mut all, mut at) = (Vec::new(), 0);
        while at < names.len() {
            let name = name_at(names, at as u32);
            all.push((hasher.hash_one(name), at as u32));
            at += 1 + name.len();
        }
        let hash_of = |names: &[u8], at: u32| hasher.hash_one(name_at(names, at));
        table.reserve(all.len(), |at| hash_of(names, *at));
        // A part of the table is filled after the other: in the order of the file, each name would wait for memory.
        let places = table.num_buckets();
        let part = |hash: u64| (hash as usize & (places - 1)) / places.div_ceil(256);
        all.sort_unstable_by_key(|(hash, _)| part(*hash));
        for (hash, at) in &all {
            if table.find(*hash, |other| name_at(names, *other) == name_at(names, *at)).is_none() {
                table.insert_unique(*hash, *at, |at| hash_of(names, *at));
            }
        }
        if table.len() < all.len() - all.len() / 16 {
            // Lists that were put together name many hosts twice.
            let twice = std::mem::take(names);
            for at in table.iter_mut() {
                let name = name_at(&twice, *at);
                *at = names.len() as u32;
                names.push(name.len() as u8);
                names.extend_from_slice(name);
            }
        }
        names.shrink_to_fit();
        table.shrink_to_fit(|at| hash_of(names, *at));
        self.bits = vec![0; (self.len() * EACH).div_ceil(64)];
        for (hash, _) in all {
            if let Some((word, bits)) = self.bits_of(hash) {
                self.bits[word] |= bits;
            }
        }
    }

    fn add(&mut self, name: &str, canonical: &Normalizer) -> Result<(), String> {
        let none = || format!("`{}` is no name of a host", name.escape_debug());
        // A reg-name may hold more (RFC 3986 section 3.2.2), but what holds it is a pattern or a URL.
        let is_of_names =
            |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '\u{200C}' | '\u{200D}');
        let v6 = name
            .trim_matches(['[', ']'])
            .parse::<Ipv6Addr>()
            .ok()
            .map(|address| format!("[{address}]"));
        if v6.is_none() && !name.chars().all(is_of_names) {
            return Err(none());
        }
        let mut scratch = Vec::new();
        let host = v6.as_deref().unwrap_or(name).as_bytes();
        let host = canonical_host(host, canonical, &mut scratch).ok_or_else(none)?;
        let has_empty = host.split(|byte| *byte == b'.').any(<[u8]>::is_empty);
        if has_empty || host.len() > LONGEST {
            return Err(none());
        }
        self.push(host)
    }

    /// Adds a name in canonical form to the buffer.
    fn push(&mut self, host: &[u8]) -> Result<(), String> {
        if u32::try_from(self.names.len()).is_err() {
            return Err("the list has more than 4 GiB of names".to_owned());
        }
        self.labels |=
            1 << (1 + host.iter().filter(|byte| **byte == b'.').count() as u32).min(MOST_LABELS);
        self.names.push(host.len() as u8);
        self.names.extend_from_slice(host);
        Ok(())
    }
}

/// The name that begins there.
fn name_at(names: &[u8], at: u32) -> &[u8] {
    let at = at as usize;
    &names[at + 1..][..usize::from(names[at])]
}

/// The names of a line, none for a blank or a comment.
fn names_of(line: &str) -> Result<impl Iterator<Item = &str>, String> {
    let line = line.trim();
    // `[Adblock Plus 2.0]` heads lists of filters; an address in brackets has no blank.
    let is_comment = line.starts_with(['#', '!']) || line.starts_with('[') && line.contains(' ');
    let line = if is_comment { "" } else { line.split_once(" #").map_or(line, |(line, _)| line) };
    let mut fields = line.split_whitespace();
    let is_mapping =
        line.contains([' ', '\t']) && fields.next().is_some_and(is_address_of_hosts_file);
    let fields = if is_mapping { fields } else { line.split_whitespace() };
    if !is_mapping && fields.clone().count() > 1 {
        return Err(format!(
            "`{}` is no name of a host, and no line of a hosts file",
            line.escape_debug()
        ));
    }
    Ok(fields.map(|name| match name.strip_prefix("||").and_then(|name| name.strip_suffix('^')) {
        Some(name) => name,
        None => name.strip_prefix("*.").unwrap_or(name),
    }))
}

/// `0.0.0.0`, `::1`, and `fe80::1%lo0`, which names an interface.
fn is_address_of_hosts_file(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<IpAddr>().is_ok())
}

/// Whether a name is certainly in canonical form: labels of letters, digits, underscores and single hyphens, and the last
/// label is no number.
fn is_canonical_name(name: &[u8]) -> bool {
    // The first byte of the label, and its length so far.
    let (mut first, mut length, mut before) = (0, 0, b'.');
    for byte in name {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'_' => length += 1,
            b'-' if !matches!(before, b'-' | b'.') => length += 1,
            b'.' if !matches!(before, b'-' | b'.') && length <= LONGEST_LABEL => length = 0,
            _ => return false,
        }
        if length == 1 {
            first = *byte;
        }
        before = *byte;
    }
    let is_ended = !matches!(before, b'-' | b'.') && length <= LONGEST_LABEL;
    is_ended && first.is_ascii_lowercase() && name.len() <= LONGEST_NAME
}

/// Whether the last label has anything but digits, as that of an address has not (RFC 3986 section 3.2.2).
fn ends_in_name(name: &[u8]) -> bool {
    let last = name.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    !last.ends_with(b"]") && !last.iter().all(u8::is_ascii_digit)
}

/// A host as canonical URLs have it.
fn canonical_host<'a>(
    host: &[u8],
    canonical: &Normalizer,
    scratch: &'a mut Vec<u8>,
) -> Option<&'a [u8]> {
    canonical.append(&[b"http://", host, b"/"].concat(), scratch).ok()?;
    Located::split(scratch).map(|located| located.host)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> HostList {
        HostList::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_way_to_write_a_name_is_read() {
        for (line, names) in [
            ("a.example", &["a.example"][..]),
            ("  A.Example.  ", &["a.example"]),
            ("\u{FEFF}a.example\r", &["a.example"]),
            ("*.a.example", &["a.example"]),
            ("||a.example^", &["a.example"]),
            ("0.0.0.0 a.example b.example # both", &["a.example", "b.example"]),
            ("::1\tlocalhost", &["localhost"]),
            ("fe80::1%lo0 localhost", &["localhost"]),
            ("a.example #why", &["a.example"]),
            ("bücher.example", &["xn--bcher-kva.example"]),
            ("192.0.2.1", &["192.0.2.1"]),
            ("2001:DB8::1", &["[2001:db8::1]"]),
            ("[2001:db8::1]", &["[2001:db8::1]"]),
            ("under_score.example", &["under_score.example"]),
            ("", &[]),
            ("# a.example", &[]),
            ("! a.example", &[]),
            ("[Adblock Plus 2.0]", &[]),
        ] {
            let list = list(line);
            assert_eq!(list.len(), names.len(), "{line}");
            for name in names {
                assert!(list.contains(name.as_bytes()), "{line}: {name}");
            }
        }
    }

    #[test]
    fn other_lines_are_errors_with_their_number() {
        for line in [
            "a.example b.example",
            "http://a.example/",
            "a.example/path",
            "a.example:80",
            "||a.example^$third-party",
            "@@||a.example^",
            "||a.example",
            "ads*.example",
            "a..example",
            ".",
            "a%2eexample",
            "300 a.example",
        ] {
            let error = HostList::read(format!("ok.example\n{line}\n").as_bytes()).unwrap_err();
            assert_eq!(error.line, 2, "{line}");
            assert!(
                error.to_string().contains(&format!("`{line}`")) || line.starts_with("||"),
                "{error}"
            );
        }
        assert_eq!(HostList::read(b"\xFF").unwrap_err().to_string(), "line 1: not UTF-8");
        assert!(HostList::read(format!("{}.example", "a".repeat(300)).as_bytes()).is_err());
    }

    #[test]
    fn a_name_stands_for_those_below_it_alone() {
        let list = list("b.example\nc.d.e.example\n192.0.2.1\n[::1]\n");
        for (host, held) in [
            ("b.example", true),
            ("a.b.example", true),
            ("a.a.b.example", true),
            ("b.example.", true),
            ("A.B.EXAMPLE", true),
            ("a.b%2Eexample", true),
            ("example", false),
            ("ab.example", false),
            ("b.example.com", false),
            ("d.e.example", false),
            ("c.d.e.example", true),
            ("192.0.2.1", true),
            ("1.192.0.2.1", false),
            ("192.0.2.10", false),
            ("[::1]", true),
            ("[::2]", false),
        ] {
            assert_eq!(list.contains(host.as_bytes()), held, "{host}");
        }
    }

    #[test]
    fn a_name_takes_less_than_forty_bytes() {
        let names = 200_000;
        let text: String = (0..names).map(|i| format!("name{i}.of.a.site.example\n")).collect();
        let list = list(&text);
        assert_eq!(list.len(), names);
        assert!(list.memory() < 40 * names, "{}", list.memory());
    }

    /// Second implementation: all ends of each host in a plain set, for many names.
    #[test]
    fn a_large_list_agrees_with_a_set_of_names() {
        let (names, hosts) =
            if cfg!(debug_assertions) { (20_000, 50_000) } else { (400_000, 1_000_000) };
        let mut number = 1u64;
        let mut below = |most: u64| {
            number = number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            (number >> 33) % most
        };
        let mut host = |least: u64, more: u64| -> String {
            let labels = least + below(more);
            let name: String = (0..labels).map(|_| format!("n{}.", below(60))).collect();
            name + ["com", "co.uk", "example"][below(3) as usize]
        };
        let names: Vec<String> = (0..names).map(|_| host(2, 3)).collect();
        let set: HashSet<&str> = names.iter().map(|name| &**name).collect();
        let list = list(&names.join("\n"));
        assert_eq!(list.len(), set.len());
        // A name that comes twice costs nothing.
        let twice =
            HostList::read([&*names.join("\n"), "\n", &names.join("\n")].concat().as_bytes())
                .unwrap();
        assert_eq!((twice.len(), twice.memory()), (list.len(), list.memory()));
        let mut held = 0;
        for _ in 0..hosts {
            let host = host(1, 5);
            let ends = std::iter::successors(Some(&*host), |end| Some(end.split_once('.')?.1));
            let expected = ends.into_iter().any(|end| set.contains(end));
            assert_eq!(list.contains(host.as_bytes()), expected, "{host}");
            held += usize::from(expected);
        }
        assert!(held > hosts / 10 && held < hosts, "{held} of {hosts}");
    }

    proptest! {
        /// Second implementation: all ends of the host, in a plain set.
        #[test]
        fn list_agrees_with_a_set_of_all_ends(
            names in prop::collection::vec("[a-c]{1,2}(\\.[a-c]{1,2}){0,3}", 0..8),
            hosts in prop::collection::vec("[a-c]{1,2}(\\.[a-c]{1,2}){0,5}", 1..16),
        ) {
            let list = list(&names.join("\n"));
            let set: HashSet<&str> = names.iter().map(|name| &**name).collect();
            prop_assert_eq!(list.len(), set.len());
            for host in &hosts {
                let labels: Vec<&str> = host.split('.').collect();
                let held = (0..labels.len()).any(|at| set.contains(&*labels[at..].join(".")));
                prop_assert_eq!(list.contains(host.as_bytes()), held, "{}", host);
            }
        }

        /// What takes the short way is what the normalizer leaves alone.
        #[test]
        fn names_that_are_surely_canonical_are_canonical(
            name in "([a-z0-9_-]{1,4}|xn-|0x1f|[a-c]{60,64})(\\.([a-z0-9_-]{1,4}|com|0x)){0,4}\\.?",
        ) {
            if is_canonical_name(name.as_bytes()) {
                let mut scratch = Vec::new();
                let canonical = canonical_host(name.as_bytes(), &Normalizer::new(Profile::Crawl), &mut scratch);
                prop_assert_eq!(canonical, Some(name.as_bytes()));
            }
        }

        #[test]
        fn any_bytes_are_a_host_that_can_be_asked_for(host in prop::collection::vec(any::<u8>(), 0..40)) {
            list("a.b").contains(&host);
        }
    }
}
