//! `uniqurl seen export`: the keys of a store as one sorted list.

use std::io;

use super::failure::SeenFailure;
use crate::args::seen::ExportArgs;
use crate::signals::Signals;
use crate::status::Status;
use uniqurl_engine::output::Output;
use uniqurl_store::seen::{SeenStore, SeenStoreError, SeenStoreProblem};

/// Runs the subcommand.
pub(super) fn main(args: &ExportArgs) -> Result<Status, SeenFailure> {
    let signals = Signals::watch(|| {});
    let signals =
        signals.map_err(|error| io::Error::other(format!("cannot watch for signals: {error}")))?;
    let store = SeenStore::open(&args.of.store)?;
    let mut out = Output::create(&args.output)?;
    let name = out.name().to_owned();
    store.export(args.after, &mut out, &name).map_err(|error| of_output(error, &name))?;
    out.prepare()?;
    // As in a run: a full pipe may block `prepare` for ever, so signals are held off only after it.
    signals.hold_off();
    out.commit()?;
    Ok(Status::Complete)
}

/// An error of the output, whose text names it already, or one of the store.
fn of_output(error: SeenStoreError, output: &std::path::Path) -> SeenFailure {
    match error {
        SeenStoreError { path, problem: SeenStoreProblem::Io(error), .. } if path == output => {
            SeenFailure::Output(error)
        }
        error => SeenFailure::Store(error),
    }
}
