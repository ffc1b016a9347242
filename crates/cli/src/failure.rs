//! The reasons why a run over inputs fails, with their messages and exit status.

use std::borrow::Cow;
use std::io;

use crate::args::filters::idle_message;
use crate::args::run_args::RunArgs;
use crate::status::{Status, eprint_hinted, eprint_message};
use crate::{address_space, hints};
use uniqurl_engine::output::JobKind;
use uniqurl_engine::{IdleFilter, RunError};
use uniqurl_formats::input::{InputError, Trouble};
use uniqurl_formats::record::Wrapped;
use uniqurl_store::seen::{SeenStoreError, SeenStoreProblem};

/// The reason why nothing is committed.
pub(crate) enum RunFailure {
    /// Its message is printed already.
    Reported,
    /// With its message and a hint.
    NothingButRejects(String, Cow<'static, str>),
    /// A filter that applies to no input, with its message and a hint.
    Idle(String, Option<String>),
    ClosedPipe,
    Failed(RunError),
    /// A store cannot be read or written.
    Store(SeenStoreError),
}

impl RunFailure {
    /// The same with the names of the options that led to it.
    pub(crate) fn of_options(self, common: &RunArgs) -> Self {
        let RunFailure::Failed(RunError::Idle(IdleFilter { field, format })) = &self else {
            return self;
        };
        let option = common.filters.option(field);
        match format {
            Some(format) => {
                let inner = Wrapped::inner_name(format);
                RunFailure::Idle(idle_message(option, format), hints::of_idle(inner, option))
            }
            None => {
                let message = "can do nothing: the records of no input have such a field";
                RunFailure::Idle(format!("{option} {message}"), None)
            }
        }
    }
}

impl From<SeenStoreError> for RunFailure {
    fn from(error: SeenStoreError) -> Self {
        RunFailure::Store(error)
    }
}

impl From<io::Error> for RunFailure {
    fn from(error: io::Error) -> Self {
        // `head` and others close a pipe when they have enough. That is no failure to talk about.
        if error.kind() == io::ErrorKind::BrokenPipe {
            RunFailure::ClosedPipe
        } else {
            RunFailure::Failed(RunError::Output(error))
        }
    }
}

/// Prints why nothing of a `job` is committed. `given` describes output that cannot be taken back, and
/// `hint` is used if the error has none of its own.
pub(crate) fn failure(
    why: RunFailure,
    job: JobKind,
    given: Option<String>,
    hint: Option<&str>,
) -> Status {
    match why {
        RunFailure::Reported | RunFailure::ClosedPipe => Status::Failed,
        RunFailure::NothingButRejects(message, hint) => {
            eprint_hinted(message, Some(&hint));
            Status::Limit
        }
        RunFailure::Idle(message, hint) => {
            eprint_hinted(message, hint.as_deref());
            Status::Failed
        }
        RunFailure::Store(error) => {
            eprint_hinted(&error, hints::of_store(&error).or(hint));
            status_of_store(&error)
        }
        RunFailure::Failed(error) => {
            match (&error, given) {
                (RunError::Rejected(_), Some(given)) => {
                    eprint_message(format_args!(
                        "{error}, so --max-rejected stopped the run when {given}"
                    ));
                }
                (RunError::Rejected(_), None) => {
                    eprint_message(format_args!(
                        "{error}, so --max-rejected stopped the run and nothing was written"
                    ));
                }
                _ => {
                    // The hint of the error knows more than that of the run.
                    let own = hints::of_run(&error, job);
                    eprint_hinted(&error, own.as_deref().or(hint));
                }
            }
            match error {
                RunError::Set(_)
                | RunError::Memory
                | RunError::Groups
                | RunError::Slugs
                | RunError::Rejected(_) => Status::Limit,
                RunError::Input(InputError {
                    trouble: Trouble::Limit(..) | Trouble::Memory(_),
                    ..
                }) => Status::Limit,
                RunError::Store(error) => status_of_store(&error),
                RunError::Output(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                    Status::Limit
                }
                // Their stacks did not fit.
                RunError::Threads(_) if address_space::is_limited() => Status::Limit,
                _ => Status::Failed,
            }
        }
    }
}

/// The exit status for a store that cannot be read or written.
pub(crate) fn status_of_store(error: &SeenStoreError) -> Status {
    match error.problem {
        SeenStoreProblem::Memory => Status::Limit,
        _ => Status::Failed,
    }
}
