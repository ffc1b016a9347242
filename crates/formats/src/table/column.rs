//! Reads the cells of a column of any array type.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, RecordBatch,
    StringArray, StringViewArray, StructArray,
};
use arrow_buffer::{Buffer, NullBuffer};
use arrow_schema::{DataType, TimeUnit};

use super::batch::Column;

/// Finds a column of a batch by index path, because names may repeat.
pub(super) fn find(batch: &RecordBatch, place: &[usize]) -> Option<Column> {
    let (first, rest) = place.split_first()?;
    let mut array = ArrayRef::clone(batch.columns().get(*first)?);
    let mut above = Vec::new();
    for number in rest {
        let inner = ArrayRef::clone(array.as_struct_opt()?.columns().get(*number)?);
        above.push(std::mem::replace(&mut array, inner));
    }
    Some(Column { above, array })
}

/// The cells of a column.
pub(super) struct Cells<'a> {
    above: Vec<&'a StructArray>,
    values: ColumnValues<'a>,
}

/// The dictionary key of each row.
pub(super) struct Keys<'a> {
    keys: &'a [usize],
    nulls: Vec<&'a NullBuffer>,
    /// Number of values in the dictionary.
    pub(super) values: usize,
}

impl Keys<'_> {
    /// Returns the key of a row, which is less than `values`, or `None` for null.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<usize> {
        if self.nulls.iter().any(|nulls| nulls.is_null(row)) { None } else { Some(self.keys[row]) }
    }
}

/// Texts with explicit locations. A view has the length; if that is more than 12, also prefix, buffer
/// and offset, 32 bits each; otherwise the text itself (Arrow columnar format, "Variable-size Binary
/// View Layout").
pub(super) struct Views<'a> {
    views: &'a [u128],
    nulls: Vec<&'a NullBuffer>,
    pub(super) buffers: &'a [Buffer],
}

/// The location of a text.
pub(super) enum Standing {
    Null,
    /// In a buffer.
    In {
        buffer: usize,
        offset: usize,
        length: usize,
    },
    /// Inside its view.
    Here {
        text: [u8; 12],
        length: usize,
    },
}

impl Views<'_> {
    #[inline]
    pub(super) fn get(&self, row: usize) -> Standing {
        if self.nulls.iter().any(|nulls| nulls.is_null(row)) {
            return Standing::Null;
        }
        let view = self.views[row];
        let length = view as u32 as usize;
        if length > 12 {
            let (buffer, offset) = ((view >> 64) as u32 as usize, (view >> 96) as usize);
            return Standing::In { buffer, offset, length };
        }
        let mut text = [0; 12];
        text.copy_from_slice(&view.to_le_bytes()[4..]);
        Standing::Here { text, length }
    }
}

/// The value of a cell.
pub(super) enum Cell<'a> {
    Null,
    Text(&'a [u8]),
    Number(i128),
    /// Formatted text: a date, a time of day, or both, so that texts sort like the times; `true` or
    /// `false`; a decimal; or a float with the fewest digits that identify it, never with an exponent.
    Words(String),
}

enum ColumnValues<'a> {
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Bytes(&'a BinaryArray),
    LargeBytes(&'a LargeBinaryArray),
    BytesView(&'a BinaryViewArray),
    Numbers(Box<dyn Fn(usize) -> i128 + 'a>, &'a ArrayRef),
    Words(Box<dyn Fn(usize) -> String + 'a>, &'a ArrayRef),
    /// The dictionary key of each row, and the values.
    Dictionary {
        keys: Vec<usize>,
        array: &'a ArrayRef,
        values: Box<Cells<'a>>,
    },
    /// Only nulls.
    Nothing,
}

impl<'a> Cells<'a> {
    /// Creates the cells of a column; `None` if its type is not supported.
    pub(super) fn new(column: &'a Column) -> Option<Self> {
        let above =
            column.above.iter().map(|array| array.as_struct_opt()).collect::<Option<_>>()?;
        Some(Self { above, values: ColumnValues::new(&column.array)? })
    }

    pub(super) fn get(&self, row: usize) -> Cell<'_> {
        // Arrow leaves the values below a null struct undefined.
        if self.above.iter().any(|array| array.is_null(row)) {
            return Cell::Null;
        }
        self.values.get(row)
    }

    /// Returns the key of each row, if the column has a dictionary.
    pub(super) fn keys(&self) -> Option<Keys<'_>> {
        let ColumnValues::Dictionary { keys, array, .. } = &self.values else { return None };
        let values = array.as_any_dictionary_opt()?.values().len();
        Some(Keys { keys, nulls: self.nulls(array.nulls()), values })
    }

    /// Returns the location of each text, if the array has views.
    pub(super) fn views(&self) -> Option<Views<'_>> {
        let (views, nulls, buffers) = match &self.values {
            ColumnValues::TextView(array) => (array.views(), array.nulls(), array.data_buffers()),
            ColumnValues::BytesView(array) => (array.views(), array.nulls(), array.data_buffers()),
            _ => return None,
        };
        Some(Views { views, nulls: self.nulls(nulls), buffers })
    }

    /// Collects the validity bitmaps that contain nulls: those of the structs above, and the column's
    /// own.
    fn nulls<'c>(&'c self, own: Option<&'c NullBuffer>) -> Vec<&'c NullBuffer> {
        let above = self.above.iter().map(|array| array.nulls());
        above.chain([own]).flatten().filter(|nulls| nulls.null_count() > 0).collect()
    }

    /// Returns a value that is equal for two rows only if their cells are the same, if the array has
    /// one.
    pub(super) fn identity(&self, row: usize) -> Option<u128> {
        match &self.values {
            ColumnValues::Dictionary { keys, .. } => Some(keys[row] as u128),
            ColumnValues::TextView(array) => Some(array.views()[row]),
            ColumnValues::BytesView(array) => Some(array.views()[row]),
            _ => None,
        }
    }

    /// True if rows may share the bytes of their cells, as in a dictionary. Values stored one after the
    /// other share none.
    pub(super) fn may_repeat(&self) -> bool {
        let views = match &self.values {
            ColumnValues::Dictionary { .. } => return true,
            ColumnValues::TextView(array) => array.views(),
            ColumnValues::BytesView(array) => array.views(),
            _ => return false,
        };
        // A view of more than 12 bytes: length, prefix, buffer, offset, 32 bits each.
        let places = views.iter().filter(|view| **view as u32 > 12);
        let places = places.map(|view| ((view >> 64) as u32, (view >> 96) as u32));
        !places.is_sorted_by(|one, next| one < next)
    }
}

impl<'a> ColumnValues<'a> {
    fn new(array: &'a ArrayRef) -> Option<Self> {
        // A closure is chosen once for a column, where a match over all types would be made for
        // each cell.
        macro_rules! numbers {
            ($type:ty) => {{
                let values = array.as_primitive_opt::<$type>()?.values();
                ColumnValues::Numbers(Box::new(|row| values[row].into()), array)
            }};
        }
        macro_rules! floats {
            ($type:ty) => {{
                let values = array.as_primitive_opt::<$type>()?.values();
                ColumnValues::Words(Box::new(|row| values[row].to_string()), array)
            }};
        }
        macro_rules! decimals {
            ($type:ty) => {{
                let decimals = array.as_primitive_opt::<$type>()?;
                ColumnValues::Words(Box::new(|row| decimals.value_as_string(row)), array)
            }};
        }
        // A value outside the calendar's range is printed as its number.
        macro_rules! times {
            ($type:ty, $value:ident) => {
                times!($type, $value, "")
            };
            ($type:ty, $value:ident, $zone:expr) => {{
                let (times, zone) = (array.as_primitive_opt::<$type>()?, $zone);
                let text = move |row| match times.$value(row) {
                    Some(time) => format!("{time}{zone}"),
                    None => times.value(row).to_string(),
                };
                ColumnValues::Words(Box::new(text), array)
            }};
        }
        Some(match array.data_type() {
            DataType::Utf8 => ColumnValues::Text(array.as_string_opt()?),
            DataType::LargeUtf8 => ColumnValues::LargeText(array.as_string_opt()?),
            DataType::Utf8View => ColumnValues::TextView(array.as_string_view_opt()?),
            DataType::Binary => ColumnValues::Bytes(array.as_binary_opt()?),
            DataType::LargeBinary => ColumnValues::LargeBytes(array.as_binary_opt()?),
            DataType::BinaryView => ColumnValues::BytesView(array.as_binary_view_opt()?),
            DataType::Int8 => numbers!(Int8Type),
            DataType::Int16 => numbers!(Int16Type),
            DataType::Int32 => numbers!(Int32Type),
            DataType::Int64 => numbers!(Int64Type),
            DataType::UInt8 => numbers!(UInt8Type),
            DataType::UInt16 => numbers!(UInt16Type),
            DataType::UInt32 => numbers!(UInt32Type),
            DataType::UInt64 => numbers!(UInt64Type),
            DataType::Float16 => {
                let values = array.as_primitive_opt::<Float16Type>()?.values();
                ColumnValues::Words(Box::new(|row| shortest(values[row])), array)
            }
            DataType::Float32 => floats!(Float32Type),
            DataType::Float64 => floats!(Float64Type),
            DataType::Decimal32(..) => decimals!(Decimal32Type),
            DataType::Decimal64(..) => decimals!(Decimal64Type),
            DataType::Decimal128(..) => decimals!(Decimal128Type),
            DataType::Decimal256(..) => decimals!(Decimal256Type),
            DataType::Boolean => {
                let flags = array.as_boolean_opt()?;
                ColumnValues::Words(Box::new(|row| flags.value(row).to_string()), array)
            }
            DataType::Date32 => times!(Date32Type, value_as_date),
            DataType::Date64 => times!(Date64Type, value_as_date),
            DataType::Time32(TimeUnit::Second) => times!(Time32SecondType, value_as_time),
            DataType::Time32(_) => times!(Time32MillisecondType, value_as_time),
            DataType::Time64(TimeUnit::Microsecond) => times!(Time64MicrosecondType, value_as_time),
            DataType::Time64(_) => times!(Time64NanosecondType, value_as_time),
            DataType::Timestamp(unit, zone) => {
                // A timestamp with any time zone counts in UTC.
                let zone = if zone.is_some() { "+00:00" } else { "" };
                match unit {
                    TimeUnit::Second => times!(TimestampSecondType, value_as_datetime, zone),
                    TimeUnit::Millisecond => {
                        times!(TimestampMillisecondType, value_as_datetime, zone)
                    }
                    TimeUnit::Microsecond => {
                        times!(TimestampMicrosecondType, value_as_datetime, zone)
                    }
                    TimeUnit::Nanosecond => {
                        times!(TimestampNanosecondType, value_as_datetime, zone)
                    }
                }
            }
            DataType::Dictionary(..) => {
                let dictionary = array.as_any_dictionary_opt()?;
                // The keys of such a dictionary are all null, and `normalized_keys` panics without
                // a value.
                if dictionary.values().is_empty() {
                    return Some(ColumnValues::Nothing);
                }
                let values = ColumnValues::new(dictionary.values())?;
                ColumnValues::Dictionary {
                    keys: dictionary.normalized_keys(),
                    array,
                    values: Box::new(Cells { above: Vec::new(), values }),
                }
            }
            DataType::Null => ColumnValues::Nothing,
            _ => return None,
        })
    }

    fn get(&self, row: usize) -> Cell<'_> {
        fn cell<'c>(array: &dyn Array, row: usize, value: impl FnOnce() -> &'c [u8]) -> Cell<'c> {
            if array.is_null(row) { Cell::Null } else { Cell::Text(value()) }
        }
        match self {
            ColumnValues::Text(array) => cell(array, row, || array.value(row).as_bytes()),
            ColumnValues::LargeText(array) => cell(array, row, || array.value(row).as_bytes()),
            ColumnValues::TextView(array) => cell(array, row, || array.value(row).as_bytes()),
            ColumnValues::Bytes(array) => cell(array, row, || array.value(row)),
            ColumnValues::LargeBytes(array) => cell(array, row, || array.value(row)),
            ColumnValues::BytesView(array) => cell(array, row, || array.value(row)),
            ColumnValues::Numbers(_, array) if array.is_null(row) => Cell::Null,
            ColumnValues::Numbers(number, _) => Cell::Number(number(row)),
            ColumnValues::Words(_, array) if array.is_null(row) => Cell::Null,
            ColumnValues::Words(text, _) => Cell::Words(text(row)),
            ColumnValues::Dictionary { array, .. } if array.is_null(row) => Cell::Null,
            ColumnValues::Dictionary { keys, values, .. } => values.get(keys[row]),
            ColumnValues::Nothing => Cell::Null,
        }
    }
}

/// A 16-bit float.
type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// Formats a 16-bit float with the fewest decimals that identify it. Its own `Display` prints as many
/// as a 32-bit float needs.
fn shortest(half: Half) -> String {
    let exact = half.to_f32();
    let mut texts = (0..10).map(|digits| format!("{exact:.digits$}"));
    let tells = |text: &String| text.parse().is_ok_and(|number| Half::from_f32(number) == half);
    texts.find(tells).unwrap_or_else(|| exact.to_string())
}
