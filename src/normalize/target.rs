//! How a profile reads request targets, and the origin that they are joined to.

/// Scheme and authority that a request target is joined to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The scheme without its colon.
    pub scheme: Vec<u8>,
    /// The authority without its slashes.
    pub authority: Vec<u8>,
}

/// How a profile reads request targets: [`Normalizer::targets`](crate::Normalizer::targets).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Targets {
    /// Without bytes up to 0x20 around them.
    #[default]
    Trimmed,
    /// Unchanged.
    Verbatim,
    /// Unchanged; only text with a scheme and `//` is a URL.
    Paths,
    /// As `Paths`, but text without a leading slash is a target too: the profile rejects it and reports its
    /// other errors as well.
    Judged,
    /// As `Paths`, but text without a leading slash is read as if it had one.
    Completed,
}

impl Targets {
    /// Whether this byte is trimmed from both ends of a target.
    #[inline]
    pub fn trims(self, byte: u8) -> bool {
        self == Targets::Trimmed && byte <= b' '
    }

    /// Whether a URL needs `//` after its scheme.
    pub fn ask_for_slashes(self) -> bool {
        matches!(self, Targets::Paths | Targets::Judged | Targets::Completed)
    }
}
