//! Filters records by the method, status and media type in a log or an index.
//!
//! The input is method, status and media type of a record; the output is whether to keep it. A
//! filter has no effect on a format without the field it asks for. A record that lacks a field its
//! format has is dropped.

use std::fmt;

use super::fields::is_zero;
use super::part::RecordPart;

/// A filter for records. The default keeps all of them.
///
/// ```
/// use uniqurl_formats::record::Filter;
///
/// let mut filter = Filter::default();
/// filter.status("2xx,304")?;
/// filter.mime("text/*")?;
/// assert!(!filter.is_empty());
/// # Ok::<(), uniqurl_formats::record::BadFilter>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    statuses: Vec<[u8; 3]>,
    methods: Vec<Vec<u8>>,
    mimes: Vec<Vec<u8>>,
}

/// An invalid item in a filter list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFilter {
    item: String,
    why: &'static str,
}

impl fmt::Display for BadFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.item.escape_debug(), self.why)
    }
}

impl std::error::Error for BadFilter {}

impl Filter {
    /// Adds statuses to keep: `200`, or a class such as `2xx`, between commas.
    ///
    /// # Errors
    ///
    /// An item is neither of these; items before it were added.
    pub fn status(&mut self, list: &str) -> Result<(), BadFilter> {
        for item in list.split(',') {
            let pattern: Option<[u8; 3]> = item.to_ascii_lowercase().into_bytes().try_into().ok();
            let pattern = pattern.filter(|[class, rest @ ..]| {
                class.is_ascii_digit()
                    && (rest == b"xx" || rest.iter().all(|digit| digit.is_ascii_digit()))
            });
            let why = "is not a status, like 200, or a class of them, like 2xx";
            self.statuses.push(pattern.ok_or(BadFilter { item: item.to_owned(), why })?);
        }
        Ok(())
    }

    /// Adds methods to keep, between commas. They are case-sensitive, as RFC 9110 has them.
    ///
    /// # Errors
    ///
    /// As for [`Filter::status`].
    pub fn method(&mut self, list: &str) -> Result<(), BadFilter> {
        for item in list.split(',') {
            if item.is_empty() || !item.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(BadFilter { item: item.to_owned(), why: "is no method" });
            }
            self.methods.push(item.as_bytes().to_vec());
        }
        Ok(())
    }

    /// Adds media types to keep: `text/html`, or `text/*`, between commas. Case and parameters are ignored.
    ///
    /// # Errors
    ///
    /// As for [`Filter::status`].
    pub fn mime(&mut self, list: &str) -> Result<(), BadFilter> {
        for item in list.split(',') {
            let parts = item.split_once('/').filter(|(kind, sub)| {
                // RFC 9110 section 12.5.1 has `*/*` and `text/*` as ranges, but no `*/html`.
                !kind.is_empty() && !sub.is_empty() && (*kind != "*" || *sub == "*")
            });
            if parts.is_none() {
                let why = "is not a media type, like text/html, or text/* for all of a kind";
                return Err(BadFilter { item: item.to_owned(), why });
            }
            self.mimes.push(item.to_ascii_lowercase().into_bytes());
        }
        Ok(())
    }

    /// True if it keeps all records.
    pub fn is_empty(&self) -> bool {
        self.statuses.is_empty() && self.methods.is_empty() && self.mimes.is_empty()
    }

    /// Which of `status`, `method` and `mime` are in this filter but have no effect on records with
    /// these facts.
    ///
    /// ```
    /// use uniqurl_formats::record::{Filter, Format};
    ///
    /// let mut filter = Filter::default();
    /// filter.status("200")?;
    /// filter.mime("text/html")?;
    /// let combined = Format::parse("combined")?;
    /// assert!(filter.lacking(combined.facts()).eq(["mime"]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lacking(&self, facts: super::PartSet) -> impl Iterator<Item = &'static str> {
        let asked = [
            ("status", !self.statuses.is_empty() && !facts.has(RecordPart::Status)),
            ("method", !self.methods.is_empty() && !facts.has_method()),
            ("mime", !self.mimes.is_empty() && !facts.has(RecordPart::Mime)),
        ];
        asked.into_iter().filter(|(_, lacks)| *lacks).map(|(name, _)| name)
    }

    /// True if a record is kept. None means that its format has no such field; empty, that the
    /// record has no value.
    pub(super) fn keeps(
        &self,
        method: Option<&[u8]>,
        status: Option<&[u8]>,
        mime: Option<&[u8]>,
    ) -> bool {
        let keeps = |fact: Option<&[u8]>, list: &[Vec<u8>], like: fn(&[u8], &[u8]) -> bool| {
            fact.is_none_or(|fact| list.is_empty() || list.iter().any(|item| like(fact, item)))
        };
        let of_status = |fact: &[u8]| {
            self.statuses.iter().any(|pattern| match fact {
                // A table may hold statuses as decimals, `200.0`.
                [class, a, b, fraction @ ..] if is_zero(fraction) => {
                    [*class, *a, *b] == *pattern || [*class, b'x', b'x'] == *pattern
                }
                _ => false,
            })
        };
        keeps(method, &self.methods, |fact, item| fact == item)
            && keeps(mime, &self.mimes, is_like)
            && (self.statuses.is_empty() || status.is_none_or(of_status))
    }
}

/// True if a media type equals the requested one, or belongs to its kind.
fn is_like(mime: &[u8], asked: &[u8]) -> bool {
    // `text/html; charset=utf-8` is of the type `text/html`.
    let end = mime.iter().position(|byte| *byte == b';').unwrap_or(mime.len());
    let mime = mime[..end].trim_ascii();
    match asked {
        b"*/*" => !mime.is_empty(),
        [kind @ .., b'*'] => mime.get(..kind.len()).is_some_and(|m| m.eq_ignore_ascii_case(kind)),
        _ => mime.eq_ignore_ascii_case(asked),
    }
}

#[cfg(test)]
mod tests {
    use super::Filter;

    #[test]
    fn status_filter_matches_number_or_class() {
        let mut filter = Filter::default();
        filter.status("2XX,304").unwrap();
        for (status, kept) in [
            ("200", true),
            ("304", true),
            ("301", false),
            ("2", false),
            ("200.00", true),
            ("200.1", false),
            ("2000", false),
            ("200 ", false),
        ] {
            assert_eq!(filter.keeps(None, Some(status.as_bytes()), None), kept, "{status}");
        }
        assert!(!filter.keeps(None, Some(b""), None), "a record without a status");
        assert!(filter.keeps(None, None, None), "a format without statuses");
        for bad in ["", "2", "20x", "x00", "200,", "2000"] {
            assert!(Filter::default().status(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn mime_filter_matches_name_or_kind() {
        let mut filter = Filter::default();
        filter.mime("text/*,Application/PDF").unwrap();
        for (mime, kept) in [
            ("text/html", true),
            ("TEXT/plain; charset=utf-8", true),
            ("application/pdf ;version=1", true),
            ("application/pdf", true),
            ("application/pdfx", false),
            ("textile/x", false),
            ("", false),
        ] {
            assert_eq!(filter.keeps(None, None, Some(mime.as_bytes())), kept, "{mime}");
        }
        let mut any = Filter::default();
        any.mime("*/*").unwrap();
        assert!(any.keeps(None, None, Some(b"text/html")));
        assert!(!any.keeps(None, None, Some(b"")), "a record without a media type");
        for bad in ["", "text", "text/", "*/html", "text/html,"] {
            assert!(Filter::default().mime(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn record_must_pass_every_filter() {
        let mut filter = Filter::default();
        filter.method("GET,HEAD").unwrap();
        filter.status("200").unwrap();
        assert!(filter.keeps(Some(b"HEAD"), Some(b"200"), None));
        assert!(!filter.keeps(Some(b"head"), Some(b"200"), None));
        assert!(!filter.keeps(Some(b"GET"), Some(b"404"), None));
        assert!(filter.method("GE T").is_err());
    }
}
