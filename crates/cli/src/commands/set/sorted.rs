//! A sorted set, read from front to back, one key at a time.

use std::cmp::Ordering;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use crate::args::set::{Operation, SetArgs};
use crate::diagnostics::LEFT_OUT;
use crate::status::eprint_message;
use uniqurl_formats::input::{self, Input, InputError, OpenFile, Trouble, Unpacked};
use uniqurl_formats::record::{LONGEST_KEY, is_table};
use uniqurl_text::{Printable, UrlExcerpt};

/// How much of an input tells whether it is a table.
const HEAD: u64 = 16;

/// How much of an input is held.
const BUFFER: usize = 64 << 10;

/// Longest line that is read: a key, and a count before it.
const LONGEST: u64 = LONGEST_KEY as u64 + 32;

/// A line of a set.
#[derive(Debug, Default)]
struct Line {
    key: Vec<u8>,
    count: u64,
    /// Its number and its start in the input. The position of the reader is a line further.
    number: u64,
    start: u64,
}

/// The reason why a set cannot be read, in printable words, and a hint.
pub(crate) struct SetError {
    pub(crate) text: String,
    pub(crate) hint: Option<&'static str>,
}

impl From<String> for SetError {
    fn from(text: String) -> Self {
        Self { text, hint: None }
    }
}

/// The number of the current line, its start, and the start of the next one.
#[derive(Debug, Default)]
struct LinePosition {
    number: u64,
    start: u64,
    end: u64,
}

impl LinePosition {
    /// Moves on to a line of `bytes` bytes.
    fn advance(&mut self, bytes: u64) {
        (self.start, self.end) = (self.end, self.end + bytes);
        self.number += 1;
    }
}

/// A set that is being read. Its keys come out in ascending order, each once.
pub(crate) struct SortedSet {
    path: PathBuf,
    reader: BufReader<Chain<Cursor<Vec<u8>>, Unpacked>>,
    file: Option<Arc<OpenFile>>,
    separator: u8,
    /// Whether a count comes before each key.
    is_counted: bool,
    /// The set operation.
    operation: Operation,
    /// The current key, and the one after it, if there is one.
    now: Line,
    ahead: Option<Line>,
    text: Vec<u8>,
    position: LinePosition,
}

impl SortedSet {
    /// Opens a set and reads its first line, which becomes current on the first advance.
    ///
    /// # Errors
    ///
    /// The problem with the set, in printable words.
    pub(crate) fn open(input: &Input, set: &SetArgs) -> Result<Self, SetError> {
        let failed = |error| InputError::new(&input.path, None, Trouble::Io(error)).to_string();
        let file = OpenFile::open(input).map_err(|error| error.to_string())?.map(Arc::new);
        let reader = match &file {
            Some(file) => input::unpacked_file(Arc::clone(file)),
            None => input::unpacked(input.open_stream().map_err(|error| error.to_string())?),
        };
        let mut reader = reader.map_err(failed)?;
        // A pipe may return its first bytes in several reads.
        let mut head = Vec::new();
        let read = reader.by_ref().take(HEAD).read_to_end(&mut head);
        read.map_err(|error| {
            let trouble = reader.trouble(error);
            InputError::new(&input.path, Some(head.len() as u64), trouble).to_string()
        })?;
        let is_table = is_table(&head);
        let reader = Cursor::new(head).chain(reader);
        let mut sorted = Self {
            path: input.path.clone(),
            reader: BufReader::with_capacity(BUFFER, reader),
            file,
            separator: set.separator().byte(),
            is_counted: set.count,
            operation: set.operation,
            now: Line::default(),
            ahead: None,
            text: Vec::new(),
            position: LinePosition::default(),
        };
        if is_table {
            let hint = Some("write a sorted list of it with dedup --order sorted");
            return Err(SetError {
                hint,
                ..sorted.fault("format", "is a table, not a sorted list")
            });
        }
        // A set that is no sorted list at all mostly fails here, before any key is written.
        sorted.ahead = sorted.next_line()?;
        Ok(sorted)
    }

    /// The current key.
    pub(crate) fn key(&self) -> &[u8] {
        &self.now.key
    }

    /// The sum of its counts and those of other sets.
    ///
    /// # Errors
    ///
    /// There is no such number.
    pub(crate) fn add_to(&self, others: u64) -> Result<u64, SetError> {
        self.sum(others, &self.now)
    }

    /// Adds the count of a line to that of its key. A sum that stopped at the greatest number would look like
    /// a true one.
    fn sum(&self, count: u64, line: &Line) -> Result<u64, SetError> {
        count.checked_add(line.count).ok_or_else(|| {
            let why = format!(
                "line {} makes the sum of the counts greater than {}: {}",
                line.number,
                u64::MAX,
                UrlExcerpt(&line.key)
            );
            self.fault_at(line.start, "count", &why)
        })
    }

    /// Moves on to the next key, and returns whether there is one.
    ///
    /// # Errors
    ///
    /// The problem with the line that could not be read, in printable words.
    pub(crate) fn advance(&mut self) -> Result<bool, SetError> {
        let Some(now) = self.ahead.take() else {
            // A file that changed while it was read may have lost keys, and shows it only now.
            if let Some(file) = &self.file {
                file.verify().map_err(|error| error.to_string())?;
            }
            return Ok(false);
        };
        self.now = now;
        while let Some(next) = self.next_line()? {
            match next.key.cmp(&self.now.key) {
                Ordering::Equal => self.now.count = self.sum(self.now.count, &next)?,
                Ordering::Greater => {
                    self.ahead = Some(next);
                    break;
                }
                Ordering::Less => return Err(self.out_of_order(&next.key)),
            }
        }
        Ok(true)
    }

    /// The next line that is not empty.
    fn next_line(&mut self) -> Result<Option<Line>, SetError> {
        while self.read()? {
            if self.text.is_empty() {
                continue;
            }
            let LinePosition { number, start, .. } = self.position;
            if !self.is_counted {
                let key = std::mem::take(&mut self.text);
                return Ok(Some(Line { key, count: 1, number, start }));
            }
            let Some((count, key)) = counted(&self.text) else {
                let why = "is not a count, a tab and a URL, as `dedup --count --order sorted` writes them";
                return Err(self.fault("count", &self.about_line(why)));
            };
            return Ok(Some(Line { key: key.to_vec(), count, number, start }));
        }
        Ok(None)
    }

    /// Reads a line without its ending, and returns whether there is one. The last line of a list that grew
    /// meanwhile is left out: half a key may be another key.
    fn read(&mut self) -> Result<bool, SetError> {
        self.text.clear();
        // A file without line ends would else be read into memory as a whole.
        let mut limited = self.reader.by_ref().take(LONGEST);
        let read = limited.read_until(self.separator, &mut self.text);
        let read = read.map_err(|error| self.failed(error))?;
        if read == 0 {
            return Ok(false);
        }
        self.position.advance(read as u64);
        if self.text.last() == Some(&self.separator) {
            self.text.pop();
            // With NUL as the separator, a CR is a byte of the key.
            if self.separator == b'\n' && self.text.last() == Some(&b'\r') {
                self.text.pop();
            }
        } else if read as u64 == LONGEST {
            return Err(self.fault("too-long", &self.about_line("is longer than any URL")));
        } else if self.reader.get_ref().get_ref().1.grew() {
            eprint_message(self.fault("cut", LEFT_OUT).text);
            return Ok(false);
        }
        Ok(true)
    }

    /// The message for an error after the bytes that were read.
    fn failed(&self, error: io::Error) -> SetError {
        let offset = self.position.end + self.text.len() as u64;
        let (_, unpacked) = self.reader.get_ref().get_ref();
        let trouble = unpacked.trouble(error);
        InputError::new(&self.path, Some(offset), trouble).to_string().into()
    }

    /// The message for a line that does not sort after the one before it.
    fn out_of_order(&self, key: &[u8]) -> SetError {
        // Lines with counts are sorted by key and not by their own bytes, so they are the usual cause.
        let hint = match counted(key) {
            Some(_) if !self.is_counted && self.operation == Operation::Union => {
                "add up lines of --count with union --count"
            }
            Some(_) if !self.is_counted => "take the counts off with cut -f 2-",
            _ => "sort it with dedup --order sorted or LC_ALL=C sort",
        };
        let why = format!(
            "line {} is not sorted by bytes: {} comes after {}",
            self.position.number,
            UrlExcerpt(key),
            UrlExcerpt(&self.now.key),
        );
        SetError { hint: Some(hint), ..self.fault("order", &why) }
    }

    fn about_line(&self, what: &str) -> String {
        format!("line {} {what}: {}", self.position.number, UrlExcerpt(&self.text))
    }

    fn fault(&self, code: &str, why: &str) -> SetError {
        self.fault_at(self.position.start, code, why)
    }

    fn fault_at(&self, start: u64, code: &str, why: &str) -> SetError {
        format!("{}@{start}: {code}: {why}", Printable::path(&self.path)).into()
    }
}

/// Splits a line into a count and the text after its tab.
fn counted(line: &[u8]) -> Option<(u64, &[u8])> {
    let tab = memchr::memchr(b'\t', line)?;
    let digits = std::str::from_utf8(&line[..tab]).ok()?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| is_number)?, &line[tab + 1..]))
}
