//! One chunk on its way through the stages.

mod digest;
mod format;
mod observe;

use std::sync::Arc;

use super::audit::Originals;
use super::differences::{Differences, Versus};
use super::split::Split;
use super::wanted::Wanted;
#[cfg(feature = "tables")]
use crate::dedup::Shard;
use crate::dedup::{Bytes, Entry, Hash, Key, Survivor};
use crate::input::{Block, Chunk, Cut, Data};
use crate::key;
use crate::output::{Layout, Observed, Secrets, Tally};
use crate::record::{self, Context, Found, Place, Records, Span};
use crate::room::NoRoom;
use crate::url::{Code, Normalizer, Reject};

/// What a chunk is made into, and the buffers for it. Reused from chunk to chunk.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Sheet {
    /// Number of the input.
    pub(in crate::pipeline) input: usize,
    pub(in crate::pipeline) text: Text,
    /// Records of the chunk that are on sheets before this one, headers among them.
    pub(in crate::pipeline) from: usize,
    /// The first record of the chunk that is to go on another sheet, if there is more than fits on one.
    pub(in crate::pipeline) rest: Option<usize>,
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
    /// The decoded path of each URL that [has a form](Url::has_form), in order, where it is asked for.
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

/// The same, by the two bits that say in which; nothing is nowhere.
#[derive(Debug, Clone, Copy)]
pub(in crate::pipeline) struct Buffers<'t>([&'t [u8]; 4]);

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

/// Bytes that are put together of the URLs of a chunk before the rest of its records goes on another sheet,
/// both in [`Records::side`] and as canonical forms. That is many times a chunk: only what stands before
/// or in place of many short URLs, as a base, a page's address or the end of redirects, comes to it.
const AT_ONCE: usize = 8 << 20;

// A few records more come to it, and the keys of all that is in the three buffers.
const _: () = assert!(AT_ONCE < 1 << (PLACE_SHIFT - 4));

impl Url {
    const BLANK: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 0 };
    const REJECTED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 1 };
    /// Not wanted by what its record says.
    const FILTERED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 2 };
    /// Not wanted by what it is in canonical form.
    const UNWANTED: Url = Url { at: NOWHERE << PLACE_SHIFT, len: 3 };

    /// An error where thirty bits do not tell the place, which [`AT_ONCE`] sees to.
    #[inline]
    fn new(place: u32, start: usize, len: usize) -> Result<Self, NoRoom> {
        match (u32::try_from(start), u32::try_from(len)) {
            (Ok(start), Ok(len)) if start >> PLACE_SHIFT == 0 => {
                Ok(Self { at: place << PLACE_SHIFT | start, len })
            }
            _ => Err(NoRoom),
        }
    }

    /// A line of a chunk that thirty bits tell each place of.
    #[inline]
    fn in_chunk(line: Span) -> Self {
        Self { at: IN_CHUNK << PLACE_SHIFT | line.start, len: line.len() as u32 }
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

    /// Whether it has a canonical form, wanted or not. Then its path was decoded where that is asked for.
    #[inline]
    fn has_form(self) -> bool {
        self.is_canonical() || self.len == Self::UNWANTED.len
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
    /// [`Normalizer::brought`].
    pub(in crate::pipeline) brought: usize,
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

impl<'a> Rules<'a> {
    /// All URLs, written as they are, and nothing told of them.
    pub(in crate::pipeline) fn plain(
        normalizer: &'a Normalizer,
        context: Context,
        key: Key,
        shards: usize,
    ) -> Self {
        Self {
            normalizer,
            brought: normalizer.brought(),
            context,
            key,
            wanted: None,
            secrets: Secrets::Masked,
            written: key::Key::Url,
            columns: None,
            split: None,
            shards,
            decoded: false,
            count_rules: false,
            observes: false,
            versus: None,
        }
    }

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

    pub(in crate::pipeline) fn buffers(&self) -> Buffers<'_> {
        Buffers([self.chunk(), &self.records.side, &self.rewritten, &[]])
    }

    #[inline]
    fn get(&self, url: Url) -> &[u8] {
        self.buffers().get(url)
    }
}

impl<'t> Buffers<'t> {
    #[inline]
    fn get(&self, url: Url) -> &'t [u8] {
        let start = (url.at & ((1 << PLACE_SHIFT) - 1)) as usize;
        let buffer = self.0[(url.at >> PLACE_SHIFT) as usize];
        // What is nowhere has no bytes, whatever length says why; the place of everything else is ours.
        let bytes = buffer.get(start..start + url.len as usize);
        debug_assert!(bytes.is_some() || !url.is_canonical(), "{url:?}");
        bytes.unwrap_or_default()
    }
}

impl<'t> Bytes<'t> for Buffers<'t> {
    #[inline]
    fn of(&self, entry: &Entry) -> &'t [u8] {
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
        self.from = 0;
        self.rest = None;
        self.text.records.clear();
        self.text.rewritten.clear();
        self.urls.clear();
        self.canonical.clear();
        self.rejected.clear();
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

    /// The chunk once more, and which of its records is to begin another sheet, if there is to be one.
    pub(in crate::pipeline) fn take_rest(&mut self) -> Option<(Chunk, usize)> {
        let from = self.rest.take()?;
        self.text.chunk.as_ref().map(|chunk| chunk.again(from))
    }

    /// The entries of a shard.
    pub(in crate::pipeline) fn entries_of(&self, shard: usize) -> &[Entry] {
        let start = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[shard]]
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
                    shard.count_more(entry.hash, self.text.buffers().of(entry), more);
                }
            }
        }
    }

    /// Bytes of memory that the buffers take.
    pub(in crate::pipeline) fn memory(&self) -> usize {
        // All fields are named, so that no new one is forgotten; what grows with no record is passed over.
        let Self {
            text: Text { chunk, records: Records { records, side, .. }, rewritten },
            urls,
            canonical,
            rejected,
            entries,
            ends,
            out,
            rejects,
            new,
            lines_of_new,
            places,
            candidates,
            spilled,
            observed,
            decoded,
            scratch: Scratch { lines, clean, hashes, key, by_sequence },
            input: _,
            from: _,
            rest: _,
            tally: _,
            hostless: _,
            differences: _,
            listed: _,
            tabbed: _,
            cut: _,
            before: _,
            format: _,
            spills: _,
        } = self;
        let texts =
            [side, rewritten, out, rejects, lines_of_new, &candidates.bytes, &decoded.paths, key];
        let texts = texts.into_iter().chain(spilled).map(bytes).sum::<usize>();
        chunk.as_ref().map_or(0, Chunk::memory)
            + texts
            + bytes(records)
            + bytes(urls)
            + bytes(canonical)
            + bytes(rejected)
            + bytes(entries)
            + bytes(ends)
            + bytes(new)
            + bytes(places)
            + bytes(&candidates.ends)
            + bytes(spilled)
            + observed.as_ref().map_or(0, |observed| observed.memory())
            + bytes(&decoded.ends)
            + bytes(lines)
            + bytes(clean)
            + bytes(hashes)
            + bytes(by_sequence)
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
}

/// Bytes of memory that a vector takes.
fn bytes<T>(vec: &Vec<T>) -> usize {
    vec.capacity() * size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_thirty_bits_do_not_tell_is_none() {
        let last = (1 << PLACE_SHIFT) - 1;
        let url = Url::new(IN_REWRITTEN, last, 7).unwrap();
        assert_eq!(
            (url.at >> PLACE_SHIFT, url.at as usize & last, url.len),
            (IN_REWRITTEN, last, 7)
        );
        assert!(Url::new(IN_CHUNK, last + 1, 7).is_err());
        assert!(Url::new(IN_SIDE, 1 << 32, 7).is_err());
    }

    #[test]
    fn what_only_some_runs_ask_for_counts_as_memory() {
        const MORE: usize = 1000;
        let grown: [fn(&mut Sheet); 6] = [
            |sheet| sheet.decoded.paths.reserve(MORE),
            |sheet| sheet.decoded.ends.reserve(MORE),
            |sheet| sheet.scratch.key.reserve(MORE),
            |sheet| sheet.scratch.clean.reserve(MORE),
            |sheet| sheet.ends.reserve(MORE),
            |sheet| {
                let observed = sheet.observed.get_or_insert_default();
                (0..MORE).for_each(|i| observed.records.add(i.to_string().as_bytes(), 1));
            },
        ];
        for (i, grow) in grown.iter().enumerate() {
            let mut sheet = Sheet::default();
            grow(&mut sheet);
            assert!(sheet.memory() >= MORE, "{i}: {}", sheet.memory());
        }
    }
}
