//! The keys of canonical forms, as a column beside them.

use std::sync::atomic::AtomicBool;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::ArrowDictionaryKeyType;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, StringArray, downcast_dictionary_array,
};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use arrow_select::dictionary::garbage_collect_dictionary;
use arrow_select::nullif::nullif;
use pyo3::PyResult;
use uniqurl::{Key, RejectReason};

use crate::interrupt::go_on;
use crate::piece::ROWS;
use crate::pieces::Normalized;
use crate::rules::Rules;
use crate::threads;
use crate::values::{self, arc, fault, values_of};

/// A column of keys, in chunks of the same lengths as those of the canonical forms.
pub struct Keys {
    pub key: Key,
    pub kind: DataType,
    pub chunks: Vec<ArrayRef>,
}

/// Adds the keys to a normalized column, splitting its chunks among the threads.
pub fn add(
    rules: &Rules,
    key: Key,
    column: &mut Normalized,
    threads: Option<usize>,
    stop: &AtomicBool,
) -> PyResult<Keys> {
    let (mut canonical, mut reject) = (Vec::new(), Vec::new());
    for (forms, codes) in column.canonical.iter().zip(&column.reject) {
        // The values of a dictionary are read once, however many rows there are.
        let most = match forms.data_type() {
            DataType::Dictionary(..) => forms.len(),
            _ => ROWS,
        };
        let mut start = 0;
        while start < forms.len() {
            let rows = most.min(forms.len() - start);
            canonical.push(forms.slice(start, rows));
            reject.push(codes.slice(start, rows));
            start += rows;
        }
    }
    let chunks = threads::each(threads, &canonical, |forms| of(rules, key, forms, stop))?;
    let chunks = chunks.into_iter().collect::<PyResult<Vec<_>>>()?;
    (column.canonical, column.reject) = (canonical, reject);
    // After all keys are made, since only a missing one shows that a form has no host.
    if key.needs_host() {
        reject_hostless(column, &chunks)?;
    }
    Ok(Keys { key, kind: kind_of(rules, key, &column.kind), chunks })
}

/// Rejects the rows with a canonical form that has no key, for want of a host.
fn reject_hostless(column: &mut Normalized, keys: &[ArrayRef]) -> PyResult<()> {
    for ((forms, codes), keys) in column.canonical.iter_mut().zip(&mut column.reject).zip(keys) {
        let (no_form, no_key) = (forms.logical_nulls(), keys.logical_nulls());
        let is_null = |nulls: &Option<NullBuffer>, row| {
            nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
        };
        let is_hostless = |row| !is_null(&no_form, row) && is_null(&no_key, row);
        let hostless: Vec<bool> = (0..forms.len()).map(is_hostless).collect();
        // In most columns all URLs have a host, and then nothing is copied.
        if !hostless.contains(&true) {
            continue;
        }
        let reject = RejectReason::NoHost;
        let code = |(row, code)| if hostless[row] { Some(reject.name()) } else { code };
        *codes =
            arc(codes.as_string::<i32>().iter().enumerate().map(code).collect::<StringArray>());
        for _ in hostless.iter().filter(|hostless| **hostless) {
            column.tally.reject_canonical(reject);
        }
        *forms = nullif(forms, &BooleanArray::from(hostless)).map_err(fault)?;
        column.is_same = false;
    }
    Ok(())
}

/// The type of the keys of a column.
fn kind_of(rules: &Rules, key: Key, column: &DataType) -> DataType {
    match column {
        DataType::Dictionary(index, _) => {
            DataType::Dictionary(index.clone(), Box::new(rules.kind_of(key)))
        }
        _ => rules.kind_of(key),
    }
}

fn of(rules: &Rules, key: Key, forms: &ArrayRef, stop: &AtomicBool) -> PyResult<ArrayRef> {
    let array = forms.as_ref();
    downcast_dictionary_array!(
        array => of_dictionary(rules, key, array, stop),
        _ => of_each(rules, key, array, stop)
    )
}

/// A value used by several rows gets its key once; a value used by no row gets none.
fn of_dictionary<K: ArrowDictionaryKeyType>(
    rules: &Rules,
    key: Key,
    forms: &DictionaryArray<K>,
    stop: &AtomicBool,
) -> PyResult<ArrayRef> {
    let used = if forms.values().len() > forms.len() {
        &garbage_collect_dictionary(forms).map_err(fault)?
    } else {
        forms
    };
    let values = of_each(rules, key, used.values().as_ref(), stop)?;
    let keys = DictionaryArray::<K>::try_new(used.keys().clone(), values).map_err(fault)?;
    Ok(arc(keys))
}

/// A null has no key, and neither has a form without the host that a key needs.
fn of_each(rules: &Rules, key: Key, forms: &dyn Array, stop: &AtomicBool) -> PyResult<ArrayRef> {
    let form_of = values_of(forms);
    let mut column = LargeBinaryBuilder::new();
    let (mut url, mut text) = (Vec::new(), Vec::new());
    for row in 0..forms.len() {
        go_on(stop)?;
        let key = form_of(row).and_then(|form| key.of(rules.known(form, &mut url), &mut text));
        column.append_option(key);
    }
    values::column(column.finish(), !rules.writes_any_byte(key))
}
