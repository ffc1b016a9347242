//! Reads the pages of a row group for the library, which decodes their values.
//!
//! The library takes memory by what a page says of itself. Input is its packed pages; output is each page
//! unpacked, or an error for one that would take more memory than there is.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parquet::arrow::arrow_reader::RowGroups;
use parquet::basic::{Compression, Encoding, Type as Physical};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;

use super::deltas::Deltas;
use super::error::TableError;
use super::file::At;
use super::unpack::Unpacker;

/// The columns of a row group.
pub(super) struct GroupPages {
    pub(super) at: Arc<At>,
    pub(super) metadata: Arc<ParquetMetaData>,
    pub(super) group: usize,
    /// For each column that is read, the unpacked lengths of its pages. The library does not tell them.
    pub(super) lengths: HashMap<usize, Arc<[usize]>>,
    /// Rows per batch, and the bytes that those of a column may take.
    pub(super) batch: usize,
    pub(super) room: usize,
    /// True if all values are dictionary keys.
    pub(super) keyed: bool,
    /// Set when a page exceeded `room`.
    pub(super) is_over: Arc<AtomicBool>,
}

impl GroupPages {
    fn group(&self) -> &RowGroupMetaData {
        self.metadata.row_group(self.group)
    }

    fn pages(&self, column: usize) -> Result<Box<dyn PageReader>> {
        let chunk = self.group().column(column);
        // The library hands out the pages as they are. Of some codecs it would unpack all before it compared
        // the length.
        let packed = chunk.clone().into_builder().set_compression(Compression::UNCOMPRESSED);
        let rows = usize::try_from(self.group().num_rows())?;
        let reader = SerializedPageReader::new(Arc::clone(&self.at), &packed.build()?, rows, None)?;
        Ok(Box::new(ColumnPages {
            reader,
            lengths: self.lengths.get(&column).cloned().unwrap_or_default(),
            page: 0,
            unpacker: Unpacker::new(chunk.compression()),
            column: chunk.column_descr_ptr(),
            batch: self.batch,
            room: self.room,
            keyed: self.keyed,
            is_over: Arc::clone(&self.is_over),
            values: 0,
            bytes: 0,
        }))
    }
}

impl RowGroups for GroupPages {
    fn num_rows(&self) -> usize {
        usize::try_from(self.group().num_rows()).unwrap_or(0)
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        Ok(Box::new(OneColumn(Some(self.pages(column)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.group()))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

/// An iterator over the pages of a single row group.
struct OneColumn(Option<Result<Box<dyn PageReader>>>);

impl Iterator for OneColumn {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take()
    }
}

impl PageIterator for OneColumn {}

/// The pages of a column.
struct ColumnPages {
    reader: SerializedPageReader<At>,
    /// The unpacked lengths of all pages, and the number of the next page.
    lengths: Arc<[usize]>,
    page: usize,
    unpacker: Unpacker,
    column: ColumnDescPtr,
    /// Rows per batch, and the bytes that they may take.
    batch: usize,
    room: usize,
    keyed: bool,
    is_over: Arc<AtomicBool>,
    /// Values read so far in about one batch, and their bytes.
    values: usize,
    bytes: usize,
}

impl Iterator for ColumnPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for ColumnPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let Some(page) = self.reader.get_next_page()? else { return Ok(None) };
        self.unpack(page).map(Some).map_err(|error| self.error(error))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.reader.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        // `lengths` has all pages, so those that are passed over count.
        self.page += 1;
        self.reader.skip_next_page()
    }
}

type Checked<T = ()> = std::result::Result<T, TableError>;

impl ColumnPages {
    fn error(&self, error: TableError) -> ParquetError {
        let column = self.column.path().string();
        ParquetError::General(match error {
            TableError::Damage(why) => {
                format!("column `{column}`: a page says what cannot be: {why}")
            }
            TableError::Limit(why) => {
                self.is_over.store(true, Ordering::Relaxed);
                format!("column `{column}`: in a page, {why}")
            }
        })
    }

    fn unpack(&mut self, mut page: Page) -> Checked<Page> {
        let length = self.lengths.get(self.page).copied().unwrap_or(0);
        self.page += 1;
        let (bytes, levels, is_packed) = match &mut page {
            Page::DictionaryPage { buf, .. } | Page::DataPage { buf, .. } => (buf, 0, true),
            Page::DataPageV2 {
                buf,
                is_compressed,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let levels = *def_levels_byte_len as usize + *rep_levels_byte_len as usize;
                (buf, levels, *is_compressed)
            }
        };
        // Some writers store a page that would not shrink.
        if is_packed {
            *bytes = self.unpacker.unpack(std::mem::take(bytes), levels, length)?;
        }
        match &page {
            Page::DictionaryPage { buf, num_values, .. } => {
                // The fewest bytes of a value: four for a number or for the length of a text.
                let least = match self.column.physical_type() {
                    Physical::FIXED_LEN_BYTE_ARRAY => self.column.type_length().unsigned_abs(),
                    _ => size_of::<u32>() as u32,
                };
                if *num_values as usize > buf.len() / least.max(1) as usize {
                    return Err("a dictionary has more values than it has room for".into());
                }
            }
            Page::DataPage { buf, num_values, encoding, def_level_encoding, .. } => {
                let values = *num_values as usize;
                let levels = self.levels(buf, values, *def_level_encoding);
                self.check(*encoding, values, levels.and_then(|levels| buf.get(levels..)))?;
            }
            Page::DataPageV2 { buf, num_values, encoding, .. } => {
                self.check(*encoding, *num_values as usize, buf.get(levels..))?;
            }
        }
        Ok(page)
    }

    /// Returns the length of the definition levels at the start of a version 1 page. Lists are never
    /// read, so there are no repetition levels.
    fn levels(&self, bytes: &[u8], values: usize, encoding: Encoding) -> Option<usize> {
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

    /// Checks the memory that the values of a page take in batches.
    fn check(&mut self, encoding: Encoding, values: usize, bytes: Option<&[u8]>) -> Checked {
        let bytes = bytes.ok_or("its levels are longer than it is")?;
        match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                self.check_count(Deltas::new(bytes)?.left(), values)?;
            }
            Encoding::DELTA_BYTE_ARRAY => return self.spell_out(bytes, values),
            Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY => {}
            // The library would expand the keys of the batch so far, each to a text of any length.
            _ if self.keyed => return Err("its encoding is not what it was".into()),
            _ => {}
        }
        self.add(values, bytes.len())
    }

    /// Checks the number of values that some encodings state again before them. The library takes memory
    /// for two lengths of each.
    fn check_count(&self, stated: usize, values: usize) -> Checked {
        if stated > values {
            return Err(format!(
                "it has {values} values by its head, and {stated} by what stands before them"
            )
            .into());
        }
        if stated * 2 * size_of::<i32>() > self.room {
            return Err(TableError::too_much(format_args!("it has {stated} values")));
        }
        Ok(())
    }

    /// Adds up the expanded lengths of texts: a page of a few bytes can repeat a long text many times.
    fn spell_out(&mut self, bytes: &[u8], values: usize) -> Checked {
        let mut prefixes = Deltas::new(bytes)?;
        self.check_count(prefixes.left(), values)?;
        let mut suffixes = Deltas::new(&bytes[prefixes.clone().end()?..])?;
        if suffixes.left() != prefixes.left() {
            return Err("its values do not have as many beginnings as ends".into());
        }
        let mut last = 0;
        while let (Some(prefix), Some(suffix)) = (prefixes.next()?, suffixes.next()?) {
            let (Ok(prefix), Ok(suffix)) = (usize::try_from(prefix), usize::try_from(suffix))
            else {
                return Err("a value has a length that none can have".into());
            };
            // The library cuts a prefix that is longer than the text before it, so the sum has to
            // do the same.
            last = prefix.min(last) + suffix;
            self.add(1, last)?;
        }
        Ok(())
    }

    /// Adds values to those of about one batch, which may take `room` bytes if they are in several pages. A
    /// batch may begin in the middle of one such sum, and then takes as many bytes as two.
    fn add(&mut self, values: usize, bytes: usize) -> Checked {
        if self.values >= self.batch {
            (self.values, self.bytes) = (0, 0);
        }
        (self.values, self.bytes) = (self.values + values, self.bytes + bytes);
        if self.bytes > self.room / 2 && self.values > values {
            let Self { values, bytes, .. } = self;
            return Err(TableError::too_much(format_args!("{values} values are {bytes} bytes")));
        }
        Ok(())
    }
}
