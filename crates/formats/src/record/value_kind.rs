//! Tells what kind of value a cell, a member or a word of a log is.

use super::hosts::{is_ipv4, is_ipv6, is_site, split_port};

/// What a value seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    /// Nothing, or a dash, as logs write it.
    Empty,
    /// A URL with a scheme and `//`.
    Url,
    /// A path from the root, perhaps with a query, and no blank in it.
    Target,
    /// Names and values (`a=b&c=d`), or what begins with `?`.
    Query,
    /// A dotted name that is no file's, perhaps with a port.
    Host,
    /// A URL without its scheme: a host and a path.
    HostPath,
    /// An address, perhaps with a port.
    Address,
    /// `http` or `https`.
    Scheme,
    /// A method of requests.
    Method,
    /// A number, a share, a time or a date.
    Number,
    /// A media type.
    Media,
    /// A word of letters, digits, `_` and `-`.
    Word,
    /// A text in brackets or quotation marks.
    Enclosed,
    /// Several words.
    Text,
    /// Something that a path may hold as well.
    Other,
}

/// Methods of requests that logs hold.
const METHODS: [&str; 10] =
    ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "REPORT", "CONNECT"];

/// The first halves of media types (<https://www.iana.org/assignments/media-types>).
const MEDIA: [&str; 9] = [
    "application/",
    "audio/",
    "font/",
    "image/",
    "message/",
    "model/",
    "multipart/",
    "text/",
    "video/",
];

impl ValueKind {
    /// The kind of a value. Its beginning is enough.
    pub fn of(value: &[u8]) -> Self {
        let value = value.trim_ascii();
        let has = |byte: u8| value.contains(&byte);
        let (host, _) = split_port(value);
        // The order decides: a URL may hold all of the others, and a date or a method is a word as
        // well.
        match value {
            b"" | b"-" => Self::Empty,
            _ if is_url(value) => Self::Url,
            _ if is_enclosed(value) => Self::Enclosed,
            _ if has(b' ') || has(b'\t') => Self::Text,
            [b'/', ..] => Self::Target,
            [b'?', ..] => Self::Query,
            _ if METHODS.iter().any(|method| value == method.as_bytes()) => Self::Method,
            _ if is_scheme(value) => Self::Scheme,
            _ if is_ipv4(host) || is_ipv6(value) || value.starts_with(b"[") => Self::Address,
            _ if is_number(value) => Self::Number,
            _ if MEDIA.iter().any(|media| value.starts_with(media.as_bytes())) => Self::Media,
            _ if value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(byte)) => {
                Self::Word
            }
            _ if is_named_site(value) => Self::Host,
            _ if value
                .iter()
                .position(|byte| b"/?".contains(byte))
                .is_some_and(|end| is_named_site(&value[..end])) =>
            {
                Self::HostPath
            }
            _ if is_query(value) => Self::Query,
            _ => Self::Other,
        }
    }

    /// True for a value that no path holds by itself, so that it is a column after a URL.
    pub fn is_of_no_path(self) -> bool {
        matches!(self, Self::Empty | Self::Number | Self::Media | Self::Enclosed)
    }

    /// True for a value that a row of a table may hold after a URL, and that is hardly a part of that.
    pub fn is_of_table(self) -> bool {
        !matches!(self, Self::Target | Self::Query | Self::HostPath | Self::Other)
    }
}

/// True for an absolute URL with `//`.
pub(super) fn is_url(text: &[u8]) -> bool {
    let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = text.iter().take_while(|byte| is_of_scheme(byte)).count();
    length > 1 && text[0].is_ascii_alphabetic() && text[length..].starts_with(b"://")
}

/// True for the name of a site. A name with capitals, as `o.t.Filter`, is that of a class.
fn is_named_site(word: &[u8]) -> bool {
    is_site(word) && !word.iter().any(u8::is_ascii_uppercase)
}

fn is_scheme(value: &[u8]) -> bool {
    value.eq_ignore_ascii_case(b"http") || value.eq_ignore_ascii_case(b"https")
}

/// True for a text in quotation marks or brackets.
fn is_enclosed(value: &[u8]) -> bool {
    matches!(value, [b'"', .., b'"'] | [b'(', .., b')'] | [b'{', .., b'}'])
        // An IPv6 address stands in brackets, too.
        || matches!(value, [b'[', middle @ .., b']'] if !is_ipv6(middle))
}

/// True for a number, a percentage, a time or a date: digits and the marks that these hold.
fn is_number(value: &[u8]) -> bool {
    let begins = matches!(value, [b'0'..=b'9', ..] | [b'+' | b'-' | b'<' | b'~', b'0'..=b'9', ..]);
    begins && value[1..].iter().all(|byte| byte.is_ascii_digit() || b".,:-+/%TZ".contains(byte))
}

/// True for a name, `=` and a value, perhaps more of them.
fn is_query(value: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.[]%~".contains(byte);
    let name = value.iter().take_while(|byte| is_of_name(byte)).count();
    name > 0 && value.get(name) == Some(&b'=')
}

#[cfg(test)]
mod tests {
    use super::ValueKind::{self, *};

    #[test]
    fn values_have_the_kind_that_a_reader_sees() {
        for (kind, values) in [
            (Empty, &["", "-", " "][..]),
            (Url, &["http://h/a b", "s3://b", "HTTPS://H/"]),
            (Target, &["/", "/a?b=c", "//a"]),
            (Query, &["?", "?a", "a=b", "a=b&c", "q[]=1"]),
            (Host, &["a.example", "a.example:8080", "www.b-c.example."]),
            (HostPath, &["a.example/", "a.example:80/x?y", "a.example?y"]),
            (Address, &["10.0.0.1", "10.0.0.1:80", "2001:db8::1", "[2001:db8::1]:443"]),
            (Scheme, &["http", "HTTPS"]),
            (Method, &["GET", "PROPFIND"]),
            (Number, &["1", "1.5", "10%", "-3", "2024-01-01T00:00:00Z", "12:00:00", "<1", "1,234"]),
            (Media, &["text/html", "image/svg+xml"]),
            (Word, &["OK", "en-US", "url", "12ms"]),
            (Enclosed, &["\"x\"", "[x y]", "(9999)", "{a}"]),
            (Text, &["a b", "Page 1", "[a] b"]),
            (Other, &["index.html", "a/b", "1.html", "o.t.Filter", "b:c", "x%20y"]),
        ] {
            for value in values {
                assert_eq!(ValueKind::of(value.as_bytes()), kind, "{value}");
            }
        }
    }
}
