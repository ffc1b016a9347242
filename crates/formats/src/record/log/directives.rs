//! Splits a format string into literals and fields.
//!
//! Apache writes `%h`, `%>s`, `%{Referer}i`, `%!200,304{User-agent}i`, `%%`; nginx writes
//! `$remote_addr` and `${name}`. The first directive decides whose syntax it is; a string with fields of
//! [`goaccess`] alone is GoAccess's. In all, `\"`,
//! `\\` and `\t` have the meaning that they have in the servers' configuration files.

use super::field::Field;
use super::goaccess;
use super::shape::Shape;
use super::token::{FormatStringError, Token, Variable, literal, protocol};

/// Splits `text` into parts, each with its position.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, FormatStringError> {
    let bytes = text.as_bytes();
    // Apache's string may hold a literal dollar sign, and nginx's a literal percent sign. So the
    // first sign that begins a directive decides.
    let is_nginx = bytes.windows(2).find_map(|pair| match pair {
        [b'%', b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'{' | b'<' | b'>' | b'!' | b'^'] => {
            Some(false)
        }
        [b'$', b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'{'] => Some(true),
        _ => None,
    });
    let sign = if is_nginx == Some(true) { b'$' } else { b'%' };
    let directive = match sign {
        b'$' => nginx,
        _ if goaccess::is_its_own(text) => goaccess::field,
        _ => apache,
    };
    let mut out = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at] == sign {
            let length = directive(&text[at + 1..], &mut found);
            at += 1 + length.map_err(|why| (start, why))?;
        } else if let [b'\\', escaped @ (b'"' | b'\\' | b't'), ..] = bytes[at..] {
            found.push(Token::Literal(if escaped == b't' { b'\t' } else { escaped }));
            at += 2;
        } else if bytes[at] == b'\n' || bytes[at..].starts_with(b"\\n") {
            return Err((start, "a format has no line feed, since a record is one line"));
        } else {
            found.push(Token::Literal(bytes[at]));
            at += 1;
        }
        out.extend(found.drain(..).map(|token| (start, token)));
    }
    Ok(out)
}

/// Parses a directive of Apache's after its `%`, and returns its length.
fn apache(text: &str, out: &mut Vec<Token>) -> Result<usize, &'static str> {
    let bytes = text.as_bytes();
    let mut argument = "";
    let mut at = 0;
    let letter = loop {
        match *bytes.get(at).ok_or("a percent sign at the end, where a literal one is %%")? {
            b'%' if at == 0 => {
                literal(b"%", out);
                return Ok(1);
            }
            b'<' | b'>' | b'!' | b',' | b'0'..=b'9' => at += 1,
            b'{' => {
                let close = text[at..].find('}').ok_or("a { that no } closes")?;
                argument = &text[at + 1..at + close];
                at += close + 1;
            }
            // `%^FB`, `%{X}^ti`: two letters; no such directive holds the URL.
            b'^' if bytes.len() >= at + 3 => {
                at += 2;
                break b'^';
            }
            letter if letter.is_ascii_alphabetic() => break letter,
            _ => {
                return Err("a percent sign that begins no directive, where a literal one is %%");
            }
        }
    };
    let variable = match (letter, argument.to_ascii_lowercase().as_str()) {
        (b'r', _) => Variable::new(Field::Request, Shape::Request),
        (b'U', _) => Variable::new(Field::Path, Shape::Target),
        (b'q', _) => Variable::new(Field::Query, Shape::Any),
        (b'm', _) => Variable::new(Field::Method, Shape::Method),
        (b's', _) => Variable::new(Field::Status, Shape::Status),
        (b'v', _) => Variable::new(Field::ServerName, Shape::Site),
        (b'V', _) => Variable::new(Field::Host, Shape::Site),
        (b'p', "" | "canonical" | "local") => Variable::new(Field::Port, Shape::Number),
        (b'i', "host") => Variable::new(Field::ClientHost, Shape::Site),
        (b'i', "x-forwarded-proto") => Variable::new(Field::ForwardedScheme, Shape::Word),
        (b'e', "request_scheme") => Variable::new(Field::Scheme, Shape::Scheme),
        (b'a' | b'h', "") => Variable::new(Field::Client, Shape::Address),
        (b'i', "referer") => Variable::new(Field::Referrer, Shape::Word),
        (b'i', "user-agent") => Variable::new(Field::Agent, Shape::Word),
        (b'b' | b'B' | b'O', "") => Variable::new(Field::Bytes, Shape::Number),
        (b'D', "") | (b'T', "us") => Variable::new(Field::Micros, Shape::Number),
        (b'T', "ms") => Variable::new(Field::Millis, Shape::Number),
        (b'T', "" | "s") => Variable::new(Field::Seconds, Shape::Number),
        (b'b' | b'B' | b'D' | b'I' | b'O' | b'T', _) => Variable::other(Shape::Number),
        (b'H', _) => {
            protocol(out);
            return Ok(at + 1);
        }
        (b't', "") => {
            // `[10/Oct/2000:13:55:36 -0700]`: the bracket ends a user's name that has spaces.
            literal(b"[", out);
            out.push(Token::Field(Variable {
                spaces: 1,
                ..Variable::new(Field::Date, Shape::LocalTime)
            }));
            literal(b"]", out);
            return Ok(at + 1);
        }
        (b't', format) => {
            let spaces = format.bytes().filter(|&byte| byte == b' ').count();
            // In formats of dates, capitals have other meanings.
            let field = match argument.strip_prefix("begin:").unwrap_or(argument) {
                "sec" | "%s" => Field::EpochSeconds,
                "msec" => Field::EpochMillis,
                "usec" => Field::EpochMicros,
                // Without its zone the date would be that of the server's clock.
                format if format.ends_with("%z") => Field::Date,
                _ => Field::Other,
            };
            let spaces = spaces.min(255) as u8;
            out.push(Token::Field(Variable { spaces, ..Variable::new(field, Shape::Any) }));
            return Ok(at + 1);
        }
        _ => Variable::other(Shape::Word),
    };
    out.push(Token::Field(variable));
    Ok(at + 1)
}

/// Parses a variable of nginx's after its `$`, and returns its length.
fn nginx(text: &str, out: &mut Vec<Token>) -> Result<usize, &'static str> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let (name, length) = match text.strip_prefix('{') {
        Some(rest) => {
            let close = rest.find('}').ok_or("a { that no } closes")?;
            (&rest[..close], close + 2)
        }
        None => {
            let length = text.bytes().take_while(is_name).count();
            (&text[..length], length)
        }
    };
    if name.is_empty() || !name.as_bytes().iter().all(is_name) {
        return Err("a dollar sign that begins no variable");
    }
    let (name, is_padded) = match name.strip_suffix("_padded") {
        Some(name) => (name, true),
        None => (name, false),
    };
    if name == "server_protocol" {
        protocol(out);
        return Ok(length);
    }
    // `10/Oct/2000:13:55:36 -0700`, `2000-10-10 20:55:36`
    let spaces = u8::from(matches!(name, "time_local" | "utc_date_time"));
    out.push(Token::Field(Variable { spaces, is_padded, ..variable(name) }));
    Ok(length)
}

/// The meaning of nginx's variables. A few more names stand for fields that only other servers write.
fn variable(name: &str) -> Variable {
    match name {
        "request" => Variable::new(Field::Request, Shape::Request),
        "request_uri" => Variable::new(Field::Uri, Shape::Target),
        "uri" | "document_uri" => Variable::new(Field::Path, Shape::Target),
        "is_args" => Variable::new(Field::IsArgs, Shape::Any),
        "args" | "query_string" => Variable::new(Field::Args, Shape::Any),
        "request_method" => Variable::new(Field::Method, Shape::Method),
        "status" => Variable::new(Field::Status, Shape::Status),
        "http_host" => Variable::new(Field::ClientHost, Shape::Host),
        "host" => Variable::new(Field::Host, Shape::Host),
        "server_name" => Variable::new(Field::ServerName, Shape::Host),
        "server_port" => Variable::new(Field::Port, Shape::Number),
        "scheme" => Variable::new(Field::Scheme, Shape::Scheme),
        "http_x_forwarded_proto" => Variable::new(Field::ForwardedScheme, Shape::Word),
        "tls_version" => Variable::new(Field::TlsVersion, Shape::TlsVersion),
        "time_local" => Variable::new(Field::Date, Shape::LocalTime),
        "time_iso8601" | "utc_date_time" => Variable::new(Field::Date, Shape::IsoTime),
        "msec" => Variable::new(Field::EpochSeconds, Shape::Epoch),
        "body_bytes_sent" | "bytes_sent" => Variable::new(Field::Bytes, Shape::Number),
        "request_time" => Variable::new(Field::Seconds, Shape::Number),
        "remote_addr" => Variable::new(Field::Client, Shape::Address),
        "client" => Variable::new(Field::Client, Shape::Word),
        "http_referer" | "referer" => Variable::new(Field::Referrer, Shape::Word),
        "http_user_agent" | "user_agent" => Variable::new(Field::Agent, Shape::Word),
        "rest_user_agent" => Variable::new(Field::Agent, Shape::Any),
        "rest" => Variable::other(Shape::Any),
        _ if NUMBERS.iter().any(|ending| name.ends_with(ending)) => Variable::other(Shape::Number),
        _ => Variable::other(Shape::Word),
    }
}

/// Endings of the names of variables that are numbers.
const NUMBERS: [&str; 7] =
    ["_length", "_size", "_time", "_count", "_number", "bytes_sent", "bytes_received"];
