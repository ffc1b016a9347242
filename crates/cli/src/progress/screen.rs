//! Where progress is shown.

use std::env;
use std::io::{self, IsTerminal, Write};

use rustix::termios::tcgetwinsize;

use super::ProgressState;
use super::pace::Pace;

/// The width of a terminal that does not tell its own.
const WIDTH: u16 = 80;

/// The kind of standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScreenKind {
    /// A terminal that can draw a line over another.
    Terminal,
    /// A terminal that cannot.
    Dumb,
    /// No terminal.
    Other,
}

impl ScreenKind {
    pub fn of_standard_error() -> Self {
        match io::stderr().is_terminal() {
            false => ScreenKind::Other,
            true if env::var_os("TERM").is_some_and(|term| term == "dumb") => ScreenKind::Dumb,
            true => ScreenKind::Terminal,
        }
    }
}

/// A place for lines about progress.
pub(super) struct Screen {
    kind: ScreenKind,
    out: Box<dyn Write + Send>,
    is_drawn: bool,
}

impl Screen {
    pub fn new(kind: ScreenKind, out: impl Write + Send + 'static) -> Self {
        Self { kind, out: Box::new(out), is_drawn: false }
    }

    /// Shows the state: over the last one, or as a line of its own.
    pub fn draw(&mut self, state: &ProgressState, pace: &Pace) {
        let text = match self.kind {
            // The last column stays free: some terminals begin a new line after it.
            ScreenKind::Terminal => format!("\r{:.*}\x1b[K", width() - 1, state.line(pace)),
            ScreenKind::Dumb | ScreenKind::Other => format!("uniqurl: {}\n", state.line(pace)),
        };
        self.is_drawn = true;
        // Progress that cannot be shown is no reason to fail.
        let _ = self.out.write_all(text.as_bytes());
    }

    /// Wipes a line that would be in the way of others.
    pub fn wipe(&mut self) {
        if self.kind == ScreenKind::Terminal && self.is_drawn {
            let _ = self.out.write_all(b"\r\x1b[2K");
        }
    }
}

/// The columns of standard error.
fn width() -> usize {
    let columns = tcgetwinsize(io::stderr()).map_or(0, |size| size.ws_col);
    (if columns == 0 { WIDTH } else { columns }).into()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    /// The bytes on a screen.
    #[derive(Clone, Default)]
    pub struct Shown(Arc<Mutex<Vec<u8>>>);

    impl Shown {
        pub fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("no panic").clone()).expect("ASCII")
        }
    }

    impl Write for Shown {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
}
