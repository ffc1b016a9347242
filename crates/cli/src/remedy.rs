//! What can be done about an error, in options of the command.
//!
//! In comes an error of the library, which does not know them; out goes what stands behind its words.

use std::borrow::Cow;
use std::io::ErrorKind;

use memchr::memmem;
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use uniqurl_engine::output::Job;
use uniqurl_engine::{Instead, RunError};
use uniqurl_formats::input::{InputError, Trouble};
use uniqurl_formats::record::Refusal;

/// What can be done about the end of a run; nothing where nothing is known.
pub(super) fn of_run(error: &RunError, job: Job) -> Cow<'static, str> {
    let remedy = match error {
        RunError::Input(error) => of_input(error, job),
        RunError::Seen(error) => return of_seen(&error.instead),
        RunError::Memory if has_memory(job) => {
            "; fewer threads (-j), or a smaller --memory, take less of it"
        }
        RunError::Memory => "; fewer threads (-j) take less of it",
        RunError::Spill(error) => match Errno::from_io_error(&error.error) {
            // No other directory has more.
            Some(Errno::MFILE) => {
                "; ulimit -n allows more open files, and more --memory spills less"
            }
            // Another file system may allow longer files; a limit of the process goes everywhere.
            Some(Errno::FBIG) if has_longest_file() => {
                "; ulimit -f allows longer files, and more --memory spills less"
            }
            _ => "; --temp-dir names another directory",
        },
        RunError::Output(error)
            if error.kind() == ErrorKind::FileTooLarge && has_longest_file() =>
        {
            "; ulimit -f allows longer files"
        }
        RunError::Rejected(_) => "; stopped by --max-rejected",
        RunError::Threads(_) => "; -j says how many",
        _ => "",
    };
    remedy.into()
}

/// What can be done about a set from before the run.
fn of_seen(instead: &Instead) -> Cow<'static, str> {
    let remedy = match instead {
        Instead::SavedSet => "; what --save-seen keeps is taken as it stands",
        Instead::Lines => {
            "; --seen reads what is written without --json, and what --save-seen keeps"
        }
        Instead::EndingWithNul => "; -0 reads such lists",
        Instead::List(format) => {
            return format!("; uniqurl dedup -f {format} makes a list of its URLs").into();
        }
        Instead::Column(format) => {
            let makes = "makes a set of a column with --save-seen, if it holds URLs";
            return format!("; dedup -f {format} {makes}").into();
        }
        Instead::Nothing => "",
    };
    remedy.into()
}

/// What can be done about an input.
pub(super) fn of_input(error: &InputError, job: Job) -> &'static str {
    match error.trouble {
        Trouble::Memory(_) if has_memory(job) => {
            "; give more with --memory, or share it among fewer threads (-j)"
        }
        Trouble::Refused(Refusal::SavedSet) => {
            "; `uniqurl dedup --seen` and `uniqurl set` take it as it is"
        }
        Trouble::Refused(Refusal::EndsWithNul) => "; -0 reads such lists",
        _ => "",
    }
}

/// Whether a URL was given for an input, which is a file.
pub(super) fn is_url(error: &InputError) -> bool {
    memmem::find(error.path.as_os_str().as_encoded_bytes(), b"://").is_some()
}

/// Whether the process may make no file longer than so much.
fn has_longest_file() -> bool {
    getrlimit(Resource::Fsize).current.is_some()
}

/// Whether the subcommand has `--memory`.
fn has_memory(job: Job) -> bool {
    job == Job::Dedup
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl_store::spill::SpillError;

    #[test]
    fn what_another_directory_cannot_mend_is_told_otherwise() {
        let told = |errno: Errno| {
            let error = SpillError { directory: "d".into(), error: errno.into() };
            of_run(&RunError::Spill(error), Job::Dedup)
        };
        assert_eq!(told(Errno::NOSPC), "; --temp-dir names another directory");
        let full = told(Errno::MFILE);
        assert!(full.contains("ulimit -n") && full.contains("--memory"), "{full}");
        assert!(!full.contains("--temp-dir"), "{full}");
    }

    #[test]
    fn no_option_is_named_that_the_subcommand_does_not_have() {
        let input = || InputError::new("in".as_ref(), None, Trouble::Memory("much".into()));
        for error in [RunError::Memory, RunError::Input(input())] {
            assert!(of_run(&error, Job::Dedup).contains("--memory"), "{error}");
            assert!(!of_run(&error, Job::Normalize).contains("--memory"), "{error}");
        }
    }
}
