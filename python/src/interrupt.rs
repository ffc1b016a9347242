//! Work that Ctrl-C can end: it runs in a thread of its own while the calling thread waits and
//! checks for signals.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::guarded;
use crate::threads;

/// The interval at which the waiting thread checks for signals.
const LOOK: Duration = Duration::from_millis(25);

/// How long it waits for work that is to end. Work still running then, a step of a sort or a read
/// from a silent pipe, ends by itself and its result is thrown away.
const GRACE: Duration = Duration::from_millis(100);

/// Returns the result of `work`, unless the handler of a signal raises. `work` checks now and then
/// whether it is to stop; its result is ignored then.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Arc<AtomicBool>) -> T + Send + 'static,
) -> PyResult<T> {
    // With room for the result, work that ends too late need not wait for somebody to take it.
    let (sender, mut receiver) = sync_channel(1);
    let stop = Arc::<AtomicBool>::default();
    let of_work = Arc::clone(&stop);
    let thread = thread::Builder::new().name("uniqurl".into()).spawn(move || {
        // A panic goes to the calling thread as well, where it becomes an exception.
        let made = catch_unwind(AssertUnwindSafe(|| work(of_work)));
        // The receiver is gone if the work took too long.
        let _ = sender.send(made);
    });
    thread.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    loop {
        // Other threads may not share a receiver, so the closure takes it and gives it back.
        let made = py.detach(|| {
            let made = receiver.recv_timeout(LOOK);
            (made, receiver)
        });
        receiver = made.1;
        match made.0 {
            Ok(made) => return made.or_else(|panic| resume_unwind(panic)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => unreachable!("a panic is sent too"),
        }
        if let Err(raised) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            py.detach(move || drop(receiver.recv_timeout(GRACE)));
            return Err(raised);
        }
    }
}

/// Fails once work is to `stop`. The text of the error is never shown.
pub fn go_on(stop: &AtomicBool) -> PyResult<()> {
    if stop.load(Ordering::Relaxed) { Err(PyRuntimeError::new_err("stopped")) } else { Ok(()) }
}

/// Panics in a thread of the pool, below the one that Ctrl-C ends, so that a test can see the
/// result.
#[pyfunction]
#[pyo3(name = "_panic")]
pub fn panic_for_tests(py: Python<'_>) -> PyResult<()> {
    guarded(py, || {
        let work = |_| threads::each(Some(2), &[1, 2], |_| -> () { panic!("asked for") });
        run(py, work)?.map(drop)
    })
}
