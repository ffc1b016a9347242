//! The command line as the page of `--report` shows it: ready to paste, without secrets, on one line; and words
//! as a shell takes them.

use std::ffi::OsStr;

use uniqurl_text::{Printable, redact};

/// Bytes of arguments; more are only counted.
const MOST: usize = 4000;

/// The command line of this process.
pub(crate) fn shown() -> String {
    text(std::env::args_os().skip(1).map(|argument| argument_of_shell(&argument)))
}

fn text(arguments: impl Iterator<Item = String>) -> String {
    let (mut text, mut more) = ("uniqurl".to_owned(), 0);
    for argument in arguments {
        // After the first argument that is left out, shorter ones are too: only the beginning of a
        // command line can be shown.
        if more > 0 || text.len() + argument.len() >= MOST {
            more += 1;
            continue;
        }
        text.push(' ');
        text.push_str(&argument);
    }
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// An argument as a shell takes it. In a URL, and in text that may hold a password, alone or after
/// `--option=`, secrets are masked.
fn argument_of_shell(argument: &OsStr) -> String {
    let bytes = argument.as_encoded_bytes();
    // The value alone is masked, for the name of an option says what was hidden.
    let value = match bytes.iter().position(|byte| *byte == b'=') {
        Some(equals) if bytes.starts_with(b"--") => equals + 1,
        _ => 0,
    };
    let mut shown = bytes[..value].to_vec();
    match is_url(&bytes[value..]) || may_hold_password(&bytes[value..]) {
        true => redact(&bytes[value..], &mut shown),
        false => shown.extend_from_slice(&bytes[value..]),
    }
    of_shell(&Printable(&shown).to_string())
}

/// A word as a shell takes it: in quotation marks if it has a byte that the shell may act on.
pub(crate) fn of_shell(word: &str) -> String {
    // These are harmless in every shell. All others are quoted, so nobody has to list what a shell acts on.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@%+=,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) { word.to_owned() } else { quoted(word) }
}

/// A text in the quotation marks of a shell.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn is_url(text: &[u8]) -> bool {
    let end = text.windows(3).position(|mark| mark == b"://").unwrap_or(0);
    let is_of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    end > 0 && text[..end].iter().all(is_of_scheme)
}

/// True for `user:password@host` and `//user@host` in any text, such as a pattern or the name of an input.
fn may_hold_password(text: &[u8]) -> bool {
    let ends = |mark: &[u8]| memchr::memmem::rfind(text, mark);
    // The last one, for a password may hold an `@` itself.
    let Some(end) = ends(b"@").max(ends(b"%40")) else { return false };
    text[..end].contains(&b':') || memchr::memmem::find(&text[..end], b"//").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(arguments: &[&str]) -> String {
        text(arguments.iter().map(|argument| argument_of_shell(OsStr::new(argument))))
    }

    #[test]
    fn arguments_are_quoted_for_a_shell() {
        assert_eq!(
            of(&["dedup", "-j2", "a b", "it's", "", "$x"]),
            r"uniqurl dedup -j2 'a b' 'it'\''s' '' '$x'"
        );
        assert_eq!(of(&["--not-match", "https?://x=1"]), "uniqurl --not-match 'https?://x=1'");
    }

    #[test]
    fn secrets_of_urls_are_masked() {
        let url = "http://u:secret@h/?token=secret#secret";
        let joined = format!("--base={url}");
        assert_eq!(
            of(&["--base", url, &joined]),
            "uniqurl --base 'http://***@h/?token=***#***' '--base=http://***@h/?token=***#***'"
        );
    }

    #[test]
    fn passwords_in_patterns_and_names_are_masked() {
        for (argument, shown) in [
            ("http:u:secret@h", "'***@h'"),
            ("https?://u:secret@h", "'***'"),
            ("--match=^//secret%40h", "'--match=***%40h'"),
            ("me@h.log", "me@h.log"),
        ] {
            assert_eq!(of(&[argument]), format!("uniqurl {shown}"));
        }
    }

    #[test]
    fn long_lists_of_inputs_are_cut() {
        let names = vec!["0123456789"; 1000];
        let shown = of(&names);
        assert!(shown.len() < MOST + 20 && shown.ends_with(" and 637 more"), "{shown}");
    }
}
