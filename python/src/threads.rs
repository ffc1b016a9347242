//! Threads: a pool that is kept between calls.

use std::num::NonZero;
use std::sync::{Arc, Mutex};

use pyo3::exceptions::{PyOverflowError, PyRuntimeError};
use pyo3::prelude::*;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// The pool of a process.
struct Kept {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

/// The largest number of threads, which is also the command's limit.
const MOST: i64 = 1024;

/// The requested number of threads.
pub fn asked(threads: Option<&Bound<'_, PyAny>>) -> PyResult<Option<usize>> {
    let Some(threads) = threads else { return Ok(None) };
    let py = threads.py();
    let number = threads.extract::<i64>().or_else(|error| {
        // A number that overflows is out of this range, too.
        let is_too_large = error.is_instance_of::<PyOverflowError>(py);
        if is_too_large { Ok(0) } else { Err(errors::of_option(py, "threads", error)) }
    })?;
    if !(1..=MOST).contains(&number) {
        return Err(errors::usage(py, format!("threads is 1 to {MOST}")));
    }
    Ok(Some(number as usize))
}

/// The number of threads: as requested, or one for each core of this process.
pub fn count(asked: Option<usize>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, NonZero::get);
    asked.unwrap_or_else(cores)
}

/// The results of `work` for each item, in order.
pub fn each<T: Sync, R: Send>(
    threads: Option<usize>,
    items: &[T],
    work: impl Fn(&T) -> R + Sync + Send,
) -> Result<Vec<R>, PyErr> {
    let threads = count(threads);
    // With one thread, or for one item, a pool would cost more than it gives.
    if threads == 1 || items.len() < 2 {
        return Ok(items.iter().map(work).collect());
    }
    Ok(pool(threads)?.install(|| items.par_iter().map(work).collect()))
}

/// The result of `work`, whose parallel parts use these threads.
pub fn within<R: Send>(
    threads: Option<usize>,
    work: impl FnOnce() -> R + Send,
) -> Result<R, PyErr> {
    Ok(pool(count(threads))?.install(work))
}

/// A pool of this many threads. A forked process, such as a worker of `multiprocessing`, does not
/// have the threads of its parent. It gets its own pool, and does not wait forever for the old one.
/// Nor does it wait for a lock that one of those threads held: if the lock is taken, the pool is
/// not kept.
fn pool(threads: usize) -> Result<Arc<ThreadPool>, PyErr> {
    static KEPT: Mutex<Option<Kept>> = Mutex::new(None);
    let process = std::process::id();
    if let Ok(kept) = KEPT.try_lock()
        && let Some(kept) = &*kept
        && (kept.process, kept.threads) == (process, threads)
    {
        return Ok(Arc::clone(&kept.pool));
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = Arc::new(built.map_err(|error| PyRuntimeError::new_err(error.to_string()))?);
    let new = Kept { process, threads, pool: Arc::clone(&pool) };
    let before = KEPT.try_lock().ok().and_then(|mut kept| kept.replace(new));
    if let Some(before) = before.filter(|before| before.process != process) {
        // Dropping it would wait for threads that do not exist here.
        std::mem::forget(before);
    }
    Ok(pool)
}
