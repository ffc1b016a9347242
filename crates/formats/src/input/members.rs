//! A compressed file whose members are unpacked on several threads.
//!
//! The plain way is [`Unpacker`]: a member, and behind it the next. Only its end tells where a member
//! ends, so to unpack several at once their starts are guessed: a member may start wherever the file
//! reads like the head of one.
//!
//! ```text
//! while a guess is left:  cut the file there; hand the piece to a worker, which unpacks whole members
//! take the first piece:   it starts where the piece before it really ended -> what it gave is right
//!                         it does not                                      -> throw it away
//! where no piece starts:  the plain way, for one member
//! ```
//!
//! A piece is believed only if everything before it was and ended exactly where it starts; then the
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
use super::engine::Limits;
use super::opened::OpenFile;
use super::range::has_grown;
use super::source::{Counted, Plain, Source, Starts};
use super::unpack::{self, Place, Unpacker};

/// Bytes of a piece, but for the end of its last member.
const PIECE: usize = 128 << 10;

/// A guess is not looked for further than this: such long members are unpacked the plain way.
const LONGEST: usize = 4 << 20;

/// How much is read on at a time to find a guess, and asked for at a time when unpacking.
const STEP: usize = 64 << 10;

/// What a piece may unpack to. Members beyond it are unpacked the plain way.
const UNPACKED: usize = 8 << 20;

/// Buffers up to this size are used again.
const KEPT: usize = 2 << 20;

/// Pieces at work or waiting, for each thread.
const AHEAD: usize = 2;

/// After a wrong guess this many members are unpacked the plain way, twice as many after each further
/// one.
const MOST_DISTRUST: u32 = 64;

pub(super) struct Members {
    file: Arc<OpenFile>,
    packing: Compression,
    limits: Limits,
    dictionary: Arc<[u8]>,
    /// Where a member starts, or the file ends: all before it has been unpacked.
    at: u64,
    /// Unpacked bytes, and which of them have not been given away.
    ready: Vec<u8>,
    left: Range<usize>,
    /// Where members start in all that was given away, or is about to be.
    starts: Starts,
    /// The plain way from `at` on.
    plain: Option<Plainly>,
    /// Pieces at work, in order.
    pieces: VecDeque<Piece>,
    /// Buffers to unpack into.
    spare: Vec<Vec<u8>>,
    /// Where the next piece is to start; none: nobody guesses.
    next: Option<u64>,
    /// Where the last search ended that found no guess. Up to here the plain way goes: to search again
    /// from each member on would take quadratic time.
    barren: u64,
    /// How many members to unpack the plain way after the next wrong guess, and how many still.
    distrust: u32,
    patience: u32,
    threads: usize,
    workers: Option<SyncSender<Task>>,
}

/// Goes on from a known start.
struct Plainly {
    start: u64,
    unpacker: Unpacker<BufReader<Plain<Arc<OpenFile>>>>,
}

struct Piece {
    start: u64,
    result: Receiver<Unpacked>,
}

/// A piece for a worker.
struct Task {
    bytes: Vec<u8>,
    place: Place,
    /// What to unpack into.
    out: Vec<u8>,
    result: SyncSender<Unpacked>,
}

/// What a worker made of it.
#[derive(Default)]
struct Unpacked {
    /// Initialized to its full length; what is behind `length` is left over.
    bytes: Vec<u8>,
    length: usize,
    /// Where the members start in them.
    starts: Vec<usize>,
    /// How much of the piece that was: whole members.
    taken: usize,
}

impl Members {
    /// Unpacks a file, on `threads` threads if its format has guessable members.
    pub(super) fn open(
        file: Arc<OpenFile>,
        packing: Compression,
        threads: usize,
        limits: Limits,
    ) -> io::Result<Box<dyn Source>> {
        let input = || Counted::buffered(Plain::new(Arc::clone(&file), 0));
        let guessable = matches!(packing, Compression::Gzip | Compression::Zstd);
        if !guessable || threads < 2 || file.size() <= 2 * PIECE as u64 {
            return Ok(Box::new(Unpacker::new(input(), packing, limits)?));
        }
        let dictionary = match packing {
            Compression::Zstd => unpack::dictionary(&mut input()).unwrap_or_default(),
            _ => None,
        };
        Ok(Box::new(Self {
            file,
            packing,
            limits,
            dictionary: dictionary.unwrap_or_default().into(),
            at: 0,
            ready: Vec::new(),
            left: 0..0,
            starts: Starts::default(),
            plain: None,
            pieces: VecDeque::new(),
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
        while self.pieces.front().is_some_and(|piece| piece.start < self.at) {
            self.pieces.pop_front();
            self.patience = self.distrust;
            self.distrust = (self.distrust * 2).min(MOST_DISTRUST);
        }
        if self.pieces.is_empty() && self.next.is_none_or(|next| next < self.at) {
            self.next = (self.at >= self.barren).then_some(self.at);
        }
        self.cut()?;
        if self.pieces.front().is_some_and(|piece| piece.start == self.at)
            && let Some(piece) = self.pieces.pop_front()
        {
            // A worker that ended early gave nothing.
            let unpacked = piece.result.recv().unwrap_or_default();
            let Unpacked { bytes, length, starts, taken } = unpacked;
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
        self.go_plainly()
    }

    fn go_plainly(&mut self) -> io::Result<()> {
        let input = Counted::buffered(Plain::new(Arc::clone(&self.file), self.at));
        let place = if self.at == 0 { Place::Start } else { Place::Between };
        let unpacker =
            Unpacker::with_dictionary(input, self.packing, self.limits, &self.dictionary, place)?;
        self.plain = Some(Plainly { start: self.at, unpacker });
        Ok(())
    }

    /// Cuts pieces off where members may start, and hands them out.
    fn cut(&mut self) -> io::Result<()> {
        while self.pieces.len() < self.threads * AHEAD
            && let Some(start) = self.next.take()
        {
            let mut bytes = Vec::with_capacity(PIECE + STEP);
            let mut source = Plain::new(&*self.file, start);
            let mut looked = PIECE;
            let end = loop {
                let before = bytes.len();
                let wanted = if before == 0 { PIECE + STEP } else { STEP };
                (&mut source).take(wanted as u64).read_to_end(&mut bytes)?;
                if let Some(found) = self.packing.guess_start(&bytes, looked) {
                    break Some(found);
                }
                // A head may lie across.
                looked = bytes.len().saturating_sub(3).max(PIECE);
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
                None if self.pieces.is_empty() || bytes.len() > LONGEST => {
                    self.barren = start + bytes.len() as u64;
                    return Ok(());
                }
                None => {}
            }
            let (result, receiver) = sync_channel(1);
            let place = if start == 0 { Place::Start } else { Place::Between };
            self.pieces.push_back(Piece { start, result: receiver });
            let out = self.spare.pop().unwrap_or_default();
            // Workers end when nobody can hand them anything, not before.
            let _ = self.workers()?.send(Task { bytes, place, out, result });
        }
        Ok(())
    }

    /// The way to the workers, who are there once there is work.
    fn workers(&mut self) -> io::Result<&SyncSender<Task>> {
        if self.workers.is_none() {
            let (sender, tasks) = sync_channel::<Task>(self.threads * AHEAD);
            let tasks = Arc::new(Mutex::new(tasks));
            for _ in 0..self.threads {
                let (packing, limits) = (self.packing, self.limits);
                let dictionary = Arc::clone(&self.dictionary);
                let tasks = Arc::clone(&tasks);
                let work = move || {
                    loop {
                        let task = tasks.lock().unwrap_or_else(|e| e.into_inner()).recv();
                        let Ok(Task { bytes, place, out, result }) = task else { break };
                        let out = unpack(&bytes, packing, limits, &dictionary, place, out);
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

/// Unpacks the whole members at the start of a piece into `bytes`, whose memory is used again.
fn unpack(
    piece: &[u8],
    packing: Compression,
    limits: Limits,
    dictionary: &[u8],
    place: Place,
    bytes: Vec<u8>,
) -> Unpacked {
    let input = Counted::new(piece);
    let mut unpacked = Unpacked { bytes, ..Unpacked::default() };
    let unpacker = Unpacker::with_dictionary(input, packing, limits, dictionary, place);
    let Ok(mut unpacker) = unpacker else { return unpacked };
    let (mut filled, mut whole) = (0, 0);
    'members: while let Ok(Some(byte)) = unpacker.peek()
        && packing.begins_with(byte)
    {
        unpacked.starts.push(filled);
        loop {
            if unpacked.bytes.len() < filled + STEP {
                unpacked.bytes.resize(filled.max(PIECE) * 2, 0);
            }
            match unpacker.read_member(&mut unpacked.bytes[filled..]) {
                Ok(read) => filled += read,
                Err(_) => break 'members,
            }
            if unpacker.place() == Place::Between {
                break;
            }
            if filled > UNPACKED {
                break 'members;
            }
        }
        (whole, unpacked.taken) = (filled, unpacker.taken() as usize);
    }
    unpacked.length = whole;
    unpacked.starts.retain(|start| *start < whole);
    unpacked
}

impl Read for Members {
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
            let Some(Plainly { start, unpacker }) = &mut self.plain else {
                self.advance()?;
                continue;
            };
            if unpacker.place() == Place::Between {
                let at = *start + unpacker.taken();
                // What is no member is for the plain way to judge, the end of the file too.
                let is_member = unpacker.peek()?.is_some_and(|byte| self.packing.begins_with(byte));
                let is_piece = self.pieces.front().is_some_and(|piece| piece.start == at);
                let may_guess = self.patience == 0 && at >= self.barren;
                if is_member && at > self.at && (may_guess || is_piece) {
                    self.at = at;
                    self.plain = None;
                    continue;
                }
                if at > self.at {
                    self.at = at;
                    self.patience = self.patience.saturating_sub(1);
                }
            }
            if unpacker.place() != Place::Member {
                self.starts.begin(0);
            }
            let read = unpacker.read_member(out)?;
            self.starts.give(read);
            if read > 0 || unpacker.is_over() || out.is_empty() {
                return Ok(read);
            }
        }
    }
}

impl Source for Members {
    fn taken(&self) -> u64 {
        self.plain.as_ref().map_or(self.at, |plain| plain.start + plain.unpacker.taken())
    }

    fn packing(&self) -> Option<Compression> {
        Some(self.packing)
    }

    fn padding(&self) -> u64 {
        self.plain.as_ref().map_or(0, |plain| plain.unpacker.padding())
    }

    fn starts(&mut self) -> Option<&mut Starts> {
        Some(&mut self.starts)
    }

    fn grew(&self) -> bool {
        has_grown(&self.file).unwrap_or(false)
    }
}
