//! Finds the parts of a URL that have no honest use, one kind after the other.

use std::ops::Range;

use super::super::Trouble;
use super::value_at;
use crate::oracle::grammar::is_unreserved;

/// Every trouble of a URL as given.
pub fn troubles(
    url: &[u8],
    scheme: Option<&[u8]>,
    authority: Option<(&[u8], usize)>,
    path: Range<usize>,
) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for index in 0..url.len() {
        let Some(value) = value_at(url, index) else { continue };
        if is_unreserved(value) {
            troubles.push(("encoded-unreserved", index));
        }
        if value == b'/' && index < path.end {
            troubles.push(("encoded-slash", index));
        }
        if value == b'\\' && index < path.end {
            troubles.push(("encoded-backslash", index));
        }
        if value == 0 {
            troubles.push(("nul", index));
        }
        if (0x01..=0x1F).contains(&value) || value == 0x7F {
            troubles.push(("control", index));
        }
        if value == b'%' && starts_with_digits(&url[index + 3..]) {
            troubles.push(("double-encoding", index));
        }
        if let Some(next) = url.get(index + 3).and_then(|_| value_at(url, index + 3))
            && is_overlong(value, next)
        {
            troubles.push(("overlong-utf8", index));
        }
    }
    let mut start = path.start;
    for segment in url[path].split(|&byte| byte == b'/') {
        let plain = String::from_utf8_lossy(segment).to_ascii_lowercase().replace("%2e", ".");
        if segment.contains(&b'%') && (plain == "." || plain == "..") {
            troubles.push(("encoded-dot-segment", start));
        }
        start += segment.len() + 1;
    }
    if let Some((authority, at)) = authority {
        troubles.extend(of_authority(authority, at, scheme));
    }
    troubles
}

/// "`%25` followed by two hex digits", which unreserved triplets may encode.
fn starts_with_digits(rest: &[u8]) -> bool {
    let mut plain = Vec::new();
    let mut index = 0;
    while index < rest.len() && plain.len() < 2 {
        match value_at(rest, index) {
            Some(value) => {
                plain.push(value);
                index += 3;
            }
            None => {
                plain.push(rest[index]);
                index += 1;
            }
        }
    }
    plain.len() == 2 && plain.iter().all(u8::is_ascii_hexdigit)
}

/// Whether the sequence that these two bytes start encodes a number that fewer bytes could encode.
fn is_overlong(first: u8, second: u8) -> bool {
    // A sequence of n bytes starts with n one bits. Its number takes the remaining bits of the first
    // byte and six bits of each later byte. The first two bytes alone decide whether n - 1 bytes
    // could hold the number.
    let length = first.leading_ones();
    if !(2..=6).contains(&length) || second & 0xC0 != 0x80 {
        return false;
    }
    let bits = u32::from(first) & ((1 << (7 - length)) - 1);
    let number = (bits << 6 | u32::from(second & 0x3F)) << (6 * (length - 2));
    let last_of_shorter: u32 = match length {
        2 => 0x7F,
        3 => 0x7FF,
        4 => 0xFFFF,
        5 => 0x1F_FFFF,
        _ => 0x3FF_FFFF,
    };
    number <= last_of_shorter
}

fn of_authority(authority: &[u8], at: usize, scheme: Option<&[u8]>) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    let mut host_at = 0;
    if let Some(sign) = authority.iter().rposition(|&byte| byte == b'@') {
        troubles.push(("userinfo", at));
        host_at = sign + 1;
    }
    let rest = &authority[host_at..];
    let from = if rest.starts_with(b"[") {
        rest.iter().position(|&byte| byte == b']').unwrap_or(rest.len())
    } else {
        0
    };
    let colon = (from..rest.len()).find(|&index| rest[index] == b':').unwrap_or(rest.len());
    // After a bracket only a colon starts a port.
    let colon = if from > 0 && colon != from + 1 { rest.len() } else { colon };
    let mut host = String::new();
    let mut index = 0;
    while index < colon {
        match value_at(&rest[..colon], index).filter(|value| is_unreserved(*value)) {
            Some(value) => {
                host.push(char::from(value));
                index += 3;
            }
            None => {
                host.push(char::from(rest[index]));
                index += 1;
            }
        }
    }
    if aton_takes(&host) && !is_ipv4_address(&host) {
        troubles.push(("rare-ipv4", at + host_at));
    }
    let digits = String::from_utf8_lossy(rest.get(colon + 1..).unwrap_or_default()).into_owned();
    let own = match scheme.unwrap_or_default().to_ascii_lowercase().as_slice() {
        b"http" | b"ws" => 80,
        b"https" | b"wss" => 443,
        b"ftp" => 21,
        b"ssh" | b"sftp" => 22,
        b"tftp" => 69,
        _ => return troubles,
    };
    let significant = digits.trim_start_matches('0');
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_number && significant.len() <= 4 {
        let port: u32 = significant.parse().unwrap_or(0);
        if port < 1024 && port != own {
            troubles.push(("well-known-port", at + host_at + colon + 1));
        }
    }
    troubles
}

/// "one to four parts, decimal, octal or hex": `a.b.c.d`, `a.b.c` with 16 bits last, `a.b` with 24, `a`
/// with 32.
fn aton_takes(host: &str) -> bool {
    let parts: Vec<&str> = host.split('.').collect();
    let mut numbers = Vec::new();
    for part in &parts {
        let lower = part.to_ascii_lowercase();
        let (digits, radix) = if let Some(digits) = lower.strip_prefix("0x") {
            (digits, 16)
        } else if part.len() > 1 && part.starts_with('0') {
            (&lower[1..], 8)
        } else {
            (&lower[..], 10)
        };
        if lower == "0x" {
            numbers.push(0);
            continue;
        }
        // The standard library accepts a sign here.
        if digits.contains('+') {
            return false;
        }
        // There may be many leading zeros.
        let digits = match digits.trim_start_matches('0') {
            "" if !digits.is_empty() => "0",
            significant => significant,
        };
        match u64::from_str_radix(digits, radix) {
            Ok(number) => numbers.push(number),
            Err(_) => return false,
        }
    }
    match numbers[..] {
        [a] => a <= 0xFFFF_FFFF,
        [a, b] => a <= 255 && b <= 0xFF_FFFF,
        [a, b, c] => a <= 255 && b <= 255 && c <= 0xFFFF,
        [a, b, c, d] => [a, b, c, d].iter().all(|&number| number <= 255),
        _ => false,
    }
}

/// `IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet`
fn is_ipv4_address(host: &str) -> bool {
    host.parse::<std::net::Ipv4Addr>().is_ok()
}
