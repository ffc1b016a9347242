//! The values of these options.

use uniqurl_formats::record::Format;

/// The format of the inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatChoice {
    /// To be found out for each input.
    Auto,
    /// The same for all of them.
    Named(Format),
}

/// What an input that is missing or damaged does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadInput {
    /// The run fails, and nothing is written.
    Fails,
    /// It is named and skipped.
    IsSkipped,
}

/// What a directory among the inputs is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directories {
    /// A mistake.
    AreRefused,
    /// The files below it.
    AreWalked,
}

/// Whether a run says on standard error how it goes.
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
