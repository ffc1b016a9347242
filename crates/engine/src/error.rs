//! The reasons why a run ends early.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::job::MaxRejected;
use crate::seen::SeenError;
use uniqurl::SetFull;
use uniqurl::internal::AllocError;
use uniqurl_formats::input::InputError;
use uniqurl_store::seen::{SeenStoreError, SeenStoreProblem};
use uniqurl_store::spill::SpillError;
use uniqurl_text::Printable;

/// Why a run ended early.
#[derive(Debug)]
pub enum RunError {
    /// An input could not be read.
    Input(InputError),
    /// An output could not be written; the error names it.
    Output(io::Error),
    /// The set is full.
    Set(SetFull),
    /// Memory ran out for something else that grows with the input.
    Memory,
    /// The URLs to keep of each group do not fit into memory.
    Groups,
    /// The templates in which segments with many values are to be named do not fit into memory.
    Slugs,
    /// A temporary file could not be written, or not be read back.
    Spill(SpillError),
    /// A list from before the run cannot be used.
    Seen(SeenError),
    /// A store of keys from before the run cannot be read, or that of the new keys cannot be written.
    Store(SeenStoreError),
    /// Threads could not be started.
    Threads(String),
    /// More records were rejected than allowed.
    Rejected(TooManyRejected),
    /// No input has a field that a filter asks for.
    Idle(IdleFilter),
    /// [`Watch::stop`](crate::Watch::stop) was set.
    Stopped,
}

/// A filter that asks for a field that no input has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdleFilter {
    /// The field: status, method, mime, agent, time or record type.
    pub field: &'static str,
    /// The format of the inputs, if all have the same.
    pub format: Option<String>,
}

impl fmt::Display for IdleFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no input has a field for the filter by {}", self.field)?;
        match &self.format {
            Some(format) => write!(f, ": the format is {}", Printable(format.as_bytes())),
            None => Ok(()),
        }
    }
}

/// The state of a run that exceeded its limit.
#[derive(Debug)]
pub struct TooManyRejected {
    /// The limit.
    pub limit: MaxRejected,
    /// Rejected records and all records, for a limit in percent.
    pub rejected: u64,
    /// See [`rejected`](Self::rejected).
    pub records: u64,
    /// The first rejected record that was one too many, for a limit by number: its input, its number
    /// there, and its offset.
    pub first: Option<(PathBuf, u64, u64)>,
}

impl fmt::Display for TooManyRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((path, record, offset)) = &self.first {
            write!(f, "{}@{offset}: record {record}: ", Printable::path(path))?;
        }
        match self.limit {
            MaxRejected::Count(1) => f.write_str("more than 1 record is rejected"),
            MaxRejected::Count(count) => write!(f, "more than {count} records are rejected"),
            MaxRejected::Percent(percent) => write!(
                f,
                "{} of {} records are rejected, which is more than {percent} %",
                self.rejected, self.records
            ),
        }
    }
}

impl std::error::Error for TooManyRejected {}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Input(error) => error.fmt(f),
            RunError::Output(error) => error.fmt(f),
            RunError::Set(error) => error.fmt(f),
            RunError::Memory => f.write_str("out of memory"),
            RunError::Groups => f.write_str(
                "the URLs to keep of each group, with those seen before, take more memory than allowed",
            ),
            RunError::Slugs => f.write_str(
                "the templates take more memory than allowed, and segments with many values are known of all templates together",
            ),
            RunError::Rejected(error) => error.fmt(f),
            RunError::Idle(error) => error.fmt(f),
            RunError::Spill(error) => error.fmt(f),
            RunError::Seen(error) => error.fmt(f),
            RunError::Store(error) => error.fmt(f),
            RunError::Stopped => f.write_str("stopped"),
            RunError::Threads(error) => write!(f, "cannot start threads: {error}"),
        }
    }
}

/// The source is that of the error in it, whose words this one has.
impl std::error::Error for RunError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RunError::Input(error) => error.source(),
            RunError::Output(error) => error.source(),
            RunError::Set(error) => error.source(),
            RunError::Rejected(error) => error.source(),
            RunError::Spill(error) => error.source(),
            RunError::Seen(error) => error.source(),
            RunError::Store(error) => error.source(),
            RunError::Memory
            | RunError::Groups
            | RunError::Slugs
            | RunError::Idle(_)
            | RunError::Threads(_)
            | RunError::Stopped => None,
        }
    }
}

impl From<SetFull> for RunError {
    fn from(error: SetFull) -> Self {
        RunError::Set(error)
    }
}

impl From<AllocError> for RunError {
    fn from(_: AllocError) -> Self {
        RunError::Memory
    }
}

impl From<SpillError> for RunError {
    fn from(error: SpillError) -> Self {
        // Another directory would be no help then.
        match error.error.kind() {
            io::ErrorKind::OutOfMemory => RunError::Memory,
            _ => RunError::Spill(error),
        }
    }
}

impl From<SeenStoreError> for RunError {
    fn from(error: SeenStoreError) -> Self {
        // Whoever runs out of memory, the run ends for the same reason, and with the same status.
        match error.problem {
            SeenStoreProblem::Memory => RunError::Memory,
            _ => RunError::Store(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;
    use std::path::Path;

    use super::*;
    use uniqurl_formats::input::Trouble;

    /// One of each kind.
    fn errors() -> Vec<RunError> {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let input = |trouble| RunError::Input(InputError::new(Path::new("in"), None, trouble));
        let limit = MaxRejected::Count(1);
        vec![
            input(Trouble::Io(denied())),
            input(Trouble::Memory("a page is longer than there is memory for".into())),
            RunError::Output(denied()),
            RunError::Set(SetFull::default()),
            RunError::Memory,
            RunError::Groups,
            RunError::Slugs,
            RunError::Spill(SpillError { directory: "d".into(), error: denied() }),
            RunError::Seen(SeenError {
                path: "seen".into(),
                trouble: "it is a table".to_owned().into(),
            }),
            RunError::Store(SeenStoreError {
                path: "store".into(),
                offset: None,
                problem: SeenStoreProblem::Io(denied()),
            }),
            RunError::Threads("no more".into()),
            RunError::Rejected(TooManyRejected { limit, rejected: 2, records: 3, first: None }),
            RunError::Idle(IdleFilter { field: "time", format: Some("lines".into()) }),
            RunError::Stopped,
        ]
    }

    #[test]
    fn no_engine_error_names_a_command_option() {
        for error in errors() {
            let told = error.to_string();
            assert!(!told.contains(" -"), "{told}");
        }
    }

    /// Callers that print an error with its sources would otherwise print the text twice.
    #[test]
    fn errors_have_no_source_that_repeats_their_text() {
        for error in errors() {
            assert!(error.source().is_none(), "{error}");
            let inner: Option<&dyn Error> = match &error {
                RunError::Input(error) => Some(error),
                RunError::Spill(error) => Some(error),
                _ => None,
            };
            assert!(inner.is_none_or(|inner| inner.source().is_none()), "{error}");
        }
    }
}
