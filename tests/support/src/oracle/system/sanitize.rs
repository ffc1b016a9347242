//! Finds the parts of a URL that have no honest use, one kind after the other.

mod hosts;
mod names;

use std::ops::Range;

use super::super::Trouble;
use crate::oracle::grammar::is_unreserved;
use crate::oracle::percent::{decode_all, octets, value_at};

/// The checks that are off until they are asked for.
pub const OFF: [&str; 4] =
    ["device-name", "bidi-control", "mixed-script-host", "double-encoding-query"];

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
        if is_unreserved(value) && value != b'~' {
            troubles.push(("encoded-unreserved", index));
        }
        if value == b'/' && index < path.end && !names::is_in_encoded_url(url, index, &path) {
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
            let before = index < path.end;
            troubles
                .push((if before { "double-encoding" } else { "double-encoding-query" }, index));
        }
    }
    troubles.extend(names::troubles(url, path.clone()));
    for component in components(url, authority, path) {
        troubles.extend(of_characters(url, component));
    }
    if let Some((authority, at)) = authority {
        troubles.extend(of_authority(authority, at, scheme));
    }
    troubles
}

/// Authority, path, query and fragment.
fn components(
    url: &[u8],
    authority: Option<(&[u8], usize)>,
    path: Range<usize>,
) -> Vec<Range<usize>> {
    let mut components = vec![path.clone()];
    components.extend(authority.map(|(text, at)| at..at + text.len()));
    let hash = (path.end..url.len()).find(|&i| url[i] == b'#').unwrap_or(url.len());
    components.extend([path.end..hash, hash..url.len()]);
    components
}

/// Whether the check of overlong sequences rejects a canonical path: without its dot segments it may be
/// UTF-8 where the path as it came is not.
pub fn is_overlong_path(path: &[u8]) -> bool {
    of_characters(path, 0..path.len()).iter().any(|(code, _)| *code == "overlong-utf8")
}

/// "only in a component that is otherwise UTF-8": the rest between overlong sequences is UTF-8.
fn of_characters(url: &[u8], component: Range<usize>) -> Vec<Trouble> {
    let (octets, starts): (Vec<u8>, Vec<usize>) = octets(&url[component.clone()])
        .into_iter()
        .map(|octet| (octet.value, component.start + octet.at))
        .unzip();
    let mut troubles = Vec::new();
    let (mut between, mut first) = (vec![Vec::new()], None);
    let mut index = 0;
    while index < octets.len() {
        let length = octets[index].leading_ones() as usize;
        let rest = &octets[index..];
        let is_whole = (2..=6).contains(&length)
            && rest.len() >= length
            && rest[1..length].iter().all(|octet| octet & 0xC0 == 0x80);
        if is_whole && is_overlong(rest[0], rest[1]) {
            first = first.or(Some(starts[index]));
            between.push(Vec::new());
            index += length;
        } else {
            between.last_mut().unwrap().push(octets[index]);
            index += 1;
        }
    }
    if let Some(at) = first
        && between.iter().all(|text| std::str::from_utf8(text).is_ok())
    {
        troubles.push(("overlong-utf8", at));
    }
    for control in "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}"
        .chars()
    {
        let mut text = [0; 4];
        let text = control.encode_utf8(&mut text).as_bytes();
        let found = octets.windows(text.len()).position(|window| window == text);
        troubles.extend(found.map(|at| ("bidi-control", starts[at])));
    }
    troubles
}

/// "`%25` followed by two hex digits", which unreserved triplets may encode.
fn starts_with_digits(rest: &[u8]) -> bool {
    let plain: Vec<u8> = octets(rest).into_iter().take(2).map(|octet| octet.value).collect();
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
    let host: String = octets(&rest[..colon])
        .iter()
        .map(|octet| match octet.is_triplet && !is_unreserved(octet.value) {
            true => String::from_utf8_lossy(&rest[octet.at..octet.at + 3]).into_owned(),
            false => char::from(octet.value).to_string(),
        })
        .collect();
    let without_dot = host.strip_suffix('.').unwrap_or(&host);
    if aton_takes(without_dot) && !is_ipv4_address(&host) {
        troubles.push(("rare-ipv4", at + host_at));
    }
    // In brackets there is an address, or the ladder rejects the host.
    if from == 0 && !rest.starts_with(b"[") && hosts::mixes_scripts(&decode_all(&rest[..colon])) {
        troubles.push(("mixed-script-host", at + host_at));
    }
    let digits = String::from_utf8_lossy(rest.get(colon + 1..).unwrap_or_default()).into_owned();
    let Some(scheme) = scheme else { return troubles };
    let scheme = String::from_utf8_lossy(scheme).to_ascii_lowercase();
    let table = include_str!("../../../../../data/ports.tsv");
    let row = table.lines().find(|line| line.starts_with(&format!("{scheme}\t")));
    let own = row.map(|row| row.split('\t').nth(1).unwrap().parse::<u32>().unwrap());
    let significant = digits.trim_start_matches('0');
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_number && significant.len() <= 4 {
        let port: u32 = significant.parse().unwrap_or(0);
        if port < 1024 && Some(port) != own {
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
