//! A seen store: keys of all runs so far, on disk.
//!
//! The object holds the path and the rules, and no file: each call opens the store as it is then, and only
//! `add` takes the right to write, for as long as it works.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use uniqurl::Key;
use uniqurl_store::seen::{
    Changed, KeySink, KeySorter, Novelty, RunBuilder, SeenStore as Store, SeenStoreError,
    SeenWriter, StoreRules, UnixTime, WhenBusy,
};

use crate::arrow::{Column, chunks_of_any};
use crate::errors::{self, guarded};
use crate::interrupt::{self, go_on};
use crate::pieces;
use crate::rules::{self, Rules};
use crate::threads;
use crate::values::{arc, values_of};

/// Memory for sorting new keys, and for merging, in bytes.
const MEMORY: usize = 256 << 20;

/// Keys that are looked up at once.
const BATCH: usize = 1 << 20;

/// The URLs of all runs so far, in a directory: made to be larger than memory, and asked exactly. It is made
/// if nothing has the name.
///
/// A store has one profile and key, with all options: others raise :class:`UsageError`. Nothing is kept
/// open, so a store can be shared by threads, and pickled. Readers see it as it was when they began;
/// processes that add wait for each other.
#[pyclass(frozen, module = "uniqurl")]
pub struct SeenStore {
    path: PathBuf,
    rules: Rules,
    key: Key,
    threads: Option<usize>,
    profile: Option<String>,
    options: Option<Py<PyDict>>,
}

#[pymethods]
impl SeenStore {
    #[new]
    #[pyo3(signature = (path, profile=None, *, key="url", threads=None, **options),
    text_signature = "(path, profile=None, *, key='url', threads=None, \
        keep_userinfo=None, keep_fragment=None, fold_scheme=None, strip_www=None, \
        lower_path=None, squeeze_slashes=None, strip_session=None, strip_index=None, \
        strip_trailing_slash=None, drop_query=None, strip_tracking=None, blank_values=None, \
        squeeze_query=None, sort_query=None, keep_empty_segments=None, drop_param=None, \
        keep_param=None, allow=None, deny=None, ring=None, base=None, assume_scheme=None, \
        transcode=None, redirects=None, max_url=None, \
        profile_toml=None)")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        profile: Option<String>,
        key: &str,
        threads: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = options.map(rules::held).transpose()?;
        guarded(py, || {
            let rules = Rules::new(py, profile.as_deref(), options.as_ref())?;
            let key = rules.key(py, key)?;
            let threads = threads::asked(threads)?;
            let options = options.map(Bound::unbind);
            let store = Self { path, rules, key, threads, profile, options };
            // A store that is there is only read, so that making the object waits for nobody who adds.
            let made = py.detach(|| match Store::is_at(&store.path) {
                true => open(&store.path, &store.of_store()).map(drop),
                false => SeenWriter::create_or_open(&store.path, &store.of_store(), WhenBusy::Wait)
                    .map(drop),
            });
            made.map_err(|error| errors::store(py, &error))?;
            Ok(store)
        })
    }

    /// Adds the keys of URLs, and returns how many are new.
    ///
    /// Nulls, blank and rejected values add none; :func:`normalize_column` tells why. The keys are on the disk
    /// when this returns. An error means that none was added. Where runs cannot be merged after the add, as on a
    /// full disk, that is a :class:`RuntimeWarning`, and the next add tries again. Ctrl-C ends it with
    /// :class:`KeyboardInterrupt`; the store is then as before, or as after the add.
    fn add(&self, urls: &Bound<'_, PyAny>) -> PyResult<u64> {
        let py = urls.py();
        let Changed { keys, warning } = self.ask(urls, add)?;
        if let Some(warning) = warning {
            errors::warn(py, warning);
        }
        Ok(keys)
    }

    /// Whether the key of each URL is in the store, as a column of bool. It is null for a value without a
    /// key: a null, a blank or a rejected one.
    fn contains(&self, urls: &Bound<'_, PyAny>) -> PyResult<Column> {
        let seen = arc(self.ask(urls, contains)?);
        Ok(Column::new("seen", DataType::Boolean, vec![seen]))
    }

    /// Numbers about the store: ``keys``, ``bytes`` on disk, ``rules``, ``key``, and its ``runs``, oldest first.
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let store = py.detach(|| open(&self.path, &self.of_store()));
        let store = store.map_err(|error| errors::store(py, &error))?;
        let stats = store.stats();
        let numbers = PyDict::new(py);
        numbers.set_item("keys", stats.keys)?;
        numbers.set_item("bytes", stats.bytes)?;
        numbers.set_item("rules", store.rules().description())?;
        numbers.set_item("key", store.rules().key())?;
        let runs = PyList::empty(py);
        for run in &stats.runs {
            let of_run = PyDict::new(py);
            of_run.set_item("name", &run.name)?;
            of_run.set_item("bytes", run.bytes)?;
            of_run.set_item("keys", run.keys)?;
            of_run.set_item("removed", run.removed)?;
            let adds = PyList::empty(py);
            for add in &run.adds {
                let of_add = PyDict::new(py);
                of_add.set_item("number", add.number)?;
                of_add.set_item("time", add.time.0)?;
                of_add.set_item("keys", add.keys)?;
                adds.append(of_add)?;
            }
            of_run.set_item("adds", adds)?;
            runs.append(of_run)?;
        }
        numbers.set_item("runs", runs)?;
        Ok(numbers)
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    fn __repr__(&self) -> String {
        let rules = self.rules.normalizer.description();
        format!("<uniqurl.SeenStore {}: {rules}, key {}>", self.path.display(), self.key.name())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.import("uniqurl")?.getattr("_seen_store")?;
        let options = self.options.as_ref().map(|options| options.clone_ref(py));
        let held =
            (self.path.clone(), self.profile.clone(), self.key.name(), self.threads, options);
        (make, held).into_pyobject(py)
    }
}

/// A key for each row of a column, or none.
struct RowKeys {
    bytes: Vec<u8>,
    /// Where each key begins and ends; a row without a key has none.
    spans: Vec<Option<(usize, usize)>>,
}

impl RowKeys {
    fn of(rules: &Rules, key: Key, canonical: &[ArrayRef], stop: &AtomicBool) -> PyResult<Self> {
        let mut keys = Self { bytes: Vec::new(), spans: Vec::new() };
        let (mut form, mut text) = (Vec::new(), Vec::new());
        for chunk in canonical {
            let form_of = values_of(chunk.as_ref());
            for row in 0..chunk.len() {
                go_on(stop)?;
                let of_row =
                    form_of(row).and_then(|row| key.of(rules.known(row, &mut form), &mut text));
                keys.spans.push(of_row.map(|key| {
                    let start = keys.bytes.len();
                    keys.bytes.extend_from_slice(key.as_bytes());
                    (start, keys.bytes.len())
                }));
            }
        }
        Ok(keys)
    }

    fn get(&self, row: usize) -> Option<&[u8]> {
        self.spans[row].map(|(start, end)| &self.bytes[start..end])
    }
}

impl SeenStore {
    fn of_store(&self) -> StoreRules {
        StoreRules::of(&self.rules.normalizer, self.key, None)
    }

    /// Runs `work` on the keys of a column, without the interpreter's lock.
    fn ask<T: Send + 'static>(
        &self,
        urls: &Bound<'_, PyAny>,
        work: fn(&Path, &StoreRules, &RowKeys, &AtomicBool) -> Result<T, SeenStoreError>,
    ) -> PyResult<T> {
        let py = urls.py();
        guarded(py, || {
            let (chunks, field) = chunks_of_any(urls)?;
            let kind = field.data_type().clone();
            let (path, of_store) = (self.path.clone(), self.of_store());
            let (rules, key, threads) = (self.rules.clone(), self.key, self.threads);
            let done = interrupt::run(py, move |stop| -> PyResult<_> {
                let column = pieces::normalize(&rules, &chunks, kind, threads, &stop)?;
                let keys = RowKeys::of(&rules, key, &column.canonical, &stop)?;
                threads::within(threads, || work(&path, &of_store, &keys, &stop))
            })??;
            done.map_err(|error| errors::store(py, &error))
        })
    }
}

fn open(path: &Path, rules: &StoreRules) -> Result<Store, SeenStoreError> {
    let store = Store::open(path)?;
    store.check_rules(rules)?;
    Ok(store)
}

fn contains(
    path: &Path,
    rules: &StoreRules,
    keys: &RowKeys,
    stop: &AtomicBool,
) -> Result<BooleanArray, SeenStoreError> {
    let store = open(path, rules)?;
    let mut seen = vec![None; keys.spans.len()];
    let mut start = 0;
    // What is left of a run that stops stays null, and nobody sees it.
    while start < seen.len() && !stop.load(Ordering::Relaxed) {
        let end = seen.len().min(start + BATCH);
        // Rows are sorted and not keys, so that each answer finds its row.
        let mut rows: Vec<_> = (start..end).filter(|row| keys.spans[*row].is_some()).collect();
        rows.sort_unstable_by_key(|row| keys.get(*row));
        let mut distinct: Vec<_> = rows.iter().filter_map(|row| keys.get(*row)).collect();
        distinct.dedup();
        let found = store.look_up(&distinct[..], None)?;
        let mut at = 0;
        for row in rows {
            // The rows are in the order of their keys, so the next key is this one or the next one.
            at += usize::from(keys.get(row) != Some(distinct[at]));
            seen[row] = Some(found[at]);
        }
        start = end;
    }
    Ok(BooleanArray::from(seen))
}

fn add(
    path: &Path,
    rules: &StoreRules,
    keys: &RowKeys,
    stop: &AtomicBool,
) -> Result<Changed, SeenStoreError> {
    // The keys are sorted before the right to write is taken, so that others wait for the writing alone.
    let mut sorter = KeySorter::new(MEMORY, &std::env::temp_dir());
    for row in 0..keys.spans.len() {
        if let Some(key) = keys.get(row) {
            sorter.push(key)?;
        }
    }
    let mut writer = SeenWriter::create_or_open(path, rules, WhenBusy::Wait)?;
    // Keys that the store holds are left out below.
    let run = writer.begin_add(UnixTime::now(), Novelty::AllNew)?;
    let mut new = NewKeys { store: writer.store(), run, bytes: Vec::new(), ends: Vec::new() };
    sorter.finish(&mut new)?;
    let prepared = new.finish()?;
    // Nothing has changed yet, and a prepared run that is dropped leaves nothing.
    if stop.load(Ordering::Relaxed) {
        return Ok(Changed { keys: 0, warning: None });
    }
    writer.commit(prepared, MEMORY)
}

/// Writes the keys that are not in the store, of those that come in order.
struct NewKeys<'w> {
    store: &'w Store,
    run: RunBuilder<'w>,
    /// Keys that were not looked up yet.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl<'w> NewKeys<'w> {
    fn look_up(&mut self) -> Result<(), SeenStoreError> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let keys: Vec<_> =
            starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end]).collect();
        let seen = self.store.look_up(&keys[..], None)?;
        for (key, _) in keys.iter().zip(seen).filter(|(_, seen)| !seen) {
            self.run.push(key)?;
        }
        self.bytes.clear();
        self.ends.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<uniqurl_store::seen::PreparedRun, SeenStoreError> {
        self.look_up()?;
        self.run.finish()
    }
}

impl KeySink for NewKeys<'_> {
    fn push(&mut self, key: &[u8]) -> Result<(), SeenStoreError> {
        // Keys come in order, so a batch of them touches each block of the store once.
        self.bytes.extend_from_slice(key);
        self.ends.push(self.bytes.len());
        if self.ends.len() < BATCH { Ok(()) } else { self.look_up() }
    }
}
