//! The last message of a run: the accounting.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use crate::args::MessageLevel;
use crate::run::Request;
use uniqurl_engine::Report;
use uniqurl_engine::output::{self, Inputs, Summary, TerminalSummary};
use uniqurl_formats::input::{InputError, InputState};

/// The parts of a run's last line besides its counts.
#[derive(Clone, Copy)]
pub(crate) struct SummaryLine {
    pub(crate) job: output::JobKind,
    filters: output::Filters,
    before: output::Before,
    messages: MessageLevel,
    start: Instant,
}

impl SummaryLine {
    pub(crate) fn new(messages: MessageLevel, request: &Request) -> Self {
        let policy = &request.plan.policy;
        let has_none = policy.records.is_empty()
            && policy.requests.is_empty()
            && policy.urls.is_empty()
            && policy.limit_by.is_none();
        let filters = has_none.then_some(output::Filters::None);
        let asks = !request.seen.is_empty() || request.stores.are_asked();
        let before = (!asks).then_some(output::Before::Nothing);
        Self {
            job: request.name,
            filters: filters.unwrap_or(output::Filters::InPlay),
            before: before.unwrap_or(output::Before::Seen),
            messages,
            start: Instant::now(),
        }
    }

    pub(crate) fn summary(&self, tally: output::Tally, inputs: Inputs, bytes: u64) -> Summary {
        let &Self { job, filters, before, start, .. } = self;
        let seconds = start.elapsed().as_secs_f64();
        Summary { job, tally, filters, before, inputs, bytes, seconds }
    }

    pub(crate) fn summary_of(&self, report: &Report, missing: &[InputError]) -> Summary {
        let begun = report.files.iter().map(|file| file.state);
        let inputs = begun.chain(missing.iter().map(unopened)).collect();
        self.summary(report.tally.clone(), inputs, report.bytes)
    }

    /// Prints the accounting: two lines at a terminal, and otherwise a line for programs.
    pub(crate) fn write(&self, summary: &Summary) {
        if self.messages == MessageLevel::Warnings {
            return;
        }
        let text = match io::stderr().is_terminal() {
            true => format!("{}\n", TerminalSummary(summary)),
            false => format!("{summary}\n"),
        };
        let _ = io::stderr().write_all(text.as_bytes());
    }

    /// The same after a failure. If no input was begun, the error says all that a person needs.
    pub(crate) fn write_failed(&self, summary: &Summary) {
        let Inputs { ok, damaged, unfinished, .. } = summary.inputs;
        if ok + damaged + unfinished > 0 || !io::stderr().is_terminal() {
            self.write(summary);
        }
    }
}

/// The state of an input that was not opened.
pub(crate) fn unopened(error: &InputError) -> InputState {
    match error.state() {
        InputState::Refused => InputState::Refused,
        _ => InputState::Missing,
    }
}
