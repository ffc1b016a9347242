//! One chunk on its way through the stages.

mod format;
mod observe;

use std::sync::Arc;

use super::audit::Originals;
use super::differences::{Differences, Versus};
use super::split::Split;
use super::wanted::Wanted;
#[cfg(feature = "tables")]
use crate::dedup::Shard;
use crate::dedup::{Entry, Hash, Key, Survivor};
use crate::input::{Block, Chunk, Cut, Data};
use crate::key;
use crate::output::{Layout, Observed, Secrets, Tally};
use crate::profile::Grammar;
use crate::record::{self, Context, Found, Place, Record, Records, Separator, Span};
use crate::room::{self, NoRoom};
use crate::url::{Code, Normalizer, Reject};

/// What a chunk is made into, and the buffers for it. Reused from chunk to chunk.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Sheet {
    /// Number of the input.
    pub(in crate::pipeline) input: usize,
    pub(in crate::pipeline) text: Text,
    /// One entry for each record, in order: its canonical URL, or the key of that.
    urls: Vec<Url>,
    /// The canonical URLs, where `urls` holds their keys and they are still needed.
    canonical: Vec<Url>,
    /// The rejected ones among them, in order.
    rejected: Vec<Rejected>,
    /// Canonical URLs by shard, in order within each.
    pub(in crate::pipeline) entries: Vec<Entry>,
    /// Where the entries of each shard end.
    pub(in crate::pipeline) ends: Vec<usize>,
    pub(in crate::pipeline) tally: Tally,
    /// Request targets that no host was known for.
    pub(in crate::pipeline) hostless: u64,
    /// URLs that another profile reads differently.
    pub(in crate::pipeline) differences: Differences,
    /// Lines of a list, and those of them that hold a tab.
    pub(in crate::pipeline) listed: u64,
    pub(in crate::pipeline) tabbed: u64,
    /// A line that was left out since it was being written.
    pub(in crate::pipeline) cut: Option<Cut>,
    /// Records of the same input, and of the whole run, before this chunk.
    pub(in crate::pipeline) before: Before,
    /// What the chunk adds to the output, and to the list of rejected records.
    pub(in crate::pipeline) out: Vec<u8>,
    pub(in crate::pipeline) rejects: Vec<u8>,
    /// Where the new URLs of the chunk are in the set, in order: shard and place.
    pub(in crate::pipeline) new: Vec<u64>,
    /// A line about each of them, where lines hold more than the key.
    pub(in crate::pipeline) lines_of_new: Vec<u8>,
    /// Where in its shard each entry is, or 0 where the set does not hold it; empty where nobody asks.
    pub(in crate::pipeline) places: Vec<u32>,
    /// What may be written of the URLs that the set holds.
    pub(in crate::pipeline) candidates: Candidates,
    /// The format as it stands at the start of the chunk, where columns are taken out of its records.
    pub(in crate::pipeline) format: Option<Arc<record::Format>>,
    /// Whether the set took no more URLs when the chunk's came to it.
    pub(in crate::pipeline) spills: bool,
    /// The URLs that the set did not hold then, by partition, as entries.
    pub(in crate::pipeline) spilled: Vec<Vec<u8>>,
    /// What a page shows of the chunk, where there is to be one.
    pub(in crate::pipeline) observed: Option<Box<Observed>>,
    /// The decoded path of each canonical URL, in order, where it is asked for.
    decoded: Decoded,
    scratch: Scratch,
}

/// Paths one behind the other, and where each ends.
#[derive(Debug, Default)]
struct Decoded {
    paths: Vec<u8>,
    ends: Vec<usize>,
}

/// A line of each record whose URL the set holds, with what it is compared by.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Candidates {
    bytes: Vec<u8>,
    /// Shard and place of the URL, and where the candidate ends; in the order of the records.
    ends: Vec<(u64, usize)>,
}

impl Candidates {
    pub(in crate::pipeline) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts.zip(&self.ends).map(|(start, (place, end))| (*place, &self.bytes[start..*end]))
    }
}

/// How many records came before.
#[derive(Debug, Default, Clone, Copy)]
pub(in crate::pipeline) struct Before {
    pub(in crate::pipeline) in_input: u64,
    pub(in crate::pipeline) in_run: u64,
}

/// The three places that a URL's bytes can be in.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Text {
    pub(in crate::pipeline) chunk: Option<Chunk>,
    records: Records,
    rewritten: Vec<u8>,
}

#[derive(Debug, Default)]
struct Scratch {
    lines: Vec<Span>,
    clean: Vec<u64>,
    hashes: Vec<Hash>,
    key: Vec<u8>,
    by_sequence: Vec<u64>,
}

/// Where a canonical URL is: two bits say in which buffer, thirty where.
#[derive(Debug, Clone, Copy)]
struct Url {
    at: u32,
    len: u32,
}

const IN_CHUNK: u32 = 0;
const IN_SIDE: u32 = 1;
const IN_REWRITTEN: u32 = 2;
const NOWHERE: u32 = 3;
const PLACE_SHIFT: u32 = 30;

impl Url {
    const BLANK: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 0 };
    const REJECTED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 1 };
    /// Not wanted by what its record says.
    const FILTERED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 2 };
    /// Not wanted by what it is in canonical form.
    const UNWANTED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 3 };

    #[inline]
    fn new(place: u32, start: usize, len: usize) -> Self {
        // A chunk is a range of a file and one record at most, and those are limited.
        debug_assert!(start >> PLACE_SHIFT == 0);
        Self { at: place << PLACE_SHIFT | start as u32, len: len as u32 }
    }

    #[inline]
    fn is_blank(self) -> bool {
        self.at == Self::BLANK.at && self.len == Self::BLANK.len
    }

    #[inline]
    fn is_rejected(self) -> bool {
        self.at == Self::REJECTED.at && self.len == Self::REJECTED.len
    }

    #[inline]
    fn is_canonical(self) -> bool {
        self.at >> PLACE_SHIFT != NOWHERE
    }
}

/// What the bytes that were found are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::pipeline) enum Kind {
    /// A URL, or in a list whatever stands there.
    Url,
    /// A request target whose host is not known.
    Target,
}

/// A rejected record.
#[derive(Debug, Clone, Copy)]
struct Rejected {
    /// Number among the records of the chunk.
    sequence: u32,
    line: Span,
    place: Place,
    /// The URL as it was read, or the whole record where none was found in it.
    raw: Span,
    /// Why, and where in the URL.
    reject: Reject,
}

/// What every stage needs to know.
pub(in crate::pipeline) struct Rules<'a> {
    pub(in crate::pipeline) normalizer: &'a Normalizer,
    pub(in crate::pipeline) context: Context,
    pub(in crate::pipeline) key: Key,
    /// Which canonical URLs to keep, if not all.
    pub(in crate::pipeline) wanted: Option<&'a Wanted>,
    pub(in crate::pipeline) secrets: Secrets,
    /// What is made of each canonical URL.
    pub(in crate::pipeline) written: key::Key,
    /// What a line of a set holds, where that is not the key.
    pub(in crate::pipeline) columns: Option<Columns<'a>>,
    /// How lines are divided, if they are.
    pub(in crate::pipeline) split: Option<Split>,
    /// Shards of the set; 0 where there is none.
    pub(in crate::pipeline) shards: usize,
    /// Whether the decoded path of each URL is wanted beside it.
    pub(in crate::pipeline) decoded: bool,
    /// Whether the rules that act are counted.
    pub(in crate::pipeline) count_rules: bool,
    /// Whether there is to be a page about the run.
    pub(in crate::pipeline) observes: bool,
    /// The profile that each URL is compared under.
    pub(in crate::pipeline) versus: Option<Versus<'a>>,
}

impl Rules<'_> {
    /// The record that a line is about.
    pub(in crate::pipeline) fn survivor(&self) -> Survivor {
        self.columns.map_or(Survivor::First, |columns| columns.survivor)
    }
}

/// What a line of a set holds besides its key.
#[derive(Debug, Clone, Copy)]
pub(in crate::pipeline) struct Columns<'a> {
    pub(in crate::pipeline) layout: Layout<'a>,
    /// What is taken out of records: [`Layout::carry`], and what they are compared by.
    pub(in crate::pipeline) taken_out: &'a [String],
    /// The record that a line is about.
    pub(in crate::pipeline) survivor: Survivor,
    pub(in crate::pipeline) secrets: Secrets,
}

impl Text {
    fn chunk(&self) -> &[u8] {
        self.chunk.as_ref().map_or(&[], Chunk::bytes)
    }

    #[inline]
    fn get(&self, url: Url) -> &[u8] {
        let start = (url.at & ((1 << PLACE_SHIFT) - 1)) as usize;
        let buffer = match url.at >> PLACE_SHIFT {
            IN_CHUNK => self.chunk(),
            IN_SIDE => &self.records.side,
            IN_REWRITTEN => &self.rewritten,
            _ => return &[],
        };
        &buffer[start..start + url.len as usize]
    }

    /// The bytes of an entry.
    #[inline]
    pub(in crate::pipeline) fn entry(&self, entry: &Entry) -> &[u8] {
        self.get(Url { at: entry.start, len: entry.len })
    }
}

impl Decoded {
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.paths[start..*end])
    }
}

/// Room for entries in all partitions of a chunk that is worth no thought.
const SMALL_PARTITIONS: usize = 64 << 10;

/// Longest excerpt of a record that was too long to be read.
const TOO_LONG_EXCERPT: usize = 1024;

impl Sheet {
    /// A buffer to read a chunk into.
    pub(in crate::pipeline) fn take_block(&mut self) -> Block {
        match self.text.chunk.take() {
            Some(Chunk { data: Data::Block(block), .. }) => block,
            _ => Block::default(),
        }
    }

    /// Makes the sheet ready for another chunk.
    pub(in crate::pipeline) fn clear(&mut self) {
        self.text.records.clear();
        self.text.rewritten.clear();
        self.urls.clear();
        self.canonical.clear();
        self.rejected.clear();
        self.entries.clear();
        self.ends.clear();
        self.tally = Tally::default();
        self.hostless = 0;
        self.differences = Differences::default();
        self.listed = 0;
        self.tabbed = 0;
        self.cut = None;
        self.observed = None;
        self.out.clear();
        self.rejects.clear();
        self.new.clear();
        self.lines_of_new.clear();
        self.places.clear();
        self.candidates.bytes.clear();
        self.candidates.ends.clear();
        self.format = None;
        self.spills = false;
        self.clear_spilled();
        self.decoded.paths.clear();
        self.decoded.ends.clear();
    }

    /// Clears the partitions. Where lines are long, each has come to have room for a few, and all of them
    /// for many more than a chunk has.
    fn clear_spilled(&mut self) {
        let sum = |size: fn(&Vec<u8>) -> usize| self.spilled.iter().map(size).sum::<usize>();
        if sum(Vec::capacity) > 4 * sum(Vec::len) + SMALL_PARTITIONS {
            self.spilled = Vec::new();
        }
        self.spilled.iter_mut().for_each(Vec::clear);
    }

    /// Stage *read*, after the bytes are there: records, canonical forms, and entries by shard.
    pub(in crate::pipeline) fn digest(
        &mut self,
        format: &record::Format,
        rules: &Rules<'_>,
    ) -> Result<(), NoRoom> {
        match format {
            record::Format::Lines => self.lines(rules)?,
            #[cfg(feature = "tables")]
            record::Format::Table(table) if table.is_list() && self.has_no_repeats() => {
                self.cells(rules)?;
            }
            format => self.records(format, rules)?,
        }
        if let Some(wanted) = rules.wanted {
            self.choose(wanted);
        }
        #[cfg(feature = "tables")]
        self.count_alike(rules);
        if rules.written != key::Key::Url {
            self.make_keys(rules)?;
        }
        if rules.shards > 0 {
            self.partition(rules)?;
        }
        Ok(())
    }

    /// A list: the lines in bulk, then the clean ones in bulk, then the others one by one.
    fn lines(&mut self, rules: &Rules<'_>) -> Result<(), NoRoom> {
        let Some(chunk) = &self.text.chunk else { return Ok(()) };
        let lines = &mut self.scratch.lines;
        lines.clear();
        match rules.context.separator {
            Separator::LineFeed => rules.normalizer.kernel().lines(chunk.bytes(), lines),
            Separator::Nul => ended_by_nul(chunk.bytes(), lines),
        }
        self.spans(rules)?;
        self.listed = self.tally.records;
        Ok(())
    }

    /// The rows of a table that are URLs and nothing else: as the lines of a list.
    #[cfg(feature = "tables")]
    fn cells(&mut self, rules: &Rules<'_>) -> Result<(), NoRoom> {
        let rows = self.text.chunk.as_ref().and_then(Chunk::rows);
        let cells = rows.map_or(&[][..], |rows| &rows.cells);
        let lines = &mut self.scratch.lines;
        lines.clear();
        room::reserve(lines, cells.len())?;
        let blank = |cell: &Span| if *cell == record::NULL { Span::default() } else { *cell };
        lines.extend(cells.iter().map(blank));
        self.spans(rules)?;
        // Columns are told apart otherwise.
        self.tabbed = 0;
        Ok(())
    }

    /// What stands in [`Scratch::lines`].
    fn spans(&mut self, rules: &Rules<'_>) -> Result<(), NoRoom> {
        let normalizer = rules.normalizer;
        let mut scratch = std::mem::take(&mut self.scratch);
        let Some(chunk) = self.text.chunk.take() else { return Ok(()) };
        let bytes = chunk.bytes();
        scratch.clean.clear();
        normalizer.clean(bytes, &scratch.lines, &mut scratch.clean);
        room::reserve(&mut self.urls, scratch.lines.len())?;
        // Only where all bytes are clean is a tab.
        let any_tab = normalizer.profile().grammar == Grammar::Ignored
            && memchr::memchr(b'\t', bytes).is_some();
        for (group, clean) in scratch.lines.chunks(64).zip(&scratch.clean) {
            for (i, line) in group.iter().enumerate() {
                if clean >> i & 1 == 1 && line.len() <= rules.context.max_url {
                    self.tabbed += u64::from(any_tab && line.of(bytes).contains(&b'\t'));
                    self.urls.push(Url::new(IN_CHUNK, line.start as usize, line.len()));
                    self.decode(line.of(bytes), Kind::Url, rules)?;
                } else {
                    self.line(bytes, *line, rules)?;
                }
            }
        }
        let records = self.urls.len() as u64;
        self.tally.records = records;
        self.tally.canonical = records - self.tally.rejected - self.tally.blank;
        self.text.chunk = Some(chunk);
        self.scratch = scratch;
        Ok(())
    }

    /// A line that is not known to be clean.
    fn line(&mut self, bytes: &[u8], line: Span, rules: &Rules<'_>) -> Result<(), NoRoom> {
        let url = line.of(bytes);
        if url.len() > rules.context.max_url {
            let reject = Reject::new(Code::TooLong, rules.context.max_url);
            self.reject(line, Place::Chunk, line, reject);
        } else if url.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            self.tally.blank += 1;
            self.urls.push(Url::BLANK);
        } else {
            let start = self.text.rewritten.len();
            self.make_room_for(url)?;
            let range = line.start as usize..line.end as usize;
            let result = rules.normalizer.rewrite_in(bytes, range, &mut self.text.rewritten);
            self.hostless += u64::from(rules.normalizer.is_hostless(url));
            self.tabbed += u64::from(url.contains(&b'\t'));
            if result.is_ok() {
                self.decode(url, Kind::Url, rules)?;
                self.count_rules(url, Kind::Url, start, rules);
            }
            self.rewritten(result, start, line, Place::Chunk, line, 0);
        }
        Ok(())
    }

    /// Room for what may become of a URL: no rule makes it more than five times as long.
    #[inline]
    fn make_room_for(&mut self, url: &[u8]) -> Result<(), NoRoom> {
        room::reserve(&mut self.text.rewritten, 5 * url.len() + 64)
    }

    /// Any other format.
    fn records(&mut self, format: &record::Format, rules: &Rules<'_>) -> Result<(), NoRoom> {
        self.scratch.lines.clear();
        let Some(chunk) = self.text.chunk.take() else { return Ok(()) };
        let mut records = std::mem::take(&mut self.text.records);
        match format {
            record::Format::Archive(archive) => {
                archive.read(&rules.context, chunk.bytes(), &chunk.frames, &mut records);
            }
            #[cfg(feature = "tables")]
            record::Format::Table(table) => {
                if let Some(rows) = chunk.rows() {
                    table.read(&rules.context, chunk.bytes(), rows, &mut records);
                }
            }
            format => format.read(&rules.context, chunk.bytes(), &mut records),
        }
        room::reserve(&mut self.urls, records.records.len())?;
        for (row, record) in records.records.iter().enumerate() {
            if let Some(url) = self.repeated(&chunk, row, *record, rules) {
                self.urls.push(url);
            } else {
                self.record(chunk.bytes(), &records.side, *record, rules)?;
            }
        }
        let records_found = self.urls.len() as u64;
        self.tally.records = records_found;
        self.tally.canonical =
            records_found - self.tally.rejected - self.tally.blank - self.tally.filtered;
        self.text.chunk = Some(chunk);
        self.text.records = records;
        Ok(())
    }

    /// Whether no row of a table is known to hold the same as one before it.
    #[cfg(feature = "tables")]
    fn has_no_repeats(&self) -> bool {
        let rows = self.text.chunk.as_ref().and_then(Chunk::rows);
        rows.is_some_and(|rows| rows.first.is_empty())
    }

    /// Counts the rows that a row of a table stands for, besides itself.
    #[cfg(feature = "tables")]
    fn count_alike(&mut self, rules: &Rules<'_>) {
        let Some(chunk) = &self.text.chunk else { return };
        let mut rejected = self.rejected.iter();
        for ((times, url), cell) in chunk.times().iter().zip(&self.urls).zip(&self.scratch.lines) {
            let more = u64::from(*times) - 1;
            let codes = match url.is_rejected() {
                true => rejected.next().map(|rejected| rejected.reject.codes),
                false => None,
            };
            match codes {
                Some(codes) => {
                    self.tally.reject_again(codes, more);
                    continue;
                }
                None if url.is_canonical() => self.tally.canonical += more,
                None if url.is_blank() => self.tally.blank += more,
                None => self.tally.filtered += more,
            }
            self.tally.records += more;
            if url.at >> PLACE_SHIFT != IN_CHUNK {
                let hostless = rules.normalizer.is_hostless(cell.of(chunk.bytes()));
                self.hostless += more * u64::from(hostless);
            }
        }
    }

    /// Adds the counts of these rows to those of the URLs that the set holds, where each counts as one.
    #[cfg(feature = "tables")]
    pub(in crate::pipeline) fn add_counts(&self, shards: &mut [Shard]) {
        let Some(chunk) = self.text.chunk.as_ref().filter(|chunk| !chunk.times().is_empty()) else {
            return;
        };
        for (number, shard) in shards.iter_mut().enumerate() {
            for entry in self.entries_of(number) {
                let more = u64::from(chunk.times()[entry.sequence as usize]) - 1;
                let is_spilled = self.spills && entry.new_place().is_some();
                if more > 0 && !is_spilled {
                    shard.count_more(entry.hash, self.text.entry(entry), more);
                }
            }
        }
    }

    /// What was made of an earlier row with the same cell, where nothing else is wanted of this one.
    #[inline]
    fn repeated(
        &self,
        chunk: &Chunk,
        row: usize,
        record: Record,
        rules: &Rules<'_>,
    ) -> Option<Url> {
        let earlier = chunk.earlier(row)?;
        let is_url = matches!(record.found, Found::Url(..));
        let url = self.urls[earlier];
        (is_url && url.is_canonical() && !rules.decoded && !rules.count_rules).then_some(url)
    }

    fn record(
        &mut self,
        chunk: &[u8],
        side: &[u8],
        record: Record,
        rules: &Rules<'_>,
    ) -> Result<(), NoRoom> {
        let normalizer = rules.normalizer;
        let (place, span, prefix) = match record.found {
            Found::Blank => {
                self.tally.blank += 1;
                self.urls.push(Url::BLANK);
                return Ok(());
            }
            Found::Skipped => {
                self.tally.skipped += 1;
                return Ok(());
            }
            Found::Filtered => {
                self.tally.filtered += 1;
                self.urls.push(Url::FILTERED);
                return Ok(());
            }
            Found::Reject(code, at) => {
                let reject = Reject::new(code, at as usize);
                self.reject(record.line, Place::Chunk, record.line, reject);
                return Ok(());
            }
            Found::Url(place, span) | Found::Target(place, span) => (place, span, 0),
            Found::Joined { url, prefix } => (Place::Side, url, prefix),
        };
        let (buffer, tag) = match place {
            Place::Chunk => (chunk, IN_CHUNK),
            Place::Side => (side, IN_SIDE),
        };
        let url = span.of(buffer);
        let kind = match record.found {
            Found::Target(..) => Kind::Target,
            _ => Kind::Url,
        };
        let clean = if kind == Kind::Target {
            self.hostless += 1;
            normalizer.is_clean_target(url)
        } else {
            normalizer.is_clean(url)
        };
        if clean {
            self.decode(url, kind, rules)?;
            self.urls.push(Url::new(tag, span.start as usize, span.len()));
            return Ok(());
        }
        let start = self.text.rewritten.len();
        self.make_room_for(url)?;
        let result = if kind == Kind::Target {
            normalizer.rewrite_target(url, &mut self.text.rewritten)
        } else {
            normalizer.rewrite(url, &mut self.text.rewritten)
        };
        if result.is_ok() {
            self.decode(url, kind, rules)?;
            self.count_rules(url, kind, start, rules);
        }
        self.rewritten(result, start, record.line, place, span, prefix);
        Ok(())
    }

    /// Keeps the decoded path of a URL that has a canonical form, where that is wanted.
    fn decode(&mut self, url: &[u8], kind: Kind, rules: &Rules<'_>) -> Result<(), NoRoom> {
        if rules.decoded {
            let paths = &mut self.decoded.paths;
            room::reserve(paths, 3 * url.len() + 64)?;
            let _canonical = match kind {
                Kind::Url => rules.normalizer.decoded(url, paths),
                Kind::Target => rules.normalizer.decoded_target(url, paths),
            };
            self.decoded.ends.push(paths.len());
        }
        Ok(())
    }

    /// Counts the rules that made what was rewritten from `start` on of a URL, where that is wanted.
    fn count_rules(&mut self, url: &[u8], kind: Kind, start: usize, rules: &Rules<'_>) {
        if rules.count_rules && self.text.rewritten[start..] != *url {
            match kind {
                Kind::Url => rules.normalizer.count_rules(url, &mut self.tally.by_rule),
                Kind::Target => {
                    rules.normalizer.count_rules_of_target(url, &mut self.tally.by_rule);
                }
            }
        }
    }

    /// Takes what the exact normalizer made of a URL.
    fn rewritten(
        &mut self,
        result: Result<(), Reject>,
        start: usize,
        line: Span,
        place: Place,
        raw: Span,
        prefix: u32,
    ) {
        match result {
            Ok(()) => {
                let len = self.text.rewritten.len() - start;
                self.urls.push(Url::new(IN_REWRITTEN, start, len));
            }
            Err(reject) => {
                self.text.rewritten.truncate(start);
                let reject = reject.moved(|at| at.saturating_sub(prefix as usize));
                let raw = Span { start: raw.start + prefix.min(raw.len() as u32), end: raw.end };
                self.reject(line, place, raw, reject);
            }
        }
    }

    fn reject(&mut self, line: Span, place: Place, raw: Span, reject: Reject) {
        self.tally.reject(reject.codes);
        let sequence = self.urls.len() as u32;
        self.rejected.push(Rejected { sequence, line, place, raw, reject });
        self.urls.push(Url::REJECTED);
    }

    /// Drops the canonical URLs that are not wanted.
    fn choose(&mut self, wanted: &Wanted) {
        for url in self.urls.iter_mut().filter(|url| url.is_canonical()) {
            if !wanted.keeps(self.text.get(*url)) {
                *url = Url::UNWANTED;
                self.tally.filtered += 1;
                self.tally.canonical -= 1;
            }
        }
    }

    /// Puts the keys of the canonical URLs in their place.
    fn make_keys(&mut self, rules: &Rules<'_>) -> Result<(), NoRoom> {
        if rules.columns.is_some() || rules.observes {
            room::reserve(&mut self.canonical, self.urls.len())?;
            self.canonical.extend_from_slice(&self.urls);
        }
        let key = &mut self.scratch.key;
        for url in self.urls.iter_mut().filter(|url| url.is_canonical()) {
            key.clear();
            rules.written.append_bytes(self.text.get(*url), key);
            let start = self.text.rewritten.len();
            room::reserve(&mut self.text.rewritten, key.len())?;
            self.text.rewritten.extend_from_slice(key);
            *url = Url::new(IN_REWRITTEN, start, key.len());
        }
        Ok(())
    }

    /// Hashes the canonical URLs and sorts them by shard, keeping their order within one.
    fn partition(&mut self, rules: &Rules<'_>) -> Result<(), NoRoom> {
        let hashes = &mut self.scratch.hashes;
        hashes.clear();
        room::reserve(hashes, self.urls.len())?;
        room::reserve(&mut self.ends, rules.shards)?;
        self.ends.resize(rules.shards, 0);
        for url in &self.urls {
            let hash = rules.key.hash(self.text.get(*url));
            hashes.push(hash);
            if url.is_canonical() {
                self.ends[hash.shard(rules.shards)] += 1;
            }
        }
        let mut start = 0;
        for end in &mut self.ends {
            (*end, start) = (start, start + *end);
        }
        let nothing = Entry { hash: Hash::default(), start: 0, len: 0, sequence: 0, new: None };
        room::reserve(&mut self.entries, start)?;
        self.entries.resize(start, nothing);
        for (sequence, (url, hash)) in self.urls.iter().zip(hashes.iter()).enumerate() {
            if url.is_canonical() {
                let next = &mut self.ends[hash.shard(rules.shards)];
                self.entries[*next] = Entry {
                    hash: *hash,
                    start: url.at,
                    len: url.len,
                    sequence: sequence as u32,
                    new: None,
                };
                *next += 1;
            }
        }
        if rules.survivor() != Survivor::First {
            room::reserve(&mut self.places, self.entries.len())?;
            self.places.resize(self.entries.len(), 0);
        }
        Ok(())
    }

    /// The entries of a shard.
    pub(in crate::pipeline) fn entries_of(&self, shard: usize) -> &[Entry] {
        let start = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[shard]]
    }

    /// Bytes of memory that the buffers take.
    pub(in crate::pipeline) fn memory(&self) -> usize {
        let text = &self.text;
        let bytes = [&text.rewritten, &text.records.side, &self.out, &self.rejects]
            .map(Vec::capacity)
            .iter()
            .sum::<usize>();
        let chunk = text.chunk.as_ref().map_or(0, Chunk::memory);
        let spilled: usize = self.spilled.iter().map(Vec::capacity).sum();
        let numbers = self.scratch.by_sequence.capacity() + self.new.capacity();
        let each = (self.urls.capacity() + self.canonical.capacity()) * size_of::<Url>()
            + text.records.records.capacity() * size_of::<Record>()
            + self.scratch.lines.capacity() * size_of::<Span>()
            + self.scratch.hashes.capacity() * size_of::<Hash>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.rejected.capacity() * size_of::<Rejected>()
            + self.places.capacity() * size_of::<u32>()
            + self.candidates.bytes.capacity()
            + self.candidates.ends.capacity() * size_of::<(u64, usize)>();
        bytes + chunk + spilled + self.lines_of_new.capacity() + numbers * size_of::<u64>() + each
    }

    /// More bytes than the canonical URLs of the chunk have.
    pub(in crate::pipeline) fn canonical_bytes(&self) -> usize {
        self.text.chunk().len() + self.text.records.side.len() + self.text.rewritten.len()
    }

    /// Calls `visit` for each record in which a URL was found: its number, its line, the URL as the
    /// normalizer was given it, what that is, and how many bytes a host before it takes.
    fn each_url<'s>(&'s self, mut visit: impl FnMut(usize, Span, &'s [u8], Kind, usize)) {
        let Some(chunk) = &self.text.chunk else { return };
        let records = &self.text.records;
        let buffer = |place| match place {
            Place::Chunk => chunk.bytes(),
            Place::Side => &records.side[..],
        };
        let lines = self.scratch.lines.iter().map(|line| (*line, Found::Url(Place::Chunk, *line)));
        let found = records.records.iter().filter(|record| record.found != Found::Skipped);
        // One of the two is empty: a list has lines, any other format records.
        let found = lines.chain(found.map(|record| (record.line, record.found)));
        for (sequence, (line, found)) in found.enumerate() {
            match found {
                Found::Blank | Found::Skipped | Found::Filtered | Found::Reject(..) => {}
                Found::Url(place, url) => {
                    visit(sequence, line, url.of(buffer(place)), Kind::Url, 0)
                }
                Found::Target(place, url) => {
                    visit(sequence, line, url.of(buffer(place)), Kind::Target, 0);
                }
                Found::Joined { url, prefix } => {
                    let prefix = prefix as usize;
                    visit(sequence, line, url.of(&records.side), Kind::Url, prefix);
                }
            }
        }
    }

    /// Adds the URLs that have a canonical form, as they were read.
    pub(in crate::pipeline) fn list_originals(
        &self,
        normalizer: &Normalizer,
        originals: &mut Originals,
    ) -> Result<(), NoRoom> {
        let mut added = Ok(());
        self.each_url(|sequence, _, url, kind, _| {
            if self.urls[sequence].is_canonical() && added.is_ok() {
                let target = kind == Kind::Target || normalizer.is_hostless(url);
                added = originals.add(url, if target { Kind::Target } else { Kind::Url });
            }
        });
        added
    }

    /// The bytes of a rejected record that are told of: of one that was not read its start.
    fn raw(&self, reject: &Rejected) -> &[u8] {
        let buffer = match reject.place {
            Place::Chunk => self.text.chunk(),
            Place::Side => &self.text.records.side,
        };
        let raw = reject.raw.of(buffer);
        match reject.reject.code {
            Code::TooLong => &raw[..raw.len().min(TOO_LONG_EXCERPT)],
            _ => raw,
        }
    }

    /// Number in its input and offset of the n-th rejected record, counted from 0.
    pub(in crate::pipeline) fn place_of_rejected(&self, n: usize) -> Option<(u64, u64)> {
        let rejected = self.rejected.get(n)?;
        let chunk = self.text.chunk.as_ref()?;
        let offset = chunk.offset_of(rejected.sequence as usize, rejected.line.start);
        Some((self.before.in_input + u64::from(rejected.sequence) + 1, offset))
    }

    /// Skips a byte-order mark at the start of the input.
    pub(in crate::pipeline) fn skip_mark(&mut self) {
        let Some(chunk) = &mut self.text.chunk else { return };
        if chunk.offset == 0 && chunk.bytes().starts_with(b"\xEF\xBB\xBF") {
            chunk.skip(3);
        }
    }
}

/// Appends a span for each record of `bytes`, the NUL behind it left out; a last one without it counts.
fn ended_by_nul(bytes: &[u8], out: &mut Vec<Span>) {
    let mut start = 0;
    let rest = (!bytes.ends_with(b"\0")).then_some(bytes.len());
    for end in memchr::memchr_iter(0, bytes).chain(rest.filter(|_| !bytes.is_empty())) {
        out.push(Span { start, end: end as u32 });
        start = end as u32 + 1;
    }
}
