//! Into which of several outputs a URL goes.

use sha2::{Digest, Sha256};

use uniqurl::internal::Located;
use uniqurl::key::{Key, icann_domain, registrable_domain};

/// How a set is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// The criterion, which the key must [tell](SplitBy::is_told_by).
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
    /// without one.
    Host,
    /// The [registrable domain](registrable_domain) of its host.
    Domain,
    /// The whole key.
    Hash,
}

impl SplitBy {
    /// Whether a key tells this part of its URL.
    pub const fn is_told_by(self, key: Key) -> bool {
        match (self, key) {
            (Self::Hash, _) | (Self::Host | Self::Domain, Key::Url | Key::Template | Key::Host) => {
                true
            }
            // A SURT does not tell `http://a/b` from the target `a)/b`, nor the port of an IPv6 address from its
            // last field; and SSURT, which does, has the labels of a host in another order and escapes.
            (Self::Domain, key) => matches!(key, Key::Domain),
            (Self::Host, _) => false,
        }
    }
}

impl Split {
    /// The shard of a key: the first 8 bytes of the SHA-256 of its host, of its domain, or of all of it, as a number
    /// with the highest byte first, modulo the number of shards. So it is the same in every run.
    pub fn shard(&self, key: &[u8]) -> u32 {
        let text = match self.by {
            SplitBy::Hash => key,
            SplitBy::Host => host(key, self.key),
            SplitBy::Domain => domain(key, self.key),
        };
        let digest = Sha256::digest(text);
        // SHA-256 and not the hash of the set, which has another key in every run.
        let number = digest[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        (number % u64::from(self.shards.max(1))) as u32
    }
}

/// The registrable domain of the host.
pub(crate) fn domain(key: &[u8], kind: Key) -> &[u8] {
    match kind {
        // The rest of the host is not in it.
        Key::Domain => key,
        kind => registrable_domain(host(key, kind)),
    }
}

/// The same by the suffixes of registries alone.
pub(crate) fn domain_icann(key: &[u8], kind: Key) -> &[u8] {
    match kind {
        // The domain by all suffixes is an end of the host, and the one by fewer suffixes is an end of it.
        Key::Domain | Key::DomainIcann => icann_domain(key),
        kind => icann_domain(host(key, kind)),
    }
}

/// The host, which a URL without one has as no bytes.
pub(crate) fn host(key: &[u8], kind: Key) -> &[u8] {
    match kind {
        Key::Host => key,
        _ => Located::split(key).map_or(&[], |located| located.host),
    }
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

/// Bytes before each record that is written as it came, if records are divided: its shard, and its length, since any
/// byte may be in it.
pub const MARK_OF_RECORD: usize = MARK + size_of::<u64>();

/// Appends what precedes such a record of so many bytes.
pub(crate) fn mark_record(shard: u32, length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&shard.to_le_bytes());
    out.extend_from_slice(&(length as u64).to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_urls_of_a_host_share_a_shard() {
        for key in [Key::Url, Key::Template] {
            let split = Split { by: SplitBy::Host, shards: 1 << 20, key };
            let shard = |url: &str| {
                let mut made = Vec::new();
                key.append_bytes(url.as_bytes(), &mut made);
                split.shard(&made)
            };
            for (host, other) in
                [("h.example", "g.example"), ("1.2.3.4", "1.2.3.5"), ("[1:2::1]", "[1:2::2]")]
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
    fn keys_that_tell_the_domain_of_a_host_agree_about_it() {
        for (host, registrable) in [
            ("a.www.example.co.uk", "example.co.uk"),
            ("b.github.io", "b.github.io"),
            ("www.example.com.", "example.com."),
            ("a,b%2C.a,b%2C.com", "a,b%2C.com"),
            ("xn--55qx5d.cn", "xn--55qx5d.cn"),
            ("%E5%85%AC%E5%8F%B8.cn", "%E5%85%AC%E5%8F%B8.cn"),
            ("1.2.3.4", "1.2.3.4"),
            ("localhost", "localhost"),
        ] {
            for key in Key::ALL.iter().filter(|key| SplitBy::Domain.is_told_by(**key)) {
                let mut made = Vec::new();
                key.append_bytes(format!("http://{host}:8/p").as_bytes(), &mut made);
                assert_eq!(domain(&made, *key), registrable.as_bytes(), "{key} {host}");
            }
        }
        assert!(domain(b"mailto:a@example.com", Key::Url).is_empty());
    }

    #[test]
    fn shard_is_sha256_modulo_the_number_of_shards() {
        // printf 'h.example' | sha256sum, its first 16 digits modulo 7, and the same of the URL.
        let split = |by| Split { by, shards: 7, key: Key::Url }.shard(b"http://h.example/");
        assert_eq!((split(SplitBy::Host), split(SplitBy::Hash)), (2, 0));
    }
}
