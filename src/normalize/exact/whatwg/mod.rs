//! The URL parser and serializer of the URL Standard (<https://url.spec.whatwg.org/>, sections 4.4 and
//! 4.5), on bytes.
//!
//! The standard's parser goes through its states one code point at a time and collects a record; this
//! one finds the end of each component and writes the component at once. Every state that acts on more
//! than a delimiter is a function here, under the state's name. Each byte of 0x80 or above is encoded by
//! itself. For UTF-8 this equals the standard, and it keeps all other bytes distinct.
//!
//! The serialization is a fixed point: the standard encodes the last space of an opaque path before
//! `?` and `#`, and writes `/.` in front of a path that would read as a host.

mod encode;
pub(in crate::normalize) mod host;
mod path;

use std::borrow::Cow;

use memchr::memchr;

use self::encode::encode;
use crate::bytes::{Reject, RejectReason};
use crate::normalize::exact::escape::push_lower;
use crate::normalize::explain::Rule;
use crate::normalize::parts::{AuthorityParts, Parts, is_scheme};
use crate::normalize::ruleset::Ruleset;
use crate::normalize::trace::Trace;
use crate::profile::whatwg::{Kind, Place};
use crate::simd::UrlKind;

impl Ruleset {
    /// Appends the canonical form of a URL of a list under `whatwg`, or of a request target whose host is
    /// not known: the form that it has after any host of the web.
    pub(in crate::normalize) fn rewrite_as_browser<T: Trace>(
        &self,
        url: &[u8],
        kind: UrlKind,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let input = Input::of(url);
        trace.whole(Rule::Trim, input.trimmed);
        trace.whole(Rule::LineBreaks, &input.text);
        let at = out.len();
        match kind {
            UrlKind::Absolute => self.read_as_browser(&input, out, trace)?,
            UrlKind::Target => target(&input, out)?,
        }
        trace.whole(Rule::UrlStandard, &out[at..]);
        Ok(())
    }

    fn read_as_browser<T: Trace>(
        &self,
        input: &Input<'_>,
        out: &mut Vec<u8>,
        trace: &mut T,
    ) -> Result<(), Reject> {
        let assumed = self.assume(&input.text);
        if assumed.has_more() {
            trace.whole(Rule::AssumeScheme, &assumed.text);
        }
        let read = |text: &[u8], out: &mut Vec<u8>| {
            let front = self.assume(text);
            let base = self.base().filter(|_| !front.has_more()).map(Parts::split);
            parse(&front.text, base, out).map_err(|reject| front.reject(reject))
        };
        let host = input.torn().map_or(Ok(()), |torn| read(&torn, &mut Vec::new()));
        host.and_then(|()| read(&input.text, out))
            .map_err(|reject| reject.moved(|at| input.place(at)))
    }
}

/// Appends the canonical form of a request target.
fn target(input: &Input<'_>, out: &mut Vec<u8>) -> Result<(), Reject> {
    let code = match &*input.text {
        text @ [b'/', ..] => {
            let kind = Kind::Special(80);
            let end = path::append(text, 1, kind, out.len(), out);
            query_and_fragment(text, end, kind, out);
            return Ok(());
        }
        [] => RejectReason::Empty,
        b"*" => RejectReason::AsteriskForm,
        _ => RejectReason::Relative,
    };
    Err(Reject::new(code, input.place(0)))
}

/// The input of the parser: a URL without C0 controls and spaces around it, and without any tab or
/// line break.
struct Input<'a> {
    url: &'a [u8],
    /// Bytes trimmed from the front.
    skipped: usize,
    trimmed: &'a [u8],
    text: Cow<'a, [u8]>,
}

impl<'a> Input<'a> {
    fn of(url: &'a [u8]) -> Self {
        let skipped = url.iter().position(|byte| *byte > 0x20).unwrap_or(0);
        let end = url.iter().rposition(|byte| *byte > 0x20).map_or(skipped, |last| last + 1);
        let trimmed = &url[skipped..end];
        let text = match memchr::memchr3(b'\t', b'\n', b'\r', trimmed) {
            None => Cow::Borrowed(trimmed),
            Some(_) => Cow::Owned(trimmed.iter().copied().filter(is_text).collect()),
        };
        Self { url, skipped, trimmed, text }
    }

    /// If a tab or line break was removed: the text, with 0xFF for each byte that was not UTF-8 in the
    /// original URL. `E2 09 82 AC` was not text there, so it makes no host, although `E2 82 AC` is text.
    fn torn(&self) -> Option<Vec<u8>> {
        let Cow::Owned(text) = &self.text else { return None };
        let given = &self.url[self.skipped..];
        if std::str::from_utf8(given).is_ok() {
            return None;
        }
        let mut torn = Vec::with_capacity(text.len());
        for chunk in given.utf8_chunks() {
            torn.extend(chunk.valid().bytes().filter(is_text));
            torn.resize(torn.len() + chunk.invalid().len(), 0xFF);
        }
        torn.truncate(text.len());
        Some(torn)
    }

    /// The offset in the URL of byte `at` of the text.
    fn place(&self, at: usize) -> usize {
        match self.text {
            Cow::Borrowed(_) => self.skipped + at,
            Cow::Owned(_) => {
                let rest = self.url[self.skipped..].iter();
                let mut kept = rest.enumerate().filter(|(_, byte)| is_text(byte));
                kept.nth(at).map_or(self.url.len(), |(i, _)| self.skipped + i)
            }
        }
    }
}

/// Neither tab nor line break.
fn is_text(byte: &u8) -> bool {
    !matches!(byte, b'\t' | b'\n' | b'\r')
}

/// Appends the serialization of a URL, or of a reference against `base`, which is serialized itself.
fn parse(input: &[u8], base: Option<Parts<'_>>, out: &mut Vec<u8>) -> Result<(), Reject> {
    let Some(length) = scheme(input) else { return no_scheme(input, base, out) };
    let name_at = out.len();
    push_lower(&input[..length], out);
    let kind = Kind::of(&out[name_at..]);
    let same = base.filter(|base| base.scheme == Some(&out[name_at..]));
    out.push(b':');
    let start = length + 1;
    match (kind, &input[start..]) {
        (Kind::File, _) => file(input, start, same, out),
        (Kind::Special(_), rest) => match same {
            Some(base) if !rest.starts_with(b"//") => relative(input, start, &base, kind, out),
            _ => special_authority(input, start, kind, out),
        },
        (Kind::Other, [b'/', b'/', ..]) => authority(input, start + 2, kind, out),
        (Kind::Other, [b'/', ..]) => {
            let path_at = out.len();
            let end = path::append(input, start + 1, kind, path_at, out);
            guard(path_at, out);
            query_and_fragment(input, end, kind, out);
            Ok(())
        }
        (Kind::Other, _) => {
            opaque_path(input, start, out);
            Ok(())
        }
    }
}

/// The length of the scheme before the first colon, if there is one.
fn scheme(input: &[u8]) -> Option<usize> {
    let colon = memchr(b':', input)?;
    is_scheme(&input[..colon]).then_some(colon)
}

/// "No scheme state".
fn no_scheme(input: &[u8], base: Option<Parts<'_>>, out: &mut Vec<u8>) -> Result<(), Reject> {
    let Some(base) = base else {
        let code = if input.is_empty() { RejectReason::Empty } else { RejectReason::Relative };
        return Err(Reject::new(code, 0));
    };
    let name = base.scheme.unwrap_or_default();
    let is_opaque = base.authority.is_none() && !base.path.starts_with(b"/");
    if is_opaque && input.first() != Some(&b'#') {
        return Err(Reject::new(RejectReason::Relative, 0));
    }
    out.extend_from_slice(name);
    out.push(b':');
    match Kind::of(name) {
        Kind::File => file(input, 0, Some(base), out),
        kind => relative(input, 0, &base, kind, out),
    }
}

/// "Relative state" and "relative slash state".
fn relative(
    input: &[u8],
    start: usize,
    base: &Parts<'_>,
    kind: Kind,
    out: &mut Vec<u8>,
) -> Result<(), Reject> {
    let slash = |at: usize| input.get(at).is_some_and(|byte| path::is_slash(*byte, kind));
    if !slash(start) {
        push_authority(base.authority, out);
        behind_base(input, start, base, kind, out);
        return Ok(());
    }
    if slash(start + 1) {
        return match kind {
            Kind::Other => authority(input, start + 2, kind, out),
            _ => special_authority(input, start, kind, out),
        };
    }
    push_authority(base.authority, out);
    let path_at = out.len();
    let end = path::append(input, start + 1, kind, path_at, out);
    if base.authority.is_none() {
        guard(path_at, out);
    }
    query_and_fragment(input, end, kind, out);
    Ok(())
}

/// Appends the part of the base after its authority, as far as the reference keeps it, and the reference.
fn behind_base(input: &[u8], start: usize, base: &Parts<'_>, kind: Kind, out: &mut Vec<u8>) {
    let path_at = out.len();
    // The guard is not part of the path.
    let path = match (base.authority, base.path) {
        (None, [b'/', b'.', path @ ..]) if path.starts_with(b"//") => path,
        (_, path) => path,
    };
    let keeps_path = matches!(input.get(start), None | Some(b'?' | b'#'));
    let drive = kind == Kind::File && path::starts_with_drive_letter(&input[start..]);
    if keeps_path || !drive {
        out.extend_from_slice(path);
    }
    let mut end = start;
    if !keeps_path {
        path::shorten(kind, path_at, out);
        end = path::append(input, start, kind, path_at, out);
    }
    if base.authority.is_none() {
        guard(path_at, out);
    }
    if let (None | Some(b'#'), Some(query), true) = (input.get(start), base.query, keeps_path) {
        out.push(b'?');
        out.extend_from_slice(query);
    }
    query_and_fragment(input, end, kind, out);
}

/// "Special authority slashes state" and "special authority ignore slashes state": any number of
/// slashes, even none, counts as two.
fn special_authority(
    input: &[u8],
    start: usize,
    kind: Kind,
    out: &mut Vec<u8>,
) -> Result<(), Reject> {
    let slashes = input[start..].iter().take_while(|byte| path::is_slash(**byte, kind)).count();
    authority(input, start + slashes, kind, out)
}

/// "Authority state", "host state", "port state" and all later states.
fn authority(input: &[u8], start: usize, kind: Kind, out: &mut Vec<u8>) -> Result<(), Reject> {
    let ends = |byte: &u8| matches!(byte, b'?' | b'#') || path::is_slash(*byte, kind);
    let end = input[start..].iter().position(ends).map_or(input.len(), |n| start + n);
    out.extend_from_slice(b"//");
    let AuthorityParts { userinfo, host_port } = AuthorityParts::split(&input[start..end]);
    if let Some(userinfo) = userinfo {
        credentials(userinfo, out);
    }
    let host_at = end - host_port.len();
    let host_end = host_at + host_length(host_port);
    if host_end > host_at {
        host::parse(&input[host_at..host_end], kind, host_at, out)?;
    } else if kind.is_special() || userinfo.is_some() || host_end < end {
        return Err(Reject::new(RejectReason::EmptyHost, host_at));
    }
    if host_end < end {
        port(&input[host_end + 1..end], kind, host_end + 1, out)?;
    }
    path_start(input, end, kind, out);
    Ok(())
}

/// Appends the user name and the password, if there are any, and the `@` after them.
fn credentials(credentials: &[u8], out: &mut Vec<u8>) {
    let at = out.len();
    let colon = memchr(b':', credentials).unwrap_or(credentials.len());
    encode(&credentials[..colon], Place::Userinfo, out);
    if let Some(password @ [_, ..]) = credentials.get(colon + 1..) {
        out.push(b':');
        encode(password, Place::Userinfo, out);
    }
    if out.len() > at {
        out.push(b'@');
    }
}

/// Up to the first colon that is not in brackets.
fn host_length(host_port: &[u8]) -> usize {
    let mut in_brackets = false;
    let ends = |byte: &u8| {
        match byte {
            b'[' => in_brackets = true,
            b']' => in_brackets = false,
            _ => {}
        }
        *byte == b':' && !in_brackets
    };
    host_port.iter().position(ends).unwrap_or(host_port.len())
}

/// Appends a port that is not the scheme's default.
fn port(port: &[u8], kind: Kind, start: usize, out: &mut Vec<u8>) -> Result<(), Reject> {
    if let Some(bad) = port.iter().position(|byte| !byte.is_ascii_digit()) {
        return Err(Reject::new(RejectReason::Port, start + bad));
    }
    let add = |value: u32, digit: &u8| (value * 10 + u32::from(digit - b'0')).min(65536);
    let value = port.iter().fold(0, add);
    let Ok(value) = u16::try_from(value) else {
        return Err(Reject::new(RejectReason::PortRange, start));
    };
    if !port.is_empty() && kind != Kind::Special(value) {
        out.push(b':');
        out.extend_from_slice(value.to_string().as_bytes());
    }
    Ok(())
}

/// "Path start state".
fn path_start(input: &[u8], start: usize, kind: Kind, out: &mut Vec<u8>) {
    let slash = input.get(start).is_some_and(|byte| path::is_slash(*byte, kind));
    let mut end = start;
    if slash || kind.is_special() {
        end = path::append(input, start + usize::from(slash), kind, out.len(), out);
    }
    query_and_fragment(input, end, kind, out);
}

/// "File state", "file slash state" and "file host state".
fn file(
    input: &[u8],
    start: usize,
    base: Option<Parts<'_>>,
    out: &mut Vec<u8>,
) -> Result<(), Reject> {
    let kind = Kind::File;
    let slash = |at: usize| input.get(at).is_some_and(|byte| path::is_slash(*byte, kind));
    let base_host = base.map_or(&b""[..], |base| base.authority.unwrap_or_default());
    out.extend_from_slice(b"//");
    if slash(start) && slash(start + 1) {
        let from = start + 2;
        let ends = |byte: &u8| matches!(byte, b'/' | b'\\' | b'?' | b'#');
        let end = input[from..].iter().position(ends).map_or(input.len(), |n| from + n);
        if path::is_drive_letter(&input[from..end]) {
            let end = path::append(input, from, kind, out.len(), out);
            query_and_fragment(input, end, kind, out);
            return Ok(());
        }
        let host_at = out.len();
        if from < end {
            host::parse(&input[from..end], kind, from, out)?;
        }
        if &out[host_at..] == b"localhost" {
            out.truncate(host_at);
        }
        path_start(input, end, kind, out);
    } else if slash(start) {
        out.extend_from_slice(base_host);
        let path_at = out.len();
        if !path::starts_with_drive_letter(&input[start + 1..]) {
            let drive = base.and_then(|base| path::first_drive_letter(base.path));
            out.extend_from_slice(drive.unwrap_or_default());
        }
        let end = path::append(input, start + 1, kind, path_at, out);
        query_and_fragment(input, end, kind, out);
    } else if let Some(base) = base {
        out.extend_from_slice(base_host);
        behind_base(input, start, &base, kind, out);
    } else {
        let end = path::append(input, start, kind, out.len(), out);
        query_and_fragment(input, end, kind, out);
    }
    Ok(())
}

/// "Opaque path state": a space stays, except before `?` or `#`, because it would be trimmed if the query
/// or fragment were removed.
fn opaque_path(input: &[u8], start: usize, out: &mut Vec<u8>) {
    let length = memchr::memchr2(b'?', b'#', &input[start..]);
    let end = length.map_or(input.len(), |n| start + n);
    encode(&input[start..end], Place::Opaque, out);
    if length.is_some() && input[..end].ends_with(b" ") {
        out.pop();
        out.extend_from_slice(b"%20");
    }
    query_and_fragment(input, end, Kind::Other, out);
}

/// "Query state" and "fragment state", from where the path ends.
fn query_and_fragment(input: &[u8], start: usize, kind: Kind, out: &mut Vec<u8>) {
    let rest = &input[start..];
    let hash = memchr(b'#', rest);
    let (query, fragment) = rest.split_at(hash.unwrap_or(rest.len()));
    if let Some(query) = query.strip_prefix(b"?") {
        out.push(b'?');
        let place = if kind.is_special() { Place::SpecialQuery } else { Place::Query };
        encode(query, place, out);
    }
    if let Some(fragment) = fragment.strip_prefix(b"#") {
        out.push(b'#');
        encode(fragment, Place::Fragment, out);
    }
}

fn push_authority(authority: Option<&[u8]>, out: &mut Vec<u8>) {
    if let Some(authority) = authority {
        out.extend_from_slice(b"//");
        out.extend_from_slice(authority);
    }
}

/// Directly after a scheme, two slashes would be read as the start of a host.
fn guard(path_at: usize, out: &mut Vec<u8>) {
    if out[path_at..].starts_with(b"//") {
        out.splice(path_at..path_at, *b"/.");
    }
}
