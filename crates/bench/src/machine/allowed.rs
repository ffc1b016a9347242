//! The part of the machine that this process may use.

use super::caches::{CacheUnit, last_level};
use super::cgroup;
use super::cpu_list;
use super::files::ReadFile;
use super::topology::Topology;
use super::why_null::WhyNull;
use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

/// Limits of this process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Allowed {
    /// The CPUs of its affinity mask, such as `0-3,8`.
    pub cpus: Option<String>,
    /// How many CPUs it counts on: those of the mask, or fewer by the quota.
    pub cpu_count: usize,
    /// The quota of its control groups in CPUs; 0.5 is half of one.
    pub cpu_quota: Option<f64>,
    /// The memory that its control groups may use.
    pub memory_bytes: Option<u64>,
    /// The limit of its address space (`ulimit -v`).
    pub address_space_bytes: Option<u64>,
    /// The last-level caches that its CPUs use, all together.
    pub last_level_cache_bytes: Option<u64>,
}

impl Allowed {
    pub(super) fn read(
        read: ReadFile,
        topology: &Result<Topology, String>,
        caches: &Result<Vec<CacheUnit>, String>,
        why: &mut WhyNull,
    ) -> Self {
        fn limit<T>(found: Result<Option<T>, String>) -> Result<T, String> {
            found.and_then(|limit| limit.ok_or_else(|| "no limit".to_owned()))
        }
        let topology = topology.as_ref().map_err(Clone::clone);
        let caches = caches.as_ref().map_err(Clone::clone);
        let last = caches.and_then(|caches| {
            let last = topology.clone().map(|topology| last_level(caches, &topology.allowed))?;
            last.ok_or_else(|| "the allowed CPUs use no known cache".to_owned())
        });
        let cpus = topology.map(|topology| cpu_list::format(&topology.allowed));
        let quota = limit(cgroup::cpu_quota(read));
        let memory = limit(cgroup::memory_limit(read));
        let address_space = limit(Ok(getrlimit(Resource::As).current));
        Self {
            cpus: why.known("allowed.cpus", cpus),
            cpu_count: uniqurl_engine::cores(),
            cpu_quota: why.known("allowed.cpu_quota", quota),
            memory_bytes: why.known("allowed.memory_bytes", memory),
            address_space_bytes: why.known("allowed.address_space_bytes", address_space),
            last_level_cache_bytes: why.known("allowed.last_level_cache_bytes", last),
        }
    }
}
