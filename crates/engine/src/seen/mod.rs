//! Sets from before the run, whose URLs do not come out again.
//!
//! They are read before the inputs, on all cores, into shards of their own, so that a URL in them differs
//! from one that the run itself has found. Keys that do not fit into memory go to the partitions of the
//! spiller, before all records, and then no URL is known to be new before its partition is deduplicated.
//!
//! A saved set holds keys, which are taken as they are if its rules are those of the run. Any other
//! file is a list of URLs, one a line, and goes through the normalizer. A list without a single URL is
//! refused: it would make every URL new.

mod add;
mod error;

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

pub use error::{SeenError, SeenTrouble};

use crate::batch::{ParseRules, WorkBatch};
use crate::job::InputFormat;
use crate::plan::JobPlan;
use crate::reader::{CHUNKS, at_once, batch_share};
use crate::report::RunError;
use crate::set::Spiller;
use uniqurl::normalize::Normalizer;
use uniqurl::profile::{Grammar, Profile};
use uniqurl::set::{Counting, HashKey, Shard};
use uniqurl_formats::input::{
    self, Chunk, Input, InputError, OpenFile, ReadAhead, StreamEvent, StreamEvents, StreamOptions,
    StreamSource, Trouble,
};
use uniqurl_formats::record::{self, BREAKS_OFF, LONGEST_KEY, Parsed, Refusal, SetHeader};
use uniqurl_formats::record::{Context, Format, HEAD, MARK, Separator};

/// The keys from before the run.
pub(crate) struct Seen {
    pub(crate) shards: Vec<Shard>,
    /// Where keys went that did not fit into memory.
    pub(crate) spiller: Option<Spiller>,
    pub(crate) rejected: Vec<RejectedSeen>,
}

/// A list of seen URLs with lines that are no URLs.
#[derive(Debug, Clone)]
pub struct RejectedSeen {
    /// Its name.
    pub path: PathBuf,
    /// Its lines, without blank ones.
    pub lines: u64,
    /// Those that are no URLs.
    pub rejected: u64,
}

/// The kind of a file. Only a saved set has a header that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SeenKind {
    Saved,
    List,
}

struct Loader<'a> {
    plan: &'a JobPlan,
    header: &'a SetHeader,
    /// Whether all keys are sorted at the end.
    saving: bool,
    /// For lists, and for saved sets.
    list: ParseRules<'a>,
    saved: ParseRules<'a>,
    seen: Seen,
    spare: Vec<WorkBatch>,
}

/// Reads the URLs seen before the run into `shards` shards, under the hash of the run.
pub(crate) fn load(
    plan: &JobPlan,
    context: &Context,
    hasher: &HashKey,
    shards: usize,
    header: &SetHeader,
    saving: bool,
) -> Result<Seen, RunError> {
    let string = Normalizer::new(&Profile::STRING).with_backend(plan.normalizer.backend());
    let rules =
        |normalizer, context| ParseRules::plain(normalizer, context, hasher.clone(), shards);
    // A written URL may be longer than the URL that was read, since encoding lengthens it.
    let written = |context| Context { max_url: LONGEST_KEY, max_record: LONGEST_KEY, ..context };
    let mut loader = Loader {
        plan,
        header,
        saving,
        list: ParseRules {
            key: plan.policy.key,
            drops_blanks: !plan.normalizer.may_write_any_byte(),
            ..rules(&plan.normalizer, written(context.clone()))
        },
        saved: rules(&string, written(Context::default())),
        seen: Seen {
            shards: (0..shards).map(|_| Shard::new(Counting::Off)).collect(),
            spiller: None,
            rejected: Vec::new(),
        },
        spare: Vec::new(),
    };
    for input in &plan.input.seen {
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
            let mut batches = Vec::new();
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
                        // Only a saved set can be cut off: the last line of a list needs no line feed.
                        if kind.is_none_or(|kind| kind == SeenKind::Saved) {
                            broken = unended_line(&chunk);
                        }
                        if kind.is_none() {
                            kind = Some(self.begin(&mut chunk, separator).map_err(refused)?);
                        }
                        batches.push(self.batch(chunk, 0));
                    }
                    // The format is known.
                    StreamEvent::Guess(_) => {}
                    // A line that was not complete yet was not seen. A saved set is written at once, so a cut
                    // is an error.
                    StreamEvent::Cut(cut) => broken = Some(cut.at),
                    StreamEvent::End { .. } => over = true,
                    StreamEvent::Error(at, trouble) => {
                        let changed = file.as_ref().and_then(|file| file.verify().err());
                        let error = || InputError::new(&input.path, at, trouble);
                        return Err(RunError::Input(changed.unwrap_or_else(error)));
                    }
                }
                let held: usize = batches.iter().map(WorkBatch::memory).sum();
                let room = batches.len() < self.plan.limits.workers() * CHUNKS
                    && held < batch_share(self.plan)
                    && !over;
                next = if room { pieces.try_recv().ok() } else { None };
            }
            while !batches.is_empty() {
                let at_once = at_once(self.plan, batches.len());
                (self.list.at_once, self.saved.at_once) = (at_once, at_once);
                self.take(&mut batches, kind.unwrap_or(SeenKind::List))?;
                let mut rest = Vec::new();
                for batch in &mut batches {
                    lines += batch.tally.records.records - batch.tally.records.blank;
                    rejected += batch.tally.records.rejected;
                    rest.extend(batch.take_rest());
                }
                // A chunk whose records make many bytes takes several batches.
                batches.iter_mut().for_each(WorkBatch::free_chunk);
                self.spare.append(&mut batches);
                batches.extend(rest.into_iter().map(|(chunk, from)| self.batch(chunk, from)));
            }
        }
        // A file that changed while it was read may lack keys.
        if let Some(file) = &file {
            file.verify().map_err(RunError::Input)?;
        }
        let Some(kind) = kind else { return Ok(()) };
        // Half a key may be another one, whose URL would be lost.
        if let (SeenKind::Saved, Some(at)) = (kind, broken) {
            let trouble = Trouble::Malformed(BREAKS_OFF.into());
            return Err(RunError::Input(InputError::new(&input.path, Some(at), trouble)));
        }
        if rejected == 0 {
            return Ok(());
        }
        match kind {
            SeenKind::Saved => {
                Err(refused(format!("{rejected} of its {lines} keys are longer than any").into()))
            }
            SeenKind::List if rejected == lines => {
                let profile = self.plan.normalizer.description();
                Err(refused(format!("none of its {lines} lines is a URL under {profile}").into()))
            }
            SeenKind::List => {
                let path = input.path.clone();
                self.seen.rejected.push(RejectedSeen { path, lines, rejected });
                Ok(())
            }
        }
    }

    /// A batch for a chunk from this record on.
    fn batch(&mut self, chunk: Chunk, from: usize) -> WorkBatch {
        let mut batch = self.spare.pop().unwrap_or_default();
        batch.clear();
        batch.sequence.from = from;
        batch.text.chunk = Some(chunk);
        batch
    }

    /// The separator of the lines: a saved set has line feeds, whatever separator the lists have.
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
    ) -> Result<StreamEvents, RunError> {
        let origin = match file {
            Some(file) => StreamSource::File(Arc::clone(file)),
            None => StreamSource::Unopened(input.clone()),
        };
        let cutting = StreamOptions {
            format: Some(Arc::new(Format::Lines)),
            name: String::new(),
            chunk_size: self.plan.limits.chunk_size,
            max_record: self.saved.context.max_record,
            separator: separator.byte(),
            ahead: self.plan.limits.threads * CHUNKS,
            limits: input::Limits::within(self.plan.budget(), self.plan.limits.threads),
        };
        // Lists are read one after the other.
        let alone = ReadAhead::new(0, self.plan.limits.threads);
        let events = input::stream(origin, cutting, &alone).map_err(|error| {
            RunError::Input(InputError::new(&input.path, None, Trouble::Io(error)))
        })?;
        events.begin_turn();
        Ok(events)
    }

    /// Tells a saved set from a list by its first chunk, and takes the header or mark off.
    ///
    /// # Errors
    ///
    /// Why the file is neither.
    fn begin(&self, chunk: &mut Chunk, separator: Separator) -> Result<SeenKind, SeenTrouble> {
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
                    Ok(SeenKind::Saved)
                }
                Some(difference) => Err(difference.into()),
            },
            Parsed::Unreadable(why) => Err(why.into()),
            Parsed::NoHeader => {
                // Any bytes may begin a line, where the user says that records are lines.
                let are_lines = matches!(&self.plan.input.format,
                    InputFormat::Fixed(format) if **format == Format::Lines);
                let is_wide = |why: &SeenTrouble| {
                    matches!(why, SeenTrouble::Refused(Refusal::Utf16 | Refusal::Utf32))
                };
                match refusal(&bytes[..bytes.len().min(HEAD)], separator) {
                    Some(why) if !(are_lines && is_wide(&why)) => return Err(why),
                    _ => {}
                }
                // Elsewhere the mark is a part of the first URL, as it is of an input.
                if self.plan.normalizer.profile().grammar == Grammar::Repaired {
                    chunk.skip(mark);
                }
                Ok(SeenKind::List)
            }
        }
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
        return Some("a table is not a list of URLs".to_owned().into());
    }
    let why = match separator {
        Separator::LineFeed => record::refusal_of_auto(head),
        Separator::Nul => record::refusal(head),
    };
    why.map(SeenTrouble::Refused)
}
