//! The processor: its model, instruction sets, hypervisor and frequencies.

use super::files::{ReadFile, line_value, printable, read_number};
use super::topology::online;
use super::why_null::WhyNull;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A processor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Processor {
    /// The model, as the system names it. Clouds often hide it.
    pub model: Option<String>,
    /// Family, model and stepping as numbers, or implementer, part, variant and revision on Arm.
    pub id: Option<String>,
    /// The architecture, as Rust names it.
    pub arch: String,
    /// Those of its instruction sets that matter here.
    pub features: Vec<String>,
    /// Version of the microcode.
    pub microcode: Option<String>,
    /// The hypervisor; `none` if the processor says that it has none.
    pub hypervisor: Option<String>,
    /// The governor of the frequency, or all of them if CPUs have different ones.
    pub governor: Option<String>,
    /// The driver of the frequency.
    pub driver: Option<String>,
    /// True if it may run above its base frequency.
    pub turbo: Option<bool>,
    /// The highest frequency.
    pub max_mhz: Option<f64>,
}

const CPUINFO: &str = "/proc/cpuinfo";
const CPU: &str = "/sys/devices/system/cpu";

impl Processor {
    pub(super) fn read(read: ReadFile, why: &mut WhyNull) -> Self {
        let info = read(CPUINFO);
        let from_info = |find: fn(&str) -> Option<String>| {
            let info = info.as_ref().map_err(Clone::clone)?;
            find(info).ok_or_else(|| format!("{CPUINFO} does not say it"))
        };
        let model = from_info(model).or_else(|reason| named_by_sysctl().ok_or(reason));
        let microcode = from_info(|info| owned(info, "microcode"));
        let hypervisor = info.clone().and_then(|info| hypervisor(&info, read));
        let driver = read(&format!("{CPU}/cpu0/cpufreq/scaling_driver"));
        let max = read_number::<f64>(read, &format!("{CPU}/cpu0/cpufreq/cpuinfo_max_freq"));
        Self {
            model: why.known("cpu.model", model),
            id: why.known("cpu.id", from_info(id)),
            arch: std::env::consts::ARCH.to_owned(),
            features: features(),
            microcode: why.known("cpu.microcode", microcode),
            hypervisor: why.known("cpu.hypervisor", hypervisor),
            governor: why.known("cpu.governor", governor(read)),
            driver: why.known("cpu.driver", driver),
            turbo: why.known("cpu.turbo", turbo(read)),
            max_mhz: why.known("cpu.max_mhz", max.map(|kilohertz| kilohertz / 1e3)),
        }
    }
}

fn owned(info: &str, key: &str) -> Option<String> {
    line_value(info, key).map(printable).filter(|value| !value.is_empty())
}

/// The name of the model. 64-bit Arm gives numbers alone, and the names here are those of its server cores.
fn model(info: &str) -> Option<String> {
    owned(info, "model name").or_else(|| {
        let (maker, part) = (owned(info, "CPU implementer")?, owned(info, "CPU part")?);
        let name = match (maker.as_str(), part.as_str()) {
            ("0x41", "0xd08") => "Cortex-A72",
            ("0x41", "0xd0c") => "Neoverse-N1",
            ("0x41", "0xd40") => "Neoverse-V1",
            ("0x41", "0xd49") => "Neoverse-N2",
            ("0x41", "0xd4f") => "Neoverse-V2",
            ("0x41", "0xd83") => "Neoverse-V3AE",
            ("0x41", "0xd84") => "Neoverse-V3",
            ("0x41", "0xd8e") => "Neoverse-N3",
            ("0xc0", "0xac3") => "Ampere-1",
            ("0xc0", "0xac4") => "Ampere-1a",
            _ => return Some(format!("implementer {maker}, part {part}")),
        };
        Some(name.to_owned())
    })
}

fn id(info: &str) -> Option<String> {
    let all = |fields: &[(&str, &str)]| -> Option<String> {
        let parts = fields.iter().map(|(key, name)| Some(format!("{name} {}", owned(info, key)?)));
        Some(parts.collect::<Option<Vec<_>>>()?.join(", "))
    };
    all(&[("cpu family", "family"), ("model", "model"), ("stepping", "stepping")]).or_else(|| {
        all(&[
            ("CPU implementer", "implementer"),
            ("CPU part", "part"),
            ("CPU variant", "variant"),
            ("CPU revision", "revision"),
        ])
    })
}

/// Every hypervisor sets a flag in `cpuid`. Its name is known from Xen's file, or from the clock it offers.
fn hypervisor(info: &str, read: ReadFile) -> Result<String, String> {
    let clocks = read("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let by_clock = || {
        let names =
            [("kvm-clock", "kvm"), ("hyperv", "hyper-v"), ("vmware", "vmware"), ("xen", "xen")];
        let clocks = clocks.as_deref().unwrap_or_default();
        names.iter().find(|(clock, _)| clocks.contains(clock)).map(|(_, name)| (*name).to_owned())
    };
    let device_tree = || read("/proc/device-tree/hypervisor/compatible").ok();
    let named = read("/sys/hypervisor/type").ok().or_else(by_clock).or_else(device_tree);
    match line_value(info, "flags") {
        Some(flags) if flags.split(' ').any(|flag| flag == "hypervisor") => {
            Ok(named.map_or_else(|| "unnamed".to_owned(), |name| printable(&name)))
        }
        Some(_) => Ok("none".to_owned()),
        None => named
            .map(|name| printable(&name))
            .ok_or_else(|| "this architecture has no flag for it".to_owned()),
    }
}

fn governor(read: ReadFile) -> Result<String, String> {
    let path = |cpu: usize| format!("{CPU}/cpu{cpu}/cpufreq/scaling_governor");
    let online = online(read)?;
    let all: BTreeSet<_> = online.iter().filter_map(|cpu| read(&path(*cpu)).ok()).collect();
    if all.is_empty() {
        return read(&path(online.first().copied().unwrap_or(0)));
    }
    Ok(all.into_iter().collect::<Vec<_>>().join(", "))
}

fn turbo(read: ReadFile) -> Result<bool, String> {
    let off = read_number::<u8>(read, &format!("{CPU}/intel_pstate/no_turbo"));
    let on = read_number::<u8>(read, &format!("{CPU}/cpufreq/boost"));
    off.map(|off| off == 0).or_else(|reason| on.map(|on| on != 0).map_err(|_| reason))
}

#[cfg(target_os = "macos")]
fn named_by_sysctl() -> Option<String> {
    let mut command = std::process::Command::new("sysctl");
    let output = command.args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
    let name = printable(&String::from_utf8_lossy(&output.stdout));
    (!name.is_empty()).then_some(name)
}

#[cfg(not(target_os = "macos"))]
fn named_by_sysctl() -> Option<String> {
    None
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
    use super::super::files::invented;
    use super::*;

    const INTEL: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n\
        model name\t: Intel(R) Xeon(R) A\x1b CPU v2 \nstepping\t: 8\nmicrocode\t: 0x2b0004d0\n\
        flags\t\t: fpu sse2 avx2\n\nprocessor\t: 1\n";
    const AMD_VM: &str = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n\
        model name\t: AMD EPYC 9R14\nstepping\t: 1\nmicrocode\t: 0xa101148\nflags\t\t: fpu hypervisor avx2\n";
    const ARM: &str = "processor\t: 0\nBogoMIPS\t: 2100.00\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n\
        CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n";
    const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

    fn processor(files: &[(&str, &str)]) -> (Processor, WhyNull) {
        let mut why = WhyNull::default();
        let processor = Processor::read(&invented(files), &mut why);
        (processor, why)
    }

    #[test]
    fn intel_server_is_described() {
        let (cpu, why) = processor(&[
            (CPUINFO, INTEL),
            ("/sys/devices/system/cpu/online", "0-1"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance"),
            ("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "powersave"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate"),
            ("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3800000"),
            ("/sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
        ]);
        assert_eq!(why, WhyNull::default());
        assert_eq!(cpu.model.as_deref(), Some("Intel(R) Xeon(R) A CPU v2"));
        assert_eq!(cpu.id.as_deref(), Some("family 6, model 143, stepping 8"));
        assert_eq!(cpu.microcode.as_deref(), Some("0x2b0004d0"));
        assert_eq!(cpu.hypervisor.as_deref(), Some("none"));
        assert_eq!(cpu.governor.as_deref(), Some("performance, powersave"));
        assert_eq!(cpu.driver.as_deref(), Some("intel_pstate"));
        assert_eq!((cpu.turbo, cpu.max_mhz), (Some(false), Some(3800.0)));
    }

    #[test]
    fn amd_guest_names_its_hypervisor_and_the_missing_values() {
        let boost = ("/sys/devices/system/cpu/cpufreq/boost", "1");
        let (cpu, why) = processor(&[(CPUINFO, AMD_VM), (CLOCKS, "tsc kvm-clock"), boost]);
        assert_eq!(cpu.model.as_deref(), Some("AMD EPYC 9R14"));
        assert_eq!((cpu.hypervisor.as_deref(), cpu.turbo), (Some("kvm"), Some(true)));
        let missing: Vec<_> = why.0.keys().collect();
        assert_eq!(missing, ["cpu.driver", "cpu.governor", "cpu.max_mhz"]);
        assert_eq!(hypervisor(AMD_VM, &invented(&[])).as_deref(), Ok("unnamed"));
        let xen = [("/sys/hypervisor/type", "xen")];
        assert_eq!(hypervisor(AMD_VM, &invented(&xen)).as_deref(), Ok("xen"));
    }

    #[test]
    fn arm_core_is_named_by_its_numbers() {
        let (cpu, why) = processor(&[(CPUINFO, ARM)]);
        assert_eq!(cpu.model.as_deref(), Some("Neoverse-V1"));
        let id = "implementer 0x41, part 0xd40, variant 0x1, revision 1";
        assert_eq!(cpu.id.as_deref(), Some(id));
        assert_eq!(why.0["cpu.microcode"], "/proc/cpuinfo does not say it");
        assert_eq!(why.0["cpu.hypervisor"], "this architecture has no flag for it");
        let other = ARM.replace("0xd40", "0xfff");
        assert_eq!(model(&other).as_deref(), Some("implementer 0x41, part 0xfff"));
    }

    #[test]
    fn instruction_sets_of_the_hash_are_listed() {
        // They affect the row `dedup`, since the set uses them for hashes.
        #[cfg(target_arch = "x86_64")]
        assert_eq!(features().contains(&"vaes".into()), is_x86_feature_detected!("vaes"));
    }
}
