//! What is wrong with a table.

use crate::input::Trouble;

/// Why a table is not read on.
#[derive(Debug)]
pub(super) enum Fault {
    /// It contradicts its format.
    Damage(String),
    /// It takes more memory than it may.
    Limit(String),
}

impl Fault {
    /// What takes more memory than it may.
    pub(super) fn too_much(what: impl std::fmt::Display) -> Self {
        Self::Limit(format!("{what}, more than there is memory for"))
    }

    /// The same told with more words.
    pub(super) fn told(self, tell: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Damage(why) => Self::Damage(tell(why)),
            Self::Limit(why) => Self::Limit(tell(why)),
        }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Damage(why) => Trouble::Malformed(why),
            Fault::Limit(why) => Trouble::Memory(why),
        }
    }
}

impl From<String> for Fault {
    fn from(why: String) -> Self {
        Self::Damage(why)
    }
}

impl From<&str> for Fault {
    fn from(why: &str) -> Self {
        Self::Damage(why.to_owned())
    }
}

impl From<std::io::Error> for Fault {
    fn from(error: std::io::Error) -> Self {
        Self::Damage(error.to_string())
    }
}
