//! A piece of a column: its canonical forms, and the codes of its rejects.
//!
//! The plain loop: normalize each value, append it to a new column. Here nothing is copied before
//! the first value that changes; from there on, each run of values between two that change is
//! copied as a whole. A column of views is not copied at all: views of changed values point into a
//! new buffer.
//!
//! A third of the time goes to the first touch of fresh pages. Rejected: huge pages (13 ns of
//! kernel time a URL in place of 25, but 170 where the kernel has to make room for them first), and
//! pieces of a quarter of the rows, whose check for UTF-8 would find them in the L2 cache (no
//! difference).

use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;

use arrow_array::builder::{StringBuilder, make_view};
use arrow_array::cast::AsArray;
use arrow_array::types::{ByteArrayType, ByteViewType};
use arrow_array::{
    Array, ArrayRef, GenericByteArray, GenericByteViewArray, OffsetSizeTrait, new_null_array,
};
use arrow_buffer::{BooleanBufferBuilder, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::DataType;
use pyo3::PyResult;
use uniqurl::internal::{Scratch, Span};
use uniqurl::{Reject, RejectReason, RejectReasons};
use uniqurl_engine::output::Tally;

use crate::interrupt::go_on;
use crate::rules::Rules;
use crate::values::{arc, fault};

/// Rows of a piece: enough to make its overhead negligible, few enough to give all threads work.
pub const ROWS: usize = 1 << 17;

/// Rows processed together: their spans stay in the L1 cache.
const BLOCK: usize = 1024;

/// Bytes of a block without its last value. `stop` is checked between blocks, and this many bytes
/// of the slowest URLs take a second.
const BLOCK_BYTES: usize = 1 << 20;

/// The result of a piece.
pub struct Done {
    pub outcome: Outcome,
    pub tally: Tally,
}

/// The rows of a piece after normalizing.
pub enum Outcome {
    /// Unchanged, and none is rejected.
    Same,
    /// The new columns.
    Changed { canonical: ArrayRef, reject: ArrayRef },
}

/// The result of a value.
enum Value<'a> {
    /// It is its own canonical form.
    Same,
    New(&'a [u8]),
    /// It is rejected or blank.
    None,
    /// It was null before. The bytes of a null may be anything, even bytes that no value may hold.
    Null,
}

/// Normalizes a piece of any type but a dictionary, and fails once it is to `stop`. As in a table, a null is blank, and so is a
/// value of spaces and tabs only.
pub fn normalize(rules: &Rules, array: &ArrayRef, stop: &AtomicBool) -> PyResult<Done> {
    match array.data_type() {
        DataType::Utf8 => of_bytes(rules, array.as_string::<i32>(), stop),
        DataType::LargeUtf8 => of_bytes(rules, array.as_string::<i64>(), stop),
        DataType::Binary => of_bytes(rules, array.as_binary::<i32>(), stop),
        DataType::LargeBinary => of_bytes(rules, array.as_binary::<i64>(), stop),
        DataType::Utf8View => of_views(rules, array.as_string_view(), stop),
        DataType::BinaryView => of_views(rules, array.as_binary_view(), stop),
        // All other types were refused before, so this is a column of nulls.
        _ => {
            let mut tally = Tally::default();
            (0..array.len()).for_each(|_| tally.blank());
            Ok(Done { outcome: Outcome::Same, tally })
        }
    }
}

/// Rows without a canonical form, and the counts.
pub struct Losses {
    pub tally: Tally,
    /// Rows, in order, that are null in the answer but not in the piece.
    nulls: Vec<usize>,
    /// Rejected rows, in order.
    rejects: Vec<(usize, Told)>,
}

/// The codes of a rejected row, the first one first.
#[derive(Clone, Copy, PartialEq)]
struct Told {
    first: RejectReason,
    all: RejectReasons,
}

impl Losses {
    pub fn new() -> Self {
        Self { tally: Tally::default(), nulls: Vec::new(), rejects: Vec::new() }
    }

    pub fn reject(&mut self, row: usize, first: RejectReason, all: RejectReasons) {
        self.tally.reject(all);
        self.nulls.push(row);
        self.rejects.push((row, Told { first, all }));
    }

    /// The rows that have a value in the answer.
    fn validity(&self, rows: usize, before: Option<&NullBuffer>) -> Option<NullBuffer> {
        if self.nulls.is_empty() {
            return before.cloned();
        }
        let mut bits = BooleanBufferBuilder::new(rows);
        match before {
            Some(nulls) => bits.append_buffer(nulls.inner()),
            None => bits.append_n(rows, true),
        }
        self.nulls.iter().for_each(|row| bits.set_bit(*row, false));
        Some(NullBuffer::new(bits.finish()))
    }

    /// The column `reject`: codes between commas.
    fn column(&self, rows: usize) -> ArrayRef {
        if self.rejects.is_empty() {
            return no_rejects(rows);
        }
        // A code takes about eight bytes.
        let mut column = StringBuilder::with_capacity(rows, self.rejects.len() * 8);
        let mut at = 0;
        for (row, told) in &self.rejects {
            column.append_nulls(row - at);
            column.append_value(told.text());
            at = row + 1;
        }
        column.append_nulls(rows - at);
        arc(column.finish())
    }

    pub fn changed(self, canonical: ArrayRef, rows: usize) -> Done {
        let reject = self.column(rows);
        Done { outcome: Outcome::Changed { canonical, reject }, tally: self.tally }
    }
}

impl Told {
    fn text(&self) -> String {
        let mut text = self.first.name().to_owned();
        for code in self.all.iter().filter(|code| *code != self.first) {
            text.push(',');
            text.push_str(code.name());
        }
        text
    }
}

/// Whether a record of these bytes is blank.
fn is_blank(url: &[u8]) -> bool {
    match url.first() {
        None => true,
        Some(b' ' | b'\t') => url.iter().all(|byte| matches!(byte, b' ' | b'\t')),
        Some(_) => false,
    }
}

/// A block of values in one buffer.
struct Block<'a> {
    bytes: &'a [u8],
    spans: &'a mut [Span],
    /// The row of the first value.
    row: usize,
    nulls: Option<&'a NullBuffer>,
}

/// Finds the results of the values of a block, and counts them.
#[inline(always)]
fn judge(
    rules: &Rules,
    block: Block<'_>,
    scratch: &mut Scratch,
    losses: &mut Losses,
    mut visit: impl FnMut(usize, Value<'_>),
) {
    let Block { bytes, spans, row: first, nulls } = block;
    let is_null = |row| nulls.is_some_and(|nulls| nulls.is_null(row));
    // Values that are not to be read, and their lengths.
    let mut unread = Vec::new();
    for (i, span) in spans.iter_mut().enumerate() {
        // An empty span costs the loop nothing. The bytes of a null may be no text, or not even there.
        if span.len() > rules.max_url || is_null(first + i) {
            unread.push((i, *span));
            span.end = span.start;
        }
    }
    let mut unread = unread.into_iter().peekable();
    let spans = &*spans;
    rules.normalizer.for_each(bytes, spans, scratch, |i, url| {
        let row = first + i;
        // Values come in order, so the first that is unread is this one or a later one.
        let too_long = unread.next_if(|(of, _)| *of == i);
        if is_null(row) {
            losses.tally.blank();
            return visit(row, Value::Null);
        }
        let value = too_long.map_or(spans[i], |(_, span)| span).of(bytes);
        // Only the end of a longer value would tell whether it is blank, so it is too long, as in the command.
        if value.len() <= rules.max_record() && is_blank(value) {
            losses.tally.blank();
            losses.nulls.push(row);
            return visit(row, Value::None);
        }
        let url = match too_long {
            Some(_) => Err((RejectReason::TooLong, RejectReason::TooLong.into())),
            None => url.map_err(|Reject { code, codes, .. }| (code, codes)),
        };
        match url {
            Ok(url) => {
                losses.tally.canonical();
                let url = url.as_bytes();
                // The library returns a clean URL where it lies, so its address tells without comparing bytes.
                visit(row, if std::ptr::eq(url, value) { Value::Same } else { Value::New(url) });
            }
            Err((first, all)) => {
                losses.reject(row, first, all);
                visit(row, Value::None);
            }
        }
    });
}

/// Values back to back: Arrow's `string` and `binary`.
fn of_bytes<T: ByteArrayType>(
    rules: &Rules,
    array: &GenericByteArray<T>,
    stop: &AtomicBool,
) -> PyResult<Done> {
    let (offsets, values) = (array.value_offsets(), array.value_data());
    let (new, losses) = rewritten(rules, offsets, values, array.nulls(), stop)?;
    let Some((offsets, values)) = new else {
        return Ok(Done { outcome: Outcome::Same, tally: losses.tally });
    };
    let nulls = losses.validity(array.len(), array.nulls());
    let canonical = GenericByteArray::<T>::try_new(offsets, values, nulls).map_err(fault)?;
    Ok(losses.changed(arc(canonical), array.len()))
}

/// Offsets and values, if any changed.
type NewValues<O> = Option<(OffsetBuffer<O>, Buffer)>;

/// The new offsets and values. Text and bytes share this function, since each copy of it takes long to
/// compile.
fn rewritten<O: OffsetSizeTrait>(
    rules: &Rules,
    offsets: &[O],
    values: &[u8],
    nulls: Option<&NullBuffer>,
    stop: &AtomicBool,
) -> PyResult<(NewValues<O>, Losses)> {
    let rows = offsets.len() - 1;
    let first = offsets[0].as_usize();
    let bytes = &values[first..offsets[rows].as_usize()];
    let mut new =
        Rewritten { bytes, old: offsets, values: Vec::new(), offsets: Vec::new(), kept: 0 };
    let (mut spans, mut scratch, mut losses) = (Vec::new(), Scratch::default(), Losses::new());
    // A value longer than 32 bits can express is alone in its piece, and is too long.
    let place = |offset: &O| u32::try_from(offset.as_usize() - first).unwrap_or(u32::MAX);
    let (mut row, mut is_same) = (0, true);
    while row < rows {
        go_on(stop)?;
        let ends = &offsets[row..=(row + BLOCK).min(rows)];
        let start = ends[0].as_usize();
        let fit = ends[1..].partition_point(|end| end.as_usize() - start <= BLOCK_BYTES).max(1);
        let ends = &ends[..=fit];
        spans.clear();
        spans.extend(
            ends.windows(2).map(|pair| Span { start: place(&pair[0]), end: place(&pair[1]) }),
        );
        let block = Block { bytes, spans: &mut spans, row, nulls };
        judge(rules, block, &mut scratch, &mut losses, |row, value| {
            // A blank or rejected value becomes null, which changes the column.
            is_same &= matches!(value, Value::Same | Value::Null);
            match value {
                Value::Same => new.keep(row),
                Value::New(url) => new.put(row, url),
                // A null that has bytes is emptied: they may be no text, and in a new
                // column all of them are checked.
                Value::Null if new.place(row) == new.place(row + 1) => new.keep(row),
                Value::None | Value::Null => new.put(row, b""),
            }
        });
        row += fit;
    }
    let new = (!is_same).then(|| new.finish());
    Ok((new, losses))
}

/// Values back to back, with some of them changed.
struct Rewritten<'a, O> {
    /// The original values, from the first one on.
    bytes: &'a [u8],
    /// The offsets of the original values.
    old: &'a [O],
    /// The new values, without the run of unchanged values in progress.
    values: Vec<u8>,
    /// The new offsets; empty until a value changes.
    offsets: Vec<O>,
    /// The start of that run in `bytes`.
    kept: usize,
}

impl<O: OffsetSizeTrait> Rewritten<'_, O> {
    fn is_same(&self) -> bool {
        self.offsets.is_empty()
    }

    /// The start of a row in `bytes`.
    fn place(&self, row: usize) -> usize {
        self.old[row].as_usize() - self.old[0].as_usize()
    }

    #[inline]
    fn keep(&mut self, row: usize) {
        if !self.is_same() {
            let end = self.values.len() + self.place(row + 1) - self.kept;
            self.offsets.push(O::usize_as(end));
        }
    }

    fn put(&mut self, row: usize, value: &[u8]) {
        if self.is_same() {
            self.offsets.reserve(self.old.len());
            // The offsets of a slice need not begin with 0, but those of the new values do.
            self.offsets.extend(self.old[..=row].iter().map(|offset| *offset - self.old[0]));
            // Most canonical forms are about as long as their URLs, so the buffer mostly grows once.
            self.values.reserve(self.bytes.len() + value.len());
        }
        self.values.extend_from_slice(&self.bytes[self.kept..self.place(row)]);
        self.values.extend_from_slice(value);
        self.kept = self.place(row + 1);
        self.offsets.push(O::usize_as(self.values.len()));
    }

    fn finish(mut self) -> (OffsetBuffer<O>, Buffer) {
        self.values.extend_from_slice(&self.bytes[self.kept..]);
        (OffsetBuffer::new(ScalarBuffer::from(self.offsets)), Buffer::from_vec(self.values))
    }
}

/// Views of values, each short enough to be in its view or somewhere in a buffer: Arrow's
/// `string_view` and `binary_view`, which Polars and DuckDB use.
fn of_views<T: ByteViewType>(
    rules: &Rules,
    array: &GenericByteViewArray<T>,
    stop: &AtomicBool,
) -> PyResult<Done> {
    let (views, buffers) = (array.views(), array.data_buffers());
    let (new, losses) = rewritten_views(rules, views, buffers, array.nulls(), stop)?;
    let Some((views, fresh)) = new else {
        return Ok(Done { outcome: Outcome::Same, tally: losses.tally });
    };
    let nulls = losses.validity(array.len(), array.nulls());
    // The old buffers stay, for most views still point there.
    let buffers: Vec<_> = buffers.iter().cloned().chain([Buffer::from_vec(fresh)]).collect();
    let canonical =
        GenericByteViewArray::<T>::try_new(views.into(), buffers, nulls).map_err(fault)?;
    Ok(losses.changed(arc(canonical), array.len()))
}

/// New views and the buffer of the values that changed, if any did.
type NewViews = Option<(Vec<u128>, Vec<u8>)>;

/// The same for text and bytes, as [`rewritten`].
fn rewritten_views(
    rules: &Rules,
    views: &[u128],
    buffers: &[Buffer],
    nulls: Option<&NullBuffer>,
    stop: &AtomicBool,
) -> PyResult<(NewViews, Losses)> {
    let rows = views.len();
    let is_null = |row| nulls.is_some_and(|nulls| nulls.is_null(row));
    let mut new: Option<Vec<u128>> = None;
    let mut fresh = Vec::new();
    let (mut spans, mut inline) = (Vec::new(), Vec::new());
    let (mut scratch, mut losses) = (Scratch::default(), Losses::new());
    let buffer_of = |row: usize| match Long::of(views[row]) {
        Some(long) if !is_null(row) => Some(long),
        _ => None,
    };
    let mut row = 0;
    while row < rows {
        go_on(stop)?;
        // Spans are positions in one buffer, so a block ends where a value is in another.
        let (first, place) = (row, buffer_of(row).map(|long| long.buffer));
        let mut length = 0;
        spans.clear();
        inline.clear();
        while row < rows.min(first + BLOCK) && length < BLOCK_BYTES {
            match buffer_of(row) {
                Some(long) if place == Some(long.buffer) => {
                    length += long.span.len();
                    spans.push(long.span);
                }
                None if place.is_none() => {
                    let start = inline.len() as u32;
                    if !is_null(row) {
                        inline.extend_from_slice(short(&views[row].to_le_bytes()));
                    }
                    spans.push(Span { start, end: inline.len() as u32 });
                }
                _ => break,
            }
            row += 1;
        }
        let bytes = place.map_or(&inline[..], |buffer| &buffers[buffer]);
        let block = Block { bytes, spans: &mut spans, row: first, nulls };
        judge(rules, block, &mut scratch, &mut losses, |row, value| {
            let value = match value {
                Value::Same | Value::Null => return,
                Value::New(url) => url,
                Value::None => b"",
            };
            // Lengths, offsets and the number of buffers of a piece all fit.
            let view = make_view(value, buffers.len() as u32, fresh.len() as u32);
            new.get_or_insert_with(|| of_values(views, nulls))[row] = view;
            // A short value is held by its view.
            if Long::of(view).is_some() {
                fresh.extend_from_slice(value);
            }
        });
    }
    Ok((new.map(|views| (views, fresh)), losses))
}

/// The views with those of nulls zeroed: they are checked too, and may point anywhere.
fn of_values(views: &[u128], nulls: Option<&NullBuffer>) -> Vec<u128> {
    let Some(nulls) = nulls else { return views.to_vec() };
    views.iter().zip(nulls).map(|(view, is_valid)| if is_valid { *view } else { 0 }).collect()
}

/// The target of a view.
struct Long {
    buffer: usize,
    span: Span,
}

impl Long {
    /// "Short strings, length <= 12: Bytes 0-3 length, bytes 4-15 data, padded with 0. Long strings:
    /// Bytes 0-3 length, 4-7 prefix, 8-11 buffer index, 12-15 offset" (Arrow Columnar Format,
    /// "Variable-size Binary View Layout").
    #[inline]
    fn of(view: u128) -> Option<Self> {
        let (length, buffer, start) = (view as u32, (view >> 64) as u32, (view >> 96) as u32);
        // The view of a null may hold any numbers.
        let span = Span { start, end: start.saturating_add(length) };
        (length > 12).then_some(Self { buffer: buffer as usize, span })
    }
}

fn short(view: &[u8; 16]) -> &[u8] {
    &view[4..][..usize::from(view[0])]
}

/// A column `reject` for rows without codes.
pub fn no_rejects(rows: usize) -> ArrayRef {
    // All columns without rejects share these nulls, each as a slice of its own length.
    static PIECE: OnceLock<ArrayRef> = OnceLock::new();
    if rows > ROWS {
        return new_null_array(&DataType::Utf8, rows);
    }
    PIECE.get_or_init(|| new_null_array(&DataType::Utf8, ROWS)).slice(0, rows)
}
