//! Tables as others write them: Parquet and Arrow, with the crates of the Apache Arrow project.

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// A batch of columns that may have nulls.
pub fn batch<'a>(columns: impl IntoIterator<Item = (&'a str, ArrayRef)>) -> RecordBatch {
    let columns = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

pub fn parquet(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    file
}

/// Without a dictionary.
pub fn plain() -> WriterProperties {
    WriterProperties::builder().set_dictionary_enabled(false).build()
}

pub type Packed = Option<CompressionType>;

/// A file and a stream of batches with so many rows.
pub fn arrow(batch: &RecordBatch, rows: usize, packed: Packed) -> [Vec<u8>; 2] {
    arrow_with(batch, rows, || IpcWriteOptions::default().try_with_compression(packed).unwrap())
}

pub fn arrow_with(
    batch: &RecordBatch,
    rows: usize,
    options: impl Fn() -> IpcWriteOptions,
) -> [Vec<u8>; 2] {
    let schema = batch.schema();
    let mut file = FileWriter::try_new_with_options(Vec::new(), &schema, options()).unwrap();
    let mut stream = StreamWriter::try_new_with_options(Vec::new(), &schema, options()).unwrap();
    for start in (0..batch.num_rows()).step_by(rows.max(1)) {
        let part = batch.slice(start, rows.min(batch.num_rows() - start));
        file.write(&part).unwrap();
        stream.write(&part).unwrap();
    }
    [file.into_inner().unwrap(), stream.into_inner().unwrap()]
}
