//! The end of a run whose memory ran out where nothing could report it.
//!
//! The standard library aborts the process if an allocation fails outside of `uniqurl::internal::alloc`: in a
//! task of rayon, a message, a channel. Under a limit of the address space such an abort ends the run as
//! other limits do, with the accounting and status 3. The thread that aborts is held in its handler, which
//! writes to a full pipe, and a thread that was started for this ends the process.

use std::io::{self, PipeWriter, Write, pipe};
use std::mem::forget;
use std::thread::{self, Thread};

use rustix::fs::{OFlags, fcntl_setfl};
use signal_hook::consts::SIGABRT;
use signal_hook::low_level;

use crate::status::{Status, eprint_hinted};
use uniqurl::internal::alloc;
use uniqurl_engine::RunError;

/// The stack of a thread that only waits, removes files or writes a few lines.
pub const STACK: usize = 256 << 10;

/// Memory for the last words. Nobody writes to it before, so it takes addresses alone.
const RESERVE: usize = 8 << 20;

/// Starts the thread that ends the process once it is unparked, after `last_words`.
pub fn start(last_words: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
    let end = move || {
        // By this thread, since the memory of another would be given back later.
        let mut reserve: Vec<u8> = Vec::new();
        // Without a reserve the words may fail, and then the thread that waits for signals ends the process.
        let _ = alloc::try_reserve_exact(&mut reserve, RESERVE);
        thread::park();
        drop(reserve);
        eprint_hinted(RunError::Memory, Some("use fewer threads with -j"));
        last_words();
        exit();
    };
    let started =
        thread::Builder::new().name("out-of-memory".into()).stack_size(STACK).spawn(end)?;
    Ok(started.thread().clone())
}

/// Ends the process, and calls nothing that allocates.
pub fn exit() -> ! {
    low_level::exit(Status::Limit as i32)
}

/// Holds each thread that aborts from now on, after all actions for its signal that were registered before.
pub fn hold_aborting_threads() -> io::Result<()> {
    let (reader, writer) = pipe()?;
    let mut full = writer.try_clone()?;
    // A thread that aborts writes to the pipe. Registering also has all writers return at once, so the
    // pipe can be filled, and that is undone after it.
    low_level::pipe::register(SIGABRT, writer)?;
    fill(&mut full);
    fcntl_setfl(&full, OFlags::empty())?;
    // Without a reader a write would fail.
    forget(reader);
    Ok(())
}

fn fill(pipe: &mut PipeWriter) {
    // A write of up to 4096 bytes (PIPE_BUF) is taken whole or not at all, so single bytes fill the rest.
    for size in [4096, 1] {
        while pipe.write(&[0; 4096][..size]).is_ok() {}
    }
}
