//! How an input is known again.

use std::fmt::Write;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use uniqurl::bytes::Printable;
use uniqurl_formats::input::{Input, Source};

/// Bytes at each end of a file that are looked at.
const END: u64 = 64 << 10;

/// An input as it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Its name, with bytes outside of 0x20-0x7E as `\xHH`.
    name: String,
    size: u64,
    modified: (i64, i64),
    /// SHA-256 of its first and its last bytes.
    ends: String,
}

impl Stamp {
    pub(super) fn of(input: &Input) -> io::Result<Self> {
        let Source::File { size, modified, .. } = input.source else {
            return Err(io::Error::other("a stream has no checkpoint"));
        };
        let name = Printable::path(&input.path).to_string();
        let ends = ends(input, size)
            .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
        Ok(Self { name, size, modified, ends })
    }

    /// What is another in the input that stands in its place.
    pub(super) fn difference(&self, input: Option<&Input>) -> io::Result<Option<String>> {
        let was = &self.name;
        let Some(input) = input else {
            return Ok(Some(format!("{was} was an input and is none")));
        };
        let is = Printable::path(&input.path).to_string();
        if is != *was {
            return Ok(Some(format!("{is} stands among the inputs where {was} was")));
        }
        let changed = self.change(&Self::of(input)?);
        Ok(changed.map(|what| format!("{was} was absorbed, and its {what} has changed since")))
    }

    /// What is another in the same file now.
    pub(super) fn change(&self, now: &Self) -> Option<&'static str> {
        if now.size != self.size {
            Some("size")
        } else if now.modified != self.modified {
            Some("time")
        } else if now.ends != self.ends {
            Some("content")
        } else {
            None
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

fn ends(input: &Input, size: u64) -> io::Result<String> {
    let file = File::open(&input.path)?;
    let mut hash = Sha256::new();
    let length = size.min(END);
    let mut bytes = vec![0; length as usize];
    for at in [0, size - length] {
        file.read_exact_at(&mut bytes, at)?;
        hash.update(&bytes);
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        write!(text, "{byte:02x}").expect("a String takes all of it");
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl_formats::input::check;

    #[test]
    fn a_byte_at_either_end_tells_a_file_from_another() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("in");
        let length = 3 * END as usize;
        let ends_with = |changed: Option<usize>| {
            let mut bytes = vec![b'x'; length];
            changed.into_iter().for_each(|at| bytes[at] = b'y');
            std::fs::write(&path, bytes).unwrap();
            let (inputs, _) = check(std::slice::from_ref(&path));
            Stamp::of(&inputs[0]).unwrap().ends
        };
        let whole = ends_with(None);
        let end = END as usize;
        for (at, is_told) in
            [(0, true), (end - 1, true), (end, false), (length - end, true), (length - 1, true)]
        {
            assert_eq!(ends_with(Some(at)) != whole, is_told, "{at}");
        }
    }
}
