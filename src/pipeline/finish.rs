//! The output of a set that is only known when all of it is there: sorted, counted, limited.

use std::io::{self, Write};

use rayon::prelude::*;

use super::job::{Dedup, Order};
use super::overflow::{self, Saving};
use super::report::RunError;
use super::run::{Formatting, Run};
use super::split::{self, Split};
use crate::dedup::{SetFull, Shard, Shards, Survivor, Survivors, Threads, in_turn, sort};
use crate::output::json::number;
use crate::output::{SetHeader, with_count};
use crate::room::{self, NoRoom};
use crate::spill::Entry;

/// Lines that are formatted by one task, and tasks whose text is held before it is written.
const LINES: usize = 1 << 10;
/// Bytes that stand around a key at most: a count, a tab, a line feed.
const COUNT: usize = 22;
const TASKS: usize = 32;

/// What is to be written of URLs, where that is more than their keys.
#[derive(Debug, Default)]
pub(super) struct Lines {
    text: Vec<u8>,
    /// Place of a URL, and where its line starts; by place once it is complete.
    starts: Vec<(u64, usize)>,
    /// Instead of both, where a line may be about another record than the first.
    survivors: Option<Survivors>,
}

impl Lines {
    pub(super) fn new(survivor: Survivor) -> Self {
        let survivors = (survivor != Survivor::First).then(|| Survivors::new(survivor));
        Self { survivors, ..Self::default() }
    }

    /// Takes all of them.
    pub(super) fn take(&mut self) -> Self {
        std::mem::take(self)
    }

    /// Takes what may be the line of a place, behind all that was taken before.
    pub(super) fn offer(&mut self, place: u64, candidate: &[u8]) -> Result<(), NoRoom> {
        self.survivors.as_mut().map_or(Ok(()), |survivors| survivors.offer(place, candidate))
    }

    /// Adds the lines of these places, in their order.
    pub(super) fn add(&mut self, places: &[u64], lines: &[u8]) -> Result<(), NoRoom> {
        room::reserve(&mut self.starts, places.len())?;
        room::reserve(&mut self.text, lines.len())?;
        let mut start = self.text.len();
        for (place, line) in places.iter().zip(lines.split_inclusive(|byte| *byte == b'\n')) {
            self.starts.push((*place, start));
            start += line.len();
        }
        self.text.extend_from_slice(lines);
        Ok(())
    }

    /// The line that was added as the n-th, counted from 0, before they were sorted.
    pub(super) fn nth(&self, n: usize) -> &[u8] {
        let start = |n: usize| self.starts.get(n).map_or(self.text.len(), |(_, start)| *start);
        &self.text[start(n)..start(n + 1)]
    }

    /// The line of a place, with its line feed.
    fn get(&self, place: u64) -> &[u8] {
        if let Some(survivors) = &self.survivors {
            return survivors.line(place);
        }
        let found = self.starts.binary_search_by_key(&place, |(place, _)| *place);
        let Some((_, start)) = found.ok().and_then(|index| self.starts.get(index)) else {
            return &[];
        };
        let line = &self.text[*start..];
        &line[..memchr::memchr(b'\n', line).map_or(line.len(), |end| end + 1)]
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
        // A vector that grows is there twice for a moment, once at double size.
        let each = 3 * size_of::<(u64, usize)>();
        match &self.survivors {
            Some(survivors) => survivors.memory(more),
            None => 3 * self.text.len() + each * (self.starts.len() + more),
        }
    }
}

/// A set that is complete, in the order in which it is written.
pub(super) struct Ordered<'a> {
    shards: Shards<'a>,
    /// Shard and place of each URL.
    places: Vec<u64>,
    lines: Option<Lines>,
}

impl<'a> Ordered<'a> {
    /// Brings the set into the order that `dedup` asks for, and leaves out what is too rare.
    /// `places` are those of the URLs in the order of the input; `lines`, if there are any, are
    /// written instead of the keys.
    pub(super) fn new(
        shards: &'a [Shard],
        mut places: Vec<u64>,
        mut lines: Option<Lines>,
        dedup: &Dedup,
    ) -> Result<Self, SetFull> {
        let shards = Shards(shards.iter().collect());
        if dedup.min_count > 1 {
            places.retain(|place| shards.count(*place) >= dedup.min_count);
        }
        if dedup.order == Order::Sorted {
            sort(&mut places, &shards, Threads::All)?;
        }
        if let Some(lines) = &mut lines {
            lines.starts.par_sort_unstable();
        }
        Ok(Self { shards, places, lines })
    }

    /// The same for a merge with what was spilled.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        in_turn(&self.places, &self.shards).map(|place| Entry {
            // What is merged by bytes needs none.
            ordinal: 0,
            count: self.shards.count(place),
            key: self.shards.get(place),
            line: self.lines.as_ref().map_or(&[], |lines| lines.get(place)),
        })
    }

    /// Writes it, and says how many lines those were.
    pub(super) fn write(
        self,
        dedup: &Dedup,
        split: Option<Split>,
        out: &mut (dyn Write + Send),
    ) -> io::Result<u64> {
        let all = self.places.len() as u64;
        let written = dedup.limit.map_or(all, |limit| limit.min(all));
        write(&self.places[..written as usize], &self.shards, out, |place, key, text| {
            let count = self.shards.count(place);
            let line = self.lines.as_ref().map(|lines| lines.get(place));
            room::reserve(text, COUNT + key.len() + line.map_or(0, <[u8]>::len))?;
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
    shards: &Shards<'_>,
    out: &mut (dyn Write + Send),
    append: impl Fn(u64, &[u8], &mut Vec<u8>) -> Result<(), NoRoom> + Sync,
) -> io::Result<()> {
    let text = |places: &[u64]| {
        let mut text = Vec::new();
        for place in in_turn(places, shards) {
            append(place, shards.get(place), &mut text)?;
        }
        Ok(text)
    };
    let mut texts: Vec<Vec<u8>> = Vec::new();
    for group in places.chunks(LINES * TASKS) {
        let (written, next) = rayon::join(
            || texts.iter().try_for_each(|text| out.write_all(text)),
            || group.par_chunks(LINES).map(text).collect::<Result<_, NoRoom>>(),
        );
        written?;
        texts = next?;
    }
    texts.iter().try_for_each(|text| out.write_all(text))
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
        let shards = Shards(self.shards.iter().chain(self.seen.iter().flatten()).collect());
        let mut places = Vec::new();
        let keys = shards.0.iter().map(|shard| shard.len()).sum();
        places.try_reserve_exact(keys).map_err(|_| SetFull::default())?;
        for (at, shard) in (0u64..).zip(&shards.0) {
            places.extend(shard.places().map(|place| at << 32 | u64::from(place)));
        }
        sort(&mut places, &shards, Threads::All)?;
        let mut runs = Vec::new();
        if let Some(overflow) = &mut self.overflow {
            let entry = |place| Entry { ordinal: 0, count: 0, key: shards.get(place), line: &[] };
            runs.push(overflow.run_of(in_turn(&places, &shards).map(entry))?);
        } else {
            let written = write(&places, &shards, out, |_, key, text| {
                room::reserve(text, key.len() + 1)?;
                text.extend_from_slice(key);
                text.push(b'\n');
                Ok(())
            });
            written.map_err(RunError::Output)?;
        }
        Ok(Saving { runs, out })
    }
}
