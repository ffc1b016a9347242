//! The reasons why a command about a store fails.

use std::io;

use uniqurl_store::seen::SeenStoreError;

/// The reason why a command about a store failed.
pub(super) enum SeenFailure {
    /// The options do not fit.
    Usage(String),
    Store(SeenStoreError),
    Output(io::Error),
}

impl From<SeenStoreError> for SeenFailure {
    fn from(error: SeenStoreError) -> Self {
        SeenFailure::Store(error)
    }
}

impl From<io::Error> for SeenFailure {
    fn from(error: io::Error) -> Self {
        SeenFailure::Output(error)
    }
}
