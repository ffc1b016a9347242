//! Temporary files without a name: the system removes them when the process ends.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

/// Makes a file without a name in `directory`, for records, which only this user may open.
///
/// # Errors
///
/// No file can be made there, or the directory belongs to another user and is not shared, as `/tmp` is
/// (mode `+t`).
pub fn temporary_file(directory: &Path) -> io::Result<File> {
    const STICKY: u32 = 0o1000;
    let file = tempfile::tempfile_in(directory)?;
    // Only the umask decides about the mode of a file that never had a name.
    file.set_permissions(fs::Permissions::from_mode(0o600))?;
    // The new file tells the user of this process. Another user who owns the directory could
    // replace what is in it, unless the sticky bit forbids that.
    let around = fs::metadata(directory)?;
    if around.uid() != file.metadata()?.uid() && around.mode() & STICKY == 0 {
        let text = "it is another user's, and not shared (mode +t)";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(file)
}
