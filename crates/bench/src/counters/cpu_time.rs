//! CPU time and page faults of the process.

use crate::machine::{ReadFile, WhyNull};
use rustix::time::{ClockId, clock_gettime};

/// The sums since the process was started.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CpuTime {
    /// Seconds of all threads, those that ended included.
    pub all: Option<f64>,
    /// Seconds in the kernel.
    pub system: Option<f64>,
    /// Page faults without input or output.
    pub minor_faults: Option<u64>,
    /// Page faults with it.
    pub major_faults: Option<u64>,
}

const STAT: &str = "/proc/self/stat";

impl CpuTime {
    /// Reads the clock of the process, which is exact, and its counters in `/proc`.
    pub fn now(read: ReadFile) -> Self {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        let all = Some(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9);
        match counts(read) {
            Ok([minor, major, ticks]) => Self {
                all,
                system: Some(ticks as f64 / rustix::param::clock_ticks_per_second() as f64),
                minor_faults: Some(minor),
                major_faults: Some(major),
            },
            Err(_) => Self { all, system: None, minor_faults: None, major_faults: None },
        }
    }

    /// The reasons for missing values.
    pub fn why_null(read: ReadFile) -> WhyNull {
        let mut why = WhyNull::default();
        if let Err(reason) = counts(read) {
            for field in ["system_seconds", "minor_faults", "major_faults"] {
                why.0.insert(field.to_owned(), reason.clone());
            }
        }
        why
    }
}

/// Minor faults, major faults and ticks in the kernel.
fn counts(read: ReadFile) -> Result<[u64; 3], String> {
    let text = read(STAT)?;
    // The second field is the name of the program in parentheses, and may hold any byte.
    let fields = text.rsplit_once(')').map(|(_, fields)| fields.split_whitespace());
    let fields: Vec<_> = fields.into_iter().flatten().collect();
    // The third field of proc(5) is the first here.
    let field = |number: usize| fields.get(number - 3).and_then(|field| field.parse().ok());
    match (field(10), field(12), field(15)) {
        (Some(minor), Some(major), Some(ticks)) => Ok([minor, major, ticks]),
        _ => Err(format!("{STAT}: not the counters of a process")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::invented;

    #[test]
    fn counters_are_found_after_any_name() {
        let text = "42 (a) b (c) R 1 42 42 0 -1 4194304 1234 0 5 0 300 70 0 0 20 0 1 0 9 9 9";
        assert_eq!(counts(&invented(&[(STAT, text)])), Ok([1234, 5, 70]));
        let files = [(STAT, "42 (x) R 1")];
        assert_eq!(CpuTime::now(&invented(&files)).minor_faults, None);
        assert_eq!(CpuTime::why_null(&invented(&files)).0.len(), 3);
    }
}
