//! The limits of the memory that this process may map (`ulimit -v`, `ulimit -d`).
//!
//! They count addresses, also those that an allocator only reserves: mimalloc a GiB at a time, and the C
//! library 64 MiB for each thread that calls it. Under a limit the command therefore starts again, with
//! allocators that reserve nothing. That costs page faults, and a run then takes about a tenth more CPU time.

#[cfg(target_os = "linux")]
use std::{env, fs, os::unix::process::CommandExt, process::Command};

#[cfg(target_os = "linux")]
use rustix::process::{Resource, getrlimit};

/// The settings of the allocators, which they read when the process starts.
#[cfg(target_os = "linux")]
const SETTINGS: [(&str, &str); 2] = [("MIMALLOC_ARENA_RESERVE", "0"), ("MALLOC_ARENA_MAX", "1")];

/// True if such a limit is set.
pub fn is_limited() -> bool {
    limits().iter().any(Option::is_some)
}

/// Starts the command again if a limit is set, unless the environment has a setting already.
pub fn start_again_if_limited() {
    #[cfg(target_os = "linux")]
    if is_limited()
        // The new process has the settings, so it does not start again for ever.
        && SETTINGS.iter().all(|(name, _)| env::var_os(name).is_none())
        && let Ok(program) = env::current_exe()
    {
        let mut arguments = env::args_os();
        let mut command = Command::new(program);
        if let Some(name) = arguments.next() {
            // The process keeps the name that it was called by, as `ps` shows it.
            command.arg0(name);
        }
        // It returns only if it fails, and then the run goes on with the addresses that are left.
        let _ = command.args(arguments).envs(SETTINGS).exec();
    }
}

/// Bytes that can still be allocated within the limits; none without a limit.
#[cfg(target_os = "linux")]
pub fn free() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    // An eighth is lost in parts of the allocator's pages that nothing uses. Measured with eight threads, a run
    // maps up to 90 MB more than it touches.
    free_of(limits(), &status).map(|free| free - free / 8)
}

/// The limits of all mapped memory, and of the part that is private and writable.
fn limits() -> [Option<u64>; 2] {
    // Other systems do not enforce them.
    #[cfg(target_os = "linux")]
    return [Resource::As, Resource::Data].map(|resource| getrlimit(resource).current);
    #[cfg(not(target_os = "linux"))]
    [None; 2]
}

/// Bytes that may still be mapped, by the text of /proc/self/status.
#[cfg(target_os = "linux")]
fn free_of(limits: [Option<u64>; 2], status: &str) -> Option<u64> {
    let mapped = |name: &str| {
        let text = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kib: u64 = text.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kib.checked_mul(1024)
    };
    let named = limits.into_iter().zip(["VmSize:", "VmData:"]);
    named.filter_map(|(limit, name)| Some(limit?.saturating_sub(mapped(name)?))).min()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn tighter_limit_of_mapped_memory_wins() {
        let status = "Name:\tx\nVmPeak:\t  900 kB\nVmSize:\t  300 kB\nVmData:\t   100 kB\n";
        let free = |all: Option<u64>, data: Option<u64>| {
            free_of([all, data].map(|limit| limit.map(|kib| kib << 10)), status)
                .map(|free| free >> 10)
        };
        assert_eq!(free(None, None), None);
        assert_eq!([free(Some(1000), None), free(None, Some(150))], [Some(700), Some(50)]);
        assert_eq!([free(Some(320), Some(150)), free(Some(200), None)], [Some(20), Some(0)]);
        assert_eq!(free_of([Some(1), None], ""), None);
    }
}
