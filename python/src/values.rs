//! The values of an Arrow column of any type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, GenericBinaryArray, GenericStringArray, OffsetSizeTrait};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyRuntimeError;
use pyo3::{PyErr, PyResult};

/// The bytes of a value of a column.
pub fn bytes_of<'a>(array: &'a dyn Array) -> Box<dyn Fn(usize) -> &'a [u8] + 'a> {
    match array.data_type() {
        DataType::Utf8 => Box::new(move |row| array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Box::new(move |row| array.as_string::<i64>().value(row).as_bytes()),
        DataType::Utf8View => Box::new(move |row| array.as_string_view().value(row).as_bytes()),
        DataType::Binary => Box::new(move |row| array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => Box::new(move |row| array.as_binary::<i64>().value(row)),
        DataType::BinaryView => Box::new(move |row| array.as_binary_view().value(row)),
        // A dictionary without values has nothing that its keys could be brought into range of,
        // and all its rows are null.
        DataType::Dictionary(..) if !array.as_any_dictionary().values().is_empty() => {
            let dictionary = array.as_any_dictionary();
            let (keys, value) = (dictionary.normalized_keys(), bytes_of(dictionary.values()));
            Box::new(move |row| value(keys[row]))
        }
        _ => Box::new(|_| b""),
    }
}

/// The value of each row, or none for a null. The bytes of a null may be anything, even bytes that no value
/// may hold.
pub fn values_of<'a>(array: &'a dyn Array) -> impl Fn(usize) -> Option<&'a [u8]> {
    let (nulls, bytes) = (array.logical_nulls(), bytes_of(array));
    move |row| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)).then(|| bytes(row))
}

/// Whether values of a column are text rather than bytes.
pub fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Values as a column of text if they are text, which is checked, or else of bytes.
pub fn column<O: OffsetSizeTrait>(
    values: GenericBinaryArray<O>,
    is_text: bool,
) -> PyResult<ArrayRef> {
    Ok(if is_text {
        arc(GenericStringArray::try_from_binary(values).map_err(fault)?)
    } else {
        arc(values)
    })
}

/// The same array, as one.
pub fn arc(array: impl Array + 'static) -> ArrayRef {
    Arc::new(array)
}

/// A fault of Arrow, as an exception.
pub fn fault(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}
