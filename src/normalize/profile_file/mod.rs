//! A custom profile as a TOML file: a built-in profile and the differences from it.
//!
//! Parses the text into a [`Normalizer`], or returns the line of the first error with its reason. Every
//! key has to be known. [`Profile::to_toml`] writes a built-in profile as such a file.

mod write;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::heuristic::PARAMETER_CASE;
use super::hosts::Hosts;
use super::normalizer::Normalizer;
use super::ports::DefaultPorts;
use super::ruleset::Ruleset;
use crate::bytes::{RejectReason, UnknownName, set};
use crate::profile::glob::{Glob, Globs};
use crate::profile::{Ports, Profile, Ring, RingError, Switch, System};

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
        File { text }.read().map_err(|fault| fault.located(text))
    }
}

/// A value with its position.
type Value<'a, 'i> = &'a Spanned<DeValue<'i>>;

struct File<'i> {
    text: &'i str,
}

/// An error and its offset. Only the one that is reported gets a line: counting the lines before each of many
/// errors would take quadratic time.
struct Fault {
    at: usize,
    reason: String,
}

impl Fault {
    fn located(self, text: &str) -> ProfileFileError {
        #[cfg(test)]
        tests::LOCATED.set(tests::LOCATED.get() + 1);
        let before = &text.as_bytes()[..self.at.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let printable = |c: char| {
            if matches!(c, ' '..='~') { c.to_string() } else { c.escape_default().to_string() }
        };
        ProfileFileError { line, reason: self.reason.chars().map(printable).collect() }
    }
}

/// The first error of a text. Parts of the text are not read in its order.
#[derive(Default)]
struct First(Option<Fault>);

impl First {
    /// Returns the value, or keeps the error if it is the first one.
    fn of<T>(&mut self, read: Result<T, Fault>) -> Option<T> {
        let error = match read {
            Ok(value) => return Some(value),
            Err(error) => error,
        };
        if self.0.as_ref().is_none_or(|first| error.at < first.at) {
            self.0 = Some(error);
        }
        None
    }

    fn end(self) -> Result<(), Fault> {
        self.0.map_or(Ok(()), Err)
    }
}

const RULES: &[&str] = &["base", "switches", "allow", "deny", "ring", "parameters", "ports"];

impl<'i> File<'i> {
    fn error(&self, place: &Range<usize>, reason: impl fmt::Display) -> Fault {
        Fault { at: place.start, reason: reason.to_string() }
    }

    /// The position of a parser error. The parser gives none for a name that is nested too deep; that name is
    /// in the first line with which the text fails in this way.
    fn place(&self, error: &toml::de::Error) -> Range<usize> {
        error.span().unwrap_or_else(|| {
            let ends: Vec<usize> = memchr::memchr_iter(b'\n', self.text.as_bytes()).collect();
            let fails = |end: usize| {
                DeTable::parse(&self.text[..end]).is_err_and(|error| error.span().is_none())
            };
            let before = ends.partition_point(|end| !fails(*end));
            let end = ends.get(before).map_or(self.text.len(), |end| *end);
            end..end
        })
    }

    fn read(&self) -> Result<Normalizer, Fault> {
        let table = DeTable::parse(self.text)
            .map_err(|error| self.error(&self.place(&error), error.message()))?;
        let all = table.get_ref();
        let mut first = First::default();
        first.of(self.only(all, &[&["name", "version", "host"], RULES].concat()));
        let name = find(all, "name").map(|name| first.of(self.name(name)));
        let version = find(all, "version")
            .map(|version| first.of(self.integer(version, "a version", u32::MAX)));
        let base = find(all, "base").map(|base| first.of(self.base(base)));
        // The other keys can be checked only if the base is known.
        let mut normalizer = None;
        if let Some(Some(base)) = &base {
            normalizer = first.of(self.rules(all, base.clone()));
            if let Some(hosts) = find(all, "host") {
                let own = first.of(self.hosts(hosts, normalizer.as_ref().unwrap_or(base)));
                if let (Some(normalizer), Some(own)) = (&mut normalizer, own) {
                    normalizer.hosts = (own.len() > 0).then(|| Arc::new(own));
                }
            }
        }
        first.end()?;
        // Reported last, since an unknown key may be a misspelling of the missing one.
        let missing = |key: &str| self.error(&(0..0), format!("the key {key} is missing"));
        let name = name.flatten().ok_or_else(|| missing("name"))?;
        let version = version.flatten().ok_or_else(|| missing("version"))?;
        let mut normalizer = normalizer.ok_or_else(|| missing("base"))?;
        normalizer.label = Some(format!("{name}@{version}").into());
        Ok(normalizer)
    }

    fn name<'a>(&self, value: Value<'a, 'i>) -> Result<&'a str, Fault> {
        let name = self.string(value)?;
        let named = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if name.is_empty() || !name.bytes().all(named) {
            return Err(self.error(&value.span(), "a name is of letters, digits and - . _"));
        }
        Ok(name)
    }

    fn base(&self, value: Value<'_, 'i>) -> Result<Normalizer, Fault> {
        let name = self.string(value)?;
        let profile =
            Profile::named(name).ok_or_else(|| self.error(&value.span(), not_built_in(name)))?;
        Ok(Normalizer::new(profile))
    }

    /// The rules of hosts. Each starts from the rules `above` unless it names a base.
    fn hosts(&self, value: Value<'_, 'i>, above: &Normalizer) -> Result<Hosts, Fault> {
        let mut own = Hosts::default();
        let mut first = First::default();
        for (pattern, section) in ordered(self.table(value)?) {
            let Some(rules) = first.of(self.host(section, above)) else { continue };
            let reason = match own.add(pattern.get_ref(), rules) {
                Some(true) => continue,
                Some(false) => "this host is there twice",
                None => "not a host, nor *. and a domain",
            };
            first.of(Err::<(), _>(self.error(&pattern.span(), reason)));
        }
        first.end().map(|()| own)
    }

    fn host(&self, section: Value<'_, 'i>, above: &Normalizer) -> Result<Ruleset, Fault> {
        let section = self.table(section)?;
        let mut first = First::default();
        first.of(self.only(section, RULES));
        let start = match find(section, "base") {
            Some(base) => first.of(self.base(base)),
            None => Some(above.clone()),
        };
        let rules = start.and_then(|start| first.of(self.rules(section, start)));
        first.end()?;
        Ok(rules.expect("without a trouble there are rules").rules)
    }

    /// Applies a section to `normalizer`.
    fn rules(
        &self,
        section: &DeTable<'i>,
        mut normalizer: Normalizer,
    ) -> Result<Normalizer, Fault> {
        let mut first = First::default();
        for (key, read) in [
            ("switches", Self::switches as fn(&_, _, _) -> _),
            ("allow", Self::allow),
            ("deny", Self::deny),
            ("ring", Self::rings),
            ("parameters", Self::parameters),
            ("ports", Self::ports),
        ] {
            if let Some(value) = find(section, key)
                && let Some(with) = first.of(read(self, value, normalizer.clone()))
            {
                normalizer = with;
            }
        }
        first.end().map(|()| normalizer)
    }

    fn allow(&self, value: Value<'_, 'i>, mut normalizer: Normalizer) -> Result<Normalizer, Fault> {
        // The checks that are off by default are the list `deny`.
        let off = normalizer.profile().checks_off();
        normalizer.rules.allowed = off.without(off.without(normalizer.rules.allowed));
        for (code, place) in self.checks(value)? {
            normalizer = normalizer.with_allowed([code]).map_err(|e| self.error(&place, e))?;
        }
        Ok(normalizer)
    }

    fn deny(&self, value: Value<'_, 'i>, mut normalizer: Normalizer) -> Result<Normalizer, Fault> {
        normalizer.rules.allowed = normalizer.rules.allowed.or(normalizer.profile().checks_off());
        for (code, place) in self.checks(value)? {
            normalizer = normalizer.with_denied([code]).map_err(|e| self.error(&place, e))?;
        }
        Ok(normalizer)
    }

    /// The codes of checks that a list names, and their places.
    fn checks(&self, value: Value<'_, 'i>) -> Result<Vec<(RejectReason, Range<usize>)>, Fault> {
        let known = |(name, place): (&str, Range<usize>)| match RejectReason::named(name) {
            Some(code) => Ok((code, place)),
            None => {
                let unknown = UnknownName::new(name, "check", Profile::checks_of_all().iter());
                Err(self.error(&place, unknown))
            }
        };
        self.strings(value)?.into_iter().map(known).collect()
    }

    fn switches(
        &self,
        switches: Value<'_, 'i>,
        mut normalizer: Normalizer,
    ) -> Result<Normalizer, Fault> {
        for (name, value) in ordered(self.table(switches)?) {
            let switch = Switch::named(name.get_ref()).ok_or_else(|| {
                self.error(&name.span(), UnknownName::new(name.get_ref(), "switch", Switch::ALL))
            })?;
            let on = value.get_ref().as_bool();
            let on = on.ok_or_else(|| self.error(&value.span(), "a switch is true or false"))?;
            let turned = if on {
                normalizer.with_switches([switch])
            } else {
                normalizer.without_switches([switch])
            };
            normalizer = turned.map_err(|error| self.error(&name.span(), error))?;
        }
        Ok(normalizer)
    }

    fn rings(&self, value: Value<'_, 'i>, mut normalizer: Normalizer) -> Result<Normalizer, Fault> {
        let (System::Ring(known), Some(above)) =
            (normalizer.profile().system, normalizer.rules.ring())
        else {
            let reason = format!("profile {} has no ring", normalizer.profile().name());
            return Err(self.error(&value.span(), reason));
        };
        let own = self.ring(value, above)?;
        normalizer.rules.ring = (known != &own).then(|| Arc::new(own));
        Ok(normalizer)
    }

    /// A ring. A missing list is the one of the ring `above`, without the bytes of the given list.
    fn ring(&self, value: Value<'_, 'i>, above: &Ring) -> Result<Ring, Fault> {
        let table = self.table(value)?;
        self.only(table, &["decode", "encode"])?;
        let list = |key| find(table, key).map(|list| self.string(list)).transpose();
        let (decode, encode) = (list("decode")?, list("encode")?);
        let [mut decoded, mut encoded] = above.lists();
        decoded.retain(|byte| !encode.unwrap_or_default().as_bytes().contains(byte));
        encoded.retain(|byte| !decode.unwrap_or_default().as_bytes().contains(byte));
        let decode = decode.map_or(&decoded[..], str::as_bytes);
        let encode = encode.map_or(&encoded[..], str::as_bytes);
        Ring::new(decode, encode).map_err(|error| {
            let bad = match error {
                RingError::Both(byte) | RingError::NotCustomizable(byte) => Some(byte),
                _ => None,
            };
            // The last list that holds the byte is reported.
            let lists = ["encode", "decode"].into_iter().filter_map(|key| find(table, key));
            let place = lists.into_iter().find(|list| {
                let text = list.get_ref().as_str().unwrap_or_default();
                bad.is_some_and(|bad| text.as_bytes().contains(&bad))
            });
            self.error(&place.unwrap_or(value).span(), error)
        })
    }

    fn parameters(
        &self,
        value: Value<'_, 'i>,
        mut normalizer: Normalizer,
    ) -> Result<Normalizer, Fault> {
        let table = self.table(value)?;
        self.only(table, &["drop", "keep", "tracking"])?;
        for (key, list) in ordered(table) {
            let patterns: Vec<&str> =
                self.strings(list)?.into_iter().map(|(text, _)| text).collect();
            if !normalizer.profile().takes_parameters() {
                let reason =
                    format!("profile {} leaves parameters alone", normalizer.profile().name());
                return Err(self.error(&key.span(), reason));
            }
            if patterns.len() > MOST_PATTERNS {
                return Err(self.error(&list.span(), format!("more than {MOST_PATTERNS} patterns")));
            }
            let globs = patterns.iter().map(|pattern| Glob::new(pattern.as_bytes()));
            let heuristics = &mut normalizer.rules.heuristics;
            // A list without a pattern counts as no list, and so replaces the one above.
            let listed =
                |globs: Vec<Glob>| (!globs.is_empty()).then(|| Globs::new(globs, PARAMETER_CASE));
            match key.get_ref().as_ref() {
                "tracking" => heuristics.track(globs),
                "drop" => heuristics.drop_parameters(listed(globs.collect())),
                _ => heuristics.keep_parameters(listed(globs.collect())),
            }
        }
        Ok(normalizer)
    }

    fn ports(&self, value: Value<'_, 'i>, mut normalizer: Normalizer) -> Result<Normalizer, Fault> {
        if !normalizer.profile().takes_ports() {
            let reason =
                format!("profile {} knows its own ports only", normalizer.profile().name());
            return Err(self.error(&value.span(), reason));
        }
        let mut ports = DefaultPorts::of_schemes();
        if let Some(known) = &normalizer.rules.ports {
            ports = DefaultPorts::clone(known);
        }
        for (name, port) in ordered(self.table(value)?) {
            let scheme = name.get_ref();
            let is_scheme = scheme.bytes().enumerate().all(|(i, byte)| {
                !byte.is_ascii_uppercase()
                    && if i == 0 { set::ALPHA } else { set::SCHEME }.contains(byte)
            });
            if !is_scheme || scheme.is_empty() {
                return Err(self.error(&name.span(), "not a scheme in lower case"));
            }
            if matches!(scheme.as_ref(), "file" | "mailto") {
                return Err(self.error(&name.span(), "this scheme knows no ports"));
            }
            let port = match port.get_ref() {
                DeValue::Boolean(false) => None,
                _ => Some(self.integer(port, "a port", u16::MAX)?),
            };
            ports.set(scheme, port);
        }
        let own = ports != DefaultPorts::of_schemes();
        normalizer.rules.profile.ports = if own { Ports::Others } else { Ports::OfSchemes };
        normalizer.rules.ports = own.then(|| Arc::new(ports));
        Ok(normalizer)
    }

    /// Rejects a key that is not one of these.
    fn only(&self, table: &DeTable<'i>, known: &[&str]) -> Result<(), Fault> {
        match ordered(table).iter().find(|(key, _)| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some((key, _)) => {
                Err(self.error(&key.span(), UnknownName::new(key.get_ref(), "key", known)))
            }
        }
    }

    fn table<'a>(&self, value: Value<'a, 'i>) -> Result<&'a DeTable<'i>, Fault> {
        let table = value.get_ref().as_table();
        table.ok_or_else(|| self.error(&value.span(), "this has to be a table"))
    }

    fn string<'a>(&self, value: Value<'a, 'i>) -> Result<&'a str, Fault> {
        let text = value.get_ref().as_str();
        text.ok_or_else(|| self.error(&value.span(), "this has to be a string"))
    }

    fn strings<'a>(&self, value: Value<'a, 'i>) -> Result<Vec<(&'a str, Range<usize>)>, Fault> {
        let array = value.get_ref().as_array();
        let array =
            array.ok_or_else(|| self.error(&value.span(), "this has to be a list of strings"))?;
        array.iter().map(|value| Ok((self.string(value)?, value.span()))).collect()
    }

    /// A whole number from 0 on.
    fn integer<T: std::str::FromStr + fmt::Display>(
        &self,
        value: Value<'_, 'i>,
        what: &str,
        largest: T,
    ) -> Result<T, Fault> {
        let number = value.get_ref().as_integer().filter(|number| number.radix() == 10);
        number.and_then(|number| number.as_str().parse().ok()).ok_or_else(|| {
            self.error(&value.span(), format!("{what} is a whole number from 0 to {largest}"))
        })
    }
}

/// The most patterns that a list may hold.
const MOST_PATTERNS: usize = 10_000;

/// The reason why no built-in profile has this name.
fn not_built_in(name: &str) -> String {
    Profile::unknown_version(name).unwrap_or_else(|| {
        let names = Profile::ALL.iter().map(|profile| profile.name());
        UnknownName::new(name, "profile", names).to_string()
    })
}

/// A key and its value.
type Entry<'a, 'i> = (&'a Spanned<DeString<'i>>, Value<'a, 'i>);

/// The entries of a table, in the order of the text.
fn ordered<'a, 'i>(table: &'a DeTable<'i>) -> Vec<Entry<'a, 'i>> {
    let mut entries: Vec<Entry<'a, 'i>> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

fn find<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<Value<'a, 'i>> {
    table.iter().find(|(name, _)| name.get_ref() == key).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// How often the lines before an error were counted.
        pub(super) static LOCATED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn lines_are_counted_for_the_reported_error_alone() {
        let sections = (0..100).map(|i| format!("[host.'h{i}.x'.switches]\nsort-query = 3\n"));
        let text =
            format!("name = 'x'\nversion = 1\nbase = 'crawl'\n{}", sections.collect::<String>());
        LOCATED.set(0);
        let error = Normalizer::from_profile_file(&text).unwrap_err();
        assert_eq!(error.to_string(), "line 5: a switch is true or false");
        assert_eq!(LOCATED.get(), 1);
    }
}
