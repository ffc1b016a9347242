//! Reads the IPC format of Arrow: a file, which ends in a list of its batches, or a stream of batches.

use std::collections::{HashMap, HashSet};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::Block;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_schema::{DataType, Fields, Schema, SchemaRef};

use super::batch::{Column, Stop, TableOptions, Take, TakeBatch};
use super::column;
use super::error::{TableError, arrow_message};
use super::file::At;
use super::messages::{Message, Messages};
use super::schema::{self, Holds, Leaf};
use crate::input::Trouble;
use crate::record::TableFormat;

/// Rows per call of `take`. The writer chooses the size of a batch.
const ROWS: usize = 16 << 10;

/// An open file or stream with its schema.
pub(super) struct ArrowFile {
    at: At,
    kind: IpcKind,
    /// The schema, and the indexes of the top-level columns that are read.
    schema: SchemaRef,
    projection: Vec<usize>,
    /// Index paths of the read columns within a batch.
    places: Vec<Vec<usize>>,
    /// Offset of the first message after the schema, in a stream.
    start: u64,
}

/// The layout of the batches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IpcKind {
    File,
    Stream,
}

/// The end of a stream: "the writer can write 8 bytes containing the 4-byte continuation indicator
/// (0xFFFFFFFF) followed by 0 metadata length (0x00000000) or close the stream interface". A stored
/// stream must have the marker, because nothing else distinguishes its end from a cut.
const END_OF_STREAM: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

impl ArrowFile {
    /// Reads the schema, using at most `memory` bytes.
    pub(super) fn open(
        at: At,
        table: &TableFormat,
        memory: usize,
    ) -> Result<(Self, TableFormat), Trouble> {
        let whole = Self::open_whole(at, memory)?;
        let mut leaves = Vec::new();
        flatten((&[], &[]), whole.schema.fields(), &mut leaves);
        let (table, wanted) = schema::choose(table, &leaves)?;
        let mut places: Vec<Vec<usize>> =
            wanted.iter().map(|leaf| leaves[*leaf].place.clone()).collect();
        let mut projection: Vec<usize> = places.iter().map(|place| place[0]).collect();
        projection.dedup();
        // A batch holds only the projected top-level columns, but all columns inside them.
        for place in &mut places {
            place[0] = projection.partition_point(|top| *top < place[0]);
        }
        Ok((Self { projection, places, ..whole }, table))
    }

    /// The same for all columns, as they are.
    pub(super) fn open_whole(at: At, memory: usize) -> Result<Self, Trouble> {
        let mut head = [0; 6];
        at.read_at(&mut head, 0).map_err(Trouble::Io)?;
        let kind = if head == *b"ARROW1" { IpcKind::File } else { IpcKind::Stream };
        let messages = Messages::new(&at, memory);
        let (schema, start) = match kind {
            IpcKind::File => (messages.file()?.schema, 0),
            IpcKind::Stream => messages.stream()?,
        };
        let projection = (0..schema.fields().len()).collect();
        Ok(Self { at, kind, schema, projection, places: Vec::new(), start })
    }

    pub(super) fn schema(&self) -> SchemaRef {
        SchemaRef::clone(&self.schema)
    }

    pub(super) fn read(&self, options: TableOptions, take: Take<'_>) -> Result<(), Stop> {
        self.read_batches(options, &mut |batch, end| self.hand_on(batch, end, take))
    }

    pub(super) fn read_batches(
        &self,
        options: TableOptions,
        take: TakeBatch<'_>,
    ) -> Result<(), Stop> {
        let mut batches = Batches::new(self, options.at_once()).map_err(Stop::Failed)?;
        match self.kind {
            IpcKind::File => {
                let footer = batches.messages.file().map_err(Stop::Failed)?;
                for block in &footer.dictionaries {
                    if batches.read_block(block).map_err(Stop::Failed)?.is_some() {
                        return Err(Stop::Failed("a dictionary is a batch".into()));
                    }
                }
                let count = footer.batches.len() as u64;
                for (number, block) in (1..).zip(&footer.batches) {
                    let read = batches.read_block(block);
                    let read = read.and_then(|batch| batch.ok_or("it is a dictionary".into()));
                    let batch = read.map_err(|error| {
                        let tell = |why| format!("batch {number} of {count}: {why}");
                        Stop::Failed(error.told(tell))
                    })?;
                    // The footer may list batches in any order of offsets, so progress goes by
                    // their number.
                    take(&batch, self.at.size() / count * number)?;
                }
                Ok(())
            }
            IpcKind::Stream => {
                let mut place = self.start;
                while let Some(said) = batches.messages.of_stream(place).map_err(Stop::Failed)? {
                    place = said.end();
                    if let Some(batch) = batches.read(&said).map_err(Stop::Failed)? {
                        take(&batch, place)?;
                    }
                }
                self.check_end(place)
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

    /// Checks that the stream ends at `place` with an end marker, and that nothing follows.
    fn check_end(&self, place: u64) -> Result<(), Stop> {
        let mut end = [0; END_OF_STREAM.len()];
        let behind = self.at.size().checked_sub(place + end.len() as u64);
        let more = match behind {
            Some(more) if self.at.read_at(&mut end, place).is_ok() && end == END_OF_STREAM => more,
            _ => {
                let why = "the stream ends before its end-of-stream marker";
                return Err(Stop::Failed(why.into()));
            }
        };
        match more {
            0 => Ok(()),
            more => Err(Stop::Failed(format!("{more} bytes follow the end of the stream").into())),
        }
    }
}

/// The batches of a file or stream, with the dictionaries of their columns.
struct Batches<'a> {
    messages: Messages<'a>,
    content: &'a ArrowFile,
    /// The top-level columns that are read.
    wanted: Schema,
    /// Ids of the dictionaries of the columns in `wanted`, and of all columns.
    read: HashSet<i64>,
    known: HashSet<i64>,
    dictionaries: HashMap<i64, ArrayRef>,
}

impl<'a> Batches<'a> {
    fn new(content: &'a ArrowFile, memory: usize) -> Result<Self, TableError> {
        let wanted = content.schema.project(&content.projection).map_err(arrow_message)?;
        Ok(Self {
            messages: Messages::new(&content.at, memory),
            content,
            read: dictionaries(&wanted),
            known: dictionaries(&content.schema),
            wanted,
            dictionaries: HashMap::new(),
        })
    }

    /// Reads a message listed in a file's footer.
    fn read_block(&mut self, block: &Block) -> Result<Option<RecordBatch>, TableError> {
        let said = self.messages.of_file(block)?;
        self.read(&said)
    }

    /// Reads a message. Returns a batch; stores a dictionary for the batches after it and returns
    /// `None`.
    fn read(&mut self, said: &Message) -> Result<Option<RecordBatch>, TableError> {
        let message = said.read()?;
        let version = message.version();
        let ArrowFile { schema, projection, .. } = self.content;
        if let Some(batch) = message.header_as_record_batch() {
            self.messages.batch(said, version, &batch, schema.fields(), projection)?;
            let body = self.messages.body(said)?;
            let (schema, columns) = (SchemaRef::clone(schema), Some(&projection[..]));
            let read =
                read_record_batch(&body, batch, schema, &self.dictionaries, columns, &version);
            return Ok(Some(read.map_err(arrow_message)?));
        }
        let dictionary = message.header_as_dictionary_batch();
        let dictionary = dictionary.ok_or("a message is neither a batch nor a dictionary")?;
        let number = dictionary.id();
        // Dictionaries of columns that nobody reads take no memory.
        if self.read.contains(&number) {
            // In a file, a replaced dictionary would change the values of the batches before it.
            let is_new = dictionary.isDelta() || !self.dictionaries.contains_key(&number);
            if self.content.kind == IpcKind::File && !is_new {
                return Err("a dictionary of it comes twice".into());
            }
            self.messages.dictionary(said, version, &dictionary)?;
            let body = self.messages.body(said)?;
            read_dictionary(&body, dictionary, &self.wanted, &mut self.dictionaries, &version)
                .map_err(arrow_message)?;
        } else if !self.known.contains(&number) {
            return Err(format!("it has dictionary {number}, and no column of it").into());
        }
        Ok(None)
    }
}

/// Returns the dictionary ids of all columns.
fn dictionaries(schema: &Schema) -> HashSet<i64> {
    // Nothing else tells which column a dictionary in a file belongs to.
    #[expect(deprecated)]
    schema.flattened_fields().iter().filter_map(|field| field.dict_id()).collect()
}

/// Appends the columns with values below the struct with this path and place, in order.
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
