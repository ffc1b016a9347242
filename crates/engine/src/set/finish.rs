//! The end of a run: writes the output that had to wait for it, and pushes the keys that were written.

use std::io::Write;

use super::memory_set::MemorySet;
use super::spiller::{Ending, SpilledLines, Spiller};
use super::written_keys::{Unsorted, all_places, push_places, sort_places};
use super::{RunSet, SetBackend};
use crate::accounts::Accounts;
use crate::error::RunError;
use crate::job::{Dedup, SetOrder};
use crate::phase_writer::PhaseWriter;
use crate::reader::RecordOrigins;
use crate::sink::Sink;
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
        let Sink { out, keys, .. } = sink;
        let out = &mut PhaseWriter::new(&mut **out, accounts.watch());
        match std::mem::replace(&mut self.backend, SetBackend::None) {
            SetBackend::None => Ok(()),
            SetBackend::Memory(mut set) => {
                if let Some(most) = self.plan.policy.slugs {
                    let routes = self.plan.policy.routes.as_deref();
                    accounts.settle_joined(&set.name_slugs(most, routes, &self.hasher)?);
                }
                let places = match self.write_set(&mut set, &dedup, out)? {
                    Some(places) if dedup.order == SetOrder::Sorted => places,
                    places => {
                        if keys.is_none() {
                            return Ok(());
                        }
                        // Without places, all of them were written when they came.
                        let mut places = places.map_or_else(|| all_places(&set.shards), Ok)?;
                        sort_places(&mut places, &set.shards)?;
                        places
                    }
                };
                match keys {
                    Some(keys) => Ok(push_places(&places, &set.shards, *keys)?),
                    None => Ok(()),
                }
            }
            SetBackend::Spilling(set, spiller) => {
                let store = spiller.store();
                let done = self.finish_spilled(&dedup, (set, spiller), out, keys, origins);
                // A run that fails here has written these bytes, too.
                accounts.report().spilled = store.spilled();
                done?;
                // Only if it has not failed: otherwise nobody knows which of these records are unique.
                accounts.settle_spilled(origins);
                Ok(())
            }
        }
    }

    /// Writes a set that waited for the end; returns the places of the keys that were written.
    fn write_set(
        &self,
        set: &mut MemorySet,
        dedup: &Dedup,
        out: &mut (dyn Write + Send),
    ) -> Result<Option<Vec<u64>>, RunError> {
        let Some(ordered) = set.ordered(dedup)? else { return Ok(None) };
        let tally = self.plan.tally_layout(self.measured);
        let lines = ordered.write(dedup, self.plan.output.split, tally, out);
        Ok(Some(ordered.into_places(lines.map_err(RunError::Output)?)))
    }

    fn finish_spilled(
        &mut self,
        dedup: &Dedup,
        (mut set, mut spiller): (MemorySet, Spiller),
        out: &mut (dyn Write + Send),
        keys: &mut Option<&mut dyn KeySink>,
        origins: &RecordOrigins,
    ) -> Result<(), RunError> {
        let is_sorted = dedup.order == SetOrder::Sorted;
        let mut unsorted = match (&keys, &self.plan.limits.memory) {
            (Some(_), Some(memory)) if !is_sorted => {
                Some(Unsorted::new(spiller.lend_memory(), &memory.directory))
            }
            _ => None,
        };
        let mut written = 0;
        if dedup.order == SetOrder::First {
            // The keys in memory precede all spilled ones.
            let places = self.write_set(&mut set, dedup, out)?;
            written = places.as_ref().map_or(0, |places| places.len() as u64);
            if let Some(unsorted) = &mut unsorted {
                let places = places.map_or_else(|| all_places(&set.shards), Ok)?;
                push_places(&places, &set.shards, unsorted)?;
            }
        } else {
            spiller.spill_set(&set)?;
            // Keys of the set were counted when they came.
            self.moved = self.moved.max(set.listed() as u64);
        }
        // Its memory is needed for the partitions.
        drop(set);
        spiller.finish(Ending {
            hasher: &self.hasher,
            lines: self.spilled_lines(dedup, written),
            origins,
            // Keys that were moved out of memory were counted when they came.
            moved: self.moved,
            out,
            keys: match (&mut unsorted, &mut *keys) {
                (Some(unsorted), _) => Some(unsorted as &mut dyn KeySink),
                // They are written in the order of their bytes.
                (None, Some(keys)) => Some(&mut **keys),
                (None, None) => None,
            },
        })?;
        match (unsorted, keys) {
            (Some(unsorted), Some(keys)) => unsorted.finish(*keys),
            _ => Ok(()),
        }
    }

    fn spilled_lines<'d>(&self, dedup: &'d Dedup, written: u64) -> SpilledLines<'d> {
        let plan = self.plan;
        SpilledLines {
            dedup,
            split: plan.output.split,
            policy: plan.kept_record(),
            columns: plan.has_lines(),
            tally: plan.tally_layout(self.measured),
            written,
        }
    }
}
