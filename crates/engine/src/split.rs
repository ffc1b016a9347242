//! Into which of several outputs a URL goes.

use std::borrow::Cow;

use sha2::{Digest, Sha256};

use uniqurl::internal::{Located, split_port};
use uniqurl::key::{Key, registrable_domain};

/// How a set is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// The criterion.
    pub by: SplitBy,
    /// Into how many shards, at least 1.
    pub shards: u32,
    /// The kind of key in the set.
    pub key: Key,
}

/// The part of a URL that decides its shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitBy {
    /// Its host: all URLs of a host, whatever their scheme and port, are in one shard, and so are all
    /// without one. A [`Key::Hash`] tells no host: all are in the first. A [`Key::Surt`] does not tell
    /// `http://a/b` from the target `a)/b`, which has the shard of `a` too, nor `http://h:8x/`, which only
    /// [`Profile::String`](uniqurl::Profile::String) lets through, from a URL of the scheme `h`: it counts as
    /// without a host. Nor does it tell the port of an IPv6 address from its last field: addresses with the
    /// same first fields are in one shard.
    Host,
    /// The [registrable domain](registrable_domain) of its host, as far as a key tells the host.
    Domain,
    /// The whole key.
    Hash,
}

impl Split {
    /// The shard of a key: the first 8 bytes of the SHA-256 of its host, of its domain, or of all of it, as a number
    /// with the highest byte first, modulo the number of shards. So it is the same in every run.
    pub fn shard(&self, key: &[u8]) -> u32 {
        let text = match self.by {
            SplitBy::Hash => Cow::Borrowed(key),
            SplitBy::Host => Cow::Borrowed(self.host(key)),
            SplitBy::Domain => self.domain(key),
        };
        let digest = Sha256::digest(&text);
        // SHA-256 and not the hash of the set, which has another key in every run.
        let number = digest[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        (number % u64::from(self.shards.max(1))) as u32
    }

    /// The registrable domain of the host.
    pub(crate) fn domain<'k>(&self, key: &'k [u8]) -> Cow<'k, [u8]> {
        match in_order(self.host(key), self.key) {
            Cow::Borrowed(host) => Cow::Borrowed(registrable_domain(host)),
            Cow::Owned(host) => Cow::Owned(registrable_domain(&host).to_vec()),
        }
    }

    /// The host as the key spells it.
    pub(crate) fn host<'k>(&self, key: &'k [u8]) -> &'k [u8] {
        let end = match self.key {
            Key::Url | Key::Template => {
                return Located::split(key).map_or(&[], |located| located.host);
            }
            // A parenthesis may be in a path too, and in a host.
            Key::Surt => memchr::memchr_iter(b')', key)
                .find(|end| matches!(key.get(end + 1), None | Some(b'/' | b'?' | b'#'))),
            Key::Ssurt => memchr::memmem::find(key, b"//"),
            // The rest of the host is not in it.
            Key::Domain => return key,
            // A digest holds no host.
            _ => None,
        };
        // Without a host a key is the URL itself.
        let Some(end) = end.filter(|end| !key[..*end].contains(&b'/')) else { return &[] };
        // An address without brackets, whose last field may be a port: all that starts alike is one host.
        let is_of_address =
            |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.' | b',');
        if let (Key::Surt, Some(second)) = (self.key, memchr::memchr_iter(b':', key).nth(1))
            && second < end
            && key[..end].iter().all(is_of_address)
        {
            return &key[..second];
        }
        let (host, port) = split_port(&key[..end]);
        let is_port = |port: &[u8]| self.key == Key::Surt && port.iter().all(u8::is_ascii_digit);
        // Otherwise the text before the colon is a scheme, and no scheme begins with a bracket.
        if host.starts_with(b"[") || port.is_none_or(is_port) { host } else { &[] }
    }
}

/// The host in the order of URLs, of one whose labels are in the order of a key.
fn in_order<'k>(host: &'k [u8], key: Key) -> Cow<'k, [u8]> {
    let (labels, is_escaped) = match (key, host.strip_suffix(b",")) {
        (Key::Surt, _) => (host, false),
        (Key::Ssurt, Some(labels)) => (labels, true),
        // An address.
        _ => return Cow::Borrowed(host),
    };
    let mut name = Vec::with_capacity(labels.len());
    for label in labels.rsplit(|byte| *byte == b',') {
        let mut rest = label;
        while let [first, after @ ..] = rest {
            let (byte, after) = match rest {
                [b'%', b'2', b'C', after @ ..] if is_escaped => (b',', after),
                [b'%', b'2', b'5', after @ ..] if is_escaped => (b'%', after),
                _ => (*first, after),
            };
            name.push(byte);
            rest = after;
        }
        name.push(b'.');
    }
    name.pop();
    Cow::Owned(name)
}

/// Bytes before each line that say which shard it is for.
pub const MARK: usize = size_of::<u32>();

/// Appends the shard mark that precedes the line of a key, if lines are divided.
#[inline]
pub(crate) fn mark(split: Option<Split>, key: &[u8], out: &mut Vec<u8>) {
    if let Some(split) = split {
        out.extend_from_slice(&split.shard(key).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_urls_of_a_host_share_a_shard() {
        for key in [Key::Url, Key::Surt, Key::Ssurt] {
            let split = Split { by: SplitBy::Host, shards: 1 << 20, key };
            let shard = |url: &str| {
                let mut made = Vec::new();
                key.append_bytes(url.as_bytes(), &mut made);
                split.shard(&made)
            };
            for (host, other) in
                [("h.example", "g.example"), ("1.2.3.4", "1.2.3.5"), ("[1:2::1]", "[1:3::1]")]
            {
                let url = |rest: &str| shard(&rest.replace('H', host));
                let first = url("http://H/");
                for same in ["https://H/a)b//c", "http://H:8080/x:9", "ftp://u:p@H/"] {
                    assert_eq!(url(same), first, "{key} {same}");
                }
                assert_ne!(shard(&format!("http://{other}/")), first, "{key}");
            }
            let none = shard("mailto:a@h");
            for url in ["/path)x", "//h/x", "urn:a)b", "tel:112)x", "tel:(112)x", "mailto:x//y"] {
                assert_eq!(shard(url), none, "{key} {url}");
            }
        }
    }

    #[test]
    fn host_of_a_surt_is_found_only_where_it_is_certain() {
        let split = Split { by: SplitBy::Host, shards: 1 << 20, key: Key::Surt };
        for (surt, host) in [
            ("h:8)/", "h"),
            ("h:)/", "h"),
            ("h:8x)/", ""),
            ("javascript:f(x)/2", ""),
            ("tel:112)/", "tel"),
            ("a)/b", "a"),
            ("/a)/b", ""),
            ("[a]:8/c)/", ""),
            ("2001:db8::1)/", "2001:db8"),
            ("2001:db8::1:8)/", "2001:db8"),
            ("4,3,2,::ffff:1)/", "4,3,2,:"),
            ("javascript:a:b)/", ""),
            ("[::1])/", "[::1]"),
            ("[::1]:8)/", "[::1]"),
            ("[::1]:8x)/", "[::1]"),
            ("[a:b)/", "[a"),
            ("h):8)/", "h)"),
        ] {
            assert_eq!(split.host(surt.as_bytes()), host.as_bytes(), "{surt}");
        }
    }

    #[test]
    fn all_keys_tell_the_domain_of_a_host() {
        for (host, domain) in [
            ("a.www.example.co.uk", "example.co.uk"),
            ("b.github.io", "b.github.io"),
            ("www.example.com.", "example.com."),
            ("a,b%2C.a,b%2C.com", "a,b%2C.com"),
            ("xn--55qx5d.cn", "xn--55qx5d.cn"),
            ("%E5%85%AC%E5%8F%B8.cn", "%E5%85%AC%E5%8F%B8.cn"),
            ("1.2.3.4", "1.2.3.4"),
            ("localhost", "localhost"),
        ] {
            for key in [Key::Url, Key::Domain, Key::Surt, Key::Ssurt] {
                // A SURT does not tell a comma from the end of a label.
                if key == Key::Surt && host.contains(',') {
                    continue;
                }
                let split = Split { by: SplitBy::Domain, shards: 7, key };
                let mut made = Vec::new();
                key.append_bytes(format!("http://{host}:8/p").as_bytes(), &mut made);
                assert_eq!(split.domain(&made), domain.as_bytes(), "{key} {host}");
            }
        }
        for key in [Key::Url, Key::Surt, Key::Ssurt] {
            let split = Split { by: SplitBy::Domain, shards: 7, key };
            assert!(split.domain(b"mailto:a@example.com").is_empty());
        }
    }

    #[test]
    fn shard_is_sha256_modulo_the_number_of_shards() {
        // printf 'h.example' | sha256sum, its first 16 digits modulo 7, and the same of the URL.
        let split = |by| Split { by, shards: 7, key: Key::Url }.shard(b"http://h.example/");
        assert_eq!((split(SplitBy::Host), split(SplitBy::Hash)), (2, 0));
    }
}
