//! One run over inputs: from the request to an exit status.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::args::memory;
use crate::args::run_args::RunArgs;
use crate::args::usage::wrong;
use crate::diagnostics::{are_all_rejected, nothing_but_rejects, print_diagnostics};
use crate::failure::{RunFailure, failure};
use crate::inputs::names::is_standard_input;
use crate::inputs::{RunInputs, paths};
use crate::outputs::{self, Known, OutputSpec, Outputs, write_anew};
use crate::progress::{Bar, Counts, Progress, ProgressState, When};
use crate::request::{Request, WholeRecords};
use crate::signals::Signals;
use crate::status::{Status, eprint_hinted, eprint_message};
use crate::stores::Stores;
use crate::summary_line::SummaryLine;
use crate::{address_space, command_line, dates, hints, tables};
use uniqurl_engine::output::{self, FileStats, Inputs, LineForm, ReportPage, Stats, Tally};
use uniqurl_engine::{self, Job, Report, RunError, Trace, TraceStage, Watch, WholeSinks};
use uniqurl_formats::input::InputState;
use uniqurl_formats::input::{Input, InputError, Source};
use uniqurl_formats::record::Separator;
use uniqurl_store::seen::{PreparedRun, RunBuilder, SeenStoreError, StoreRules, UnixTime};

/// Runs the request, if the options allow it.
pub(crate) fn start(common: &RunArgs, request: Request) -> Result<Status, clap::Error> {
    request.check(common).map_err(wrong)?;
    Ok(run(common, request))
}

/// Runs it.
fn run(common: &RunArgs, mut request: Request) -> Status {
    let summary_line = SummaryLine::new(common.quiet, &request);
    let mut watch = Watch::default();
    watch.trace = common.trace.as_ref().map(|_| Trace::default());
    let (watch, bar) = (Arc::new(watch), Bar::default());
    // Before anything is made that a signal has to remove.
    let signals = match await_signals(summary_line, &watch, &bar) {
        Ok(signals) => signals,
        Err(error) => {
            eprint_message(format_args!("cannot watch for signals: {error}"));
            // Under such a limit the stack of the watching thread did not fit.
            let is_limited = address_space::is_limited();
            return if is_limited { Status::Limit } else { Status::Failed };
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
            return Status::Failed;
        }
    };
    let found = RunInputs::resolve(common, paths, &request.seen, request.name);
    // A signal may end the run from now on, and its last line counts these inputs, too.
    watch.count(|_, inputs| {
        *inputs = found.missing.iter().map(InputError::state_unopened).collect()
    });
    let (command, date) = match common.report {
        Some(_) => (command_line::shown(), dates::shown(UnixTime::now())),
        None => Default::default(),
    };
    let backend = request.plan.normalizer.backend();
    let mut profile = request.plan.normalizer.description();
    // The description of a file only counts what hosts and paths have of their own.
    if profile.contains(" base=") {
        profile.push_str(&format!(" rules={}", request.plan.normalizer.fingerprint()));
    }
    let mut stores = Stores::default();
    // Without one of these lists, its URLs would come out as new ones.
    let (mut report, result) = if !found.unseen.is_empty() {
        (Report::default(), Err(RunFailure::Reported))
    } else if !found.is_readable(common) {
        // If no input is left, --keep-going is no help.
        if !found.inputs.is_empty() {
            eprint_hinted("nothing was read", Some(KEEP_GOING));
        }
        (Report::default(), Err(RunFailure::Reported))
    } else if let Err(error) = open_stores(&mut request, &mut stores) {
        // Last of all, for it may make a store, and a run without inputs should leave none.
        (Report::default(), Err(RunFailure::Store(error)))
    } else {
        found.warn_of_outputs(common);
        let (inputs, seen) = (&found.inputs, found.seen);
        if let Some((message, hint)) = tables::output_hint(&common.output, &request)
            && !common.quiet
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
            read(&request, inputs, &mut outputs, &stores, summary_line.terms.job, &watch);
        bar.wipe();
        // The reader has what it wanted, and nobody waits for an account.
        if matches!(result, Err(RunFailure::ClosedPipe)) {
            return Status::ClosedPipe;
        }
        print_diagnostics(&report, plan, summary_line.terms.job, common);
        if let (Some(memory), false, 1..) =
            (&plan.limits.memory, common.quiet, report.spilled.written)
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
    let host_lists = common.filters.host_lists(&request.plan.policy.urls, &report.in_lists);
    let known = |status: Status| Known {
        page: ReportPage {
            stats: Stats {
                status: status as u8,
                profile: &profile,
                key: common.key,
                backend: backend.name(),
                threads: request.plan.limits.workers(),
                spilled: report.spilled,
                summary: &summary,
                files: &files,
                host_lists: &host_lists,
            },
            command: &command,
            date: &date,
        },
        trace: watch.trace.as_ref(),
    };
    let is_complete =
        files.iter().all(|file| file.state == InputState::Ok) && report.damaged.is_empty();
    let committed = if is_complete { Status::Complete } else { Status::Incomplete };
    // Asked for now, since settling consumes the outputs.
    let account_files = outputs.account_files();
    let given = outputs.main.given();
    let memory = memory::for_merging(request.plan.limits.memory.as_ref());
    let commit = |run| stores.commit(run, memory);
    let is_wrong_usage = matches!(result, Err(RunFailure::Idle(..)));
    let status = match settle(outputs, commit, result, &signals, &known(committed)) {
        Ok(()) => committed,
        Err((RunFailure::ClosedPipe, _)) => return Status::ClosedPipe,
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
        Status::ClosedPipe => {}
        // A run that could do nothing has no account.
        Status::Failed if is_wrong_usage => {}
        Status::Failed | Status::Limit => summary_line.write_failed(&summary),
    }
    status
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
    let Request { plan, stores, division, whole, .. } = request;
    let (job, output) = (&plan.job, &plan.output);
    let kind = tables::TableSpec::kind(common, division.as_ref());
    // Rows of CSV come as they are.
    let kind = kind.filter(|_| whole.is_none());
    OutputSpec {
        // Who asks for a report alone does not want a list in the terminal as well.
        writes_urls: !(stores.only_change() || common.report.is_some() && goes_to_terminal(common)),
        division: division.as_ref(),
        table: kind.map(|kind| tables::TableSpec::new(kind, common, job, output, &plan.normalizer)),
        header: tables::header(common, output),
        // A JSON object never contains a raw line feed, so it needs no other separator.
        is_whole: whole.is_some(),
        dropped: whole.as_ref().and_then(|whole| whole.dropped.as_deref()),
        end: match job {
            // Records have their own ends.
            Job::Dedup(_) if whole.is_some() => Separator::LineFeed,
            Job::Normalize { json: true } => Separator::LineFeed,
            Job::Dedup(_) if output.form == LineForm::Json => Separator::LineFeed,
            _ => common.separator(),
        },
    }
}

/// Whether the URLs go to standard output because nothing else was asked for, and that is a terminal.
fn goes_to_terminal(common: &RunArgs) -> bool {
    common.output == Path::new("-") && io::stdout().is_terminal()
}

/// Opens the stores, and puts those that are asked into the plan.
fn open_stores(request: &mut Request, stores: &mut Stores) -> Result<(), SeenStoreError> {
    let rules = {
        let policy = &request.plan.policy;
        StoreRules::of(&request.plan.normalizer, policy.key, policy.routes.as_deref())
    };
    *stores = Stores::open(&request.stores, &rules)?;
    request.plan.input.stores = std::mem::take(&mut stores.before);
    Ok(())
}

/// Reads the inputs and writes the outputs and the keys for a store, which are then still to be committed.
fn read(
    request: &Request,
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
    let plan = &request.plan;
    let Outputs { main, rejects, dropped, .. } = outputs;
    let mut sinks = uniqurl_engine::Sinks::to(&mut **main);
    sinks.rejects = rejects.as_mut().map(|output| output as _);
    sinks.keys = keys.as_mut().map(|keys| keys as _);
    let (report, result) = match &request.whole {
        None => uniqurl_engine::run(plan, inputs, sinks, watch),
        Some(WholeRecords { table, .. }) => {
            let dropped = dropped.as_mut().map(|output| output as _);
            let sinks = WholeSinks { kept: sinks, dropped, table: *table };
            uniqurl_engine::run_whole(plan, inputs, sinks, watch)
        }
    };
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
    // The threads of the run are gone by now.
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(|| outputs.prepare()),
        // Without threads it only takes longer.
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
    let result = result
        .and_then(|run| outputs.write_accounts(known).map(|()| run).map_err(RunFailure::from));
    signals.hold_off();
    match result {
        Ok(run) => {
            let committed = outputs.commit().map_err(RunFailure::from);
            let committed = committed.and_then(|()| Ok(commit(run)?));
            committed.map_err(|why| (why, Vec::new()))
        }
        Err(why) => Err((why, outputs.give_up())),
    }
}

fn when(common: &RunArgs, inputs: &[Input], outputs: &Outputs) -> When {
    // A bar would overwrite a line that the user is typing.
    let is_typed =
        || inputs.iter().any(|input| is_standard_input(&input.path)) && io::stdin().is_terminal();
    match common.progress {
        _ if common.quiet => When::Never,
        When::Auto if outputs.are_watched() || is_typed() => When::Never,
        when => when,
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
        ProgressState { phase: watch.phase(), done, total, counts }
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
