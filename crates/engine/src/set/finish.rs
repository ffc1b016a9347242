//! The end of a run: writes the output that had to wait for it, and pushes the keys that were written.

use super::spiller::{Ending, SpilledLines};
use super::written_keys::{self, Unsorted, push_places, sort_places};
use super::{RunSet, SetBackend};
use crate::accounts::Accounts;
use crate::job::{Dedup, SetOrder};
use crate::output::TallyLayout;
use crate::phase_writer::PhaseWriter;
use crate::reader::RecordOrigins;
use crate::error::RunError;
use crate::sink::Sink;
use uniqurl::internal::Counting;
use uniqurl_store::seen::KeySink;

impl RunSet<'_> {
    /// Writes the output that was held back while the inputs were read.
    pub(crate) fn finish(
        &mut self,
        sink: &mut Sink<'_>,
        accounts: &mut Accounts<'_>,
        origins: &RecordOrigins,
    ) -> Result<(), RunError> {
        let Some(&dedup) = self.plan.dedup() else { return Ok(()) };
        let Sink { out, keys: key_sink, .. } = sink;
        let out = &mut PhaseWriter::new(&mut **out, accounts.watch());
        let split = self.plan.output.split;
        let tally = TallyLayout::new(self.plan, self.measured);
        if let SetBackend::Scattering(_) = &self.backend
            && let SetBackend::Scattering(scatterer) =
                std::mem::replace(&mut self.backend, SetBackend::None)
        {
            accounts.settle_scattered(&scatterer.write(split, out)?);
            return Ok(());
        }
        let (mut runs, mut written) = (Vec::new(), 0);
        let mut unsorted = None;
        match &mut self.backend {
            SetBackend::None | SetBackend::Scattering(_) => return Ok(()),
            SetBackend::Memory(set) => {
                let places = match set.ordered(&dedup)? {
                    Some(ordered) => {
                        let lines = ordered.write(&dedup, split, tally, out);
                        Some(ordered.into_places(lines.map_err(RunError::Output)?))
                    }
                    None => None,
                };
                let Some(keys) = key_sink else { return Ok(()) };
                let is_sorted = places.is_some() && dedup.order == SetOrder::Sorted;
                let mut places = match places {
                    Some(places) => places,
                    // All of them were written when they came.
                    None => written_keys::all_places(&set.shards)?,
                };
                if !is_sorted {
                    sort_places(&mut places, &set.shards)?;
                }
                return Ok(push_places(&places, &set.shards, *keys)?);
            }
            SetBackend::Spilling(set, spiller) if spiller.has_ranges() => {
                spiller.spill_set(set)?;
                // Keys of the set were counted when they came.
                self.moved = self.moved.max(set.listed() as u64);
            }
            SetBackend::Spilling(set, spiller) => {
                if self.plan.policy.limit_by.is_some() {
                    spiller.spill_ahead(set.open_groups(), &self.hasher)?;
                }
                if let (Some(_), Some(memory)) = (&*key_sink, &self.plan.limits.memory)
                    && dedup.order != SetOrder::Sorted
                {
                    unsorted = Some(Unsorted::new(spiller.lend_memory(), &memory.directory));
                }
                let places = match (set.ordered(&dedup)?, dedup.order) {
                    // Keys in memory and spilled keys are merged into one sorted output.
                    (Some(ordered), SetOrder::Sorted | SetOrder::Count) => {
                        runs.push(spiller.write_run(ordered.entries())?);
                        None
                    }
                    // In the order of the input, the keys in memory precede all spilled ones.
                    (Some(ordered), SetOrder::First) => {
                        let lines = ordered.write(&dedup, split, tally, out);
                        written = lines.map_err(RunError::Output)?;
                        Some(ordered.into_places(written))
                    }
                    (None, _) => match &unsorted {
                        Some(_) => Some(written_keys::all_places(&set.shards)?),
                        None => None,
                    },
                };
                if let (Some(places), Some(unsorted)) = (places, &mut unsorted) {
                    push_places(&places, &set.shards, unsorted)?;
                }
            }
        }
        if let SetBackend::Spilling(set, spiller) =
            std::mem::replace(&mut self.backend, SetBackend::None)
        {
            // Its memory is needed for the partitions.
            drop(set);
            let store = spiller.store();
            let ending = Ending {
                hasher: &self.hasher,
                lines: self.spilled_lines(&dedup, written),
                origins,
                // Keys that were moved out of memory were counted when they came.
                moved: self.moved,
                sorted: runs,
                out,
                keys: match (&mut unsorted, &mut *key_sink) {
                    (Some(unsorted), _) => Some(unsorted as &mut dyn KeySink),
                    // They are written in the order of their bytes.
                    (None, Some(keys)) => Some(&mut **keys),
                    (None, None) => None,
                },
            };
            let done = match spiller.has_ranges() {
                true => spiller.finish_ranges(ending),
                false => spiller.finish(ending),
            };
            accounts.report().spilled = store.spilled();
            done?;
            accounts.settle_spilled(origins);
            if let (Some(unsorted), Some(keys)) = (unsorted, key_sink) {
                unsorted.finish(*keys)?;
            }
        }
        Ok(())
    }

    fn spilled_lines<'d>(&self, dedup: &'d Dedup, written: u64) -> SpilledLines<'d> {
        let plan = self.plan;
        SpilledLines {
            dedup,
            split: plan.output.split,
            counting: if plan.counts_records() { Counting::On } else { Counting::Off },
            policy: plan.kept_record(),
            columns: plan.has_lines(),
            tally: TallyLayout::new(plan, self.measured),
            written,
        }
    }
}
