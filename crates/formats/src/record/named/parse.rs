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

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::super::log::LineShape;
use super::super::part::RecordPart;
use super::super::{Container, Format, Json, LogFormat, READS_TABLES, Tsv, json};
use super::super::{Context, Extracted, Records};
use super::entry::{FormatFileError, NamedFormat};
use super::fits::{LineTest, Members};

/// A file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatFile {
    #[serde(default)]
    format: Vec<Spanned<Entry>>,
}

/// One entry.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Spanned<String>,
    #[serde(default)]
    aliases: Vec<String>,
    description: String,
    #[serde(default)]
    urls: Vec<String>,
    sample: Option<Spanned<String>>,
    auto: Option<Spanned<Value>>,
    log: Option<Spanned<String>>,
    json: Option<Spanned<Parts>>,
    tsv: Option<Spanned<Parts>>,
    reader: Option<Spanned<String>>,
}

/// The places of the parts of a record, and options of the layout.
type Parts = BTreeMap<String, Spanned<Value>>;

/// A mistake: its place in the file, and the reason.
type Mistake = (Range<usize>, String);

fn mistake<T>(place: &Spanned<T>, reason: impl fmt::Display) -> Mistake {
    (place.span(), reason.to_string())
}

/// The entries of a file. Their names must differ from each other's, and from those of readers.
pub(super) fn entries(text: &str) -> Result<Vec<Arc<NamedFormat>>, FormatFileError> {
    read(text).map_err(|(place, reason)| {
        let before = &text.as_bytes()[..place.start.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let printable = |c: char| {
            if matches!(c, ' '..='~') { c.to_string() } else { c.escape_default().to_string() }
        };
        FormatFileError { line, reason: reason.chars().map(printable).collect() }
    })
}

fn read(text: &str) -> Result<Vec<Arc<NamedFormat>>, Mistake> {
    let file: FormatFile = toml::from_str(text).map_err(|error| {
        // serde's word for a key.
        let reason = error.message().replace("unknown field", "unknown key");
        (error.span().unwrap_or_default(), reason)
    })?;
    let starts: Vec<usize> = file.format.iter().map(|entry| entry.span().start).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut out: Vec<Arc<NamedFormat>> = Vec::new();
    for (entry, end) in file.format.iter().zip(ends) {
        if !READS_TABLES && entry.get_ref().is_of_tables() {
            continue;
        }
        let read = entry.get_ref().read(source(&text[entry.span().start..end]))?;
        let names = || read.aliases.iter().chain([&read.name]);
        let is_taken = |name: &&String| {
            // An entry may have the name of a layout that it documents.
            Format::built_in(name).is_ok_and(|format| format != read.format)
                || out.iter().any(|other| other.has_name(name))
        };
        if let Some(name) = names().find(is_taken) {
            return Err(mistake(entry, format!("the name `{name}` is taken")));
        }
        out.push(Arc::new(read));
    }
    Ok(out)
}

impl Entry {
    fn read(&self, source: String) -> Result<NamedFormat, Mistake> {
        let name = self.name.get_ref();
        let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(mistake(&self.name, "a name is made of small letters, digits, - and _"));
        }
        let (format, test) = self.layout(name)?;
        let (is_detected, is_suggested) =
            match self.auto.as_ref().map(|auto| (auto, auto.get_ref())) {
                None | Some((_, Value::Boolean(true))) => (true, matches!(format, Format::Tsv(_))),
                Some((_, Value::Boolean(false))) => (false, false),
                Some((_, Value::String(text))) if text == "suggest" => (false, true),
                Some((auto, _)) => {
                    return Err(mistake(auto, "`auto` is true or false, or \"suggest\""));
                }
            };
        let sample = self.sample.as_ref().map_or("", |sample| sample.get_ref());
        let sample = sample.strip_prefix('\n').unwrap_or(sample).to_owned();
        // An entry that cannot read its own sample would otherwise show only as a log without URLs.
        if let Some(place) = &self.sample
            && !sample.is_empty()
            && !finds_url(&format, &sample)
        {
            return Err(mistake(place, "the format finds no URL in the sample"));
        }
        Ok(NamedFormat {
            name: name.clone(),
            aliases: self.aliases.clone(),
            description: self.description.clone(),
            sample,
            urls: self.urls.clone(),
            source,
            test: if is_detected { test } else { LineTest::Never },
            is_suggested,
            format,
        })
    }

    /// Whether the reader is one of tables, which a build may lack.
    fn is_of_tables(&self) -> bool {
        let kind = self.reader.as_ref().and_then(|reader| reader.get_ref().split(':').next());
        let tables = [Container::Parquet, Container::Arrow];
        tables.iter().any(|container| kind == Some(container.name()))
    }

    /// The reader and the test of the layout.
    fn layout(&self, name: &str) -> Result<(Format, LineTest), Mistake> {
        match (&self.log, &self.json, &self.tsv, &self.reader) {
            (Some(log), None, None, None) => of_log(name, log),
            (None, Some(json), None, None) => of_json(name, json),
            (None, None, Some(tsv), None) => of_tsv(name, tsv),
            (None, None, None, Some(reader)) => of_reader(reader),
            _ => {
                let reason =
                    format!("the entry of `{name}` needs one of log, json, tsv and reader");
                Err(mistake(&self.name, reason))
            }
        }
    }
}

fn of_log(name: &str, log: &Spanned<String>) -> Result<(Format, LineTest), Mistake> {
    let text = log.get_ref();
    let format = LogFormat::parse(text).map_err(|error| mistake(log, error.why))?;
    let shape = LineShape::parse(text).map_err(|(_, why)| mistake(log, why))?;
    Ok((Format::Log(format.named(name)), LineTest::Log(shape)))
}

fn of_json(name: &str, parts: &Spanned<Parts>) -> Result<(Format, LineTest), Mistake> {
    let mut pointers = Vec::new();
    let mut members = Members::default();
    let mut is_encoded = false;
    for (key, value) in parts.get_ref() {
        if let ("encoded", Some(is)) = (&key[..], value.get_ref().as_bool()) {
            is_encoded = is;
            continue;
        }
        let list: Option<Vec<String>> = match value.get_ref() {
            Value::String(text) => Some(vec![text.clone()]),
            value => value.clone().try_into().ok(),
        };
        let Some(list) = list else {
            let reason = format!("`json.{key}` is a pointer or a list of pointers");
            return Err(mistake(value, reason));
        };
        let tokens = || {
            let tokens = list.iter().map(|pointer| json::tokens(pointer));
            tokens.collect::<Result<_, _>>().map_err(|why| mistake(value, why))
        };
        match &key[..] {
            "needs" => members.needs = tokens()?,
            "lacks" => members.lacks = tokens()?,
            _ => {
                let part = part(key, value)?;
                pointers.extend(list.into_iter().map(|pointer| (part, pointer)));
            }
        }
    }
    check_source(parts, pointers.iter().map(|(part, _)| *part))?;
    let json = Json::named(name, &pointers, is_encoded).map_err(|why| mistake(parts, why))?;
    Ok((Format::Json(json.clone()), LineTest::Json(json, members)))
}

fn of_tsv(name: &str, parts: &Spanned<Parts>) -> Result<(Format, LineTest), Mistake> {
    let mut columns = Vec::new();
    let (mut least, mut encoded) = (0, false);
    for (key, value) in parts.get_ref() {
        let number = value.get_ref().as_integer().and_then(|number| usize::try_from(number).ok());
        match (&key[..], value.get_ref().as_bool(), number.filter(|number| *number > 0)) {
            ("encoded", Some(is), _) => encoded = is,
            ("fields", _, Some(number)) => least = number,
            (_, _, Some(number)) => columns.push((number - 1, part(key, value)?)),
            _ => {
                let reason = format!("`tsv.{key}` is the number of a column, counted from 1");
                return Err(mistake(value, reason));
            }
        }
    }
    check_source(parts, columns.iter().map(|(_, part)| *part))?;
    let tsv = Tsv::named(name, columns.clone(), least, encoded);
    Ok((Format::Tsv(tsv), LineTest::Tsv(columns, least)))
}

fn of_reader(reader: &Spanned<String>) -> Result<(Format, LineTest), Mistake> {
    let format = Format::built_in(reader.get_ref()).map_err(|error| mistake(reader, error))?;
    // None for any line says that `auto` never looks for the layout, so the line does not matter.
    let is_detected = format.fits(b"").is_some();
    let test = if is_detected { LineTest::Reader(format.clone()) } else { LineTest::Never };
    Ok((format, test))
}

fn part(key: &str, value: &Spanned<Value>) -> Result<RecordPart, Mistake> {
    let known = || RecordPart::NAMED.iter().chain(RecordPart::NAMED_IN_TABLES);
    known().find(|(name, _)| *name == key).map(|(_, part)| *part).ok_or_else(|| {
        let names: Vec<&str> = known().map(|(name, _)| *name).collect();
        mistake(value, format!("unknown part `{key}` (expected {})", names.join(", ")))
    })
}

fn check_source(
    place: &Spanned<Parts>,
    mut parts: impl Iterator<Item = RecordPart>,
) -> Result<(), Mistake> {
    match parts.any(|part| part.is_source() || part == RecordPart::DecodedPath) {
        true => Ok(()),
        false => Err(mistake(place, "the parts name no url, target, request or path")),
    }
}

/// The text of an entry, from `text`, which ends where the next entry begins.
fn source(text: &str) -> String {
    // Comments at its end are about the next one.
    let mut lines: Vec<&str> = text.lines().collect();
    while lines.last().is_some_and(|line| line.is_empty() || line.starts_with('#')) {
        lines.pop();
    }
    lines.join("\n") + "\n"
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
