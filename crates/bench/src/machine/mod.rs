//! The machine and the conditions under which it is measured.
//!
//! Linux tells nearly all of it in small files below `/proc` and `/sys`. A value that cannot be read is null in the
//! JSON, and `why_null` has the reason. Other systems than Linux tell a few values only.

mod why_null;
mod files;
mod cpu_list;
mod topology;
mod processor;
mod caches;
mod memory_info;
mod cgroup;
mod allowed;
mod conditions;

pub use allowed::Allowed;
pub use caches::CacheLevel;
pub use conditions::{Conditions, CpuTicks, Disturbance, Pressure, Throttled};
pub(crate) use cpu_list::format as format_cpus;
pub(crate) use files::{ReadFile, read_file, read_number};
pub use memory_info::{MemoryInfo, NumaNode};
pub use processor::Processor;
pub use topology::{CoreCounts, LogicalCpu, Topology};
pub use why_null::WhyNull;
#[cfg(test)]
pub(crate) use {files::invented, topology::samples};

use serde::{Deserialize, Serialize};

/// A machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The processor.
    pub cpu: Processor,
    /// How many sockets, cores and CPUs are online.
    pub topology: CoreCounts,
    /// The caches, those next to the core first.
    pub caches: Option<Vec<CacheLevel>>,
    /// The NUMA nodes.
    pub nodes: Option<Vec<NumaNode>>,
    /// The memory.
    pub memory: MemoryInfo,
    /// Maker and name of the machine, as its firmware gives them; in a cloud the type of the instance.
    pub product: Option<String>,
    /// System and release of its kernel.
    pub os: Option<String>,
    /// The part of it that the process may use.
    pub allowed: Allowed,
    /// The reason for each null.
    pub why_null: WhyNull,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        Self::read(&files::read_file)
    }

    fn read(read: ReadFile) -> Self {
        let mut why = WhyNull::default();
        let topology = Topology::read(read);
        let caches = topology.as_ref().map_err(Clone::clone);
        let caches = caches.and_then(|topology| caches::caches(topology, read));
        let levels = caches.as_ref().map_err(Clone::clone).map(|all| caches::levels(all));
        let nodes = memory_info::numa_nodes(read, &mut why);
        Self {
            cpu: Processor::read(read, &mut why),
            topology: CoreCounts::new(&topology, read, &mut why),
            caches: why.known("caches", levels),
            nodes: why.known("nodes", nodes),
            memory: MemoryInfo::read(read, rustix::param::page_size() as u64, &mut why),
            product: why.known("product", product(read)),
            os: why.known("os", os(read)),
            allowed: Allowed::read(read, &topology, &caches, &mut why),
            why_null: why,
        }
    }

    /// Bytes of all last-level caches that the CPUs of this process use.
    pub fn last_level_cache(&self) -> Option<u64> {
        self.allowed.last_level_cache_bytes
    }

    /// One line for people. It is not escaped.
    pub fn summary(&self) -> String {
        let count = self.allowed.cpu_count;
        let mut parts = vec![
            self.cpu.model.clone().unwrap_or_else(|| "unknown CPU".to_owned()),
            format!("{count} {}", if count == 1 { "CPU" } else { "CPUs" }),
            self.cpu.arch.clone(),
        ];
        parts.extend(self.os.clone());
        parts.join(", ")
    }
}

fn product(read: ReadFile) -> Result<String, String> {
    let read = |name: &str| read(&format!("/sys/class/dmi/id/{name}"));
    let name = read("product_name")?;
    let vendor = read("sys_vendor").unwrap_or_default();
    Ok(files::printable(&format!("{vendor} {name}")))
}

fn os(read: ReadFile) -> Result<String, String> {
    let name = |name: &str| read(&format!("/proc/sys/kernel/{name}"));
    match (name("ostype"), name("osrelease")) {
        (Ok(name), Ok(release)) => Ok(files::printable(&format!("{name} {release}"))),
        // Without a number, the system is known from the build.
        (Err(_), _) if !cfg!(target_os = "linux") => Ok(std::env::consts::OS.to_owned()),
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::Value;

    /// The paths of all nulls of an object.
    pub(crate) fn nulls(value: &Value, path: &str, out: &mut Vec<String>) {
        let at = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match value {
            Value::Null => out.push(path.to_owned()),
            Value::Object(fields) => {
                for (key, value) in fields.iter().filter(|(key, _)| *key != "why_null") {
                    nulls(value, &at(key), out);
                }
            }
            Value::Array(values) => {
                for (i, value) in values.iter().enumerate() {
                    // Nodes go by their number, which is a field.
                    let i = value["node"].as_u64().map_or(i as u64, |node| node);
                    nulls(value, &at(&i.to_string()), out);
                }
            }
            _ => {}
        }
    }

    /// Checks that each null of an object has a reason, and each reason a null.
    pub(crate) fn check_reasons(value: &Value) {
        let mut found = Vec::new();
        nulls(value, "", &mut found);
        found.sort_unstable();
        let reasons = value["why_null"].as_object().expect("reasons");
        assert_eq!(found, reasons.keys().cloned().collect::<Vec<_>>());
        assert!(
            reasons.values().all(|reason| reason.as_str().is_some_and(|text| !text.is_empty()))
        );
    }

    #[test]
    fn each_null_has_a_reason_and_comes_back() {
        let nothing = files::invented(&[]);
        for machine in [Machine::here(), Machine::read(&nothing)] {
            let json = serde_json::to_value(&machine).expect("JSON");
            check_reasons(&json);
            assert_eq!(serde_json::from_value::<Machine>(json).expect("the same"), machine);
        }
        assert!(Machine::read(&nothing).why_null.0.len() > 15);
    }

    #[test]
    fn this_machine_is_described() {
        let here = Machine::here();
        assert!(here.allowed.cpu_count >= 1 && here.memory.page_bytes >= Some(4096));
        assert!(here.summary().contains(std::env::consts::ARCH), "{}", here.summary());
    }

    #[test]
    fn instance_of_a_cloud_is_named() {
        let files = [
            ("/sys/class/dmi/id/sys_vendor", "Amazon EC2"),
            ("/sys/class/dmi/id/product_name", "m7i.large"),
            ("/proc/sys/kernel/ostype", "Linux"),
            ("/proc/sys/kernel/osrelease", "6.8.0-x"),
        ];
        let read = files::invented(&files);
        assert_eq!(product(&read).as_deref(), Ok("Amazon EC2 m7i.large"));
        assert_eq!(os(&read).as_deref(), Ok("Linux 6.8.0-x"));
    }
}
