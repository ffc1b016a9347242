//! An orderly end on INT, TERM and HUP.
//!
//! A thread waits for the signals, and ends the process itself: it removes temporary files, prints the
//! accounting so far, and lets the process die by the signal, as its parent expects. So the state of
//! the other threads does not matter; none of them looks for signals.
//!
//! Outputs are committed between [`Signals::hold_off`] and the end of the process. A signal that
//! comes then comes too late: the run is completed, and its status says so. A second signal then ends
//! the process at once, whatever it is doing.
//!
//! ```text
//! running ──── a signal ────▶ files are removed, last words, the process dies by the signal
//!    │ hold_off
//!    ▼
//! committing ── a signal ───▶ the run is completed ── another ──▶ the process dies by that one
//! ```
//!
//! A signal that was ignored when the process started, as `nohup` ignores HUP, stays ignored. Where the system
//! does not say which are, HUP is not watched.
//!
//! Under a limit of the address space ABRT is watched too: it means that an allocation failed.

use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;
use signal_hook::iterator;
use signal_hook::low_level::emulate_default_handler;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use crate::last_resort::STACK;
use crate::{address_space, last_resort};
use uniqurl_engine::output;

/// The timeout of the last words: a stopped terminal or a full pipe blocks for ever. They take
/// next to no time, but on a busy machine they may wait for more than a tenth of
/// this.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The signals that end a run.
const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// The watch over the signals. It lasts as long as the process, also when this is dropped.
#[derive(Debug)]
pub struct Signals {
    held_off: Arc<Mutex<bool>>,
}

impl Signals {
    /// Starts to watch. `last_words` is called on a thread of its own when a signal ends the
    /// process, which does not wait for it for long.
    pub fn watch(last_words: impl Fn() + Send + Sync + 'static) -> io::Result<Self> {
        // A file that grows beyond its limit is an error of the write, as a full disk is.
        flag::register(SIGXFSZ, Arc::default())?;
        let mut wanted = wanted();
        let held_off = Arc::new(Mutex::new(false));
        let at_once = Arc::new(AtomicBool::new(false));
        // Actions run in the order in which they are registered. So once `at_once` is set, a signal ends the
        // process before the thread below hears of it.
        for signal in &wanted {
            flag::register_conditional_default(*signal, Arc::clone(&at_once))?;
        }
        let last_words = Arc::new(last_words);
        let out_of_memory = match address_space::is_limited() {
            true => Some(Self::await_abort(Arc::clone(&held_off), Arc::clone(&last_words))?),
            false => None,
        };
        if out_of_memory.is_some() {
            wanted.push(SIGABRT);
        }
        // If all are ignored, there is nothing to wait for.
        if wanted.is_empty() {
            return Ok(Self { held_off });
        }
        let signals = iterator::Signals::new(&wanted)?;
        let is_limited = out_of_memory.is_some();
        let end = SignalThread { signals, at_once, held_off: Arc::clone(&held_off), out_of_memory };
        let started = Arc::new(Barrier::new(2));
        let begun = Arc::clone(&started);
        let wait = move || {
            begun.wait();
            end.wait(move || last_words());
        };
        thread::Builder::new().name("signals".into()).stack_size(STACK).spawn(wait)?;
        // A thread allocates when it starts. If that failed while aborting threads are held, nobody would
        // be left to end the process.
        started.wait();
        if is_limited {
            last_resort::hold_aborting_threads()?;
        }
        Ok(Self { held_off })
    }

    /// Starts the thread that ends the process if an allocation fails.
    fn await_abort(
        held_off: Arc<Mutex<bool>>,
        last_words: Arc<impl Fn() + Send + Sync + 'static>,
    ) -> io::Result<Thread> {
        last_resort::start(move || {
            // Outputs that are being committed stay.
            if !*held_off.lock().unwrap_or_else(PoisonError::into_inner) {
                output::remove_all();
            }
            last_words();
        })
    }

    /// From now on a signal does not end the run any more; only a second one does. Never returns
    /// if one has been received already.
    pub fn hold_off(&self) {
        *self.held_off.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }
}

struct SignalThread {
    signals: iterator::Signals,
    /// Whether a signal ends the process at once.
    at_once: Arc<AtomicBool>,
    held_off: Arc<Mutex<bool>>,
    /// The thread that ends the process after an abort, if aborts are watched.
    out_of_memory: Option<Thread>,
}

impl SignalThread {
    fn wait(mut self, last_words: impl FnOnce() + Send + 'static) {
        for signal in self.signals.forever() {
            if let (SIGABRT, Some(thread)) = (signal, &self.out_of_memory) {
                // Nothing here allocates. The other thread ends the process earlier if it has the memory.
                thread.unpark();
                thread::sleep(LAST_WORDS);
                last_resort::exit();
            }
            let held_off = self.held_off.lock().unwrap_or_else(PoisonError::into_inner);
            if *held_off {
                self.at_once.store(true, Ordering::SeqCst);
                continue;
            }
            // The lock is kept until the end, so nothing can be committed any more.
            output::remove_all();
            // `timeout` sends each signal twice, and the second must not cut the last words off.
            call_with_timeout(last_words);
            self.at_once.store(true, Ordering::SeqCst);
            let _ = emulate_default_handler(signal);
            return;
        }
    }
}

/// Calls `last_words`, and waits a while for it to return.
fn call_with_timeout(last_words: impl FnOnce() + Send + 'static) {
    let (said, waiting) = channel();
    let speak = move || {
        last_words();
        let _ = said.send(());
    };
    // If the thread cannot start, nothing is printed, and the process ends all the same.
    let thread = thread::Builder::new().name("last-words".into()).stack_size(STACK);
    if thread.spawn(speak).is_ok() {
        let _ = waiting.recv_timeout(LAST_WORDS);
    }
}

/// The signals to watch: those that this process was not started to ignore.
fn wanted() -> Vec<i32> {
    match ignored() {
        Some(mask) => SIGNALS.into_iter().filter(|signal| mask >> (signal - 1) & 1 == 0).collect(),
        // Asking the system needs unsafe code. `nohup` ignores HUP, which then has to stay ignored.
        None => vec![SIGINT, SIGTERM],
    }
}

/// The mask of ignored signals, where the system has it in a file.
fn ignored() -> Option<u64> {
    #[cfg(target_os = "linux")]
    return ignored_in(&std::fs::read_to_string("/proc/self/status").ok()?);
    #[cfg(not(target_os = "linux"))]
    None
}

/// The mask of ignored signals in the text of Linux's `/proc/PID/status`, signal 1 in bit 0.
#[cfg(target_os = "linux")]
fn ignored_in(status: &str) -> Option<u64> {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn mask_of_ignored_signals_is_parsed() {
        let status = "Name:\tx\nSigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n";
        assert_eq!(ignored_in(status), Some(0x1001));
        assert_eq!(ignored_in("Name:\tx\n"), None);
    }

    #[test]
    fn exit_message_that_blocks_times_out() {
        let (_keep, never) = channel::<()>();
        call_with_timeout(move || {
            let _ = never.recv();
        });
    }
}
