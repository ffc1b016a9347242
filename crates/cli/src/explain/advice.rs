//! What can be done about a URL that was rejected.

use std::borrow::Cow;

use uniqurl::profile::System;
use uniqurl::uri::Uri;
use uniqurl::{Code, Normalizer, Reject};

/// What to do about one trouble of a rejected URL, in a sentence or two, where there is something.
pub(super) fn advice(
    code: Code,
    url: &[u8],
    reject: &Reject,
    normalizer: &Normalizer,
) -> Option<Cow<'static, str>> {
    let system = normalizer.profile().system;
    let takes_targets = matches!(system, System::Servlet | System::Ring(_));
    let advice = match code {
        // There a base lends its scheme and host alone, and only to a path.
        Code::Relative if takes_targets => {
            "A request target begins with a slash, whether there is a base or not."
        }
        Code::Relative => {
            "--base says what it is relative to; --assume-scheme https reads example.com/x as \
             https://example.com/x."
        }
        Code::Scheme if would_be_host(url, normalizer) => {
            "A scheme is a letter, then letters, digits, + - or . up to the colon. With \
             --assume-scheme https what stands there is a host, as in https://192.0.2.1:80/."
        }
        Code::Scheme => {
            "A scheme is a letter, then letters, digits, + - or . up to the colon. A colon that \
             ends no scheme is written %3A, or ./ goes before the first segment."
        }
        Code::NoAuthority => "Write // and a host behind the colon, as in http://example.com/.",
        // Only of the first of several troubles is the place known, on which the advice depends.
        Code::Byte | Code::Escape if code != reject.code => return None,
        // No profile that sends a host to a resolver takes a triplet of it there.
        Code::Byte | Code::Escape if is_in_host(url, reject.at, normalizer) => {
            "A host is letters, digits, hyphens and dots; the profile crawl writes other scripts in \
             ASCII."
        }
        Code::Byte => "Write the byte as a triplet, or use the profile crawl, which does so.",
        Code::Escape => {
            "Write %25 for a percent sign that is meant, or use the profile crawl, which does so."
        }
        // A browser alone refuses a host for being a number.
        Code::Host if code == reject.code && !is_bracketed(url, reject.at) => {
            "To a browser a host that ends in a number is an IPv4 address, of four numbers up to 255; \
             the profile crawl takes it for a name."
        }
        Code::Host => {
            "Between brackets there is an IPv6 address like [2001:db8::1], without a zone, and \
             brackets stand nowhere else in a host."
        }
        Code::Port => "A port is digits only. A colon in a host that is an address needs brackets.",
        Code::PortRange => "Correct the number; the profile scheme keeps it as it is.",
        Code::EmptyHost => "Write the host between the // and the path.",
        Code::Idna => "A host is letters, digits, hyphens and dots, in any script IDNA allows.",
        Code::Newline => "Write the line break as %0A or %0D, or leave it out.",
        Code::AsteriskForm => "There is no URL in such a request.",
        Code::Fragment
        | Code::NoLeadingSlash
        | Code::LeadingDotDot
        | Code::EncodedSlash
        | Code::DotSegmentParameter
        | Code::EncodedDotSegment
        | Code::EmptySegmentBeforeDotDot
        | Code::EmptySegmentParameter
        | Code::Backslash
        | Code::Control
        | Code::EncodedUnreserved
        | Code::EncodedBackslash
        | Code::Nul
        | Code::DoubleEncoding
        | Code::OverlongUtf8
        | Code::RareIpv4
        | Code::Userinfo
        | Code::WellKnownPort => {
            return Some(format!("{} switches this check off.", allowing(code, normalizer)).into());
        }
        Code::Decode => {
            let allowing = allowing(code, normalizer);
            return Some(
                format!("Segments are triplets of UTF-8. {allowing} lets raw ones through.").into(),
            );
        }
        _ => return None,
    };
    Some(advice.into())
}

/// Whether `--assume-scheme` takes what stands before the first colon for a host.
fn would_be_host(url: &[u8], normalizer: &Normalizer) -> bool {
    let assuming = normalizer.clone().with_assumed_scheme(b"https");
    assuming.is_ok_and(|assuming| assuming.assume(url).is_some())
}

/// What to give so that a check is not made. `--allow` does not go with a profile file.
fn allowing(code: Code, normalizer: &Normalizer) -> String {
    match normalizer.is_from_file() {
        true => format!("allow = [\"{code}\"] in the profile file"),
        false => format!("--allow {code}"),
    }
}

/// Whether a bracket stands there or before that.
fn is_bracketed(url: &[u8], at: usize) -> bool {
    url.iter().take(at + 1).any(|byte| b"[]".contains(byte))
}

/// Whether a byte or triplet that was rejected there stands in a host.
fn is_in_host(url: &[u8], at: usize, normalizer: &Normalizer) -> bool {
    // A browser, which takes backslashes for slashes and any number of them, refuses none elsewhere.
    if normalizer.profile().system == System::Browser {
        return true;
    }
    let assumed = normalizer.assume(url);
    let (url, at) = assumed.as_ref().map_or((url, at), |(url, prefix)| (&url[..], at + prefix));
    let Uri { scheme, authority: Some(authority), .. } = Uri::split(url) else { return false };
    let userinfo = authority.userinfo.map_or(0, |userinfo| userinfo.len() + 1);
    let start = scheme.map_or(0, |scheme| scheme.len() + 1) + 2 + userinfo;
    (start..start + authority.host.len()).contains(&at)
}
