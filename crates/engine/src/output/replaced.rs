//! The file that an output replaces: whether it can be replaced, and which attributes its successor gets.

use super::place::directory;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::Path;

/// Fails early if the rename at the end would fail: for a mount point, such as a single file mounted into a
/// container, and for another user's file in a directory where only its owner may remove it, such as `/tmp`.
pub(super) fn may_be_replaced(target: &Path, old: &fs::Metadata) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
        let found = statx(CWD, target, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
        if found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)) {
            let text = "a mount point cannot be replaced";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
    }
    const STICKY: u32 = 0o1000;
    let around = fs::metadata(directory(target))?;
    let this_user = rustix::process::geteuid().as_raw();
    if around.mode() & STICKY != 0
        && ![around.uid(), old.uid()].contains(&this_user)
        // Who has the privilege to set a mode, as root has, may rename it too.
        && fs::set_permissions(target, old.permissions()).is_err()
    {
        let text = "the sticky bit of its directory (mode +t) lets only its owner replace it";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

/// Gives a file the owner, the group, the permissions and the access control lists of the one that it
/// replaces, as writing into that would have left them. Only a privileged process may give it to another
/// owner, and only a member to a group; for any other it stays its own.
pub(super) fn take_after(file: &File, target: &Path, old: &fs::Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        let group = Some(old.gid());
        let _ = fchown(file, Some(old.uid()), group).or_else(|_| fchown(file, None, group));
    }
    #[cfg(target_os = "linux")]
    copy_lists(file, target, old)?;
    #[cfg(not(target_os = "linux"))]
    let _ = target;
    file.set_permissions(old.permissions())
}

/// Copies the access control lists of `target`, and removes those inherited from the directory if `target`
/// has none. With a list, the group bits of the mode are the list's mask, not the permissions
/// of the group.
#[cfg(target_os = "linux")]
fn copy_lists(file: &File, target: &Path, old: &fs::Metadata) -> io::Result<()> {
    use rustix::buffer::spare_capacity;
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr};
    use rustix::io::Errno;
    /// The longest value that the system takes.
    const MOST: usize = 64 << 10;
    let names = ["system.posix_acl_access", "system.posix_acl_default"];
    for name in if old.is_dir() { &names[..] } else { &names[..1] } {
        let mut list = Vec::with_capacity(MOST);
        match getxattr(target, *name, spare_capacity(&mut list)) {
            Ok(_) => fsetxattr(file, *name, &list, XattrFlags::empty())?,
            Err(Errno::NODATA) => {
                let _ = fremovexattr(file, *name);
            }
            // This file system has none.
            Err(_) => {}
        }
    }
    Ok(())
}
