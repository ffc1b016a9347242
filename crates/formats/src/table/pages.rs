//! Validates the pages of a column after they are unpacked and before the library trusts them.
//!
//! A page states its number of values, with some encodings twice: in its header, and again before the
//! values. The library allocates by the second number, which nothing else bounds. Input is a page from
//! the library's own reader; output is the same page, or an error if the two numbers contradict each
//! other or exceed the memory limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Encoding, Type as Physical};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;

use super::deltas::{self, Deltas};
use super::error::TableError;
use super::file::At;

/// The columns of a row group, with validated pages.
pub(super) struct Looked {
    pub(super) at: Arc<At>,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) group: usize,
    /// Rows per batch, and the bytes that those of a column may take.
    pub(super) batch: usize,
    pub(super) room: usize,
    /// True if all values are dictionary keys.
    pub(super) keyed: bool,
    /// Set when a page exceeded `room`.
    pub(super) is_over: Arc<AtomicBool>,
}

impl Looked {
    fn group(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.group)
    }

    fn pages(&self, column: usize) -> Result<Box<dyn PageReader>> {
        let chunk = self.group().column(column);
        let rows = usize::try_from(self.group().num_rows())?;
        let reader = SerializedPageReader::new(Arc::clone(&self.at), chunk, rows, None)?;
        let limits = PageLimits {
            batch: self.batch.max(1),
            room: self.room,
            keyed: self.keyed,
            is_over: Arc::clone(&self.is_over),
        };
        let column = chunk.column_descr_ptr();
        Ok(Box::new(Pages { reader, column, limits, values: 0, bytes: 0 }))
    }
}

impl RowGroups for Looked {
    fn num_rows(&self) -> usize {
        usize::try_from(self.group().num_rows()).unwrap_or(0)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        Ok(Box::new(One(Some(self.pages(column)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.group()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// An iterator over the pages of a single row group.
struct One(Option<Result<Box<dyn PageReader>>>);

impl Iterator for One {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take()
    }
}

impl PageIterator for One {}

struct PageLimits {
    batch: usize,
    room: usize,
    keyed: bool,
    is_over: Arc<AtomicBool>,
}

/// The pages of a column.
struct Pages {
    reader: SerializedPageReader<At>,
    column: ColumnDescPtr,
    limits: PageLimits,
    /// Texts expanded so far in about one batch, and their bytes.
    values: usize,
    bytes: usize,
}

impl Iterator for Pages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.reader.get_next_page()?;
        if let Some(page) = &page {
            self.look(page).map_err(|error| {
                let column = self.column.path().string();
                ParquetError::General(match error {
                    TableError::Damage(why) => {
                        format!("column `{column}`: a page says what cannot be: {why}")
                    }
                    TableError::Limit(why) => {
                        self.limits.is_over.store(true, Ordering::Relaxed);
                        format!("column `{column}`: in a page, {why}")
                    }
                })
            })?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.reader.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.reader.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.reader.at_record_boundary()
    }
}

impl Pages {
    fn look(&mut self, page: &Page) -> std::result::Result<(), TableError> {
        let (levels, values, encoding, bytes) = match page {
            // `parquet_limits` has validated the header already.
            Page::DictionaryPage { .. } => return Ok(()),
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let values = *num_values as usize;
                (self.levels(buf, values, *def_level_encoding), values, *encoding, buf)
            }
            Page::DataPageV2 {
                buf,
                num_values,
                num_nulls,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let values = num_values.checked_sub(*num_nulls);
                let values = values.ok_or("it has more nulls than values")?;
                let levels = def_levels_byte_len.checked_add(*rep_levels_byte_len);
                (levels.map(|length| length as usize), values as usize, *encoding, buf)
            }
        };
        let bytes = levels.and_then(|levels| bytes.get(levels..));
        let bytes = bytes.ok_or("its levels are longer than it is")?;
        let is_keyed = matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
        if self.limits.keyed && !is_keyed {
            // The library would expand the keys of the batch so far, each to a text of any length.
            return Err("its encoding is not what it was".into());
        }
        match (self.column.physical_type(), encoding) {
            (_, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) => match bytes.first() {
                Some(width) if *width > 32 => Err(format!("its keys have {width} bits").into()),
                _ => Ok(()),
            },
            (Physical::BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY) => {
                self.stated(Deltas::new(bytes)?.left(), values, 1)
            }
            (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, Encoding::DELTA_BYTE_ARRAY) => {
                let prefixes = Deltas::new(bytes)?;
                self.stated(prefixes.left(), values, 2)?;
                let suffixes = Deltas::new(&bytes[prefixes.clone().end()?..])?;
                if suffixes.left() != prefixes.left() {
                    return Err("its values do not have as many beginnings as ends".into());
                }
                self.spell_out(prefixes, suffixes)
            }
            (Physical::INT32 | Physical::INT64, Encoding::DELTA_BINARY_PACKED) => {
                // The library does not allocate by this number.
                match deltas::count(bytes)? {
                    stated if stated > values => Err(too_many(stated, values)),
                    _ => Ok(()),
                }
            }
            (kind, Encoding::BYTE_STREAM_SPLIT) => match self.width(kind) {
                Some(width) => streams(bytes.len(), width, values),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Returns the width of a value, if all values have the same.
    fn width(&self, kind: Physical) -> Option<usize> {
        match kind {
            Physical::INT32 | Physical::FLOAT => Some(4),
            Physical::INT64 | Physical::DOUBLE => Some(8),
            Physical::FIXED_LEN_BYTE_ARRAY => {
                usize::try_from(self.column.type_length()).ok().filter(|width| *width > 0)
            }
            _ => None,
        }
    }

    /// Returns the length of the definition levels at the start of a version 1 page. Lists are never
    /// read, so there are no repetition levels.
    fn levels(&self, bytes: &Bytes, values: usize, encoding: Encoding) -> Option<usize> {
        let most = self.column.max_def_level();
        if most == 0 {
            return Some(0);
        }
        if encoding == Encoding::RLE {
            let length = u32::from_le_bytes(*bytes.first_chunk()?);
            return usize::try_from(length).ok()?.checked_add(size_of::<u32>());
        }
        let bits = (i16::BITS - most.leading_zeros()) as usize;
        Some((values * bits).div_ceil(8))
    }

    /// Checks the number of values stated before them. The library allocates `lengths` lengths for
    /// each.
    fn stated(
        &self,
        stated: usize,
        values: usize,
        lengths: usize,
    ) -> std::result::Result<(), TableError> {
        if stated > values {
            return Err(too_many(stated, values));
        }
        if stated * lengths * size_of::<i32>() > self.limits.room {
            return Err(TableError::Limit(format!("{stated} values are {NO_ROOM}")));
        }
        Ok(())
    }

    /// Adds up the expanded lengths of values: a page of a few bytes can repeat a long text many times.
    fn spell_out(
        &mut self,
        mut prefixes: Deltas<'_>,
        mut suffixes: Deltas<'_>,
    ) -> std::result::Result<(), TableError> {
        let mut last = 0;
        while let (Some(prefix), Some(suffix)) = (prefixes.next()?, suffixes.next()?) {
            let (Ok(prefix), Ok(suffix)) = (usize::try_from(prefix), usize::try_from(suffix))
            else {
                return Err("a value has a length that none can have".into());
            };
            last = prefix.min(last) + suffix;
            if self.values == self.limits.batch {
                (self.values, self.bytes) = (0, 0);
            }
            self.values += 1;
            self.bytes += last;
            if self.bytes > self.limits.room {
                let Self { values, bytes, .. } = self;
                let why = format!("{values} values are {bytes} bytes spelled out, {NO_ROOM}");
                return Err(TableError::Limit(why));
            }
        }
        Ok(())
    }
}

const NO_ROOM: &str = "more than there is memory for";

fn too_many(stated: usize, values: usize) -> TableError {
    format!("it has {values} values by its head, and {stated} by what stands before them").into()
}

/// Checks the length of byte-stream-split numbers: first bytes of all, then second bytes, and so on.
fn streams(length: usize, width: usize, values: usize) -> std::result::Result<(), TableError> {
    match length / width {
        _ if !length.is_multiple_of(width) => {
            Err(format!("{length} bytes are no numbers of {width}").into())
        }
        stated if stated > values => Err(too_many(stated, values)),
        _ => Ok(()),
    }
}
