//! Options given by keywords: switches of a profile, the other settings of a normalizer, and the
//! format of the values of a column.

use std::sync::OnceLock;

use arrow_schema::DataType;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use uniqurl::uri::Charset;
use uniqurl::{
    Canonical, Key, Normalizer, Profile, Redirects, RejectReason, Ring, Switch, UnknownName,
};
use uniqurl_formats::record::{Format, LONGEST_URL, MAX_URL, max_record};

use crate::errors::{self, checked};

/// A normalizer, the longest URL it takes, and the position of the URL in a value.
#[derive(Debug, Clone)]
pub struct Rules {
    pub normalizer: Normalizer,
    pub max_url: usize,
    /// Bytes of the base, and of the assumed scheme.
    base: usize,
    assumed: usize,
    /// Bytes of the longest target of a redirect, if there are redirects.
    redirect: Option<usize>,
    /// The format, if a value is a record that holds a URL.
    pub format: Option<Format>,
}

impl Rules {
    /// The longest record. A longer one is not read, even if it is all blanks.
    pub fn max_record(&self) -> usize {
        max_record(self.max_url)
    }

    /// The rules of a profile without options. They are made once.
    fn plain(profile: Profile) -> &'static Self {
        // `normalize(url)` takes its rules in each call, and without options they are always the same.
        static ALL: OnceLock<Vec<Rules>> = OnceLock::new();
        let make = |profile: &Profile| Rules {
            normalizer: Normalizer::new(*profile),
            max_url: MAX_URL,
            base: 0,
            assumed: 0,
            redirect: None,
            format: None,
        };
        let all = ALL.get_or_init(|| Profile::ALL.iter().map(make).collect());
        let at = Profile::ALL.iter().position(|other| other.name() == profile.name());
        &all[at.expect("every profile is in the list of all")]
    }

    /// The rules that keywords choose.
    pub fn new(
        py: Python<'_>,
        profile: Option<&str>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let named = || {
            let name = profile.unwrap_or("crawl");
            name.parse::<Profile>().map_err(|unknown: UnknownName| {
                let why = Profile::unknown_version(name);
                errors::usage(py, why.unwrap_or_else(|| unknown.to_string()))
            })
        };
        let options = match options {
            Some(options) if !options.is_empty() => options,
            _ => return Ok(Self::plain(named()?).clone()),
        };
        let options = Options::read(options)?;
        let mut normalizer = match &options.profile_toml {
            Some(_) if profile.is_some() => {
                return Err(errors::usage(py, "profile_toml names its profile itself"));
            }
            Some(text) => checked(py, Normalizer::from_profile_file(text))?,
            None => Normalizer::new(named()?),
        };
        normalizer = checked(py, normalizer.with_switches(options.on))?;
        normalizer = checked(py, normalizer.without_switches(options.off))?;
        if !options.drop_param.is_empty() {
            normalizer = checked(py, normalizer.with_dropped_parameters(&options.drop_param))?;
        }
        if !options.keep_param.is_empty() {
            normalizer = checked(py, normalizer.with_kept_parameters(&options.keep_param))?;
        }
        if !options.allow.is_empty() {
            normalizer = checked(py, normalizer.with_allowed(options.allow))?;
        }
        if !options.deny.is_empty() {
            normalizer = checked(py, normalizer.with_denied(options.deny))?;
        }
        if let Some(ring) = options.ring {
            normalizer = checked(py, normalizer.with_ring(ring))?;
        }
        if let Some(charset) = options.transcode {
            normalizer = checked(py, normalizer.with_charset(charset))?;
        }
        let max_url = options.max_url.unwrap_or(MAX_URL);
        if !(1..=LONGEST_URL).contains(&max_url) {
            return Err(errors::usage(py, format!("max_url is 1 to {LONGEST_URL}")));
        }
        let longest = |pairs: &Vec<Pair>| pairs.iter().map(|(_, to)| to.len()).max().unwrap_or(0);
        let redirect = options.redirects.as_ref().map(longest);
        let assumed = options.assume_scheme.as_ref().map_or(0, Vec::len);
        let mut rules = Self { normalizer, max_url, base: 0, assumed, redirect, format: None };
        rules.check_before(py)?;
        // In this order: a base is normalized by the rules so far, and redirects by all of them.
        if let Some(scheme) = options.assume_scheme {
            rules.normalizer = rules
                .normalizer
                .with_assumed_scheme(&scheme)
                .map_err(|reject| errors::usage(py, format!("assume_scheme: {reject}")))?;
        }
        if let Some(base) = options.base {
            rules = rules.with_base(py, &base)?;
        }
        if let Some(pairs) = options.redirects {
            let redirects = Redirects::from_iter(pairs);
            rules.normalizer = rules
                .normalizer
                .with_redirects(&redirects)
                .map_err(|error| errors::usage(py, format!("redirects: {error}")))?;
        }
        Ok(rules)
    }

    /// The same with this base. Redirects are resolved after it.
    pub fn with_base(self, py: Python<'_>, base: &[u8]) -> PyResult<Self> {
        let mut rules = Self { base: base.len(), ..self };
        rules.check_before(py)?;
        rules.normalizer = rules
            .normalizer
            .with_base(base)
            .map_err(|reject| errors::usage(py, format!("base: {reject}")))?;
        Ok(rules)
    }

    pub fn has_redirects(&self) -> bool {
        self.redirect.is_some()
    }

    /// Bytes that may be put before a value, or replace it.
    pub fn before(&self) -> usize {
        self.base + self.assumed + self.redirect.unwrap_or(0)
    }

    fn check_before(&self, py: Python<'_>) -> PyResult<()> {
        // Canonical forms behind a longer one could outgrow the offsets of a column.
        if self.before() <= LONGEST_URL {
            return Ok(());
        }
        let most = format!("base, assume_scheme and a redirect have at most {LONGEST_URL} bytes");
        Err(errors::usage(py, most))
    }

    /// The same for values that are records of a format. A format cannot be read value by value if
    /// its records are not lines, or if one line gives the meaning of the others.
    pub fn with_format(mut self, py: Python<'_>, name: Option<&str>) -> PyResult<Self> {
        // Each value of a column is a URL by itself, which is what lines are.
        let Some(name) = name.filter(|name| *name != "lines") else { return Ok(self) };
        if name == "auto" {
            let why = "format auto is for files, not for columns";
            return Err(errors::usage(py, why));
        }
        let format = format_of(py, name, OF_VALUES)?;
        if format.looks_back() || matches!(format, Format::Archive(_) | Format::Text(_)) {
            let why = format!("format {name} cannot be read value by value");
            return Err(errors::usage(py, why));
        }
        self.format = Some(format);
        Ok(self)
    }

    /// The key of this name, if these rules support it.
    pub fn key(&self, py: Python<'_>, name: &str) -> PyResult<Key> {
        let key = checked(py, name.parse::<Key>())?;
        if key == Key::Ssurt && self.normalizer.has_own_ports() {
            let why = "ssurt names the ports of the registry, and the profile file has others";
            return Err(errors::usage(py, why));
        }
        Ok(key)
    }

    /// Appends the canonical form of `url` to `out`.
    pub fn normalize(&self, py: Python<'_>, url: &[u8], out: &mut Vec<u8>) -> PyResult<()> {
        self.check_length(py, url)?;
        match self.normalizer.append(url, out) {
            Ok(()) => Ok(()),
            Err(reject) => Err(errors::rejected(py, &reject)),
        }
    }

    /// Appends the canonical form of `url` to `out`, and returns false if it is rejected.
    pub fn accepts(&self, url: &[u8], out: &mut Vec<u8>) -> bool {
        url.len() <= self.max_url && matches!(self.normalizer.append(url, out), Ok(()))
    }

    /// The canonical form of `url`, as [`Normalizer::canonical`] gives it.
    pub fn canonical<'a>(
        &self,
        py: Python<'_>,
        url: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> PyResult<Canonical<'a>> {
        self.check_length(py, url)?;
        self.normalizer.canonical(url, scratch).map_err(|reject| errors::rejected(py, &reject))
    }

    /// A canonical form that is known to be one: it is checked again, mostly proven by one vector
    /// pass. A form that came from a record may be a request target.
    pub fn known<'a>(&self, form: &'a [u8], scratch: &'a mut Vec<u8>) -> Canonical<'a> {
        let known = match self.format {
            Some(_) if form.starts_with(b"/") => {
                self.normalizer.for_targets().canonical(form, scratch)
            }
            _ => self.normalizer.canonical(form, scratch),
        };
        // By the first law.
        known.expect("a canonical form is accepted")
    }

    /// Whether a key may hold any byte; else all of it is ASCII.
    pub fn writes_any_byte(&self, key: Key) -> bool {
        // Hashes and templates are ASCII under every profile.
        self.normalizer.may_write_any_byte() && !matches!(key, Key::Hash | Key::Template)
    }

    /// The type of a column of keys: text if all of them are ASCII.
    pub fn kind_of(&self, key: Key) -> DataType {
        if self.writes_any_byte(key) { DataType::LargeBinary } else { DataType::LargeUtf8 }
    }

    /// Whether `url` is not too long.
    pub fn check_length(&self, py: Python<'_>, url: &[u8]) -> PyResult<()> {
        if url.len() > self.max_url { Err(errors::too_long(py, self.max_url)) } else { Ok(()) }
    }
}

/// The formats whose records can be values of a column.
const OF_VALUES: &str = "lines, target, clf, combined, vhost, log:FORMAT, elb, alb, haproxy, ltsv, ws:N, \
                         tsv:N, json:POINTER or cdxj";

/// The format of this name. `there` lists the supported formats for the error.
pub fn format_of(py: Python<'_>, name: &str, there: &str) -> PyResult<Format> {
    if matches!(name.split(':').next(), Some("parquet" | "arrow")) {
        return Err(errors::usage(py, format!("format {name}: tables come in as columns")));
    }
    Format::parse(name).map_err(|error| match error.is_unknown() {
        // The library would suggest a format that the function may not support.
        true => errors::usage(
            py,
            format!("unknown format `{}` (expected {there})", name.escape_debug()),
        ),
        false => errors::usage(py, error.to_string()),
    })
}

/// The keywords after parsing.
#[derive(Default)]
struct Options {
    on: Vec<Switch>,
    off: Vec<Switch>,
    allow: Vec<RejectReason>,
    deny: Vec<RejectReason>,
    drop_param: Vec<String>,
    keep_param: Vec<String>,
    ring: Option<Ring>,
    base: Option<Vec<u8>>,
    assume_scheme: Option<Vec<u8>>,
    max_url: Option<usize>,
    profile_toml: Option<String>,
    transcode: Option<Charset>,
    redirects: Option<Vec<Pair>>,
}

/// The options that are no switches.
const OTHERS: [&str; 11] = [
    "allow",
    "assume_scheme",
    "base",
    "deny",
    "drop_param",
    "keep_param",
    "max_url",
    "profile_toml",
    "redirects",
    "ring",
    "transcode",
];

/// The error for a keyword that is no option, with the one that was probably meant.
fn unknown_option(name: &str) -> PyErr {
    let switches = Switch::ALL.iter().map(|switch| switch.name().replace('-', "_"));
    let all = switches.chain(OTHERS.map(str::to_owned));
    let meant = UnknownName::new(name, "option", all);
    let meant = meant.nearest().map(|name| format!("; did you mean '{name}'?"));
    PyTypeError::new_err(format!("unknown option or switch{}", meant.unwrap_or_default()))
}

/// A URL and its redirect target.
type Pair = (Vec<u8>, Vec<u8>);

impl Options {
    /// A switch is a name of `--with` with `_` for `-`, and true or false. Any other option counts as
    /// absent if its value is None.
    fn read(options: &Bound<'_, PyDict>) -> PyResult<Self> {
        let py = options.py();
        let mut read = Self::default();
        for (key, value) in options {
            let key: String = key.extract()?;
            read.take(&key, &value).map_err(|error| errors::of_option(py, &key, error))?;
        }
        Ok(read)
    }

    /// Takes one keyword.
    fn take(&mut self, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = value.py();
        match key {
            name if value.is_none() && OTHERS.contains(&name) => {}
            "allow" | "deny" => {
                let codes = if key == "allow" { &mut self.allow } else { &mut self.deny };
                for name in strings(value)? {
                    codes.push(checked(py, name.parse::<RejectReason>())?);
                }
            }
            "drop_param" => self.drop_param = strings(value)?,
            "keep_param" => self.keep_param = strings(value)?,
            "ring" => {
                self.ring = Some(checked(py, Ring::parse(&value.extract::<String>()?))?);
            }
            "base" => self.base = Some(bytes(value)?),
            "assume_scheme" => self.assume_scheme = Some(bytes(value)?),
            "max_url" => self.max_url = Some(value.extract()?),
            "profile_toml" => self.profile_toml = Some(value.extract()?),
            "transcode" => {
                let label: String = value.extract()?;
                let unknown = || {
                    let why = "no charset of the Encoding Standard that agrees with ASCII";
                    errors::usage(py, format!("transcode: {label:?} is {why}"))
                };
                let charset = Charset::for_label(label.as_bytes());
                self.transcode = Some(charset.ok_or_else(unknown)?);
            }
            "redirects" => self.redirects = Some(pairs(value)?),
            name => {
                let switch = name.replace('_', "-").parse::<Switch>().ok();
                // A dictionary may hold a keyword with a hyphen, and no documentation names it so.
                let switch = switch.filter(|_| !name.contains('-'));
                // Before None is passed over, so that a mistyped name is an error whatever its value is.
                let switch = switch.ok_or_else(|| unknown_option(name))?;
                if value.is_none() {
                    return Ok(());
                }
                if value.extract()? { &mut self.on } else { &mut self.off }.push(switch);
            }
        }
        Ok(())
    }
}

/// A copy of the keywords: a list may change later, and an iterator can be read only once.
pub fn held<'py>(options: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let py = options.py();
    let held = options.copy()?;
    for (key, value) in options {
        let name: String = key.extract()?;
        if value.is_none() {
            continue;
        }
        let told = |error| errors::of_option(py, &name, error);
        match &name[..] {
            "allow" | "deny" | "drop_param" | "keep_param" => {
                held.set_item(key, strings(&value).map_err(told)?)?;
            }
            "redirects" => held.set_item(key, pairs(&value).map_err(told)?)?,
            _ => {}
        }
    }
    Ok(held)
}

/// One string, or the items of an iterable.
fn strings(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    // A str is an iterable too, of its characters.
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
        return Ok(vec![value.extract()?]);
    }
    value.try_iter()?.map(|name| name?.extract()).collect()
}

/// Pairs of URLs: the items of a mapping, or of an iterable.
fn pairs(value: &Bound<'_, PyAny>) -> PyResult<Vec<Pair>> {
    let pairs = match value.hasattr("items")? {
        true => value.call_method0("items")?,
        false => value.clone(),
    };
    let pair = |pair: PyResult<Bound<'_, PyAny>>| {
        let both = pair?.try_iter()?.collect::<PyResult<Vec<_>>>()?;
        match &both[..] {
            [from, to] => Ok((bytes(from)?, bytes(to)?)),
            _ => Err(PyTypeError::new_err("a redirect is two URLs")),
        }
    };
    pairs.try_iter()?.map(pair).collect()
}

/// The bytes of a `bytes`, or of a `str` in UTF-8.
pub fn bytes(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    Ok(value.extract::<String>()?.into_bytes())
}
