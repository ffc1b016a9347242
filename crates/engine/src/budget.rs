//! What a run holds, and the changes of its set: to spill, to scatter, and to gather.

use std::io::Write;
use std::sync::atomic::Ordering as Atomic;

use super::batches::Reading;
use super::finish::Lines;
use super::insert::{End, insert};
use super::job::{Job, Order};
use super::memory::Memory;
use super::overflow::{self, Overflow};
use super::report::RunError;
use super::run::{Formatting, Run};
use super::scatter::{Firsts, Progress, Scatter, Scattering, SetChange, total};
use super::sheet::Sheet;
use uniqurl::set::{Bytes as _, SetFull, Shard};
use uniqurl_store::sort::sort_memory;
use uniqurl_store::spill::SpillEntry;

impl Run<'_> {
    /// Whether the run would hold more than it may, once `inserting`, the first of the batches, is in
    /// the set.
    pub(super) fn is_over_budget(&self, batches: [&[Sheet]; 3]) -> bool {
        let Some(memory) = &self.setup.memory else { return false };
        memory.is_exceeded_by(self.held(batches, batches[0]))
    }

    /// Whether the run holds more than it may though the set takes no more, since lines of what is in
    /// it were replaced by longer ones.
    pub(super) fn has_outgrown(&self, batches: [&[Sheet]; 3]) -> bool {
        let Some(memory) = &self.setup.memory else { return false };
        self.overflow.is_some()
            && self.lines.are_replaced()
            && !self.places.is_empty()
            && self.held(batches, &[]) as u64 > memory.budget
    }

    /// What the run holds, and what the set needs to take `inserting`.
    fn held(&self, batches: [&[Sheet]; 3], inserting: &[Sheet]) -> usize {
        let more = entries_by_shard(inserting, self.shards.len());
        let text: usize = inserting.iter().map(Sheet::canonical_bytes).sum();
        let set: usize =
            self.shards.iter().zip(&more).map(|(shard, more)| shard.memory(*more)).sum();
        let all_more: usize = more.iter().sum();
        let waiting = match (self.formatting, &self.setup.job) {
            (Formatting::Places, Job::Dedup(dedup)) => {
                let urls = self.places.len() + all_more;
                let sorting = if dedup.order == Order::Sorted { sort_memory(urls) } else { 0 };
                // A vector that grows is there twice for a moment, once at double size.
                urls * 3 * size_of::<u64>() + sorting + self.lines.memory(all_more)
            }
            _ => 0,
        };
        let seen = self.seen.iter().flatten();
        let seen_memory: usize = seen.clone().map(|shard| shard.memory(0)).sum();
        let saving = match &self.header {
            None => 0,
            Some(_) => {
                let keys = seen.chain(&self.shards).map(Shard::len).sum::<usize>() + all_more;
                keys * size_of::<u64>() + sort_memory(keys)
            }
        };
        let behind = self.waiting.iter().map(|reading| &reading.sheet);
        let sheets = batches.into_iter().chain([&self.spare[..]]).flatten().chain(behind);
        let buffers = sheets.map(Sheet::memory).sum::<usize>()
            + overflow::buffers(self.budget(), self.setup.threads)
            + self.schedule.memory();
        set + seen_memory + text + waiting + saving + buffers
    }

    fn budget(&self) -> usize {
        self.setup.memory.as_ref().map_or(usize::MAX, Memory::size)
    }

    /// From now on the set takes no more.
    pub(super) fn begin_to_spill(&mut self) -> Result<(), RunError> {
        let Some(memory) = &self.setup.memory else {
            return Err(RunError::Set(SetFull::default()));
        };
        let done = self.inserted;
        let set: usize = self.shards.iter().map(|shard| shard.memory(0)).sum();
        let rest = self.size_of_inputs.map(|total| {
            let rate = if done > 0 && set > 0 { set as f64 / done as f64 } else { 1.0 };
            (total.saturating_sub(done) as f64 * rate.min(1.0)) as u64
        });
        self.overflow = Some(Overflow::begin(memory, self.setup.threads, rest)?);
        Ok(())
    }

    /// Moves all of the set to where it spills, ahead of what was spilled before. Nothing may be on its
    /// way.
    pub(super) fn move_out(&mut self) -> Result<(), RunError> {
        let Self { overflow: Some(overflow), shards, places, lines, rules, .. } = self else {
            return Ok(());
        };
        let entries = (0..).zip(&*places).map(|(ordinal, place)| {
            let (shard, at) = (&shards[(place >> 32) as usize], *place as u32);
            let count = shard.count(at);
            SpillEntry { ordinal, count, key: shard.get(at), line: lines.candidate(*place) }
        });
        overflow.spill_ahead(entries, &rules.key)?;
        self.moved = self.places.len() as u64;
        self.places = Vec::new();
        self.lines = Lines::new(self.rules.survivor());
        self.shards.iter_mut().for_each(|shard| *shard = Shard::new(self.counting));
        Ok(())
    }

    /// The change of the set to make once no batch is on its way.
    pub(super) fn next_set_change(
        &mut self,
        batches: [&[Sheet]; 3],
    ) -> Result<Option<SetChange>, RunError> {
        match self.set_change {
            Some(SetChange::Gather) => return Ok(self.set_change),
            Some(SetChange::Scatter) if self.overflow.is_none() => return Ok(self.set_change),
            Some(SetChange::Scatter | SetChange::MoveOut) | None => {}
        }
        if self.has_outgrown(batches) {
            return Ok(Some(SetChange::MoveOut));
        }
        if self.overflow.is_some() || matches!(self.scatter, Scatter::Never) {
            return Ok(None);
        }
        let buffers = batches.into_iter().flatten().map(Sheet::memory).sum::<usize>() as u64;
        let budget = self.setup.memory.as_ref().map_or(u64::MAX, |memory| memory.budget);
        let mut scatter = std::mem::take(&mut self.scatter);
        let change = scatter.next_change(&self.progress(), budget.saturating_sub(buffers));
        self.scatter = scatter;
        change
    }

    fn progress(&self) -> Progress<'_> {
        Progress {
            shards: &self.shards,
            distinct: self.places.len(),
            files: &self.report.files,
            read: self.setup.watch.bytes.load(Atomic::Relaxed),
            size: self.size_of_inputs,
        }
    }

    /// Scatters the set. No batch may be on its way.
    pub(super) fn begin_to_scatter(&mut self) -> Result<(), RunError> {
        let scattering = Scattering::begin(&self.progress(), self.setup.threads)?;
        self.scatter = Scatter::Active(scattering);
        self.shards.iter_mut().for_each(|shard| *shard = Shard::new(self.counting));
        self.places = Vec::new();
        self.rules.shards = 0;
        Ok(())
    }

    /// Gathers the scattered URLs into the set. No batch may be on its way.
    pub(super) fn gather(&mut self) -> Result<(), RunError> {
        let Some(scattering) = self.scatter.take_active() else { return Ok(()) };
        self.rules.shards = self.shards.len();
        let firsts = scattering.gather(&self.rules.key, &mut self.shards, &mut self.places)?;
        // Batches that wait after a long chunk were not partitioned when they were read.
        let read = self.waiting.iter_mut().filter(|reading| reading.is_read());
        for Reading { sheet, .. } in read {
            sheet.partition(&self.rules)?;
        }
        self.settle_scattered(&firsts);
        Ok(())
    }

    /// Writes the scattered URLs, if there are any.
    pub(super) fn write_scattered(&mut self, out: &mut (dyn Write + Send)) -> Result<(), RunError> {
        let Some(scattering) = self.scatter.take_active() else { return Ok(()) };
        let firsts = scattering.write(self.setup.split, out)?;
        self.settle_scattered(&firsts);
        Ok(())
    }

    fn settle_scattered(&mut self, firsts: &Firsts) {
        firsts.settle(&mut self.report.files);
        let counted = total(&self.report.files);
        self.setup.watch.count(|tally, _| *tally = counted);
    }

    /// The set could not take all of a batch: takes back what it took, and spills the batch.
    pub(super) fn spill_instead(
        &mut self,
        batch: &mut [Sheet],
        ends: &mut [End],
    ) -> Result<(), RunError> {
        if self.setup.memory.is_none() {
            return Err(RunError::Set(SetFull::default()));
        }
        for (number, (shard, end)) in self.shards.iter_mut().zip(&*ends).enumerate() {
            shard.take_back(end.before, |url| self.rules.key.hash(url));
            let (whole, part) = end.full.unwrap_or((batch.len(), 0));
            for (i, sheet) in batch.iter().enumerate().take(whole + 1) {
                let entries = sheet.entries_of(number);
                let added = if i < whole { entries } else { &entries[..part] };
                added.iter().for_each(|e| shard.count_back(e.hash, sheet.text.buffers().of(e)));
            }
        }
        self.begin_to_spill()?;
        batch.iter_mut().for_each(|sheet| sheet.spills = true);
        let Self { seen, shards, .. } = self;
        rayon::scope(|scope| insert(scope, seen.as_deref_mut(), shards, batch, ends));
        Ok(())
    }
}

/// How many entries these sheets have for each shard.
pub(super) fn entries_by_shard(sheets: &[Sheet], shards: usize) -> Vec<usize> {
    let mut entries = vec![0; shards];
    for sheet in sheets {
        let mut start = 0;
        for (entries, end) in entries.iter_mut().zip(&sheet.ends) {
            *entries += end - start;
            start = *end;
        }
    }
    entries
}
