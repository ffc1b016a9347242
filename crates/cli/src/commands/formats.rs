//! `uniqurl formats`: lists all formats.

use std::io::{self, Write};

use uniqurl_formats::record::{FormatTable, NamedFormat};

/// Formats that are no entries of the table, and what a record of them is. Capitals stand for what a user adds.
const LAYOUTS: [(&str, &str); 15] = [
    ("lines", "A list: the URL is the whole line"),
    ("target", "A list of targets of HTTP requests"),
    ("text", "Each URL in free text, HTML, XML or a robots.txt"),
    ("csv:COL, tsv:COL", "A table: the column COL of its header, or by number"),
    ("json:POINTER", "A JSON value in each line: the member at a JSON pointer, as in json:/url"),
    ("ws:N", "The field N between white space, from 1"),
    ("log:FORMAT", "A log, by its format string of Apache or nginx"),
    ("csv:, tsv:, json:", "With parts, as in json:host=/host,path=/path,query=/args"),
    ("warc", "A web archive: the target of each record"),
    ("arc", "A web archive of before WARC: the URL of each record"),
    ("wat", "A WAT file: the target of each response"),
    ("wat:links", "A WAT file: each link"),
    ("parquet, arrow", "A table: its column url, or its only column of text"),
    ("parquet:COL, arrow:COL", "A table: the column COL, or struct.field"),
    ("auto", "Found in the first lines of each input"),
];

/// Writes the list of formats, or the entry of one as `--format-file` takes it.
pub fn write(format: Option<&NamedFormat>, out: &mut impl Write) -> io::Result<()> {
    if let Some(format) = format {
        return out.write_all(format.source.as_bytes());
    }
    let entries = || FormatTable::shipped().entries();
    let width = entries().map(|entry| entry.name.len()).max().unwrap_or_default();
    for (name, description) in LAYOUTS {
        writeln!(out, "{name:width$}        {description}")?;
    }
    writeln!(out)?;
    for entry in entries() {
        let auto = if entry.is_detected() { "auto" } else { "    " };
        write!(out, "{:width$}  {auto}  {}", entry.name, entry.description)?;
        if !entry.aliases.is_empty() {
            write!(out, " (also {})", entry.aliases.join(", "))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "\nauto: --format auto finds it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl_formats::record::Format;

    #[test]
    fn list_has_every_format() {
        let mut out = Vec::new();
        write(None, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let names = text.lines().filter_map(|line| line.split("  ").next());
        let listed: Vec<&str> = names.flat_map(|names| names.split(", ")).collect();
        for name in Format::names() {
            assert!(listed.contains(&name), "{name}");
        }
    }
}
