//! Columns in and out over the Arrow PyCapsule interface: no Arrow library is imported by name.

use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, NullArray, StructArray};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Fields};
use arrow_select::nullif::nullif;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyIterator, PyList, PyString};
use pyo3_arrow::error::{PyArrowError, PyArrowResult};
use pyo3_arrow::ffi::{ArrayIterator, to_schema_pycapsule, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;
use pyo3_arrow::{PyArray, PyArrayReader, PyField};
use uniqurl_engine::output::{Accounting, JobKind, Tally, Terms};

use crate::html;
use crate::keys::Keys;
use crate::pieces::Normalized;
use crate::url::Url;
use crate::values::{self, arc, fault, is_text, values_of};

/// Rows of an iterable between two checks for signals.
const LOOK: usize = 1 << 16;

/// The chunks of a column: an array, a chunked array, a series, or a table of one column.
pub fn chunks_of(object: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, FieldRef)> {
    if !is_arrow(object)? {
        if let Some(array) = older_array(object)? {
            return chunks_of(&array.call_method0("__arrow_array__")?);
        }
        let class = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "{class} is not an Arrow column: it has neither __arrow_c_array__ nor __arrow_c_stream__"
        )));
    }
    // A reader is asked itself, so that exceptions of its source come out as they are.
    let column = match object.hasattr("read_next_batch")? {
        true => AnyArray::Stream(of_reader(object)?),
        false => object.extract()?,
    };
    let whole = column.field()?;
    let field = match whole.data_type() {
        DataType::Struct(fields) => match &fields[..] {
            [field] => Arc::clone(field),
            _ => {
                let columns = fields.len();
                let why = format!("a table of {columns} columns instead of one column");
                return Err(PyTypeError::new_err(why));
            }
        },
        _ => Arc::clone(&whole),
    };
    let chunks = match column.into_chunked_array() {
        Ok(column) => column.into_inner().0,
        // A column of nulls has no buffers, and those that Polars gives it are refused.
        Err(_) if field.data_type() == &DataType::Null && object.len().is_ok() => {
            return Ok((vec![Arc::new(NullArray::new(object.len()?))], field));
        }
        // As it is, it would become a bare Exception, of which nobody can tell what it is.
        Err(PyArrowError::ArrowError(error)) => return Err(fault(error)),
        Err(error) => return Err(error.into()),
    };
    // The same field means that it was no table.
    if Arc::ptr_eq(&field, &whole) {
        return Ok((chunks, field));
    }
    let columns = chunks.iter().map(|chunk| only_column(chunk.as_struct()));
    Ok((columns.collect::<Result<_, _>>().map_err(fault)?, field))
}

/// The same, but also for other iterables of URLs, such as a list or an array of NumPy.
pub fn chunks_of_any(object: &Bound<'_, PyAny>) -> PyResult<(Vec<ArrayRef>, FieldRef)> {
    // A column comes first: a series can be iterated too, value by value.
    if is_column(object)? || !object.hasattr("__iter__")? {
        return chunks_of(object);
    }
    let column = of_values(object)?;
    let field = Field::new("", column.data_type().clone(), true);
    Ok((vec![column], Arc::new(field)))
}

/// A column of an iterable's values: all of them `str` or all `bytes`, and None for nulls.
fn of_values(values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let py = values.py();
    let class = values.get_type().name()?;
    if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
        let why = format!("{class} is one URL instead of a column");
        return Err(PyTypeError::new_err(why));
    }
    // Iterating it gives its names. Before pandas 2.2 this includes tables.
    if values.hasattr("keys")? {
        return Err(PyTypeError::new_err(format!("{class} has keys, so it is not a column")));
    }
    // The sum of the lengths is not known before, so offsets have 64 bits.
    let (mut column, mut is_text) = (LargeBinaryBuilder::new(), None);
    for (row, value) in values.try_iter()?.enumerate() {
        if row % LOOK == 0 {
            py.check_signals()?;
        }
        let value = value?;
        if value.is_none() {
            column.append_null();
            continue;
        }
        let class = || value.get_type().name();
        let url = match Url::of(&value) {
            // The error of a row names it. Others, such as that of a lone surrogate, say enough.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                let why = format!("row {row} is neither str, bytes nor None, but {}", class()?);
                return Err(PyTypeError::new_err(why));
            }
            url => url?,
        };
        if *is_text.get_or_insert(url.is_text()) != url.is_text() {
            let why = format!("row {row} is {}, and those before it are not", class()?);
            return Err(PyTypeError::new_err(why));
        }
        column.append_value(url.bytes());
    }
    // A column without values is one of text, as nearly all columns of URLs are.
    values::column(column.finish(), is_text.unwrap_or(true))
}

/// Whether Arrow can read it as a column.
pub fn is_column(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(is_arrow(object)? || older_array(object)?.is_some())
}

/// Whether it has the methods of the PyCapsule interface.
fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(object.hasattr("__arrow_c_array__")? || object.hasattr("__arrow_c_stream__")?)
}

/// The batches of a reader of PyArrow. The interface passes exceptions only as text, and a
/// generator may feed the reader: its exception, such as an end by Ctrl-C, has to come out as it
/// is.
fn of_reader(reader: &Bound<'_, PyAny>) -> PyResult<PyArrayReader> {
    let field = reader.getattr("schema")?.extract::<PyField>()?.into_inner();
    let mut chunks = Vec::new();
    for batch in reader.try_iter()? {
        chunks.push(Ok(batch?.extract::<PyArray>()?.into_inner().0));
    }
    Ok(PyArrayReader::new(Box::new(ArrayIterator::new(chunks, field))))
}

/// The array of a series of pandas before version 3, or such an array.
fn older_array<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    // Only an attribute that is not there counts as none. What it raises otherwise comes out.
    let array = object.getattr_opt("array")?.unwrap_or_else(|| object.clone());
    Ok(array.hasattr("__arrow_array__")?.then_some(array))
}

/// The column of a table. An array of structs may mark a whole row as null, and then the value in
/// the column means nothing.
fn only_column(table: &StructArray) -> Result<ArrayRef, ArrowError> {
    let column = Arc::clone(table.column(0));
    match table.nulls() {
        Some(nulls) if nulls.null_count() > 0 => {
            nullif(column.as_ref(), &BooleanArray::new(!nulls.inner(), None))
        }
        _ => Ok(column),
    }
}

/// A result column, in chunks. PyArrow reads it as ``pyarrow.chunked_array(column)``, Polars as
/// ``frame.with_columns(column.to_polars())``, and pandas as ``frame["canonical"] = column``.
#[pyclass(frozen, module = "uniqurl")]
#[derive(Clone)]
pub struct Column {
    chunks: Vec<ArrayRef>,
    field: FieldRef,
}

impl Column {
    pub fn new(name: &str, kind: DataType, chunks: Vec<ArrayRef>) -> Self {
        Self { chunks, field: Arc::new(Field::new(name, kind, true)) }
    }

    pub fn parts(&self) -> (&Field, &[ArrayRef]) {
        (&self.field, &self.chunks)
    }
}

#[pymethods]
impl Column {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.field.as_ref())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        stream(py, self.chunks.clone(), &self.field)
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    fn __repr__(&self) -> String {
        format!(
            "<uniqurl.Column {}: {}, {} rows>",
            self.field.name(),
            self.field.data_type(),
            self.__len__()
        )
    }

    // Nothing changes a column, so a copy of one is itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("Column", "pyarrow.chunked_array(column) is"))
    }

    #[getter]
    fn null_count(&self) -> usize {
        // Nulls may be among the values of a dictionary, and a column of type null has no buffer of them.
        self.chunks.iter().map(|chunk| chunk.logical_null_count()).sum()
    }

    #[getter]
    fn num_chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Code that knows nothing of Arrow takes an object with a length and no iterator for one
    /// value.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    /// One value. Chunks are few, so none of their lengths is kept.
    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let length = self.__len__();
        let from_end = if index < 0 { length } else { 0 };
        // Before the first row the sum wraps, to a number that is beyond the last one.
        let mut row = from_end.wrapping_add_signed(index);
        if row >= length {
            return Err(PyIndexError::new_err(format!("row {index} of {length}")));
        }
        let chunk = self.chunks.iter().find(|chunk| {
            let is_in = row < chunk.len();
            row -= if is_in { 0 } else { chunk.len() };
            is_in
        });
        // A slice, since reading the values of a dictionary takes time for each row.
        let chunks = chunk.map(|chunk| chunk.slice(row, 1)).into_iter().collect();
        Self { chunks, field: Arc::clone(&self.field) }.to_pylist(py)?.get_item(0)
    }

    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for chunk in &self.chunks {
            let value_of = values_of(chunk.as_ref());
            let is_text = is_text(chunk.data_type());
            let booleans = chunk.as_boolean_opt();
            for row in 0..chunk.len() {
                match (value_of(row), booleans) {
                    (None, _) => list.append(py.None())?,
                    (_, Some(booleans)) => list.append(booleans.value(row))?,
                    (Some(text), _) if is_text => list.append(PyString::from_bytes(py, text)?)?,
                    (Some(bytes), _) => list.append(PyBytes::new(py, bytes))?,
                }
            }
        }
        Ok(list)
    }

    /// The column as a series of Polars, which ``with_columns`` and other expressions take.
    // Polars has no protocol by which an expression takes an object of another library: it knows its own
    // series, arrays of NumPy and PyTorch, lists and tuples (`polars.lit`).
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.getattr("Series")?.call1((slf,))
    }

    /// The column as a series of pandas. A frame reads a series by its index, so ``index`` is that of
    /// the frame, unless the frame only counts its rows.
    #[pyo3(signature = (index=None))]
    fn to_pandas<'py>(
        slf: &Bound<'py, Self>,
        index: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, column) = (slf.py(), slf.get());
        let series = py.import("pandas")?.getattr("Series")?;
        series.call1((column.to_pylist(py)?, index, py.None(), column.field.name()))
    }
}

/// The result for each row of a column: ``canonical`` has the type of the input, ``reject`` is text, and
/// ``key`` exists if it was requested. The object is also a table of these columns:
/// ``pyarrow.table(columns)``, ``polars.DataFrame(columns)``. To send it to another process, pickle the
/// table of PyArrow.
#[pyclass(frozen, module = "uniqurl")]
pub struct Columns {
    /// `canonical`, `reject` and the key, if it was requested, in chunks of the same lengths.
    columns: Vec<Column>,
    tally: Tally,
}

impl Columns {
    /// The columns for an input column of this field.
    pub fn new(of: &Field, done: Normalized, keys: Option<Keys>) -> Self {
        let Normalized { kind, canonical, reject, tally, .. } = done;
        // If it came out unordered, it could not be joined with other chunks of the column.
        let is_ordered = of.dict_is_ordered() == Some(true);
        let field = Field::new("canonical", kind, true).with_dict_is_ordered(is_ordered);
        let canonical = Column { chunks: canonical, field: Arc::new(field) };
        let mut columns = vec![canonical, Column::new("reject", DataType::Utf8, reject)];
        columns
            .extend(keys.map(|Keys { key, kind, chunks }| Column::new(key.name(), kind, chunks)));
        Self { columns, tally }
    }

    fn fields(&self) -> Fields {
        self.columns.iter().map(|column| Arc::clone(&column.field)).collect()
    }

    fn field(&self) -> Field {
        Field::new("", DataType::Struct(self.fields()), false)
    }

    fn accounts(&self) -> Accounting<'_> {
        Accounting { terms: Terms::of(JobKind::Normalize), tally: &self.tally }
    }
}

#[pymethods]
impl Columns {
    #[getter]
    fn canonical(&self) -> Column {
        self.columns[0].clone()
    }

    #[getter]
    fn reject(&self) -> Column {
        self.columns[1].clone()
    }

    #[getter]
    fn key(&self) -> Option<Column> {
        self.columns.get(2).cloned()
    }

    #[getter]
    fn accounting<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        accounting(py, self.accounts().counts(), &self.tally)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyArrowResult<Bound<'py, PyCapsule>> {
        to_schema_pycapsule(py, self.field())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> PyArrowResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let mut rows = Vec::new();
        for chunk in 0..self.columns[0].chunks.len() {
            let columns = self.columns.iter().map(|column| Arc::clone(&column.chunks[chunk]));
            rows.push(arc(StructArray::try_new(self.fields(), columns.collect(), None)?));
        }
        stream(py, rows, &Arc::new(self.field()))
    }

    fn __len__(&self) -> usize {
        self.columns[0].__len__()
    }

    fn __repr__(&self) -> String {
        format!("<uniqurl.Columns: {}>", self.accounts())
    }

    fn _repr_html_(&self) -> String {
        html::table(&self.accounts(), self.columns.iter().map(Column::parts))
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled("Columns", "pyarrow.table(columns) is, and so is its accounting"))
    }
}

/// The error for pickling an answer: it holds Arrow buffers, for which PyArrow has pickles.
pub fn not_pickled(class: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!("a {class} is not pickled, but {instead}"))
}

/// The counts of an accounting, and that of each code.
pub fn accounting<'py>(
    py: Python<'py>,
    counts: impl IntoIterator<Item = (&'static str, u64)>,
    tally: &Tally,
) -> PyResult<Bound<'py, PyDict>> {
    let account = PyDict::new(py);
    for (name, count) in counts {
        account.set_item(name, count)?;
    }
    let codes = PyDict::new(py);
    for (code, count) in tally.codes() {
        codes.set_item(code.name(), count)?;
    }
    account.set_item("codes", codes)?;
    Ok(account)
}

/// The chunks as they are. The schema a consumer requests is ignored: "this is best-effort" (Arrow
/// PyCapsule Interface), and the available cast would turn URLs that are not text into nulls.
/// PyArrow casts by itself then, and fails.
fn stream<'py>(
    py: Python<'py>,
    chunks: Vec<ArrayRef>,
    field: &FieldRef,
) -> PyArrowResult<Bound<'py, PyCapsule>> {
    let reader = ArrayIterator::new(chunks.into_iter().map(Ok), Arc::clone(field));
    to_stream_pycapsule(py, Box::new(reader), None)
}
