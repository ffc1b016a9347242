//! Extracts columns beside a record's URL: those of `--carry`, and the one that `--keep max:COL` compares.
//!
//! The input is the relevant lines of a chunk, in order, including headers, which give the
//! positions of the columns in later lines. The output is the values of the columns. This parses a
//! record a second time, so reading costs nothing if no column is carried.

use std::ops::Range;
use std::path::Path;

use super::columns::{ColumnName, Columns, find_all};
use super::logged::{LogColumn, LogColumns, place_of};
use super::part::Value;
use super::{Cdx, Context, Csv, Extended, Format, Tsv, cdx, cdxj, json};
use super::{NULL, READS_TABLES, RowBatch, Wrapped};
use uniqurl::internal::{AllocError, alloc};
use uniqurl_text::{Excerpt, HIDDEN, UrlExcerpt, redact, redact_query, redact_record};

/// The values of one record's columns. Reused from record to record.
#[derive(Debug, Default)]
pub struct Values {
    bytes: Vec<u8>,
    places: Vec<Option<Range<usize>>>,
    /// True if memory ran out for one of the values.
    lacks: bool,
}

impl Values {
    fn clear(&mut self) {
        self.bytes.clear();
        self.places.clear();
        self.lacks = false;
    }

    fn push(&mut self, value: Option<&[u8]>) {
        self.lacks |= self.try_push(value).is_err();
    }

    fn try_push(&mut self, value: Option<&[u8]>) -> Result<(), AllocError> {
        let bytes = value.unwrap_or_default();
        alloc::try_reserve(&mut self.bytes, bytes.len())?;
        alloc::try_reserve(&mut self.places, 1)?;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.places.push(value.map(|_| start..self.bytes.len()));
        Ok(())
    }

    /// Notes that memory ran out for one of the values.
    pub(super) fn fail(&mut self) {
        self.lacks = true;
    }

    /// An error if memory ran out for any of the values.
    fn are_whole(&self) -> Result<(), AllocError> {
        if self.lacks { Err(AllocError) } else { Ok(()) }
    }

    /// Sets the value of the n-th column, unless it has one.
    pub(super) fn fill(&mut self, n: usize, value: &[u8]) {
        if self.places[n].is_some() {
            return;
        }
        self.lacks |= alloc::try_reserve(&mut self.bytes, value.len()).is_err();
        if !self.lacks {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(value);
            self.places[n] = Some(start..self.bytes.len());
        }
    }

    /// The value of the n-th column, if the record has one.
    pub fn get(&self, n: usize) -> Option<&[u8]> {
        Some(&self.bytes[self.places.get(n)?.clone()?])
    }
}

/// The columns to carry, and their positions in the records of a chunk.
#[derive(Debug)]
pub struct Carrier {
    from: CarrySource,
    /// For tables of text: the position of each column under the last header.
    places: Vec<Option<usize>>,
    /// For JSON and tables: whether each column is a query, or holds one.
    queries: Vec<bool>,
    buffer: Vec<u8>,
    /// The columns that logs have in common, if any of them is carried. They fill in where records have
    /// no column of that name.
    logged: Option<LogColumns>,
    /// The number of columns.
    count: usize,
    /// The envelope around each record, and a buffer for its text.
    wrapped: Option<(Wrapped, Vec<u8>)>,
}

#[derive(Debug)]
enum CarrySource {
    Cdx(Cdx, Vec<u8>),
    Cdxj(Vec<CdxjColumn>),
    Csv(Csv, Vec<ColumnName>),
    Extended(Extended, Vec<ColumnName>),
    Json(Vec<Vec<Vec<u8>>>),
    Table(Vec<usize>),
    Tsv(Tsv, Vec<ColumnName>),
    Nothing,
}

impl CarrySource {
    /// The position of each column under the last header.
    fn places(&self) -> Vec<Option<usize>> {
        match self {
            CarrySource::Csv(csv, names) => find_all(names, csv.header()),
            CarrySource::Extended(extended, names) => find_all(names, extended.header()),
            CarrySource::Tsv(tsv, names) => find_all(names, tsv.header()),
            _ => Vec::new(),
        }
    }
}

/// A column of a CDXJ line.
#[derive(Debug)]
struct CdxjColumn {
    pointer: Vec<Vec<u8>>,
    /// Index of the field before the object to use if the object has no such member.
    before: Option<usize>,
}

/// The fields of a CDXJ line before its object.
const BEFORE: [&str; 2] = ["urlkey", "timestamp"];

/// The list of formats with columns, for error messages.
const SUCH: &str = "csv:COL, tsv:COL, json:POINTER, cdx, cdxj, w3c, cloudfront, parquet:COL, \
     arrow:COL and access logs";

/// True if a format may have the columns that logs have in common. Tables with a header and indexes have
/// names of their own.
fn fills_in(format: &Format) -> bool {
    match format {
        Format::Tsv(tsv) => tsv.is_fixed(),
        Format::Csv(_) | Format::Table(_) | Format::Wrapped(_) => false,
        Format::Cdx(_) | Format::Cdxj(_) => false,
        format => LogColumn::ALL.iter().any(|column| column.is_in(format)),
    }
}

/// The reason why a log has no column of a name.
fn lacks(format: &Format) -> String {
    let names = LogColumn::ALL.iter().filter(|column| column.is_in(format));
    let names: Vec<_> = names.map(|column| column.name()).collect();
    format!("{} has no such column: its columns are {}", format.name(), names.join(", "))
}

/// The format with these columns to carry.
///
/// # Errors
///
/// A message that says why the format cannot carry them.
pub fn carrying(format: &Format, columns: &[String]) -> Result<Format, String> {
    let name = format.name();
    let wrong = |column: &str, why: &str| {
        Err(format!("column {}: {why}", uniqurl_text::Printable::path(Path::new(column))))
    };
    for column in columns {
        if column.is_empty() {
            return wrong(column, "a column has a name or a number");
        }
        if fills_in(format) && LogColumn::named(column).is_some_and(|named| named.is_in(format)) {
            continue;
        }
        match format {
            Format::Cdx(_) => {
                if letter(column).is_none() {
                    return wrong(
                        column,
                        "cdx has no such column: its columns are the letters of the legend, or \
                         urlkey, timestamp, url, mime, status, digest, redirect, robotflags, \
                         length, offset and filename, of 14 also orig.length, orig.offset and \
                         orig.filename",
                    );
                }
            }
            Format::Json(_) | Format::Cdxj(_) => {
                if let Err(why) = json::tokens(column) {
                    return wrong(column, why);
                }
            }
            Format::Csv(Csv { columns: of_url, .. }) | Format::Tsv(Tsv { columns: of_url, .. }) => {
                match ColumnName::parse(column) {
                    Err(why) => return wrong(column, why),
                    Ok(ColumnName::Header(_)) if fills_in(format) => {
                        return wrong(column, &lacks(format));
                    }
                    Ok(ColumnName::Header(_)) if !of_url.need_header() => {
                        let why = format!(
                            "{name} takes the first line for a record, so columns have only numbers"
                        );
                        return wrong(column, &why);
                    }
                    Ok(_) => {}
                }
            }
            Format::Extended(_) => {}
            // Below.
            Format::Wrapped(_) => {}
            Format::Table(_) => {
                if let Err(why) = ColumnName::parse(column) {
                    return wrong(column, why);
                }
            }
            _ if fills_in(format) => return wrong(column, &lacks(format)),
            _ => {
                return wrong(column, &format!("{name} has no columns with names, as {SUCH} have"));
            }
        }
    }
    Ok(match format {
        Format::Table(table) => Format::Table(table.carrying(columns)),
        Format::Wrapped(wrapped) => {
            Format::Wrapped(Box::new(wrapped.with(carrying(wrapped.format(), columns)?)))
        }
        format => format.clone(),
    })
}

/// Maximum number of a header's columns to list in a message.
const LISTED: usize = 40;

/// Finds the first header in a chunk that lacks one of `columns` or of the columns in the format's
/// name, and returns the error message. `format` is the format at the start of the chunk.
pub fn missing(format: &Format, ctx: &Context, chunk: &[u8], columns: &[String]) -> Option<String> {
    let lacking = |names: &[ColumnName], header: &[Vec<u8>]| {
        let mut places = names.iter().zip(find_all(names, header));
        let lacks = |column: Option<usize>| column.is_none_or(|column| column >= header.len());
        let (lacking, _) = places.find(|(_, column)| lacks(*column))?;
        // A URL may stand in the place of a name: on the command line, or in a first row that is no header.
        let shown = |name: &[u8]| match name.iter().any(|byte| b"/:@=".contains(byte)) {
            true => UrlExcerpt(name).to_string(),
            false => Excerpt(name).to_string(),
        };
        let column = match lacking {
            ColumnName::Number(number) => (number + 1).to_string(),
            ColumnName::Header(name) => shown(name),
        };
        if READS_TABLES && let Some(kind) = super::Container::of(chunk).map(super::Container::name)
        {
            return Some(format!("it is a table of the format {kind}"));
        }
        if let Some(why) = super::unsupported::refusal(chunk) {
            return Some(format!("it has no column `{column}`: {why}"));
        }
        let mut listed: Vec<_> = header.iter().take(LISTED).map(|name| shown(name)).collect();
        if header.len() > LISTED {
            listed.push(format!("{} more", header.len() - LISTED));
        }
        Some(format!("it has no column `{column}`: its columns are {}", listed.join(", ")))
    };
    let named = |own: &Columns| -> Vec<ColumnName> {
        let carried = columns.iter().filter_map(|column| ColumnName::parse(column).ok());
        own.names().cloned().chain(carried).collect()
    };
    match format {
        Format::Csv(csv) => lacking(&named(&csv.columns), csv.after(ctx, chunk)?.header()),
        Format::Tsv(tsv) => lacking(&named(&tsv.columns), tsv.after(ctx, chunk)?.header()),
        // A column that a `#Fields:` line does not list is missing from the records after it.
        Format::Extended(extended) if !columns.is_empty() => {
            extended.headers(ctx, chunk).find_map(|header| {
                let fills_in = |name: &&String| {
                    let column = LogColumn::named(name);
                    column.is_some_and(|column| place_of(column, &header).is_some())
                };
                let names = columns.iter().filter(|name| !fills_in(name));
                let names = names.map(|name| ColumnName::Header(name.as_bytes().to_vec()));
                lacking(&names.collect::<Vec<_>>(), &header)
            })
        }
        Format::Wrapped(wrapped) => wrapped.missing(ctx, chunk, columns),
        _ => None,
    }
}

impl Carrier {
    /// Prepares to read `columns` from records of `format`, after [`carrying`] has accepted them.
    pub fn new(format: &Format, columns: &[String]) -> Self {
        if let Format::Wrapped(wrapped) = format {
            let wrapper = Some(((**wrapped).clone(), Vec::new()));
            return Self { wrapped: wrapper, ..Self::new(wrapped.format(), columns) };
        }
        let names = || columns.iter().filter_map(|column| ColumnName::parse(column).ok()).collect();
        let pointers = || columns.iter().filter_map(|column| json::tokens(column).ok());
        let from = match format {
            Format::Cdx(cdx) => CarrySource::Cdx(
                cdx.clone(),
                columns.iter().filter_map(|column| letter(column)).collect(),
            ),
            Format::Cdxj(_) => {
                let member = |(pointer, column): (_, &String)| CdxjColumn {
                    pointer,
                    before: BEFORE.iter().position(|name| name == column),
                };
                CarrySource::Cdxj(pointers().zip(columns).map(member).collect())
            }
            Format::Json(_) => CarrySource::Json(pointers().collect()),
            Format::Csv(csv) => CarrySource::Csv(csv.clone(), names()),
            Format::Tsv(tsv) => CarrySource::Tsv(tsv.clone(), names()),
            Format::Extended(extended) => {
                let names = columns.iter().map(|name| ColumnName::Header(name.as_bytes().to_vec()));
                CarrySource::Extended(extended.clone(), names.collect())
            }
            Format::Table(table) => CarrySource::Table(table.carried().to_vec()),
            _ => CarrySource::Nothing,
        };
        let queries = match (format, &from) {
            (Format::Json(json), CarrySource::Json(pointers)) => {
                pointers.iter().map(|pointer| json.is_query(pointer)).collect()
            }
            (Format::Table(table), CarrySource::Table(cells)) => {
                cells.iter().map(|cell| table.is_query(*cell)).collect()
            }
            _ => Vec::new(),
        };
        let fill_in = |(n, name): (usize, &String)| Some((n, LogColumn::named(name)?));
        let logged: Vec<_> = match fills_in(format) {
            true => columns.iter().enumerate().filter_map(fill_in).collect(),
            false => Vec::new(),
        };
        let logged = (!logged.is_empty()).then(|| LogColumns::new(format, logged));
        let (buffer, count) = (Vec::new(), columns.len());
        let places = from.places();
        Self { from, places, queries, buffer, logged, count, wrapped: None }
    }

    /// Prepares to read the agent alone, where the format says that it is.
    pub(super) fn of_agent(format: &Format) -> Self {
        if let Format::Wrapped(wrapped) = format {
            let wrapper = Some(((**wrapped).clone(), Vec::new()));
            return Self { wrapped: wrapper, ..Self::of_agent(wrapped.format()) };
        }
        let logged = Some(LogColumns::new(format, vec![(0, LogColumn::Agent)]));
        let (from, places, queries) = (CarrySource::Nothing, Vec::new(), Vec::new());
        Self { from, places, queries, buffer: Vec::new(), logged, count: 1, wrapped: None }
    }

    /// Appends the value of the n-th column of the last record read, with possible secrets hidden.
    pub fn mask(&self, n: usize, value: &[u8], out: &mut Vec<u8>) {
        let place = self.places.get(n).copied().flatten();
        let is_query = match &self.from {
            CarrySource::Csv(csv, _) => place.is_some_and(|column| csv.is_query(column)),
            CarrySource::Tsv(tsv, _) => place.is_some_and(|column| tsv.is_query(column)),
            CarrySource::Extended(extended, _) => {
                place.is_some_and(|column| extended.is_query(column))
            }
            _ => self.queries.get(n) == Some(&true),
        };
        let is_json = matches!(self.from, CarrySource::Json(_) | CarrySource::Cdxj(_));
        match is_json && matches!(value, [b'{' | b'[', ..]) {
            // The query is not located within the value, so all of it is hidden.
            true if is_query => out.extend_from_slice(HIDDEN.as_bytes()),
            true => redact_record(value, out),
            // A dash stands for a missing query.
            false if is_query && value != b"-" => redact_query(value, out),
            false => redact(value, out),
        }
    }

    /// Applies a line that is not a record, such as a header.
    pub fn pass(&mut self, line: &[u8]) {
        let line = match &mut self.wrapped {
            Some((wrapped, buffer)) => wrapped.text_of(line, buffer),
            None => line,
        };
        match &mut self.from {
            CarrySource::Cdx(cdx, _) => cdx.take(line),
            CarrySource::Csv(csv, _) => csv.take_header(line),
            CarrySource::Extended(extended, _) => extended.take(line),
            CarrySource::Tsv(tsv, _) => tsv.take_header(line),
            CarrySource::Cdxj(_) | CarrySource::Json(_) | CarrySource::Nothing => {}
            CarrySource::Table(_) => {}
        }
        self.places = self.from.places();
        if let Some(logged) = &mut self.logged {
            logged.pass(line);
        }
    }

    /// Reads the columns of a record into `out`.
    pub fn values(&mut self, line: &[u8], out: &mut Values) -> Result<(), AllocError> {
        out.clear();
        let line = match &mut self.wrapped {
            Some((wrapped, buffer)) => wrapped.text_of(line, buffer),
            None => line,
        };
        match &self.from {
            CarrySource::Cdx(cdx, letters) => {
                let (delimiter, legend) = cdx.columns(line);
                for letter in letters {
                    let column = legend.iter().position(|other| other == letter);
                    let mut fields = line.split(|byte| *byte == delimiter);
                    out.push(column.and_then(|column| fields.nth(column)));
                }
            }
            CarrySource::Cdxj(members) => {
                let object = cdxj::object(line).unwrap_or_default();
                let pointers = members.iter().map(|member| &member.pointer);
                let mut members = members.iter();
                json::carry(object, pointers, &mut self.buffer, |value| {
                    let before = members.next().and_then(|member| member.before);
                    let field = || line.split(|byte| *byte == b' ').nth(before?);
                    out.push(value.or_else(field));
                });
            }
            CarrySource::Json(pointers) => {
                json::carry(line, pointers, &mut self.buffer, |value| out.push(value));
            }
            CarrySource::Csv(csv, _) => {
                let fields = csv.fields(line);
                let fields: Vec<&[u8]> = fields.iter().map(Value::bytes).collect();
                take(&self.places, &fields, out);
            }
            CarrySource::Tsv(..) => {
                let fields: Vec<&[u8]> = line.split(|byte| *byte == b'\t').collect();
                take(&self.places, &fields, out);
            }
            CarrySource::Extended(extended, _) => extended.fields(line, |_, fields| {
                let fields: Vec<&[u8]> = fields.iter().map(Value::bytes).collect();
                take(&self.places, &fields, out);
            }),
            CarrySource::Nothing => (0..self.count).for_each(|_| out.push(None)),
            CarrySource::Table(_) => {}
        }
        out.are_whole()?;
        if let Some(logged) = &mut self.logged {
            logged.fill(line, out);
        }
        out.are_whole()
    }

    /// Reads the columns of a table's row into `out`.
    pub fn row(
        &self,
        chunk: &[u8],
        rows: &RowBatch,
        row: usize,
        out: &mut Values,
    ) -> Result<(), AllocError> {
        out.clear();
        let CarrySource::Table(carried) = &self.from else { return Ok(()) };
        let cells = &rows.cells[row * rows.width..][..rows.width];
        for cell in carried {
            out.push(Some(cells[*cell]).filter(|cell| *cell != NULL).map(|cell| cell.of(chunk)));
        }
        out.are_whole()
    }
}

fn take(places: &[Option<usize>], fields: &[&[u8]], out: &mut Values) {
    for place in places {
        out.push(place.and_then(|column| fields.get(column).copied()));
    }
}

/// The letter of a column in a legend.
fn letter(column: &str) -> Option<u8> {
    if let [letter @ (b'a'..=b'z' | b'A'..=b'Z')] = column.as_bytes() {
        return Some(*letter);
    }
    let named = cdx::NAMES.iter().find(|(_, names)| names.contains(&column));
    named.map(|(letter, _)| *letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::internal::alloc::failing::{self, Plan};

    #[test]
    fn failed_allocation_of_a_value_is_an_error() {
        let mut values = Values::default();
        failing::follow(Some(Plan::at(0, false)));
        values.push(Some(b"a"));
        failing::follow(None);
        assert_eq!(values.are_whole(), Err(AllocError));
        values.clear();
        values.push(Some(b"a"));
        assert_eq!((values.are_whole(), values.get(0)), (Ok(()), Some(&b"a"[..])));
    }
}
