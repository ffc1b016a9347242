//! Which canonical URLs to keep.

use std::fmt;
use std::net::Ipv6Addr;
use std::sync::Arc;

use crate::address_blocks::AddressBlocks;
use crate::expressions::Expressions;
use crate::extensions::Extensions;
use crate::host_list::HostList;
use uniqurl::internal::{Located, Parts};

/// A choice among canonical URLs: all that is set must agree. The default keeps all of them.
///
/// ```
/// use uniqurl_engine::UrlFilter;
///
/// let mut wanted = UrlFilter::default();
/// wanted.host("*.example.com")?;
/// wanted.schemes("http,https")?;
/// assert!(wanted.keeps(b"https://www.example.com/"));
/// assert!(!wanted.keeps(b"https://example.org/"));
/// # Ok::<(), uniqurl_engine::BadUrlFilter>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct UrlFilter {
    schemes: Vec<Vec<u8>>,
    patterns: Expressions,
    unwanted: Expressions,
    hosts: Hosts,
    unwanted_hosts: Hosts,
    extensions: Extensions,
    unwanted_extensions: Extensions,
}

/// Globs for hosts, blocks of addresses, and lists of names.
#[derive(Debug, Clone, Default)]
struct Hosts {
    globs: Expressions,
    blocks: AddressBlocks,
    lists: Vec<Arc<HostList>>,
}

/// Why a text says of no URLs that they are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadUrlFilter(String);

impl fmt::Display for BadUrlFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadUrlFilter {}

impl Hosts {
    fn add(&mut self, text: &str) -> Result<(), BadUrlFilter> {
        // Before `no_host`, which takes the slash for that of a path.
        if is_block(text) {
            return self.blocks.add(text).ok_or_else(|| BadUrlFilter(NO_BLOCK.to_owned()));
        }
        if let Some(why) = no_host(text) {
            return Err(BadUrlFilter(why.to_owned()));
        }
        // One pair of brackets with a colon inside is an IPv6 address, not a set of characters.
        let address = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let address = address.filter(|text| text.contains(':') && !text.contains(['[', ']']));
        let escaped = address.map(|text| format!("[[]{text}]"));
        let glob = globset::GlobBuilder::new(escaped.as_deref().unwrap_or(text))
            .case_insensitive(true)
            .build();
        let glob = glob.map_err(|error| BadUrlFilter(error.to_string()))?;
        self.globs.add(glob.regex()).map_err(BadUrlFilter)
    }

    fn is_empty(&self) -> bool {
        self.globs.is_empty() && self.blocks.is_empty() && self.lists.is_empty()
    }

    /// Whether one of them matches. `count` gets the number of the first list that holds the host.
    fn is_match(&self, host: &[u8], count: impl FnOnce(usize)) -> bool {
        // The lists first, so that what they hold is counted whatever globs say.
        let list = self.lists.iter().position(|list| list.contains(host));
        if let Some(list) = list {
            count(list);
        }
        list.is_some() || self.blocks.contain(host) || self.globs.is_match(host)
    }
}

impl UrlFilter {
    /// Adds schemes to keep, between commas. A request target has none and stays.
    ///
    /// # Errors
    ///
    /// The text between two commas is not a scheme.
    pub fn schemes(&mut self, list: &str) -> Result<(), BadUrlFilter> {
        for name in list.split(',') {
            let is_scheme = name.starts_with(|first: char| first.is_ascii_alphabetic())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
            if !is_scheme {
                return Err(BadUrlFilter(format!("`{}` is not a scheme", name.escape_debug())));
            }
            // Canonical schemes are lowercase, but not under profiles that leave URLs alone, so both sides
            // are compared without case.
            self.schemes.push(name.to_ascii_lowercase().into_bytes());
        }
        Ok(())
    }

    /// Adds a regular expression; a URL is kept in which one of them is found.
    ///
    /// # Errors
    ///
    /// `pattern` is not a regular expression.
    pub fn pattern(&mut self, pattern: &str) -> Result<(), BadUrlFilter> {
        self.patterns.add(pattern).map_err(BadUrlFilter)
    }

    /// Adds a regular expression; a URL is dropped in which one of them is found.
    ///
    /// # Errors
    ///
    /// `pattern` is not a regular expression.
    pub fn unwanted_pattern(&mut self, pattern: &str) -> Result<(), BadUrlFilter> {
        self.unwanted.add(pattern).map_err(BadUrlFilter)
    }

    /// Adds a glob for hosts, or a block of addresses as in `10.0.0.0/8`. A URL is kept if its whole host
    /// matches one of them, in any case. The `*` of a glob matches dots as well. A block takes the
    /// addresses in it by their value.
    ///
    /// # Errors
    ///
    /// It is neither, or no host can match it.
    pub fn host(&mut self, text: &str) -> Result<(), BadUrlFilter> {
        self.hosts.add(text)
    }

    /// Adds a glob or a block of addresses, as [`UrlFilter::host`] takes them; a URL is dropped if its host
    /// matches one of them.
    ///
    /// # Errors
    ///
    /// It is neither, or no host can match it.
    pub fn unwanted_host(&mut self, text: &str) -> Result<(), BadUrlFilter> {
        self.unwanted_hosts.add(text)
    }

    /// Adds a list of hosts to keep. A URL is kept if its host, or a name above it, is in one of the lists, or matches
    /// what [`UrlFilter::host`] added.
    pub fn hosts(&mut self, list: HostList) {
        self.hosts.lists.push(Arc::new(list));
    }

    /// Adds a list of hosts to drop.
    pub fn unwanted_hosts(&mut self, list: HostList) {
        self.unwanted_hosts.lists.push(Arc::new(list));
    }

    /// The lists: those of hosts to keep in the order in which they were added, then the others.
    pub fn host_lists(&self) -> impl Iterator<Item = &HostList> {
        self.hosts.lists.iter().chain(&self.unwanted_hosts.lists).map(|list| &**list)
    }

    /// Bytes of memory of the lists: everything else is small.
    pub fn memory(&self) -> usize {
        self.host_lists().map(HostList::memory).sum()
    }

    /// Adds extensions to keep, between commas: `jpg`, or with all of its parts `tar.gz`. A URL is kept if
    /// the last segment of its path ends in one of them after a dot, in any case.
    ///
    /// ```
    /// use uniqurl_engine::UrlFilter;
    ///
    /// let mut wanted = UrlFilter::default();
    /// wanted.extension("gz,.html")?;
    /// assert!(wanted.keeps(b"http://h/a.tar.GZ?x") && wanted.keeps(b"/b.html;v=1"));
    /// assert!(!wanted.keeps(b"http://h/a.gz/") && !wanted.keeps(b"http://h/.gz"));
    /// # Ok::<(), uniqurl_engine::BadUrlFilter>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text between two commas is no extension.
    pub fn extension(&mut self, list: &str) -> Result<(), BadUrlFilter> {
        self.extensions.add(list).map_err(BadUrlFilter)
    }

    /// Adds extensions, as [`UrlFilter::extension`] takes them; a URL is dropped if its path ends in one of
    /// them.
    ///
    /// # Errors
    ///
    /// The text between two commas is no extension.
    pub fn unwanted_extension(&mut self, list: &str) -> Result<(), BadUrlFilter> {
        self.unwanted_extensions.add(list).map_err(BadUrlFilter)
    }

    /// Whether it keeps all URLs.
    pub fn is_empty(&self) -> bool {
        self.schemes.is_empty()
            && [&self.extensions, &self.unwanted_extensions].into_iter().all(Extensions::is_empty)
            && [&self.patterns, &self.unwanted].into_iter().all(Expressions::is_empty)
            && [&self.hosts, &self.unwanted_hosts].into_iter().all(Hosts::is_empty)
    }

    /// Whether a canonical URL is wanted.
    pub fn keeps(&self, url: &[u8]) -> bool {
        self.keeps_counting(url, |_| {})
    }

    /// The same. `count` gets the number of each of the [lists](Self::host_lists) that decided about its host.
    pub(crate) fn keeps_counting(&self, url: &[u8], mut count: impl FnMut(usize)) -> bool {
        let is_scheme = || match url.first() {
            // A request target.
            Some(b'/') => true,
            _ => Parts::split(url).scheme.is_none_or(|scheme| {
                self.schemes.iter().any(|wanted| wanted.eq_ignore_ascii_case(scheme))
            }),
        };
        let wanted = self.hosts.lists.len();
        let mut is_host = |hosts: &Hosts, before: usize| {
            let located = Located::split(url);
            located.is_some_and(|located| hosts.is_match(located.host, |i| count(before + i)))
        };
        // The cheapest filters come first, then patterns, which go through the whole URL.
        (self.schemes.is_empty() || is_scheme())
            && (self.extensions.is_empty() || self.extensions.are_of(url))
            && (self.unwanted_extensions.is_empty() || !self.unwanted_extensions.are_of(url))
            && (self.patterns.is_empty() || self.patterns.is_match(url))
            && (self.unwanted.is_empty() || !self.unwanted.is_match(url))
            // Last, so that the lists count what they alone decide.
            && (self.hosts.is_empty() || is_host(&self.hosts, 0))
            && (self.unwanted_hosts.is_empty() || !is_host(&self.unwanted_hosts, wanted))
    }
}

const NO_BLOCK: &str = "no block of addresses, as 10.0.0.0/8 and 2001:db8::/32 are";

/// Whether a text is meant as a block of addresses: no host has a slash, and nothing but an address or a
/// number stands before this one.
fn is_block(text: &str) -> bool {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.split_once('/').is_some_and(|(address, _)| {
        let bracketed = address.starts_with('[') && address.ends_with(']');
        let is_colon = address.contains(':') && !text.contains("://") && !address.contains('[');
        is_number(address) || bracketed || is_colon && address.parse::<Ipv6Addr>().is_ok()
    })
}

/// The reason why no host can match a glob, with a hint: a host has none of `/?#@`, and has colons only
/// between brackets ([`Located`]).
fn no_host(glob: &str) -> Option<&'static str> {
    let is_plain = |char: char| char.is_alphanumeric() || char == ':';
    // In a set of characters they may be excluded.
    if glob.contains("://") || (glob.contains(['/', '@', '#']) && !glob.contains('[')) {
        Some("a host stands alone, without a scheme, a user or a path, as in example.com")
    } else if glob.matches(':').count() > 1 && glob.starts_with(is_plain) {
        // Before the hint about ports, which `::1` with its colons would get too.
        Some("an IPv6 address stands in brackets, as in [::1]")
    } else if glob.contains(':') && (glob.starts_with(is_plain) || glob.ends_with(is_plain)) {
        Some("a host stands alone, without a port, as in example.com")
    } else if has_loose_comma(glob) {
        Some("a list stands in braces, as in {a,b}")
    } else {
        None
    }
}

/// Whether a comma stands outside of braces and brackets.
fn has_loose_comma(glob: &str) -> bool {
    let mut open = 0_usize;
    let mut chars = glob.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => drop(chars.next()),
            '{' | '[' => open += 1,
            // A bracket that closes nothing is left to the error of the glob.
            '}' | ']' => open = open.saturating_sub(1),
            ',' if open == 0 => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::UrlFilter;

    #[test]
    fn scheme_filter_ignores_case_and_keeps_targets() {
        let mut wanted = UrlFilter::default();
        wanted.schemes("HTTP,urn").unwrap();
        for (url, kept) in [
            ("http://h/", true),
            ("https://h/", false),
            ("URN:a", true),
            ("dns:h", false),
            ("/http", true),
            ("//h/x", true),
        ] {
            assert_eq!(wanted.keeps(url.as_bytes()), kept, "{url}");
        }
        for bad in ["", "http,", "http:", "1a"] {
            assert!(UrlFilter::default().schemes(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn glob_matches_the_whole_host_only() {
        let mut wanted = UrlFilter::default();
        wanted.host("*.Example.com").unwrap();
        wanted.host("h{1,2}").unwrap();
        for (url, kept) in [
            ("http://www.example.com:8/", true),
            ("http://a.b.example.com/", true),
            ("http://u:p@www.example.com/", true),
            ("http://example.com/", false),
            ("http://example.com.evil/x.example.com", false),
            ("http://h1/", true),
            ("http://h3/", false),
            ("mailto:a@h1", false),
            ("/h1", false),
        ] {
            assert_eq!(wanted.keeps(url.as_bytes()), kept, "{url}");
        }
        assert!(UrlFilter::default().host("[").is_err());
        for (glob, kept) in [
            ("[2001:DB8::1]", true),
            ("[2001:db8:*]", true),
            ("[2001:db8::2]", false),
            ("[[]2001:db8::1]", true),
            ("[2]*", false),
        ] {
            let mut wanted = UrlFilter::default();
            wanted.host(glob).unwrap();
            assert_eq!(wanted.keeps(b"http://[2001:db8::1]:8/"), kept, "{glob}");
        }
    }

    #[test]
    fn glob_that_can_match_no_host_is_rejected() {
        for (globs, why) in [
            (&["https://h", "http://[::1]/", "h/", "h/a", "u@h", "*.h/*"][..], "without a scheme"),
            (&["::1", "2001:db8::*"], "in brackets"),
            (&["h:8443", "*.h:80", "[::1]:80", "h:*", ":80"], "without a port"),
            (&["a,b", "{a,b},c", "a,"], "in braces"),
        ] {
            for glob in globs {
                let told = UrlFilter::default().host(glob).unwrap_err().to_string();
                assert!(told.contains(why), "{glob}: {told}");
            }
        }
        for glob in ["{a,b}", "{[a,b],c}", "a[,]b", r"a\,b", "*:*", "[!/]*", "[::1]", "[[]::*]"] {
            UrlFilter::default().host(glob).unwrap();
        }
    }

    #[test]
    fn block_matches_addresses_and_stands_beside_globs() {
        let mut wanted = UrlFilter::default();
        wanted.host("10.0.0.0/8").unwrap();
        wanted.host("[2001:db8::]/32").unwrap();
        wanted.host("*.example").unwrap();
        wanted.unwanted_host("10.9.0.0/16").unwrap();
        wanted.unwanted_host("b.*").unwrap();
        for (url, kept) in [
            ("http://10.1.2.3:8080/x", true),
            ("http://u@10.1.2.3/", true),
            ("http://10.9.2.3/", false),
            ("http://11.1.2.3/", false),
            ("http://h/10.1.2.3", false),
            ("ftp://[2001:db8:1::1]:21/", true),
            ("http://[2001:db9::1]/", false),
            ("http://a.example/", true),
            ("http://b.example/", false),
            ("/10.1.2.3", false),
        ] {
            assert_eq!(wanted.keeps(url.as_bytes()), kept, "{url}");
        }
        let mut others = UrlFilter::default();
        others.unwanted_host("0.0.0.0/0").unwrap();
        assert!(!others.is_empty() && !others.keeps(b"http://1.2.3.4/"));
        for url in ["/a", "mailto:a", "http://h/", "http://[::1]/", "http://1.2.3/"] {
            assert!(others.keeps(url.as_bytes()), "{url}");
        }
        for block in ["10.0.0.0/33", "10/8", "10.0.0.0/", "/8", "::1/129", "[::1]/129", "[::1]/x"] {
            let told = UrlFilter::default().host(block).unwrap_err().to_string();
            assert!(told.contains("no block of addresses"), "{block}: {told}");
        }
    }

    #[test]
    fn every_one_of_many_globs_matches() {
        const GLOBS: usize = 3 * crate::expressions::AT_ONCE + 1;
        let mut wanted = UrlFilter::default();
        assert!(wanted.keeps(b"http://h0.example/"));
        for i in 0..GLOBS {
            let keeps = |i| wanted.keeps(format!("http://www.h{i}.Example/").as_bytes());
            assert!(i == 0 || keeps(i - 1) && !keeps(i), "{i}");
            wanted.host(&format!("*.h{i}.example")).unwrap();
        }
        let kept = |i: &usize| wanted.keeps(format!("http://a.b.h{i}.example:8/").as_bytes());
        assert_eq!((0..2 * GLOBS).filter(kept).count(), GLOBS);
    }

    #[test]
    fn pattern_matches_anywhere_in_the_url() {
        let mut wanted = UrlFilter::default();
        wanted.pattern("/a[0-9]+$").unwrap();
        wanted.pattern(r"(?-u)\xFF").unwrap();
        assert!(wanted.keeps(b"http://h/a12") && wanted.keeps(b"\xFF"));
        assert!(!wanted.keeps(b"http://h/a12/"));
        assert!(UrlFilter::default().pattern("(").is_err());
    }

    #[test]
    fn unwanted_pattern_overrides_a_wanted_one() {
        let mut wanted = UrlFilter::default();
        wanted.unwanted_pattern("[.]png$").unwrap();
        wanted.unwanted_pattern("^ftp:").unwrap();
        assert!(!wanted.is_empty());
        assert!(wanted.keeps(b"http://h/a.html"));
        assert!(!wanted.keeps(b"http://h/a.png") && !wanted.keeps(b"ftp://h/"));
        wanted.pattern("a").unwrap();
        assert!(wanted.keeps(b"http://h/a.html") && !wanted.keeps(b"http://h/a.png"));
        assert!(!wanted.keeps(b"http://h/b"));
        assert!(UrlFilter::default().unwanted_pattern("(").is_err());
    }
}
