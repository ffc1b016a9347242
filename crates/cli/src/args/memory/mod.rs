//! The options about memory, and their defaults.

mod available;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::args;
use crate::status::eprint_message;
use available::available;
use uniqurl::bytes::Printable;
use uniqurl_engine::{CHUNK_SIZE, Memory, SpillNotice};

/// Least memory that may be asked for.
const MIN: u64 = 1 << 20;

/// What is left to the program itself.
const BESIDE: u64 = 64 << 20;

/// The same for each thread and what the allocator keeps of its work.
const BESIDE_THREAD: u64 = 12 << 20;

/// Smallest chunk, however little memory there is.
const MIN_CHUNK: usize = 16 << 10;

/// As many chunks as all threads together work on, times what a chunk takes besides its bytes, are to
/// fit into a fourth of the memory.
const CHUNKS_IN_MEMORY: usize = 320;

/// How much a set may hold, and where the rest goes.
#[derive(Debug, Args)]
pub struct MemoryArgs {
    /// Hold no more than this in memory, and the rest in a temporary file; K, M, G are powers of 1024
    /// [default: three quarters of what is free]
    ///
    /// The output is the same to the byte. SIZE is 1M or more. What is free is what the system, and the
    /// control group that this process is in, could give when the run starts; 64 MiB of it, and
    /// 12 MiB for each thread, are left in any case.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = memory,
        allow_negative_numbers = true,
        help_heading = args::RESOURCES,
        help = "Hold no more than this in memory, and the rest in a temporary file; K, M, G are \
                powers of 1024 [default: three quarters of what is free]"
    )]
    pub memory: Option<u64>,

    /// Where that file is, without a name [default: $TMPDIR, or /tmp]
    #[arg(long, value_name = "DIR", help_heading = args::RESOURCES)]
    pub temp_dir: Option<PathBuf>,
}

impl MemoryArgs {
    /// Finds a directory that was named and can hold no file, before hours of work show it. One that the
    /// environment names is no mistake of this run, which may need none: it is only warned of.
    pub fn check(&self) -> Result<(), String> {
        let unfit = |directory: &Path| {
            let error = tempfile::tempfile_in(directory).err()?;
            Some(format!("{}: {error}", Printable::path(directory)))
        };
        if let Some(directory) = &self.temp_dir {
            return unfit(directory).map_or(Ok(()), |why| Err(format!("--temp-dir {why}")));
        }
        if let Some(why) = named_by_environment().as_deref().and_then(unfit) {
            eprint_message(format_args!(
                "warning: TMPDIR={why}; what does not fit into memory has no place, unless --temp-dir \
                 names one"
            ));
        }
        Ok(())
    }

    /// The memory of a run on so many threads; none where nothing was asked for and it is not known what
    /// is free.
    pub fn memory(&self, threads: usize, tell: fn(&SpillNotice<'_>)) -> Option<Memory> {
        let budget = self.memory.or_else(|| available().map(|free| share(free, threads)))?;
        let directory = self.temp_dir.clone().or_else(named_by_environment);
        let directory = directory.unwrap_or_else(|| "/tmp".into());
        Some(Memory { budget, directory, tell })
    }
}

/// How much of what is free a set may hold where nothing was asked for.
fn share(free: u64, threads: usize) -> u64 {
    let beside = BESIDE + BESIDE_THREAD * threads as u64;
    (free / 4 * 3).min(free.saturating_sub(beside)).max(MIN)
}

/// The directory for temporary files that `TMPDIR` names.
fn named_by_environment() -> Option<PathBuf> {
    std::env::var_os("TMPDIR").filter(|named| !named.is_empty()).map(PathBuf::from)
}

/// Bytes of a chunk.
pub fn chunk_size(memory: Option<&Memory>, threads: usize) -> usize {
    let budget = memory.map_or(u64::MAX, |memory| memory.budget);
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    (budget / threads / CHUNKS_IN_MEMORY).clamp(MIN_CHUNK, CHUNK_SIZE)
}

/// Warns, as early as that can be known, of a disk that will be full.
pub fn warn(spilling: &SpillNotice<'_>) {
    if let (Some(needed), Some(free)) = (spilling.needed, spilling.free)
        && needed > free
    {
        eprint_message(format_args!(
            "warning: {}: spilling may take {needed} bytes, and {free} are free; --temp-dir names \
             another directory",
            Printable::path(spilling.directory)
        ));
    }
}

/// Says that a run spilled.
pub fn report_spilled(memory: &Memory, spilled: u64) {
    eprint_message(format_args!(
        "{}: spilled {spilled} bytes, since the URLs and what is read at a time may take more than {} \
         bytes of memory (--memory)",
        Printable::path(&memory.directory),
        memory.budget
    ));
}

fn memory(text: &str) -> Result<u64, String> {
    match args::size(text)? {
        bytes if bytes < MIN => Err("less than 1M".into()),
        bytes => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn sizes_start_at_one_mebibyte() {
        assert_eq!((memory("1M"), memory("3g")), (Ok(1 << 20), Ok(3 << 30)));
        for bad in ["", "0", "1023K", "1T", "x"] {
            assert!(memory(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn default_budget_leaves_some_free_memory() {
        let mib = |free: u64, threads| share(free << 20, threads) >> 20;
        let two = [4096, 256, 128, 96, 64, 8].map(|free| mib(free, 2));
        assert_eq!(two, [3072, 168, 40, 8, 1, 1]);
        assert_eq!([4096, 256, 128].map(|free| mib(free, 8)), [3072, 96, 1]);
    }

    #[test]
    fn memory_and_temp_dir_options_are_used_as_given() {
        let temp_dir = Some(PathBuf::from("/a/b"));
        let memory =
            MemoryArgs { memory: Some(5 << 20), temp_dir }.memory(2, |_| {}).expect("known");
        assert_eq!((memory.budget, memory.directory.as_path()), (5 << 20, Path::new("/a/b")));
    }

    #[test]
    fn little_memory_shrinks_chunks_and_much_memory_does_not_enlarge_them() {
        let chunk = |budget, threads| {
            let memory = Memory { budget, directory: PathBuf::new(), tell: |_| {} };
            chunk_size(Some(&memory), threads)
        };
        assert_eq!((chunk(1 << 20, 2), chunk(16 << 20, 2)), (MIN_CHUNK, (128 << 10) / 5));
        assert_eq!((chunk(1 << 30, 2), chunk_size(None, 2)), (CHUNK_SIZE, CHUNK_SIZE));
        assert_eq!(chunk(1 << 30, 64), (256 << 10) / 5);
    }
}
