//! A column whose values are records of a line format, as in a log: the library finds the URL in
//! each.

use std::sync::atomic::AtomicBool;

use arrow_array::builder::BinaryBuilder;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::PyResult;
use uniqurl::{RejectReason, RejectReasons};
use uniqurl_formats::record::{BufferId, Context, Extracted, Format, Records};

use crate::interrupt::go_on;
use crate::piece::{Done, Losses};
use crate::rules::Rules;
use crate::values::{self, is_text, values_of};

/// The type of the canonical forms: text if the input is text and the output only ASCII.
pub fn kind_of(rules: &Rules, column: &DataType) -> DataType {
    if is_text(column) && !rules.normalizer.may_write_any_byte() {
        DataType::Utf8
    } else {
        DataType::Binary
    }
}

/// Finds the URLs of a piece and normalizes them, and fails once it is to `stop`. A value that is
/// not one line is not a record.
pub fn normalize(
    rules: &Rules,
    format: &Format,
    array: &ArrayRef,
    stop: &AtomicBool,
) -> PyResult<Done> {
    let context = Context {
        base: rules.normalizer.origin(),
        targets: rules.normalizer.targets(),
        max_url: rules.max_url,
        max_record: rules.max_record(),
        ..Context::default()
    };
    let value_of = values_of(array.as_ref());
    let (mut line, mut records, mut url) = (Vec::new(), Records::default(), Vec::new());
    let mut canonical = BinaryBuilder::with_capacity(array.len(), 0);
    let mut losses = Losses::new();
    for row in 0..array.len() {
        // Records may be long, so it looks before each of them.
        go_on(stop)?;
        url.clear();
        let Some(value) = value_of(row) else {
            losses.tally.blank();
            canonical.append_null();
            continue;
        };
        // A record that is not read is not copied either.
        let read = if value.len() > context.max_record {
            Err((RejectReason::TooLong, RejectReason::TooLong.into()))
        } else {
            line.clear();
            line.extend_from_slice(value);
            // Formats read whole lines, and a value ends without one.
            line.push(b'\n');
            records.clear();
            format.read(&context, &line, &mut records);
            read(rules, &line, &records, &mut url)
        };
        match read {
            Ok(Read::Canonical) => {
                losses.tally.canonical();
                canonical.append_value(&url);
                continue;
            }
            Ok(Read::Blank) => losses.tally.blank(),
            Ok(Read::Skipped) => losses.tally.skipped += 1,
            Err((first, all)) => losses.reject(row, first, all),
        }
        canonical.append_null();
    }
    let is_text = kind_of(rules, array.data_type()) == DataType::Utf8;
    let canonical = values::column(canonical.finish(), is_text)?;
    Ok(losses.changed(canonical, array.len()))
}

/// The result of a record.
enum Read {
    Canonical,
    Blank,
    Skipped,
}

fn read(
    rules: &Rules,
    line: &[u8],
    records: &Records,
    out: &mut Vec<u8>,
) -> Result<Read, (RejectReason, RejectReasons)> {
    let [record] = &records.records[..] else {
        return Err((RejectReason::LogSyntax, RejectReason::LogSyntax.into()));
    };
    let buffer = |place| match place {
        BufferId::Chunk => line,
        BufferId::Scratch => &records.scratch[..],
    };
    let outcome = match record.found {
        Extracted::Blank => return Ok(Read::Blank),
        Extracted::Skipped | Extracted::Filtered => return Ok(Read::Skipped),
        Extracted::Reject(code, _) => return Err((code, code.into())),
        Extracted::Url(place, span) => rules.normalizer.append(span.of(buffer(place)), out),
        Extracted::Target(place, span) => {
            rules.normalizer.for_targets().append(span.of(buffer(place)), out)
        }
        Extracted::Joined { url, .. } => rules.normalizer.append(url.of(&records.scratch), out),
    };
    match outcome {
        Ok(()) => Ok(Read::Canonical),
        Err(reject) => Err((reject.code, reject.codes)),
    }
}
