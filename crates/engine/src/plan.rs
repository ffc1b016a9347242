//! The plan of a run: its job, and the options of its input, policy, output and resources.

use std::sync::Arc;

use super::job::{Dedup, InputFormat, Job, Keep, MaxRejected, SetOrder};
use super::limit_by::{KeyGroup, LimitBy};
use super::memory::Memory;
use super::request_filter::RequestFilter;
use super::split::Split;
use super::url_filter::UrlFilter;
use crate::output::{CanonicalBytes, Field, LineForm, TallyColumns, TallyLayout};
use uniqurl::Normalizer;
use uniqurl::key::{Key, Routes};
use uniqurl_formats::input::Input;
use uniqurl_formats::record::{
    Context, EnvelopeChoice, Filter, Format, FormatTable, Kinds, LONGEST_RECORD, LONGEST_URL,
    Separator,
};
use uniqurl_store::keep_policy::KeepPolicy;
use uniqurl_store::seen::{SeenStore, UnixTime};
use uniqurl_text::Secrets;

/// A job with its options. Made once, from the arguments of a command or a call, and read by every stage.
#[derive(Debug, Clone)]
pub struct JobPlan {
    /// The work to do.
    pub job: Job,
    /// Profile, vector code, base.
    pub normalizer: Normalizer,
    /// How inputs are read.
    pub input: InputOptions,
    /// Which records and URLs are kept.
    pub policy: RecordPolicy,
    /// The form of the output.
    pub output: OutputOptions,
    /// Threads, memory and sizes.
    pub limits: ResourceLimits,
}

/// How inputs are read.
#[derive(Debug, Clone)]
pub struct InputOptions {
    /// Where the URL is in a record.
    pub format: InputFormat,
    /// The formats that are looked for, if each input has its own.
    pub formats: Arc<FormatTable>,
    /// The envelope to look for around each line.
    pub envelope: EnvelopeChoice,
    /// The separator of the records of a list.
    pub separator: Separator,
    /// Which records of WARC files count.
    pub kinds: Kinds,
    /// Whether to go on without an input that turns out to be damaged.
    pub keep_going: bool,
    /// Lists from before the run. Their URLs are not written again.
    pub seen: Vec<Input>,
    /// Stores from before the run. Their keys are not written again. The keys of a store must have been made by
    /// the rules of the run ([`SeenStore::check_rules`]).
    pub stores: Vec<SeenBefore>,
}

/// A store of keys from before the run.
#[derive(Debug, Clone)]
pub struct SeenBefore {
    /// The store.
    pub store: Arc<SeenStore>,
    /// Only keys count that were added at this time or later, if there is one.
    pub since: Option<UnixTime>,
}

/// Which records and URLs are kept.
#[derive(Debug, Clone)]
pub struct RecordPolicy {
    /// The records to keep, by the other columns of their format.
    pub records: Filter,
    /// The records to keep, by who made the request and when.
    pub requests: RequestFilter,
    /// Which canonical URLs to keep.
    pub urls: UrlFilter,
    /// The key that is made unique, counted, sorted and written.
    pub key: Key,
    /// The routes by which templates are made, as key, column or group; those that no route fits are typed.
    pub routes: Option<Arc<Routes>>,
    /// Where more than so many values stand under one parent, templates have `{slug}`, if that is asked for. For a set
    /// of templates without sets from before the run and without a limit for each group.
    pub slugs: Option<u64>,
    /// Which of the records with the same key is kept.
    pub keep: Keep,
    /// How many keys of each group are kept, by first occurrence. The key must [tell](super::Group::is_told_by)
    /// the group. The records of other keys are filtered.
    pub limit_by: Option<LimitBy>,
    /// How many records may be rejected.
    pub max_rejected: Option<MaxRejected>,
}

/// The form of the output.
#[derive(Debug, Clone)]
pub struct OutputOptions {
    /// Columns to write of each new key of a set. If these and [`carry`](Self::carry) are empty, the key
    /// is written.
    pub fields: Vec<Field>,
    /// Columns of the kept record, by their names in the inputs. They come after the fields.
    pub carry: Vec<String>,
    /// Columns that add up the responses of each key, after the key and its count. If there are any,
    /// neither [`fields`](Self::fields) nor carried columns are written.
    pub tally: TallyColumns,
    /// How the columns of a line are separated.
    pub form: LineForm,
    /// How the lines of a set are divided among outputs. If they are, each starts with the number of its
    /// output, as four bytes, the lowest first.
    pub split: Option<Split>,
    /// Whether reports about records may show secrets.
    pub secrets: Secrets,
}

/// How much a run may take. A number out of bounds is replaced by the nearest within.
#[derive(Debug, Clone)]
pub struct ResourceLimits {
    /// Threads, from 1 to 1,024.
    pub threads: usize,
    /// How many of them compute at once; the others only wait for inputs. By default all compute.
    pub most_workers: usize,
    /// Longest URL in bytes, [`LONGEST_URL`] at most.
    pub max_url: usize,
    /// Longest record in bytes, [`LONGEST_RECORD`] at most; without it, what
    /// [`max_record`](uniqurl_formats::record::max_record) says.
    pub max_record: Option<usize>,
    /// Bytes of a chunk of input, from 1 to 64 MiB; [`CHUNK_SIZE`] unless there is a reason.
    pub chunk_size: usize,
    /// How much a set may hold in memory; without it, as much as there is.
    pub memory: Option<Memory>,
}

impl ResourceLimits {
    /// Threads that compute.
    pub fn workers(&self) -> usize {
        self.threads.min(self.most_workers).max(1)
    }

    /// Threads that decode streams, if `pipes` inputs are pipes. A thread that reads a pipe mostly waits; any other
    /// needs a core, and memory for the bytes that it decodes ahead.
    pub(crate) fn decoders(&self, pipes: usize) -> usize {
        self.threads.min(self.workers().saturating_add(pipes))
    }
}

impl JobPlan {
    /// Inputs of any format, all records and all URLs, written as they are, by one thread.
    pub fn new(normalizer: Normalizer, job: Job) -> Self {
        Self {
            job,
            normalizer,
            input: InputOptions {
                format: InputFormat::Auto,
                formats: Arc::clone(FormatTable::shipped()),
                envelope: EnvelopeChoice::Auto,
                separator: Separator::default(),
                kinds: Kinds::default(),
                keep_going: false,
                seen: Vec::new(),
                stores: Vec::new(),
            },
            policy: RecordPolicy {
                records: Filter::default(),
                requests: RequestFilter::default(),
                urls: UrlFilter::default(),
                key: Key::Url,
                routes: None,
                slugs: None,
                keep: Keep::First,
                limit_by: None,
                max_rejected: None,
            },
            output: OutputOptions {
                fields: Vec::new(),
                carry: Vec::new(),
                tally: TallyColumns::default(),
                form: LineForm::Tabs,
                split: None,
                secrets: Secrets::Shown,
            },
            limits: ResourceLimits {
                threads: 1,
                most_workers: usize::MAX,
                max_url: Context::default().max_url,
                max_record: None,
                chunk_size: CHUNK_SIZE,
                memory: None,
            },
        }
    }

    /// Bytes of memory of the redirects, the lists of hosts and the routes.
    pub(crate) fn memory_of_rules(&self) -> usize {
        let routes = self.policy.routes.as_ref().map_or(0, |routes| routes.memory());
        self.normalizer.memory() + self.policy.urls.memory() + routes
    }

    /// The same plan with every number within its bounds.
    pub(crate) fn within_bounds(&self) -> Self {
        let mut plan = self.clone();
        let limits = &mut plan.limits;
        limits.threads = limits.threads.clamp(1, MOST_THREADS.into());
        limits.max_url = limits.max_url.min(LONGEST_URL);
        limits.max_record = limits.max_record.map(|bytes| bytes.min(LONGEST_RECORD));
        limits.chunk_size = limits.chunk_size.clamp(1, LARGEST_CHUNK);
        plan.policy.max_rejected = plan.policy.max_rejected.map(MaxRejected::within_bounds);
        plan
    }

    /// The columns that are extracted from records: those that are written, then the one that records are
    /// compared by.
    pub(crate) fn extracted_columns(&self) -> Vec<String> {
        // The column of the kept record comes last, so that carried values have the places of their names.
        self.output.carry.iter().chain(self.policy.keep.column()).cloned().collect()
    }

    /// The fields that a filter asks for and records of `format` do not have.
    pub(crate) fn lacked_by<'f>(
        &self,
        format: &'f Format,
    ) -> impl Iterator<Item = &'static str> + use<'f, '_> {
        let RecordPolicy { records, requests, .. } = &self.policy;
        let kinds = self.input.kinds != Kinds::default() && !format.has_kinds();
        let facts = format.facts();
        let kinds = kinds.then_some("record type").into_iter();
        records.lacking(facts).chain(requests.lacking(facts)).chain(kinds)
    }

    /// The groups of keys, and how many keys of each the set takes, if there is a limit.
    pub(crate) fn group_limit(&self) -> Option<(KeyGroup<'_>, u64)> {
        let limit = self.policy.limit_by.filter(|_| self.dedup().is_some())?;
        Some((
            KeyGroup {
                group: limit.group,
                key: self.policy.key,
                routes: self.policy.routes.as_deref(),
            },
            limit.most,
        ))
    }

    /// How the set is written, if the job has one.
    pub(crate) fn dedup(&self) -> Option<&Dedup> {
        match &self.job {
            Job::Dedup(dedup) => Some(dedup),
            Job::Normalize { .. } | Job::Tabulate | Job::Select(_) => None,
        }
    }

    /// The memory budget, as far as this machine can address.
    pub(crate) fn budget(&self) -> usize {
        self.limits.memory.as_ref().map_or(usize::MAX, Memory::size)
    }

    /// True if the job needs, of each record, only whether it is the first with its URL, and of the others
    /// only their number. Whatever is counted while a record is parsed does not matter here.
    pub(crate) fn needs_first_records_only(&self) -> bool {
        self.dedup().is_some()
            && self.input.seen.is_empty()
            && self.input.stores.is_empty()
            && self.policy.limit_by.is_none()
            && !self.has_lines()
            && !self.needs_decoded_paths()
            // A limit by number names the record that exceeds it, so each has to come by itself.
            && !matches!(self.policy.max_rejected, Some(MaxRejected::Count(_)))
    }

    /// True if of each key only its first record is written, in the order of the records.
    pub(crate) fn keeps_first_records(&self) -> bool {
        self.dedup().is_some_and(|dedup| dedup.order == SetOrder::First)
            && !self.counts_records()
            && self.kept_record() == KeepPolicy::First
    }

    /// Whether lines of a set hold more than the key.
    pub(crate) fn has_lines(&self) -> bool {
        self.has_columns() || self.has_tallies()
    }

    /// Whether the responses of each key are added up.
    pub(crate) fn has_tallies(&self) -> bool {
        self.dedup().is_some() && self.output.tally.any()
    }

    /// The layout of the lines of a set, if they are tallies. `present` are the columns that any record has a number
    /// for.
    pub(crate) fn tally_layout(&self, present: TallyColumns) -> Option<TallyLayout> {
        self.has_tallies().then(|| TallyLayout {
            asked: self.output.tally,
            present,
            form: self.output.form,
            bytes: CanonicalBytes::of(&self.normalizer),
            key: Field::of_key(self.policy.key, false)[0],
        })
    }

    /// Whether lines of a set hold columns of a record.
    pub(crate) fn has_columns(&self) -> bool {
        let OutputOptions { fields, carry, form, .. } = &self.output;
        self.dedup().is_some()
            && !self.has_tallies()
            && (!fields.is_empty() || !carry.is_empty() || *form != LineForm::Tabs)
    }

    /// The record that a line of a set is about: the first, if lines hold no column of a record, and all
    /// if they are added up.
    pub(crate) fn kept_record(&self) -> KeepPolicy {
        // Tallies come first: with them, columns are not written, whatever is asked for.
        match (self.has_tallies(), self.has_columns()) {
            (true, _) => KeepPolicy::Tally,
            (false, true) => self.policy.keep.policy(),
            (false, false) => KeepPolicy::First,
        }
    }

    /// Whether the decoded path of each URL is written.
    pub(crate) fn needs_decoded_paths(&self) -> bool {
        let is_json = matches!(self.job, Job::Normalize { json: true });
        self.normalizer.has_decoded() && (is_json || self.output.fields.contains(&Field::Decoded))
    }

    /// Whether the records of each key are counted.
    pub(crate) fn counts_records(&self) -> bool {
        let fields = &self.output.fields;
        self.dedup().is_some_and(|dedup| {
            dedup.count
                || dedup.order == SetOrder::Count
                || dedup.min_count > 1
                || fields.contains(&Field::Count)
                || self.has_tallies()
        })
    }

    /// Whether the set can only be written when all inputs are read.
    pub(crate) fn writes_at_end(&self) -> bool {
        self.dedup().is_some_and(|dedup| {
            self.counts_records()
                || dedup.order == SetOrder::Sorted
                || dedup.limit.is_some()
                // Which values are many is known of all templates together.
                || self.policy.slugs.is_some()
                // Until all records are read, a later one may replace the line of a key.
                || self.policy.keep.policy() != KeepPolicy::First
        })
    }
}

/// Bytes of a chunk. Smaller ones make more tasks, larger ones fall out of a core's L2 cache.
pub const CHUNK_SIZE: usize = 224 << 10;

/// Bytes of the largest chunk: several for each thread are in memory at once.
const LARGEST_CHUNK: usize = 64 << 20;

/// Most threads of a run, and of the command's `--threads`.
pub const MOST_THREADS: u16 = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::Profile;

    #[test]
    fn threads_beyond_the_workers_decode_only_pipes() {
        let normalizer = Normalizer::new(Profile::Crawl);
        let mut limits = JobPlan::new(normalizer, Job::Dedup(Dedup::default())).limits;
        limits.threads = 64;
        limits.most_workers = 2;
        assert_eq!([0, 1, 4, 100].map(|pipes| limits.decoders(pipes)), [2, 3, 6, 64]);
        limits.threads = 2;
        assert_eq!([0, 4].map(|pipes| limits.decoders(pipes)), [2, 2]);
        limits.most_workers = usize::MAX;
        assert_eq!([0, 4].map(|pipes| limits.decoders(pipes)), [2, 2]);
    }
}
