//! Sets from before the run, whose URLs do not come out again.
//!
//! They are read before the inputs, on all cores, into shards of their own: a URL that is in them is
//! told apart from one that the run itself has met. What of them does not fit into memory goes to the
//! partitions of what is spilled, ahead of all records, and then nothing is known to be new before
//! its partition is settled.
//!
//! A saved set holds keys, which are taken as they stand if its rules are those of the run. Any other
//! file is a list of URLs, perhaps behind counts and tabs, and goes through the normalizer.

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use super::batches::CHUNKS;
use super::insert::{End, insert};
use super::job::Setup;
use super::memory::{Memory, Spilling};
use super::overflow::{self, Overflow};
use super::report::{RunError, SeenError};
use super::sheet::{Rules, Sheet};
use crate::dedup::{Counting, Key, SORT_MEMORY, SetFull, Shard};
use crate::input::{
    self, Chunk, Cutting, Data, Input, InputError, OpenFile, Origin, Piece, Trouble,
};
use crate::key;
use crate::output::{Parsed, Secrets, SetHeader};
use crate::profile::Profile;
use crate::record::{Context, Format, Separator};
use crate::spill::SpillError;
use crate::url::Normalizer;

/// Longest key of a saved set: more than the longest URL becomes in any canonical form.
const LONGEST_KEY: usize = 1 << 29;

/// What was read.
pub(super) struct Seen {
    pub(super) shards: Vec<Shard>,
    /// Where the rest went, if there was one.
    pub(super) overflow: Option<Overflow>,
    pub(super) doubts: Vec<Doubt>,
}

/// What is doubtful about a list of what was seen.
#[derive(Debug, Clone)]
pub struct Doubt {
    /// Its name.
    pub path: PathBuf,
    /// Its lines, without blank ones.
    pub lines: u64,
    /// Those that are no URLs.
    pub rejected: u64,
    /// Those that hold a tab.
    pub tabbed: u64,
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Saved,
    List,
    /// A list with counts before its URLs.
    Counted,
}

struct Loader<'a> {
    setup: &'a Setup<'a>,
    header: &'a SetHeader,
    /// Memory that each key takes at the end, where all of them are saved.
    sorting: usize,
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
    key: &Key,
    shards: usize,
    header: &SetHeader,
    saving: bool,
) -> Result<Seen, RunError> {
    let string = Normalizer::new(&Profile::STRING).with_backend(setup.normalizer.backend());
    let rules = |normalizer, context, written| Rules {
        normalizer,
        context,
        key: key.clone(),
        wanted: None,
        secrets: Secrets::Masked,
        written,
        columns: None,
        split: None,
        shards,
        decoded: false,
        count_rules: false,
        observes: false,
        versus: None,
    };
    let of_keys = Context { max_url: LONGEST_KEY, max_record: LONGEST_KEY, ..Context::default() };
    let mut loader = Loader {
        setup,
        header,
        sorting: if saving { size_of::<u64>() + SORT_MEMORY } else { 0 },
        list: rules(&setup.normalizer, context.clone(), setup.key),
        saved: rules(&string, of_keys, key::Key::Url),
        seen: Seen {
            shards: (0..shards).map(|_| Shard::new(Counting::Off)).collect(),
            overflow: None,
            doubts: Vec::new(),
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
        let refused = |why| RunError::Seen(SeenError { path: input.path.clone(), why });
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
        let (mut lines, mut rejected, mut tabbed) = (0, 0, 0);
        let mut over = false;
        while !over {
            let mut sheets = Vec::new();
            let mut next = pieces.recv().ok();
            while let Some(piece) = next {
                match piece {
                    Piece::Chunk(mut chunk, _) => {
                        if kind.is_none() {
                            kind = Some(self.begin(&mut chunk, separator).map_err(&refused)?);
                        }
                        let mut sheet = self.spare.pop().unwrap_or_default();
                        sheet.clear();
                        sheet.text.chunk = Some(chunk);
                        sheets.push(sheet);
                    }
                    // The format is known.
                    Piece::Guess(_) => {}
                    Piece::End { .. } => over = true,
                    Piece::Error(at, trouble) => {
                        let changed = file.as_ref().and_then(|file| file.verify().err());
                        let error = || InputError::new(&input.path, Some(at), trouble);
                        return Err(RunError::Input(changed.unwrap_or_else(error)));
                    }
                }
                let room = sheets.len() < self.setup.threads * CHUNKS && !over;
                next = if room { pieces.try_recv().ok() } else { None };
            }
            if sheets.is_empty() && !over {
                let error = io::Error::other("the reading thread ended early");
                return Err(RunError::Input(InputError::new(
                    &input.path,
                    None,
                    Trouble::Io(error),
                )));
            }
            self.take(&mut sheets, kind.unwrap_or(Kind::List))?;
            for sheet in &sheets {
                lines += sheet.tally.records - sheet.tally.blank;
                rejected += sheet.tally.rejected;
                tabbed += sheet.tabbed;
            }
            self.spare.append(&mut sheets);
        }
        if let Some(file) = &file {
            file.verify().map_err(RunError::Input)?;
        }
        match kind {
            Some(Kind::Saved) if rejected > 0 => {
                Err(refused(format!("{rejected} of its {lines} keys are longer than any")))
            }
            Some(Kind::Saved) | None => Ok(()),
            Some(_) if rejected == lines && lines > 0 => Err(refused(format!(
                "none of its {lines} lines is a URL under {}; a set of keys is kept with \
                 --save-seen",
                self.setup.normalizer.description()
            ))),
            Some(_) => {
                if rejected > 0 || tabbed > 0 {
                    let path = input.path.clone();
                    self.seen.doubts.push(Doubt { path, lines, rejected, tabbed });
                }
                Ok(())
            }
        }
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
    ) -> Result<Receiver<Piece>, RunError> {
        let origin = match file {
            Some(file) => Origin::File(Arc::clone(file)),
            None => Origin::Pipe(Box::new(input.open_stream().map_err(RunError::Input)?)),
        };
        let cutting = Cutting {
            format: Some(Arc::new(Format::Lines)),
            name: String::new(),
            chunk_size: self.setup.chunk_size.max(1),
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

    /// Looks at the first chunk of a file for what that is, and takes away what is no line of it.
    fn begin(&self, chunk: &mut Chunk, separator: Separator) -> Result<Kind, String> {
        if chunk.bytes().starts_with(b"\xEF\xBB\xBF") {
            chunk.skip(3);
        }
        let bytes = chunk.bytes();
        let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |feed| feed + 1);
        match SetHeader::parse(&bytes[..end]) {
            Parsed::Header(_) if separator == Separator::Nul => {
                Err("a saved set is read from a file under -0, and not from a pipe".into())
            }
            Parsed::Header(header) => match header.difference(self.header, "this run") {
                None => {
                    chunk.skip(end);
                    Ok(Kind::Saved)
                }
                Some(difference) => Err(difference),
            },
            Parsed::Unreadable(why) => Err(why),
            Parsed::NoHeader if after_count(bytes).is_some() => Ok(Kind::Counted),
            Parsed::NoHeader => Ok(Kind::List),
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
                    if kind == Kind::Counted {
                        drop_counts(sheet, rules.context.separator);
                    }
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
            Some(error) => Err(RunError::Spill(error)),
            None => Ok(()),
        }
    }

    /// Whether these sheets are more than fits beside what is there.
    fn is_over_budget(&self, sheets: &[Sheet]) -> bool {
        let Some(memory) = &self.setup.memory else { return false };
        let mut more = vec![0; self.seen.shards.len()];
        for sheet in sheets {
            let mut start = 0;
            for (more, end) in more.iter_mut().zip(&sheet.ends) {
                *more += end - start;
                start = *end;
            }
        }
        let shards = self.seen.shards.iter().zip(&more);
        let of_shard = |(shard, more): (&Shard, &usize)| {
            shard.memory(*more) + self.sorting * (shard.len() + more)
        };
        let set: usize = shards.map(of_shard).sum();
        let text: usize = sheets.iter().map(Sheet::canonical_bytes).sum();
        let buffers: usize = sheets.iter().chain(&self.spare).map(Sheet::memory).sum();
        let held = set + text + buffers + overflow::buffers(memory.size(), self.setup.threads);
        (held + held / 8) as u64 > memory.budget
    }

    fn begin_to_spill(&mut self) -> Result<(), RunError> {
        let Some(memory) = &self.setup.memory else { return Ok(()) };
        let overflow = Overflow::create(&memory.directory, memory.size(), self.setup.threads)?;
        let free = super::memory::free_space(&memory.directory);
        (memory.tell)(&Spilling { directory: &memory.directory, needed: None, free });
        self.seen.overflow = Some(overflow);
        Ok(())
    }
}

/// What stands behind a count and a tab at the start of a line.
fn after_count(line: &[u8]) -> Option<&[u8]> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    line[digits..].strip_prefix(b"\t").filter(|_| digits > 0)
}

/// Takes the counts out of a chunk of `--count`.
fn drop_counts(sheet: &mut Sheet, separator: Separator) {
    let Some(chunk) = &sheet.text.chunk else { return };
    let mut urls = Vec::with_capacity(chunk.bytes().len());
    for line in chunk.bytes().split_inclusive(|byte| *byte == separator.byte()) {
        urls.extend_from_slice(after_count(line).unwrap_or(line));
    }
    let data = Data::Shared(urls.into());
    sheet.text.chunk = Some(Chunk { data, offset: chunk.offset, frames: Vec::new() });
}

#[cfg(test)]
mod tests {
    use super::after_count;

    #[test]
    fn a_count_is_digits_and_a_tab() {
        for (line, rest) in [
            (&b"12\thttp://h/"[..], Some(&b"http://h/"[..])),
            (b"0\t", Some(b"")),
            (b"\thttp://h/", None),
            (b"12 http://h/", None),
            (b"http://h/\t1", None),
            (b"", None),
        ] {
            assert_eq!(after_count(line), rest, "{}", line.escape_ascii());
        }
    }
}
