//! The memory budget of a run, and where the rest goes.

use std::path::{Path, PathBuf};

/// The memory of a run.
///
/// It is checked before each batch is inserted: the set with the memory that it needs to grow, the buffers of all chunks
/// in flight, the lines and places that are kept for the end, and the memory of sorting. Over budget, URLs
/// that the set does not hold go to a temporary file, and the result is the same to the byte. The program
/// itself, its threads and its libraries are not counted.
#[derive(Debug, Clone)]
pub struct Memory {
    /// Bytes. However few, chunks are read, and a few URLs are held at a time.
    pub budget: u64,
    /// Directory of the temporary file, which has no name there.
    pub directory: PathBuf,
    /// Is called when the first URLs are spilled: those of lists from before the run, and those of the run.
    pub tell: fn(&SpillNotice<'_>),
}

impl Memory {
    /// So many bytes. The rest goes to the system's directory of temporary files, without a notice.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    /// use uniqurl_engine::{Job, JobPlan, Memory};
    ///
    /// let normalizer = Normalizer::new(Profile::Crawl);
    /// let mut plan = JobPlan::new(normalizer, Job::Dedup(Default::default()));
    /// plan.limits.memory = Some(Memory::new(256 << 20));
    /// ```
    pub fn new(budget: u64) -> Self {
        Self { budget, directory: std::env::temp_dir(), tell: |_| {} }
    }

    /// The budget, as far as this machine can address.
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.budget).unwrap_or(usize::MAX)
    }

    /// Whether a run that holds this many bytes exceeds the budget.
    pub(crate) fn is_exceeded_by(&self, held: usize) -> bool {
        // Allow an eighth for freed memory that the allocator keeps, such as earlier tables of the set.
        (held + held / 8) as u64 > self.budget
    }
}

/// The facts known when a run begins to spill.
#[derive(Debug, Clone, Copy)]
pub struct SpillNotice<'a> {
    /// Where to.
    pub directory: &'a Path,
    /// The estimated size of the temporary file if the rest of the inputs is like the part already read;
    /// unknown for streams.
    pub needed: Option<u64>,
    /// Bytes that are free there, if the system says so.
    pub free: Option<u64>,
}

/// Bytes that this user may still write to the file system of a directory.
pub(crate) fn free_space(directory: &Path) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let found = rustix::fs::statvfs(directory).ok()?;
        // `f_bavail` leaves out the blocks that are reserved for root, which `f_bfree` counts.
        Some(found.f_bavail.saturating_mul(found.f_frsize))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = directory;
        None
    }
}
