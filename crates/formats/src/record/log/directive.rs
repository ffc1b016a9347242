//! Takes the format string out of a whole directive of a server's configuration.
//!
//! `LogFormat "%v %h ..." vhost` (Apache), `log_format main '$host ' '...';` (nginx) and `log-format %h ...`
//! (GoAccess) are what people have at hand. The first two have a name around the string, and nginx joins
//! several strings.

/// The format string in a directive. None if the text is no directive, but the string itself.
pub(super) fn format_of(text: &str) -> Option<String> {
    let (directive, rest) = text.trim().split_once(char::is_whitespace)?;
    let rest = rest.trim();
    if directive.eq_ignore_ascii_case("LogFormat") {
        return apache(rest);
    }
    match directive {
        "log_format" => nginx(rest),
        // GoAccess's configuration needs no marks around it.
        "log-format" => Some(rest.to_owned()),
        _ => None,
    }
}

/// The string of Apache's directive, whose quotation marks are escaped inside.
fn apache(rest: &str) -> Option<String> {
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    // The last mark closes the string: those inside are escaped, and the name after it has none.
    let (string, _) = rest[1..].rsplit_once(quote)?;
    Some(string.to_owned())
}

/// The strings of nginx's directive after its name and perhaps `escape=`, joined.
fn nginx(rest: &str) -> Option<String> {
    let mut rest = &rest[rest.find(char::is_whitespace)?..];
    let mut joined = String::new();
    loop {
        rest = rest.trim_start().trim_end_matches(';').trim_end();
        let Some(quote) = rest.chars().next() else { break };
        match quote {
            '"' | '\'' => {
                let end = 1 + closing(&rest[1..], quote)?;
                joined.push_str(&rest[1..end]);
                rest = &rest[end + 1..];
            }
            // An option, or a string without quotation marks.
            _ => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                if !rest.starts_with("escape=") {
                    joined.push_str(&rest[..end]);
                }
                rest = &rest[end..];
            }
        }
    }
    (!joined.is_empty()).then_some(joined)
}

/// The offset of the mark that closes a string.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut is_escaped = false;
    text.char_indices().find_map(|(at, c)| {
        let found = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        found.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::format_of;

    #[test]
    fn format_string_is_taken_out_of_a_directive() {
        for (text, format) in [
            (r#"LogFormat "%h \"%r\" %>s" short"#, r#"%h \"%r\" %>s"#),
            (r#"  logformat   '%h "%r"'"#, r#"%h "%r""#),
            ("log_format main '$host \"$request\"';", "$host \"$request\""),
            (
                "log_format a escape=json '$host '\n  '\"$request\" ' \"$status\";",
                "$host \"$request\" $status",
            ),
            ("log_format a $host;", "$host"),
            (r#"log-format %h "%r""#, r#"%h "%r""#),
        ] {
            assert_eq!(format_of(text).as_deref(), Some(format), "{text}");
        }
        for text in ["%h %r", "LogFormat", "LogFormat %h", "$host log_format", "log_format a 'x"] {
            assert_eq!(format_of(text), None, "{text}");
        }
    }
}
