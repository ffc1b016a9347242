//! The columns of `--fields` and `--carry`.
//!
//! In: a canonical URL, the position of the kept record, and its other columns. Out: a line of
//! columns between tabs, or an object of JSON. The value of a column never has a tab or a line feed in
//! it.

use super::json::Object;
use crate::selection::Selection;
#[cfg(feature = "tables")]
use std::borrow::Cow;
use std::fmt::{self, Write};
use std::str::FromStr;

use uniqurl::internal::{Located, Parts};
use uniqurl::key::{Key, Routes};
use uniqurl::uri::Authority;
use uniqurl::{Normalizer, UnknownName};
use uniqurl_text::{Printable, stands_for_itself};

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// The canonical URL.
    Canonical,
    /// Its scheme; empty for a request target.
    Scheme,
    /// Its userinfo, without the `@`; empty also where there is none.
    Userinfo,
    /// Its host, without credentials and port; empty if it has none.
    Host,
    /// Its [`Key::Domain`]; empty if it has no host.
    Domain,
    /// Its [`Key::DomainIcann`]; empty if it has no host.
    DomainIcann,
    /// Its port, without the colon; empty also where there is none.
    Port,
    /// Its path.
    Path,
    /// Its query, without the question mark; empty also where there is none.
    Query,
    /// Its fragment, without the `#`; empty also where there is none.
    Fragment,
    /// Its [`Key::Template`].
    Template,
    /// Its [`Key::Surt`].
    Surt,
    /// Its [`Key::Ssurt`].
    Ssurt,
    /// Its [`Key::Hash`].
    Hash,
    /// How many records have the key.
    Count,
    /// The one of them that survives, which is the first unless another is asked for:
    /// `file:record:offset`, the record counted from 1 and the offset in bytes.
    First,
    /// The URL as that record has it, its log's own escaping undone.
    Original,
    /// Its decoded path ([`Normalizer::decoded`](uniqurl::Normalizer::decoded)); only `servlet` has one.
    Decoded,
}

impl Field {
    /// Every column, in the order of the documentation.
    pub const ALL: &'static [Field] = &[
        Field::Canonical,
        Field::Scheme,
        Field::Userinfo,
        Field::Host,
        Field::Domain,
        Field::DomainIcann,
        Field::Port,
        Field::Path,
        Field::Query,
        Field::Fragment,
        Field::Template,
        Field::Surt,
        Field::Ssurt,
        Field::Hash,
        Field::Count,
        Field::First,
        Field::Original,
        Field::Decoded,
    ];

    /// The columns of a line without columns: the key, and before it the count if
    /// that is requested.
    pub const fn of_key(key: Key, count: bool) -> &'static [Field] {
        let both: &[Field] = match key {
            Key::Url => &[Field::Count, Field::Canonical],
            Key::Template => &[Field::Count, Field::Template],
            Key::Host => &[Field::Count, Field::Host],
            Key::Domain => &[Field::Count, Field::Domain],
            Key::DomainIcann => &[Field::Count, Field::DomainIcann],
            Key::Surt => &[Field::Count, Field::Surt],
            Key::Ssurt => &[Field::Count, Field::Ssurt],
            Key::Hash => &[Field::Count, Field::Hash],
            // A test asks for the columns of every key.
            _ => panic!("a key without a column"),
        };
        if count { both } else { both.split_at(1).1 }
    }

    /// The name, as `--fields` of the command takes it.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Canonical => "canonical",
            Field::Scheme => "scheme",
            Field::Userinfo => "userinfo",
            Field::Host => "host",
            Field::Domain => "domain",
            Field::DomainIcann => "domain-icann",
            Field::Port => "port",
            Field::Path => "path",
            Field::Query => "query",
            Field::Fragment => "fragment",
            Field::Template => "template",
            Field::Surt => "surt",
            Field::Ssurt => "ssurt",
            Field::Hash => "hash",
            Field::Count => "count",
            Field::First => "first",
            Field::Original => "original",
            Field::Decoded => "decoded",
        }
    }

    /// The column of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|field| field.name() == name)
    }
}

/// The name.
impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// By its name.
impl FromStr for Field {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::named(name).ok_or_else(|| UnknownName::new(name, "column", Self::ALL))
    }
}

/// Placeholders for the count, and for a template with slugs, which are known only at the end. No column contains these
/// bytes.
const COUNT: u8 = 0;
const TEMPLATE: u8 = 1;

/// The values that the columns are made from.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The canonical URL.
    pub canonical: &'a [u8],
    /// The URL as its record has it.
    pub original: &'a [u8],
    /// The decoded path; empty if the profile has none.
    pub decoded: &'a [u8],
    /// The number of the input, from 0.
    pub input: usize,
    /// The name of the input: printable between tabs, and as it is in an object.
    pub file: &'a [u8],
    /// Number of the record in that input, from 1.
    pub record: u64,
    /// Where the record starts, in bytes.
    pub offset: u64,
    /// The carried columns, as far as the record has them.
    pub carried: &'a [Option<&'a [u8]>],
}

/// The columns of a line, and their form.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    /// The columns.
    pub fields: &'a [Field],
    /// The names of the carried columns, which follow the fields.
    pub carry: &'a [String],
    /// Whether canonical URLs are escaped.
    pub bytes: CanonicalBytes,
    /// The form of the columns.
    pub form: LineForm,
    /// The routes by which templates are made, if there are any.
    pub routes: Option<&'a Routes>,
    /// Whether templates are known only at the end.
    pub has_slugs: bool,
}

/// The form of the columns in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LineForm {
    /// By tabs.
    #[default]
    Tabs,
    /// A JSON object, with the columns by name. Text that is not UTF-8 is in base64, under a name
    /// that ends in `_base64`.
    Json,
    /// Where the record is: the number of its input and its own in that input, as
    /// [`Selection`](crate::Selection) reads them. The columns are left out.
    Places(RecordUnit),
}

/// What a record is that is copied as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordUnit {
    /// Bytes that stand by themselves.
    Bytes,
    /// A row of a table.
    Row,
}

/// Whether canonical URLs can be written as they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CanonicalBytes {
    /// They are within 0x20-0x7E, and 0x20 in few of them.
    Printable,
    /// They are any bytes, and escaped as the original is.
    Any,
}

impl CanonicalBytes {
    /// Those of the URLs that a normalizer writes.
    pub(crate) fn of(normalizer: &Normalizer) -> Self {
        if normalizer.may_write_any_byte() { Self::Any } else { Self::Printable }
    }
}

impl Row<'_> {
    /// Appends the line, with a mark where the count belongs, and where the template does if it is known only at the end.
    pub fn append(&self, layout: &Layout<'_>, out: &mut Vec<u8>) {
        match layout.form {
            LineForm::Tabs => {
                self.append_columns(layout, out);
                out.push(b'\n');
            }
            LineForm::Json => self.append_object(layout, out),
            LineForm::Places(_) => Selection::append(self.input, self.record, out),
        }
    }

    fn append_object(&self, layout: &Layout<'_>, out: &mut Vec<u8>) {
        let mut object = Object::at_end_of(out);
        let mut column = Vec::new();
        for field in layout.fields {
            column.clear();
            // JSON has escapes of its own for the bytes that other columns escape.
            let value = match field {
                Field::Count => {
                    object = object.raw(field.name(), [COUNT]);
                    continue;
                }
                Field::Template if layout.has_slugs => {
                    // A template has no byte that JSON escapes.
                    object = object.raw(field.name(), [b'"', TEMPLATE, b'"']);
                    continue;
                }
                Field::Original => self.original,
                Field::Decoded => self.decoded,
                field => {
                    let (fields, bytes) = (&[*field][..], CanonicalBytes::Printable);
                    self.append_columns(
                        &Layout { fields, carry: &[], bytes, ..*layout },
                        &mut column,
                    );
                    &column
                }
            };
            object = object.bytes(field.name(), value);
        }
        for (name, value) in layout.carry.iter().zip(self.carried) {
            object = match value {
                Some(value) => object.bytes(name, value),
                None => object.raw(name, "null"),
            };
        }
        object.end_line();
    }

    fn append_columns(&self, layout: &Layout<'_>, out: &mut Vec<u8>) {
        let text = |text: &[u8], out: &mut Vec<u8>| match layout.bytes {
            CanonicalBytes::Printable => out.extend_from_slice(text),
            CanonicalBytes::Any => escaped(text, out),
        };
        let key = |key: Key, out: &mut Vec<u8>| {
            let mut made = Vec::new();
            key.append_by(layout.routes, self.canonical, &mut made);
            text(&made, out);
        };
        // A URL that starts with a slash is a request target: no host comes out of it.
        let parts = match self.canonical.first() {
            Some(b'/') => Parts::split_target(self.canonical),
            _ => Parts::split(self.canonical),
        };
        // Split only if a column asks for it.
        let authority = || parts.authority.map(Authority::split).unwrap_or_default();
        for (i, field) in layout.fields.iter().enumerate() {
            if i > 0 {
                out.push(b'\t');
            }
            match field {
                Field::Canonical => text(self.canonical, out),
                Field::Scheme => text(parts.scheme.unwrap_or_default(), out),
                Field::Host => {
                    let located = Located::split(self.canonical);
                    text(located.map_or(&[], |located| located.host), out);
                }
                Field::Userinfo => text(authority().userinfo.unwrap_or_default(), out),
                Field::Port => text(authority().port.unwrap_or_default(), out),
                Field::Path => text(parts.path, out),
                Field::Query => text(parts.query.unwrap_or_default(), out),
                Field::Fragment => text(parts.fragment.unwrap_or_default(), out),
                Field::Domain => key(Key::Domain, out),
                Field::DomainIcann => key(Key::DomainIcann, out),
                Field::Template if layout.has_slugs => out.push(TEMPLATE),
                Field::Template => key(Key::Template, out),
                Field::Surt => key(Key::Surt, out),
                Field::Ssurt => key(Key::Ssurt, out),
                Field::Hash => key(Key::Hash, out),
                // The count is known only at the end, when `with_count` replaces this byte.
                Field::Count => out.push(COUNT),
                Field::First => {
                    out.extend_from_slice(self.file);
                    out.extend_from_slice(format!(":{}:{}", self.record, self.offset).as_bytes());
                }
                Field::Original => escaped(self.original, out),
                Field::Decoded => escaped(self.decoded, out),
            }
        }
        for (value, _) in self.carried.iter().zip(layout.carry) {
            out.push(b'\t');
            escaped(value.unwrap_or_default(), out);
        }
    }
}

/// Appends a line with the count and the template in their places.
pub fn with_count(line: &[u8], count: u64, template: &[u8], out: &mut Vec<u8>) {
    let mut start = 0;
    for mark in memchr::memchr2_iter(COUNT, TEMPLATE, line) {
        out.extend_from_slice(&line[start..mark]);
        match line[mark] {
            COUNT => super::json::number(count, out),
            _ => out.extend_from_slice(template),
        }
        start = mark + 1;
    }
    out.extend_from_slice(&line[start..]);
}

/// Appends bytes as text on one line: those outside of 0x20-0x7E, and the backslash, as `\\xHH`.
pub fn escaped(bytes: &[u8], out: &mut Vec<u8>) {
    // Nearly all texts need no escape. The loop has no early exit, so that the compiler can vectorize it.
    if bytes.iter().fold(true, |all, byte| all & stands_for_itself(*byte)) {
        return out.extend_from_slice(bytes);
    }
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write!(text, "{}", Printable(bytes));
    out.extend_from_slice(text.as_bytes());
}

/// The bytes that [`escaped`] wrote as this text.
#[cfg(feature = "tables")]
pub(super) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\\', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split(|byte| *byte == b'\\');
    let mut bytes = parts.next().unwrap_or_default().to_vec();
    for part in parts {
        let digits = part.strip_prefix(b"x").and_then(|digits| digits.split_at_checked(2));
        let (digits, rest) = digits.unwrap_or((b"", part));
        let byte =
            std::str::from_utf8(digits).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok());
        debug_assert!(byte.is_some(), "every backslash begins an escape");
        bytes.extend(byte);
        bytes.extend_from_slice(rest);
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(canonical: &[u8], bytes: CanonicalBytes) -> String {
        let original = b"a\tb\\\n\xE9 ";
        let (file, decoded) = (&b"f:1"[..], &b"/\t\xE9"[..]);
        let (record, offset, input) = (7, 9, 0);
        let row = Row { canonical, original, decoded, input, file, record, offset, carried: &[] };
        let mut line = Vec::new();
        let (fields, form) = (Field::ALL, LineForm::Tabs);
        row.append(
            &Layout { fields, carry: &[], bytes, form, routes: None, has_slugs: false },
            &mut line,
        );
        let mut out = Vec::new();
        with_count(&line, 12, b"", &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_key_has_the_column_of_its_name() {
        for key in Key::ALL {
            let name = if *key == Key::Url { "canonical" } else { key.name() };
            let columns = Field::of_key(*key, true).iter().map(|field| field.name());
            assert_eq!(columns.collect::<Vec<_>>(), ["count", name]);
            assert_eq!(Field::of_key(*key, false), &Field::of_key(*key, true)[1..]);
        }
    }

    #[test]
    fn url_columns_hold_its_components() {
        let line = line(b"ssh://u:p@www.h.example:81/p//q?r?s#t", CanonicalBytes::Printable);
        let columns: Vec<_> = line.split('\t').collect();
        let url = "ssh://u:p@www.h.example:81/p//q?r?s#t";
        let domain = "h.example";
        assert_eq!(
            columns[..10],
            [url, "ssh", "u:p", "www.h.example", domain, domain, "81", "/p//q", "r?s", "t"]
        );
        assert_eq!(columns[10], "ssh://u:p@www.h.example:81/p//q?r?s");
        assert_eq!(
            columns[11..13],
            ["example,h,www:81)/p//q?r?s#t", "example,h,www,//81:ssh@u:p:/p//q?r?s#t"]
        );
        assert_eq!(columns[14..], ["12", "f:1:7:9", "a\\x09b\\x5C\\x0A\\xE9 ", "/\\x09\\xE9\n"]);
    }

    #[test]
    fn an_absent_part_and_an_empty_one_are_an_empty_column() {
        for (url, parts) in [
            ("x://@:/p#", ["", "", "", "", "", "/p", "", ""]),
            ("x://u@:8", ["u", "", "", "", "8", "", "", ""]),
            ("http://[::1]:8080/", ["", "[::1]", "[::1]", "[::1]", "8080", "/", "", ""]),
            ("http://[::1]/#a#", ["", "[::1]", "[::1]", "[::1]", "", "/", "", "a#"]),
            ("mailto:u@h:8", ["", "", "", "", "", "u@h:8", "", ""]),
            ("/p#f?g", ["", "", "", "", "", "/p", "", "f?g"]),
        ] {
            let line = line(url.as_bytes(), CanonicalBytes::Printable);
            let columns: Vec<_> = line.split('\t').collect();
            assert_eq!(columns[2..10], parts, "{url}");
        }
    }

    #[test]
    fn a_target_has_neither_scheme_nor_host() {
        let line = line(b"//h/p?q", CanonicalBytes::Printable);
        assert!(line.starts_with("//h/p?q\t\t\t\t\t\t\t//h/p\tq\t\t//h/p?q\t//h/p?q\t"), "{line}");
    }

    #[test]
    fn any_byte_keeps_one_line_with_all_columns() {
        for byte in 0..=255u8 {
            let line = line(&[b'a', byte, b'b'], CanonicalBytes::Any);
            assert_eq!(line.matches('\t').count(), Field::ALL.len() - 1, "{byte:#x}");
            assert_eq!(line.matches('\n').count(), 1, "{byte:#x}");
            assert!(line.bytes().all(|b| matches!(b, b'\t' | b'\n' | 0x20..=0x7E)), "{byte:#x}");
        }
    }

    #[test]
    fn escaping_agrees_with_printable_and_is_undone_for_every_byte() {
        for byte in 0..=255u8 {
            let bytes = [b'a', byte, b'b'];
            let mut out = Vec::new();
            escaped(&bytes, &mut out);
            assert_eq!(out, Printable(&bytes).to_string().as_bytes(), "{byte:#x}");
            #[cfg(feature = "tables")]
            assert_eq!(*unescaped(&out), bytes, "{byte:#x}");
        }
    }

    #[test]
    fn json_object_keeps_every_byte_under_the_column_names() {
        let row = Row {
            canonical: b"http://h/",
            original: b"HTTP://h\t\"",
            decoded: b"",
            input: 0,
            file: "w\u{E9}".as_bytes(),
            record: 2,
            offset: 9,
            carried: &[Some(b"\xE9"), Some(b"a\\"), None],
        };
        let carry = ["x".to_owned(), "na\"me".to_owned(), "none".to_owned()];
        let fields = &[Field::Count, Field::Canonical, Field::First, Field::Original];
        let layout = Layout {
            fields,
            carry: &carry,
            bytes: CanonicalBytes::Printable,
            form: LineForm::Json,
            routes: None,
            has_slugs: false,
        };
        let (mut line, mut out) = (Vec::new(), Vec::new());
        row.append(&layout, &mut line);
        with_count(&line, 7, b"", &mut out);
        let expected = concat!(
            r#"{"count":7,"canonical":"http://h/","first":"wé:2:9","original":"HTTP://h\t\"","#,
            r#""x_base64":"6Q==","na\"me":"a\\","none":null}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_column_is_found_by_its_name() {
        for field in Field::ALL {
            assert_eq!(Field::named(field.name()), Some(*field));
        }
        assert_eq!(Field::named("Host"), None);
    }
}
