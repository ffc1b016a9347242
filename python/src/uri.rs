//! Operations besides normalizing: references against a base, and URLs in text.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::errors::{self, guarded};
use crate::url::Url;

/// The target of a reference, resolved against a base by RFC 3986 section 5.2, strictly. Both are ``str``
/// or both ``bytes``, and so is the target.
///
/// >>> resolve("http://a/b/c/d;p?q", "../g?y#s")
/// 'http://a/b/g?y#s'
///
/// Nothing is normalized or checked; :func:`normalize` with a ``base`` does both. Raises
/// :class:`UsageError` if the base has no scheme.
#[pyfunction]
pub fn resolve<'py>(
    base: &Bound<'py, PyAny>,
    reference: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = base.py();
    guarded(py, || {
        let (base, reference) = (Url::of(base)?, Url::of(reference)?);
        if base.is_text() != reference.is_text() {
            let why = "base and reference are both str or both bytes";
            return Err(PyTypeError::new_err(why));
        }
        let mut target = Vec::new();
        let resolved = uniqurl::uri::resolve(base.bytes(), reference.bytes(), &mut target);
        errors::checked(py, resolved)?;
        reference.like(py, &target)
    })
}

/// The URLs in a text, in order, separated from the text around them as RFC 3986 Appendix C describes.
/// They are ``str`` or ``bytes`` like the text.
///
/// >>> extract("It is under <http://example.com/a>, or was (see http://example.com/b).")
/// ['http://example.com/a', 'http://example.com/b']
///
/// Each has a scheme and is returned as it is written. :func:`normalize_column` finds the valid ones.
#[pyfunction]
pub fn extract<'py>(text: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = text.py();
    guarded(py, || {
        let text = Url::of(text)?;
        let bytes = text.bytes();
        // A text may be long, and other threads of Python would wait for its end.
        let found = py.detach(|| uniqurl::uri::extract(bytes).collect::<Vec<_>>());
        found.iter().map(|found| text.like(py, &found.uri)).collect()
    })
}
