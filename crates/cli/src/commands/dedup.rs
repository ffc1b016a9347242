//! `uniqurl dedup`: the plan of a run that writes a set.

use std::process::ExitCode;

use clap::error::ErrorKind;

use crate::args::{self, DedupArgs, DedupColumns, OrderArg, memory};
use crate::outputs::Division;
use crate::run::{self, Plan};
use uniqurl_engine::output::JobKind;
use uniqurl_engine::{Dedup, Job, Order};

/// Runs the subcommand.
pub fn main(dedup: DedupArgs) -> ExitCode {
    if let Err(message) = dedup.memory.check() {
        args::exit(&args::usage("dedup", ErrorKind::ValueValidation, message));
    }
    let job = Job::Dedup(Dedup {
        order: match dedup.order {
            OrderArg::First => Order::First,
            OrderArg::Sorted => Order::Sorted,
            OrderArg::None => Order::None,
        },
        count: dedup.columns == DedupColumns::CountAndUrl,
        min_count: dedup.min_count,
        limit: dedup.limit,
    });
    let plan = Plan {
        job,
        fields: dedup.fields,
        carry: dedup.carry,
        keep: dedup.keep,
        form: dedup.form,
        seen: dedup.seen,
        save_seen: dedup.save_seen,
        division: dedup.split_by.map(|(by, shards)| {
            let suffix = dedup.split_suffix.unwrap_or_default();
            Division { by, shards, suffix }
        }),
        memory: dedup.memory.memory(dedup.common.threads(), memory::warn),
        name: JobKind::Dedup,
    };
    run::start(&dedup.common, plan)
}
