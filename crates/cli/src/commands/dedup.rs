//! `uniqurl dedup`: the request for a run that writes a set.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::args::{self, DedupArgs, OrderArg, RecordForm, memory};
use crate::outputs::Division;
use crate::run::{self, Request};
use uniqurl_engine::output::{JobKind, LineForm};
use uniqurl_engine::{Dedup, Job, Memory, SetOrder, Split};

/// Runs the subcommand.
pub fn main(mut args: DedupArgs) -> ExitCode {
    if let Err(message) = args.memory.check() {
        args::exit(&args::usage("dedup", ErrorKind::ValueValidation, message));
    }
    // The rules take a part of it, so it is found before they are read.
    let memory = args.memory.memory(args.common.threads(), memory::warn);
    if let Some(memory) = &memory {
        args.common.policy.limit(memory.budget);
    }
    run::start(&args.common, JobKind::Dedup, || request(&args, memory))
}

/// Turns the arguments into a request.
fn request(args: &DedupArgs, memory: Option<Memory>) -> Result<Request, String> {
    let job = Job::Dedup(Dedup {
        order: match args.order() {
            OrderArg::First => SetOrder::First,
            OrderArg::Sorted => SetOrder::Sorted,
            OrderArg::Count => SetOrder::Count,
            OrderArg::None => SetOrder::None,
        },
        count: args.writes_counts(),
        min_count: args.min_count,
        limit: args.top.or(args.limit),
    });
    let mut request = Request::new(&args.common, job, JobKind::Dedup)?;
    let plan = &mut request.plan;
    plan.policy.keep = args.keep.clone();
    plan.output.fields = args.fields.clone();
    plan.output.carry = args.carry.clone();
    plan.output.form = match args.form {
        RecordForm::Line => LineForm::Tabs,
        RecordForm::Json => LineForm::Json,
    };
    plan.output.split =
        args.split_by.map(|(by, shards)| Split { by, shards, key: plan.policy.key });
    let limits = &mut plan.limits;
    limits.memory = memory;
    limits.chunk_size = memory::chunk_size(limits.memory.as_ref(), limits.workers());
    request.division = args.split_by.map(|(_, shards)| {
        let suffix = args.split_suffix.clone().unwrap_or_default();
        Division { shards, suffix }
    });
    request.seen = args.seen.clone();
    request.save_seen = args.save_seen.clone();
    Ok(request)
}
