//! Bytes that were read, without what may be secret in them, for those who hand them on.
//!
//! In: a URL, or a whole record where no URL was found in it. Out: the same with `***` in place of
//! the userinfo, the values of the query and the fragment. The names of parameters stay.

use super::excerpt::{HIDDEN, secret};

/// Whether secrets are left out of what is told of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// Records are told as they came.
    Shown,
    /// `***` stands where userinfo, the values of queries and fragments were.
    Masked,
}

/// Appends `text` with its secrets masked.
///
/// ```
/// use uniqurl::output::redact;
///
/// let mut out = Vec::new();
/// redact(b"http://user:secret@example.com/a?token=1&flag#x", &mut out);
/// assert_eq!(out, b"http://***@example.com/a?token=***&***#***");
/// ```
pub fn redact(text: &[u8], out: &mut Vec<u8>) {
    let end = text.iter().position(|byte| b"?#".contains(byte)).unwrap_or(text.len());
    let (before, behind) = text.split_at(end);
    match secret(before) {
        Some(hidden) => {
            out.extend_from_slice(&before[..hidden.start]);
            out.extend_from_slice(HIDDEN.as_bytes());
            out.extend_from_slice(&before[hidden.end..]);
        }
        None => out.extend_from_slice(before),
    }
    let Some((mark, rest)) = behind.split_first() else { return };
    out.push(*mark);
    let (query, fragment) = match (*mark, rest.iter().position(|byte| *byte == b'#')) {
        (b'#', _) => (None, Some(rest)),
        (_, Some(mark)) => (Some(&rest[..mark]), Some(&rest[mark + 1..])),
        (_, None) => (Some(rest), None),
    };
    if let Some(query) = query {
        for (i, pair) in query.split(|byte| *byte == b'&').enumerate() {
            if i > 0 {
                out.push(b'&');
            }
            // What has no name may be the secret itself.
            if let Some(equals) = pair.iter().position(|byte| *byte == b'=') {
                out.extend_from_slice(&pair[..=equals]);
            }
            if !pair.is_empty() {
                out.extend_from_slice(HIDDEN.as_bytes());
            }
        }
        if fragment.is_some() {
            out.push(b'#');
        }
    }
    if fragment.is_some_and(|fragment| !fragment.is_empty()) {
        out.extend_from_slice(HIDDEN.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn userinfo_values_and_fragment_are_masked_and_names_are_not() {
        for (url, shown) in [
            ("http://h/a/b", "http://h/a/b"),
            ("http://u:SECRET@h/?a=SECRET&b=SECRET", "http://***@h/?a=***&b=***"),
            ("http://h/?SECRET", "http://h/?***"),
            ("http://h/?a=&&b=1=SECRET?x", "http://h/?a=***&&b=***"),
            ("/p?a=b#SECRET?SECRET", "/p?a=***#***"),
            ("/p#SECRET", "/p#***"),
            ("/p?#", "/p?#"),
            ("u:SECRET@h", "***@h"),
            (
                r#"1.2.3.4 - - [x] "GET /a?k=SECRET HTTP/1.1" 200 "http://r/?SECRET""#,
                r#"1.2.3.4 - - [x] "GET /a?k=***"#,
            ),
        ] {
            let mut out = Vec::new();
            redact(url.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), shown, "{url}");
        }
    }
}
