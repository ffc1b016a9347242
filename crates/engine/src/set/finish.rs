//! The end of a run: writes the output that had to wait for it, and saves the set for a later run.

use std::io::Write;

use super::memory_set::MemorySet;
use super::ordered;
use super::spiller::{Ending, SavedSet, SpilledLines, Spiller};
use super::{RunSet, SetBackend};
use crate::accounts::Accounts;
use crate::job::{Dedup, SetOrder};
use crate::reader::RecordOrigins;
use crate::report::RunError;
use crate::sink::Sink;
use uniqurl::bytes::alloc;
use uniqurl::set::{Counting, SetFull};
use uniqurl_formats::record::SetHeader;
use uniqurl_store::sort::{ShardUrls, Threads, Urls as _, in_turn, sort};
use uniqurl_store::spill::{SpillEntry, Stream};

impl RunSet<'_> {
    /// Writes the output that was held back while the inputs were read.
    pub(crate) fn finish(
        &mut self,
        sink: &mut Sink<'_>,
        accounts: &mut Accounts<'_>,
        origins: &RecordOrigins,
    ) -> Result<(), RunError> {
        let Some(&dedup) = self.plan.dedup() else { return Ok(()) };
        let split = self.plan.output.split;
        if let SetBackend::Scattering(_) = &self.backend
            && let SetBackend::Scattering(scatterer) =
                std::mem::replace(&mut self.backend, SetBackend::None)
        {
            accounts.settle_scattered(&scatterer.write(split, sink.out)?);
            return Ok(());
        }
        let (mut runs, mut written) = (Vec::new(), 0);
        let header = self.header.as_ref().map(SetHeader::line).unwrap_or_default();
        let saved = match &mut self.backend {
            SetBackend::None | SetBackend::Scattering(_) => return Ok(()),
            SetBackend::Memory(set) => {
                if let Some(set) = set.ordered(&dedup)? {
                    set.write(&dedup, split, sink.out).map_err(RunError::Output)?;
                }
                if let Some(out) = &mut sink.seen {
                    save(set, None, &header, *out)?;
                }
                return Ok(());
            }
            SetBackend::Spilling(set, spiller) if spiller.has_ranges() => {
                spiller.spill_set(set)?;
                // Keys of the set were counted when they came.
                self.moved = self.moved.max(set.listed() as u64);
                None
            }
            SetBackend::Spilling(set, spiller) => {
                if let Some(set) = set.ordered(&dedup)? {
                    match dedup.order {
                        // Keys in memory and spilled keys are merged into one sorted output.
                        SetOrder::Sorted | SetOrder::Count => {
                            runs.push(spiller.write_run(set.entries())?);
                        }
                        // In the order of the input, the keys in memory precede all spilled ones.
                        SetOrder::First | SetOrder::None => {
                            let lines = set.write(&dedup, split, sink.out);
                            written = lines.map_err(RunError::Output)?;
                        }
                    }
                }
                match &mut sink.seen {
                    Some(out) => {
                        let runs = save(set, Some(spiller), &header, out)?;
                        Some(SavedSet { runs, out })
                    }
                    None => None,
                }
            }
        };
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
                out: sink.out,
            };
            let done = match spiller.has_ranges() {
                true => spiller.finish_ranges(ending),
                false => spiller.finish(ending, saved),
            };
            accounts.report().spilled = store.spilled();
            done?;
            accounts.settle_spilled(origins);
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
            columns: plan.has_columns(),
            written,
        }
    }
}

/// Saves the keys of a set, and those from before the run, in the order of their bytes: at once, or as runs
/// for the merge with spilled keys.
fn save(
    set: &MemorySet,
    spiller: Option<&mut Spiller>,
    header: &str,
    out: &mut (dyn Write + Send),
) -> Result<Vec<Stream>, RunError> {
    out.write_all(header.as_bytes()).map_err(RunError::Output)?;
    let shards = ShardUrls(set.all_shards().collect());
    let mut places = Vec::new();
    let keys = shards.0.iter().map(|shard| shard.len()).sum();
    places.try_reserve_exact(keys).map_err(|_| SetFull::default())?;
    for (at, shard) in (0u64..).zip(&shards.0) {
        // `ShardUrls` expects the number of the shard in the upper half.
        places.extend(shard.places().map(|place| at << 32 | u64::from(place)));
    }
    sort(&mut places, &shards, Threads::All)?;
    if let Some(spiller) = spiller {
        // A saved set holds keys only, and a merge by bytes needs no ordinals.
        let entry = |place| SpillEntry { ordinal: 0, count: 0, key: shards.get(place), line: &[] };
        return Ok(vec![spiller.write_run(in_turn(&places, &shards).map(entry))?]);
    }
    let written = ordered::write(&places, &shards, out, |_, key, text| {
        alloc::try_reserve(text, key.len() + 1)?;
        text.extend_from_slice(key);
        text.push(b'\n');
        Ok(())
    });
    written.map_err(RunError::Output)?;
    Ok(Vec::new())
}
