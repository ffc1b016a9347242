//! Other spellings of a URL that a rung's rules join with it.
//!
//! Each rule is the reverse of a normalization step, so no normalizer is needed to know that the
//! two spellings are one URL. The rung must accept the URL.

use crate::generator::{Rng, triplet};
use crate::oracle::grammar::{is_path_byte, is_query_byte, is_triplet, is_unreserved};
use crate::oracle::parts::{Parts, Piece, recompose_raw, split};

/// A spelling, and the rule that made it, for messages.
pub type Variant = (&'static str, Vec<u8>);

/// Userinfo, host and port as spelled.
pub type RawAuthority = (Option<Vec<u8>>, Vec<u8>, Option<Vec<u8>>);

/// An accepted URL in pieces that can be changed one by one.
struct Spelling {
    scheme: Vec<u8>,
    authority: Option<RawAuthority>,
    path: Vec<u8>,
    query: Option<Vec<u8>>,
    fragment: Option<Vec<u8>>,
}

/// Another spelling of `url` under `profile`, if the drawn rule applies to it.
pub fn respell(rng: &mut Rng, url: &[u8], profile: &str) -> Option<Variant> {
    let crawl = profile == "crawl";
    let mut spelling = read(if crawl { trim(url) } else { url });
    let rules = match profile {
        "syntax" => 7,
        "scheme" => 14,
        "crawl" => 20,
        _ => return None,
    };
    let name = match rng.below(rules) {
        0 => encode_unreserved(rng, &mut spelling)?,
        1 => change_hex_case(rng, &mut spelling)?,
        2 => {
            spelling.scheme = other_case(rng, &spelling.scheme);
            "scheme in another case"
        }
        3 => {
            let host = &mut spelling.authority.as_mut()?.1;
            *host = other_case(rng, host);
            "host in another case"
        }
        4 | 5 => insert_dots(rng, &mut spelling)?,
        6 => above_the_root(rng, &mut spelling)?,
        7 => pad_port(rng, &mut spelling)?,
        8 => add_empty_port(&mut spelling)?,
        9 => add_default_port(&mut spelling)?,
        10 => empty_root_path(&mut spelling)?,
        11 => other_case_of_a_mail_domain(rng, &mut spelling)?,
        12 => without_the_authority_of_a_file(&mut spelling)?,
        13 => other_case_of_a_namespace(rng, &mut spelling)?,
        14 => {
            spelling.fragment = if rng.one_in(2) { None } else { Some(vec![rng.byte()]) };
            if write(&spelling).last().is_some_and(|&byte| byte <= 0x20) {
                // Without a fragment after it, this byte would be trimmed.
                return None;
            }
            "another fragment"
        }
        15 if needs_host(&spelling.scheme) => {
            let user = *rng.pick(&[&None, &Some("u:p"), &Some("@%zz[")]);
            spelling.authority.as_mut()?.0 = user.map(Into::into);
            "another userinfo"
        }
        16 if needs_host(&spelling.scheme) => {
            let host = &mut spelling.authority.as_mut()?.1;
            if host.starts_with(b"[") {
                return None;
            }
            host.extend_from_slice(rng.pick(&[".", "..", "%2e"]).as_bytes());
            "trailing dots"
        }
        17 => encode_what_repair_encodes(&mut spelling)?,
        18 => expand_ipv6(&mut spelling)?,
        19 => {
            let mut out = vec![b"\0\t\n\r \x1f"[rng.below(6)]];
            out.extend(write(&spelling));
            out.push(b"\0\t\n\r \x1f"[rng.below(6)]);
            return Some(("white space around", out));
        }
        _ => return None,
    };
    Some((name, write(&spelling)))
}

/// Trims the bytes that `crawl` takes from both ends.
pub fn trim(url: &[u8]) -> &[u8] {
    let start = url.iter().position(|&byte| byte > 0x20).unwrap_or(url.len());
    let end = url.iter().rposition(|&byte| byte > 0x20).map_or(start, |last| last + 1);
    &url[start..end]
}

fn read(url: &[u8]) -> Spelling {
    let parts = split(&Piece::whole(url));
    Spelling {
        scheme: parts.scheme.expect("an accepted URL has a scheme").bytes,
        authority: parts.authority.map(|authority| split_authority(&authority.bytes)),
        path: parts.path.bytes,
        query: parts.query.map(|query| query.bytes),
        fragment: parts.fragment.map(|fragment| fragment.bytes),
    }
}

/// Userinfo, host and port of a valid authority.
pub fn split_authority(authority: &[u8]) -> RawAuthority {
    let (userinfo, rest) = match authority.iter().rposition(|&byte| byte == b'@') {
        Some(at) => (Some(authority[..at].to_vec()), &authority[at + 1..]),
        None => (None, authority),
    };
    let after_address = rest.iter().position(|&byte| byte == b']').map_or(0, |bracket| bracket + 1);
    match rest[after_address..].iter().position(|&byte| byte == b':') {
        Some(colon) => {
            let colon = after_address + colon;
            (userinfo, rest[..colon].to_vec(), Some(rest[colon + 1..].to_vec()))
        }
        None => (userinfo, rest.to_vec(), None),
    }
}

fn write(spelling: &Spelling) -> Vec<u8> {
    let authority = spelling.authority.as_ref().map(|(userinfo, host, port)| {
        let mut out = Vec::new();
        if let Some(userinfo) = userinfo {
            out.extend_from_slice(userinfo);
            out.push(b'@');
        }
        out.extend_from_slice(host);
        if let Some(port) = port {
            out.push(b':');
            out.extend_from_slice(port);
        }
        out
    });
    recompose_raw(&Parts {
        scheme: Some(Piece::whole(&spelling.scheme)),
        authority: authority.as_deref().map(Piece::whole),
        path: Piece::whole(&spelling.path),
        query: spelling.query.as_deref().map(Piece::whole),
        fragment: spelling.fragment.as_deref().map(Piece::whole),
    })
}

fn needs_host(scheme: &[u8]) -> bool {
    ["http", "https", "ws", "wss", "ftp"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name.as_bytes()))
}

/// The components in which triplets are allowed.
fn with_triplets(spelling: &mut Spelling) -> Vec<&mut Vec<u8>> {
    let mut components = vec![&mut spelling.path];
    if let Some((userinfo, host, _)) = &mut spelling.authority {
        components.extend(userinfo);
        if !host.starts_with(b"[") {
            components.push(host);
        }
    }
    components.extend(&mut spelling.query);
    components.extend(&mut spelling.fragment);
    components
}

/// For each byte, whether it belongs to a well-formed triplet.
fn inside_triplets(bytes: &[u8]) -> Vec<bool> {
    let mut inside = vec![false; bytes.len()];
    let mut index = 0;
    while index < bytes.len() {
        let step = if is_triplet(bytes, index) { 3 } else { 1 };
        inside[index..index + step].fill(step == 3);
        index += step;
    }
    inside
}

fn pick_index(rng: &mut Rng, places: Vec<usize>) -> Option<usize> {
    if places.is_empty() { None } else { Some(places[rng.below(places.len())]) }
}

fn encode_unreserved(rng: &mut Rng, spelling: &mut Spelling) -> Option<&'static str> {
    let mut components = with_triplets(spelling);
    let chosen = rng.below(components.len());
    let bytes = &mut *components[chosen];
    let inside = inside_triplets(bytes);
    let places =
        (0..bytes.len()).filter(|&index| is_unreserved(bytes[index]) && !inside[index]).collect();
    let index = pick_index(rng, places)?;
    let encoded = triplet(rng, bytes[index]);
    bytes.splice(index..=index, encoded);
    Some("an unreserved byte as a triplet")
}

fn change_hex_case(rng: &mut Rng, spelling: &mut Spelling) -> Option<&'static str> {
    let mut components = with_triplets(spelling);
    let chosen = rng.below(components.len());
    let bytes = &mut *components[chosen];
    let inside = inside_triplets(bytes);
    let places = (0..bytes.len())
        .filter(|&index| inside[index] && bytes[index].is_ascii_alphabetic())
        .collect();
    let index = pick_index(rng, places)?;
    bytes[index] ^= 0x20;
    Some("a hexadecimal digit in another case")
}

/// Letters outside triplets, each in either case.
fn other_case(rng: &mut Rng, bytes: &[u8]) -> Vec<u8> {
    let inside = inside_triplets(bytes);
    let swap = |(index, &byte): (usize, &u8)| {
        if byte.is_ascii_alphabetic() && !inside[index] && rng.one_in(2) {
            byte ^ 0x20
        } else {
            byte
        }
    };
    bytes.iter().enumerate().map(swap).collect()
}

fn insert_dots(rng: &mut Rng, spelling: &mut Spelling) -> Option<&'static str> {
    if !spelling.path.starts_with(b"/") {
        return None;
    }
    let slashes = (0..spelling.path.len()).filter(|&index| spelling.path[index] == b'/').collect();
    let index = pick_index(rng, slashes)?;
    let detour = rng.pick(&[
        "/.",
        "/%2e",
        "/%2E",
        "/x/..",
        "/x/%2E.",
        "/x/.%2e",
        "/%2f/%2e%2E",
        "/..;/..",
        "//..",
    ]);
    spelling.path.splice(index..index, detour.bytes());
    // `x:` and `//..` would read `..` as a host.
    let reads_as_authority = spelling.authority.is_none() && spelling.path.starts_with(b"//");
    (!reads_as_authority).then_some("a detour by dot segments")
}

fn above_the_root(rng: &mut Rng, spelling: &mut Spelling) -> Option<&'static str> {
    if !spelling.path.starts_with(b"/") {
        return None;
    }
    spelling.path.splice(0..0, rng.pick(&["/..", "/../..", "/.%2E"]).bytes());
    Some(".. above the root")
}

fn pad_port(rng: &mut Rng, spelling: &mut Spelling) -> Option<&'static str> {
    let port = spelling.authority.as_mut()?.2.as_mut().filter(|port| !port.is_empty())?;
    port.splice(0..0, rng.pick(&["0", "000"]).bytes());
    Some("a port with more zeros")
}

fn add_empty_port(spelling: &mut Spelling) -> Option<&'static str> {
    let port = &mut spelling.authority.as_mut()?.2;
    if port.is_some() {
        return None;
    }
    *port = Some(Vec::new());
    Some("an empty port")
}

fn add_default_port(spelling: &mut Spelling) -> Option<&'static str> {
    let port = &mut spelling.authority.as_mut()?.2;
    if port.as_ref().is_some_and(|port| !port.is_empty()) {
        return None;
    }
    let default = match spelling.scheme.to_ascii_lowercase().as_slice() {
        b"http" | b"ws" => "80",
        b"https" | b"wss" => "443",
        b"ftp" => "21",
        b"ssh" | b"sftp" => "22",
        b"tftp" => "69",
        _ => return None,
    };
    *port = Some(default.into());
    Some("the default port")
}

fn empty_root_path(spelling: &mut Spelling) -> Option<&'static str> {
    if !needs_host(&spelling.scheme) || spelling.path != b"/" {
        return None;
    }
    spelling.path.clear();
    Some("an empty path for /")
}

/// The domain of the last address of a `mailto:`.
fn other_case_of_a_mail_domain(rng: &mut Rng, spelling: &mut Spelling) -> Option<&'static str> {
    if !spelling.scheme.eq_ignore_ascii_case(b"mailto") || spelling.authority.is_some() {
        return None;
    }
    if spelling.path.starts_with(b"/") {
        // Dot segments may take the last `@` away.
        return None;
    }
    let domain = spelling.path.iter().rposition(|&byte| byte == b'@')?;
    if spelling.path[domain..].contains(&b',') {
        return None;
    }
    let changed = other_case(rng, &spelling.path[domain..]);
    spelling.path.truncate(domain);
    spelling.path.extend(changed);
    Some("a mail domain in another case")
}

/// RFC 8089 appendix B: `file:/a` for `file:///a`.
fn without_the_authority_of_a_file(spelling: &mut Spelling) -> Option<&'static str> {
    let is_file = spelling.scheme.eq_ignore_ascii_case(b"file");
    let is_empty = spelling.authority == Some((None, Vec::new(), None));
    let is_told_apart = spelling.path.starts_with(b"/") && !spelling.path.starts_with(b"//");
    if !(is_file && is_empty && is_told_apart) {
        return None;
    }
    spelling.authority = None;
    Some("a file without its authority")
}

/// RFC 8141 section 3.1: two names that differ in the case of the namespace are equivalent.
fn other_case_of_a_namespace(rng: &mut Rng, spelling: &mut Spelling) -> Option<&'static str> {
    if !spelling.scheme.eq_ignore_ascii_case(b"urn") || spelling.authority.is_some() {
        return None;
    }
    let end = spelling.path.iter().position(|&byte| byte == b':')?;
    let name = &spelling.path[..end];
    let is_name = |text: &[u8]| text.iter().all(u8::is_ascii_alphanumeric);
    if !(2..=32).contains(&end) || !name.split(|&byte| byte == b'-').all(is_name) {
        return None;
    }
    if name.starts_with(b"-") || name.ends_with(b"-") {
        return None;
    }
    let changed = other_case(rng, name);
    spelling.path.splice(..end, changed);
    Some("a namespace in another case")
}

fn encode_what_repair_encodes(spelling: &mut Spelling) -> Option<&'static str> {
    let in_path = encode_first_outside(&mut spelling.path, is_path_byte);
    let in_query = || encode_first_outside(spelling.query.as_mut()?, is_query_byte);
    in_path.or_else(in_query)?;
    Some("a repaired byte as a triplet")
}

fn encode_first_outside(bytes: &mut Vec<u8>, allowed: fn(u8) -> bool) -> Option<()> {
    let bad = |&index: &usize| !allowed(bytes[index]) && !is_triplet(bytes, index);
    let index = (0..bytes.len()).find(bad)?;
    let encoded = format!("%{:02x}", bytes[index]);
    bytes.splice(index..=index, encoded.bytes());
    Some(())
}

fn expand_ipv6(spelling: &mut Spelling) -> Option<&'static str> {
    let host = &mut spelling.authority.as_mut()?.1;
    let text = std::str::from_utf8(host).ok()?.strip_prefix('[')?.strip_suffix(']')?;
    let address: std::net::Ipv6Addr = text.parse().ok()?;
    let groups: Vec<String> =
        address.segments().iter().map(|group| format!("{group:04X}")).collect();
    *host = format!("[{}]", groups.join(":")).into_bytes();
    Some("an IPv6 address in full")
}
