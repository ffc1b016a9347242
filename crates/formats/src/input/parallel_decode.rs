//! Decodes the members of a compressed file on several threads.
//!
//! The sequential path is [`StreamDecoder`]: one member after the other. Only decoding a member reveals
//! its end, so the starts of later members are guessed: a member may start wherever the bytes look like
//! a member header.
//!
//! ```text
//! while a guess is left:  cut the file there; hand the segment to a worker, which unpacks whole members
//! take the first segment:  it starts where the segment before it really ended -> its result is right
//!                         it does not                                      -> throw it away
//! where no segment starts: the plain way, for one member
//! ```
//!
//! A segment is accepted only if everything before it was accepted and ended exactly at its start; the
//! sequential path would have reached the same offset. So a wrong guess (such as a gzip file inside an
//! archive) costs time but cannot change the output. Workers accept only whole members with the right
//! checksum. The sequential path finds all damage, so files and pipes report it alike; for bzip2,
//! within seven bytes.
//!
//! A few packed bytes may be any number of unpacked ones, also as many small members. So a worker stops
//! once its segment has filled its share of the memory, and the rest of the segment, from the next
//! member on, becomes a segment of its own when it is its turn.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::byte_source::{ByteSource, Counted, MemberStarts, Plain};
use super::compression::Compression;
use super::decoder::{AHEAD, Limits};
use super::opened::OpenFile;
use super::read_ahead::StreamShare;
use super::stream_decode::{self, StreamDecoder, StreamPosition};

/// Largest size of a segment, up to the end of its last member.
const SEGMENT: usize = 128 << 10;

/// Smallest size, for members that unpack to many times as much.
const SMALL_SEGMENT: usize = 4 << 10;

/// Searches for the next guess stop after this many bytes, or after as many as a segment may unpack to;
/// longer members are decoded sequentially.
const LONGEST: usize = 4 << 20;

/// Read size while searching for a guess, and output size of a decoding step.
const STEP: usize = 64 << 10;

/// Buffers up to this size are reused.
const KEPT: usize = 2 << 20;

/// Upper bound for the back-off. After a wrong guess some members are decoded sequentially, and twice
/// as many after each further one.
const MOST_DISTRUST: u32 = 64;

/// Decodes the members of a file. Its many fields are the state of one loop, which reads and writes
/// most of them at each step.
pub(super) struct ParallelDecoder {
    file: Arc<OpenFile>,
    compression: Compression,
    limits: Limits,
    dictionary: Arc<[u8]>,
    /// Start of a member, or the end of the file: all before it has been decoded.
    at: u64,
    /// Decoded bytes, and the range of them not yet returned.
    ready: Vec<u8>,
    left: Range<usize>,
    /// Member starts in the bytes returned or about to be.
    starts: MemberStarts,
    /// The sequential decoder from `at` on.
    plain: Option<SequentialDecode>,
    /// Segments in progress, in order.
    segments: VecDeque<Segment>,
    /// Reusable output buffers.
    spare: Vec<Vec<u8>>,
    /// Start of the next segment; `None` while guessing is off.
    next: Option<u64>,
    /// Size of the next segment, up to the end of its last member.
    segment: usize,
    /// End of the last search that found no guess. The sequential path runs up to here: searching again
    /// from each member would take quadratic time.
    barren: u64,
    /// Members to decode sequentially after the next wrong guess, and those still to go after the last.
    distrust: u32,
    patience: u32,
    share: Arc<StreamShare>,
    workers: Option<SyncSender<DecodeTask>>,
}

/// Sequential decoding from a known start.
struct SequentialDecode {
    start: u64,
    decoder: StreamDecoder<BufReader<Plain<Arc<OpenFile>>>>,
}

struct Segment {
    start: u64,
    result: Receiver<DecodedSegment>,
}

/// A segment for a worker.
struct DecodeTask {
    bytes: Vec<u8>,
    position: StreamPosition,
    /// The output buffer to reuse.
    out: Vec<u8>,
    result: SyncSender<DecodedSegment>,
}

/// A worker's result.
#[derive(Default)]
struct DecodedSegment {
    /// Initialized to its full length; bytes after `length` are stale.
    bytes: Vec<u8>,
    length: usize,
    /// Member starts in `bytes`.
    starts: Vec<usize>,
    /// Compressed bytes consumed, in whole members.
    taken: usize,
    /// The compressed bytes after them, if the worker stopped because the segment has filled its share.
    rest: Option<Vec<u8>>,
}

#[cfg(test)]
thread_local! {
    /// The bytes that this thread searched for guesses, and the most that it took from one segment.
    pub(super) static SEARCHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    pub(super) static LARGEST: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl ParallelDecoder {
    /// Opens a decoder for a file. It uses the threads of its share if the format's members can be guessed.
    pub(super) fn open(
        file: Arc<OpenFile>,
        compression: Compression,
        share: &Arc<StreamShare>,
        limits: Limits,
    ) -> io::Result<Box<dyn ByteSource>> {
        let input = || Counted::buffered(Plain::new(Arc::clone(&file), 0));
        let guessable = matches!(compression, Compression::Gzip | Compression::Zstd);
        // Two segments are the least that two threads can share.
        if !guessable || share.most_threads() < 2 || file.size() <= 2 * SEGMENT as u64 {
            return Ok(Box::new(StreamDecoder::new(input(), compression, limits)?));
        }
        let dictionary = match compression {
            // A damaged dictionary is read again by the sequential decoder, which reports it with
            // its place.
            Compression::Zstd => stream_decode::dictionary(&mut input()).unwrap_or_default(),
            _ => None,
        };
        Ok(Box::new(Self {
            file,
            compression,
            limits,
            dictionary: dictionary.unwrap_or_default().into(),
            at: 0,
            ready: Vec::new(),
            left: 0..0,
            starts: MemberStarts::default(),
            plain: None,
            segments: VecDeque::new(),
            spare: Vec::new(),
            next: Some(0),
            segment: SEGMENT,
            barren: 0,
            distrust: 1,
            patience: 0,
            share: Arc::clone(share),
            workers: None,
        }))
    }

    /// Makes decoded bytes ready, or switches to sequential decoding.
    fn advance(&mut self) -> io::Result<()> {
        while self.segments.front().is_some_and(|segment| segment.start < self.at) {
            // A member ran past this guess, so the guess was inside of it. Where packed data holds
            // whole gzip files, the next guesses are wrong as well.
            self.segments.pop_front();
            self.patience = self.distrust;
            self.distrust = (self.distrust * 2).min(MOST_DISTRUST);
        }
        if self.segments.is_empty() && self.next.is_none_or(|next| next < self.at) {
            self.next = (self.at >= self.barren).then_some(self.at);
        }
        self.cut()?;
        if self.segments.front().is_some_and(|segment| segment.start == self.at)
            && let Some(segment) = self.segments.pop_front()
        {
            // A worker that failed returns nothing.
            let unpacked = segment.result.recv().unwrap_or_default();
            let DecodedSegment { bytes, length, starts, taken, rest } = unpacked;
            #[cfg(test)]
            LARGEST.set(LARGEST.get().max(bytes.len()));
            // A segment without one whole member is decoded again in order: only that finds damage,
            // and says where it is.
            if taken > 0 {
                self.at += taken as u64;
                // Members that fill a share early leave a rest, which is copied for the next task.
                // Smaller segments keep that rest short, and doubling finds the way back.
                self.segment = match &rest {
                    Some(_) => taken.clamp(SMALL_SEGMENT, SEGMENT),
                    None => (2 * self.segment).min(SEGMENT),
                };
                if let Some(rest) = rest {
                    // The rest lies before every segment that was cut after it, so it has to be
                    // next in line.
                    let segment = self.decode(rest, self.at, StreamPosition::Between)?;
                    self.segments.push_front(segment);
                }
                let before = std::mem::replace(&mut self.ready, bytes);
                if before.len() <= KEPT {
                    self.spare.push(before);
                }
                self.left = 0..length;
                for start in starts {
                    self.starts.begin(start);
                }
                self.distrust = 1;
                return Ok(());
            }
        }
        self.decode_in_order()
    }

    fn decode_in_order(&mut self) -> io::Result<()> {
        let input = Counted::buffered(Plain::new(Arc::clone(&self.file), self.at));
        let position = if self.at == 0 { StreamPosition::Start } else { StreamPosition::Between };
        let decoder = StreamDecoder::with_dictionary(
            input,
            self.compression,
            self.limits,
            &self.dictionary,
            position,
        )?;
        self.plain = Some(SequentialDecode { start: self.at, decoder });
        Ok(())
    }

    /// Cuts segments at guessed member starts and sends them to the workers.
    fn cut(&mut self) -> io::Result<()> {
        // Asked at each cut: a stream that ends leaves its thread to this one.
        let threads = self.share.threads();
        while threads > 1
            && self.segments.len() < self.limits.segments(threads)
            && let Some(start) = self.next.take()
        {
            let (segment, longest) = (self.segment, LONGEST.min(self.limits.segment()));
            let first = segment + STEP.min(segment);
            let mut bytes = Vec::with_capacity(first);
            let mut source = Plain::new(&*self.file, start);
            let mut looked = segment;
            let end = loop {
                let before = bytes.len();
                let wanted = if before == 0 { first } else { STEP };
                (&mut source).take(wanted as u64).read_to_end(&mut bytes)?;
                if let Some(found) = self.compression.guess_start(&bytes, looked) {
                    break Some(found);
                }
                // A header may span two reads.
                looked = bytes.len().saturating_sub(3).max(segment);
                if bytes.len() == before || bytes.len() > longest {
                    break None;
                }
            };
            #[cfg(test)]
            SEARCHED.set(SEARCHED.get() + bytes.len());
            match end {
                Some(end) => {
                    bytes.truncate(end);
                    self.next = Some(start + end as u64);
                }
                // Either the last members of the file, or a member that is too long. A lone segment is
                // not worth a worker.
                None if self.segments.is_empty() || bytes.len() > longest => {
                    self.barren = start + bytes.len() as u64;
                    return Ok(());
                }
                None => {}
            }
            let position = if start == 0 { StreamPosition::Start } else { StreamPosition::Between };
            let segment = self.decode(bytes, start, position)?;
            self.segments.push_back(segment);
        }
        Ok(())
    }

    /// Sends a segment to the workers.
    fn decode(
        &mut self,
        bytes: Vec<u8>,
        start: u64,
        position: StreamPosition,
    ) -> io::Result<Segment> {
        // One place for the one result, so a worker never blocks on a segment that was thrown away.
        let (result, receiver) = sync_channel(1);
        let out = self.spare.pop().unwrap_or_default();
        // Workers stop only after the sender is dropped, so the send cannot fail.
        let _ = self.workers()?.send(DecodeTask { bytes, position, out, result });
        Ok(Segment { start, result: receiver })
    }

    /// Returns the channel to the workers, which are started on first use.
    fn workers(&mut self) -> io::Result<&SyncSender<DecodeTask>> {
        if self.workers.is_none() {
            let (sender, tasks) = sync_channel::<DecodeTask>(self.share.most_threads() * AHEAD);
            let tasks = Arc::new(Mutex::new(tasks));
            for _ in 0..self.share.most_threads() {
                let (compression, limits) = (self.compression, self.limits);
                let dictionary = Arc::clone(&self.dictionary);
                let tasks = Arc::clone(&tasks);
                let work = move || {
                    loop {
                        // One idle worker sleeps in `recv` and holds the lock, and the others sleep
                        // on the lock. A task wakes exactly one of them.
                        let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).recv();
                        let Ok(DecodeTask { bytes, position, out, result }) = task else { break };
                        let out = unpack(bytes, compression, limits, &dictionary, position, out);
                        // The segment may have been discarded.
                        let _ = result.send(out);
                    }
                };
                thread::Builder::new().name("uniqurl-unpack".into()).spawn(work)?;
            }
            self.workers = Some(sender);
        }
        self.workers.as_ref().ok_or_else(|| io::Error::other("no workers"))
    }
}

/// Decodes the whole members at the start of a segment into `bytes`, reusing its memory, until they fill
/// its share.
fn unpack(
    mut segment: Vec<u8>,
    compression: Compression,
    limits: Limits,
    dictionary: &[u8],
    position: StreamPosition,
    bytes: Vec<u8>,
) -> DecodedSegment {
    let input = Counted::new(&segment[..]);
    let mut unpacked = DecodedSegment { bytes, ..DecodedSegment::default() };
    let decoder = StreamDecoder::with_dictionary(input, compression, limits, dictionary, position);
    let Ok(mut decoder) = decoder else { return unpacked };
    let most = limits.segment();
    if unpacked.bytes.is_empty() {
        // Growing would leave smaller buffers to an allocator that frees them when this thread asks again.
        unpacked.bytes = vec![0; KEPT.min(most + STEP)];
    }
    let (mut filled, mut whole, mut is_full) = (0, 0, false);
    'members: while let Ok(Some(byte)) = decoder.peek()
        && compression.begins_with(byte)
    {
        is_full = filled >= most;
        if is_full {
            break;
        }
        unpacked.starts.push(filled);
        loop {
            if unpacked.bytes.len() < filled + STEP {
                let more = (filled.max(SEGMENT) * 2).min(most + STEP);
                unpacked.bytes.resize(more.max(filled + STEP), 0);
            }
            match decoder.read_member(&mut unpacked.bytes[filled..]) {
                Ok(read) => filled += read,
                Err(_) => break 'members,
            }
            if decoder.position() == StreamPosition::Between {
                break;
            }
            // A single member beyond the share is given up with nothing taken, and the sequential
            // path decodes it in steps of the caller's size.
            is_full = filled > most;
            if is_full {
                break 'members;
            }
        }
        (whole, unpacked.taken) = (filled, decoder.taken() as usize);
    }
    unpacked.length = whole;
    // The last member may have broken off. Its start goes with its bytes, or it would be reported
    // twice.
    unpacked.starts.retain(|start| *start < whole);
    if is_full && unpacked.taken > 0 {
        segment.drain(..unpacked.taken);
        unpacked.rest = Some(segment);
    }
    unpacked
}

impl Read for ParallelDecoder {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let ready = &self.ready[self.left.clone()];
            if !ready.is_empty() {
                let length = ready.len().min(out.len());
                out[..length].copy_from_slice(&ready[..length]);
                self.left.start += length;
                self.starts.give(length);
                return Ok(length);
            }
            let Some(SequentialDecode { start, decoder }) = &mut self.plain else {
                self.advance()?;
                continue;
            };
            if decoder.position() == StreamPosition::Between {
                let at = *start + decoder.taken();
                // Bytes that start no member, and the end of the file, are left to the sequential path.
                let is_member =
                    decoder.peek()?.is_some_and(|byte| self.compression.begins_with(byte));
                let is_segment = self.segments.front().is_some_and(|segment| segment.start == at);
                let may_guess = self.patience == 0 && at >= self.barren && self.share.threads() > 1;
                // At least one member is decoded in order first, or a segment that yields nothing
                // would be tried for ever.
                if is_member && at > self.at && (may_guess || is_segment) {
                    self.at = at;
                    self.plain = None;
                    continue;
                }
                if at > self.at {
                    self.at = at;
                    self.patience = self.patience.saturating_sub(1);
                }
            }
            if decoder.position() != StreamPosition::Member {
                self.starts.begin(0);
            }
            let read = decoder.read_member(out)?;
            self.starts.give(read);
            if read > 0 || decoder.is_over() || out.is_empty() {
                return Ok(read);
            }
        }
    }
}

impl ByteSource for ParallelDecoder {
    fn taken(&self) -> u64 {
        self.plain.as_ref().map_or(self.at, |plain| plain.start + plain.decoder.taken())
    }

    fn compression(&self) -> Option<Compression> {
        Some(self.compression)
    }

    fn padding(&self) -> u64 {
        self.plain.as_ref().map_or(0, |plain| plain.decoder.padding())
    }

    fn starts(&mut self) -> Option<&mut MemberStarts> {
        Some(&mut self.starts)
    }
}
