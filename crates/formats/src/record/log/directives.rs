//! Splits a format string into literals and fields.
//!
//! Apache writes `%h`, `%>s`, `%{Referer}i`, `%!200,304{User-agent}i`, `%%`; nginx writes
//! `$remote_addr` and `${name}`. The first directive decides whose syntax it is. In both, `\"`,
//! `\\` and `\t` have the meaning that they have in the servers' configuration files.

use super::plan::Field;

/// A part of a format string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A byte that each line has.
    Literal(u8),
    /// A variable part, and the number of spaces that it always holds.
    Field(Field, u8),
}

/// A position in a format string, and the error there.
pub(super) type FormatStringError = (usize, &'static str);

/// Splits `text` into parts, each with its position.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, FormatStringError> {
    let bytes = text.as_bytes();
    let is_nginx = bytes.windows(2).find_map(|pair| match pair {
        [b'%', b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'{' | b'<' | b'>' | b'!' | b'^'] => {
            Some(false)
        }
        [b'$', b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'{'] => Some(true),
        _ => None,
    });
    let sign = if is_nginx == Some(true) { b'$' } else { b'%' };
    let mut out = Vec::new();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        if bytes[at] == sign {
            let rest = &text[at + 1..];
            let length =
                if sign == b'$' { nginx(rest, &mut found) } else { apache(rest, &mut found) };
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

fn literal(text: &[u8], out: &mut Vec<Token>) {
    out.extend(text.iter().map(|&byte| Token::Literal(byte)));
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
    let field = match (letter, argument.to_ascii_lowercase().as_str()) {
        (b'r', _) => Field::Request,
        (b'U', _) => Field::Path,
        (b'q', _) => Field::Query,
        (b'm', _) => Field::Method,
        (b's', _) => Field::Status,
        (b'v', _) => Field::ServerName,
        (b'V', _) => Field::Host,
        (b'p', "" | "canonical" | "local") => Field::Port,
        (b'i', "host") => Field::ClientHost,
        (b'i', "x-forwarded-proto") => Field::ForwardedScheme,
        (b'e', "request_scheme") => Field::Scheme,
        (b'b' | b'B' | b'O', "") => Field::Bytes,
        (b'D', "") | (b'T', "us") => Field::Micros,
        (b'T', "ms") => Field::Millis,
        (b'T', "" | "s") => Field::Seconds,
        (b'H', _) => {
            protocol(out);
            return Ok(at + 1);
        }
        (b't', "") => {
            // `[10/Oct/2000:13:55:36 -0700]`: the bracket ends a user's name that has spaces.
            literal(b"[", out);
            out.push(Token::Field(Field::Date, 1));
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
            out.push(Token::Field(field, spaces.min(255) as u8));
            return Ok(at + 1);
        }
        _ => Field::Other,
    };
    out.push(Token::Field(field, 0));
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
    let field = match name {
        "request" => Field::Request,
        "request_uri" => Field::Uri,
        "uri" | "document_uri" => Field::Path,
        "is_args" => Field::IsArgs,
        "args" | "query_string" => Field::Args,
        "request_method" => Field::Method,
        "status" => Field::Status,
        "http_host" => Field::ClientHost,
        "host" => Field::Host,
        "server_name" => Field::ServerName,
        "server_port" => Field::Port,
        "scheme" => Field::Scheme,
        "http_x_forwarded_proto" => Field::ForwardedScheme,
        "body_bytes_sent" | "bytes_sent" => Field::Bytes,
        "request_time" => Field::Seconds,
        "time_local" | "time_iso8601" => Field::Date,
        "msec" => Field::EpochSeconds,
        "server_protocol" => {
            protocol(out);
            return Ok(length);
        }
        _ => Field::Other,
    };
    // `10/Oct/2000:13:55:36 -0700`
    out.push(Token::Field(field, u8::from(name == "time_local")));
    Ok(length)
}

/// `HTTP/1.1`: the literal separates it from the end of a path that has spaces.
fn protocol(out: &mut Vec<Token>) {
    literal(b"HTTP/", out);
    out.push(Token::Field(Field::Other, 0));
}
