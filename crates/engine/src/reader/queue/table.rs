//! Tables: their rows come decoded.

use std::sync::Arc;

use super::{ChunkSource, InputEnd, InputQueue, OpenInput, QueueItem, QueuedChunk};
use crate::job::InputFormat;
use uniqurl_formats::input::{Compression, InputError, OpenFile, Trouble};
use uniqurl_formats::record::{self, Refusal};
use uniqurl_formats::table;

impl InputQueue<'_> {
    /// Begins to read a table, if the file is one or its format is given as one. The inner option reports a
    /// guess.
    pub(crate) fn try_table(
        &mut self,
        index: usize,
        file: &Arc<OpenFile>,
        packing: Option<Compression>,
    ) -> Result<Option<Option<QueueItem>>, InputError> {
        let wanted = match &self.plan.input.format {
            InputFormat::Fixed(format) => match &*self.extracting(index, format)? {
                record::Format::Table(table) => table.clone(),
                _ => return Ok(None),
            },
            InputFormat::Auto => match table::container_of(file)? {
                Some(container) => record::TableFormat::any(container).carrying(self.columns),
                None => return Ok(None),
            },
        };
        if packing.is_some() {
            let trouble = Trouble::Refused(Refusal::Table);
            return Err(InputError::new(&self.inputs[index].path, None, trouble));
        }
        let state = table::TableOptions {
            chunk_size: self.plan.limits.chunk_size,
            max_record: self.context.max_record,
            threads: self.plan.limits.workers(),
            memory: self.plan.budget(),
            once: self.once,
        };
        let (rows, table) = table::TableReader::open(Arc::clone(file), &wanted, state)?;
        let format = Arc::new(record::Format::Table(table));
        let guessed = matches!(self.plan.input.format, InputFormat::Auto)
            .then(|| QueueItem::Guessed(index, Arc::clone(&format)));
        self.current = Some(OpenInput::Table { rows: Box::new(rows), format });
        Ok(Some(guessed))
    }

    pub(crate) fn next_rows(
        &mut self,
        index: usize,
        mut rows: Box<table::TableReader>,
        format: Arc<record::Format>,
        idle: bool,
    ) -> Option<QueueItem> {
        let next = match rows.next(idle) {
            table::TableEvent::Chunk(chunk, read) => {
                let source = ChunkSource::Chunk { chunk, cut: None, read };
                QueueItem::Chunk(QueuedChunk { input: index, format: Arc::clone(&format), source })
            }
            table::TableEvent::Wait => QueueItem::Wait,
            table::TableEvent::Error(error) => return Some(QueueItem::Trouble(index, error)),
            table::TableEvent::End => {
                return Some(match rows.end() {
                    Ok(bytes) => QueueItem::End(index, InputEnd { bytes, padding: 0 }),
                    Err(error) => QueueItem::Trouble(index, error),
                });
            }
        };
        self.current = Some(OpenInput::Table { rows, format });
        Some(next)
    }
}
