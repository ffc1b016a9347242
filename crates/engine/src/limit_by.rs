//! Groups of URLs. Only the first few URLs of each are kept.

use crate::split::{self, SplitBy};
use uniqurl::key::{Key, Routes};

/// Keeps the first URLs of each group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitBy {
    /// What the URLs of a group have in common.
    pub group: Group,
    /// So many of each group, at least 1.
    pub most: u64,
}

/// The part of a URL that its group has in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Its template.
    Template,
    /// The registrable domain of its host. URLs without a host are one group.
    Domain,
    /// The same by the suffixes of registries alone.
    DomainIcann,
    /// Its host, whatever the port. URLs without a host are one group.
    Host,
    /// All of it but its query and its fragment.
    Path,
}

impl Group {
    /// Each of them, in the order of the documentation.
    pub const ALL: [Self; 5] =
        [Self::Template, Self::Domain, Self::DomainIcann, Self::Host, Self::Path];

    /// The name, as the command takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Template => "template",
            Self::Domain => "domain",
            Self::DomainIcann => "domain-icann",
            Self::Host => "host",
            Self::Path => "path",
        }
    }

    /// Whether a key tells the group of its URL.
    pub const fn is_told_by(self, key: Key) -> bool {
        match self {
            // Both are made of the text of a URL, and no other key holds all of it.
            Self::Template | Self::Path => matches!(key, Key::Url),
            Self::Domain => SplitBy::Domain.is_told_by(key),
            // Each end of a host is cut at a dot, so the domain by all suffixes holds the one by fewer.
            Self::DomainIcann => SplitBy::Domain.is_told_by(key) || matches!(key, Key::DomainIcann),
            Self::Host => SplitBy::Host.is_told_by(key),
        }
    }
}

/// Tells the groups of keys of one kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyGroup<'a> {
    pub(crate) group: Group,
    pub(crate) key: Key,
    pub(crate) routes: Option<&'a Routes>,
}

impl KeyGroup<'_> {
    /// Appends the group of a key to `out`. It holds no line feed.
    pub(crate) fn append(&self, key: &[u8], out: &mut Vec<u8>) {
        let text = match self.group {
            Group::Template => return Key::Template.append_by(self.routes, key, out),
            Group::Domain => split::domain(key, self.key),
            Group::DomainIcann => split::domain_icann(key, self.key),
            Group::Host => split::host(key, self.key),
            Group::Path => {
                // Whichever comes first: a question mark in a fragment begins no query (RFC 3986, 3.5), and a
                // URL may have only a fragment.
                let end = memchr::memchr2(b'?', b'#', key).unwrap_or(key.len());
                &key[..end]
            }
        };
        out.extend_from_slice(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group_of(group: Group, key: Key, url: &str) -> String {
        let (mut made, mut out) = (Vec::new(), Vec::new());
        key.append_bytes(url.as_bytes(), &mut made);
        KeyGroup { group, key, routes: None }.append(&made, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_group_is_a_part_of_its_urls() {
        let url = "http://u@www.example.co.uk:8/item/17?q=1?#f";
        for (group, expected) in Group::ALL.into_iter().zip([
            "http://u@www.example.co.uk:8/item/{int}?q",
            "example.co.uk",
            "example.co.uk",
            "www.example.co.uk",
            "http://u@www.example.co.uk:8/item/17",
        ]) {
            assert_eq!(group_of(group, Key::Url, url), expected);
        }
        assert_eq!(group_of(Group::Path, Key::Url, "http://h/#a?b"), "http://h/");
        for group in [Group::Domain, Group::Host] {
            for url in ["mailto:a@h.example", "/path", "urn:a:b"] {
                assert_eq!(group_of(group, Key::Url, url), "");
            }
        }
    }

    #[test]
    fn keys_that_tell_a_group_agree_about_it() {
        let urls =
            ["http://a.x.github.io/1", "ftp://b.x.github.io:9/2", "http://1.2.3.4/", "mailto:a@b"];
        for group in [Group::Domain, Group::DomainIcann, Group::Host] {
            let told = Key::ALL.iter().filter(|key| group.is_told_by(**key));
            for key in told {
                let of = |url| group_of(group, *key, url);
                for one in urls {
                    for other in urls {
                        let same =
                            group_of(group, Key::Url, one) == group_of(group, Key::Url, other);
                        // A URL without a host has no such key.
                        if !key.needs_host() || !(one.contains('@') || other.contains('@')) {
                            assert_eq!(of(one) == of(other), same, "{key} {one} {other}");
                        }
                    }
                }
            }
        }
    }
}
