//! The names of the inputs, from the command line and from `--files-from`, and the lists that options name.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use uniqurl_formats::input::read_whole;
pub use uniqurl_formats::record::without_mark;

/// Whether a name is that of standard input: `-`, or another name of the same pipe, which can be read only
/// once. A regular file can be read under each of its names.
pub fn is_standard_input(path: &Path) -> bool {
    let pipe = |path: &Path| {
        let found = fs::metadata(path).ok().filter(|found| found.file_type().is_fifo())?;
        Some((found.dev(), found.ino()))
    };
    path == Path::new("-")
        || pipe(path).is_some_and(|found| pipe(Path::new("/dev/stdin")) == Some(found))
}

/// The names in a list. If the list holds a NUL, a NUL ends each name, as `find -print0` writes it; otherwise
/// each line is a name. Empty names are passed over, and so is a byte-order mark in front.
pub fn from_list(list: &Path) -> io::Result<Vec<PathBuf>> {
    read_whole(list).map(|text| split(&text))
}

fn split(list: &[u8]) -> Vec<PathBuf> {
    let list = without_mark(list);
    if list.contains(&0) {
        list.split(|&b| b == 0).filter_map(path).collect()
    } else {
        let lines = list.split(|&b| b == b'\n');
        lines.filter_map(|line| path(line.strip_suffix(b"\r").unwrap_or(line))).collect()
    }
}

fn path(name: &[u8]) -> Option<PathBuf> {
    (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[u8]) -> Vec<String> {
        split(list).iter().map(|path| path.to_str().expect("ASCII").to_owned()).collect()
    }

    #[test]
    fn nul_in_a_list_of_names_makes_nul_the_separator() {
        assert_eq!(names(b"a\nb c\r\n\n d\n-"), ["a", "b c", " d", "-"]);
        assert_eq!(names(b"a\nb\0c\r\0\0"), ["a\nb", "c\r"]);
        assert_eq!(names(b"one\0"), ["one"]);
        assert_eq!(names(b"\xEF\xBB\xBFa\n\xEF\xBB\xBF"), ["a", "\u{feff}"]);
        assert!(names(b"").is_empty() && names(b"\n\n").is_empty());
    }

    #[test]
    fn file_name_may_hold_bytes_that_are_not_utf8() {
        assert_eq!(split(b"caf\xE9\n")[0].as_os_str().as_encoded_bytes(), b"caf\xE9");
    }

    #[test]
    fn error_for_a_missing_list_of_names_holds_its_name() {
        let error = from_list(Path::new("no\x1bsuch")).expect_err("missing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(error.to_string().starts_with("no\\x1Bsuch: missing: "), "{error}");
    }
}
