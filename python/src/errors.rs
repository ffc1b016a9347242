//! Errors as exceptions: the classes of `uniqurl/_errors.py`, with the codes of the command.

use std::ffi::CString;
use std::fmt::Display;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::exceptions::{PyOverflowError, PyRuntimeWarning, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use uniqurl::{Reject, RejectReason, SetFull};
use uniqurl_engine::RunError;
use uniqurl_formats::input::{InputError, Trouble};
use uniqurl_store::seen::{SeenStoreError, SeenStoreProblem};

/// Runs `work` and turns a panic into an exception: no panic may cross the boundary.
///
/// PyO3 would raise its own `PanicException`, which is not an `Exception`, so it would escape every
/// `except Exception` of a caller.
pub fn guarded<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        // A panic with a literal carries `&str`, and one with arguments `String`.
        let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        let words = words.unwrap_or_else(|| "no message".to_owned());
        Err(exception(py, "InternalError", ("internal", format!("a fault in uniqurl: {words}"))))
    })
}

fn exception<'py>(
    py: Python<'py>,
    class: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>>,
) -> PyErr {
    let made = py
        .import("uniqurl._errors")
        .and_then(|module| module.getattr(class))
        .and_then(|class| class.call1(arguments.into_pyobject(py).map_err(Into::into)?));
    match made {
        Ok(error) => PyErr::from_value(error),
        // If the exception cannot be made, the reason for that is the exception.
        Err(error) => error,
    }
}

/// The profile has no canonical form for a URL.
pub fn rejected(py: Python<'_>, reject: &Reject) -> PyErr {
    let codes: Vec<_> = reject.in_order().map(RejectReason::name).collect();
    of_codes(py, &codes, reject.at, &reject.to_string())
}

/// A row of a column has no canonical form. `codes` are between commas.
pub fn rejected_row(py: Python<'_>, row: usize, codes: &str, at: usize) -> PyErr {
    let all: Vec<_> = codes.split(',').collect();
    of_codes(py, &all, at, &format!("row {row}: {codes}"))
}

/// A URL is longer than the limit.
pub fn too_long(py: Python<'_>, max_url: usize) -> PyErr {
    let code = RejectReason::TooLong.name();
    of_codes(py, &[code], max_url, &format!("{code} at byte {max_url}: longer than max_url"))
}

fn of_codes(py: Python<'_>, codes: &[&str], at: usize, message: &str) -> PyErr {
    match PyTuple::new(py, codes) {
        Ok(all) => exception(py, "Rejected", (codes.first(), at, all, message)),
        Err(error) => error,
    }
}

/// A wrong argument.
pub fn usage(py: Python<'_>, message: impl Display) -> PyErr {
    exception(py, "UsageError", ("usage", message.to_string()))
}

/// The result, or the error as one of an argument.
pub fn checked<T>(py: Python<'_>, result: Result<T, impl Display>) -> PyResult<T> {
    result.map_err(|error| usage(py, error))
}

/// The error for the value of an option, with its name. A number out of all range is reported like
/// one that is only too large.
pub fn of_option(py: Python<'_>, key: &str, error: PyErr) -> PyErr {
    let said = || format!("{key}: {}", error.value(py));
    if error.is_instance_of::<PyOverflowError>(py) {
        usage(py, said())
    } else if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(said())
    } else {
        error
    }
}

/// An input that cannot be read.
pub fn input(py: Python<'_>, error: &InputError) -> PyErr {
    let (code, path) = (error.code(), error.path.as_os_str());
    let mut said = error.to_string();
    if code == "missing" && path.to_string_lossy().contains("://") {
        said.push_str("; URLs themselves come in as a column, such as pyarrow.array(urls)");
    }
    let errno = match &error.trouble {
        Trouble::Io(error) => error.raw_os_error(),
        _ => None,
    };
    let class = if code == "missing" { "MissingError" } else { "InputError" };
    exception(py, class, (code, said, path, errno))
}

/// A run that ended early.
pub fn run(py: Python<'_>, error: &RunError) -> PyErr {
    let code = match error {
        RunError::Input(error) => return input(py, error),
        RunError::Set(_) | RunError::Memory | RunError::Groups => "memory",
        RunError::Threads(_) => "threads",
        _ => "run",
    };
    ended(py, code, error)
}

/// A run that ended early for a reason other than an input.
fn ended(py: Python<'_>, code: &str, error: impl Display) -> PyErr {
    exception(py, "RunError", (code, error.to_string()))
}

/// A seen store that cannot be read or written.
pub fn store(py: Python<'_>, error: &SeenStoreError) -> PyErr {
    let (code, errno) = match &error.problem {
        // The options of the caller do not fit the store, which itself is in order.
        SeenStoreProblem::OtherRules(_) | SeenStoreProblem::OtherLists(_) => {
            return usage(py, error);
        }
        SeenStoreProblem::Memory => return ended(py, "memory", error),
        SeenStoreProblem::Busy => return ended(py, "busy", error),
        SeenStoreProblem::Missing => ("missing", None),
        SeenStoreProblem::NotAStore | SeenStoreProblem::Version(_) => ("format", None),
        SeenStoreProblem::Damaged(_) => ("damaged", None),
        SeenStoreProblem::Io(error) => {
            let code = match error.kind() {
                ErrorKind::NotFound => "missing",
                ErrorKind::PermissionDenied => "permission",
                _ => "io",
            };
            (code, error.raw_os_error())
        }
    };
    let class = if code == "missing" { "MissingError" } else { "InputError" };
    exception(py, class, (code, error.to_string(), error.path.as_os_str(), errno))
}

/// Warns about what failed after the work was done. Where the caller makes errors of warnings, it is printed
/// instead: an exception would say that the work was not done.
pub fn warn(py: Python<'_>, text: String) {
    let category = py.get_type::<PyRuntimeWarning>();
    let text = CString::new(text).unwrap_or_default();
    if let Err(error) = PyErr::warn(py, &category, &text, 1) {
        error.write_unraisable(py, None);
    }
}

/// The set of an array is full. Work finds that out while the caller holds the interpreter's lock.
pub fn full(error: SetFull) -> PyErr {
    Python::attach(|py| ended(py, "memory", error))
}
