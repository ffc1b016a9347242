//! A lossless key that sorts by domain: `com,example,//80:http@/path?query`.
//!
//! The form is that of urlcanon's `ssurt.rst`, `tld,domain,//port:scheme@userinfo:/path`, made exact
//! where that page is ambiguous. Different URLs have different keys, whatever their bytes:
//!
//! - a name ends in a comma, an address does not. In a name `,` and `%` are triplets, so a comma always
//!   ends a label;
//! - the port is a number. The default port is written if the URL has none; a port that is spelled out
//!   needlessly, or that is not a number, has a colon before it;
//! - the userinfo, if any, ends in a colon, and the path, if any, starts with `/`;
//! - a URL without a host stays unchanged, and so does a request target that starts with a slash.
//!   Anything else, which only `string` and the rings accept, has a colon before it.
//!
//! The part before the `//` has no colon or slash outside `[`...`]`, so none of these forms reads as
//! another.

use super::host::Located;
use crate::normalize::is_scheme;
use crate::profile::scheme;

pub(super) fn append(url: &[u8], out: &mut Vec<u8>) {
    let Some(located) = Located::split(url) else {
        if !stands_alone(url) {
            out.push(b':');
        }
        out.extend_from_slice(url);
        return;
    };
    host(&located, out);
    out.extend_from_slice(b"//");
    port(&located, out);
    out.push(b':');
    out.extend_from_slice(located.scheme);
    out.push(b'@');
    if let Some(userinfo) = located.userinfo {
        out.extend_from_slice(userinfo);
        out.push(b':');
    }
    out.extend_from_slice(located.rest);
}

fn host(located: &Located<'_>, out: &mut Vec<u8>) {
    if !located.is_name() || located.is_ipv4() {
        out.extend_from_slice(located.host);
        return;
    }
    for label in located.host.rsplit(|byte| *byte == b'.') {
        for byte in label {
            match byte {
                b',' => out.extend_from_slice(b"%2C"),
                b'%' => out.extend_from_slice(b"%25"),
                _ => out.push(*byte),
            }
        }
        out.push(b',');
    }
}

fn port(located: &Located<'_>, out: &mut Vec<u8>) {
    let meant = scheme::facts(located.scheme).port.map(|port| port.to_string());
    let meant = meant.as_deref().unwrap_or_default().as_bytes();
    match located.port {
        None => out.extend_from_slice(meant),
        Some(port) => {
            if port == meant || !port.iter().all(u8::is_ascii_digit) {
                out.push(b':');
            }
            out.extend_from_slice(port);
        }
    }
}

/// True if the bytes cannot be mistaken for a host.
fn stands_alone(url: &[u8]) -> bool {
    let colon = url.iter().position(|byte| *byte == b':');
    url.first() == Some(&b'/') || colon.is_some_and(|colon| is_scheme(&url[..colon]))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    #[test]
    fn different_urls_have_different_ssurts() {
        // Every word of up to four of these pieces, after a start that makes most of them URLs.
        let pieces = ["", "a", ",", "%2C", ":", "@", "//", "/", ".", "80", "[", "]", "1.2.3.4"];
        let mut keys: HashMap<Vec<u8>, String> = HashMap::new();
        for start in ["", "http://", "x:", "x://", "/"] {
            for n in 0..pieces.len().pow(4) {
                let digits = (0..4).map(|i| n / pieces.len().pow(i) % pieces.len());
                let url = start.to_owned() + &digits.map(|i| pieces[i]).collect::<String>();
                let mut key = Vec::new();
                super::append(url.as_bytes(), &mut key);
                let other = keys.entry(key).or_insert_with(|| url.clone());
                assert_eq!(*other, url);
            }
        }
    }
}
