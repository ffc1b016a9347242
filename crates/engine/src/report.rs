//! The report of a run, shown during the run and returned at its end, even if the run fails.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::output::{FileStats, Inputs, Observed, Tally};
use crate::phase::Phase;
use crate::seen::{RejectedSeen, SeenError};
use crate::trace::Trace;
use uniqurl::internal::AllocError;
use uniqurl_formats::input::InputError;
use uniqurl_formats::record::Suggestion;
use uniqurl_text::Printable;

use uniqurl::SetFull;

use uniqurl_store::seen::{SeenStoreError, SeenStoreProblem};
use uniqurl_store::spill::{GroupsBeyondMemory, SpillError, Spilled};

/// The accounting of a run, up to the point of failure if it failed.
// A field for each fact that callers print, so more than a dozen.
#[derive(Debug, Default)]
pub struct Report {
    /// All records.
    pub tally: Tally,
    /// One entry for each input that was read or begun, in order.
    pub files: Vec<FileStats>,
    /// Bytes read.
    pub bytes: u64,
    /// Request targets without a known host. If their hosts differ, that is lost.
    pub hostless: u64,
    /// The observations for a page, if the plan asks for them.
    pub observed: Option<Box<Observed>>,
    /// Records of lists.
    pub listed: u64,
    /// Those of them that contain a tab. An input with many may be a table.
    pub tabbed: u64,
    /// Those of them that begin with a word, a colon and a blank, or otherwise as no URL does.
    pub labelled: u64,
    /// For each input whose format was guessed, its index in [`files`](Self::files) and the guess.
    pub guessed: Vec<(usize, Arc<str>)>,
    /// For each of these inputs that is a table without commas, the byte between its columns.
    pub delimiters: Vec<(usize, u8)>,
    /// For each of these inputs whose guess drops a field that names hosts, the field. If the hosts
    /// differ, that is lost.
    pub dropped_hosts: Vec<(usize, String)>,
    /// For each of them that may be read better in another way, its index and that way.
    pub suggestions: Vec<(usize, Suggestion)>,
    /// The beginning of the first record that was rejected.
    pub first_rejected: Option<Vec<u8>>,
    /// Inputs that were given up without ending the run: their index in [`files`](Self::files), which
    /// counts the records read before the error, and the error.
    pub damaged: Vec<(usize, InputError)>,
    /// Inputs with zeros after their compressed data, by the same index, and the number of those bytes.
    pub padded: Vec<(usize, u64)>,
    /// Files whose last line was still being written, by the same index, and the offset of that line.
    pub cut: Vec<(usize, u64)>,
    /// Lists from before the run with lines that are no URLs.
    pub rejected_seen: Vec<RejectedSeen>,
    /// Bytes of temporary files, because the set did not fit into memory.
    pub spilled: Spilled,
}

/// The view of a run from outside while it lasts, to show its progress and to stop it.
#[derive(Debug, Default)]
pub struct Watch {
    /// Bytes read.
    pub bytes: Arc<AtomicU64>,
    /// Stops the run if set, with [`RunError::Stopped`]. The run checks it between rounds, and no more once
    /// it sorts and writes a complete set.
    pub stop: Arc<AtomicBool>,
    /// Notes each task of the run, if there is one.
    pub trace: Option<Trace>,
    counted: Mutex<(Tally, Inputs)>,
    phase: Mutex<Phase>,
}

impl Watch {
    /// The accounting so far. It adds up at any time, since batches on their way are not counted.
    pub fn counted(&self) -> (Tally, Inputs) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the accounting.
    pub fn count(&self, change: impl FnOnce(&mut Tally, &mut Inputs)) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let (tally, inputs) = &mut *counted;
        change(tally, inputs);
    }

    /// The phase that the run is in.
    pub fn phase(&self) -> Phase {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the run is in this phase.
    pub(crate) fn enter(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    /// Notes that all lines are made and only have to be brought to the disk.
    pub fn begin_last_phase(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*phase, Phase::Writing(_)) {
            *phase = Phase::Writing(0);
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

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
    /// [`Watch::stop`] was set.
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

/// How many records may be rejected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxRejected {
    /// So many; the run ends with the next one.
    Count(u64),
    /// A percentage, from 0 to 100, shown at the end. A value that is not a number becomes 0.
    Percent(f64),
}

impl MaxRejected {
    pub(crate) fn within_bounds(self) -> Self {
        match self {
            MaxRejected::Percent(percent) if percent > 0.0 => {
                MaxRejected::Percent(percent.min(100.0))
            }
            MaxRejected::Percent(_) => MaxRejected::Percent(0.0),
            MaxRejected::Count(count) => MaxRejected::Count(count),
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
            RunError::Groups => GroupsBeyondMemory.fmt(f),
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
        if error.error.get_ref().is_some_and(|reason| reason.is::<GroupsBeyondMemory>()) {
            return RunError::Groups;
        }
        // Another directory would be no help then.
        match error.error.kind() {
            io::ErrorKind::OutOfMemory => RunError::Memory,
            _ => RunError::Spill(error),
        }
    }
}

impl From<SeenStoreError> for RunError {
    fn from(error: SeenStoreError) -> Self {
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
