//! The values of these options.

use uniqurl_formats::record::Format;

/// The format of the inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatChoice {
    /// Detected for each input.
    Auto,
    /// The same for all of them.
    Named(Format),
    /// The same for all of them: an entry of --format-file, which is not read yet.
    InFile(String),
}

/// The effect of a missing or damaged input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadInput {
    /// The run fails, and nothing is written.
    Fails,
    /// It is named and skipped.
    IsSkipped,
}

/// The meaning of a directory among the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directories {
    /// A mistake.
    AreRefused,
    /// The files below it.
    AreWalked,
}

/// The messages of a run on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageLevel {
    /// Progress, and the summary.
    All,
    /// Errors and warnings only.
    Warnings,
}

impl BadInput {
    pub(super) fn from_flag(keep_going: bool) -> Self {
        if keep_going { BadInput::IsSkipped } else { BadInput::Fails }
    }
}

impl Directories {
    pub(super) fn from_flag(recursive: bool) -> Self {
        if recursive { Directories::AreWalked } else { Directories::AreRefused }
    }
}

impl MessageLevel {
    pub(crate) fn from_flag(quiet: bool) -> Self {
        if quiet { MessageLevel::Warnings } else { MessageLevel::All }
    }
}
