//! The columns of rows and of lines of words that make a URL.

use memchr::memchr;

use super::super::advice::Columns;
use super::super::census::{Census, Column};
use super::super::csv;
use super::super::left_out::{Field, fields, log_of};
use super::super::trial::{Trial, is_target_among_words, most};
use super::super::value_kind::{ValueKind, is_url};
use super::suggestion::{Finds, Suggestion};

/// Columns of words that are tried: each of them means reading all of the lines.
const COLUMNS: usize = 30;

/// The columns of lines that begin with a URL, or with a target, and go on after it; and whether they are
/// certain: what follows is of a kind that no path holds. Otherwise a reader of the column would cut URLs.
pub(in crate::record) fn columns_after(
    trial: &Trial<'_>,
    is_target: bool,
) -> Option<(Suggestion, bool)> {
    let begins = |line: &&[u8]| if is_target { line.starts_with(b"/") } else { is_url(line) };
    let rows: Vec<&[u8]> = trial.lines.iter().copied().filter(begins).collect();
    // One line shows no columns.
    if rows.len() < 2 || rows.len() * 2 <= trial.lines.len() {
        return None;
    }
    let first = |kind: &str, byte: u8| {
        let part = if is_target && kind != "ws" { "target=" } else { "" };
        let delimiter = Some(byte).filter(|byte| b";|".contains(byte));
        Suggestion::Format { name: format!("{kind}:{part}1"), delimiter, finds: Finds::Columns }
    };
    // Others may make the URL: the host may stand beside a target, and the page before may stand first.
    let tables = [("tsv", b'\t'), ("csv", b','), ("csv", b';'), ("csv", b'|')];
    let mut others =
        tables.into_iter().map(|(kind, byte)| (of_table(trial, byte), first(kind, byte)));
    if let Some((Some(other), _)) =
        others.find(|(found, first)| found.as_ref().is_some_and(|found| found != first))
    {
        return Some((other, false));
    }
    let is_certain = |cells: fn(&[u8]) -> Vec<Field<'_>>| {
        most(&rows, |row| {
            let is_of_no_path = |cell: &Field<'_>| {
                !cell.marks.is_empty() || ValueKind::of(cell.text).is_of_no_path()
            };
            let cells = cells(row);
            let mut after = cells[1..].iter().take_while(|cell| !cell.text.starts_with(b"#"));
            cells.len() > 1 && after.all(is_of_no_path)
        })
    };
    let are_split_by = |byte: u8| most(&rows, |row| memchr(byte, row.trim_ascii_end()).is_some());
    if are_split_by(b'\t') {
        return Some((first("tsv", b'\t'), is_certain(cells_of_tabs)));
    }
    // These bytes stand in paths as well.
    for byte in [b',', b';', b'|'] {
        let count = csv::cells(rows[0], byte).len();
        let is_value = |cell: &&[u8]| ValueKind::of(cell).is_of_table();
        // A blank before the first of them ends the URL.
        let are_values = |row: &[u8]| {
            let cells = csv::cells(row, byte);
            !cells[0].contains(&b' ') && cells[1..].iter().all(is_value)
        };
        if count > 1
            && rows.iter().all(|row| csv::cells(row, byte).len() == count)
            && most(&rows, are_values)
        {
            return Some((first("csv", byte), false));
        }
    }
    if !are_split_by(b' ') {
        return None;
    }
    let first = first("ws", b' ');
    match of_words(trial) {
        Some(other) if other != first && other != Suggestion::Words => Some((other, false)),
        _ => Some((first, is_certain(fields))),
    }
}

fn cells_of_tabs(row: &[u8]) -> Vec<Field<'_>> {
    csv::cells(row, b'\t').into_iter().map(|text| Field { text, marks: "" }).collect()
}

/// The columns of a table whose rows begin with something else than a URL.
pub(in crate::record) fn of_table(trial: &Trial<'_>, byte: u8) -> Option<Suggestion> {
    let is_comment = |line: &&[u8]| line.starts_with(b"#");
    let mut rows = trial.lines.iter().copied().filter(|line| !is_comment(line)).peekable();
    let count = |line: &[u8]| csv::cells(line, byte).len();
    let first = *rows.peek()?;
    let columns = count(first);
    // The header of logs of Zeek's is a comment.
    let zeek = trial.lines.iter().find_map(|line| line.strip_prefix(b"#fields\t"));
    let header = zeek.filter(|_| byte == b'\t').or_else(|| {
        let is_name = |cell| {
            matches!(ValueKind::of(cell), ValueKind::Word | ValueKind::Text | ValueKind::Other)
        };
        csv::cells(first, byte).into_iter().all(is_name).then_some(first)
    });
    let is_in_rows = zeek.is_none() && header.is_some();
    let rows: Vec<&[u8]> = rows.skip(usize::from(is_in_rows)).collect();
    if columns < 2 || rows.is_empty() || !most(&rows, |row| count(row) == columns) {
        return None;
    }
    let names: Vec<String> = header
        .iter()
        .flat_map(|row| csv::cells(row, byte))
        .map(|cell| String::from_utf8_lossy(cell).into())
        .collect();
    let cells =
        rows.iter().map(|row| csv::cells(row, byte).into_iter().map(|cell| (&b""[..], cell)));
    let census = Census::of_rows(cells, &names);
    let kind = if byte == b'\t' { "tsv" } else { "csv" };
    let delimiter = Some(byte).filter(|byte| !b",\t".contains(byte));
    let Some(found) = Columns::find(&census) else {
        let is_host_path =
            |column: &&Column| column.is_filled_by(ValueKind::HostPath) && column.varies();
        let column = census.columns.iter().find(is_host_path)?;
        let name = format!("{kind}:{}", column.place);
        return Some(Suggestion::Format { name, delimiter, finds: Finds::HostPaths });
    };
    let name = |column: &Column| {
        let number = column.place.parse::<usize>().unwrap_or_default();
        // Such a name would be read as several parts.
        let name = names.get(number - 1).filter(|name| is_in_rows && !name.contains([',', '=']));
        let name = name.filter(|_| found.source.0 != "url");
        name.cloned().unwrap_or_else(|| column.place.clone())
    };
    let name = found.format(kind, name);
    trial.reads_delimited(&name, delimiter).then_some(Suggestion::Format {
        name,
        delimiter,
        finds: Finds::Columns,
    })
}

/// The columns of lines of words: those of a request, or the one with URLs.
pub(super) fn of_words(trial: &Trial<'_>) -> Option<Suggestion> {
    let rows =
        trial.lines.iter().map(|line| fields(line).into_iter().map(|field| (&b""[..], field.text)));
    let census = Census::of_rows(rows, &[]);
    if let Some(found) = Columns::find(&census).filter(|found| found.source.0 != "url") {
        // Lines of another layout may stand among them.
        let is_such = |value: &Option<Vec<u8>>| {
            value.as_ref().is_some_and(|value| is_target_among_words(value))
        };
        let line = trial.lines[found.source.1.values.iter().position(is_such)?];
        let (text, line) = (line, fields(line));
        let number = |column: &Column| column.place.parse::<usize>().unwrap_or_default();
        let (part, source) = found.source;
        let parts = [
            (found.scheme, "$scheme"),
            (found.host, "$host"),
            (Some(source), if part == "path" { "$uri" } else { "$request_uri" }),
            (found.query, "$args"),
        ];
        let parts = parts.into_iter().filter_map(|(column, name)| Some((number(column?), name)));
        let parts: Vec<(usize, &str)> = parts.collect();
        let last = parts.iter().map(|(number, _)| *number).max().unwrap_or_default();
        // The last field of a format takes the rest of the line, so there is one more.
        let name = log_of(&line[..line.len().min(last + 1)], |(index, field)| {
            let part = parts.iter().find(|(number, _)| *number == index + 1);
            let method =
                (ValueKind::of(field.text) == ValueKind::Method).then_some("$request_method");
            part.map_or(method.unwrap_or("$x"), |(_, name)| name).to_owned()
        });
        let is_alone = found.host.is_none() && found.query.is_none();
        if is_alone && census.has(ValueKind::Host) {
            // The target alone would lose the site.
            return Some(Suggestion::Words);
        }
        let target = line.get(number(source) - 1).map(|field| field.text);
        let word = words(text).position(|word| Some(word) == target);
        let name = word.filter(|_| is_alone).map_or(name, |word| format!("ws:{}", word + 1));
        return Some(match trial.reads(&name) {
            true => Suggestion::format(name, Finds::Columns),
            false => Suggestion::Words,
        });
    }
    let rows = trial.lines.iter().map(|line| {
        // What follows `referer:` is the page before.
        let labels = std::iter::once(&b""[..]).chain(words(line));
        labels
            .zip(words(line))
            .map(|(label, word)| (label.strip_suffix(b":").unwrap_or(b""), word))
            .collect::<Vec<_>>()
    });
    let census = Census::of_rows(rows, &[]);
    let is_url = |column: &&Column| column.is_filled_by(ValueKind::Url);
    if census.columns.iter().filter(is_url).all(|column| column.name.contains("refer"))
        && census.has(ValueKind::Url)
    {
        return Some(Suggestion::Words);
    }
    let found = Columns::find(&census).filter(|found| found.source.0 == "url")?;
    let place = found.source.1.place.parse::<usize>().ok().filter(|place| *place <= COLUMNS)?;
    let name = format!("ws:{place}");
    // In running text, a word may be a URL by chance.
    (trial.reads(&name) && trial.found("text") <= trial.found(&name))
        .then(|| Suggestion::format(name, Finds::Columns))
}

/// The words of a line.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| matches!(byte, b' ' | b'\t')).filter(|word| !word.is_empty())
}
