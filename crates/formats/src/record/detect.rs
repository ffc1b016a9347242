//! Tells a format from the name and the beginning of an input, for `--format auto`.
//!
//! In comes the name and the first records; out goes a [`Detected`]. More than half of the lines
//! must agree, and a doubtful input is `lines`: a log read as a list is seen at once, since all of it
//! is rejected, where a list read as a log might lose a part of itself quietly.
//!
//! Each line votes for the first format of the table whose layout it has, from the first byte to the
//! last. An access log that has none of these layouts is `clf`, `combined` or `vhost`: there the
//! request is the first quoted field after the time, whatever stands around it.

use std::ops::Range;

use memchr::{memchr_iter, memrchr};

use super::Archive;
use super::access::{Access, AddressPorts};
use super::advice::Columns;
use super::census::Census;
use super::label::{self, Labels};
use super::left_out::{LeftOut, left_out};
use super::line::{is_blank, without_mark};
use super::origin::is_absolute;
use super::suggest::{Finds, columns_after, of_table};
use super::trial::{Trial, most};
use super::value_kind::ValueKind;
use super::{Format, FormatTable, Text, cdx, clf, csv, extended, robots, sitemap};
use super::{READS_TABLES, Refusal};
use super::{Suggestion, suggest};

/// The least bytes of an input that detection looks at, if it has as many.
pub const HEAD: usize = 64 << 10;
/// Where they are fewer records than this, more is read.
const RECORDS: usize = 100;
/// The most that is read for that, in bytes.
const LONGEST_HEAD: usize = 32 << 20;

/// How long the head of an input may become, in bytes, for a run with this memory budget: an eighth of it.
pub fn head_limit(budget: usize) -> usize {
    (budget / 8).clamp(HEAD, LONGEST_HEAD)
}

/// The lines of a head that grows. Each byte is looked at once, however long a line is.
#[derive(Debug, Default)]
pub struct HeadLines {
    looked: usize,
    ended: usize,
}

impl HeadLines {
    /// Counts the lines that end after the bytes of the last call.
    pub fn count(&mut self, head: &[u8]) {
        // A file that was cut meanwhile gives fewer bytes.
        let fresh = head.get(self.looked..).unwrap_or_default();
        self.ended += memchr_iter(b'\n', fresh).count();
        self.looked = head.len();
    }

    /// True if a line has ended.
    pub fn has_some(&self) -> bool {
        self.ended > 0
    }

    /// True if the head has 64 KiB and 100 records, or is as long as it may become.
    pub fn are_enough(&self, limit: usize) -> bool {
        self.looked >= HEAD && (self.looked >= limit || self.ended >= RECORDS)
    }
}

/// What an input seems to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// Its format.
    pub format: Format,
    /// The reasons to look at it again.
    pub doubts: Doubts,
}

/// What may be wrong about a detected format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Doubts {
    /// The field or member that names a site in most lines, not the same in all of them, and that the
    /// format does not read.
    pub dropped_host: Option<String>,
    /// Another way to read the input that may be better.
    pub suggestion: Option<Suggestion>,
}

/// The format that an input seems to have, among those that come with the program.
///
/// `head` is the beginning of the decompressed input, or all of it if `is_whole`; otherwise a part of a
/// line at its end is left out. Where exactly half of the lines are of a log, a name that says `log`
/// or `access` decides. Only formats of this module's are told.
pub fn detect(name: &str, head: &[u8], is_whole: bool) -> Format {
    FormatTable::shipped().detect(name, head, is_whole).format
}

impl FormatTable {
    /// The format that an input seems to have, as [`detect`] tells it, among those of this table.
    pub fn detect(&self, name: &str, head: &[u8], is_whole: bool) -> Detected {
        let whole = match memrchr(b'\n', head) {
            _ if is_whole => head,
            Some(feed) => &head[..feed],
            None => &[],
        };
        let whole = without_mark(whole);
        // The user describes this very input, and a guess may be wrong.
        let own = self.own_format(lines(whole));
        let format = own.unwrap_or_else(|| self.guess(name, head, whole));
        match left_out(&format, lines(whole)) {
            None => {
                let suggestion = suggest(&format, whole);
                Detected { format, doubts: Doubts { dropped_host: None, suggestion } }
            }
            Some(LeftOut { place, whole: None }) => {
                Detected { format, doubts: Doubts { dropped_host: Some(place), suggestion: None } }
            }
            // Different URLs would become one, so the user decides.
            Some(LeftOut { place, whole: Some(name) }) => {
                let suggestion = Some(Suggestion::format(name, Finds::LeftOut(place)));
                let doubts = Doubts { dropped_host: None, suggestion };
                Detected { format: Format::Labelled(Labels::All), doubts }
            }
        }
    }

    /// The format that an input seems to have. `whole` are the whole lines of `head`.
    fn guess(&self, name: &str, head: &[u8], whole: &[u8]) -> Format {
        // These two look at `head`: the first record of an archive and the first line of a sitemap
        // may be longer than the head, and then `whole` is empty.
        if let Some(archive) = Archive::detect(head) {
            return Format::Archive(archive);
        }
        if sitemap::is_one(head) {
            return Format::Sitemap;
        }
        // A line such as `Disallow: /a` would be a URL of a list.
        if robots::is_one(lines(whole)) {
            return Format::Text(Text::default());
        }
        if let Some(by_header) = by_header(name, whole) {
            return by_header;
        }
        let mut votes = Votes::new(self);
        // OutbackCDX writes these between captures. They would vote against every format.
        lines(whole).filter(|line| !cdx::is_alias(line)).for_each(|line| votes.cast(line));
        let name = name.to_ascii_lowercase();
        let is_log = name.contains("log") || name.contains("access");
        let winner = votes.winner(is_log, || guess_members(lines(whole)));
        // No URL begins with a brace, and a base would make one of it.
        let format = winner.unwrap_or(Format::Labelled(Labels::All));
        // A list is what remains where nothing else fits, so it alone is looked at for columns and
        // labels.
        if !matches!(format, Format::Lines | Format::Target) {
            return format;
        }
        let first_column = match columns_after(&Trial::of(whole), format == Format::Target) {
            Some((Suggestion::Format { name, .. }, true)) => Format::parse(&name).ok(),
            _ => None,
        };
        let are_labels = || format == Format::Lines && label::are_most(lines(whole));
        first_column.unwrap_or_else(|| match are_labels() {
            true => Format::Labelled(Labels::Unregistered),
            false => format.clone(),
        })
    }
}

/// The pointers to the parts of a URL in JSON that has no name, where the names of the members say what they
/// are.
fn guess_members<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Option<Format> {
    let census = Census::of_json(lines.filter(|line| line.starts_with(b"{")).take(RECORDS));
    let found = Columns::find(&census).filter(|found| found.are_sure(&census))?;
    Format::parse(&found.format("json", |column| column.place.clone())).ok()
}

/// Why an input with this beginning can be no input at all.
///
/// ```
/// let head = b"com,example)/ 20240101000000\tcdx-00000.gz\t0\t188224\t1\n";
/// assert!(uniqurl_formats::record::refusal(head).is_some());
/// ```
pub fn refusal(head: &[u8]) -> Option<Refusal> {
    if is_table(head) {
        return Some(match READS_TABLES {
            true => Refusal::TABLE,
            false => Refusal::NO_TABLES,
        });
    }
    if let Some(why) = super::unsupported::refusal(head) {
        return Some(why);
    }
    // A CDXJ index may begin with headers, also a `cluster.idx`.
    let mut lines = lines(head).filter(|line| !line.starts_with(b"!")).take(10).peekable();
    lines.peek()?;
    lines.all(super::cdxj::is_of_cluster).then_some(Refusal::CLUSTER_INDEX)
}

/// Whether an input with this beginning is Parquet or Arrow.
pub fn is_table(head: &[u8]) -> bool {
    super::container::Container::of(head).is_some()
}

/// The same of an input whose format is not said: its lines may end otherwise, or be a text that no format
/// of records describes.
pub fn refusal_of_auto(head: &[u8]) -> Option<Refusal> {
    let of_varnish = || super::unsupported::is_of_varnish(head).then_some(Refusal::VARNISHLOG);
    refusal(head).or_else(of_varnish).or_else(|| super::unsupported::ends_otherwise(head))
}

/// The lines that are not blank, without their ends.
pub(super) fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = head.split(|&byte| byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).filter(|line| !is_blank(line))
}

/// The format that a header announces: a legend, `#Fields:`, or a column that is called `url`.
fn by_header(name: &str, head: &[u8]) -> Option<Format> {
    let first = lines(head).next()?;
    if cdx::is_legend(first) {
        return Format::parse("cdx").ok();
    }
    if first.starts_with(b"#") {
        let dialect =
            lines(head).take_while(|line| line.starts_with(b"#")).find_map(extended::dialect)?;
        return Some(Format::Extended(super::Extended::new(dialect)));
    }
    if is_record(first) {
        return None;
    }
    // Names of compressed files end in more than the table's own ending.
    let named = |ending: &str| name.to_ascii_lowercase().split('.').skip(1).any(|n| n == ending);
    for (table, delimiter) in [("csv", b','), ("tsv", b'\t'), ("csv", b';'), ("csv", b'|')] {
        let names = csv::cells(first, delimiter);
        let is_such =
            |column: usize, name: &str| names[column].eq_ignore_ascii_case(name.as_bytes());
        let named_so = |name| {
            (0..names.len()).find(|column| is_such(*column, name)).map(|column| (column, name))
        };
        // A row of data may hold the word as well.
        let Some((column, name)) = ["url", "uri"].into_iter().find_map(named_so) else { continue };
        let rows: Vec<&[u8]> = lines(head).skip(1).take(RECORDS).collect();
        let are_most = |kind: ValueKind| {
            let cell =
                |row: &[u8]| csv::cells(row, delimiter).get(column).map(|cell| ValueKind::of(cell));
            most(&rows, |row| cell(row) == Some(kind))
        };
        let is_header = !names.iter().any(|cell| is_absolute(cell)) && !are_most(ValueKind::Word);
        if is_header && (names.len() > 1 || named(table)) {
            // The host and the query of a target stand in other columns.
            let parts = are_most(ValueKind::Target).then(|| of_table(&Trial::of(head), delimiter));
            let name = match parts.flatten() {
                Some(Suggestion::Format { name, .. }) => name,
                _ => format!("{table}:{name}"),
            };
            let format = Format::parse(&name).ok()?;
            return Some(format.with_delimiter(delimiter).unwrap_or(format));
        }
    }
    None
}

/// Whether a line by itself is of a format without a header of names. Names may stand in its text
/// (`/api?fields=id,url`), and clients choose that. Of a log a time in brackets is enough, since its
/// request may be none.
fn is_record(line: &[u8]) -> bool {
    let table = FormatTable::shipped();
    let mut votes = Votes::new(table);
    votes.cast(line);
    votes.speaks_for_any() || time_of_log(line).is_some()
}

/// How many lines there are of each kind.
struct Votes<'t> {
    table: &'t FormatTable,
    all: usize,
    /// Lines with the layout of each entry of the table.
    by_entry: Vec<usize>,
    target: usize,
    clf: usize,
    combined: usize,
    vhost: usize,
    /// Access logs whose first field is an address with a port, of a site or of a client.
    addresses: AddressPorts,
    /// Headers of an index in `cdxj`. They speak for no format, and against all others.
    cdxj_headers: usize,
    json: usize,
    /// Lines in JSON that no entry knows.
    unknown: usize,
}

impl<'t> Votes<'t> {
    fn new(table: &'t FormatTable) -> Self {
        Self {
            table,
            all: 0,
            by_entry: vec![0; table.entries().count()],
            target: 0,
            clf: 0,
            combined: 0,
            vhost: 0,
            addresses: AddressPorts::default(),
            cdxj_headers: 0,
            json: 0,
            unknown: 0,
        }
    }

    /// True if a line so far was of some kind.
    fn speaks_for_any(&self) -> bool {
        let counts =
            [self.target, self.clf, self.combined, self.vhost, self.cdxj_headers, self.json];
        counts.iter().chain(&self.by_entry).any(|count| *count > 0) || !self.addresses.is_empty()
    }

    fn cast(&mut self, line: &[u8]) {
        self.all += 1;
        // Asked first, since a path may hold anything, also the text of a log line.
        if line.starts_with(b"/") {
            self.target += usize::from(!label::is_of_path(line));
            return;
        }
        if line.starts_with(b"!") {
            self.cdxj_headers += 1;
            return;
        }
        let entry = self.table.entries().position(|entry| entry.test.fits(line));
        if let Some(entry) = entry {
            self.by_entry[entry] += 1;
        }
        if line.starts_with(b"{") {
            self.json += 1;
            self.unknown += usize::from(entry.is_none());
            return;
        }
        // A line of a log by its layout is most often an access log by its beginning, too.
        match Access::of(line) {
            Some(Access::Clf) => self.clf += 1,
            Some(Access::Combined) => self.combined += 1,
            Some(Access::Vhost) => self.vhost += 1,
            Some(Access::AddressPort(address, port)) => self.addresses.add(address, port),
            None => {}
        }
    }

    /// The format of most lines. None if they are JSON that neither an entry nor `guess` knows.
    fn winner(self, named_log: bool, guess: impl FnOnce() -> Option<Format>) -> Option<Format> {
        let most = |votes: usize| votes * 2 > self.all || (named_log && votes * 2 == self.all);
        if self.all == 0 {
            return Some(Format::Lines);
        }
        let entries = || self.table.entries().zip(&self.by_entry);
        for (entry, votes) in entries() {
            let is_it = match &*entry.format.name() {
                // A name that says log speaks for no index, so half of the lines are not enough.
                "cdx" => votes * 2 > self.all,
                "cdxj" => votes * 2 > self.all - self.cdxj_headers,
                _ => most(*votes),
            };
            if *votes > 0 && is_it {
                return Some(entry.format.clone());
            }
        }
        let (sites, clients) = self.addresses.sites_and_clients();
        let vhost = self.vhost + sites;
        let plain = self.clf + self.combined + clients;
        if self.json * 2 > self.all {
            // Of equals the first.
            let known = entries()
                .rev()
                .filter(|(entry, _)| matches!(entry.format, Format::Json(_)))
                .max_by_key(|(_, votes)| **votes);
            let known = known.filter(|(_, votes)| **votes > 0);
            let format = known.map(|(entry, _)| entry.format.clone());
            return match known {
                Some((_, votes)) if *votes >= self.unknown => format,
                _ => guess().or(format),
            };
        }
        Some(if most(vhost) {
            Format::Vhost
        } else if most(plain + vhost) {
            // Without the host of some lines, all of them can be read as combined.
            if self.clf * 2 > plain { Format::Clf } else { Format::Combined }
        } else if self.target * 2 > self.all {
            Format::Target
        } else {
            Format::Lines
        })
    }
}

/// The bracketed time of a log that is in a usual form.
fn time_of_log(line: &[u8]) -> Option<Range<usize>> {
    clf::bracketed_time(line).filter(|time| clf::begins_as_time(&line[time.start + 1..]))
}

#[cfg(test)]
mod tests {
    use super::{Format, READS_TABLES};

    fn detect(name: &str, head: &[u8]) -> Format {
        super::detect(name, head, true)
    }

    const CLF: &str = r#"1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5"#;
    const COMBINED: &str =
        r#"1.2.3.4 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5 "-" "UA""#;
    const HAPROXY: &str = r#"1.2.3.4:5 [06/Feb/2009:12:14:14.655] in static/srv1 1/0 "GET /""#;

    const HERITRIX: &str = "2011-06-23T17:12:08.802Z   200       1299 http://h.example/robots.txt LREP \
        http://h.example/ text/plain #014 20110623171208574+225 sha1:YIUO - 3t";

    #[test]
    fn each_format_is_detected_by_its_lines() {
        let vhost = format!("h.example:443 {COMBINED}");
        let proxied = format!("10.0.0.1, {COMBINED}");
        let wrapped = format!("\"{COMBINED}\"");
        let of_python = r#"::1 - - [17/May/2015 10:05:03] "GET /a HTTP/1.1" 200 -"#;
        for (line, name) in [
            (of_python, "clf"),
            (CLF, "clf"),
            (COMBINED, "combined"),
            (&COMBINED.replace("17/May", "7/May"), "combined"),
            (&COMBINED.replace("May", "févr."), "combined"),
            (&proxied, "combined"),
            (&wrapped, "combined"),
            (&vhost, "vhost"),
            (HAPROXY, "haproxy"),
            (HERITRIX, "crawl-log"),
            (&HERITRIX.replace("200       1299", "-6          -"), "crawl-log"),
            (&HERITRIX.replace("#014", "x014"), "lines"),
            (&HERITRIX.replace("200", "OK"), "lines"),
            ("/a?b", "target"),
            ("//h/x", "target"),
            ("/a.php: no user 'x' from 1.2.3.4", "lines"),
            ("http://h/", "lines"),
            ("1.2.3.4 - - [x] \"GET /a\"", "lines"),
            (r#"{"a":"[17/May/2015:10:05:03 +0000]","b":1}"#, "lines"),
        ] {
            for chunk in [format!("{line}\n"), format!("\r\n{line}\r\n{line}\n \n"), line.into()] {
                assert_eq!(detect("x", chunk.as_bytes()).name(), name, "{line}");
            }
        }
    }

    #[test]
    fn cdxj_object_with_spaces_is_not_taken_for_cdx() {
        let mut members = String::from(r#""url": "http://h/""#);
        for (n, name) in ["mime", "status", "digest", "length", "offset"].iter().enumerate() {
            let line = format!("h)/ 20200101000000 {{{members}}}\n");
            assert_eq!(detect("x", line.as_bytes()).name(), "cdxj", "{} members", n + 1);
            members += &format!(r#", "{name}": "1""#);
        }
        let cdx = b"h)/ 20200101000000 http://h/ text/html 200 D - - 1 2 f\n";
        assert_eq!(detect("x", cdx).name(), "cdx");
    }

    #[test]
    fn a_header_names_columns_and_holds_no_url() {
        for (head, name) in [
            ("id,url\n1,http://h/\n", "csv:url"),
            ("\"URI\"\tid\nhttp://h/\t1\n", "tsv:uri"),
            ("url,http://h/a\nurl,http://h/b\n", "lines"),
            ("\"url\",\"HTTP://h/a\"\n", "lines"),
            ("http://a/\turl\nhttp://b/\tlink\n", "lines"),
        ] {
            assert_eq!(detect("x", head.as_bytes()).name(), name, "{head}");
        }
    }

    #[test]
    fn log_line_is_not_taken_for_a_header() {
        let elb = "2015-05-13T23:39:43.945958Z lb 1.2.3.4:1 10.0.0.1:80 0 0 0 200 200 0 29 \
                   \"GET https://e.org:443/a HTTP/1.1\" \"curl\" - -";
        let cdx = "h)/a 20200101000000 dns:/a text/html 200 D - - 1 2 f";
        for (line, name) in [
            (CLF, "clf"),
            (COMBINED, "combined"),
            (&format!("h.example:443 {COMBINED}"), "vhost"),
            (&HAPROXY.replace("GET /", "GET /a"), "haproxy"),
            (HERITRIX, "crawl-log"),
            (elb, "elb"),
            (cdx, "cdx"),
            ("/a", "target"),
        ] {
            for (columns, url) in [("?f=id,url,x", "/a"), ("?f=id\turi\tx", "/a")] {
                let asked = line.replacen(url, &format!("{url}{columns}"), 1);
                let asked = asked.replacen("h.example/robots.txt", &format!("h/{columns}"), 1);
                assert!(asked.contains(columns), "{line}");
                let log = format!("{asked}\n{line}\n{line}\n");
                assert_eq!(detect("x.csv", log.as_bytes()).name(), name, "{asked}");
            }
        }
        let agent = COMBINED.replace("UA", "UA,url,x");
        // A broken request speaks for no format, but no header has a time in brackets.
        let request = COMBINED.replace("GET /a HTTP/1.1", "a,url,x");
        for first in [agent, request] {
            let log = format!("{first}\n{COMBINED}\n{COMBINED}\n");
            assert_eq!(detect("x", log.as_bytes()), Format::Combined, "{first}");
        }
    }

    #[test]
    fn json_object_is_not_taken_for_a_header() {
        let tags = r#"{"tags":["id","url","x"],"url":"/a"}"#;
        assert_eq!(detect("x", format!("{tags}\n").as_bytes()).name(), "json:target=/url");
        let cdxj = r#"h)/ 20200101000000 {"tags":["id","url","x"],"url":"http://h/"}"#;
        assert_eq!(detect("x", format!("{cdxj}\n").as_bytes()).name(), "cdxj");
    }

    #[test]
    fn cdxj_header_lines_do_not_prevent_detection() {
        let header = "!OpenWayback-CDXJ 1.0\n!keys [\"surt\", \"url\", \"x\"]\n";
        let line = "h)/ 20200101000000 {\"url\":\"http://h/\"}\n";
        let index = format!("{header}{header}{line}{line}");
        assert_eq!(detect("x", index.as_bytes()).name(), "cdxj");
        let fields = format!("!fields [\"surt\", \"url\", \"x\"]\n{line}");
        assert_eq!(detect("x", fields.as_bytes()).name(), "cdxj");
        // A list may have such lines as well.
        assert_eq!(detect("x", b"!a\n!b\n/c\n"), Format::Lines);
    }

    #[test]
    fn table_input_is_refused_with_and_without_table_support() {
        let why = if READS_TABLES { "read from its end" } else { "not read here" };
        for head in [&b"PAR1\x15\x04"[..], b"ARROW1\0\0", b"\xFF\xFF\xFF\xFF\x78\0\0\0\x10"] {
            assert!(super::refusal(head).is_some_and(|said| said.to_string().contains(why)));
        }
        assert_eq!(super::refusal(b"PAR1-WEB.example.com\n"), None);
    }

    #[test]
    fn a_member_that_begins_with_a_slash_is_a_request_target() {
        let nginx = r#"{"uri":"/a%","args":"","status":200}"#;
        let whole = r#"{"uri":"/a?b","args":"b"}"#;
        for (head, name) in [
            (r#"{"uri":"//h/x"}"#.to_owned(), "json:target=/uri"),
            (r#"{"url":"/x","uri":"http://h/"}"#.to_owned(), "json:target=/url"),
            (r#"{"url":"x","uri":"/x"}"#.to_owned(), "json:target=/uri"),
            ("{\"uri\":\"http://h/\"}\n{\"uri\":\"//h/x\"}\n".repeat(2), "json:/uri"),
            (
                "{\"uri\":\"http://h/\"}\n{\"uri\":\"/\"}\n{\"uri\":\"/\"}".into(),
                "json:target=/uri",
            ),
            (nginx.to_owned(), "nginx-json"),
            (format!("{nginx}\n{whole}\n{whole}"), "json:target=/uri"),
            (format!("{whole}\n{nginx}\n{nginx}"), "nginx-json"),
            (r#"{"uri":"http://h/","args":""}"#.to_owned(), "json:/uri"),
        ] {
            assert_eq!(detect("x", format!("{head}\n").as_bytes()).name(), name, "{head}");
        }
    }

    #[test]
    fn client_address_with_a_port_is_not_a_virtual_host() {
        let line = COMBINED.replace("1.2.3.4", "1.2.3.4:5678");
        assert_eq!(detect("x", line.as_bytes()), Format::Combined);
    }

    #[test]
    fn empty_head_and_a_tie_are_detected_as_lines() {
        for head in ["", "\n", " \n\t\n", "/a\nhttp://h/\n"] {
            assert_eq!(detect("access.log", head.as_bytes()), Format::Lines);
        }
        let tie = format!("http://h/\n{COMBINED}\n");
        assert_eq!(detect("urls.txt", tie.as_bytes()), Format::Lines);
        assert_eq!(detect("access.log.1.gz", tie.as_bytes()), Format::Combined);
    }

    #[test]
    fn line_cut_at_the_end_of_the_head_is_not_counted() {
        assert_eq!(super::detect("x", b"/a\nhttp://h/b", false), Format::Target);
        assert_eq!(detect("x", b"/a\nhttp://h/b"), Format::Lines, "a tie");
        assert_eq!(super::detect("x", &[b'/'; 64 << 10], false), Format::Lines);
    }

    #[test]
    fn head_is_long_enough_with_a_hundred_records_or_at_its_limit() {
        let long = format!("{}\n", "x".repeat(1 << 20)).into_bytes();
        let is_enough = |head: &[u8]| {
            let mut lines = super::HeadLines::default();
            // However the head grew.
            lines.count(&head[..head.len() / 3]);
            lines.count(head);
            lines.are_enough(4 << 20)
        };
        assert!(!is_enough(&long));
        assert!(is_enough(&long.repeat(4)));
        assert!(is_enough(&b"x\n".repeat(32 << 10)));
        assert!(!is_enough(&b"x\n".repeat(1000)));
    }

    #[test]
    fn malformed_requests_count_for_a_log() {
        for request in ["-", "", r"\x16\x03", "<BADREQ>"] {
            let line = COMBINED.replace("GET /a HTTP/1.1", request);
            assert_eq!(detect("x", line.as_bytes()), Format::Combined, "{request}");
        }
    }
}
