//! Small files that are read at once: lists of names, rules, results.

use std::io::{self, Read};
use std::path::Path;

use super::{InputError, Trouble, pipe, unpacked};

/// All bytes of a file, decompressed as an input would be; `-` is standard input. Errors name the file.
pub fn read_whole(list: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let told = |kind, at, trouble| io::Error::new(kind, InputError::new(list, at, trouble));
    let mut unpacked = pipe(list)
        .and_then(unpacked)
        .map_err(|error| told(error.kind(), None, Trouble::Io(error)))?;
    unpacked.read_to_end(&mut text).map_err(|error| {
        let (kind, at) = (error.kind(), text.len() as u64);
        told(kind, Some(at), unpacked.trouble(error))
    })?;
    Ok(text)
}
