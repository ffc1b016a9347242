//! The options about memory, and their defaults.

#[cfg(target_os = "linux")]
mod available;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::args::help::RESOURCES;
use crate::args::values::{number, size};
use crate::status::{eprint_hinted, eprint_message};
#[cfg(target_os = "linux")]
use available::available;
use uniqurl_engine::{CHUNK_SIZE, Memory, SpillNotice, cores, temporary_file};
use uniqurl_text::Printable;

/// The smallest value of `--memory`.
const MIN: u64 = 1 << 20;

/// Memory that is left to the program itself. Its code has 10 MiB in memory. Half of the rest are pages that the
/// allocator keeps for some milliseconds after batches of long lines went from one thread to another.
const BESIDE: u64 = 80 << 20;

/// The same for each thread, including memory that the allocator keeps.
const BESIDE_THREAD: u64 = 12 << 20;

/// Memory for merging if nothing tells how much is free.
const UNKNOWN: u64 = 256 << 20;

/// Smallest chunk, however little memory there is.
const MIN_CHUNK: usize = 16 << 10;

/// This many chunks for each thread would fill the memory. The chunks in work, with all memory that they
/// need, then take a fourth of it.
const CHUNKS_IN_MEMORY: usize = 320;

/// The memory that a set may use, and the place for the rest.
#[derive(Debug, Args)]
#[command(next_help_heading = RESOURCES)]
pub struct MemoryArgs {
    /// Use at most SIZE of memory, and then a temporary file
    ///
    /// The output does not depend on SIZE. K, M, G, KiB, MiB and GiB are powers of 1024, kB, MB and GB
    /// of 1000, and 50% is half of the free memory. The default is three quarters of the memory that the
    /// system, the control group of this process and its limits could give when the run starts.
    #[arg(long, value_name = "SIZE", value_parser = memory, allow_negative_numbers = true)]
    pub memory: Option<u64>,

    /// Put the temporary file into DIR [default: $TMPDIR, or /tmp]
    ///
    /// The file has no name in DIR.
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
}

impl MemoryArgs {
    /// Rejects a named directory that can hold no file, before hours of work show it. If only the
    /// environment names it, the run may not need it, so it causes a warning.
    pub fn check(&self) -> Result<(), String> {
        let unfit = |directory: &Path| {
            let error = temporary_file(directory).err()?;
            Some(format!("{}: {error}", Printable::path(directory)))
        };
        if let Some(directory) = &self.temp_dir {
            // It was named for this run, so it is an error even if the run never spills.
            return unfit(directory).map_or(Ok(()), |why| Err(format!("--temp-dir {why}")));
        }
        if let Some(why) = named_by_environment().as_deref().and_then(unfit) {
            eprint_hinted(
                format_args!("warning: TMPDIR: {why}"),
                Some("name a directory for temporary files with --temp-dir"),
            );
        }
        Ok(())
    }

    /// The memory of a run on so many threads; none if `--memory` is absent and the free memory unknown.
    pub fn memory(&self, threads: usize, tell: fn(&SpillNotice<'_>)) -> Option<Memory> {
        let budget = self.memory.or_else(|| available().map(|free| share(free, threads)))?;
        let directory = self.temp_dir.clone().or_else(named_by_environment);
        let directory = directory.unwrap_or_else(|| "/tmp".into());
        Some(Memory { budget, directory, tell })
    }
}

/// The memory that merging the runs of a store may use.
#[derive(Debug, Args)]
pub struct MergeMemoryArgs {
    /// Use at most SIZE of memory; K, M and G are powers of 1024
    ///
    /// SIZE may be a share of the free memory, as in 50%. The default is three quarters of it.
    #[arg(long, value_name = "SIZE", value_parser = memory, allow_negative_numbers = true)]
    memory: Option<u64>,
}

impl MergeMemoryArgs {
    /// The memory in bytes.
    pub fn bytes(&self) -> usize {
        let memory = MemoryArgs { memory: self.memory, temp_dir: None };
        for_merging(memory.memory(cores(), |_| {}).as_ref())
    }
}

/// The memory in bytes that merging the runs of a store may use.
pub fn for_merging(memory: Option<&Memory>) -> usize {
    let bytes = memory.map_or(UNKNOWN, |memory| memory.budget);
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Only Linux tells how much memory is free.
#[cfg(not(target_os = "linux"))]
fn available() -> Option<u64> {
    None
}

/// The part of the free memory that a set may use without `--memory`.
fn share(free: u64, threads: usize) -> u64 {
    let beside = BESIDE + BESIDE_THREAD * threads as u64;
    // Where little is free, a quarter of it would not be enough for the program itself.
    (free / 4 * 3).min(free.saturating_sub(beside)).max(MIN)
}

/// The directory for temporary files that `TMPDIR` names.
fn named_by_environment() -> Option<PathBuf> {
    std::env::var_os("TMPDIR").filter(|named| !named.is_empty()).map(PathBuf::from)
}

/// The number of bytes in a chunk.
pub fn chunk_size(memory: Option<&Memory>, threads: usize) -> usize {
    let budget = memory.map_or(u64::MAX, |memory| memory.budget);
    let budget = usize::try_from(budget).unwrap_or(usize::MAX);
    (budget / threads / CHUNKS_IN_MEMORY).clamp(MIN_CHUNK, CHUNK_SIZE)
}

/// Warns of a disk that will be full, as early as that can be known.
pub fn warn(spilling: &SpillNotice<'_>) {
    if let (Some(needed), Some(free)) = (spilling.needed, spilling.free)
        && needed > free
    {
        eprint_hinted(
            format_args!(
                "warning: {}: spilling may take {needed} bytes, and {free} are free",
                Printable::path(spilling.directory)
            ),
            Some("name another directory with --temp-dir"),
        );
    }
}

/// Reports that a run spilled.
pub fn report_spilled(memory: &Memory, spilled: u64) {
    eprint_message(format_args!(
        "{}: spilled {spilled} bytes, since the run may hold no more than {} bytes in memory (--memory)",
        Printable::path(&memory.directory),
        memory.budget
    ));
}

fn memory(text: &str) -> Result<u64, String> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent: u64 = number(1..=100)(percent)?;
        let free = available().ok_or("how much memory is free is not known here")?;
        return Ok((free / 100 * percent).max(MIN));
    }
    match size(text)? {
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
        for bad in ["", "0", "1023K", "1T", "x", "%", "0%", "101%", "1.5%"] {
            assert!(memory(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_may_be_a_share_of_what_is_free() {
        let Some(free) = available() else { return };
        // Free memory changes from one moment to the next.
        let half = memory("50%").expect("a share");
        assert!((free / 4..free).contains(&half), "{half} of {free}");
    }

    #[test]
    fn default_budget_leaves_some_free_memory() {
        let mib = |free: u64, threads| share(free << 20, threads) >> 20;
        let two = [4096, 256, 128, 96, 64, 8].map(|free| mib(free, 2));
        assert_eq!(two, [3072, 152, 24, 1, 1, 1]);
        assert_eq!([4096, 256, 128].map(|free| mib(free, 8)), [3072, 80, 1]);
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
