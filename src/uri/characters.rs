//! Which characters are literal in which component (RFC 3986 appendix A).

use std::fmt;

use crate::bytes::set::{self, AsciiSet};

/// Declares [`Component`] from a table with one row for each component: its name, and its literal characters.
macro_rules! components {
    ($($(#[$doc:meta])* $variant:ident $name:literal $set:expr;)*) => {
        /// A component of a URI, or one of the forms a host has.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Component {
            $($(#[$doc])* $variant,)*
        }

        impl Component {
            /// Every component, from left to right.
            #[doc(hidden)]
            pub const ALL: [Component; 11] = [$(Component::$variant),*];

            pub(super) const fn set(self) -> AsciiSet {
                match self { $(Component::$variant => $set),* }
            }

            const fn members(self) -> &'static [u8] {
                match self { $(Component::$variant => bytes!($set)),* }
            }
        }

        /// Prints the component in words: `registered name`.
        impl fmt::Display for Component {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $(Component::$variant => $name),* })
            }
        }
    };
}

/// The members of a set, as static bytes.
macro_rules! bytes {
    ($set:expr) => {{
        const MEMBERS: [u8; $set.len()] = $set.members();
        &MEMBERS
    }};
}

components! {
    /// `scheme` (section 3.1).
    Scheme "scheme" set::SCHEME;
    /// `userinfo` (section 3.2.1).
    Userinfo "userinfo" set::USERINFO;
    /// `host` in any of its forms, brackets included (section 3.2.2).
    Host "host" HOST;
    /// `reg-name`, a host that is a name (section 3.2.2).
    RegName "registered name" set::REG_NAME;
    /// `IPv4address` (section 3.2.2).
    Ipv4Address "IPv4 address" IPV4;
    /// `IPv6address`, without its brackets (section 3.2.2).
    Ipv6Address "IPv6 address" IPV6;
    /// `port` (section 3.2.3).
    Port "port" set::DIGIT;
    /// `path` (section 3.3).
    Path "path" set::PATH;
    /// `segment`, the text between two slashes of a path (section 3.3).
    Segment "path segment" set::PCHAR;
    /// `query` (section 3.4).
    Query "query" set::QUERY;
    /// `fragment` (section 3.5).
    Fragment "fragment" set::QUERY;
}

/// `IPvFuture` allows the same as `userinfo`, and an IPv6 address less; both have brackets.
const HOST: AsciiSet = set::USERINFO.or(AsciiSet::of(b"[]"));
const IPV4: AsciiSet = set::DIGIT.or(AsciiSet::of(b"."));
const IPV6: AsciiSet = IPV4.or(AsciiSet::of(b":ABCDEFabcdef"));
const RESERVED_SET: AsciiSet = set::GEN_DELIMS.or(set::SUB_DELIMS);

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
    component.members()
}
