//! How a run goes on where another was killed, and how it leaves checkpoints for the next.

use std::io::{self, Write};

use super::checkpoint::{Absorbed, Groups, Manifest, Part};
use super::report::RunError;
use super::run::Run;
use crate::dedup::Counting;
use crate::output::{FileStats, State};
use crate::spill::{Entry, Told};

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
        if let (Some(rejects), Some(keeper)) = (rejects, &self.keeper) {
            for path in keeper.parts("rejects") {
                let copied = Groups::open(path).and_then(|mut part| part.copy(rejects));
                copied.map_err(RunError::Output)?;
            }
        }
        if found.spills {
            // What was seen before the run may have been too much already.
            if self.overflow.is_none() {
                self.begin_to_spill()?;
            }
            self.spill_again()?;
        }
        Ok(())
    }

    fn take_accounting(&mut self, found: &Manifest) {
        for (input, Absorbed { bytes, .. }) in found.files.iter().enumerate() {
            let tally = found.files[input].tally();
            let path = self.inputs[input].path.clone();
            self.report.files[input] = FileStats { path, state: State::Ok, bytes: *bytes, tally };
            self.origins.begin(self.before.in_run, input);
            self.before.in_run += tally.records;
            self.setup.watch.bytes.fetch_add(*bytes, std::sync::atomic::Ordering::Relaxed);
            self.setup.watch.count(|all, inputs| {
                all.merge(&tally);
                inputs.ok += 1;
            });
        }
        self.schedule.pass_over(found.files.len());
        self.rejected = found.rejected;
        self.report.hostless = found.hostless;
        self.report.listed = found.listed;
        self.report.tabbed = found.tabbed;
        let path = |input: usize| self.inputs[input].path.clone();
        let named = |list: &[(usize, u64)]| list.iter().map(|(i, n)| (path(*i), *n)).collect();
        self.report.padded = named(&found.padded);
        self.report.cut = named(&found.cut);
        let guessed = found.guessed.iter().map(|(i, format)| (path(*i), format.clone()));
        self.report.guessed = guessed.collect();
    }

    /// The keys in the order in which they were first seen, and their counts.
    fn take_set(&mut self, found: &Manifest) -> Result<(), RunError> {
        let Some(keeper) = &self.keeper else { return Ok(()) };
        let (urls, counts): (Vec<_>, Vec<_>) =
            (keeper.parts("urls").collect(), keeper.parts("counts").collect());
        let mut group = Vec::new();
        for path in urls {
            let mut part = Groups::open(path).map_err(RunError::Output)?;
            while part.next(&mut group).map_err(RunError::Output)? {
                let mut rest = group.as_slice();
                while !rest.is_empty() {
                    let entry =
                        Entry::take(&mut rest).ok_or_else(|| RunError::Output(part.damaged()))?;
                    self.take_url(&entry)?;
                }
            }
        }
        let mut at = 0;
        for path in counts {
            let mut part = Groups::open(path).map_err(RunError::Output)?;
            while part.next(&mut group).map_err(RunError::Output)? {
                for count in group.chunks_exact(size_of::<u64>()) {
                    let Some(place) = self.places.get(at) else {
                        return Err(RunError::Output(part.damaged()));
                    };
                    let count = count.try_into().map_or(0, u64::from_le_bytes);
                    self.shards[(place >> 32) as usize].set_count(*place as u32, count);
                    at += 1;
                }
            }
        }
        let counted = if self.counting == Counting::On { self.places.len() } else { 0 };
        if self.places.len() as u64 != found.urls || at != counted {
            let text = "the checkpoint is not whole; remove its directory to start anew";
            return Err(RunError::Output(io::Error::new(io::ErrorKind::InvalidData, text)));
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.saved = self.places.len();
        }
        Ok(())
    }

    fn take_url(&mut self, entry: &Entry<'_>) -> Result<(), RunError> {
        let hash = self.rules.key.hash(entry.key);
        let shard = hash.shard(self.shards.len());
        if let Some(place) = self.shards[shard].add(hash, entry.key)? {
            let place = (shard as u64) << 32 | u64::from(place);
            crate::room::reserve(&mut self.places, 1)?;
            self.places.push(place);
            if self.rules.columns.is_some() {
                self.lines.add(&[place], entry.line)?;
            }
        }
        Ok(())
    }

    /// Spills what was spilled before, by the hash of this run.
    fn spill_again(&mut self) -> Result<(), RunError> {
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
        for path in keeper.parts("spilled") {
            let mut part = Groups::open(path).map_err(RunError::Output)?;
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
                    crate::room::reserve(&mut entries, 1)?;
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
        let number = |path: &std::path::Path| {
            self.inputs.iter().position(|input| input.path == path).unwrap_or_default()
        };
        let numbered = |list: &[(std::path::PathBuf, u64)]| {
            list.iter().map(|(path, n)| (number(path), *n)).collect()
        };
        let files = self.report.files[..absorbed].iter();
        let manifest = Manifest {
            files: files.map(|file| Absorbed::new(file.bytes, &file.tally)).collect(),
            urls: self.places.len() as u64,
            spills: self.overflow.is_some(),
            rejected: self.rejected,
            hostless: self.report.hostless,
            listed: self.report.listed,
            tabbed: self.report.tabbed,
            guessed: self.report.guessed.iter().map(|(p, f)| (number(p), f.clone())).collect(),
            padded: numbered(&self.report.padded),
            cut: numbered(&self.report.cut),
            ..Manifest::new()
        };
        let Self { keeper, places, shards, lines, counting, inputs, rules, .. } = self;
        let Some(keeper) = keeper else { return Ok(()) };
        let saved = keeper.saved;
        let urls = |part: &mut Part| {
            for (i, place) in places.iter().enumerate().skip(saved) {
                let key = shards[(place >> 32) as usize].get(*place as u32);
                let line = if rules.columns.is_some() { lines.nth(i) } else { &[] };
                Entry { ordinal: 0, count: 0, key, line }.append(&mut part.pending)?;
                part.settle()?;
            }
            Ok(())
        };
        let counts = |part: &mut Part| {
            for place in places.iter() {
                let count = shards[(place >> 32) as usize].count(*place as u32);
                crate::room::reserve(&mut part.pending, size_of::<u64>())?;
                part.pending.extend_from_slice(&count.to_le_bytes());
                part.settle()?;
            }
            Ok(())
        };
        let counts = (*counting == Counting::On).then_some(counts);
        keeper.save(inputs, manifest, urls, counts).map_err(RunError::Output)?;
        keeper.saved = places.len();
        Ok(())
    }
}
