//! The first steps of the exact path: they cut or add bytes at the start of a URL, and map offsets of errors
//! back to the text that the caller gave.

#[cfg(feature = "transcode")]
pub(in crate::normalize) mod charset;
#[cfg(feature = "transcode")]
pub(in crate::normalize) mod transcode;

use std::borrow::Cow;

use crate::bytes::{Reject, RejectReason};
use crate::normalize::parts::Parts;
use crate::normalize::ruleset::Ruleset;
use crate::profile::Access;
use crate::simd::UrlKind;

/// A URL of which some bytes at the start were cut or added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::normalize) struct Front<'a> {
    pub(in crate::normalize) text: Cow<'a, [u8]>,
    /// Bytes that were cut from the start of the caller's text.
    pub(in crate::normalize) cut: usize,
    /// Bytes that were put before the rest.
    pub(in crate::normalize) added: usize,
}

impl<'a> Front<'a> {
    /// A URL as it is.
    pub(in crate::normalize) fn whole(url: &'a [u8]) -> Self {
        Self { text: Cow::Borrowed(url), cut: 0, added: 0 }
    }

    /// The rest of a URL, of which so many bytes were cut.
    pub(in crate::normalize) fn after(cut: usize, text: Cow<'a, [u8]>) -> Self {
        Self { text, cut, added: 0 }
    }

    /// The scheme or so put before a URL.
    pub(in crate::normalize) fn with(added: &[&[u8]], url: &[u8]) -> Self {
        let mut text = added.concat();
        let added = text.len();
        text.extend_from_slice(url);
        Self { text: Cow::Owned(text), cut: 0, added }
    }

    /// Whether bytes were put before the URL.
    pub(in crate::normalize) fn has_more(&self) -> bool {
        self.added > 0
    }

    /// Maps an offset in the text to one in the caller's. Added bytes stand at its start.
    pub(in crate::normalize) fn place(&self, at: usize) -> usize {
        // What was put in front has no place in the caller's text, so the start of that stands for
        // it.
        at.saturating_sub(self.added) + self.cut
    }

    /// A rejection of the text as one of the caller's.
    pub(in crate::normalize) fn reject(&self, reject: Reject) -> Reject {
        reject.moved(|at| self.place(at))
    }
}

impl Ruleset {
    /// Trims 0x00-0x20 from both ends if the profile repairs URLs.
    pub(in crate::normalize) fn trim<'a>(&self, url: &'a [u8]) -> Result<Front<'a>, Reject> {
        if self.profile.access != Access::Retrieval {
            return Ok(Front::whole(url));
        }
        let Some(start) = url.iter().position(|byte| *byte > 0x20) else {
            return Err(Reject::new(RejectReason::Empty, 0));
        };
        let end = url.iter().rposition(|byte| *byte > 0x20).map_or(start, |last| last + 1);
        Ok(Front::after(start, Cow::Borrowed(&url[start..end])))
    }

    /// The scheme of references.
    pub(in crate::normalize) fn base_scheme(&self) -> Option<&[u8]> {
        Parts::split(self.base()?).scheme
    }

    /// Puts the assumed scheme before a URL that lacks one.
    pub(in crate::normalize) fn assume<'a>(&self, url: &'a [u8]) -> Front<'a> {
        match self.assumed_scheme() {
            Some(scheme) if lacks_scheme(&Parts::split(url), url) => {
                let delimiter: &[u8] = if url.starts_with(b"//") { b":" } else { b"://" };
                Front::with(&[scheme, delimiter], url)
            }
            _ => Front::whole(url),
        }
    }

    /// The same for a URL alone: no scheme is assumed for a request target.
    pub(in crate::normalize) fn assume_for<'a>(&self, kind: UrlKind, url: &'a [u8]) -> Front<'a> {
        match kind {
            UrlKind::Absolute => self.assume(url),
            UrlKind::Target => Front::whole(url),
        }
    }
}

/// Whether an assumed scheme acts on `url`.
fn lacks_scheme(parts: &Parts<'_>, url: &[u8]) -> bool {
    match parts.scheme {
        Some(text) => {
            // `example.com:80/x` and `localhost:80` have a scheme by the grammar, and a host and a
            // port by those who write them.
            parts.authority.is_none()
                && (text.contains(&b'.')
                    || text.eq_ignore_ascii_case(b"localhost")
                    || parts.ends_no_scheme())
        }
        None => url.starts_with(b"//") || !matches!(url.first(), None | Some(b'/' | b'?' | b'#')),
    }
}
