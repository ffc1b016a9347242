//! The names of formats: what a user may write, and what he probably meant.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use super::{Format, FormatError, FormatTable};
use uniqurl::UnknownName;

impl Format {
    /// Parses a format's name: of a reader, or of an entry of the [`FormatTable`] that comes with the
    /// program.
    ///
    /// # Errors
    ///
    /// The name is unknown, or the text after its colon is invalid.
    pub fn parse(name: &str) -> Result<Self, FormatError> {
        Self::built_in(name).or_else(|error| FormatTable::shipped().parse_named(name).ok_or(error))
    }
}

/// Parses as [`Format::parse`] does.
impl FromStr for Format {
    type Err = FormatError;

    fn from_str(name: &str) -> Result<Self, FormatError> {
        Self::parse(name)
    }
}

/// Other words for formats with a parameter, and the name that is meant.
const ALIASES: [(&str, &str); 10] = [
    ("ndjson", "json:POINTER"),
    ("jsonl", "json:POINTER"),
    ("jsonlines", "json:POINTER"),
    ("list", "lines"),
    ("url", "lines"),
    ("urls", "lines"),
    ("plain", "lines"),
    ("txt", "text"),
    ("robots", "text"),
    ("feather", "arrow"),
];

/// The name that was probably meant by one that no format has.
fn nearest(name: &str) -> Option<String> {
    let table = FormatTable::shipped();
    let names = || Format::names().chain(table.entries().map(|entry| &entry.name[..]));
    let is_it = |(alias, _): &&(&str, &str)| name.eq_ignore_ascii_case(alias);
    if let Some((_, meant)) = ALIASES.iter().find(is_it) {
        return names().find(|name| name == meant).map(str::to_owned);
    }
    // The nearest may be the part of a name before its colon, which no name is by itself.
    let short = names().map(|name| name.split(':').next().unwrap_or(name));
    let found = UnknownName::new(name, "format", short);
    let short = found.nearest()?;
    let whole = names().find(|name| name.split(':').next() == Some(short))?;
    Some(whole.to_owned())
}

/// Names the format that was probably meant.
impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_unknown() { "unknown format `" } else { "format `" })?;
        for c in self.name.chars() {
            match c {
                // Format strings are full of quotation marks, and hard to compare once those are
                // escaped.
                '"' | '\'' => f.write_char(c)?,
                _ => write!(f, "{}", c.escape_debug())?,
            }
        }
        f.write_str("`")?;
        if self.is_unknown() {
            return match nearest(&self.name) {
                Some(meant) => write!(f, " (did you mean `{meant}`?)"),
                None => Ok(()),
            };
        }
        if self.at > 0 {
            write!(f, ", byte {}", self.at)?;
        }
        write!(f, ": {}", self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::super::READS_TABLES;
    use super::Format;

    #[test]
    fn format_name_round_trips() {
        for name in [
            "lines",
            "target",
            "text",
            "clf",
            "combined",
            "vhost",
            "haproxy",
            "ws:3",
            "w3c",
            "elb",
            "cloudfront",
            "cdx",
            "tsv:2",
            "tsv:host=h,target=3",
            r#"log:%h "%r""#,
        ] {
            assert_eq!(Format::parse(name).unwrap().name(), name);
        }
    }

    #[test]
    fn column_may_be_called_like_the_placeholder_of_a_name() {
        for name in ["csv:COL", "tsv:COL", "csv:csv:COL"] {
            assert_eq!(Format::parse(name).unwrap().name(), name);
        }
        assert!(Format::parse("wat:other").is_err() && Format::parse("lines:x").is_err());
    }

    #[test]
    fn well_known_log_formats_have_names() {
        assert_eq!(Format::parse("log:combined"), Ok(Format::Combined));
        assert_eq!(Format::parse("log:vhost_combined"), Ok(Format::Vhost));
    }

    #[test]
    fn formats_of_tables_are_suggested_only_where_they_are_read() {
        let error = Format::parse("parqet").unwrap_err().to_string();
        assert_eq!(error.contains("did you mean `parquet`?"), READS_TABLES, "{error}");
        assert_eq!(Format::parse("parquet:url").is_ok(), READS_TABLES);
    }

    #[test]
    fn an_unknown_format_is_reported_with_the_one_that_was_meant() {
        let told = |name: &str| Format::parse(name).unwrap_err().to_string();
        assert_eq!(told("nginx-jso"), "unknown format `nginx-jso` (did you mean `nginx-json`?)");
        assert_eq!(told("ndjson"), "unknown format `ndjson` (did you mean `json:POINTER`?)");
        assert_eq!(told("jsn"), "unknown format `jsn` (did you mean `json:POINTER`?)");
        assert_eq!(told("frobnicate"), "unknown format `frobnicate`");
        for (alias, meant) in super::ALIASES {
            let is_known = Format::names().any(|name| name == meant) || !READS_TABLES;
            assert!(is_known && Format::parse(alias).is_err(), "{alias}");
        }
    }

    #[test]
    fn unknown_format_name_is_an_error_with_a_reason() {
        for (name, words) in [
            ("", "unknown format"),
            ("auto", "unknown format"),
            ("Lines", "unknown format"),
            ("tsv", "followed by a column"),
            ("ws", "number of a field"),
            ("log", "followed by a format string"),
            ("ws:0", "counted from 1"),
            ("ws:", "counted from 1"),
            ("ws:+1", "counted from 1"),
            ("ws:99999999999999999999", "counted from 1"),
            ("log:", "names no request"),
            ("log:%h", "names no request"),
        ] {
            let error = Format::parse(name).unwrap_err().to_string();
            assert!(error.contains(words), "{name}: {error}");
        }
    }

    #[test]
    fn error_quotes_a_format_with_its_own_quotation_marks() {
        let error = Format::parse("log:%h '\"%r\u{1b}").unwrap_err().to_string();
        assert!(error.starts_with("format `log:%h '\"%r\\u{1b}`"), "{error}");
    }

    #[test]
    fn error_position_refers_to_the_name_as_given() {
        for (name, words) in [
            ("log:$request $", "format `log:$request $`, byte 13: "),
            ("log:%h%U", "format `log:%h%U`, byte 6: "),
            ("log:%", "format `log:%`: "),
        ] {
            let error = Format::parse(name).unwrap_err().to_string();
            assert!(error.starts_with(words), "{name}: {error}");
        }
    }
}
