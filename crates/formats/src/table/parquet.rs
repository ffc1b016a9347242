//! Reads Parquet: row groups of column chunks. Only the requested columns are read.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_schema::{DataType, Field, Fields, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, RowGroups, RowSelection,
    RowSelector,
};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::basic::{Compression, ConvertedType, LogicalType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor, Type, TypePtr};

use super::batch::{Column, Stop, TableOptions, Take, TakeBatch};
use super::error::{TableError, arrow_message};
use super::file::At;
use super::page_headers::{self, PageHeader};
use super::pages::GroupPages;
use super::schema::{self, Holds, Leaf};
use super::{column, footer};
use crate::input::Trouble;
use crate::record::TableFormat;

/// Rows per batch, further limited by the memory for pages.
const ROWS: std::ops::RangeInclusive<u64> = 64..=16 << 10;

/// Rows per batch when rows are dictionary keys: at most one per byte of a chunk.
const KEYED_ROWS: std::ops::RangeInclusive<u64> = 64..=128 << 10;

/// Pages that a thread may hold at a time: packed, unpacked, and the arrays built from them.
const PAGES: usize = 4;

/// An open file with its footer.
pub(super) struct ParquetFile {
    at: At,
    metadata: ArrowReaderMetadata,
    mask: ProjectionMask,
    levels: FieldLevels,
    /// The same, for columns whose pages all have dictionary keys; `None` if several columns are read.
    levels_of_keys: Option<FieldLevels>,
    /// Index paths of the read columns within a batch.
    places: Vec<Vec<usize>>,
    /// Number of rows before each row group; the last entry is the total.
    starts: Vec<u64>,
}

impl ParquetFile {
    /// Reads the footer, using at most `memory` bytes.
    pub(super) fn open(
        at: At,
        table: &TableFormat,
        memory: usize,
    ) -> Result<(Self, TableFormat), Trouble> {
        // Checked before the library reads the footer, because it recurses and allocates by the
        // claims in it.
        let encrypted = footer::check(&at, memory)?;
        let footer = ParquetMetaDataReader::new().parse_and_finish(&at).map_err(malformed)?;
        let descriptor = footer.file_metadata().schema_descr();
        let mut places = Vec::new();
        flatten(&[], descriptor.root_schema(), &mut places);
        let leaves = descriptor.columns().iter().zip(places);
        let leaves: Vec<Leaf> = leaves.map(|(column, place)| leaf(column, place)).collect();
        let (table, wanted) = schema::choose(table, &leaves)?;
        check_columns(&at, &footer, &wanted, &encrypted, |leaf| schema::printed(&leaves[leaf]))?;
        let places: Vec<&[usize]> = wanted.iter().map(|leaf| &leaves[*leaf].place[..]).collect();
        // Read text as bytes: the profile decides about invalid UTF-8.
        let root = as_bytes(descriptor.root_schema(), &places).map_err(malformed)?;
        // The Arrow schema that writers embed and the page indexes are claims that `footer` has not
        // checked.
        let as_stored = ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_page_index_policy(PageIndexPolicy::Skip)
            .with_parquet_schema(Arc::new(SchemaDescriptor::new(root)));
        let metadata = ArrowReaderMetadata::load(&at, as_stored).map_err(malformed)?;
        let schema = metadata.parquet_schema();
        let mask = ProjectionMask::leaves(schema, wanted.iter().copied());
        let levels = |text: &DataType| {
            let fields = texts_as(metadata.schema().fields(), &places, text);
            parquet_to_arrow_field_levels(schema, mask.clone(), Some(&fields)).map_err(malformed)
        };
        let keys = DataType::Dictionary(DataType::Int32.into(), DataType::Binary.into());
        let levels_of_keys = if wanted.len() == 1 { Some(levels(&keys)?) } else { None };
        let levels = levels(&DataType::BinaryView)?;
        let starts = starts(&metadata)?;
        let places = among(&places);
        Ok((Self { at, metadata, mask, levels, levels_of_keys, places, starts }, table))
    }

    /// The same for all columns, as they are.
    pub(super) fn open_whole(at: At, memory: usize) -> Result<Self, Trouble> {
        let encrypted = footer::check(&at, memory)?;
        let footer = ParquetMetaDataReader::new().parse_and_finish(&at).map_err(malformed)?;
        let columns = footer.file_metadata().schema_descr().columns().to_vec();
        let all: Vec<usize> = (0..columns.len()).collect();
        check_columns(&at, &footer, &all, &encrypted, |leaf| columns[leaf].path().string())?;
        let as_stored = ArrowReaderOptions::new()
            .with_skip_arrow_metadata(true)
            .with_page_index_policy(PageIndexPolicy::Skip);
        let metadata = ArrowReaderMetadata::load(&at, as_stored).map_err(malformed)?;
        let mask = ProjectionMask::all();
        let levels = parquet_to_arrow_field_levels(metadata.parquet_schema(), mask.clone(), None);
        let levels = levels.map_err(malformed)?;
        let starts = starts(&metadata)?;
        Ok(Self { at, metadata, mask, levels, levels_of_keys: None, places: Vec::new(), starts })
    }

    /// The columns, by the types of the file.
    pub(super) fn schema(&self) -> SchemaRef {
        SchemaRef::clone(self.metadata.schema())
    }

    pub(super) fn sections(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn first_row(&self, section: usize) -> u64 {
        self.starts[section]
    }

    /// Reads the columns of a row group.
    pub(super) fn read(
        &self,
        section: usize,
        options: TableOptions,
        take: Take<'_>,
    ) -> Result<(), Stop> {
        self.read_batches(section, options, &mut |batch, end| {
            let columns = self.places.iter().map(|place| column::find(batch, place));
            let columns: Option<Vec<Column>> = columns.collect();
            take(&columns.ok_or_else(|| Stop::Failed("a column is missing".into()))?, end)
        })
    }

    /// Reads a row group in batches of about a chunk's size.
    pub(super) fn read_batches(
        &self,
        section: usize,
        options: TableOptions,
        take: TakeBatch<'_>,
    ) -> Result<(), Stop> {
        let rows = self.starts[section + 1] - self.starts[section];
        let group = self.metadata.metadata().row_group(section);
        let columns = group.columns().iter().enumerate();
        let read = columns.filter(|(leaf, _)| self.mask.leaf_included(*leaf));
        let room = page_headers::room(options.memory / (PAGES * options.threads));
        let (mut lengths, mut keyed, mut bytes) = (HashMap::new(), true, 0_u64);
        for (leaf, column) in read {
            bytes = bytes.saturating_add(column.uncompressed_size().unsigned_abs());
            let (start, length) = column.byte_range();
            let range = start..start.saturating_add(length);
            let pages = page_headers::read(&self.at, range, room).map_err(|error| {
                let tell = |why| format!("column `{}`: {why}", column.column_path().string());
                Stop::Failed(error.told(tell))
            })?;
            keyed &= pages.iter().all(PageHeader::is_keyed);
            lengths.insert(leaf, pages.iter().map(|page| page.unpacked).collect());
        }
        let levels_of_keys = self.levels_of_keys.as_ref().filter(|_| keyed && options.once);
        let (levels, usual, each) = match levels_of_keys {
            Some(levels) => (levels, KEYED_ROWS, 1),
            None => (&self.levels, ROWS, (bytes / rows.max(1)).max(1)),
        };
        let batch = (options.chunk_size as u64 / each).clamp(*usual.start(), *usual.end());
        let mut groups = GroupPages {
            at: Arc::new(self.at.within(room)),
            metadata: Arc::clone(self.metadata.metadata()),
            group: section,
            lengths,
            batch: batch.min(rows).max(1) as usize,
            room,
            keyed: levels_of_keys.is_some(),
            is_over: Arc::default(),
        };
        let mut found = 0;
        let mut batches = behind(levels, &groups, found)?;
        while let Some(batch) = batches.next() {
            let batch = match batch {
                Ok(batch) => batch,
                // Retry with smaller batches: they take less memory, and all rows before damage are read,
                // independent of the batch size.
                Err(_) if groups.batch > 1 => {
                    groups.batch /= 2;
                    groups.is_over.store(false, Ordering::Relaxed);
                    batches = behind(levels, &groups, found)?;
                    continue;
                }
                Err(error) => return Err(failed(&groups, arrow_message(error))),
            };
            found += batch.num_rows() as u64;
            let end = self.place(self.starts[section] + found);
            take(&batch, end)?;
        }
        // A column with too few pages ends the batches early, without an error.
        if found != rows {
            let why = format!("it says that it has {rows} rows, and has {found}");
            return Err(Stop::Failed(why.into()));
        }
        Ok(())
    }

    /// Estimates the file offset after `rows` rows, for progress display.
    fn place(&self, rows: u64) -> u64 {
        let all = self.starts.last().copied().unwrap_or(0).max(1);
        (u128::from(self.at.size()) * u128::from(rows) / u128::from(all)) as u64
    }
}

/// Rejects a file whose columns of these leaves cannot be read. `name` names one.
fn check_columns(
    at: &At,
    footer: &ParquetMetaData,
    wanted: &[usize],
    encrypted: &BTreeSet<usize>,
    name: impl Fn(usize) -> String,
) -> Result<(), Trouble> {
    // The library does not notice encryption, and would decode noise.
    if wanted.iter().any(|leaf| encrypted.contains(leaf)) {
        return Err(Trouble::Columns("its column is encrypted, which is not read".into()));
    }
    // All row groups are asked now, or an error would come after thousands of rows.
    for group in footer.row_groups() {
        let codecs = wanted.iter().filter_map(|leaf| group.columns().get(*leaf));
        if let Some(codec) = codecs.map(|column| column.compression()).find(is_foreign) {
            return Err(Trouble::Columns(format!(
                "its column is compressed with {codec}, and not with zstd, snappy, gzip, brotli or lz4"
            )));
        }
    }
    // Otherwise many row groups could claim the same bytes, and these would be validated for each.
    for leaf in wanted {
        let columns = footer.row_groups().iter().filter_map(|group| group.columns().get(*leaf));
        let lengths = columns.map(|column| column.compressed_size().unsigned_abs());
        let all = lengths.fold(0, u64::saturating_add);
        if all > at.size() {
            return Err(Trouble::Malformed(format!(
                "column `{}`: its row groups have {all} bytes of it, and the file has {}",
                name(*leaf),
                at.size()
            )));
        }
    }
    Ok(())
}

/// Reads a row group from row `found` on.
fn behind(
    levels: &FieldLevels,
    groups: &GroupPages,
    found: u64,
) -> Result<ParquetRecordBatchReader, Stop> {
    let all = groups.num_rows();
    let found = all.min(found as usize);
    let rows = vec![RowSelector::skip(found), RowSelector::select(all - found)];
    let rows = (found > 0).then(|| RowSelection::from(rows));
    ParquetRecordBatchReader::try_new_with_row_groups(levels, groups, groups.batch, rows)
        .map_err(|error| failed(groups, words(&error)))
}

/// Classifies the error by `is_over`, because the library passes on only the text of an error.
fn failed(groups: &GroupPages, why: String) -> Stop {
    let is_over = groups.is_over.load(Ordering::Relaxed);
    Stop::Failed(if is_over { TableError::Limit(why) } else { TableError::Damage(why) })
}

/// True for a codec that no library here decodes.
fn is_foreign(codec: &Compression) -> bool {
    matches!(codec, Compression::LZO)
}

fn malformed(error: ParquetError) -> Trouble {
    Trouble::Malformed(words(&error))
}

/// Returns the library's message without its prefix.
fn words(error: &ParquetError) -> String {
    match error {
        ParquetError::General(words) | ParquetError::EOF(words) => words.clone(),
        error => error.to_string(),
    }
}

/// Returns the number of rows before each row group, and in total.
fn starts(metadata: &ArrowReaderMetadata) -> Result<Vec<u64>, Trouble> {
    let metadata = metadata.metadata();
    let mut starts = vec![0_u64];
    for group in metadata.row_groups() {
        let rows = u64::try_from(group.num_rows()).ok();
        let end = rows.and_then(|rows| starts.last()?.checked_add(rows));
        let says =
            || Trouble::Malformed("a row group has a number of rows that none can have".into());
        starts.push(end.ok_or_else(says)?);
    }
    let (all, said) = (starts.last().copied(), metadata.file_metadata().num_rows());
    if all != u64::try_from(said).ok() {
        let all = all.unwrap_or(0);
        let why = format!("it says that it has {said} rows, and its row groups have {all}");
        return Err(Trouble::Malformed(why));
    }
    Ok(starts)
}

fn leaf(column: &ColumnDescriptor, place: Vec<usize>) -> Leaf {
    let is_decimal = matches!(column.logical_type_ref(), Some(LogicalType::Decimal(_)))
        || column.converted_type() == ConvertedType::DECIMAL;
    let is_half = matches!(column.logical_type_ref(), Some(LogicalType::Float16));
    let is_time = matches!(
        column.logical_type_ref(),
        Some(LogicalType::Date | LogicalType::Time(_) | LogicalType::Timestamp(_))
    ) || matches!(
        column.converted_type(),
        ConvertedType::DATE
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS
    );
    let holds = if column.max_rep_level() > 0 {
        Holds::Lists
    } else {
        match column.physical_type() {
            Physical::BYTE_ARRAY if !is_decimal => Holds::Text,
            _ if matches!(column.logical_type_ref(), Some(LogicalType::Unknown)) => Holds::Nothing,
            Physical::INT32 | Physical::INT64 if is_time => Holds::Times,
            Physical::INT32 | Physical::INT64 | Physical::FLOAT | Physical::DOUBLE => {
                Holds::Numbers
            }
            Physical::FIXED_LEN_BYTE_ARRAY if is_decimal || is_half => Holds::Numbers,
            Physical::BOOLEAN => Holds::Flags,
            _ => Holds::Other,
        }
    };
    Leaf { path: column.path().parts().to_vec(), place, holds }
}

/// Appends the index paths of the columns with values below `above`, in order.
fn flatten(above: &[usize], node: &Type, places: &mut Vec<Vec<usize>>) {
    for (number, child) in node.get_fields().iter().enumerate() {
        let place = [above, &[number]].concat();
        if child.is_group() { flatten(&place, child, places) } else { places.push(place) }
    }
}

/// Renumbers index paths for a schema that has only these columns.
fn among(places: &[&[usize]]) -> Vec<Vec<usize>> {
    let number = |place: &[usize], level: usize| {
        let beside = places.iter().filter(|other| other.starts_with(&place[..level]));
        let numbers = beside.filter_map(|other| other.get(level));
        numbers.filter(|number| **number < place[level]).collect::<BTreeSet<_>>().len()
    };
    let among = |place: &&[usize]| (0..place.len()).map(|level| number(place, level)).collect();
    places.iter().map(among).collect()
}

/// Copies the schema, with the byte array columns at `places` reduced to plain bytes without a logical
/// type.
fn as_bytes(node: &Type, places: &[&[usize]]) -> Result<TypePtr, ParquetError> {
    let info = node.get_basic_info();
    let below = |(number, child): (usize, &TypePtr)| -> Result<TypePtr, ParquetError> {
        let places = below(places, number);
        if places.is_empty() { Ok(Arc::clone(child)) } else { as_bytes(child, &places) }
    };
    if !node.is_group() {
        if node.get_physical_type() != Physical::BYTE_ARRAY {
            return Ok(Arc::new(node.clone()));
        }
        let plain = Type::primitive_type_builder(node.name(), Physical::BYTE_ARRAY);
        return Ok(Arc::new(plain.with_repetition(info.repetition()).build()?));
    }
    let fields = node.get_fields().iter().enumerate().map(below).collect::<Result<Vec<_>, _>>()?;
    let mut group = Type::group_type_builder(node.name())
        .with_fields(fields)
        .with_logical_type(info.logical_type_ref().cloned())
        .with_converted_type(info.converted_type());
    if info.has_repetition() {
        group = group.with_repetition(info.repetition());
    }
    Ok(Arc::new(group.build()?))
}

/// Copies the Arrow fields, with the binary columns at `places` changed to the type `text`.
fn texts_as(fields: &Fields, places: &[&[usize]], text: &DataType) -> Fields {
    let field = |(number, field): (usize, &Arc<Field>)| {
        let places = below(places, number);
        let data_type = match field.data_type() {
            DataType::Binary if !places.is_empty() => text.clone(),
            DataType::Struct(fields) if !places.is_empty() => {
                DataType::Struct(texts_as(fields, &places, text))
            }
            _ => return Arc::clone(field),
        };
        Arc::new(Field::clone(field).with_data_type(data_type))
    };
    fields.iter().enumerate().map(field).collect()
}

/// Returns the remainders of the paths that begin with `number`.
fn below<'a>(places: &[&'a [usize]], number: usize) -> Vec<&'a [usize]> {
    let inside = places.iter().filter_map(|place| place.split_first());
    inside.filter(|(first, _)| **first == number).map(|(_, rest)| rest).collect()
}
