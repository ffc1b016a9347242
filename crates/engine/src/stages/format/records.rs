//! The output of `normalize`: a line, an object or a row for each record.

use std::borrow::Cow;

use crate::batch::{RejectedRecord, UrlRef, WorkBatch, without_host};
use crate::output::{self, Object, escaped};
use crate::plan::JobPlan;
use uniqurl::internal::{AllocError, alloc};
use uniqurl_formats::record::Extracted;
use uniqurl_text::{Secrets, redact};

/// A line for each record, empty where there is no URL.
pub(super) fn format_lines(batch: &mut WorkBatch) -> Result<(), AllocError> {
    let lines = &mut batch.out.lines;
    for url in &batch.keys {
        alloc::try_reserve(lines, url.len as usize + 1)?;
        lines.extend_from_slice(batch.text.get(*url));
        lines.push(b'\n');
    }
    Ok(())
}

/// A JSON object for each record.
pub(super) fn format_json(batch: &mut WorkBatch) {
    let lines = &mut batch.out.lines;
    let mut rejected = batch.rejected.iter();
    let mut decoded = batch.extras.iter().flat_map(|extras| extras.decoded.iter());
    for (number, url) in (batch.sequence.before.in_run + 1..).zip(&batch.keys) {
        let decoded = if url.has_form() { decoded.next().map(|(_, path)| path) } else { None };
        let object = Object::at_end_of(&mut *lines).number("record", number);
        if url.is_canonical() {
            let url = batch.text.get(*url);
            match decoded.filter(|path| !path.is_empty()) {
                Some(path) => object.bytes("out", url).bytes("decoded", path).end_line(),
                None => object.bytes("out", url).end_line(),
            }
        } else if url.len == UrlRef::BLANK.len {
            object.raw("blank", "true").end_line();
        } else if url.len == UrlRef::FILTERED.len || url.len == UrlRef::UNWANTED.len {
            object.raw("filtered", "true").end_line();
        } else if let Some(RejectedRecord { reject, .. }) = rejected.next() {
            let codes = reject.in_order().map(|code| code.name());
            object.names("reject", codes).number("at", reject.at as u64).end_line();
        }
    }
}

/// A row for each record: its outcome, in columns.
pub(super) fn format_rows(batch: &mut WorkBatch, plan: &JobPlan) {
    let mut out = std::mem::take(&mut batch.out.lines);
    // Without such bytes, nothing in a canonical URL needs an escape.
    let any_byte = plan.normalizer.may_write_any_byte();
    let found = batch.text.all_records().filter(|(_, found)| *found != Extracted::Skipped);
    let originals = found.map(|(_, found)| {
        batch
            .text
            .found_url(found)
            .map_or_else(Cow::default, |(url, prefix)| without_host(url, prefix))
    });
    let mut rejected = batch.rejected.iter();
    let records = batch.sequence.before.in_run + 1..;
    for ((number, url), original) in records.zip(&batch.keys).zip(originals) {
        output::number(number, &mut out);
        out.push(b'\t');
        // A rejected record shows the same bytes as in `--rejects`.
        let reject = if url.is_rejected() { rejected.next() } else { None };
        let original = match reject {
            Some(reject) => batch.raw(reject),
            None if url.is_blank() => &[],
            None => &*original,
        };
        if plan.output.secrets == Secrets::Masked {
            let mut masked = Vec::new();
            match reject {
                Some(reject) => batch.mask_raw(reject, &mut masked),
                None => redact(original, &mut masked),
            }
            escaped(&masked, &mut out);
        } else {
            escaped(original, &mut out);
        }
        out.push(b'\t');
        match any_byte {
            true => escaped(batch.text.get(*url), &mut out),
            false => out.extend_from_slice(batch.text.get(*url)),
        }
        out.push(b'\t');
        let codes = reject.into_iter().flat_map(|reject| reject.reject.in_order());
        for (i, code) in codes.enumerate() {
            out.extend_from_slice(if i > 0 { b"," } else { b"" });
            out.extend_from_slice(code.name().as_bytes());
        }
        out.push(b'\n');
    }
    batch.out.lines = out;
}
