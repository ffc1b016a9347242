//! What a scanner is asked about.

/// The kind of input, which decides where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UrlKind {
    /// An absolute URL, or any other line of a list. The scanner can prove it clean only if it starts
    /// with `http://` or `https://` and a host.
    Absolute,
    /// A request target with an unknown host. It starts with a slash.
    Target,
}
