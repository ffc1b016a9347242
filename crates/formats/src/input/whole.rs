//! Reads small files at once: lists of names, rules, results.

use std::io::{self, Read};
use std::path::Path;

use super::{InputError, Trouble, pipe, unpacked};

/// Returns all bytes of a file, decompressed like an input; `-` is standard input. Errors name the
/// file.
pub fn read_whole(list: &Path) -> io::Result<Vec<u8>> {
    read_within(list, usize::MAX)
}

/// The same for a file of at most this many bytes. A longer one is an error.
pub fn read_within(list: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let told = |kind, at, trouble| io::Error::new(kind, InputError::new(list, at, trouble));
    let mut unpacked = pipe(list)
        .and_then(unpacked)
        .map_err(|error| told(error.kind(), None, Trouble::Io(error)))?;
    // One byte more than allowed tells a file that is too long from one that just fits.
    let limit = (most as u64).saturating_add(1);
    (&mut unpacked).take(limit).read_to_end(&mut text).map_err(|error| {
        let (kind, at) = (error.kind(), text.len() as u64);
        told(kind, Some(at), unpacked.trouble(error))
    })?;
    if text.len() > most {
        let why = format!("it has more than {most} bytes, all the memory there is for it");
        return Err(told(io::ErrorKind::OutOfMemory, None, Trouble::Memory(why)));
    }
    Ok(text)
}
