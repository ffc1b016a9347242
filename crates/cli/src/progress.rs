//! The progress of a long run: bytes, rate, and the time left if the total is known.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A run that is over sooner never shows anything.
const PATIENCE: Duration = Duration::from_millis(500);
const TICK: Duration = Duration::from_millis(100);

/// When to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// If standard error is a terminal, neither input nor output is one, and the run takes more than half a
    /// second.
    Auto,
    /// From the start, whatever standard error is.
    Always,
    /// Not at all.
    Never,
}

/// A bar on standard error, drawn by a thread of its own. The thread reads a counter, so counting
/// never waits for a terminal. Dropping the bar wipes it: drop it before printing anything else.
#[derive(Debug)]
pub struct Progress {
    drawing: Option<Drawing>,
}

#[derive(Debug)]
struct Drawing {
    /// Closed, it ends the thread.
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// Shows how `done`, in bytes, grows; towards `total` where that is known.
    pub fn start(when: When, done: Arc<AtomicU64>, total: Option<u64>) -> Self {
        let terminal = io::stderr().is_terminal();
        let patience = match when {
            When::Never => return Self { drawing: None },
            When::Auto if !terminal => return Self { drawing: None },
            When::Auto => PATIENCE,
            When::Always => Duration::ZERO,
        };
        let target = move || match terminal {
            true => ProgressDrawTarget::stderr_with_hz(10),
            false => ProgressDrawTarget::term_like_with_hz(Box::new(Unattended), 10),
        };
        Self { drawing: Drawing::start(done, total, patience, target) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(Drawing { stop, thread }) = self.drawing.take() {
            drop(stop);
            // A bar that could not be drawn is no reason to fail.
            let _ = thread.join();
        }
    }
}

impl Drawing {
    fn start(
        done: Arc<AtomicU64>,
        total: Option<u64>,
        patience: Duration,
        target: impl FnOnce() -> ProgressDrawTarget + Send + 'static,
    ) -> Option<Self> {
        let (stop, stopped) = channel::<()>();
        let draw = move || {
            let over = |wait| stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
            let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden())
                .with_style(style(total));
            // The rate and the time left count from the start, not from the first drawing.
            if over(patience) {
                return;
            }
            bar.set_draw_target(target());
            loop {
                bar.set_position(done.load(Ordering::Relaxed));
                bar.tick();
                if over(TICK) {
                    break bar.finish_and_clear();
                }
            }
        };
        // Without a thread there is no bar, and the run goes on.
        let thread = thread::Builder::new().name("progress".into()).spawn(draw).ok()?;
        Some(Self { stop, thread })
    }
}

fn style(total: Option<u64>) -> ProgressStyle {
    let template = match total {
        Some(_) => "{wide_bar} {percent:>3}% {bytes}/{total_bytes} {bytes_per_sec} {eta} left",
        None => "{spinner} {bytes} {bytes_per_sec} {elapsed}",
    };
    let style = ProgressStyle::with_template(template).expect("the templates are valid");
    // ASCII, which every terminal can show.
    style.progress_chars("=>-").tick_chars("-\\|/ ")
}

/// Standard error that is no terminal, for a bar that was requested all the same: it gets the bytes that
/// a terminal of 80 columns would get.
#[derive(Debug)]
struct Unattended;

impl Unattended {
    /// Moves the cursor `n` times in one of the four directions of ECMA-48.
    fn move_cursor(&self, n: usize, direction: char) -> io::Result<()> {
        if n == 0 { Ok(()) } else { self.write_str(&format!("\x1b[{n}{direction}")) }
    }
}

impl TermLike for Unattended {
    fn width(&self) -> u16 {
        80
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        io::stderr().write_all(text.as_bytes())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write_str("\r\x1b[2K")
    }

    fn flush(&self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// The progress bar, which is wiped when the run ends.
#[derive(Clone, Default)]
pub struct Bar(Arc<Mutex<Drawn>>);

#[derive(Default)]
enum Drawn {
    #[default]
    NotYet,
    Since(#[expect(dead_code, reason = "it is wiped away when it is dropped")] Progress),
    /// Nothing is drawn any more.
    Wiped,
}

impl Bar {
    /// Starts to draw, unless the run is ended already.
    pub fn draw(&self, start: impl FnOnce() -> Progress) {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*drawn, Drawn::NotYet) {
            *drawn = Drawn::Since(start());
        }
    }

    /// Wipes it away, for good.
    pub fn wipe(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Drawn::Wiped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;
    use std::time::Instant;

    const MINUTE: Duration = Duration::from_secs(60);

    /// The terminal's content once this text is on it or `most` of the time is over, and after the run.
    fn screens(
        total: Option<u64>,
        patience: Duration,
        text: &str,
        most: Duration,
    ) -> (String, String) {
        let terminal = InMemoryTerm::new(4, 80);
        let target = {
            let terminal = terminal.clone();
            move || ProgressDrawTarget::term_like(Box::new(terminal))
        };
        let done = Arc::new(AtomicU64::new(3 << 20));
        let drawing = Drawing::start(done, total, patience, target);
        let progress = Progress { drawing };
        let start = Instant::now();
        // One look at a time: the next one may find the line between two drawings.
        let during = loop {
            let seen = terminal.contents();
            if seen.contains(text) || start.elapsed() >= most {
                break seen;
            }
            thread::sleep(TICK / 10);
        };
        drop(progress);
        (during, terminal.contents())
    }

    #[test]
    fn known_total_draws_a_bar_and_clears_it() {
        let (during, after) = screens(Some(4 << 20), Duration::ZERO, "left", MINUTE);
        assert!(during.contains("75%") && during.contains("3.00 MiB/4.00 MiB"), "{during}");
        assert!(during.ends_with("left") && !during.contains(" 0 B/s"), "{during}");
        assert_eq!(after, "");
    }

    #[test]
    fn unknown_total_shows_bytes_and_rate() {
        let (during, after) = screens(None, Duration::ZERO, "/s", MINUTE);
        assert!(during.contains("3.00 MiB") && during.contains("/s"), "{during}");
        assert_eq!(after, "");
    }

    #[test]
    fn a_short_run_shows_nothing() {
        let screens = screens(Some(1), MINUTE, "left", 3 * TICK);
        assert_eq!(screens, (String::new(), String::new()));
    }

    #[test]
    fn progress_never_draws_no_bar() {
        let never = Progress::start(When::Never, Arc::default(), Some(1));
        assert!(never.drawing.is_none());
    }
}
