//! Splitting (Appendix B), resolving (section 5.2), and the offsets of the pieces in the input.

use super::dots;

/// Some bytes of the input, and their offset in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub bytes: Vec<u8>,
    pub at: usize,
}

impl Piece {
    pub fn whole(bytes: &[u8]) -> Piece {
        Piece { bytes: bytes.to_vec(), at: 0 }
    }

    /// The piece from one index to another, counted in this piece.
    pub fn cut(&self, from: usize, to: usize) -> Piece {
        Piece { bytes: self.bytes[from..to].to_vec(), at: self.at + from }
    }

    /// The piece from an index on.
    pub fn rest(&self, from: usize) -> Piece {
        self.cut(from, self.bytes.len())
    }

    /// Everything before the first of `stops`, and the rest from it on.
    fn until(&self, stops: &[u8]) -> (Piece, Piece) {
        let end =
            self.bytes.iter().position(|byte| stops.contains(byte)).unwrap_or(self.bytes.len());
        (self.cut(0, end), self.rest(end))
    }
}

/// The five components. Absent (`None`) and empty are different; a path is never absent.
#[derive(Debug, Clone)]
pub struct Parts {
    pub scheme: Option<Piece>,
    pub authority: Option<Piece>,
    pub path: Piece,
    pub query: Option<Piece>,
    pub fragment: Option<Piece>,
}

/// Appendix B: `^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?`
pub fn split(input: &Piece) -> Parts {
    let (before, rest) = input.until(b":/?#");
    if !before.bytes.is_empty() && rest.bytes.starts_with(b":") {
        split_after_scheme(Some(before), &rest.rest(1))
    } else {
        split_after_scheme(None, input)
    }
}

/// The expression from `(//([^/?#]*))?` on.
pub fn split_after_scheme(scheme: Option<Piece>, input: &Piece) -> Parts {
    if input.bytes.starts_with(b"//") {
        split_from_authority(scheme, &input.rest(2))
    } else {
        split_from_path(scheme, None, input)
    }
}

/// The expression from `[^/?#]*` on, the `//` already read.
pub fn split_from_authority(scheme: Option<Piece>, input: &Piece) -> Parts {
    let (authority, rest) = input.until(b"/?#");
    split_from_path(scheme, Some(authority), &rest)
}

/// The expression from `([^?#]*)` on.
pub fn split_from_path(scheme: Option<Piece>, authority: Option<Piece>, input: &Piece) -> Parts {
    let (path, rest) = input.until(b"?#");
    let (query, rest) = rest.until(b"#");
    Parts {
        scheme,
        authority,
        path,
        query: (!query.bytes.is_empty()).then(|| query.rest(1)),
        fragment: (!rest.bytes.is_empty()).then(|| rest.rest(1)),
    }
}

/// Section 5.2.2, strict, for a reference without a scheme. The comments are the RFC's pseudocode.
pub fn resolve(reference: &Parts, base: &Parts) -> Parts {
    let (authority, path, query);
    if reference.authority.is_some() {
        // T.authority = R.authority; T.path = remove_dot_segments(R.path); T.query = R.query;
        authority = reference.authority.clone();
        path = without_dots(&reference.path);
        query = reference.query.clone();
    } else {
        if reference.path.bytes.is_empty() {
            // T.path = Base.path; if defined(R.query) then T.query = R.query; else T.query = Base.query;
            path = base.path.clone();
            query = reference.query.clone().or(base.query.clone());
        } else {
            path = if reference.path.bytes.starts_with(b"/") {
                // T.path = remove_dot_segments(R.path);
                without_dots(&reference.path)
            } else {
                // T.path = merge(Base.path, R.path); T.path = remove_dot_segments(T.path);
                without_dots(&merge(base, &reference.path))
            };
            query = reference.query.clone();
        }
        // T.authority = Base.authority;
        authority = base.authority.clone();
    }
    // T.scheme = Base.scheme; T.fragment = R.fragment;
    Parts {
        scheme: base.scheme.clone(),
        authority,
        path,
        query,
        fragment: reference.fragment.clone(),
    }
}

fn without_dots(path: &Piece) -> Piece {
    Piece { bytes: dots::remove_dot_segments(&path.bytes), at: path.at }
}

/// Section 5.2.3: "If the base URI has a defined authority component and an empty path, then return
/// a string consisting of "/" concatenated with the reference's path; otherwise, [...] all but the
/// last segment of the base URI's path (i.e., excluding any characters after the right-most "/")".
fn merge(base: &Parts, path: &Piece) -> Piece {
    let mut bytes = if base.authority.is_some() && base.path.bytes.is_empty() {
        b"/".to_vec()
    } else {
        let kept =
            base.path.bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        base.path.bytes[..kept].to_vec()
    };
    bytes.extend_from_slice(&path.bytes);
    Piece { bytes, at: path.at }
}

/// Section 5.3 on pieces as split.
pub fn recompose_raw(parts: &Parts) -> Vec<u8> {
    let mut out = Vec::new();
    for (before, piece, after) in [("", &parts.scheme, ":"), ("//", &parts.authority, "")] {
        if let Some(piece) = piece {
            out.extend_from_slice(before.as_bytes());
            out.extend_from_slice(&piece.bytes);
            out.extend_from_slice(after.as_bytes());
        }
    }
    out.extend_from_slice(&parts.path.bytes);
    for (before, piece) in [(b'?', &parts.query), (b'#', &parts.fragment)] {
        if let Some(piece) = piece {
            out.push(before);
            out.extend_from_slice(&piece.bytes);
        }
    }
    out
}
