//! How a run goes on where another was killed, and how it leaves checkpoints for the next.

use std::io::{self, Write};
use std::sync::atomic::Ordering;

use super::checkpoint::{Absorbed, Groups, Manifest, NewPart};
use super::report::RunError;
use super::run::Run;
use crate::output::FileStats;
use uniqurl::set::Counting;
use uniqurl_formats::input::InputState;
use uniqurl_store::spill::{Entry, Told};

impl Run<'_> {
    /// Takes over what a run before has absorbed.
    pub(super) fn resume(
        &mut self,
        rejects: Option<&mut (dyn Write + Send)>,
    ) -> Result<(), RunError> {
        let Some(found) = self.keeper.as_ref().and_then(|keeper| keeper.found()) else {
            return Ok(());
        };
        self.take_accounting(found);
        self.take_set(found)?;
        self.each_entry("observed", |run, entry| {
            run.report.observed.iter_mut().for_each(|observed| observed.take(&entry));
            Ok(())
        })?;
        if let Some(observed) = &mut self.report.observed {
            let bytes = self.setup.watch.bytes.load(Ordering::Relaxed);
            observed.pace.begin(self.setup.watch.earlier().as_secs_f64(), bytes);
        }
        if let (Some(rejects), Some(keeper)) = (rejects, &self.keeper) {
            for (path, seal) in keeper.parts("rejects") {
                let copied = Groups::open(path, seal).and_then(|mut part| part.copy(rejects));
                copied.map_err(RunError::Output)?;
            }
        }
        if found.spills {
            // What was seen before the run may have been too much already.
            if self.overflow.is_none() {
                self.begin_to_spill()?;
            }
            self.moved = found.moved;
            self.spill_again("moved")?;
            self.spill_again("spilled")?;
        }
        Ok(())
    }

    fn take_accounting(&mut self, found: &Manifest) {
        for (input, Absorbed { bytes, .. }) in found.files.iter().enumerate() {
            let tally = found.files[input].tally();
            let path = self.inputs[input].path.clone();
            self.report.files[input] =
                FileStats { path, state: InputState::Ok, bytes: *bytes, tally };
            self.origins.begin(self.before.in_run, input);
            self.before.in_run += tally.records;
            self.setup.watch.bytes.fetch_add(*bytes, Ordering::Relaxed);
            self.setup.watch.count(|all, inputs| {
                all.merge(&tally);
                inputs.ok += 1;
            });
        }
        self.setup.watch.earlier.store(found.milliseconds, Ordering::Relaxed);
        self.schedule.pass_over(found.files.len());
        self.counted = found.files.len();
        self.rejected = found.rejected;
        if !found.spills {
            self.inserted = self.setup.watch.bytes.load(Ordering::Relaxed);
        }
        self.report.hostless = found.hostless;
        self.report.listed = found.listed;
        self.report.tabbed = found.tabbed;
        self.report.guessed.clone_from(&found.guessed);
        self.report.padded.clone_from(&found.padded);
        self.report.cut.clone_from(&found.cut);
    }

    /// The keys in the order in which they were first seen, and what is known of each.
    fn take_set(&mut self, found: &Manifest) -> Result<(), RunError> {
        if found.moved > 0 {
            // What was in the set is among what was spilled.
            return Ok(());
        }
        self.each_entry("urls", |run, entry| run.take_url(&entry))?;
        let mut known = 0;
        self.each_entry("counts", |run, entry| {
            let Some(place) = run.places.get(known) else { return Err(not_whole()) };
            known += 1;
            run.shards[(place >> 32) as usize].set_count(*place as u32, entry.count);
            run.lines.offer(*place, entry.line).map_err(RunError::from)
        })?;
        let expected = if self.has_counts() { self.places.len() } else { 0 };
        if self.places.len() as u64 != found.urls || known != expected {
            return Err(not_whole());
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.saved = self.places.len();
        }
        Ok(())
    }

    /// Whether something of each key changes with its later records.
    fn has_counts(&self) -> bool {
        self.counting == Counting::On || self.lines.are_replaced()
    }

    /// Takes the entries of all parts of a kind that a run before has left.
    fn each_entry(
        &mut self,
        kind: &str,
        mut take: impl FnMut(&mut Self, Entry<'_>) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let parts: Vec<_> = self.keeper.iter().flat_map(|keeper| keeper.parts(kind)).collect();
        let mut group = Vec::new();
        for (path, seal) in parts {
            let mut part = Groups::open(path, seal).map_err(RunError::Output)?;
            while part.next(&mut group).map_err(RunError::Output)? {
                let mut rest = group.as_slice();
                while !rest.is_empty() {
                    let entry = Entry::take(&mut rest);
                    take(self, entry.ok_or_else(|| RunError::Output(part.damaged()))?)?;
                }
            }
        }
        Ok(())
    }

    fn take_url(&mut self, entry: &Entry<'_>) -> Result<(), RunError> {
        let hash = self.rules.key.hash(entry.key);
        let shard = hash.shard(self.shards.len());
        if let Some(place) = self.shards[shard].add(hash, entry.key)? {
            let place = (shard as u64) << 32 | u64::from(place);
            uniqurl::bytes::alloc::try_reserve(&mut self.places, 1)?;
            self.places.push(place);
            // Where a later record may survive, lines are with the counts.
            if !entry.line.is_empty() {
                self.lines.add(1, entry.line)?;
            }
        }
        Ok(())
    }

    /// Spills what was spilled before, by the hash of this run.
    fn spill_again(&mut self, kind: &str) -> Result<(), RunError> {
        let (Some(keeper), Some(overflow)) = (&self.keeper, &mut self.overflow) else {
            return Ok(());
        };
        let (seen, key, origins) = (self.seen.as_deref(), &self.rules.key, &self.origins);
        // The run before may have had less memory for what was seen, and have spilled that too.
        let is_seen = |entry: &Entry<'_>| {
            let hash = key.hash(entry.key);
            seen.is_some_and(|seen| seen[hash.shard(seen.len())].contains(hash, entry.key))
        };
        let mut group = Vec::new();
        for (path, seal) in keeper.parts(kind) {
            let mut part = Groups::open(path, seal).map_err(RunError::Output)?;
            while part.next(&mut group).map_err(RunError::Output)? {
                let mut entries = Vec::new();
                let mut rest = group.as_slice();
                while !rest.is_empty() {
                    let entry = Entry::take(&mut rest);
                    let entry = entry.ok_or_else(|| RunError::Output(part.damaged()))?;
                    if is_seen(&entry) {
                        origins.found(entry.ordinal, Told::Seen);
                        continue;
                    }
                    uniqurl::bytes::alloc::try_reserve(&mut entries, 1)?;
                    entries.push(entry);
                }
                // A group is of one chunk, whose partitions stand one behind the other.
                entries.sort_unstable_by_key(|entry| entry.ordinal);
                overflow.spill(entries, key)?;
            }
        }
        Ok(())
    }

    /// Writes a checkpoint of the inputs so far. Nothing of them may be on its way.
    pub(super) fn save(&mut self) -> Result<(), RunError> {
        let absorbed = self.schedule.reached();
        let files = self.report.files[..absorbed].iter();
        let manifest = Manifest {
            files: files.map(|file| Absorbed::new(file.bytes, &file.tally)).collect(),
            milliseconds: self.taken().as_millis() as u64,
            urls: self.places.len() as u64,
            spills: self.overflow.is_some(),
            moved: self.moved,
            rejected: self.rejected,
            hostless: self.report.hostless,
            listed: self.report.listed,
            tabbed: self.report.tabbed,
            guessed: self.report.guessed.clone(),
            padded: self.report.padded.clone(),
            cut: self.report.cut.clone(),
            ..Manifest::new()
        };
        let has_counts = self.has_counts();
        let Self { keeper, places, shards, lines, inputs, report, .. } = self;
        let Some(keeper) = keeper else { return Ok(()) };
        let shard = |place: u64| &shards[(place >> 32) as usize];
        let new = places.iter().enumerate().skip(keeper.saved).map(|(i, place)| {
            let key = shard(*place).get(*place as u32);
            Entry { ordinal: 0, count: 0, key, line: lines.nth(i) }
        });
        let mut parts: Vec<NewPart<'_>> = vec![("urls", Box::new(new))];
        if has_counts {
            let counts = places.iter().map(|place| {
                let count = shard(*place).count(*place as u32);
                Entry { ordinal: 0, count, key: &[], line: lines.candidate(*place) }
            });
            parts.push(("counts", Box::new(counts)));
        }
        if let Some(observed) = &report.observed {
            parts.push(("observed", Box::new(observed.entries())));
        }
        if keeper.save(inputs, manifest, parts).map_err(RunError::Output)? {
            keeper.saved = places.len();
        }
        Ok(())
    }
}

fn not_whole() -> RunError {
    let text = "the checkpoint is not whole; remove its directory to start anew";
    RunError::Output(io::Error::new(io::ErrorKind::InvalidData, text))
}
