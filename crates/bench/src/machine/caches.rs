//! The caches.

use super::files::{ReadFile, read_number};
use super::topology::{Topology, read_list};
use serde::{Deserialize, Serialize};

/// Caches of one level, kind and size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheLevel {
    /// The level; 1 is next to the core.
    pub level: u32,
    /// `data`, `instruction` or `unified`.
    pub kind: String,
    /// The size of one.
    pub bytes: u64,
    /// CPUs that share one.
    pub shared_by: usize,
    /// How many there are.
    pub count: usize,
}

/// One cache.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CacheUnit {
    level: u32,
    kind: String,
    bytes: u64,
    /// The CPUs that share it.
    cpus: Vec<usize>,
}

/// All caches of the machine, each once.
pub fn caches(topology: &Topology, read: ReadFile) -> Result<Vec<CacheUnit>, String> {
    let mut all: Vec<CacheUnit> = Vec::new();
    for cpu in &topology.cpus {
        for index in 0.. {
            let path = |name: &str| {
                format!("/sys/devices/system/cpu/cpu{}/cache/index{index}/{name}", cpu.cpu)
            };
            let Ok(level) = read_number(read, &path("level")) else { break };
            // Some firmware leaves out the size of the last level.
            let Ok(bytes) = read(&path("size")).and_then(|text| size(&text)) else { continue };
            let kind = read(&path("type"))?.to_lowercase();
            let cpus = read_list(read, &path("shared_cpu_list"));
            all.push(CacheUnit { level, kind, bytes, cpus: cpus.unwrap_or(vec![cpu.cpu]) });
        }
    }
    all.sort_unstable();
    all.dedup();
    match all.is_empty() {
        true => Err("/sys/devices/system/cpu/cpu0/cache: no cache with a size".to_owned()),
        false => Ok(all),
    }
}

/// The caches that are alike, together.
pub fn levels(caches: &[CacheUnit]) -> Vec<CacheLevel> {
    let mut levels: Vec<CacheLevel> = Vec::new();
    for cache in caches {
        let of_cache = CacheLevel {
            level: cache.level,
            kind: cache.kind.clone(),
            bytes: cache.bytes,
            shared_by: cache.cpus.len(),
            count: 1,
        };
        match levels
            .iter_mut()
            .find(|known| CacheLevel { count: 1, ..(*known).clone() } == of_cache)
        {
            Some(known) => known.count += 1,
            None => levels.push(of_cache),
        }
    }
    levels
}

/// Bytes of all caches of the last level that some of these CPUs use. More than one, on several sockets or chiplets,
/// hold more together.
pub fn last_level(caches: &[CacheUnit], cpus: &[usize]) -> Option<u64> {
    let used = || caches.iter().filter(|cache| cache.cpus.iter().any(|cpu| cpus.contains(cpu)));
    let last = used().map(|cache| cache.level).max()?;
    Some(used().filter(|cache| cache.level == last).map(|cache| cache.bytes).sum())
}

/// Bytes of `48K` or `32M`.
fn size(text: &str) -> Result<u64, String> {
    let (number, shift) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) if text.ends_with('K') => (number, 10),
        Some(number) if text.ends_with('M') => (number, 20),
        Some(number) => (number, 30),
        None => (text, 0),
    };
    let bytes = number.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    bytes.ok_or_else(|| format!("`{text}` is not a size"))
}

#[cfg(test)]
mod tests {
    use super::super::files::invented;
    use super::super::topology::samples;
    use super::*;

    /// Two chiplets with two cores each, as on AMD: an L3 for each chiplet.
    fn chiplets() -> Vec<(String, String)> {
        let mut files = Vec::new();
        for cpu in 0..4 {
            let chiplet = if cpu < 2 { "0-1" } else { "2-3" };
            let own = cpu.to_string();
            for (index, level, kind, size, shared) in [
                (0, "1", "Data", "32K", own.as_str()),
                (1, "1", "Instruction", "32K", &own),
                (2, "2", "Unified", "1024K", &own),
                (3, "3", "Unified", "32M", chiplet),
            ] {
                for (name, text) in
                    [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)]
                {
                    let path =
                        format!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{name}");
                    files.push((path, text.to_owned()));
                }
            }
        }
        files
    }

    #[test]
    fn alike_caches_are_counted() {
        let files = chiplets();
        let files: Vec<_> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let all = caches(&samples::server(1, 4, 1), &invented(&files)).expect("caches");
        let level = |level, kind: &str, bytes, shared_by, count| CacheLevel {
            level,
            kind: kind.to_owned(),
            bytes,
            shared_by,
            count,
        };
        assert_eq!(
            levels(&all),
            [
                level(1, "data", 32 << 10, 1, 4),
                level(1, "instruction", 32 << 10, 1, 4),
                level(2, "unified", 1 << 20, 1, 4),
                level(3, "unified", 32 << 20, 2, 2),
            ]
        );
        assert_eq!(last_level(&all, &[0, 1, 2, 3]), Some(64 << 20));
        assert_eq!(last_level(&all, &[3]), Some(32 << 20));
    }

    #[test]
    fn machine_without_caches_gives_a_reason() {
        let none = caches(&samples::server(1, 2, 1), &invented(&[]));
        assert_eq!(none, Err("/sys/devices/system/cpu/cpu0/cache: no cache with a size".into()));
        assert_eq!(size("491520K"), Ok(480 << 20));
        assert_eq!(size("1G"), Ok(1 << 30));
        assert!(size("K").is_err());
    }
}
