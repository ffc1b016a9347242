//! Reading the small files of `/proc` and `/sys`.

use std::fs;

/// Gives the text of a file without white space at its ends, or the reason why it cannot be read. The tests
/// pass a map of invented files.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Reads a file of this system. A file without text counts as one that cannot be read.
pub fn read_file(path: &str) -> Result<String, String> {
    match fs::read(path) {
        Err(error) => Err(format!("{path}: {error}")),
        Ok(bytes) => match String::from_utf8_lossy(&bytes).trim() {
            "" => Err(format!("{path}: empty")),
            text => Ok(text.to_owned()),
        },
    }
}

/// Reads a file that holds one number.
pub fn read_number<T: std::str::FromStr>(read: ReadFile, path: &str) -> Result<T, String> {
    let text = read(path)?;
    text.parse().map_err(|_| format!("{path}: `{text}` is not a number"))
}

/// The value of the first line `key: value` of a text.
pub fn line_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let lines = text.lines().filter_map(|line| line.split_once(':'));
    lines
        .filter(|(name, _)| name.trim() == key)
        .map(|(_, value)| value.trim())
        .find(|value| !value.is_empty())
}

/// Bytes from a value such as `123 kB`, of the file named `path`.
pub fn line_bytes(text: &str, key: &str, path: &str) -> Result<u64, String> {
    let value = line_value(text, key).and_then(|value| value.strip_suffix("kB"));
    let kilobytes = value.and_then(|value| value.trim().parse::<u64>().ok());
    kilobytes.map(|kilobytes| kilobytes << 10).ok_or_else(|| format!("{path}: no {key}"))
}

/// Keeps printable ASCII only, since results are shown on terminals.
pub fn printable(text: &str) -> String {
    text.trim().chars().filter(|c| matches!(c, ' '..='~')).collect()
}

/// Invented files.
#[cfg(test)]
pub fn invented<'a>(
    files: &'a [(&'a str, &'a str)],
) -> impl Fn(&str) -> Result<String, String> + 'a {
    |path| {
        let found = files.iter().find(|(name, _)| *name == path);
        found.map(|(_, text)| text.trim().to_owned()).ok_or_else(|| format!("{path}: not found"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_by_their_keys() {
        let text = "MemTotal:     1024 kB\nMemFree: 7 kB\nHugePages_Total:       3\nname\t:\nname\t: a b\n";
        assert_eq!(line_bytes(text, "MemTotal", "m"), Ok(1 << 20));
        assert_eq!(line_bytes(text, "HugePages_Total", "m"), Err("m: no HugePages_Total".into()));
        assert_eq!(line_value(text, "name"), Some("a b"));
        assert_eq!(line_value(text, "other"), None);
    }

    #[test]
    fn missing_and_wrong_files_give_reasons() {
        let read = invented(&[("/a", "12\n"), ("/b", "max\n")]);
        assert_eq!(read_number(&read, "/a"), Ok(12));
        assert_eq!(read_number::<u64>(&read, "/b"), Err("/b: `max` is not a number".into()));
        assert_eq!(read_number::<u64>(&read, "/c"), Err("/c: not found".into()));
        let reason = read_file("/nowhere/at/all").expect_err("no such file");
        assert!(reason.starts_with("/nowhere/at/all: "), "{reason}");
    }
}
