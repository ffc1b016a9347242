//! The IPC format of Arrow: a file, which ends in a list of its batches, or a stream of them.

use arrow_array::RecordBatch;
use arrow_ipc::MetadataVersion;
use arrow_ipc::reader::{FileDecoder, StreamReader};
use arrow_schema::{ArrowError, DataType, Fields, SchemaRef};

use super::file::At;
use super::messages::Messages;
use super::schema::{self, Holds, Leaf};
use super::{Column, Reading, Stop, Take, column};
use crate::input::Trouble;
use crate::record::Table;

/// Rows that are handed on at a time. A batch has as many as its writer liked.
const ROWS: usize = 16 << 10;

/// A file whose schema was read.
pub(super) struct Content {
    at: At,
    kind: Kind,
    /// All columns at the top, and those that are read.
    schema: SchemaRef,
    projection: Vec<usize>,
    /// Where the columns that are read are in a batch.
    places: Vec<Vec<usize>>,
}

/// How the batches are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Stream,
}

/// What a stream ends with: "the writer can write 8 bytes containing the 4-byte continuation
/// indicator (0xFFFFFFFF) followed by 0 metadata length (0x00000000) or close the stream interface".
/// In a file nothing else tells the end from a cut.
const END_OF_STREAM: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

/// With this version the library takes messages of any, as it does in a stream. Files say V5 at their
/// end and V4 in their messages.
const OF_ANY: MetadataVersion = MetadataVersion::V1;

impl Content {
    /// Reads the schema, for which there are `memory` bytes.
    pub(super) fn open(mut at: At, table: &Table, memory: usize) -> Result<(Self, Table), Trouble> {
        let mut head = [0; 6];
        at.read_at(&mut head, 0).map_err(Trouble::Io)?;
        let kind = if head == *b"ARROW1" { Kind::File } else { Kind::Stream };
        let mut messages = Messages::new(&at, memory);
        let schema = match kind {
            Kind::File => messages.file()?.schema,
            Kind::Stream => {
                messages.stream()?;
                StreamReader::try_new(&mut at, None).map_err(malformed)?.schema()
            }
        };
        let mut leaves = Vec::new();
        flatten((&[], &[]), schema.fields(), &mut leaves);
        let (table, wanted) = schema::choose(table, &leaves)?;
        let mut places: Vec<Vec<usize>> =
            wanted.iter().map(|leaf| leaves[*leaf].place.clone()).collect();
        let mut projection: Vec<usize> = places.iter().map(|place| place[0]).collect();
        projection.dedup();
        // Of the columns at the top there are only those, of what is in them all.
        for place in &mut places {
            place[0] = projection.partition_point(|top| *top < place[0]);
        }
        Ok((Self { at, kind, schema, projection, places }, table))
    }

    pub(super) fn read(&self, reading: Reading, take: Take<'_>) -> Result<(), Stop> {
        let mut at = self.at.clone();
        let mut messages = Messages::new(&self.at, reading.at_once());
        let projection = self.projection.clone();
        match self.kind {
            Kind::File => {
                let footer = messages.file().map_err(Stop::Failed)?;
                let mut decoder =
                    FileDecoder::new(footer.schema, OF_ANY).with_projection(projection);
                for block in &footer.dictionaries {
                    let bytes = messages.read_block(block).map_err(Stop::Failed)?;
                    decoder.read_dictionary(block, &bytes).map_err(failed)?;
                }
                let batches = footer.batches.len() as u64;
                for (number, block) in (1..).zip(&footer.batches) {
                    let looked = messages.batch(block, &self.schema, &self.projection);
                    looked.map_err(|fault| {
                        let tell = |why| format!("batch {number} of {batches}: {why}");
                        Stop::Failed(fault.told(tell))
                    })?;
                    let bytes = messages.read_block(block).map_err(Stop::Failed)?;
                    let batch = decoder.read_record_batch(block, &bytes).map_err(failed)?;
                    // There is none in a message without a header.
                    let batch = batch.ok_or_else(|| {
                        Stop::Failed(format!("batch {number} of {batches} holds nothing").into())
                    })?;
                    let end = self.at.size() / batches * number;
                    self.hand_on(&batch, end, take)?;
                }
                Ok(())
            }
            Kind::Stream => {
                std::io::Seek::rewind(&mut at)
                    .map_err(|error| Stop::Failed(error.to_string().into()))?;
                let mut reader = StreamReader::try_new(at, Some(projection)).map_err(failed)?;
                loop {
                    let place = reader.get_ref().at();
                    let looked = messages.batches(place, &self.schema, &self.projection);
                    looked.map_err(Stop::Failed)?;
                    let Some(batch) = reader.next() else { break };
                    let end = reader.get_ref().at();
                    self.hand_on(&batch.map_err(failed)?, end, take)?;
                }
                self.check_end(reader.get_ref())
            }
        }
    }

    fn hand_on(&self, batch: &RecordBatch, end: u64, take: Take<'_>) -> Result<(), Stop> {
        for start in (0..batch.num_rows()).step_by(ROWS) {
            let rows = batch.slice(start, ROWS.min(batch.num_rows() - start));
            let columns = self.places.iter().map(|place| column::find(&rows, place));
            let columns: Option<Vec<Column>> = columns.collect();
            take(&columns.ok_or_else(|| Stop::Failed("a column is missing".into()))?, end)?;
        }
        Ok(())
    }

    /// Whether the stream ends as one does, and the file with it.
    fn check_end(&self, at: &At) -> Result<(), Stop> {
        let mut end = [0; END_OF_STREAM.len()];
        let marked = match at.at().checked_sub(end.len() as u64) {
            Some(start) => at.read_at(&mut end, start).is_ok() && end == END_OF_STREAM,
            None => false,
        };
        if !marked {
            return Err(Stop::Failed("the stream ends before its end-of-stream marker".into()));
        }
        match at.size() - at.at() {
            0 => Ok(()),
            more => {
                Err(Stop::Failed(format!("{more} bytes stand behind the end of the stream").into()))
            }
        }
    }
}

fn malformed(error: ArrowError) -> Trouble {
    Trouble::Malformed(words(error))
}

fn failed(error: ArrowError) -> Stop {
    Stop::Failed(words(error).into())
}

/// What the library says, without the name of its own that it begins with.
pub(super) fn words(error: ArrowError) -> String {
    match error {
        ArrowError::ParquetError(words) => {
            words.strip_prefix("Parquet error: ").map_or(words.clone(), str::to_owned)
        }
        ArrowError::ParseError(words)
        | ArrowError::IpcError(words)
        | ArrowError::InvalidArgumentError(words)
        | ArrowError::IoError(words, _) => words,
        error => error.to_string(),
    }
}

/// Appends the columns that hold values, in order, below what has these names and this place.
fn flatten(above: (&[String], &[usize]), fields: &Fields, leaves: &mut Vec<Leaf>) {
    for (number, field) in fields.iter().enumerate() {
        let path = [above.0, std::slice::from_ref(field.name())].concat();
        let place = [above.1, &[number]].concat();
        match field.data_type() {
            DataType::Struct(fields) => flatten((&path, &place), fields, leaves),
            data_type => leaves.push(Leaf { path, place, holds: holds(data_type) }),
        }
    }
}

fn holds(data_type: &DataType) -> Holds {
    match data_type {
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView => Holds::Text,
        DataType::Dictionary(_, values) => holds(values),
        data_type if data_type.is_numeric() => Holds::Numbers,
        DataType::Boolean => Holds::Flags,
        DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Timestamp(..) => Holds::Times,
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..)
        | DataType::Map(..) => Holds::Lists,
        DataType::Null => Holds::Nothing,
        _ => Holds::Other,
    }
}
