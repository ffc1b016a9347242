//! `uniqurl normalize`: the request for a run that writes a line for each record.

use std::process::ExitCode;

use crate::args::{NormalizeArgs, RecordForm};
use crate::run::{self, Request};
use uniqurl_engine::Job;
use uniqurl_engine::output::{JobKind, TableKind};

/// Runs the subcommand.
pub fn main(normalize: &NormalizeArgs) -> ExitCode {
    let common = &normalize.common;
    let job = match TableKind::of(&common.output) {
        Some(_) => Job::Tabulate,
        None => Job::Normalize { json: normalize.form == RecordForm::Json },
    };
    let name = JobKind::Normalize;
    run::start(common, name, || Request::new(common, job, name))
}
