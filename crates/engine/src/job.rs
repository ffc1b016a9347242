//! The jobs of the engine, and their choices.

use std::sync::Arc;

use super::selection::Selection;
use uniqurl_formats::record;
use uniqurl_store::keep_policy::KeepPolicy;

/// Which of the records with the same key is described by the columns of a line.
///
/// Whichever it is, the key keeps the position of its first record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keep {
    /// The first.
    First,
    /// The last.
    Last,
    /// The one with the greatest value in this column, and of several the first. Numbers are compared by
    /// their value, other text by its bytes; a number is more than that, and no value is less than any.
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
    pub(crate) fn policy(&self) -> KeepPolicy {
        match self {
            Keep::First => KeepPolicy::First,
            Keep::Last => KeepPolicy::Last,
            Keep::Max(_) => KeepPolicy::Greatest,
        }
    }
}

/// How many records may be rejected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum MaxRejected {
    /// So many; the run ends with the next one.
    Count(u64),
    /// A percentage, from 0 to 100, shown at the end. A value that is not a number becomes 0.
    Percent(f64),
}

impl MaxRejected {
    pub(crate) fn within_bounds(self) -> Self {
        match self {
            MaxRejected::Percent(percent) if percent > 0.0 => {
                MaxRejected::Percent(percent.min(100.0))
            }
            // This is also the arm of NaN, which is not greater than 0.
            MaxRejected::Percent(_) => MaxRejected::Percent(0.0),
            MaxRejected::Count(count) => MaxRejected::Count(count),
        }
    }
}

/// The format of the inputs.
#[derive(Debug, Clone)]
pub enum InputFormat {
    /// Each input's own, by its name and content.
    Auto,
    /// The same for all of them.
    Fixed(Arc<record::Format>),
}

/// The work of a run.
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
    /// escaped as in [`OutputOptions::fields`](crate::OutputOptions::fields).
    Tabulate,
    /// The bytes of each record of a selection, as they came. Those of the other records that have a URL or are
    /// filtered go where rejected records go in other jobs.
    Select(Arc<Selection>),
}

/// How a set is written.
#[derive(Debug, Clone, Copy)]
pub struct Dedup {
    /// In which order.
    pub order: SetOrder,
    /// Each URL after the number of its records and a tab.
    pub count: bool,
    /// Only URLs with at least this many records.
    pub min_count: u64,
    /// At most this many URLs.
    pub limit: Option<u64>,
}

/// All URLs, by first occurrence, without their counts.
impl Default for Dedup {
    fn default() -> Self {
        Self { order: SetOrder::First, count: false, min_count: 1, limit: None }
    }
}

/// The order in which a set is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetOrder {
    /// By first occurrence, whatever the number of threads.
    First,
    /// By bytes.
    Sorted,
    /// By count, the greatest first, and URLs of the same count by bytes. With [`Dedup::limit`], only so many
    /// lines are held for the output.
    Count,
}
