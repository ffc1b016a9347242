//! A column in pieces: split among the threads, and joined again where nothing changed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::cast::AsArray;
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{Array, ArrayRef, GenericByteArray, GenericByteViewArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::DataType;
use arrow_select::concat::concat;
use pyo3::PyResult;
use pyo3::exceptions::PyTypeError;
use uniqurl_engine::output::Tally;
use uniqurl_formats::record::LONGEST_URL;

use crate::dictionary;
use crate::interrupt::go_on;
use crate::piece::{self, Done, Outcome, ROWS, no_rejects};
use crate::records;
use crate::rules::Rules;
use crate::threads;
use crate::values::{fault, values_of};

/// Most bytes of a piece without its last value, and of the text that may precede its values.
/// Canonical forms are at most nine times as long as both, and offsets of 31 bits have to hold
/// them. (A charset makes up to three bytes of one, and each of them is written as a triplet.)
const BYTES: usize = 48 << 20;

const _: () = assert!(9 * (2 * BYTES + 2 * LONGEST_URL) <= i32::MAX as usize);

/// A column, normalized.
pub struct Normalized {
    pub kind: DataType,
    pub canonical: Vec<ArrayRef>,
    pub reject: Vec<ArrayRef>,
    pub tally: Tally,
    /// Whether nothing changed.
    pub is_same: bool,
}

/// Normalizes the chunks of a column, each piece on a thread, and fails once it is to `stop`.
pub fn normalize(
    rules: &Rules,
    chunks: &[ArrayRef],
    kind: DataType,
    threads: Option<usize>,
    stop: &AtomicBool,
) -> PyResult<Normalized> {
    let values = match &kind {
        DataType::Dictionary(_, values) => values.as_ref(),
        kind => kind,
    };
    use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Null, Utf8, Utf8View};
    if !matches!(values, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView | Null) {
        return Err(PyTypeError::new_err(format!("a column of {kind} holds no URLs")));
    }
    let kind = match &rules.format {
        Some(_) => records::kind_of(rules, &kind),
        None => kind,
    };
    let mut pieces = Vec::new();
    for (chunk, array) in chunks.iter().enumerate() {
        let mut start = 0;
        while start < array.len() {
            let rows = rows_of_piece(rules, array.as_ref(), start);
            pieces.push((chunk, start, rows));
            start += rows;
        }
    }
    let done = threads::each(threads, &pieces, |(chunk, start, rows)| {
        // Between pieces, too, since a piece of other types never looks.
        go_on(stop)?;
        let piece = chunks[*chunk].slice(*start, *rows);
        match (&rules.format, piece.data_type()) {
            (Some(format), _) => records::normalize(rules, format, &piece, stop),
            (None, DataType::Dictionary(..)) => {
                dictionary::normalize(&piece, &|values| of_values(rules, values, stop))
            }
            (None, _) => piece::normalize(rules, &piece, stop),
        }
    })?;
    let done = done.into_iter().collect::<PyResult<Vec<_>>>()?;
    let is_same = done.iter().all(|done| matches!(done.outcome, Outcome::Same));
    let (canonical, reject) = (Vec::new(), Vec::new());
    let mut all = Normalized { kind, canonical, reject, tally: Tally::default(), is_same };
    // Neighbours without a change are one slice, so that an unchanged column comes out
    // in the chunks it came in.
    let mut same: Option<(usize, usize, usize)> = None;
    for ((chunk, start, rows), Done { outcome, tally }) in pieces.into_iter().zip(done) {
        all.tally.merge(&tally);
        match outcome {
            Outcome::Same => match &mut same {
                Some((of, _, length)) if *of == chunk => *length += rows,
                _ => all.push_same(chunks, same.replace((chunk, start, rows))),
            },
            Outcome::Changed { canonical, reject } => {
                all.push_same(chunks, same.take());
                all.canonical.push(canonical);
                all.reject.push(reject);
            }
        }
    }
    all.push_same(chunks, same);
    Ok(all)
}

/// The canonical forms and the codes of the values of a dictionary, if any changed.
fn of_values(
    rules: &Rules,
    values: &ArrayRef,
    stop: &AtomicBool,
) -> PyResult<Option<(ArrayRef, ArrayRef)>> {
    let chunks = [Arc::clone(values)];
    // This is a task of the pool already, one of many for the pieces of the column.
    let done = normalize(rules, &chunks, values.data_type().clone(), Some(1), stop)?;
    let whole = |chunks: &[ArrayRef]| {
        let chunks: Vec<&dyn Array> = chunks.iter().map(AsRef::as_ref).collect();
        concat(&chunks).map_err(fault)
    };
    if done.is_same {
        return Ok(None);
    }
    Ok(Some((whole(&done.canonical)?, whole(&done.reject)?)))
}

impl Normalized {
    /// Adds unchanged rows: they stay where they are.
    fn push_same(&mut self, chunks: &[ArrayRef], same: Option<(usize, usize, usize)>) {
        if let Some((chunk, start, rows)) = same {
            self.canonical.push(chunks[chunk].slice(start, rows));
            self.reject.push(no_rejects(rows));
        }
    }
}

/// Rows of the piece that begins at `start`, at least one.
fn rows_of_piece(rules: &Rules, array: &dyn Array, start: usize) -> usize {
    let rest = array.len() - start;
    let most = (BYTES / rules.before().max(1)).clamp(1, ROWS).min(rest);
    match array.data_type() {
        DataType::Utf8 => by_offsets(array.as_string::<i32>(), start, most),
        DataType::LargeUtf8 => by_offsets(array.as_string::<i64>(), start, most),
        DataType::Binary => by_offsets(array.as_binary::<i32>(), start, most),
        DataType::LargeBinary => by_offsets(array.as_binary::<i64>(), start, most),
        DataType::Utf8View => by_views(array.as_string_view(), start, most),
        DataType::BinaryView => by_views(array.as_binary_view(), start, most),
        // If the values are records, each row gets its own copy.
        DataType::Dictionary(..) if rules.format.is_some() => {
            by_values(array.slice(start, most).as_ref())
        }
        // Its values are read once, however many rows there are.
        _ => rest,
    }
}

/// Bytes of the values of a column, except those inside views.
pub fn bytes_in(array: &dyn Array) -> usize {
    fn between<O: ArrowNativeType>(offsets: &[O]) -> usize {
        offsets[offsets.len() - 1].as_usize() - offsets[0].as_usize()
    }
    match array.data_type() {
        DataType::Utf8 => between(array.as_string::<i32>().value_offsets()),
        DataType::LargeUtf8 => between(array.as_string::<i64>().value_offsets()),
        DataType::Binary => between(array.as_binary::<i32>().value_offsets()),
        DataType::LargeBinary => between(array.as_binary::<i64>().value_offsets()),
        DataType::Utf8View => array.as_string_view().total_buffer_bytes_used(),
        DataType::BinaryView => array.as_binary_view().total_buffer_bytes_used(),
        DataType::Dictionary(..) => {
            let values = array.as_any_dictionary().values();
            bytes_in(values.as_ref()) + values.len()
        }
        _ => 0,
    }
}

fn by_values(array: &dyn Array) -> usize {
    let value_of = values_of(array);
    let mut bytes = 0;
    let fits = (0..array.len()).take_while(|row| {
        bytes += value_of(*row).map_or(0, <[u8]>::len);
        bytes <= BYTES
    });
    // A value that is longer than a piece is a piece by itself.
    fits.count().max(1)
}

fn by_offsets<T: ByteArrayType>(array: &GenericByteArray<T>, start: usize, most: usize) -> usize {
    let offsets = &array.value_offsets()[start..=start + most];
    let first = offsets[0].as_usize();
    let fits = |end: &T::Offset| end.as_usize() - first <= BYTES;
    offsets[1..].partition_point(fits).max(1)
}

fn by_views<T: ByteViewType>(array: &GenericByteViewArray<T>, start: usize, most: usize) -> usize {
    let mut bytes = 0;
    let views = &array.views()[start..start + most];
    let fits = views.iter().take_while(|view| {
        bytes += **view as u32 as usize;
        bytes <= BYTES
    });
    fits.count().max(1)
}
