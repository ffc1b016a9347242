//! Stage *read*: reads a chunk and parses it.

use std::mem::{replace, take};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::batch::ParseRules;
use crate::reader::{ChunkSource, ReadTask, Unread};
use crate::trace::{Trace, TraceStage};
use crate::watch::Watch;
use uniqurl::internal::{AllocError, Grammar};
use uniqurl_formats::input::{Chunk, Data, read_range};
use uniqurl_formats::record::Context;

/// Spawns a job for each task.
pub(crate) fn spawn<'s>(
    scope: &rayon::Scope<'s>,
    tasks: &'s mut [ReadTask],
    rules: &'s ParseRules<'_>,
    watch: &'s Watch,
    out_of_memory: &'s AtomicBool,
) {
    for task in tasks {
        scope.spawn(move |_| {
            let timer = Trace::begin(watch.trace.as_ref());
            let bytes = task.chunk.as_ref().map_or(0, |queued| queued.source.len());
            if read(task, rules, watch).is_err() {
                out_of_memory.store(true, Ordering::Relaxed);
            }
            timer.end(TraceStage::Read, task.input, || bytes);
        });
    }
}

fn read(task: &mut ReadTask, rules: &ParseRules<'_>, watch: &Watch) -> Result<(), AllocError> {
    let ReadTask { batch, chunk, unread, result, .. } = task;
    let unread = replace(unread, Unread::Nothing);
    // A task that only waited for its turn has a complete batch.
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
    if rules.normalizer.profile().rules().grammar == Grammar::Repaired || queued.format.is_json() {
        chunk.skip_mark();
    }
    batch.text.chunk = Some(chunk);
    if rules.needs.format {
        batch.extras.get_or_insert_default().format = Some(Arc::clone(&queued.format));
    }
    batch.parse(&queued.format, rules)
}
