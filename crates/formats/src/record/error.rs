//! The error of a format's name.

/// The reason for a name that no format has.
pub(super) const UNKNOWN: &str = "unknown";

/// An invalid format name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormatError {
    /// The name as given.
    pub(super) name: String,
    /// Offset of the error; 0 if it concerns the whole name.
    pub(super) at: usize,
    /// The message, phrased to follow a colon.
    pub(super) why: &'static str,
}

impl FormatError {
    /// True if no format has the name; otherwise the text after its colon is invalid or missing.
    pub fn is_unknown(&self) -> bool {
        self.why == UNKNOWN
    }

    /// The same error with offsets into `name`, which ends in the text.
    pub(super) fn of(self, name: &str) -> Self {
        let lead = name.len() - self.name.len();
        let at = if self.at > 0 { lead + self.at } else { 0 };
        Self { name: name.to_owned(), at, ..self }
    }
}

/// An error that concerns the whole name, which `of` supplies.
impl From<&'static str> for FormatError {
    fn from(why: &'static str) -> Self {
        Self { name: String::new(), at: 0, why }
    }
}

impl std::error::Error for FormatError {}
