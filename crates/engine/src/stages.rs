//! The first stages on bytes that are in memory already, each by itself: what `uniqurl bench`
//! measures. The work is done by the same [`Sheet`] as in a run.
//!
//! To the set, threads come in any order and one at a time to a shard, since nobody asks which of two
//! equal URLs was first.

use std::sync::Mutex;

use bytes::Bytes;

use super::sheet::{Rules, Sheet};
use crate::output::Tally;
use uniqurl::bytes::Span;
use uniqurl::normalize::Normalizer;
use uniqurl::set::{Counting, HashKey, Part, SetFull, Shard};
use uniqurl::simd::{SpanBatch, UrlKind};
use uniqurl_formats::input::{Chunk, Data};
use uniqurl_formats::record::{BufferId, Context, Extracted, Format, Records};

/// What is done to chunks.
pub struct Stages<'a> {
    rules: Rules<'a>,
    format: &'a Format,
    shards: Vec<Mutex<Shard>>,
}

/// The buffers of one thread, used again from chunk to chunk.
#[derive(Debug, Default)]
pub struct Buffers {
    sheet: Sheet,
    lines: Vec<Span>,
    clean: Vec<u64>,
    records: Records,
}

impl<'a> Stages<'a> {
    /// For URLs that stand in records of `format`; with a set of `shards` shards, or 0 where there
    /// is none.
    pub fn new(normalizer: &'a Normalizer, format: &'a Format, shards: usize) -> Self {
        let key = HashKey::random(normalizer.kernel());
        let context = Context { targets: normalizer.targets(), ..Context::default() };
        let rules = Rules::plain(normalizer, context, key, shards);
        let shards = (0..shards).map(|_| Mutex::new(Shard::new(Counting::Off))).collect();
        Self { rules, format, shards }
    }

    /// Finds the records of a chunk and how many of their URLs are proven clean.
    pub fn scan(&self, chunk: &[u8], buffers: &mut Buffers) -> u64 {
        let normalizer = self.rules.normalizer;
        if *self.format == Format::Lines {
            buffers.lines.clear();
            normalizer.kernel().lines(chunk, &mut buffers.lines);
            buffers.clean.clear();
            normalizer.clean(SpanBatch::last(chunk, &buffers.lines), &mut buffers.clean);
            return buffers.clean.iter().map(|word| u64::from(word.count_ones())).sum();
        }
        let records = &mut buffers.records;
        records.clear();
        self.format.read(&self.rules.context, chunk, records);
        let buffer = |place| match place {
            BufferId::Chunk => chunk,
            BufferId::Scratch => &records.scratch,
        };
        let clean = records.records.iter().filter(|record| match record.found {
            Extracted::Url(place, span) => {
                normalizer.is_clean_in(buffer(place), span.range(), UrlKind::Absolute)
            }
            Extracted::Target(place, span) => {
                normalizer.is_clean_in(buffer(place), span.range(), UrlKind::Target)
            }
            Extracted::Joined { url, .. } => {
                normalizer.is_clean_in(&records.scratch, url.range(), UrlKind::Absolute)
            }
            Extracted::Blank | Extracted::Skipped | Extracted::Filtered | Extracted::Reject(..) => {
                false
            }
        });
        clean.count() as u64
    }

    /// Finds the records of a chunk and their canonical URLs; where there is a set, puts them into it.
    /// `turn` tells threads apart, so that they start with different shards.
    pub fn digest(
        &self,
        chunk: &Bytes,
        turn: usize,
        buffers: &mut Buffers,
    ) -> Result<Tally, SetFull> {
        let sheet = &mut buffers.sheet;
        sheet.clear();
        sheet.text.chunk =
            Some(Chunk { data: Data::Shared(chunk.clone()), offset: 0, frames: Vec::new() });
        sheet.digest(self.format, &self.rules)?;
        for i in 0..self.shards.len() {
            let i = (i + turn) % self.shards.len();
            let start = if i == 0 { 0 } else { sheet.ends[i - 1] };
            let entries = &mut sheet.entries[start..sheet.ends[i]];
            if !entries.is_empty() {
                let text = &sheet.text;
                // A shard stays whole whatever its last user died of.
                let mut shard = self.shards[i].lock().unwrap_or_else(|e| e.into_inner());
                let part = Part { entries, bytes: text.buffers() };
                shard.insert_all(&mut [part])?;
            }
        }
        Ok(sheet.tally)
    }

    /// How many URLs the set holds.
    pub fn distinct(self) -> u64 {
        let shards =
            self.shards.into_iter().map(|s| s.into_inner().unwrap_or_else(|e| e.into_inner()));
        shards.map(|shard| shard.len() as u64).sum()
    }
}
