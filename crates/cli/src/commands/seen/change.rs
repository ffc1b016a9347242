//! `uniqurl seen add` and `uniqurl seen remove`: the keys of inputs come into a store, or go out of it.

use std::process::ExitCode;

use crate::args::seen::ChangeArgs;
use crate::commands::dedup;
use crate::run::{self, Request};
use crate::stores::{ChangeKind, StoreChange, StoreOptions};
use uniqurl_engine::Job;
use uniqurl_engine::output::JobKind;

/// Runs the subcommand.
pub(super) fn main(mut args: ChangeArgs, kind: ChangeKind) -> ExitCode {
    let memory = dedup::memory_for(&args.memory, &mut args.common);
    run::start(&args.common, JobKind::Dedup, || {
        let job = Job::Dedup(Default::default());
        let mut request = Request::new(&args.common, job, JobKind::Dedup)?;
        dedup::limit(&mut request.plan, memory);
        let change = StoreChange { store: args.store.clone(), kind, when_busy: args.when_busy };
        request.stores = StoreOptions { change: Some(change), ..StoreOptions::default() };
        Ok(request)
    })
}
