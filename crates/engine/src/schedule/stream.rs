//! Inputs that are read in order: pipes, what is compressed, and records that no line ends.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use super::reading::Reading;
use super::{Current, End, Next, Schedule, Task, here};
use crate::job::Format;
use uniqurl_formats::input::{
    self, InputError, OpenFile, StreamEvent, StreamOptions, StreamSource, Trouble,
};
use uniqurl_formats::record;

/// How often a wait for a slow stream looks whether the run is to end.
const LOOK: Duration = Duration::from_millis(50);

impl Schedule<'_> {
    /// Begins to read an input in order. `found` is its format, if it was found already.
    pub(super) fn begin_stream(
        &mut self,
        index: usize,
        source: StreamSource,
        found: Option<Arc<record::Format>>,
        file: Option<Arc<OpenFile>>,
    ) -> Result<(), InputError> {
        let path = &self.inputs[index].path;
        let format = match (found, self.format) {
            (Some(found), _) => Some(found),
            (None, Format::Auto) => None,
            (None, Format::Fixed(format)) => Some(self.taking_out(index, format)?),
        };
        let cutting = StreamOptions {
            format: format.clone(),
            name: path.to_string_lossy().into_owned(),
            chunk_size: self.chunk_size,
            max_record: self.context.max_record,
            separator: self.context.separator.byte(),
            ahead: self.ahead,
            threads: self.threads,
            limits: input::Limits::within(self.memory, self.threads),
        };
        let pieces = input::stream(source, cutting)
            .map_err(|error| InputError::new(path, None, Trouble::Io(error)))?;
        self.current = Some(Current::Stream { pieces, reading: format.map(Reading::new), file });
        Ok(())
    }

    /// What a stream says next, unless the run is to end before.
    fn wait_for(&self, pieces: &Receiver<StreamEvent>) -> Result<StreamEvent, TryRecvError> {
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

    pub(super) fn next_piece(
        &mut self,
        index: usize,
        pieces: Receiver<StreamEvent>,
        mut reading: Option<Reading>,
        file: Option<Arc<OpenFile>>,
        idle: bool,
    ) -> Option<Next> {
        let piece = match idle {
            true => self.wait_for(&pieces),
            false => pieces.try_recv(),
        };
        let path = &self.inputs[index].path;
        // What looks like damage may be a change of the file.
        let changed = || file.as_ref().and_then(|file| file.verify().err());
        let next = match (piece, &mut reading) {
            (Ok(StreamEvent::Chunk(chunk, read)), Some(reading)) => {
                let advanced = match reading.advance(&self.context, self.taken_out, chunk) {
                    Ok(advanced) => advanced,
                    Err(why) => return Some(self.without_column(index, why)),
                };
                let (format, chunk) = advanced.unwrap_or_else(|| reading.nothing());
                Some(Next::Task(Task { input: index, format, bytes: here(chunk, None, read) }))
            }
            (Ok(StreamEvent::Guess(format)), _) => {
                let format = Arc::new(self.as_asked(format.as_ref().clone()));
                if let Err(error) = self.taking_out(index, &format) {
                    return Some(Next::Trouble(index, error));
                }
                reading = Some(Reading::new(Arc::clone(&format)));
                Some(Next::Guessed(index, format))
            }
            (Ok(StreamEvent::Cut(cut)), Some(reading)) => {
                let (format, chunk) = reading.nothing();
                Some(Next::Task(Task { input: index, format, bytes: here(chunk, Some(cut), 0) }))
            }
            (Ok(StreamEvent::End { taken, padding }), reading) => {
                if let Some(error) = changed() {
                    return Some(Next::Trouble(index, error));
                }
                let end = End { bytes: taken, padding };
                let rest = match reading.as_mut() {
                    Some(reading) => reading.rest(&self.context, self.taken_out),
                    None => Ok(None),
                };
                let rest = match rest {
                    Ok(rest) => rest,
                    Err(why) => return Some(self.without_column(index, why)),
                };
                let Some((format, chunk)) = rest else { return Some(Next::End(index, end)) };
                self.ended = Some(end);
                return Some(Next::Task(Task {
                    input: index,
                    format,
                    bytes: here(chunk, None, 0),
                }));
            }
            (Ok(StreamEvent::Error(at, trouble)), _) => {
                let at = (!matches!(trouble, Trouble::Refused(_))).then_some(at);
                let error = changed().unwrap_or_else(|| InputError::new(path, at, trouble));
                return Some(Next::Trouble(index, error));
            }
            (Err(TryRecvError::Empty), _) => Some(Next::Wait),
            // The reader sends a guess before any chunk, and an end or an error before it goes; it can
            // only have panicked.
            (
                Err(TryRecvError::Disconnected) | Ok(StreamEvent::Chunk(..) | StreamEvent::Cut(_)),
                _,
            ) => {
                let error = std::io::Error::other("the reading thread ended early");
                let error = InputError::new(path, None, Trouble::Io(error));
                return Some(Next::Trouble(index, error));
            }
        };
        self.current = Some(Current::Stream { pieces, reading, file });
        next
    }
}
