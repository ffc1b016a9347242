//! Reads `cdx`, the indexes of web archives.
//!
//! A legend, ` CDX N b a m s k r M S V g`, names the columns by letters; its first byte is the
//! delimiter. `a` is the requested URL, `m` the media type, `s` the status. A legend applies to the
//! lines after it up to the next legend, which occurs if files were concatenated.
//!
//! Lines without a legend have the usual 9, 10 or 11 columns, the 7 of the Wayback Machine's CDX
//! server, or 14: these add length, offset and file of the original of a revisit. All begin alike:
//! key, timestamp, URL, media type, status. A line with another number of columns is `log-syntax`,
//! because a URL with a space in it cannot be told from its neighbours. OutbackCDX also has lines
//! `@alias KEY KEY`.

use std::borrow::Cow;
use std::sync::Arc;

use super::columns::{Column, ColumnKey, ColumnLayout};
use super::fields::{Fields, stamp, status};
use super::json::Pointers;
use super::layout::Layout;
use super::line::{self, Line, without_mark};
use super::part::{PartSet, RecordPart, Value};
use super::separators::Separators;
use super::{Context, Extracted, Records};
use uniqurl::RejectReason;

/// The columns that the last legend named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cdx {
    legend: Option<Arc<Legend>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Legend {
    delimiter: u8,
    /// One letter for each column.
    letters: Vec<u8>,
    layout: ColumnLayout,
}

impl Layout for Cdx {
    fn name(&self) -> Cow<'_, str> {
        "cdx".into()
    }

    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        let usual = usual();
        let mut now = self.legend.clone();
        // One vectorized search serves all lines that keep the delimiter of the chunk's start.
        let at_start = self.delimiter();
        let separators = Separators::find(chunk, [at_start]);
        line::each(ctx, 0, chunk, out, |line, scratch| {
            if let Some(legend) = legend(line.bytes) {
                now = Some(Arc::new(legend));
                return Extracted::Skipped;
            }
            if is_alias(line.bytes) {
                return Extracted::Skipped;
            }
            let (delimiter, layout) = match &now {
                Some(legend) => (legend.delimiter, &legend.layout),
                None => (b' ', &usual),
            };
            // Search this line alone: the legend, and so the delimiter, may change on every line.
            let own = (delimiter != at_start).then(|| Separators::find(line.bytes, [delimiter]));
            let (separators, place) = match &own {
                Some(own) => (own, Line { start: 0, ..line }),
                None => (&separators, line),
            };
            let columns = separators.count(place) + 1;
            let is_expected = match &now {
                Some(legend) => columns == legend.letters.len(),
                None => is_usual_number(columns),
            };
            if !is_expected {
                return Extracted::Reject(RejectReason::LogSyntax, 0);
            }
            let fields = separators.split(place);
            layout.found(ctx, line, fields, |_, field| Value::InLine(field), scratch)
        });
    }

    fn parts(&self) -> PartSet {
        PartSet::of(&[RecordPart::Status, RecordPart::Time, RecordPart::Mime])
    }

    /// The lengths are those of compressed records, so there are no bytes.
    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let (delimiter, letters) = self.columns(line);
        let fields = || line.split(|byte| *byte == delimiter);
        let field = |letter| fields().nth(letters.iter().position(|other| *other == letter)?);
        // `read` rejects a line with another number of columns, so its fields must not answer
        // filters either.
        if fields().count() == letters.len() {
            out.numbers.status = field(b's').and_then(status);
            out.numbers.time = field(b'b').and_then(stamp);
        }
    }

    fn looks_back(&self) -> bool {
        true
    }

    fn following(&self, ctx: &Context, chunk: &[u8]) -> Option<Arc<dyn Layout>> {
        // `read` rejects a line that is too long before it looks at it, so such a line is no legend
        // here either.
        let lines = candidates(chunk).filter(|line| line.len() <= ctx.max_record);
        let last = lines.filter_map(legend).last()?;
        Some(Arc::new(Self { legend: Some(Arc::new(last)) }))
    }

    fn fits_envelopes(&self) -> bool {
        false
    }

    fn may_refuse(&self) -> bool {
        true
    }

    /// True if a line has the usual columns. A `cdxj` line has an object in the place of the URL, and
    /// may contain as many spaces.
    fn fits(&self, line: &[u8]) -> Option<bool> {
        let fields: Vec<_> = line.split(|byte| *byte == b' ').collect();
        let is_time = |field: &[u8]| field.len() == 14 && field.iter().all(u8::is_ascii_digit);
        let is_url = |field: &[u8]| field.contains(&b':') && !field.starts_with(b"{");
        // The number of fields is asked for first, which makes the two indexes safe.
        Some(is_usual_number(fields.len()) && is_time(fields[1]) && is_url(fields[2]))
    }

    fn common_columns(&self) -> PartSet {
        PartSet::NONE
    }

    fn column(&self, name: &str) -> Result<Option<ColumnKey>, String> {
        let letter = letter(name).ok_or(
            "cdx has no such column: its columns are the letters of the legend, or \
             urlkey, timestamp, url, mime, status, digest, redirect, robotflags, \
             length, offset and filename, of 14 also orig.length, orig.offset and \
             orig.filename",
        )?;
        Ok(Some(ColumnKey::Letter(letter)))
    }

    fn cells(
        &self,
        line: &[u8],
        columns: &[Column],
        _pointers: &Pointers,
        take: &mut dyn FnMut(Option<&[u8]>),
    ) {
        let (delimiter, legend) = self.columns(line);
        for column in columns {
            let is_it = |letter: &u8| column.own == Some(ColumnKey::Letter(*letter));
            let mut fields = line.split(|byte| *byte == delimiter);
            take(legend.iter().position(is_it).and_then(|place| fields.nth(place)));
        }
    }
}

impl Cdx {
    /// The byte between columns.
    fn delimiter(&self) -> u8 {
        self.legend.as_ref().map_or(b' ', |legend| legend.delimiter)
    }

    /// The delimiter of a line, and the letter of each column.
    fn columns(&self, line: &[u8]) -> (u8, &[u8]) {
        match &self.legend {
            Some(legend) => (legend.delimiter, &legend.letters),
            None => match memchr::memchr_iter(b' ', line).count() + 1 {
                7 => (b' ', b"NbamskS"),
                9 => (b' ', b"NbamskrVg"),
                10 => (b' ', b"NbamskrMVg"),
                14 => (b' ', b"NbamskrMSVg123"),
                _ => (b' ', b"NbamskrMSVg"),
            },
        }
    }
}

/// The columns' usual names, by letter. Writers have no letters for the last three, so digits stand for them.
const NAMES: &[(u8, &[&str])] = &[
    (b'N', &["urlkey"]),
    (b'b', &["timestamp"]),
    (b'a', &["url", "original"]),
    (b'm', &["mime", "mimetype"]),
    (b's', &["status", "statuscode"]),
    (b'k', &["digest"]),
    (b'r', &["redirect"]),
    (b'M', &["robotflags"]),
    (b'S', &["length"]),
    (b'V', &["offset"]),
    (b'g', &["filename"]),
    (b'1', &["orig.length"]),
    (b'2', &["orig.offset"]),
    (b'3', &["orig.filename"]),
];

/// The letter of a column in a legend.
fn letter(column: &str) -> Option<u8> {
    if let [letter @ (b'a'..=b'z' | b'A'..=b'Z')] = column.as_bytes() {
        return Some(*letter);
    }
    let named = NAMES.iter().find(|(_, names)| names.contains(&column));
    named.map(|(letter, _)| *letter)
}

fn usual() -> ColumnLayout {
    layout(vec![(2, RecordPart::Url), (3, RecordPart::Mime), (4, RecordPart::Status)])
}

fn layout(slots: Vec<(usize, RecordPart)>) -> ColumnLayout {
    let mut layout = ColumnLayout::new(slots);
    // All indexes in use have these.
    layout.facts = PartSet::of(&[RecordPart::Status, RecordPart::Mime]);
    layout
}

/// True if a line without a legend may have this number of columns.
fn is_usual_number(columns: usize) -> bool {
    matches!(columns, 7 | 9..=11 | 14)
}

/// True if a line declares two keys equal and describes no capture.
pub(super) fn is_alias(line: &[u8]) -> bool {
    line.starts_with(b"@alias ")
}

/// True if a line is a legend: any byte, `CDX`, and letters; or the same without its first byte, which
/// tools that trim lines take away.
pub(super) fn is_legend(line: &[u8]) -> bool {
    legend(line).is_some()
}

fn legend(line: &[u8]) -> Option<Legend> {
    let line = without_mark(line);
    let (delimiter, letters) = match line {
        [b'C', b'D', b'X', delimiter @ (b' ' | b'\t'), letters @ ..] => (*delimiter, letters),
        _ => {
            let (&delimiter, rest) = line.split_first()?;
            (delimiter, rest.strip_prefix(b"CDX")?.strip_prefix(&[delimiter])?)
        }
    };
    let letters: Vec<&[u8]> = letters.split(|byte| *byte == delimiter).collect();
    // With a letter as its delimiter, any word around `CDX` would be a legend.
    if delimiter.is_ascii_alphanumeric() || letters.iter().any(|letter| letter.len() != 1) {
        return None;
    }
    let part = |(column, letter): (usize, &&[u8])| {
        let part = match *letter {
            b"a" => RecordPart::Url,
            b"m" => RecordPart::Mime,
            b"s" => RecordPart::Status,
            _ => return None,
        };
        Some((column, part))
    };
    let layout = layout(letters.iter().enumerate().filter_map(part).collect());
    Some(Legend { delimiter, letters: letters.concat(), layout })
}

/// The lines of a chunk that may be legends. It searches forwards because memmem is vectorized only
/// in that direction.
fn candidates(chunk: &[u8]) -> impl Iterator<Item = &[u8]> {
    memchr::memmem::find_iter(chunk, b"CDX").filter_map(move |at| {
        // Only a delimiter and perhaps a byte-order mark may precede it. Looking no further back
        // bounds the work for lines that hold `CDX` many times.
        let near = at.saturating_sub(5);
        let feed = chunk[near..at].iter().rposition(|byte| *byte == b'\n');
        let start = match feed {
            Some(feed) => near + feed + 1,
            None if at < 5 => 0,
            None => return None,
        };
        let end = memchr::memchr(b'\n', &chunk[at..]).map_or(chunk.len(), |length| at + length);
        let line = &chunk[start..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

#[cfg(test)]
mod tests {
    use super::super::{
        BufferId, Context, Extracted, Format,
        format::tests::{read, show},
    };
    use super::candidates;

    fn cdx() -> Format {
        Format::parse("cdx").unwrap()
    }

    #[test]
    fn legend_decides_the_column_of_the_url() {
        let chunk =
            b" CDX N b a m s k r M S V g\nk 20140126200624 http://h/a text/html 200 D - - 1 2 f\n\
            \tCDX\ta\tN\nhttp://h/b\tk\nCDX N m a\nk - http://h/c\n";
        let out = read(&cdx(), &Context::default(), chunk);
        let urls: Vec<_> = out
            .records
            .iter()
            .map(|record| match record.found {
                Extracted::Url(BufferId::Chunk, span) => span.of(chunk).to_vec(),
                Extracted::Skipped => b"legend".to_vec(),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(
            urls,
            [&b"legend"[..], b"http://h/a", b"legend", b"http://h/b", b"legend", b"http://h/c"]
        );
    }

    #[test]
    fn last_legend_of_a_chunk_applies_to_the_next_chunk() {
        let ctx = Context::default();
        assert_eq!(cdx().after(&ctx, b"k 20140126200624 http://h/CDX\n"), None);
        let after = cdx().after(&ctx, b" CDX N a\r\nk u\n CDX a N\n").unwrap();
        let out = read(&after, &ctx, b"u k\n");
        assert!(
            matches!(out.records[0].found, Extracted::Url(_, span) if span.of(b"u k\n") == b"u")
        );
    }

    #[test]
    fn long_line_of_legend_markers_is_searched_once() {
        let mut chunk = b"\xEF\xBB\xBF CDX N a\n".to_vec();
        let ctx = Context::default();
        assert!(cdx().after(&ctx, &chunk).is_some());
        chunk.extend(b" CDX".repeat(1 << 20));
        chunk.push(b'\n');
        assert!(cdx().after(&ctx, &chunk).is_some());
        assert_eq!(candidates(&chunk).count(), 2);
    }

    #[test]
    fn url_is_the_third_of_a_known_number_of_fields_without_a_legend() {
        for columns in [7, 9, 10, 11, 14] {
            let line = format!("k 20140126200624 http://h/{}", " -".repeat(columns - 3));
            assert_eq!(show(&cdx(), &Context::default(), line.as_bytes()), "url http://h/");
        }
        for line in
            ["k 20140126200624 http://h/", "k 2014 u - - - - -", "k 2014 u - - - - - - - - -"]
        {
            assert_eq!(show(&cdx(), &Context::default(), line.as_bytes()), "log-syntax 0");
        }
    }

    #[test]
    fn legend_without_a_url_column_gives_no_field() {
        let out = read(&cdx(), &Context::default(), b" CDX N b\nk 2014\n");
        assert!(matches!(
            out.records[1].found,
            Extracted::Reject(uniqurl::RejectReason::NoField, 0)
        ));
    }
}
