//! `uniqurl seen verify`: reads a whole store and checks it.

use std::io::{self, Write};

use super::failure::SeenFailure;
use crate::args::seen::StoreArgs;
use crate::status::Status;
use uniqurl_store::seen::SeenStore;

/// Runs the subcommand.
pub(super) fn main(args: &StoreArgs) -> Result<Status, SeenFailure> {
    let stats = SeenStore::open(&args.store)?.verify()?;
    let (keys, runs, bytes) = (stats.keys, stats.runs.len(), stats.bytes);
    writeln!(io::stdout(), "ok: keys {keys}, runs {runs}, bytes {bytes}")?;
    Ok(Status::Complete)
}
