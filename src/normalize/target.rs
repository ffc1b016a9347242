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
    /// Unchanged; only text with a scheme and `//` is a URL. Text without a leading slash is a target only
    /// where nothing else can stand, and no host is known.
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

/// True if a target is exactly `host:digits`, the host being a name or in brackets: the
/// authority-form of RFC 9112 section 3.2.3.
pub fn is_authority_form(target: &[u8]) -> bool {
    let Some(colon) = target.iter().rposition(|byte| !byte.is_ascii_digit()) else {
        return false;
    };
    let host = &target[..colon];
    let bracketed = host.len() > 2 && host.starts_with(b"[") && host.ends_with(b"]");
    target[colon] == b':'
        && colon + 1 < target.len()
        && !host.is_empty()
        && !host.iter().any(|&byte| matches!(byte, b'/' | b'?' | b'#' | b'@'))
        && (bracketed || !host.contains(&b':'))
}
