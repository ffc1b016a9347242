//! The library on the bytes of a column: the baseline of `scripts/bench-python`.

use std::time::Instant;

use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use pyo3::prelude::*;
use uniqurl::Batch;

use crate::arrow::chunks_of;
use crate::errors::{self, guarded};
use crate::rules::Rules;

/// Seconds that the library's `normalize_batch` takes for a column of type string, `rounds` times
/// with one batch.
#[pyfunction]
#[pyo3(name = "_library_seconds")]
pub fn library_seconds(
    array: &Bound<'_, PyAny>,
    profile: &str,
    rounds: usize,
) -> PyResult<Vec<f64>> {
    let py = array.py();
    guarded(py, || {
        let rules = Rules::new(py, Some(profile), None)?;
        let (chunks, field) = chunks_of(array)?;
        let (DataType::Utf8, [chunk]) = (field.data_type(), &chunks[..]) else {
            return Err(errors::usage(py, "one chunk of type string"));
        };
        let column = chunk.as_string::<i32>();
        let offsets: Vec<u32> =
            column.value_offsets().iter().map(|offset| *offset as u32).collect();
        let mut batch = Batch::default();
        let mut seconds = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            // As columns are normalized in real calls: without the interpreter's lock.
            let done = py.detach(|| {
                rules.normalizer.normalize_batch(column.value_data(), &offsets, &mut batch)
            });
            errors::checked(py, done)?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        Ok(seconds)
    })
}
