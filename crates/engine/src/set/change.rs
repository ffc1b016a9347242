//! How a set changes during a run: it begins to spill, and is moved out of memory.

use super::spiller::Spiller;
use super::{RunSet, SetBackend};
use crate::error::RunError;
use uniqurl::SetFull;

impl RunSet<'_> {
    /// Makes the set take no more keys, and starts to spill. The keys of `done` bytes of the inputs were
    /// inserted.
    pub(super) fn begin_to_spill(&mut self, done: u64) -> Result<(), RunError> {
        let Some(memory) = &self.plan.limits.memory else {
            return Err(RunError::Set(SetFull::default()));
        };
        let SetBackend::Memory(set) = &self.backend else { return Ok(()) };
        if self.plan.group_limit().is_some() {
            // Which keys are the first of a group is only known to a set that holds all of them.
            return match memory.is_exceeded_by(self.memory(&[])) || set.is_nearly_full() {
                true => Err(RunError::Groups),
                false => Ok(()),
            };
        }
        if self.plan.policy.slugs.is_some() {
            // Which values are many is known only of all templates together.
            return match memory.is_exceeded_by(self.memory(&[])) || set.is_nearly_full() {
                true => Err(RunError::Slugs),
                false => Ok(()),
            };
        }
        // Assumes that each remaining byte takes as much memory as one so far, at most one byte.
        let held: usize = set.shards.iter().map(|shard| shard.memory(0)).sum();
        let rest = self.size_of_inputs.map(|total| {
            let rate = if done > 0 && held > 0 { held as f64 / done as f64 } else { 1.0 };
            (total.saturating_sub(done) as f64 * rate.min(1.0)) as u64
        });
        // The first record of each key is found by hash, all else by ranges of keys.
        let sample = (!self.plan.keeps_first_records()).then_some(&set.shards[..]);
        // Results that are not in the order of keys are written once more.
        let rewrites = self.plan.writes_at_end() || self.wants_keys;
        let threads = self.plan.limits.workers();
        let spiller = Spiller::begin(memory, threads, rest, rewrites, sample)?;
        // Taken out only now, since the sample of its keys borrows the set, and `begin` may fail.
        if let SetBackend::Memory(set) = std::mem::replace(&mut self.backend, SetBackend::None) {
            self.backend = SetBackend::Spilling(set, spiller);
        }
        Ok(())
    }

    /// Moves the keys of the set out of memory.
    pub(super) fn move_out(&mut self) -> Result<(), RunError> {
        if let SetBackend::Spilling(set, spiller) = &mut self.backend {
            spiller.spill_set(set)?;
            self.moved = set.listed() as u64;
            set.clear();
        }
        Ok(())
    }
}
