//! SQLite.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::{Contender, Entry, Failure, MEMORY, files_of, on_threads};
use crate::feed::Feed;
use crate::keys::Batch;

pub fn entry() -> Entry {
    Entry {
        name: "SQLite",
        setup: format!(
            "a table WITHOUT ROWID, prepared statements, pages of 4 KiB, a page cache of {} MiB for the writer, \
             readers map the file; one synchronous transaction for the build and for each add",
            MEMORY >> 20
        ),
        block: None,
        create: |directory, _| Ok(Box::new(Sqlite::create(directory)?)),
    }
}

struct Sqlite {
    directory: PathBuf,
    writer: Connection,
}

impl Sqlite {
    fn create(directory: &Path) -> Result<Self, Failure> {
        let writer = Connection::open(directory.join("keys.db"))?;
        writer.pragma_update(None, "page_size", 4096)?;
        writer.pragma_update(None, "cache_size", -((MEMORY >> 10) as i64))?;
        writer.pragma_update(None, "synchronous", "FULL")?;
        writer.execute("CREATE TABLE seen (key BLOB PRIMARY KEY) WITHOUT ROWID", [])?;
        Ok(Self { directory: directory.to_owned(), writer })
    }
}

impl Contender for Sqlite {
    fn build(&mut self, feed: &mut Feed) -> Result<(), Failure> {
        let transaction = self.writer.transaction()?;
        let mut insert = transaction.prepare("INSERT INTO seen VALUES (?1)")?;
        let mut batch = Batch::default();
        while feed.next(&mut batch) {
            for key in batch.iter() {
                insert.execute([key])?;
            }
        }
        drop(insert);
        Ok(transaction.commit()?)
    }

    fn look_up(&self, keys: &Batch) -> Result<u64, Failure> {
        let path = self.directory.join("keys.db");
        on_threads(keys, |keys| {
            let reader = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
            reader.pragma_update(None, "mmap_size", i64::MAX)?;
            let mut select = reader.prepare("SELECT 1 FROM seen WHERE key = ?1")?;
            let mut known = 0;
            for key in keys {
                known += u64::from(select.exists([key])?);
            }
            Ok(known)
        })
    }

    fn add(&mut self, keys: &Batch) -> Result<u64, Failure> {
        let transaction = self.writer.transaction()?;
        let mut insert = transaction.prepare("INSERT OR IGNORE INTO seen VALUES (?1)")?;
        let mut added = 0;
        for key in keys.iter() {
            added += insert.execute([key])? as u64;
        }
        drop(insert);
        transaction.commit()?;
        Ok(added)
    }

    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        files_of(&self.directory)
    }
}
