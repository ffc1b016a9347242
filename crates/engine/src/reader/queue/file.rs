//! Files that are read in ranges, by the workers if the format allows it.

use std::sync::Arc;

use super::{
    ChunkSource, FormatState, InputEnd, InputQueue, OpenInput, QueueItem, QueuedChunk, here,
};
use uniqurl_formats::input::{self, Chunk, Data, OpenFile};
use uniqurl_formats::record::{self, Context};

/// Files of at most this size, if they are one chunk, are read when they are opened. Otherwise thousands of
/// them would be open at once, only for other threads to read them from a cache.
const SMALL: u64 = record::HEAD as u64;

impl InputQueue<'_> {
    pub(super) fn next_range(
        &mut self,
        index: usize,
        file: Arc<OpenFile>,
        mut state: FormatState,
        at: u64,
    ) -> Option<QueueItem> {
        let size = file.size();
        if at == size {
            let rest = match state.rest(&self.context, self.columns) {
                Ok(rest) => rest,
                Err(why) => return Some(self.without_column(index, why)),
            };
            let Some((format, chunk)) = rest else {
                return Some(QueueItem::End(index, InputEnd { bytes: size, padding: 0 }));
            };
            self.current = Some(OpenInput::File { file, state, at });
            return Some(QueueItem::Chunk(QueuedChunk {
                input: index,
                format,
                source: here(chunk, None, 0),
            }));
        }
        let end = (at + self.plan.limits.chunk_size as u64).min(size);
        let is_small = at == 0 && end == size && size <= SMALL;
        // Any thread can read this range without the ones before it.
        if !state.format.looks_back() && !is_small {
            let source =
                ChunkSource::Range { file: Arc::clone(&file), range: at..end, last: end == size };
            let format = Arc::clone(&state.format);
            self.current = Some(OpenInput::File { file, state, at: end });
            return Some(QueueItem::Chunk(QueuedChunk { input: index, format, source }));
        }
        let mut block = input::RangeBuffer::default();
        let Context { max_record, separator, .. } = self.context;
        let separator = state.format.separator(separator);
        let read = input::read_range(&file, at..end, max_record, separator, &mut block);
        let verified =
            read.and_then(|read| if end == size { file.verify().map(|()| read) } else { Ok(read) });
        let (offset, cut) = match verified {
            Ok(read) => read,
            Err(error) => return Some(QueueItem::Trouble(index, error)),
        };
        let chunk = Chunk { data: Data::Block(block), offset, frames: Vec::new() };
        let advanced = match state.advance(&self.context, self.columns, chunk) {
            Ok(advanced) => advanced,
            Err(why) => return Some(self.without_column(index, why)),
        };
        let (format, chunk) = advanced.unwrap_or_else(|| state.nothing());
        self.current = Some(OpenInput::File { file, state, at: end });
        Some(QueueItem::Chunk(QueuedChunk {
            input: index,
            format,
            source: here(chunk, cut, end - at),
        }))
    }
}
