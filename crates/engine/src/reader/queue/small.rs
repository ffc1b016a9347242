//! Small files, which tasks open, read and close before their turn.
//!
//! Opening a file and finding its format takes longer than reading a few lines, so with many small files one thread
//! that opens them would hold up all others.

use std::sync::Arc;

use super::file::SMALL;
use super::{
    FormatState, InputEnd, InputQueue, OpenInput, Opener, QueueItem, QueuedChunk, ReadFile,
    SmallFile, here,
};
#[cfg(feature = "tables")]
use crate::job::InputFormat;
use uniqurl_formats::input::{self, Chunk, Compression, CutLine, Input, OpenFile, Source};
#[cfg(feature = "tables")]
use uniqurl_formats::record::Format;
use uniqurl_formats::record::Framing;
#[cfg(feature = "tables")]
use uniqurl_formats::table;

/// Small files that are open or read before their turn, for each thread.
const EACH: usize = 4;

impl Opener<'_> {
    /// Opens and reads a small file.
    pub(crate) fn read_small(&self, index: usize) -> SmallFile {
        let file = match OpenFile::open(&self.inputs[index]) {
            Ok(file) => Arc::new(file?),
            Err(error) => return Some(Err(error)),
        };
        let is_plain = self.is_small_size(file.size())
            && matches!(input::compression_of(&file), Ok(None))
            && !self.is_table(&file);
        if !is_plain {
            return None;
        }
        let (format, first) = match self.plain_format(index, &file) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        if format.framing() != Framing::Lines {
            return None;
        }
        let size = file.size();
        let records = self.read(&file, &format, 0..size);
        // At once, for the file is closed after this.
        let records = records.and_then(|records| file.verify().map(|()| records));
        Some(records.map(|records| ReadFile { size, format, first, records }))
    }

    #[cfg(feature = "tables")]
    fn is_table(&self, file: &Arc<OpenFile>) -> bool {
        match &self.plan.input.format {
            InputFormat::Fixed(format) => matches!(**format, Format::Table(_)),
            InputFormat::Auto => !matches!(table::container_of(file), Ok(None)),
        }
    }

    #[cfg(not(feature = "tables"))]
    fn is_table(&self, _: &Arc<OpenFile>) -> bool {
        false
    }

    fn is_small(&self, input: &Input) -> bool {
        matches!(input.source, Source::File { size, .. } if self.is_small_size(size))
            && Compression::meant_by(&input.path).is_none()
    }

    /// Whether a file of this size is one chunk that is read at once.
    pub(super) fn is_small_size(&self, size: u64) -> bool {
        (1..=SMALL.min(self.plan.limits.chunk_size as u64)).contains(&size)
    }
}

impl<'a> InputQueue<'a> {
    /// What tasks need to open inputs.
    pub(crate) fn opener(&self) -> Opener<'a> {
        self.opener.clone()
    }

    /// The next small file that a task is to read before its turn.
    pub(crate) fn next_to_open(&mut self) -> Option<usize> {
        let workers = self.opener.plan.limits.workers();
        // One thread opens a file at its turn, while its name and head are in the caches.
        // Inputs that are open ahead of their turn would be opened twice.
        if workers == 1 || !self.ahead.opened.is_empty() || self.small.len() == EACH * workers {
            return None;
        }
        let index = self.small.next_after(self.next);
        let input = self.opener.inputs.get(index)?;
        self.opener.is_small(input).then(|| {
            self.small.expect(index);
            index
        })
    }

    /// Takes a small file that was read. It comes too late if the run ends before its turn.
    pub(crate) fn put_small(&mut self, index: usize, file: SmallFile) {
        self.small.put(index, file);
    }

    /// Gives a small file its turn, if it is read already.
    pub(super) fn begin_small(&mut self, index: usize) -> Option<Option<QueueItem>> {
        Some(match self.small.take(index)?? {
            Ok(ReadFile { size, format, first, records }) => {
                let state = FormatState::new(format);
                self.current = Some(OpenInput::Read { size, state, records: Some(records) });
                first
            }
            Err(error) => Some(QueueItem::Trouble(index, error)),
        })
    }

    /// The next item of a file that is read whole.
    pub(super) fn next_read(
        &mut self,
        index: usize,
        size: u64,
        mut state: FormatState,
        records: Option<(Chunk, Option<CutLine>)>,
    ) -> Option<QueueItem> {
        let Some((chunk, cut)) = records else { return Some(self.end_file(index, size, state)) };
        let advanced = match state.advance(&self.opener.context, self.opener.columns, chunk) {
            Ok(advanced) => advanced,
            Err(why) => return Some(self.without_column(index, why)),
        };
        let (format, chunk) = advanced.unwrap_or_else(|| state.nothing());
        self.current = Some(OpenInput::Read { size, state, records: None });
        let source = here(chunk, cut, size);
        Some(QueueItem::Chunk(QueuedChunk { input: index, format, source }))
    }

    /// The last record of a file, or its end.
    pub(super) fn end_file(
        &mut self,
        index: usize,
        size: u64,
        mut state: FormatState,
    ) -> QueueItem {
        match state.rest(&self.opener.context, self.opener.columns) {
            Err(why) => self.without_column(index, why),
            Ok(None) => QueueItem::End(index, InputEnd { bytes: size, padding: 0 }),
            Ok(Some((format, chunk))) => {
                self.current = Some(OpenInput::Read { size, state, records: None });
                let source = here(chunk, None, 0);
                QueueItem::Chunk(QueuedChunk { input: index, format, source })
            }
        }
    }
}
