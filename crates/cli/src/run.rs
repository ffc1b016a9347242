//! One run over inputs: from the request to an exit status.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use clap::error::ErrorKind;

use crate::args::memory;
use crate::args::{self, BadInput, FormatChoice, MessageLevel, RunArgs};
use crate::diagnostics::{are_all_rejected, nothing_but_rejects, print_diagnostics};
use crate::failure::{RunFailure, failure};
use crate::inputs::names::is_standard_input;
use crate::inputs::{RunInputs, paths};
use crate::outputs::{Division, Known, OutputSpec, Outputs, write_anew};
use crate::progress::{Bar, Counts, Progress, ProgressState, When};
use crate::signals::Signals;
use crate::status::{CLOSED_PIPE, Status, eprint_hinted, eprint_message};
use crate::stores::{StoreOptions, Stores};
use crate::summary_line::SummaryLine;
use crate::{address_space, command_line, dates, hints, outputs, tables};
use uniqurl::{Key, Normalizer};
use uniqurl_engine::output::{self, Field, FileStats, Inputs, LineForm, ReportPage, Stats, Tally};
use uniqurl_engine::{
    self, InputFormat, InputOptions, Job, JobPlan, Report, RunError, Trace, TraceStage, Watch,
};
use uniqurl_formats::input::InputState;
use uniqurl_formats::input::{Input, InputError, Source};
use uniqurl_formats::record::{EnvelopeChoice, Format, Separator, carrying};
use uniqurl_store::seen::{PreparedRun, RunBuilder, SeenStoreError, StoreRules, UnixTime};

/// A run over inputs: the plan of the engine, and the options that only the command needs.
pub(crate) struct Request {
    pub(crate) plan: JobPlan,
    pub(crate) name: output::JobKind,
    /// Lists from before the run.
    pub(crate) seen: Vec<PathBuf>,
    pub(crate) stores: StoreOptions,
    pub(crate) division: Option<Division>,
}

impl Request {
    /// A job with the options that all jobs have. An error is a sentence about those.
    pub(crate) fn new(common: &RunArgs, job: Job, name: output::JobKind) -> Result<Self, String> {
        let plan = plan(common, normalizer(common)?, job);
        let stores = StoreOptions::default();
        Ok(Self { plan, name, seen: Vec::new(), stores, division: None })
    }

    /// Whether the options fit together.
    fn check(&self, common: &RunArgs) -> Result<(), String> {
        let JobPlan { normalizer, policy, output, .. } = &self.plan;
        let profile = normalizer.profile().name();
        if output.fields.contains(&Field::Decoded) && !normalizer.has_decoded() {
            return Err(format!("profile {profile} has no column decoded, only servlet has"));
        }
        let (hosts, others) = (&common.filters.host, &common.filters.not_host);
        let named = hosts.iter().map(|glob| ("--host", glob));
        let mut named = named.chain(others.iter().map(|glob| ("--not-host", glob)));
        if let Some((option, glob)) = named.find(|(_, glob)| !glob.is_ascii())
            && !normalizer.may_write_any_byte()
        {
            return Err(format!(
                "{option} {glob}: profile {profile} writes hosts in ASCII, as in xn--bcher-kva.example"
            ));
        }
        if let Some(byte) = common.delimiter
            && !matches!(&common.format, FormatChoice::Named(format) if format.with_delimiter(byte).is_some())
        {
            return Err("--delimiter goes with --format csv:COL".to_owned());
        }
        if let FormatChoice::Named(format) = &common.format {
            let columns: Vec<String> =
                output.carry.iter().chain(policy.keep.column()).cloned().collect();
            carrying(format, &columns)?;
        }
        Ok(())
    }
}

/// The plan of a job, with the options that all jobs have.
fn plan(common: &RunArgs, normalizer: Normalizer, job: Job) -> JobPlan {
    let mut plan = JobPlan::new(normalizer, job);
    plan.input = InputOptions {
        format: match &common.format {
            FormatChoice::Auto if common.separator == Separator::Nul => {
                InputFormat::Fixed(Arc::new(Format::Lines))
            }
            FormatChoice::Auto | FormatChoice::InFile(_) => InputFormat::Auto,
            FormatChoice::Named(format) => {
                let delimited = common.delimiter.and_then(|byte| format.with_delimiter(byte));
                let format = delimited.unwrap_or_else(|| format.clone());
                InputFormat::Fixed(Arc::new(format.with_kinds(common.kinds())))
            }
        },
        formats: Arc::clone(&common.formats),
        envelope: match common.separator {
            Separator::LineFeed => common.envelope,
            // An envelope ends in a line feed.
            Separator::Nul => EnvelopeChoice::None,
        },
        separator: common.separator,
        kinds: common.kinds(),
        keep_going: common.bad_input == BadInput::IsSkipped,
        seen: Vec::new(),
        stores: Vec::new(),
    };
    plan.policy.records = common.filters.records();
    plan.policy.requests = common.filters.requests();
    plan.policy.urls = common.filters.urls(&plan.normalizer);
    plan.policy.key = common.key();
    plan.policy.max_rejected = common.filters.max_rejected;
    plan.output.secrets = common.secrets;
    plan.limits.threads = common.threads();
    plan.limits.most_workers = common.most_workers();
    plan.limits.max_url = common.max_url;
    plan.limits.max_record = common.max_record;
    plan
}

/// Runs the request, if the options allow it.
pub(crate) fn start(
    common: &RunArgs,
    name: output::JobKind,
    request: impl FnOnce() -> Result<Request, String>,
) -> ExitCode {
    let checked = request().and_then(|request| request.check(common).map(|()| request));
    match checked {
        Ok(request) => run(common, request),
        Err(message) => args::exit(&args::usage(name.name(), ErrorKind::ValueValidation, message)),
    }
}

/// The error about a key that a profile file with its own ports cannot have.
pub(crate) const OWN_PORTS: &str =
    "ssurt needs the ports of the registry, but the profile file has others";

/// Runs it.
fn run(common: &RunArgs, mut request: Request) -> ExitCode {
    let ssurt = common.key() == Key::Ssurt || request.plan.output.fields.contains(&Field::Ssurt);
    if ssurt && request.plan.normalizer.has_own_ports() {
        args::exit(&args::usage(request.name.name(), ErrorKind::ArgumentConflict, OWN_PORTS));
    }
    let summary_line = SummaryLine::new(common.messages, &request);
    let mut watch = Watch::default();
    watch.trace = common.trace.as_ref().map(|_| Trace::default());
    let (watch, bar) = (Arc::new(watch), Bar::default());
    let signals = match await_signals(summary_line, &watch, &bar) {
        Ok(signals) => signals,
        Err(error) => {
            eprint_message(format_args!("cannot watch for signals: {error}"));
            // Under such a limit the stack of the watching thread did not fit.
            let is_limited = address_space::is_limited();
            let status = if is_limited { Status::Limit } else { Status::Failed };
            return ExitCode::from(status as u8);
        }
    };
    let opened = paths(common, &request.seen)
        .and_then(|paths| Ok((paths, Outputs::create(common, output_spec(common, &request))?)));
    let (paths, mut outputs) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            eprint_hinted(&error, hints::of_output(&error));
            let nothing = summary_line.summary(Tally::default(), Inputs::default(), 0);
            summary_line.write_failed(&nothing);
            return ExitCode::from(Status::Failed as u8);
        }
    };
    let found = RunInputs::resolve(common, paths, &request.seen, request.name);
    watch.count(|_, inputs| {
        *inputs = found.missing.iter().map(InputError::state_unopened).collect()
    });
    let (command, date) = match common.report {
        Some(_) => (command_line::shown(), dates::shown(UnixTime::now())),
        None => Default::default(),
    };
    let backend = request.plan.normalizer.backend();
    let profile = request.plan.normalizer.description();
    let mut stores = Stores::default();
    let (mut report, result) = if !found.unseen.is_empty() {
        (Report::default(), Err(RunFailure::Reported))
    } else if !found.is_readable(common) {
        if !found.inputs.is_empty() {
            eprint_hinted("nothing was read", Some(KEEP_GOING));
        }
        (Report::default(), Err(RunFailure::Reported))
    } else if let Err(error) = open_stores(&mut request, &mut stores) {
        (Report::default(), Err(RunFailure::Store(error)))
    } else {
        found.warn_of_outputs(common);
        let (inputs, seen) = (&found.inputs, found.seen);
        if let (Some((message, hint)), MessageLevel::All) =
            (tables::output_hint(&common.output, &request), common.messages)
        {
            eprint_hinted(message, Some(hint));
        }
        bar.draw(|| {
            Progress::start(
                when(common, inputs, &outputs),
                state(&watch, total(inputs), request.name),
            )
        });
        request.plan.input.seen = seen;
        let plan = &request.plan;
        let (report, result) =
            read(plan, inputs, &mut outputs, &stores, summary_line.terms.job, &watch);
        bar.wipe();
        if matches!(result, Err(RunFailure::ClosedPipe)) {
            return ExitCode::from(CLOSED_PIPE);
        }
        print_diagnostics(&report, inputs.len(), plan, summary_line.terms.job, common);
        if let (Some(memory), MessageLevel::All, 1..) =
            (&plan.limits.memory, common.messages, report.spilled.written)
        {
            memory::report_spilled(memory, report.spilled.written);
        }
        (report, result.map_err(|why| why.of_options(common)))
    };
    // Missing ones come last.
    let mut files = std::mem::take(&mut report.files);
    files.extend(found.missing.into_iter().map(FileStats::unopened));
    let inputs = files.iter().map(|file| file.state).collect();
    let summary = summary_line.summary(report.tally.clone(), inputs, report.bytes);
    debug_assert!(summary.tally.adds_up(summary_line.terms.job));
    let known = |status: Status| Known {
        page: ReportPage {
            stats: Stats {
                status: status as u8,
                profile: &profile,
                key: common.key(),
                backend: backend.name(),
                threads: request.plan.limits.workers(),
                spilled: report.spilled,
                summary: &summary,
                files: &files,
            },
            command: &command,
            date: &date,
        },
        trace: watch.trace.as_ref(),
    };
    let is_complete =
        files.iter().all(|file| file.state == InputState::Ok) && report.damaged.is_empty();
    let committed = if is_complete { Status::Complete } else { Status::Incomplete };
    let account_files = outputs.account_files();
    let given = outputs.main.given();
    let memory = memory::for_merging(request.plan.limits.memory.as_ref());
    let commit = |run| stores.commit(run, memory);
    let is_wrong_usage = matches!(result, Err(RunFailure::Idle(..)));
    let status = match settle(outputs, commit, result, &signals, &known(committed)) {
        Ok(()) => committed,
        Err((RunFailure::ClosedPipe, _)) => return ExitCode::from(CLOSED_PIPE),
        Err((why, given_up)) => {
            let told = match &why {
                RunFailure::Failed(RunError::Output(error)) => Some(error.to_string()),
                _ => None,
            };
            let is_one_of_several = found.inputs.len() > 1 && is_for_want_of_an_input(&why);
            let hint = is_one_of_several.then_some(KEEP_GOING);
            let status = failure(why, summary_line.terms.job, given, hint);
            match write_anew(&known(status), account_files, given_up) {
                Ok(()) => status,
                // The failure of the run is printed already; a closed pipe of its accounts adds nothing.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => status,
                // An account that ended the run mostly meets the same full disk again.
                Err(error) if told == Some(error.to_string()) => status,
                Err(error) => {
                    eprint_hinted(&error, hints::of_output(&error));
                    Status::Failed
                }
            }
        }
    };
    match status {
        Status::Complete | Status::Incomplete => summary_line.write(&summary),
        // A run that could do nothing has no account.
        Status::Failed if is_wrong_usage => {}
        Status::Failed | Status::Limit => summary_line.write_failed(&summary),
    }
    ExitCode::from(status as u8)
}

/// The hint for a run that ends because of some of its inputs.
const KEEP_GOING: &str = "skip inputs that cannot be read with --keep-going";

/// Whether a run ended because an input could not be read, which --keep-going would have skipped.
fn is_for_want_of_an_input(why: &RunFailure) -> bool {
    let RunFailure::Failed(RunError::Input(error)) = why else { return false };
    matches!(error.state(), InputState::Refused | InputState::Damaged | InputState::Missing)
}

/// Watches for signals that end the run; its last line is then printed by the watching thread.
fn await_signals(summary_line: SummaryLine, watch: &Arc<Watch>, bar: &Bar) -> io::Result<Signals> {
    let (watch, bar) = (Arc::clone(watch), bar.clone());
    Signals::watch(move || {
        bar.wipe();
        let (tally, inputs) = watch.counted();
        let bytes = watch.bytes.load(Ordering::Relaxed);
        summary_line.write(&summary_line.summary(tally, inputs, bytes));
    })
}

/// The properties of the outputs.
fn output_spec<'a>(common: &RunArgs, request: &'a Request) -> OutputSpec<'a> {
    let Request { plan, stores, division, .. } = request;
    let (job, output) = (&plan.job, &plan.output);
    let kind = tables::TableSpec::kind(common, division.as_ref());
    OutputSpec {
        writes_urls: !stores.only_change(),
        division: division.as_ref(),
        table: kind.map(|kind| tables::TableSpec::new(kind, common, job, output, &plan.normalizer)),
        // A JSON object never contains a raw line feed, so it needs no other separator.
        end: match job {
            Job::Normalize { json: true } => Separator::LineFeed,
            Job::Dedup(_) if output.form == LineForm::Json => Separator::LineFeed,
            _ => common.separator,
        },
    }
}

/// Opens the stores, and puts those that are asked into the plan.
fn open_stores(request: &mut Request, stores: &mut Stores) -> Result<(), SeenStoreError> {
    let rules = StoreRules::of(&request.plan.normalizer, request.plan.policy.key);
    *stores = Stores::open(&request.stores, &rules)?;
    request.plan.input.stores = std::mem::take(&mut stores.before);
    Ok(())
}

/// Reads the inputs and writes the outputs and the keys for a store, which are then still to be committed.
fn read(
    plan: &JobPlan,
    inputs: &[Input],
    outputs: &mut Outputs,
    stores: &Stores,
    job: output::JobKind,
    watch: &Watch,
) -> (Report, Result<Option<PreparedRun>, RunFailure>) {
    let mut keys = match stores.begin() {
        Ok(keys) => keys,
        Err(error) => return (Report::default(), Err(RunFailure::Store(error))),
    };
    let Outputs { main, rejects, .. } = outputs;
    let mut sinks = uniqurl_engine::Sinks::to(main);
    sinks.rejects = rejects.as_mut().map(|output| output as _);
    sinks.keys = keys.as_mut().map(|keys| keys as _);
    let (report, result) = uniqurl_engine::run(plan, inputs, sinks, watch);
    let result = match result {
        Ok(()) if are_all_rejected(&report, job, plan.policy.max_rejected) => {
            let (message, hint) = nothing_but_rejects(&report, &plan.input.format);
            Err(RunFailure::NothingButRejects(message, hint))
        }
        // The last bytes may be the first to meet a full disk or a closed pipe.
        Ok(()) => {
            let timer = Trace::begin(watch.trace.as_ref());
            watch.begin_last_phase();
            let prepared = prepare(outputs, plan.limits.workers());
            timer.end(TraceStage::Sync, 0, || 0);
            let finish = |()| Ok(keys.map(RunBuilder::finish).transpose()?);
            prepared.map_err(RunFailure::from).and_then(finish)
        }
        Err(RunError::Output(error)) => Err(RunFailure::from(error)),
        Err(error) => Err(RunFailure::Failed(error)),
    };
    (report, result)
}

/// Brings all bytes to the disk or their pipes. Blocks still to be compressed use all threads once more.
fn prepare(outputs: &mut Outputs, threads: usize) -> io::Result<()> {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(|| outputs.prepare()),
        Err(_) => outputs.prepare(),
    }
}

/// Commits the outputs of a successful run, and then its keys to the store, which are both on the disk already:
/// an end between the two gives URLs twice and never loses one. Otherwise gives the outputs up, and returns the accounts into which
/// nothing was written.
fn settle(
    mut outputs: Outputs,
    commit: impl FnOnce(Option<PreparedRun>) -> Result<(), SeenStoreError>,
    result: Result<Option<PreparedRun>, RunFailure>,
    signals: &Signals,
    known: &Known<'_>,
) -> Result<(), (RunFailure, Vec<outputs::Account>)> {
    // A full pipe may block here for ever, so signals are held off only later.
    let result = result.and_then(|run| outputs.write_accounts(known).map(|()| run));
    signals.hold_off();
    match result {
        Ok(run) => {
            let committed = outputs.commit().and_then(|()| Ok(commit(run)?));
            committed.map_err(|why| (why, Vec::new()))
        }
        Err(why) => Err((why, outputs.give_up())),
    }
}

/// The rules that were chosen.
fn normalizer(common: &RunArgs) -> Result<Normalizer, String> {
    let normalizer = match common.policy.of_profile_file(common.transcode) {
        Some(normalizer) => normalizer?.with_backend(common.backend),
        None => common.normalizer()?,
    };
    common.choices().finish(normalizer)
}

fn when(common: &RunArgs, inputs: &[Input], outputs: &Outputs) -> When {
    // A bar would overwrite a line that the user is typing.
    let is_typed =
        || inputs.iter().any(|input| is_standard_input(&input.path)) && io::stdin().is_terminal();
    match common.messages {
        MessageLevel::All
            if common.progress == When::Auto && (outputs.are_watched() || is_typed()) =>
        {
            When::Never
        }
        MessageLevel::All => common.progress,
        MessageLevel::Warnings => When::Never,
    }
}

/// Returns the state of a run, whenever it is called.
fn state(
    watch: &Arc<Watch>,
    total: Option<u64>,
    job: output::JobKind,
) -> impl FnMut() -> ProgressState + Send + use<> {
    let watch = Arc::clone(watch);
    move || {
        let (tally, _) = watch.counted();
        let counts = Counts {
            records: tally.records,
            unique: (job == output::JobKind::Dedup).then_some(tally.unique),
            undecided: tally.undecided,
        };
        let done = watch.bytes.load(Ordering::Relaxed);
        ProgressState { phase: watch.phase(), done, total, counts: Some(counts), name: None }
    }
}

/// The size of the inputs in bytes, if all are files.
fn total(inputs: &[Input]) -> Option<u64> {
    let sizes = inputs.iter().map(|input| match input.source {
        Source::File { size, .. } => Some(size),
        Source::Stream | Source::Redirected { .. } => None,
    });
    sizes.sum()
}
