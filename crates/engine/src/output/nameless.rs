//! Files that have no name until they are complete, where the system has them (Linux).

pub(super) use system::{create, name};

#[cfg(target_os = "linux")]
mod system {
    use crate::output::temporary::{PRIVATE, Temporary, because_of};
    use rustix::fs::{AtFlags, CWD, OFlags, linkat};
    use rustix::io::Errno;
    use std::fs::{File, OpenOptions, Permissions};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::{Path, PathBuf};
    use uniqurl_store::directory_of;

    /// A nameless file in `directory`, with the mode that a new file would have there; or `None` where there
    /// can be none.
    pub fn create(directory: &Path) -> io::Result<Option<(File, u32)>> {
        let mut options = OpenOptions::new();
        // The umask, or a default list of the directory, makes of 0666 the mode of any new file there.
        options.write(true).mode(0o666).custom_flags(OFlags::TMPFILE.bits() as i32);
        match options.open(directory) {
            // Without /proc it could never be given a name.
            Ok(file) if !proc_path(&file).exists() => Ok(None),
            Ok(file) => {
                let mode = file.metadata()?.mode() & 0o7777;
                // Nobody can have opened a file that has no name.
                file.set_permissions(Permissions::from_mode(PRIVATE))?;
                Ok(Some((file, mode)))
            }
            // The answers of file systems and kernels without O_TMPFILE (open(2)). If the directory is really
            // missing, creating the named file fails.
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT) => Ok(None),
                _ => Err(because_of(directory, error)),
            },
        }
    }

    /// Names the file. `linkat` never replaces a file, so if the name is taken the file gets another name
    /// first, and is renamed: a process that is killed in these microseconds leaves that name.
    pub fn name(file: &File, target: &Path) -> io::Result<()> {
        let link = |path: &Path| {
            // By its name in /proc: to link a descriptor itself (AT_EMPTY_PATH) takes a privilege.
            linkat(CWD, proc_path(file), CWD, path, AtFlags::SYMLINK_FOLLOW)
                .map_err(io::Error::from)
        };
        match link(target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Temporary::make(directory_of(target), link)?.1.rename(target)
            }
            done => done,
        }
    }

    fn proc_path(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub fn create(_: &Path) -> io::Result<Option<(File, u32)>> {
        Ok(None)
    }

    pub fn name(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
