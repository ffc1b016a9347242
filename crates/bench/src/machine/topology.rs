//! The CPUs: their cores, sockets and NUMA nodes, and those that this process may use.

use super::cpu_list;
use super::files::{ReadFile, line_value, read_file, read_number};
use super::why_null::WhyNull;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A CPU as the kernel counts them: a hardware thread of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogicalCpu {
    /// Its number.
    pub cpu: usize,
    /// The smallest number of a CPU of the same core.
    pub core: usize,
    /// Its socket.
    pub socket: usize,
    /// Its NUMA node.
    pub node: usize,
}

/// The CPUs that are online.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// All of them, ascending.
    pub cpus: Vec<LogicalCpu>,
    /// The numbers of those that this process may use, ascending.
    pub allowed: Vec<usize>,
}

/// How many there are of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreCounts {
    /// Sockets.
    pub sockets: Option<usize>,
    /// Physical cores.
    pub cores: Option<usize>,
    /// Logical CPUs that are online.
    pub cpus: Option<usize>,
    /// True if cores run more than one thread at a time.
    pub smt: Option<bool>,
}

impl Topology {
    /// That of this machine. Where the system does not describe it, as many single CPUs as the process may use.
    pub fn here() -> Self {
        Self::read(&read_file).unwrap_or_else(|_| Self::flat(uniqurl_engine::cores()))
    }

    /// `cpus` cores with one thread, on one node.
    fn flat(cpus: usize) -> Self {
        let one = |cpu| LogicalCpu { cpu, core: cpu, socket: 0, node: 0 };
        Self { cpus: (0..cpus).map(one).collect(), allowed: (0..cpus).collect() }
    }

    /// Reads it from `/sys`. Of a CPU that `/sys` says nothing about, each value is that of a single core.
    pub(super) fn read(read: ReadFile) -> Result<Self, String> {
        let online = online(read)?;
        let allowed = allowed(&online, read);
        let nodes = nodes(read);
        let cpus: Vec<_> = online
            .into_iter()
            .map(|cpu| {
                let path = |name: &str| format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
                let siblings = read_list(read, &path("core_cpus_list"))
                    .or_else(|_| read_list(read, &path("thread_siblings_list")));
                LogicalCpu {
                    cpu,
                    core: siblings.ok().and_then(|all| all.first().copied()).unwrap_or(cpu),
                    // It is -1 if the firmware does not tell.
                    socket: read_number(read, &path("physical_package_id")).unwrap_or(0),
                    node: nodes
                        .iter()
                        .find(|(_, cpus)| cpus.contains(&cpu))
                        .map_or(0, |(node, _)| *node),
                }
            })
            .collect();
        Ok(Self { cpus, allowed })
    }
}

impl CoreCounts {
    pub(super) fn new(
        topology: &Result<Topology, String>,
        read: ReadFile,
        why: &mut WhyNull,
    ) -> Self {
        let mut count = |field: &str, of: fn(&LogicalCpu) -> usize| {
            let set = topology
                .as_ref()
                .map_err(Clone::clone)
                .map(|topology| topology.cpus.iter().map(of).collect::<BTreeSet<_>>().len());
            why.known(field, set)
        };
        let sockets = count("topology.sockets", |cpu| cpu.socket);
        let cores = count("topology.cores", |cpu| cpu.core);
        let cpus = count("topology.cpus", |cpu| cpu.cpu);
        let smt = read_number::<u8>(read, "/sys/devices/system/cpu/smt/active").map(|on| on != 0);
        // Kernels before 4.19 have no such file.
        let smt = smt.or_else(|reason| cores.zip(cpus).map(|(a, b)| a < b).ok_or(reason));
        Self { sockets, cores, cpus, smt: why.known("topology.smt", smt) }
    }
}

/// A file that holds a list of CPUs or nodes.
pub fn read_list(read: ReadFile, path: &str) -> Result<Vec<usize>, String> {
    let text = read(path)?;
    cpu_list::parse(&text).ok_or_else(|| format!("{path}: `{text}` is not a list of numbers"))
}

/// Each NUMA node with its CPUs; none if the kernel knows no nodes.
fn nodes(read: ReadFile) -> Vec<(usize, Vec<usize>)> {
    let nodes = read_list(read, "/sys/devices/system/node/online").unwrap_or_default();
    let cpus = |node| read_list(read, &format!("/sys/devices/system/node/node{node}/cpulist"));
    nodes.into_iter().filter_map(|node| Some((node, cpus(node).ok()?))).collect()
}

/// The CPUs that are online, ascending.
pub fn online(read: ReadFile) -> Result<Vec<usize>, String> {
    read_list(read, "/sys/devices/system/cpu/online")
}

/// Those of the CPUs that the affinity mask of this process has. The mask may have CPUs that are offline.
pub fn allowed(online: &[usize], read: ReadFile) -> Vec<usize> {
    let status = read("/proc/self/status").unwrap_or_default();
    let mask = line_value(&status, "Cpus_allowed_list").and_then(cpu_list::parse);
    let mut allowed = online.to_vec();
    if let Some(mask) = mask
        && online.iter().any(|cpu| mask.contains(cpu))
    {
        allowed.retain(|cpu| mask.contains(cpu));
    }
    allowed
}

#[cfg(test)]
pub mod samples {
    //! Invented machines.
    use super::{LogicalCpu, Topology};

    /// Numbered as Linux does on most servers: the siblings have the upper half of the numbers. A node a socket.
    pub fn server(sockets: usize, cores: usize, threads: usize) -> Topology {
        let all = sockets * cores;
        let cpus: Vec<_> = (0..all * threads)
            .map(|cpu| {
                let core = cpu % all;
                LogicalCpu { cpu, core, socket: core / cores, node: core / cores }
            })
            .collect();
        let allowed = (0..cpus.len()).collect();
        Topology { cpus, allowed }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::invented;
    use super::*;

    /// Two cores with two threads, in two sockets with a node each; CPUs 0 and 1 are siblings.
    const NEIGHBOURS: &[(&str, &str)] = &[
        ("/sys/devices/system/cpu/online", "0-3"),
        ("/sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0-1"),
        ("/sys/devices/system/cpu/cpu1/topology/core_cpus_list", "0-1"),
        ("/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3"),
        ("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "2-3"),
        ("/sys/devices/system/cpu/cpu2/topology/physical_package_id", "1"),
        ("/sys/devices/system/cpu/cpu3/topology/physical_package_id", "1"),
        ("/sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1"),
        ("/sys/devices/system/node/online", "0-1"),
        ("/sys/devices/system/node/node0/cpulist", "0-1"),
        ("/sys/devices/system/node/node1/cpulist", "2-3"),
        ("/proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t1-7\n"),
    ];

    #[test]
    fn cores_sockets_and_nodes_are_read() {
        let topology = Topology::read(&invented(NEIGHBOURS));
        let one = |cpu, core, socket, node| LogicalCpu { cpu, core, socket, node };
        let cpus = vec![one(0, 0, 0, 0), one(1, 0, 0, 0), one(2, 2, 1, 1), one(3, 2, 1, 1)];
        assert_eq!(topology, Ok(Topology { cpus, allowed: vec![1, 2, 3] }));
        let mut why = WhyNull::default();
        let counts = CoreCounts::new(&topology, &invented(NEIGHBOURS), &mut why);
        let expected =
            CoreCounts { sockets: Some(2), cores: Some(2), cpus: Some(4), smt: Some(true) };
        assert_eq!((counts, why), (expected, WhyNull::default()));
    }

    #[test]
    fn cpus_without_a_description_are_single_cores() {
        let files = [
            ("/sys/devices/system/cpu/online", "0,2"),
            ("/proc/self/status", "Cpus_allowed_list: 5"),
        ];
        let topology = Topology::read(&invented(&files)).expect("a list");
        assert_eq!(topology.cpus.iter().map(|cpu| cpu.core).collect::<Vec<_>>(), [0, 2]);
        // A mask without any CPU that is online would leave nothing to run on.
        assert_eq!(topology.allowed, [0, 2]);
        let mut why = WhyNull::default();
        let counts = CoreCounts::new(&Topology::read(&invented(&[])), &invented(&[]), &mut why);
        assert_eq!((counts.cores, counts.smt, why.0.len()), (None, None, 4));
    }

    #[test]
    fn this_machine_has_cpus_to_run_on() {
        let here = Topology::here();
        assert!(!here.allowed.is_empty());
        assert!(here.allowed.iter().all(|cpu| here.cpus.iter().any(|known| known.cpu == *cpu)));
    }
}
