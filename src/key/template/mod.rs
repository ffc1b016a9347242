//! Templates: a canonical URL with its variable parts named, such as `https://h/user/{int}?page`.
//!
//! In: the bytes of a URL. Out: the template, appended to a buffer. One pass without state, so a
//! template depends on its URL alone. It says that two URLs look alike, not that they are the same.
//!
//! - `write`: takes a URL apart and applies the rules to each segment and each query name
//! - `types`, `date`: one test for each type; `byte_class` shows which can be left out
//! - `literal`: the names in braces
//! - `names`: query names, each once
//! - `by_masks`: the way of most URLs, by bit masks; `write` takes the rest
//! - `trace`: which rule found which part
//! - `routes`: path templates that people declare, which go before the types
//! - `slugs`: names segments that have many values, in all templates of a run

mod byte_class;
mod part_type;
mod date;
mod types;
mod extension;
mod literal;
mod trace;
mod names;
mod write;
mod by_masks;
mod routes;
mod slugs;

use std::ops::Range;

use crate::simd::{BLOCK, Backend, Kernel};

pub use part_type::PartType;
pub use routes::{BadRoute, Routes};
pub use slugs::Slugs;
pub use trace::{TemplateRule, TypedPart};

use by_masks::ByMasks;
use write::Writer;

/// Bytes after a URL with which no block and no copy ends at the URL's end.
const ROOM: usize = 2 * BLOCK;
/// URLs of up to this length are copied if fewer bytes than that follow.
const SHORT: usize = 256;

/// For longer URLs, little memory matters more than time.
const LONG: usize = 64 << 10;

/// Makes templates of URLs: each variable part of a URL is replaced by the name of its type.
///
/// ```
/// use uniqurl::{Normalizer, Profile, Template};
///
/// let crawl = Normalizer::new(Profile::Crawl);
/// let (mut scratch, mut template) = (Vec::new(), Vec::new());
/// for (url, expected) in [
///     ("http://h.example/user/17/edit?page=2&sort=up#top", "http://h.example/user/{int}/edit?page&sort"),
///     ("http://h.example/2024/02/29/item12345.html", "http://h.example/{date}/item{int}.html"),
///     ("http://h.example/v1/utf-8/covid-19.mp4", "http://h.example/v1/utf-8/covid-19.mp4"),
/// ] {
///     template.clear();
///     Template::of(&crawl.canonical(url.as_bytes(), &mut scratch)?, &mut template);
///     assert_eq!(template, expected.as_bytes());
/// }
/// # Ok::<(), uniqurl::Reject>(())
/// ```
///
/// # Rules
///
/// Scheme, authority, slashes and empty segments stay, and the fragment goes. A path without a leading
/// slash after a scheme (`mailto:`, `urn:`) is one segment.
///
/// 1. Segments that spell a year, a month and perhaps a day are one `{date}`: `/2024/2/29`, `/2024/02`.
/// 2. From the first `;` of a segment on, names stay and values go: `/a;v=1;w` is `/a;v;w`.
/// 3. A segment that is of a type as a whole becomes that type: `/17` is `/{int}`. One or two file
///    extensions at its end are set aside and stay: `/17.tar.gz` is `/{int}.tar.gz`.
/// 4. In any other segment, UUIDs and dates between separators are replaced, and each run of letters
///    and digits that is a date, a hexadecimal number, a token, or ends in five or more digits after
///    letters alone, or none: `/item12345-x` is `/item{int}-x`. Shorter numbers are part of a name.
/// 5. Query names stay, each once, in their order; values go. A name that is of a type as a whole
///    becomes that type: `?123` is `?{int}`. Empty names go, and a query without a name goes with its
///    `?`.
/// 6. A name in braces that [`PartType`] lists stands for itself, also if its braces are triplets. Any
///    other byte that is no literal of RFC 6570 becomes a triplet.
///
/// [`PartType`] says what each type matches.
///
/// # Laws
///
/// A template is a valid template of RFC 6570 and the template of itself. Equal URLs have equal
/// templates. The template of `n` bytes has at most `3 * n + 2` bytes. The time
/// is linear in the length. Only queries of more than 16 names allocate anything besides the buffer.
///
/// Do not fetch a template, and do not delete pages because they share one: a template merges what
/// merely looks alike.
#[derive(Debug, Clone, Copy)]
pub struct Template;

impl Template {
    /// The version of the types and rules. Templates of two versions may differ, so a store of templates
    /// names the version.
    pub const VERSION: u32 = 1;

    /// Appends the template of any bytes to `out`. Bytes that are a template give themselves.
    ///
    /// ```
    /// use uniqurl::Template;
    ///
    /// let (mut once, mut twice) = (Vec::new(), Vec::new());
    /// Template::of(b"/caf\xC3\xA9/{x}/%7Bint%7D/7#f", &mut once);
    /// assert_eq!(once, b"/caf%C3%A9/%7Bx%7D/{int}/{int}");
    /// Template::of(&once, &mut twice);
    /// assert_eq!(twice, once);
    /// ```
    ///
    /// Equal pages may be spelled in many ways: normalize URLs first.
    pub fn of(url: &[u8], out: &mut Vec<u8>) {
        Self::append_at(Kernel::best(), url, 0..url.len(), out);
    }
}

// What the other crates of this repository ask, and nobody else.
#[doc(hidden)]
impl Template {
    /// As [`Template::of`], for the URL `bytes[range]`. The bytes after the URL change nothing, but
    /// if there are some, this is faster.
    ///
    /// # Panics
    ///
    /// If the range lies outside `bytes`.
    pub fn append_at(kernel: Kernel, bytes: &[u8], range: Range<usize>, out: &mut Vec<u8>) {
        let url = &bytes[range.clone()];
        // Masks save time only where vectors make them, and for a long URL they would need room for
        // three times its length.
        if kernel.backend() == Backend::Scalar || url.len() > LONG {
            return Writer::new(out).url(url);
        }
        let from = &bytes[range.start..];
        if from.len() >= url.len() + ROOM || url.len() > SHORT || kernel.pads() {
            return kernel.run(ByMasks { from, length: url.len(), out });
        }
        let mut copy = [0; SHORT + ROOM];
        copy[..url.len()].copy_from_slice(url);
        kernel.run(ByMasks { from: &copy, length: url.len(), out });
    }

    /// Which rule found which type in which bytes of `url`, in the order of the URL.
    ///
    /// ```
    /// use uniqurl::{PartType, Template, internal::TemplateRule};
    ///
    /// let url = b"http://h.example/2024/02/item12345?7";
    /// let parts = Template::trace(url);
    /// let told: Vec<_> = parts.iter().map(|part| (&url[part.range.clone()], part.part_type, part.rule)).collect();
    /// assert_eq!(told, [
    ///     (&b"2024/02"[..], PartType::Date, TemplateRule::DateSegments),
    ///     (b"12345", PartType::Int, TemplateRule::Inside),
    ///     (b"7", PartType::Int, TemplateRule::QueryName),
    /// ]);
    /// ```
    ///
    /// This is meant for people: it allocates.
    pub fn trace(url: &[u8]) -> Vec<TypedPart> {
        let (mut out, mut parts) = (Vec::new(), Vec::new());
        Writer { out: &mut out, trace: |part| parts.push(part) }.url(url);
        parts
    }

    /// The spare capacity with which [`Template::append_at`] does not allocate, for a URL of `length` bytes with
    /// at most 16 query names.
    pub const fn room(length: usize) -> usize {
        by_masks::room_for(length).saturating_add(BLOCK)
    }

    /// The greatest length of the template of `length` bytes, for callers that reserve.
    pub const fn longest(length: usize) -> usize {
        write::longest(length)
    }
}
