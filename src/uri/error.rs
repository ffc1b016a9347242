//! The fault in the input of an operation, and its position.

use std::fmt;

use super::characters::Component;

/// Why an operation has no result.
///
/// ```
/// use uniqurl::uri::{self, ErrorKind};
///
/// let error = uri::percent_decode(b"100%", &mut Vec::new()).unwrap_err();
/// assert_eq!((error.at, error.kind), (3, ErrorKind::Escape));
/// assert_eq!(error.to_string(), "byte 3: a percent sign that no two hexadecimal digits follow");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Error {
    /// Offset of the byte where the fault starts, in the input of the operation, or in the component
    /// that [`ErrorKind`] names.
    pub at: usize,
    /// The kind of fault.
    pub kind: ErrorKind,
}

/// The kinds of [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A `%` without two hexadecimal digits after it (RFC 3986 section 2.1).
    Escape,
    /// A byte that would end this component.
    Delimiter(Component),
    /// A byte that this component does not allow and cannot percent-encode.
    Byte(Component),
    /// A scheme that is present but empty: it needs at least a letter (section 3.1).
    EmptyScheme,
    /// A path that follows an authority but does not begin with `/` (section 3.3).
    RootlessPath,
    /// A base without a scheme: it is itself a relative reference (section 5.2.1).
    RelativeBase,
    /// Bytes that are not a character of their charset.
    Malformed,
    /// A character that the target charset lacks.
    Unmappable,
}

impl Error {
    pub(super) const fn new(at: usize, kind: ErrorKind) -> Self {
        Self { at, kind }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, kind } = self;
        match kind {
            ErrorKind::Escape => {
                write!(f, "byte {at}: a percent sign that no two hexadecimal digits follow")
            }
            ErrorKind::Delimiter(component) => {
                write!(f, "byte {at} of the {component}: it would end there")
            }
            ErrorKind::Byte(component) => {
                write!(f, "byte {at} of the {component} is not allowed there")
            }
            ErrorKind::EmptyScheme => write!(f, "the scheme is empty"),
            ErrorKind::RootlessPath => write!(f, "a path after an authority begins with a slash"),
            ErrorKind::RelativeBase => write!(f, "the base has no scheme"),
            ErrorKind::Malformed => write!(f, "byte {at}: no character of this charset"),
            ErrorKind::Unmappable => {
                write!(f, "byte {at}: a character that the other charset does not have")
            }
        }
    }
}

impl std::error::Error for Error {}
