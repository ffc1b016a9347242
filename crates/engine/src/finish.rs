//! The output of a set that is only known when all of it is there: sorted, counted, limited.

use std::io::{self, Write};

use rayon::prelude::*;

use super::job::{Dedup, Order};
use super::overflow::{self, Saving};
use super::report::RunError;
use super::run::{Formatting, Run};
use super::split::{self, Split};
use crate::output::json::number;
use crate::output::{vectored, with_count};
use uniqurl::bytes::AllocError;
use uniqurl::bytes::alloc::{self};
use uniqurl::set::{SetFull, Shard};
use uniqurl::simd::prefetch;
use uniqurl_formats::record::SetHeader;
use uniqurl_store::keep_policy::{KeepPolicy, KeptRecords};
use uniqurl_store::sort::{ShardUrls, Threads, Urls, in_turn, sort};
use uniqurl_store::spill::SpillEntry;

/// Bytes that stand around a key at most: a count, a tab, a line feed.
const COUNT: usize = 22;
/// Lines that are formatted by one task, and tasks whose text is held before it is written.
const LINES: usize = 1 << 10;
const TASKS: usize = 32;
/// Bytes of a block of lines, or more where as many come at once, and the bits that tell a place in one.
const LINES_BLOCK: usize = 4 << 20;
const IN_BLOCK: u32 = 40;

/// What is to be written of URLs, where that is more than their keys.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// In blocks, none of which moves when there are more.
    blocks: Vec<Vec<u8>>,
    /// Bytes in them, what is left free at the end of all but the last among them.
    held: usize,
    /// Where each starts, in the order of adding: the block, and where in it.
    starts: Vec<u64>,
    /// Instead of both, where a line may be about another record than the first.
    survivors: Option<KeptRecords>,
}

impl Lines {
    pub(super) fn new(survivor: KeepPolicy) -> Self {
        let survivors = (survivor != KeepPolicy::First).then(|| KeptRecords::new(survivor));
        Self { survivors, ..Self::default() }
    }

    /// Takes all of them.
    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Takes what may be the line of a place, behind all that was taken before.
    pub(super) fn offer(&mut self, place: u64, candidate: &[u8]) -> Result<(), AllocError> {
        self.survivors.as_mut().map_or(Ok(()), |survivors| survivors.offer(place, candidate))
    }

    /// Adds so many lines, one behind the other.
    pub(super) fn add(&mut self, count: usize, lines: &[u8]) -> Result<(), AllocError> {
        alloc::try_reserve(&mut self.starts, count)?;
        if self.blocks.last().is_none_or(|block| block.capacity() - block.len() < lines.len()) {
            let mut block = Vec::new();
            alloc::try_reserve_exact(&mut block, lines.len().max(LINES_BLOCK))?;
            alloc::try_reserve(&mut self.blocks, 1)?;
            self.held += self.blocks.last().map_or(0, |last| last.capacity() - last.len());
            self.blocks.push(block);
        }
        let last = self.blocks.len() - 1;
        let block = &mut self.blocks[last];
        let start = (last as u64) << IN_BLOCK | block.len() as u64;
        let starts = memchr::memchr_iter(b'\n', lines).map(|end| start + end as u64 + 1);
        self.starts.extend(std::iter::once(start).chain(starts).take(count));
        block.extend_from_slice(lines);
        self.held += lines.len();
        Ok(())
    }

    /// The line that was added as the n-th, counted from 0, with its line feed.
    pub(super) fn nth(&self, n: usize) -> &[u8] {
        let Some((block, start)) = self.place(n) else { return &[] };
        let behind = self.place(n + 1).filter(|(next, _)| *next == block);
        let block = &self.blocks[block];
        &block[start..behind.map_or(block.len(), |(_, start)| start)]
    }

    fn place(&self, n: usize) -> Option<(usize, usize)> {
        let start = self.starts.get(n)?;
        Some(((start >> IN_BLOCK) as usize, (start & ((1 << IN_BLOCK) - 1)) as usize))
    }

    /// Has the n-th fetched.
    fn fetch(&self, n: usize) {
        if let Some((block, start)) = self.place(n) {
            prefetch(&self.blocks[block], start);
            prefetch(&self.blocks[block], start + 64);
        }
    }

    /// Whether lines are replaced by others, which may be longer.
    pub(super) fn are_replaced(&self) -> bool {
        self.survivors.is_some()
    }

    /// What may be the line of a place, as it was taken.
    pub(super) fn candidate(&self, place: u64) -> &[u8] {
        self.survivors.as_ref().map_or(&[], |survivors| survivors.candidate(place))
    }

    /// Bytes of memory, and with it what they may need while they take the lines of `more` URLs.
    pub(super) fn memory(&self, more: usize) -> usize {
        // A vector that grows is there twice for a moment, once at double size. Numbers come at the end.
        let each = 4 * size_of::<u64>();
        match &self.survivors {
            Some(survivors) => survivors.memory(more),
            // What is on its way, as text and as what is spilled and packed of it, grows with the lines.
            None => 3 * self.held + each * (self.starts.len() + more),
        }
    }
}

/// The URLs of a set that is complete. Each has a number: what the lines were added by, where there are
/// such, else its shard and place.
struct Complete<'a> {
    shards: ShardUrls<'a>,
    /// Shard and place by number, where these are not the numbers.
    places: Vec<u64>,
    lines: Option<Lines>,
}

impl Complete<'_> {
    fn place(&self, number: u64) -> u64 {
        self.places.get(number as usize).copied().unwrap_or(number)
    }

    /// What is written in place of the key.
    fn line(&self, number: u64) -> Option<&[u8]> {
        let lines = self.lines.as_ref()?;
        Some(match &lines.survivors {
            Some(survivors) => survivors.line(number),
            None => lines.nth(number as usize),
        })
    }
}

impl Urls for Complete<'_> {
    fn text(&self, number: u64) -> &[u8] {
        self.shards.text(self.place(number))
    }

    fn fetch(&self, number: u64) {
        self.shards.fetch(self.place(number));
    }

    fn fetch_from(&self, number: u64, depth: usize) {
        self.shards.fetch_from(self.place(number), depth);
    }
}

/// The same while they are written, lines and all.
struct Written<'u, 's>(&'u Complete<'s>);

impl Urls for Written<'_, '_> {
    fn text(&self, number: u64) -> &[u8] {
        self.0.text(number)
    }

    fn fetch(&self, number: u64) {
        self.0.fetch(number);
        if let Some(lines) = &self.0.lines {
            lines.fetch(number as usize);
        }
    }

    fn fetch_from(&self, number: u64, depth: usize) {
        self.0.fetch_from(number, depth);
    }
}

/// A set that is complete, in the order in which it is written.
pub(super) struct Ordered<'a> {
    urls: Complete<'a>,
    /// The numbers of the URLs.
    order: Vec<u64>,
}

impl<'a> Ordered<'a> {
    /// Brings the set into the order that `dedup` asks for, and leaves out what is too rare.
    /// `places` are those of the URLs in the order of the input; `lines`, if there are any, are
    /// written instead of the keys.
    pub(super) fn new(
        shards: &'a [Shard],
        mut places: Vec<u64>,
        lines: Option<Lines>,
        dedup: &Dedup,
    ) -> Result<Self, SetFull> {
        let mut order = Vec::new();
        if lines.as_ref().is_some_and(|lines| !lines.are_replaced()) {
            alloc::try_reserve_exact(&mut order, places.len())?;
            order.extend(0..places.len() as u64);
        } else {
            std::mem::swap(&mut order, &mut places);
        }
        let urls = Complete { shards: ShardUrls(shards.iter().collect()), places, lines };
        if dedup.min_count > 1 {
            order.retain(|number| urls.shards.count(urls.place(*number)) >= dedup.min_count);
        }
        if dedup.order == Order::Sorted {
            sort(&mut order, &urls, Threads::All)?;
        }
        Ok(Self { urls, order })
    }

    /// The same for a merge with what was spilled.
    pub(super) fn entries(&self) -> impl Iterator<Item = SpillEntry<'_>> {
        in_turn(&self.order, &self.urls).map(|number| SpillEntry {
            // What is merged by bytes needs none.
            ordinal: 0,
            count: self.urls.shards.count(self.urls.place(number)),
            key: self.urls.get(number),
            line: self.urls.line(number).unwrap_or_default(),
        })
    }

    /// Writes it, and says how many lines those were.
    pub(super) fn write(
        self,
        dedup: &Dedup,
        split: Option<Split>,
        out: &mut (dyn Write + Send),
    ) -> io::Result<u64> {
        let all = self.order.len() as u64;
        let written = dedup.limit.map_or(all, |limit| limit.min(all));
        let Self { urls, order } = self;
        write(&order[..written as usize], &Written(&urls), out, |number, key, text| {
            let count = urls.shards.count(urls.place(number));
            let line = urls.line(number);
            alloc::try_reserve(text, COUNT + key.len() + line.map_or(0, <[u8]>::len))?;
            split::mark(split, key, text);
            append(key, count, line, dedup, text);
            Ok(())
        })?;
        Ok(written)
    }
}

/// Writes what `append` appends for each place and its key. All threads work on what comes next
/// while one writes.
fn write(
    places: &[u64],
    urls: &impl Urls,
    out: &mut (dyn Write + Send),
    append: impl Fn(u64, &[u8], &mut Vec<u8>) -> Result<(), AllocError> + Sync,
) -> io::Result<()> {
    let text = |places: &[u64]| {
        let mut text = Vec::new();
        for place in in_turn(places, urls) {
            append(place, urls.get(place), &mut text)?;
        }
        Ok(text)
    };
    let mut put = |texts: &[Vec<u8>]| {
        vectored::write_all(texts.iter().map(Vec::as_slice), |parts| out.write_vectored(parts))
    };
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for group in places.chunks(LINES * TASKS) {
        let (written, next) = rayon::join(
            || put(&texts),
            || group.par_chunks(LINES).map(text).collect::<Result<_, AllocError>>(),
        );
        written?;
        texts = next?;
    }
    put(&texts)
}

/// Appends what is written of a URL.
pub(super) fn append(
    key: &[u8],
    count: u64,
    line: Option<&[u8]>,
    dedup: &Dedup,
    out: &mut Vec<u8>,
) {
    if let Some(line) = line {
        // Without counters nothing asks for one.
        return with_count(line, count, out);
    }
    if dedup.count {
        number(count, out);
        out.push(b'\t');
    }
    out.extend_from_slice(key);
    out.push(b'\n');
}

impl Run<'_> {
    /// Writes what was not written while the inputs were read.
    pub(super) fn finish(
        &mut self,
        dedup: &Dedup,
        out: &mut (dyn Write + Send),
        saved: Option<&mut (dyn Write + Send)>,
    ) -> Result<(), RunError> {
        let mut runs = Vec::new();
        let mut written = 0;
        self.spare = Vec::new();
        self.write_scattered(out)?;
        if self.formatting == Formatting::Places {
            let places = std::mem::take(&mut self.places);
            let lines = self.rules.columns.map(|_| self.lines.take());
            let set = Ordered::new(&self.shards, places, lines, dedup)?;
            match &mut self.overflow {
                Some(overflow) if dedup.order == Order::Sorted => runs.push(overflow.run(&set)?),
                _ => written = set.write(dedup, self.setup.split, out).map_err(RunError::Output)?,
            }
        }
        let saving = saved.map(|saved| self.save_set(saved)).transpose()?;
        (self.shards, self.seen) = (Vec::new(), None);
        let Some(mut overflow) = self.overflow.take() else { return Ok(()) };
        let columns = self.rules.columns.is_some();
        let (split, counting) = (self.setup.split, self.counting);
        let survivor = self.rules.survivor();
        let output = overflow::Output { dedup, split, counting, survivor, columns, written };
        // What was moved out of the set was counted when it came to it.
        let moved = self.moved;
        let found = |ordinal, told| {
            if ordinal >= moved {
                self.origins.found(ordinal, told);
            }
        };
        let settled = overflow.settle(runs, &self.rules.key, &output, found, out, saving);
        self.report.spilled = overflow.size();
        settled?;
        for (input, [unique, seen]) in self.origins.settled() {
            let tally = &mut self.report.files[input].tally;
            tally.unique += unique;
            tally.seen += seen;
            tally.duplicates += tally.undecided - unique - seen;
            tally.undecided = 0;
        }
        Ok(())
    }

    /// Saves the keys of the set, and those that were seen before, by their bytes: at once, or as a run
    /// for the merge with what was spilled.
    fn save_set<'w>(&mut self, out: &'w mut (dyn Write + Send)) -> Result<Saving<'w>, RunError> {
        let header = self.header.as_ref().map(SetHeader::line).unwrap_or_default();
        out.write_all(header.as_bytes()).map_err(RunError::Output)?;
        let shards = ShardUrls(self.shards.iter().chain(self.seen.iter().flatten()).collect());
        let mut places = Vec::new();
        let keys = shards.0.iter().map(|shard| shard.len()).sum();
        places.try_reserve_exact(keys).map_err(|_| SetFull::default())?;
        for (at, shard) in (0u64..).zip(&shards.0) {
            places.extend(shard.places().map(|place| at << 32 | u64::from(place)));
        }
        sort(&mut places, &shards, Threads::All)?;
        let mut runs = Vec::new();
        if let Some(overflow) = &mut self.overflow {
            let entry =
                |place| SpillEntry { ordinal: 0, count: 0, key: shards.get(place), line: &[] };
            runs.push(overflow.run_of(in_turn(&places, &shards).map(entry))?);
        } else {
            let written = write(&places, &shards, out, |_, key, text| {
                alloc::try_reserve(text, key.len() + 1)?;
                text.extend_from_slice(key);
                text.push(b'\n');
                Ok(())
            });
            written.map_err(RunError::Output)?;
        }
        Ok(Saving { runs, out })
    }
}
