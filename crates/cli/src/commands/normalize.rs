//! `uniqurl normalize`: the plan of a run that writes a line for each record.

use std::process::ExitCode;

use crate::args::{NormalizeArgs, RecordForm};
use crate::run::{self, Plan};
use uniqurl_engine::Job;
use uniqurl_engine::output::{JobKind, TableKind};

/// Runs the subcommand.
pub fn main(normalize: &NormalizeArgs) -> ExitCode {
    let job = match TableKind::of(&normalize.common.output) {
        Some(_) => Job::Tabulate,
        None => Job::Normalize { json: normalize.form == RecordForm::Json },
    };
    run::start(&normalize.common, Plan::new(job, JobKind::Normalize))
}
