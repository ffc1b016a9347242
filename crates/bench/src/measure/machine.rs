//! The description of the machine in a result.

use serde::{Deserialize, Serialize};
use std::fs;
use uniqurl_engine::cores;

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The model of the processor, as the system names it.
    pub cpu: String,
    /// The architecture, as Rust names it.
    pub arch: String,
    /// Those of its instruction sets that matter here.
    pub features: Vec<String>,
    /// Cores that the process may use.
    pub cores: usize,
    /// System and release of its kernel.
    pub os: String,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        Self {
            cpu: cpu().unwrap_or_else(|| "unknown".to_owned()),
            arch: std::env::consts::ARCH.to_owned(),
            features: features(),
            cores: cores(),
            os: os(),
        }
    }
}

#[cfg(not(target_os = "macos"))]
fn cpu() -> Option<String> {
    model(&fs::read_to_string("/proc/cpuinfo").ok()?)
}

#[cfg(target_os = "macos")]
fn cpu() -> Option<String> {
    let mut command = std::process::Command::new("sysctl");
    let output = command.args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
    let name = printable(&String::from_utf8_lossy(&output.stdout));
    (!name.is_empty()).then_some(name)
}

/// The model in the text of `/proc/cpuinfo`. If it has no name, as on 64-bit Arm, the numbers of
/// the first core's maker and part are returned instead.
#[cfg_attr(target_os = "macos", allow(dead_code))]
fn model(text: &str) -> Option<String> {
    let value = |key: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        let mut values =
            lines.filter(|(name, _)| name.trim() == key).map(|(_, value)| printable(value));
        values.find(|value| !value.is_empty())
    };
    value("model name").or_else(|| {
        let (maker, part) = (value("CPU implementer")?, value("CPU part")?);
        Some(format!("implementer {maker}, part {part}"))
    })
}

fn os() -> String {
    let read = |name| fs::read_to_string(format!("/proc/sys/kernel/{name}")).ok();
    match (read("ostype"), read("osrelease")) {
        (Some(name), Some(release)) => printable(&format!("{} {}", name.trim(), release.trim())),
        _ => std::env::consts::OS.to_owned(),
    }
}

/// Keeps printable ASCII only, since results are shown on terminals.
fn printable(text: &str) -> String {
    text.trim().chars().filter(|c| matches!(c, ' '..='~')).collect()
}

#[cfg(target_arch = "x86_64")]
fn features() -> Vec<String> {
    let features = [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("bmi1", is_x86_feature_detected!("bmi1")),
        ("bmi2", is_x86_feature_detected!("bmi2")),
        ("lzcnt", is_x86_feature_detected!("lzcnt")),
        ("popcnt", is_x86_feature_detected!("popcnt")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
        ("avx512bw", is_x86_feature_detected!("avx512bw")),
        ("avx512vl", is_x86_feature_detected!("avx512vl")),
        ("avx512vbmi", is_x86_feature_detected!("avx512vbmi")),
        ("avx512vbmi2", is_x86_feature_detected!("avx512vbmi2")),
        ("vaes", is_x86_feature_detected!("vaes")),
        ("gfni", is_x86_feature_detected!("gfni")),
    ];
    present(&features)
}

#[cfg(target_arch = "aarch64")]
fn features() -> Vec<String> {
    use std::arch::is_aarch64_feature_detected;
    let features = [
        ("neon", is_aarch64_feature_detected!("neon")),
        ("sve", is_aarch64_feature_detected!("sve")),
        ("sve2", is_aarch64_feature_detected!("sve2")),
    ];
    present(&features)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn features() -> Vec<String> {
    Vec::new()
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn present(features: &[(&str, bool)]) -> Vec<String> {
    features.iter().filter(|(_, has)| *has).map(|(name, _)| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_model_is_read_with_and_without_a_name() {
        let named = "processor\t: 0\nmodel\t\t: 17\nmodel name\t: A CPU\x1b v2 \n";
        assert_eq!(model(named).as_deref(), Some("A CPU v2"));
        let numbered = "processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n";
        assert_eq!(model(numbered).as_deref(), Some("implementer 0x41, part 0xd40"));
        assert_eq!(model("processor : 0\nmodel name :\n"), None);
    }

    #[test]
    fn this_machine_is_described() {
        let here = Machine::here();
        assert!(here.cores >= 1 && !here.cpu.is_empty() && !here.os.is_empty());
        // It affects the row `dedup`, since the set uses it for hashes.
        #[cfg(target_arch = "x86_64")]
        assert_eq!(here.features.contains(&"vaes".into()), is_x86_feature_detected!("vaes"));
    }
}
