//! Which characters are literal in which component (RFC 3986 appendix A).

use crate::bytes::set::{self, AsciiSet};

/// A component of a URI, or one of the forms a host has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Component {
    /// `scheme` (section 3.1).
    Scheme,
    /// `userinfo` (section 3.2.1).
    Userinfo,
    /// `host` in any of its forms, brackets included (section 3.2.2).
    Host,
    /// `reg-name`, a host that is a name (section 3.2.2).
    RegName,
    /// `IPv4address` (section 3.2.2).
    Ipv4Address,
    /// `IPv6address`, without its brackets (section 3.2.2).
    Ipv6Address,
    /// `port` (section 3.2.3).
    Port,
    /// `path` (section 3.3).
    Path,
    /// `segment`, the text between two slashes of a path (section 3.3).
    Segment,
    /// `query` (section 3.4).
    Query,
    /// `fragment` (section 3.5).
    Fragment,
}

impl Component {
    /// Every component, from left to right.
    pub const ALL: [Component; 11] = [
        Component::Scheme,
        Component::Userinfo,
        Component::Host,
        Component::RegName,
        Component::Ipv4Address,
        Component::Ipv6Address,
        Component::Port,
        Component::Path,
        Component::Segment,
        Component::Query,
        Component::Fragment,
    ];

    /// The component in words.
    ///
    /// ```
    /// assert_eq!(uniqurl::uri::Component::RegName.name(), "registered name");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            Component::Scheme => "scheme",
            Component::Userinfo => "userinfo",
            Component::Host => "host",
            Component::RegName => "registered name",
            Component::Ipv4Address => "IPv4 address",
            Component::Ipv6Address => "IPv6 address",
            Component::Port => "port",
            Component::Path => "path",
            Component::Segment => "path segment",
            Component::Query => "query",
            Component::Fragment => "fragment",
        }
    }

    pub(super) const fn set(self) -> AsciiSet {
        match self {
            Component::Scheme => set::SCHEME,
            Component::Userinfo => set::USERINFO,
            Component::Host => HOST,
            Component::RegName => set::REG_NAME,
            Component::Ipv4Address => IPV4,
            Component::Ipv6Address => IPV6,
            Component::Port => set::DIGIT,
            Component::Path => set::PATH,
            Component::Segment => set::PCHAR,
            Component::Query | Component::Fragment => set::QUERY,
        }
    }
}

/// `IPvFuture` allows the same as `userinfo`, and an IPv6 address less; both have brackets.
const HOST: AsciiSet = set::USERINFO.or(AsciiSet::of(b"[]"));
const IPV4: AsciiSet = set::DIGIT.or(AsciiSet::of(b"."));
const IPV6: AsciiSet = IPV4.or(AsciiSet::of(b":ABCDEFabcdef"));
const RESERVED_SET: AsciiSet = set::GEN_DELIMS.or(set::SUB_DELIMS);

/// The members of a set, as static bytes.
macro_rules! bytes {
    ($set:expr) => {{
        const MEMBERS: [u8; $set.len()] = $set.members();
        &MEMBERS
    }};
}

/// `unreserved`, the characters that mean the same encoded and literally (section 2.3).
///
/// ```
/// assert_eq!(uniqurl::uri::UNRESERVED.len(), 66);
/// ```
pub const UNRESERVED: &[u8] = bytes!(set::UNRESERVED);

/// `reserved = gen-delims / sub-delims`, the characters that may be delimiters (section 2.2).
///
/// ```
/// assert_eq!(uniqurl::uri::RESERVED, b"!#$&'()*+,/:;=?@[]");
/// ```
pub const RESERVED: &[u8] = bytes!(RESERVED_SET);

/// The literal characters of `component`, in byte order.
///
/// ```
/// use uniqurl::uri::{Component, allowed_characters};
///
/// assert_eq!(allowed_characters(Component::Ipv4Address), b".0123456789");
/// // Data in a query may hold a question mark; in a path that would end it.
/// assert!(allowed_characters(Component::Query).contains(&b'?'));
/// assert!(!allowed_characters(Component::Path).contains(&b'?'));
/// ```
///
/// `%` is in none: it always starts a triplet, which every component allows except the scheme, the port
/// and the addresses (section 2.1). These are the characters of the grammar, not those that are safe in
/// a value: `&` is allowed in a query and still splits a form.
pub const fn allowed_characters(component: Component) -> &'static [u8] {
    match component {
        Component::Scheme => bytes!(Component::Scheme.set()),
        Component::Userinfo => bytes!(Component::Userinfo.set()),
        Component::Host => bytes!(Component::Host.set()),
        Component::RegName => bytes!(Component::RegName.set()),
        Component::Ipv4Address => bytes!(Component::Ipv4Address.set()),
        Component::Ipv6Address => bytes!(Component::Ipv6Address.set()),
        Component::Port => bytes!(Component::Port.set()),
        Component::Path => bytes!(Component::Path.set()),
        Component::Segment => bytes!(Component::Segment.set()),
        Component::Query | Component::Fragment => bytes!(Component::Query.set()),
    }
}
