//! Classifies a request target and builds its URL with the known host.
//!
//! The input is the target as the client sent it; the output is an [`Extracted`]. RFC 9112,
//! section 3.2: "There are four distinct formats for the request-target, depending on both the
//! method being requested and whether the request is to a proxy.
//! `request-target = origin-form / absolute-form / authority-form / asterisk-form`".
//! [`Targets`] holds the differences between profiles. The target is passed on unchanged, also
//! under profiles that trim, so positions refer to the logged text.

use std::ops::Range;

use memchr::{memchr, memchr3};

use super::escape::Escape;
use super::line::Line;
use super::origin::RecordOrigin;
use super::{BufferId, Context, Extracted};
use uniqurl::RejectReason;
use uniqurl::internal::{Span, Targets, is_authority_form};

/// The kinds of method that matter for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    /// The format has none.
    Unknown,
    /// `CONNECT`, whose target is never a resource.
    Connect,
    /// Any other.
    Other,
}

/// The bytes of a target, and where they are.
pub(super) enum TargetText {
    /// A range of the line.
    Line(Range<usize>),
    /// A range of [`Records::scratch`](super::Records::scratch).
    Side(Range<usize>),
}

impl TargetText {
    /// A range of the line with the log's escaping undone, in the scratch buffer if there was any.
    #[inline(always)]
    pub fn unescaped(
        line: Line<'_>,
        range: Range<usize>,
        escape: Escape,
        scratch: &mut Vec<u8>,
    ) -> Self {
        let raw = &line.bytes[range.clone()];
        if !escape.is_in(raw) {
            return TargetText::Line(range);
        }
        let start = scratch.len();
        escape.undo(raw, scratch);
        TargetText::Side(start..scratch.len())
    }
}

/// A target's form, in the words of RFC 9112.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Section 3.2.1: "a client MUST send only the absolute path and query components".
    Origin,
    /// Section 3.2.2: "a client MUST send the target URI in 'absolute-form'"; and the origin
    /// server "MUST ignore the received Host header field (if any)".
    Absolute,
    /// Section 3.2.3: "only the uri-host and port number of the tunnel destination".
    Authority,
    /// Section 3.2.4: "only used for a server-wide OPTIONS request".
    Asterisk,
    /// None of the four.
    Other,
}

impl Form {
    /// The form of a target, and the offset of its first byte.
    #[inline(always)]
    fn of(target: &[u8], method: Method, targets: Targets) -> (Self, usize) {
        // Whatever the target of CONNECT looks like, it is a host (RFC 9112 section 3.2.3).
        if method == Method::Connect {
            return (Form::Authority, 0);
        }
        let is_blank = |byte: &u8| targets.trims(*byte);
        let start = target.iter().take_while(|byte| is_blank(byte)).count();
        // Asked before all else, since nearly all targets begin with a slash.
        if target.get(start) == Some(&b'/') {
            return (Form::Origin, start);
        }
        match target.iter().rposition(|byte| !is_blank(byte)) {
            Some(last) => (Self::without_slash(&target[start..=last], method, targets), start),
            None => (Form::Other, 0),
        }
    }

    /// The form of a target that does not start with `/`.
    fn without_slash(target: &[u8], method: Method, targets: Targets) -> Self {
        if target == b"*" {
            return Form::Asterisk;
        }
        if method == Method::Unknown && is_authority_form(target) {
            return Form::Authority;
        }
        // Appendix B of RFC 3986: `^(([^:/?#]+):)?`.
        match (memchr(b':', target), memchr3(b'/', b'?', b'#', target)) {
            (None | Some(0), _) => Form::Other,
            (Some(colon), Some(other)) if other < colon => Form::Other,
            (Some(colon), _)
                if targets.ask_for_slashes() && !target[colon..].starts_with(b"://") =>
            {
                Form::Other
            }
            _ => Form::Absolute,
        }
    }
}

/// True if a target is in origin-form, whatever the method.
#[inline]
pub(super) fn is_path(target: &[u8], targets: Targets) -> bool {
    target.iter().find(|byte| !targets.trims(**byte)) == Some(&b'/')
}

/// Reads a target, with the origin that the log names, if any.
///
/// An origin-form target is joined to the origin, else to the base; otherwise it stays hostless.
/// The join only concatenates and never resolves: `//h/x` is a path, and cannot supply a host.
#[inline(always)]
pub(super) fn found(
    ctx: &Context,
    line: Line<'_>,
    text: TargetText,
    method: Method,
    origin: Option<RecordOrigin<'_>>,
    scratch: &mut Vec<u8>,
) -> Extracted {
    let (place, bytes, span) = match &text {
        TargetText::Line(range) => {
            (BufferId::Chunk, &line.bytes[range.clone()], Some(line.span(range.clone())))
        }
        TargetText::Side(range) => {
            (BufferId::Scratch, &scratch[range.clone()], Span::checked(range.clone()))
        }
    };
    let Some(span) = span.filter(|_| bytes.len() <= ctx.max_url) else {
        return Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32);
    };
    let (form, start) = Form::of(bytes, method, ctx.targets);
    match (form, ctx.targets) {
        (Form::Absolute, _) => Extracted::Url(place, span),
        (Form::Authority, _) => Extracted::Reject(RejectReason::AuthorityForm, start as u32),
        // The target is rejected later, so its host does not matter.
        (Form::Asterisk | Form::Other, Targets::Judged) => Extracted::Target(place, span),
        (Form::Asterisk, _) => Extracted::Reject(RejectReason::AsteriskForm, start as u32),
        (Form::Origin, _) | (Form::Other, Targets::Completed) => {
            match origin.or(ctx.base.as_ref().map(RecordOrigin::Base)) {
                Some(origin) => join(ctx, line, text, start, origin, scratch),
                None => Extracted::Target(place, span),
            }
        }
        // Nothing but the format says that it is a target. A host needs a slash after it.
        (Form::Other, Targets::Paths)
            if method == Method::Unknown && origin.is_none() && ctx.base.is_none() =>
        {
            Extracted::Target(place, span)
        }
        (Form::Other, _) => Extracted::Reject(RejectReason::Relative, start as u32),
    }
}

/// Writes the origin and then the target to the scratch buffer. The target's path starts at `path`,
/// with or without a slash.
fn join(
    ctx: &Context,
    line: Line<'_>,
    text: TargetText,
    path: usize,
    origin: RecordOrigin<'_>,
    scratch: &mut Vec<u8>,
) -> Extracted {
    let copy = |scratch: &mut Vec<u8>, part: Range<usize>| match &text {
        TargetText::Line(range) => {
            scratch
                .extend_from_slice(&line.bytes[range.start + part.start..range.start + part.end]);
        }
        TargetText::Side(range) => {
            scratch.extend_from_within(range.start + part.start..range.start + part.end);
        }
    };
    let (bytes, length) = match &text {
        TargetText::Line(range) => (&line.bytes[range.clone()], range.len()),
        TargetText::Side(range) => (&scratch[range.clone()], range.len()),
    };
    let lacks_slash = bytes.get(path) != Some(&b'/');
    let start = scratch.len();
    copy(scratch, 0..path);
    if origin.write(ctx, scratch).is_none() {
        // No half-written URL may stay in the buffer, whose length bounds a pass.
        scratch.truncate(start);
        return Extracted::Reject(RejectReason::LogSyntax, 0);
    }
    if lacks_slash {
        scratch.push(b'/');
    }
    let prefix = (scratch.len() - start - path) as u32;
    copy(scratch, path..length);
    match Span::checked(start..scratch.len()) {
        Some(url) => Extracted::Joined { url, prefix },
        None => {
            scratch.truncate(start);
            Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::show;
    use super::super::{Context, Format, Targets};
    use uniqurl::internal::Origin;

    fn base() -> Context {
        let base = Origin { scheme: b"https".to_vec(), authority: b"b:1".to_vec() };
        Context { base: Some(base), ..Context::default() }
    }

    fn target(ctx: &Context, line: &[u8]) -> String {
        show(&Format::Target, ctx, line)
    }

    #[test]
    fn request_form_is_recognized_by_the_target() {
        for (line, shown) in [
            (b"/a?b#c".as_slice(), "target /a?b#c"),
            (b"//h/x", "target //h/x"),
            (b"http://h/x", "url http://h/x"),
            (b"mailto:a", "url mailto:a"),
            (b"*", "asterisk-form 0"),
            (b"**", "relative 0"),
            (b"h:80", "authority-form 0"),
            (b"[::1]:80", "authority-form 0"),
            (b"h:", "url h:"),
            (b"a:b:80", "url a:b:80"),
            (b"u@h:80", "url u@h:80"),
            (b":80", "relative 0"),
            (b"foo", "relative 0"),
            (b"?q", "relative 0"),
            (b"a/b:80", "relative 0"),
            (b"\x01", "relative 0"),
        ] {
            assert_eq!(target(&Context::default(), line), shown, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn trimming_profiles_ignore_blanks_before_a_target() {
        assert_eq!(target(&Context::default(), b" \t/a "), "target  \t/a ");
        assert_eq!(target(&Context::default(), b"\0* "), "asterisk-form 1");
        assert_eq!(target(&Context::default(), b" h:80 "), "authority-form 1");
        assert_eq!(target(&Context::default(), b" a"), "relative 1");
    }

    #[test]
    fn verbatim_profiles_keep_blanks_before_a_target() {
        let ctx = Context { targets: Targets::Verbatim, ..base() };
        assert_eq!(target(&ctx, b"/a "), "joined 11 https://b:1/a ");
        for blank in [b" ".as_slice(), b"\0", b"\t "] {
            for (rest, shown) in [("/a", "relative 0"), ("*", "relative 0"), ("a", "relative 0")] {
                assert_eq!(target(&ctx, &[blank, rest.as_bytes()].concat()), shown);
            }
        }
        assert_eq!(target(&ctx, b" a:"), "url  a:");
        assert_eq!(target(&ctx, b"h:80 "), "url h:80 ");
    }

    #[test]
    fn path_profiles_read_only_scheme_and_two_slashes_as_a_url() {
        let ctx = Context { targets: Targets::Paths, ..Context::default() };
        for (line, shown) in [
            ("/a", "target /a"),
            ("http://h/x", "url http://h/x"),
            ("x://", "url x://"),
            (" x://", "url  x://"),
            ("mailto:a", "target mailto:a"),
            ("h:80/x", "target h:80/x"),
            ("http:/x", "target http:/x"),
            ("h:80", "authority-form 0"),
            ("*", "asterisk-form 0"),
            (" /x", "target  /x"),
        ] {
            assert_eq!(target(&ctx, line.as_bytes()), shown, "{line}");
        }
        let based = Context { targets: Targets::Paths, ..base() };
        assert_eq!(target(&based, b"a"), "relative 0");
    }

    #[test]
    fn target_without_a_slash_is_judged_or_completed_by_profile() {
        let judged = Context { targets: Targets::Judged, ..base() };
        let completed = Context { targets: Targets::Completed, ..base() };
        let hostless = Context { base: None, ..completed.clone() };
        for (line, shown) in [
            ("a/b", ["target a/b", "joined 12 https://b:1/a/b", "target a/b"]),
            ("mailto:a", ["target mailto:a", "joined 12 https://b:1/mailto:a", "target mailto:a"]),
            ("?q", ["target ?q", "joined 12 https://b:1/?q", "target ?q"]),
            ("/a", ["joined 11 https://b:1/a", "joined 11 https://b:1/a", "target /a"]),
            ("*", ["target *", "asterisk-form 0", "asterisk-form 0"]),
            ("x://h", ["url x://h"; 3]),
            ("h:80", ["authority-form 0"; 3]),
        ] {
            let got = [&judged, &completed, &hostless].map(|ctx| target(ctx, line.as_bytes()));
            assert_eq!(got, shown, "{line}");
        }
    }

    #[test]
    fn target_is_joined_to_the_base_and_not_resolved() {
        assert_eq!(target(&base(), b"/a"), "joined 11 https://b:1/a");
        assert_eq!(target(&base(), b"//h/../x"), "joined 11 https://b:1//h/../x");
        assert_eq!(target(&base(), b"http://h/"), "url http://h/");
        assert_eq!(target(&base(), b"foo"), "relative 0");
    }

    #[test]
    fn blanks_around_a_target_stay_outside_the_joined_url() {
        assert_eq!(target(&base(), b" /a "), "joined 11  https://b:1/a ");
    }

    #[test]
    fn length_limit_applies_to_the_target_alone() {
        let ctx = Context { max_url: 2, ..base() };
        assert_eq!(target(&ctx, b"/a"), "joined 11 https://b:1/a");
        assert_eq!(target(&ctx, b"/ab"), "too-long 2");
    }
}
