//! Reads `ws:N`: the N-th field of a line, where spaces and tabs separate fields.
//!
//! The first byte of the field, after those that the profile trims, decides its kind. A `/` makes
//! it a request target. Anything else is read as a URL, so `--assume-scheme` and the base apply as
//! they do for a list. `*`, `host:digits` and the `-` of an empty log field are neither.

use std::borrow::Cow;
use std::num::NonZeroUsize;
use std::ops::Range;

use memchr::memchr2;

use super::layout::Layout;
use super::line::Line;
use super::target::{self, Method, TargetText};
use super::{BufferId, Context, Extracted};
use uniqurl::RejectReason;

/// The layout, with the number of the field.
#[derive(Debug)]
pub(super) struct Ws(NonZeroUsize);

impl Ws {
    /// Parses the number of a field.
    pub fn parse(number: &str) -> Result<Self, &'static str> {
        // `parse` alone would take a plus sign.
        let digits = number.bytes().all(|byte| byte.is_ascii_digit());
        let field = number.parse().ok().filter(|_| digits);
        let error = "it is followed by the number of a field, counted from 1, as in ws:3";
        field.map(Self).ok_or(error)
    }
}

impl Layout for Ws {
    fn name(&self) -> Cow<'_, str> {
        format!("ws:{}", self.0).into()
    }

    #[inline(always)]
    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        let Some(range) = nth(line.bytes, self.0.get()) else {
            return Some(Extracted::Reject(RejectReason::LogSyntax, 0));
        };
        let field = &line.bytes[range.clone()];
        if field == b"-" {
            return Some(Extracted::Reject(RejectReason::LogSyntax, 0));
        }
        let is_path = target::is_path(field, ctx.targets);
        let text = TargetText::Line(range.clone());
        Some(match target::found(ctx, line, text, Method::Unknown, None, scratch) {
            Extracted::Reject(RejectReason::Relative, _)
            | Extracted::Target(..)
            | Extracted::Joined { .. }
                if !is_path =>
            {
                Extracted::Url(BufferId::Chunk, line.span(range))
            }
            found => found,
        })
    }

    fn names_place(&self) -> bool {
        true
    }
}

/// The range of the `n`-th field of a line, counted from 1.
#[inline]
fn nth(line: &[u8], n: usize) -> Option<Range<usize>> {
    let mut at = 0;
    for field in 1.. {
        at += line[at..].iter().position(|byte| !matches!(byte, b' ' | b'\t'))?;
        let end = memchr2(b' ', b'\t', &line[at..]).map_or(line.len(), |length| at + length);
        if field == n {
            return Some(at..end);
        }
        at = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::show;
    use super::super::{Context, Format, Targets};
    use uniqurl::internal::Origin;

    fn ws(n: &str, line: &str) -> String {
        show(&Format::parse(&format!("ws:{n}")).unwrap(), &Context::default(), line.as_bytes())
    }

    #[test]
    fn runs_of_spaces_and_tabs_separate_fields() {
        for line in ["a http://h/ c", " \ta\t \thttp://h/\t", "a http://h/"] {
            assert_eq!(ws("2", line), "url http://h/");
        }
    }

    #[test]
    fn missing_field_or_dash_is_rejected() {
        for line in ["a", "a ", "a -", "a - b"] {
            assert_eq!(ws("2", line), "log-syntax 0");
        }
    }

    #[test]
    fn a_field_is_a_target_or_a_url() {
        assert_eq!(ws("1", "/a b"), "target /a");
        assert_eq!(ws("1", "//h/a b"), "target //h/a");
        assert_eq!(ws("1", "example.com/a b"), "url example.com/a");
        assert_eq!(ws("1", "?q b"), "url ?q");
        assert_eq!(ws("1", "* b"), "asterisk-form 0");
        assert_eq!(ws("1", "h:80 b"), "authority-form 0");
    }

    #[test]
    fn field_without_a_slash_is_a_url_under_every_profile() {
        let base = Origin { scheme: b"http".to_vec(), authority: b"b".to_vec() };
        let format = Format::parse("ws:1").unwrap();
        for targets in [Targets::Verbatim, Targets::Paths, Targets::Judged, Targets::Completed] {
            let ctx = Context { base: Some(base.clone()), targets, ..Context::default() };
            for url in ["example.com/a", "h:80/x", "?q", "a"] {
                assert_eq!(
                    show(&format, &ctx, format!("{url} 1").as_bytes()),
                    format!("url {url}")
                );
            }
            assert_eq!(show(&format, &ctx, b"/a 1"), "joined 8 http://b/a");
            assert_eq!(show(&format, &ctx, b"h:80 1"), "authority-form 0");
        }
    }

    #[test]
    fn byte_before_the_slash_makes_a_url_unless_targets_are_trimmed() {
        let format = Format::parse("ws:1").unwrap();
        for (targets, shown) in [
            (Targets::Trimmed, "target \u{1}/a"),
            (Targets::Verbatim, "url \u{1}/a"),
            (Targets::Paths, "url \u{1}/a"),
            (Targets::Judged, "url \u{1}/a"),
            (Targets::Completed, "url \u{1}/a"),
        ] {
            let ctx = Context { targets, ..Context::default() };
            assert_eq!(show(&format, &ctx, b"\x01/a 1"), shown, "{targets:?}");
        }
    }

    #[test]
    fn base_applies_to_targets_only() {
        let base = Origin { scheme: b"http".to_vec(), authority: b"b".to_vec() };
        let ctx = Context { base: Some(base), ..Context::default() };
        let format = Format::parse("ws:1").unwrap();
        assert_eq!(show(&format, &ctx, b"/a 1"), "joined 8 http://b/a");
        assert_eq!(show(&format, &ctx, b"a 1"), "url a");
    }
}
