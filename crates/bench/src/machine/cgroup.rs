//! The limits of the control groups that this process is in, of version 1 and 2.
//!
//! A group may use no more than the groups around it, so each limit is the tightest from the own group to the root.
//! The two versions can be mounted together, each with some of the controllers.

use super::files::ReadFile;

/// The directories of the control groups of one controller, the own group first.
type Groups = Vec<String>;

/// CPUs that the process may use by its quota; 0.5 is half of one. `None` if there is no limit.
pub fn cpu_quota(read: ReadFile) -> Result<Option<f64>, String> {
    let groups = groups(read)?;
    let v2 = groups.v2.iter().filter_map(|group| {
        let text = read(&format!("{group}/cpu.max")).ok()?;
        let (quota, period) = text.split_once(' ')?;
        share(quota.parse().ok()?, period.parse().ok()?)
    });
    let v1 = groups.cpu.iter().filter_map(|group| {
        let number = |name: &str| read(&format!("{group}/{name}")).ok()?.parse().ok();
        // It is -1 if there is no limit.
        share(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us")?)
    });
    Ok(v2.chain(v1).min_by(f64::total_cmp))
}

/// The limit of memory in bytes. `None` if there is none.
pub fn memory_limit(read: ReadFile) -> Result<Option<u64>, String> {
    // The limit of version 1 is never missing, but by default the largest number of pages.
    const NO_LIMIT: u64 = 1 << 60;
    let groups = groups(read)?;
    let v2 = groups.v2.iter().map(|group| format!("{group}/memory.max"));
    let v1 = groups.memory.iter().map(|group| format!("{group}/memory.limit_in_bytes"));
    let limits = v2.chain(v1).filter_map(|path| read(&path).ok()?.parse().ok());
    Ok(limits.filter(|limit| *limit < NO_LIMIT).min())
}

/// How often a quota stopped the process, as the groups count it since they were made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Throttling {
    /// Periods of the quota in which something ran.
    pub periods: u64,
    /// Those in which it was stopped.
    pub throttled_periods: u64,
    /// How long it was stopped, the sum of all its CPUs.
    pub seconds: f64,
}

/// The sum for all groups that have these counters. The error says that none has.
pub fn throttling(read: ReadFile) -> Result<Throttling, String> {
    let groups = groups(read)?;
    let mut sum = None;
    for group in groups.v2.iter().chain(&groups.cpu) {
        let Ok(text) = read(&format!("{group}/cpu.stat")) else { continue };
        let number = |name| {
            let mut lines = text.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(key, _)| *key == name)?.1.parse::<u64>().ok()
        };
        let time = number("throttled_usec").map(|time| time as f64 / 1e6);
        let time = time.or_else(|| Some(number("throttled_time")? as f64 / 1e9));
        let (Some(periods), Some(throttled), Some(time)) =
            (number("nr_periods"), number("nr_throttled"), time)
        else {
            continue;
        };
        let sum = sum.get_or_insert(Throttling::default());
        sum.periods += periods;
        sum.throttled_periods += throttled;
        sum.seconds += time;
    }
    sum.ok_or_else(|| "no control group with a cpu.stat that counts throttling".to_owned())
}

fn share(quota: f64, period: f64) -> Option<f64> {
    (quota > 0.0 && period > 0.0).then_some(quota / period)
}

/// The groups by the controllers that are read here.
#[derive(Debug, Default, PartialEq, Eq)]
struct OwnGroups {
    v2: Groups,
    /// Of version 1.
    cpu: Groups,
    /// Of version 1.
    memory: Groups,
}

fn groups(read: ReadFile) -> Result<OwnGroups, String> {
    let own = read("/proc/self/cgroup")?;
    let mounts = read("/proc/self/mountinfo")?;
    let mut groups = OwnGroups::default();
    // Lines are `number:controllers:path`. Version 2 has the number 0 and no controllers.
    for line in own.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let has = |name| controllers.split(',').any(|controller| controller == name);
        if controllers.is_empty() {
            groups.v2 = directories(&mounts, "cgroup2", None, path);
        }
        if has("cpu") {
            groups.cpu = directories(&mounts, "cgroup", Some("cpu"), path);
        }
        if has("memory") {
            groups.memory = directories(&mounts, "cgroup", Some("memory"), path);
        }
    }
    Ok(groups)
}

/// The directory of the group `path`, and of those around it as far as they are mounted.
fn directories(mounts: &str, system: &str, controller: Option<&str>, path: &str) -> Groups {
    // Lines are `id parent device root mount-point options … - system source options`.
    let mount = mounts.lines().find_map(|line| {
        let (mount, about) = line.split_once(" - ")?;
        let mut about = about.split(' ');
        let right = about.next() == Some(system)
            && controller.is_none_or(|wanted| {
                about.nth(1).is_some_and(|options| options.split(',').any(|one| one == wanted))
            });
        let mut fields = mount.split(' ').skip(3);
        right.then_some((fields.next()?, fields.next()?))
    });
    let Some((root, point)) = mount else { return Groups::new() };
    // In a container the root of the mount is often the own group.
    let inside = path.strip_prefix(root.trim_end_matches('/')).unwrap_or("");
    let mut directory = format!("{point}{}", inside.trim_end_matches('/'));
    let mut groups = vec![directory.clone()];
    while directory.len() > point.len() {
        directory.truncate(directory.rfind('/').unwrap_or(0));
        groups.push(directory.clone());
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::super::files::invented;
    use super::*;

    const V2: &str = "22 1 0:20 / /sys rw - sysfs sysfs rw\n30 22 0:27 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw";
    const V1: &str = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
        35 31 0:32 /docker/ab /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
        41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw";

    #[test]
    fn half_a_core_and_memory_of_version_2_are_read() {
        let files = [
            ("/proc/self/cgroup", "0::/a.slice/b.scope"),
            ("/proc/self/mountinfo", V2),
            ("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000"),
            ("/sys/fs/cgroup/a.slice/cpu.max", "50000 100000"),
            ("/sys/fs/cgroup/a.slice/b.scope/memory.max", "1000000"),
            ("/sys/fs/cgroup/a.slice/memory.max", "max"),
            (
                "/sys/fs/cgroup/a.slice/cpu.stat",
                "usage_usec 9\nnr_periods 10\nnr_throttled 4\nthrottled_usec 250000\n",
            ),
            ("/sys/fs/cgroup/cpu.stat", "usage_usec 9\n"),
        ];
        let read = invented(&files);
        assert_eq!(cpu_quota(&read), Ok(Some(0.5)));
        assert_eq!(memory_limit(&read), Ok(Some(1_000_000)));
        let expected = Throttling { periods: 10, throttled_periods: 4, seconds: 0.25 };
        assert_eq!(throttling(&read), Ok(expected));
    }

    #[test]
    fn half_a_core_and_memory_of_version_1_are_read() {
        let files = [
            ("/proc/self/cgroup", "4:memory:/docker/ab/x\n2:cpu,cpuacct:/docker/ab\n0::/\n"),
            ("/proc/self/mountinfo", V1),
            ("/sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_quota_us", "50000"),
            ("/sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1"),
            ("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
            ("/sys/fs/cgroup/memory/x/memory.limit_in_bytes", "9223372036854771712"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000"),
            (
                "/sys/fs/cgroup/cpu,cpuacct/docker/ab/cpu.stat",
                "nr_periods 8\nnr_throttled 2\nthrottled_time 500000000\n",
            ),
        ];
        let read = invented(&files);
        assert_eq!(cpu_quota(&read), Ok(Some(0.5)));
        assert_eq!(memory_limit(&read), Ok(Some(2_000_000)));
        let expected = Throttling { periods: 8, throttled_periods: 2, seconds: 0.5 };
        assert_eq!(throttling(&read), Ok(expected));
    }

    #[test]
    fn process_without_limits_has_none() {
        let files = [("/proc/self/cgroup", "0::/"), ("/proc/self/mountinfo", V2)];
        let read = invented(&files);
        assert_eq!((cpu_quota(&read), memory_limit(&read)), (Ok(None), Ok(None)));
        assert!(throttling(&read).is_err());
        assert_eq!(cpu_quota(&invented(&[])), Err("/proc/self/cgroup: not found".into()));
    }

    #[test]
    fn groups_are_found_up_to_the_mount() {
        let all = directories(V2, "cgroup2", None, "/a/b");
        assert_eq!(all, ["/sys/fs/cgroup/a/b", "/sys/fs/cgroup/a", "/sys/fs/cgroup"]);
        // A group outside of the mount, as in a container with the namespace of its host.
        let hidden = directories(V1, "cgroup", Some("memory"), "/elsewhere");
        assert_eq!(hidden, ["/sys/fs/cgroup/memory"]);
        assert_eq!(directories(V1, "cgroup", Some("blkio"), "/"), [""; 0]);
    }
}
