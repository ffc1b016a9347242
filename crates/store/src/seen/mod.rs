//! The seen store: a directory with the keys of all runs so far, larger than memory, asked exactly.
//!
//! A store is a manifest, which is replaced as a whole, and runs, which are never changed. A run holds keys
//! in the order of their bytes: in front-coded blocks, with filters that tell most keys apart from those of
//! the run without reading a block (`run`). Keys are looked up many at a time and in order (`look_up`), in the
//! newest run first: the newest run that holds a key decides about it. An add is one new run; runs of
//! about the same size are merged ([`SeenWriter`]).
//!
//! docs/design/seen-format.md describes every byte.
//!
//! ```
//! use uniqurl::{Key, Normalizer, Profile};
//! use uniqurl_store::seen::{
//!     KeySink as _, Novelty, SeenStore, SeenWriter, StoreRules, UnixTime, WhenBusy,
//! };
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("seen");
//! let rules = StoreRules::of(&Normalizer::new(Profile::Crawl), Key::Url, None);
//! let mut writer = SeenWriter::create_or_open(&path, &rules, WhenBusy::Fail)?;
//! let mut run = writer.begin_add(UnixTime::now(), Novelty::Unknown)?;
//! for key in [&b"http://a.example/"[..], b"http://b.example/"] {
//!     run.push(key)?;
//! }
//! let run = run.finish()?;
//! assert_eq!(writer.commit(run, 64 << 20)?.keys, 2);
//!
//! let store = SeenStore::open(&path)?;
//! let keys = [&b"http://b.example/"[..], b"http://c.example/"];
//! assert_eq!(store.look_up(&keys[..], None)?, [true, false]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod rules;
mod time;
mod stats;
mod keys;
mod key_sorter;
mod run;
mod manifest;
mod merge_reader;
mod store;
mod look_up;
mod read_all;
mod lock;
mod directory;
mod new_run;
mod next_state;
mod builder;
mod merge;
mod tiers;
mod writer;

#[cfg(test)]
mod tests;

pub use builder::{Novelty, PreparedRun, RunBuilder};
pub use error::{SeenStoreError, SeenStoreProblem};
pub use key_sorter::KeySorter;
pub use keys::{KeySink, SortedKeys};
pub use lock::WhenBusy;
pub use rules::StoreRules;
pub use stats::{AddStats, RunStats, StoreStats};
pub use store::SeenStore;
pub use time::UnixTime;
pub use writer::{Changed, SeenWriter};
