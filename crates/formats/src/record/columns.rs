//! Maps the columns of a table to parts of a record.
//!
//! The input is the text after `csv:` or `tsv:`, or the header of a log that has its own; the
//! output is a [`ColumnLayout`], which reads the fields of a record.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use super::line::Line;
use super::part::{PartSet, RecordPart, Said, Value};
use super::{Context, Extracted};
use uniqurl::RejectReason;

/// The parts by column, ascending, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnLayout {
    slots: Vec<(usize, RecordPart)>,
    /// The columns of parts beside the URL, which are read where they are asked for.
    beside: Vec<(usize, RecordPart)>,
    /// The facts for filters.
    pub facts: PartSet,
    /// The names of all columns, if there is a header.
    pub names: Vec<Vec<u8>>,
}

impl ColumnLayout {
    pub fn new(mut slots: Vec<(usize, RecordPart)>) -> Self {
        // `found` walks the fields once from left to right, so the columns have to ascend.
        slots.sort_by_key(|(column, _)| *column);
        let facts = slots.iter().map(|(_, part)| *part).collect();
        let (slots, beside) = slots.into_iter().partition(|(_, part)| part.is_read_at_once());
        Self { slots, beside, facts, names: Vec::new() }
    }

    /// True if a column holds queries without their `?`.
    pub fn is_query(&self, column: usize) -> bool {
        self.slots.iter().any(|(other, part)| *other == column && part.is_query())
    }

    /// Reads a record from its fields. `value` decodes each field that is used. Fields that only
    /// filters read are skipped if there is no filter. If a header names the fields, a record must have
    /// as many: in one with fewer or more, the place of a field does not tell its name.
    pub(super) fn found<'a, F: Clone>(
        &self,
        ctx: &Context,
        line: Line<'_>,
        mut fields: impl Iterator<Item = F>,
        value: impl Fn(RecordPart, F) -> Value<'a>,
        scratch: &mut Vec<u8>,
    ) -> Extracted {
        let mut said = Said::default();
        let mut next = 0;
        let is_asked = |part: RecordPart| match part {
            RecordPart::Status | RecordPart::Mime => !ctx.filter.is_empty(),
            _ => true,
        };
        let mut slots = self.slots.iter().filter(|(_, part)| is_asked(*part)).peekable();
        // A CSV field costs a search for its end, so the walk stops after the last column that is
        // asked for.
        while let Some((column, _)) = slots.peek() {
            let Some(field) = fields.nth(column - next) else {
                // Under a header the row was cut. Without one, a short row only lacks this part.
                if *column < self.names.len() {
                    return Extracted::Reject(RejectReason::Truncated, 0);
                }
                return said.found(ctx, self.facts, line, scratch);
            };
            next = column + 1;
            // Two parts may name the same column.
            while let Some((_, part)) = slots.next_if(|(other, _)| other + 1 == next) {
                said.set(*part, value(*part, field.clone()));
            }
        }
        if !self.names.is_empty() {
            // The rest is counted only under a header: without one nobody knows how many fields are
            // right.
            match (next + fields.count()).cmp(&self.names.len()) {
                Ordering::Less => return Extracted::Reject(RejectReason::Truncated, 0),
                Ordering::Greater => return Extracted::Reject(RejectReason::LogSyntax, 0),
                Ordering::Equal => {}
            }
        }
        said.found(ctx, self.facts, line, scratch)
    }
}

/// The header of a table or log: the names and the places of its columns, once they are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header(Option<Arc<ColumnLayout>>);

impl Header {
    /// A header that was read.
    pub fn known(layout: ColumnLayout) -> Self {
        Self(Some(Arc::new(layout)))
    }

    /// The header of a table with these columns: none has to be read if all of them are numbers.
    pub fn of(columns: &Columns) -> Self {
        if columns.need_header() { Self(None) } else { Self::known(columns.layout(&[])) }
    }

    /// The places of the columns.
    pub fn layout(&self) -> Option<&ColumnLayout> {
        self.0.as_deref()
    }

    /// The names of all columns.
    pub fn names(&self) -> &[Vec<u8>] {
        self.layout().map_or(&[], |layout| &layout.names)
    }

    /// True if a column holds queries without their `?`.
    pub fn is_query(&self, column: &Column) -> bool {
        self.layout().zip(column.place).is_some_and(|(layout, place)| layout.is_query(place))
    }
}

/// A column that is asked for beside the URL.
#[derive(Debug, Default)]
pub struct Column {
    /// The format's own column.
    pub own: Option<ColumnKey>,
    /// The part that logs have in common under this name, which fills in where a record has no such column.
    pub common: Option<RecordPart>,
    /// Its place under the last header.
    pub place: Option<usize>,
}

/// A column by the name that the format has for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnKey {
    /// The letter of a legend.
    Letter(u8),
    /// A name in a header, or a number.
    Named(ColumnName),
    /// A pointer into a value of JSON, and the index of the field of a CDXJ line before its object that
    /// counts where the object has no such member.
    Pointer(Vec<Vec<u8>>, Option<usize>),
}

impl Column {
    /// The pointer, and the field before the object.
    pub(super) fn pointer(&self) -> (&[Vec<u8>], Option<usize>) {
        match &self.own {
            Some(ColumnKey::Pointer(pointer, before)) => (pointer, *before),
            _ => (&[], None),
        }
    }

    /// The name in a header; one that no column has for other columns.
    pub(super) fn name(&self) -> ColumnName {
        match &self.own {
            Some(ColumnKey::Named(name)) => name.clone(),
            _ => ColumnName::Number(usize::MAX),
        }
    }
}

/// A column that a header lacks, and the header.
pub type Lacking = (ColumnName, Vec<Vec<u8>>);

/// The first of these columns that a header lacks.
pub(super) fn first_lacking(names: &[ColumnName], header: &[Vec<u8>]) -> Option<Lacking> {
    let mut places = names.iter().zip(find_all(names, header));
    let lacks = |column: Option<usize>| column.is_none_or(|column| column >= header.len());
    let (name, _) = places.find(|(_, column)| lacks(*column))?;
    Some((name.clone(), header.to_vec()))
}

impl ColumnName {
    pub(super) fn parse(name: &str) -> Result<Self, &'static str> {
        if name.is_empty() {
            return Err("a column is a name in the header, or a number counted from 1");
        }
        if !name.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(ColumnName::Header(name.as_bytes().to_vec()));
        }
        let number = name.parse::<usize>().ok().filter(|number| *number > 0);
        number.map(|n| ColumnName::Number(n - 1)).ok_or("columns are counted from 1")
    }

    /// The column under this header, if any: matched exactly, else without case, else also without white
    /// space around it.
    pub(super) fn find(&self, header: &[Vec<u8>]) -> Option<usize> {
        match self {
            ColumnName::Number(number) => Some(*number),
            ColumnName::Header(name) => position(header, name),
        }
    }
}

/// The columns that a user chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    text: String,
    names: Vec<(RecordPart, ColumnName)>,
}

/// The name of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnName {
    /// A number, counted from 0.
    Number(usize),
    /// A name from the header.
    Header(Vec<u8>),
}

impl Columns {
    /// Reads `COL`, or `host=COL,target=COL`; a column is a number from 1, or a name in the header.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let names =
            parts(text)?.into_iter().map(|(part, column)| Ok((part, ColumnName::parse(column)?)));
        Ok(Self { text: text.to_owned(), names: names.collect::<Result<_, &'static str>>()? })
    }

    /// Columns by number, counted from 0.
    pub fn numbered(parts: Vec<(usize, RecordPart)>) -> Self {
        let names = parts.into_iter().map(|(number, part)| (part, ColumnName::Number(number)));
        Self { text: String::new(), names: names.collect() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if the first line of an input is a header; if no column has a name, the first line is
    /// an ordinary record.
    pub fn need_header(&self) -> bool {
        self.names.iter().any(|(_, name)| matches!(name, ColumnName::Header(_)))
    }

    /// The column of this name in records of a format. Without a header, columns have only numbers.
    pub fn column(&self, name: &str, format: &str) -> Result<ColumnKey, String> {
        match ColumnName::parse(name)? {
            ColumnName::Header(_) if !self.need_header() => Err(format!(
                "{format} takes the first line for a record, so columns have only numbers"
            )),
            name => Ok(ColumnKey::Named(name)),
        }
    }

    /// The first column that is needed or asked for and that a header lacks.
    pub fn lacking(&self, header: &Header, columns: &[String]) -> Option<Lacking> {
        let asked = columns.iter().filter_map(|column| ColumnName::parse(column).ok());
        let names: Vec<ColumnName> = self.names().cloned().chain(asked).collect();
        first_lacking(&names, header.names())
    }

    /// The name or number of each column.
    pub fn names(&self) -> impl Iterator<Item = &ColumnName> {
        self.names.iter().map(|(_, name)| name)
    }

    /// True if a column holds queries without their `?`.
    pub fn have_queries(&self) -> bool {
        self.names.iter().any(|(part, _)| part.is_query())
    }

    /// The parts that columns hold.
    pub fn parts(&self) -> PartSet {
        self.names.iter().map(|(part, _)| *part).collect()
    }

    /// Resolves the columns to numbers. A name matches exactly, else without case; a missing column
    /// stays empty.
    pub fn layout(&self, header: &[Vec<u8>]) -> ColumnLayout {
        let slot = |(part, name): &(RecordPart, ColumnName)| Some((name.find(header)?, *part));
        ColumnLayout {
            facts: self.parts(),
            names: header.to_vec(),
            ..ColumnLayout::new(self.names.iter().filter_map(slot).collect())
        }
    }
}

impl ColumnLayout {
    /// True if the URL is the only part in use.
    pub fn is_url_alone(&self) -> bool {
        matches!(self.slots[..], [(_, RecordPart::Url)]) && self.beside.is_empty()
    }

    /// The columns in use.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots.iter().chain(&self.beside).map(|(column, _)| *column)
    }

    /// The columns of such parts.
    pub fn columns_of(&self, is: impl Fn(&RecordPart) -> bool) -> impl Iterator<Item = usize> {
        let all = self.slots.iter().chain(&self.beside);
        all.filter(move |(_, part)| is(part)).map(|(column, _)| *column)
    }

    /// The column of a part.
    pub fn column_of(&self, part: RecordPart) -> Option<usize> {
        let mut slots = self.slots.iter().chain(&self.beside);
        slots.find(|(_, other)| *other == part).map(|(column, _)| *column)
    }

    /// The column that the URL is built from.
    pub fn source(&self) -> Option<usize> {
        self.slots.iter().find(|(_, part)| part.is_source()).map(|(column, _)| *column)
    }
}

impl Columns {
    /// Resolves the columns to numbers. All must exist; an error names the missing one.
    pub fn find(&self, header: &[Vec<u8>]) -> Result<Vec<(usize, RecordPart)>, String> {
        let found = self.names.iter().map(|(part, name)| {
            let column = name.find(header).filter(|column| *column < header.len());
            column.map(|column| (column, *part)).ok_or_else(|| match name {
                ColumnName::Number(number) => (number + 1).to_string(),
                ColumnName::Header(name) => String::from_utf8_lossy(name).into_owned(),
            })
        });
        found.collect()
    }
}

/// Finds a column by name: exactly, else without case, else without surrounding white space, which
/// some writers put after commas.
fn position(header: &[Vec<u8>], name: &[u8]) -> Option<usize> {
    let find = |is: fn(&[u8], &[u8]) -> bool| header.iter().position(|column| is(column, name));
    find(|column, name| column == name)
        .or_else(|| find(|column, name| column.eq_ignore_ascii_case(name)))
        .or_else(|| find(|column, name| column.trim_ascii().eq_ignore_ascii_case(name)))
}

/// The columns under these names, as [`ColumnName::find`] finds each. Both lists may be long, and a search
/// through the header for each name would take time that grows with their product.
pub(super) fn find_all(names: &[ColumnName], header: &[Vec<u8>]) -> Vec<Option<usize>> {
    let first = |fold: fn(&[u8]) -> Vec<u8>| {
        let mut columns = HashMap::new();
        for (column, name) in header.iter().enumerate() {
            // The first of equal names, as `position` finds it.
            columns.entry(fold(name)).or_insert(column);
        }
        columns
    };
    let exact = first(<[u8]>::to_vec);
    let folded = first(<[u8]>::to_ascii_lowercase);
    let trimmed = first(|name| name.trim_ascii().to_ascii_lowercase());
    let find = |name: &ColumnName| match name {
        ColumnName::Number(number) => Some(*number),
        ColumnName::Header(name) => {
            let lower = name.to_ascii_lowercase();
            let column = exact.get(name).or_else(|| folded.get(&lower));
            column.or_else(|| trimmed.get(&lower)).copied()
        }
    };
    names.iter().map(find).collect()
}

/// Reads `host=A,target=B`, or a lone name for the URL's column, which parts may follow as in
/// `link,status=B`.
pub(super) fn parts(text: &str) -> Result<Vec<(RecordPart, &str)>, &'static str> {
    let part = |item: &str| {
        let (name, _) = item.split_once('=')?;
        RecordPart::NAMED.iter().find(|(known, _)| *known == name).map(|(_, part)| *part)
    };
    let mut parts = Vec::new();
    let mut items = text;
    // A header may hold `a=b` or `a,b` as one name. Only a part's name in front makes the text a
    // list.
    if part(text).is_none() && !text.starts_with("url=") {
        match text.split_once(',') {
            Some((url, more)) if more.split(',').all(|item| part(item).is_some()) => {
                parts.push((RecordPart::Url, url));
                items = more;
            }
            _ => return Ok(vec![(RecordPart::Url, text)]),
        }
    }
    for item in items.split(',') {
        let Some((name, value)) = item.split_once('=') else {
            return Err("each part is a name, =, and where it stands, as in host=a,target=b");
        };
        let part = match name {
            "url" => RecordPart::Url,
            _ => part(item).ok_or(
                "the parts are url, or scheme, host, target or path and query, and for filters status, \
                 method, mime, time and agent",
            )?,
        };
        if parts.iter().any(|(other, _)| *other == part) {
            return Err("a part is named twice");
        }
        parts.push((part, value));
    }
    let sources = parts.iter().filter(|(part, _)| part.is_source()).count();
    match sources {
        1 => Ok(parts),
        0 => Err("there must be a url, a target or a path among the parts"),
        _ => Err("there can be only one of url, target and path"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::part::RecordPart;
    use super::{ColumnName, Columns, find_all, parts};

    #[test]
    fn columns_found_together_are_those_found_alone() {
        let texts =
            ["a", "A", " a", "A ", " A", "b", "B ", ""].map(|text| text.as_bytes().to_vec());
        let mut names: Vec<_> = texts.iter().cloned().map(ColumnName::Header).collect();
        names.push(ColumnName::Number(7));
        // Each way to leave columns out, in both orders, so that every rule decides somewhere.
        for kept in 0..1 << texts.len() {
            let mut header: Vec<_> = (0..texts.len())
                .filter(|at| kept >> at & 1 == 1)
                .map(|at| texts[at].clone())
                .collect();
            for _ in 0..2 {
                let alone: Vec<_> = names.iter().map(|name| name.find(&header)).collect();
                assert_eq!(find_all(&names, &header), alone, "{header:?}");
                header.reverse();
            }
        }
    }

    #[test]
    fn single_column_is_the_url() {
        assert_eq!(parts("a=b").unwrap(), [(RecordPart::Url, "a=b")]);
        assert_eq!(parts("a,b").unwrap(), [(RecordPart::Url, "a,b")]);
        let two = [(RecordPart::Host, "h"), (RecordPart::Target, "t")];
        assert_eq!(parts("host=h,target=t").unwrap(), two);
        for text in ["url=u,status=s", "u,status=s"] {
            assert_eq!(parts(text).unwrap(), [(RecordPart::Url, "u"), (RecordPart::Status, "s")]);
        }
        assert_eq!(parts("u,other=s").unwrap(), [(RecordPart::Url, "u,other=s")]);
    }

    #[test]
    fn parts_that_cannot_make_a_url_are_rejected() {
        for text in [
            "host=h",
            "host=h,t",
            "host=h,x=t",
            "u,target=t",
            "target=a,target=b",
            "target=a,path=b",
        ] {
            assert!(parts(text).is_err(), "{text}");
        }
        for text in ["", "0", "99999999999999999999", "target=,host=h"] {
            assert!(Columns::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_names_need_a_header() {
        assert!(!Columns::parse("2").unwrap().need_header());
        assert!(Columns::parse("url").unwrap().need_header());
        assert!(Columns::parse("host=1,target=t").unwrap().need_header());
    }
}
