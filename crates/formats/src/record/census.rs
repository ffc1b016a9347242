//! The columns of the first records of an input, with their values: members of JSON by their pointers, cells
//! of tables, words and fields of logs by their number.

use std::collections::HashMap;

use super::hosts::is_authority;
use super::json;
use super::value_kind::ValueKind;

/// Columns of one record that are looked at; the longest name of a member and the most of a value, in
/// bytes; and how many objects around a member are gone into. A pointer repeats the names of all objects
/// around its member.
const COLUMNS: usize = 2_000;
const NAME: usize = 256;
const VALUE: usize = 4 << 10;
const DEPTH: usize = 4;

/// A column of several records.
#[derive(Debug)]
pub(super) struct Column {
    /// Its pointer, or its number counted from 1.
    pub place: String,
    /// Its name or label in small letters; empty if it has none.
    pub name: String,
    /// Whether it is an item of an array, where no pointer leads to.
    pub is_item: bool,
    /// Its value in each record.
    pub values: Vec<Option<Vec<u8>>>,
}

impl Column {
    /// Its values that are not empty.
    pub fn full(&self) -> impl Iterator<Item = &[u8]> {
        let values = self.values.iter().flatten().map(Vec::as_slice);
        values.filter(|value| ValueKind::of(value) != ValueKind::Empty)
    }

    /// The number of records in which it has values of a kind.
    pub fn count(&self, kind: ValueKind) -> usize {
        self.full().filter(|value| self.kind_of(value) == kind).count()
    }

    /// True if most of its values are of a kind.
    pub fn is(&self, kind: ValueKind) -> bool {
        self.count(kind) * 2 > self.full().count()
    }

    /// True if it has values of a kind in most records.
    pub fn is_filled_by(&self, kind: ValueKind) -> bool {
        self.count(kind) * 2 > self.values.len()
    }

    /// True if two of its values differ.
    pub fn varies(&self) -> bool {
        let mut values = self.full();
        let first = values.next();
        values.any(|value| first.is_some_and(|first| !first.eq_ignore_ascii_case(value)))
    }

    /// True if its name, or that of an object around it, is of another machine than the site.
    pub fn is_of_other(&self) -> bool {
        names_other(&self.name) || names_other(&self.object().to_ascii_lowercase())
    }

    /// The pointer of the object that holds it; empty at the top, and in tables.
    pub fn object(&self) -> &str {
        self.place.rsplit_once('/').map_or("", |(object, _)| object)
    }

    /// An address is a client, and a word is anything, unless the name says that it is a host.
    fn kind_of(&self, value: &[u8]) -> ValueKind {
        match ValueKind::of(value) {
            ValueKind::Address | ValueKind::Word
                if is_authority(value) && names_site(&self.name) =>
            {
                ValueKind::Host
            }
            kind => kind,
        }
    }
}

/// The columns of some records, in the order in which they first appear.
#[derive(Debug, Default)]
pub(super) struct Census {
    pub columns: Vec<Column>,
    places: HashMap<String, usize>,
    records: usize,
}

impl Census {
    /// The members of JSON values.
    pub fn of_json<'a>(records: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut census = Self::default();
        for record in records {
            // The last record may be cut off by the end of the head, and would add half of its
            // members.
            if json::is_whole(record) {
                census.begin_record();
                census.add_value("", b"", record, false);
            }
        }
        census.pad();
        census
    }

    /// The cells of rows, under the names of a header.
    pub fn of_rows<'a, R: IntoIterator<Item = (&'a [u8], &'a [u8])>>(
        rows: impl Iterator<Item = R>,
        names: &[String],
    ) -> Self {
        let mut census = Self::default();
        for row in rows {
            census.begin_record();
            for (index, (label, cell)) in row.into_iter().enumerate().take(COLUMNS) {
                let name = match label {
                    b"" => names.get(index).cloned().unwrap_or_default(),
                    label => String::from_utf8_lossy(label).to_ascii_lowercase(),
                };
                census.add((index + 1).to_string(), &name, cell, false);
            }
        }
        census.pad();
        census
    }

    /// True if a column has values of this kind in most records.
    pub fn has(&self, kind: ValueKind) -> bool {
        self.columns.iter().any(|column| column.is_filled_by(kind))
    }

    fn begin_record(&mut self) {
        self.records += 1;
    }

    /// Makes all columns as long as there are records.
    fn pad(&mut self) {
        let records = self.records;
        self.columns.iter_mut().for_each(|column| column.values.resize(records, None));
    }

    fn add(&mut self, place: String, name: &str, value: &[u8], is_item: bool) {
        let index = match self.places.get(&place) {
            Some(index) => *index,
            None if self.columns.len() == COLUMNS => return,
            None => {
                let name = name.to_ascii_lowercase();
                self.places.insert(place.clone(), self.columns.len());
                self.columns.push(Column { place, name, is_item, values: Vec::new() });
                self.columns.len() - 1
            }
        };
        let values = &mut self.columns[index].values;
        // Records without the column count as empty. For a name that stands twice in one record
        // this shortens the list again, so the last one counts.
        values.resize(self.records - 1, None);
        values.push(Some(value[..value.len().min(VALUE)].to_vec()));
    }

    /// Adds the value of a member, as the text writes it, or the members in it.
    fn add_value(&mut self, place: &str, name: &[u8], value: &[u8], is_item: bool) {
        match value.first() {
            Some(b'{') if place.matches('/').count() < DEPTH => {
                for (name, value) in json::members(value).filter(|(name, _)| name.len() <= NAME) {
                    // The tilde first (RFC 6901 section 3), or the one of `~1` would be escaped
                    // once more.
                    let token = String::from_utf8_lossy(name).replace('~', "~0").replace('/', "~1");
                    self.add_value(&format!("{place}/{token}"), name, value, is_item);
                }
            }
            // All items count as one column.
            Some(b'[') => {
                let item = json::first_item(value);
                item.into_iter()
                    .for_each(|item| self.add_value(&format!("{place}/0"), name, item, true));
            }
            Some(b'"') => {
                let text = json::string(value).unwrap_or_default();
                self.add(place.to_owned(), &String::from_utf8_lossy(name), &text, is_item);
            }
            Some(b'-' | b'0'..=b'9') => {
                self.add(place.to_owned(), &String::from_utf8_lossy(name), value, is_item);
            }
            // No part of a URL is a literal, and deeper objects are of the application, not of the
            // request.
            _ => {}
        }
    }
}

/// Parts of names of columns that name other machines than the site.
const OTHERS: [&str; 14] = [
    "client",
    "remote",
    "addr",
    "ip",
    "agent",
    "refer",
    "upstream",
    "user",
    "forwarded",
    "email",
    "origin",
    "logger",
    "kube",
    "backend",
];

/// Parts of names of columns that name the site.
const SITES: [&str; 9] = [
    "authority",
    "vhost",
    "host",
    "server_name",
    "servername",
    "server.address",
    "domain",
    "fqdn",
    "site",
];

/// True for the name of a column that names another machine than the site.
pub(super) fn names_other(name: &str) -> bool {
    // The site of the Elastic Common Schema and OpenTelemetry, though `addr` is in it.
    !name.contains("server.address") && OTHERS.iter().any(|other| name.contains(other))
}

/// True for the name of a column that names the site.
pub(super) fn names_site(name: &str) -> bool {
    !names_other(name) && SITES.iter().any(|site| name.contains(site))
}
