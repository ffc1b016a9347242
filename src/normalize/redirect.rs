//! Observed redirects, which replace one URL by another.
//!
//! RFC 3986 section 6.2.4 has no rule for this: only "the observed results of accessing the resources"
//! show that two URLs are equivalent. The input is a list of pairs; the output maps each URL on the left to
//! the end of its chain.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::bytes::Reject;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::redirect_graph::{Chains, Refused};
use crate::normalize::trace::NoTrace;
use crate::simd::UrlKind;

/// A list of redirects: two URLs per line, with a tab between them.
///
/// ```
/// use uniqurl::{Normalizer, Profile, Redirects};
///
/// let redirects = Redirects::parse(b"http://h/old\thttp://h/new\nhttp://h/new\thttp://H:80/\n")?;
/// let crawl = Normalizer::new(Profile::Crawl).with_redirects(&redirects)?;
/// let mut out = Vec::new();
/// let _ = crawl.append(b"http://h/old#top", &mut out);
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
/// let error = Normalizer::new(Profile::Crawl).with_redirects(&redirects).unwrap_err();
/// assert_eq!(error.line, 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Redirects {
    /// Both URLs of each pair, one after the other.
    text: Vec<u8>,
    pairs: Vec<Pair>,
    /// Most bytes of memory that the list and the normalizer made with it may take together.
    most: Option<usize>,
}

/// One redirect: a part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pair {
    /// Counted from 1.
    line: usize,
    start: usize,
    from: u32,
    to: u32,
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
    /// The list up to this line takes more memory than [`Redirects::within`] allows: so many bytes.
    Memory(usize),
}

impl Redirects {
    /// Reads a list: two URLs per line, from and to, with one tab between them. Skips empty lines, a carriage
    /// return before a line feed, and a byte-order mark at the start of the list.
    ///
    /// # Errors
    ///
    /// A line has another form ([`RedirectErrorKind::Columns`]).
    pub fn parse(text: &[u8]) -> Result<Self, RedirectError> {
        let mut list = Self::default();
        // Spreadsheets write one, and it would make a bad scheme of the first URL.
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
            // Growing step by step would take twice the memory.
            if list.pairs.is_empty() {
                list.text.reserve_exact(text.len());
                list.pairs.reserve_exact(memchr::memchr_iter(b'\n', text).count() + 1);
            }
            list.push(i + 1, from, to)?;
        }
        Ok(list)
    }

    /// Refuses the list if it takes more than so many bytes of memory, together with the normalizer that is
    /// made with it.
    #[must_use]
    pub fn within(mut self, bytes: usize) -> Self {
        self.most = Some(bytes);
        self
    }

    fn push(&mut self, line: usize, from: &[u8], to: &[u8]) -> Result<(), RedirectError> {
        let length = |url: &[u8]| {
            let kind = RedirectErrorKind::Memory(url.len());
            u32::try_from(url.len()).map_err(|_| RedirectError { line, kind })
        };
        let start = self.text.len();
        self.pairs.push(Pair { line, start, from: length(from)?, to: length(to)? });
        self.text.extend_from_slice(from);
        self.text.extend_from_slice(to);
        Ok(())
    }

    fn memory(&self) -> usize {
        self.text.capacity() + self.pairs.capacity() * size_of::<Pair>()
    }
}

impl Pair {
    fn from(&self) -> Range<usize> {
        self.start..self.start + self.from as usize
    }

    fn to(&self) -> Range<usize> {
        let start = self.from().end;
        start..start + self.to as usize
    }
}

/// From and to.
impl<F: AsRef<[u8]>, T: AsRef<[u8]>> FromIterator<(F, T)> for Redirects {
    fn from_iter<I: IntoIterator<Item = (F, T)>>(pairs: I) -> Self {
        let mut list = Self::default();
        for (i, (from, to)) in pairs.into_iter().enumerate() {
            // A URL of 4 GiB is too long for any profile, and an empty one is rejected too.
            if list.push(i + 1, from.as_ref(), to.as_ref()).is_err() {
                list.pairs.push(Pair { line: i + 1, start: list.text.len(), from: 0, to: 0 });
            }
        }
        list
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
        // The redirects before must not act on the new ones.
        self.redirects = None;
        let mut chains = Chains::default();
        let list = redirects.memory();
        let (mut from, mut to) = (Vec::new(), Vec::new());
        for pair in &redirects.pairs {
            let fail = |kind| RedirectError { line: pair.line, kind };
            let canonical = |url: Range<usize>, out: &mut Vec<u8>| {
                out.clear();
                match self.append(&redirects.text[url], out) {
                    Ok(()) => Ok(()),
                    Err(reject) => Err(reject),
                }
            };
            canonical(pair.from(), &mut from).map_err(|r| fail(RedirectErrorKind::From(r)))?;
            canonical(pair.to(), &mut to).map_err(|r| fail(RedirectErrorKind::To(r)))?;
            let added = chains.add(&from, &to, pair.line);
            let memory = list + chains.memory();
            match added {
                Err(Refused::TwoTargets(line)) => {
                    return Err(fail(RedirectErrorKind::TwoTargets(line)));
                }
                Err(Refused::Full) => return Err(fail(RedirectErrorKind::Memory(memory))),
                Ok(()) if redirects.most.is_some_and(|most| memory > most) => {
                    return Err(fail(RedirectErrorKind::Memory(memory)));
                }
                Ok(()) => {}
            }
        }
        self.redirects = Some(Arc::new(chains.ends()));
        Ok(self)
    }

    /// The replacement of `url`, if it is redirected.
    pub(in crate::normalize) fn redirected(&self, kind: UrlKind, url: &[u8]) -> Option<Vec<u8>> {
        let ends = self.redirects.as_ref()?;
        let mut canonical = Vec::new();
        let all = 0..url.len();
        self.rewrite_unredirected(url, all, kind, &mut canonical, &mut NoTrace).ok()?;
        ends.of(&canonical).map(<[u8]>::to_vec)
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
            RedirectErrorKind::Memory(bytes) => {
                write!(f, "the list up to here takes {bytes} bytes of memory")
            }
        }
    }
}

impl std::error::Error for RedirectError {}
