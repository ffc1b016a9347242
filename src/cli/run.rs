//! One run of the command: from arguments to an exit status.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::error::ErrorKind;

use super::compare::{Compare, Compared, Comparison};
use super::explain::{self, Explain};
use super::flags::{
    self, BadInput, Cli, Columns, Command, Common, Directories, Form, FormatChoice, Messages,
};
use super::outputs::{Division, End, Known, Outputs, Shape, failure, write_anew};
use super::paint::Paint;
use super::progress::{Progress, When};
use super::signals::Signals;
use super::tell::tell;
use super::{bench, checkpoint, generate, memory, names, open_files, profiles, set, tables, walk};
use crate::input::{self, Input, Source, Trouble};
use crate::output::{
    self, Field, FileStats, Inputs, LineForm, Printable, State, Stats, Summary, TableKind,
};
use crate::pipeline::{
    self, Auditing, Dedup, Job, Keep, Memory, Order, Report, RunError, Setup, Watch,
};
use crate::record::{Format, Separator, carrying};
use crate::{Backend, Key, Normalizer};

/// How a run ended, as its exit status says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Status {
    Complete = 0,
    /// Committed, but an input was skipped, or what was compared is different.
    Incomplete = 1,
    /// Nothing committed.
    Failed = 2,
    /// Stopped by a limit; nothing committed.
    Limit = 3,
}

/// What a shell reports of a process that wrote to a closed pipe: 128 + SIGPIPE.
const CLOSED_PIPE: u8 = 141;

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    tables::expect_panics();
    open_files::allow_most();
    match Cli::parse_or_exit(Backend::best().name()).command {
        Command::Dedup(dedup) => {
            let dedup = *dedup;
            let job = Job::Dedup(Dedup {
                order: match dedup.order {
                    flags::Order::First => Order::First,
                    flags::Order::Sorted => Order::Sorted,
                    flags::Order::None => Order::None,
                },
                count: dedup.columns == Columns::CountAndUrl,
                min_count: dedup.min_count,
                limit: dedup.limit,
            });
            let plan = Plan {
                job,
                fields: dedup.fields,
                carry: dedup.carry,
                keep: dedup.keep,
                form: dedup.form,
                audit: dedup.audit,
                seen: dedup.seen,
                save_seen: dedup.save_seen,
                division: dedup.split_by.map(|(by, shards)| {
                    let suffix = dedup.split_suffix.unwrap_or_default();
                    Division { by, shards, suffix }
                }),
                memory: dedup.memory.memory(memory::warn),
                checkpoint: Some(dedup.checkpoint),
                name: output::Job::Dedup,
            };
            start(&dedup.common, plan)
        }
        Command::Normalize(normalize) => {
            let job = match TableKind::of(&normalize.common.output) {
                Some(_) => Job::Tabulate,
                None => Job::Normalize { json: normalize.form == Form::Json },
            };
            start(&normalize.common, Plan::new(job, output::Job::Normalize))
        }
        Command::Explain(explain) => wrote(explained(&explain)),
        Command::Compare(compare) => compared(&compare),
        Command::Profiles { name } => wrote(profiles::write(name, &mut io::stdout().lock())),
        Command::Set(set) => set::main(&set),
        Command::Bench(bench) => bench::main(&bench),
        Command::Completions { shell } => {
            wrote(generate::completions(shell, &mut io::stdout().lock()))
        }
        Command::Man { command } => wrote(generate::man(command, &mut io::stdout().lock())),
    }
}

fn explained(explain: &Explain) -> io::Result<()> {
    let normalizers = explain.normalizers().unwrap_or_else(|message| {
        flags::exit(&flags::usage("explain", ErrorKind::ValueValidation, message))
    });
    let mut out = io::stdout().lock();
    let paint = Paint::new(explain.color, out.is_terminal());
    for (i, url) in explain.urls.iter().enumerate() {
        let url = url.as_encoded_bytes();
        let mut text = String::new();
        if explain.json {
            explain::as_json(url, &normalizers, &mut text);
        } else {
            text.push_str(if i > 0 { "\n" } else { "" });
            explain::as_text(url, &normalizers, paint, &mut text);
        }
        out.write_all(text.as_bytes())?;
    }
    out.flush()
}

pub(super) fn wrote(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(CLOSED_PIPE),
        Err(error) => {
            say(format_args!("standard output: {error}"));
            ExitCode::from(Status::Failed as u8)
        }
    }
}

/// One line on standard error. Whether it could be written does not matter: there is nobody to tell.
pub(super) fn say(message: impl Display) {
    let _ = writeln!(io::stderr(), "uniqurl: {}", printable(&message.to_string()));
}

/// The text of a message, on one line, with nothing in it that a terminal would act on.
///
/// Messages escape what they quote of names and URLs, backslashes too, and that stays. What they
/// forget is escaped here: a text of the system, or of a library, can quote too.
pub(super) fn printable(message: &str) -> String {
    let shown = message.bytes().map(|byte| match byte {
        0x20..=0x7E => char::from(byte).to_string(),
        _ => Printable(&[byte]).to_string(),
    });
    shown.collect()
}

fn compared(compare: &Compare) -> ExitCode {
    let usage = |message| -> ! {
        flags::exit(&flags::usage("compare", ErrorKind::ValueValidation, message))
    };
    match compare.compared().unwrap_or_else(|error| flags::exit(&error)) {
        Compared::Urls(urls) => {
            let rungs = compare.rungs().unwrap_or_else(|message| usage(message));
            let comparison = Comparison::new(urls, &rungs);
            let result = if compare.json { comparison.as_json() } else { comparison.name().into() };
            if compare.common.messages == Messages::All && !compare.json {
                let mut reasons = String::new();
                let paint = Paint::new(compare.color, io::stderr().is_terminal());
                comparison.reasons(paint, &mut reasons);
                // The name comes first where both go to one terminal.
                let printed = writeln!(io::stdout().lock(), "{result}");
                let _ = io::stderr().write_all(reasons.as_bytes());
                return ended(printed, comparison.is_same());
            }
            ended(writeln!(io::stdout().lock(), "{result}"), comparison.is_same())
        }
        Compared::Profiles([one, other]) => {
            let job = Job::Compare { other, json: compare.json };
            run(&compare.common, *one, Plan::new(job, output::Job::Compare))
        }
    }
}

/// The end of a comparison of two URLs.
fn ended(result: io::Result<()>, same: bool) -> ExitCode {
    match result {
        Ok(()) if !same => ExitCode::from(Status::Incomplete as u8),
        result => wrote(result),
    }
}

/// What a run with inputs is to do.
struct Plan {
    job: Job,
    fields: Vec<Field>,
    carry: Vec<String>,
    keep: Keep,
    form: Form,
    audit: bool,
    seen: Vec<PathBuf>,
    save_seen: Option<PathBuf>,
    division: Option<Division>,
    memory: Option<Memory>,
    checkpoint: Option<checkpoint::Checkpoints>,
    name: output::Job,
}

impl Plan {
    fn new(job: Job, name: output::Job) -> Self {
        Self {
            job,
            fields: Vec::new(),
            carry: Vec::new(),
            keep: Keep::First,
            form: Form::Line,
            audit: false,
            seen: Vec::new(),
            save_seen: None,
            division: None,
            memory: None,
            checkpoint: None,
            name,
        }
    }
}

fn start(common: &Common, plan: Plan) -> ExitCode {
    let normalizer = normalizer(common).and_then(|normalizer| {
        if plan.fields.contains(&Field::Decoded) && !normalizer.has_decoded() {
            let profile = normalizer.profile().name();
            return Err(format!("profile {profile} has no column decoded; profile servlet has"));
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

fn run(common: &Common, normalizer: Normalizer, plan: Plan) -> ExitCode {
    let Plan { job, fields, carry, keep, form, audit, seen, save_seen, division, .. } = plan;
    let Plan { memory, checkpoint, name, .. } = plan;
    let before = if seen.is_empty() { output::Before::Nothing } else { output::Before::Seen };
    let start = Instant::now();
    let ssurt = common.key == Key::Ssurt || fields.contains(&Field::Ssurt);
    if ssurt && normalizer.has_own_ports() {
        let message = "ssurt names the ports of the registry, and the profile file has others";
        flags::exit(&flags::usage(name.name(), ErrorKind::ArgumentConflict, message));
    }
    let backend = normalizer.backend();
    let profile = normalizer.description();
    let watch = Arc::new(Watch::default());
    let bar = Bar::default();
    let signals = {
        let (watch, bar, messages) = (Arc::clone(&watch), bar.clone(), common.messages);
        let filters = filters(common);
        Signals::watch(move || {
            bar.wipe();
            let (tally, inputs) = watch.counted();
            let bytes = watch.bytes.load(Ordering::Relaxed);
            let seconds = start.elapsed().as_secs_f64();
            end(messages, &Summary { job: name, tally, filters, before, inputs, bytes, seconds });
        })
    };
    let signals = match signals {
        Ok(signals) => signals,
        Err(error) => {
            say(format_args!("cannot watch for signals: {error}"));
            return ExitCode::from(Status::Failed as u8);
        }
    };
    // JSON says by itself where an object ends.
    let separator = match &job {
        Job::Normalize { json: true } => Separator::LineFeed,
        Job::Dedup(_) if form == Form::Json => Separator::LineFeed,
        _ => common.separator,
    };
    let table = tables::Plan::new(common, &job, &fields, &carry, normalizer.profile().grammar);
    let shape =
        Shape { seen: save_seen.as_deref(), division: division.as_ref(), table, end: separator };
    let opened = paths(common).and_then(|paths| Ok((paths, Outputs::create(common, shape)?)));
    let (paths, mut outputs) = match opened {
        Ok(opened) => opened,
        Err(error) => {
            say(error);
            end(common.messages, &summary(name, common, before, &Report::default(), 0, start));
            return ExitCode::from(Status::Failed as u8);
        }
    };
    let (paths, mut missing) = match common.directories {
        Directories::AreWalked => walk::files_below(paths),
        Directories::AreRefused => (paths, Vec::new()),
    };
    let (inputs, unreadable) = input::check(&paths);
    missing.extend(unreadable);
    for error in &missing {
        match error.trouble {
            Trouble::Directory => say(format_args!("{error}, or give -r")),
            _ => say(error),
        }
    }
    let (seen, unseen) = input::check(&seen);
    for error in &unseen {
        say(format_args!("{error}; without it (--seen) URLs would come out again"));
    }
    watch.count(|_, inputs| inputs.missing = missing.len() as u64);
    let readable = missing.is_empty() || common.bad_input == BadInput::IsSkipped;
    let checkpoint = checkpoint.filter(|_| readable && unseen.is_empty());
    let checkpoint = checkpoint.map_or(Ok(None), |kept| kept.open(&inputs, &seen));
    let refused = checkpoint.as_ref().err().inspect(|error| say(error)).is_some();
    let checkpoint = checkpoint.unwrap_or_default();
    let (mut report, result) = if refused || !unseen.is_empty() {
        (Report::default(), Err(End::Told))
    } else if !readable {
        say("nothing was read; --keep-going goes on without what cannot be read");
        (Report::default(), Err(End::Told))
    } else {
        if let (Some(done @ 1..), Messages::All) =
            (checkpoint.as_ref().map(|checkpoint| checkpoint.absorbed()), common.messages)
        {
            say(format_args!("going on behind the first {done} of {} inputs", inputs.len()));
        }
        bar.draw(|| Progress::start(when(common), Arc::clone(&watch.bytes), total(&inputs)));
        let setup = Setup {
            normalizer,
            separator: common.separator,
            format: match &common.format {
                FormatChoice::Auto if common.separator == Separator::Nul => {
                    pipeline::Format::Fixed(Arc::new(Format::Lines))
                }
                FormatChoice::Auto => pipeline::Format::Auto,
                FormatChoice::Named(format) => {
                    pipeline::Format::Fixed(Arc::new(format.clone().with_kinds(common.kinds())))
                }
            },
            kinds: common.kinds(),
            job,
            filter: common.filters.records(),
            wanted: common.filters.urls(),
            max_rejected: common.filters.max_rejected,
            secrets: common.secrets,
            key: common.key,
            fields,
            carry,
            keep,
            form: match form {
                Form::Line => LineForm::Tabs,
                Form::Json => LineForm::Json,
            },
            split: division.map(|Division { by, shards, .. }| pipeline::Split {
                by,
                shards,
                key: common.key,
            }),
            auditing: match common.stats.is_some() || common.report.is_some() {
                false => Auditing::Off,
                true if audit => Auditing::Merges,
                true => Auditing::Rules,
            },
            observes: common.report.is_some(),
            threads: common.threads(),
            max_url: common.max_url,
            chunk_size: memory::chunk_size(memory.as_ref(), common.threads()),
            keep_going: common.bad_input == BadInput::IsSkipped,
            memory,
            seen,
            checkpoint: checkpoint.as_ref(),
            watch: &watch,
        };
        let Outputs { main, rejects, seen, .. } = &mut outputs;
        let sinks = pipeline::Sinks {
            out: main,
            rejects: rejects.as_mut().map(|output| output as _),
            seen: seen.as_mut().map(|output| output as _),
        };
        let (report, result) = pipeline::run_to(&setup, &inputs, sinks);
        let result = match result {
            Ok(()) if name == output::Job::Dedup && all_rejected(&report) => {
                Err(End::NothingButRejects)
            }
            // The last bytes may be the first to meet a full disk or a closed pipe.
            Ok(()) => outputs.prepare().map_err(End::from),
            Err(RunError::Output(error)) => Err(End::from(error)),
            Err(error) => Err(End::Failed(error)),
        };
        bar.wipe();
        if matches!(result, Err(End::ClosedPipe)) {
            return ExitCode::from(CLOSED_PIPE);
        }
        tell(&report, inputs.len(), name, common);
        if let (Some(memory), Messages::All, 1..) = (&setup.memory, common.messages, report.spilled)
        {
            memory::tell(memory, report.spilled);
        }
        (report, result)
    };
    let summary = summary(name, common, before, &report, missing.len(), start);
    debug_assert!(summary.tally.adds_up(name));
    let is_complete = missing.is_empty() && report.damaged.is_empty();
    // Two profiles that differ end a run as two URLs do.
    let is_same = report.differences.total() == 0;
    let mut files = std::mem::take(&mut report.files);
    files.extend(missing.into_iter().map(|error| FileStats {
        path: error.path,
        state: State::Missing,
        bytes: 0,
        tally: output::Tally::default(),
    }));
    let stats = |status: Status| Stats {
        status: status as u8,
        profile: &profile,
        key: common.key,
        backend: backend.name(),
        threads: common.threads(),
        spilled: report.spilled,
        summary: &summary,
        audit: report.audit.as_ref(),
        files: &files,
    };
    let committed = if is_complete && is_same { Status::Complete } else { Status::Incomplete };
    let known = |status| Known { stats: stats(status), observed: report.observed.as_deref() };
    let account_files = outputs.account_files();
    // A full pipe can still be waited for in vain here.
    let result = result.and_then(|()| outputs.write_accounts(&known(committed)));
    signals.hold_off();
    let ended = match result {
        Ok(()) => outputs.commit().map_err(|why| (why, Vec::new())),
        Err(why) => Err((why, outputs.give_up())),
    };
    let status = match ended {
        Ok(()) => {
            if let Some(checkpoint) = checkpoint {
                checkpoint.remove();
            }
            committed
        }
        Err((why, given_up)) => {
            let status = failure(why);
            match write_anew(&known(status), account_files, given_up) {
                Ok(()) => status,
                Err(error) => {
                    say(error);
                    Status::Failed
                }
            }
        }
    };
    end(common.messages, &summary);
    ExitCode::from(status as u8)
}

/// The last line.
fn end(messages: Messages, summary: &Summary) {
    if messages == Messages::All {
        let _ = writeln!(io::stderr(), "{summary}");
    }
}

/// The progress bar, which whoever ends the run wipes away.
#[derive(Clone, Default)]
struct Bar(Arc<Mutex<Drawn>>);

#[derive(Default)]
enum Drawn {
    #[default]
    NotYet,
    Since(#[expect(dead_code, reason = "it is wiped away when it is dropped")] Progress),
    /// Nothing is drawn any more.
    Wiped,
}

impl Bar {
    /// Starts to draw, unless the run is ended already.
    fn draw(&self, start: impl FnOnce() -> Progress) {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*drawn, Drawn::NotYet) {
            *drawn = Drawn::Since(start());
        }
    }

    fn wipe(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Drawn::Wiped;
    }
}

fn normalizer(common: &Common) -> Result<Normalizer, String> {
    let mut normalizer = match common.policy.from_file(common.transcode) {
        Some(normalizer) => normalizer?.with_backend(common.backend),
        None => common.normalizer().map_err(|error| error.to_string())?,
    };
    if let Some(scheme) = &common.assume_scheme {
        normalizer = normalizer
            .with_assumed_scheme(scheme.as_encoded_bytes())
            .map_err(|reject| format!("--assume-scheme is no scheme: {reject}"))?;
    }
    if let Some(base) = &common.base {
        normalizer = normalizer
            .with_base(base.as_encoded_bytes())
            .map_err(|reject| format!("--base is no absolute URL: {reject}"))?;
    }
    common.policy.redirect(normalizer)
}

/// The names of the inputs: arguments first, then the list; standard input where there are neither.
fn paths(common: &Common) -> io::Result<Vec<PathBuf>> {
    let mut paths = common.files.clone();
    match &common.files_from {
        Some(list) => paths.extend(names::from_list(list)?),
        None if paths.is_empty() => paths.push(PathBuf::from("-")),
        None => {}
    }
    Ok(paths)
}

fn when(common: &Common) -> When {
    match common.messages {
        Messages::All => common.progress,
        Messages::Warnings => When::Never,
    }
}

/// Bytes to be read, where all inputs are files.
fn total(inputs: &[Input]) -> Option<u64> {
    let sizes = inputs.iter().map(|input| match input.source {
        Source::File { size, .. } => Some(size),
        Source::Stream => None,
    });
    sizes.sum()
}

fn all_rejected(report: &Report) -> bool {
    let tally = &report.tally;
    tally.rejected > 0 && tally.rejected + tally.blank == tally.records
}

fn filters(common: &Common) -> output::Filters {
    if common.filters.records().is_empty() && common.filters.urls().is_empty() {
        output::Filters::None
    } else {
        output::Filters::InPlay
    }
}

fn summary(
    name: output::Job,
    common: &Common,
    before: output::Before,
    report: &Report,
    missing: usize,
    start: Instant,
) -> Summary {
    let count = |state| report.files.iter().filter(|file| file.state == state).count() as u64;
    Summary {
        job: name,
        tally: report.tally,
        filters: filters(common),
        before,
        inputs: Inputs {
            ok: count(State::Ok),
            damaged: count(State::Damaged),
            missing: missing as u64,
        },
        bytes: report.bytes,
        seconds: start.elapsed().as_secs_f64(),
    }
}
