//! Resolves references against a base, and removes dot segments (RFC 3986 section 5.2).

use super::error::{Error, ErrorKind};
use crate::normalize;
use crate::normalize::Parts;

/// Appends the target URI of `reference`, resolved against `base` (section 5.2.2, strict).
///
/// ```
/// use uniqurl::uri::resolve;
///
/// let mut target = Vec::new();
/// resolve(b"http://a/b/c/d;p?q", b"../g?y#s", &mut target)?;
/// assert_eq!(target, b"http://a/b/g?y#s");
/// # Ok::<(), uniqurl::uri::Error>(())
/// ```
///
/// Strict: a reference with a scheme is absolute, even if the base has the same one (`http:g` is
/// `http:g`). Nothing is decoded and nothing checked, so `%2E%2E` is not a dot segment here, and a bad
/// byte passes. A [`Normalizer`](crate::Normalizer) with a base resolves and normalizes.
///
/// The target splits into the components that section 5.2.2 gives. If it has no authority and the path
/// starts with `//`, `/.` is put in front of it, or it would read as a host:
///
/// ```
/// # use uniqurl::uri::resolve;
/// let mut target = Vec::new();
/// resolve(b"x:/a", b"/..//b", &mut target)?;
/// assert_eq!(target, b"x:/.//b");
/// # Ok::<(), uniqurl::uri::Error>(())
/// ```
///
/// # Errors
///
/// [`ErrorKind::RelativeBase`] if `base` has no scheme (section 5.1: a base is a URI, not a reference).
pub fn resolve(base: &[u8], reference: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
    let base = Parts::split(base);
    if base.scheme.is_none() {
        return Err(Error::new(0, ErrorKind::RelativeBase));
    }
    normalize::resolve(&base, &Parts::split(reference), out);
    Ok(())
}

/// Appends `path` without its dot segments (section 5.2.4).
///
/// ```
/// use uniqurl::uri::remove_dot_segments;
///
/// let mut path = Vec::new();
/// remove_dot_segments(b"/a/b/c/./../../g", &mut path);
/// assert_eq!(path, b"/a/g");
///
/// path.clear();
/// remove_dot_segments(b"mid/content=5/../6", &mut path);
/// assert_eq!(path, b"mid/6");
/// ```
///
/// It is a step of [`resolve`]. On the path of an unresolved reference it loses the meaning of the dots
/// (`../a` becomes `a`), and its result may begin with `//`.
pub fn remove_dot_segments(path: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(path);
    normalize::remove_from_any(out, start);
}
