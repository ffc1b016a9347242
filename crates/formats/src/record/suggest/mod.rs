//! Finds a format for an input that was read as a list but hardly is one.
//!
//! In: the beginning of the input. Out: a [`Suggestion`], which the command turns into a hint. A format is
//! suggested only if it was tried and reads at least half of the first lines, and if it leaves no part of a
//! URL out, so no hint leads to URLs that nobody asked for.

mod members;
mod rows;
mod suggestion;

use self::members::of_json;
use self::rows::of_words;
pub(super) use self::rows::{columns_after, of_table};
pub use self::suggestion::{Finds, Suggestion};
use super::trial::{Found, Trial, most};
use super::value_kind::{ValueKind, is_url};
use super::{Format, FormatTable, NamedFormat};

/// Formats of logs that are tried first: those that `auto` may have found in too few lines.
const LOGS: [&str; 3] = ["vhost", "combined", "haproxy"];

/// What could read an input that begins with `head` and that `format`, `lines` or `target`, was chosen
/// for. None if nothing can or need.
pub fn suggest(format: &Format, head: &[u8]) -> Option<Suggestion> {
    let trial = Trial::of(head);
    match format {
        _ if trial.lines.is_empty() => return None,
        Format::Lines | Format::Labelled(_) | Format::Target => {}
        Format::Csv(_) | Format::Tsv(_) | Format::Json(_) => {
            let is_one = |found: Found<'_>| match found {
                Found::Url(url) => ValueKind::of(url) == ValueKind::HostPath,
                _ => false,
            };
            let are_most = trial.count_of(format, is_one) * 2 > trial.lines.len();
            let suggestion = || Suggestion::format(format.name().into_owned(), Finds::HostPaths);
            return are_most.then(suggestion);
        }
        _ => return None,
    }
    match trial.lines[0].trim_ascii_start() {
        [b'{', ..] => return of_json(head, &trial).or(Some(Suggestion::NoList)),
        // Most lines of markup hold no URL.
        [b'<', b'!' | b'?' | b'/' | b'a'..=b'z' | b'A'..=b'Z', ..] => {
            let text = || Suggestion::format("text".to_owned(), Finds::Urls);
            return Some(if trial.found("text") > 0 { text() } else { Suggestion::NoList });
        }
        _ => {}
    }
    if let Some((suggestion, _)) = columns_after(&trial, *format == Format::Target) {
        return Some(suggestion);
    }
    let is_item =
        |line: &&&[u8]| is_url(line) || (*format == Format::Target && line.starts_with(b"/"));
    // Half of the lines are URLs, so it is a list with some odd lines in it.
    if trial.lines.iter().filter(is_item).count() * 2 >= trial.lines.len() {
        return None;
    }
    let mut tables =
        [b'\t', b',', b';', b'|'].into_iter().filter_map(|byte| of_table(&trial, byte));
    let table = tables.next();
    // An entry knows more than the values show, unless it finds less than they do: then it fits by chance.
    let least = match &table {
        Some(Suggestion::Format { name, delimiter, .. }) => trial.distinct(name, *delimiter),
        _ => 0,
    };
    let entries = FormatTable::shipped().entries().filter(|entry| entry.is_suggested);
    let names = entries.map(|entry: &NamedFormat| entry.name.clone());
    let mut named = LOGS.map(str::to_owned).into_iter().chain(names);
    let is_it = |name: &String| trial.reads(name) && trial.distinct(name, None) >= least;
    if let Some(name) = named.find(is_it) {
        return Some(Suggestion::format(name, Finds::Urls));
    }
    if table.is_some() {
        return table;
    }
    if let Some(words) = of_words(&trial) {
        return Some(words);
    }
    if trial.reads("text") {
        return Some(Suggestion::format("text".to_owned(), Finds::Urls));
    }
    let are_words =
        most(&trial.lines, |line| line.trim_ascii().iter().any(u8::is_ascii_whitespace));
    are_words.then_some(Suggestion::Words)
}

/// What could read a record that a format with JSON pointers rejected.
pub fn suggest_members(record: &[u8]) -> Option<Suggestion> {
    of_json(record, &Trial::of(record))
}

#[cfg(test)]
mod tests {
    use super::super::trial::LOOKED;
    use super::*;

    fn suggested(text: &str) -> Option<Suggestion> {
        let format = super::super::detect("x", text.as_bytes(), true);
        suggest(&format, text.as_bytes())
    }

    fn urls(name: &str) -> Option<Suggestion> {
        Some(Suggestion::format(name.to_owned(), Finds::Urls))
    }

    fn columns(name: &str) -> Option<Suggestion> {
        Some(Suggestion::format(name.to_owned(), Finds::Columns))
    }

    fn delimited(name: &str, delimiter: u8) -> Option<Suggestion> {
        let (name, delimiter) = (name.to_owned(), Some(delimiter));
        Some(Suggestion::Format { name, delimiter, finds: Finds::Columns })
    }

    fn host_paths(name: &str) -> Option<Suggestion> {
        Some(Suggestion::format(name.to_owned(), Finds::HostPaths))
    }

    #[test]
    fn list_of_urls_needs_no_suggestion() {
        for text in [
            "",
            "http://h/\nhttp://h/a b\nhttp://h/c\n",
            "http://h/a,1.html\nhttp://h/b,2.html\n",
            "http://h/a;v=1\nhttp://h/b;v=2\n",
            "http://h/a b c\nhttp://h/d\n",
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
    fn a_first_column_is_read_only_if_that_can_cut_no_url() {
        for (text, name) in [
            ("http://h/a 200\nhttp://h/b 404\n", "ws:1"),
            ("http://h/a [200]\nhttp://h/b [404]\n", "ws:1"),
            ("http://h/a # seen 3 times\nhttp://h/b # new\n", "ws:1"),
            ("http://h/a 200 text/html \"A b\"\nhttp://h/b 404 - -\n", "ws:1"),
            ("/a 200\n/b 404\n", "ws:1"),
            ("http://h/a\t12\nhttp://h/b\t3\n", "tsv:1"),
            ("/a\t12\n/b\t3\n", "tsv:target=1"),
        ] {
            let format = super::super::detect("x", text.as_bytes(), true);
            assert_eq!(format.name(), name, "{text}");
        }
        // The words may be those of a name of a file, and then two URLs would become one.
        for (text, suggestion) in [
            ("http://h/My file.pdf\nhttp://h/My other.pdf\n", columns("ws:1")),
            ("http://h/Page 1 of 2\nhttp://h/Page 2 of 2\n", columns("ws:1")),
            ("http://h/a\tx\nhttp://h/b\ty\n", columns("tsv:1")),
            ("http://h/a,200\nhttp://h/b,404\n", columns("csv:1")),
            ("http://h/a,10%,OK\nhttp://h/b,7%,en-US\n", columns("csv:1")),
            ("/a,12\n/b,3\n", columns("csv:target=1")),
            ("http://h/a;200;Page 1\nhttp://h/b;404;Page 2\n", delimited("csv:1", b';')),
            ("http://h/a|200\nhttp://h/b|404\n", delimited("csv:1", b'|')),
            ("Page,Code\nhttp://h/a,200\nhttp://h/b,404\n", columns("csv:1")),
        ] {
            let format = super::super::detect("x", text.as_bytes(), true);
            assert!(matches!(format, Format::Lines | Format::Target), "{text}");
            assert_eq!(suggested(text), suggestion, "{text}");
        }
    }

    #[test]
    fn columns_are_told_by_their_values() {
        for (text, name) in [
            ("id,page\n1,http://h/a\n2,http://h/b\n", "csv:2"),
            ("   12 http://h/a\n    3 http://h/b\n", "ws:2"),
            ("12\thttp://h/a\n3\thttp://h/b\n", "tsv:2"),
            ("/a\tGET\th.example\n/b\tGET\ti.example\n", "tsv:host=3,target=1"),
            ("7,h.example,/a\n8,i.example,/b\n", "csv:host=2,target=3"),
            ("h,p,q\na.example,/x,id=1\nb.example,/x,id=2\n", "csv:host=h,path=p,query=q"),
            (
                "host,path,query\na.example,/x,id=1\na.example,/x,-\n",
                "csv:host=host,path=path,query=query",
            ),
            // The page before is no URL that was asked for.
            ("a.example\t/x\thttp://r/\nb.example\t/x\thttp://r/\n", "tsv:host=1,target=2"),
        ] {
            assert_eq!(suggested(text), columns(name), "{text}");
        }
        let zeek = "#fields\tts\thost\turi\treferrer\n1\ta.example\t/x\thttp://r/\n\
            2\ta.example\t/y\thttp://r/\n";
        assert_eq!(suggested(zeek), columns("tsv:host=2,target=3"));
        let bare = "1\tC\t10.1.1.1\t5\t10.2.2.2\t80\t1\tGET\ta.example\t/x\thttp://r/\n";
        assert_eq!(suggested(bare), urls("zeek-http"));
        let bars = "1|http://h/a\n2|http://h/b\n";
        assert_eq!(suggested(bars), delimited("csv:2", b'|'));
        let no_scheme = "1,url,\"a.example/x?1\"\n2,url,\"b.example/y\"\n";
        assert_eq!(suggested(no_scheme), host_paths("csv:3"));
        assert_eq!(suggested("url,n\na.example/x,1\nb.example/y,2\n"), host_paths("csv:url"));
    }

    #[test]
    fn logs_are_tried() {
        let uvicorn = "INFO:     10.1.1.1:80 - \"GET /a HTTP/1.1\" 200 OK\n\
            WARNING:  10.1.1.1:81 - \"GET /b HTTP/1.1\" 404 Not Found\nINFO:     Started\n";
        assert_eq!(suggested(uvicorn), urls("uvicorn"));
        // A client is no host, and a path is no target without a method.
        let client = "10.1.1.1 - - [x] \"GET /a HTTP/1.1\" 200 5\n";
        assert_eq!(suggested(client), urls("combined"));
        for text in [
            "Jan 1 script /usr/bin/a started\nJan 2 script /usr/bin/b started\n",
            "1 POST /a: no user\n2 POST /b: no user\n",
            "[x] client 10.1.1.1: no file, referer: http://r.example/p\n",
            "one two\nthree four\n",
        ] {
            assert_eq!(suggested(text), Some(Suggestion::Words), "{text}");
        }
        let class = "b o.t.AccessFilter 10.1.1.1 POST /a took 8\n";
        assert_eq!(suggested(class), columns("ws:5"));
        for (text, name) in [
            (
                "x shop.example 10.1.1.1 GET /a 200 ok\nx blog.example 10.1.1.2 GET /b 404 -\n",
                "log:$x $host $x $request_method $request_uri $x",
            ),
            // `ws:3` would join the paths of both sites.
            (
                "GET h.example /a 200\nGET i.example /a 200\n",
                "log:$request_method $host $request_uri $x",
            ),
            (
                "1:2 GET /a b=1 80 - UA\n1:3 GET /c - 80 - UA\n",
                "log:$x $request_method $uri $args $x",
            ),
            (
                "1 10.1.1.1 a.example /p?v=1 215 http://r.example/ \"UA\" GET\n",
                "log:$x $x $host $request_uri $x",
            ),
        ] {
            assert_eq!(suggested(text), columns(name), "{text}");
        }
        let text = "see http://h/a for\nmore than http://h/b says\n";
        assert_eq!(suggested(text), urls("text"));
    }

    #[test]
    fn markup_is_no_list() {
        let xml = "<?xml version='1.0'?>\n<items>\n<url>http://h/a</url>\n<x/>\n<y/>\n</items>\n";
        assert_eq!(suggested(xml), urls("text"));
        assert_eq!(suggested("<a b=\"c\" /> d\n<a b=\"c\" /> e\n"), Some(Suggestion::NoList));
    }

    #[test]
    fn members_with_urls_are_named() {
        for (line, name) in [
            (r#"{"a":1,"doc":{"page_url":"http://h/"}}"#, "json:/doc/page_url"),
            (r#"{"x":"http://h/1","m":{"url":"http://h/2"}}"#, "json:/m/url"),
            (r#"{"referer":"http://h/","a/b":{"~c":"http://h/"}}"#, "json:/a~1b/~0c"),
            (
                r#"{"ReqProto":"https","VHost":"h.example","ReqPath":"/a?b","ip":"1.2.3.4"}"#,
                "json:scheme=/ReqProto,host=/VHost,target=/ReqPath",
            ),
            (r#"{"r":{"path":"/a"},"host":"1.2.3.4"}"#, "json:host=/host,target=/r/path"),
            (
                r#"{"rHost":"a.example","rPath":"/p","queryStr":"k=1"}"#,
                "json:host=/rHost,path=/rPath,query=/queryStr",
            ),
            (
                r#"{"p":{"requestUri":"/s?v","requestQuery":"v","host":"a.example"}}"#,
                "json:host=/p/host,target=/p/requestUri",
            ),
            // The machine that wrote the records is not their site.
            (
                r#"{"hostname":"cp1.example","u_host":"a.example","u_path":"/w","u_query":"?t=1"}"#,
                "json:host=/u_host,path=/u_path,query=/u_query",
            ),
        ] {
            assert_eq!(suggested(&format!("{line}\n{line}\n")), urls(name), "{line}");
        }
        let no_scheme = r#"{"httpRequest":{"requestUrl":"a.example/x?q=1"}}"#;
        assert_eq!(suggested(no_scheme), host_paths("json:/httpRequest/requestUrl"));
        assert_eq!(suggested(r#"{"a":"b","referrer":"http://h/"}"#), Some(Suggestion::NoList));
        assert_eq!(suggested("{\"a\":\"http://h/\"}\n{}\n{}\n"), Some(Suggestion::NoList));
    }

    #[test]
    fn no_pointer_leads_into_an_array() {
        for (text, expected) in [
            (r#"{"links":["http://h/1","http://h/2"]}"#, Some(Suggestion::NoList)),
            (r#"{"links":["http://h/1"],"x":"http://h/2"}"#, Some(Suggestion::NoList)),
            (r#"{"a":[{"url":"http://h/1"}],"c":{"url":"http://h/F"}}"#, Some(Suggestion::NoList)),
            ("{\"log\": {\n \"v\":1, \"e\":[{\"r\":{\"url\":\"http://h/", Some(Suggestion::NoList)),
            (r#"{"images":["http://h/1"],"p_url":"http://h/2"}"#, urls("json:/p_url")),
            // Values that are not one a line: they have one name alone.
            ("{\n\"uri\": \"http://h/1\"\n}\n{\n\"uri\": \"http://h/2\"\n}\n", urls("text")),
            (r#"{"url":"http://h/1"}{"url":"http://h/2"}"#, urls("text")),
            ("{\"uri\":\"http://h/1\"\n,\"r\":\"http://h/2\"}\n", Some(Suggestion::NoList)),
        ] {
            assert_eq!(suggested(text), expected, "{text}");
        }
    }

    #[test]
    fn suggestions_take_linear_time() {
        let rows = |length: usize| format!("{}\n", "1,".repeat(length)).repeat(3);
        let inputs: [fn(usize) -> String; 6] = [
            |length| format!("x{}", "a,".repeat(length)),
            |length| format!("mailto:{}", "a@h.example,".repeat(length)),
            |length| format!("{}10.0.0.9 h.example GET /a", "a ".repeat(length)),
            |length| format!("GET /a {}", "10.0.0.9 h.example ".repeat(length)),
            |length| "a:b\t".repeat(length),
            |length| {
                let members: Vec<_> =
                    (0..length).map(|n| format!("\"{n}\":\"http://h/\"")).collect();
                format!("{{{}}}", members.join(","))
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
}
