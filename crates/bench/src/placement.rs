//! Which CPU each thread runs on.
//!
//! The order of the CPUs: first one CPU of each physical core, one NUMA node after the other, then their siblings in
//! the same order. So the first threads have whole cores for themselves, and memory of one node while its cores last;
//! threads that share a core come last, on all nodes. Only CPUs that the process may use are in the order.
//!
//! A team with more threads than there are CPUs is not pinned at all. If it were, some CPUs would have two threads
//! and the others one, and the scheduler could not even it out.
//!
//! Linux gives memory from the node of the thread that touches it first. Buffers that are filled by a pinned team are
//! therefore spread over its nodes.

use crate::machine::{LogicalCpu, Topology, format_cpus};
use std::collections::BTreeSet;

/// How threads are pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// The scheduler moves them as it likes.
    None,
    /// Each to one CPU.
    Cores,
    /// Each to the CPUs of one NUMA node.
    Nodes,
}

impl Pin {
    /// Every way.
    pub const ALL: [Pin; 3] = [Pin::None, Pin::Cores, Pin::Nodes];

    /// The name as `--pin` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Pin::None => "none",
            Pin::Cores => "cores",
            Pin::Nodes => "nodes",
        }
    }

    /// The way with this name.
    pub fn named(name: &str) -> Option<Pin> {
        Pin::ALL.into_iter().find(|pin| pin.name() == name)
    }
}

/// The place of each thread.
#[derive(Debug, Clone)]
pub struct Placement {
    pin: Pin,
    /// The CPUs that the process may use, in the order in which threads get them.
    order: Vec<LogicalCpu>,
    /// Physical cores among them.
    cores: usize,
}

impl Placement {
    /// Places threads on the CPUs that this process may use.
    pub fn new(pin: Pin, topology: &Topology) -> Self {
        let allowed = topology.cpus.iter().filter(|cpu| topology.allowed.contains(&cpu.cpu));
        let mut cpus: Vec<_> = allowed.copied().collect();
        cpus.sort_unstable_by_key(|cpu| (cpu.node, cpu.core, cpu.cpu));
        // How many CPUs of the same core come before each.
        let mut ranked: Vec<_> = cpus
            .iter()
            .map(|cpu| {
                let before = |other: &&LogicalCpu| other.core == cpu.core && other.cpu < cpu.cpu;
                (cpus.iter().filter(before).count(), *cpu)
            })
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        let cores = ranked.iter().filter(|(rank, _)| *rank == 0).count();
        Self { pin, order: ranked.into_iter().map(|(_, cpu)| cpu).collect(), cores }
    }

    /// The numbers of threads to measure: 1, 2, 4 and so on, the physical cores, and all CPUs; `most` at most.
    pub fn thread_counts(&self, most: usize) -> Vec<usize> {
        let most = self.order.len().min(most).max(1);
        let doubled = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < most);
        let counts: BTreeSet<_> = doubled.chain([self.cores.clamp(1, most), most]).collect();
        counts.into_iter().collect()
    }

    /// The CPUs of a thread in a team of `threads`, such as `3` or `0-7`; `None` if it is not pinned.
    pub fn cpus(&self, thread: usize, threads: usize) -> Option<String> {
        self.mask(thread, threads).map(|cpus| format_cpus(&cpus))
    }

    /// Pins the calling thread, which is number `thread` of a team of `threads`.
    pub fn bind(&self, thread: usize, threads: usize) -> Result<(), String> {
        self.mask(thread, threads).map_or(Ok(()), |cpus| set_affinity(&cpus))
    }

    /// Binds the calling thread to all CPUs that a team of `threads` uses. Threads that it starts then use no
    /// others: those of a whole run, which starts its own.
    pub fn bind_run(&self, threads: usize) -> Result<(), String> {
        let masks: Option<Vec<_>> = (0..threads).map(|thread| self.mask(thread, threads)).collect();
        let Some(masks) = masks else { return Ok(()) };
        let all: BTreeSet<_> = masks.into_iter().flatten().collect();
        set_affinity(&all.into_iter().collect::<Vec<_>>())
    }

    /// Lets the calling thread use all CPUs of the process again.
    pub fn release(&self) -> Result<(), String> {
        match self.pin {
            Pin::None => Ok(()),
            _ => set_affinity(&self.order.iter().map(|cpu| cpu.cpu).collect::<Vec<_>>()),
        }
    }

    /// The CPUs of a thread; `None` if it may use all.
    fn mask(&self, thread: usize, threads: usize) -> Option<Vec<usize>> {
        if threads > self.order.len() {
            return None;
        }
        let cpu = self.order.get(thread)?;
        let node = || self.order.iter().filter(|other| other.node == cpu.node);
        match self.pin {
            Pin::None => None,
            Pin::Cores => Some(vec![cpu.cpu]),
            Pin::Nodes => Some(node().map(|cpu| cpu.cpu).collect()),
        }
    }
}

#[cfg(target_os = "linux")]
fn set_affinity(cpus: &[usize]) -> Result<(), String> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(format!(
                "CPU {cpu}: threads cannot be pinned above CPU {}",
                CpuSet::MAX_CPU - 1
            ));
        }
        set.set(cpu);
    }
    sched_setaffinity(None, &set)
        .map_err(|error| format!("cannot pin a thread to CPU {}: {error}", format_cpus(cpus)))
}

#[cfg(not(target_os = "linux"))]
fn set_affinity(_: &[usize]) -> Result<(), String> {
    Err(format!("threads cannot be pinned on {}", std::env::consts::OS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::samples::server;

    fn order(topology: &Topology) -> Vec<usize> {
        Placement::new(Pin::Cores, topology).order.iter().map(|cpu| cpu.cpu).collect()
    }

    fn placed(pin: Pin, topology: &Topology, threads: usize) -> Vec<Option<String>> {
        let placement = Placement::new(pin, topology);
        (0..threads).map(|thread| placement.cpus(thread, threads)).collect()
    }

    fn texts(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn siblings_come_after_the_cores_of_all_nodes() {
        // CPUs 0-1 are the cores of node 0, 2-3 those of node 1, 4-7 their siblings.
        assert_eq!(order(&server(2, 2, 2)), [0, 1, 2, 3, 4, 5, 6, 7]);
        // Siblings with neighbouring numbers, as on some machines: 0-1 are one core.
        let mut neighbours = server(2, 2, 2);
        for cpu in &mut neighbours.cpus {
            (cpu.core, cpu.node) = (cpu.cpu / 2 * 2, cpu.cpu / 4);
        }
        assert_eq!(order(&neighbours), [0, 2, 4, 6, 1, 3, 5, 7]);
        // Nodes with alternating numbers.
        let mut alternating = server(2, 2, 1);
        for cpu in &mut alternating.cpus {
            cpu.node = cpu.cpu % 2;
        }
        assert_eq!(order(&alternating), [0, 2, 1, 3]);
    }

    #[test]
    fn threads_are_pinned_to_cores_or_nodes() {
        let smt = server(2, 2, 2);
        assert_eq!(placed(Pin::Cores, &smt, 5), texts(&["0", "1", "2", "3", "4"]));
        let nodes = ["0-1,4-5", "0-1,4-5", "2-3,6-7", "2-3,6-7", "0-1,4-5"];
        assert_eq!(placed(Pin::Nodes, &smt, 5), texts(&nodes));
        assert_eq!(placed(Pin::None, &smt, 2), [None, None]);
        let plain = server(2, 2, 1);
        assert_eq!(placed(Pin::Cores, &plain, 4), texts(&["0", "1", "2", "3"]));
        assert_eq!(placed(Pin::Nodes, &plain, 3), texts(&["0-1", "0-1", "2-3"]));
    }

    #[test]
    fn team_larger_than_the_machine_is_not_pinned() {
        let one = server(1, 1, 1);
        assert_eq!(placed(Pin::Cores, &one, 1), texts(&["0"]));
        for pin in Pin::ALL {
            assert_eq!(placed(pin, &one, 2), [None, None]);
        }
    }

    #[test]
    fn mask_of_the_process_is_respected() {
        let mut masked = server(2, 2, 2);
        // Core 1 with both of its threads, and one thread of core 3.
        masked.allowed = vec![1, 5, 7];
        assert_eq!(order(&masked), [1, 7, 5]);
        assert_eq!(placed(Pin::Nodes, &masked, 3), texts(&["1,5", "7", "1,5"]));
        assert_eq!(Placement::new(Pin::None, &masked).thread_counts(64), [1, 2, 3]);
    }

    #[test]
    fn thread_counts_end_with_cores_and_all() {
        let counts =
            |topology: &Topology, most| Placement::new(Pin::None, topology).thread_counts(most);
        assert_eq!(counts(&server(2, 24, 2), 512), [1, 2, 4, 8, 16, 32, 48, 64, 96]);
        assert_eq!(counts(&server(1, 4, 2), 512), [1, 2, 4, 8]);
        assert_eq!(counts(&server(1, 6, 1), 512), [1, 2, 4, 6]);
        assert_eq!(counts(&server(1, 6, 1), 3), [1, 2, 3]);
        assert_eq!(counts(&server(1, 1, 1), 512), [1]);
    }

    #[test]
    fn names_are_those_of_the_option() {
        for pin in Pin::ALL {
            assert_eq!(Pin::named(pin.name()), Some(pin));
        }
        assert_eq!(Pin::named("all"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn thread_stays_where_it_is_pinned_and_is_released() {
        use rustix::thread::sched_getaffinity;
        let mine = || {
            let set = sched_getaffinity(None).expect("a mask");
            (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect::<Vec<_>>()
        };
        // A thread of its own, since the others of the tests are not to be pinned.
        let test = std::thread::spawn(move || {
            let placement = Placement::new(Pin::Cores, &Topology::here());
            let all = mine();
            placement.bind(0, 1).expect("pinned");
            assert_eq!(mine(), [placement.order[0].cpu]);
            let inherited = std::thread::spawn(mine).join().expect("a mask");
            assert_eq!(inherited, mine());
            placement.bind_run(placement.order.len()).expect("bound");
            assert_eq!(mine(), all);
            placement.bind(0, 1).expect("pinned");
            placement.release().expect("released");
            assert_eq!(mine(), all);
        });
        test.join().expect("no failure");
    }
}
