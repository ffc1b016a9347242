//! Errors of tables.

use arrow_schema::ArrowError;

use crate::input::Trouble;

/// The reason that a table cannot be read further.
#[derive(Debug)]
pub(super) enum TableError {
    /// It violates its format.
    Damage(String),
    /// It needs more memory than allowed.
    Limit(String),
}

impl TableError {
    /// Creates the error for exceeding the memory limit.
    pub(super) fn too_much(what: impl std::fmt::Display) -> Self {
        Self::Limit(format!("{what}, more than there is memory for"))
    }

    /// Rewrites the message.
    pub(super) fn told(self, tell: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Damage(why) => Self::Damage(tell(why)),
            Self::Limit(why) => Self::Limit(tell(why)),
        }
    }
}

impl From<TableError> for Trouble {
    fn from(error: TableError) -> Self {
        match error {
            TableError::Damage(why) => Trouble::Malformed(why),
            TableError::Limit(why) => Trouble::Memory(why),
        }
    }
}

impl From<String> for TableError {
    fn from(why: String) -> Self {
        Self::Damage(why)
    }
}

impl From<&str> for TableError {
    fn from(why: &str) -> Self {
        Self::Damage(why.to_owned())
    }
}

impl From<std::io::Error> for TableError {
    fn from(error: std::io::Error) -> Self {
        Self::Damage(error.to_string())
    }
}

/// Returns the library's message without its prefix.
pub(super) fn arrow_message(error: ArrowError) -> String {
    match error {
        ArrowError::ParquetError(words) => {
            words.strip_prefix("Parquet error: ").map_or(words.clone(), str::to_owned)
        }
        ArrowError::ParseError(words)
        | ArrowError::IpcError(words)
        | ArrowError::InvalidArgumentError(words)
        | ArrowError::IoError(words, _) => words,
        error => error.to_string(),
    }
}
