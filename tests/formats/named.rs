//! The formats with a name: `auto` finds each from its sample and takes it for no other, and its
//! sample gives the expected URLs.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::record_oracle::Holds;
use crate::records::held;
use uniqurl::{Normalizer, Profile};
use uniqurl_formats::record::{
    Context, EnvelopeChoice, Finds, Format, FormatTable, NamedFormat, Suggestion, detect,
};

/// A name, and a function that puts a line into an envelope.
type Wrapper = (&'static str, fn(&str) -> String);

/// The wrappers in which `auto` finds a format as it does without. All but the first are envelopes.
const WRAPPERS: [Wrapper; 6] = [
    ("", |line| line.to_owned()),
    ("docker", |line| {
        let text = serde_json::to_string(&format!("{line}\n")).unwrap();
        format!(r#"{{"log":{text},"stream":"stdout","time":"2026-01-01T00:00:00.1Z"}}"#)
    }),
    ("cri", |line| format!("2026-01-01T00:00:00.123456789+01:00 stdout F {line}")),
    ("syslog", |line| format!("<190>Jan  1 00:00:00 web1 app[7]: {line}")),
    ("syslog", |line| format!("<190>1 2026-01-01T00:00:00.1Z web1 app 7 - - {line}")),
    ("journald", |line| {
        let text = serde_json::to_string(line).unwrap();
        format!(r#"{{"__REALTIME_TIMESTAMP":"1767225600000000","PRIORITY":"6","MESSAGE":{text}}}"#)
    }),
];

/// Whether a record of the format may take several lines.
fn spans_lines(entry: &NamedFormat) -> bool {
    matches!(entry.format(), Format::Sitemap)
}

/// The entries of formats whose records are lines, or of lines.
fn entries_of_text() -> impl Iterator<Item = &'static NamedFormat> {
    let entries = FormatTable::shipped().entries();
    entries.filter(|entry| !matches!(entry.format(), Format::Table(_)))
}

/// The name of the format of an entry in an envelope.
fn name_in(entry: &NamedFormat, envelope: &str) -> String {
    let format = entry.format();
    let name = format.name();
    match envelope {
        "" => name.into_owned(),
        // Its reader finds the fields after a header by itself.
        "syslog" | "cri" if *format == Format::Haproxy => name.into_owned(),
        _ => format!("{name} in {envelope}"),
    }
}

/// The number of lines from which a format is told.
const LENGTHS: [usize; 3] = [1, 2, 1000];

/// An input of so many records. Header lines come once.
fn input(entry: &NamedFormat, wrapper: Wrapper, length: usize) -> String {
    if spans_lines(entry) {
        return entry.sample.repeat(length);
    }
    let (headers, lines): (Vec<_>, Vec<_>) =
        entry.sample.lines().partition(|line| line.starts_with('#'));
    let lines = lines.iter().cycle().take(length).copied();
    headers.into_iter().chain(lines).map(|line| (wrapper.1)(line) + "\n").collect()
}

/// The canonical URLs of an input under `crawl`, in order.
fn urls(entry: &NamedFormat, text: &str) -> Vec<String> {
    let normalizer = Normalizer::new(Profile::Crawl);
    let canonical = |found| {
        let mut out = Vec::new();
        match found {
            Holds::Url(url) | Holds::Joined(url, _) => normalizer.append(&url, &mut out).ok()?,
            Holds::Target(url) => normalizer.for_targets().append(&url, &mut out).ok()?,
            _ => return None,
        }
        String::from_utf8(out).ok()
    };
    let found = held(entry.format(), &Context::default(), text.as_bytes());
    found.into_iter().filter_map(canonical).collect()
}

#[test]
fn each_sample_gives_the_urls_that_its_entry_promises() {
    for entry in entries_of_text() {
        assert!(!entry.sample.is_empty() && !entry.urls.is_empty(), "{} has no sample", entry.name);
        assert_eq!(urls(entry, &entry.sample), entry.urls, "{}", entry.name);
    }
}

/// The name of the format that `auto` finds.
fn detected(text: &str) -> String {
    let found = FormatTable::shipped().detect_in(EnvelopeChoice::Auto, "x", text.as_bytes(), true);
    found.format.name().into_owned()
}

#[test]
fn auto_finds_each_format_and_takes_it_for_no_other() {
    let mut matrix: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut wrong = String::new();
    for entry in entries_of_text() {
        for wrapper in WRAPPERS {
            if !wrapper.0.is_empty() && (spans_lines(entry) || !entry.format().fits_envelopes()) {
                continue;
            }
            // Entries with the same layout have the same reader.
            let expected = match entry.is_detected() {
                true => name_in(entry, wrapper.0),
                false => "lines".to_owned(),
            };
            for length in LENGTHS {
                let text = input(entry, wrapper, length);
                let found = detected(&text);
                *matrix.entry((entry.name.clone(), found.clone())).or_default() += 1;
                if found != expected {
                    writeln!(wrong, "{} in {}, {length}: {found}", entry.name, wrapper.0).unwrap();
                }
            }
            // Each line by itself.
            let is_whole = entry.sample.starts_with('#') || spans_lines(entry);
            for line in entry.sample.lines().filter(|_| !is_whole) {
                let found = detected(&(wrapper.1)(line));
                if found != expected {
                    writeln!(wrong, "{} in {}: {found}: {line}", entry.name, wrapper.0).unwrap();
                }
            }
        }
    }
    println!("{:28}{:40}times", "format", "found as");
    for ((name, found), times) in matrix {
        println!("{name:28}{found:40}{times}");
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn a_new_format_is_one_entry() {
    let entry = r#"
        [[format]]
        name = "iranian-cdn"
        description = "A cache between bars"
        log = '$time_iso8601|$remote_addr|$request_method|$scheme|$host|$request_uri|$status|$bytes_sent'
        sample = '''
2024-01-01T00:00:00Z|192.0.2.1|GET|https|a.example|/x?q=1|200|5
2024-01-01T00:00:01Z|192.0.2.1|GET|http|b.example|/x?q=1|404|5
'''
        urls = ["https://a.example/x?q=1", "http://b.example/x?q=1"]
    "#;
    let table = FormatTable::shipped().with_file(entry).unwrap();
    let own = table.find("iranian-cdn").unwrap();
    assert_eq!(urls(own, &own.sample), own.urls);
    for length in LENGTHS {
        let text = input(own, WRAPPERS[0], length);
        assert_eq!(table.detect("x", text.as_bytes(), true).format, *own.format());
    }
    for other in entries_of_text() {
        let text = input(other, WRAPPERS[0], 10);
        let found = table.detect("x", text.as_bytes(), true).format;
        assert_eq!(found, detect("x", text.as_bytes(), true), "{}", other.name);
    }
}

#[test]
fn own_formats_are_tried_before_any_guess() {
    for (layout, line, guess) in [
        ("$request_uri $host $status", "/a h.example 200", "target"),
        ("!$host $request_uri", "!h.example /a", "lines"),
        ("# $host $request_uri", "# h.example /a", "lines"),
        ("$host $request_uri x,url,x", "h.example /a x,url,x", "lines"),
        ("$host $request_uri a\turl", "h.example /a a\turl", "lines"),
    ] {
        let layout = layout.replace('\t', r"\t");
        let file = format!("[[format]]\nname = 'own'\ndescription = 'd'\nlog = '{layout}'\n");
        let table = FormatTable::shipped().with_file(&file).unwrap();
        let text = format!("{line}\n{line}\n{line}\n");
        assert_eq!(detect("x", text.as_bytes(), true).name(), guess, "{line}");
        assert_eq!(table.detect("x", text.as_bytes(), true).format.name(), "own", "{line}");
        // A second file adds to the first.
        let more = "[[format]]\nname = 'more'\ndescription = 'd'\nreader = 'ws:9'\n";
        let table = table.with_file(more).unwrap();
        assert_eq!(table.detect("x", text.as_bytes(), true).format.name(), "own", "{line}");
    }
}

/// What the format of an input leaves out: it is warned of, or the format that reads it, too, is named.
fn left_out(text: &str) -> Option<String> {
    let doubts = FormatTable::shipped().detect("x", text.as_bytes(), true).doubts;
    match doubts.suggestion {
        Some(Suggestion::Format { finds: Finds::LeftOut(place), .. }) => Some(place),
        _ => doubts.dropped_host,
    }
}

#[test]
fn a_host_that_the_format_drops_is_named() {
    let line = |host: &str, before: &str, after: &str| {
        let time = "[17/May/2015:10:05:03 +0000]";
        format!("{before}192.0.2.1 - - {time} \"GET /x HTTP/1.1\" 200 5{after}\n")
            .replace("HOST", host)
    };
    let dropped = |before: &str, after: &str| {
        let text = ["a.test", "b.test", "c.test"].map(|host| line(host, before, after)).concat();
        left_out(&text)
    };
    assert_eq!(dropped("", r#" "-" "UA" "HOST""#).as_deref(), Some("field 10"));
    assert_eq!(dropped("", r#" "-" "UA" - HOST:443 0.1"#).as_deref(), Some("field 11"));
    assert_eq!(dropped("192.0.2.9 HOST ", "").as_deref(), Some("field 2"));
    assert_eq!(dropped("", r#" "-" "UA" rt=0.1 vhost="HOST""#).as_deref(), Some("field 11"));
    assert_eq!(dropped("", r#" "-" "UA" site:HOST"#).as_deref(), Some("field 10"));
    let ident = ["a.test", "b.test"].map(|host| {
        format!("192.0.2.1 {host} - [17/May/2015:10:05:03 +0000] \"GET /x HTTP/1.1\" 200 5 0.1\n")
    });
    assert_eq!(left_out(&ident.concat()).as_deref(), Some("field 2"));
    let user = ["a.test", "b.test"].map(|host| {
        format!("192.0.2.1 - {host} [17/May/2015:10:05:03 +0000] \"GET /x HTTP/1.1\" 200 5 0.1\n")
    });
    assert_eq!(left_out(&user.concat()).as_deref(), Some("field 3"));
    assert_eq!(left_out(&user.concat().replace(".test", ".doe")), None);
    // The same in all lines, a file, an agent, the machine that sent a message, the client.
    for (before, after) in [
        ("", r#" "-" "UA" "h.test""#),
        ("", r#" "-" "UA" "HOST.html""#),
        ("", r#" "-" "HOST of UA""#),
        ("", r#" "-" "UA" upstream=HOST"#),
        ("", r#" "https://HOST" "UA""#),
        ("Jan  1 00:00:00 HOST nginx: ", ""),
        ("HOST ", ""),
    ] {
        assert_eq!(dropped(before, after), None, "{before}{after}");
    }
    let json = |name: &str| {
        let member = |host: &str| format!("{{\"url\":\"/x\",\"{name}\":\"{host}\"}}\n");
        let text = ["a.test", "b.test"].map(member).concat();
        (detect("x", text.as_bytes(), true).name().into_owned(), left_out(&text))
    };
    assert_eq!(json("tenant"), ("lines".into(), None));
    assert_eq!(json("client_host"), ("json:target=/url".into(), None));
    assert_eq!(json("vhost"), ("json:host=/vhost,target=/url".into(), None));
    // nginx-json knows where a host may be, and no record has one there.
    let nginx = |name: &str| {
        let line = |host: &str| {
            format!(
                "{{\"request\":\"GET /x HTTP/1.1\",\"{name}\":\"{host}\",\"zone\":\"{host}\"}}\n"
            )
        };
        let text = ["a.test", "b.test"].map(line).concat();
        left_out(&text)
    };
    assert_eq!(nginx("frontend"), Some("/frontend".into()));
    assert_eq!(nginx("host"), None);
    let nested = |before: &str, after: &str| {
        let object = |host: &str| format!("{{\"url\":\"/x\",{before}\"{host}\"{after}}}\n");
        let text = ["a.test", "b.test"].map(object).concat();
        detect("x", text.as_bytes(), true).name().into_owned()
    };
    let found = nested(r#""http/1":{"h":{"Host":"#, "}}");
    assert_eq!(found, "json:host=/http~11/h/Host,target=/url");
    for (before, after) in [
        (r#""user":{"domain":"#, "}"),
        (r#""kubernetes":{"host":"#, "}"),
        (r#""module":{"name":"#, "}"),
        (r#""a":{"b":{"c":{"d":{"host":"#, "}}}}"),
    ] {
        assert_eq!(nested(before, after), "json:target=/url", "{before}");
    }
    for (line, name) in [
        (r#"{"host":"a.test","path":"/x","status":200}"#, "json:host=/host,target=/path"),
        (r#"{"host":"a.test","path":"/var/log/x"}"#, "lines"),
        (r#"{"path":"/x","status":200}"#, "lines"),
        // A query in a member of its own: without it, two URLs would be one.
        (
            r#"{"vhost":"a.test","path":"/x","request_query":"id=1","status":200}"#,
            "json:host=/vhost,path=/path,query=/request_query",
        ),
        (
            r#"{"host":"a.test","url":"/x","param":"","method":"GET"}"#,
            "json:host=/host,path=/url,query=/param",
        ),
        (r#"{"url":"/x","args":"id=1"}"#, "json:path=/url,query=/args"),
        (r#"{"url":"/x","q":"?id=1"}"#, "json:path=/url,query=/q"),
        (r#"{"url":"/x","c":"id=1"}"#, "json:target=/url"),
        (r#"{"url":"/x?a","args":"a"}"#, "json:target=/url"),
        (r#"{"url":"http://h/x","query":"shoes"}"#, "json:/url"),
        // OpenTelemetry names its attributes as the Elastic Common Schema does, but for the host.
        (
            r#"{"url.scheme":"https","url.path":"/x","url.query":"q","server.address":"a.test"}"#,
            "otel-http",
        ),
        (r#"{"url.domain":"a.test","url.path":"/x","server.address":"192.0.2.1"}"#, "ecs-parts"),
        (r#"{"url.path":"/x","url.query":"q"}"#, "ecs-parts"),
        // Columns of IIS have the names of CloudFront's, but its paths are decoded.
        (r#"{"cs-uri-stem":"/x","cs-uri-query":"q","cs-host":"a.test"}"#, "lines"),
    ] {
        assert_eq!(detect("x", line.as_bytes(), true).name(), name, "{line}");
    }
}

/// `docs/formats.md` lists the table.
#[test]
fn the_documentation_lists_each_format() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/formats.md");
    let mut table =
        String::from("| name | also | written by | `auto` | layout |\n|---|---|---|---|---|\n");
    for entry in FormatTable::shipped().entries() {
        let layout = ["log", "json", "tsv", "reader"].into_iter().find(|key| {
            entry.source.lines().any(|line| {
                line.starts_with(&format!("{key} =")) || line.starts_with(&format!("{key}."))
            })
        });
        let layout = match layout {
            Some("log") => "format string",
            Some("json") => "JSON",
            Some("tsv") => "columns between tabs",
            _ => "a reader of its own",
        };
        let aliases: Vec<String> = entry.aliases.iter().map(|name| format!("`{name}`")).collect();
        let auto = if entry.is_detected() { "yes" } else { "no" };
        writeln!(
            table,
            "| `{}` | {} | {} | {auto} | {layout} |",
            entry.name,
            aliases.join(", "),
            // Markdown reads `<loc>` as a tag.
            entry.description.replace('<', "\\<")
        )
        .unwrap();
    }
    let text = fs::read_to_string(&path).unwrap_or_default();
    assert!(text.contains(&table), "docs/formats.md lacks the table:\n\n{table}");
}
