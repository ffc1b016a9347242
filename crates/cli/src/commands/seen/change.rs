//! `uniqurl seen add` and `uniqurl seen remove`: the keys of inputs come into a store, or go out of it.

use crate::args::seen::ChangeArgs;
use crate::args::usage::wrong;
use crate::args::values::when_busy;
use crate::commands::dedup;
use crate::request::Request;
use crate::run;
use crate::status::Status;
use crate::stores::{ChangeKind, StoreChange, StoreOptions};
use uniqurl_engine::Job;
use uniqurl_engine::output::JobKind;

/// Runs the subcommand.
pub(super) fn main(mut args: ChangeArgs, kind: ChangeKind) -> Result<Status, clap::Error> {
    let memory = dedup::memory_for(&args.memory, &mut args.common)?;
    let job = Job::Dedup(Default::default());
    let mut request = Request::new(&args.common, job, JobKind::Dedup).map_err(wrong)?;
    dedup::limit(&mut request.plan, memory);
    let change = StoreChange { store: args.store, kind, when_busy: when_busy(args.wait) };
    request.stores = StoreOptions { change: Some(change), ..StoreOptions::default() };
    run::start(&args.common, request)
}
