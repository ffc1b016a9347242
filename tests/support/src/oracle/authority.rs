//! Section 3.2: userinfo, host and port, checked from left to right and rewritten.

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use super::parts::Piece;
use super::{Answer, Rung, Trouble, grammar, ipv6, needs_host, percent};

/// The normalized subcomponents. Absent and empty are different; a host is never absent.
#[derive(Debug, Clone)]
pub struct Authority {
    pub userinfo: Option<Vec<u8>>,
    pub host: Vec<u8>,
    pub port: Option<Vec<u8>>,
}

impl Authority {
    /// Whether the authority is this host and nothing else: "where the authority has neither `@`
    /// nor port".
    pub fn is_bare(&self, host: &[u8]) -> bool {
        self.userinfo.is_none() && self.port.is_none() && self.host == host
    }

    /// `authority = [ userinfo "@" ] host [ ":" port ]`
    pub fn recompose(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(userinfo) = &self.userinfo {
            out.extend_from_slice(userinfo);
            out.push(b'@');
        }
        out.extend_from_slice(&self.host);
        if let Some(port) = &self.port {
            out.push(b':');
            out.extend_from_slice(port);
        }
        out
    }
}

/// The whole authority under one rung; `scheme` is in lower case.
pub fn normalize(
    authority: &Piece,
    rung: Rung,
    scheme: &[u8],
    keep_userinfo: bool,
) -> Result<Authority, Trouble> {
    // "In the authority the last `@` ends the userinfo".
    let (userinfo, host_and_port) = match authority.bytes.iter().rposition(|&byte| byte == b'@') {
        Some(at) => (Some(authority.cut(0, at)), authority.rest(at + 1)),
        None => (None, authority.clone()),
    };
    // "a `\` between `//` and the end of the authority is rejected": before `@` here, after it below.
    if let Some(userinfo) = &userinfo
        && let Some(index) = backslash(&userinfo.bytes, rung)
    {
        return Err(("host", userinfo.at + index));
    }
    let userinfo = match userinfo {
        Some(_) if needs_host(scheme) && !keep_userinfo => None,
        Some(userinfo) => Some(normalize_userinfo(&userinfo, rung)?),
        None => None,
    };
    let (host, port) = split_host(&host_and_port)?;
    let normal_host = if host.bytes.starts_with(b"[") {
        normalize_ip_literal(&host, rung)?
    } else {
        normalize_reg_name(&host, rung, scheme)?
    };
    if rung >= Rung::Scheme && needs_host(scheme) && normal_host.is_empty() {
        return Err(("empty-host", host.at));
    }
    let port = match port {
        Some(port) => normalize_port(&port, rung, scheme)?,
        None => None,
    };
    Ok(Authority { userinfo, host: normal_host, port })
}

/// The first backslash, if the rung rejects one.
fn backslash(bytes: &[u8], rung: Rung) -> Option<usize> {
    (rung == Rung::Crawl).then(|| bytes.iter().position(|&byte| byte == b'\\')).flatten()
}

/// Section 7.5: under `crawl` the credentials of schemes that name a host are dropped, whatever
/// they hold; those that stay are repaired there.
fn normalize_userinfo(userinfo: &Piece, rung: Rung) -> Answer {
    if rung == Rung::Crawl {
        let repaired = percent::repair(&userinfo.bytes, grammar::is_userinfo_byte);
        return Ok(percent::normalize_triplets(&repaired));
    }
    grammar::check(userinfo, grammar::is_userinfo_byte)?;
    Ok(percent::normalize_triplets(&userinfo.bytes))
}

/// Splits after the host: after `]` if it starts with `[`, else before the first `:`.
pub fn split_host(piece: &Piece) -> Result<(Piece, Option<Piece>), Trouble> {
    let end = if piece.bytes.starts_with(b"[") {
        match piece.bytes.iter().position(|&byte| byte == b']') {
            Some(bracket) => bracket + 1,
            None => return Err(("host", piece.at)),
        }
    } else {
        piece.bytes.iter().position(|&byte| byte == b':').unwrap_or(piece.bytes.len())
    };
    let (host, rest) = (piece.cut(0, end), piece.rest(end));
    match rest.bytes.first() {
        None => Ok((host, None)),
        Some(b':') => Ok((host, Some(rest.rest(1)))),
        Some(_) => {
            // The address is checked first: it is further left.
            check_ip_literal(&host)?;
            Err(("host", rest.at))
        }
    }
}

/// `IP-literal = "[" ( IPv6address / IPvFuture ) "]"`
fn check_ip_literal(host: &Piece) -> Result<(), Trouble> {
    let inside = &host.bytes[1..host.bytes.len() - 1];
    if ipv6::parse(inside).is_some() || is_ip_future(inside) {
        Ok(())
    } else {
        Err(("host", host.at))
    }
}

/// `IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`; ABNF strings have no case.
fn is_ip_future(text: &[u8]) -> bool {
    if !text.starts_with(b"v") && !text.starts_with(b"V") {
        return false;
    }
    let Some(dot) = text.iter().position(|&byte| byte == b'.') else {
        return false;
    };
    let (version, address) = (&text[1..dot], &text[dot + 1..]);
    !version.is_empty()
        && version.iter().all(u8::is_ascii_hexdigit)
        && !address.is_empty()
        && address.iter().all(|&byte| grammar::is_userinfo_byte(byte))
}

/// Lower case; under `crawl` an IPv6 address takes the form of RFC 5952.
fn normalize_ip_literal(host: &Piece, rung: Rung) -> Answer {
    check_ip_literal(host)?;
    let inside = &host.bytes[1..host.bytes.len() - 1];
    match ipv6::parse(inside) {
        Some(address) if rung == Rung::Crawl => {
            Ok(format!("[{}]", ipv6::write(&address)).into_bytes())
        }
        _ => Ok(host.bytes.to_ascii_lowercase()),
    }
}

fn normalize_reg_name(host: &Piece, rung: Rung, scheme: &[u8]) -> Answer {
    if rung == Rung::Crawl {
        return crawl_reg_name(host, scheme);
    }
    let bracket = host.bytes.iter().position(|byte| b"[]".contains(byte));
    match (grammar::check(host, grammar::is_reg_name_byte), bracket) {
        // A bracket is a byte that the check does not allow, but it has its own code.
        (Err((_, at)), Some(index)) if at == host.at + index => Err(("host", at)),
        (Err(trouble), _) => Err(trouble),
        // Decoding comes first: `%45X` is `ex`; the other order would leave `Ex`.
        (Ok(()), _) => {
            Ok(percent::lower_case_outside_triplets(&percent::normalize_triplets(&host.bytes)))
        }
    }
}

/// "unreserved triplets are decoded; only if a triplet or byte of 0x80 or above is there are all
/// decoded and the host passed to UTS 46 ToASCII, failing which, or with nothing left, it is rejected;
/// a byte below 0x80 that no host may hold is rejected as well; trailing dots go". Of other schemes
/// than six: "as under `scheme`, with bad bytes encoded".
pub fn crawl_reg_name(host: &Piece, scheme: &[u8]) -> Answer {
    if let Some(index) = host.bytes.iter().position(|byte| b"[]\\".contains(byte)) {
        return Err(("host", host.at + index));
    }
    if !needs_host(scheme) && scheme != b"file" {
        let repaired = percent::repair(&host.bytes, grammar::is_reg_name_byte);
        let decoded = percent::normalize_triplets(&repaired);
        return Ok(percent::lower_case_outside_triplets(&decoded));
    }
    let decoded = percent::normalize_triplets(&host.bytes);
    let mut name = if decoded.iter().all(|&byte| grammar::is_reg_name_byte(byte)) {
        decoded.to_ascii_lowercase()
    } else {
        let ascii = to_ascii(&percent::decode_all(&host.bytes));
        ascii.filter(|ascii| !ascii.is_empty()).ok_or(("idna", host.at))?
    };
    if needs_host(scheme) {
        while name.ends_with(b".") {
            name.pop();
        }
    }
    Ok(name)
}

/// UTS 46 ToASCII: "non-transitional, no hyphen or length checks, denied: all ASCII outside
/// unreserved and sub-delims".
fn to_ascii(name: &[u8]) -> Option<Vec<u8>> {
    // Controls, space and 0x7F are denied by the first argument.
    let denied = AsciiDenyList::new(true, "\"#%/:<>?@[\\]^`{|}");
    // Of the additions of Unicode 18, the generators and vectors hold a currency and the seal
    // characters. Nothing decomposes to one.
    let text = std::str::from_utf8(name).ok()?;
    if text.chars().any(|c| matches!(c, '\u{20C2}' | '\u{3D000}'..'\u{E0000}')) {
        return None;
    }
    let uts46 = Uts46::new();
    let ascii = uts46.to_ascii(name, denied, Hyphens::Allow, DnsLength::Ignore).ok()?;
    // UTS 46 section 4.1: "If not CheckHyphens, the label must not begin with “xn--”."
    let (unicode, _) = uts46.to_unicode(ascii.as_bytes(), denied, Hyphens::Allow);
    let twice = unicode.split('.').any(|label| label.starts_with("xn--"));
    (!twice).then(|| ascii.into_owned().into_bytes())
}

/// `port = *DIGIT`. Section 6.2.3: "the port subcomponent [...] is empty or [...] the default".
pub fn normalize_port(port: &Piece, rung: Rung, scheme: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
    if let Some(index) = port.bytes.iter().position(|byte| !byte.is_ascii_digit()) {
        let code = if backslash(&port.bytes, rung) == Some(index) { "host" } else { "port" };
        return Err((code, port.at + index));
    }
    if rung == Rung::Syntax {
        return Ok(Some(port.bytes.clone()));
    }
    if port.bytes.is_empty() {
        return Ok(None);
    }
    let zeros = port.bytes.iter().take_while(|&&byte| byte == b'0').count();
    let digits = port.bytes[zeros.min(port.bytes.len() - 1)..].to_vec();
    if rung == Rung::Crawl && is_above_65535(&digits) {
        return Err(("port-range", port.at));
    }
    if Some(digits.as_slice()) == default_port(scheme) {
        return Ok(None);
    }
    Ok(Some(digits))
}

/// `digits` has no leading zeros.
fn is_above_65535(digits: &[u8]) -> bool {
    digits.len() > 5 || (digits.len() == 5 && digits > &b"65535"[..])
}

/// "http 80, https 443, ws 80, wss 443, ftp 21, ssh 22, sftp 22, tftp 69"
fn default_port(scheme: &[u8]) -> Option<&'static [u8]> {
    match scheme {
        b"http" | b"ws" => Some(b"80"),
        b"https" | b"wss" => Some(b"443"),
        b"ftp" => Some(b"21"),
        b"ssh" | b"sftp" => Some(b"22"),
        b"tftp" => Some(b"69"),
        _ => None,
    }
}
