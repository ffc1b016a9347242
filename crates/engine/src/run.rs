//! A run: where it begins, what it holds, and what it tells at the end.

use std::fmt;
use std::io::Write;
use std::time::Instant;

use super::batches::Reading;
use super::finish::Lines;
use super::job::{Dedup, Job, Order, Setup};
use super::overflow::{Origins, Overflow};
use super::report::{MaxRejected, Report, RunError};
use super::scatter::{Scatter, SetChange};
use super::schedule::Schedule;
use super::seen;
use super::sheet::{Before, Columns, Rules, Sheet};
use crate::output::{CanonicalBytes, Field, FileStats, Inputs, Layout, LineForm, Tally};
#[cfg(test)]
use uniqurl::bytes::alloc;
use uniqurl::set::{Counting, HashKey, Shard, shards_for};
use uniqurl_formats::input::InputState;
use uniqurl_formats::input::{Input, InputError, Source};
use uniqurl_formats::record::Context;
use uniqurl_formats::record::SetHeader;
use uniqurl_store::keep_policy::KeepPolicy;

/// A record that is longer than a URL may be by this much is not looked into.
const RECORD_AROUND_URL: usize = 1 << 20;

/// Reads the inputs and writes what they yield to `out`, and the rejected records to `rejects`.
///
/// The report is whole also when the run fails; what was spilled is undecided until it is settled at the
/// end, and so is most of a large set that is only wanted sorted. Time is linear in the bytes read, memory
/// in those of the distinct URLs (of such a set in up to four times as many), up to [`Setup::memory`].
///
/// # Errors
///
/// An input that cannot be read, unless [`Setup::keep_going`] lets it be given up; a set of
/// [`Setup::seen`] that cannot be used; an output or a temporary file that cannot be written; memory that
/// runs out; more rejected records than [`Setup::max_rejected`]; and
/// [`Watch::stop`](super::Watch::stop). What went to `out` before stays there.
///
/// ```
/// use crate::{Job, Setup, Watch, run};
/// use uniqurl::{Normalizer, Profile, input};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("urls.txt");
/// std::fs::write(&path, "http://a.com\nHTTP://A.com/\nx\n")?;
/// let (inputs, errors) = input::check(&[path]);
/// assert!(errors.is_empty());
/// let watch = Watch::default();
/// let normalizer = Normalizer::new(&Profile::CRAWL);
/// let setup = Setup { threads: 2, ..Setup::new(normalizer, Job::Dedup(Default::default()), &watch) };
/// let mut out = Vec::new();
/// let (report, result) = run(&setup, &inputs, &mut out, None);
/// result?;
/// assert_eq!(out, b"http://a.com/\n");
/// assert_eq!((report.tally.unique, report.tally.duplicates, report.tally.rejected), (1, 1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    setup: &Setup<'_>,
    inputs: &[Input],
    out: &mut (dyn Write + Send),
    rejects: Option<&mut (dyn Write + Send)>,
) -> (Report, Result<(), RunError>) {
    run_to(setup, inputs, Sinks { out, rejects: rejects.map(|rejects| rejects as _), seen: None })
}

/// Where a run writes.
pub struct Sinks<'s> {
    /// What the inputs yield.
    pub out: &'s mut (dyn Write + Send),
    /// The rejected records.
    pub rejects: Option<&'s mut (dyn Write + Send)>,
    /// A saved set: the keys of [`Setup::seen`] and the new ones, for a later run's [`Setup::seen`].
    pub seen: Option<&'s mut (dyn Write + Send)>,
}

impl fmt::Debug for Sinks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rejects, seen) = (self.rejects.is_some(), self.seen.is_some());
        f.debug_struct("Sinks")
            .field("rejects", &rejects)
            .field("seen", &seen)
            .finish_non_exhaustive()
    }
}

/// The same with all that a run can write.
///
/// A set is saved whole: with [`Dedup::limit`](super::Dedup::limit) and
/// [`Dedup::min_count`](super::Dedup::min_count) it holds also what is not
/// written.
///
/// # Errors
///
/// As for [`run`].
pub fn run_to(
    setup: &Setup<'_>,
    inputs: &[Input],
    sinks: Sinks<'_>,
) -> (Report, Result<(), RunError>) {
    run_with(setup, inputs, sinks, HashKey::random(setup.normalizer.kernel()))
}

/// The same with a hash of the caller's choice.
pub(super) fn run_with(
    setup: &Setup<'_>,
    inputs: &[Input],
    sinks: Sinks<'_>,
    key: HashKey,
) -> (Report, Result<(), RunError>) {
    let setup = &setup.within_bounds();
    let files = inputs.iter().map(|input| FileStats {
        path: input.path.clone(),
        state: InputState::Ok,
        bytes: 0,
        tally: Tally::default(),
    });
    let mut report = Report {
        files: files.collect(),
        observed: setup.observes.then(Box::default),
        ..Report::default()
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(setup.threads)
        .thread_name(|i| format!("uniqurl-{i}"));
    let mut reached = 0;
    #[cfg(test)]
    let pool = {
        let plan = alloc::failing::plan();
        pool.start_handler(move |_| alloc::failing::follow(plan.clone()))
    };
    let result = match pool.build() {
        Ok(pool) => pool.install(|| {
            let taken_out = setup.taken_out();
            let mut run = Run::new(setup, &taken_out, inputs, &mut report, key);
            let result = run.work(sinks);
            reached = run.schedule.reached();
            if !run.is_read {
                let left = &mut run.report.files[run.counted..reached.max(run.counted)];
                left.iter_mut().filter(|file| file.state == InputState::Ok).for_each(|file| {
                    file.state = InputState::Unfinished;
                });
            }
            if let Some(overflow) = &run.overflow {
                // It ended before that was settled.
                run.report.spilled = overflow.size();
            }
            result
        }),
        Err(error) => Err(RunError::Threads(error.to_string())),
    };
    report.files.truncate(reached);
    for file in &report.files {
        report.tally.merge(&file.tally);
        report.bytes += file.bytes;
    }
    setup.watch.count(|tally, inputs| {
        *tally = report.tally;
        let found: Inputs = report.files.iter().map(|file| file.state).collect();
        (inputs.ok, inputs.unfinished) = (found.ok, found.unfinished);
    });
    (report, result)
}

/// What the *format* stage makes of a sheet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Formatting {
    /// The new URLs, to be written at once.
    New,
    /// The places of the new URLs, for the end.
    Places,
    Lines,
    Json,
    Rows,
    /// Nothing: whether scattered URLs are new shows only at the end.
    Undecided,
}

pub(super) struct Run<'a> {
    pub(super) setup: &'a Setup<'a>,
    pub(super) inputs: &'a [Input],
    /// Bytes of all of them, if none is a stream.
    pub(super) size_of_inputs: Option<u64>,
    pub(super) report: &'a mut Report,
    pub(super) rules: Rules<'a>,
    pub(super) schedule: Schedule<'a>,
    pub(super) formatting: Formatting,
    pub(super) counting: Counting,
    pub(super) shards: Vec<Shard>,
    /// What was seen before the run, where there is something.
    pub(super) seen: Option<Vec<Shard>>,
    /// What a saved set says of the run's rules.
    pub(super) header: Option<SetHeader>,
    /// The new URLs in the order of the input, where the output has to wait for the end.
    pub(super) places: Vec<u64>,
    /// What is to be written of each of them, where that is more than the key.
    pub(super) lines: Lines,
    /// Where URLs go that the set does not hold, once it takes no more.
    pub(super) overflow: Option<Overflow>,
    /// How many of them came out of the set, whose lines had become too many. Their ordinals are the
    /// numbers up to there.
    pub(super) moved: u64,
    /// Which records are of which input.
    pub(super) origins: Origins,
    pub(super) spare: Vec<Sheet>,
    /// What is to be read before any other chunk, the rest of one for the most part.
    pub(super) waiting: Vec<Reading>,
    pub(super) before: Before,
    /// The input that `before` counts the records of.
    pub(super) before_input: usize,
    /// The input whose records were counted last. Those before it are counted whole.
    pub(super) counted: usize,
    /// Whether all inputs are read to their ends and counted.
    pub(super) is_read: bool,
    /// What ends the run when all that was read before it is written, and in which input.
    pub(super) ending: Option<(usize, InputError)>,
    /// Rejected records so far.
    pub(super) rejected: u64,
    /// Bytes of the inputs whose URLs went to the set.
    pub(super) inserted: u64,
    /// The change of the set to make before anything else is read.
    pub(super) set_change: Option<SetChange>,
    /// Whether URLs go to buckets instead of the set.
    pub(super) scatter: Scatter,
    pub(super) start: Instant,
}

impl<'a> Run<'a> {
    fn new(
        setup: &'a Setup<'a>,
        taken_out: &'a [String],
        inputs: &'a [Input],
        report: &'a mut Report,
        key: HashKey,
    ) -> Self {
        let (formatting, counting, shards) = match &setup.job {
            Job::Normalize { json: false } => (Formatting::Lines, Counting::Off, 0),
            Job::Normalize { json: true } => (Formatting::Json, Counting::Off, 0),
            Job::Tabulate => (Formatting::Rows, Counting::Off, 0),
            Job::Dedup(dedup) => {
                let counts =
                    dedup.count || dedup.min_count > 1 || setup.fields.contains(&Field::Count);
                let waits = counts
                    || dedup.order == Order::Sorted
                    || dedup.limit.is_some()
                    || setup.keep.survivor() != KeepPolicy::First;
                (
                    if waits { Formatting::Places } else { Formatting::New },
                    if counts { Counting::On } else { Counting::Off },
                    shards_for(setup.threads),
                )
            }
        };
        let survivor = setup.keep.survivor();
        let counted = matches!(&setup.job, Job::Dedup(dedup) if dedup.count);
        let has_columns =
            !setup.fields.is_empty() || !setup.carry.is_empty() || setup.form == LineForm::Json;
        let columns = (shards > 0 && has_columns).then(|| Columns {
            layout: Layout {
                fields: match &setup.fields[..] {
                    [] => Field::of_key(setup.key, counted),
                    fields => fields,
                },
                carry: &setup.carry,
                bytes: match setup.normalizer.may_write_any_byte() {
                    true => CanonicalBytes::Any,
                    false => CanonicalBytes::Printable,
                },
                form: setup.form,
            },
            taken_out,
            survivor,
            secrets: setup.secrets,
        });
        let max_record = setup.max_url + RECORD_AROUND_URL;
        let context = Context {
            base: setup.normalizer.origin(),
            targets: setup.normalizer.targets(),
            max_url: setup.max_url,
            max_record,
            filter: setup.filter.clone(),
            separator: setup.separator,
        };
        let schedule = Schedule::new(setup, inputs, context.clone(), taken_out);
        let sizes = inputs.iter().map(|input| match input.source {
            Source::File { size, .. } => Some(size),
            Source::Stream | Source::Redirected { .. } => None,
        });
        Self {
            setup,
            inputs,
            size_of_inputs: sizes.sum(),
            report,
            schedule,
            rules: Rules {
                normalizer: &setup.normalizer,
                brought: setup.normalizer.brought(),
                context,
                key,
                wanted: Some(&setup.wanted).filter(|wanted| !wanted.is_empty()),
                secrets: setup.secrets,
                written: setup.key,
                columns,
                split: setup.split,
                shards,
                decoded: setup.normalizer.has_decoded()
                    && (formatting == Formatting::Json || setup.fields.contains(&Field::Decoded)),
                count_rules: setup.count_rules,
                observes: setup.observes,
            },
            formatting,
            counting,
            shards: (0..shards).map(|_| Shard::new(counting)).collect(),
            seen: None,
            header: None,
            places: Vec::new(),
            lines: Lines::new(survivor),
            overflow: None,
            moved: 0,
            origins: Origins::default(),
            spare: Vec::new(),
            waiting: Vec::new(),
            before: Before::default(),
            before_input: 0,
            counted: 0,
            is_read: false,
            ending: None,
            rejected: 0,
            inserted: 0,
            start: Instant::now(),
            set_change: None,
            scatter: Scatter::Never,
        }
    }

    /// Whether all that the run asks of a record, besides what is counted when it is read, is whether it is the
    /// first of its URL, and all that it asks of the others is how many they are.
    pub(super) fn takes_first_records(&self) -> bool {
        let rules = &self.rules;
        rules.shards > 0
            && self.setup.seen.is_empty()
            && rules.columns.is_none()
            && !rules.decoded
            && !rules.observes
            && !matches!(self.setup.max_rejected, Some(MaxRejected::Count(_)))
    }

    /// True if the run is asked only for the URLs in ascending order and for their number.
    pub(super) fn only_sorts(&self) -> bool {
        let Job::Dedup(dedup) = self.setup.job else { return false };
        matches!(dedup, Dedup { order: Order::Sorted, count: false, min_count: ..=1, limit: None })
            && self.takes_first_records()
            && self.header.is_none()
            && u32::try_from(self.inputs.len()).is_ok_and(|inputs| inputs < u32::MAX - 1)
    }

    /// Reads what was seen before the run.
    pub(super) fn look_back(&mut self, saving: bool) -> Result<(), RunError> {
        if self.shards.is_empty() || (self.setup.seen.is_empty() && !saving) {
            return Ok(());
        }
        let header = SetHeader::of(&self.setup.normalizer, self.setup.key);
        if !self.setup.seen.is_empty() {
            let (context, key) = (&self.rules.context, &self.rules.key);
            let shards = self.shards.len();
            let seen = seen::load(self.setup, context, key, shards, &header, saving)?;
            self.seen = Some(seen.shards);
            self.overflow = seen.overflow;
            self.report.rejected_seen = seen.rejected;
        }
        self.header = saving.then_some(header);
        Ok(())
    }
}
