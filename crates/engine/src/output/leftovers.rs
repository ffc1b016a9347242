//! Temporary directories: made, locked while their process lives, and removed by a later run if a killed
//! process left them.
//!
//! A directory is a leftover if it has the name of a temporary one, belongs to this user, holds nothing but
//! files of an output, and nobody holds its lock. The lock is on the directory itself, so it needs no file
//! and ends with the process. Where the file system locks no directories (NFS), nothing is removed.

use super::temporary::{Temporary, is_temporary_name};
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, flock, open, unlinkat};
use rustix::io::Errno;
use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

/// The mode of a temporary directory, which holds records.
const PRIVATE: u32 = 0o700;

/// How the names of files in a temporary directory start.
pub(super) const SHARD: &str = "shard-";

/// A new temporary directory, open and locked.
pub(super) fn create(around: &Path) -> io::Result<(File, Temporary)> {
    loop {
        let create = |path: &Path| DirBuilder::new().mode(PRIVATE).create(path);
        let ((), temporary) = Temporary::make(around, create)?;
        match open_up(temporary.path()).and_then(|()| lock(temporary.path())) {
            Ok(Lock::Held(directory) | Lock::Unsupported(directory)) => {
                return Ok((directory, temporary));
            }
            // Another process took it for a leftover before it was locked.
            Ok(Lock::Busy) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Lets the owner of a directory make files in it, which a umask may forbid.
fn open_up(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.mode();
    if mode & PRIVATE == PRIVATE {
        return Ok(());
    }
    fs::set_permissions(path, Permissions::from_mode(mode & 0o7777 | PRIVATE))
}

/// The mode of a new directory, by the umask or by the default access control list of the one around it.
pub(super) fn mode_of_new(around: &Path) -> io::Result<u32> {
    loop {
        let ((), probe) = Temporary::make(around, |path| fs::create_dir(path))?;
        match fs::metadata(probe.path()) {
            Ok(found) => return Ok(found.mode() & 0o7777),
            // Another process took it for a leftover.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes the leftovers in a directory, as far as that can be done.
pub(super) fn remove_leftovers(around: &Path) {
    let Ok(entries) = fs::read_dir(around) else { return };
    for entry in entries.flatten() {
        if is_temporary_name(&entry.file_name()) {
            remove_leftover(&entry.path());
        }
    }
}

fn remove_leftover(path: &Path) {
    let Ok(Lock::Held(directory)) = lock(path) else { return };
    let this_user = rustix::process::geteuid().as_raw();
    if !directory.metadata().is_ok_and(|found| found.uid() == this_user) {
        return;
    }
    let Ok(entries) = fs::read_dir(path) else { return };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let is_of_output = |name: &std::ffi::OsString| {
        let is_shard = name.as_encoded_bytes().starts_with(SHARD.as_bytes());
        is_shard || is_temporary_name(name)
    };
    if !names.iter().all(is_of_output) {
        return;
    }
    // It may have got the permissions of the output already.
    let _ = directory.set_permissions(Permissions::from_mode(PRIVATE));
    for name in names {
        // In the directory that was opened, whatever has its name by now.
        let _ = unlinkat(&directory, &name, AtFlags::empty());
    }
    let _ = fs::remove_dir(path);
}

enum Lock {
    Held(File),
    /// Another process holds it, or the directory is not there any more.
    Busy,
    /// The file system has no locks for directories.
    Unsupported(File),
}

/// Locks a directory, but not the target of a link.
fn lock(path: &Path) -> io::Result<Lock> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = File::from(open(path, flags, Mode::empty())?);
    match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(Lock::Busy),
        Err(_) => return Ok(Lock::Unsupported(directory)),
    }
    let found = directory.metadata()?;
    let is_there = fs::symlink_metadata(path)
        .is_ok_and(|named| (named.dev(), named.ino()) == (found.dev(), found.ino()));
    Ok(if is_there { Lock::Held(directory) } else { Lock::Busy })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(directory: &Path) -> usize {
        fs::read_dir(directory).expect("readable").count()
    }

    #[test]
    fn only_directories_that_a_killed_process_left_are_removed() {
        let around = tempfile::tempdir().expect("a directory");
        let (live, temporary) = create(around.path()).expect("made");
        assert_eq!(live.metadata().expect("open").mode() & 0o777, PRIVATE);
        fs::write(temporary.path().join("shard-00000"), "x").expect("written");
        let made = |name: &str, file: &str| {
            let path = around.path().join(name);
            fs::create_dir(&path).expect("made");
            if !file.is_empty() {
                fs::write(path.join(file), "x").expect("written");
            }
            path
        };
        let stale = [
            made(".uniqurl-abc123.tmp", "shard-00000.gz"),
            made(".uniqurl-abc124.tmp", ".uniqurl-abc123.tmp"),
            made(".uniqurl-abc125.tmp", ""),
        ];
        let kept = [
            made(".uniqurl-abc126.tmp", "notes"),
            made(".uniqurl-abc.tmp", "shard-00000"),
            made("uniqurl-abc127.tmp", "shard-00000"),
            made(".uniqurl-abc128.tmp.d", "shard-00000"),
        ];
        let (link, file) =
            (around.path().join(".uniqurl-abc129.tmp"), around.path().join(".uniqurl-abc130.tmp"));
        std::os::unix::fs::symlink(&kept[2], &link).expect("linked");
        fs::write(&file, "x").expect("written");
        remove_leftovers(around.path());
        assert!(stale.iter().all(|path| !path.exists()));
        assert!(kept.iter().all(|path| count(path) == 1));
        assert!(link.is_symlink() && file.exists() && count(temporary.path()) == 1);
    }

    #[test]
    fn a_directory_of_a_process_that_has_ended_is_a_leftover() {
        let around = tempfile::tempdir().expect("a directory");
        let (live, temporary) = create(around.path()).expect("made");
        remove_leftovers(around.path());
        assert_eq!(count(around.path()), 1);
        drop(live);
        remove_leftovers(around.path());
        assert_eq!(count(around.path()), 0);
        drop(temporary);
    }
}
