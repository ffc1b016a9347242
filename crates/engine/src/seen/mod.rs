//! Sets from before the run, whose URLs do not come out again.
//!
//! They are read before the inputs, on all cores, into shards of their own: a URL that is in them is
//! told apart from one that the run itself has met. What of them does not fit into memory goes to the
//! partitions of what is spilled, ahead of all records, and then nothing is known to be new before
//! its partition is settled.
//!
//! A saved set holds keys, which are taken as they stand if its rules are those of the run. Any other
//! file is a list of URLs, one a line, and goes through the normalizer. A list without a single URL is
//! refused: it would make every URL new.

mod error;

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use super::batches::CHUNKS;
use super::budget::entries_by_shard;
use super::insert::{End, insert};
use super::job::Setup;
use super::memory::Memory;
use super::overflow::{self, Overflow};
use super::report::RunError;
use super::sheet::{Rules, Sheet};
pub use error::{SeenError, SeenTrouble};
use uniqurl::normalize::Normalizer;
use uniqurl::profile::{Grammar, Profile};
use uniqurl::set::{Counting, HashKey, SetFull, Shard};
use uniqurl_formats::input::{
    self, Chunk, Input, InputError, OpenFile, StreamEvent, StreamOptions, StreamSource, Trouble,
};
use uniqurl_formats::record::{self, BREAKS_OFF, LONGEST_KEY, Parsed, SetHeader};
use uniqurl_formats::record::{Context, Format, HEAD, MARK, Separator};
use uniqurl_store::sort::sort_memory;
use uniqurl_store::spill::SpillError;

/// What was read.
pub(super) struct Seen {
    pub(super) shards: Vec<Shard>,
    /// Where the rest went, if there was one.
    pub(super) overflow: Option<Overflow>,
    pub(super) rejected: Vec<RejectedSeen>,
}

/// A list of what was seen with lines that are no URLs.
#[derive(Debug, Clone)]
pub struct RejectedSeen {
    /// Its name.
    pub path: PathBuf,
    /// Its lines, without blank ones.
    pub lines: u64,
    /// Those that are no URLs.
    pub rejected: u64,
}

/// What a file is: only a saved set says so itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Saved,
    List,
}

struct Loader<'a> {
    setup: &'a Setup<'a>,
    header: &'a SetHeader,
    /// Whether all keys are sorted at the end.
    saving: bool,
    /// For lists, and for saved sets.
    list: Rules<'a>,
    saved: Rules<'a>,
    seen: Seen,
    spare: Vec<Sheet>,
}

/// Reads what was seen before the run into `shards` shards, under the hash of the run.
pub(super) fn load(
    setup: &Setup<'_>,
    context: &Context,
    key: &HashKey,
    shards: usize,
    header: &SetHeader,
    saving: bool,
) -> Result<Seen, RunError> {
    let string = Normalizer::new(&Profile::STRING).with_backend(setup.normalizer.backend());
    let rules = |normalizer, context| Rules::plain(normalizer, context, key.clone(), shards);
    // What was written may be longer than a URL that is read, since encoding makes it so.
    let written = |context| Context { max_url: LONGEST_KEY, max_record: LONGEST_KEY, ..context };
    let mut loader = Loader {
        setup,
        header,
        saving,
        list: Rules { written: setup.key, ..rules(&setup.normalizer, written(context.clone())) },
        saved: rules(&string, written(Context::default())),
        seen: Seen {
            shards: (0..shards).map(|_| Shard::new(Counting::Off)).collect(),
            overflow: None,
            rejected: Vec::new(),
        },
        spare: Vec::new(),
    };
    for input in &setup.seen {
        loader.file(input)?;
    }
    Ok(loader.seen)
}

impl Loader<'_> {
    fn file(&mut self, input: &Input) -> Result<(), RunError> {
        let refused = |trouble| RunError::Seen(SeenError { path: input.path.clone(), trouble });
        let file = OpenFile::open(input).map_err(RunError::Input)?.map(Arc::new);
        // An empty file is an empty set, whatever its name: that is how one begins.
        if file.as_ref().is_some_and(|file| file.size() == 0) {
            return Ok(());
        }
        let separator = self.separator(file.as_ref()).map_err(|error| {
            RunError::Input(InputError::new(&input.path, None, Trouble::Io(error)))
        })?;
        let pieces = self.open(input, file.as_ref(), separator)?;
        let mut kind = None;
        let (mut lines, mut rejected) = (0, 0);
        let mut over = false;
        // Where a saved set breaks off, which ends every line.
        let mut broken = None;
        while !over {
            let mut sheets = Vec::new();
            let mut next = pieces.recv().ok();
            if next.is_none() {
                let error = io::Error::other("the reading thread ended early");
                return Err(RunError::Input(InputError::new(
                    &input.path,
                    None,
                    Trouble::Io(error),
                )));
            }
            while let Some(piece) = next {
                match piece {
                    StreamEvent::Chunk(mut chunk, _) => {
                        if kind.is_none_or(|kind| kind == Kind::Saved) {
                            broken = unended_line(&chunk);
                        }
                        if kind.is_none() {
                            kind = Some(self.begin(&mut chunk, separator).map_err(refused)?);
                        }
                        sheets.push(self.sheet(chunk, 0));
                    }
                    // The format is known.
                    StreamEvent::Guess(_) => {}
                    // What was not there yet was not seen; but a saved set is written at once.
                    StreamEvent::Cut(cut) => broken = Some(cut.at),
                    StreamEvent::End { .. } => over = true,
                    StreamEvent::Error(at, trouble) => {
                        let changed = file.as_ref().and_then(|file| file.verify().err());
                        let error = || InputError::new(&input.path, Some(at), trouble);
                        return Err(RunError::Input(changed.unwrap_or_else(error)));
                    }
                }
                let room = sheets.len() < self.setup.threads * CHUNKS && !over;
                next = if room { pieces.try_recv().ok() } else { None };
            }
            while !sheets.is_empty() {
                self.take(&mut sheets, kind.unwrap_or(Kind::List))?;
                let mut rest = Vec::new();
                for sheet in &mut sheets {
                    lines += sheet.tally.records - sheet.tally.blank;
                    rejected += sheet.tally.rejected;
                    rest.extend(sheet.take_rest());
                }
                self.spare.append(&mut sheets);
                sheets.extend(rest.into_iter().map(|(chunk, from)| self.sheet(chunk, from)));
            }
        }
        if let Some(file) = &file {
            file.verify().map_err(RunError::Input)?;
        }
        let Some(kind) = kind else { return Ok(()) };
        // Half a key may be another one, whose URL would be lost.
        if let (Kind::Saved, Some(at)) = (kind, broken) {
            let trouble = Trouble::Malformed(BREAKS_OFF.into());
            return Err(RunError::Input(InputError::new(&input.path, Some(at), trouble)));
        }
        if rejected == 0 {
            return Ok(());
        }
        match kind {
            Kind::Saved => {
                Err(refused(format!("{rejected} of its {lines} keys are longer than any").into()))
            }
            Kind::List if rejected == lines => {
                let profile = self.setup.normalizer.description();
                Err(refused(format!("none of its {lines} lines is a URL under {profile}").into()))
            }
            Kind::List => {
                let path = input.path.clone();
                self.seen.rejected.push(RejectedSeen { path, lines, rejected });
                Ok(())
            }
        }
    }

    /// A sheet for a chunk from this record on.
    fn sheet(&mut self, chunk: Chunk, from: usize) -> Sheet {
        let mut sheet = self.spare.pop().unwrap_or_default();
        sheet.clear();
        sheet.from = from;
        sheet.text.chunk = Some(chunk);
        sheet
    }

    /// What ends a line: a saved set has line feeds whatever the lists have.
    fn separator(&self, file: Option<&Arc<OpenFile>>) -> io::Result<Separator> {
        let of_lists = self.list.context.separator;
        let (Separator::Nul, Some(file)) = (of_lists, file) else { return Ok(of_lists) };
        let mut head = Vec::new();
        let length = SetHeader::MAGIC.len() as u64;
        input::unpacked_file(Arc::clone(file))?.take(length).read_to_end(&mut head)?;
        let is_saved = head == SetHeader::MAGIC.as_bytes();
        Ok(if is_saved { Separator::LineFeed } else { Separator::Nul })
    }

    fn open(
        &self,
        input: &Input,
        file: Option<&Arc<OpenFile>>,
        separator: Separator,
    ) -> Result<Receiver<StreamEvent>, RunError> {
        let origin = match file {
            Some(file) => StreamSource::File(Arc::clone(file)),
            None => StreamSource::Pipe(input.open_stream().map_err(RunError::Input)?),
        };
        let cutting = StreamOptions {
            format: Some(Arc::new(Format::Lines)),
            name: String::new(),
            chunk_size: self.setup.chunk_size,
            max_record: self.saved.context.max_record,
            separator: separator.byte(),
            ahead: self.setup.threads * CHUNKS,
            threads: self.setup.threads,
            limits: input::Limits::within(
                self.setup.memory.as_ref().map_or(usize::MAX, Memory::size),
                self.setup.threads,
            ),
        };
        input::stream(origin, cutting).map_err(|error| {
            RunError::Input(InputError::new(&input.path, None, Trouble::Io(error)))
        })
    }

    /// Tells a saved set from a list by its first chunk, and takes the header or mark off.
    ///
    /// # Errors
    ///
    /// Why the file is neither.
    fn begin(&self, chunk: &mut Chunk, separator: Separator) -> Result<Kind, SeenTrouble> {
        let mark = if chunk.bytes().starts_with(MARK) { MARK.len() } else { 0 };
        let bytes = &chunk.bytes()[mark..];
        let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |feed| feed + 1);
        match SetHeader::parse(&bytes[..end]) {
            Parsed::Header(_) if separator == Separator::Nul => Err(SeenTrouble::Other(
                "where records end with NUL, a saved set is read from a file, and not from a pipe"
                    .into(),
            )),
            Parsed::Header(header) => match header.difference(self.header, "this run") {
                None => {
                    chunk.skip(mark + end);
                    Ok(Kind::Saved)
                }
                Some(difference) => Err(difference.into()),
            },
            Parsed::Unreadable(why) => Err(why.into()),
            Parsed::NoHeader => {
                if let Some(why) = refusal(&bytes[..bytes.len().min(HEAD)], separator) {
                    return Err(why);
                }
                // Elsewhere the mark is a part of the first URL, as it is of an input.
                if self.setup.normalizer.profile().grammar == Grammar::Repaired {
                    chunk.skip(mark);
                }
                Ok(Kind::List)
            }
        }
    }

    /// Adds the URLs of some chunks.
    fn take(&mut self, sheets: &mut [Sheet], kind: Kind) -> Result<(), RunError> {
        let rules = if kind == Kind::Saved { &self.saved } else { &self.list };
        let spills = self.seen.overflow.is_some();
        let no_room = AtomicBool::new(false);
        rayon::scope(|scope| {
            for sheet in &mut *sheets {
                scope.spawn(|_| {
                    if sheet.digest(&Format::Lines, rules).is_err() {
                        no_room.store(true, Ordering::Relaxed);
                    }
                    sheet.spills = spills;
                });
            }
        });
        if !spills && self.is_over_budget(sheets) {
            self.begin_to_spill()?;
            sheets.iter_mut().for_each(|sheet| sheet.spills = true);
        }
        let mut ends: Vec<_> = self.seen.shards.iter().map(End::before).collect();
        rayon::scope(|scope| insert(scope, None, &mut self.seen.shards, sheets, &mut ends));
        if ends.iter().any(|end| end.full.is_some()) {
            return Err(RunError::Set(SetFull::default()));
        }
        if no_room.load(Ordering::Relaxed) {
            return Err(RunError::Memory);
        }
        let Some(overflow) = &mut self.seen.overflow else { return Ok(()) };
        rayon::scope(|scope| {
            for sheet in &mut *sheets {
                scope.spawn(|_| {
                    if sheet.spill_seen().is_err() {
                        no_room.store(true, Ordering::Relaxed);
                    }
                });
            }
        });
        if no_room.into_inner() {
            return Err(RunError::Memory);
        }
        let failed: Mutex<Option<SpillError>> = Mutex::new(None);
        let (sheets, failed_here) = (&*sheets, &failed);
        rayon::scope(|scope| {
            for group in overflow.groups() {
                scope.spawn(move |_| {
                    if let Err(error) = group.write(sheets) {
                        *failed_here.lock().unwrap_or_else(|e| e.into_inner()) = Some(error);
                    }
                });
            }
        });
        match failed.into_inner().unwrap_or_else(|e| e.into_inner()) {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Whether these sheets are more than fits beside what is there.
    fn is_over_budget(&self, sheets: &[Sheet]) -> bool {
        let Some(memory) = &self.setup.memory else { return false };
        let more = entries_by_shard(sheets, self.seen.shards.len());
        let shards = self.seen.shards.iter().zip(&more);
        let keys: usize = shards.clone().map(|(shard, more)| shard.len() + more).sum();
        let set: usize = shards.map(|(shard, more)| shard.memory(*more)).sum();
        let sorting = if self.saving { keys * size_of::<u64>() + sort_memory(keys) } else { 0 };
        let text: usize = sheets.iter().map(Sheet::canonical_bytes).sum();
        let buffers: usize = sheets.iter().chain(&self.spare).map(Sheet::memory).sum();
        let partitions = overflow::buffers(memory.size(), self.setup.threads);
        memory.is_exceeded_by(set + sorting + text + buffers + partitions)
    }

    fn begin_to_spill(&mut self) -> Result<(), RunError> {
        let Some(memory) = &self.setup.memory else { return Ok(()) };
        self.seen.overflow = Some(Overflow::begin(memory, self.setup.threads, None)?);
        Ok(())
    }
}

/// Offset of a last line without a line feed.
fn unended_line(chunk: &Chunk) -> Option<u64> {
    let bytes = chunk.bytes();
    let start = memchr::memrchr(b'\n', bytes).map_or(0, |feed| feed + 1);
    (start < bytes.len()).then(|| chunk.offset + start as u64)
}

/// Why a file that begins with `head` can be no list of URLs.
fn refusal(head: &[u8], separator: Separator) -> Option<SeenTrouble> {
    if record::is_table(head) {
        return Some("a table is no list of URLs".to_owned().into());
    }
    let why = match separator {
        Separator::LineFeed => record::refusal_of_auto(head),
        Separator::Nul => record::refusal(head),
    };
    why.map(SeenTrouble::Refused)
}
