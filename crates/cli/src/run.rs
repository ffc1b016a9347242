//! One run over inputs: from what was asked for to an exit status.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use clap::error::ErrorKind;

use super::flags::{self, BadInput, Common, Form, FormatChoice, Messages};
use super::found::{Found, paths};
use super::names::is_standard_input;
use super::outputs::{Division, End, Known, Outputs, Shape, failure, write_anew};
use super::progress::{Bar, Progress, When};
use super::signals::Signals;
use super::status::{CLOSED_PIPE, Status, say};
use super::tell::{are_all_rejected, nothing_but_rejects, tell};
use super::{memory, outputs, tables};
use uniqurl::{Key, Normalizer};
use uniqurl_engine::output::{self, Field, FileStats, Inputs, LineForm, Stats, Summary};
use uniqurl_engine::{self, Job, Keep, Memory, Report, RunError, Setup, Watch};
use uniqurl_formats::input::InputState;
use uniqurl_formats::input::{Input, InputError, Source};
use uniqurl_formats::record::{Format, Separator, carrying};

/// What a run over inputs is to do.
pub(super) struct Plan {
    pub(super) job: Job,
    pub(super) fields: Vec<Field>,
    pub(super) carry: Vec<String>,
    pub(super) keep: Keep,
    pub(super) form: Form,
    pub(super) seen: Vec<PathBuf>,
    pub(super) save_seen: Option<PathBuf>,
    pub(super) division: Option<Division>,
    pub(super) memory: Option<Memory>,
    pub(super) name: output::Job,
}

impl Plan {
    pub(super) fn new(job: Job, name: output::Job) -> Self {
        Self {
            job,
            fields: Vec::new(),
            carry: Vec::new(),
            keep: Keep::First,
            form: Form::Line,
            seen: Vec::new(),
            save_seen: None,
            division: None,
            memory: None,
            name,
        }
    }
}

/// Does what was asked for.
pub(super) fn start(common: &Common, plan: Plan) -> ExitCode {
    let normalizer = normalizer(common).and_then(|normalizer| {
        if plan.fields.contains(&Field::Decoded) && !normalizer.has_decoded() {
            let profile = normalizer.profile().name();
            return Err(format!("profile {profile} has no column decoded; profile servlet has"));
        }
        if let Some(glob) = common.filters.host.iter().find(|glob| !glob.is_ascii())
            && !normalizer.may_write_any_byte()
        {
            let profile = normalizer.profile().name();
            return Err(format!(
                "--host {glob}: profile {profile} writes hosts in ASCII, as in \
                 xn--bcher-kva.example; `uniqurl explain` shows how"
            ));
        }
        if let FormatChoice::Named(format) = &common.format {
            let columns: Vec<String> =
                plan.carry.iter().chain(plan.keep.column()).cloned().collect();
            carrying(format, &columns)?;
        }
        Ok(normalizer)
    });
    match normalizer {
        Ok(normalizer) => run(common, normalizer, plan),
        Err(message) => {
            flags::exit(&flags::usage(plan.name.name(), ErrorKind::ValueValidation, message))
        }
    }
}

/// What the last line of a run is made of besides its counts.
#[derive(Clone, Copy)]
struct LastLine {
    job: output::Job,
    filters: output::Filters,
    before: output::Before,
    messages: Messages,
    start: Instant,
}

impl LastLine {
    fn new(common: &Common, normalizer: &Normalizer, plan: &Plan) -> Self {
        let filters = &common.filters;
        let filters = (filters.records().is_empty() && filters.urls(normalizer).is_empty())
            .then_some(output::Filters::None);
        let before = plan.seen.is_empty().then_some(output::Before::Nothing);
        Self {
            job: plan.name,
            filters: filters.unwrap_or(output::Filters::InPlay),
            before: before.unwrap_or(output::Before::Seen),
            messages: common.messages,
            start: Instant::now(),
        }
    }

    fn summary(&self, tally: output::Tally, inputs: Inputs, bytes: u64) -> Summary {
        let &Self { job, filters, before, start, .. } = self;
        let seconds = start.elapsed().as_secs_f64();
        Summary { job, tally, filters, before, inputs, bytes, seconds }
    }

    fn summary_of(&self, report: &Report, missing: &[InputError]) -> Summary {
        let begun = report.files.iter().map(|file| file.state);
        let inputs = begun.chain(missing.iter().map(unopened)).collect();
        self.summary(report.tally, inputs, report.bytes)
    }

    fn write(&self, summary: &Summary) {
        if self.messages == Messages::All {
            let _ = writeln!(io::stderr(), "{summary}");
        }
    }
}

/// Does it with these rules.
pub(super) fn run(common: &Common, normalizer: Normalizer, plan: Plan) -> ExitCode {
    let ssurt = common.key == Key::Ssurt || plan.fields.contains(&Field::Ssurt);
    if ssurt && normalizer.has_own_ports() {
        let message = "ssurt names the ports of the registry, and the profile file has others";
        flags::exit(&flags::usage(plan.name.name(), ErrorKind::ArgumentConflict, message));
    }
    let last_line = LastLine::new(common, &normalizer, &plan);
    let (watch, bar) = (Arc::new(Watch::default()), Bar::default());
    let signals = match await_signals(last_line, &watch, &bar) {
        Ok(signals) => signals,
        Err(error) => {
            say(format_args!("cannot watch for signals: {error}"));
            return ExitCode::from(Status::Failed as u8);
        }
    };
    let opened = paths(common, &plan.seen)
        .and_then(|paths| Ok((paths, Outputs::create(common, shape(common, &plan, &normalizer))?)));
    let (paths, mut outputs) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            say(&error);
            last_line.write(&last_line.summary_of(&Report::default(), &[]));
            return ExitCode::from(Status::Failed as u8);
        }
    };
    let found = Found::look(common, paths, &plan);
    watch.count(|_, inputs| *inputs = found.missing.iter().map(unopened).collect());
    let backend = normalizer.backend();
    let profile = normalizer.description();
    let (mut report, result) = if !found.unseen.is_empty() {
        (Report::default(), Err(End::Told))
    } else if !found.is_readable(common) {
        if !found.inputs.is_empty() {
            say("nothing was read; --keep-going goes on without what cannot be read");
        }
        (Report::default(), Err(End::Told))
    } else {
        found.warn_of_outputs(common);
        let (inputs, seen) = (&found.inputs, found.seen);
        if let (Some(tip), Messages::All) = (tables::tip(&common.output, &plan), common.messages) {
            say(tip);
        }
        bar.draw(|| {
            let done = Arc::clone(&watch.bytes);
            Progress::start(when(common, inputs, &outputs), done, total(inputs))
        });
        let setup = setup(common, normalizer, plan, seen, &watch);
        let (report, result) = read(&setup, inputs, &mut outputs, last_line.job);
        bar.wipe();
        if matches!(result, Err(End::ClosedPipe)) {
            return ExitCode::from(CLOSED_PIPE);
        }
        tell(&report, inputs.len(), last_line.job, common);
        if let (Some(memory), Messages::All, 1..) = (&setup.memory, common.messages, report.spilled)
        {
            memory::tell(memory, report.spilled);
        }
        (report, result)
    };
    let summary = last_line.summary_of(&report, &found.missing);
    debug_assert!(summary.tally.adds_up(last_line.job));
    let files = files(&mut report, found.missing);
    let stats = |status: Status| Stats {
        status: status as u8,
        profile: &profile,
        key: common.key,
        backend: backend.name(),
        threads: common.threads(),
        spilled: report.spilled,
        summary: &summary,
        files: &files,
    };
    let known = |status| Known { stats: stats(status), observed: report.observed.as_deref() };
    let is_complete =
        files.iter().all(|file| file.state == InputState::Ok) && report.damaged.is_empty();
    let committed = if is_complete { Status::Complete } else { Status::Incomplete };
    let account_files = outputs.account_files();
    let given = outputs.main.given();
    let status = match settle(outputs, result, &signals, &known(committed)) {
        Ok(()) => committed,
        Err((End::ClosedPipe, _)) => return ExitCode::from(CLOSED_PIPE),
        Err((why, given_up)) => {
            let told = match &why {
                End::Failed(RunError::Output(error)) => Some(error.to_string()),
                _ => None,
            };
            let is_one_of_several = found.inputs.len() > 1 && is_for_want_of_an_input(&why);
            let hint =
                is_one_of_several.then_some("--keep-going goes on without what cannot be read");
            let status = failure(why, last_line.job, given, hint);
            match write_anew(&known(status), account_files, given_up) {
                Ok(()) => status,
                // Why the run failed is told; that nobody reads its accounts is no news.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => status,
                // An account that ended the run mostly meets the same full disk again.
                Err(error) if told == Some(error.to_string()) => status,
                Err(error) => {
                    say(error);
                    Status::Failed
                }
            }
        }
    };
    last_line.write(&summary);
    ExitCode::from(status as u8)
}

/// Whether a run ended since an input could not be read, which --keep-going would have left out.
fn is_for_want_of_an_input(why: &End) -> bool {
    let End::Failed(RunError::Input(error)) = why else { return false };
    matches!(error.state(), InputState::Refused | InputState::Damaged | InputState::Missing)
}

/// Watches for signals that end the run, the last line of which is then all that is left of it.
fn await_signals(last_line: LastLine, watch: &Arc<Watch>, bar: &Bar) -> io::Result<Signals> {
    let (watch, bar) = (Arc::clone(watch), bar.clone());
    Signals::watch(move || {
        bar.wipe();
        let (tally, inputs) = watch.counted();
        let bytes = watch.bytes.load(Ordering::Relaxed);
        last_line.write(&last_line.summary(tally, inputs, bytes));
    })
}

/// What the outputs are like.
fn shape<'a>(common: &Common, plan: &'a Plan, normalizer: &Normalizer) -> Shape<'a> {
    let Plan { job, fields, carry, save_seen, division, .. } = plan;
    Shape {
        seen: save_seen.as_deref(),
        division: division.as_ref(),
        table: tables::Plan::new(common, job, fields, carry, normalizer),
        // JSON says by itself where an object ends.
        end: match job {
            Job::Normalize { json: true } => Separator::LineFeed,
            Job::Dedup(_) if plan.form == Form::Json => Separator::LineFeed,
            _ => common.separator,
        },
    }
}

fn setup<'a>(
    common: &Common,
    normalizer: Normalizer,
    plan: Plan,
    seen: Vec<Input>,
    watch: &'a Watch,
) -> Setup<'a> {
    let wanted = common.filters.urls(&normalizer);
    Setup {
        normalizer,
        separator: common.separator,
        format: match &common.format {
            FormatChoice::Auto if common.separator == Separator::Nul => {
                uniqurl_engine::Format::Fixed(Arc::new(Format::Lines))
            }
            FormatChoice::Auto => uniqurl_engine::Format::Auto,
            FormatChoice::Named(format) => {
                uniqurl_engine::Format::Fixed(Arc::new(format.clone().with_kinds(common.kinds())))
            }
        },
        kinds: common.kinds(),
        job: plan.job,
        filter: common.filters.records(),
        wanted,
        max_rejected: common.filters.max_rejected,
        secrets: common.secrets,
        key: common.key,
        fields: plan.fields,
        carry: plan.carry,
        keep: plan.keep,
        form: match plan.form {
            Form::Line => LineForm::Tabs,
            Form::Json => LineForm::Json,
        },
        split: plan.division.map(|Division { by, shards, .. }| uniqurl_engine::Split {
            by,
            shards,
            key: common.key,
        }),
        count_rules: common.stats.is_some() || common.report.is_some(),
        observes: common.report.is_some(),
        threads: common.threads(),
        max_url: common.max_url,
        chunk_size: memory::chunk_size(plan.memory.as_ref(), common.threads()),
        keep_going: common.bad_input == BadInput::IsSkipped,
        memory: plan.memory,
        seen,
        watch,
    }
}

/// Reads the inputs and writes the outputs, which are then still to be committed.
fn read(
    setup: &Setup<'_>,
    inputs: &[Input],
    outputs: &mut Outputs,
    job: output::Job,
) -> (Report, Result<(), End>) {
    let Outputs { main, rejects, seen, .. } = outputs;
    let sinks = uniqurl_engine::Sinks {
        out: main,
        rejects: rejects.as_mut().map(|output| output as _),
        seen: seen.as_mut().map(|output| output as _),
    };
    let (report, result) = uniqurl_engine::run_to(setup, inputs, sinks);
    let result = match result {
        Ok(()) if are_all_rejected(&report, job, setup.max_rejected) => {
            Err(End::NothingButRejects(nothing_but_rejects(&report)))
        }
        // The last bytes may be the first to meet a full disk or a closed pipe.
        Ok(()) => prepare(outputs, setup.threads).map_err(End::from),
        Err(RunError::Output(error)) => Err(End::from(error)),
        Err(error) => Err(End::Failed(error)),
    };
    (report, result)
}

/// Brings all bytes to where they belong. What waits to be packed takes all threads once more.
fn prepare(outputs: &mut Outputs, threads: usize) -> io::Result<()> {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(|| outputs.prepare()),
        Err(_) => outputs.prepare(),
    }
}

/// How an input is left that was not begun.
fn unopened(error: &InputError) -> InputState {
    match error.state() {
        InputState::Refused => InputState::Refused,
        _ => InputState::Missing,
    }
}

/// The accounts of all inputs, those that are not there last.
fn files(report: &mut Report, missing: Vec<InputError>) -> Vec<FileStats> {
    let mut files = std::mem::take(&mut report.files);
    files.extend(missing.into_iter().map(|error| FileStats {
        state: unopened(&error),
        path: error.path,
        bytes: 0,
        tally: output::Tally::default(),
    }));
    files
}

/// Commits the outputs of a run that went well, or gives up what there is, and gives the accounts into
/// which nothing was written.
fn settle(
    mut outputs: Outputs,
    result: Result<(), End>,
    signals: &Signals,
    known: &Known<'_>,
) -> Result<(), (End, Vec<outputs::Account>)> {
    // A full pipe can still be waited for in vain here.
    let result = result.and_then(|()| outputs.write_accounts(known));
    signals.hold_off();
    match result {
        Ok(()) => outputs.commit().map_err(|why| (why, Vec::new())),
        Err(why) => Err((why, outputs.give_up())),
    }
}

/// The rules that were chosen.
fn normalizer(common: &Common) -> Result<Normalizer, String> {
    let normalizer = match common.policy.from_file(common.transcode) {
        Some(normalizer) => normalizer?.with_backend(common.backend),
        None => common.normalizer()?,
    };
    common.choices().finish(normalizer)
}

fn when(common: &Common, inputs: &[Input], outputs: &Outputs) -> When {
    // Who types would have their line wiped away.
    let is_typed =
        || inputs.iter().any(|input| is_standard_input(&input.path)) && io::stdin().is_terminal();
    match common.messages {
        Messages::All if common.progress == When::Auto && (outputs.are_watched() || is_typed()) => {
            When::Never
        }
        Messages::All => common.progress,
        Messages::Warnings => When::Never,
    }
}

/// Bytes to be read, where all inputs are files.
fn total(inputs: &[Input]) -> Option<u64> {
    let sizes = inputs.iter().map(|input| match input.source {
        Source::File { size, .. } => Some(size),
        Source::Stream | Source::Redirected { .. } => None,
    });
    sizes.sum()
}
