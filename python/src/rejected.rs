//! The keyword `errors`: whether a rejected URL raises, becomes null, or is kept.
//!
//! A column is normalized first, with nulls for rejected rows. Then the rows are raised or kept by the
//! column of codes, so that keys and accounting are the same in all three cases.

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::DataType;
use arrow_select::dictionary::garbage_collect_any_dictionary;
use arrow_select::interleave::interleave;
use arrow_select::nullif::nullif;
use pyo3::prelude::*;

use crate::errors;
use crate::pieces::Normalized;
use crate::rules::Rules;
use crate::values::{self, bytes_of, fault, is_text, values_of};

/// The result for a rejected URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnReject {
    /// An exception.
    Raise,
    /// None, or null in a column.
    Null,
    /// The URL as it came.
    Keep,
}

impl OnReject {
    pub fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        match name {
            "raise" => Ok(Self::Raise),
            "null" => Ok(Self::Null),
            "keep" => Ok(Self::Keep),
            _ => Err(errors::usage(py, "errors is raise, null or keep")),
        }
    }
}

/// The exception for the first rejected row of a column, if there is one.
pub fn check(
    py: Python<'_>,
    rules: &Rules,
    column: &Normalized,
    chunks: &[ArrayRef],
) -> PyResult<()> {
    let mut before = 0;
    for (codes, original) in column.reject.iter().zip(originals(column, chunks)) {
        if let Some(row) = (0..codes.len()).find(|row| codes.is_valid(*row)) {
            let at = offset(rules, bytes_of(original.as_ref())(row));
            let codes = codes.as_string::<i32>().value(row);
            return Err(errors::rejected_row(py, before + row, codes, at));
        }
        before += codes.len();
    }
    Ok(())
}

/// Puts the original value of each rejected row back into a column.
pub fn keep(column: &mut Normalized, chunks: &[ArrayRef]) -> PyResult<()> {
    let originals = originals(column, chunks);
    for ((forms, codes), original) in column.canonical.iter_mut().zip(&column.reject).zip(originals)
    {
        if codes.null_count() == codes.len() {
            continue;
        }
        let is_rejected: Vec<bool> = (0..codes.len()).map(|row| codes.is_valid(row)).collect();
        *forms = match forms.data_type() {
            DataType::Dictionary(..) => kept_in_dictionary(forms, &original, is_rejected)?,
            kind if kind == original.data_type() => joined(forms, &original, &is_rejected)?,
            // Of a record, which may have another type than the URL in it.
            kind => kept_records(kind, forms, &original, &is_rejected)?,
        };
    }
    Ok(())
}

/// The rows of the input, in chunks of the same lengths as those of the canonical forms. Each of those lies
/// in one chunk of the input.
fn originals(column: &Normalized, chunks: &[ArrayRef]) -> Vec<ArrayRef> {
    let mut rest = chunks.iter().filter(|chunk| !chunk.is_empty());
    let (mut chunk, mut start) = (rest.next(), 0);
    let mut originals = Vec::with_capacity(column.canonical.len());
    for forms in &column.canonical {
        if chunk.is_some_and(|chunk| chunk.len() == start) {
            (chunk, start) = (rest.next(), 0);
        }
        if let Some(chunk) = chunk {
            originals.push(chunk.slice(start, forms.len()));
            start += forms.len();
        }
    }
    originals
}

/// The byte offset of the fault of a rejected value; 0 for a record, whose URL has no place of its own.
fn offset(rules: &Rules, value: &[u8]) -> usize {
    if rules.format.is_some() {
        return 0;
    }
    if value.len() > rules.max_url {
        return rules.max_url;
    }
    // A column keeps only codes, so the fault is found once more, for this row alone.
    let rejected = rules.normalizer.canonical(value, &mut Vec::new()).err();
    rejected.map_or(0, |reject| reject.at)
}

fn joined(forms: &ArrayRef, original: &ArrayRef, is_rejected: &[bool]) -> PyResult<ArrayRef> {
    let rows: Vec<_> =
        is_rejected.iter().enumerate().map(|(row, of)| (usize::from(*of), row)).collect();
    interleave(&[forms.as_ref(), original.as_ref()], &rows).map_err(fault)
}

/// Only values in use are joined, so that no value is twice in the new dictionary: a rejected one is nobody's
/// canonical form.
fn kept_in_dictionary(
    forms: &ArrayRef,
    original: &ArrayRef,
    is_rejected: Vec<bool>,
) -> PyResult<ArrayRef> {
    let used =
        |array: &ArrayRef| garbage_collect_any_dictionary(array.as_any_dictionary()).map_err(fault);
    // Of the originals, only those of rejected rows are used.
    let others: BooleanArray = is_rejected.iter().map(|rejected| Some(!rejected)).collect();
    let rejected = nullif(original.as_ref(), &others).map_err(fault)?;
    joined(&used(forms)?, &used(&rejected)?, &is_rejected)
}

fn kept_records(
    kind: &DataType,
    forms: &ArrayRef,
    original: &ArrayRef,
    is_rejected: &[bool],
) -> PyResult<ArrayRef> {
    let (form, record) = (values_of(forms.as_ref()), values_of(original.as_ref()));
    let mut kept = BinaryBuilder::new();
    for (row, is_rejected) in is_rejected.iter().enumerate() {
        kept.append_option(if *is_rejected { record(row) } else { form(row) });
    }
    values::column(kept.finish(), is_text(kind))
}
