//! The channel between the thread that reads a stream and those that take its records.
//!
//! So many events may wait, and so many bytes of records. Without the second bound, archives with long
//! bodies would fill the memory with chunks that nobody has asked for.

use std::sync::mpsc::{
    Receiver, RecvError, RecvTimeoutError, SyncSender, TryRecvError, sync_channel,
};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use super::stream::StreamEvent;

/// The events of a stream, in order.
#[derive(Debug)]
pub struct StreamEvents {
    events: Receiver<StreamEvent>,
    waiting: Arc<Waiting>,
}

/// The other end.
pub(super) struct EventSender {
    events: SyncSender<StreamEvent>,
    waiting: Arc<Waiting>,
    /// Most bytes that may wait.
    most: usize,
}

/// Nobody takes the events any more.
#[derive(Debug)]
pub(super) struct Unwanted;

/// The bytes of the records that wait.
#[derive(Debug, Default)]
struct Waiting {
    bytes: Mutex<Bytes>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Bytes {
    waiting: usize,
    /// Whether nobody takes them any more.
    unwanted: bool,
}

/// A channel for so many events and so many bytes; a longer chunk waits alone.
pub(super) fn events(ahead: usize, most: usize) -> (EventSender, StreamEvents) {
    let (sender, receiver) = sync_channel(ahead);
    let waiting = Arc::new(Waiting::default());
    let events = StreamEvents { events: receiver, waiting: Arc::clone(&waiting) };
    (EventSender { events: sender, waiting, most }, events)
}

impl EventSender {
    /// Sends an event once there is room for it.
    pub(super) fn send(&self, event: StreamEvent) -> Result<(), Unwanted> {
        let length = bytes(&event);
        if length > 0 {
            let is_full =
                |b: &mut Bytes| !b.unwanted && b.waiting > 0 && b.waiting + length > self.most;
            let mut bytes = self.waiting.lock();
            bytes =
                self.waiting.changed.wait_while(bytes, is_full).unwrap_or_else(|e| e.into_inner());
            if bytes.unwanted {
                return Err(Unwanted);
            }
            bytes.waiting += length;
        }
        self.events.send(event).map_err(|_| Unwanted)?;
        // The next long chunk is not read before this one is taken.
        if length > self.most {
            let is_waiting = |bytes: &mut Bytes| !bytes.unwanted && bytes.waiting > 0;
            drop(self.waiting.changed.wait_while(self.waiting.lock(), is_waiting));
        }
        Ok(())
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, Bytes> {
        self.bytes.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl StreamEvents {
    /// Waits for the next event. An error if the reading thread has ended.
    pub fn recv(&self) -> Result<StreamEvent, RecvError> {
        self.events.recv().map(|event| self.take(event))
    }

    /// The next event, if it is there.
    pub fn try_recv(&self) -> Result<StreamEvent, TryRecvError> {
        self.events.try_recv().map(|event| self.take(event))
    }

    /// Waits this long for the next event.
    pub fn recv_timeout(&self, timeout: Duration) -> Result<StreamEvent, RecvTimeoutError> {
        self.events.recv_timeout(timeout).map(|event| self.take(event))
    }

    fn take(&self, event: StreamEvent) -> StreamEvent {
        let length = bytes(&event);
        if length > 0 {
            self.waiting.lock().waiting -= length;
            self.waiting.changed.notify_one();
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
        self.waiting.lock().unwanted = true;
        self.waiting.changed.notify_one();
    }
}

/// Bytes of the records of an event.
fn bytes(event: &StreamEvent) -> usize {
    match event {
        StreamEvent::Chunk(chunk, _) => chunk.memory(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::super::{Chunk, Data};
    use super::*;

    fn chunk(length: usize) -> StreamEvent {
        let data = Data::Shared(vec![b'x'; length].into());
        StreamEvent::Chunk(Chunk { data, ..Chunk::default() }, 0)
    }

    #[test]
    fn long_chunks_wait_one_at_a_time() {
        let (sender, mut events) = events(8, 100);
        let sending = thread::spawn(move || {
            (0..8).try_for_each(|_| sender.send(chunk(70))).map(|()| sender).is_ok()
        });
        for _ in 0..8 {
            while events.waiting.lock().waiting == 0 {
                thread::yield_now();
            }
            assert_eq!(events.waiting.lock().waiting, 70);
            assert!(events.next().is_some());
        }
        assert!(sending.join().unwrap() && events.next().is_none());
    }

    #[test]
    fn who_goes_away_ends_the_wait() {
        let (sender, events) = events(8, 100);
        sender.send(chunk(90)).unwrap();
        let sending = thread::spawn(move || sender.send(chunk(20)).is_err());
        drop(events);
        assert!(sending.join().unwrap());
    }
}
