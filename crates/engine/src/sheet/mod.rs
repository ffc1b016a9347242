//! One chunk on its way through the stages.

mod rules;
mod text;
mod digest;
mod list;
mod observe;
mod format;

pub(crate) use observe::add_hosts;
pub(crate) use rules::{Columns, Rules};
pub(crate) use text::{Buffers, Text};

use std::borrow::Cow;
use std::sync::Arc;

use crate::output::{Observed, Tally};
use observe::Host;
use text::Url;
use uniqurl::bytes::Span;
use uniqurl::bytes::{HIDDEN, redact, redact_record};
use uniqurl::bytes::{Reject, RejectReason};
use uniqurl_formats::input::{Chunk, CutLine, Data, RangeBuffer};

#[cfg(feature = "tables")]
use uniqurl::set::{Bytes as _, Shard};
use uniqurl::set::{Entry, Hash};
use uniqurl::simd::UrlKind;

use uniqurl_formats::record::{self, BufferId, Extracted, Records};
use uniqurl_store::sort::Measured;

/// What a chunk is made into, and the buffers for it. Reused from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct Sheet {
    /// Number of the input.
    pub(crate) input: usize,
    pub(crate) text: Text,
    /// Records of the chunk that are on sheets before this one, headers among them.
    pub(crate) from: usize,
    /// The first record of the chunk that is to go on another sheet, if there is more than fits on one.
    pub(crate) rest: Option<usize>,
    /// One entry for each record, in order: its canonical URL, or the key of that.
    urls: Vec<Url>,
    /// The canonical URLs, where `urls` holds their keys and they are still needed.
    canonical: Vec<Url>,
    /// The rejected ones among them, in order.
    rejected: Vec<Rejected>,
    /// Canonical URLs by shard, in order within each.
    pub(crate) entries: Vec<Entry>,
    /// Where the entries of each shard end.
    pub(crate) ends: Vec<usize>,
    pub(crate) tally: Tally,
    /// Request targets that no host was known for.
    pub(crate) hostless: u64,
    /// Whether queries stand in its records by themselves.
    has_queries: bool,
    /// Lines of a list, and those of them that hold a tab.
    pub(crate) listed: u64,
    pub(crate) tabbed: u64,
    /// A line that was left out since it was being written.
    pub(crate) cut: Option<CutLine>,
    /// Records of the same input, and of the whole run, before this chunk.
    pub(crate) before: Before,
    /// What the chunk adds to the output, and to the list of rejected records.
    pub(crate) out: Vec<u8>,
    pub(crate) rejects: Vec<u8>,
    /// Where the new URLs of the chunk are in the set, in order: shard and place.
    pub(crate) new: Vec<u64>,
    /// A line about each of them, where lines hold more than the key.
    pub(crate) lines_of_new: Vec<u8>,
    /// Where in its shard each entry is, or 0 where the set does not hold it; empty where nobody asks.
    pub(crate) places: Vec<u32>,
    /// What may be written of the URLs that the set holds.
    pub(crate) candidates: Candidates,
    /// The format as it stands at the start of the chunk, where columns are taken out of its records.
    pub(crate) format: Option<Arc<record::Format>>,
    /// Whether the set took no more URLs when the chunk's came to it.
    pub(crate) spills: bool,
    /// The URLs that the set did not hold then, by partition, as entries.
    pub(crate) spilled: Vec<Vec<u8>>,
    /// What a page shows of the chunk, where there is to be one.
    pub(crate) observed: Option<Box<Observed>>,
    /// The hosts that it tells of, by first occurrence.
    hosts: Vec<Host>,
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
pub(crate) struct Candidates {
    bytes: Vec<u8>,
    /// Shard and place of the URL, and where the candidate ends; in the order of the records.
    ends: Vec<(u64, usize)>,
}

impl Candidates {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        let starts = std::iter::once(0).chain(self.ends.iter().map(|(_, end)| *end));
        starts.zip(&self.ends).map(|(start, (place, end))| (*place, &self.bytes[start..*end]))
    }
}

/// How many records came before.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Before {
    pub(crate) in_input: u64,
    pub(crate) in_run: u64,
}

#[derive(Debug, Default)]
struct Scratch {
    lines: Vec<Span>,
    hashes: Vec<Hash>,
    key: Vec<u8>,
    by_sequence: Vec<u64>,
}

/// A rejected record.
#[derive(Debug, Clone, Copy)]
struct Rejected {
    /// Number among the records of the chunk.
    sequence: u32,
    line: Span,
    place: BufferId,
    /// The URL as it was read, without the host that it was joined to unless that is what is wrong; or the
    /// whole record where none was found in it.
    raw: Span,
    what: Raw,
    /// Why, and where in the URL.
    reject: Reject,
}

/// What is shown of a rejected record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Raw {
    /// The URL that was read.
    Url,
    /// The record, in which a mark stands before each query.
    Record,
    /// A record in which a query may stand anywhere.
    Columns,
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
    pub(crate) fn take_block(&mut self) -> RangeBuffer {
        match self.text.chunk.take() {
            Some(Chunk { data: Data::Block(block), .. }) => block,
            _ => RangeBuffer::default(),
        }
    }

    /// Makes the sheet ready for another chunk.
    pub(crate) fn clear(&mut self) {
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
        self.listed = 0;
        self.tabbed = 0;
        self.cut = None;
        self.observed = None;
        self.hosts.clear();
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
    pub(crate) fn take_rest(&mut self) -> Option<(Chunk, usize)> {
        let from = self.rest.take()?;
        self.text.chunk.as_ref().map(|chunk| chunk.again(from))
    }

    /// The canonical URLs, or their keys, in order.
    pub(crate) fn canonical_urls(&self) -> impl Iterator<Item = Measured<'_>> {
        let buffers = self.text.buffers();
        let canonical = self.urls.iter().filter(|url| url.is_canonical());
        canonical.map(move |url| buffers.measured(*url))
    }

    /// The entries of a shard.
    pub(crate) fn entries_of(&self, shard: usize) -> &[Entry] {
        let start = shard.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[shard]]
    }

    /// Adds the counts of these rows to those of the URLs that the set holds, where each counts as one.
    #[cfg(feature = "tables")]
    pub(crate) fn add_counts(&self, shards: &mut [Shard]) {
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
    pub(crate) fn memory(&self) -> usize {
        // All fields are named, so that no new one is forgotten; what grows with no record is passed over.
        let Self {
            text: Text { chunk, records: Records { records, scratch: side, .. }, rewritten },
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
            hosts,
            decoded,
            scratch: Scratch { lines, hashes, key, by_sequence },
            input: _,
            from: _,
            rest: _,
            tally: _,
            hostless: _,
            has_queries: _,
            listed: _,
            tabbed: _,
            cut: _,
            before: _,
            observed: _,
            format: _,
            spills: _,
        } = self;
        let texts =
            [side, rewritten, out, rejects, lines_of_new, &candidates.bytes, &decoded.paths];
        let texts = texts.into_iter().chain([key]);
        let texts = texts.chain(spilled).map(bytes).sum::<usize>();
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
            + bytes(hosts)
            + bytes(&decoded.ends)
            + bytes(lines)
            + bytes(hashes)
            + bytes(by_sequence)
    }

    /// More bytes than the canonical URLs of the chunk have.
    pub(crate) fn canonical_bytes(&self) -> usize {
        self.text.chunk().len() + self.text.records.scratch.len() + self.text.rewritten.len()
    }

    /// The line of each record and what was found in it; of a list, that each line is a URL.
    fn found(&self) -> impl Iterator<Item = (Span, Extracted)> {
        let lines =
            self.scratch.lines.iter().map(|line| (*line, Extracted::Url(BufferId::Chunk, *line)));
        let found =
            self.text.records.records.iter().filter(|record| record.found != Extracted::Skipped);
        // One of the two is empty: a list has lines, any other format records.
        lines.chain(found.map(|record| (record.line, record.found)))
    }

    /// The URL that was found in a record, as the normalizer is given it, what that is, and how many bytes
    /// a host before it takes.
    fn url_of(&self, found: Extracted) -> Option<(&[u8], UrlKind, u32)> {
        let side = &self.text.records.scratch;
        let buffer = |place| match place {
            BufferId::Chunk => self.text.chunk(),
            BufferId::Scratch => &side[..],
        };
        match found {
            Extracted::Blank | Extracted::Skipped | Extracted::Filtered | Extracted::Reject(..) => {
                None
            }
            Extracted::Url(place, url) => Some((url.of(buffer(place)), UrlKind::Absolute, 0)),
            Extracted::Target(place, url) => Some((url.of(buffer(place)), UrlKind::Target, 0)),
            Extracted::Joined { url, prefix } => Some((url.of(side), UrlKind::Absolute, prefix)),
        }
    }

    /// Calls `visit` for each record in which a URL was found: its number, and what
    /// [`url_of`](Self::url_of) says.
    fn each_url<'s>(&'s self, mut visit: impl FnMut(usize, &'s [u8], UrlKind, u32)) {
        for (sequence, (_, found)) in self.found().enumerate() {
            if let Some((url, kind, prefix)) = self.url_of(found) {
                visit(sequence, url, kind, prefix);
            }
        }
    }

    /// The bytes of a rejected record that are told of: of one that was not read its start.
    fn raw(&self, reject: &Rejected) -> &[u8] {
        let buffer = match reject.place {
            BufferId::Chunk => self.text.chunk(),
            BufferId::Scratch => &self.text.records.scratch,
        };
        let raw = reject.raw.of(buffer);
        match reject.reject.code {
            RejectReason::TooLong => &raw[..raw.len().min(TOO_LONG_EXCERPT)],
            _ => raw,
        }
    }

    /// Appends the same without what may be secret in it.
    fn mask_raw(&self, reject: &Rejected, out: &mut Vec<u8>) {
        let raw = self.raw(reject);
        match reject.what {
            Raw::Url => redact(raw, out),
            Raw::Record => redact_record(raw, out),
            Raw::Columns if raw.is_empty() => {}
            Raw::Columns => out.extend_from_slice(HIDDEN.as_bytes()),
        }
    }

    /// Number in its input and offset of the n-th rejected record, counted from 0.
    pub(crate) fn place_of_rejected(&self, n: usize) -> Option<(u64, u64)> {
        let rejected = self.rejected.get(n)?;
        let chunk = self.text.chunk.as_ref()?;
        let offset = chunk.offset_of(rejected.sequence as usize, rejected.line.start);
        Some((self.before.in_input + u64::from(rejected.sequence) + 1, offset))
    }
}

/// A URL without the `prefix` bytes that stand before its target: what the record itself has. Blanks
/// before the target stand before these.
fn without_host(url: &[u8], prefix: u32) -> Cow<'_, [u8]> {
    let target = &url[prefix as usize..];
    match blanks(url) {
        blanks if blanks > 0 && prefix > 0 => {
            Cow::Owned([&url[..blanks], &target[blanks..]].concat())
        }
        _ => Cow::Borrowed(target),
    }
}

/// Bytes before a URL that no scheme begins with.
fn blanks(url: &[u8]) -> usize {
    url.iter().take_while(|byte| **byte <= b' ').count()
}

/// How many of the bytes that a URL has before its target are not told of where it is rejected: all of
/// them, unless that is where the trouble is, which the target alone does not show.
fn untold(url: &[u8], prefix: u32, reject: &Reject) -> u32 {
    if reject.at < blanks(url) + prefix as usize { 0 } else { prefix }
}

/// Bytes of memory that a vector takes.
fn bytes<T>(vec: &Vec<T>) -> usize {
    vec.capacity() * size_of::<T>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_some_runs_ask_for_counts_as_memory() {
        const MORE: usize = 1000;
        let grown: [fn(&mut Sheet); 5] = [
            |sheet| sheet.decoded.paths.reserve(MORE),
            |sheet| sheet.decoded.ends.reserve(MORE),
            |sheet| sheet.scratch.key.reserve(MORE),
            |sheet| sheet.ends.reserve(MORE),
            |sheet| sheet.hosts.reserve(MORE),
        ];
        for (i, grow) in grown.iter().enumerate() {
            let mut sheet = Sheet::default();
            grow(&mut sheet);
            assert!(sheet.memory() >= MORE, "{i}: {}", sheet.memory());
        }
    }
}
