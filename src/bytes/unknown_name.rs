//! What is chosen by its name: a profile, a key, a kind of record.
//!
//! In comes a text that no name is; out goes an error that says which names there are.

use std::fmt;

/// A text that is the name of nothing of its kind.
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
    /// `kind` is the word for what `all` are, which show their names.
    pub fn new(
        name: &str,
        kind: &'static str,
        all: impl IntoIterator<Item = impl fmt::Display>,
    ) -> Self {
        let names = all.into_iter().map(|one| one.to_string()).collect();
        Self { name: name.to_owned(), kind, names }
    }

    /// The text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names that there are.
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
