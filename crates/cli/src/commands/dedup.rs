//! `uniqurl dedup`: the request for a run that writes a set.

use std::path::PathBuf;

use crate::args::dedup::{DedupArgs, OrderArg};
use crate::args::memory::{self, MemoryArgs};
use crate::args::output_paths::binary_table;
use crate::args::run_args::RunArgs;
use crate::args::usage::wrong;
use crate::args::values::when_busy;
use crate::request::{Division, Request, WholeRecords};
use crate::run;
use crate::status::{Status, eprint_hinted};
use crate::stores::{ChangeKind, StoreChange, StoreOptions};
use uniqurl_engine::output::{JobKind, LineForm, place};
use uniqurl_engine::{Dedup, Job, JobPlan, Memory, SetOrder, Split};

/// Runs the subcommand.
pub fn main(mut args: DedupArgs) -> Result<Status, clap::Error> {
    let memory = memory_for(&args.memory, &mut args.common)?;
    let request = request(&args, memory).map_err(wrong)?;
    warn_of_limit(&args);
    run::start(&args.common, request)
}

/// Warns that the URLs up to a limit are not the most frequent ones, though their counts are written.
fn warn_of_limit(args: &DedupArgs) {
    let Some(limit) = args.limit.filter(|_| args.writes_counts()) else { return };
    if args.order != OrderArg::First {
        return;
    }
    eprint_hinted(
        format_args!("warning: --limit writes the first {limit} URLs, not the most frequent ones"),
        Some(&format!("write those with --top {limit}")),
    );
}

/// The memory of a run. It is found before the rules are read, since they take a part of it.
pub(super) fn memory_for(
    args: &MemoryArgs,
    common: &mut RunArgs,
) -> Result<Option<Memory>, clap::Error> {
    args.check().map_err(wrong)?;
    // Only threads that compute hold chunks in memory.
    let memory = args.memory(common.threads().min(common.most_workers()), memory::warn);
    if let Some(memory) = &memory {
        common.rules.limit(memory.budget);
    }
    Ok(memory)
}

/// Lets a run use so much memory.
pub(super) fn limit(plan: &mut JobPlan, memory: Option<Memory>) {
    let limits = &mut plan.limits;
    limits.memory = memory;
    limits.chunk_size = memory::chunk_size(limits.memory.as_ref(), limits.workers());
}

/// Turns the arguments into a request.
fn request(args: &DedupArgs, memory: Option<Memory>) -> Result<Request, String> {
    let job = Job::Dedup(Dedup {
        order: match args.order {
            OrderArg::First => SetOrder::First,
            OrderArg::Sorted => SetOrder::Sorted,
            OrderArg::Count => SetOrder::Count,
        },
        count: args.writes_counts(),
        min_count: args.min_count,
        limit: args.top.or(args.limit),
    });
    let mut request = Request::new(&args.common, job, JobKind::Dedup)?;
    let plan = &mut request.plan;
    plan.policy.keep = args.keep.clone();
    plan.policy.limit_by = args.limit_by;
    plan.policy.slugs = args.slugs;
    plan.output.fields = args.fields.clone();
    plan.output.carry = args.carry.clone();
    plan.output.tally = args.tally_columns();
    plan.output.form = if args.json { LineForm::Json } else { LineForm::Tabs };
    plan.output.split =
        args.split_by.map(|(by, shards)| Split { by, shards, key: plan.policy.key });
    limit(plan, memory);
    request.division = args.split_by.map(|(_, shards)| {
        let suffix = args.split_suffix.clone().unwrap_or_default();
        Division { shards, suffix }
    });
    request.whole = args.whole.then(|| WholeRecords {
        dropped: args.dropped.clone(),
        table: binary_table(&args.common.output),
    });
    (request.seen, request.stores) = seen_before(args)?;
    Ok(request)
}

/// The lists and the stores of earlier runs. A directory is a store.
fn seen_before(args: &DedupArgs) -> Result<(Vec<PathBuf>, StoreOptions), String> {
    let saved = args.save_seen.as_deref().map(place);
    // The store of --save-seen need not be there yet.
    let is_store = |path: &PathBuf| path.is_dir() || saved == Some(place(path));
    let (before, lists) = args.seen.iter().cloned().partition::<Vec<_>, _>(is_store);
    let change = args.save_seen.clone().map(|store| StoreChange {
        store,
        kind: ChangeKind::AddWritten,
        when_busy: when_busy(args.wait),
    });
    let stores = StoreOptions { before, max_age: args.max_age, change };
    if stores.max_age.is_some() && !stores.are_asked() {
        return Err("--max-age is about the keys of a store, and --seen names lists only".into());
    }
    Ok((lists, stores))
}
