//! Fallible allocation: buffers sized by input reserve through here, so that running out of memory ends
//! a run with a message, not with an abort.

/// The allocation failed. The contents from before remain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllocError;

impl From<AllocError> for std::io::Error {
    fn from(_: AllocError) -> Self {
        std::io::ErrorKind::OutOfMemory.into()
    }
}

/// Reserves space for `more` elements. The capacity at least doubles if it has to grow.
#[inline]
pub fn try_reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    if vec.capacity() - vec.len() >= more { Ok(()) } else { ask(|| vec.try_reserve(more)) }
}

/// Reserves space for exactly `more` elements.
#[inline]
pub fn try_reserve_exact<T>(vec: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    if vec.capacity() - vec.len() >= more { Ok(()) } else { ask(|| vec.try_reserve_exact(more)) }
}

// Out of line, so that a caller's usual case is one comparison.
#[cold]
#[inline(never)]
fn ask<E>(grow: impl FnOnce() -> Result<(), E>) -> Result<(), AllocError> {
    #[cfg(any(test, feature = "test-hooks"))]
    if failing::now() {
        return Err(AllocError);
    }
    grow().map_err(|_| AllocError)
}

/// Makes allocations fail where a test plans it.
#[cfg(any(test, feature = "test-hooks"))]
pub mod failing {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Counts allocations and decides which one fails. All threads of a run share one plan, and runs do
    /// not share plans.
    #[derive(Debug, Default)]
    pub struct Plan {
        asked: AtomicU64,
        fails: Option<u64>,
        /// True if all later allocations fail too.
        stays: bool,
    }

    impl Plan {
        /// Fails the `k`-th allocation, counted from 0; if `stays`, all later ones too.
        pub fn at(k: u64, stays: bool) -> Arc<Self> {
            Arc::new(Self { fails: Some(k), stays, ..Self::default() })
        }

        /// True if an allocation has failed.
        pub fn has_failed(&self) -> bool {
            self.fails.is_some_and(|k| self.asked.load(Ordering::SeqCst) > k)
        }
    }

    thread_local! {
        static PLAN: RefCell<Option<Arc<Plan>>> = const { RefCell::new(None) };
    }

    pub(super) fn now() -> bool {
        PLAN.with_borrow(|plan| {
            plan.as_ref().is_some_and(|plan| {
                let asked = plan.asked.fetch_add(1, Ordering::SeqCst);
                plan.fails.is_some_and(|k| asked == k || plan.stays && asked > k)
            })
        })
    }

    /// The plan of this thread, to hand to threads that it starts.
    pub fn plan() -> Option<Arc<Plan>> {
        PLAN.with_borrow(Clone::clone)
    }

    /// Sets the plan of this thread.
    pub fn follow(plan: Option<Arc<Plan>>) {
        PLAN.with_borrow_mut(|this| *this = plan);
    }
}
