//! The last message of a run: the accounting.

use std::io::{self, IsTerminal, Write};
use std::time::Instant;

use crate::request::Request;
use uniqurl_engine::output::{Inputs, Summary, Tally, Terms};

/// The parts of a run's last line besides its counts.
#[derive(Clone, Copy)]
pub(crate) struct SummaryLine {
    pub(crate) terms: Terms,
    quiet: bool,
    start: Instant,
}

impl SummaryLine {
    pub(crate) fn new(quiet: bool, request: &Request) -> Self {
        let policy = &request.plan.policy;
        let filtered = !policy.records.is_empty()
            || !policy.requests.is_empty()
            || !policy.urls.is_empty()
            || policy.limit_by.is_some();
        let seen = !request.seen.is_empty() || request.stores.are_asked();
        let terms = Terms { job: request.name, seen, filtered };
        Self { terms, quiet, start: Instant::now() }
    }

    pub(crate) fn summary(&self, tally: Tally, inputs: Inputs, bytes: u64) -> Summary {
        let seconds = self.start.elapsed().as_secs_f64();
        Summary { terms: self.terms, tally, inputs, bytes, seconds }
    }

    /// Prints the accounting. At a terminal the digits are grouped.
    pub(crate) fn write(&self, summary: &Summary) {
        if self.quiet {
            return;
        }
        // Programs that read the line expect plain digits.
        let text = match io::stderr().is_terminal() {
            true => format!("{summary:#}\n"),
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
