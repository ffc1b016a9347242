//! Checksums of the pages of a Parquet file.
//!
//! The writer of the library `parquet` leaves out the field `crc` of a page's header, though its reader
//! verifies it. In: finished pages, each a header and then its bytes. Out: the same with the field.

use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, PageKey, PageStore, PageStoreFactory};
use parquet::column::page_store::PageStoreArgs;
use parquet::errors::{ParquetError, Result};

/// Bytes that the field adds to a header. It is always the longest form of the number, so that the number of
/// pages tells how far each page moves.
const FIELD: usize = 6;

/// The first byte of a field of 32 bits that comes next by its number, in Thrift's compact protocol.
const NEXT_I32: u8 = 0x15;

/// The fields before `crc`: type, unpacked size and packed size. Every header has them.
const BEFORE: usize = 3;

/// Makes the stores of a file's columns.
#[derive(Debug)]
struct CheckedPages;

/// The headers and bytes of a column's pages, in turn.
#[derive(Default)]
struct CheckedStore(Vec<Bytes>);

/// Stores that add the checksums.
pub(super) fn stores() -> Arc<dyn PageStoreFactory> {
    Arc::new(CheckedPages)
}

impl PageStoreFactory for CheckedPages {
    fn create(&self, _: &PageStoreArgs<'_>) -> Result<Box<dyn PageStore>> {
        Ok(Box::new(CheckedStore::default()))
    }
}

impl PageStore for CheckedStore {
    fn put(&mut self, blob: Bytes) -> Result<PageKey> {
        let number = self.0.len();
        // A page comes as two blobs, its header and its bytes. So an odd one has the header before it.
        if number % 2 == 1 {
            let header = &mut self.0[number - 1];
            let checked = with_checksum(header, crc32fast::hash(&blob));
            *header = checked.ok_or_else(|| unexpected("a page has an unexpected header"))?;
        }
        self.0.push(blob);
        Ok(PageKey::new(number as u64))
    }

    fn take(&mut self, key: PageKey) -> Result<Bytes> {
        let blob = usize::try_from(key.get()).ok().and_then(|number| self.0.get_mut(number));
        blob.map(std::mem::take).ok_or_else(|| unexpected("a page is not in its store"))
    }
}

fn unexpected(why: &str) -> ParquetError {
    ParquetError::General(why.to_owned())
}

/// Inserts the field into a header.
fn with_checksum(header: &[u8], checksum: u32) -> Option<Bytes> {
    let mut at = 0;
    for _ in 0..BEFORE {
        let (first, number) = header.get(at..)?.split_first()?;
        // Thrift's compact protocol has no lengths of fields. With any other header, the
        // place for `crc` is unknown.
        if *first != NEXT_I32 {
            return None;
        }
        at += 2 + number.iter().position(|byte| *byte < 0x80)?;
    }
    let (before, after) = header.split_at(at);
    let (next, after) = after.split_first()?;
    let signed = checksum as i32;
    // The protocol writes numbers as zigzag, the last bit being the sign.
    let zigzag = (signed << 1 ^ signed >> 31) as u32;
    let septet = |i: u32| (zigzag >> (7 * i)) as u8 & 0x7F;
    let number =
        [septet(0) | 0x80, septet(1) | 0x80, septet(2) | 0x80, septet(3) | 0x80, septet(4)];
    // The upper half of a field's first byte is the distance to the number of the field before it.
    let next = next.checked_sub(0x10)?;
    Some([before, &[NEXT_I32], &number, &[next], after].concat().into())
}

/// Adds the fields to the sizes and places of the pages of a column, which were noted without them. The column has
/// no dictionary, since the library keeps the length of that page to itself.
pub(super) fn count_in(chunk: &mut ArrowColumnChunk) -> Result<()> {
    let close = chunk.close_mut();
    let mut added = 0;
    for page in close.offset_index.iter_mut().flat_map(|index| &mut index.page_locations) {
        page.offset += added;
        page.compressed_page_size += FIELD as i32;
        added += FIELD as i64;
    }
    close.bytes_written += added.unsigned_abs();
    let metadata = close.metadata.clone();
    let (packed, unpacked) = (metadata.compressed_size(), metadata.uncompressed_size());
    close.metadata = metadata
        .into_builder()
        .set_total_compressed_size(packed + added)
        .set_total_uncompressed_size(unpacked + added)
        .build()?;
    Ok(())
}
