//! A URL as Python gives it: text or bytes, or nothing.

use std::borrow::Cow;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString};

/// A URL as given.
pub enum Url<'a, 'py> {
    Text(Cow<'a, str>),
    Bytes(&'a Bound<'py, PyBytes>),
}

impl<'a, 'py> Url<'a, 'py> {
    pub fn of(url: &'a Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = url.cast::<PyBytes>() {
            return Ok(Url::Bytes(bytes));
        }
        match url.cast::<PyString>() {
            Ok(text) => Ok(Url::Text(text.to_cow()?)),
            Err(_) => {
                let class = url.get_type().name()?;
                Err(PyTypeError::new_err(format!("a URL is str or bytes, not {class}")))
            }
        }
    }

    pub fn is_text(&self) -> bool {
        matches!(self, Url::Text(_))
    }

    pub fn bytes(&self) -> &[u8] {
        match self {
            Url::Text(text) => text.as_bytes(),
            Url::Bytes(bytes) => bytes.as_bytes(),
        }
    }

    /// The result in the type of the input. A step of an explanation may not be text.
    pub fn like(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match (self, std::str::from_utf8(bytes)) {
            (Url::Text(_), Ok(text)) => text.into_bound_py_any(py),
            _ => Ok(PyBytes::new(py, bytes).into_any()),
        }
    }
}

/// Whether it stands for no value: None, or the NaN that pandas has in its place.
pub fn is_missing(url: &Bound<'_, PyAny>) -> bool {
    url.is_none() || url.cast::<PyFloat>().is_ok_and(|number| number.value().is_nan())
}
