//! Tables: their rows come decoded.

use std::sync::Arc;

use super::{Bytes, Current, End, Next, Schedule, Task};
use crate::job::Format;
use uniqurl_formats::input::{Compression, InputError, OpenFile, Trouble};
use uniqurl_formats::record::{self, Refusal};
use uniqurl_formats::table;

impl Schedule<'_> {
    /// Begins to read a table, if the file is one or is to be one. Inside: word of its format.
    pub(super) fn try_table(
        &mut self,
        index: usize,
        file: &Arc<OpenFile>,
        packing: Option<Compression>,
    ) -> Result<Option<Option<Next>>, InputError> {
        let wanted = match self.format {
            Format::Fixed(format) => match &*self.taking_out(index, format)? {
                record::Format::Table(table) => table.clone(),
                _ => return Ok(None),
            },
            Format::Auto => match table::container_of(file)? {
                Some(container) => record::TableFormat::any(container).carrying(self.taken_out),
                None => return Ok(None),
            },
        };
        if packing.is_some() {
            let trouble = Trouble::Refused(Refusal::Table);
            return Err(InputError::new(&self.inputs[index].path, None, trouble));
        }
        let reading = table::TableOptions {
            chunk_size: self.chunk_size,
            max_record: self.context.max_record,
            threads: self.threads,
            memory: self.memory,
            once: self.once,
        };
        let (rows, table) = table::TableReader::open(Arc::clone(file), &wanted, reading)?;
        let format = Arc::new(record::Format::Table(table));
        let guessed =
            matches!(self.format, Format::Auto).then(|| Next::Guessed(index, Arc::clone(&format)));
        self.current = Some(Current::Table { rows: Box::new(rows), format });
        Ok(Some(guessed))
    }

    pub(super) fn next_rows(
        &mut self,
        index: usize,
        mut rows: Box<table::TableReader>,
        format: Arc<record::Format>,
        idle: bool,
    ) -> Option<Next> {
        let next = match rows.next(idle) {
            table::TableEvent::Chunk(chunk, read) => {
                let bytes = Bytes::Chunk { chunk, cut: None, read };
                Next::Task(Task { input: index, format: Arc::clone(&format), bytes })
            }
            table::TableEvent::Wait => Next::Wait,
            table::TableEvent::Error(error) => return Some(Next::Trouble(index, error)),
            table::TableEvent::End => {
                return Some(match rows.end() {
                    Ok(bytes) => Next::End(index, End { bytes, padding: 0 }),
                    Err(error) => Next::Trouble(index, error),
                });
            }
        };
        self.current = Some(Current::Table { rows, format });
        Some(next)
    }
}
