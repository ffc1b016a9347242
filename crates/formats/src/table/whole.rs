//! Reads the rows of a table with all of their columns.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;

use super::batch::{Stop, TableOptions};
use super::file::At;
use super::{PANICKED, THREAD, TableContent, arrow, container_of, on_thread, parquet};
use crate::input::{InputError, OpenFile, Trouble};
use crate::record::Container;

/// Batches that may wait to be taken.
const AHEAD: usize = 2;

/// A table whose rows are copied.
#[derive(Debug)]
pub struct WholeTable {
    file: Arc<OpenFile>,
    content: Arc<TableContent>,
    schema: SchemaRef,
}

impl fmt::Debug for TableContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableContent").finish_non_exhaustive()
    }
}

impl WholeTable {
    /// Opens the table in a file, with at most so many bytes for its footer. None if the file is no table.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is damaged, or one of its columns cannot be read.
    pub fn open(file: Arc<OpenFile>, memory: usize) -> Result<Option<Self>, InputError> {
        let trouble = |trouble| InputError::new(file.path(), None, trouble);
        let Some(container) = container_of(&file)? else { return Ok(None) };
        let at = At::new(Arc::clone(&file));
        let opened = on_thread(move || match container {
            Container::Parquet => {
                let content = parquet::ParquetFile::open_whole(at, memory)?;
                Ok((content.schema(), TableContent::Parquet(content)))
            }
            Container::Arrow => {
                let content = arrow::ArrowFile::open_whole(at, memory)?;
                Ok((content.schema(), TableContent::Arrow(content)))
            }
        });
        let opened = opened.map_err(|error| trouble(Trouble::Io(error)))?;
        let opened = opened.unwrap_or_else(|| Err(Trouble::Malformed(PANICKED.to_owned())));
        let (schema, content) = opened.map_err(trouble)?;
        Ok(Some(Self { file, content: Arc::new(content), schema }))
    }

    /// Its columns.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Passes all rows to `take`, in order, until it breaks.
    ///
    /// # Errors
    ///
    /// The table is damaged, or has changed. The rows before the damage were passed on.
    pub fn read<B>(
        &self,
        options: TableOptions,
        mut take: impl FnMut(RecordBatch) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, InputError> {
        let trouble = |trouble| InputError::new(self.file.path(), None, trouble);
        let (sender, batches) = sync_channel(AHEAD);
        let content = Arc::clone(&self.content);
        let reading = move || {
            let mut send =
                |batch: &RecordBatch, _| sender.send(batch.clone()).map_err(|_| Stop::Unwanted);
            (0..content.sections()).try_for_each(|section| {
                content.read_batches(section, options, &mut send).map_err(|stop| (section, stop))
            })
        };
        let thread = thread::Builder::new().name(THREAD.into()).spawn(reading);
        let thread = thread.map_err(|error: io::Error| trouble(Trouble::Io(error)))?;
        let taken = batches.iter().try_for_each(&mut take);
        // The thread sees with its next batch that nobody takes it.
        drop(batches);
        let damage = match thread.join() {
            Ok(Ok(()) | Err((_, Stop::Unwanted))) => None,
            Ok(Err((section, Stop::Failed(why)))) => {
                let name = self.content.name(section);
                Some(why.told(|why| format!("{name}{why}")).into())
            }
            Err(_) => Some(Trouble::Malformed(PANICKED.to_owned())),
        };
        // Apparent damage may come from a change of the file.
        self.file.verify()?;
        damage.map_or(Ok(taken), |damage| Err(trouble(damage)))
    }
}
