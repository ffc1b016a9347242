//! Tells from the beginning of an input whether its lines have an envelope, for `--envelope auto`.
//!
//! Most of the first lines must have it. An input that can be read without is read as it stands,
//! unless it is read better in the envelope: a doubtful envelope must not change what a plain input
//! gives.

use memchr::{memchr_iter, memrchr};

use super::super::detect::lines;
use super::super::origin::is_absolute;
use super::super::{
    Archive, BufferId, Context, Detected, Doubts, Extracted, Format, FormatTable, Labels,
    MAX_RECORD, Records, Suggestion, Wrapped,
};
use super::inner_line::stripped;
use super::stripped::BareLines;
use super::{Envelope, EnvelopeChoice};

/// How many lines are looked at for an envelope.
const LINES: usize = 100;

impl EnvelopeChoice {
    /// True if inputs of this format may have an envelope of this choice.
    pub fn looks_into(self, format: &Format) -> bool {
        self != EnvelopeChoice::None && format.fits_envelopes()
    }
}

impl FormatTable {
    /// The format that an input with this name and beginning seems to have, in the envelope that its
    /// lines seem to have.
    pub fn detect_in(
        &self,
        choice: EnvelopeChoice,
        name: &str,
        head: &[u8],
        is_whole: bool,
    ) -> Detected {
        let mut bare = self.detect(name, head, is_whole);
        let head = whole_lines(head, is_whole);
        let Some((envelope, lines)) = envelope_of(choice, head) else {
            // A format that reads the lines as they stand is the better hint.
            let reads = matches!(bare.doubts.suggestion, Some(Suggestion::Format { .. }));
            if has_no_format(&bare.format) && !reads {
                let envelope = self.envelope_of_logs(head).map(Suggestion::Envelope);
                bare.doubts.suggestion = envelope.or(bare.doubts.suggestion);
            }
            return bare;
        };
        // The bodies of an archive may be logs in envelopes, and are no lines of this input.
        if matches!(bare.format, Format::Archive(_)) || Archive::detect(head).is_some() {
            return bare;
        }
        let inner = stripped(envelope, lines, MAX_RECORD, head);
        let found = match self.detect(name, &inner, true) {
            found if found.format.fits_envelopes() => found,
            _ => Detected { format: Format::Lines, doubts: Doubts::default() },
        };
        let is_better = match (&found.format, &bare.format) {
            _ if lines == BareLines::AreRejected => true,
            (found, bare) if has_no_format(found) && has_no_format(bare) => most_are_values(&inner),
            // Lines that begin with a word and a colon are a log's, and no list's.
            (Format::Lines | Format::Labelled(_), _) => false,
            // Its reader finds the fields after any header, so the envelope would only cost time.
            (found, bare) if found == bare && bare.reads_past_headers() => envelope.escapes(),
            _ => true,
        };
        if !is_better {
            return bare;
        }
        Detected { format: wrapped(envelope, lines, found.format), ..found }
    }
}

impl FormatTable {
    /// The envelope, perhaps an unusual one, in which a format reads most of the lines of a log.
    fn envelope_of_logs(&self, head: &[u8]) -> Option<Envelope> {
        // Each envelope costs a detection of its own, so a few lines have to do.
        let head = memchr_iter(b'\n', head).nth(LINES).map_or(head, |feed| &head[..feed]);
        let all = lines(head).count();
        Envelope::ALL.into_iter().find(|envelope| {
            let inner = stripped(*envelope, BareLines::AreRejected, MAX_RECORD, head);
            let format = self.detect("", &inner, true).format;
            let is_log = !matches!(format, Format::Lines | Format::Labelled(_) | Format::Target);
            is_log && format.fits_envelopes() && urls_in(&format, &inner) * 2 > all
        })
    }
}

/// True for an input that no format but that of lists is known for.
fn has_no_format(format: &Format) -> bool {
    matches!(format, Format::Lines | Format::Labelled(Labels::All))
}

/// `format` in the envelope that the lines of an input with this beginning seem to have; none if
/// they are to be read as they stand.
pub fn wrap(
    choice: EnvelopeChoice,
    format: &Format,
    head: &[u8],
    is_whole: bool,
) -> Option<Format> {
    if !choice.looks_into(format) {
        return None;
    }
    let head = whole_lines(head, is_whole);
    let (envelope, lines) = envelope_of(choice, head)?;
    let is_taken = lines == BareLines::AreRejected || {
        let within = urls_in(format, &stripped(envelope, lines, MAX_RECORD, head));
        let without = urls_in(format, head);
        // Who names a column or a member may have counted from the start of the line.
        let prefers_bare =
            format.names_place() || format.reads_past_headers() && !envelope.escapes();
        within > 0 && (within > without || within == without && !prefers_bare)
    };
    is_taken.then(|| wrapped(envelope, lines, format.clone()))
}

fn wrapped(envelope: Envelope, lines: BareLines, format: Format) -> Format {
    Format::Wrapped(Box::new(Wrapped::new(envelope, lines, format)))
}

/// The envelope to take off, and what to do with lines that have none.
fn envelope_of(choice: EnvelopeChoice, head: &[u8]) -> Option<(Envelope, BareLines)> {
    match choice {
        EnvelopeChoice::None => None,
        EnvelopeChoice::Auto => {
            let found = Envelope::ALL.into_iter().find(|envelope| most_have(*envelope, head));
            Some((found?, BareLines::AreRead))
        }
        // Both are logs of the system.
        EnvelopeChoice::Named(Envelope::Syslog) if most_have(Envelope::Journald, head) => {
            Some((Envelope::Journald, BareLines::AreRejected))
        }
        EnvelopeChoice::Named(envelope) => Some((envelope, BareLines::AreRejected)),
    }
}

/// The lines at the start of an input, without one that the end of `head` cuts.
fn whole_lines(head: &[u8], is_whole: bool) -> &[u8] {
    match memrchr(b'\n', head) {
        _ if is_whole => head,
        Some(feed) => &head[..=feed],
        None => &[],
    }
}

/// Whether more than half of the first lines have an envelope that nothing else is likely to write.
fn most_have(envelope: Envelope, head: &[u8]) -> bool {
    let mut buffer = Vec::new();
    let (mut all, mut having) = (0, 0);
    for line in lines(head).take(LINES) {
        buffer.clear();
        let found = envelope.strip(line, &mut buffer);
        all += 1;
        having += usize::from(found.is_some_and(|line| line.is_typical));
    }
    having * 2 > all
}

/// Whether more than half of the lines are URLs, or JSON objects, in which the user may know the
/// member with the URL.
fn most_are_values(inner: &[u8]) -> bool {
    let (mut all, mut values) = (0, 0);
    for line in lines(inner) {
        all += 1;
        values += usize::from(is_absolute(line) || line.starts_with(b"{"));
    }
    values * 2 > all
}

/// How many URLs or request targets a format finds that look like some.
fn urls_in(format: &Format, chunk: &[u8]) -> usize {
    let mut out = Records::default();
    format.read(&Context::default(), chunk, &mut out);
    let scratch = &out.scratch;
    let is_one = |found: &Extracted| match *found {
        Extracted::Url(buffer, span) => {
            let url = span.of(if buffer == BufferId::Chunk { chunk } else { scratch });
            url.starts_with(b"/") || is_absolute(url)
        }
        Extracted::Target(..) | Extracted::Joined { .. } => true,
        Extracted::Blank | Extracted::Skipped | Extracted::Filtered | Extracted::Reject(..) => {
            false
        }
    };
    out.records.iter().filter(|record| is_one(&record.found)).count()
}
