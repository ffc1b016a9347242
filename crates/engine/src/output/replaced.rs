//! The file that an output replaces: whether it can be replaced, and which attributes its successor gets.
//! Other extended attributes (`user.*`, security labels, capabilities) are not kept.

use super::place::directory;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::Path;

/// The bits of a mode that a file may take from the one that it replaces. SUID and SGID would make a program
/// of new contents, and the system clears them where a file is written to.
const PERMISSIONS: u32 = 0o777;

/// Of a directory: only the owner of a file in it may remove the file.
const STICKY: u32 = 0o1000;

/// Of a directory: new files in it belong to its group.
const SGID: u32 = 0o2000;

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

/// The attributes that an output has when it gets its name.
#[derive(Debug)]
pub(super) enum Attributes {
    /// The mode of any new file or directory.
    New(u32),
    /// Those of a file or directory that it replaces.
    Old(Replaced),
}

/// The attributes of a file or directory that is replaced.
#[derive(Debug)]
pub(super) struct Replaced {
    old: fs::Metadata,
    /// Its access control lists by name; `None` where it has none.
    #[cfg(target_os = "linux")]
    lists: Vec<(&'static str, Option<Vec<u8>>)>,
}

impl Attributes {
    /// Gives them to `file`.
    pub fn give_to(&self, file: &File) -> io::Result<()> {
        match self {
            Attributes::New(mode) => file.set_permissions(fs::Permissions::from_mode(*mode)),
            Attributes::Old(replaced) => replaced.give_to(file),
        }
    }
}

impl Replaced {
    /// Reads those of `target`, whose metadata are `old`.
    pub fn of(target: &Path, old: fs::Metadata) -> Self {
        #[cfg(not(target_os = "linux"))]
        let _ = target;
        Self {
            #[cfg(target_os = "linux")]
            lists: lists::of(target, &old),
            old,
        }
    }

    /// Gives an empty directory what decides about the group and the access control list of files that are
    /// made in it.
    pub fn give_defaults(&self, directory: &File) -> io::Result<()> {
        let new = directory.metadata()?;
        if new.gid() != self.old.gid() {
            let _ = fchown(directory, None, Some(self.old.gid()));
        }
        #[cfg(target_os = "linux")]
        lists::give_to(directory, self.lists.iter().filter(|(name, _)| *name == lists::DEFAULT))?;
        let mode = new.mode() & 0o7777 | self.old.mode() & SGID;
        directory.set_permissions(fs::Permissions::from_mode(mode))
    }

    /// Gives a file the owner, the group, the permissions and the access control lists, as writing into the
    /// old one would have left them. Only a privileged process may give it to another owner, and only a
    /// member to a group; for any other it stays its own.
    fn give_to(&self, file: &File) -> io::Result<()> {
        let (old, new) = (&self.old, file.metadata()?);
        if new.gid() != old.gid() {
            let _ = fchown(file, None, Some(old.gid()));
        }
        #[cfg(target_os = "linux")]
        lists::give_to(file, self.lists.iter())?;
        let mut mode = old.mode() & PERMISSIONS;
        if old.is_dir() {
            mode |= old.mode() & (STICKY | SGID);
        }
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        // Last, since only the owner may change the others.
        if new.uid() != old.uid() {
            let _ = fchown(file, Some(old.uid()), None);
        }
        Ok(())
    }
}

/// Access control lists. With one, the group bits of the mode are the list's mask, not the permissions of the
/// group.
#[cfg(target_os = "linux")]
mod lists {
    use super::{File, Path, fs, io};
    use rustix::buffer::spare_capacity;
    use rustix::fs::{XattrFlags, fremovexattr, fsetxattr, getxattr};
    use rustix::io::Errno;

    const ACCESS: &str = "system.posix_acl_access";
    pub const DEFAULT: &str = "system.posix_acl_default";

    /// The longest value that the system takes.
    const MOST: usize = 64 << 10;

    /// The lists of `target`; of a file system that has none, nothing.
    pub fn of(target: &Path, old: &fs::Metadata) -> Vec<(&'static str, Option<Vec<u8>>)> {
        let names = if old.is_dir() { &[ACCESS, DEFAULT][..] } else { &[ACCESS] };
        let list = |name: &&'static str| {
            let mut list = Vec::with_capacity(MOST);
            match getxattr(target, *name, spare_capacity(&mut list)) {
                Ok(_) => Some((*name, Some(list))),
                Err(Errno::NODATA) => Some((*name, None)),
                Err(_) => None,
            }
        };
        names.iter().filter_map(list).collect()
    }

    /// Sets the lists, and removes those inherited from the directory that the old file has not.
    pub fn give_to<'a>(
        file: &File,
        lists: impl Iterator<Item = &'a (&'static str, Option<Vec<u8>>)>,
    ) -> io::Result<()> {
        for (name, list) in lists {
            match list {
                Some(list) => fsetxattr(file, *name, list, XattrFlags::empty())?,
                None => {
                    let _ = fremovexattr(file, *name);
                }
            }
        }
        Ok(())
    }
}
