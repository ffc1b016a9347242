//! The kinds of WARC records, and sets of them.

use uniqurl::UnknownName;

/// Names of the kinds (WARC 1.1 section 5.5).
const NAMES: [&str; 8] = [
    "warcinfo",
    "response",
    "resource",
    "request",
    "metadata",
    "revisit",
    "conversion",
    "continuation",
];

/// A set of kinds of WARC records. The default set holds, or stands for, the content of URLs:
/// `response`, `revisit`, `resource` and `conversion`.
///
/// ```
/// use uniqurl_formats::record::Kinds;
///
/// let kinds = Kinds::named(["request", "response"])?;
/// assert!(kinds.contains(b"Request"));
/// assert!(!kinds.contains(b"revisit"));
/// let error = Kinds::named(["page"]).unwrap_err();
/// assert_eq!((error.name(), error.names().count()), ("page", 8));
/// # Ok::<(), uniqurl::UnknownName>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds(u8);

impl Default for Kinds {
    fn default() -> Self {
        Self::named(["response", "revisit", "resource", "conversion"]).unwrap_or(Self(0))
    }
}

impl Kinds {
    /// The names of all kinds.
    pub const ALL: [&'static str; 8] = NAMES;

    /// The set of kinds with these names.
    ///
    /// # Errors
    ///
    /// The first unknown name.
    pub fn named<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, UnknownName> {
        let mut kinds = Self(0);
        for name in names {
            let place = NAMES.iter().position(|kind| *kind == name);
            kinds.0 |= 1 << place.ok_or_else(|| UnknownName::new(name, "kind of record", NAMES))?;
        }
        Ok(kinds)
    }

    /// True if a record with this WARC-Type belongs to the set, ignoring case.
    pub fn contains(self, name: &[u8]) -> bool {
        let place = NAMES.iter().position(|kind| kind.as_bytes().eq_ignore_ascii_case(name));
        place.is_some_and(|place| self.0 >> place & 1 == 1)
    }
}
