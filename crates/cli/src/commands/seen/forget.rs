//! `uniqurl seen forget`: drops keys that were added before a date.

use std::io::{self, Write};

use super::SeenFailure;
use crate::args::seen::ForgetArgs;
use crate::status::Status;
use crate::stores::warn;
use uniqurl_store::seen::SeenWriter;

/// Runs the subcommand.
pub(super) fn main(args: &ForgetArgs) -> Result<Status, SeenFailure> {
    let mut writer = SeenWriter::open(&args.of.store, args.when_busy)?;
    let gone = warn(writer.forget(args.older_than, args.memory.bytes())?);
    writeln!(io::stdout(), "keys forgotten {gone}")?;
    Ok(Status::Complete)
}
