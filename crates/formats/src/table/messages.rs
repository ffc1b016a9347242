//! Validates the claims of an Arrow file or stream before the library trusts them.
//!
//! The library allocates by the lengths in the footer, a message or a packed buffer. Input is the
//! messages in reading order; output is an error if one claims the impossible, or more than memory
//! allows. The columns' contents are left to the library, which validates them itself.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_buffer::{Buffer, MutableBuffer};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{
    Block, DictionaryBatch, Field, MetadataVersion, RecordBatch, root_as_footer, root_as_message,
};
use arrow_schema::{DataType, Fields, SchemaRef, UnionMode};

use super::error::{TableError, arrow_message};
use super::file::At;

/// Approximate memory that the library uses per column of a schema.
const COLUMN: usize = 1 << 10;

/// Memory always granted to a footer or message.
const LEAST: u64 = 64 << 20;

/// Length of the end of a file: "<FOOTER> <FOOTER SIZE: int32> <magic string "ARROW1">".
const END: usize = 10;

/// The marker before the length of the metadata of a message. Files from before version 0.15 do not
/// have it.
const CONTINUATION: [u8; 4] = [0xFF; 4];

/// A packed buffer begins with its unpacked length, or with this value if it is stored.
const NOT_PACKED: i64 = -1;

/// The messages of a file or stream.
pub(super) struct Messages<'a> {
    at: &'a At,
    memory: u64,
    /// Bytes of each dictionary by its id, and their sum.
    dictionaries: HashMap<i64, u64>,
    all_dictionaries: u64,
}

/// The metadata of a message, and the location of its body.
pub(super) struct Message {
    metadata: Vec<u8>,
    body: u64,
    length: u64,
}

impl Message {
    pub(super) fn read(&self) -> Result<arrow_ipc::Message<'_>, TableError> {
        message(&self.metadata)
    }

    /// Offset of its end.
    pub(super) fn end(&self) -> u64 {
        self.body + self.length
    }
}

/// The footer of a file: its schema, and the locations of its messages.
pub(super) struct Footer {
    pub(super) schema: SchemaRef,
    pub(super) dictionaries: Vec<Block>,
    pub(super) batches: Vec<Block>,
}

impl<'a> Messages<'a> {
    pub(super) fn new(at: &'a At, memory: usize) -> Self {
        let memory = (memory as u64).max(LEAST);
        Self { at, memory, dictionaries: HashMap::new(), all_dictionaries: 0 }
    }

    /// Validates and returns the footer of a file.
    pub(super) fn file(&self) -> Result<Footer, TableError> {
        let mut end = [0; END];
        let place = self.at.size().checked_sub(END as u64).ok_or("it ends early")?;
        self.read(&mut end, place)?;
        let [a, b, c, d, magic @ ..] = end;
        if magic != *b"ARROW1" {
            return Err("it does not end as an Arrow file does".into());
        }
        let length = u32::from_le_bytes([a, b, c, d]);
        let start =
            place.checked_sub(u64::from(length)).ok_or("its footer is longer than it is")?;
        let bytes = self.bytes(start, u64::from(length), "its footer")?;
        let footer =
            root_as_footer(&bytes).map_err(|error| format!("its footer: {}", line(error)))?;
        let schema = self.schema(footer.schema().ok_or("its footer has no schema")?)?;
        let dictionaries: Vec<Block> = footer.dictionaries().iter().flatten().copied().collect();
        let batches = footer.recordBatches().ok_or("its footer has no list of batches")?;
        let batches: Vec<Block> = batches.iter().copied().collect();
        is_disjoint(dictionaries.iter().chain(&batches))?;
        Ok(Footer { schema, dictionaries, batches })
    }

    /// Reads the metadata of a message listed in a file's footer.
    pub(super) fn of_file(&self, block: &Block) -> Result<Message, TableError> {
        let numbers = [block.offset(), block.metaDataLength().into(), block.bodyLength()];
        let [Ok(place), Ok(head @ 8..), Ok(length)] = numbers.map(u64::try_from) else {
            return Err(NO_LENGTH.into());
        };
        let mut metadata = self.bytes(place, head, "what a message says of itself")?;
        let before = if metadata.starts_with(&CONTINUATION) { 8 } else { 4 };
        metadata.drain(..before);
        self.message(metadata, place + head, length)
    }

    /// Reads the first message of a stream. Returns the schema and the offset of the next message.
    pub(super) fn stream(&self) -> Result<(SchemaRef, u64), TableError> {
        let first = self.of_stream(0)?.ok_or("it has no message")?;
        let schema = first.read()?.header_as_schema().ok_or("its first message is not a schema")?;
        Ok((self.schema(schema)?, first.end()))
    }

    /// Reads the metadata of a stream's message at `place`; `None` at the end.
    pub(super) fn of_stream(&self, place: u64) -> Result<Option<Message>, TableError> {
        let (mut place, mut length) = (place, [0; 4]);
        // Too few bytes for a length count as the end.
        for _ in 0..2 {
            if place + 4 > self.at.size() {
                return Ok(None);
            }
            self.read(&mut length, place)?;
            place += 4;
            if length != CONTINUATION {
                break;
            }
        }
        let length = match i32::from_le_bytes(length) {
            0 => return Ok(None),
            length => u64::try_from(length).map_err(|_| NO_LENGTH)?,
        };
        let metadata = self.bytes(place, length, "what a message says of itself")?;
        let body = u64::try_from(message(&metadata)?.bodyLength()).map_err(|_| NO_LENGTH)?;
        self.message(metadata, place + length, body).map(Some)
    }

    /// Checks that a body lies within the file.
    fn message(&self, metadata: Vec<u8>, body: u64, length: u64) -> Result<Message, TableError> {
        if body.checked_add(length).is_none_or(|end| end > self.at.size()) {
            return Err(
                format!("a message of {length} bytes at {body} reaches behind its end").into()
            );
        }
        Ok(Message { metadata, body, length })
    }

    /// Reads the body of a validated message.
    pub(super) fn body(&self, message: &Message) -> Result<Buffer, TableError> {
        // The length lies within the file, and a file may be larger than memory.
        let bytes = MutableBuffer::try_from_len_zeroed(message.length as usize);
        let mut bytes = bytes.map_err(|_| too_much("a message", message.length))?;
        self.read(&mut bytes, message.body)?;
        Ok(bytes.into())
    }

    /// Checks the memory that the read columns of a batch need.
    pub(super) fn batch(
        &self,
        message: &Message,
        version: MetadataVersion,
        batch: &RecordBatch<'_>,
        fields: &Fields,
        columns: &[usize],
    ) -> Result<(), TableError> {
        let taken = self.taken(message, version, batch, Some((fields, columns)))?;
        self.has_room_for(taken, "a batch")
    }

    /// Checks the memory that a dictionary needs.
    pub(super) fn dictionary(
        &mut self,
        message: &Message,
        version: MetadataVersion,
        dictionary: &DictionaryBatch<'_>,
    ) -> Result<(), TableError> {
        let data = dictionary.data().ok_or("a dictionary has no values")?;
        let taken = self.taken(message, version, &data, None)?;
        let bytes = self.dictionaries.entry(dictionary.id()).or_default();
        // A delta is copied after the values of its dictionary, so both count. Any other batch replaces
        // them.
        if !dictionary.isDelta() {
            self.all_dictionaries -= std::mem::take(bytes);
        }
        *bytes = bytes.saturating_add(taken);
        self.all_dictionaries = self.all_dictionaries.saturating_add(taken);
        self.has_room_for(0, "what its dictionaries hold")
    }

    fn has_room_for(&self, taken: u64, what: &str) -> Result<(), TableError> {
        let taken = taken.saturating_add(self.all_dictionaries);
        if taken > self.memory { Err(too_much(what, taken)) } else { Ok(()) }
    }

    /// Returns the memory that a batch needs: its body, and the unpacked buffers of the wanted columns
    /// (all columns for `None`).
    fn taken(
        &self,
        message: &Message,
        version: MetadataVersion,
        batch: &RecordBatch<'_>,
        wanted: Option<(&Fields, &[usize])>,
    ) -> Result<u64, TableError> {
        let &Message { body, length, .. } = message;
        let packed = batch.compression().is_some();
        let buffers = batch.buffers();
        let mut buffers = buffers.iter().flatten();
        let variadic = batch.variadicBufferCounts();
        let mut variadic = variadic.iter().flatten();
        let mut sum = 0_u64;
        let mut column = |count: usize, is_wanted: bool| -> Result<(), TableError> {
            for buffer in buffers.by_ref().take(count) {
                let [Ok(start), Ok(bytes)] = [buffer.offset(), buffer.length()].map(u64::try_from)
                else {
                    return Err(NO_LENGTH.into());
                };
                if start.checked_add(bytes).is_none_or(|end| end > length) {
                    return Err("a buffer of a batch reaches behind its body".into());
                }
                // The library passes over the other columns without unpacking them.
                if is_wanted && bytes > 0 {
                    let taken = if packed { self.unpacked(body + start, bytes)? } else { bytes };
                    sum = sum.saturating_add(taken);
                }
            }
            Ok(())
        };
        match wanted {
            Some((fields, columns)) => {
                for (i, field) in fields.iter().enumerate() {
                    let count = buffers_of(field.data_type(), version, &mut variadic);
                    column(count, columns.contains(&i))?;
                }
            }
            None => column(usize::MAX, true)?,
        }
        // Stored buffers are used in place, so they add nothing unless several of them share the same
        // bytes.
        Ok(length.saturating_add(if packed { sum } else { sum.saturating_sub(length) }))
    }

    /// Reads the unpacked length that a packed buffer claims.
    fn unpacked(&self, place: u64, length: u64) -> Result<u64, TableError> {
        if length < 8 {
            return Err("a packed buffer is too short for its length".into());
        }
        let mut said = [0; 8];
        self.read(&mut said, place)?;
        match i64::from_le_bytes(said) {
            NOT_PACKED => Ok(length),
            said => u64::try_from(said).map_err(|_| NO_LENGTH.into()),
        }
    }

    /// Checks the memory that the columns of a schema need: each column and the path of its names
    /// are kept.
    fn schema(&self, schema: arrow_ipc::Schema<'_>) -> Result<SchemaRef, TableError> {
        let mut taken = 0;
        for field in schema.fields().iter().flatten() {
            self.field(&field, 0, &mut taken)?;
        }
        if !schema.endianness().equals_to_target_endianness() {
            return Err("its numbers have their bytes in the other order".into());
        }
        Ok(Arc::new(try_fb_to_schema(schema).map_err(arrow_message)?))
    }

    fn field(&self, field: &Field<'_>, above: usize, taken: &mut u64) -> Result<(), TableError> {
        let name = field.name().map_or(0, str::len);
        let path = above + name + size_of::<String>();
        let said = field.custom_metadata();
        let said = said
            .iter()
            .flatten()
            .map(|pair| pair.key().map_or(0, str::len) + pair.value().map_or(0, str::len) + COLUMN);
        // The name is kept with the column, and the path in the list of all columns.
        *taken += (COLUMN + name + 2 * path) as u64 + said.sum::<usize>() as u64;
        if *taken > self.memory {
            return Err(too_much("what it says of its columns", *taken));
        }
        // The buffer was verified, to a fixed depth, so this recursion is bounded.
        for child in field.children().iter().flatten() {
            self.field(&child, path, taken)?;
        }
        Ok(())
    }

    fn bytes(&self, start: u64, length: u64, what: &str) -> Result<Vec<u8>, TableError> {
        if start.checked_add(length).is_none_or(|end| end > self.at.size()) {
            return Err(format!("{what} reaches behind its end").into());
        }
        if length > self.memory {
            return Err(too_much(what, length));
        }
        let mut bytes = vec![0; length as usize];
        self.read(&mut bytes, start)?;
        Ok(bytes)
    }

    fn read(&self, out: &mut [u8], place: u64) -> Result<(), TableError> {
        Ok(self.at.read_at(out, place)?)
    }
}

const NO_LENGTH: &str = "a message has a length that none can have";

fn too_much(what: &str, taken: u64) -> TableError {
    TableError::too_much(format_args!("{what} takes {taken} bytes"))
}

/// Rejects a footer that lists a batch twice, whose rows would then come twice. A changed offset in its list
/// has this effect, and nothing else reveals it.
fn is_disjoint<'b>(blocks: impl Iterator<Item = &'b Block>) -> Result<(), TableError> {
    let mut ranges: Vec<(i64, i64)> = blocks
        .map(|block| {
            let length = i64::from(block.metaDataLength()).saturating_add(block.bodyLength());
            (block.offset(), block.offset().saturating_add(length))
        })
        .collect();
    ranges.sort_unstable();
    if ranges.windows(2).any(|pair| pair[1].0 < pair[0].1) {
        return Err("two of its messages are in one place".into());
    }
    Ok(())
}

fn message(metadata: &[u8]) -> Result<arrow_ipc::Message<'_>, TableError> {
    root_as_message(metadata).map_err(|error| format!("a message: {}", line(error)).into())
}

/// Joins the library's multi-line error, which gives the error and the path to it, into one line.
fn line(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    let lines = text.lines().map(|line| line.trim().trim_end_matches('.'));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

/// Returns the number of buffers that a column has in a batch ("Columnar.html", "Buffer Listing for
/// Each Layout"), including nested columns. The counts for view columns come from `variadic`.
fn buffers_of(
    kind: &DataType,
    version: MetadataVersion,
    variadic: &mut impl Iterator<Item = i64>,
) -> usize {
    let own = match kind {
        DataType::Null | DataType::RunEndEncoded(..) => 0,
        DataType::Struct(_) | DataType::FixedSizeList(..) => 1,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
        DataType::ListView(_) | DataType::LargeListView(_) => 3,
        DataType::Utf8View | DataType::BinaryView => {
            let more = variadic.next().and_then(|count| usize::try_from(count).ok());
            more.unwrap_or(0).saturating_add(2)
        }
        // "Union types do not have validity bitmaps", except before version 5.
        DataType::Union(_, mode) => {
            let offsets = usize::from(*mode == UnionMode::Dense);
            1 + offsets + usize::from(version < MetadataVersion::V5)
        }
        _ => 2,
    };
    let mut of = |kind: &DataType| buffers_of(kind, version, variadic);
    let below = match kind {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => of(field.data_type()),
        DataType::Struct(fields) => {
            fields.iter().map(|field| of(field.data_type())).fold(0, usize::saturating_add)
        }
        DataType::RunEndEncoded(ends, values) => {
            of(ends.data_type()).saturating_add(of(values.data_type()))
        }
        DataType::Union(fields, _) => {
            fields.iter().map(|(_, field)| of(field.data_type())).fold(0, usize::saturating_add)
        }
        _ => 0,
    };
    own.saturating_add(below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claimed_buffer_counts_are_added_without_overflow() {
        let text = |name: &str| arrow_schema::Field::new(name, DataType::Utf8View, true);
        let kind = DataType::Struct(vec![text("a"), text("b")].into());
        for (each, all) in [(1, 1 + 2 * 3), (i64::MAX, usize::MAX)] {
            let found = buffers_of(&kind, MetadataVersion::V5, &mut [each; 2].into_iter());
            assert_eq!(found, all);
        }
    }
}
