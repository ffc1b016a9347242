//! A set and its accounting, of files or of columns.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};
use uniqurl::{Key, RejectReason, UrlSet};
use uniqurl_engine::output::{Accounting, FileStats, JobKind, Tally, Terms};
use uniqurl_engine::{self, Dedup, InputFormat, Job, JobPlan, Report, SetOrder, Sinks, Watch};
use uniqurl_formats::input;

use crate::arrow::{Column, accounting, chunks_of, is_column, not_pickled};
use crate::errors::{self, guarded};
use crate::html;
use crate::interrupt;
use crate::lines::Lines;
use crate::pieces;
use crate::rules::{Rules, format_of};
use crate::threads;
use crate::values::values_of;

/// A set and its accounting. ``urls`` is a column of large_string, or of large_binary under the profile
/// ``string``, even if only one host uses it; ``files`` describes each file if files were read.
#[pyclass(frozen, module = "uniqurl")]
pub struct Deduplicated {
    urls: Py<Column>,
    tally: Tally,
    files: Vec<FileStats>,
}

#[pymethods]
impl Deduplicated {
    #[getter]
    fn urls(&self, py: Python<'_>) -> Py<Column> {
        self.urls.clone_ref(py)
    }

    #[getter(accounting)]
    fn account<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        accounting(py, self.accounts().counts(), &self.tally)
    }

    #[getter]
    fn files<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for FileStats { path, state, bytes, tally } in &self.files {
            let counts = [
                ("bytes", *bytes),
                ("records", tally.records),
                ("rejected", tally.rejected),
                ("blank", tally.blank),
            ];
            let file = accounting(py, counts, tally)?;
            file.set_item("path", path.as_os_str())?;
            file.set_item("state", state.name())?;
            list.append(file)?;
        }
        Ok(list)
    }

    fn __len__(&self) -> usize {
        self.tally.unique as usize
    }

    fn __repr__(&self) -> String {
        format!("<uniqurl.Deduplicated: {}>", self.accounts())
    }

    fn _repr_html_(&self) -> String {
        html::table(&self.accounts(), [self.urls.get().parts()])
    }

    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __reduce__(&self) -> PyResult<()> {
        let instead = "pyarrow.chunked_array(found.urls) is, and so are its accounting and files";
        Err(not_pickled("Deduplicated", instead))
    }
}

impl Deduplicated {
    fn accounts(&self) -> Accounting<'_> {
        Accounting { terms: Terms::of(JobKind::Dedup), tally: &self.tally }
    }
}

/// The formats of input files.
const OF_FILES: &str = "auto, lines, target, text, clf, combined, vhost, log:FORMAT, w3c, elb, alb, \
                        cloudfront, haproxy, ltsv, ws:N, csv:COL, tsv:COL, json:POINTER, cdx, cdxj, warc, wat, \
                        wat:links, arc or sitemap";

/// The options of a set.
#[derive(Clone)]
struct Wish {
    rules: Rules,
    format: InputFormat,
    order: SetOrder,
    key: Key,
    threads: Option<usize>,
    keep_going: bool,
}

/// The set of the URLs in files or in columns, and its accounting.
///
/// Several inputs form a list or any other iterable, such as ``pathlib.Path.glob`` returns. Strings are
/// paths; pass URLs as an Arrow column, such as ``pyarrow.array(urls)``.
///
/// Files are read as ``uniqurl dedup`` reads them: compressed or not, in any ``format`` except tables.
/// Raises :class:`InputError` for a damaged file, and its subclass :class:`MissingError` for a file that
/// does not exist; with ``keep_going`` such a file is listed in ``files`` instead. Nulls of a column, and
/// values of only spaces and tabs, are blank. For columns ``keep_going`` has no effect, and a ``format``
/// other than ``auto`` and ``lines`` is a :class:`UsageError`.
///
/// ``order="count"`` puts the most frequent URLs first, and those of equal counts in the order of their bytes.
///
/// Ctrl-C ends the run with :class:`KeyboardInterrupt`. An exception from any other signal handler ends it
/// too. Only a read from a silent pipe goes on until the pipe has data.
#[pyfunction]
#[pyo3(signature = (inputs, profile=None, *, format="auto", order="first", key="url", threads=None,
                    keep_going=false, **options),
    text_signature = "(inputs, profile=None, *, format='auto', order='first', key='url', threads=None, keep_going=False, \
        keep_userinfo=None, keep_fragment=None, fold_scheme=None, strip_www=None, \
        lower_path=None, squeeze_slashes=None, strip_session=None, strip_index=None, \
        strip_trailing_slash=None, drop_query=None, strip_tracking=None, blank_values=None, \
        squeeze_query=None, sort_query=None, keep_empty_segments=None, drop_param=None, \
        keep_param=None, allow=None, deny=None, ring=None, base=None, assume_scheme=None, \
        transcode=None, redirects=None, max_url=None, \
        profile_toml=None)")]
#[allow(clippy::too_many_arguments, reason = "keywords")]
pub fn dedup(
    py: Python<'_>,
    inputs: &Bound<'_, PyAny>,
    profile: Option<&str>,
    format: &str,
    order: &str,
    key: &str,
    threads: Option<&Bound<'_, PyAny>>,
    keep_going: bool,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Deduplicated> {
    guarded(py, || {
        let is_of_lines = matches!(format, "auto" | "lines");
        let format = match format {
            "auto" => InputFormat::Auto,
            name => InputFormat::Fixed(Arc::new(format_of(py, name, OF_FILES)?)),
        };
        let order = match order {
            "first" => SetOrder::First,
            "sorted" => SetOrder::Sorted,
            "count" => SetOrder::Count,
            _ => return Err(errors::usage(py, "order is first, sorted or count")),
        };
        let rules = Rules::new(py, profile, options)?;
        let key = rules.key(py, key)?;
        let threads = threads::asked(threads)?;
        let wish = Wish { rules, format, order, key, threads, keep_going };
        let inputs = several(inputs)?;
        // A list without an input is no usage error, since a glob may match nothing.
        if inputs.is_empty() || is_path(&inputs[0])? {
            let paths = inputs.iter().map(|path| path.extract()).collect::<PyResult<Vec<_>>>();
            return of_files(py, &wish, &paths?);
        }
        if !is_of_lines {
            return Err(errors::usage(py, "format is for files, not for columns"));
        }
        of_columns(py, &wish, &inputs)
    })
}

/// One input, or the items of an iterable.
fn several<'py>(inputs: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if is_path(inputs)? || is_column(inputs)? {
        return Ok(vec![inputs.clone()]);
    }
    // Iterating it gives its names. Before pandas 2.2 this includes tables.
    if !inputs.hasattr("__iter__")? || inputs.hasattr("keys")? {
        let class = inputs.get_type().name()?;
        let why =
            format!("inputs are paths or Arrow columns, or an iterable of these, not {class}");
        return Err(PyTypeError::new_err(why));
    }
    inputs.try_iter()?.collect()
}

fn is_path(input: &Bound<'_, PyAny>) -> PyResult<bool> {
    if input.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err("the name of a file is str or os.PathLike, not bytes"));
    }
    Ok(input.is_instance_of::<PyString>() || input.hasattr("__fspath__")?)
}

fn of_files(py: Python<'_>, wish: &Wish, paths: &[PathBuf]) -> PyResult<Deduplicated> {
    let (inputs, missing) = input::check(paths);
    if let Some(error) = missing.first().filter(|_| !wish.keep_going) {
        return Err(errors::input(py, error));
    }
    let job = Job::Dedup(Dedup { order: wish.order, ..Dedup::default() });
    let Wish { rules, format, key, keep_going, .. } = wish.clone();
    let threads = threads::count(wish.threads);
    let (report, result, lines) = interrupt::run(py, move |stop| {
        // The engine looks at the flag that Ctrl-C sets.
        let mut watch = Watch::default();
        watch.stop = Arc::clone(&stop);
        let mut lines = Lines::until(stop);
        let mut plan = JobPlan::new(rules.normalizer, job);
        plan.input.format = format;
        plan.policy.key = key;
        plan.limits.threads = threads;
        plan.limits.max_url = rules.max_url;
        plan.input.keep_going = keep_going;
        let (report, result) = uniqurl_engine::run(&plan, &inputs, Sinks::to(&mut lines), &watch);
        (report, result, lines)
    })?;
    result.map_err(|error| errors::run(py, &error))?;
    let Report { tally, files, .. } = report;
    // Missing ones come last, as in the command.
    let missing = missing.into_iter().map(FileStats::unopened);
    made(py, wish, lines, tally, files.into_iter().chain(missing).collect())
}

fn of_columns(py: Python<'_>, wish: &Wish, inputs: &[Bound<'_, PyAny>]) -> PyResult<Deduplicated> {
    let mut columns = Vec::new();
    for input in inputs {
        columns.push(chunks_of(input)?);
    }
    // If it does not stop in time, the work outlives this call, so it owns all that it uses.
    let of_work = wish.clone();
    let (lines, tally) = interrupt::run(py, move |stop| -> PyResult<_> {
        let wish = of_work;
        let (mut set, mut tally) = (UrlSet::new(), Tally::default());
        let mut counts = HashMap::new();
        let mut lines = Lines::until(Arc::clone(&stop));
        for (chunks, field) in columns {
            let kind = field.data_type().clone();
            let column = pieces::normalize(&wish.rules, &chunks, kind, wish.threads, &stop)?;
            // Its counts come first, since `insert` takes forms without a key out of them.
            tally.merge(&column.tally);
            for canonical in &column.canonical {
                insert(&wish, canonical, &mut set, &mut counts, &mut lines, &mut tally)?;
            }
        }
        // Forms without a key are rejected by now, so what is not unique is a duplicate.
        tally.duplicates = tally.canonical - tally.unique;
        let lines = match wish.order {
            SetOrder::First => lines,
            SetOrder::Sorted => lines.sorted(),
            SetOrder::Count => lines.sorted_by_count(&counts),
        };
        Ok((lines, tally))
    })??;
    made(py, wish, lines, tally, Vec::new())
}

fn made(
    py: Python<'_>,
    wish: &Wish,
    lines: Lines,
    tally: Tally,
    files: Vec<FileStats>,
) -> PyResult<Deduplicated> {
    let kind = wish.rules.kind_of(wish.key);
    // Text is checked once more, which takes time for each byte.
    let column = py.detach(|| lines.column(kind == DataType::LargeUtf8))?;
    let name = if wish.key == Key::Url { "canonical" } else { wish.key.name() };
    let urls = Py::new(py, Column::new(name, kind, vec![column]))?;
    Ok(Deduplicated { urls, tally, files })
}

/// Adds canonical forms to the set and the new ones to the lines, counts them if that decides about the
/// order. Of the tally it counts the new ones, and those without the host that a key needs as rejected.
fn insert(
    wish: &Wish,
    canonical: &ArrayRef,
    set: &mut UrlSet,
    counts: &mut HashMap<Vec<u8>, u64>,
    lines: &mut Lines,
    tally: &mut Tally,
) -> PyResult<()> {
    let (mut url, mut key) = (Vec::new(), Vec::new());
    for form in (0..canonical.len()).filter_map(values_of(canonical.as_ref())) {
        // The result of work that stops is thrown away, so it may lack the rest.
        if lines.is_stopped() {
            break;
        }
        let Some(keyed) = wish.key.of(wish.rules.known(form, &mut url), &mut key) else {
            tally.reject_canonical(RejectReason::NoHost);
            continue;
        };
        if set.insert(keyed).map_err(errors::full)? {
            lines.push(keyed.as_bytes());
            tally.unique += 1;
        }
        if wish.order == SetOrder::Count {
            // `entry` would need a key of its own for each row, also for those that are there.
            match counts.get_mut(keyed.as_bytes()) {
                Some(count) => *count += 1,
                None => drop(counts.insert(keyed.as_bytes().to_vec(), 1)),
            }
        }
    }
    Ok(())
}
