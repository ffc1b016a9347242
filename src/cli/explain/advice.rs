//! What can be done about a URL that was rejected.

use crate::Code;

/// What to do about it, in a sentence or two, where there is something.
pub(super) fn advice(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::Relative => {
            "--base says what it is relative to; --assume-scheme https reads example.com/x as \
             https://example.com/x."
        }
        Code::Scheme => {
            "A scheme is a letter, then letters, digits, + - or . up to the colon. A colon that \
             ends no scheme is written %3A, or ./ goes before the first segment."
        }
        Code::NoAuthority => "Write // and a host behind the colon, as in http://example.com/.",
        Code::Byte => "Write the byte as a triplet, or use the profile crawl, which does so.",
        Code::Escape => {
            "Write %25 for a percent sign that is meant, or use the profile crawl, which does so."
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
        Code::TooLong => "--max-url sets another limit.",
        Code::AsteriskForm | Code::AuthorityForm => "There is no URL in such a request.",
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
        | Code::WellKnownPort => "--allow switches this check off.",
        Code::Decode => "Segments are triplets of UTF-8. --allow decode lets raw ones through.",
        _ => return None,
    })
}
