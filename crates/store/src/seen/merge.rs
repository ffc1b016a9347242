//! Merges neighbouring runs into one.

use std::sync::Arc;

use super::directory::WriterDirectory;
use super::error::SeenStoreError;
use super::merge_reader::MergeReader;
use super::new_run::NewRun;
use super::run::{Mark, Run};
use super::stats::AddStats;
use super::time::UnixTime;

/// As many runs are merged at once, however little memory there is.
const MIN_RUNS: usize = 8;

/// The number of runs that are merged at once within `memory` bytes.
pub(super) fn runs_at_once(memory: usize) -> usize {
    (memory / Run::reading_memory()).max(MIN_RUNS)
}

/// A merge of neighbouring runs.
#[derive(Debug)]
pub(super) struct RunMerge<'r> {
    /// Oldest first.
    pub(super) runs: &'r [Run],
    /// Whether no older run is in the store. Marks of removed keys are dropped then.
    pub(super) has_oldest: bool,
    /// Keys that were added earlier are dropped. No older run may have entries of them, or those would count
    /// again.
    pub(super) since: Option<UnixTime>,
}

/// The result of a merge.
#[derive(Debug)]
pub(super) struct MergeResult {
    /// None: no entry is left.
    pub(super) run: Option<(NewRun, Run)>,
    /// Number of keys that were dropped since they were added too early.
    pub(super) forgotten: u64,
}

impl RunMerge<'_> {
    /// Writes the newest entry of each key into the new run `number`.
    pub(super) fn write(
        &self,
        directory: &Arc<WriterDirectory>,
        number: u64,
    ) -> Result<MergeResult, SeenStoreError> {
        // The list of adds comes first: the footer needs it, and the entries are read only once.
        let adds = JoinedAdds::of(self);
        let (file, mut writer) = NewRun::create(directory, number, &adds.adds)?;
        let mut forgotten = 0;
        let mut entries = MergeReader::new(directory.path(), self.runs)?;
        while let Some(entry) = entries.next()? {
            if !entry.is_newest {
                continue;
            }
            match entry.mark {
                Mark::Removed if self.has_oldest => {}
                Mark::Removed => writer.push(entry.key, Mark::Removed)?,
                Mark::Added(add) => match adds.places[entry.run][add as usize] {
                    Some(add) => writer.push(entry.key, Mark::Added(add))?,
                    None => forgotten += 1,
                },
            }
        }
        Ok(MergeResult { run: file.finish(writer)?, forgotten })
    }
}

/// The adds of all runs of a merge, as the list of the merged run.
#[derive(Debug, Default)]
struct JoinedAdds {
    adds: Vec<(u64, UnixTime)>,
    /// For each run, for each of its adds: the place in the list, if it is there.
    places: Vec<Vec<Option<u32>>>,
}

impl JoinedAdds {
    /// Joins the lists, without adds that have no keys or are too early.
    fn of(merge: &RunMerge<'_>) -> Self {
        let mut joined = Self::default();
        for run in merge.runs {
            let place = |add: &AddStats| {
                // Without this, an add whose keys all came again later would be listed for ever.
                let is_kept = add.keys > 0 && merge.since.is_none_or(|since| add.time >= since);
                is_kept.then(|| {
                    joined.adds.push((add.number, add.time));
                    joined.adds.len() as u32 - 1
                })
            };
            joined.places.push(run.adds().iter().map(place).collect());
        }
        joined
    }
}
