//! The stores that are measured.

mod uniqurl;
#[cfg(feature = "peers")]
mod lmdb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
#[cfg(feature = "peers")]
mod sqlite;

use std::error::Error;
use std::path::{Path, PathBuf};

use crate::feed::Feed;
use crate::keys::Batch;

/// A failure, with its text.
pub type Failure = Box<dyn Error + Send + Sync>;

/// Threads that a store is asked on.
pub const THREADS: usize = 2;

/// Memory for sorting, merging and caches, in bytes.
pub const MEMORY: usize = 512 << 20;

/// A store that is measured.
pub trait Contender {
    /// Takes all keys of the feed, and brings them to the disk.
    fn build(&mut self, feed: &mut Feed) -> Result<(), Failure>;

    /// Looks keys up on [`THREADS`] threads, and returns how many are in the store.
    fn look_up(&self, keys: &Batch) -> Result<u64, Failure>;

    /// Looks keys up, adds the new ones, brings them to the disk, and returns their number.
    fn add(&mut self, keys: &Batch) -> Result<u64, Failure>;

    /// Waits for work that adds left to threads of their own.
    fn settle(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// The files that hold keys.
    fn files(&self) -> Result<Vec<PathBuf>, Failure>;
}

/// Makes a contender in a directory.
type Create = fn(&Path, u64) -> Result<Box<dyn Contender>, Failure>;

/// A contender, and how it is made in an empty directory for a number of keys.
pub struct Entry {
    pub name: &'static str,
    /// How it is set up.
    pub setup: String,
    /// Bytes of a block, to measure how long it takes to read those that a batch touches.
    pub block: Option<usize>,
    pub create: Create,
}

/// All contenders of this build.
pub fn all() -> Vec<Entry> {
    vec![
        uniqurl::entry(),
        #[cfg(feature = "rocksdb")]
        rocksdb::entry(),
        #[cfg(feature = "peers")]
        lmdb::entry(),
        #[cfg(feature = "peers")]
        sqlite::entry(),
    ]
}

/// The regular files of a directory.
fn files_of(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// Sums the results of `ask` over parts of the keys, each on a thread of its own.
#[cfg(feature = "peers")]
fn on_threads(
    keys: &Batch,
    ask: impl Fn(&[&[u8]]) -> Result<u64, Failure> + Sync,
) -> Result<u64, Failure> {
    let keys: Vec<&[u8]> = keys.iter().collect();
    let parts = keys.chunks(keys.len().div_ceil(THREADS).max(1));
    std::thread::scope(|scope| {
        let ask = &ask;
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || ask(part))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the thread ends")).sum()
    })
}
