//! Observed redirects, which replace one URL by another.
//!
//! RFC 3986 section 6.2.4 has no rule for this: only "the observed results of accessing the resources"
//! show that two URLs are equivalent. The input is a list of pairs; the output maps each URL on the left to
//! the end of its chain.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use super::normalizer::Normalizer;
use super::outcome::Outcome;
use super::trace::NoTrace;
use crate::bytes::Reject;
use crate::simd::UrlKind;

/// A list of redirects: two URLs per line, with a tab between them.
///
/// ```
/// use uniqurl::{Normalizer, Profile, Redirects};
///
/// let redirects = Redirects::parse(b"http://h/old\thttp://h/new\nhttp://h/new\thttp://H:80/\n")?;
/// let crawl = Normalizer::new(&Profile::CRAWL).with_redirects(&redirects)?;
/// let mut out = Vec::new();
/// let _ = crawl.normalize(b"http://h/old#top", &mut out);
/// assert_eq!(out, b"http://h/");
/// # Ok::<(), uniqurl::RedirectError>(())
/// ```
///
/// A program can also collect pairs; an error then names the number of the pair as its line:
///
/// ```
/// use uniqurl::{Normalizer, Profile, Redirects};
///
/// let redirects: Redirects = [("http://h/old", "http://h/new"), ("http://h/1", "x")].into_iter().collect();
/// let error = Normalizer::new(&Profile::CRAWL).with_redirects(&redirects).unwrap_err();
/// assert_eq!(error.line, 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Redirects {
    pairs: Vec<Pair>,
}

/// One redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    /// Counted from 1.
    line: usize,
    from: Vec<u8>,
    to: Vec<u8>,
}

/// The first error of a list of redirects, with its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedirectError {
    /// Counted from 1.
    pub line: usize,
    /// The kind of error.
    pub kind: RedirectErrorKind,
}

/// An error in a line of a list of redirects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedirectErrorKind {
    /// The line is not two URLs with one tab between them.
    Columns,
    /// The profile rejects the URL on the left.
    From(Reject),
    /// The profile rejects the URL on the right.
    To(Reject),
    /// The line with this number has another target for the same URL.
    TwoTargets(usize),
}

impl Redirects {
    /// Reads a list: two URLs per line, from and to, with one tab between them. Skips empty lines, a carriage
    /// return before a line feed, and a byte-order mark at the start of the list.
    ///
    /// # Errors
    ///
    /// A line has another form ([`RedirectErrorKind::Columns`]).
    pub fn parse(text: &[u8]) -> Result<Self, RedirectError> {
        let mut pairs = Vec::new();
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        for (i, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() {
                continue;
            }
            let mut columns = line.split(|byte| *byte == b'\t');
            let (Some(from), Some(to), None) = (columns.next(), columns.next(), columns.next())
            else {
                return Err(RedirectError { line: i + 1, kind: RedirectErrorKind::Columns });
            };
            pairs.push(Pair { line: i + 1, from: from.to_vec(), to: to.to_vec() });
        }
        Ok(Self { pairs })
    }
}

/// From and to.
impl<F: AsRef<[u8]>, T: AsRef<[u8]>> FromIterator<(F, T)> for Redirects {
    fn from_iter<I: IntoIterator<Item = (F, T)>>(pairs: I) -> Self {
        let pair = |(i, (from, to)): (usize, (F, T))| {
            let (from, to) = (from.as_ref().to_vec(), to.as_ref().to_vec());
            Pair { line: i + 1, from, to }
        };
        Self { pairs: pairs.into_iter().enumerate().map(pair).collect() }
    }
}

/// Maps each canonical URL that is redirected to the end of its chain.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends(HashMap<Box<[u8]>, Arc<[u8]>>);

impl Ends {
    /// The number of URLs that are replaced.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Length of the longest replacement.
    pub(super) fn longest(&self) -> usize {
        self.0.values().map(|end| end.len()).max().unwrap_or(0)
    }

    /// All URLs in the order of their bytes, each with its replacement.
    pub(super) fn sorted(&self) -> Vec<(&[u8], &[u8])> {
        let mut all: Vec<_> = self.0.iter().map(|(from, to)| (&**from, &**to)).collect();
        all.sort_unstable();
        all
    }

    /// The replacement of `canonical`.
    #[inline]
    pub(super) fn of(&self, canonical: &[u8]) -> Option<&[u8]> {
        self.0.get(canonical).map(|end| &**end)
    }

    /// Replaces the canonical URL in `out[at..]`, if it is redirected.
    pub(super) fn follow(&self, at: usize, out: &mut Vec<u8>) {
        if let Some(end) = self.of(&out[at..]) {
            out.truncate(at);
            out.extend_from_slice(end);
        }
    }
}

impl Normalizer {
    /// Replaces each canonical URL on the left of `redirects` by the end of its chain. A
    /// cycle, and a chain into one, ends at the cycle's smallest member in the order of bytes.
    ///
    /// The list is normalized with the current options, so call this last, after setting a base, switches
    /// and all other options.
    ///
    /// # Errors
    ///
    /// The profile rejects a URL of the list, or two lines have the same URL on the left and different
    /// ones on the right.
    pub fn with_redirects(mut self, redirects: &Redirects) -> Result<Self, RedirectError> {
        self.redirects = None;
        let mut chains = Chains::default();
        for pair in &redirects.pairs {
            let fail = |kind| RedirectError { line: pair.line, kind };
            let canonical = |url: &[u8]| {
                let mut out = Vec::new();
                match self.normalize(url, &mut out) {
                    Outcome::Canonical => Ok(out),
                    Outcome::Reject(reject) => Err(reject),
                }
            };
            let from = canonical(&pair.from).map_err(|r| fail(RedirectErrorKind::From(r)))?;
            let to = canonical(&pair.to).map_err(|r| fail(RedirectErrorKind::To(r)))?;
            chains
                .add(from, to, pair.line)
                .map_err(|line| fail(RedirectErrorKind::TwoTargets(line)))?;
        }
        self.redirects = Some(Arc::new(chains.ends()));
        Ok(self)
    }

    /// The replacement of `url`, if it is redirected.
    pub(super) fn redirected(&self, kind: UrlKind, url: &[u8]) -> Option<Vec<u8>> {
        let ends = self.redirects.as_ref()?;
        let mut canonical = Vec::new();
        let all = 0..url.len();
        self.rewrite_unredirected(url, all, kind, &mut canonical, &mut NoTrace).ok()?;
        ends.of(&canonical).map(<[u8]>::to_vec)
    }
}

/// A graph in which at most one edge leaves each node.
#[derive(Default)]
struct Chains {
    nodes: HashMap<Box<[u8]>, usize>,
    urls: Vec<Arc<[u8]>>,
    /// The target of a node's edge, and the line that it comes from.
    next: Vec<Option<(usize, usize)>>,
}

impl Chains {
    /// Adds an edge, or returns the line that has another edge for the same node.
    fn add(&mut self, from: Vec<u8>, to: Vec<u8>, line: usize) -> Result<(), usize> {
        let (from, to) = (self.node(from), self.node(to));
        match self.next[from] {
            Some((other, line)) if other != to => Err(line),
            Some(_) => Ok(()),
            None => {
                self.next[from] = Some((to, line));
                Ok(())
            }
        }
    }

    fn node(&mut self, url: Vec<u8>) -> usize {
        match self.nodes.entry(url.into()) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
                self.urls.push(vacant.key().as_ref().into());
                self.next.push(None);
                *vacant.insert(self.urls.len() - 1)
            }
        }
    }

    /// The end of each node that is not its own. Each edge is followed at most twice: once to find the
    /// end of a chain, and once around a cycle.
    fn ends(self) -> Ends {
        let mut ends: Vec<Option<usize>> = vec![None; self.urls.len()];
        let mut seen_from = vec![usize::MAX; self.urls.len()];
        for start in 0..self.urls.len() {
            let mut chain = Vec::new();
            let mut at = start;
            let end = loop {
                if let Some(end) = ends[at] {
                    break end;
                }
                if seen_from[at] == start {
                    let position = chain.iter().position(|node| *node == at).unwrap_or_default();
                    let smallest = chain[position..].iter().min_by_key(|node| &self.urls[**node]);
                    break smallest.copied().unwrap_or(at);
                }
                seen_from[at] = start;
                chain.push(at);
                match self.next[at] {
                    Some((next, _)) => at = next,
                    None => break at,
                }
            };
            for node in chain {
                ends[node] = Some(end);
            }
        }
        let moved = self.nodes.into_iter().filter_map(|(url, node)| {
            let end = ends[node].filter(|end| *end != node)?;
            Some((url, Arc::clone(&self.urls[end])))
        });
        Ends(moved.collect())
    }
}

impl fmt::Display for RedirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: ", self.line)?;
        match self.kind {
            RedirectErrorKind::Columns => f.write_str("not two URLs with one tab between them"),
            RedirectErrorKind::From(reject) => write!(f, "the first URL is rejected: {reject}"),
            RedirectErrorKind::To(reject) => write!(f, "the second URL is rejected: {reject}"),
            RedirectErrorKind::TwoTargets(line) => {
                write!(f, "the first URL has another target in line {line}")
            }
        }
    }
}

impl std::error::Error for RedirectError {}
