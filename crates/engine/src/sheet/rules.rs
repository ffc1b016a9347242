//! What every stage of a run goes by.

use crate::output::Layout;
use crate::split::Split;
use crate::url_filter::UrlFilter;
use uniqurl::bytes::Secrets;
use uniqurl::key;
use uniqurl::normalize::Normalizer;
use uniqurl::set::HashKey;
use uniqurl_formats::record::Context;
use uniqurl_store::keep_policy::KeepPolicy;

/// What every stage needs to know.
pub(crate) struct Rules<'a> {
    pub(crate) normalizer: &'a Normalizer,
    /// [`Normalizer::brought`].
    pub(crate) brought: usize,
    pub(crate) context: Context,
    pub(crate) key: HashKey,
    /// Which canonical URLs to keep, if not all.
    pub(crate) wanted: Option<&'a UrlFilter>,
    pub(crate) secrets: Secrets,
    /// What is made of each canonical URL.
    pub(crate) written: key::Key,
    /// What a line of a set holds, where that is not the key.
    pub(crate) columns: Option<Columns<'a>>,
    /// How lines are divided, if they are.
    pub(crate) split: Option<Split>,
    /// Shards of the set that URLs are inserted into; 0 if there is none, and while URLs are scattered.
    pub(crate) shards: usize,
    /// Whether the decoded path of each URL is wanted beside it.
    pub(crate) decoded: bool,
    /// Whether the rules that act are counted.
    pub(crate) count_rules: bool,
    /// Whether there is to be a page about the run.
    pub(crate) observes: bool,
}

impl<'a> Rules<'a> {
    /// All URLs, written as they are, and nothing told of them.
    pub(crate) fn plain(
        normalizer: &'a Normalizer,
        context: Context,
        key: HashKey,
        shards: usize,
    ) -> Self {
        Self {
            normalizer,
            brought: normalizer.brought(),
            context,
            key,
            wanted: None,
            secrets: Secrets::Masked,
            written: key::Key::Url,
            columns: None,
            split: None,
            shards,
            decoded: false,
            count_rules: false,
            observes: false,
        }
    }

    /// The record that a line is about.
    pub(crate) fn survivor(&self) -> KeepPolicy {
        self.columns.map_or(KeepPolicy::First, |columns| columns.survivor)
    }
}

/// What a line of a set holds besides its key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) layout: Layout<'a>,
    /// What is taken out of records: [`Layout::carry`], and what they are compared by.
    pub(crate) taken_out: &'a [String],
    /// The record that a line is about.
    pub(crate) survivor: KeepPolicy,
    pub(crate) secrets: Secrets,
}
