//! The built command, ready to be given arguments.
//!
//! `UNIQURL_COMMAND`, words between spaces, names another program to test: the command built for
//! another processor, run by its emulator. The tests themselves then run on this processor, since a
//! test with threads that starts programs can hang in an emulator for reasons of its own.
//! `UNIQURL_SCANNERS` then names the scanners that the other processor has, the best one first.

use std::process;
use std::time::Duration;

/// No run of a test takes nearly as long. A hanging run is killed, which fails the test.
const LIMIT: Duration = Duration::from_secs(300);

/// The command, to be run to its end.
pub fn command() -> assert_cmd::Command {
    let mut command = assert_cmd::Command::from_std(process());
    command.timeout(LIMIT);
    command
}

/// The command, to be started and watched.
pub fn process() -> process::Command {
    let Ok(words) = std::env::var("UNIQURL_COMMAND") else {
        return process::Command::new(env!("CARGO_BIN_EXE_uniqurl"));
    };
    let mut words = words.split(' ');
    let mut command = process::Command::new(words.next().expect("a program"));
    command.args(words);
    command
}

/// The names of the scanners that the command finds on its processor, the best one first.
pub fn scanners() -> Vec<String> {
    if let Ok(names) = std::env::var("UNIQURL_SCANNERS") {
        return names.split(' ').map(str::to_owned).collect();
    }
    let best = uniqurl::internal::Backend::best();
    let others =
        uniqurl::internal::Backend::available().into_iter().filter(|backend| *backend != best);
    std::iter::once(best).chain(others).map(|backend| backend.name().to_owned()).collect()
}
