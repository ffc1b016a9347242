//! What the command writes that is no URL, told by its looks.
//!
//! In: what stands where a URL would. One text alone is never certain: how many of them decide is said
//! where a list is [judged](super::kind).

use uniqurl::bytes::redact;
use uniqurl::key::Key;

/// Whether it looks like what `key` writes of a URL with a host: for [`Key::Url`], like any other key.
pub(super) fn is_key(text: &[u8], key: Key) -> bool {
    match key {
        Key::Url => [Key::Surt, Key::Ssurt, Key::Hash].iter().any(|key| is_key(text, *key)),
        Key::Surt => text.iter().position(|byte| b"()/?#".contains(byte)).is_some_and(|end| {
            text[end] == b')' && text.get(end + 1).is_none_or(|byte| b"/?#".contains(byte))
        }),
        Key::Ssurt => is_ssurt(text),
        Key::Hash => {
            text.len() == 32 && text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        }
    }
}

/// `com,example,//80:http@/path`, or a colon before what is no URL.
fn is_ssurt(text: &[u8]) -> bool {
    let Some(slashes) = memchr::memmem::find(text, b"//") else {
        return text.first() == Some(&b':');
    };
    let (host, behind) = (&text[..slashes], &text[slashes + 2..]);
    let port = behind.strip_prefix(b":").unwrap_or(behind);
    // A port of nothing leaves one colon, and what is spelled out has one before it.
    let scheme = [port, behind].into_iter().find_map(|text| {
        let colon = memchr::memchr(b':', text)?;
        let is_port = text[..colon].iter().all(u8::is_ascii_digit);
        is_port.then_some(&text[colon + 1..])
    });
    let of_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let is_scheme = |text: &[u8]| {
        let length = text.iter().take_while(of_scheme).count();
        length > 0 && text.get(length) == Some(&b'@')
    };
    let is_host = !host.iter().any(|byte| b"/?#".contains(byte)) && host.last() != Some(&b':');
    is_host && scheme.is_some_and(is_scheme)
}

/// Whether it looks like `FILE:LINE:OFFSET`, as the field `first` says it.
pub(super) fn is_place(text: &[u8]) -> bool {
    let mut parts = text.rsplitn(3, |byte| *byte == b':');
    let is_number = |part: Option<&[u8]>| {
        part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit))
    };
    is_number(parts.next())
        && is_number(parts.next())
        && parts.next().is_some_and(|file| memchr::memmem::find(file, b"://").is_none())
}

/// Whether a byte in it is written as `\xHH`, as the columns of lines write those that are not printable.
pub(super) fn is_escaped(text: &[u8]) -> bool {
    memchr::memchr_iter(b'\\', text).any(|at| {
        let Some([b'x', digits @ ..]) = text.get(at + 1..at + 4) else { return false };
        let is_written = digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F'));
        let value = std::str::from_utf8(digits).ok().map(|text| u8::from_str_radix(text, 16));
        is_written
            && matches!(value, Some(Ok(byte)) if byte == b'\\' || !matches!(byte, 0x20..=0x7E))
    })
}

/// Whether all in it that may be secret is masked, and something is.
pub(super) fn is_masked(text: &[u8]) -> bool {
    let is_mask = |at: usize| {
        let before = at.checked_sub(1).map(|before| text[before]);
        text.get(at + 3) == Some(&b'@') || before.is_some_and(|byte| b"?=&#".contains(&byte))
    };
    memchr::memmem::find_iter(text, b"***").any(is_mask) && !is_open(text)
}

/// Whether something in it would be masked.
pub(super) fn is_open(text: &[u8]) -> bool {
    let mut masked = Vec::new();
    text.iter().any(|byte| b"?#@%".contains(byte)) && {
        redact(text, &mut masked);
        masked != text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl::bytes::Printable;

    #[test]
    fn keys_look_like_keys_and_urls_do_not() {
        let urls = [
            "http://h/",
            "http://h",
            "http://www.example.com/a)/b?c=http://d/#e",
            "https://u:p@h:81/x//y@z",
            "http://h:80?q",
            "http://h:/",
            "ssh://[::1]:8/",
            "http://1.2.3.4:443/",
            "ftp://a,b/c(d)",
        ];
        for url in urls {
            for key in [Key::Surt, Key::Ssurt, Key::Hash] {
                let mut text = Vec::new();
                key.append_bytes(url.as_bytes(), &mut text);
                assert!(is_key(&text, key), "{key} of {url}: {}", Printable(&text));
                assert!(is_key(&text, Key::Url), "{key} of {url}");
                assert!(!is_key(url.as_bytes(), key), "{url} is no {key}");
            }
        }
        for target in ["/wiki/A_(b)/c", "A_(b)/c", "mailto:a@b.c", "//h/a", "/a//b:c@d", "urn:a:b"]
        {
            assert!(!is_key(target.as_bytes(), Key::Url), "{target}");
        }
    }

    #[test]
    fn a_place_is_a_name_and_two_numbers() {
        for (text, is) in [
            ("sb:1:0", true),
            ("dir/a:b:12:345", true),
            ("http://h/a:1:2", false),
            ("a:1", false),
            ("a:1:", false),
            ("a:x:1", false),
            ("", false),
        ] {
            assert_eq!(is_place(text.as_bytes()), is, "{text}");
        }
    }

    #[test]
    fn what_is_escaped_is_what_the_columns_escape() {
        for byte in 0..=255u8 {
            let text = Printable(&[b'a', byte]).to_string();
            assert_eq!(is_escaped(text.as_bytes()), text.len() > 2, "{text}");
        }
        for text in ["a\\xe9", "a\\x41", "a\\xE", "a\\", "\\n", "xE9"] {
            assert!(!is_escaped(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_is_masked_has_nothing_left_to_mask() {
        for (text, masked, open) in [
            ("http://***@h/?a=***&***#***", true, false),
            ("http://h/?a=***&b=1", false, true),
            ("http://h/***", false, false),
            ("http://h/", false, false),
            ("http://h/?a=1", false, true),
        ] {
            assert_eq!((is_masked(text.as_bytes()), is_open(text.as_bytes())), (masked, open));
        }
    }
}
