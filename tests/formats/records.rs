//! Every record format against a slow second reader, and the laws of reading.
//!
//! Cases are random and seeded; `UNIQURL_CASES` sets the number of each kind.

use std::collections::BTreeSet;

use crate::record_oracle::{self, Holds, Known, Slashless};
use uniqurl::internal::{Origin, Targets};
use uniqurl_formats::record::{BufferId, Context, Extracted, Format, Record, Records};

const FORMATS: [&str; 8] =
    ["lines", "target", "clf", "combined", "vhost", "haproxy", "ws:1", "ws:3"];

/// The parts of hostile lines: every text with a meaning in some format, and some with none.
#[rustfmt::skip]
const WORDS: &[&[u8]] = &[
    b" ", b" ", b" ", b"\"", b"\"", b"\\", b"\\\"", b"\\\\", b"\\x", b"\\x4", b"\\x41", b"\\xff",
    b"\\n", b"\\t", b"\\x20", b"\\x2f", b"\\u00e9", b"[", b"]", b"[17/May/2015:10:05:03 +0000]",
    b"[2015-05-17T10:05:03Z]", b"[2015-05-17 10:05:03]", b"\\a", b"\\f", b"\\b",
    b"[06/Feb/2009:12:14:14.655]", b"[17/May/2015:", b"[::1]:80", b"-", b"GET ", b"GET",
    b"CONNECT ", b"get\t", b" HTTP/1.1", b" HTTP/2", b"HTTP/1.", b"HTTP/10.10 ", b"/", b"//", b"/a",
    b"/a b?c=d#e", b"*", b"http://h/x", b"mailto:a", b"h:80", b"v.example:443", b":", b":8080",
    b"@", b"?", b"#", b"#22", b"#4", b"#2341", b"\t", b"\0", b"\r", b"\xff", b"0", b"<BADREQ>",
    b"static/srv1",
];

/// A small generator of random numbers (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn one_of<'a, T: ?Sized>(&mut self, among: &[&'a T]) -> &'a T {
        among[self.below(among.len())]
    }

    /// Up to `most` words.
    fn words(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most + 1)).flat_map(|_| self.one_of(WORDS).iter().copied()).collect()
    }

    /// Fewer words than `most` of the formats with named fields.
    pub(crate) fn table(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).flat_map(|_| self.one_of(TABLE_WORDS).iter().copied()).collect()
    }

    /// A line close to one of some log, or an unrelated one.
    pub(crate) fn line(&mut self) -> Vec<u8> {
        let host = self.one_of(&[
            "", "h:443 ", "[::1] ", "- ", "h:- ", "a/b ", "\"", "\"h:80 ", ":80 ", "h: ",
        ]);
        let time = self.one_of(&["[17/May/2015:10:05:03 +0000]", "[1431857103]", "[a [b]"]);
        let method = self.one_of(&["GET ", "CONNECT ", "connect ", "OPTIONS  ", "", "\\x16", "- "]);
        let version = self.one_of(&[" HTTP/1.1", " HTTP/2  ", "", " HTTP/1.1x"]);
        let quote = self.one_of(&["\"", "\"", "\"", "", "\\\""]);
        match self.below(4) {
            0 => self.words(12),
            1 => {
                [self.words(2), b" ".to_vec(), self.words(2), b" ".to_vec(), self.words(2)].concat()
            }
            2 => [
                [host, "1.2.3.4 - - ", time, " \"", method].concat().into_bytes(),
                self.words(4),
                [version, quote, " 200 5 \"-\""].concat().into_bytes(),
            ]
            .concat(),
            _ => [
                host.into(),
                self.words(3),
                [time, " "].concat().into_bytes(),
                self.words(2),
                ["\"", method, "/"].concat().into_bytes(),
                self.words(4),
                [version, quote].concat().into_bytes(),
                self.words(3),
            ]
            .concat(),
        }
    }
}

/// Enough for every kind of record to occur.
const CASES: u64 = 20_000;

pub(crate) fn cases() -> u64 {
    std::env::var("UNIQURL_CASES").map_or(CASES, |n| n.parse().expect("a number"))
}

/// The kinds that the records of these tests must reach in a format.
fn kinds(format: &str) -> &'static [&'static str] {
    #[rustfmt::skip]
    const OF_TARGETS: &[&str] = &[
        "asterisk-form", "authority-form", "blank", "joined", "relative", "target", "too-long",
        "url",
    ];
    const OF_WORDS: &[&str] =
        &["asterisk-form", "authority-form", "blank", "joined", "target", "too-long", "url"];
    #[rustfmt::skip]
    const OF_LOGS: &[&str] = &[
        "asterisk-form", "authority-form", "blank", "joined", "log-syntax", "relative", "target",
        "too-long", "truncated", "url",
    ];
    #[rustfmt::skip]
    const OF_EXTENDED: &[&str] = &[
        "asterisk-form", "blank", "joined", "log-syntax", "no-field", "relative", "skipped",
        "target", "too-long", "url",
    ];
    #[rustfmt::skip]
    const OF_LABELS: &[&str] = &[
        "asterisk-form", "authority-form", "blank", "joined", "log-syntax", "no-field", "target",
        "too-long", "url",
    ];
    match format {
        "lines" => &["blank", "too-long", "url"],
        "target" => OF_TARGETS,
        "ws:1" | "ws:3" => OF_WORDS,
        "clf" | "combined" | "vhost" | "haproxy" => OF_LOGS,
        "w3c" | "cloudfront" => OF_EXTENDED,
        "csv:url" => &["blank", "no-field", "skipped", "too-long", "truncated", "url"],
        "csv:2" => &["blank", "no-field", "too-long", "truncated", "url"],
        "tsv:url" => &["blank", "no-field", "skipped", "too-long", "url"],
        "tsv:2" => &["blank", "no-field", "too-long", "url"],
        "cdx" => &["blank", "log-syntax", "skipped", "too-long", "url"],
        "cdxj" => &["blank", "log-syntax", "skipped", "url"],
        "json:/url" | "json:/a/url" => &["blank", "log-syntax", "no-field", "url"],
        "elb" => &["blank", "log-syntax", "truncated", "url"],
        "ltsv" => OF_LABELS,
        "text" => &["skipped", "too-long", "url"],
        other => panic!("{other} has no kinds"),
    }
}

/// A format and its oracle may agree only because neither has seen a kind of record.
#[track_caller]
fn all_are_reached(format: &str, seen: &BTreeSet<&str>) {
    if cases() >= CASES {
        let missing: Vec<_> = kinds(format).iter().filter(|kind| !seen.contains(*kind)).collect();
        assert!(missing.is_empty(), "{format}: no record is {missing:?}");
    }
}

/// The limits are low enough for the lines of these tests to go beyond them now and then.
pub(crate) fn known(case: u64) -> Known {
    let base = [None, Some(("https", "b.example")), Some(("ws", "u@b:81"))][case as usize % 3];
    let slashless = [Slashless::Rejected, Slashless::Judged, Slashless::Completed];
    let (trims, asks_for_slashes, slashless) = match case % 10 {
        0..=4 => (true, false, Slashless::Rejected),
        5 | 6 => (false, false, Slashless::Rejected),
        reading => (false, true, slashless[reading as usize - 7]),
    };
    Known { base, max_url: 40, max_record: 120, trims, asks_for_slashes, slashless }
}

pub(crate) fn context(known: &Known) -> Context {
    let base = known
        .base
        .map(|(scheme, authority)| Origin { scheme: scheme.into(), authority: authority.into() });
    let targets = match (known.trims, known.asks_for_slashes, known.slashless) {
        (true, ..) => Targets::Trimmed,
        (false, false, _) => Targets::Verbatim,
        (false, true, Slashless::Rejected) => Targets::Paths,
        (false, true, Slashless::Judged) => Targets::Judged,
        (false, true, Slashless::Completed) => Targets::Completed,
    };
    let (max_url, max_record) = (known.max_url, known.max_record);
    Context { base, targets, max_url, max_record, ..Context::default() }
}

pub(crate) fn read(format: &Format, ctx: &Context, chunk: &[u8]) -> Records {
    let mut out = Records::default();
    format.read(ctx, chunk, &mut out);
    out
}

/// A record in the oracle's terms.
pub(crate) fn holds(record: &Record, chunk: &[u8], side: &[u8]) -> Holds {
    let bytes = |place, span: uniqurl::internal::Span| {
        span.of(if place == BufferId::Chunk { chunk } else { side }).to_vec()
    };
    match record.found {
        Extracted::Blank => Holds::Blank,
        Extracted::Skipped => Holds::Skipped,
        Extracted::Filtered => panic!("there is no filter"),
        Extracted::Reject(code, at) => Holds::Reject(code.name(), at as usize),
        Extracted::Url(place, span) => Holds::Url(bytes(place, span)),
        Extracted::Target(place, span) => Holds::Target(bytes(place, span)),
        Extracted::Joined { url, prefix } => {
            Holds::Joined(bytes(BufferId::Scratch, url), prefix as usize)
        }
    }
}

/// The records of a chunk in the oracle's terms.
pub(crate) fn held(format: &Format, ctx: &Context, chunk: &[u8]) -> Vec<Holds> {
    let out = read(format, ctx, chunk);
    out.records.iter().map(|record| holds(record, chunk, &out.scratch)).collect()
}

#[test]
fn every_format_agrees_with_the_oracle_on_hostile_lines() {
    for name in FORMATS {
        let format = Format::parse(name).unwrap();
        let mut seen = BTreeSet::new();
        for case in 0..cases() {
            let line = Random(case).line();
            let known = known(case);
            let found = held(&format, &context(&known), &line);
            let expected = record_oracle::read(name, &known, &line);
            let shown = line.escape_ascii();
            if line.is_empty() {
                assert!(found.is_empty(), "{name}, case {case}");
            } else {
                assert_eq!(found, [expected], "{name}, case {case}: {shown}");
            }
            seen.extend(found.iter().map(Holds::kind));
        }
        all_are_reached(name, &seen);
    }
}

#[test]
fn lines_read_alone_or_together_give_the_same_records() {
    for name in FORMATS.into_iter().chain(["log:%v %t \"%r\"", "log:\"%m %U%q %H\""]) {
        let format = Format::parse(name).unwrap();
        for case in 0..cases() / 20 {
            let mut random = Random(case);
            let ctx = context(&known(case));
            let mut chunk = Vec::new();
            let mut apart = Vec::new();
            for _ in 0..20 {
                let mut line = random.line();
                line.extend_from_slice(random.one_of(&[b"\n".as_slice(), b"\r\n", b" \n"]));
                if random.below(20) == 0 {
                    line = b"\n".to_vec();
                }
                let out = read(&format, &ctx, &line);
                assert_eq!(out.records.len(), 1, "{name}, case {case}: {}", line.escape_ascii());
                let record = &out.records[0];
                let ending = if line.ends_with(b"\r\n") { 2 } else { 1 };
                assert_eq!(record.line.of(&line), &line[..line.len() - ending]);
                apart.push((record.line.of(&line).to_vec(), holds(record, &line, &out.scratch)));
                chunk.extend_from_slice(&line);
            }
            let out = read(&format, &ctx, &chunk);
            let together: Vec<(Vec<u8>, Holds)> = out
                .records
                .iter()
                .map(|record| {
                    (record.line.of(&chunk).to_vec(), holds(record, &chunk, &out.scratch))
                })
                .collect();
            assert_eq!(together, apart, "{name}, case {case}");
            let mut twice = out.clone();
            twice.clear();
            format.read(&ctx, &chunk, &mut twice);
            assert_eq!(twice, out, "{name}, case {case}: cleared records are as good as new");
        }
    }
}

/// `ap_escape_logitem`.
fn apache(bytes: &[u8]) -> Vec<u8> {
    bytes
        .iter()
        .flat_map(|&byte| match byte {
            b'"' | b'\\' => vec![b'\\', byte],
            0x08 => b"\\b".to_vec(),
            b'\n' => b"\\n".to_vec(),
            b'\r' => b"\\r".to_vec(),
            b'\t' => b"\\t".to_vec(),
            0x0b => b"\\v".to_vec(),
            0x20..=0x7e => vec![byte],
            _ => format!("\\x{byte:02x}").into_bytes(),
        })
        .collect()
}

/// A text whose bytes outside of printable ASCII, and these, are in hexadecimal after a mark.
fn in_hex(bytes: &[u8], special: &[u8], mark: &str) -> Vec<u8> {
    let escaped = |byte: &u8| match byte {
        0x20..=0x7e if !special.contains(byte) => vec![*byte],
        _ => format!("{mark}{byte:02X}").into_bytes(),
    };
    bytes.iter().flat_map(escaped).collect()
}

/// `ngx_http_log_escape`.
fn nginx(bytes: &[u8]) -> Vec<u8> {
    in_hex(bytes, b"\"\\", r"\x")
}

/// HAProxy's `url_encode_map`.
fn hash(bytes: &[u8]) -> Vec<u8> {
    in_hex(bytes, b"\"#", "#")
}

#[test]
fn logger_escapes_round_trip() {
    type Escaper = fn(&[u8]) -> Vec<u8>;
    let loggers: [(&str, Escaper); 7] = [
        ("clf", apache),
        ("combined", nginx),
        ("vhost", apache),
        ("haproxy", hash),
        ("log:%h %l %u %t \"%r\" %s", apache),
        ("log:$remote_addr - $remote_user [$time_local] \"$request\" $status", nginx),
        ("log:$host - $remote_user [$time_local] \"GET $request_uri HTTP/1.1\"", nginx),
    ];
    for (name, escape) in loggers {
        let format = Format::parse(name).unwrap();
        for case in 0..cases() {
            let mut random = Random(case);
            let mut target = b"/".to_vec();
            for _ in 0..random.below(30) {
                let any = random.next() as u8;
                target.push(random.one_of(&[&any, &b'"', &b'\\', &b'#', &b' ']).to_owned());
            }
            target.push(b'.');
            let line = [
                b"h - - [17/May/2015:10:05:03 +0000] \"GET ".as_slice(),
                &escape(&target),
                b" HTTP/1.1\" 200\n",
            ]
            .concat();
            let joined = [b"http://h", &target[..]].concat();
            let expected = if name == "vhost" || name.contains("$host") {
                Holds::Joined(joined, 8)
            } else {
                Holds::Target(target)
            };
            let found = held(&format, &Context::default(), &line);
            assert_eq!(found, [expected], "{name}, case {case}: {}", line.escape_ascii());
        }
    }
}

#[test]
fn readers_never_panic_on_any_bytes() {
    let formats = FORMATS.into_iter().chain([
        "log:%h %l %u %t \"%r\" %s",
        "log:%v:%p %{Host}i %U%q",
        "log:$scheme://$host$request_uri \"$request_method $uri$is_args$args $server_protocol\"",
        "log:$time_local \"$request_method\" $uri?$args|$server_port",
    ]);
    for name in formats {
        let format = Format::parse(name).unwrap();
        for case in 0..cases() {
            let mut random = Random(case);
            let mut chunk: Vec<u8> = random.line();
            for _ in 0..random.below(8) {
                let at = random.below(chunk.len() + 1);
                chunk.insert(at, random.next() as u8);
            }
            chunk.truncate(random.below(chunk.len() + 1));
            let ctx = context(&known(case));
            held(&format, &ctx, &chunk);
            read(&uniqurl_formats::record::detect("log", &chunk, true), &ctx, &chunk);
        }
    }
}

#[test]
fn format_parser_never_panics() {
    #[rustfmt::skip]
    const PARTS: &[&str] = &[
        "%", "$", "{", "}", "%r", "%U", "%q", "%t", "%>s", "%{Host}i", "%v", "%p", "%H", "\"", "\\",
        "$request", "$uri", "$is_args", "$args", "${host}", "$request_uri", "[", "]", " ", "é", "^",
        "%^", "!200,304", "\n", "\\\"", "%{%d %b}t", "$time_local",
    ];
    for case in 0..cases() {
        let mut random = Random(case);
        let text: String = (0..random.below(8)).map(|_| random.one_of(PARTS)).collect();
        let Ok(format) = Format::parse(&format!("log:{text}")) else { continue };
        assert_eq!(format.name(), format!("log:{text}"));
        held(&format, &Context::default(), &random.line());
    }
}

/// The parts of inputs for the formats with named fields.
#[rustfmt::skip]
const TABLE_WORDS: &[&[u8]] = &[
    b"\n", b"\n", b"\r\n", b"\"", b"\"\"", b"\",\"", b",", b"\t", b" ", b"http://h/a", b"/p?q#f",
    b"*", b"CONNECT", b"<http://b/x>", b"<a href=\"http://h/?a&amp;b=&#x22;c",
    b" xmlns='http://n/'", b" xsi:schemaLocation=\"http://n/ http://n/x",
    b"\n<p>http://h/?a&#38;b&quot;", b"&amp;", b"&lt;", b";", b"='", b">",
    b"\nhttp:\\/\\/h\\/a\\u0026b", b"\\/", b"url", b"\nurl,x\n", b"\n\"x\",\"Url\"\n",
    b"\nx\tURL\n", b"\n#Fields: cs-uri-stem cs-host\n",
    b"\n#Fields: x-edge-location cs-method x-host-header s-port cs-uri-query cs-uri-stem\n",
    b"\n#Fields:\tcs-uri cs-uri-stem cs-uri-scheme cs(Host)\n",
    b"\n#Software: Microsoft Internet Information Services 10.0\n", b"\n#Software: x\n",
    b"\n\xEF\xBB\xBF#Fields: cs-uri-stem\n", b"\n#Fields: cs-uri\tcs-uri-query\ts-port\n",
    b"\nh.org/a\tb=c\t443\n", b"\n#Fields: cs-uri cs-method\n", b"\nh.org:8/a GET\n",
    b"\n/a%3fb h:8\n", b"\n/a%3fb h:8 /c\n", b"\n/a h: /c\n",
    b"\nx\tGET\th.org\t443\ta=%2541\t/%25\n", b"\n#", b"\n CDX N a\n", b"\n CDX a\n",
    b"\nCDX m a\n", b"\n,CDX,a,m,a\n", b"CDX", b"\nk 20140126200624 http://h/a - 200 - - - - - f\n",
    b"\nk 20140126200624 http://h/a - 200 - - - 1 2 f 3 4 g\n", b"\n@alias http://h/a http://h/b\n",
    b"\nk 2014 {\"url\":\"http://h/a\"}\n", b"\nh2 2015 \"GET http://h/\\x22 HTTP/1.1\" \"-\"\n",
    b"\nhost:x\treq:GET /\\x22 HTTP/1.1", b"\treq:GET ", b"\tvhost:h.org:8\tserver_name:i",
    b"\nscheme:https\thttp_host:h", b"\nuri:/a\tquery:", b"\tmethod:CONNECT\tpath:h:8", b"\"- ",
    b"\n{\"url\":\"", b"\n{\"a\":{\"url\":\"http://h/\\x22\\u0041\",\"b\":null}}\n",
    b"\n{\"url\":\"x\\n\",\"url\":\"http://h/\"}\n", b"\n k 1 {\"url\":\"", b"\"}\n",
    b"\", \"a\":{\"url\":12},\"url\":null}\n", b"\\", b"\\\"", b"\\x41", b"\\u00e9", b"\\xff",
    b"\xff", b"%41%", b"-", b"\xEF\xBB\xBF", b"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];

#[rustfmt::skip]
const NAMED: [&str; 13] = [
    "csv:url", "csv:2", "tsv:url", "tsv:2", "cdx", "cdxj", "json:/url", "json:/a/url", "w3c",
    "cloudfront", "elb", "ltsv", "text",
];

#[test]
fn every_format_with_named_fields_agrees_with_the_oracle() {
    for name in NAMED {
        let format = Format::parse(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut seen = BTreeSet::new();
        for case in 0..cases() / 4 {
            let mut random = Random(case);
            let input = random.table(16);
            // The JSON reader may accept or reject control characters in strings, so tabs are left
            // out.
            let is_json = name.starts_with("json:") || name == "cdxj";
            let input: Vec<u8> =
                input.into_iter().filter(|byte| !is_json || *byte != b'\t').collect();
            // The pipeline removes a byte-order mark at the start of an input.
            let input = input.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&input);
            let known = known(case);
            let found = held(&format, &context(&known), input);
            let expected = record_oracle::tables::read_all(name, &known, input);
            assert_eq!(found, expected, "{name}, case {case}: {}", input.escape_ascii());
            seen.extend(found.iter().map(Holds::kind));
        }
        all_are_reached(name, &seen);
    }
}

/// The content of an input that is read in chunks of some lines each.
pub(crate) fn read_in_chunks(
    format: &Format,
    ctx: &Context,
    input: &[u8],
    random: &mut Random,
) -> Vec<Holds> {
    let mut format = format.clone();
    let mut found = Vec::new();
    let mut start = 0;
    let mut end = 0;
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        if random.below(2) == 0 && end < input.len() {
            continue;
        }
        let lines = &input[start..end];
        let whole = if end == input.len() { lines.len() } else { format.whole(ctx, lines) };
        let chunk = &lines[..whole];
        found.extend(held(&format, ctx, chunk));
        if let Some(behind) = format.after(ctx, chunk) {
            format = behind;
        }
        start += whole;
    }
    found
}

#[test]
fn chunked_input_gives_the_same_records() {
    for name in ["csv:url", "tsv:url", "tsv:2", "cdx", "w3c", "cloudfront"] {
        let Ok(format) = Format::parse(name) else { continue };
        for case in 0..cases() / 2 {
            let mut random = Random(case);
            let input = random.table(16);
            // Some are shorter than a header.
            let max_record = [8, 30, 50, 120][random.below(4)];
            let ctx = Context { max_record, ..context(&known(case)) };
            let whole = held(&format, &ctx, &input);
            let cut = read_in_chunks(&format, &ctx, &input, &mut random);
            assert_eq!(cut, whole, "{name}, case {case}: {}", input.escape_ascii());
        }
    }
}

#[test]
fn format_name_round_trips() {
    for name in ["lines", "combined", "ws:3", "tsv:url", "w3c", "log:%h \"%r\"", "cdx"] {
        let format = Format::parse(name).unwrap();
        assert_eq!(format.to_string().parse::<Format>(), Ok(format));
    }
}
