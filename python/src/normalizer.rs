//! Single URLs, columns, and the lists of available choices.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3_arrow::{PyArray, PyField};
use uniqurl::{Reject, RejectReason};

use crate::arrow::{Column, Columns, chunks_of_any};
use crate::errors::{self, guarded};
use crate::interrupt;
use crate::keys;
use crate::pieces;
use crate::rejected::{self, OnReject};
use crate::rules::{self, Rules};
use crate::threads;
use crate::url::{Url, is_missing};

/// A column of fewer bytes and rows takes less than a second, mostly done before anybody presses
/// Ctrl-C.
const SHORT: usize = 1 << 20;

/// A profile and its options, made once for many URLs. It can be shared by threads, called like a
/// function, and pickled.
#[pyclass(frozen, module = "uniqurl")]
pub struct Normalizer {
    rules: Rules,
    profile: Option<String>,
    options: Option<Py<PyDict>>,
}

#[pymethods]
impl Normalizer {
    #[new]
    #[pyo3(signature = (profile=None, **options), text_signature = "(profile=None, *, \
        keep_userinfo=None, keep_fragment=None, fold_scheme=None, strip_www=None, \
        lower_path=None, squeeze_slashes=None, strip_session=None, strip_index=None, \
        strip_trailing_slash=None, drop_query=None, strip_tracking=None, blank_values=None, \
        squeeze_query=None, sort_query=None, keep_empty_segments=None, drop_param=None, \
        keep_param=None, allow=None, deny=None, ring=None, base=None, assume_scheme=None, \
        transcode=None, redirects=None, max_url=None, \
        profile_toml=None)")]
    fn new(
        py: Python<'_>,
        profile: Option<String>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        // A pickle holds the options this was made with.
        let options = options.map(rules::held).transpose()?;
        let rules = guarded(py, || Rules::new(py, profile.as_deref(), options.as_ref()))?;
        let options = options.map(Bound::unbind);
        Ok(Self { rules, profile, options })
    }

    #[pyo3(signature = (url, *, errors="raise"))]
    fn normalize<'py>(&self, url: &Bound<'py, PyAny>, errors: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = url.py();
        guarded(py, || {
            let on_reject = OnReject::named(py, errors)?;
            // Without `errors="null"` a missing URL stays a TypeError: it is more often a mistake than a URL.
            if on_reject == OnReject::Null && is_missing(url) {
                return Ok(py.None().into_bound(py));
            }
            let text = Url::of(url)?;
            let mut out = Vec::new();
            // An exception takes longer to make than most URLs to normalize.
            match on_reject {
                OnReject::Raise => self.rules.normalize(py, text.bytes(), &mut out)?,
                _ if self.rules.accepts(text.bytes(), &mut out) => {}
                OnReject::Null => return Ok(py.None().into_bound(py)),
                OnReject::Keep => return Ok(url.clone()),
            }
            text.like(py, &out)
        })
    }

    #[pyo3(signature = (url, *, errors="raise"))]
    fn __call__<'py>(&self, url: &Bound<'py, PyAny>, errors: &str) -> PyResult<Bound<'py, PyAny>> {
        self.normalize(url, errors)
    }

    fn key<'py>(&self, url: &Bound<'py, PyAny>, key: &str) -> PyResult<Bound<'py, PyAny>> {
        let py = url.py();
        guarded(py, || {
            let (url, key) = (Url::of(url)?, self.rules.key(py, key)?);
            let (mut canonical, mut out) = (Vec::new(), Vec::new());
            let canonical = self.rules.canonical(py, url.bytes(), &mut canonical)?;
            let hostless = Reject::new(RejectReason::NoHost, 0);
            let key = key.of(canonical, &mut out).ok_or_else(|| errors::rejected(py, &hostless))?;
            url.like(py, key.as_bytes())
        })
    }

    fn explain<'py>(&self, url: &Bound<'py, PyAny>) -> PyResult<Vec<Step>> {
        let py = url.py();
        guarded(py, || {
            let url = Url::of(url)?;
            self.rules.check_length(py, url.bytes())?;
            let steps = self.rules.normalizer.explain(url.bytes());
            let steps = steps.map_err(|reject| errors::rejected(py, &reject))?;
            let step = |step: &uniqurl::Step| {
                Ok(Step {
                    rule: step.rule.name().to_owned(),
                    sentence: step.rule.sentence().to_owned(),
                    source: step.rule.source().map(str::to_owned),
                    before: url.like(py, &step.before)?.unbind(),
                    after: url.like(py, &step.after)?.unbind(),
                })
            };
            steps.iter().map(step).collect()
        })
    }

    #[pyo3(signature = (array, *, format=None, key=None, threads=None, errors="null"))]
    fn normalize_column(
        &self,
        array: &Bound<'_, PyAny>,
        format: Option<&str>,
        key: Option<&str>,
        threads: Option<&Bound<'_, PyAny>>,
        errors: &str,
    ) -> PyResult<Columns> {
        let py = array.py();
        guarded(py, || {
            let on_reject = OnReject::named(py, errors)?;
            let rules = self.rules.clone().with_format(py, format)?;
            let key = key.map(|key| rules.key(py, key)).transpose()?;
            let threads = threads::asked(threads)?;
            let (chunks, field) = chunks_of_any(array)?;
            let kind = field.data_type().clone();
            let before = rules.before();
            let size =
                // Both count, for many short rows take time, and so do few long ones.
                |chunk: &ArrayRef| pieces::bytes_in(chunk.as_ref()) + chunk.len() * (before + 1);
            let size: usize = chunks.iter().map(size).sum();
            // Finding the offset of a fault takes the values once more.
            let checked = (on_reject == OnReject::Raise).then(|| (rules.clone(), chunks.clone()));
            let normalize = move |stop: Arc<AtomicBool>| {
                let mut done = pieces::normalize(&rules, &chunks, kind, threads, &stop)?;
                let keys = key.map(|key| keys::add(&rules, key, &mut done, threads, &stop));
                let keys = keys.transpose()?;
                // After the keys, since a value that is kept has none.
                if on_reject == OnReject::Keep {
                    rejected::keep(&mut done, &chunks)?;
                }
                Ok::<_, PyErr>((done, keys))
            };
            // A thread of its own would take longer than most short columns.
            let (done, keys) = if size < SHORT {
                py.detach(|| normalize(Arc::default()))?
            } else {
                interrupt::run(py, normalize)??
            };
            if let Some((rules, chunks)) = checked {
                rejected::check(py, &rules, &done, &chunks)?;
            }
            Ok(Columns::new(&field, done, keys))
        })
    }

    /// A copy with another ``base``, such as that of each page of a crawl. It shares its rules with the original.
    ///
    /// >>> Normalizer(sort_query=True).with_base("http://h/a/")("b?d&c")
    /// 'http://h/a/b?c&d'
    fn with_base(&self, base: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = base.py();
        let options = match &self.options {
            Some(options) => options.bind(py).copy()?,
            None => PyDict::new(py),
        };
        options.set_item("base", base)?;
        let rules = guarded(py, || {
            // Relative URLs among redirects are read with the base, too.
            if self.rules.has_redirects() {
                return Rules::new(py, self.profile.as_deref(), Some(&options));
            }
            let base = rules::bytes(base).map_err(|error| errors::of_option(py, "base", error))?;
            self.rules.clone().with_base(py, &base)
        })?;
        Ok(Self { rules, profile: self.profile.clone(), options: Some(options.unbind()) })
    }

    #[getter]
    fn description(&self) -> String {
        self.rules.normalizer.description()
    }

    fn __repr__(&self) -> String {
        format!("<uniqurl.Normalizer {}>", self.description())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.import("uniqurl")?.getattr("_normalizer")?;
        let options = self.options.as_ref().map(|options| options.clone_ref(py));
        (make, (self.profile.clone(), options)).into_pyobject(py)
    }
}

impl Normalizer {
    /// The one for a single call. It is never pickled, so it keeps no options.
    fn of_call(
        py: Python<'_>,
        profile: Option<&str>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let rules = guarded(py, || Rules::new(py, profile, options))?;
        Ok(Self { rules, profile: None, options: None })
    }
}

/// One rule that acted on a URL. It can be pickled.
#[pyclass(frozen, module = "uniqurl", get_all)]
pub struct Step {
    rule: String,
    sentence: String,
    source: Option<String>,
    before: Py<PyAny>,
    after: Py<PyAny>,
}

#[pymethods]
impl Step {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (before, after) = (self.before.bind(py).repr()?, self.after.bind(py).repr()?);
        Ok(format!("<uniqurl.Step {}: {before} -> {after}>", self.rule))
    }

    /// Makes it again from a pickle.
    #[staticmethod]
    fn _made(
        rule: String,
        sentence: String,
        source: Option<String>,
        before: Py<PyAny>,
        after: Py<PyAny>,
    ) -> Self {
        Self { rule, sentence, source, before, after }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.import("uniqurl")?.getattr("_step")?;
        let Self { rule, sentence, source, before, after } = self;
        (make, (rule, sentence, source, before, after)).into_pyobject(py)
    }
}

/// A built-in profile: its switches, the switches that are on, the checks that ``allow`` switches off,
/// and its text as a profile file. It can be pickled, and the restored profile is equal to it.
#[pyclass(frozen, eq, hash, module = "uniqurl", get_all)]
#[derive(PartialEq, Hash)]
pub struct Profile {
    name: &'static str,
    version: u32,
    summary: &'static str,
    /// Switches that are on.
    on: Vec<String>,
    /// All switches that it has.
    switches: Vec<String>,
    /// RejectReasons that `allow` takes.
    checks: Vec<&'static str>,
    /// As a profile file.
    toml: String,
}

#[pymethods]
impl Profile {
    fn __repr__(&self) -> String {
        format!("<uniqurl.Profile {}@{}: {}>", self.name, self.version, self.summary)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.import("uniqurl")?.getattr("_profile")?;
        (make, (self.name, self.version)).into_pyobject(py)
    }
}

/// The canonical form of a URL, as ``str`` or ``bytes`` like the URL. The default profile is ``crawl``.
///
/// >>> normalize("HTTP://EX%41MPLE.com:80/a/../b")
/// 'http://example.com/b'
///
/// With ``errors="null"`` a rejected URL gives None, and so does a missing one: None, or the NaN of pandas. With
/// ``errors="keep"`` a rejected URL comes back as it is. Otherwise raises :class:`Rejected`; and
/// ``UnicodeEncodeError`` for a ``str`` with lone surrogates: ``url.encode(errors="surrogateescape")`` gives the
/// bytes that such a string was made of. For many URLs use a :class:`Normalizer` or a column.
#[pyfunction]
#[pyo3(signature = (url, profile=None, *, errors="raise", **options), text_signature = "(url, profile=None, *, errors='raise', \
        keep_userinfo=None, keep_fragment=None, fold_scheme=None, strip_www=None, \
        lower_path=None, squeeze_slashes=None, strip_session=None, strip_index=None, \
        strip_trailing_slash=None, drop_query=None, strip_tracking=None, blank_values=None, \
        squeeze_query=None, sort_query=None, keep_empty_segments=None, drop_param=None, \
        keep_param=None, allow=None, deny=None, ring=None, base=None, assume_scheme=None, \
        transcode=None, redirects=None, max_url=None, \
        profile_toml=None)")]
pub fn normalize<'py>(
    url: &Bound<'py, PyAny>,
    profile: Option<&str>,
    errors: &str,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    Normalizer::of_call(url.py(), profile, options)?.normalize(url, errors)
}

/// The key of a URL. Its name is one that ``--key`` of the command and ``key`` of :func:`dedup` take:
/// ``template``, ``host``, ``domain``, ``domain-icann``, ``surt``, ``ssurt``, ``hash``, or ``url``, the canonical form. The key is ``str`` or
/// ``bytes`` like the URL.
///
/// >>> key("http://www.example.com/a?b", "surt")
/// 'com,example,www)/a?b'
///
/// Under the profile ``ia``, ``surt`` is the key in the index of a web archive. Raises :class:`Rejected`.
#[pyfunction]
#[pyo3(signature = (url, key, profile=None, **options), text_signature = "(url, key, profile=None, *, \
        keep_userinfo=None, keep_fragment=None, fold_scheme=None, strip_www=None, \
        lower_path=None, squeeze_slashes=None, strip_session=None, strip_index=None, \
        strip_trailing_slash=None, drop_query=None, strip_tracking=None, blank_values=None, \
        squeeze_query=None, sort_query=None, keep_empty_segments=None, drop_param=None, \
        keep_param=None, allow=None, deny=None, ring=None, base=None, assume_scheme=None, \
        transcode=None, redirects=None, max_url=None, \
        profile_toml=None)")]
pub fn key<'py>(
    url: &Bound<'py, PyAny>,
    key: &str,
    profile: Option<&str>,
    options: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    Normalizer::of_call(url.py(), profile, options)?.key(url, key)
}

/// The rules that change a URL, in order, with each change. Raises :class:`Rejected`.
#[pyfunction]
#[pyo3(signature = (url, profile=None, **options), text_signature = "(url, profile=None, *, \
        keep_userinfo=None, keep_fragment=None, fold_scheme=None, strip_www=None, \
        lower_path=None, squeeze_slashes=None, strip_session=None, strip_index=None, \
        strip_trailing_slash=None, drop_query=None, strip_tracking=None, blank_values=None, \
        squeeze_query=None, sort_query=None, keep_empty_segments=None, drop_param=None, \
        keep_param=None, allow=None, deny=None, ring=None, base=None, assume_scheme=None, \
        transcode=None, redirects=None, max_url=None, \
        profile_toml=None)")]
pub fn explain(
    url: &Bound<'_, PyAny>,
    profile: Option<&str>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<Step>> {
    Normalizer::of_call(url.py(), profile, options)?.explain(url)
}

/// The lowest profile on the ladder of RFC 3986 section 6.2 that gives two URLs the same form.
#[pyfunction]
pub fn compare(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<&'static str> {
    let py = a.py();
    guarded(py, || {
        let (a, b) = (Url::of(a)?, Url::of(b)?);
        // The ladder goes up, so the first profile that joins the two is the lowest.
        for profile in uniqurl::Profile::LADDER {
            let normalizer = uniqurl::Normalizer::new(*profile);
            let (mut one, mut other) = (Vec::new(), Vec::new());
            let forms = (
                normalizer.canonical(a.bytes(), &mut one),
                normalizer.canonical(b.bytes(), &mut other),
            );
            if let (Ok(a), Ok(b)) = forms
                && a.as_bytes() == b.as_bytes()
            {
                return Ok(profile.name());
            }
        }
        Ok("different")
    })
}

/// The canonical forms of a column, on all cores or on ``threads``, without the interpreter's lock.
///
/// Nulls stay null. A rejected value is null in ``canonical``, and ``reject`` holds its codes, separated
/// by commas. A value of only spaces and tabs is blank: it is null in both columns. If nothing changes,
/// the buffers of the input are returned.
///
/// ``errors="keep"`` leaves a rejected value in ``canonical`` as it came, without a key; its codes stay in
/// ``reject``. ``errors="raise"`` raises :class:`Rejected` for the first rejected row.
///
/// With ``format``, each value is a line that holds a URL: ``combined``, ``log:FORMAT``, ``ws:2``,
/// ``json:/url`` or another format of the command that reads each line by itself. ``canonical`` is then
/// string or binary.
///
/// With ``key``, the result also has the column ``key``, which tables name after the key: the key of each
/// URL, as :func:`key` returns it, or null where there is none. It is large_string, or large_binary
/// under the profile ``string``. If the input is a dictionary, so is this column.
#[pyfunction]
#[pyo3(signature = (array, profile=None, *, format=None, key=None, threads=None, errors="null", **options),
    text_signature = "(array, profile=None, *, format=None, key=None, threads=None, errors='null', \
        keep_userinfo=None, keep_fragment=None, fold_scheme=None, strip_www=None, \
        lower_path=None, squeeze_slashes=None, strip_session=None, strip_index=None, \
        strip_trailing_slash=None, drop_query=None, strip_tracking=None, blank_values=None, \
        squeeze_query=None, sort_query=None, keep_empty_segments=None, drop_param=None, \
        keep_param=None, allow=None, deny=None, ring=None, base=None, assume_scheme=None, \
        transcode=None, redirects=None, max_url=None, \
        profile_toml=None)")]
pub fn normalize_column(
    array: &Bound<'_, PyAny>,
    profile: Option<&str>,
    format: Option<&str>,
    key: Option<&str>,
    threads: Option<&Bound<'_, PyAny>>,
    errors: &str,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Columns> {
    let normalizer = Normalizer::of_call(array.py(), profile, options)?;
    normalizer.normalize_column(array, format, key, threads, errors)
}

/// Normalizes the first columns of the process, one for each kind of input, and names a type as
/// errors do.
pub fn normalize_first(py: Python<'_>) -> PyResult<()> {
    let url: ArrayRef = Arc::new(StringArray::from(vec!["http://h/"]));
    let stream = Bound::new(py, Column::new("", DataType::Utf8, vec![Arc::clone(&url)]))?;
    stream.extract::<PyField>()?;
    let array = Bound::new(py, PyArray::from_array_ref(url))?;
    let list = PyList::new(py, ["http://h/"])?;
    let options = PyDict::new(py);
    options.set_item("drop_param", &list)?;
    for column in [stream.as_any(), array.as_any(), list.as_any()] {
        normalize_column(column, None, None, None, None, "null", Some(&options))?;
    }
    let class = list.get_type();
    class.name().and(class.qualname()).map(drop)
}

/// The built-in profiles.
#[pyfunction]
pub fn profiles() -> Vec<Profile> {
    let names = |switches: uniqurl::Switches| {
        switches.iter().map(|switch| switch.name().replace('-', "_")).collect()
    };
    let profile = |profile: &uniqurl::Profile| Profile {
        name: profile.name(),
        version: profile.version(),
        summary: profile.summary(),
        on: names(profile.switches()),
        switches: names(profile.switchable()),
        checks: profile.checks().iter().map(uniqurl::RejectReason::name).collect(),
        toml: profile.to_toml(),
    };
    uniqurl::Profile::ALL.iter().map(profile).collect()
}

/// Every rejection code and its meaning.
#[pyfunction]
pub fn codes(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for code in uniqurl::RejectReason::ALL {
        all.set_item(code.name(), code.sentence())?;
    }
    Ok(all)
}
