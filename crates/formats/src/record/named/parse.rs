//! Reads the entries of a file of formats.
//!
//! ```toml
//! [[format]]
//! name = "shop"
//! aliases = ["shop-log"]
//! description = "The log of a shop"
//! log = '$host $request_method "$request_uri" $status'
//! sample = '''
//! a.example GET "/x" 200
//! '''
//! urls = ["http://a.example/x"]
//! ```
//!
//! The layout is one of `log` (a format string), `json` (a pointer or several for each part of the
//! URL), `tsv` (the number of the column of each part) and `reader` (the name of a format that has a
//! reader of its own).

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::log::LineShape;
use super::super::part::RecordPart;
use super::super::{Container, Format, Json, LogFormat, READS_TABLES, Tsv, json};
use super::super::{Context, Extracted, Records};
use super::fits::{Family, LineTest};
use super::{FormatFileError, NamedFormat};

/// A value with its position.
type Value<'a, 'i> = &'a Spanned<DeValue<'i>>;

const KEYS: [&str; 10] =
    ["name", "aliases", "description", "sample", "urls", "auto", "log", "json", "tsv", "reader"];

/// The entries of a file. Their names must differ from each other's, and from those of readers.
pub(super) fn entries(text: &str) -> Result<Vec<Arc<NamedFormat>>, FormatFileError> {
    let file = File { text };
    let table = DeTable::parse(text)
        .map_err(|error| file.error(&error.span().unwrap_or_default(), error.message()))?;
    let mut out: Vec<Arc<NamedFormat>> = Vec::new();
    for (key, value) in table.get_ref() {
        if key.get_ref() != "format" {
            let reason = format!("unknown key `{}` (expected [[format]])", key.get_ref());
            return Err(file.error(&key.span(), reason));
        }
        let DeValue::Array(array) = value.get_ref() else {
            return Err(file.error(&value.span(), "an entry begins with [[format]]"));
        };
        for (index, value) in array.iter().enumerate() {
            let DeValue::Table(entry) = value.get_ref() else {
                return Err(file.error(&value.span(), "an entry begins with [[format]]"));
            };
            let end = array.get(index + 1).map_or(text.len(), |next| next.span().start);
            let entry = Entry { file: &file, table: entry, at: value.span(), end };
            if !READS_TABLES && entry.is_of_tables() {
                continue;
            }
            let entry = entry.read()?;
            let names = || entry.aliases.iter().chain([&entry.name]);
            let is_taken = |name: &&String| {
                Format::built_in(name).is_ok_and(|format| format != entry.format)
                    || out.iter().any(|other| other.has_name(name))
            };
            if let Some(name) = names().find(is_taken) {
                return Err(file.error(&value.span(), format!("the name `{name}` is taken")));
            }
            out.push(Arc::new(entry));
        }
    }
    Ok(out)
}

struct File<'i> {
    text: &'i str,
}

impl File<'_> {
    fn error(&self, place: &Range<usize>, reason: impl fmt::Display) -> FormatFileError {
        let before = &self.text.as_bytes()[..place.start.min(self.text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let printable = |c: char| {
            if matches!(c, ' '..='~') { c.to_string() } else { c.escape_default().to_string() }
        };
        FormatFileError { line, reason: reason.to_string().chars().map(printable).collect() }
    }
}

/// One entry.
struct Entry<'a, 'i> {
    file: &'a File<'i>,
    table: &'a DeTable<'i>,
    at: Range<usize>,
    /// Where the next entry begins.
    end: usize,
}

impl<'a, 'i> Entry<'a, 'i> {
    fn read(&self) -> Result<NamedFormat, FormatFileError> {
        for (key, _) in self.table {
            let name = key.get_ref().as_ref();
            if !KEYS.contains(&name) {
                let reason = format!("unknown key `{name}` (expected {})", KEYS.join(", "));
                return Err(self.file.error(&key.span(), reason));
            }
        }
        let name = self.required("name")?;
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(self.error("name", "a name is made of small letters, digits, - and _"));
        }
        let (format, test) = self.layout(&name)?;
        let (is_detected, is_suggested) = match self.value("auto").map(|value| value.get_ref()) {
            None | Some(DeValue::Boolean(true)) => (true, matches!(format, Format::Tsv(_))),
            Some(DeValue::Boolean(false)) => (false, false),
            Some(DeValue::String(text)) if text.as_ref() == "suggest" => (false, true),
            Some(_) => return Err(self.error("auto", "`auto` is true or false, or \"suggest\"")),
        };
        let sample = self.text("sample")?.unwrap_or_default();
        let sample = sample.strip_prefix('\n').unwrap_or(&sample).to_owned();
        if !sample.is_empty() && !finds_url(&format, &sample) {
            return Err(self.error("sample", "the format finds no URL in the sample"));
        }
        Ok(NamedFormat {
            aliases: self.texts("aliases")?,
            description: self.required("description")?,
            sample,
            urls: self.texts("urls")?,
            source: self.source(),
            test: if is_detected { test } else { LineTest::Never },
            is_suggested,
            format,
            name,
        })
    }

    fn value(&self, key: &str) -> Option<Value<'a, 'i>> {
        self.table.iter().find(|(other, _)| other.get_ref() == key).map(|(_, value)| value)
    }

    /// Whether the reader is one of tables, which a build may lack.
    fn is_of_tables(&self) -> bool {
        let reader = self.text("reader").ok().flatten().unwrap_or_default();
        let kind = reader.split(':').next().unwrap_or_default();
        [Container::Parquet, Container::Arrow].iter().any(|container| container.name() == kind)
    }

    /// An error at the value of a key, or at the entry if it lacks the key.
    fn error(&self, key: &str, reason: impl fmt::Display) -> FormatFileError {
        let place = self.value(key).map_or(self.at.clone(), |value| value.span());
        self.file.error(&place, reason)
    }

    fn required(&self, key: &str) -> Result<String, FormatFileError> {
        self.text(key)?.ok_or_else(|| self.error(key, format!("an entry needs `{key}`")))
    }

    fn text(&self, key: &str) -> Result<Option<String>, FormatFileError> {
        match self.value(key).map(|value| value.get_ref()) {
            None => Ok(None),
            Some(DeValue::String(text)) => Ok(Some(text.to_string())),
            Some(_) => Err(self.error(key, format!("`{key}` is a text"))),
        }
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, FormatFileError> {
        self.value(key).map_or(Ok(Vec::new()), |value| {
            texts(value).ok_or_else(|| self.error(key, format!("`{key}` is a list of texts")))
        })
    }

    /// The reader and the test of the layout.
    fn layout(&self, name: &str) -> Result<(Format, LineTest), FormatFileError> {
        let layouts = ["log", "json", "tsv", "reader"];
        let named = layouts.into_iter().filter(|key| self.value(key).is_some());
        match *named.collect::<Vec<_>>() {
            ["log"] => self.log(name),
            ["json"] => self.json(name),
            ["tsv"] => self.tsv(name),
            ["reader"] => self.reader(),
            _ => {
                let reason =
                    format!("the entry of `{name}` needs one of log, json, tsv and reader");
                Err(self.error("name", reason))
            }
        }
    }

    fn log(&self, name: &str) -> Result<(Format, LineTest), FormatFileError> {
        let text = self.required("log")?;
        let format = LogFormat::parse(&text).map_err(|error| self.error("log", error.why))?;
        let shape = LineShape::parse(&text).map_err(|(_, why)| self.error("log", why))?;
        Ok((Format::Log(format.named(name)), LineTest::Log(shape)))
    }

    fn json(&self, name: &str) -> Result<(Format, LineTest), FormatFileError> {
        let mut pointers = Vec::new();
        let mut needs = Vec::new();
        for (key, value) in self.parts("json")? {
            let list = match value.get_ref() {
                DeValue::String(text) => Some(vec![text.to_string()]),
                _ => texts(value),
            };
            let Some(list) = list else {
                let reason = format!("`json.{key}` is a pointer or a list of pointers");
                return Err(self.file.error(&value.span(), reason));
            };
            let error = |why| self.file.error(&value.span(), why);
            let tokens = |pointer: &String| json::tokens(pointer).map_err(error);
            if key == "needs" {
                needs = list.iter().map(tokens).collect::<Result<_, _>>()?;
            } else {
                let part = self.part(&key, value)?;
                pointers.extend(list.into_iter().map(|pointer| (part, pointer)));
            }
        }
        self.check_source("json", pointers.iter().map(|(part, _)| *part))?;
        let json = Json::named(name, &pointers).map_err(|why| self.error("json", why))?;
        Ok((Format::Json(json.clone()), LineTest::Json(json, needs)))
    }

    fn tsv(&self, name: &str) -> Result<(Format, LineTest), FormatFileError> {
        let mut columns = Vec::new();
        let (mut least, mut encoded) = (0, false);
        for (key, value) in self.parts("tsv")? {
            let number = match value.get_ref() {
                DeValue::Integer(number) => number.as_str().parse::<usize>().ok(),
                _ => None,
            };
            match (&key[..], value.get_ref(), number.filter(|number| *number > 0)) {
                ("encoded", DeValue::Boolean(is), _) => encoded = *is,
                ("fields", _, Some(number)) => least = number,
                (_, _, Some(number)) => columns.push((number - 1, self.part(&key, value)?)),
                _ => {
                    let reason = format!("`tsv.{key}` is the number of a column, counted from 1");
                    return Err(self.file.error(&value.span(), reason));
                }
            }
        }
        self.check_source("tsv", columns.iter().map(|(_, part)| *part))?;
        let tsv = Tsv::named(name, columns.clone(), least, encoded);
        Ok((Format::Tsv(tsv), LineTest::Tsv(columns, least)))
    }

    fn reader(&self) -> Result<(Format, LineTest), FormatFileError> {
        let name = self.required("reader")?;
        let format =
            Format::built_in(&name).map_err(|error| self.error("reader", error.to_string()))?;
        let test = match (&format, Family::of(&format)) {
            (_, Some(family)) => LineTest::Reader(family),
            (Format::Extended(_) | Format::Sitemap, None) => LineTest::Header,
            _ => LineTest::Never,
        };
        Ok((format, test))
    }

    /// The keys and values of a layout in parts.
    fn parts(&self, key: &str) -> Result<Vec<(String, Value<'a, 'i>)>, FormatFileError> {
        match self.value(key).map(|value| value.get_ref()) {
            Some(DeValue::Table(table)) => {
                Ok(table.iter().map(|(key, value)| (key.get_ref().to_string(), value)).collect())
            }
            _ => Err(self.error(key, format!("`{key}` is a table of the parts of a URL"))),
        }
    }

    fn part(&self, key: &str, value: Value<'_, '_>) -> Result<RecordPart, FormatFileError> {
        let mut known = RecordPart::NAMED.iter().chain(RecordPart::NAMED_IN_TABLES);
        known.find(|(name, _)| *name == key).map(|(_, part)| *part).ok_or_else(|| {
            let names = RecordPart::NAMED.iter().chain(RecordPart::NAMED_IN_TABLES);
            let names: Vec<&str> = names.map(|(name, _)| *name).collect();
            let reason = format!("unknown part `{key}` (expected {})", names.join(", "));
            self.file.error(&value.span(), reason)
        })
    }

    fn check_source(
        &self,
        key: &str,
        mut parts: impl Iterator<Item = RecordPart>,
    ) -> Result<(), FormatFileError> {
        match parts.any(|part| part.is_source() || part == RecordPart::DecodedPath) {
            true => Ok(()),
            false => Err(self.error(key, "the parts name no url, target, request or path")),
        }
    }

    /// The text of the entry: from its header up to the next one.
    fn source(&self) -> String {
        let entry = &self.file.text[self.at.start..self.end];
        // Comments at its end are about the next one.
        let mut lines: Vec<&str> = entry.lines().collect();
        while lines.last().is_some_and(|line| line.is_empty() || line.starts_with('#')) {
            lines.pop();
        }
        lines.join("\n") + "\n"
    }
}

/// True if a format finds a URL in a sample. Archives and tables are no text, so they have none.
fn finds_url(format: &Format, sample: &str) -> bool {
    let mut out = Records::default();
    format.read(&Context::default(), sample.as_bytes(), &mut out);
    let is_url = |found| {
        matches!(found, Extracted::Url(..) | Extracted::Target(..) | Extracted::Joined { .. })
    };
    matches!(format, Format::Archive(_) | Format::Table(_))
        || out.records.iter().any(|record| is_url(record.found))
}

fn texts(value: Value<'_, '_>) -> Option<Vec<String>> {
    let DeValue::Array(items) = value.get_ref() else { return None };
    let text = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => None,
    };
    items.iter().map(text).collect()
}
