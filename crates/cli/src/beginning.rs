//! What the beginning of an input says of its format, where a run has read it as a list and that looks
//! wrong.

use std::borrow::Cow;
use std::fs;
use std::io::Read;
use std::net::SocketAddrV4;
use std::path::Path;

use serde::de::IgnoredAny;

use uniqurl::Profile;
use uniqurl::bytes::{Excerpt, Printable, UrlExcerpt};
use uniqurl::profile::System;
use uniqurl::uri::extract;
use uniqurl_formats::input::{pipe, unpacked};
use uniqurl_formats::record::{Separator, without_mark};

/// Bytes in which the first lines are looked for.
const HEAD: u64 = 16 << 10;

/// The beginning of an input, if it is a file: nothing else can be read again.
fn head(path: &Path) -> Option<Vec<u8>> {
    let is_file = path != Path::new("-") && fs::metadata(path).is_ok_and(|found| found.is_file());
    if !is_file {
        return None;
    }
    let mut head = Vec::new();
    // Of what ends in damage, what is before it.
    let _ = pipe(path).and_then(unpacked).ok()?.take(HEAD).read_to_end(&mut head);
    Some(head)
}

/// The first two lines of such a beginning that are not blank.
fn lines_of(head: &[u8]) -> Option<[Vec<u8>; 2]> {
    let lines = without_mark(head).split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let mut lines = lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec);
    Some([lines.next()?, lines.next().unwrap_or_default()])
}

/// The first two lines of a file that are not blank.
pub(super) fn first_lines(path: &Path) -> Option<[Vec<u8>; 2]> {
    lines_of(&head(path)?)
}

/// Whether the first two lines of a file have a blank behind a URL, and then what is no part of a path.
pub(super) fn has_columns(path: &Path) -> bool {
    let has = |line: &Vec<u8>| {
        let mut words = line.split(|byte| *byte == b' ');
        let is_url = words.next().is_some_and(begins_as_url);
        is_url && words.next().is_some_and(|word| !word.iter().any(|byte| b"/.".contains(byte)))
    };
    first_lines(path).is_some_and(|lines| lines.iter().all(has))
}

/// Whether the first two lines of a file that are not blank are hosts with ports, which read as schemes.
pub(super) fn has_ports(path: &Path) -> bool {
    let has = |line: &Vec<u8>| line.is_empty() || is_host_and_port(line);
    first_lines(path).is_some_and(|lines| lines.iter().all(has))
}

/// Whether the beginning of a file does not look like text.
pub(super) fn is_binary(path: &Path) -> bool {
    head(path).is_some_and(|head| holds_zeros(&head))
}

fn holds_zeros(head: &[u8]) -> bool {
    head.contains(&0)
}

/// What to do where the records of a file are no URLs, and end with this byte.
pub(super) fn advice(path: &Path, separator: Separator) -> Option<Cow<'static, str>> {
    let head = head(path)?;
    if separator == Separator::LineFeed && holds_zeros(&head) {
        return Some("its beginning holds zero bytes, so it does not look like text".into());
    }
    let lines = lines_of(&head)?;
    advice_of_lines(&lines).map(Cow::from).or_else(|| advice_of_words(&lines))
}

/// What to do where lines like the first one are no URLs.
fn advice_of_lines([line, next]: &[Vec<u8>; 2]) -> Option<&'static str> {
    let mut words = line.split(u8::is_ascii_whitespace);
    let first = words.next()?;
    let second = words.find(|word| !word.is_empty());
    let is_number = first.iter().all(u8::is_ascii_digit);
    match line.first()? {
        b'<' if is_bracketed(line) => {
            Some("its first line has angle brackets around a URL, which --format text takes off")
        }
        b'<' => Some("its first line is of HTML or XML, in which --format text finds URLs"),
        b'"' if is_quoted(line) => {
            Some("its first line has quotation marks around a URL, which --format csv:1 takes off")
        }
        b'{' => {
            Some(advice_of_json(line, next).unwrap_or(
                "its first line is of JSON: --format json:/POINTER says where the URL is",
            ))
        }
        _ if is_address(first) && second.is_none() => {
            Some("its first line is an address and a port, which --assume-scheme reads")
        }
        _ if names_scheme(first) && second.is_some() => {
            Some("its first line has a blank behind a URL: --format ws:1 reads what is before it")
        }
        _ if is_number && second.is_some_and(names_scheme) => Some(match line[first.len()] {
            b'\t' => "its first line has a count before a URL: --format tsv:2 reads the URL",
            _ => "its first line has a count before a URL: --format ws:2 reads the URL",
        }),
        _ => None,
    }
}

/// What to do where a URL stands somewhere behind the beginning of a line: in the same field of both lines, or
/// in free text.
fn advice_of_words([line, next]: &[Vec<u8>; 2]) -> Option<Cow<'static, str>> {
    let field_of = |line: &[u8]| {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.map(begins_as_url).position(|is_url| is_url).map(|at| at + 1)
    };
    if let Some(field) = field_of(line).filter(|field| *field > 1)
        && field_of(next) == Some(field)
    {
        return Some(
            format!("its first line has a URL in field {field}: --format ws:{field} reads it")
                .into(),
        );
    }
    let found = extract(line).next()?;
    // Where all of the line is a URL, the trouble is in that, and the columns of a table are no text.
    let before = line[..found.span.start].last()?;
    let is_cell = b",;|\t".contains(before);
    (!is_cell).then(|| "its first line has a URL in it, which --format text finds".into())
}

/// What to do where a value of JSON is more than a first line, and more lines follow.
pub(super) fn advice_of_json(line: &[u8], next: &[u8]) -> Option<&'static str> {
    let value = serde_json::from_slice::<IgnoredAny>(line);
    let is_cut = !next.is_empty() && value.is_err_and(|error| error.is_eof());
    is_cut.then_some(
        "its first line is of JSON that goes over several lines: jq -c . writes each value on one, \
         and --format json:/POINTER says where the URL is",
    )
}

/// Whether a word is an IPv4 address and a port, with or without a path behind it.
fn is_address(word: &[u8]) -> bool {
    let address = word.split(|byte| *byte == b'/').next().unwrap_or_default();
    str::from_utf8(address).is_ok_and(|text| text.parse::<SocketAddrV4>().is_ok())
}

/// Whether a profile looks for a scheme in each line: to `string` it is bytes, to `servlet` and the rings a
/// target.
pub(super) fn reads_schemes(profile: &Profile) -> bool {
    *profile != Profile::STRING && !matches!(profile.system, System::Servlet | System::Ring(_))
}

/// Whether a line begins with a name that `--assume-scheme` takes for a host, and a port behind that.
pub(super) fn is_host_and_port(line: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', line) else { return false };
    let (name, behind) = (&line[..colon], &line[colon + 1..]);
    let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (name.contains(&b'.') || name.eq_ignore_ascii_case(b"localhost"))
        && (1..=5).contains(&digits)
        && matches!(behind.get(digits), None | Some(b'/' | b'?' | b'#'))
}

/// Whether a URL stands behind an angle bracket, where the name of a tag would.
fn is_bracketed(line: &[u8]) -> bool {
    let end = line.iter().position(|byte| *byte == b'>' || byte.is_ascii_whitespace());
    names_scheme(&line[..end.unwrap_or(line.len())])
}

/// Whether a line begins with a URL between quotation marks, behind which there is nothing or a comma.
fn is_quoted(line: &[u8]) -> bool {
    let mut parts = line.splitn(3, |byte| *byte == b'"');
    let [Some(b""), Some(text), Some(rest)] = [parts.next(), parts.next(), parts.next()] else {
        return false;
    };
    names_scheme(text) && matches!(rest.first(), None | Some(b','))
}

/// `csv` or `tsv`, where the name of a file says that there are columns in it, packed or not.
pub(super) fn kind_of_table(path: &Path) -> Option<&'static str> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let mut endings = name.split('.').skip(1);
    endings.find_map(|ending| ["csv", "tsv"].into_iter().find(|kind| *kind == ending))
}

/// What to do with a file of such a name that was read as a list; none where it is one.
pub(super) fn advice_of_table(path: &Path, kind: &str) -> Option<String> {
    let Some([header, row]) = first_lines(path) else {
        return Some(format!("--format {kind}:COLUMN reads a column"));
    };
    // What is no header may hold what nobody should see.
    let shown = match header.iter().any(|byte| b"/:@=".contains(byte)) {
        true => UrlExcerpt(&header).to_string(),
        false => Excerpt(&header).to_string(),
    };
    let has = |delimiter| header.contains(&delimiter);
    let kind = if kind == "csv" && !has(b',') && has(b'\t') { "tsv" } else { kind };
    let delimiter = if kind == "tsv" { b'\t' } else { b',' };
    if kind == "csv"
        && !has(delimiter)
        && let Some(other) = [';', '|'].into_iter().find(|other| has(*other as u8))
    {
        return Some(format!(
            "its first line is `{shown}`; mlr --icsv --ifs '{other}' --ocsv cat puts commas there"
        ));
    }
    let cells = |line: &[u8]| -> Vec<Vec<u8>> {
        let cells = line.split(|byte| *byte == delimiter).map(<[u8]>::trim_ascii);
        let bare = |cell: &[u8]| {
            let quoted = cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\""));
            quoted.unwrap_or(cell).to_vec()
        };
        cells.map(bare).collect()
    };
    let (names, row) = (cells(&header), cells(&row));
    if let Some(at) = names.iter().position(|cell| names_scheme(cell)) {
        return (names.len() > 1).then(|| format!("--format {kind}:{} reads a column", at + 1));
    }
    let at = row.iter().position(|cell| names_scheme(cell)).filter(|_| row.len() == names.len());
    let column = match at {
        Some(at) if is_only(&names, &names[at]) => Printable(&names[at]).to_string(),
        Some(at) => (at + 1).to_string(),
        None => "COLUMN".to_owned(),
    };
    let quote = if column.contains(|char: char| !char.is_ascii_alphanumeric()) { "'" } else { "" };
    Some(format!(
        "its first line is `{shown}`; --format {quote}{kind}:{column}{quote} reads a column"
    ))
}

/// Whether a name is that of one column, is written as it is read, in a shell too, and is no number.
fn is_only(names: &[Vec<u8>], name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b" _-.".contains(byte);
    name.iter().all(is_plain)
        && !name.iter().all(u8::is_ascii_digit)
        && names.iter().filter(|other| *other == name).count() == 1
}

/// Whether a word is a URL and nothing before it.
fn begins_as_url(word: &[u8]) -> bool {
    let scheme = memchr::memmem::find(word, b"://").map(|end| &word[..end]);
    scheme.is_some_and(|name| !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric))
}

fn names_scheme(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"://").is_some()
}
