//! Inputs that are read in order: pipes, compressed files, and formats whose records span lines.

use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::format_state::FormatState;
use super::{InputEnd, InputQueue, OpenInput, QueueItem, QueuedChunk, here};
use crate::job::InputFormat;
use crate::reader::CHUNKS;
use uniqurl_formats::input::{
    self, InputError, OpenFile, StreamEvent, StreamEvents, StreamOptions, StreamSource, Trouble,
};
use uniqurl_formats::record;

/// How often a wait for a slow stream checks whether the run was stopped.
const LOOK: Duration = Duration::from_millis(50);

impl InputQueue<'_> {
    /// Begins to read an input in order. `found` is its format, if it was found already.
    pub(super) fn begin_stream(
        &self,
        index: usize,
        source: StreamSource,
        found: Option<Arc<record::Format>>,
        file: Option<Arc<OpenFile>>,
    ) -> Result<OpenInput, InputError> {
        let path = &self.opener.inputs[index].path;
        let format = match (found, &self.opener.plan.input.format) {
            (Some(found), _) => Some(found),
            (None, InputFormat::Auto) => None,
            (None, InputFormat::Fixed(format)) => Some(self.opener.extracting(index, format)?),
        };
        let cutting = StreamOptions {
            format: format.clone(),
            envelope: self.opener.plan.input.envelope,
            name: path.to_string_lossy().into_owned(),
            head_limit: record::head_limit(self.opener.plan.budget()),
            formats: Arc::clone(&self.opener.plan.input.formats),
            chunk_size: self.opener.plan.limits.chunk_size,
            max_record: self.opener.context.max_record,
            separator: self.opener.context.separator,
            ahead: self.opener.plan.limits.workers() * CHUNKS,
            limits: input::Limits::within(self.opener.plan.budget(), self.ahead.decoders),
        };
        let pieces = input::stream(source, cutting, &self.ahead.memory)
            .map_err(|error| InputError::new(path, None, Trouble::Io(error)))?;
        Ok(OpenInput::Stream { pieces, state: format.map(FormatState::new), file })
    }

    /// The next event of a stream, unless the run is stopped before.
    fn wait_for(&self, pieces: &StreamEvents) -> Result<StreamEvent, TryRecvError> {
        loop {
            match pieces.recv_timeout(LOOK) {
                Ok(piece) => return Ok(piece),
                Err(RecvTimeoutError::Disconnected) => return Err(TryRecvError::Disconnected),
                Err(RecvTimeoutError::Timeout) if self.watch.is_stopped() => {
                    return Err(TryRecvError::Empty);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    pub(crate) fn next_piece(
        &mut self,
        index: usize,
        pieces: StreamEvents,
        mut state: Option<FormatState>,
        file: Option<Arc<OpenFile>>,
        idle: bool,
    ) -> Option<QueueItem> {
        if idle && file.is_some() {
            // A file comes fast, and a flow that begins with one chunk leaves the other threads without work.
            let limits = &self.opener.plan.limits;
            pieces.wait_for(limits.workers() * CHUNKS * limits.chunk_size / 2, LOOK);
        }
        // Waiting would hold up the batches on their way.
        let piece = match idle {
            true => self.wait_for(&pieces),
            false => pieces.try_recv(),
        };
        let path = &self.opener.inputs[index].path;
        // Apparent damage may be a change of the file.
        let changed = || file.as_ref().and_then(|file| file.verify().err());
        let next = match (piece, &mut state) {
            (Ok(StreamEvent::Chunk(chunk, read)), Some(state)) => {
                let advanced = match state.advance(&self.opener.context, self.opener.columns, chunk)
                {
                    Ok(advanced) => advanced,
                    Err(why) => return Some(self.without_column(index, why)),
                };
                let (format, chunk) = advanced.unwrap_or_else(|| state.nothing());
                Some(QueueItem::Chunk(QueuedChunk {
                    input: index,
                    format,
                    source: here(chunk, None, read),
                }))
            }
            (Ok(StreamEvent::Guess(detected)), _) => {
                let format = Arc::new(self.opener.as_asked(detected.format.clone()));
                if let Err(error) = self.opener.extracting(index, &format) {
                    return Some(QueueItem::Trouble(index, error));
                }
                state = Some(FormatState::new(Arc::clone(&format)));
                let guessed = QueueItem::Guessed(index, format, detected.doubts.clone());
                self.opener.is_guessed().then_some(guessed)
            }
            (Ok(StreamEvent::Cut(cut)), Some(state)) => {
                // An empty chunk carries it, so that it is reported in its turn.
                let (format, chunk) = state.nothing();
                Some(QueueItem::Chunk(QueuedChunk {
                    input: index,
                    format,
                    source: here(chunk, Some(cut), 0),
                }))
            }
            (Ok(StreamEvent::End { taken, padding }), state) => {
                if let Some(error) = changed() {
                    return Some(QueueItem::Trouble(index, error));
                }
                let end = InputEnd { bytes: taken, padding };
                let rest = match state.as_mut() {
                    Some(state) => state.rest(&self.opener.context, self.opener.columns),
                    None => Ok(None),
                };
                let rest = match rest {
                    Ok(rest) => rest,
                    Err(why) => return Some(self.without_column(index, why)),
                };
                let Some((format, chunk)) = rest else { return Some(QueueItem::End(index, end)) };
                // The last records come first, and the next call returns the end.
                self.ended = Some(end);
                return Some(QueueItem::Chunk(QueuedChunk {
                    input: index,
                    format,
                    source: here(chunk, None, 0),
                }));
            }
            (Ok(StreamEvent::Error(at, trouble)), _) => {
                let error = changed().unwrap_or_else(|| InputError::new(path, at, trouble));
                return Some(QueueItem::Trouble(index, error));
            }
            (Err(TryRecvError::Empty), _) => Some(QueueItem::Wait),
            // The reading thread sends a guess before any chunk, and an end or an error before it ends. So
            // it panicked.
            (
                Err(TryRecvError::Disconnected) | Ok(StreamEvent::Chunk(..) | StreamEvent::Cut(_)),
                _,
            ) => {
                let error = std::io::Error::other("the reading thread ended early");
                let error = InputError::new(path, None, Trouble::Io(error));
                return Some(QueueItem::Trouble(index, error));
            }
        };
        self.current = Some(OpenInput::Stream { pieces, state, file });
        next
    }
}
