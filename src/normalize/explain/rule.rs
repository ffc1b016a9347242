//! The names of the rules, for the steps of an explanation and the counts of `--stats`.

use std::fmt;
use std::str::FromStr;

use crate::bytes::UnknownName;

macro_rules! rules {
    ($($variant:ident $name:literal $source:expr, $sentence:literal)*) => {
        /// A rule that may act on a URL, in the order in which a profile applies them. The rules from
        /// `fold-scheme` to `sort-query` may act again, if a later one changes the URL for an earlier one.
        ///
        /// ```
        /// use uniqurl::Rule;
        ///
        /// let rule = Rule::named("default-port").unwrap();
        /// assert_eq!(rule.source(), Some("RFC 3986 section 6.2.3"));
        /// assert_eq!(rule.sentence(), "the port that the scheme means anyway goes");
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Rule {
            $(#[doc = concat!("`", $name, "`: ", $sentence, ".")] $variant,)*
        }

        impl Rule {
            /// Every rule, in order.
            pub const ALL: &[Rule] = &[$(Rule::$variant),*];

            /// The rule as it is printed and counted.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$variant => $name),* }
            }

            /// The rule of this name.
            pub fn named(name: &str) -> Option<Rule> {
                Rule::ALL.iter().copied().find(|rule| rule.name() == name)
            }

            /// The section of the standard that the rule comes from, if any.
            pub const fn source(self) -> Option<&'static str> {
                match self { $(Rule::$variant => $source),* }
            }

            /// A short description of the rule for people.
            pub const fn sentence(self) -> &'static str {
                match self { $(Rule::$variant => $sentence),* }
            }
        }
    };
}

/// The name.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// By its name.
impl FromStr for Rule {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::named(name).ok_or_else(|| UnknownName::new(name, "rule", Self::ALL))
    }
}

rules! {
    Transcode "transcode" Some("RFC 3986 section 2.5"),
        "triplets of another charset are rewritten as UTF-8"
    Trim "trim" Some("RFC 3986 appendix C, URL Standard section 4.4"),
        "spaces and control characters around the URL go"
    LineBreaks "line-breaks" Some("URL Standard section 4.4"), "tabs and line breaks go"
    RepeatedScheme "repeated-scheme" None, "of several http:// or https:// in front the last stays"
    AssumeScheme "assume-scheme" Some("RFC 3986 section 4.5"),
        "what has no scheme is read as if the assumed one stood in front"
    DecodeDots "decode-dots" Some("RFC 3986 section 6.2.2.2"),
        "encoded dots of a reference are decoded before it is resolved"
    Resolve "resolve" Some("RFC 3986 section 5.2"), "a relative reference is resolved against the base"
    LeadingSlash "leading-slash" Some("Jakarta Servlet 6.1 section 3.5.2"),
        "the path starts with a slash"
    Join "join" Some("RFC 9112 section 3.3"),
        "a request target goes behind the scheme and authority of the base"
    DropFragment "drop-fragment" Some("RFC 3986 section 6.1"),
        "the fragment goes: it is no part of what is fetched"
    DropUserinfo "drop-userinfo" Some("RFC 3986 section 7.5"), "credentials go"
    Encode "encode" Some("RFC 3986 section 2.1"),
        "a byte that may not stand there is written as a triplet"
    RingEncode "ring-encode" None, "the ring writes these characters as triplets"
    TripletCase "triplet-case" Some("RFC 3986 section 6.2.2.1"),
        "the digits of triplets go to upper case"
    DecodeUnreserved "decode-unreserved" Some("RFC 3986 section 6.2.2.2"),
        "triplets of unreserved characters are decoded"
    RingDecode "ring-decode" None, "the ring writes these characters as themselves"
    DecodeAll "decode-all" None,
        "triplets are decoded until none is left; what has to be is encoded again"
    SchemeCase "scheme-case" Some("RFC 3986 section 6.2.2.1"), "the scheme goes to lower case"
    HostCase "host-case" Some("RFC 3986 section 6.2.2.1"), "the host goes to lower case"
    Idna "idna" Some("UTS 46 section 4"), "the host is written as it is looked up, in ASCII"
    Ipv6 "ipv6" Some("RFC 5952 section 4"), "the address takes the form that RFC 5952 recommends"
    HostDots "host-dots" None, "dots at the end of the host go"
    EmptyLabels "empty-labels" None, "empty labels of the host go"
    Www "www" None, "a first label www goes, with digits behind it"
    Ipv4Number "ipv4-number" None, "a host that is one number is the IPv4 address of that number"
    EmptyPort "empty-port" Some("RFC 3986 section 6.2.3"), "a colon without a port goes"
    PortZeros "port-zeros" None, "zeros before the port go"
    DefaultPort "default-port" Some("RFC 3986 section 6.2.3"),
        "the port that the scheme means anyway goes"
    FileLocalhost "file-localhost" Some("RFC 8089 section 2"), "localhost is the same as no host"
    FileAuthority "file-authority" Some("RFC 8089 section 2 and appendix B"),
        "file:/ is the same as file:///"
    EmptyPath "empty-path" Some("RFC 3986 section 6.2.3"), "an empty path is a slash"
    PathParameters "path-parameters" Some("Jakarta Servlet 6.1 section 3.5.2"),
        "what follows a semicolon in a segment goes"
    DecodeSegments "decode-segments" Some("Jakarta Servlet 6.1 section 3.5.2"),
        "segments are decoded once; only what has to be is a triplet"
    FoldCase "fold-case" None, "path and query go to lower case"
    EmptySegments "empty-segments" None, "empty segments of the path go"
    DotSegments "dot-segments" Some("RFC 3986 section 6.2.2.3"), "the segments . and .. are resolved"
    PathGuard "path-guard" Some("RFC 3986 section 3.3"),
        "/. goes before //, so that no host comes out of a path"
    MailDomain "mail-domain" Some("RFC 3986 section 6.2.3"),
        "the domains of mail addresses go to lower case"
    UrnNamespace "urn-namespace" Some("RFC 8141 section 3.1"),
        "the namespace of a urn: goes to lower case"
    SessionSegments "session-segments" None, "segments that identify a session go"
    SessionParams "session-params" None, "parameters that identify a session go"
    EmptyQuery "empty-query" None, "a question mark without a query goes"
    FoldScheme "fold-scheme" Some("RFC 3986 section 6.2.4"), "https becomes http where no port is left"
    StripWww "strip-www" Some("RFC 3986 section 6.2.4"),
        "www. goes from the front of the host while two labels remain"
    LowerPath "lower-path" Some("RFC 3986 section 6.2.4"),
        "the path goes to lower case, but for triplets"
    SqueezeSlashes "squeeze-slashes" Some("RFC 3986 section 6.2.4"), "doubled slashes become one"
    StripSession "strip-session" Some("RFC 3986 section 6.2.4"),
        "session ids go from path and query"
    StripIndex "strip-index" Some("RFC 3986 section 6.2.4"),
        "index.html and kin go from the end of the path"
    StripTrailingSlash "strip-trailing-slash" Some("RFC 3986 section 6.2.4"),
        "slashes at the end of the path go, but for the root"
    DropQuery "drop-query" Some("RFC 3986 section 6.2.4"), "the query goes"
    ListedParameters "listed-parameters" Some("RFC 3986 section 6.2.4"),
        "parameters go that are listed to be dropped, or not to be kept"
    StripTracking "strip-tracking" Some("RFC 3986 section 6.2.4"),
        "parameters of the tracking list go"
    BlankValues "blank-values" Some("RFC 3986 section 6.2.4"),
        "parameters keep their names and lose their values"
    SqueezeQuery "squeeze-query" Some("RFC 3986 section 6.2.4"),
        "empty queries and blank parameters go"
    SortQuery "sort-query" None, "parameters are sorted"
    UrlStandard "url-standard" Some("URL Standard sections 4.4 and 4.5"),
        "the URL is parsed as browsers do it, and serialized"
    Redirect "redirect" None, "the list of redirects replaces the URL"
    Rest "rest" None, "what else the profile does"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_by_name_and_listed_by_index() {
        for (place, rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(Rule::named(&rule.to_string()), Some(*rule));
            assert_eq!(*rule as usize, place);
        }
        assert_eq!(Rule::named("Trim"), None);
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
