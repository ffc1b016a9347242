//! `uniqurl seen`: the commands about a store of URLs seen before.

mod failure;
mod change;
mod contains;
mod forget;
mod stats;
mod verify;
mod compact;
mod export;

use std::io;

use crate::args::seen::{SeenArgs, SeenCommand};
use crate::args::usage::wrong;
use crate::failure::status_of_store;
use crate::hints;
use crate::status::{Status, eprint_hinted, status_of};
use crate::stores::ChangeKind;
use failure::SeenFailure;

/// Runs the subcommand.
pub(crate) fn main(seen: SeenArgs) -> Result<Status, clap::Error> {
    let ended = match seen.command {
        SeenCommand::Add(args) => return change::main(*args, ChangeKind::Add),
        SeenCommand::Remove(args) => return change::main(*args, ChangeKind::Remove),
        SeenCommand::Contains(args) => contains::main(&args),
        SeenCommand::Forget(args) => forget::main(&args),
        SeenCommand::Stats(args) => stats::main(&args),
        SeenCommand::Verify(args) => verify::main(&args),
        SeenCommand::Compact(args) => compact::main(&args),
        SeenCommand::Export(args) => export::main(&args),
    };
    match ended {
        Ok(status) => Ok(status),
        Err(SeenFailure::Usage(message)) => Err(wrong(message)),
        Err(SeenFailure::Store(error)) => {
            eprint_hinted(&error, hints::of_store(&error));
            Ok(status_of_store(&error))
        }
        // A closed pipe has a status of its own, and no message.
        Err(SeenFailure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(status_of(Err(error)))
        }
        Err(SeenFailure::Output(error)) => {
            eprint_hinted(&error, hints::of_output(&error));
            Ok(Status::Failed)
        }
    }
}
