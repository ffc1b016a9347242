//! Other work on the machine: load, pressure, stolen time, throttling, frequency.

use super::cgroup;
use super::files::{ReadFile, line_bytes, read_file, read_number};
use super::topology::{allowed, online};
use super::why_null::WhyNull;
use serde::{Deserialize, Serialize};

/// The state of the machine at one moment. Counters are since boot, or since a control group was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Load averages of 1, 5 and 15 minutes.
    pub load: Option<[f64; 3]>,
    /// Stalls.
    pub pressure: Pressure,
    /// Times of all CPUs.
    pub ticks: CpuTicks,
    /// Memory that can be had without swapping.
    pub available_bytes: Option<u64>,
    /// Stops by a quota.
    pub throttled: Throttled,
    /// The current frequency, the mean of the CPUs that the process may use.
    pub mhz: Option<f64>,
    /// The reason for each null.
    pub why_null: WhyNull,
}

/// Seconds in which some task waited for a resource (pressure stall information, `some`).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pressure {
    /// For a CPU.
    pub cpu: Option<f64>,
    /// For memory.
    pub memory: Option<f64>,
    /// For input and output.
    pub io: Option<f64>,
}

/// Ticks of all CPUs, of mostly 10 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTicks {
    /// All.
    pub total: Option<u64>,
    /// Those in which a CPU had nothing to do.
    pub idle: Option<u64>,
    /// Those in which the hypervisor ran another machine.
    pub steal: Option<u64>,
}

/// How a quota of CPU time stopped the process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Throttled {
    /// Periods of the quota in which it ran.
    pub periods: Option<u64>,
    /// Those in which it was stopped.
    pub throttled_periods: Option<u64>,
    /// How long, the sum of its threads.
    pub seconds: Option<f64>,
}

/// The disturbances between two moments. A value is null if it is null at one of them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// Share of the time of all CPUs that the hypervisor gave to other machines.
    pub steal_share: Option<f64>,
    /// Share of the time of all CPUs in which they had nothing to do.
    pub idle_share: Option<f64>,
    /// Seconds in which some task waited for a CPU.
    pub cpu_stalled_seconds: Option<f64>,
    /// Seconds in which some task waited for memory.
    pub memory_stalled_seconds: Option<f64>,
    /// Seconds in which some task waited for input or output.
    pub io_stalled_seconds: Option<f64>,
    /// Seconds for which a quota stopped threads of the process.
    pub throttled_seconds: Option<f64>,
    /// The mean of the frequencies at both moments.
    pub mhz: Option<f64>,
}

impl Conditions {
    /// Those of this moment.
    pub fn now() -> Self {
        Self::read(&read_file)
    }

    fn read(read: ReadFile) -> Self {
        let mut why = WhyNull::default();
        let meminfo = "/proc/meminfo";
        let available = read(meminfo).and_then(|text| line_bytes(&text, "MemAvailable", meminfo));
        Self {
            load: why.known("load", load(read)),
            pressure: Pressure {
                cpu: why.known("pressure.cpu", stalled(read, "cpu")),
                memory: why.known("pressure.memory", stalled(read, "memory")),
                io: why.known("pressure.io", stalled(read, "io")),
            },
            ticks: CpuTicks::read(read, &mut why),
            available_bytes: why.known("available_bytes", available),
            throttled: Throttled::read(read, &mut why),
            mhz: why.known("mhz", mhz(read)),
            why_null: why,
        }
    }

    /// The disturbances between an earlier moment and this one.
    pub fn since(&self, earlier: &Self) -> Disturbance {
        let seconds = |now: Option<f64>, then: Option<f64>| Some((now? - then?).max(0.0));
        let share = |now: Option<u64>, then: Option<u64>| {
            let total = self.ticks.total?.checked_sub(earlier.ticks.total?)?;
            // Counters of ticks may go back a little in a guest.
            let part = now?.saturating_sub(then?);
            (total > 0).then(|| part as f64 / total as f64)
        };
        Disturbance {
            steal_share: share(self.ticks.steal, earlier.ticks.steal),
            idle_share: share(self.ticks.idle, earlier.ticks.idle),
            cpu_stalled_seconds: seconds(self.pressure.cpu, earlier.pressure.cpu),
            memory_stalled_seconds: seconds(self.pressure.memory, earlier.pressure.memory),
            io_stalled_seconds: seconds(self.pressure.io, earlier.pressure.io),
            throttled_seconds: seconds(self.throttled.seconds, earlier.throttled.seconds),
            mhz: self.mhz.zip(earlier.mhz).map(|(now, then)| (now + then) / 2.0),
        }
    }
}

impl CpuTicks {
    fn read(read: ReadFile, why: &mut WhyNull) -> Self {
        // The line is `cpu user nice system idle iowait irq softirq steal guest guest_nice`; the time of guests is
        // part of `user` and `nice`.
        let path = "/proc/stat";
        let ticks = read(path).and_then(|text| {
            let line = text.lines().next().and_then(|line| line.strip_prefix("cpu "));
            let ticks = line.map(|line| line.split_whitespace().map_while(|n| n.parse().ok()));
            let ticks: Vec<u64> = ticks.into_iter().flatten().take(8).collect();
            (ticks.len() == 8).then_some(ticks).ok_or_else(|| format!("{path}: not 8 counters"))
        });
        let mut pick = |field: &str, of: fn(&[u64]) -> u64| {
            why.known(field, ticks.as_ref().map_err(Clone::clone).map(|ticks| of(ticks)))
        };
        Self {
            total: pick("ticks.total", |ticks| ticks.iter().sum()),
            idle: pick("ticks.idle", |ticks| ticks[3] + ticks[4]),
            steal: pick("ticks.steal", |ticks| ticks[7]),
        }
    }
}

impl Throttled {
    fn read(read: ReadFile, why: &mut WhyNull) -> Self {
        let found = cgroup::throttling(read);
        let found = found.as_ref().map_err(Clone::clone);
        Self {
            periods: why.known("throttled.periods", found.clone().map(|found| found.periods)),
            throttled_periods: why.known(
                "throttled.throttled_periods",
                found.clone().map(|found| found.throttled_periods),
            ),
            seconds: why.known("throttled.seconds", found.map(|found| found.seconds)),
        }
    }
}

fn load(read: ReadFile) -> Result<[f64; 3], String> {
    let path = "/proc/loadavg";
    let text = read(path)?;
    let numbers: Vec<f64> = text.split(' ').take(3).map_while(|n| n.parse().ok()).collect();
    numbers.try_into().map_err(|_| format!("{path}: `{text}` does not begin with 3 numbers"))
}

fn stalled(read: ReadFile, resource: &str) -> Result<f64, String> {
    let path = format!("/proc/pressure/{resource}");
    let text = read(&path)?;
    let some = text.lines().find_map(|line| line.strip_prefix("some "));
    let total = some.and_then(|some| some.split(' ').find_map(|part| part.strip_prefix("total=")));
    let microseconds = total.and_then(|total| total.parse::<u64>().ok());
    microseconds.map(|n| n as f64 / 1e6).ok_or_else(|| format!("{path}: no total of `some`"))
}

fn mhz(read: ReadFile) -> Result<f64, String> {
    let allowed = allowed(&online(read)?, read);
    let path = |cpu: &usize| format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
    let of_cpus: Result<Vec<f64>, String> =
        allowed.iter().map(|cpu| read_number(read, &path(cpu))).collect();
    let of_cpus = of_cpus.map(|all| all.into_iter().map(|kilohertz| kilohertz / 1e3).collect());
    let all: Vec<f64> = of_cpus.or_else(|reason| {
        let lines = read("/proc/cpuinfo").map_err(|_| reason.clone())?;
        let lines = lines.lines().filter_map(|line| line.split_once(':'));
        let lines = lines.filter(|(key, _)| key.trim() == "cpu MHz");
        let all: Vec<f64> = lines.filter_map(|(_, value)| value.trim().parse().ok()).collect();
        if all.is_empty() { Err(reason) } else { Ok(all) }
    })?;
    Ok(all.iter().sum::<f64>() / all.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::files::invented;
    use super::super::tests::check_reasons;
    use super::*;

    fn files(stat: &'static str, cpu: &'static str) -> [(&'static str, &'static str); 6] {
        [
            ("/proc/loadavg", "1.50 0.75 0.25 3/200 4711"),
            ("/proc/stat", stat),
            ("/proc/pressure/cpu", cpu),
            ("/proc/meminfo", "MemTotal: 9 kB\nMemAvailable: 4 kB\n"),
            ("/sys/devices/system/cpu/online", "0-1"),
            ("/proc/cpuinfo", "cpu MHz\t\t: 2000.0\n\ncpu MHz\t\t: 3000.0\n"),
        ]
    }

    #[test]
    fn moment_is_read_and_subtracted() {
        let before = files(
            "cpu  100 0 100 700 50 0 0 50 100 0\ncpu0 1",
            "some avg10=58.44 avg60=28.14 avg300=17.12 total=1500000\nfull avg10=0.00 total=0",
        );
        let after = files(
            "cpu  150 0 100 700 50 0 0 100 150 0\ncpu0 1",
            "some avg10=58.44 avg60=28.14 avg300=17.12 total=2000000\nfull avg10=0.00 total=0",
        );
        let (before, after) =
            (Conditions::read(&invented(&before)), Conditions::read(&invented(&after)));
        assert_eq!(before.load, Some([1.5, 0.75, 0.25]));
        let ticks = CpuTicks { total: Some(1000), idle: Some(750), steal: Some(50) };
        assert_eq!((before.ticks, before.pressure.cpu), (ticks, Some(1.5)));
        assert_eq!((before.available_bytes, before.mhz), (Some(4096), Some(2500.0)));
        let between = after.since(&before);
        assert_eq!((between.steal_share, between.idle_share), (Some(0.5), Some(0.0)));
        assert_eq!((between.cpu_stalled_seconds, between.io_stalled_seconds), (Some(0.5), None));
        assert_eq!((between.throttled_seconds, between.mhz), (None, Some(2500.0)));
    }

    #[test]
    fn current_frequency_of_the_system_comes_first() {
        let mut files = files("", "").to_vec();
        files.push(("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000"));
        files.push(("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1500000"));
        assert_eq!(mhz(&invented(&files)), Ok(1250.0));
    }

    #[test]
    fn each_null_has_a_reason_and_comes_back() {
        for conditions in [Conditions::now(), Conditions::read(&invented(&[]))] {
            let json = serde_json::to_value(&conditions).expect("JSON");
            check_reasons(&json);
            assert_eq!(serde_json::from_value::<Conditions>(json).expect("the same"), conditions);
        }
    }
}
