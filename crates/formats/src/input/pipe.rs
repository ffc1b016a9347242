//! Enlarges pipe buffers, and blocks on pipes that were set `O_NONBLOCK`.
//!
//! A new pipe holds 64 KiB, and each time it is full or empty one side sleeps until the other has run.
//! With sixteen times as much, a gigabyte from `cat` to `dedup` takes 0.78 of the time.
//!
//! `O_NONBLOCK` belongs to the end of a pipe, socket or terminal, not to a process. A process with an
//! event loop sets it for everyone that inherited the same end, and often leaves it set.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};

/// The default limit for unprivileged users on Linux (`/proc/sys/fs/pipe-max-size`). The kernel
/// allocates pages only as they are written to.
const SIZE: usize = 1 << 20;

/// Enlarges the buffer of a pipe if the system allows it. Other files are left alone.
pub fn set_pipe_size(file: &impl AsFd) {
    #[cfg(target_os = "linux")]
    {
        use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
        // Never shrink a pipe: its writer may have asked for more.
        if fcntl_getpipe_size(file).is_ok_and(|size| size < SIZE) {
            // A failure is harmless: the pipe keeps its size.
            let _ = fcntl_setpipe_size(file, SIZE);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, SIZE);
}

/// Reads a file, and waits while it has no data.
#[derive(Debug)]
pub struct BlockingReader(pub File);

impl Read for BlockingReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let Self(file) = self;
        blocking(file, PollFlags::IN, || (&*file).read(out))
    }
}

/// Calls `write`, and repeats the call once the file is writable if it would block.
pub fn write_blocking(file: &File, write: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    blocking(file, PollFlags::OUT, write)
}

fn blocking(
    file: &File,
    wanted: PollFlags,
    mut call: impl FnMut() -> io::Result<usize>,
) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                // If the other side has closed, `poll` returns and the next call reports it.
                poll(&mut [PollFd::new(file, wanted)], None)?;
            }
            done => return done,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;
    use std::os::fd::OwnedFd;
    use std::thread;
    use std::time::Duration;

    use super::*;
    use crate::test_util::not_tried;
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use rustix::pipe::fcntl_getpipe_size;

    #[test]
    fn small_pipe_is_enlarged_and_a_large_one_is_kept() {
        let (read, write) = std::io::pipe().unwrap();
        let most = std::fs::read_to_string("/proc/sys/fs/pipe-max-size").unwrap();
        let most: usize = most.trim().parse().unwrap();
        let before = fcntl_getpipe_size(&read).unwrap();
        set_pipe_size(&read);
        let size = fcntl_getpipe_size(&write).unwrap();
        if most < SIZE {
            not_tried(&format!("pipes hold no more than {most} bytes here"));
        } else {
            assert!(before < SIZE && size == SIZE, "{before} -> {size}");
        }
        set_pipe_size(&write);
        assert_eq!(fcntl_getpipe_size(&read).unwrap(), size);
    }

    #[test]
    fn regular_file_is_not_resized() {
        let file = tempfile::tempfile().unwrap();
        set_pipe_size(&file);
        assert_eq!(file.metadata().unwrap().len(), 0);
    }

    /// Both ends of a pipe with `O_NONBLOCK` set.
    fn hasty() -> (File, File) {
        let (read, write) = io::pipe().unwrap();
        [OwnedFd::from(read), OwnedFd::from(write)]
            .map(|end| {
                let flags = fcntl_getfl(&end).unwrap();
                fcntl_setfl(&end, flags | OFlags::NONBLOCK).unwrap();
                File::from(end)
            })
            .into()
    }

    #[test]
    fn read_waits_for_data_on_a_nonblocking_pipe() {
        let (mut read, mut write) = hasty();
        assert_eq!(read.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        let late = thread::spawn(move || {
            for part in [&b"http://h"[..], b"/\n"] {
                thread::sleep(Duration::from_millis(50));
                write.write_all(part).unwrap();
            }
        });
        let mut text = String::new();
        BlockingReader(read).read_to_string(&mut text).unwrap();
        assert_eq!(text, "http://h/\n");
        late.join().unwrap();
    }

    #[test]
    fn write_waits_for_a_slow_reader_and_fails_without_one() {
        let (mut read, write) = hasty();
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|i| i as u8).collect();
        let late = thread::spawn(move || {
            let mut taken: Vec<u8> = Vec::new();
            thread::sleep(Duration::from_millis(50));
            while taken.len() < 1_000_000 {
                let mut part = [0; 10_000];
                match read.read(&mut part) {
                    Ok(length) => taken.extend(&part[..length]),
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                }
            }
            taken
        });
        let mut left = &bytes[..];
        while !left.is_empty() {
            let written = write_blocking(&write, || (&write).write(left)).unwrap();
            left = &left[written..];
        }
        assert!(late.join().unwrap() == bytes);
        let gone = write_blocking(&write, || (&write).write(b"more"));
        assert_eq!(gone.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
