//! Memory: its size, its pages and its NUMA nodes.

use super::cpu_list;
use super::files::{ReadFile, line_bytes, line_value};
use super::topology::read_list;
use super::why_null::WhyNull;
use serde::{Deserialize, Serialize};

/// The memory of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryInfo {
    /// All of it.
    pub total_bytes: Option<u64>,
    /// The size of a page.
    pub page_bytes: Option<u64>,
    /// `always`, `madvise` or `never`, for this process.
    pub transparent_huge_pages: Option<String>,
    /// Huge pages that are reserved.
    pub huge_pages: Option<u64>,
}

/// A NUMA node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NumaNode {
    /// Its number.
    pub node: usize,
    /// Its CPUs, such as `0-3,8`; empty if it is memory alone.
    pub cpus: String,
    /// Its memory.
    pub memory_bytes: Option<u64>,
}

const MEMINFO: &str = "/proc/meminfo";

impl MemoryInfo {
    pub(super) fn read(read: ReadFile, page_bytes: u64, why: &mut WhyNull) -> Self {
        let info = read(MEMINFO);
        let total = info.as_ref().map_err(Clone::clone);
        let total = total.and_then(|info| line_bytes(info, "MemTotal", MEMINFO));
        let huge = info.and_then(|info| {
            let count = line_value(&info, "HugePages_Total").and_then(|count| count.parse().ok());
            count.ok_or_else(|| format!("{MEMINFO}: no HugePages_Total"))
        });
        Self {
            total_bytes: why.known("memory.total_bytes", total),
            page_bytes: Some(page_bytes),
            transparent_huge_pages: why
                .known("memory.transparent_huge_pages", transparent_huge_pages(read)),
            huge_pages: why.known("memory.huge_pages", huge),
        }
    }
}

/// The kernel puts the choice for the machine in brackets. A process and its children can be excluded (`prctl`).
fn transparent_huge_pages(read: ReadFile) -> Result<String, String> {
    let path = "/sys/kernel/mm/transparent_hugepage/enabled";
    let text = read(path)?;
    let status = read("/proc/self/status").unwrap_or_default();
    if line_value(&status, "THP_enabled") == Some("0") {
        return Ok("never".to_owned());
    }
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    chosen.map(|(word, _)| word.to_owned()).ok_or_else(|| format!("{path}: `{text}` has no choice"))
}

/// The NUMA nodes that are online.
pub fn numa_nodes(read: ReadFile, why: &mut WhyNull) -> Result<Vec<NumaNode>, String> {
    let directory = "/sys/devices/system/node";
    let online = read_list(read, &format!("{directory}/online"))?;
    let node = |node| {
        let cpus = read_list(read, &format!("{directory}/node{node}/cpulist")).unwrap_or_default();
        let path = format!("{directory}/node{node}/meminfo");
        let key = format!("Node {node} MemTotal");
        let memory = read(&path).and_then(|text| line_bytes(&text, &key, &path));
        let memory_bytes = why.known(&format!("nodes.{node}.memory_bytes"), memory);
        NumaNode { node, cpus: cpu_list::format(&cpus), memory_bytes }
    };
    Ok(online.into_iter().map(node).collect())
}

#[cfg(test)]
mod tests {
    use super::super::files::invented;
    use super::*;

    const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";

    #[test]
    fn memory_and_pages_are_described() {
        let files = [
            (MEMINFO, "MemTotal:       1024 kB\nHugePages_Total:       2\n"),
            (THP, "always [madvise] never"),
        ];
        let mut why = WhyNull::default();
        let memory = MemoryInfo::read(&invented(&files), 4096, &mut why);
        let expected = MemoryInfo {
            total_bytes: Some(1 << 20),
            page_bytes: Some(4096),
            transparent_huge_pages: Some("madvise".into()),
            huge_pages: Some(2),
        };
        assert_eq!((memory, why), (expected, WhyNull::default()));
    }

    #[test]
    fn process_without_huge_pages_says_never() {
        let choice = |files: &[(&str, &str)]| transparent_huge_pages(&invented(files));
        assert_eq!(choice(&[(THP, "always madvise [never]")]).as_deref(), Ok("never"));
        let status = |text| [(THP, "[always] madvise never"), ("/proc/self/status", text)];
        assert_eq!(choice(&status("Name:\tx\nTHP_enabled:\t0\n")).as_deref(), Ok("never"));
        assert_eq!(choice(&status("Name:\tx\nTHP_enabled:\t1\n")).as_deref(), Ok("always"));
        assert!(choice(&[]).is_err());
    }

    #[test]
    fn nodes_have_cpus_and_memory() {
        let files = [
            ("/sys/devices/system/node/online", "0,2"),
            ("/sys/devices/system/node/node0/cpulist", "0-1,4-5"),
            ("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:       2048 kB\n"),
            ("/sys/devices/system/node/node2/cpulist", "\n"),
        ];
        let mut why = WhyNull::default();
        let nodes = numa_nodes(&invented(&files), &mut why).expect("nodes");
        let node =
            |node, cpus: &str, memory_bytes| NumaNode { node, cpus: cpus.into(), memory_bytes };
        assert_eq!(nodes, [node(0, "0-1,4-5", Some(2 << 20)), node(2, "", None)]);
        let reason = "/sys/devices/system/node/node2/meminfo: not found";
        assert_eq!(why.0["nodes.2.memory_bytes"], reason);
        assert!(numa_nodes(&invented(&[]), &mut why).is_err());
    }
}
