//! Memory that may not be there: what grows with the input asks here before it grows, so that a
//! machine without memory ends a run with a message, not with an abort.

use std::collections::HashMap;
use std::hash::Hash;

/// There is no memory for it. What was there before is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllocError;

impl From<AllocError> for std::io::Error {
    fn from(_: AllocError) -> Self {
        std::io::ErrorKind::OutOfMemory.into()
    }
}

/// Makes room for `more` elements, and for as many again as there are where it has to grow.
#[inline]
pub fn try_reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    if vec.capacity() - vec.len() >= more { Ok(()) } else { ask(|| vec.try_reserve(more)) }
}

/// Makes room for `more` elements and no others.
#[inline]
pub fn try_reserve_exact<T>(vec: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    if vec.capacity() - vec.len() >= more { Ok(()) } else { ask(|| vec.try_reserve_exact(more)) }
}

/// The same as [`try_reserve`] for a map.
#[inline]
pub fn try_reserve_in_map<K: Eq + Hash, V>(
    map: &mut HashMap<K, V>,
    more: usize,
) -> Result<(), AllocError> {
    if map.capacity() - map.len() >= more { Ok(()) } else { ask(|| map.try_reserve(more)) }
}

#[cold]
#[inline(never)]
fn ask<E>(grow: impl FnOnce() -> Result<(), E>) -> Result<(), AllocError> {
    #[cfg(any(test, feature = "test-hooks"))]
    if failing::now() {
        return Err(AllocError);
    }
    grow().map_err(|_| AllocError)
}

/// Memory that runs out where a test says so.
#[cfg(any(test, feature = "test-hooks"))]
pub mod failing {
    use std::cell::RefCell;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// How often memory was asked for, and at which time there is none. Shared by all threads of a
    /// run, and by no other run.
    #[derive(Debug, Default)]
    pub struct Plan {
        asked: AtomicU64,
        fails: Option<u64>,
        /// Whether there is none from then on either.
        stays: bool,
    }

    impl Plan {
        /// There is none at the `k`-th time, counted from 0, and where it `stays` never again.
        pub fn at(k: u64, stays: bool) -> Arc<Self> {
            Arc::new(Self { fails: Some(k), stays, ..Self::default() })
        }

        /// Whether an allocation has failed.
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

    /// The plan of this thread, for those that it starts.
    pub fn plan() -> Option<Arc<Plan>> {
        PLAN.with_borrow(Clone::clone)
    }

    /// Makes this thread follow a plan.
    pub fn follow(plan: Option<Arc<Plan>>) {
        PLAN.with_borrow_mut(|this| *this = plan);
    }
}
