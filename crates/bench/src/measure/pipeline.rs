//! The stages that are the whole pipeline of the command, with its own threads.

use super::plan::PreparedProfile;
use super::stage::{Answer, Stage, StageInputs};
use super::stopwatch::{Stopwatch, TimedPass};
use super::subject::Team;
use crate::counters::Counters;
use std::io::{self, Write};
use std::sync::Arc;
use uniqurl::Normalizer;
use uniqurl_engine::{
    Dedup, InputFormat, Job, JobPlan, Memory, SeenBefore, Sinks, Watch, cores, most_workers,
};
use uniqurl_store::seen::SeenStore;
use uniqurl_text::Secrets;

/// Bytes of a set for each key, beside the key.
const BYTES_FOR_A_KEY: u64 = 24;

/// Runs the pipeline from files to a sink that counts bytes.
pub(super) fn run(
    stage: Stage,
    inputs: &StageInputs<'_>,
    normalizer: &Normalizer,
    team: &Team,
    counters: &mut Counters,
) -> Result<(TimedPass, Answer), String> {
    let plan = plan(stage, inputs, normalizer, team.threads())?;
    let files = if stage == Stage::Gz { inputs.packed } else { inputs.file };
    let mut sink = CountingSink::default();
    team.bind_run()?;
    let watch = Stopwatch::start(counters);
    let (report, result) =
        uniqurl_engine::run(&plan, files, Sinks::to(&mut sink), &Watch::default());
    let pass = watch.stop();
    team.release()?;
    result.map_err(|error| error.to_string())?;
    let tally = report.tally;
    Ok((
        pass,
        vec![
            ("records", tally.records),
            ("rejected", tally.rejected),
            ("blank", tally.blank),
            ("distinct", tally.unique),
            ("bytes of output", sink.bytes),
        ],
    ))
}

fn plan(
    stage: Stage,
    inputs: &StageInputs<'_>,
    normalizer: &Normalizer,
    threads: usize,
) -> Result<JobPlan, String> {
    let job = Job::Dedup(Dedup::default());
    let mut plan = JobPlan::new(normalizer.clone(), job);
    plan.input.format = InputFormat::Fixed(Arc::new(inputs.bytes.format.clone()));
    plan.output.secrets = Secrets::Masked;
    plan.limits.threads = threads;
    plan.limits.most_workers = most_workers(cores());
    match (stage, &inputs.profile.store) {
        (Stage::BeyondMemory, _) => {
            let directory = inputs.directory.to_owned();
            let memory = Memory::new(budget(inputs.profile));
            plan.limits.memory = Some(Memory { directory, ..memory });
        }
        (Stage::Seen, Some(store)) => {
            let store = SeenStore::open(store).map_err(|error| error.to_string())?;
            plan.input.stores.push(SeenBefore { store: Arc::new(store), since: None });
        }
        (Stage::Seen, None) => return Err("no seen store was prepared".into()),
        _ => {}
    }
    Ok(plan)
}

/// A quarter of the memory that the set takes.
fn budget(profile: &PreparedProfile) -> u64 {
    let expected = &profile.expected;
    (expected.bytes + expected.distinct * BYTES_FOR_A_KEY) / 4
}

/// Takes bytes and only counts them.
#[derive(Default)]
struct CountingSink {
    bytes: u64,
}

impl Write for CountingSink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
