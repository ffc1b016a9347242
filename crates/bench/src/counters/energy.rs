//! Energy of the processor, as RAPL counts it (Running Average Power Limit, of Intel and AMD).

use crate::machine::{ReadFile, read_number};

/// The counters of the machine's packages and of their memory.
#[derive(Debug, PartialEq, Eq)]
pub struct Energy {
    domains: Vec<Domain>,
}

/// One counter. It starts again at 0 after `range`.
#[derive(Debug, PartialEq, Eq)]
struct Domain {
    path: String,
    range: u64,
}

/// The values of all counters at one moment, in microjoules, with the largest that each can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnergyReading(Vec<(u64, u64)>);

impl Energy {
    /// Finds the counters that can be read. The error is the reason why there are none.
    ///
    /// A package includes its cores but not its memory. `psys` includes the packages, so it would count them twice.
    pub fn find(read: ReadFile) -> Result<Self, String> {
        let mut domains = Vec::new();
        let mut take = |directory: &str| -> Result<(), String> {
            let path = format!("{directory}/energy_uj");
            read_number::<u64>(read, &path)?;
            let range = read_number(read, &format!("{directory}/max_energy_range_uj"))?;
            domains.push(Domain { path, range });
            Ok(())
        };
        for package in 0.. {
            let directory = format!("/sys/class/powercap/intel-rapl:{package}");
            let name = match read(&format!("{directory}/name")) {
                Ok(name) => name,
                Err(reason) if package == 0 => return Err(reason),
                Err(_) => break,
            };
            if !name.starts_with("package") {
                continue;
            }
            take(&directory)?;
            for part in 0.. {
                let directory = format!("{directory}:{part}");
                match read(&format!("{directory}/name")).as_deref() {
                    Ok("dram") => take(&directory)?,
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        }
        match domains.is_empty() {
            true => Err("/sys/class/powercap: no package among the counters".to_owned()),
            false => Ok(Self { domains }),
        }
    }

    /// All counters now.
    pub fn read(&self, read: ReadFile) -> Result<EnergyReading, String> {
        let values = self.domains.iter().map(|d| Ok((read_number(read, &d.path)?, d.range)));
        values.collect::<Result<_, String>>().map(EnergyReading)
    }
}

impl EnergyReading {
    /// Joules between an earlier reading and this one. A counter may have started again once; it does so after
    /// many minutes at full load.
    pub fn since(&self, earlier: &Self) -> f64 {
        let parts = self.0.iter().zip(&earlier.0).map(|(&(now, range), &(then, _))| {
            now.checked_sub(then).unwrap_or_else(|| (range - then.min(range)) + now)
        });
        parts.map(|microjoules| microjoules as f64 / 1e6).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::invented;

    const TWO: &[(&str, &str)] = &[
        ("/sys/class/powercap/intel-rapl:0/name", "package-0"),
        ("/sys/class/powercap/intel-rapl:0/energy_uj", "1000000"),
        ("/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "262143328850"),
        ("/sys/class/powercap/intel-rapl:0:0/name", "core"),
        ("/sys/class/powercap/intel-rapl:0:1/name", "dram"),
        ("/sys/class/powercap/intel-rapl:0:1/energy_uj", "500000"),
        ("/sys/class/powercap/intel-rapl:0:1/max_energy_range_uj", "65712999613"),
        ("/sys/class/powercap/intel-rapl:1/name", "psys"),
        ("/sys/class/powercap/intel-rapl:1/energy_uj", "9000000"),
        ("/sys/class/powercap/intel-rapl:2/name", "package-1"),
        ("/sys/class/powercap/intel-rapl:2/energy_uj", "7"),
        ("/sys/class/powercap/intel-rapl:2/max_energy_range_uj", "262143328850"),
    ];

    #[test]
    fn packages_and_their_memory_are_counted_once() {
        let energy = Energy::find(&invented(TWO)).expect("counters");
        let reading = energy.read(&invented(TWO)).expect("numbers");
        let values: Vec<_> = reading.0.iter().map(|(value, _)| *value).collect();
        assert_eq!(values, [1_000_000, 500_000, 7]);
    }

    #[test]
    fn counter_that_starts_again_is_continued() {
        let before = EnergyReading(vec![(900, 1000), (5_000_000, 1 << 40)]);
        let after = EnergyReading(vec![(400, 1000), (7_000_000, 1 << 40)]);
        assert_eq!(after.since(&before), 500e-6 + 2.0);
    }

    #[test]
    fn counters_that_cannot_be_read_give_a_reason() {
        let reason = "/sys/class/powercap/intel-rapl:0/name: not found";
        assert_eq!(Energy::find(&invented(&[])), Err(reason.into()));
        let reason = "/sys/class/powercap/intel-rapl:0/energy_uj: not found";
        assert_eq!(Energy::find(&invented(&TWO[..1])), Err(reason.into()));
        let psys = [("/sys/class/powercap/intel-rapl:0/name", "psys")];
        assert!(Energy::find(&invented(&psys)).is_err());
    }
}
