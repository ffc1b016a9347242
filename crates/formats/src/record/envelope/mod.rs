//! The envelopes around lines: what a collector of logs writes around each line of a program.
//!
//! [`Envelope::strip`] takes one line as it stands in the file and finds the line of the program in
//! it. [`Wrapped`] is a format in an envelope: it strips the lines of a chunk, lets the format read
//! them, and says where in the chunk each record is. [`find`] tells from the beginning of an input
//! which envelope its lines have.

mod stripped;
mod time;

mod cri;
mod docker;
mod journald;
mod syslog;

mod inner_line;
pub(super) mod wrapped;

mod find;

pub use find::wrap;

use self::stripped::{Stripped, StrippedText};
use super::line::{MARK, without_mark};

/// The text around each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Envelope {
    /// Docker's json-file: `{"log":"LINE\n","stream":"stdout","time":"…"}`.
    Docker,
    /// The Container Runtime Interface of Kubernetes: `TIME stdout F LINE`.
    Cri,
    /// A header of RFC 3164 or RFC 5424.
    Syslog,
    /// A JSON object of `journalctl -o json`, with the line in `MESSAGE`.
    Journald,
}

/// Which envelope to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EnvelopeChoice {
    /// The one that most of the first lines have, if any.
    #[default]
    Auto,
    /// None: each line is a record as it stands.
    None,
    /// This one. Lines without it are rejected.
    Named(Envelope),
}

impl EnvelopeChoice {
    /// The names of all choices.
    pub const NAMES: [&'static str; 6] = ["auto", "none", "docker", "cri", "syslog", "journald"];

    /// The choice of this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "auto" => Some(EnvelopeChoice::Auto),
            "none" => Some(EnvelopeChoice::None),
            name => Envelope::ALL
                .into_iter()
                .find(|envelope| envelope.name() == name)
                .map(EnvelopeChoice::Named),
        }
    }
}

impl Envelope {
    /// All envelopes.
    const ALL: [Envelope; 4] =
        [Envelope::Docker, Envelope::Cri, Envelope::Syslog, Envelope::Journald];

    /// True if the line in it is escaped, so that it reads otherwise without the envelope.
    fn escapes(self) -> bool {
        matches!(self, Envelope::Docker | Envelope::Journald)
    }

    /// Its name for `--envelope`.
    pub fn name(self) -> &'static str {
        match self {
            Envelope::Docker => "docker",
            Envelope::Cri => "cri",
            Envelope::Syslog => "syslog",
            Envelope::Journald => "journald",
        }
    }

    /// Finds the line in its envelope, which may begin with a byte-order mark. An unescaped copy is
    /// appended to `buffer`.
    fn strip(self, line: &[u8], buffer: &mut Vec<u8>) -> Option<Stripped> {
        // Where files were joined, a mark stands in the middle of the input, too.
        let text = without_mark(line);
        let mut found = match self {
            Envelope::Docker => docker::strip(text, buffer),
            Envelope::Cri => cri::strip(text),
            Envelope::Syslog => syslog::strip(text),
            Envelope::Journald => journald::strip(text, buffer),
        }?;
        // The range was found in the text after the mark, and counts from the start of the line.
        if text.len() < line.len()
            && let StrippedText::InLine(range) = &mut found.text
        {
            *range = range.start + MARK.len()..range.end + MARK.len();
        }
        Some(found)
    }

    /// True if a record may hold its bytes as a list of numbers, where no secret is found.
    fn hides_bytes(self) -> bool {
        self == Envelope::Journald
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text in a line, and whether the line is cut.
    pub(super) fn stripped(envelope: Envelope, line: &[u8]) -> Option<(Vec<u8>, bool)> {
        let mut buffer = b"before".to_vec();
        let found = envelope.strip(line, &mut buffer);
        let Some(found) = found else {
            assert_eq!(buffer, b"before", "a line without an envelope leaves the buffer");
            return None;
        };
        let text = match found.text {
            StrippedText::InLine(range) => line[range].to_vec(),
            StrippedText::Unescaped => buffer.split_off(b"before".len()),
        };
        Some((text, found.is_cut))
    }

    /// Checks a table of lines and their texts.
    pub(super) fn check(envelope: Envelope, table: &[(&[u8], Option<&[u8]>)]) {
        for (line, text) in table {
            let found = stripped(envelope, line).map(|(text, _)| text);
            assert_eq!(found.as_deref(), *text, "{}", line.escape_ascii());
        }
    }

    #[test]
    fn every_choice_has_a_name() {
        for name in EnvelopeChoice::NAMES {
            let choice = EnvelopeChoice::named(name).unwrap();
            if let EnvelopeChoice::Named(envelope) = choice {
                assert_eq!(envelope.name(), name);
            }
        }
        assert_eq!(EnvelopeChoice::named("Docker"), None);
    }
}
