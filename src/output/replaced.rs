//! What an output replaces: whether that can be replaced.

use super::file::directory;
use std::fs;
use std::io;
use std::path::Path;

/// Finds what would refuse the new name at the end, when all the work is done: a mount point, as a
/// container has it for a single file, and what is another user's in a directory where only they may take
/// a name away, as in `/tmp`.
pub(super) fn may_be_replaced(target: &Path, old: &fs::Metadata) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
        let found = statx(CWD, target, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
        if found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)) {
            let text =
                "it is a mount point, which cannot be replaced; mount the directory that it is in";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        const STICKY: u32 = 0o1000;
        let around = fs::metadata(directory(target))?;
        let this_user = rustix::process::geteuid().as_raw();
        if around.mode() & STICKY != 0
            && ![around.uid(), old.uid()].contains(&this_user)
            // Who has the privilege to set a mode, as root has, may rename it too.
            && fs::set_permissions(target, old.permissions()).is_err()
        {
            let text =
                "it is another user's, and its directory (mode +t) lets nobody else replace it";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
    }
    #[cfg(not(unix))]
    let _ = (target, old);
    Ok(())
}
