//! What a run is asked to do.

use std::sync::Arc;

use super::memory::Memory;
use super::report::{MaxRejected, Watch};
use super::split::Split;
use super::url_filter::UrlFilter;
use crate::output::{Field, LineForm};
use uniqurl::bytes::Secrets;
use uniqurl::key;
use uniqurl::normalize::Normalizer;
use uniqurl_formats::input::Input;
use uniqurl_formats::record::{self, Context, Filter, Kinds, LONGEST_URL, Separator};
use uniqurl_store::keep_policy::KeepPolicy;

/// What is to be done with the inputs. A number beyond its bounds is taken for the nearest within.
#[derive(Debug, Clone)]
pub struct Setup<'a> {
    /// Profile, scanner, base.
    pub normalizer: Normalizer,
    /// Where the URL is in a record.
    pub format: Format,
    /// What ends a record of a list.
    pub separator: Separator,
    /// Which records of WARC files count.
    pub kinds: Kinds,
    /// What comes out.
    pub job: Job,
    /// Which records to keep, by what their format says beside the URL.
    pub filter: Filter,
    /// Which canonical URLs to keep.
    pub wanted: UrlFilter,
    /// How many records may be rejected.
    pub max_rejected: Option<MaxRejected>,
    /// Whether what is told of records may hold secrets.
    pub secrets: Secrets,
    /// What is unique, counted, sorted and written.
    pub key: key::Key,
    /// Columns to write of each new key of a set instead of the key; none, here and in
    /// [`carry`](Self::carry): the key.
    pub fields: Vec<Field>,
    /// Columns of the record that survives, by their names in the inputs, behind those.
    pub carry: Vec<String>,
    /// Which of the records with a key survives.
    pub keep: Keep,
    /// How the columns of a line are told apart.
    pub form: LineForm,
    /// How the lines of a set are divided, if they are: then the number of its shard stands
    /// before each, as four bytes, the lowest first.
    pub split: Option<Split>,
    /// Whether to count how many URLs each rule changed. Costs a second, slower look at each URL that is
    /// changed.
    pub count_rules: bool,
    /// Whether hosts, samples and pace are gathered for a page about the run.
    pub observes: bool,
    /// Threads that work, from 1 to 1,024.
    pub threads: usize,
    /// Longest URL in bytes, [`LONGEST_URL`] at most.
    pub max_url: usize,
    /// Bytes of input that are worked on at a time, from 1 to 64 MiB; [`CHUNK_SIZE`] unless there is a
    /// reason.
    pub chunk_size: usize,
    /// Whether to go on without an input that turns out to be damaged.
    pub keep_going: bool,
    /// How much a set may hold in memory; without it, as much as there is.
    pub memory: Option<Memory>,
    /// Sets from before the run, whose URLs do not come out again: saved ones, and lists.
    pub seen: Vec<Input>,
    /// Counts along, for whoever shows progress or has to end the run.
    pub watch: &'a Watch,
}

impl<'a> Setup<'a> {
    /// Inputs of any format, all records and all URLs, written as they are, by one thread.
    pub fn new(normalizer: Normalizer, job: Job, watch: &'a Watch) -> Self {
        Self {
            normalizer,
            format: Format::Auto,
            separator: Separator::default(),
            kinds: Kinds::default(),
            job,
            filter: Filter::default(),
            wanted: UrlFilter::default(),
            max_rejected: None,
            secrets: Secrets::Shown,
            key: key::Key::Url,
            fields: Vec::new(),
            carry: Vec::new(),
            keep: Keep::First,
            form: LineForm::Tabs,
            split: None,
            count_rules: false,
            observes: false,
            threads: 1,
            max_url: Context::default().max_url,
            chunk_size: CHUNK_SIZE,
            keep_going: false,
            memory: None,
            seen: Vec::new(),
            watch,
        }
    }

    /// The same with every number within its bounds.
    pub(super) fn within_bounds(&self) -> Self {
        Self {
            threads: self.threads.clamp(1, MOST_THREADS.into()),
            max_url: self.max_url.min(LONGEST_URL),
            max_rejected: self.max_rejected.map(MaxRejected::within_bounds),
            chunk_size: self.chunk_size.clamp(1, LARGEST_CHUNK),
            ..self.clone()
        }
    }

    /// The columns that are taken out of records: those that are written, and behind them the one that
    /// records are compared by.
    pub(super) fn taken_out(&self) -> Vec<String> {
        self.carry.iter().chain(self.keep.column()).cloned().collect()
    }
}

/// Which of the records with a key is the one that the columns of a line describe.
///
/// The place of the key among the others stays that of its first record, whichever survives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// The first.
    First,
    /// The last.
    Last,
    /// The one with the greatest value in this column, and of several the first. Two numbers are
    /// compared as numbers, anything else by its bytes; no value is less than any.
    Max(String),
}

impl Keep {
    /// The column that records are compared by.
    pub fn column(&self) -> Option<&String> {
        match self {
            Keep::Max(column) => Some(column),
            Keep::First | Keep::Last => None,
        }
    }

    /// The same, without the column.
    pub(super) fn survivor(&self) -> KeepPolicy {
        match self {
            Keep::First => KeepPolicy::First,
            Keep::Last => KeepPolicy::Last,
            Keep::Max(_) => KeepPolicy::Greatest,
        }
    }
}

/// The format of the inputs.
#[derive(Debug, Clone)]
pub enum Format {
    /// Each input's own, by its name and content.
    Auto,
    /// The same for all of them.
    Fixed(Arc<record::Format>),
}

/// What comes out.
#[derive(Debug, Clone)]
pub enum Job {
    /// The set of canonical URLs.
    Dedup(Dedup),
    /// A line for each record, empty where there is no URL; or a JSON object.
    Normalize {
        /// Objects instead of lines.
        json: bool,
    },
    /// A line for each record, in columns between tabs: its number in the run, the URL as it was read,
    /// the canonical URL, and the codes that it was rejected by, between commas. The middle ones are
    /// escaped as in [`Setup::fields`].
    Tabulate,
}

/// How a set is written.
#[derive(Debug, Clone, Copy)]
pub struct Dedup {
    /// In which order.
    pub order: Order,
    /// Each URL behind the number of its records and a tab.
    pub count: bool,
    /// Only URLs with as many records.
    pub min_count: u64,
    /// At most so many URLs.
    pub limit: Option<u64>,
}

/// All URLs, by first occurrence, without their counts.
impl Default for Dedup {
    fn default() -> Self {
        Self { order: Order::First, count: false, min_count: 1, limit: None }
    }
}

/// The order of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// By first occurrence, whatever the number of threads.
    First,
    /// By bytes.
    Sorted,
    /// Whatever is fastest.
    None,
}

/// Bytes of a chunk. Smaller ones cost more barriers, larger ones fall out of a core's L2 cache.
pub const CHUNK_SIZE: usize = 224 << 10;

/// Bytes of the largest chunk: several for each thread are in memory at once.
const LARGEST_CHUNK: usize = 64 << 20;

/// Threads at most, of a run and of the command's `--threads`.
pub const MOST_THREADS: u16 = 1024;
