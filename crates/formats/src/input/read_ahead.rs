//! Bounds the memory and the threads of streams that are read side by side.
//!
//! Each stream is decoded on its own thread and sends its chunks to the run, which takes them in the order
//! of the inputs. The stream in turn may hold a fixed number of bytes, whatever the others hold: more would
//! not be taken any sooner. The streams after it share a limit, and each waits where the limit is reached.
//! So the stream in turn never waits for the others, and the run never waits for a stream that waits.
//!
//! ```text
//! thread of a stream              under the lock of all       the run
//! reserve: waits for room   -->   held grows
//! note_sent                 -->   arrival               -->   wait_for looks again
//! room: looks again         <--   held shrinks          <--   release, once a chunk was taken
//! room: its own limit now   <--   turn moves on         <--   begin_turn
//! room: gives up            <--   is_closed             <--   close, when the receiver is dropped
//! end, also on a panic      -->   is_over, arrival      -->   wait_for returns
//! ```

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use super::buffers::SpareBuffers;

/// The bytes that the streams of a run hold, and the threads that decode them.
#[derive(Debug)]
pub struct ReadAhead {
    limit: usize,
    threads: usize,
    streams: Mutex<Streams>,
    spare: Arc<SpareBuffers>,
}

#[derive(Debug, Default)]
struct Streams {
    /// Bytes that wait to be taken, of all streams.
    held: usize,
    /// Streams that were begun. Each gets a number, in the order of the inputs.
    begun: usize,
    /// Number of the stream in turn, or of the last one.
    turn: usize,
    /// Most bytes that it holds.
    own: usize,
    /// Streams that are decoded: they have not ended and do not wait for room.
    busy: usize,
    /// Streams that wait for room, by number.
    waiting: BTreeMap<usize, Arc<Condvar>>,
}

/// The share of one stream. Its atomic fields change only under the lock of its [`ReadAhead`].
#[derive(Debug)]
pub(super) struct StreamShare {
    all: Arc<ReadAhead>,
    number: usize,
    /// Most bytes to hold in turn.
    own: usize,
    held: AtomicUsize,
    is_in_turn: AtomicBool,
    /// Nobody takes its bytes any more.
    is_closed: AtomicBool,
    /// It sends no more bytes.
    is_over: AtomicBool,
    /// Wakes the thread that sends.
    room: Arc<Condvar>,
    /// Wakes the thread that takes.
    arrival: Condvar,
}

impl ReadAhead {
    /// Streams before their turn hold at most `limit` bytes in all. About `threads` threads decode.
    pub fn new(limit: usize, threads: usize) -> Arc<Self> {
        Arc::new(Self { limit, threads, streams: Mutex::default(), spare: Arc::default() })
    }

    /// Bytes of memory: chunks that wait to be taken, of all streams, and buffers that wait to be filled;
    /// without those that a stream holds in its turn.
    pub fn memory(&self) -> usize {
        let streams = self.lock();
        (streams.held + self.spare.memory()).saturating_sub(streams.own)
    }

    /// Frees the buffers that wait to be filled.
    pub fn free_buffers(&self) {
        self.spare.free();
    }

    /// Buffers for the streams to share.
    pub(super) fn spare(&self) -> &Arc<SpareBuffers> {
        &self.spare
    }

    /// Bytes that wait to be taken, of all streams.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.lock().held
    }

    /// The share of the next stream, which in its turn holds at most `own` bytes. It counts as decoded
    /// until its [end](StreamShare::end).
    pub(super) fn share(self: &Arc<Self>, own: usize) -> Arc<StreamShare> {
        let mut streams = self.lock();
        let number = streams.begun;
        streams.begun += 1;
        streams.busy += 1;
        drop(streams);
        Arc::new(StreamShare {
            all: Arc::clone(self),
            number,
            own,
            held: AtomicUsize::new(0),
            is_in_turn: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            room: Arc::default(),
            arrival: Condvar::new(),
        })
    }

    /// Most bytes that all streams may hold when stream `number`, before its turn, takes more. Streams whose
    /// turn is far away leave half of the limit to those whose turn is near: only those are waited for soon.
    fn limit_for(&self, number: usize, turn: usize) -> usize {
        let others = self.threads.saturating_sub(1).max(1);
        let nearer = number.saturating_sub(turn + 1).min(others);
        self.limit - (self.limit / 2 / others) * nearer
    }

    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(|error| error.into_inner())
    }
}

impl Streams {
    /// Wakes the waiting stream whose turn is nearest.
    fn wake_nearest(&self) {
        if let Some((_, room)) = self.waiting.first_key_value() {
            room.notify_one();
        }
    }
}

impl StreamShare {
    /// Waits until the stream may hold `bytes` more. False if nobody takes them.
    pub(super) fn reserve(&self, bytes: usize) -> bool {
        let has_room = |streams: &Streams| {
            let held = self.held.load(Ordering::Relaxed);
            if self.is_in_turn() {
                // A chunk beyond the share goes through alone. With the second condition only, it
                // would wait for ever.
                return held == 0 || held + bytes <= self.own;
            }
            streams.held + bytes <= self.all.limit_for(self.number, streams.turn)
        };
        let mut streams = self.wait_until(has_room);
        if self.is_closed.load(Ordering::Relaxed) {
            return false;
        }
        streams.held += bytes;
        self.held.fetch_add(bytes, Ordering::Relaxed);
        // There may be room for more than this stream asked for, and a release wakes only the
        // nearest of those that wait.
        streams.wake_nearest();
        true
    }

    /// Notes that bytes were sent that were [reserved](Self::reserve). If they are more than all that may
    /// wait, waits until they are taken, before the next are read.
    pub(super) fn note_sent(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        if bytes > self.own {
            drop(self.wait_until(|_| self.held.load(Ordering::Relaxed) == 0));
        } else {
            // Under the lock, so that this notice cannot fall between a reader's check and its
            // sleep.
            let _streams = self.all.lock();
            self.arrival.notify_one();
        }
    }

    /// Waits until this is true or the stream is closed.
    fn wait_until(&self, is_true: impl Fn(&Streams) -> bool) -> MutexGuard<'_, Streams> {
        let mut streams = self.all.lock();
        let mut waits = false;
        while !is_true(&streams) && !self.is_closed.load(Ordering::Relaxed) {
            if !waits {
                streams.waiting.insert(self.number, Arc::clone(&self.room));
                // A thread that waits for room decodes nothing, so the stream in turn may use its
                // core.
                streams.busy -= 1;
                self.arrival.notify_one();
                waits = true;
            }
            streams = self.room.wait(streams).unwrap_or_else(|error| error.into_inner());
        }
        if waits {
            streams.waiting.remove(&self.number);
            streams.busy += 1;
        }
        streams
    }

    /// Gives bytes back, once they were taken.
    pub(super) fn release(&self, bytes: usize) {
        let mut streams = self.all.lock();
        streams.held -= bytes;
        self.held.fetch_sub(bytes, Ordering::Relaxed);
        // This stream may wait for its own bytes to go, and another one for the sum of all.
        self.room.notify_one();
        streams.wake_nearest();
    }

    /// Waits until the stream holds `bytes`, ends, or can hold no more; at most for this long.
    pub(super) fn wait_for(&self, bytes: usize, timeout: Duration) {
        let end = Instant::now() + timeout;
        let mut streams = self.all.lock();
        let is_short = |streams: &Streams| {
            let held = self.held.load(Ordering::Relaxed);
            // A stream in turn that holds nothing has room, so it waits no more, or not for long.
            let may_grow = held == 0 || !streams.waiting.contains_key(&self.number);
            held < bytes && may_grow && !self.is_over.load(Ordering::Relaxed)
        };
        while is_short(&streams) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.arrival.wait_timeout(streams, left);
            streams = waited.unwrap_or_else(|error| error.into_inner()).0;
        }
    }

    /// Gives the stream its turn. It hands on all that it has as soon as its source is slow.
    pub(super) fn begin_turn(&self) {
        let mut streams = self.all.lock();
        (streams.turn, streams.own) = (self.number, self.own);
        // Its own bytes alone bound it from here on. The limit that may have stopped it holds for
        // the others.
        self.is_in_turn.store(true, Ordering::Relaxed);
        self.room.notify_one();
        streams.wake_nearest();
    }

    /// True if the run waits for this stream.
    pub(super) fn is_in_turn(&self) -> bool {
        // Read without the lock. Whoever sees the old value looks again within `PATIENCE`, and no
        // other memory hangs on it.
        self.is_in_turn.load(Ordering::Relaxed)
    }

    /// Threads that may ever decode this stream.
    pub(super) fn most_threads(&self) -> usize {
        self.all.threads
    }

    /// Threads that may decode this stream now: those that the other streams leave, for the stream in turn.
    pub(super) fn threads(&self) -> usize {
        // Nobody waits for it yet, and more threads would slow down the stream that the run does
        // wait for.
        if !self.is_in_turn() {
            return 1;
        }
        let others = self.all.lock().busy.saturating_sub(1);
        self.all.threads.saturating_sub(others).max(1)
    }

    /// Notes that the stream sends no more.
    pub(super) fn end(&self) {
        let mut streams = self.all.lock();
        self.is_over.store(true, Ordering::Relaxed);
        streams.busy -= 1;
        self.arrival.notify_one();
    }

    /// Gives back all that the stream holds, since nobody takes it.
    pub(super) fn close(&self) {
        let mut streams = self.all.lock();
        self.is_closed.store(true, Ordering::Relaxed);
        // What is left in the channel is dropped unread, and only here are its bytes given back.
        streams.held -= self.held.swap(0, Ordering::Relaxed);
        self.room.notify_one();
        streams.wake_nearest();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn streams_before_their_turn_hold_no_more_than_the_limit() {
        let ahead = ReadAhead::new(100, 2);
        let (first, second) = (ahead.share(50), ahead.share(50));
        first.begin_turn();
        assert!(first.reserve(40) && second.reserve(60));
        let waits = thread::spawn({
            let second = Arc::clone(&second);
            move || second.reserve(1)
        });
        thread::sleep(Duration::from_millis(20));
        assert_eq!(ahead.held(), 100);
        first.release(40);
        assert!(waits.join().unwrap());
        assert_eq!(ahead.held(), 61);
    }

    #[test]
    fn the_stream_in_turn_holds_its_own_bytes_when_the_limit_is_reached() {
        let ahead = ReadAhead::new(10, 2);
        let (first, second) = (ahead.share(20), ahead.share(20));
        first.begin_turn();
        assert!(second.reserve(10));
        assert!(first.reserve(15) && first.reserve(5));
        assert_eq!(ahead.held(), 30);
        // Beyond these it waits, however much of the limit is left.
        let ahead = ReadAhead::new(100, 1);
        let share = ahead.share(20);
        share.begin_turn();
        assert!(share.reserve(20));
        let waits = thread::spawn({
            let share = Arc::clone(&share);
            move || share.reserve(1)
        });
        thread::sleep(Duration::from_millis(20));
        assert_eq!(ahead.held(), 20);
        share.release(20);
        assert!(waits.join().unwrap());
    }

    #[test]
    fn streams_far_from_their_turn_leave_half_of_the_limit() {
        let ahead = ReadAhead::new(120, 4);
        let shares: Vec<_> = (0..4).map(|_| ahead.share(20)).collect();
        shares[0].begin_turn();
        let limit = |number| ahead.limit_for(number, ahead.lock().turn);
        assert_eq!([1, 2, 3, 9].map(limit), [120, 100, 80, 60]);
        shares[2].begin_turn();
        assert_eq!([1, 2, 3].map(limit), [120, 120, 120]);
    }

    #[test]
    fn chunk_longer_than_all_that_may_wait_is_taken_before_the_next_is_read() {
        let ahead = ReadAhead::new(0, 1);
        let share = ahead.share(20);
        share.begin_turn();
        let sends = thread::spawn({
            let share = Arc::clone(&share);
            move || {
                (0..8).all(|_| {
                    let is_wanted = share.reserve(30);
                    share.note_sent(30);
                    is_wanted
                })
            }
        });
        for _ in 0..8 {
            share.wait_for(1, Duration::from_secs(60));
            assert_eq!(ahead.held(), 30);
            share.release(30);
        }
        assert!(sends.join().unwrap());
    }

    #[test]
    fn a_stream_that_nobody_reads_stops_waiting() {
        let ahead = ReadAhead::new(0, 2);
        let share = ahead.share(10);
        let waits = thread::spawn({
            let share = Arc::clone(&share);
            move || share.reserve(1)
        });
        thread::sleep(Duration::from_millis(20));
        share.close();
        assert!(!waits.join().unwrap());
        assert_eq!(ahead.held(), 0);
    }

    #[test]
    fn only_the_stream_in_turn_gets_the_threads_that_others_leave() {
        let ahead = ReadAhead::new(0, 4);
        let shares: Vec<_> = (0..3).map(|_| ahead.share(10)).collect();
        shares[0].begin_turn();
        assert_eq!([&shares[0], &shares[1]].map(|share| share.threads()), [2, 1]);
        shares[2].end();
        assert_eq!(shares[0].threads(), 3);
    }
}
