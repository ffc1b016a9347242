//! The base that the links of a page are resolved against.
//!
//! A page may have a million links and an address of millions of bytes. So a link that is surely longer
//! than a URL may be is told without being put together, and any other takes no more of the base than
//! such a URL has: what a link costs does not grow with the address.

use memchr::{memchr_iter, memrchr};

use uniqurl::normalize::{self, Parts};
use uniqurl::uri;

/// The components of a base, and what relative paths go on from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Base {
    scheme: Vec<u8>,
    authority: Option<Vec<u8>>,
    path: Vec<u8>,
    query: Option<Vec<u8>>,
    /// The path up to its last slash, without dot segments. Of the segments that end behind the longest
    /// URL only that they do is kept, and how many they are: none of them is in a URL that is short
    /// enough.
    folder: Vec<u8>,
    /// How many such segments there are.
    beyond: usize,
    /// The longest URL.
    longest: usize,
}

/// A link is longer than a URL may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

impl Base {
    /// None where `url` has no scheme: nothing can be resolved against it.
    pub(super) fn new(url: &[u8], longest: usize) -> Option<Self> {
        let Parts { scheme, authority, path, query, .. } = Parts::split(url);
        let mut folder = Vec::new();
        let end = memrchr(b'/', path).map_or(0, |slash| slash + 1);
        uri::remove_dot_segments(&path[..end], &mut folder);
        let beyond = shorten(&mut folder, longest);
        Some(Self {
            scheme: scheme?.to_vec(),
            authority: authority.map(<[u8]>::to_vec),
            path: path.to_vec(),
            query: query.map(<[u8]>::to_vec),
            folder,
            beyond,
            longest,
        })
    }

    /// Appends what [`uri::resolve`] makes of a reference, unless that is too long.
    pub(super) fn resolve(&self, reference: &[u8], out: &mut Vec<u8>) -> Result<(), TooLong> {
        let reference = Parts::split(reference);
        if self.least(&reference) > self.longest {
            return Err(TooLong);
        }
        let path = if reference.path.is_empty() { &self.path } else { &self.folder };
        let base = Parts {
            scheme: Some(&self.scheme),
            authority: self.authority.as_deref(),
            path,
            query: self.query.as_deref(),
            fragment: None,
        };
        let start = out.len();
        normalize::resolve(&base, &reference, out);
        if out.len() - start > self.longest {
            out.truncate(start);
            return Err(TooLong);
        }
        Ok(())
    }

    /// Bytes of memory that it takes.
    pub(super) fn memory(&self) -> usize {
        let Self { scheme, authority, path, query, folder, .. } = self;
        let optional = [authority, query].into_iter().flatten();
        [scheme, path, folder].into_iter().chain(optional).map(Vec::capacity).sum()
    }

    /// How many bytes a reference takes over from the base at least.
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
            // Each `..` takes one segment away. One that is left is too long.
            path if self.beyond > 0 && parents(path) < self.beyond => self.longest + 1,
            _ => 0,
        };
        self.scheme.len() + authority + path
    }
}

/// How many `..` segments a path has.
fn parents(path: &[u8]) -> usize {
    path.split(|byte| *byte == b'/').filter(|segment| *segment == b"..").count()
}

/// Makes the segments of a folder short that end behind its first `longest` bytes, and says how many
/// they are. The first still ends there; the others are empty.
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
    fn a_link_is_what_the_whole_base_makes_of_it_or_too_long() {
        let references = words(&["..", ".", "/", "b", "?q", "#f", "s:"], 4);
        let bases = words(&["/", "a", "..", ".", "/long.name", "?", "#"], 3);
        for front in ["x:", "x://h", "long-scheme://long.host"] {
            for path in &bases {
                let base = format!("{front}{path}");
                let base = base.as_bytes();
                // One, and those around what the base has.
                let longest = [1, base.len() / 2, base.len() - 1, base.len(), base.len() + 1, 99];
                let cut = longest.map(|longest| (longest, Base::new(base, longest).unwrap()));
                for reference in references.iter().step_by(11) {
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
}
