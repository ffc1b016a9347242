//! Lists from before the run, whose URLs do not come out again.
//!
//! They are read before the inputs, on all cores, into shards of their own, so that a URL in them differs
//! from one that the run itself has found. If they do not fit into memory, they become a store for the time of the
//! run, which is asked as any other.
//!
//! A list holds URLs, one a line, which go through the normalizer. A list without a single URL is refused: it
//! would make every URL new.

mod add;
mod error;

use std::io;
use std::sync::Arc;

pub use error::{SeenError, SeenTrouble};

use crate::batch::{ParseRules, WorkBatch};
use crate::error::RunError;
use crate::job::InputFormat;
use crate::plan::{JobPlan, SeenBefore};
use crate::reader::{CHUNKS, at_once, batch_share};
use crate::report::RejectedSeen;
use uniqurl::internal::{Counting, Grammar, HashKey, Shard};
use uniqurl_formats::input::{
    self, Chunk, Input, InputError, OpenFile, ReadAhead, StreamEvent, StreamEvents, StreamOptions,
    StreamSource, Trouble,
};
use uniqurl_formats::record::{
    self, Context, EnvelopeChoice, Format, HEAD, LONGEST_KEY, MARK, Separator,
};
use uniqurl_store::seen::KeySorter;

/// The keys from before the run.
pub(crate) struct Seen {
    pub(crate) shards: Vec<Shard>,
    /// Where keys went that did not fit into memory.
    pub(crate) store: Option<SeenBefore>,
    pub(crate) rejected: Vec<RejectedSeen>,
}

struct Loader<'a> {
    plan: &'a JobPlan,
    rules: ParseRules<'a>,
    seen: Seen,
    spare: Vec<WorkBatch>,
    /// The keys on their way into a store, if they do not fit into memory.
    sorter: Option<KeySorter>,
}

/// Reads the URLs seen before the run into `shards` shards, under the hash of the run.
pub(crate) fn load(
    plan: &JobPlan,
    context: &Context,
    hasher: &HashKey,
    shards: usize,
) -> Result<Seen, RunError> {
    // A written URL may be longer than the URL that was read, since encoding lengthens it.
    let context = Context { max_url: LONGEST_KEY, max_record: LONGEST_KEY, ..context.clone() };
    let mut loader = Loader {
        plan,
        rules: ParseRules {
            key: plan.policy.key,
            group: plan.group_limit().map(|(group, _)| group),
            drops_blanks: !plan.normalizer.may_write_any_byte(),
            ..ParseRules::plain(&plan.normalizer, context, hasher.clone(), shards)
        },
        seen: Seen {
            shards: (0..shards).map(|_| Shard::new(Counting::Off)).collect(),
            store: None,
            rejected: Vec::new(),
        },
        spare: Vec::new(),
        sorter: None,
    };
    for input in &plan.input.seen {
        loader.file(input)?;
    }
    loader.finish_store()?;
    Ok(loader.seen)
}

impl Loader<'_> {
    fn file(&mut self, input: &Input) -> Result<(), RunError> {
        let refused = |trouble| RunError::Seen(SeenError { path: input.path.clone(), trouble });
        let file = OpenFile::open(input).map_err(RunError::Input)?.map(Arc::new);
        // An empty file is an empty list, whatever its name.
        if file.as_ref().is_some_and(|file| file.size() == 0) {
            return Ok(());
        }
        let pieces = self.open(input, file.as_ref())?;
        let mut begun = false;
        let (mut lines, mut rejected) = (0, 0);
        let mut over = false;
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
                        if !begun {
                            self.begin(&mut chunk).map_err(refused)?;
                            begun = true;
                        }
                        batches.push(self.batch(chunk, 0));
                    }
                    // The format is known.
                    StreamEvent::Guess(..) => {}
                    // A line that was not complete yet was not seen.
                    StreamEvent::Cut(_) => {}
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
                self.rules.at_once = at_once(self.plan, batches.len());
                self.take(&mut batches)?;
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
        if rejected == 0 {
            return Ok(());
        }
        if rejected == lines {
            let profile = self.plan.normalizer.description();
            return Err(refused(
                format!("none of its {lines} lines is a URL under {profile}").into(),
            ));
        }
        let path = input.path.clone();
        self.seen.rejected.push(RejectedSeen { path, lines, rejected });
        Ok(())
    }

    /// A batch for a chunk from this record on.
    fn batch(&mut self, chunk: Chunk, from: usize) -> WorkBatch {
        let mut batch = self.spare.pop().unwrap_or_default();
        batch.clear();
        batch.sequence.from = from;
        batch.text.chunk = Some(chunk);
        batch
    }

    fn open(&self, input: &Input, file: Option<&Arc<OpenFile>>) -> Result<StreamEvents, RunError> {
        let origin = match file {
            Some(file) => StreamSource::File(Arc::clone(file)),
            None => StreamSource::Unopened(input.clone()),
        };
        let workers = self.plan.limits.workers();
        let cutting = StreamOptions {
            format: Some(Arc::new(Format::Lines)),
            envelope: EnvelopeChoice::None,
            name: String::new(),
            head_limit: HEAD,
            formats: Arc::clone(&self.plan.input.formats),
            chunk_size: self.plan.limits.chunk_size,
            max_record: self.rules.context.max_record,
            separator: self.rules.context.separator,
            ahead: workers * CHUNKS,
            limits: input::Limits::within(self.plan.budget(), workers),
        };
        // Lists are read one after the other.
        let alone = ReadAhead::new(0, workers);
        let events = input::stream(origin, cutting, &alone).map_err(|error| {
            RunError::Input(InputError::new(&input.path, None, Trouble::Io(error)))
        })?;
        events.begin_turn();
        Ok(events)
    }

    /// Checks the first chunk of a list, and takes its byte-order mark off.
    ///
    /// # Errors
    ///
    /// Why the file is no list.
    fn begin(&self, chunk: &mut Chunk) -> Result<(), SeenTrouble> {
        let mark = if chunk.bytes().starts_with(MARK) { MARK.len() } else { 0 };
        let bytes = &chunk.bytes()[mark..];
        // Any bytes may begin a line, where the user says that records are lines.
        let are_lines = matches!(&self.plan.input.format,
            InputFormat::Fixed(format) if **format == Format::Lines);
        let is_wide =
            |why: &SeenTrouble| matches!(why, SeenTrouble::Refused(why) if why.is_wide_text());
        match refusal(&bytes[..bytes.len().min(HEAD)], self.rules.context.separator) {
            Some(why) if !(are_lines && is_wide(&why)) => return Err(why),
            _ => {}
        }
        // Elsewhere the mark is a part of the first URL, as it is of an input.
        if self.plan.normalizer.profile().rules().grammar == Grammar::Repaired {
            chunk.skip(mark);
        }
        Ok(())
    }
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
