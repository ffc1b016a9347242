//! `uniqurl seen forget`: drops keys that were added before a date.

use std::io::{self, Write};

use super::failure::SeenFailure;
use crate::args::seen::ForgetArgs;
use crate::args::values::when_busy;
use crate::status::Status;
use crate::stores::warn;
use uniqurl_store::seen::{SeenWriter, UnixTime};

/// Runs the subcommand.
pub(super) fn main(args: &ForgetArgs) -> Result<Status, SeenFailure> {
    let mut writer = SeenWriter::open(&args.of.store, when_busy(args.wait))?;
    // An age may end before 1970, and no key is that old.
    let before = UnixTime(args.older_than.try_into().unwrap_or_default());
    let gone = warn(writer.forget(before, args.memory.bytes())?);
    writeln!(io::stdout(), "keys forgotten {gone}")?;
    Ok(Status::Complete)
}
