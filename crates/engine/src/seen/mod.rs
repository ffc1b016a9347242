//! Lists from before the run, whose URLs do not come out again.
//!
//! They are read before the inputs and by the same reader, on all cores, into shards of their own, so that a URL in
//! them differs from one that the run itself has found. If they do not fit into memory, they become a store for the
//! time of the run, which is asked as any other.
//!
//! A list holds URLs, one a line, which go through the normalizer. A list without a single URL is refused: it
//! would make every URL new.

mod add;
mod error;

use std::sync::Arc;

pub use error::{SeenError, SeenTrouble};

use rayon::prelude::*;

use crate::batch::{ParseRules, WorkBatch};
use crate::error::RunError;
use crate::job::{Dedup, InputFormat, Job};
use crate::plan::{JobPlan, SeenBefore};
use crate::reader::{ReadEvent, Reader, at_once};
use crate::report::RejectedSeen;
use crate::stages::read;
use crate::watch::Watch;
use add::Added;
use uniqurl::internal::{HashKey, Shard};
use uniqurl_formats::input::{Input, Source};
use uniqurl_formats::record::{self, EnvelopeChoice, Format, HEAD, LONGEST_KEY, MARK, Separator};

/// The keys from before the run.
pub(crate) struct Seen {
    pub(crate) shards: Vec<Shard>,
    /// Where keys went that did not fit into memory.
    pub(crate) store: Option<SeenBefore>,
    pub(crate) rejected: Vec<RejectedSeen>,
}

/// Reads the URLs seen before the run into `shards` shards, under the hash of the run.
pub(crate) fn load(plan: &JobPlan, hasher: &HashKey, shards: usize) -> Result<Seen, RunError> {
    let are_lines = matches!(&plan.input.format,
        InputFormat::Fixed(format) if **format == Format::Lines);
    let plan = &plan_of_lists(plan);
    // An empty file is an empty list, whatever its name.
    let lists = plan.input.seen.iter().filter(|list| !is_empty(list)).cloned();
    let lists: Vec<Input> = lists.collect();
    // The progress of the run counts none of their bytes.
    let watch = Watch::default();
    let rules =
        ParseRules { at_once: at_once(plan), ..ParseRules::new(plan, hasher.clone(), shards) };
    let mut reader = Reader::new(plan, &lists, &[], &rules, &watch);
    let mut added = Added::new(plan, shards);
    let mut counts = vec![(0, 0); lists.len()];
    let mut tasks = Vec::new();
    loop {
        // The rest of a chunk comes alone, since its records come before those of later chunks.
        if tasks.is_empty() {
            tasks.extend(reader.next_task(true));
            tasks.extend(std::iter::from_fn(|| reader.next_task(false)));
        }
        if tasks.is_empty() {
            break;
        }
        let read = tasks.par_iter_mut().with_max_len(1);
        read.try_for_each(|task| read::read(task, &rules, &watch)).map_err(|_| RunError::Memory)?;
        let mut batches = Vec::new();
        let mut later = tasks.into_iter();
        for task in later.by_ref() {
            let (batch, has_rest) = reader.finish(task);
            batches.extend(batch);
            if has_rest {
                break;
            }
        }
        let rest = reader.next_rest();
        tasks = rest.into_iter().chain(later).collect();
        for batch in &batches {
            let is_first = batch.sequence.before.in_input == 0 && counts[batch.input] == (0, 0);
            if is_first && let Err(trouble) = check_start(batch, plan.input.separator, are_lines) {
                let path = lists[batch.input].path.clone();
                return Err(RunError::Seen(SeenError { path, trouble }));
            }
            let (lines, rejected) = &mut counts[batch.input];
            *lines += batch.tally.records.records - batch.tally.records.blank;
            *rejected += batch.tally.records.rejected;
        }
        added.take(&batches, reader.memory())?;
        for event in reader.take_events() {
            if let ReadEvent::Failed(_, error) = event {
                return Err(RunError::Input(error));
            }
        }
        batches.into_iter().for_each(|batch| reader.reuse(batch));
    }
    let mut rejected = Vec::new();
    for (list, (lines, bad)) in lists.iter().zip(counts) {
        let path = list.path.clone();
        if bad > 0 && bad == lines {
            let profile = plan.normalizer.description();
            let trouble = format!("none of its {lines} lines is a URL under {profile}").into();
            return Err(RunError::Seen(SeenError { path, trouble }));
        }
        if bad > 0 {
            rejected.push(RejectedSeen { path, lines, rejected: bad });
        }
    }
    let (shards, store) = added.finish()?;
    Ok(Seen { shards, store, rejected })
}

fn is_empty(list: &Input) -> bool {
    matches!(list.source, Source::File { size: 0, .. })
}

/// A plan that reads the lists of a plan, and makes the same keys of them.
fn plan_of_lists(plan: &JobPlan) -> JobPlan {
    let mut lists = JobPlan::new(plan.normalizer.clone(), Job::Dedup(Dedup::default()));
    lists.input.format = InputFormat::Fixed(Arc::new(Format::Lines));
    lists.input.envelope = EnvelopeChoice::None;
    lists.input.separator = plan.input.separator;
    lists.input.seen.clone_from(&plan.input.seen);
    lists.policy.key = plan.policy.key;
    lists.policy.limit_by = plan.policy.limit_by;
    lists.limits = plan.limits.clone();
    // A written URL may be longer than the URL that was read, since encoding lengthens it.
    lists.limits.max_url = LONGEST_KEY;
    lists.limits.max_record = Some(LONGEST_KEY);
    lists
}

/// Checks the start of a list.
///
/// # Errors
///
/// Why the file is no list.
fn check_start(
    batch: &WorkBatch,
    separator: Separator,
    are_lines: bool,
) -> Result<(), SeenTrouble> {
    let Some(chunk) = &batch.text.chunk else { return Ok(()) };
    let bytes = chunk.bytes();
    let head = bytes.strip_prefix(MARK).unwrap_or(bytes);
    // Any bytes may begin a line, where the user says that records are lines.
    let is_wide =
        |why: &SeenTrouble| matches!(why, SeenTrouble::Refused(why) if why.is_wide_text());
    match refusal(&head[..head.len().min(HEAD)], separator) {
        Some(why) if !(are_lines && is_wide(&why)) => Err(why),
        _ => Ok(()),
    }
}

/// Why a file that begins with `head` can be no list of URLs.
fn refusal(head: &[u8], separator: Separator) -> Option<SeenTrouble> {
    if record::is_table(head) {
        return Some("a table is not a list of URLs".to_owned().into());
    }
    let why = match separator {
        Separator::LineFeed => record::refusal_of_auto(head),
        Separator::Nul => record::refusal(head),
    };
    why.map(SeenTrouble::Refused)
}
