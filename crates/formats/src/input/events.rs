//! The channel between the thread that reads a stream and those that take its records.
//!
//! Its [share](super::read_ahead) bounds the bytes of records that wait. Without a bound, archives with
//! long bodies would fill the memory with chunks that nobody has asked for.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, RecvTimeoutError, Sender, TryRecvError, channel};
use std::time::Duration;

use super::Chunk;
use super::error::Trouble;
use super::range::CutLine;
use super::read_ahead::StreamShare;
use crate::record::Detected;

/// An event of a stream.
#[derive(Debug)]
pub enum StreamEvent {
    /// The detected format, or the given one in an envelope, before any other event; not sent for an
    /// empty input.
    Guess(Arc<Detected>),
    /// Records, and the number of input bytes read for them.
    Chunk(Chunk, u64),
    /// An unfinished line that was left out because it was still being written.
    Cut(CutLine),
    /// Reading failed, at this offset if anything was read.
    Error(Option<u64>, Trouble),
    /// The stream ended.
    End {
        /// Input bytes read.
        taken: u64,
        /// How many of them were zeros after the compressed data.
        padding: u64,
    },
}

/// The events of a stream, in order.
#[derive(Debug)]
pub struct StreamEvents {
    events: Receiver<(StreamEvent, usize)>,
    share: Arc<StreamShare>,
}

/// The other end.
pub(super) struct EventSender {
    events: Sender<(StreamEvent, usize)>,
    share: Arc<StreamShare>,
    /// Bytes that each chunk counts for at least: a short one keeps a whole buffer from being reused.
    least: usize,
}

/// Nobody takes the events any more.
#[derive(Debug)]
pub(super) struct Unwanted;

/// A channel with this share.
pub(super) fn events(share: Arc<StreamShare>, least: usize) -> (EventSender, StreamEvents) {
    // The channel itself has no bound: events differ in size a thousandfold, so the share bounds
    // their bytes instead of their number.
    let (sender, receiver) = channel();
    let events = StreamEvents { events: receiver, share: Arc::clone(&share) };
    (EventSender { events: sender, share, least }, events)
}

impl EventSender {
    /// The share of the stream.
    pub(super) fn share(&self) -> &Arc<StreamShare> {
        &self.share
    }

    /// Sends an event once there is room for it.
    pub(super) fn send(&self, event: StreamEvent) -> Result<(), Unwanted> {
        let bytes = match &event {
            StreamEvent::Chunk(chunk, _) => chunk.memory().max(self.least),
            _ => 0,
        };
        if !self.share.reserve(bytes) {
            return Err(Unwanted);
        }
        self.events.send((event, bytes)).map_err(|_| Unwanted)?;
        // Noted only now, so that a reader whom this wakes finds the event in the channel.
        self.share.note_sent(bytes);
        Ok(())
    }
}

impl Drop for EventSender {
    fn drop(&mut self) {
        // This runs on a panic of the reading thread, too. Without it a run in `wait_for` would
        // sleep on.
        self.share.end();
    }
}

impl StreamEvents {
    /// Gives the stream its turn: its events are waited for from now on.
    pub fn begin_turn(&self) {
        self.share.begin_turn();
    }

    /// Waits for the next event. An error if the reading thread has ended.
    pub fn recv(&self) -> Result<StreamEvent, RecvError> {
        self.events.recv().map(|sent| self.take(sent))
    }

    /// The next event, if it is there.
    pub fn try_recv(&self) -> Result<StreamEvent, TryRecvError> {
        self.events.try_recv().map(|sent| self.take(sent))
    }

    /// Waits this long for the next event.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<StreamEvent, RecvTimeoutError> {
        self.events.recv_timeout(timeout).map(|sent| self.take(sent))
    }

    /// Waits this long until so many bytes of records are there, or all that come.
    pub fn wait_for(&self, bytes: usize, timeout: Duration) {
        self.share.wait_for(bytes, timeout);
    }

    fn take(&self, (event, bytes): (StreamEvent, usize)) -> StreamEvent {
        if bytes > 0 {
            self.share.release(bytes);
        }
        event
    }
}

impl Iterator for StreamEvents {
    type Item = StreamEvent;

    fn next(&mut self) -> Option<StreamEvent> {
        self.recv().ok()
    }
}

impl Drop for StreamEvents {
    fn drop(&mut self) {
        // The reading thread may be asleep, waiting for room that nobody would make any more.
        self.share.close();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::read_ahead::ReadAhead;
    use super::super::{Chunk, Data};
    use super::*;

    fn chunk(length: usize) -> StreamEvent {
        let data = Data::Shared(vec![b'x'; length].into());
        StreamEvent::Chunk(Chunk { data, ..Chunk::default() }, 0)
    }

    #[test]
    fn long_chunks_wait_one_at_a_time() {
        for length in [70, 130] {
            let ahead = ReadAhead::new(0, 1);
            let (sender, mut events) = events(ahead.share(100), 0);
            events.begin_turn();
            let sending = thread::spawn(move || {
                (0..8).try_for_each(|_| sender.send(chunk(length))).map(|()| sender).is_ok()
            });
            for _ in 0..8 {
                events.wait_for(1, Duration::from_secs(60));
                assert_eq!(ahead.held(), length);
                assert!(events.next().is_some());
            }
            assert!(sending.join().unwrap() && events.next().is_none());
        }
    }

    #[test]
    fn who_goes_away_ends_the_wait() {
        let ahead = ReadAhead::new(0, 1);
        let (sender, events) = events(ahead.share(100), 0);
        events.begin_turn();
        sender.send(chunk(90)).unwrap();
        let sending = thread::spawn(move || sender.send(chunk(20)).is_err());
        drop(events);
        assert!(sending.join().unwrap());
        assert_eq!(ahead.held(), 0);
    }
}
