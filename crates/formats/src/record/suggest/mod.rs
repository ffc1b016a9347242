//! Finds a format for an input that was read as a list but hardly is one.
//!
//! In: the beginning of the input. Out: a [`Suggestion`], which the command turns into a hint. A format is
//! suggested only if it reads at least half of the first lines, so no hint leads to URLs that nobody asked
//! for.

mod members;

use memchr::memchr;

use super::hosts::{is_dotted, is_site, names_port};
use super::label;
use super::line::{is_blank, without_mark};
use super::{BufferId, Context, Envelope, Extracted, Record, Records};
use super::{Format, FormatTable, NamedFormat};

/// A way to read an input that has no format of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Suggestion {
    /// These formats read its URLs.
    Formats(Vec<String>),
    /// Its lines are rows of a table, and this format reads the column with the URLs.
    Column(String),
    /// Its lines are those of a format in this envelope.
    Envelope(Envelope),
    /// Its lines are words, and no format is known for them.
    Words,
}

/// How many lines are tried.
const LINES: usize = 50;

/// How much of them, unless the first one is longer.
const BYTES: usize = 32 << 10;

/// How much of such a line.
const LONGEST: usize = 1 << 20;

/// Columns, or members of JSON, that are tried. Each of them means reading all of the lines, so a line of
/// many columns would take quadratic time without a limit.
const COLUMNS: usize = 30;

/// Fields of one line of LTSV that a format string is made of.
const FIELDS: usize = 200;

/// Formats of logs that are tried first: those that `auto` may have found in too few lines.
const LOGS: [&str; 5] = ["vhost", "combined", "haproxy", "cdx", "cdxj"];

/// The entry for Zeek's log of HTTP without its header, whose first column with URLs is the referrer's.
const ZEEK: &str = "zeek-http";

/// Methods of requests that logs hold.
const METHODS: [&[u8]; 10] = [
    b"GET",
    b"POST",
    b"HEAD",
    b"PUT",
    b"DELETE",
    b"OPTIONS",
    b"PATCH",
    b"PROPFIND",
    b"REPORT",
    b"CONNECT",
];

/// What could read an input that begins with `head` and that `format`, `lines` or `target`, was chosen
/// for. None if nothing can or need.
pub fn suggest(format: &Format, head: &[u8]) -> Option<Suggestion> {
    let mut sample = Sample::of(head);
    let lines = &sample.lines;
    if lines.is_empty() || !matches!(format, Format::Lines | Format::Labelled(_) | Format::Target) {
        return None;
    }
    let is_target = *format == Format::Target;
    let is_bare = |line: &&&[u8]| {
        let is_one = if is_target { line.starts_with(b"/") } else { is_url(line) };
        is_one && !line.iter().any(|byte| matches!(byte, b' ' | b'\t' | b','))
    };
    sample.bare = lines.iter().filter(is_bare).count();
    if sample.bare * 2 > lines.len() {
        return None;
    }
    let (sample, lines) = (&sample, &sample.lines);
    if lines[0].trim_ascii_start().starts_with(b"{") {
        return members::suggest(head, sample);
    }
    let reads = |name: &String| sample.reads(name);
    if let Some(format) = ltsv(lines[0]).into_iter().find(reads) {
        return Some(Suggestion::Formats(vec![format]));
    }
    let tabs = most(lines, |line| memchr(b'\t', line).is_some());
    let of_tabs = |n: usize| format!("tsv:{n}");
    if tabs {
        let named = entries(|format| matches!(format, Format::Tsv(_)));
        let columns = (1..=COLUMNS).map(of_tabs);
        if let Some(name) = zeek(lines).into_iter().chain(named).chain(columns).find(reads) {
            return Some(Suggestion::Column(name));
        }
        if let Some(name) = request(lines[0], "tsv", b'\t').filter(reads) {
            return Some(Suggestion::Column(name));
        }
    }
    if are_urls(lines, is_target) {
        return columns(sample, is_target);
    }
    let named = entries(|format| matches!(format, Format::Log(_)));
    if let Some(name) = LOGS.map(str::to_owned).into_iter().chain(named).find(reads) {
        return Some(Suggestion::Formats(vec![name]));
    }
    if let Some(count) = same_commas(lines)
        && let Some(name) = (1..=COLUMNS.min(count + 1))
            .map(|n| format!("csv:{n}"))
            .chain(request(lines[0], "csv", b','))
            .find(reads)
    {
        return Some(Suggestion::Column(name));
    }
    if let Some(name) = (1..=COLUMNS).map(|n| format!("ws:{n}")).find(reads) {
        let urls = sample.found("text");
        // Targets alone would lose the site, or the query.
        if urls == 0 && (most(lines, has_site) || most(lines, has_query)) {
            return Some(Suggestion::Words);
        }
        // In running text, a word may be a URL by chance.
        if urls <= sample.found(&name) {
            return Some(Suggestion::Column(name));
        }
    }
    if sample.reads("text") {
        return Some(Suggestion::Formats(vec!["text".to_owned()]));
    }
    let are_words = most(lines, |line| line.trim_ascii().iter().any(u8::is_ascii_whitespace));
    are_words.then_some(Suggestion::Words)
}

/// The names of the entries that are suggested and have such a format.
fn entries(is_such: fn(&Format) -> bool) -> impl Iterator<Item = String> {
    let entries = FormatTable::shipped().entries();
    let is_one = move |entry: &&NamedFormat| entry.is_suggested && is_such(entry.format());
    entries.filter(is_one).map(|entry| entry.name.clone())
}

/// What could read a record that a format with JSON pointers rejected.
pub fn suggest_members(record: &[u8]) -> Option<Suggestion> {
    members::suggest(record, &Sample::of(record))
}

/// The first lines of an input that are not blank.
struct Sample<'a> {
    text: &'a [u8],
    lines: Vec<&'a [u8]>,
    /// How many of them are URLs, or targets, and nothing else.
    bare: usize,
}

impl<'a> Sample<'a> {
    fn of(head: &'a [u8]) -> Self {
        let head = without_mark(head);
        let end = head.len().min(BYTES);
        // A line that is cut is none, unless there is no other.
        let end = match memchr::memrchr(b'\n', &head[..end]) {
            Some(feed) => feed,
            None => memchr(b'\n', head).unwrap_or(head.len()).min(LONGEST),
        };
        let mut text = &head[..end];
        let mut lines = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            if lines.len() == LINES {
                let start = line.as_ptr().addr() - text.as_ptr().addr();
                text = &text[..start];
                break;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !is_blank(line) {
                lines.push(line);
            }
        }
        Self { text, lines, bare: 0 }
    }

    /// True if a format finds a URL in at least half of the lines, and in more than there are without it.
    fn reads(&self, name: &str) -> bool {
        let found = self.found(name);
        found > self.bare && found * 2 >= self.lines.len()
    }

    /// The number of URLs that a format finds in the lines.
    fn found(&self, name: &str) -> usize {
        let Ok(format) = Format::parse(name) else { return 0 };
        #[cfg(test)]
        looks_at(self.text);
        let is_of_words = name.starts_with("ws:");
        let mut out = Records::default();
        format.read(&Context::default(), self.text, &mut out);
        let has_url = |record: &&Record| match record.found {
            Extracted::Url(buffer, url) => {
                let url = of(url, buffer, self.text, &out.scratch);
                is_url(url) && !(is_of_words && has_mark(url))
            }
            Extracted::Target(buffer, target) => {
                let found = of(target, buffer, self.text, &out.scratch);
                // Among words, a path without a method is a file's.
                is_target(found)
                    && name != "vhost"
                    && !(is_of_words && has_mark(found))
                    && (!is_of_words || ends_with_method(&self.text[..target.start as usize]))
            }
            Extracted::Joined { url, prefix } => {
                let (origin, target) = url.of(&out.scratch).split_at(prefix as usize);
                // The client stands first in a log without hosts.
                is_target(target)
                    && prefix > 0
                    && (!["vhost", ZEEK].contains(&name) || names_site(origin))
            }
            _ => false,
        };
        out.records.iter().filter(has_url).count()
    }
}

#[cfg(test)]
thread_local! {
    /// The bytes that this thread looked at for suggestions.
    static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn looks_at(text: &[u8]) {
    LOOKED.set(LOOKED.get() + text.len());
}

fn of<'a>(
    span: uniqurl::internal::Span,
    buffer: BufferId,
    chunk: &'a [u8],
    scratch: &'a [u8],
) -> &'a [u8] {
    span.of(if buffer == BufferId::Chunk { chunk } else { scratch })
}

/// True for an absolute URL with `//`.
fn is_url(text: &[u8]) -> bool {
    let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = text.iter().take_while(|byte| is_of_scheme(byte)).count();
    length > 1 && text[0].is_ascii_alphabetic() && text[length..].starts_with(b"://")
}

fn is_target(text: &[u8]) -> bool {
    text.starts_with(b"/") && !text.contains(&b' ')
}

/// True for a word with a mark at its end that belongs to the text around it.
fn has_mark(word: &[u8]) -> bool {
    matches!(word, [.., b':' | b'"' | b',' | b'>' | b']' | b')'])
}

/// True for the origin of a site by name or with a port.
fn names_site(origin: &[u8]) -> bool {
    let start = memchr::memmem::find(origin, b"://").map_or(0, |at| at + 3);
    is_dotted(&origin[start..]) || names_port(&origin[start..])
}

fn most(lines: &[&[u8]], is_one: impl Fn(&[u8]) -> bool) -> bool {
    lines.iter().filter(|line| is_one(line)).count() * 2 > lines.len()
}

/// True if most lines begin with a URL, or with a target.
fn are_urls(lines: &[&[u8]], is_target: bool) -> bool {
    most(lines, |line| if is_target { line.starts_with(b"/") } else { is_url(line) })
}

/// The columns of lines that begin with a URL: the same number of values follows it in each.
fn columns(sample: &Sample<'_>, is_target: bool) -> Option<Suggestion> {
    let lines = &sample.lines;
    let begins = |line: &&&[u8]| if is_target { line.starts_with(b"/") } else { is_url(line) };
    let rows: Vec<&[u8]> = lines.iter().filter(begins).copied().collect();
    for (delimiter, name) in [(b',', "csv:1"), (b' ', "ws:1")] {
        let count = |line: &[u8]| line.iter().filter(|byte| **byte == delimiter).count();
        let columns = count(rows[0]);
        let are_values = |row: &&[u8]| {
            let mut values = row.split(|byte| *byte == delimiter).skip(1);
            count(row) == columns && values.all(is_value)
        };
        if columns > 0 && rows.len() > 1 && rows.iter().all(are_values) {
            return Some(Suggestion::Column(name.to_owned()));
        }
    }
    None
}

/// The columns of a table of requests: the first host and the first target in a row.
fn request(row: &[u8], kind: &str, delimiter: u8) -> Option<String> {
    let cells = || row.split(|byte| *byte == delimiter);
    let host = cells().position(is_site)? + 1;
    let target = cells().position(is_target)? + 1;
    Some(format!("{kind}:host={host},target={target}"))
}

/// True if a word of a line names a site. A word with capitals, as `o.t.Filter`, is the name of a class.
fn has_site(line: &[u8]) -> bool {
    let has_capital = |word: &[u8]| word.iter().any(u8::is_ascii_uppercase);
    line.split(u8::is_ascii_whitespace).any(|word| is_site(word) && !has_capital(word))
}

/// True for a line of words with a query beside the target, as IIS writes it: `GET /a b=1 80`.
fn has_query(line: &[u8]) -> bool {
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    words.windows(4).any(|words| {
        METHODS.contains(&words[0])
            && words[1].starts_with(b"/")
            && (words[2] == b"-" || words[2].contains(&b'='))
            && !words[3].is_empty()
            && words[3].iter().all(u8::is_ascii_digit)
    })
}

/// True if the last word of a text is a method, perhaps after a quotation mark.
fn ends_with_method(before: &[u8]) -> bool {
    let word = before.trim_ascii_end().rsplit(|byte| byte.is_ascii_whitespace()).next();
    word.is_some_and(|word| METHODS.contains(&word.strip_prefix(b"\"").unwrap_or(word)))
}

/// True for a cell that is hardly a part of a URL: a number, a quotation, brackets, nothing.
fn is_value(cell: &[u8]) -> bool {
    let is_quoted = cell.len() > 1 && cell.starts_with(b"\"") && cell.ends_with(b"\"");
    let is_number = cell.iter().all(|byte| byte.is_ascii_digit() || b".:-+/".contains(byte));
    let is_bracketed = cell.starts_with(b"[") && cell.ends_with(b"]");
    is_quoted || is_bracketed || is_number || cell.contains(&b' ') || is_url(cell)
}

/// How many commas each line has, if all have the same number.
fn same_commas(lines: &[&[u8]]) -> Option<usize> {
    let count = |line: &[u8]| line.iter().filter(|byte| **byte == b',').count();
    let first = count(lines[0]);
    (first > 0 && lines.iter().all(|line| count(line) == first)).then_some(first)
}

/// Formats of a line of labels and values between tabs (<https://ltsv.org>).
fn ltsv(line: &[u8]) -> Vec<String> {
    let fields = label::fields(line).filter(|fields| fields.len() <= FIELDS);
    let Some(fields) = fields else { return Vec::new() };
    let layout = |host: &str| {
        let parts = fields.iter().map(|(name, _)| {
            let name = String::from_utf8_lossy(name);
            let variable = match &*name {
                "req" | "request" => "request",
                "uri" | "request_uri" | "path" => "request_uri",
                "method" | "request_method" => "request_method",
                "status" => "status",
                "scheme" => "scheme",
                name if name == host => "host",
                _ => "x",
            };
            format!("{name}:${variable}")
        });
        format!("log:{}", parts.collect::<Vec<_>>().join("\\t"))
    };
    // The label `host` is the client's address there.
    ["vhost", "server_name", "http_host", ""].map(layout).into()
}

/// The format of a log of Zeek's, whose header names its columns.
fn zeek(lines: &[&[u8]]) -> Option<String> {
    let names = lines.iter().find_map(|line| line.strip_prefix(b"#fields\t"))?;
    let column = |name: &[u8]| {
        names.split(|byte| *byte == b'\t').position(|one| one == name).map(|index| index + 1)
    };
    Some(format!("tsv:host={},target={}", column(b"host")?, column(b"uri")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggested(text: &str) -> Option<Suggestion> {
        let format = super::super::detect("x", text.as_bytes(), true);
        suggest(&format, text.as_bytes())
    }

    fn formats(names: &[&str]) -> Option<Suggestion> {
        Some(Suggestion::Formats(names.iter().map(|name| (*name).to_owned()).collect()))
    }

    fn column(name: &str) -> Option<Suggestion> {
        Some(Suggestion::Column(name.to_owned()))
    }

    #[test]
    fn list_of_urls_needs_no_suggestion() {
        for text in [
            "",
            "http://h/\nhttp://h/a b\nhttp://h/c\n",
            "http://h/a,1.html\nhttp://h/b,2.html\n",
            "http://h/a b c\nhttp://h/d\n",
            "http://h/a b\nhttp://h/c d\n",
            "/a\n/b\n",
            "mailto:a@h\nmailto:b@h\n",
            "http://h/\nmailto:a\n",
            "http://h/\nx\n",
            "http://h/a,1\n",
        ] {
            assert_eq!(suggested(text), None, "{text}");
        }
    }

    #[test]
    fn columns_are_told_by_their_values() {
        for (text, name) in [
            ("http://h/a,200\nhttp://h/b,404\n", "csv:1"),
            ("Page,Code\nhttp://h/a,200\nhttp://h/b,404\n", "csv:1"),
            ("id,page\n1,http://h/a\n2,http://h/b\n", "csv:2"),
            ("http://h/a 200\nhttp://h/b 404\n", "ws:1"),
            ("/a 200\n/b 404\n", "ws:1"),
            ("   12 http://h/a\n    3 http://h/b\n", "ws:2"),
            ("12\thttp://h/a\n3\thttp://h/b\n", "tsv:2"),
            ("http://h/a\t12\nhttp://h/b\tx\n", "tsv:1"),
            ("http://h/a [200]\nhttp://h/b [404]\n", "ws:1"),
            ("/a\tGET\th.example\n/b\tGET\ti.example\n", "tsv:host=3,target=1"),
            ("7,h.example,/a\n8,i.example,/b\n", "csv:host=2,target=3"),
        ] {
            assert_eq!(suggested(text), column(name), "{text}");
        }
    }

    #[test]
    fn suggestions_take_linear_time() {
        let rows = |length: usize| format!("{}\n", "1,".repeat(length)).repeat(3);
        let inputs: [fn(usize) -> String; 7] = [
            |length| format!("x{}", "a,".repeat(length)),
            |length| format!("mailto:{}", "a@h.example,".repeat(length)),
            |length| format!("{}10.0.0.9 h.example GET /a", "a ".repeat(length)),
            |length| format!("GET /a {}", "10.0.0.9 h.example ".repeat(length)),
            |length| "a:b\t".repeat(length),
            |length| format!("{{{}", r#""a":"http://h/","#.repeat(length)),
            |length| {
                (0..length)
                    .map(|n| format!("\"{n}\":\"http://h/\","))
                    .fold("{".into(), |a, b| a + &b)
            },
        ];
        for input in inputs.into_iter().chain([rows as fn(usize) -> String]) {
            let looked = |length: usize| {
                LOOKED.set(0);
                let input = input(length);
                let found = suggest(&Format::Lines, input.as_bytes());
                assert!(LOOKED.get() > 0, "{found:?}");
                LOOKED.get() as f64 / input.len() as f64
            };
            let (few, many) = (looked(400), looked(1_600));
            assert!(many < 1.5 * few, "{few} {many}: {}", input(3));
        }
    }

    #[test]
    fn logs_are_tried() {
        let uvicorn = "INFO:     10.1.1.1:80 - \"GET /a HTTP/1.1\" 200 OK\n\
            WARNING:  10.1.1.1:81 - \"GET /b HTTP/1.1\" 404 Not Found\nINFO:     Started\n";
        assert_eq!(suggested(uvicorn), formats(&["uvicorn"]));
        let ltsv = "time:x\tvhost:h.example\treq:GET /a HTTP/1.1\tstatus:200\n";
        let layout = r"log:time:$x\tvhost:$host\treq:$request\tstatus:$status";
        assert_eq!(suggested(ltsv), formats(&[layout]));
        assert_eq!(suggested("host:h\tsize:1\n"), Some(Suggestion::Words));
        // A client is no host, and a path is no target without a method.
        let client = "10.1.1.1 - - [x] \"GET /a HTTP/1.1\" 200 5\n";
        assert_eq!(suggested(client), formats(&["combined"]));
        for text in [
            "Jan 1 script /usr/bin/a started\nJan 2 script /usr/bin/b started\n",
            "1 POST /a: no user\n2 POST /b: no user\n",
            "<a b=\"c\" /> d\n<a b=\"c\" /> e\n",
        ] {
            assert_eq!(suggested(text), Some(Suggestion::Words), "{text}");
        }
        let class = "b o.t.AccessFilter 10.1.1.1 POST /a took 8\n";
        assert_eq!(suggested(class), column("ws:5"));
        let site = "x shop.example 10.1.1.1 GET /a 200 ok\nx blog.example 10.1.1.2 GET /b 404 -\n";
        assert_eq!(suggested(site), Some(Suggestion::Words));
        let query = "1:2 GET /a b=1 80 - UA\n1:3 GET /c - 80 - UA\n";
        assert_eq!(suggested(query), Some(Suggestion::Words));
        let zeek = "#fields\tts\thost\turi\treferrer\n1\ta.example\t/x\thttp://r/\n\
            2\ta.example\t/y\thttp://r/\n";
        assert_eq!(suggested(zeek), column("tsv:host=2,target=3"));
        let bare = "1\tC\t10.1.1.1\t5\t10.2.2.2\t80\t1\tGET\ta.example\t/x\thttp://r/\n";
        assert_eq!(suggested(bare), column(ZEEK));
        assert_eq!(suggested(&bare.replace("a.example", "200")), column("tsv:11"));
        let text = "see http://h/a for\nmore than http://h/b says\n";
        assert_eq!(suggested(text), formats(&["text"]));
        assert_eq!(suggested("one two\nthree four\n"), Some(Suggestion::Words));
        // `ws:3` would join the paths of both sites.
        let sites = "GET h.example /a 200\nGET i.example /a 200\n";
        assert_eq!(suggested(sites), Some(Suggestion::Words));
    }
}
