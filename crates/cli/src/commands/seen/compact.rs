//! `uniqurl seen compact`: merges all runs of a store into one.

use std::io::{self, Write};

use super::failure::SeenFailure;
use crate::args::seen::CompactArgs;
use crate::args::values::when_busy;
use crate::status::Status;
use uniqurl_store::seen::SeenWriter;

/// Runs the subcommand.
pub(super) fn main(args: &CompactArgs) -> Result<Status, SeenFailure> {
    let mut writer = SeenWriter::open(&args.of.store, when_busy(args.wait))?;
    let before = writer.store().stats();
    writer.compact(args.memory.bytes())?;
    let after = writer.store().stats();
    writeln!(
        io::stdout(),
        "runs {} -> {}, bytes {} -> {}",
        before.runs.len(),
        after.runs.len(),
        before.bytes,
        after.bytes
    )?;
    Ok(Status::Complete)
}
