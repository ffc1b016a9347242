//! The view of a run from outside while it lasts: its counts, its phase, and a way to stop it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::output::{Inputs, Tally};
use crate::trace::Trace;

/// The phase of a run, for its progress.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Phase {
    /// Inputs are read, and lines written if they need not wait for the end.
    #[default]
    Reading,
    /// All inputs are read, and lines that waited are brought into their order.
    Sorting,
    /// Those lines are written, so many bytes by now, or brought to the disk.
    Writing(u64),
}

/// The view of a run from outside while it lasts, to show its progress and to stop it.
#[derive(Debug, Default)]
pub struct Watch {
    /// Bytes read.
    pub bytes: Arc<AtomicU64>,
    /// Stops the run if set, with [`RunError::Stopped`](crate::RunError::Stopped). Each task checks it, and none once
    /// it sorts and writes a complete set.
    pub stop: Arc<AtomicBool>,
    /// Notes each task of the run, if there is one.
    pub trace: Option<Trace>,
    counted: Mutex<(Tally, Inputs)>,
    phase: Mutex<Phase>,
}

impl Watch {
    /// The accounting so far. It adds up at any time, since batches on their way are not counted.
    pub fn counted(&self) -> (Tally, Inputs) {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Changes the accounting.
    pub fn count(&self, change: impl FnOnce(&mut Tally, &mut Inputs)) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let (tally, inputs) = &mut *counted;
        change(tally, inputs);
    }

    /// The phase that the run is in.
    pub fn phase(&self) -> Phase {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the run is in this phase.
    pub(crate) fn enter(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    /// Notes that all lines are made and only have to be brought to the disk.
    pub fn begin_last_phase(&self) {
        let mut phase = self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        // Bytes that were counted stay on the display while the disk is waited for.
        if !matches!(*phase, Phase::Writing(_)) {
            *phase = Phase::Writing(0);
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
