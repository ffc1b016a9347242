//! A second normalizer for the ladder of RFC 3986 section 6.2, and for `ia`: slow, obvious, and
//! sharing no line with `src/`.
//!
//! It is written from the text of the RFC, one function a step, so that a reader can compare each
//! function with the section it quotes. It takes a URL and returns its canonical bytes, or a code
//! and the offset in the URL as given. Where the library and this oracle differ, one of them
//! misreads the text.

mod archive;
mod authority;
pub mod dots;
pub mod grammar;
mod ipv6;
pub mod parts;
pub mod percent;
pub mod policy;
pub mod system;

use authority::Authority;
use parts::{Parts, Piece};

/// The canonical bytes, or the code and the start of the first trouble.
pub type Answer = Result<Vec<u8>, Trouble>;

/// A code, and the offset in the URL as given.
pub type Trouble = (&'static str, usize);

/// The rung up to which rules apply. `string` has no rules and is answered before this matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rung {
    Syntax,
    Scheme,
    Crawl,
}

/// One profile, with its base and assumed scheme.
#[derive(Debug, Clone)]
pub struct Oracle {
    pub profile: &'static str,
    pub base: Option<Vec<u8>>,
    pub assume_scheme: Option<Vec<u8>>,
    /// Whether the fragment stays; under `crawl` it goes.
    pub keep_fragment: bool,
    /// Whether credentials stay if the scheme names a host; under `crawl` they go.
    pub keep_userinfo: bool,
}

/// The components after normalization, ready for section 5.3.
struct Normal {
    scheme: Vec<u8>,
    authority: Option<Authority>,
    path: Vec<u8>,
    query: Option<Vec<u8>>,
    fragment: Option<Vec<u8>>,
}

impl Oracle {
    pub fn new(profile: &'static str) -> Oracle {
        let keep = !["crawl", "ia"].contains(&profile);
        Oracle {
            profile,
            base: None,
            assume_scheme: None,
            keep_fragment: keep,
            keep_userinfo: keep,
        }
    }

    pub fn with_base(mut self, base: &[u8]) -> Oracle {
        self.base = Some(base.to_vec());
        self
    }

    pub fn with_assumed_scheme(mut self, scheme: &[u8]) -> Oracle {
        self.assume_scheme = Some(scheme.to_vec());
        self
    }

    fn rung(&self) -> Rung {
        match self.profile {
            "syntax" => Rung::Syntax,
            "scheme" => Rung::Scheme,
            "crawl" | "ia" => Rung::Crawl,
            other => panic!("the oracle has no profile {other:?}"),
        }
    }

    /// One URL of a list.
    pub fn normalize(&self, url: &[u8]) -> Answer {
        if self.profile == "string" {
            return string(url);
        }
        if self.profile == "ia" {
            return archive::normalize(self, url);
        }
        let input = self.trimmed(url)?;
        let (mut parts, base) = match self.read(&input)? {
            (parts, _) if parts.scheme.is_some() => return self.absolute(&parts),
            read => read,
        };
        let base = base.expect("a reference has a base");
        self.check_reference(&parts, &base)?;
        // "its unreserved triplets decoded before that, so that `%2e%2e` resolves as `..` does".
        parts.path.bytes = self.path(&parts.path)?;
        self.absolute(&parts::resolve(&parts, &base))
    }

    /// The components of a URL, or those of a reference and of its base in normal form.
    fn read(&self, input: &Piece) -> Result<(Parts, Option<Parts>), Trouble> {
        let parts = match &self.assume_scheme {
            Some(scheme) if needs_a_scheme(&input.bytes) => assumed(scheme, input),
            _ => parts::split(input),
        };
        let Some(base) = &self.base else {
            return match parts.scheme {
                Some(_) => Ok((parts, None)),
                None => Err(("relative", input.at)),
            };
        };
        let parts = match first_segment_before_colon(&parts) {
            Some(before) if checked_scheme(&before).is_err() || before.bytes.is_empty() => {
                // "outside the grammar: rejected (`relative`) by `syntax` and `scheme`, a path
                // under `crawl` and above".
                if self.rung() != Rung::Crawl {
                    return Err(("relative", input.at));
                }
                parts::split_from_path(None, None, input)
            }
            _ => parts,
        };
        // Section 5.2.1: "Normalization of the base URI ... is optional." It is done here, so that
        // equal bases give equal URLs.
        let mut alone = Oracle { base: None, assume_scheme: None, ..self.clone() };
        if self.profile == "ia" {
            // "a base is taken as it was given, with its final slash".
            alone.profile = "crawl";
        }
        let base = parts::split(&Piece::whole(&alone.normalize(base)?));
        Ok((parts, Some(base)))
    }

    /// A request target in origin-form with an unknown host: "a path and a query, also when it
    /// begins with `//`". The `/.` guard does not act, and `#` starts a fragment.
    pub fn normalize_target(&self, target: &[u8]) -> Answer {
        let input = self.trimmed_target(target)?;
        if input.bytes == b"*" {
            return Err(("asterisk-form", input.at));
        }
        if !input.bytes.starts_with(b"/") {
            return Err(("relative", input.at));
        }
        if self.profile == "string" {
            return string(target);
        }
        let parts = parts::split_from_path(None, None, &input);
        if self.profile == "ia" {
            return Ok(archive::path_and_query(&parts));
        }
        let path = dots::remove_dot_segments(&self.path(&parts.path)?);
        let query = self.optional(&parts.query, grammar::is_query_byte)?;
        let fragment = self.fragment(&parts.fragment)?;
        Ok(recompose(b"", None, &path, &query, &fragment))
    }

    /// The request target of a log that names neither method nor host, in whichever of the four
    /// forms of RFC 9112 section 3.2 it is.
    pub fn read_target(&self, target: &[u8]) -> Answer {
        let input = self.trimmed_target(target)?;
        if is_authority_form(&input.bytes) {
            return Err(("authority-form", input.at));
        }
        if input.bytes.starts_with(b"/") {
            return match &self.base {
                Some(base) if parts::split(&Piece::whole(base)).authority.is_some() => {
                    self.join(&input, base)
                }
                // A base without an authority names no host, so none is known.
                _ => self.normalize_target(target),
            };
        }
        if parts::split(&input).scheme.is_some() {
            // It has its own scheme, so no assumed scheme applies. A colon that ends no scheme is that of a
            // reference, in a target as in a list.
            return Oracle { assume_scheme: None, ..self.clone() }.normalize(target);
        }
        self.normalize_target(target)
    }

    /// A base gives a target its scheme and authority and nothing else.
    fn join(&self, target: &Piece, base: &[u8]) -> Answer {
        let base = parts::split(&self.trimmed_target(base)?);
        let joined = parts::split_from_path(base.scheme, base.authority, target);
        if self.profile == "string" {
            // The offset counts in the target, so the base is put in front afterwards.
            string(&target.bytes).map(|_| parts::recompose_raw(&joined))
        } else {
            self.absolute(&joined)
        }
    }

    /// Under `string` nothing is trimmed either, but the forms of a target still differ.
    fn trimmed_target(&self, target: &[u8]) -> Result<Piece, Trouble> {
        if self.profile == "string" { Ok(Piece::whole(target)) } else { self.trimmed(target) }
    }

    /// "bytes 0x00-0x20 (not 0x7F) around the URL are trimmed, and nothing left is `empty`": `crawl` only.
    fn trimmed(&self, url: &[u8]) -> Result<Piece, Trouble> {
        if self.rung() != Rung::Crawl {
            return Ok(Piece::whole(url));
        }
        let Some(start) = url.iter().position(|&byte| byte > 0x20) else {
            return Err(("empty", 0));
        };
        let end = url.iter().rposition(|&byte| byte > 0x20).unwrap() + 1;
        Ok(Piece { bytes: url[start..end].to_vec(), at: start })
    }

    /// A URL with a scheme: check and rewrite component by component, from left to right, so that
    /// the first trouble is the one reported.
    fn absolute(&self, parts: &Parts) -> Answer {
        let given = parts.scheme.as_ref().expect("an absolute URL has a scheme");
        let mut url = Normal {
            scheme: checked_scheme(given)?,
            authority: None,
            path: Vec::new(),
            query: None,
            fragment: None,
        };
        if self.rung() >= Rung::Scheme && needs_host(&url.scheme) && parts.authority.is_none() {
            return Err(("no-authority", given.at + given.bytes.len() + 1));
        }
        if let Some(authority) = &parts.authority {
            url.authority = Some(authority::normalize(
                authority,
                self.rung(),
                &url.scheme,
                self.keep_userinfo,
            )?);
        }
        url.path = self.path(&parts.path)?;
        if self.rung() >= Rung::Scheme
            && url.scheme == b"file"
            && url.authority.is_none()
            && url.path.starts_with(b"/")
        {
            // RFC 8089 appendix B: "file:/path" has no authority and means the same.
            url.authority = Some(Authority { userinfo: None, host: Vec::new(), port: None });
        }
        url.query = self.optional(&parts.query, grammar::is_query_byte)?;
        url.fragment = self.fragment(&parts.fragment)?;
        if url.path.starts_with(b"/") {
            url.path = dots::remove_dot_segments(&url.path);
        }
        if self.rung() >= Rung::Scheme {
            scheme_based(&mut url);
        }
        if url.authority.is_none() && url.path.starts_with(b"//") {
            // Otherwise the path would be read back as an authority.
            url.path.splice(0..0, *b"/.");
        }
        Ok(recompose(&url.scheme, url.authority.as_ref(), &url.path, &url.query, &url.fragment))
    }

    /// A reference's own components are checked before they are joined with the base's, so that the
    /// offset counts in the reference.
    fn check_reference(&self, reference: &Parts, base: &Parts) -> Result<(), Trouble> {
        let scheme = checked_scheme(base.scheme.as_ref().expect("a base is absolute"))?;
        if let Some(authority) = &reference.authority {
            authority::normalize(authority, self.rung(), &scheme, self.keep_userinfo)?;
        }
        self.path(&reference.path)?;
        self.optional(&reference.query, grammar::is_query_byte)?;
        self.fragment(&reference.fragment)?;
        Ok(())
    }

    fn path(&self, path: &Piece) -> Answer {
        self.component(path, grammar::is_path_byte)
    }

    fn fragment(&self, fragment: &Option<Piece>) -> Result<Option<Vec<u8>>, Trouble> {
        if !self.keep_fragment {
            return Ok(None);
        }
        self.optional(fragment, grammar::is_query_byte)
    }

    fn optional(
        &self,
        piece: &Option<Piece>,
        allowed: fn(u8) -> bool,
    ) -> Result<Option<Vec<u8>>, Trouble> {
        match piece {
            None => Ok(None),
            Some(piece) => self.component(piece, allowed).map(Some),
        }
    }

    /// Outside the grammar `syntax` and `scheme` reject and `crawl` repairs; then the triplets.
    fn component(&self, piece: &Piece, allowed: fn(u8) -> bool) -> Answer {
        if self.rung() == Rung::Crawl {
            return Ok(percent::normalize_triplets(&percent::repair(&piece.bytes, allowed)));
        }
        grammar::check(piece, allowed)?;
        Ok(percent::normalize_triplets(&piece.bytes))
    }
}

/// Section 6.2.1, simple string comparison: the bytes unchanged. A line end is rejected, since it
/// would make two lines of one URL.
fn string(url: &[u8]) -> Answer {
    match url.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
        Some(at) => Err(("newline", at)),
        None => Ok(url.to_vec()),
    }
}

/// `scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )` (section 3.1), in lower case (section 6.2.2.1).
fn checked_scheme(scheme: &Piece) -> Answer {
    for (index, &byte) in scheme.bytes.iter().enumerate() {
        let fits = if index == 0 {
            byte.is_ascii_alphabetic()
        } else {
            byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)
        };
        if !fits {
            return Err(("scheme", scheme.at + index));
        }
    }
    Ok(scheme.bytes.to_ascii_lowercase())
}

/// The schemes whose URLs name a host: "http, https, ws, wss, ftp". The name is in lower case.
fn needs_host(scheme: &[u8]) -> bool {
    let names: [&[u8]; 5] = [b"http", b"https", b"ws", b"wss", b"ftp"];
    names.contains(&scheme)
}

/// Section 6.2.3: scheme-based normalization. Ports are rewritten with the authority.
fn scheme_based(url: &mut Normal) {
    match (&mut url.authority, url.scheme.as_slice()) {
        (Some(_), scheme) if needs_host(scheme) && url.path.is_empty() => url.path = b"/".to_vec(),
        (Some(authority), b"file") if authority.is_bare(b"localhost") => authority.host.clear(),
        (None, b"urn") => url.path = lower_case_namespace(&url.path),
        (None, b"mailto") => url.path = lower_case_mail_domains(&url.path),
        _ => {}
    }
}

/// "schemes that define a subcomponent of path to contain an Internet hostname, such as the
/// `mailto` URI scheme, cause that subcomponent to be case-insensitive" (section 6.2.3).
fn lower_case_mail_domains(path: &[u8]) -> Vec<u8> {
    let mut addresses = Vec::new();
    for address in path.split(|&byte| byte == b',') {
        let mut address = address.to_vec();
        if let Some(at) = address.iter().rposition(|&byte| byte == b'@') {
            let domain = percent::lower_case_outside_triplets(&address[at..]);
            address.truncate(at);
            address.extend(domain);
        }
        addresses.push(address);
    }
    addresses.join(&b","[..])
}

/// RFC 8141 section 3.1: "the NID" is case-insensitive. `NID = (alphanum) 0*30(ldh) (alphanum)`,
/// `ldh = alphanum / "-"`.
fn lower_case_namespace(path: &[u8]) -> Vec<u8> {
    let name = path.split(|&byte| byte == b':').next().unwrap();
    let [first, middle @ .., last] = name else { return path.to_vec() };
    let is_namespace = name.len() < path.len()
        && first.is_ascii_alphanumeric()
        && middle.len() <= 30
        && middle.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && last.is_ascii_alphanumeric();
    if !is_namespace {
        return path.to_vec();
    }
    [&name.to_ascii_lowercase(), &path[name.len()..]].concat()
}

/// The text before the first colon of the first segment, scheme or not.
fn first_segment_before_colon(parts: &Parts) -> Option<Piece> {
    if parts.scheme.is_some() {
        return parts.scheme.clone();
    }
    let at_once = parts.authority.is_none() && parts.path.bytes.starts_with(b":");
    at_once.then(|| parts.path.cut(0, 0))
}

/// Component recomposition, section 5.3: a defined component gets its delimiter, even if it is
/// empty. An empty `scheme` means none, which only a request target has.
fn recompose(
    scheme: &[u8],
    authority: Option<&Authority>,
    path: &[u8],
    query: &Option<Vec<u8>>,
    fragment: &Option<Vec<u8>>,
) -> Vec<u8> {
    let mut out = Vec::new();
    if !scheme.is_empty() {
        out.extend_from_slice(scheme);
        out.push(b':');
    }
    if let Some(authority) = authority {
        out.extend_from_slice(b"//");
        out.extend(authority.recompose());
    }
    out.extend_from_slice(path);
    if let Some(query) = query {
        out.push(b'?');
        out.extend_from_slice(query);
    }
    if let Some(fragment) = fragment {
        out.push(b'#');
        out.extend_from_slice(fragment);
    }
    out
}

/// "acts where no scheme is found, or where the text before the first `:` holds a `.` or is
/// `localhost` and no `//` follows it [...]; `/x` and `?q` stay `relative`".
fn needs_a_scheme(input: &[u8]) -> bool {
    let refused = match input.first() {
        None | Some(b'?' | b'#') => true,
        Some(b'/') => !input.starts_with(b"//"),
        Some(_) => false,
    };
    if refused {
        return false;
    }
    let Some(scheme) = parts::split(&Piece::whole(input)).scheme else {
        return true;
    };
    let is_none = checked_scheme(&scheme).is_err();
    let looks_like_a_host =
        scheme.bytes.contains(&b'.') || scheme.bytes.eq_ignore_ascii_case(b"localhost");
    (is_none || looks_like_a_host) && !input[scheme.bytes.len() + 1..].starts_with(b"//")
}

/// `//h/x` lacks only the scheme; anything else lacks `scheme://`.
fn assumed(scheme: &[u8], input: &Piece) -> Parts {
    let scheme = Some(Piece { bytes: scheme.to_vec(), at: input.at });
    if input.bytes.starts_with(b"//") {
        parts::split_after_scheme(scheme, input)
    } else {
        parts::split_from_authority(scheme, input)
    }
}

/// RFC 9112 section 3.2.3, `authority-form = uri-host ":" port`, as CONNECT uses it. A host with a
/// colon is in brackets.
fn is_authority_form(target: &[u8]) -> bool {
    let Some(colon) = target.iter().rposition(|&byte| byte == b':') else {
        return false;
    };
    let (host, port) = (&target[..colon], &target[colon + 1..]);
    let in_brackets = host.len() > 2 && host.starts_with(b"[") && host.ends_with(b"]");
    !host.is_empty()
        && !host.iter().any(|byte| b"/?#@".contains(byte))
        && (in_brackets || !host.contains(&b':'))
        && !port.is_empty()
        && port.iter().all(u8::is_ascii_digit)
}
