//! A custom profile as a TOML file: a built-in profile and the differences from it.
//!
//! Parses the text into a [`Normalizer`], or returns the line of an error with its reason. Every key has to be
//! known. [`Profile::to_toml`] writes a built-in profile as such a file.

mod write;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

use crate::bytes::{RejectReason, UnknownName, set};
use crate::normalize::exact::ports::DefaultPorts;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::options::hosts::{Hosts, PathRules, Site};
use crate::profile::glob::{Case, Glob, Globs, MOST_WILD};
use crate::profile::{Profile, Ring, RingError, Switch, System};

/// Why a profile file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileFileError {
    /// The line of the error, counted from 1.
    pub line: usize,
    /// The reason, in printable characters.
    pub reason: String,
}

impl fmt::Display for ProfileFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

impl std::error::Error for ProfileFileError {}

impl Normalizer {
    /// Reads the normalizer that a profile file describes.
    ///
    /// ```
    /// use uniqurl::Normalizer;
    ///
    /// let shop = Normalizer::from_profile_file(
    ///     r#"
    ///     name = "shop"
    ///     version = 1
    ///     base = "crawl"
    ///
    ///     [host."*.shop.example".switches]
    ///     sort-query = true
    ///     "#,
    /// )?;
    /// let mut out = Vec::new();
    /// let _ = shop.append(b"http://de.shop.example?b&a", &mut out);
    /// assert_eq!(out, b"http://de.shop.example/?a&b");
    /// assert_eq!(shop.description(), "shop@1 base=crawl@1 hosts=1");
    /// # Ok::<(), uniqurl::ProfileFileError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The text is not TOML, or it has an unknown key or a value that the profile cannot have.
    pub fn from_profile_file(text: &str) -> Result<Self, ProfileFileError> {
        read(text).map_err(|fault| fault.located(text))
    }
}

/// The keys of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct File {
    name: Spanned<String>,
    version: u32,
    base: Spanned<String>,
    #[serde(default)]
    host: Table<Section>,
    // The same as of a section: serde cannot refuse unknown keys around a flattened struct.
    #[serde(default)]
    switches: Table<bool>,
    allow: Option<Vec<Spanned<String>>>,
    deny: Option<Vec<Spanned<String>>>,
    ring: Option<Spanned<RingLists>>,
    parameters: Option<Spanned<Parameters>>,
    ports: Option<Spanned<Table<toml::Value>>>,
}

/// The rules for all hosts, those of one, or those of some of its paths.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Section {
    base: Option<Spanned<String>>,
    #[serde(default)]
    switches: Table<bool>,
    allow: Option<Vec<Spanned<String>>>,
    deny: Option<Vec<Spanned<String>>>,
    ring: Option<Spanned<RingLists>>,
    parameters: Option<Spanned<Parameters>>,
    ports: Option<Spanned<Table<toml::Value>>>,
    #[serde(default)]
    path: Vec<Spanned<PathSection>>,
}

/// The rules of a host for some paths. They change what a canonical form is, and not which URLs have one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct PathSection {
    glob: Spanned<String>,
    #[serde(default, rename = "ignore-case")]
    ignore_case: bool,
    #[serde(default)]
    switches: Table<bool>,
    parameters: Option<Spanned<Parameters>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct RingLists {
    decode: Option<Spanned<String>>,
    encode: Option<Spanned<String>>,
}

/// Lists of patterns.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
struct Parameters {
    /// Whether the lists are added to those above: by default those of paths are, and those of hosts replace them.
    inherit: Option<bool>,
    #[serde(rename = "ignore-case")]
    ignore_case: Option<bool>,
    drop: Option<Spanned<Vec<String>>>,
    keep: Option<Spanned<Vec<String>>>,
    tracking: Option<Spanned<Vec<String>>>,
}

type Table<T> = BTreeMap<Spanned<String>, T>;

/// The entries of a table in the order of the text, so that the first of several errors is reported.
fn in_order<T>(table: &Table<T>) -> Vec<(&Spanned<String>, &T)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// An error and its offset.
struct Fault {
    at: usize,
    reason: String,
}

impl Fault {
    fn new<T>(place: &Spanned<T>, reason: impl fmt::Display) -> Self {
        Self { at: place.span().start, reason: reason.to_string() }
    }

    /// The fault that serde or the parser found, in the words of TOML.
    fn of_toml(error: &toml::de::Error, place: Range<usize>) -> Self {
        let words = [
            ("unknown field", "unknown key"),
            ("missing field", "missing key"),
            ("expected a map", "expected a table"),
            ("expected a sequence", "expected a list"),
        ];
        let message = error.message().to_owned();
        let reason =
            words.iter().fold(message, |text, (serde, toml)| text.replacen(serde, toml, 1));
        Self { at: place.start, reason }
    }

    fn located(self, text: &str) -> ProfileFileError {
        let before = &text.as_bytes()[..self.at.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        // The text is anybody's, and the message goes to a terminal.
        let printable = |c: char| {
            if matches!(c, ' '..='~') { c.to_string() } else { c.escape_default().to_string() }
        };
        ProfileFileError { line, reason: self.reason.chars().map(printable).collect() }
    }
}

/// The position of a parser error. The parser gives none for a name that is nested too deep; that name is
/// in the first line with which the text fails in this way.
fn place(error: &toml::de::Error, text: &str) -> Range<usize> {
    error.span().unwrap_or_else(|| {
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
        let fails =
            |end: usize| DeTable::parse(&text[..end]).is_err_and(|error| error.span().is_none());
        let before = ends.partition_point(|end| !fails(*end));
        let end = ends.get(before).map_or(text.len(), |end| *end);
        end..end
    })
}

fn read(text: &str) -> Result<Normalizer, Fault> {
    let table =
        DeTable::parse(text).map_err(|error| Fault::of_toml(&error, place(&error, text)))?;
    let file = File::deserialize(Deserializer::from(table))
        .map_err(|error| Fault::of_toml(&error, error.span().unwrap_or_default()))?;
    let name = file.name.get_ref();
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_of_name) {
        return Err(Fault::new(&file.name, "a name is of letters, digits and - . _"));
    }
    let File { base, switches, allow, deny, ring, parameters, ports, .. } = file;
    let path = Vec::new();
    let general =
        Section { base: Some(base), switches, allow, deny, ring, parameters, ports, path };
    let mut normalizer = general.applied_to(None, Lists::Replace)?;
    let mut hosts = Hosts::default();
    // Each host starts from the general rules unless it names a base.
    for (pattern, section) in in_order(&file.host) {
        let of_host = section.applied_to(Some(&normalizer), Lists::Replace)?;
        if let Some(one_more) = section.path.get(MOST_PATHS) {
            return Err(Fault::new(one_more, format!("more than {MOST_PATHS} paths")));
        }
        let paths = section.path.iter().map(|path| path.get_ref().rules(&of_host));
        let paths = paths.collect::<Result<_, _>>()?;
        let site = Site { with_domain: false, rules: of_host.rules, paths };
        match hosts.add(pattern.get_ref(), site) {
            Some(true) => {}
            Some(false) => return Err(Fault::new(pattern, "this host is there twice")),
            None => return Err(Fault::new(pattern, "not a host, nor . or *. and a domain")),
        }
    }
    normalizer.hosts = (hosts.len() > 0).then(|| Arc::new(hosts));
    normalizer.label = Some(format!("{name}@{}", file.version).into());
    Ok(normalizer)
}

/// The most paths of a host. Each of them may be compared with each URL of the host.
const MOST_PATHS: usize = 1_000;

impl PathSection {
    /// The rules of the host, changed by those of the path.
    fn rules(&self, of_host: &Normalizer) -> Result<PathRules, Fault> {
        let glob = self.glob.get_ref();
        // A path that its wildcards can stand for: one that no rule changes, or the pattern could never match.
        let path = glob.replace(['*', '?'], "a");
        let url = format!("http://h{}{path}", if glob.starts_with('/') { "" } else { "/" });
        if !Normalizer::new(Profile::Crawl).is_canonical(url.as_bytes()) {
            return Err(Fault::new(&self.glob, "not a path in canonical form with * and ? in it"));
        }
        let own = Section {
            switches: self.switches.clone(),
            parameters: self.parameters.clone(),
            ..Section::default()
        };
        Ok(PathRules {
            glob: Glob::new(glob.as_bytes()),
            case: case(self.ignore_case),
            rules: own.applied_to(Some(of_host), Lists::Add)?.rules,
        })
    }
}

/// What the lists of a section do to those above if it does not say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lists {
    Replace,
    Add,
}

fn case(ignored: bool) -> Case {
    if ignored { Case::Ignored } else { Case::Exact }
}

impl Section {
    /// The rules of the base, or those `above`, changed by the keys of the section.
    fn applied_to(&self, above: Option<&Normalizer>, by: Lists) -> Result<Normalizer, Fault> {
        let mut normalizer = match (&self.base, above) {
            (None, Some(above)) => above.clone(),
            (base, _) => Normalizer::new(base_of(base.as_ref().expect("a file has a base"))?),
        };
        for (name, on) in in_order(&self.switches) {
            let switch = Switch::from_str(name.get_ref()).map_err(|e| Fault::new(name, e))?;
            let turn = if *on { Normalizer::with_switches } else { Normalizer::without_switches };
            normalizer = turn(normalizer, [switch]).map_err(|e| Fault::new(name, e))?;
        }
        let off = normalizer.profile().checks_off();
        if let Some(names) = &self.allow {
            // The checks that are off by default are the list `deny`.
            normalizer.rules.allowed = off.without(off.without(normalizer.rules.allowed));
            for name in names {
                normalizer =
                    normalizer.with_allowed([check(name)?]).map_err(|e| Fault::new(name, e))?;
            }
        }
        if let Some(names) = &self.deny {
            normalizer.rules.allowed = normalizer.rules.allowed.or(off);
            for name in names {
                normalizer =
                    normalizer.with_denied([check(name)?]).map_err(|e| Fault::new(name, e))?;
            }
        }
        if let Some(lists) = &self.ring {
            let (System::Ring(known), Some(above)) =
                (normalizer.profile().rules().system, normalizer.rules.ring())
            else {
                let reason = format!("profile {} has no ring", normalizer.profile().name());
                return Err(Fault::new(lists, reason));
            };
            let own = ring(lists, above)?;
            // A ring that is the built-in one in other words does not change the description.
            normalizer.rules.ring = (known != &own).then(|| Arc::new(own));
        }
        if let Some(lists) = &self.parameters {
            set_parameters(lists, by, &mut normalizer)?;
        }
        if let Some(own) = &self.ports {
            set_ports(own, &mut normalizer)?;
        }
        Ok(normalizer)
    }
}

fn base_of(name: &Spanned<String>) -> Result<Profile, Fault> {
    let text = name.get_ref();
    text.parse().map_err(|unknown: UnknownName| match Profile::unknown_version(text) {
        Some(reason) => Fault::new(name, reason),
        None => Fault::new(name, unknown),
    })
}

fn check(name: &Spanned<String>) -> Result<RejectReason, Fault> {
    name.get_ref().parse().map_err(|_| {
        let checks = Profile::checks_of_all().iter();
        Fault::new(name, UnknownName::new(name.get_ref(), "check", checks))
    })
}

/// A ring. A missing list is the one of the ring `above`, without the bytes of the given list.
fn ring(lists: &Spanned<RingLists>, above: &Ring) -> Result<Ring, Fault> {
    let RingLists { decode, encode } = lists.get_ref();
    let bytes = |list: &Option<Spanned<String>>| list.as_ref().map(|l| l.get_ref().clone().into());
    let (decoded, encoded): (Option<Vec<u8>>, Option<Vec<u8>>) = (bytes(decode), bytes(encode));
    let [mut decodes, mut encodes] = above.lists();
    decodes.retain(|byte| !encoded.as_ref().is_some_and(|list| list.contains(byte)));
    encodes.retain(|byte| !decoded.as_ref().is_some_and(|list| list.contains(byte)));
    let made = Ring::new(&decoded.unwrap_or(decodes), &encoded.unwrap_or(encodes));
    made.map_err(|error| {
        let bad = match error {
            RingError::Both(byte) | RingError::NotCustomizable(byte) => char::from(byte),
            RingError::Syntax(_) => return Fault::new(lists, error),
        };
        // The last list that holds the byte is reported.
        let holds = |list: &&Spanned<String>| list.get_ref().contains(bad);
        match [encode, decode].into_iter().flatten().find(holds) {
            Some(list) => Fault::new(list, error),
            None => Fault::new(lists, error),
        }
    })
}

fn set_parameters(
    lists: &Spanned<Parameters>,
    by: Lists,
    normalizer: &mut Normalizer,
) -> Result<(), Fault> {
    let Parameters { drop, keep, tracking, inherit, ignore_case } = lists.get_ref();
    let inherits = inherit.unwrap_or(by == Lists::Add);
    for list in [drop, keep, tracking].into_iter().flatten() {
        if !normalizer.profile().takes_parameters() {
            let reason = format!("profile {} leaves parameters alone", normalizer.profile().name());
            return Err(Fault::new(list, reason));
        }
        if list.get_ref().len() > MOST_PATTERNS {
            return Err(Fault::new(list, format!("more than {MOST_PATTERNS} patterns")));
        }
        if Globs::new(globs(list), Case::Exact).is_too_wild() {
            let reason = format!("more than {MOST_WILD} patterns with a wildcard before their end");
            return Err(Fault::new(list, reason));
        }
    }
    let heuristics = &mut normalizer.rules.heuristics;
    let case = ignore_case.map_or(heuristics.case, case);
    if case != heuristics.case {
        heuristics.set_case(case);
    }
    // A list without a pattern counts as no list, and so replaces the one above.
    let listed = |list: Vec<Glob>| (!list.is_empty()).then(|| Globs::new(list, case));
    let above = |list: Option<&Globs>| {
        let patterns = list.filter(|_| inherits).into_iter().flat_map(Globs::patterns);
        patterns.map(Glob::new).collect::<Vec<_>>()
    };
    match drop.as_ref().map(globs) {
        // Shared with the section above: a thousand hosts may inherit a long list.
        Some(list) if inherits => {
            listed(list).into_iter().for_each(|more| heuristics.drop_more(more))
        }
        Some(list) => heuristics.drop_parameters(listed(list)),
        None => {}
    }
    if let Some(list) = keep {
        let kept = [above(heuristics.kept.as_deref()), globs(list)].concat();
        heuristics.keep_parameters(listed(kept));
    }
    if let Some(list) = tracking {
        heuristics.track([above(Some(&heuristics.tracking)), globs(list)].concat());
    }
    Ok(())
}

/// The most patterns that a list may hold.
const MOST_PATTERNS: usize = 10_000;

fn globs(list: &Spanned<Vec<String>>) -> Vec<Glob> {
    list.get_ref().iter().map(|pattern| Glob::new(pattern.as_bytes())).collect()
}

fn set_ports(own: &Spanned<Table<toml::Value>>, normalizer: &mut Normalizer) -> Result<(), Fault> {
    if !normalizer.profile().rules().takes_ports() {
        let reason = format!("profile {} knows its own ports only", normalizer.profile().name());
        return Err(Fault::new(own, reason));
    }
    let known = normalizer.rules.ports.as_deref().cloned();
    let mut ports = known.unwrap_or_else(DefaultPorts::of_schemes);
    for (name, port) in in_order(own.get_ref()) {
        let scheme = name.get_ref();
        let is_of_scheme = |(i, byte): (usize, u8)| {
            let allowed = if i == 0 { set::ALPHA } else { set::SCHEME };
            !byte.is_ascii_uppercase() && allowed.contains(byte)
        };
        if scheme.is_empty() || !scheme.bytes().enumerate().all(is_of_scheme) {
            return Err(Fault::new(name, "not a scheme in lower case"));
        }
        if matches!(scheme.as_ref(), "file" | "mailto") {
            return Err(Fault::new(name, "this scheme knows no ports"));
        }
        let number = port.as_integer().and_then(|number| u16::try_from(number).ok());
        if number.is_none() && port.as_bool() != Some(false) {
            let reason = format!("a port is a whole number from 0 to {}, or false", u16::MAX);
            return Err(Fault::new(name, reason));
        }
        ports.set(scheme, number);
    }
    // Ports that are the usual ones in other words do not change the description.
    let is_own = ports != DefaultPorts::of_schemes();
    normalizer.rules.ports = is_own.then(|| Arc::new(ports));
    Ok(())
}
