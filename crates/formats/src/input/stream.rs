//! Reads a stream sequentially on its own thread and cuts it into chunks of whole records.
//!
//! The thread does the sequential work: it decompresses (or waits for decoders), detects the format if
//! none was given, and cuts. So a single compressed stream is decoded while other threads do the rest
//! of the work.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use memchr::{memchr, memrchr};

use super::buffers::{Buffer, BufferPool};
use super::byte_source::ByteSource;
use super::decoder::Limits;
use super::error::Trouble;
use super::events::{EventSender, StreamEvent, StreamEvents, Unwanted, events};
use super::frames::Framer;
use super::range::{CutLine, TOO_LONG};
use super::read_ahead::ReadAhead;
use super::source::{self, Growth, StreamSource};
use super::{Chunk, Data};
use crate::record::{
    self, Context, Detected, Doubts, EnvelopeChoice, Format, FormatTable, Framing, HeadLines,
    Separator,
};

/// How to cut a stream.
#[derive(Debug, Clone)]
pub struct StreamOptions {
    /// The format; `None` to detect it from the first bytes and `name`.
    pub format: Option<Arc<Format>>,
    /// The envelope to look for around each line.
    pub envelope: EnvelopeChoice,
    /// The name of the input, used in detection.
    pub name: String,
    /// Most bytes that are read to detect the format.
    pub head_limit: usize,
    /// The formats that detection looks for.
    pub formats: Arc<FormatTable>,
    /// Size of a chunk in bytes.
    pub chunk_size: usize,
    /// Longest record in bytes.
    pub max_record: usize,
    /// The end of a record of a list.
    pub separator: Separator,
    /// Most chunks that may wait to be taken, once the stream has its turn.
    pub ahead: usize,
    /// Memory that each thread may take to decompress.
    pub limits: Limits,
}

/// Read size. It is the same for chunks of any size, because the number of bytes a library returns
/// before damage can depend on it. At each read an inflater copies its window, so with 64 KiB decompressing
/// gzip takes 1.06 of the time.
const READ: usize = 256 << 10;

/// The records of a slow stream are sent after this long, even if they fill no chunk.
const PATIENCE: Duration = Duration::from_millis(50);

/// Or after this long if no data follows them. A source that is merely slower than the rest of the work
/// delivers again sooner, so its chunks still fill up.
const QUIET: Duration = Duration::from_millis(5);

/// Reads a stream on a thread of its own. Before its [turn](StreamEvents::begin_turn) it holds no more than
/// `read_ahead` allows.
///
/// # Errors
///
/// The thread cannot be started.
pub fn stream(
    origin: StreamSource,
    options: StreamOptions,
    read_ahead: &Arc<ReadAhead>,
) -> io::Result<StreamEvents> {
    let StreamOptions { limits, ahead, chunk_size, .. } = options;
    // A short chunk still lies in a buffer that a whole read has filled.
    let share = read_ahead.share(ahead * chunk_size.max(READ));
    let (sender, receiver) = events(share, chunk_size);
    // Only a pipe can be slow; a file is complete.
    let is_file = matches!(origin, StreamSource::File(_));
    let patience = if is_file { Duration::MAX } else { PATIENCE };
    // A buffer is read into until it holds a chunk, so the last read may begin one byte before
    // that.
    let buffers = BufferPool::new(options.chunk_size + READ, read_ahead.spare());
    let mut reader =
        StreamReader { options, patience, sender, buffers, taken: 0, growth: Growth::Unknown };
    thread::Builder::new().name("uniqurl-read".into()).spawn(move || {
        // A send fails only if the receiver is gone, and then nobody wants the rest.
        let _ = match source::open(origin, reader.sender.share(), limits) {
            Ok((source, growth)) => {
                reader.growth = growth;
                reader.run(source)
            }
            Err(error) => reader.send(StreamEvent::Error(None, Trouble::Io(error))),
        };
    })?;
    Ok(receiver)
}

struct StreamReader {
    options: StreamOptions,
    /// Longest wait for the detection of a format.
    patience: Duration,
    sender: EventSender,
    buffers: BufferPool,
    /// Input bytes read for the chunks sent so far.
    taken: u64,
    growth: Growth,
}

/// The result of a read.
enum Got {
    Some,
    End,
    Error(io::Error),
}

impl StreamReader {
    fn run(mut self, mut source: Box<dyn ByteSource>) -> Result<(), Unwanted> {
        let mut head = self.buffers.take(&[]);
        let mut last = Got::Some;
        let known = self.options.format.clone();
        let envelope = self.options.envelope;
        let looks = |format: &Arc<Format>| format.needs_head() || envelope.looks_into(format);
        if known.as_ref().is_none_or(looks) {
            let begun = Instant::now();
            // Detection must not delay a slow list.
            let is_late = |lines: &HeadLines, source: &dyn ByteSource| {
                // Before the turn time does not count, but a read that could outlast the start of
                // the turn is not begun.
                while !self.is_in_turn() {
                    if !lines.has_some() || !source.waits(PATIENCE) {
                        return false;
                    }
                }
                let left = self.patience.saturating_sub(begun.elapsed());
                lines.has_some() && (left.is_zero() || source.waits(left))
            };
            let limit = match &known {
                Some(format) if !envelope.looks_into(format) => record::HEAD,
                _ => self.options.head_limit,
            };
            let mut lines = HeadLines::default();
            while !lines.are_enough(limit)
                && matches!(last, Got::Some)
                // The first line of an archive only says WARC. Its records tell WAT files from
                // others, so they are waited for even where the source is slow.
                && (record::could_be_archive(head.bytes()) || !is_late(&lines, &*source))
            {
                last = read(&mut *source, &mut head);
                lines.count(head.bytes());
            }
            // Refused before the first event, so that nothing of such an input is counted as a
            // record.
            let why = match &known {
                Some(format) if format.may_refuse() => record::refusal(head.bytes()),
                Some(_) => None,
                None => record::refusal_of_auto(head.bytes()),
            };
            if let Some(why) = why {
                return self.send(StreamEvent::Error(None, Trouble::Refused(why)));
            }
        }
        let is_whole = matches!(last, Got::End);
        let format = match known {
            Some(format) => {
                let ctx = Context { max_record: self.options.max_record, ..Context::default() };
                let wrapped = record::wrap(envelope, &format, head.bytes(), is_whole);
                match wrapped.or_else(|| format.delimited(&ctx, head.bytes())) {
                    Some(changed) => {
                        let format = changed.clone();
                        let detected = Detected { format, doubts: Doubts::default() };
                        self.send(StreamEvent::Guess(Arc::new(detected)))?;
                        Arc::new(changed)
                    }
                    None => format,
                }
            }
            None => {
                // An input that fails within its first line has no record to detect a format from.
                last = match last {
                    Got::Error(error) if memchr(b'\n', head.bytes()).is_none() => {
                        return self.fail(head.len() as u64, error, &*source);
                    }
                    last => last,
                };
                let StreamOptions { formats, name, .. } = &self.options;
                let detected = Arc::new(formats.detect_in(envelope, name, head.bytes(), is_whole));
                let format = Arc::new(detected.format.clone());
                // An empty input gives no evidence for a format.
                if !(head.bytes().is_empty() && matches!(last, Got::End)) {
                    self.send(StreamEvent::Guess(detected))?;
                }
                format
            }
        };
        match format.framing() {
            Framing::Lines => {
                let separator = format.separator(self.options.separator);
                self.lines(source, head, last, separator)
            }
            framing => self.frames(source, head, last, framing),
        }
    }

    /// Cuts after separators.
    fn lines(
        &mut self,
        mut source: Box<dyn ByteSource>,
        mut buffer: Buffer,
        mut last: Got,
        separator: u8,
    ) -> Result<(), Unwanted> {
        let StreamOptions { chunk_size, max_record, .. } = self.options;
        if let Some(starts) = source.starts() {
            starts.forget();
        }
        // Offset of the buffer's first byte, and whether that byte is inside a record whose start
        // has been handed on already.
        let mut offset = 0;
        let mut skipping = false;
        // Each byte of the buffer is searched once, however many reads a record takes:
        //
        //   0            whole                looked        end of the buffer
        //   | whole records | start of the next  | not searched |
        //
        // Length of the complete records in the buffer.
        let mut whole = 0;
        // Bytes of the buffer already searched.
        let mut looked = 0;
        let mut handed_on = Instant::now();
        loop {
            // Bytes that were read for detection are searched before more are read.
            if matches!(last, Got::Some) && buffer.len() == looked {
                last = read(&mut *source, &mut buffer);
            }
            let was_skipping = skipping;
            if skipping {
                let bytes = buffer.bytes();
                let end = memchr(separator, bytes).map_or(bytes.len(), |feed| feed + 1);
                skipping = end == 0 || bytes[end - 1] != separator;
                buffer.pass(end);
                offset += end as u64;
            }
            // What was skipped is gone from the front of the buffer, so `looked` counts from
            // another byte.
            let fresh = if was_skipping { 0 } else { looked };
            let bytes = &buffer.bytes()[fresh..];
            whole = memrchr(separator, bytes).map_or(whole, |feed| fresh + feed + 1);
            looked = buffer.len();
            let goes_on = matches!(last, Got::Some);
            if goes_on
                && buffer.len() < chunk_size
                && self.may_fill_up(whole > 0, handed_on, &*source)
            {
                continue;
            }
            // A last line without a separator is a record, unless its writer may still be at work
            // on it.
            let cut = matches!(last, Got::End) && whole < buffer.len() && self.growth.has_grown();
            if matches!(last, Got::End) && !cut {
                whole = buffer.len();
            }
            let rest = buffer.len() - whole;
            if whole > 0 {
                let next = self.buffers.take(&buffer.bytes()[whole..]);
                let data =
                    Data::Shared(self.buffers.lend(std::mem::replace(&mut buffer, next), whole));
                self.hand_on(Chunk { data, offset, frames: Vec::new() }, &*source)?;
                offset += whole as u64;
                whole = 0;
                handed_on = Instant::now();
            } else if skipping && self.is_in_turn() && handed_on.elapsed() >= PATIENCE {
                // Bytes skipped within a record that is too long count as read, too.
                self.hand_on(Chunk { offset, ..Chunk::default() }, &*source)?;
                handed_on = Instant::now();
            }
            // At the end of the input the record is sent whole by the branch above, and its length
            // rejects it.
            if rest >= max_record + TOO_LONG && goes_on {
                let next = self.buffers.take(&[]);
                let start =
                    self.buffers.lend(std::mem::replace(&mut buffer, next), max_record + TOO_LONG);
                let data = Data::Shared(start);
                self.hand_on(Chunk { data, offset, frames: Vec::new() }, &*source)?;
                offset += rest as u64;
                skipping = true;
            }
            looked = buffer.len();
            match last {
                Got::Some => {}
                Got::End => {
                    if cut {
                        self.send(StreamEvent::Cut(CutLine { at: offset }))?;
                    }
                    return self.end(&*source);
                }
                Got::Error(error) => {
                    return self.fail(offset + buffer.len() as u64, error, &*source);
                }
            }
        }
    }

    /// Cuts at the records of an archive.
    fn frames(
        &mut self,
        mut source: Box<dyn ByteSource>,
        head: Buffer,
        last: Got,
        framing: Framing,
    ) -> Result<(), Unwanted> {
        let StreamOptions { chunk_size, max_record, .. } = self.options;
        let failed = match last {
            Got::Error(error) => Some(error),
            Got::Some | Got::End => None,
        };
        let mut framer =
            Framer::new(&mut *source, head.bytes().to_vec(), failed, framing, max_record);
        let mut buffer = self.buffers.take(&[]);
        let mut frames = Vec::new();
        let mut handed_on = Instant::now();
        loop {
            let mut next = framer.next(&mut buffer);
            let over = !matches!(next, Ok(Some(_)));
            // The frame is moved out of `next`, which still has to tell the end from an error
            // below.
            if let Ok(frame) = &mut next {
                frames.extend(frame.take());
            }
            if !frames.is_empty()
                && (over
                    || buffer.len() >= chunk_size
                    || self.is_in_turn() && handed_on.elapsed() >= PATIENCE)
            {
                let (next, whole) = (self.buffers.take(&[]), buffer.len());
                let full = std::mem::replace(&mut buffer, next);
                let data = Data::Shared(self.buffers.lend(full, whole));
                let frames = std::mem::take(&mut frames);
                self.hand_on(Chunk { data, offset: framer.offset(), frames }, framer.source())?;
                handed_on = Instant::now();
            }
            match next {
                Ok(_) if !over => {}
                Ok(_) => return self.end(framer.source()),
                Err(error) => return self.fail(framer.offset(), error, framer.source()),
            }
        }
    }

    /// True if a buffer that is not full can wait for more bytes: nobody waits for its records yet, or more
    /// bytes are there at once.
    fn may_fill_up(&self, has_records: bool, handed_on: Instant, source: &dyn ByteSource) -> bool {
        // A read of a slow source could outlast the start of the turn, so it is not begun before.
        while !self.is_in_turn() {
            if !has_records || !source.waits(PATIENCE) {
                return true;
            }
        }
        handed_on.elapsed() < PATIENCE && !(has_records && source.waits(QUIET))
    }

    fn is_in_turn(&self) -> bool {
        self.sender.share().is_in_turn()
    }

    fn hand_on(&mut self, chunk: Chunk, source: &dyn ByteSource) -> Result<(), Unwanted> {
        let taken = source.taken();
        let read = taken - self.taken;
        self.taken = taken;
        self.send(StreamEvent::Chunk(chunk, read))
    }

    fn end(&self, source: &dyn ByteSource) -> Result<(), Unwanted> {
        self.send(StreamEvent::End { taken: source.taken(), padding: source.padding() })
    }

    fn fail(&self, at: u64, error: io::Error, source: &dyn ByteSource) -> Result<(), Unwanted> {
        self.send(StreamEvent::Error(Some(at), source::trouble(error, source)))
    }

    fn send(&self, piece: StreamEvent) -> Result<(), Unwanted> {
        self.sender.send(piece)
    }
}

/// Reads once and appends the bytes.
fn read(source: &mut dyn ByteSource, buffer: &mut Buffer) -> Got {
    let read = loop {
        match source.read(buffer.room(READ)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read,
        }
    };
    match read {
        Ok(0) => Got::End,
        Ok(read) => {
            buffer.fill(read);
            Got::Some
        }
        Err(error) => Got::Error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::super::opened::{OpenFile, check};

    /// Returns a few bytes per read.
    struct DribblingPipe(Vec<u8>, usize);

    impl source::Pipe for DribblingPipe {}

    impl Read for DribblingPipe {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(out.len()).min(self.0.len());
            out[..length].copy_from_slice(&self.0[..length]);
            self.0.drain(..length);
            Ok(length)
        }
    }

    fn options(chunk_size: usize, max_record: usize) -> StreamOptions {
        StreamOptions {
            format: Some(Arc::new(Format::Lines)),
            envelope: EnvelopeChoice::None,
            name: String::new(),
            head_limit: record::HEAD,
            formats: Arc::clone(FormatTable::shipped()),
            chunk_size,
            max_record,
            separator: Separator::LineFeed,
            ahead: 4,
            limits: Limits::MOST,
        }
    }

    fn events(source: StreamSource, options: StreamOptions, threads: usize) -> StreamEvents {
        let events = stream(source, options, &ReadAhead::new(0, threads)).unwrap();
        events.begin_turn();
        events
    }

    fn records(text: &[u8], read: usize, chunk: usize, max_record: usize) -> Vec<(u64, Vec<u8>)> {
        let source = Box::new(DribblingPipe(text.to_vec(), read));
        let mut records = Vec::new();
        for piece in events(StreamSource::Pipe(source), options(chunk, max_record), 1) {
            match piece {
                StreamEvent::Guess(..) => panic!("nothing to guess"),
                StreamEvent::Chunk(chunk, _) => {
                    let mut at = chunk.offset;
                    for line in chunk.bytes().split_inclusive(|byte| *byte == b'\n') {
                        records.push((at, line.to_vec()));
                        at += line.len() as u64;
                    }
                }
                StreamEvent::Cut(_) => panic!("a pipe does not grow"),
                StreamEvent::Error(..) => panic!("no error was read"),
                StreamEvent::End { taken, .. } => assert_eq!(taken, text.len() as u64),
            }
        }
        records
    }

    #[test]
    fn unfinished_last_line_of_a_compressed_file_is_skipped() {
        let member = |text: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(text).unwrap();
            encoder.finish().unwrap()
        };
        // One file is decoded on one thread, the other on several.
        for lines in [1_u64, 100_000] {
            let list: String = (0..lines).map(|n| format!("http://h/{}\n", n * n)).collect();
            for grows in [false, true] {
                let mut file = tempfile::NamedTempFile::new().unwrap();
                file.write_all(&member(list.as_bytes())).unwrap();
                file.write_all(&member(b"http://h/99")).unwrap();
                let (inputs, _) = check(&[file.path().to_owned()]);
                let opened = OpenFile::open(&inputs[0]).unwrap().unwrap();
                if grows {
                    file.write_all(&member(b"5\n")).unwrap();
                }
                let (mut bytes, mut cuts) = (0, Vec::new());
                let source = StreamSource::File(Arc::new(opened));
                for piece in events(source, options(1 << 20, 100), 2) {
                    match piece {
                        StreamEvent::Chunk(chunk, _) => bytes += chunk.bytes().len(),
                        StreamEvent::Cut(cut) => cuts.push(cut.at as usize),
                        _ => {}
                    }
                }
                let cut = if grows { vec![list.len()] } else { Vec::new() };
                assert_eq!(cuts, cut, "{lines} {grows}");
                assert_eq!(bytes, if grows { list.len() } else { list.len() + 11 });
            }
        }
    }

    #[test]
    fn every_record_is_read_once_at_any_read_and_chunk_size() {
        let text = b"a\nbc\n\n\ndefgh\nijklmnop\nq";
        let whole = records(text, 1000, 1000, 100);
        assert_eq!(whole.iter().flat_map(|(_, r)| r.clone()).collect::<Vec<_>>(), text);
        for read in 1..=text.len() {
            for chunk in 1..=text.len() {
                assert_eq!(records(text, read, chunk, 100), whole, "{read} {chunk}");
            }
        }
    }

    #[test]
    fn record_of_the_maximum_length_is_complete_with_its_line_ending() {
        let text = [&b"ab\n"[..], &[b'x'; 50], b"\r\n", &[b'y'; 50], b"\ncd\n"].concat();
        let whole = records(&text, 1000, 1000, 100);
        for read in 1..=text.len() {
            for chunk in [1, 7, 64] {
                assert_eq!(records(&text, read, chunk, 50), whole, "{read} {chunk}");
            }
        }
    }

    #[test]
    fn only_the_start_of_an_overlong_record_is_kept() {
        let mut text = b"ab\n".to_vec();
        text.extend([b'x'; 10_000]);
        text.extend(b"\ncd\n");
        for read in [7, 100, 9000] {
            let records = records(&text, read, 64, 50);
            assert_eq!(records.len(), 3, "{read}");
            assert!(records[1].1.len() > 50);
            assert_eq!(records[2], (10_004, b"cd\n".to_vec()), "{read}");
        }
    }
}
