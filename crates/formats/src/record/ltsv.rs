//! Reads `ltsv`, Labeled Tab-separated Values (<https://ltsv.org>): `host:192.0.2.7<TAB>req:GET /a HTTP/1.1`.
//!
//! A field is a label, a colon and a value. The labels are those that the site recommends, and the names of nginx's
//! variables, which logs use as well. `host` is the address of the client, as recommended; the site is in `vhost`.
//! Nothing escapes a value in LTSV itself, but nginx and Apache write `\xHH` and `\"` there as in all of their logs,
//! which is undone once. An empty value and a dash are no value.

use std::borrow::Cow;

use memchr::memchr;

use super::clf;
use super::columns::{Column, ColumnKey, ColumnName};
use super::escape::Escape;
use super::fields::{Fields, whole};
use super::json::Pointers;
use super::layout::Layout;
use super::line::Line;
use super::origin::is_absolute;
use super::part::{PartSet, RecordPart, Said, Value};
use super::request;
use super::{Context, Extracted};

/// The layout.
#[derive(Debug)]
pub(super) struct Ltsv;

/// The part for each label. If several labels give the same part, the first listed here with a value counts.
const LABELS: [(&str, RecordPart); 23] = [
    ("req", RecordPart::Request),
    ("request", RecordPart::Request),
    ("request_uri", RecordPart::Target),
    ("uri", RecordPart::Target),
    ("path", RecordPart::Target),
    ("query", RecordPart::Query),
    ("query_string", RecordPart::Query),
    ("args", RecordPart::Query),
    ("method", RecordPart::Method),
    ("request_method", RecordPart::Method),
    ("status", RecordPart::Status),
    ("vhost", RecordPart::Host),
    // The host that the client named. nginx's `server_name` is the same for all hosts of a server block.
    ("http_host", RecordPart::Host),
    ("server_name", RecordPart::Host),
    ("scheme", RecordPart::Scheme),
    ("host", RecordPart::Client),
    ("remote_addr", RecordPart::Client),
    ("time", RecordPart::Time),
    ("size", RecordPart::Bytes),
    ("reqtime", RecordPart::Seconds),
    ("referer", RecordPart::Referrer),
    ("ua", RecordPart::Agent),
    ("user_agent", RecordPart::Agent),
];

impl Layout for Ltsv {
    fn name(&self) -> Cow<'_, str> {
        "ltsv".into()
    }

    #[inline(always)]
    fn found(&self, ctx: &Context, line: Line<'_>, scratch: &mut Vec<u8>) -> Option<Extracted> {
        let values = Values::of(line.bytes);
        let mut said = Said::default();
        for part in [RecordPart::Method, RecordPart::Status, RecordPart::Host, RecordPart::Scheme] {
            values.get(part).into_iter().for_each(|value| said.set(part, unescaped(value)));
        }
        for (part, value) in values.source() {
            said.set(part, unescaped(value));
        }
        Some(said.found(ctx, self.parts(), line, scratch))
    }

    fn parts(&self) -> PartSet {
        clf::OF_COMBINED.with(RecordPart::Seconds)
    }

    fn fields<'a>(&self, line: &'a [u8], out: &mut Fields<'a>) {
        let values = Values::of(line);
        out.read_parts(|part, take| {
            let value = values.get(part).map(|value| match value {
                // The site's own example has the time in brackets, and nginx's variables have none.
                [b'[', time @ .., b']'] if part == RecordPart::Time => time,
                value => value,
            });
            value.into_iter().for_each(|value| take(unescaped(value).into_cow()));
        });
        // A method of its own comes before that of the request.
        let request = values.get(RecordPart::Request).and_then(request::method_text);
        if let Some(method) = request {
            out.set_escaped(RecordPart::Method, method, Escape::Backslash);
        }
        // ltsv.org has the duration under two labels: in seconds, and in microseconds.
        if out.numbers.duration.is_none() && out.want(RecordPart::Seconds) {
            out.numbers.duration = field(line, b"reqtime_microsec").and_then(whole);
        }
    }

    fn has_queries(&self) -> bool {
        true
    }

    /// Each field has a label, and there is a request or a target among them. A list of words with colons has
    /// neither.
    fn fits(&self, line: &[u8]) -> Option<bool> {
        let is_of_label = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
        let has_label = |field: &[u8]| {
            let colon = memchr(b':', field).unwrap_or(0);
            colon > 0 && field[..colon].iter().all(is_of_label)
        };
        let is_one = |(part, value): (RecordPart, &[u8])| match part {
            RecordPart::Request => request::split(value).is_some(),
            _ => value.starts_with(b"/") || is_absolute(value),
        };
        // Without a tab there is one field, which may be any word with a colon.
        let is_table = memchr(b'\t', line).is_some() && line.split(is_tab).all(has_label);
        Some(is_table && Values::of(line).source().next().is_some_and(is_one))
    }

    fn column(&self, name: &str) -> Result<Option<ColumnKey>, String> {
        Ok(Some(ColumnKey::Named(ColumnName::Header(name.into()))))
    }

    fn cells(
        &self,
        line: &[u8],
        columns: &[Column],
        _pointers: &Pointers,
        take: &mut dyn FnMut(Option<&[u8]>),
    ) {
        for column in columns {
            let value = label(column).and_then(|label| field(line, label)).map(unescaped);
            take(value.as_ref().map(Value::bytes));
        }
    }

    fn is_query(&self, column: &Column) -> bool {
        let is_it = |known: &str| label(column).is_some_and(|label| known.as_bytes() == label);
        LABELS.iter().any(|(known, part)| part.is_query() && is_it(known))
    }
}

/// The label of a column.
fn label(column: &Column) -> Option<&[u8]> {
    match &column.own {
        Some(ColumnKey::Named(ColumnName::Header(label))) => Some(label),
        _ => None,
    }
}

/// The values of a line, by label.
struct Values<'a>([&'a [u8]; LABELS.len()]);

impl<'a> Values<'a> {
    fn of(line: &'a [u8]) -> Self {
        let mut values = [&b""[..]; LABELS.len()];
        for (label, value) in line.split(is_tab).filter_map(split) {
            let place = LABELS.iter().position(|(known, _)| known.as_bytes() == label);
            // A dash must not keep out the value of the same label further on.
            if let Some(place) = place.filter(|place| values[*place].is_empty() && value != b"-") {
                values[place] = value;
            }
        }
        Self(values)
    }

    fn get(&self, part: RecordPart) -> Option<&'a [u8]> {
        let mut values = LABELS.iter().zip(&self.0);
        let found = values.find(|((_, other), value)| *other == part && !value.is_empty());
        found.map(|(_, value)| *value)
    }

    /// The parts that the URL is built from. The request is what the client sent; a target beside it may be
    /// decoded, or lack its query.
    fn source(&self) -> impl Iterator<Item = (RecordPart, &'a [u8])> + use<'a> {
        let (target, query) = (self.get(RecordPart::Target), self.get(RecordPart::Query));
        let parts = match (self.get(RecordPart::Request), target, query) {
            (Some(request), ..) => [Some((RecordPart::Request, request)), None],
            (None, Some(path), Some(query)) if !path.contains(&b'?') => {
                [Some((RecordPart::Path, path)), Some((RecordPart::Query, query))]
            }
            (None, target, _) => [target.map(|target| (RecordPart::Target, target)), None],
        };
        parts.into_iter().flatten()
    }
}

fn is_tab(byte: &u8) -> bool {
    *byte == b'\t'
}

/// The label and the value of a field.
fn split(field: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = memchr(b':', field)?;
    Some((&field[..colon], &field[colon + 1..]))
}

/// The value under a label.
fn field<'a>(line: &'a [u8], label: &[u8]) -> Option<&'a [u8]> {
    line.split(is_tab).filter_map(split).find(|(known, _)| *known == label).map(|(_, value)| value)
}

fn unescaped(value: &[u8]) -> Value<'_> {
    if !Escape::Backslash.is_in(value) {
        return Value::InLine(value);
    }
    let mut text = Vec::with_capacity(value.len());
    Escape::Backslash.undo(value, &mut text);
    Value::Elsewhere(text.into())
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::show;
    use super::super::{Context, FieldReader, Format, Measured, RecordPart};

    fn ltsv() -> Format {
        Format::parse("ltsv").unwrap()
    }

    fn url(line: &str) -> String {
        show(&ltsv(), &Context::default(), line.replace('|', "\t").as_bytes())
    }

    #[test]
    fn host_is_the_client_and_vhost_the_site() {
        let request = "host:192.0.2.7|req:GET /a?b HTTP/1.1";
        assert_eq!(url(request), "target /a?b");
        assert_eq!(url(&format!("{request}|vhost:h.example")), "joined 16 http://h.example/a?b");
        assert_eq!(url(&format!("{request}|vhost:-|http_host:i")), "joined 8 http://i/a?b");
        assert_eq!(url(&format!("server_name:s|http_host:i|{request}")), "joined 8 http://i/a?b");
        assert_eq!(url(&format!("{request}|scheme:https|vhost:h")), "joined 9 https://h/a?b");
    }

    #[test]
    fn request_counts_before_a_target_and_a_target_gets_its_query() {
        assert_eq!(url("uri:/a|req:GET /a?b HTTP/1.1"), "target /a?b");
        assert_eq!(url("req:-|uri:/a"), "target /a");
        assert_eq!(url("path:/a|query:b=c"), "target /a?b=c");
        assert_eq!(url("path:/a|query:?b=c"), "target /a?b=c");
        assert_eq!(url("request_uri:/a?b|args:b"), "target /a?b");
        assert_eq!(url("path:/a|query:-"), "target /a");
        assert_eq!(url("method:CONNECT|uri:h:443"), "authority-form 0");
        assert_eq!(url("status:200|size:5"), "no-field 0");
        assert_eq!(url("req:\\x16\\x03|status:400"), "log-syntax 0");
    }

    #[test]
    fn escapes_of_the_logger_are_undone_once() {
        assert_eq!(url(r"req:GET /\x22\x5Cx41 HTTP/1.1"), r#"target /"\x41"#);
        assert_eq!(url(r"path:/a|query:b\x22"), "target /a?b\"");
    }

    #[test]
    fn each_field_has_a_label_and_one_is_a_request_or_a_target() {
        let fits = |line: &str| ltsv().fits(line.replace('|', "\t").as_bytes()) == Some(true);
        assert!(fits("host:a|req:GET / HTTP/1.1") && fits("uri:/a|x-y.z_1:"));
        assert!(fits("time:[10/Oct/2000:13:55:36 -0700]|path:http://h/"));
        for line in
            ["req:GET / HTTP/1.1", "host:a|req:-", "a|req:GET / HTTP/1.1", "a:1|b:/2", "a b:|uri:/"]
        {
            assert!(!fits(line), "{line}");
        }
    }

    #[test]
    fn fields_are_read_by_their_labels() {
        let mut reader = FieldReader::new(&ltsv(), ltsv().parts());
        let mut read = |line: &str| {
            let line = line.replace('|', "\t").into_bytes();
            let fields = reader.read(&line).unwrap();
            let text = |part| String::from_utf8(fields.text(part)?.to_vec()).ok();
            (fields.numbers, [RecordPart::Method, RecordPart::Agent].map(text))
        };
        let numbers = Measured {
            status: Some(200),
            bytes: Some(2326),
            duration: Some(1500),
            time: Some(971_211_336),
        };
        let texts = [Some("GET".to_owned()), Some("a \"b\"".to_owned())];
        let line = r"req:GET / HTTP/1.1|status:200|size:2326|ua:a \x22b\x22";
        for more in [
            "time:[10/Oct/2000:13:55:36 -0700]|reqtime:0.0015",
            "time:10/Oct/2000:13:55:36 -0700|reqtime_microsec:1500",
            "time:2000-10-10T20:55:36Z|reqtime:0.0015|reqtime_microsec:7",
        ] {
            assert_eq!(read(&format!("{line}|{more}")), (numbers, texts.clone()), "{more}");
        }
        assert_eq!(read("uri:/|method:PUT|status:-").1, [Some("PUT".to_owned()), None]);
    }
}
