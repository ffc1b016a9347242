//! The machine, and how busy others keep it. What the system does not tell is null in the JSON.

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fs;
use std::time::Instant;

/// A machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// The model of its processor.
    pub cpu: Option<String>,
    /// The architecture.
    pub arch: String,
    /// The CPUs that this process may use.
    pub cpus: usize,
    /// System and release of its kernel.
    pub os: Option<String>,
    /// All of its memory.
    pub memory_bytes: Option<u64>,
}

impl Machine {
    /// This one.
    pub fn here() -> Self {
        let kernel = |name: &str| read(&format!("/proc/sys/kernel/{name}"));
        let os = kernel("ostype").zip(kernel("osrelease"));
        let kilobytes = read("/proc/meminfo").and_then(|text| {
            value(&text, "MemTotal")?.strip_suffix("kB")?.trim().parse::<u64>().ok()
        });
        Self {
            cpu: read("/proc/cpuinfo").and_then(|text| model(&text)),
            arch: std::env::consts::ARCH.to_owned(),
            cpus: uniqurl_engine::cores(),
            os: os.map(|(name, release)| format!("{name} {release}")),
            memory_bytes: kilobytes.map(|kilobytes| kilobytes << 10),
        }
    }

    /// One line for people. It is not escaped, and results are files that anyone may have made.
    pub fn summary(&self) -> String {
        let model = self.cpu.as_deref().unwrap_or("unknown CPU");
        let noun = if self.cpus == 1 { "CPU" } else { "CPUs" };
        let os = self.os.as_deref().unwrap_or("unknown system");
        format!("{model}, {} {noun}, {}, {os}", self.cpus, self.arch)
    }
}

/// The share of the CPUs' time that others took, from the start of a run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Other programs.
    pub others: Option<f64>,
    /// Other virtual machines on the same host.
    pub stolen: Option<f64>,
    /// The load average of a minute when the run began.
    pub load: Option<f64>,
    /// How long the run took.
    pub seconds: f64,
}

/// The beginning of a run.
#[derive(Debug)]
pub struct RunStart {
    at: Instant,
    ticks: Option<Ticks>,
    own_seconds: f64,
    load: Option<f64>,
}

/// Ticks of all CPUs since boot.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ticks {
    all: f64,
    idle: f64,
    stolen: f64,
}

impl RunStart {
    /// Now.
    pub fn now() -> Self {
        let load = read("/proc/loadavg").and_then(|text| text.split(' ').next()?.parse().ok());
        Self { at: Instant::now(), ticks: ticks(), own_seconds: cpu_seconds(), load }
    }

    /// What others did since.
    pub fn disturbance(&self) -> Disturbance {
        let own = cpu_seconds() - self.own_seconds;
        let shares = self.ticks.zip(ticks()).and_then(|(then, now)| shares(then, now, own));
        Disturbance {
            others: shares.map(|(others, _)| others),
            stolen: shares.map(|(_, stolen)| stolen),
            load: self.load,
            seconds: self.at.elapsed().as_secs_f64(),
        }
    }
}

/// CPU time of this process, that of all its threads.
pub fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn ticks() -> Option<Ticks> {
    parse_ticks(&read("/proc/stat")?)
}

/// The first line is `cpu user nice system idle iowait irq softirq steal guest guest_nice`. The time of guests is a
/// part of `user` and `nice`, so only the first eight add up.
fn parse_ticks(text: &str) -> Option<Ticks> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<f64> = line.split_whitespace().map_while(|n| n.parse().ok()).take(8).collect();
    let [_, _, _, idle, waiting, _, _, stolen] = ticks[..] else { return None };
    // A CPU that waits for a disk is free for others.
    Some(Ticks { all: ticks.iter().sum(), idle: idle + waiting, stolen })
}

/// The shares of other programs and of other machines. The process itself had so many seconds of CPU time.
fn shares(then: Ticks, now: Ticks, own_seconds: f64) -> Option<(f64, f64)> {
    let all = now.all - then.all;
    let own = own_seconds * rustix::param::clock_ticks_per_second() as f64;
    // Counters of ticks may go back a little in a guest.
    let part = |ticks: f64| (ticks / all).clamp(0.0, 1.0);
    let stolen = now.stolen - then.stolen;
    let busy = all - (now.idle - then.idle) - stolen;
    (all > 0.0).then(|| (part(busy - own), part(stolen)))
}

/// The name of the model. 64-bit Arm gives numbers alone.
fn model(info: &str) -> Option<String> {
    let numbers = || {
        let (maker, part) = (value(info, "CPU implementer")?, value(info, "CPU part")?);
        Some(format!("implementer {maker}, part {part}"))
    };
    value(info, "model name").map(str::to_owned).or_else(numbers)
}

/// The value of the first line `key: value`.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

fn read(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_is_a_name_or_the_numbers_of_arm() {
        let intel = "processor\t: 0\nmodel\t\t: 143\nmodel name\t: Xeon Platinum 8488C\n";
        assert_eq!(model(intel).as_deref(), Some("Xeon Platinum 8488C"));
        let arm = "CPU implementer\t: 0x41\nCPU part\t: 0xd4f\n";
        assert_eq!(model(arm).as_deref(), Some("implementer 0x41, part 0xd4f"));
        assert_eq!(model("processor : 0\n"), None);
    }

    #[test]
    fn others_have_the_time_that_is_neither_own_nor_idle_nor_stolen() {
        let then =
            parse_ticks("cpu  100 0 100 700 50 0 0 50 100 0\ncpu0 1").expect("eight numbers");
        let now = parse_ticks("cpu  500 0 200 900 150 0 0 250 900 0\ncpu0 1").expect("eight");
        assert_eq!(then, Ticks { all: 1000.0, idle: 750.0, stolen: 50.0 });
        let tick = 1.0 / rustix::param::clock_ticks_per_second() as f64;
        // 1000 ticks went by: 300 idle, 200 stolen, 500 busy, of which 400 are own.
        assert_eq!(shares(then, now, 400.0 * tick), Some((0.1, 0.2)));
        assert_eq!(shares(then, now, 900.0 * tick), Some((0.0, 0.2)));
        assert_eq!(shares(then, then, 0.0), None);
        assert_eq!(parse_ticks("cpu 1 2 3"), None);
    }

    #[test]
    fn this_machine_is_described() {
        let here = Machine::here();
        assert!(here.cpus >= 1 && here.summary().contains(std::env::consts::ARCH));
        let start = RunStart::now();
        assert!(start.disturbance().seconds >= 0.0);
    }
}
