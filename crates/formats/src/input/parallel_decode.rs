//! A compressed file whose members are unpacked on several threads.
//!
//! The plain way is [`StreamDecoder`]: a member, and behind it the next. Only its end tells where a member
//! ends, so to unpack several at once their starts are guessed: a member may start wherever the file
//! reads like the head of one.
//!
//! ```text
//! while a guess is left:  cut the file there; hand the segment to a worker, which unpacks whole members
//! take the first segment:  it starts where the segment before it really ended -> what it gave is right
//!                         it does not                                      -> throw it away
//! where no segment starts: the plain way, for one member
//! ```
//!
//! A segment is believed only if everything before it was and ended exactly where it starts; then the
//! plain way would have come by there too. So a wrong guess (a gzip file inside an archive, say) costs
//! time, and can change nothing. A worker believes only whole members with the right checksum; all
//! damage is found by the plain way, which tells it the same for a file and a pipe, of bzip2 within seven
//! bytes.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::compression::Compression;
use super::decoder::Limits;
use super::opened::OpenFile;
use super::range::has_grown;
use super::source::{ByteSource, Counted, MemberStarts, Plain};
use super::stream_decode::{self, StreamDecoder, StreamPosition};

/// Bytes of a segment, but for the end of its last member.
const SEGMENT: usize = 128 << 10;

/// A guess is not looked for further than this: such long members are unpacked the plain way.
const LONGEST: usize = 4 << 20;

/// How much is read on at a time to find a guess, and asked for at a time when unpacking.
const STEP: usize = 64 << 10;

/// What a segment may unpack to. Members beyond it are unpacked the plain way.
const UNPACKED: usize = 8 << 20;

/// Buffers up to this size are used again.
const KEPT: usize = 2 << 20;

/// Pieces at work or waiting, for each thread.
const AHEAD: usize = 2;

/// After a wrong guess this many members are unpacked the plain way, twice as many after each further
/// one.
const MOST_DISTRUST: u32 = 64;

/// Decodes the members of a file. Its many fields are the state of one loop, which reads and writes most
/// of them at each step.
pub(super) struct ParallelDecoder {
    file: Arc<OpenFile>,
    compression: Compression,
    limits: Limits,
    dictionary: Arc<[u8]>,
    /// Where a member starts, or the file ends: all before it has been unpacked.
    at: u64,
    /// Unpacked bytes, and which of them have not been given away.
    ready: Vec<u8>,
    left: Range<usize>,
    /// Where members start in all that was given away, or is about to be.
    starts: MemberStarts,
    /// The plain way from `at` on.
    plain: Option<SequentialDecode>,
    /// Segments at work, in order.
    segments: VecDeque<Segment>,
    /// Buffers to unpack into.
    spare: Vec<Vec<u8>>,
    /// Where the next segment is to start; none: nobody guesses.
    next: Option<u64>,
    /// Where the last search ended that found no guess. Up to here the plain way goes: to search again
    /// from each member on would take quadratic time.
    barren: u64,
    /// How many members to unpack the plain way after the next wrong guess, and how many still.
    distrust: u32,
    patience: u32,
    threads: usize,
    workers: Option<SyncSender<DecodeTask>>,
}

/// Goes on from a known start.
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
    /// What to unpack into.
    out: Vec<u8>,
    result: SyncSender<DecodedSegment>,
}

/// What a worker made of it.
#[derive(Default)]
struct DecodedSegment {
    /// Initialized to its full length; what is behind `length` is left over.
    bytes: Vec<u8>,
    length: usize,
    /// Where the members start in them.
    starts: Vec<usize>,
    /// How much of the segment that was: whole members.
    taken: usize,
}

impl ParallelDecoder {
    /// Unpacks a file, on `threads` threads if its format has guessable members.
    pub(super) fn open(
        file: Arc<OpenFile>,
        compression: Compression,
        threads: usize,
        limits: Limits,
    ) -> io::Result<Box<dyn ByteSource>> {
        let input = || Counted::buffered(Plain::new(Arc::clone(&file), 0));
        let guessable = matches!(compression, Compression::Gzip | Compression::Zstd);
        if !guessable || threads < 2 || file.size() <= 2 * SEGMENT as u64 {
            return Ok(Box::new(StreamDecoder::new(input(), compression, limits)?));
        }
        let dictionary = match compression {
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
            barren: 0,
            distrust: 1,
            patience: 0,
            threads,
            workers: None,
        }))
    }

    /// Makes something ready, or takes the plain way.
    fn advance(&mut self) -> io::Result<()> {
        while self.segments.front().is_some_and(|segment| segment.start < self.at) {
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
            // A worker that ended early gave nothing.
            let unpacked = segment.result.recv().unwrap_or_default();
            let DecodedSegment { bytes, length, starts, taken } = unpacked;
            if taken > 0 {
                self.at += taken as u64;
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

    /// Cuts segments off where members may start, and hands them out.
    fn cut(&mut self) -> io::Result<()> {
        while self.segments.len() < self.threads * AHEAD
            && let Some(start) = self.next.take()
        {
            let mut bytes = Vec::with_capacity(SEGMENT + STEP);
            let mut source = Plain::new(&*self.file, start);
            let mut looked = SEGMENT;
            let end = loop {
                let before = bytes.len();
                let wanted = if before == 0 { SEGMENT + STEP } else { STEP };
                (&mut source).take(wanted as u64).read_to_end(&mut bytes)?;
                if let Some(found) = self.compression.guess_start(&bytes, looked) {
                    break Some(found);
                }
                // A head may lie across.
                looked = bytes.len().saturating_sub(3).max(SEGMENT);
                if bytes.len() == before || bytes.len() > LONGEST {
                    break None;
                }
            };
            match end {
                Some(end) => {
                    bytes.truncate(end);
                    self.next = Some(start + end as u64);
                }
                // The last members of the file, or one that is too long. Alone, it is not worth it.
                None if self.segments.is_empty() || bytes.len() > LONGEST => {
                    self.barren = start + bytes.len() as u64;
                    return Ok(());
                }
                None => {}
            }
            let (result, receiver) = sync_channel(1);
            let position = if start == 0 { StreamPosition::Start } else { StreamPosition::Between };
            self.segments.push_back(Segment { start, result: receiver });
            let out = self.spare.pop().unwrap_or_default();
            // Workers end when nobody can hand them anything, not before.
            let _ = self.workers()?.send(DecodeTask { bytes, position, out, result });
        }
        Ok(())
    }

    /// The way to the workers, who are there once there is work.
    fn workers(&mut self) -> io::Result<&SyncSender<DecodeTask>> {
        if self.workers.is_none() {
            let (sender, tasks) = sync_channel::<DecodeTask>(self.threads * AHEAD);
            let tasks = Arc::new(Mutex::new(tasks));
            for _ in 0..self.threads {
                let (compression, limits) = (self.compression, self.limits);
                let dictionary = Arc::clone(&self.dictionary);
                let tasks = Arc::clone(&tasks);
                let work = move || {
                    loop {
                        let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).recv();
                        let Ok(DecodeTask { bytes, position, out, result }) = task else { break };
                        let out = unpack(&bytes, compression, limits, &dictionary, position, out);
                        // Nobody may want it any more.
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

/// Unpacks the whole members at the start of a segment into `bytes`, whose memory is used again.
fn unpack(
    segment: &[u8],
    compression: Compression,
    limits: Limits,
    dictionary: &[u8],
    position: StreamPosition,
    bytes: Vec<u8>,
) -> DecodedSegment {
    let input = Counted::new(segment);
    let mut unpacked = DecodedSegment { bytes, ..DecodedSegment::default() };
    let decoder = StreamDecoder::with_dictionary(input, compression, limits, dictionary, position);
    let Ok(mut decoder) = decoder else { return unpacked };
    let (mut filled, mut whole) = (0, 0);
    'members: while let Ok(Some(byte)) = decoder.peek()
        && compression.begins_with(byte)
    {
        unpacked.starts.push(filled);
        loop {
            if unpacked.bytes.len() < filled + STEP {
                unpacked.bytes.resize(filled.max(SEGMENT) * 2, 0);
            }
            match decoder.read_member(&mut unpacked.bytes[filled..]) {
                Ok(read) => filled += read,
                Err(_) => break 'members,
            }
            if decoder.position() == StreamPosition::Between {
                break;
            }
            if filled > UNPACKED {
                break 'members;
            }
        }
        (whole, unpacked.taken) = (filled, decoder.taken() as usize);
    }
    unpacked.length = whole;
    unpacked.starts.retain(|start| *start < whole);
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
                // What is no member is for the plain way to judge, the end of the file too.
                let is_member =
                    decoder.peek()?.is_some_and(|byte| self.compression.begins_with(byte));
                let is_segment = self.segments.front().is_some_and(|segment| segment.start == at);
                let may_guess = self.patience == 0 && at >= self.barren;
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

    fn grew(&self) -> bool {
        has_grown(&self.file).unwrap_or(false)
    }
}
