//! The file that an output replaces: whether it can be replaced, and which mode its successor gets. Its owner,
//! its group, access control lists and other extended attributes are not kept.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use uniqurl_store::directory_of;
use uniqurl_text::Printable;

/// The bits of a mode that a file may take from the one that it replaces. SUID and SGID would make a program
/// of new contents, and the system clears them where a file is written to.
const PERMISSIONS: u32 = 0o777;

/// Of a directory: only the owner of a file in it may remove the file.
const STICKY: u32 = 0o1000;

/// Of a directory: new files in it belong to its group.
const SGID: u32 = 0o2000;

/// Fails if a new file cannot have this name.
pub(super) fn may_be_named(target: &Path) -> io::Result<()> {
    match fs::metadata(target) {
        Ok(old) if old.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(old) => may_be_replaced(target, &old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => is_there(directory_of(target)),
        Err(error) => Err(error),
    }
}

fn is_there(directory: &Path) -> io::Result<()> {
    match fs::metadata(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = format!("the directory {} is missing", Printable::path(directory));
            Err(io::Error::new(error.kind(), text))
        }
        found => found.map(drop),
    }
}

/// Fails early if the rename at the end would fail, or should: for a write-protected file; for a mount point,
/// such as a single file mounted into a container; and for another user's file in a directory where only its
/// owner may remove it, such as `/tmp`.
pub(super) fn may_be_replaced(target: &Path, old: &fs::Metadata) -> io::Result<()> {
    // Renaming over the file would get round its write protection. A pipe would wait for a reader.
    if old.is_file() {
        OpenOptions::new().write(true).open(target)?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
        let found = statx(CWD, target, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
        // Where the system does not tell, the rename at the end fails instead.
        if found.is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)) {
            let text = "a mount point cannot be replaced";
            return Err(io::Error::new(io::ErrorKind::ResourceBusy, text));
        }
    }
    let around = fs::metadata(directory_of(target))?;
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

/// The mode that `new` is to have when it replaces `old`, the file or directory at `target`.
pub(super) fn mode_of_successor(target: &Path, old: &fs::Metadata, new: &fs::Metadata) -> u32 {
    let special = if old.is_dir() { STICKY | SGID } else { 0 };
    let mode = old.mode() & (PERMISSIONS | special);
    // Bits for one group would open the file to another; and where there is an access control list they are
    // the mask of all whom the list names. So the group may do no more than everybody.
    if old.gid() != new.gid() || has_access_list(target) {
        return mode & (!0o070 | (mode & 0o007) << 3);
    }
    mode
}

#[cfg(target_os = "linux")]
fn has_access_list(target: &Path) -> bool {
    // Into no bytes, it answers with the length of the list.
    rustix::fs::getxattr(target, "system.posix_acl_access", &mut [0; 0]).is_ok()
}

/// Elsewhere a list has no mask in the bits of the group.
#[cfg(not(target_os = "linux"))]
fn has_access_list(_: &Path) -> bool {
    false
}
