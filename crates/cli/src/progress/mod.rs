//! The progress of a long run on standard error.
//!
//! A thread of its own asks for the state of the run, so the run never waits for a terminal. At a terminal
//! the state is one line that is drawn over and over, and wiped at the end. Elsewhere it is a plain line now
//! and then.

mod state;
mod pace;
mod screen;

pub use state::{Counts, ProgressState};

use std::mem;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use pace::Pace;
use screen::{Screen, ScreenKind};

/// A run that is over sooner never shows anything.
const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

/// The time between two plain lines.
const PLAIN: Duration = Duration::from_secs(10);

/// When to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// If standard error is a terminal, neither input nor output is one, and the run takes more than half a
    /// second.
    Auto,
    /// From the start; every ten seconds if standard error is no terminal.
    Always,
    /// Not at all.
    Never,
}

/// The display of the progress.
#[derive(Debug)]
pub struct Progress {
    /// Closed, it ends the thread.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// The times at which a screen is drawn.
#[derive(Debug, Clone, Copy)]
struct Schedule {
    patience: Duration,
    tick: Duration,
}

impl Progress {
    /// Shows what `state` returns, if anything is to be shown.
    pub fn start(
        when: When,
        state: impl FnMut() -> ProgressState + Send + 'static,
    ) -> Option<Self> {
        let kind = ScreenKind::of_standard_error();
        let patience = match when {
            When::Never => return None,
            When::Auto if kind == ScreenKind::Other => return None,
            When::Auto => PATIENCE,
            When::Always => Duration::ZERO,
        };
        let schedule = match kind {
            ScreenKind::Terminal => Schedule { patience, tick: TICK },
            // Each line stays, so the first one waits as well.
            ScreenKind::Dumb | ScreenKind::Other => Schedule { patience: PLAIN, tick: PLAIN },
        };
        Self::draw(Screen::new(kind, std::io::stderr()), schedule, state)
    }

    /// Wipes the line.
    fn end(self) {
        drop(self.stop);
        // Progress that could not be shown is no reason to fail.
        let _ = self.thread.join();
    }

    fn draw(
        mut screen: Screen,
        schedule: Schedule,
        mut state: impl FnMut() -> ProgressState + Send + 'static,
    ) -> Option<Self> {
        let (stop, stopped) = channel::<()>();
        let draw = move || {
            // The rate counts from the start, not from the first drawing.
            let mut pace = Pace::start(Instant::now());
            let mut next = Instant::now() + schedule.patience;
            loop {
                let now = Instant::now();
                let state = state();
                pace.note(now, state.phase, state.bytes());
                if now >= next {
                    next = now + schedule.tick;
                    screen.draw(&state, &pace);
                }
                // It wakes up at each tick, also where lines are rare, so that the rate has enough samples.
                if stopped.recv_timeout(TICK.min(schedule.tick)) != Err(RecvTimeoutError::Timeout) {
                    break screen.wipe();
                }
            }
        };
        // Without a thread there is no display, and the run goes on.
        let thread = thread::Builder::new().name("progress".into()).spawn(draw).ok()?;
        Some(Self { stop, thread })
    }
}

/// The display of a run, which is wiped when the run ends.
#[derive(Clone, Default)]
pub struct Bar(Arc<Mutex<Drawn>>);

// NotYet ── draw ──▶ Since ── wipe ──▶ Wiped. A signal may wipe before anything is drawn, and then NotYet becomes
// Wiped at once, so that nothing is drawn over the last words.
#[derive(Default)]
enum Drawn {
    #[default]
    NotYet,
    Since(Progress),
    /// Nothing is drawn any more.
    Wiped,
}

impl Bar {
    /// Starts to draw, unless the run is ended already.
    pub fn draw(&self, start: impl FnOnce() -> Option<Progress>) {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*drawn, Drawn::NotYet)
            && let Some(progress) = start()
        {
            *drawn = Drawn::Since(progress);
        }
    }

    /// Wipes it away, for good. Whoever calls this may print once it returns, so that the line is wiped under the lock.
    pub fn wipe(&self) {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Drawn::Since(progress) = mem::replace(&mut *drawn, Drawn::Wiped) {
            progress.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::screen::tests::Shown;
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    /// The bytes on a screen once this text is on it or `most` of the time is over, and after the run.
    fn screens(
        kind: ScreenKind,
        schedule: Schedule,
        text: &str,
        most: Duration,
    ) -> (String, String) {
        let shown = Shown::default();
        let state = || ProgressState { done: 3 << 20, total: Some(4 << 20), ..Default::default() };
        let progress = Progress::draw(Screen::new(kind, shown.clone()), schedule, state);
        let start = Instant::now();
        while !shown.text().contains(text) && start.elapsed() < most {
            thread::sleep(TICK / 10);
        }
        let during = shown.text();
        progress.expect("a thread").end();
        (during, shown.text())
    }

    #[test]
    fn line_is_wiped_at_the_end() {
        let schedule = Schedule { patience: Duration::ZERO, tick: TICK };
        let (during, after) = screens(ScreenKind::Terminal, schedule, "75%", MINUTE);
        assert!(during.contains("reading 75%"), "{during:?}");
        assert!(after.ends_with("\r\x1b[2K"), "{after:?}");
    }

    #[test]
    fn short_run_shows_nothing() {
        let schedule = Schedule { patience: MINUTE, tick: TICK };
        for kind in [ScreenKind::Terminal, ScreenKind::Dumb, ScreenKind::Other] {
            let screens = screens(kind, schedule, "75%", 3 * TICK);
            assert_eq!(screens, (String::new(), String::new()));
        }
    }

    #[test]
    fn plain_lines_come_again_and_stay() {
        let schedule = Schedule { patience: Duration::ZERO, tick: TICK };
        let line = "uniqurl: reading 75%";
        for kind in [ScreenKind::Dumb, ScreenKind::Other] {
            let (_, after) = screens(kind, schedule, &format!("\n{line}"), MINUTE);
            assert!(after.lines().count() > 1, "{after:?}");
            assert!(after.lines().all(|shown| shown.starts_with(line)), "{after:?}");
            assert!(!after.contains(['\r', '\x1b']), "{after:?}");
        }
    }

    #[test]
    fn progress_never_shows_nothing() {
        assert!(Progress::start(When::Never, ProgressState::default).is_none());
    }
}
