//! Stage *format*: makes the output of a batch, once it is known which of its keys are new.

mod outcomes;
mod new_keys;
mod ranked;
mod tallied;
mod columns;
mod records;
mod rejects;
mod selected;

use std::path::Path;

use crate::batch::{Insertion, WorkBatch};
use crate::error::RunError;
use crate::job::Job;
use crate::plan::JobPlan;
use crate::set::Partitioner;
use crate::split::Split;
use columns::LineColumns;
use uniqurl_store::keep_policy::KeepPolicy;

/// How batches are formatted.
#[derive(Clone, Copy)]
pub(crate) struct Formatter<'a> {
    plan: &'a JobPlan,
    /// The columns of a line of a set, if a line holds more than the key.
    columns: Option<LineColumns<'a>>,
    /// Whether the set is written when all inputs are read.
    at_end: bool,
    /// Whether rejected records are listed.
    with_rejects: bool,
}

impl<'a> Formatter<'a> {
    /// `extracted` are the columns that are extracted from records.
    pub(crate) fn new(plan: &'a JobPlan, extracted: &'a [String], with_rejects: bool) -> Self {
        let columns = plan.has_columns().then(|| LineColumns::new(plan, extracted));
        Self { plan, columns, at_end: plan.writes_at_end(), with_rejects }
    }

    /// How lines are divided among outputs.
    pub(crate) fn split(&self) -> Option<Split> {
        self.plan.output.split
    }

    /// Fills the output of a batch from the input at `path`. The partitioner is that of keys that are spilled.
    pub(crate) fn format(
        &self,
        batch: &mut WorkBatch,
        path: &Path,
        partitioner: &Partitioner,
    ) -> Result<(), RunError> {
        let Self { plan, columns, at_end, with_rejects } = *self;
        // First, since all that follows goes by the keys, and those beyond the limit of their group have none.
        if plan.policy.limit_by.is_some() {
            batch.drop_filtered();
        }
        match (batch.insertion, &plan.job) {
            (_, Job::Normalize { json: false }) => records::format_lines(batch)?,
            (_, Job::Normalize { json: true }) => records::format_json(batch),
            (_, Job::Tabulate) => records::format_rows(batch, plan),
            (_, Job::Select(selection)) => {
                return Ok(selected::format(batch, (selection, path), plan, with_rejects)?);
            }
            (_, Job::Dedup(_)) if plan.has_tallies() => {
                tallied::list(batch, plan.output.tally, partitioner)?;
            }
            (insertion, Job::Dedup(_)) => match columns {
                Some(columns) if columns.policy != KeepPolicy::First => {
                    ranked::list(batch, columns, path, partitioner)?;
                }
                columns if insertion == Insertion::LookedUp => {
                    new_keys::spill(batch, columns, path, partitioner)?;
                }
                columns if at_end => new_keys::list(batch, columns, path)?,
                columns => new_keys::format(batch, columns, plan.output.split, path)?,
            },
        }
        if with_rejects {
            rejects::format(batch, path, plan.output.secrets);
        }
        Ok(())
    }
}
