//! What every stage of a run goes by.

use crate::bytes::Secrets;
use crate::key;
use crate::normalize::Normalizer;
use crate::output::Layout;
use crate::pipeline::differences::Versus;
use crate::pipeline::split::Split;
use crate::pipeline::wanted::Wanted;
use crate::record::Context;
use crate::set::{Key, Survivor};

/// What every stage needs to know.
pub(in crate::pipeline) struct Rules<'a> {
    pub(in crate::pipeline) normalizer: &'a Normalizer,
    /// [`Normalizer::brought`].
    pub(in crate::pipeline) brought: usize,
    pub(in crate::pipeline) context: Context,
    pub(in crate::pipeline) key: Key,
    /// Which canonical URLs to keep, if not all.
    pub(in crate::pipeline) wanted: Option<&'a Wanted>,
    pub(in crate::pipeline) secrets: Secrets,
    /// What is made of each canonical URL.
    pub(in crate::pipeline) written: key::Key,
    /// What a line of a set holds, where that is not the key.
    pub(in crate::pipeline) columns: Option<Columns<'a>>,
    /// How lines are divided, if they are.
    pub(in crate::pipeline) split: Option<Split>,
    /// Shards of the set; 0 where there is none.
    pub(in crate::pipeline) shards: usize,
    /// Whether URLs are dealt to buckets, in place of those.
    pub(in crate::pipeline) deals: bool,
    /// Whether the decoded path of each URL is wanted beside it.
    pub(in crate::pipeline) decoded: bool,
    /// Whether the rules that act are counted.
    pub(in crate::pipeline) count_rules: bool,
    /// Shards of the URLs as they were read; 0 where merges are not counted.
    pub(in crate::pipeline) shards_of_originals: usize,
    /// Whether there is to be a page about the run.
    pub(in crate::pipeline) observes: bool,
    /// The profile that each URL is compared under.
    pub(in crate::pipeline) versus: Option<Versus<'a>>,
}

impl<'a> Rules<'a> {
    /// All URLs, written as they are, and nothing told of them.
    pub(in crate::pipeline) fn plain(
        normalizer: &'a Normalizer,
        context: Context,
        key: Key,
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
            deals: false,
            decoded: false,
            count_rules: false,
            shards_of_originals: 0,
            observes: false,
            versus: None,
        }
    }

    /// The record that a line is about.
    pub(in crate::pipeline) fn survivor(&self) -> Survivor {
        self.columns.map_or(Survivor::First, |columns| columns.survivor)
    }
}

/// What a line of a set holds besides its key.
#[derive(Debug, Clone, Copy)]
pub(in crate::pipeline) struct Columns<'a> {
    pub(in crate::pipeline) layout: Layout<'a>,
    /// What is taken out of records: [`Layout::carry`], and what they are compared by.
    pub(in crate::pipeline) taken_out: &'a [String],
    /// The record that a line is about.
    pub(in crate::pipeline) survivor: Survivor,
    pub(in crate::pipeline) secrets: Secrets,
}
