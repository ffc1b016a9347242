//! The first stages, each by itself, on bytes in memory, for `uniqurl bench`. The work is done
//! by the same [`WorkBatch`] as in a run.
//!
//! Threads insert into the set in any order, one at a time into a shard, since it does not matter which of
//! two equal URLs is the first.

use std::sync::Mutex;

use bytes::Bytes;

use crate::batch::{ParseRules, WorkBatch};
use crate::output::Tally;
use uniqurl::internal::{Change, Counting, HashKey, Part, Shard, Span, SpanBatch, UrlKind};
use uniqurl::{Normalizer, SetFull};
use uniqurl_formats::input::{Chunk, Data};
use uniqurl_formats::record::{BufferId, Context, Extracted, Format, Records};

/// The timed stages of work on a chunk.
pub struct Stages<'a> {
    rules: ParseRules<'a>,
    format: &'a Format,
    shards: Vec<Mutex<Shard>>,
}

/// The buffers of one thread, reused from chunk to chunk.
#[derive(Debug, Default)]
pub struct StageBuffers {
    batch: WorkBatch,
    lines: Vec<Span>,
    unclean: Vec<Change>,
    records: Records,
}

impl<'a> Stages<'a> {
    /// For URLs in records of `format`; with a set of `shards` shards, or without a set
    /// if that is 0.
    pub fn new(normalizer: &'a Normalizer, format: &'a Format, shards: usize) -> Self {
        let key = HashKey::random(normalizer.kernel());
        let context = Context { targets: normalizer.targets(), ..Context::default() };
        let rules = ParseRules::plain(normalizer, context, key, shards);
        let shards = (0..shards).map(|_| Mutex::new(Shard::new(Counting::Off))).collect();
        Self { rules, format, shards }
    }

    /// Finds the records of a chunk and how many of their URLs are proven clean.
    pub fn scan(&self, chunk: &[u8], buffers: &mut StageBuffers) -> u64 {
        let normalizer = self.rules.normalizer;
        if *self.format == Format::Lines {
            buffers.lines.clear();
            normalizer.kernel().lines(chunk, &mut buffers.lines);
            buffers.unclean.clear();
            normalizer.find_unclean(SpanBatch::last(chunk, &buffers.lines), &mut buffers.unclean);
            return (buffers.lines.len() - buffers.unclean.len()) as u64;
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

    /// Finds the records of a chunk and their canonical URLs, and puts them into the set if there is one.
    /// `turn` is the number of the thread, so that threads start with different shards.
    pub fn parse(
        &self,
        chunk: &Bytes,
        turn: usize,
        buffers: &mut StageBuffers,
    ) -> Result<Tally, SetFull> {
        let batch = &mut buffers.batch;
        batch.clear();
        batch.text.chunk =
            Some(Chunk { data: Data::Shared(chunk.clone()), offset: 0, frames: Vec::new() });
        batch.parse(self.format, &self.rules)?;
        for i in 0..self.shards.len() {
            let i = (i + turn) % self.shards.len();
            let grouped = &batch.entries;
            let start = if i == 0 { 0 } else { grouped.ends[i - 1] };
            let entries = &grouped.all[start..grouped.ends[i]];
            if !entries.is_empty() {
                let text = &batch.text;
                // A panic leaves a shard intact.
                let mut shard = self.shards[i].lock().unwrap_or_else(|e| e.into_inner());
                let part = Part { entries, bytes: text.buffers() };
                shard.insert_all(&[part])?;
            }
        }
        Ok(std::mem::take(&mut batch.tally.records))
    }

    /// How many URLs the set holds.
    pub fn distinct(self) -> u64 {
        let shards =
            self.shards.into_iter().map(|s| s.into_inner().unwrap_or_else(|e| e.into_inner()));
        shards.map(|shard| shard.len() as u64).sum()
    }
}
