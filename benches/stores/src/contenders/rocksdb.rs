//! RocksDB.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rocksdb::{
    BlockBasedOptions, Cache, ColumnFamilyDescriptor, DB, DBCompressionType, Options, ReadOptions,
    WriteBatch, WriteOptions,
};

use super::{Contender, Entry, Failure, MEMORY, THREADS, files_of, on_threads};
use crate::feed::Feed;
use crate::keys::Batch;

/// Keys of a write batch, and of one `MultiGet`.
const KEYS: usize = 1000;

/// `batched_multi_get` takes a column family.
const FAMILY: &str = "default";

pub fn entry() -> Entry {
    Entry {
        name: "RocksDB",
        setup: format!(
            "Bloom filters of 10 bits, zstd, blocks of 4 KiB, a block cache of {0} MiB and memtables of \
             {0} MiB in all, {THREADS} background threads; sorted write batches of {KEYS} keys without a log \
             and a flush at the end of each add; `MultiGet` of {KEYS} sorted keys; the mean of the adds \
             includes the compactions that are left after the last one",
            MEMORY >> 21
        ),
        block: None,
        create: |directory, _| Ok(Box::new(Rocks::create(directory)?)),
    }
}

struct Rocks {
    path: PathBuf,
    db: DB,
}

impl Rocks {
    fn create(path: &Path) -> Result<Self, Failure> {
        let mut blocks = BlockBasedOptions::default();
        blocks.set_bloom_filter(10.0, false);
        blocks.set_format_version(5);
        blocks.set_block_cache(&Cache::new_lru_cache(MEMORY / 2)?);
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_block_based_table_factory(&blocks);
        options.set_compression_type(DBCompressionType::Zstd);
        options.set_write_buffer_size(MEMORY / 8);
        options.set_max_write_buffer_number(4);
        options.increase_parallelism(THREADS as i32);
        let family = ColumnFamilyDescriptor::new(FAMILY, options.clone());
        let db = DB::open_cf_descriptors(&options, path, [family])?;
        Ok(Self { path: path.to_owned(), db })
    }

    /// The places of the keys that are in the store.
    fn known(&self, keys: &[&[u8]]) -> Result<Vec<bool>, Failure> {
        let family = self.db.cf_handle(FAMILY).ok_or("RocksDB has no column family `default`")?;
        let options = ReadOptions::default();
        let mut known = Vec::with_capacity(keys.len());
        for keys in keys.chunks(KEYS) {
            for value in self.db.batched_multi_get_cf_opt(&family, keys, true, &options) {
                known.push(value?.is_some());
            }
        }
        Ok(known)
    }

    /// Without a log: `flush` brings the keys to the disk.
    fn write<'k>(&self, keys: impl Iterator<Item = &'k [u8]>) -> Result<u64, Failure> {
        let mut options = WriteOptions::default();
        options.disable_wal(true);
        let (mut batch, mut written) = (WriteBatch::default(), 0);
        for key in keys {
            batch.put(key, b"");
            written += 1;
            if batch.len() == KEYS {
                self.db.write_opt(std::mem::take(&mut batch), &options)?;
            }
        }
        self.db.write_opt(batch, &options)?;
        Ok(written)
    }
}

impl Contender for Rocks {
    fn build(&mut self, feed: &mut Feed) -> Result<(), Failure> {
        let mut batch = Batch::default();
        while feed.next(&mut batch) {
            self.write(batch.iter())?;
        }
        self.db.flush()?;
        self.settle()
    }

    fn look_up(&self, keys: &Batch) -> Result<u64, Failure> {
        on_threads(keys, |keys| {
            Ok(self.known(keys)?.into_iter().filter(|known| *known).count() as u64)
        })
    }

    fn add(&mut self, keys: &Batch) -> Result<u64, Failure> {
        let added = on_threads(keys, |keys| {
            let known = self.known(keys)?;
            let new = keys.iter().zip(known).filter(|(_, known)| !known);
            self.write(new.map(|(key, _)| *key))
        })?;
        self.db.flush()?;
        Ok(added)
    }

    fn settle(&mut self) -> Result<(), Failure> {
        let value = |name: &str| -> Result<u64, Failure> {
            Ok(self.db.property_int_value(name)?.unwrap_or(0))
        };
        while value("rocksdb.num-running-compactions")? + value("rocksdb.compaction-pending")? > 0 {
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        files_of(&self.path)
    }
}
