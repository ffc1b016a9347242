//! The error for an unknown name of a profile, a key, or a kind of record.
//!
//! In: a text that is not a name. Out: an error that lists the names.

use std::fmt;

/// A text that is not a name of its kind.
///
/// ```
/// use uniqurl::{Key, UnknownName, Profile};
///
/// let key: Key = "surt".parse()?;
/// assert_eq!(key.to_string(), "surt");
/// let error = "md5".parse::<Key>().unwrap_err();
/// assert_eq!(error.to_string(), "`md5` is no key; those that are: url, surt, ssurt, hash");
///
/// let crawl: &Profile = "crawl".parse()?;
/// assert_eq!(crawl.to_string(), "crawl@1");
/// # Ok::<(), UnknownName>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    name: String,
    kind: &'static str,
    names: Vec<String>,
}

impl UnknownName {
    /// `kind` is the noun for the members of `all`, whose `Display` gives their names.
    pub fn new(
        name: &str,
        kind: &'static str,
        all: impl IntoIterator<Item = impl fmt::Display>,
    ) -> Self {
        let names = all.into_iter().map(|one| one.to_string()).collect();
        Self { name: name.to_owned(), kind, names }
    }

    /// The text that was given.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The valid names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, names } = self;
        write!(f, "`{}` is no {kind}; those that are: {}", name.escape_debug(), names.join(", "))
    }
}

impl std::error::Error for UnknownName {}
