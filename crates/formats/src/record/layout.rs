//! The interface of a layout: how records are written, and what each of them holds.
//!
//! In: chunks of whole records. Out: a [`Record`](super::Record) for each, and other parts of it where they
//! are asked for. A layout says nothing about other layouts, and [`Format`](super::Format) is a handle to one.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::columns::{Column, ColumnKey, Columns, Header, Lacking};
use super::fields::Fields;
use super::json::pointers::Pointers;
use super::line::{self, Line};
use super::part::{PartSet, Value};
use super::{Context, Extracted, Framing, Records, Separator};

/// How the records of an input are written. A layout has a name and a reader, of lines ([`found`](Self::found)) or
/// of chunks ([`read`](Self::read)); without more, its records are lines with nothing in them beside the URL.
///
/// A new layout is one file with an implementation of this, and one line in the list of layouts.
pub trait Layout: fmt::Debug + Send + Sync {
    /// The name that [`Format::parse`](super::Format::parse) accepts.
    fn name(&self) -> Cow<'_, str>;

    /// Appends one record to `out` for each line of `chunk`, in order. For `lines`, a line ends in
    /// [`Context::separator`]; for `csv`, a record may span lines; for `text`, each URL is a
    /// record. Archives and tables are not lines and yield nothing here.
    ///
    /// A chunk holds whole lines and is shorter than 4 GiB; its last line may lack its line feed.
    /// It is read as the start of an input: use the format that
    /// [`Format::after`](super::Format::after) returns for the next chunk.
    fn read(&self, ctx: &Context, chunk: &[u8], out: &mut Records) {
        line::each(ctx, 0, chunk, out, |line, scratch| {
            // A layout without `found` has a `read` of its own, so no line gets lost here.
            self.found(ctx, line, scratch).unwrap_or(Extracted::Skipped)
        });
    }

    /// The content of one line, which is neither blank nor too long. None if the layout reads chunks alone: its
    /// records are no lines, or it finds the fields of many lines at once.
    ///
    /// Implementations are inlined into [`read`](Self::read) of the same layout, since a content returned from a
    /// call goes through memory.
    #[doc(hidden)]
    fn found(&self, _ctx: &Context, _line: Line<'_>, _out: &mut Vec<u8>) -> Option<Extracted> {
        None
    }

    /// The parts of a record that are read beside its URL. Tables name their own columns, so of their rows
    /// only what a filter asks for.
    fn parts(&self) -> PartSet {
        self.columns().map_or(PartSet::NONE, Columns::parts)
    }

    /// The parts by which filters can judge the records.
    fn facts(&self) -> PartSet {
        self.parts()
    }

    /// Reads the parts of a record that `out` wants. The record has no envelope.
    #[doc(hidden)]
    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let Some(header) = self.header().and_then(Header::layout) else { return };
        let values = self.values(line);
        out.read_parts(|part, take| {
            let value = header.column_of(part).and_then(|column| values.get(column));
            value.cloned().into_iter().for_each(|value| take(value.into_cow()));
        });
    }

    /// True if records can hold a query in a field of its own, without a `?`.
    fn has_queries(&self) -> bool {
        self.columns().is_some_and(Columns::have_queries)
    }

    /// True for JSON formats, where a byte-order mark at the start of an input does not belong to
    /// the first record (RFC 8259 section 8.1: parsers "MAY ignore the presence of a byte order mark").
    fn is_json(&self) -> bool {
        false
    }

    /// How to cut an input of this format into records.
    fn framing(&self) -> Framing {
        Framing::Lines
    }

    /// The byte after which an input of this format may be cut: the separator, unless the format has
    /// its own.
    fn separator(&self, separator: Separator) -> u8 {
        separator.byte()
    }

    /// Length of the records at the start of `lines` (whole lines) that are complete whatever
    /// follows. This is all of it except for formats whose records may span lines.
    fn whole(&self, _ctx: &Context, lines: &[u8]) -> usize {
        lines.len()
    }

    /// True if [`Format::after`](super::Format::after) can return another format, or [`whole`](Self::whole)
    /// less than everything. Such a format needs its chunks examined in order before they are read.
    /// Otherwise any chunk can be read by itself.
    fn looks_back(&self) -> bool {
        false
    }

    /// The layout of the input after `chunk`, if a header in the chunk changes it.
    #[doc(hidden)]
    fn following(&self, _ctx: &Context, _chunk: &[u8]) -> Option<Arc<dyn Layout>> {
        None
    }

    /// True if each record is a line, or can be one, so that it may stand in an
    /// [envelope](super::Format::Wrapped).
    fn fits_envelopes(&self) -> bool {
        true
    }

    /// True if `refusal` may reject an input of this format.
    fn may_refuse(&self) -> bool {
        false
    }

    /// Whether a line shows by itself that it has this layout. None if `auto` never looks for it; false for all
    /// lines if it looks for something else, such as a header.
    #[doc(hidden)]
    fn fits(&self, _line: &[u8]) -> Option<bool> {
        None
    }

    /// True if the user names a column or a member. He may have counted from the start of the line, so that
    /// an envelope is less likely.
    #[doc(hidden)]
    fn names_place(&self) -> bool {
        self.columns().is_some()
    }

    /// True if it reads a line after a header of syslog as well as without, and faster so.
    #[doc(hidden)]
    fn reads_past_headers(&self) -> bool {
        false
    }

    /// True if a record can be copied from one file to another by itself: it has bytes of its own, and no others
    /// belong to it but a header.
    fn has_whole_records(&self) -> bool {
        true
    }

    /// True if headers may stand anywhere, and describe the lines after them until the next.
    fn has_directives(&self) -> bool {
        false
    }

    /// True if a record is less than its line.
    #[doc(hidden)]
    fn is_within_lines(&self) -> bool {
        false
    }

    /// The columns that the user chose, if it is a table.
    #[doc(hidden)]
    fn columns(&self) -> Option<&Columns> {
        None
    }

    /// The last header, or the places of its columns if they are known without one.
    #[doc(hidden)]
    fn header(&self) -> Option<&Header> {
        None
    }

    /// The header in a chunk, if it has yet to be read.
    #[doc(hidden)]
    fn header_in(&self, _ctx: &Context, _chunk: &[u8]) -> Option<Header> {
        None
    }

    /// The values of the columns of a record, as they are carried.
    #[doc(hidden)]
    fn values<'a>(&self, _line: &'a [u8]) -> Vec<Value<'a>> {
        Vec::new()
    }

    /// The parts that logs have in common and that are columns here under their common names. Tables with a
    /// header and indexes have names of their own.
    #[doc(hidden)]
    fn common_columns(&self) -> PartSet {
        if self.columns().is_some() { PartSet::NONE } else { self.parts() }
    }

    /// The column that the format itself has under this name. None if it has no columns of its own.
    #[doc(hidden)]
    fn column(&self, name: &str) -> Result<Option<ColumnKey>, String> {
        self.columns().map(|columns| columns.column(name, &self.name())).transpose()
    }

    /// Passes the value of each column in a record to `take`, in order. For JSON, `pointers` lead to the columns.
    #[doc(hidden)]
    fn cells(
        &self,
        line: &[u8],
        columns: &[Column],
        _pointers: &Pointers,
        take: &mut dyn FnMut(Option<&[u8]>),
    ) {
        let values = self.values(line);
        for column in columns {
            take(column.place.and_then(|place| values.get(place)).map(Value::bytes));
        }
    }

    /// True if a column holds queries without their `?`.
    #[doc(hidden)]
    fn is_query(&self, column: &Column) -> bool {
        self.header().is_some_and(|header| header.is_query(column))
    }

    /// The first header in a chunk that lacks one of the columns that are asked for or that the URL is made of,
    /// and that column.
    #[doc(hidden)]
    fn lacking(&self, ctx: &Context, chunk: &[u8], asked: &[String]) -> Option<Lacking> {
        self.columns()?.lacking(&self.header_in(ctx, chunk)?, asked)
    }
}

/// Layouts of one name are equal.
impl PartialEq for dyn Layout {
    fn eq(&self, other: &Self) -> bool {
        // The name has all that a user chose in it. What was read since, such as a header, makes no
        // other format.
        self.name() == other.name()
    }
}

impl Eq for dyn Layout {}
