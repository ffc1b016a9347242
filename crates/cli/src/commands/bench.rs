//! `uniqurl bench`: measures uniqurl against the limits of this machine.

use crate::args::MessageLevel;
use crate::args::bench::BenchArgs;
use crate::progress::{Bar, Progress, When};
use crate::signals::Signals;
use crate::status::{CLOSED_PIPE, Status, eprint_message, wrote};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, SystemTime};
use uniqurl_bench::machine::Machine;
use uniqurl_bench::measure::compare::Comparison;
use uniqurl_bench::measure::result::{Document, FORMAT, Flags};
use uniqurl_bench::measure::rounds::BenchPlan;
use uniqurl_bench::measure::table::ResultTable;
use uniqurl_engine::output::Output;

/// Runs the subcommand.
pub fn main(bench: &BenchArgs) -> ExitCode {
    let text = match bench.compare.as_slice() {
        [a, b] => Comparison::read(a, b).map_err(Failure::from).map(|comparison| {
            comparison.warning().into_iter().for_each(eprint_message);
            Some(comparison.to_string())
        }),
        _ => run(bench),
    };
    match text {
        Ok(Some(text)) => wrote(io::stdout().lock().write_all(text.as_bytes())),
        Ok(None) => ExitCode::SUCCESS,
        Err(Failure::ClosedPipe) => ExitCode::from(CLOSED_PIPE),
        Err(Failure::Message(message)) => {
            eprint_message(message);
            ExitCode::from(Status::Failed as u8)
        }
    }
}

/// The reason why the result is missing or incomplete.
enum Failure {
    Message(String),
    ClosedPipe,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Message(message)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Message(error.to_string()),
        }
    }
}

/// Measures, and gives the table unless standard output has the JSON or the plot.
fn run(bench: &BenchArgs) -> Result<Option<String>, Failure> {
    let bar = Bar::default();
    let drawn = bar.clone();
    // A signal only has to wipe the progress line: the measured file is a temporary one.
    Signals::watch(move || drawn.wipe())
        .map_err(|error| format!("cannot watch for signals: {error}"))?;
    // Open the outputs first, so that one that cannot be written fails before minutes of measuring.
    let json = create(&bench.json)?;
    let svg = create(&bench.plot)?;
    let plan = BenchPlan {
        seed: bench.seed,
        size: bench.size,
        repeats: bench.repeats,
        kinds: bench.corpora(),
        profiles: bench.profiles(),
        stages: bench.stages(),
        backends: bench.backends(),
        threads: bench.threads(),
    };
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let quiet = bench.messages == MessageLevel::Warnings;
    if !quiet && let Some(seconds) = plan.estimate()? {
        let about = humantime::format_duration(Duration::from_secs(seconds.ceil() as u64));
        eprint_message(format_args!(
            "{} passes over {} bytes, about {about}",
            plan.passes(),
            plan.size
        ));
    }
    let done = Arc::new(AtomicU64::new(0));
    let when = if quiet { When::Never } else { bench.progress };
    let total = plan.passes().saturating_mul(plan.size);
    bar.draw(|| Progress::start(when, Arc::clone(&done), Some(total)));
    let mut document = Document {
        format: FORMAT,
        uniqurl: env!("CARGO_PKG_VERSION").to_owned(),
        date,
        machine: Machine::here(),
        flags: flags(&plan),
        corpora: Vec::new(),
        limits: Vec::new(),
        results: Vec::new(),
    };
    let measured: Result<Vec<_>, _> =
        plan.kinds.iter().map(|kind| plan.measure(*kind, &done)).collect();
    bar.wipe();
    for measured in measured? {
        document.corpora.push(measured.corpus);
        document.limits.extend(measured.limits);
        document.results.extend(measured.rows);
    }
    if let Some(svg) = svg {
        finish(svg, uniqurl_bench::measure::plot::svg(&document).as_bytes())?;
    }
    if let Some(json) = json {
        finish(json, &document.json())?;
    }
    Ok((!bench.writes_to_stdout()).then(|| ResultTable(&document).to_string()))
}

fn create(path: &Option<PathBuf>) -> io::Result<Option<Output>> {
    path.as_deref().map(Output::create).transpose()
}

fn finish(mut output: Output, text: &[u8]) -> io::Result<()> {
    output.write_all(text).and_then(|()| output.commit())
}

fn flags(plan: &BenchPlan) -> Flags {
    let own = |name: &str| name.to_owned();
    Flags {
        size: plan.size,
        seed: plan.seed,
        repeats: plan.repeats,
        corpus: plan.kinds.iter().map(|kind| own(kind.name())).collect(),
        profile: plan.profiles.iter().map(ToString::to_string).collect(),
        stage: plan.stages.iter().map(|stage| own(stage.name())).collect(),
        backend: plan.backends.iter().map(|backend| own(backend.name())).collect(),
        threads: plan.threads.clone(),
    }
}
