//! The records of a selection, and the other ones, as they came.

use std::path::Path;

use crate::batch::{Header, UrlRef, WorkBatch};
use crate::plan::JobPlan;
use crate::selection::Selection;
use crate::split;
use uniqurl::internal::{AllocError, Span, alloc};
use uniqurl_formats::record::{Extracted, Format, Separator};

/// Fills the outputs of a batch: the selected records, and, if they are wanted, those of the others that are neither
/// rejected nor blank.
pub(super) fn format(
    batch: &mut WorkBatch,
    (selection, path): (&Selection, &Path),
    plan: &JobPlan,
    with_others: bool,
) -> Result<(), AllocError> {
    let mut out = std::mem::take(&mut batch.out);
    let (chunk, extras) = (batch.text.chunk(), &batch.extras);
    let format = extras.as_ref().and_then(|extras| extras.format.as_deref());
    let has_directives = format.is_some_and(|format| format.has_directives());
    // Only lists have the separator that was asked for.
    let separator = match batch.text.lines.is_empty() {
        true => Separator::LineFeed,
        false => plan.input.separator,
    };
    let split = plan.output.split;
    let is_other = |key: &UrlRef| !key.is_rejected() && !key.is_blank();
    let is_selected = |sequence| selection.has(batch.input, batch.number_in_input(sequence));
    let mut keys = batch.keys.iter().enumerate();
    if matches!(format, Some(Format::Table(_))) {
        // Rows are no bytes of the chunk. Who copies them knows the selected ones, and gets the places of the others.
        for (sequence, _) in keys.filter(|(at, key)| is_other(key) && !is_selected(*at)) {
            Selection::append(batch.input, batch.number_in_input(sequence), &mut out.rejects);
        }
        batch.out = out;
        return Ok(());
    }
    for (span, found) in batch.text.all_records() {
        let (record, end) = whole(chunk, span, separator);
        let append = |out: &mut Vec<u8>, shard: Option<u32>| -> Result<(), AllocError> {
            alloc::try_reserve(out, record.len() + split::MARK_OF_RECORD + 1)?;
            if let Some(shard) = shard {
                split::mark_record(shard, record.len() + end.len(), out);
            }
            out.extend_from_slice(record);
            out.extend_from_slice(end);
            Ok(())
        };
        if found == Extracted::Skipped {
            if !has_directives {
                let header = Header { path: path.to_owned(), bytes: [record, end].concat() };
                out.headers.push(header);
                continue;
            }
            match split {
                None => append(&mut out.lines, None)?,
                Some(split) => {
                    (0..split.shards).try_for_each(|shard| append(&mut out.lines, Some(shard)))?
                }
            }
            if with_others {
                append(&mut out.rejects, None)?;
            }
            continue;
        }
        let Some((sequence, key)) = keys.next() else { break };
        if is_selected(sequence) {
            let shard = split.map(|split| split.shard(batch.text.get(*key)));
            append(&mut out.lines, shard)?;
        } else if with_others && is_other(key) {
            append(&mut out.rejects, None)?;
        }
    }
    batch.out = out;
    Ok(())
}

/// The bytes of a record with its own line ending, and the ending that it lacks.
fn whole(chunk: &[u8], span: Span, separator: Separator) -> (&[u8], &'static [u8]) {
    let after = &chunk[span.end as usize..];
    let (own, end): (&[u8], &'static [u8]) = match separator {
        Separator::Nul => (b"\0", b"\0"),
        Separator::LineFeed if after.starts_with(b"\r\n") => (b"\r\n", b"\n"),
        Separator::LineFeed => (b"\n", b"\n"),
    };
    match after.starts_with(own) {
        true => (&chunk[span.start as usize..span.end as usize + own.len()], b""),
        // Only the last record of an input may lack it, and others may follow.
        false => (span.of(chunk), end),
    }
}
