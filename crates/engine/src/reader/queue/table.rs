//! Tables: their rows come decoded.

use std::sync::Arc;

use super::{ChunkSource, InputEnd, InputQueue, OpenInput, OpenedInput, QueueItem, QueuedChunk};
use crate::job::InputFormat;
use uniqurl_formats::input::{Compression, InputError, OpenFile, Trouble};
use uniqurl_formats::record::{self, Doubts, Refusal};
use uniqurl_formats::table;

impl InputQueue<'_> {
    /// The format of a table. None if the file is none and is not to be read as one.
    pub(super) fn table_format(
        &self,
        index: usize,
        file: &Arc<OpenFile>,
    ) -> Result<Option<record::TableFormat>, InputError> {
        Ok(match &self.opener.plan.input.format {
            InputFormat::Fixed(format) => match &*self.opener.extracting(index, format)? {
                record::Format::Table(table) => Some(table.clone()),
                _ => None,
            },
            InputFormat::Auto => table::container_of(file)?
                .map(|container| record::TableFormat::any(container).carrying(self.opener.columns)),
        })
    }

    /// Begins to read a table.
    pub(super) fn open_table(
        &self,
        index: usize,
        file: Arc<OpenFile>,
        packing: Option<Compression>,
        wanted: &record::TableFormat,
    ) -> Result<OpenedInput, InputError> {
        // A table is read by offsets in the file, which compressed bytes do not have.
        if packing.is_some() {
            let trouble = Trouble::Refused(Refusal::TABLE);
            return Err(InputError::new(&self.opener.inputs[index].path, None, trouble));
        }
        // A table is read alone, so all threads and the whole budget are for it.
        let state = table::TableOptions {
            chunk_size: self.opener.plan.limits.chunk_size,
            max_record: self.opener.context.max_record,
            threads: self.opener.plan.limits.workers(),
            memory: self.opener.plan.budget(),
            once: self.once,
        };
        let (rows, table) = table::TableReader::open(file, wanted, state)?;
        let format = Arc::new(record::Format::Table(table));
        self.opener.check_whole(&self.opener.inputs[index].path, &format)?;
        let guessed = matches!(self.opener.plan.input.format, InputFormat::Auto)
            .then(|| QueueItem::Guessed(index, Arc::clone(&format), Doubts::default()));
        let table = OpenInput::Table { rows: Box::new(rows), format };
        Ok(OpenedInput { input: Some(table), first: guessed })
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
