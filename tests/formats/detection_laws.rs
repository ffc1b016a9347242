//! `auto` never merges two URLs for want of a part: it reads all parts of a request, or nothing, and the format
//! that it advises reads all of them.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use uniqurl_formats::record::{Context, Format, FormatTable, Suggestion};

use super::cases::of_properties;
use super::record_oracle::Holds;
use super::records::held;

/// What tells one URL from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Request {
    host: &'static str,
    path: &'static str,
    query: &'static str,
}

fn request() -> impl Strategy<Value = Request> {
    let hosts = select(vec!["a.example", "b.example:8080", "www.shop.test"]);
    let paths = select(vec!["/", "/item", "/a.b/c"]);
    let queries = select(vec!["id=1", "id=2", "a=b&c=d"]);
    (hosts, paths, queries).prop_map(|(host, path, query)| Request { host, path, query })
}

/// Names that people give to the parts.
const HOSTS: [&str; 8] =
    ["host", "http_host", "vhost", "uri_host", "server_name", "domain", "cs-host", "h"];
const PATHS: [&str; 8] =
    ["path", "url", "uri", "uri_path", "request_uri", "cs-uri-stem", "requestUri", "page"];
const QUERIES: [&str; 8] =
    ["query", "args", "query_string", "request_query", "uri_query", "param", "cs-uri-query", "q"];

/// What else stands in such records.
const OTHERS: [(&str, &str); 8] = [
    ("client_ip", "192.0.2.7"),
    ("status", "200"),
    ("time", "2026-01-31T12:00:00Z"),
    ("bytes", "512"),
    ("user_agent", "Agent/1.0 (x; y)"),
    ("referer", "http://r.example/from"),
    ("node", "n1.example"),
    ("cookie", "s=1"),
];

/// How records are written.
#[derive(Debug, Clone, Copy)]
enum Layout {
    Json,
    Nested,
    Csv,
    Semicolons,
    NoHeader,
    Tsv,
    Words,
}

#[rustfmt::skip]
const LAYOUTS: [Layout; 7] = [
    Layout::Json, Layout::Nested, Layout::Csv, Layout::Semicolons, Layout::NoHeader, Layout::Tsv,
    Layout::Words,
];

/// The lines of records with these columns, in this order.
fn written(layout: Layout, names: &[&str], rows: &[Vec<String>]) -> String {
    let json = |row: &Vec<String>| {
        let member = |(name, value): (&&str, &String)| format!("{name:?}:{value:?}");
        format!("{{{}}}", names.iter().zip(row).map(member).collect::<Vec<_>>().join(","))
    };
    let cells = |separator: &str, row: &Vec<String>| {
        let cell = |value: &String| match value.contains(' ') {
            true => format!("\"{value}\""),
            false => value.clone(),
        };
        row.iter().map(cell).collect::<Vec<_>>().join(separator)
    };
    let line = |row: &Vec<String>| match layout {
        Layout::Json => json(row),
        Layout::Nested => format!("{{\"level\":\"info\",\"request\":{}}}", json(row)),
        Layout::Csv | Layout::NoHeader => cells(",", row),
        Layout::Semicolons => cells(";", row),
        Layout::Tsv => row.join("\t"),
        Layout::Words => cells(" ", row),
    };
    let header = match layout {
        Layout::Csv => names.join(",") + "\n",
        Layout::Semicolons => names.join(";") + "\n",
        Layout::Tsv => names.join("\t") + "\n",
        _ => String::new(),
    };
    header + &rows.iter().map(|row| line(row) + "\n").collect::<String>()
}

/// The URLs and targets that a format finds.
fn found(format: &Format, text: &str) -> BTreeSet<Vec<u8>> {
    let url = |found| match found {
        Holds::Url(url) | Holds::Target(url) | Holds::Joined(url, _) => Some(url),
        _ => None,
    };
    let found = held(format, &Context::default(), text.as_bytes());
    found.into_iter().filter_map(url).collect()
}

/// The number of distinct URLs that `auto` reads, and that the format which it advises reads. None of a format
/// that is not there, or if a warning names the field that is left out.
fn distinct(text: &str) -> (Option<usize>, Option<usize>) {
    let detected = FormatTable::shipped().detect("x", text.as_bytes(), true);
    let is_list = matches!(detected.format, Format::Lines | Format::Labelled(_));
    let is_told = is_list || detected.doubts.dropped_host.is_some();
    let read = (!is_told).then(|| found(&detected.format, text).len());
    let Some(Suggestion::Format { name, delimiter, .. }) = detected.doubts.suggestion else {
        return (read, None);
    };
    let format = Format::parse(&name).unwrap();
    let format = delimiter.and_then(|byte| format.with_delimiter(byte)).unwrap_or(format);
    let mut advised = found(&format, text);
    // A header may stand there, too.
    advised.retain(|url| url.contains(&b'/'));
    (read, Some(advised.len()))
}

/// Access logs with the host in several places.
const LOGS: [&str; 6] = [
    "HOST 192.0.2.7 - - [TIME] \"GET TARGET HTTP/1.1\" 200 5",
    "192.0.2.7 - HOST [TIME] \"GET TARGET HTTP/1.1\" 200 5 \"-\" \"Agent/1.0\"",
    "192.0.2.7 HOST - [TIME] \"GET TARGET HTTP/1.1\" 200 5 \"-\" \"Agent/1.0\" 0.1",
    "192.0.2.7 - - [TIME] \"GET TARGET HTTP/1.1\" 200 5 \"-\" \"Agent/1.0\" \"HOST\"",
    "192.0.2.7 - - [TIME] \"GET TARGET HTTP/1.1\" 200 5 \"-\" \"Agent/1.0\" rt=0.1 vhost=HOST",
    "192.0.2.7 - - [TIME] HOST \"GET TARGET HTTP/1.1\" 200 5 \"http://r.example/\" \"Agent/1.0\"",
];

#[test]
fn each_way_to_write_requests_is_read_or_advised() {
    let rows = ["a.example", "b.example"]
        .map(|host| ["GET", host, "/item", "id=1"].map(str::to_owned).to_vec());
    for layout in LAYOUTS {
        let text = written(layout, &["method", "host", "path", "query"], &rows);
        let (read, advised) = distinct(&text);
        assert_eq!(read.or(advised), Some(2), "{text}");
    }
}

proptest! {
    #![proptest_config(of_properties())]

    #[test]
    fn no_part_of_a_request_is_lost_in_silence(
        requests in prop::collection::vec(request(), 2..12),
        layout in select(&LAYOUTS[..]),
        (host, path, query) in (select(&HOSTS[..]), select(&PATHS[..]), select(&QUERIES[..])),
        has_query in any::<bool>(),
        others in prop::sample::subsequence(&OTHERS[..], 0..OTHERS.len()),
        places in prop::collection::vec(any::<Index>(), OTHERS.len()),
    ) {
        let mut names = vec!["method", host, path];
        names.extend(has_query.then_some(query));
        let column = |request: &Request| {
            let mut row = vec!["GET".to_owned(), request.host.to_owned()];
            match has_query {
                true => row.extend([request.path.to_owned(), request.query.to_owned()]),
                false => row.push(format!("{}?{}", request.path, request.query)),
            }
            row
        };
        let mut rows: Vec<Vec<String>> = requests.iter().map(column).collect();
        for ((name, value), place) in others.iter().zip(&places) {
            // Before the request or after it: without names, its parts stand together.
            let place = if place.index(2) == 0 { 0 } else { names.len() };
            names.insert(place, *name);
            rows.iter_mut().for_each(|row| row.insert(place, (*value).to_owned()));
        }
        let text = written(layout, &names, &rows);
        let all = requests.iter().collect::<BTreeSet<_>>().len();
        let (read, advised) = distinct(&text);
        prop_assert!(read.is_none_or(|read| read == all), "{read:?} of {all}\n{text}");
        prop_assert!(advised.is_none_or(|read| read == all), "{advised:?} of {all}\n{text}");
    }

    #[test]
    fn no_site_of_an_access_log_is_lost_in_silence(
        requests in prop::collection::vec(request(), 2..12),
        log in select(&LOGS[..]),
    ) {
        let line = |request: &Request| {
            let target = format!("{}?{}", request.path, request.query);
            let line = log.replace("HOST", request.host).replace("TARGET", &target);
            line.replace("TIME", "31/Jan/2026:12:00:00 +0000") + "\n"
        };
        let text: String = requests.iter().map(line).collect();
        let all = requests.iter().collect::<BTreeSet<_>>().len();
        // A host that never differs needs not be read.
        let hosts = requests.iter().map(|request| request.host).collect::<BTreeSet<_>>().len();
        let (read, advised) = distinct(&text);
        prop_assert!(read.is_none_or(|read| read == all), "{read:?} of {all}\n{text}");
        prop_assert!(advised.is_none_or(|read| read == all), "{advised:?} of {all}\n{text}");
        prop_assert!(read.or(advised).is_some() || hosts > 1, "{text}");
    }
}
