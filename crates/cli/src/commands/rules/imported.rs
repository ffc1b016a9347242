//! Rules that were read, and those that no section can say.

use std::collections::BTreeMap;

use super::pattern::Scope;

/// The rules of a file.
#[derive(Default)]
pub(super) struct Imported {
    pub(super) taken: Vec<Removal>,
    /// Exceptions that are taken.
    pub(super) exceptions: usize,
    /// The texts of the others, by reason.
    pub(super) listed: BTreeMap<&'static str, Vec<String>>,
    /// Rules about other things than parameters.
    pub(super) others: usize,
}

/// A rule that is taken: it removes parameters within its scopes, but not within those excepted.
pub(super) struct Removal {
    pub(super) scopes: Vec<Scope>,
    pub(super) excepted: Vec<Scope>,
    /// Patterns of names.
    pub(super) names: Vec<String>,
}

impl Removal {
    pub(super) fn all_scopes(&self) -> impl Iterator<Item = &Scope> {
        self.scopes.iter().chain(&self.excepted)
    }
}

/// The reason of an exception that is listed and acts nowhere. One that can be said in part is taken, for more URLs.
pub(super) const EXCEPTION_NOT_MADE: &str =
    "is an exception that no section can say, and is not made";

impl Imported {
    pub(super) fn list(&mut self, reason: &'static str, rule: impl Into<String>) {
        self.listed.entry(reason).or_default().push(rule.into());
    }

    /// Counts an exception, or lists it if it is made for more URLs than it names.
    pub(super) fn except(&mut self, wider: Option<&'static str>, rule: impl Into<String>) {
        match wider {
            None => self.exceptions += 1,
            Some(reason) => self.list(reason, rule),
        }
    }
}
