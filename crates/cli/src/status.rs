//! The exit status of a command, and messages on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use uniqurl_text::Printable;

/// The end of a run, as its exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Status {
    Complete = 0,
    /// Committed, but an input was skipped, or the compared URLs differ.
    Incomplete = 1,
    /// Nothing committed.
    Failed = 2,
    /// Stopped by a limit; nothing committed.
    Limit = 3,
    /// The status that a shell reports for a process that wrote to a closed pipe: 128 + SIGPIPE.
    ClosedPipe = 141,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        ExitCode::from(status as u8)
    }
}

/// The end of a command that only wrote to standard output.
pub(crate) fn wrote(result: io::Result<()>) -> ExitCode {
    status_of(result).into()
}

/// The status of a command that only wrote to standard output; prints the error if there is one.
pub(crate) fn status_of(result: io::Result<()>) -> Status {
    match result {
        Ok(()) => Status::Complete,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Status::ClosedPipe,
        Err(error) => {
            eprint_message(format_args!("standard output: {error}"));
            Status::Failed
        }
    }
}

/// Prints one line on standard error. A write error is ignored: there is no other place to report it.
pub(crate) fn eprint_message(message: impl Display) {
    eprint_hinted(message, None);
}

/// Prints one line on standard error, and the hint on a line of its own.
pub(crate) fn eprint_hinted(message: impl Display, hint: Option<&str>) {
    let mut lines = format!("uniqurl: {}\n", printable(&message.to_string()));
    if let Some(hint) = hint {
        lines += &format!("hint: {}\n", printable(hint));
    }
    // One write, so that no other process writes between the two lines.
    let _ = io::stderr().write_all(lines.as_bytes());
}

/// The text of a message, on one line, with nothing in it that a terminal would act on.
///
/// Messages already escape names and URLs that they quote, backslashes too, and those escapes stay. Other
/// unprintable bytes are escaped here: a text of the system or of a library can quote too.
pub(crate) fn printable(message: &str) -> String {
    let shown = message.bytes().map(|byte| match byte {
        0x20..=0x7E => char::from(byte).to_string(),
        _ => Printable(&[byte]).to_string(),
    });
    shown.collect()
}
