//! `-r`: the files below directories.
//!
//! Names are sorted by their bytes, so that the order of the inputs is the same everywhere. Below a
//! directory, names that begin with a dot are passed over, as in ripgrep, and links are not followed.

use std::io;
use std::path::PathBuf;

use walkdir::{DirEntry, WalkDir};

use uniqurl_formats::input::{InputError, Trouble};

/// The inputs with each directory among them replaced by the files below it, and errors for directories
/// that could not be read.
pub fn files_below(paths: Vec<PathBuf>) -> (Vec<PathBuf>, Vec<InputError>) {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        if !path.is_dir() {
            files.push(path);
            continue;
        }
        let is_shown = |entry: &DirEntry| {
            let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            // A directory that was named counts, whatever its name.
            entry.depth() == 0 || !is_hidden
        };
        for entry in WalkDir::new(&path).sort_by_file_name().into_iter().filter_entry(is_shown) {
            match entry {
                Ok(entry) if entry.file_type().is_file() => files.push(entry.into_path()),
                // Links and other kinds are left out. A pipe would make the run wait for a
                // writer that nobody meant.
                Ok(_) => {}
                Err(error) => {
                    let at = error.path().unwrap_or(&path).to_owned();
                    let trouble =
                        error.into_io_error().unwrap_or_else(|| io::Error::other("a loop"));
                    errors.push(InputError::new(&at, None, Trouble::Io(trouble)));
                }
            }
        }
    }
    (files, errors)
}
