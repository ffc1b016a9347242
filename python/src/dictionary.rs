//! A piece of a dictionary column: each distinct value is normalized once.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, PrimitiveArray, UInt64Array, downcast_dictionary_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_select::dictionary::garbage_collect_dictionary;
use arrow_select::take::take;
use pyo3::PyResult;
use uniqurl::RejectReason;

use crate::piece::{Done, Losses, Outcome};
use crate::values::{arc, bytes_of, fault};

/// Finds the canonical forms and the codes of a column of values; none if each is its own form. They are cut
/// into pieces as any column, which is why this comes from the caller.
type Normalize<'a> = dyn Fn(&ArrayRef) -> PyResult<Option<(ArrayRef, ArrayRef)>> + 'a;

/// Normalizes a piece by its values.
pub fn normalize(array: &ArrayRef, normalize: &Normalize<'_>) -> PyResult<Done> {
    downcast_dictionary_array!(
        array => of_dictionary(array, normalize),
        _ => unreachable!("every type of key has an arm")
    )
}

/// Values that become equal share one entry of the new dictionary. If
/// there are more values than rows, only used values are read: DuckDB and others send all of them
/// with each chunk.
fn of_dictionary<K: ArrowDictionaryKeyType>(
    array: &DictionaryArray<K>,
    normalize: &Normalize<'_>,
) -> PyResult<Done> {
    let rows = array.len();
    let used = if array.values().len() > rows {
        &garbage_collect_dictionary(array).map_err(fault)?
    } else {
        array
    };
    let (keys, values) = (used.keys(), used.values());
    // An array of type null has no validity of its own, and every value in it is null.
    let no_value = values.logical_nulls();
    let has_value = |value| no_value.as_ref().is_none_or(|nulls| nulls.is_valid(value));
    let value_of = |row| keys.is_valid(row).then(|| keys.value(row).as_usize());
    let mut losses = Losses::new();
    // The rows keep their dictionary, and only have to be counted.
    let Some((canonical, rejects)) = normalize(values)? else {
        for row in 0..rows {
            match value_of(row) {
                Some(value) if has_value(value) => losses.tally.canonical(),
                _ => losses.tally.blank(),
            }
        }
        return Ok(Done { outcome: Outcome::Same, tally: losses.tally });
    };
    let rejects = rejects.as_string_opt::<i32>();
    let codes = |value: usize| {
        let text = rejects.filter(|rejects| rejects.is_valid(value))?.value(value);
        let codes: Vec<_> = text.split(',').flat_map(str::parse::<RejectReason>).collect();
        Some((*codes.first()?, codes.iter().copied().collect()))
    };
    let bytes = bytes_of(canonical.as_ref());
    let (mut places, mut distinct) = (HashMap::new(), Vec::new());
    let place_of_value: Vec<Option<K::Native>> = (0..canonical.len())
        .map(|value| {
            canonical.is_valid(value).then(|| {
                *places.entry(bytes(value)).or_insert_with(|| {
                    distinct.push(value as u64);
                    // There are no more entries than values before, so the type of the keys has room for them.
                    K::Native::usize_as(distinct.len() - 1)
                })
            })
        })
        .collect();
    let new: PrimitiveArray<K> = (0..rows)
        .map(|row| {
            let value = value_of(row);
            let place = value.and_then(|value| place_of_value[value]);
            match (place, value.and_then(codes)) {
                (Some(_), _) => losses.tally.canonical(),
                (None, Some((first, all))) => losses.reject(row, first, all),
                (None, None) => losses.tally.blank(),
            }
            place
        })
        .collect();
    let distinct = take(&canonical, &UInt64Array::from(distinct), None).map_err(fault)?;
    let canonical = DictionaryArray::<K>::try_new(new, distinct).map_err(fault)?;
    Ok(losses.changed(arc(canonical), rows))
}
