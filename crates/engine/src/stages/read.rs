//! Stage *read*: reads a chunk and parses it.

use std::mem::{replace, take};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::batch::ParseRules;
use crate::reader::{ChunkSource, ReadTask, Unread};
use crate::watch::Watch;
use uniqurl::internal::{AllocError, Grammar};
use uniqurl_formats::input::{Chunk, Data, read_range};
use uniqurl_formats::record::Context;

/// Reads the chunk of a task into its batch, and parses it. An error of the input is the result of the task.
pub(crate) fn read(
    task: &mut ReadTask,
    rules: &ParseRules<'_>,
    watch: &Watch,
) -> Result<(), AllocError> {
    let ReadTask { batch, chunk, unread, result, .. } = task;
    let unread = replace(unread, Unread::Nothing);
    let Some(queued) = chunk.as_mut().filter(|_| !matches!(unread, Unread::Nothing)) else {
        return Ok(());
    };
    let mut block = batch.take_block();
    batch.clear();
    batch.input = queued.input;
    let mut chunk = match (unread, &mut queued.source) {
        (Unread::Rest(chunk, from), _) => {
            batch.sequence.from = from;
            chunk
        }
        (_, ChunkSource::Chunk { chunk, cut, read }) => {
            batch.sequence.cut = cut.take();
            watch.bytes.fetch_add(*read, Ordering::Relaxed);
            take(chunk)
        }
        (_, ChunkSource::Range { file, range, .. }) => {
            watch.bytes.fetch_add(range.end - range.start, Ordering::Relaxed);
            let Context { max_record, separator, .. } = rules.context;
            match read_range(
                file,
                range.clone(),
                max_record,
                queued.format.separator(separator),
                &mut block,
            ) {
                Ok((offset, cut)) => {
                    batch.sequence.cut = cut;
                    Chunk { data: Data::Block(block), offset, frames: Vec::new() }
                }
                Err(error) => {
                    // An error of an input ends no other task: its turn comes in the order of the inputs.
                    *result = Err(error);
                    return Ok(());
                }
            }
        }
    };
    // RFC 8259, 8.1, lets a reader of JSON ignore the mark. In other formats it is a byte of the URL,
    // unless the profile repairs.
    if rules.normalizer.profile().rules().grammar == Grammar::Repaired || queued.format.is_json() {
        chunk.skip_mark();
    }
    batch.text.chunk = Some(chunk);
    if rules.needs.format {
        batch.extras.get_or_insert_default().format = Some(Arc::clone(&queued.format));
    }
    batch.parse(&queued.format, rules)
}
