//! The rules by which *read* parses a chunk.

use super::text::AT_ONCE;
use crate::job::Job;
use crate::limit_by::KeyGroup;
use crate::plan::JobPlan;
use uniqurl::Normalizer;
use uniqurl::internal::{Grammar, HashKey};
use uniqurl::key::{Key, Routes};
use uniqurl_formats::record::{Context, max_record};
use uniqurl_store::keep_policy::KeepPolicy;

use crate::request_filter::RequestFilter;
use crate::url_filter::UrlFilter;

/// How chunks are parsed. Made of the plan for the inputs, and of less for sets from before the run.
pub(crate) struct ParseRules<'a> {
    pub(crate) normalizer: &'a Normalizer,
    /// [`Normalizer::brought`].
    pub(crate) brought: usize,
    pub(crate) context: Context,
    pub(crate) hasher: HashKey,
    /// Whether a byte-order mark at the start of a line of a list is no part of its URL.
    pub(crate) skips_marks: bool,
    pub(crate) filters: RuleFilters<'a>,
    /// The key made of each canonical URL.
    pub(crate) key: Key,
    /// The routes by which templates are made, if there are any.
    pub(crate) routes: Option<&'a Routes>,
    /// Tells the group of each key, if only the first keys of a group are kept. The group, and not the key,
    /// then picks the shard.
    pub(crate) group: Option<KeyGroup<'a>>,
    /// Shards of the set that keys are grouped by; 0 if there is no set.
    pub(crate) shards: usize,
    pub(crate) needs: Needs,
    /// Whether blank lines of a list may be left out, since nothing is written for them.
    pub(crate) drops_blanks: bool,
    /// Bytes of URLs that a batch makes before the rest of its chunk goes to another, [`AT_ONCE`] at most.
    pub(crate) at_once: usize,
}

/// The filters that act beside that of the [`Context`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RuleFilters<'a> {
    /// Which records to keep by time and agent, if not all.
    pub(crate) requests: Option<&'a RequestFilter>,
    /// Which canonical URLs to keep, if not all.
    pub(crate) urls: Option<&'a UrlFilter>,
}

/// The data that a batch keeps besides keys. All `false` for most jobs.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Needs {
    /// The canonical URLs, if keys replace them.
    pub(crate) canonical: bool,
    /// The decoded path of each URL.
    pub(crate) decoded: bool,
    /// The position of each key in the set.
    pub(crate) places: bool,
    /// The format at the start of the chunk, to extract columns or numbers.
    pub(crate) format: bool,
}

impl Needs {
    pub(crate) fn any(self) -> bool {
        let Self { canonical, decoded, places, format } = self;
        canonical || decoded || places || format
    }
}

impl<'a> ParseRules<'a> {
    /// The rules of a job.
    pub(crate) fn new(plan: &'a JobPlan, hasher: HashKey, shards: usize) -> Self {
        let (policy, normalizer) = (&plan.policy, &plan.normalizer);
        let has_columns = plan.has_columns();
        let extracts =
            has_columns && (!plan.output.carry.is_empty() || policy.keep.column().is_some());
        let max_url = plan.limits.max_url;
        let context = Context {
            base: normalizer.origin(),
            targets: normalizer.targets(),
            max_url,
            max_record: plan.limits.max_record.unwrap_or(max_record(max_url)),
            filter: policy.records.clone(),
            separator: plan.input.separator,
        };
        Self {
            filters: RuleFilters {
                requests: Some(&policy.requests).filter(|requests| !requests.is_empty()),
                urls: Some(&policy.urls).filter(|urls| !urls.is_empty()),
            },
            key: policy.key,
            routes: policy.routes.as_deref(),
            group: plan.group_limit().map(|(group, _)| group),
            // Where any byte may be part of a URL, so may blanks.
            drops_blanks: plan.dedup().is_some() && !normalizer.may_write_any_byte(),
            needs: Needs {
                canonical: has_columns,
                decoded: plan.needs_decoded_paths(),
                // Where another record than the first may be kept, each needs to know
                // which line it competes with.
                places: plan.kept_record() != KeepPolicy::First,
                format: extracts || plan.has_tallies() || matches!(plan.job, Job::Select(_)),
            },
            ..Self::plain(normalizer, context, hasher, shards)
        }
    }

    /// All URLs as they are, and nothing besides.
    pub(crate) fn plain(
        normalizer: &'a Normalizer,
        context: Context,
        hasher: HashKey,
        shards: usize,
    ) -> Self {
        Self {
            normalizer,
            brought: normalizer.brought(),
            skips_marks: normalizer.profile().rules().grammar == Grammar::Repaired,
            context,
            hasher,
            filters: RuleFilters::default(),
            key: Key::Url,
            routes: None,
            group: None,
            shards,
            needs: Needs::default(),
            drops_blanks: false,
            at_once: AT_ONCE,
        }
    }
}
