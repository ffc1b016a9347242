//! `uniqurl seen`: the commands about a store of URLs seen before.

mod change;
mod contains;
mod forget;
mod stats;
mod verify;
mod compact;
mod export;

use std::io;
use std::process::ExitCode;

use crate::args::seen::{SeenArgs, SeenCommand};
use crate::failure::status_of_store;
use crate::hints;
use crate::status::{Status, eprint_hinted, wrote};
use crate::stores::ChangeKind;
use uniqurl_store::seen::SeenStoreError;

/// Runs the subcommand.
pub(crate) fn main(seen: SeenArgs) -> ExitCode {
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
        Ok(status) => ExitCode::from(status as u8),
        Err(SeenFailure::Store(error)) => {
            eprint_hinted(&error, hints::of_store(&error));
            ExitCode::from(status_of_store(&error) as u8)
        }
        Err(SeenFailure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            wrote(Err(error))
        }
        Err(SeenFailure::Output(error)) => {
            eprint_hinted(&error, hints::of_output(&error));
            ExitCode::from(Status::Failed as u8)
        }
    }
}

/// The reason why a command about a store failed.
enum SeenFailure {
    Store(SeenStoreError),
    Output(io::Error),
}

impl From<SeenStoreError> for SeenFailure {
    fn from(error: SeenStoreError) -> Self {
        SeenFailure::Store(error)
    }
}

impl From<io::Error> for SeenFailure {
    fn from(error: io::Error) -> Self {
        SeenFailure::Output(error)
    }
}
