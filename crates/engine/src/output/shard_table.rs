//! Tables in the place of lists in a directory of several outputs.
//!
//! A table takes its rows by the row group, and thousands of row groups would not fit into memory. So each
//! file gathers its lines on the disk, in the temporary directory, and becomes a table at the end, a file
//! for each thread at a time. Every row group but the last of a file is then as large as in a single table.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Output;
use super::file::named;
use super::shards::{Framing, ShardFile, ShardFiles};
use super::table::{TableColumn, TableFile, TableKind};
use uniqurl_formats::record::Separator;
use uniqurl_store::{directory_of, temporary_file};

/// Bytes that are read from the lines at once.
const BLOCK: usize = 256 << 10;

/// Bytes of lines that a file gathers before they are written.
const BUFFER: usize = 64 << 10;

/// The contents of each table.
struct ShardColumns {
    kind: TableKind,
    columns: Vec<TableColumn>,
    sorted_by: Option<usize>,
}

/// A file whose lines become a table.
struct ShardTable {
    /// Where the table is made, and the name that errors give.
    path: PathBuf,
    name: PathBuf,
    columns: Arc<ShardColumns>,
    /// The lines, unless they are in the table already.
    lines: Option<BufWriter<File>>,
}

impl ShardFiles {
    /// The same as [`create`](Self::create) for tables of these columns, sorted by the one of this number,
    /// from 0, if there is one.
    ///
    /// # Errors
    ///
    /// As for [`create`](Self::create).
    pub fn create_tables(
        name: &Path,
        count: u32,
        suffix: &str,
        (kind, columns): (TableKind, Vec<TableColumn>),
        sorted_by: Option<usize>,
    ) -> io::Result<Self> {
        let columns = Arc::new(ShardColumns { kind, columns, sorted_by });
        Self::create_with(
            name,
            count,
            suffix,
            Framing::Lines(Separator::LineFeed),
            |path, name, share| {
                let file = ShardTable::create(path, name, share.min(BUFFER), Arc::clone(&columns))?;
                Ok(Box::new(file))
            },
        )
    }
}

impl ShardTable {
    fn create(
        path: &Path,
        name: &Path,
        buffer: usize,
        columns: Arc<ShardColumns>,
    ) -> io::Result<Self> {
        // It has no name, so nothing has to be removed once the table is complete.
        let lines = temporary_file(directory_of(path)).map_err(|error| named(name, error))?;
        let lines = Some(BufWriter::with_capacity(buffer, lines));
        Ok(Self { path: path.to_owned(), name: name.to_owned(), columns, lines })
    }

    fn lines(&mut self) -> io::Result<&mut BufWriter<File>> {
        let why = "the table is complete and takes no more rows";
        self.lines.as_mut().ok_or_else(|| named(&self.name, io::Error::other(why)))
    }

    /// Makes a table of lines.
    fn tabulate(&self, lines: BufWriter<File>) -> io::Result<()> {
        let ShardColumns { kind, columns, sorted_by } = &*self.columns;
        let of_lines = |error| named(&self.name, error);
        let mut lines = lines.into_inner().map_err(|error| of_lines(error.into_error()))?;
        lines.rewind().map_err(of_lines)?;
        let output = Output::create_one_of_many(&self.path, &self.name, BLOCK)?;
        let mut table =
            TableFile::create_alone(output, &self.name, (*kind, columns.clone()), *sorted_by)?;
        let mut block = vec![0; BLOCK];
        loop {
            match lines.read(&mut block).map_err(of_lines)? {
                0 => break,
                read => table.write_all(&block[..read])?,
            }
        }
        table.commit()
    }
}

impl Write for ShardTable {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.lines()?.write(bytes);
        written.map_err(|error| named(&self.name, error))
    }

    fn flush(&mut self) -> io::Result<()> {
        // The rows wait for the table, which is made at the end.
        Ok(())
    }
}

impl ShardFile for ShardTable {
    fn prepare(&mut self) -> io::Result<()> {
        // What is prepared twice finds the table made.
        self.lines.take().map_or(Ok(()), |lines| self.tabulate(lines))
    }
}
