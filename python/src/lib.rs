//! uniqurl for Python.
//!
//! A column comes in over the Arrow PyCapsule interface, is cut into pieces, and each piece is
//! normalized by a thread of its own without the interpreter's lock; values that are canonical
//! already go out in the buffers they came in. A module imports only modules above it. The documentation
//! for users stands in `uniqurl/__init__.pyi`, and again on exported items, for `help`.

mod errors;
mod url;
mod rules;
mod values;
mod threads;
mod interrupt;
mod piece;
mod dictionary;
mod records;
mod pieces;
mod keys;
mod rejected;
mod html;
mod arrow;
mod normalizer;
mod lines;
mod dedup;
mod seen;
mod uri;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    use super::PyModuleMethods;
    #[pymodule_export]
    use super::arrow::{Column, Columns};
    #[pymodule_export]
    use super::dedup::{Deduplicated, dedup};
    #[pymodule_export]
    use super::interrupt::panic_for_tests;
    #[pymodule_export]
    use super::normalizer::{
        Normalizer, Profile, Step, codes, compare, explain, key, normalize, normalize_column,
        profiles,
    };
    #[pymodule_export]
    use super::seen::SeenStore;
    #[pymodule_export]
    use super::uri::{extract, resolve};

    /// PyO3 keeps names and types from their first use on, each under a lock. A process forked
    /// while a thread holds one would wait for it forever, so all of them are used at once.
    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::normalizer::normalize_first(module.py())
    }
}
