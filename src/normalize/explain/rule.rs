//! The names of the rules, for the steps of an explanation and the counts of `--stats`.

use crate::bytes::names::names;

names! {
    /// A rule that may act on a URL, in the order in which a profile applies them. The rules from
    /// `fold-scheme` to `sort-query` may act again, if a later one changes the URL for an earlier one.
    ///
    /// ```
    /// use uniqurl::Rule;
    ///
    /// let rule = "default-port".parse::<Rule>().unwrap();
    /// assert_eq!(rule.source(), Some("RFC 3986 section 6.2.3"));
    /// assert_eq!(rule.sentence(), "the port that the scheme means anyway goes");
    /// ```
    Rule "rule"
    Transcode "transcode" "triplets of another charset are rewritten as UTF-8"
    Trim "trim" "spaces and control characters around the URL go"
    LineBreaks "line-breaks" "tabs and line breaks go"
    RepeatedScheme "repeated-scheme" "of several http:// or https:// in front the last stays"
    AssumeScheme "assume-scheme" "what has no scheme is read as if the assumed one stood in front"
    DecodeDots "decode-dots" "encoded dots of a reference are decoded before it is resolved"
    Resolve "resolve" "a relative reference is resolved against the base"
    LeadingSlash "leading-slash" "the path starts with a slash"
    Join "join" "a request target goes behind the scheme and authority of the base"
    DropFragment "drop-fragment" "the fragment goes: it is no part of what is fetched"
    DropUserinfo "drop-userinfo" "credentials go"
    Encode "encode" "a byte that may not stand there is written as a triplet"
    RingEncode "ring-encode" "the ring writes these characters as triplets"
    TripletCase "triplet-case" "the digits of triplets go to upper case"
    DecodeUnreserved "decode-unreserved" "triplets of unreserved characters are decoded"
    RingDecode "ring-decode" "the ring writes these characters as themselves"
    DecodeAll "decode-all" "triplets are decoded until none is left; what has to be is encoded again"
    SchemeCase "scheme-case" "the scheme goes to lower case"
    HostCase "host-case" "the host goes to lower case"
    Idna "idna" "the host is written as it is looked up, in ASCII"
    Ipv6 "ipv6" "the address takes the form that RFC 5952 recommends"
    HostDots "host-dots" "dots at the end of the host go"
    EmptyLabels "empty-labels" "empty labels of the host go"
    Www "www" "a first label www goes, with digits behind it"
    Ipv4Number "ipv4-number" "a host that is one number is the IPv4 address of that number"
    EmptyPort "empty-port" "a colon without a port goes"
    PortZeros "port-zeros" "zeros before the port go"
    DefaultPort "default-port" "the port that the scheme means anyway goes"
    FileLocalhost "file-localhost" "localhost is the same as no host"
    FileAuthority "file-authority" "file:/ is the same as file:///"
    EmptyPath "empty-path" "an empty path is a slash"
    PathParameters "path-parameters" "what follows a semicolon in a segment goes"
    DecodeSegments "decode-segments" "segments are decoded once; only what has to be is a triplet"
    FoldCase "fold-case" "path and query go to lower case"
    EmptySegments "empty-segments" "empty segments of the path go"
    DotSegments "dot-segments" "the segments . and .. are resolved"
    PathGuard "path-guard" "/. goes before //, so that no host comes out of a path"
    MailDomain "mail-domain" "the domains of mail addresses go to lower case"
    UrnNamespace "urn-namespace" "the namespace of a urn: goes to lower case"
    SessionSegments "session-segments" "segments that identify a session go"
    SessionParams "session-params" "parameters that identify a session go"
    EmptyQuery "empty-query" "a question mark without a query goes"
    FoldScheme "fold-scheme" "https becomes http where no port is left"
    StripWww "strip-www" "www. goes from the front of the host while two labels remain"
    LowerPath "lower-path" "the path goes to lower case, but for triplets"
    SqueezeSlashes "squeeze-slashes" "doubled slashes become one"
    StripSession "strip-session" "session ids go from path and query"
    StripIndex "strip-index" "index.html and kin go from the end of the path"
    StripTrailingSlash "strip-trailing-slash" "slashes at the end of the path go, but for the root"
    DropQuery "drop-query" "the query goes"
    ListedParameters "listed-parameters" "parameters go that are listed to be dropped, or not to be kept"
    StripTracking "strip-tracking" "parameters of the tracking list go"
    BlankValues "blank-values" "parameters keep their names and lose their values"
    SqueezeQuery "squeeze-query" "empty queries and blank parameters go"
    SortQuery "sort-query" "parameters are sorted"
    UrlStandard "url-standard" "the URL is parsed as browsers do it, and serialized"
    Redirect "redirect" "the list of redirects replaces the URL"
    Rest "rest" "what else the profile does"
}

impl Rule {
    /// The section of the standard that the rule comes from, if any.
    pub const fn source(self) -> Option<&'static str> {
        Some(match self {
            Self::Transcode => "RFC 3986 section 2.5",
            Self::Trim => "RFC 3986 appendix C, URL Standard section 4.4",
            Self::LineBreaks => "URL Standard section 4.4",
            Self::AssumeScheme => "RFC 3986 section 4.5",
            Self::DecodeDots | Self::DecodeUnreserved => "RFC 3986 section 6.2.2.2",
            Self::Resolve => "RFC 3986 section 5.2",
            Self::LeadingSlash | Self::PathParameters | Self::DecodeSegments => {
                "Jakarta Servlet 6.1 section 3.5.2"
            }
            Self::Join => "RFC 9112 section 3.3",
            Self::DropFragment => "RFC 3986 section 6.1",
            Self::DropUserinfo => "RFC 3986 section 7.5",
            Self::Encode => "RFC 3986 section 2.1",
            Self::TripletCase | Self::SchemeCase | Self::HostCase => "RFC 3986 section 6.2.2.1",
            Self::Idna => "UTS 46 section 4",
            Self::Ipv6 => "RFC 5952 section 4",
            Self::EmptyPort | Self::DefaultPort | Self::EmptyPath | Self::MailDomain => {
                "RFC 3986 section 6.2.3"
            }
            Self::FileLocalhost => "RFC 8089 section 2",
            Self::FileAuthority => "RFC 8089 section 2 and appendix B",
            Self::DotSegments => "RFC 3986 section 6.2.2.3",
            Self::PathGuard => "RFC 3986 section 3.3",
            Self::UrnNamespace => "RFC 8141 section 3.1",
            Self::FoldScheme
            | Self::StripWww
            | Self::LowerPath
            | Self::SqueezeSlashes
            | Self::StripSession
            | Self::StripIndex
            | Self::StripTrailingSlash
            | Self::DropQuery
            | Self::ListedParameters
            | Self::StripTracking
            | Self::BlankValues
            | Self::SqueezeQuery => "RFC 3986 section 6.2.4",
            Self::UrlStandard => "URL Standard sections 4.4 and 4.5",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_by_name_and_listed_by_index() {
        for (place, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(rule.to_string().parse::<Rule>(), Ok(*rule));
            assert_eq!(*rule as usize, place);
        }
        assert!("Trim".parse::<Rule>().is_err());
    }

    #[test]
    fn description_of_each_rule_fits_80_columns() {
        for rule in Rule::ALL {
            assert!(rule.sentence().len() <= 74, "{}", rule.name());
            let source = rule.source().map_or(0, str::len);
            assert!(rule.name().len() + source <= 60, "{}", rule.name());
        }
    }
}
