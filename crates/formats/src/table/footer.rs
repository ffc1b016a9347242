//! Validates the footer of a Parquet file before the library trusts it.
//!
//! The library recurses as deep as the schema is nested, and keeps the path of names of each column, so a
//! footer of a few bytes could abort the process. Input is the footer; output is an error if it claims the
//! impossible, or more than memory allows, and otherwise the columns that are encrypted, which the library
//! does not detect.

use std::collections::BTreeSet;

use super::error::TableError;
use super::file::At;
use super::thrift::{BINARY, BYTE, I32, STRUCT, TRUE, ThriftError, ThriftReader};

/// Deepest nesting of columns. Real writers reach a tenth of that.
const NESTED: usize = 100;

/// Approximate memory that the library uses per column of a schema, and per column of a row group.
const COLUMN: usize = 1 << 10;
const CHUNK: usize = 1 << 10;

/// Longest footer, and the memory always granted to one.
const FOOTER: usize = 256 << 20;
const LEAST: usize = 16 << 20;

// The fields of parquet.thrift.
const VERSION: i16 = 1;
const SCHEMA: i16 = 2;
const ROW_GROUPS: i16 = 4;
const NAME: i16 = 4;
const CHILDREN: i16 = 5;
const LOGICAL_TYPE: i16 = 10;
const COLUMNS: i16 = 1;
const CRYPTO_METADATA: i16 = 8;

/// Validates the footer of a file, which may take `memory` bytes. Returns the columns that are
/// encrypted in some row group.
///
/// A file without a valid footer is left to the library to reject.
pub(super) fn check(at: &At, memory: usize) -> Result<BTreeSet<usize>, TableError> {
    let memory = memory.max(LEAST);
    let size = at.size();
    let mut end = [0; 8];
    let Some(place) = size.checked_sub(end.len() as u64) else { return Ok(BTreeSet::new()) };
    at.read_at(&mut end, place)?;
    let [a, b, c, d, magic @ ..] = end;
    let length = u32::from_le_bytes([a, b, c, d]);
    if magic != *b"PAR1" || u64::from(length) > place {
        return Ok(BTreeSet::new());
    }
    if length as usize > FOOTER.min(memory) {
        return Err(TableError::too_much(format_args!("its footer has {length} bytes")));
    }
    let mut bytes = vec![0; length as usize];
    at.read_at(&mut bytes, place - u64::from(length))?;
    let mut footer = Footer::default();
    footer.read(&mut ThriftReader::new(&bytes)).map_err(|wrong| match wrong {
        ThriftError::Cut => "its footer ends early".to_owned(),
        ThriftError::Not(words) => format!("its footer: {words}"),
    })?;
    let Footer { schema: Schema { columns, paths, .. }, chunks, encrypted } = footer;
    // The library stores the full path of names for every column, twice.
    let all = columns.saturating_mul(COLUMN).saturating_add(2 * paths);
    let all = all.saturating_add(chunks.saturating_mul(CHUNK)).saturating_add(2 * bytes.len());
    if all > memory {
        return Err(TableError::too_much(format_args!(
            "its footer tells of {columns} columns, and {chunks} in all row groups"
        )));
    }
    Ok(encrypted)
}

#[derive(Default)]
struct Footer {
    schema: Schema,
    /// Columns of all row groups.
    chunks: usize,
    /// The columns that are encrypted in some row group.
    encrypted: BTreeSet<usize>,
}

impl Footer {
    fn read(&mut self, reader: &mut ThriftReader<'_>) -> Result<(), ThriftError> {
        let mut has_schema = false;
        reader.fields(&mut |reader, id, kind| match id {
            VERSION => reader.skip_as(kind, I32),
            // The library reads no second schema.
            SCHEMA if !std::mem::replace(&mut has_schema, true) => {
                reader.structs(kind, &mut |reader, left| self.schema.read_column(reader, left))
            }
            ROW_GROUPS => reader.structs(kind, &mut |reader, _| self.read_group(reader)),
            // The library looks at field numbers, not at types. A field of a wrong type before the schema
            // could hide the schema that the library reads. All writers write the fields in order.
            _ if !has_schema => Err(ThriftError::Not("its schema does not follow its version")),
            _ => reader.skip(kind),
        })
    }

    fn read_group(&mut self, reader: &mut ThriftReader<'_>) -> Result<(), ThriftError> {
        reader.fields(&mut |reader, id, kind| match id {
            COLUMNS => {
                let mut column = 0;
                reader.structs(kind, &mut |reader, _| {
                    self.chunks += 1;
                    column += 1;
                    reader.fields(&mut |reader, id, kind| match id {
                        CRYPTO_METADATA => {
                            self.encrypted.insert(column - 1);
                            reader.skip_as(kind, STRUCT)
                        }
                        _ => reader.skip(kind),
                    })
                })
            }
            _ => reader.skip(kind),
        })
    }
}

/// A schema's columns, in depth-first order.
#[derive(Default)]
struct Schema {
    /// The open parent columns: the number of children still to come in each, and the length of its
    /// path.
    open: Vec<(u64, usize)>,
    columns: usize,
    /// Total length of the paths of all columns.
    paths: usize,
}

impl Schema {
    /// Reads a column, after which `left` come. The types of its fields must be those that the library
    /// expects, which goes by their numbers alone and must read the same numbers of children.
    fn read_column(&mut self, reader: &mut ThriftReader<'_>, left: u64) -> Result<(), ThriftError> {
        let (mut children, mut name) = (0, 0);
        reader.fields(&mut |reader, id, kind| {
            match id {
                NAME => name = reader.text(kind)?,
                CHILDREN => children = reader.int(kind)?,
                LOGICAL_TYPE => reader.structure(kind, &mut read_logical_type)?,
                1..LOGICAL_TYPE => reader.skip_as(kind, I32)?,
                _ => reader.skip(kind)?,
            }
            Ok(())
        })?;
        self.columns += 1;
        while self.open.pop_if(|(more, _)| *more == 0).is_some() {}
        let above = self.open.last_mut().map_or(0, |(more, path)| {
            *more -= 1;
            *path
        });
        let path = above + name + size_of::<String>();
        // A negative number counts as more columns than there can be.
        let children = u64::try_from(children).unwrap_or(u64::MAX);
        if children > left {
            return Err(ThriftError::Not("a column has more columns in it than there are"));
        }
        if children > 0 {
            if self.open.len() == NESTED {
                return Err(ThriftError::Not("its columns are nested too deep"));
            }
            self.open.push((children, path));
        } else {
            self.paths = self.paths.saturating_add(path);
        }
        Ok(())
    }
}

/// Reads a logical type: a struct, whose fields depend on its number. The library expects no field in most.
fn read_logical_type(
    reader: &mut ThriftReader<'_>,
    number: i16,
    kind: u8,
) -> Result<(), ThriftError> {
    reader.structure(kind, &mut |reader, id, kind| match (number, id) {
        // Decimals and geographies have numbers, times and integers have flags.
        (5, 1 | 2) | (18, 2) => reader.skip_as(kind, I32),
        (7 | 8, 1) | (10, 2) => reader.skip_as(kind, TRUE),
        (7 | 8, 2) => reader.skip_as(kind, STRUCT),
        (10 | 16, 1) => reader.skip_as(kind, BYTE),
        (17 | 18, 1) => reader.skip_as(kind, BINARY),
        _ => reader.skip(kind),
    })
}
