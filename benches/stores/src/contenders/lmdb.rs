//! LMDB.

use std::path::{Path, PathBuf};

use heed::types::{Bytes, Unit};
use heed::{Database, Env, EnvOpenOptions, MdbError, PutFlags};

use super::{Contender, Entry, Failure, files_of, on_threads};
use crate::feed::Feed;
use crate::keys::Batch;

pub fn entry() -> Entry {
    Entry {
        name: "LMDB",
        setup:
            "append mode in one transaction; an add is one transaction that puts what is not there"
                .to_owned(),
        block: None,
        create: |directory, keys| Ok(Box::new(Lmdb::create(directory, keys)?)),
    }
}

struct Lmdb {
    path: PathBuf,
    env: Env,
    database: Database<Bytes, Unit>,
}

impl Lmdb {
    fn create(path: &Path, keys: u64) -> Result<Self, Failure> {
        let mut options = EnvOpenOptions::new();
        // Address space; the file grows as it is written.
        options.map_size(usize::try_from(keys)?.saturating_mul(512).next_multiple_of(1 << 30));
        // SAFETY: the directory was made for this process, and nothing else opens or changes the file while
        // it is mapped.
        #[expect(unsafe_code, reason = "LMDB maps its file")]
        let env = unsafe { options.open(path)? };
        let mut transaction = env.write_txn()?;
        let database = env.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Self { path: path.to_owned(), env, database })
    }
}

impl Contender for Lmdb {
    fn build(&mut self, feed: &mut Feed) -> Result<(), Failure> {
        let mut transaction = self.env.write_txn()?;
        let mut batch = Batch::default();
        while feed.next(&mut batch) {
            for key in batch.iter() {
                self.database.put_with_flags(&mut transaction, PutFlags::APPEND, key, &())?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn look_up(&self, keys: &Batch) -> Result<u64, Failure> {
        on_threads(keys, |keys| {
            let transaction = self.env.read_txn()?;
            let mut known = 0;
            for key in keys {
                known += u64::from(self.database.get(&transaction, key)?.is_some());
            }
            Ok(known)
        })
    }

    fn add(&mut self, keys: &Batch) -> Result<u64, Failure> {
        let mut transaction = self.env.write_txn()?;
        let mut added = 0;
        for key in keys.iter() {
            match self.database.put_with_flags(&mut transaction, PutFlags::NO_OVERWRITE, key, &()) {
                Ok(()) => added += 1,
                Err(heed::Error::Mdb(MdbError::KeyExist)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        transaction.commit()?;
        Ok(added)
    }

    fn files(&self) -> Result<Vec<PathBuf>, Failure> {
        files_of(&self.path)
    }
}
