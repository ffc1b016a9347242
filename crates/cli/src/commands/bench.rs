//! `uniqurl bench`: measures uniqurl against the limits of this machine.

use crate::args::MessageLevel;
use crate::args::bench::BenchArgs;
use crate::progress::{Bar, Progress, ProgressState, When};
use crate::signals::Signals;
use crate::status::{CLOSED_PIPE, Status, eprint_message, wrote};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};
use uniqurl_bench::corpus::random::Rng;
use uniqurl_bench::counters::Counters;
use uniqurl_bench::machine::{Machine, WhyNull};
use uniqurl_bench::measure::compare::Comparison;
use uniqurl_bench::measure::estimate::estimate;
use uniqurl_bench::measure::plan::{BenchPlan, RunOrder};
use uniqurl_bench::measure::restart::{restart, serve};
use uniqurl_bench::measure::result::{Build, Document, FORMAT, Flags, Score};
use uniqurl_bench::measure::rounds::RunResult;
use uniqurl_bench::measure::size::DefaultSize;
use uniqurl_bench::measure::table::ResultTable;
use uniqurl_bench::measure::{assemble, prepare};
use uniqurl_engine::cores;
use uniqurl_engine::output::{Output, Temporary};

/// Runs the subcommand.
pub fn main(bench: &BenchArgs) -> ExitCode {
    if bench.one_run {
        return one_run();
    }
    let text = match bench.compare.as_slice() {
        [a, b] => Comparison::read(a, b).map_err(Failure::from).map(|comparison| {
            comparison.warnings().into_iter().for_each(eprint_message);
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

/// Measures once, for the process that started this one.
fn one_run() -> ExitCode {
    match serve() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(Status::Failed as u8),
        Err(error) => {
            eprint_message(error);
            ExitCode::from(Status::Failed as u8)
        }
    }
}

/// Measures, and gives the table unless standard output has the JSON or the plot.
fn run(bench: &BenchArgs) -> Result<Option<String>, Failure> {
    let bar = Bar::default();
    let directory = watch_signals(&bar)?;
    // Open the outputs first, so that one that cannot be written fails before minutes of measuring.
    let json = create(&bench.json)?;
    let svg = create(&bench.plot)?;
    let machine = Machine::here();
    let default_size = DefaultSize::here(&machine);
    let plan = plan(bench, default_size.bytes);
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let quiet = bench.messages == MessageLevel::Warnings;
    if !quiet {
        if let (None, Some(note)) = (bench.size, default_size.note()) {
            eprint_message(note);
        }
        if let Some(seconds) = estimate(&plan, directory.path())? {
            let about = humantime::format_duration(Duration::from_secs(seconds.ceil() as u64));
            let (passes, size) = (plan.passes(), plan.size);
            eprint_message(format_args!("{passes} passes over {size} bytes, about {about}"));
        }
    }
    let done = Arc::new(AtomicU64::new(0));
    let when = if quiet { When::Never } else { bench.progress };
    let total = plan.passes().saturating_mul(plan.size);
    let counter = Arc::clone(&done);
    let state = move || ProgressState {
        name: Some("measuring"),
        done: counter.load(Ordering::Relaxed),
        total: Some(total),
        ..ProgressState::default()
    };
    bar.draw(|| Progress::start(when, state));
    let measured = measure(&plan, &directory, &done);
    bar.wipe();
    let Measured { order, seeds, runs } = measured?;
    let limits = assemble::limits(&order, &runs);
    let mut document = Document {
        format: FORMAT,
        uniqurl: env!("CARGO_PKG_VERSION").to_owned(),
        date,
        build: build(),
        machine,
        flags: flags(&plan),
        runs: assemble::run_infos(&seeds, &runs),
        corpora: order.corpora.iter().map(|corpus| corpus.info.clone()).collect(),
        results: assemble::rows(&order, &runs, &limits),
        limits,
        score: None,
        why_null: WhyNull::default(),
    };
    rate(&mut document);
    if let Some(svg) = svg {
        finish(svg, uniqurl_bench::measure::plot::svg(&document).as_bytes())?;
    }
    if let Some(json) = json {
        finish(json, &document.json())?;
    }
    Ok((!bench.writes_to_stdout()).then(|| ResultTable(&document).to_string()))
}

/// Makes the directory of the corpora, which a signal removes.
fn watch_signals(bar: &Bar) -> Result<Temporary, Failure> {
    let (drawn, path) = (bar.clone(), Arc::<OnceLock<PathBuf>>::default());
    let to_remove = Arc::clone(&path);
    Signals::watch(move || {
        drawn.wipe();
        // A thread that writes a file meanwhile may have kept the directory from being removed.
        if let Some(path) = to_remove.get() {
            while path.exists() && fs::remove_dir_all(path).is_err() {}
        }
    })
    .map_err(|error| format!("cannot watch for signals: {error}"))?;
    let directory = prepare::directory()?;
    let _ = path.set(directory.path().to_owned());
    Ok(directory)
}

fn plan(bench: &BenchArgs, default_size: u64) -> BenchPlan {
    let size = bench.size.unwrap_or(default_size);
    BenchPlan {
        seed: bench.seed,
        size,
        runs: bench.runs,
        repeats: bench.repeats(size),
        kinds: bench.corpora(),
        profiles: bench.profiles(),
        stages: bench.stages(),
        backends: bench.backends(),
        threads: bench.threads(),
        pin: bench.pin,
    }
}

/// All runs.
struct Measured {
    order: RunOrder,
    /// The seed of each run's order.
    seeds: Vec<u64>,
    runs: Vec<RunResult>,
}

fn measure(plan: &BenchPlan, directory: &Temporary, done: &AtomicU64) -> Result<Measured, String> {
    let program = std::env::current_exe();
    let program = program.map_err(|error| format!("cannot find this program: {error}"))?;
    let mut order = prepare::order(plan, directory.path(), 0)?;
    let did = |bytes| {
        done.fetch_add(bytes, Ordering::Relaxed);
    };
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut rng = Rng::new(now.as_nanos() as u64);
    let (mut seeds, mut runs) = (Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        // JSON numbers are exact below 2^53.
        order.order_seed = rng.bits() >> 11;
        let mut command = Command::new(&program);
        command.args(["bench", "--one-run"]);
        runs.push(restart(command, &order, &did)?);
        seeds.push(order.order_seed);
    }
    Ok(Measured { order, seeds, runs })
}

/// Adds the score, and the reasons why values are null.
fn rate(document: &mut Document) {
    let mut reasons = WhyNull::default();
    match Score::of(document, cores()) {
        Ok(score) => document.score = Some(score),
        Err(reason) => drop(reasons.0.insert("score".to_owned(), reason)),
    }
    if document.flags.runs < 2 {
        for end in ["seconds.low", "seconds.high"] {
            reasons.0.insert(end.to_owned(), "one run has no interval".to_owned());
        }
    }
    // The runs opened theirs in the same way.
    for (counter, reason) in Counters::open().why_null().0 {
        reasons.0.insert(format!("usage.{counter}"), reason);
    }
    document.why_null = reasons;
}

fn build() -> Build {
    let own = |value: Option<&str>| value.filter(|value| !value.is_empty()).map(str::to_owned);
    let mut why_null = WhyNull::default();
    let commit = own(option_env!("UNIQURL_COMMIT"));
    let compiler = own(option_env!("UNIQURL_COMPILER"));
    let profile = own(option_env!("UNIQURL_PROFILE"));
    if commit.is_none() {
        why_null.0.insert("commit".to_owned(), "built outside a Git repository".to_owned());
    }
    for (name, value) in [("compiler", &compiler), ("profile", &profile)] {
        if value.is_none() {
            why_null.0.insert(name.to_owned(), "unknown to the build".to_owned());
        }
    }
    Build { commit, compiler, profile, allocator: "mimalloc".to_owned(), why_null }
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
        runs: plan.runs,
        repeats: plan.repeats,
        pin: plan.pin.name().to_owned(),
        corpus: plan.kinds.iter().map(|kind| own(kind.name())).collect(),
        profile: plan.profiles.iter().map(ToString::to_string).collect(),
        stage: plan.stages.iter().map(|stage| own(stage.name())).collect(),
        backend: plan.backends.iter().map(|backend| own(backend.name())).collect(),
        threads: plan.threads.clone(),
    }
}
