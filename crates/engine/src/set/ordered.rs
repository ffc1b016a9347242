//! A complete set, in the order in which it is written: sorted, counted, limited.

use std::io::{self, Write};

use rayon::prelude::*;

use super::lines::KeptLines;
use crate::job::{Dedup, SetOrder};
use crate::output::number;
use crate::output::{TallyLayout, vectored, with_count};
use crate::split::{self, Split};
use uniqurl::SetFull;
use uniqurl::internal::{AllocError, Shard, alloc};
use uniqurl_store::sort::{ShardUrls, Threads, Urls, in_turn, sort, sort_by_count};

/// Most bytes around a key: a count, a tab, a line feed.
const COUNT: usize = 22;
/// Lines that one task formats, and tasks whose text is held before it is written.
pub(super) const LINES: usize = 1 << 10;
pub(super) const TASKS: usize = 32;

/// The keys of a complete set. Each has a number: the order in which its line was added, if lines are only
/// added, else its shard and place.
struct Complete<'a> {
    shards: ShardUrls<'a>,
    /// Shard and place by number, unless these are the numbers.
    places: Vec<u64>,
    lines: Option<KeptLines>,
}

impl Complete<'_> {
    fn place(&self, number: u64) -> u64 {
        self.places.get(number as usize).copied().unwrap_or(number)
    }

    /// The line written in place of the key.
    fn line(&self, number: u64) -> Option<&[u8]> {
        self.lines.as_ref().map(|lines| lines.line(number))
    }
}

impl Urls for Complete<'_> {
    type Text<'u>
        = &'u [u8]
    where
        Self: 'u;

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

/// The same keys while they are written with their lines.
struct Written<'u, 's>(&'u Complete<'s>);

impl Urls for Written<'_, '_> {
    type Text<'u>
        = &'u [u8]
    where
        Self: 'u;

    fn text(&self, number: u64) -> &[u8] {
        self.0.text(number)
    }

    fn fetch(&self, number: u64) {
        self.0.fetch(number);
        // Sorting reads only keys, but writing reads the lines as well.
        if let Some(lines) = &self.0.lines {
            lines.fetch(number as usize);
        }
    }

    fn fetch_from(&self, number: u64, depth: usize) {
        self.0.fetch_from(number, depth);
    }
}

/// A complete set in the order in which it is written.
pub(super) struct Ordered<'a> {
    urls: Complete<'a>,
    /// The numbers of the URLs.
    order: Vec<u64>,
}

impl<'a> Ordered<'a> {
    /// Brings the set into the order of `dedup`, and leaves out keys that are too rare. `places` are those of
    /// the keys in the order of the input; `lines`, if there are any, are written instead of the keys.
    pub(super) fn new(
        shards: &'a [Shard],
        mut places: Vec<u64>,
        lines: Option<KeptLines>,
        dedup: &Dedup,
    ) -> Result<Self, SetFull> {
        let mut order = Vec::new();
        // Added lines are found by the order of adding, replaceable ones by the place of their key.
        if lines.as_ref().is_some_and(|lines| !lines.are_replaceable()) {
            alloc::try_reserve_exact(&mut order, places.len())?;
            order.extend(0..places.len() as u64);
        } else {
            std::mem::swap(&mut order, &mut places);
        }
        let urls = Complete { shards: ShardUrls(shards.iter().collect()), places, lines };
        if dedup.min_count > 1 {
            // Before sorting, so that keys that are left out are not sorted.
            order.retain(|number| urls.shards.count(urls.place(*number)) >= dedup.min_count);
        }
        match dedup.order {
            SetOrder::First => {}
            SetOrder::Sorted => sort(&mut order, &urls, Threads::All)?,
            SetOrder::Count => {
                let count = |number| urls.shards.count(urls.place(number));
                sort_by_count(&mut order, &urls, count, dedup.limit, Threads::All)?;
            }
        }
        Ok(Self { urls, order })
    }

    /// Writes it, and returns the number of lines.
    pub(super) fn write(
        &self,
        dedup: &Dedup,
        split: Option<Split>,
        tally: Option<TallyLayout>,
        out: &mut (dyn Write + Send),
    ) -> io::Result<u64> {
        let all = self.order.len() as u64;
        let written = dedup.limit.map_or(all, |limit| limit.min(all));
        let Self { urls, order } = self;
        write(&order[..written as usize], &Written(urls), out, |number, key, text| {
            let count = urls.shards.count(urls.place(number));
            let line = urls.line(number);
            alloc::try_reserve(text, COUNT + key.len() + line.map_or(0, <[u8]>::len))?;
            split::mark(split, key, text);
            append(key, count, line, dedup, tally, text)
        })?;
        Ok(written)
    }

    /// Shard and place of the first `written` keys.
    pub(super) fn into_places(self, written: u64) -> Vec<u64> {
        let Self { urls, mut order } = self;
        order.truncate(written as usize);
        order.iter_mut().for_each(|number| *number = urls.place(*number));
        order
    }
}

/// Writes the bytes that `append` appends for each place and its key. While one thread writes, all others
/// format the next ones.
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

/// Appends the line of a key. If lines are tallies, `tally` is their layout.
pub(super) fn append(
    key: &[u8],
    count: u64,
    line: Option<&[u8]>,
    dedup: &Dedup,
    tally: Option<TallyLayout>,
    out: &mut Vec<u8>,
) -> Result<(), AllocError> {
    if let Some(line) = line {
        if let Some(layout) = tally {
            return layout.append(key, count, line, out);
        }
        // Without counters, no column is a count.
        with_count(line, count, key, out);
        return Ok(());
    }
    if dedup.count {
        number(count, out);
        out.push(b'\t');
    }
    out.extend_from_slice(key);
    out.push(b'\n');
    Ok(())
}
