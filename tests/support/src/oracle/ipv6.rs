//! The grammar of section 3.2.2 for IPv6 addresses, and the one text form of RFC 5952.

/// The eight groups of an address, or None if the text is not an `IPv6address`.
///
/// The nine lines of the rule amount to this: eight groups of 16 bits, or a `::` that stands for at
/// least one group with the others around it; the last 32 bits may be an `IPv4address`.
pub fn parse(text: &[u8]) -> Option<[u16; 8]> {
    let text = std::str::from_utf8(text).ok()?;
    let mut address = [0; 8];
    match text.split_once("::") {
        None => {
            let groups = parse_groups(text, LastGroup::MayBeIpv4)?;
            if groups.len() != 8 {
                return None;
            }
            address.copy_from_slice(&groups);
        }
        Some((before, after)) => {
            // No line of the rule lets an IPv4address stand before the `::`.
            let before = parse_groups(before, LastGroup::IsHex)?;
            let after = parse_groups(after, LastGroup::MayBeIpv4)?;
            if before.len() + after.len() > 7 {
                return None;
            }
            address[..before.len()].copy_from_slice(&before);
            address[8 - after.len()..].copy_from_slice(&after);
        }
    }
    Some(address)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum LastGroup {
    IsHex,
    MayBeIpv4,
}

/// Groups between single colons. An empty text has no groups; an empty group is an error.
fn parse_groups(text: &str, last: LastGroup) -> Option<Vec<u16>> {
    let mut groups = Vec::new();
    if text.is_empty() {
        return Some(groups);
    }
    let words: Vec<&str> = text.split(':').collect();
    for (index, word) in words.iter().enumerate() {
        if last == LastGroup::MayBeIpv4 && index + 1 == words.len() && word.contains('.') {
            let [a, b, c, d] = parse_ipv4(word)?;
            groups.push(u16::from_be_bytes([a, b]));
            groups.push(u16::from_be_bytes([c, d]));
        } else {
            groups.push(parse_h16(word)?);
        }
    }
    Some(groups)
}

/// `h16 = 1*4HEXDIG`
fn parse_h16(word: &str) -> Option<u16> {
    let fits = (1..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    fits.then(|| u16::from_str_radix(word, 16).unwrap())
}

/// `IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet`
fn parse_ipv4(text: &str) -> Option<[u8; 4]> {
    let octets: Option<Vec<u8>> = text.split('.').map(parse_dec_octet).collect();
    octets?.try_into().ok()
}

/// `dec-octet`: 0 to 255 in decimal without leading zeros.
fn parse_dec_octet(word: &str) -> Option<u8> {
    let digits = (1..=3).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_digit());
    let leading_zero = word.len() > 1 && word.starts_with('0');
    if digits && !leading_zero { word.parse().ok() } else { None }
}

/// RFC 5952. Section 5 recommends a dotted tail for well-known prefixes: this project counts only
/// `::ffff:0:0/96` as such.
pub fn write(address: &[u16; 8]) -> String {
    if address[..6] == [0, 0, 0, 0, 0, 0xFFFF] {
        let [a, b] = address[6].to_be_bytes();
        let [c, d] = address[7].to_be_bytes();
        return format!("::ffff:{a}.{b}.{c}.{d}");
    }
    let (start, length) = longest_zeros(address);
    // Section 4.2.2: "The symbol "::" MUST NOT be used to shorten just one 16-bit 0 field."
    if length < 2 {
        return write_groups(address);
    }
    format!("{}::{}", write_groups(&address[..start]), write_groups(&address[start + length..]))
}

/// Sections 4.1 and 4.3: no leading zeros, lower case.
fn write_groups(groups: &[u16]) -> String {
    groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":")
}

/// Section 4.2.3: "the longest run of consecutive 16-bit 0 fields MUST be shortened [...]. When the
/// length of the consecutive 16-bit 0 fields are equal [...], the first sequence of zero bits MUST
/// be shortened." Start and length.
fn longest_zeros(address: &[u16; 8]) -> (usize, usize) {
    let mut best = (0, 0);
    for start in 0..8 {
        let length = address[start..].iter().take_while(|&&group| group == 0).count();
        if length > best.1 {
            best = (start, length);
        }
    }
    best
}
