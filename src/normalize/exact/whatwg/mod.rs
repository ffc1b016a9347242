//! The URL parser and serializer of the URL Standard (<https://url.spec.whatwg.org/>, sections 4.4 and
//! 4.5), on bytes.
//!
//! The standard's parser goes through its states one code point at a time and collects a record; this
//! one finds the end of each component and writes the component at once. Every state that acts on more
//! than a delimiter is a method here, under the state's name. Each byte of 0x80 or above is encoded by
//! itself. For UTF-8 this equals the standard, and it keeps all other bytes distinct.
//!
//! The serialization is a fixed point: the standard encodes the last space of an opaque path before
//! `?` and `#`, and writes `/.` in front of a path that would read as a host.

mod encode;
mod parser;
pub(in crate::normalize) mod host;
mod path;

use std::borrow::Cow;

use memchr::memchr;

use self::encode::encode;
use self::parser::Parser;
use crate::bytes::{Reject, RejectReason};
use crate::normalize::exact::escape::push_lower;
use crate::normalize::exact::ports::number;
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
        // Only for the verdict on its host.
        let host = input.torn().map_or(Ok(()), |torn| read(&torn, &mut Vec::new()));
        host.and_then(|()| read(&input.text, out))
            .map_err(|reject| reject.moved(|at| input.place(at)))
    }
}

/// Appends the canonical form of a request target.
fn target(input: &Input<'_>, out: &mut Vec<u8>) -> Result<(), Reject> {
    let code = match &*input.text {
        text @ [b'/', ..] => {
            let path_at = out.len();
            let kind = Kind::Special(80);
            let mut parser = Parser { input: text, kind, has_authority: true, out };
            let end = parser.path(path_at, 1);
            parser.query_and_fragment(end);
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
    let name_at = out.len();
    let colon = memchr(b':', input).filter(|colon| is_scheme(&input[..*colon]));
    match (colon, &base) {
        (Some(colon), _) => push_lower(&input[..colon], out),
        (None, Some(base)) => out.extend_from_slice(base.scheme.unwrap_or_default()),
        (None, None) if input.is_empty() => return Err(Reject::new(RejectReason::Empty, 0)),
        (None, None) => return Err(Reject::new(RejectReason::Relative, 0)),
    }
    let kind = Kind::of(&out[name_at..]);
    // Unlike in RFC 3986, a reference may be relative although it has a scheme, if that is the
    // base's.
    let base = base.filter(|base| base.scheme == Some(&out[name_at..]));
    out.push(b':');
    let path_at = out.len();
    let start = colon.map_or(0, |colon| colon + 1);
    let mut parser = Parser { input, kind, has_authority: false, out };
    let end = match (kind, base) {
        (Kind::File, base) => parser.file(start, base)?,
        (Kind::Other, _) if colon.is_some() => match &input[start..] {
            [b'/', b'/', ..] => parser.slashes_and_authority(start)?,
            [b'/', ..] => parser.path(path_at, start + 1),
            _ => parser.opaque_path(start),
        },
        (_, None) => parser.slashes_and_authority(start)?,
        (_, Some(base)) => parser.relative(start, &base)?,
    };
    // Directly after a scheme, two slashes would be read as the start of a host.
    if !parser.has_authority && parser.out[path_at..].starts_with(b"//") {
        parser.out.splice(path_at..path_at, *b"/.");
    }
    parser.query_and_fragment(end);
    Ok(())
}

impl Parser<'_, '_> {
    /// "Relative state" and "relative slash state".
    fn relative(&mut self, start: usize, base: &Parts<'_>) -> Result<usize, Reject> {
        let is_opaque = base.authority.is_none() && !base.path.starts_with(b"/");
        if is_opaque && self.input.first() != Some(&b'#') {
            return Err(Reject::new(RejectReason::Relative, 0));
        }
        if self.has_slash(start) && self.has_slash(start + 1) {
            return self.slashes_and_authority(start);
        }
        if let Some(authority) = base.authority {
            self.push_slashes();
            self.out.extend_from_slice(authority);
        }
        Ok(match self.has_slash(start) {
            true => self.path(self.out.len(), start + 1),
            false => self.behind_base(start, base),
        })
    }

    /// Appends the part of the base after its authority, as far as the reference keeps it, and the reference.
    fn behind_base(&mut self, start: usize, base: &Parts<'_>) -> usize {
        let path_at = self.out.len();
        // The guard is not part of the path.
        let path = match (base.authority, base.path) {
            (None, [b'/', b'.', path @ ..]) if path.starts_with(b"//") => path,
            (_, path) => path,
        };
        let next = self.input.get(start);
        if !matches!(next, None | Some(b'?' | b'#')) {
            // In `file:` a drive letter replaces the whole path of the base.
            if self.kind != Kind::File || !path::starts_with_drive_letter(&self.input[start..]) {
                self.out.extend_from_slice(path);
            }
            self.shorten(path_at);
            return self.path(path_at, start);
        }
        self.out.extend_from_slice(path);
        if let (None | Some(b'#'), Some(query)) = (next, base.query) {
            self.out.push(b'?');
            self.out.extend_from_slice(query);
        }
        start
    }

    fn push_slashes(&mut self) {
        self.out.extend_from_slice(b"//");
        self.has_authority = true;
    }

    /// "Special authority slashes state" and "special authority ignore slashes state": any number of
    /// slashes, even none, counts as two. Any other scheme has two.
    fn slashes_and_authority(&mut self, start: usize) -> Result<usize, Reject> {
        let slashes = match self.kind {
            Kind::Other => 2,
            _ => self.input[start..].iter().take_while(|byte| self.is_slash(**byte)).count(),
        };
        self.authority(start + slashes)
    }

    /// "Authority state", "host state", "port state" and "path start state".
    fn authority(&mut self, start: usize) -> Result<usize, Reject> {
        let end = self.find_end(start);
        self.push_slashes();
        let AuthorityParts { userinfo, host_port } = AuthorityParts::split(&self.input[start..end]);
        if let Some(userinfo) = userinfo {
            credentials(userinfo, self.out);
        }
        let host_at = end - host_port.len();
        let host_end = host_at + host_length(host_port);
        if host_end > host_at {
            host::parse(&self.input[host_at..host_end], self.kind, host_at, self.out)?;
        } else if self.kind.is_special() || userinfo.is_some() || host_end < end {
            // No scheme allows credentials or a port without a host, and special ones need a host
            // anyway.
            return Err(Reject::new(RejectReason::EmptyHost, host_at));
        }
        if host_end < end {
            port(&self.input[host_end + 1..end], self.kind, host_end + 1, self.out)?;
        }
        Ok(self.path_start(end))
    }

    /// "Path start state".
    fn path_start(&mut self, start: usize) -> usize {
        let slash = self.has_slash(start);
        match slash || self.kind.is_special() {
            true => self.path(self.out.len(), start + usize::from(slash)),
            false => start,
        }
    }

    /// "File state", "file slash state" and "file host state".
    fn file(&mut self, start: usize, base: Option<Parts<'_>>) -> Result<usize, Reject> {
        self.push_slashes();
        let host_at = self.out.len();
        if self.has_slash(start) && self.has_slash(start + 1) {
            let from = start + 2;
            let end = self.find_end(from);
            let host = &self.input[from..end];
            // In `file://C:/` the drive stands where a host would, and belongs to the path.
            if path::is_drive_letter(host) {
                return Ok(self.path(host_at, from));
            }
            if !host.is_empty() {
                host::parse(host, self.kind, from, self.out)?;
            }
            if &self.out[host_at..] == b"localhost" {
                self.out.truncate(host_at);
            }
            return Ok(self.path_start(end));
        }
        let Some(base) = base else {
            return Ok(self.path(host_at, start + usize::from(self.has_slash(start))));
        };
        self.out.extend_from_slice(base.authority.unwrap_or_default());
        if !self.has_slash(start) {
            return Ok(self.behind_base(start, &base));
        }
        let path_at = self.out.len();
        // A path from the root stays on the drive of the base.
        if !path::starts_with_drive_letter(&self.input[start + 1..]) {
            let drive = path::first_drive_letter(base.path);
            self.out.extend_from_slice(drive.unwrap_or_default());
        }
        Ok(self.path(path_at, start + 1))
    }

    /// "Opaque path state": a space stays, except before `?` or `#`, because it would be trimmed if the query
    /// or fragment were removed.
    fn opaque_path(&mut self, start: usize) -> usize {
        let length = memchr::memchr2(b'?', b'#', &self.input[start..]);
        let end = length.map_or(self.input.len(), |n| start + n);
        encode(&self.input[start..end], Place::Opaque, self.out);
        if length.is_some() && self.input[..end].ends_with(b" ") {
            self.out.pop();
            self.out.extend_from_slice(b"%20");
        }
        end
    }

    /// "Query state" and "fragment state", from where the path ends.
    fn query_and_fragment(&mut self, start: usize) {
        let Parts { query, fragment, .. } = Parts::split_target(&self.input[start..]);
        let query_place = match self.kind.is_special() {
            true => Place::SpecialQuery,
            false => Place::Query,
        };
        for (delimiter, part, place) in
            [(b'?', query, query_place), (b'#', fragment, Place::Fragment)]
        {
            if let Some(part) = part {
                self.out.push(delimiter);
                encode(part, place, self.out);
            }
        }
    }
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
    let Ok(value) = u16::try_from(number(port)) else {
        return Err(Reject::new(RejectReason::PortRange, start));
    };
    if !port.is_empty() && kind != Kind::Special(value) {
        out.push(b':');
        out.extend_from_slice(value.to_string().as_bytes());
    }
    Ok(())
}
