//! How many files the process may have open at once.
//!
//! Inputs are opened a few at a time. Only the shards of a directory and the sets of a merge are all open
//! at once, so their number is up to the user.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Other open files: inputs, other outputs, temporary files of spilled records, the standard streams.
const OTHERS: u64 = 48;

/// The highest limit that macOS accepts: it reports no maximum, but refuses to remove the limit.
const UNLIMITED: u64 = 10_240;

/// Raises the soft limit of open files to the hard limit. The soft limit is low for
/// programs that use `select(2)`, which this one does not.
pub fn allow_most() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    // First the maximum that the system names. macOS names none and refuses that, and then takes the number.
    for most in [maximum, Some(UNLIMITED)] {
        let is_more = current.is_some_and(|now| most.is_none_or(|most| most > now));
        if is_more && setrlimit(Resource::Nofile, Rlimit { current: most, maximum }).is_ok() {
            break;
        }
    }
}

/// Checks that `count` files, called `what` in the message, can be open together.
///
/// # Errors
///
/// They cannot; the message says how many can.
pub fn suffice_for(count: u64, what: &str) -> Result<(), String> {
    match getrlimit(Resource::Nofile).current {
        Some(limit) if count.saturating_add(OTHERS) > limit => Err(format!(
            "{count} {what} need more open files than the limit of {limit} allows (ulimit -Hn), which \
             is enough for {}",
            limit.saturating_sub(OTHERS)
        )),
        _ => Ok(()),
    }
}
