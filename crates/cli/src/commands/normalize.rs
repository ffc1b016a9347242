//! `uniqurl normalize`: the request for a run that writes a line for each record.

use crate::args::normalize::NormalizeArgs;
use crate::args::usage::wrong;
use crate::request::Request;
use crate::run;
use crate::status::Status;
use uniqurl_engine::Job;
use uniqurl_engine::output::{JobKind, TableKind};

/// Runs the subcommand.
pub fn main(normalize: &NormalizeArgs) -> Result<Status, clap::Error> {
    let common = &normalize.common;
    // A table has columns for what lines leave out, so it is another job.
    let job = match TableKind::of(&common.output) {
        Some(_) => Job::Tabulate,
        None => Job::Normalize { json: normalize.json },
    };
    run::start(common, Request::new(common, job, JobKind::Normalize).map_err(wrong)?)
}
