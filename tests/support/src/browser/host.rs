//! Hosts as in section 3.5 of the URL Standard.

use super::{Failure, NO_TEXT, push_encoded};
use crate::oracle::percent::decode_all;
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// Forbidden host code points.
const FORBIDDEN: &str = "\0\t\n\r #/:<>?@[\\]^|";

pub struct Host;

impl Host {
    /// The "host parser" and the "host serializer" in one.
    pub fn parse(input: &[u32], is_opaque: bool) -> Result<String, Failure> {
        let text: String = input.iter().filter_map(|c| char::from_u32(*c)).collect();
        if input.first() == Some(&u32::from('[')) {
            let inside = &text[1..];
            let whole = input.iter().all(|c| *c < NO_TEXT);
            let inside = inside.strip_suffix(']').filter(|_| whole).ok_or("host")?;
            return Ok(format!("[{}]", serialize_ipv6(parse_ipv6(inside).ok_or("host")?)));
        }
        if input.iter().any(|c| *c >= NO_TEXT) {
            return Err("byte");
        }
        if is_opaque {
            if text.chars().any(|c| FORBIDDEN.contains(c)) {
                return Err("byte");
            }
            let mut out = String::new();
            input.iter().for_each(|c| push_encoded(&mut out, *c, ""));
            // Spaces are forbidden, so nothing else needs encoding.
            return Ok(out);
        }
        if text.is_empty() {
            return Ok(text);
        }
        let domain = to_ascii(&decode_all(text.as_bytes()))?;
        let mut labels: Vec<&str> = domain.split('.').collect();
        if labels.len() > 1 && labels.last() == Some(&"") {
            labels.pop();
        }
        let last = labels[labels.len() - 1];
        let digits = !last.is_empty() && last.chars().all(|c| c.is_ascii_digit());
        if digits || number(last).is_some() {
            return ipv4(&labels).ok_or("host");
        }
        Ok(domain)
    }
}

/// "Domain to ASCII", not strictly.
fn to_ascii(domain: &[u8]) -> Result<String, Failure> {
    let is_forbidden = |c: char| FORBIDDEN.contains(c) || c < ' ' || "%\x7F".contains(c);
    if domain.is_ascii() {
        let domain = String::from_utf8(domain.to_vec()).unwrap();
        return if domain.contains(is_forbidden) { Err("byte") } else { Ok(domain.to_lowercase()) };
    }
    let text = std::str::from_utf8(domain).map_err(|_| "idna")?;
    let uts46 = Uts46::new();
    let ascii = uts46
        .to_ascii(text.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore)
        .map_err(|_| "idna")?
        .into_owned();
    let (unicode, _) = uts46.to_unicode(ascii.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow);
    // Of the additions of Unicode 18, the generators and vectors hold a currency and the seal
    // characters.
    let unassigned = unicode.chars().any(|c| matches!(c, '\u{20C2}' | '\u{3D000}'..'\u{E0000}'));
    // UTS 46 section 4.1: "If not CheckHyphens, the label must not begin with “xn--”."
    let twice = unicode.split('.').any(|label| label.starts_with("xn--"));
    if ascii.is_empty() || ascii.contains(is_forbidden) || unassigned || twice {
        return Err("idna");
    }
    Ok(ascii)
}

/// "IPv4 number parser".
fn number(part: &str) -> Option<u128> {
    let (digits, radix) = if part.is_empty() {
        return None;
    } else if part.starts_with("0x") || part.starts_with("0X") {
        (&part[2..], 16)
    } else if part.len() > 1 && part.starts_with('0') {
        (&part[1..], 8)
    } else {
        (part, 10)
    };
    let mut value: u128 = 0;
    for c in digits.chars() {
        value = (value * u128::from(radix) + u128::from(c.to_digit(radix)?)).min(1 << 64);
    }
    Some(value)
}

/// "IPv4 parser".
fn ipv4(parts: &[&str]) -> Option<String> {
    let numbers: Vec<u128> = parts.iter().map(|part| number(part)).collect::<Option<_>>()?;
    let (last, others) = numbers.split_last()?;
    if parts.len() > 4
        || others.iter().any(|n| *n > 255)
        || *last >= 256u128.pow(5 - parts.len() as u32)
    {
        return None;
    }
    let mut address = *last;
    for (i, n) in others.iter().enumerate() {
        address += n * 256u128.pow(3 - i as u32);
    }
    Some([24, 16, 8, 0].map(|bits| (address >> bits & 255).to_string()).join("."))
}

/// "IPv6 parser", one code point at a time.
fn parse_ipv6(input: &str) -> Option<[u16; 8]> {
    let input: Vec<char> = input.chars().collect();
    let at = |i: usize| input.get(i).copied();
    let mut address = [0u16; 8];
    let (mut piece, mut compress, mut i) = (0, None, 0);
    if at(i) == Some(':') {
        if at(i + 1) != Some(':') {
            return None;
        }
        i += 2;
        piece += 1;
        compress = Some(piece);
    }
    while let Some(c) = at(i) {
        if piece == 8 {
            return None;
        }
        if c == ':' {
            if compress.is_some() {
                return None;
            }
            i += 1;
            piece += 1;
            compress = Some(piece);
            continue;
        }
        let (mut value, mut length) = (0, 0);
        while let (true, Some(digit)) = (length < 4, at(i).and_then(|c| c.to_digit(16))) {
            value = value * 16 + digit as u16;
            i += 1;
            length += 1;
        }
        if at(i) == Some('.') {
            if length == 0 || piece > 6 {
                return None;
            }
            i -= length;
            let mut seen = 0;
            while at(i).is_some() {
                let mut octet: Option<u16> = None;
                if seen > 0 {
                    if at(i) != Some('.') || seen == 4 {
                        return None;
                    }
                    i += 1;
                }
                at(i)?.to_digit(10)?;
                while let Some(digit) = at(i).and_then(|c| c.to_digit(10)) {
                    octet = match octet {
                        None => Some(digit as u16),
                        Some(0) => return None,
                        Some(octet) => Some(octet * 10 + digit as u16),
                    };
                    if octet? > 255 {
                        return None;
                    }
                    i += 1;
                }
                address[piece] = address[piece] * 256 + octet?;
                seen += 1;
                if seen == 2 || seen == 4 {
                    piece += 1;
                }
            }
            if seen != 4 {
                return None;
            }
            break;
        } else if at(i) == Some(':') {
            i += 1;
            at(i)?;
        } else if at(i).is_some() {
            return None;
        }
        address[piece] = value;
        piece += 1;
    }
    match compress {
        Some(compress) => {
            let mut swaps = piece - compress;
            piece = 7;
            while piece != 0 && swaps > 0 {
                address.swap(piece, compress + swaps - 1);
                piece -= 1;
                swaps -= 1;
            }
        }
        None if piece != 8 => return None,
        None => {}
    }
    Some(address)
}

/// "IPv6 serializer".
fn serialize_ipv6(address: [u16; 8]) -> String {
    let zeros = |from: usize| address[from..].iter().take_while(|piece| **piece == 0).count();
    let longest = (0..8).map(zeros).max().unwrap();
    let compress = (0..8).find(|i| longest > 1 && zeros(*i) == longest);
    let mut out = String::new();
    let mut i = 0;
    while i < 8 {
        if Some(i) == compress {
            out += if i == 0 { "::" } else { ":" };
            i += longest;
            continue;
        }
        out += &format!("{:x}", address[i]);
        if i != 7 {
            out.push(':');
        }
        i += 1;
    }
    out
}
