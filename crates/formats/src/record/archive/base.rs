//! The base that the links of a page are resolved against.
//!
//! A page may have a million links and an address of millions of bytes. A link certain to be too
//! long for a URL is rejected without being built. Any other link copies no more of the base than
//! fits into a URL. So the cost of a link does not grow with the address.

use memchr::{memchr_iter, memrchr};

use uniqurl::internal::{self, Parts, Targets, decode_dots};
use uniqurl::uri;

/// The components of a base, and the folder that relative paths start from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Base {
    scheme: Vec<u8>,
    authority: Option<Vec<u8>>,
    path: Vec<u8>,
    query: Option<Vec<u8>>,
    /// The path up to its last slash, without dot segments. Segments that end after the length of
    /// the longest URL are stored shortened: only their end and their number matter, since no URL
    /// short enough contains them.
    folder: Vec<u8>,
    /// The number of shortened segments.
    beyond: usize,
    /// The limit on a URL's length.
    longest: usize,
    /// How the profile reads targets.
    targets: Targets,
}

/// The error for a link that exceeds the limit on URLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

impl Base {
    /// Splits the address; none if `url` has no scheme, since nothing can be resolved against it.
    pub(super) fn new(url: &[u8], longest: usize, targets: Targets) -> Option<Self> {
        // The fragment of a base takes no part in resolution (RFC 3986 section 5.1).
        let Parts { scheme, authority, path, query, .. } = Parts::split(url);
        let mut folder = Vec::new();
        let end = memrchr(b'/', path).map_or(0, |slash| slash + 1);
        // Decoded first, so that `%2e%2e` leaves a folder as `..` does, as it would in the URL
        // itself.
        uri::remove_dot_segments(&decode_dots(&path[..end]), &mut folder);
        let beyond = shorten(&mut folder, longest);
        Some(Self {
            scheme: scheme?.to_vec(),
            authority: authority.map(<[u8]>::to_vec),
            path: path.to_vec(),
            query: query.map(<[u8]>::to_vec),
            folder,
            beyond,
            longest,
            targets,
        })
    }

    /// Appends the result of [`uri::resolve`] for a reference whose encoded dots are decoded, unless it is
    /// too long.
    ///
    /// A colon that ends no scheme (`12:30.html`) is part of a path if the profile repairs URLs. Otherwise
    /// the reference is appended unchanged, and the profile rejects it.
    pub(super) fn resolve(&self, reference: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
        let text = reference;
        let reference = match Parts::split(text) {
            parts if !parts.ends_no_scheme() => parts,
            _ if self.targets == Targets::Trimmed => Parts::split_target(text),
            _ => {
                out.extend_from_slice(text);
                return Ok(());
            }
        };
        let decoded = decode_dots(reference.path);
        let reference = match reference.scheme {
            Some(_) => reference,
            None => Parts { path: &decoded, ..reference },
        };
        if self.least(&reference) > self.longest {
            return Err(TooLong);
        }
        // A reference without a path takes that of the base whole, with its last segment (RFC 3986
        // section 5.2.2).
        let path = if reference.path.is_empty() { &self.path } else { &self.folder };
        let base = Parts {
            scheme: Some(&self.scheme),
            authority: self.authority.as_deref(),
            path,
            query: self.query.as_deref(),
            fragment: None,
        };
        let start = out.len();
        internal::resolve(&base, &reference, out);
        // `least` is only a lower bound. This one is exact.
        if out.len() - start > self.longest {
            out.truncate(start);
            return Err(TooLong);
        }
        Ok(())
    }

    /// Bytes of memory in use.
    pub(super) fn memory(&self) -> usize {
        let Self { scheme, authority, path, query, folder, .. } = self;
        let optional = [authority, query].into_iter().flatten();
        [scheme, path, folder].into_iter().chain(optional).map(Vec::capacity).sum()
    }

    /// The minimum number of bytes that a reference takes from the base.
    fn least(&self, reference: &Parts<'_>) -> usize {
        if reference.scheme.is_some() {
            return 0;
        }
        if reference.authority.is_some() {
            return self.scheme.len();
        }
        let authority = self.authority.as_ref().map_or(0, Vec::len);
        let path = match reference.path {
            [] if reference.query.is_some() => self.path.len(),
            [] => self.path.len() + self.query.as_ref().map_or(0, Vec::len),
            [b'/', ..] => 0,
            // Each `..` removes one segment. If one of the shortened ones is left, the URL is too long.
            path if self.beyond > 0 && parents(path) < self.beyond => self.longest + 1,
            _ => 0,
        };
        self.scheme.len() + authority + path
    }
}

/// The number of `..` segments in a path.
fn parents(path: &[u8]) -> usize {
    path.split(|byte| *byte == b'/').filter(|segment| *segment == b"..").count()
}

/// Shortens the segments of a folder that end after its first `longest` bytes, and returns their
/// number. The first still ends there; the others become empty.
fn shorten(folder: &mut Vec<u8>, longest: usize) -> usize {
    let beyond = memchr_iter(b'/', folder.get(longest..).unwrap_or_default()).count();
    if beyond > 0 {
        let near = memrchr(b'/', &folder[..longest]).map_or(0, |slash| slash + 1);
        folder.truncate(near);
        folder.resize(longest, b'x');
        folder.resize(longest + beyond, b'/');
    }
    beyond
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(units: &[&str], most: usize) -> Vec<String> {
        let mut all = vec![String::new()];
        let mut last = all.clone();
        for _ in 0..most {
            last = last
                .iter()
                .flat_map(|word| units.iter().map(move |unit| word.clone() + unit))
                .collect();
            all.extend_from_slice(&last);
        }
        all
    }

    #[test]
    fn shortened_base_resolves_links_as_the_whole_base_does() {
        let references = words(&["..", ".", "/", "b", "?q", "#f", "s:"], 4);
        let bases = words(&["/", "a", "..", ".", "/long.name", "?", "#"], 3);
        for front in ["x:", "x://h", "long-scheme://long.host"] {
            for path in &bases {
                let base = format!("{front}{path}");
                let base = base.as_bytes();
                // A limit of 1, and limits around the length of the base.
                let longest = [1, base.len() / 2, base.len() - 1, base.len(), base.len() + 1, 99];
                let new = |longest| Base::new(base, longest, Targets::Trimmed).unwrap();
                let cut = longest.map(|longest| (longest, new(longest)));
                for reference in references.iter().step_by(11) {
                    if Parts::split(reference.as_bytes()).ends_no_scheme() {
                        continue;
                    }
                    let mut expected = Vec::new();
                    uri::resolve(base, reference.as_bytes(), &mut expected).unwrap();
                    for (longest, base) in &cut {
                        let mut out = b"kept".to_vec();
                        let result = base.resolve(reference.as_bytes(), &mut out);
                        let fits = expected.len() <= *longest;
                        assert_eq!(result.is_ok(), fits, "{front}{path} {reference} {longest}");
                        let expected = if fits { &expected[..] } else { b"" };
                        assert_eq!(&out[4..], expected, "{front}{path} {reference} {longest}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_link_is_read_as_the_normalizer_reads_a_reference() {
        let base = |targets| Base::new(b"http://h/a/%2e%2E/b/c/d", 99, targets).unwrap();
        let resolved = |targets, reference: &str| {
            let mut out = Vec::new();
            base(targets).resolve(reference.as_bytes(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        for (reference, expected) in [
            ("%2e%2e/x", "http://h/b/x"),
            ("%2E./../x", "http://h/x"),
            ("../../x", "http://h/x"),
            ("%7e?%2e", "http://h/b/c/%7e?%2e"),
            ("y:%2e%2e/x", "y:%2e%2e/x"),
        ] {
            assert_eq!(resolved(Targets::Trimmed, reference), expected);
            assert_eq!(resolved(Targets::Verbatim, reference), expected);
        }
        for (reference, path) in [("12:30.html", "12:30.html"), (":a", ":a"), ("%66:b", "%66:b")] {
            assert_eq!(resolved(Targets::Trimmed, reference), format!("http://h/b/c/{path}"));
            assert_eq!(resolved(Targets::Verbatim, reference), reference);
        }
    }
}
