//! Files that are read in ranges, by the workers if the format allows it.

use std::ops::Range;
use std::sync::Arc;

use super::{
    ChunkSource, FormatState, InputQueue, OpenInput, Opener, QueueItem, QueuedChunk, here,
};
use uniqurl_formats::input::{self, Chunk, CutLine, Data, InputError, OpenFile};
use uniqurl_formats::record::{self, Context};

/// Files of at most this size, if they are one chunk, are read when they are opened. Otherwise thousands of
/// them would be open at once, only for other threads to read them from a cache.
pub(super) const SMALL: u64 = record::HEAD as u64;

impl Opener<'_> {
    /// The whole records that begin in a range of a file of this format, and a last line that is left out.
    pub(super) fn read(
        &self,
        file: &Arc<OpenFile>,
        format: &record::Format,
        range: Range<u64>,
    ) -> Result<(Chunk, Option<CutLine>), InputError> {
        let mut block = input::RangeBuffer::default();
        let Context { max_record, separator, .. } = self.context;
        let separator = format.separator(separator);
        let (offset, cut) = input::read_range(file, range, max_record, separator, &mut block)?;
        Ok((Chunk { data: Data::Block(block), offset, frames: Vec::new() }, cut))
    }
}

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
            return Some(self.end_file(index, size, state));
        }
        let end = (at + self.opener.plan.limits.chunk_size as u64).min(size);
        // Any thread can read this range without the ones before it.
        if !state.format.looks_back() && !self.opener.is_small_size(size) {
            let source =
                ChunkSource::Range { file: Arc::clone(&file), range: at..end, last: end == size };
            let format = Arc::clone(&state.format);
            self.current = Some(OpenInput::File { file, state, at: end });
            return Some(QueueItem::Chunk(QueuedChunk { input: index, format, source }));
        }
        let verified =
            self.opener.read(&file, &state.format, at..end).and_then(|read| match end == size {
                true => file.verify().map(|()| read),
                false => Ok(read),
            });
        let (chunk, cut) = match verified {
            Ok(read) => read,
            Err(error) => return Some(QueueItem::Trouble(index, error)),
        };
        let advanced = match state.advance(&self.opener.context, self.opener.columns, chunk) {
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
