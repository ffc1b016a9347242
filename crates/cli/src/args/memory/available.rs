//! Finds the free memory, as the kernel reports it for the machine, for the control groups of this
//! process, and for its own limits.
//!
//! In a group, memory is used by its processes and by the pages of files that they have read.
//! Pages not used lately are given back before anything fails, so they count as free, as
//! they do in `MemAvailable`.

use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::address_space;

/// Bytes that could be had now; none where the system does not say.
pub fn available() -> Option<u64> {
    of(Path::new("/")).into_iter().chain(address_space::free()).min()
}

/// Where a version of control groups has its numbers.
struct Version {
    /// Below the root of the file system.
    mount: &'static str,
    limits: &'static [&'static str],
    used: &'static str,
    reclaimable: &'static str,
}

/// <https://docs.kernel.org/admin-guide/cgroup-v2.html>, "Memory Interface Files".
const V2: Version = Version {
    mount: "sys/fs/cgroup",
    limits: &["memory.max", "memory.high"],
    used: "memory.current",
    reclaimable: "inactive_file",
};

/// <https://docs.kernel.org/admin-guide/cgroup-v1/memory.html>
const V1: Version = Version {
    mount: "sys/fs/cgroup/memory",
    limits: &["memory.limit_in_bytes"],
    used: "memory.usage_in_bytes",
    reclaimable: "total_inactive_file",
};

fn of(root: &Path) -> Option<u64> {
    let meminfo = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let machine = named(&meminfo, "MemAvailable:")?.checked_mul(1024)?;
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let groups = groups.lines().filter_map(|line| in_group(root, line));
    groups.chain([machine]).min()
}

/// The number after a name that starts a line.
fn named(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

/// The free memory of one of the groups of /proc/self/cgroup, `number:controllers:path`, and in those
/// around it.
fn in_group(root: &Path, line: &str) -> Option<u64> {
    let (_, line) = line.split_once(':')?;
    let (controllers, path) = line.split_once(':')?;
    // Systems with both versions list the groups of both, and memory belongs to one of them.
    let version = match controllers {
        "" => V2,
        controllers if controllers.split(',').any(|controller| controller == "memory") => V1,
        _ => return None,
    };
    let mount = root.join(version.mount);
    let path: PathBuf = Path::new(path).strip_prefix("/").ok()?.into();
    // A path that leads out of the mount is not visible here; use the root of the mount instead.
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    let path = if inside { path } else { PathBuf::new() };
    // The limit of a group holds for all groups below it.
    path.ancestors().filter_map(|group| free(&mount.join(group), &version)).min()
}

fn free(group: &Path, version: &Version) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    // Without a limit the file holds `max`, which does not parse.
    let number = |name: &&str| read(name)?.trim().parse::<u64>().ok();
    let limit = version.limits.iter().filter_map(number).min()?;
    let used = number(&version.used)?;
    // Without this file all pages count as used, which can only make the budget smaller.
    let reclaimable = read("memory.stat").and_then(|stat| named(&stat, version.reclaimable));
    Some(limit.saturating_sub(used.saturating_sub(reclaimable.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root with these files.
    fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a directory");
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().expect("a parent")).expect("made");
            fs::write(path, text).expect("written");
        }
        root
    }

    const MACHINE: (&str, &str) =
        ("proc/meminfo", "MemTotal:  9000 kB\nMemFree:  10 kB\nMemAvailable:    4000 kB\n");

    #[track_caller]
    fn check(files: &[(&str, &str)], expected: Option<u64>) {
        let all: Vec<_> = [MACHINE].iter().chain(files).copied().collect();
        assert_eq!(of(root(&all).path()), expected);
    }

    #[test]
    fn memory_of_the_machine_is_the_limit_without_cgroups() {
        check(&[], Some(4000 << 10));
        check(&[("proc/self/cgroup", "0::/\n")], Some(4000 << 10));
        assert_eq!(of(root(&[]).path()), None);
    }

    #[test]
    fn tightest_cgroup_v2_limit_wins() {
        let group = ("proc/self/cgroup", "0::/a.slice/b.scope\n");
        let around = [
            ("sys/fs/cgroup/a.slice/memory.max", "1000000\n"),
            ("sys/fs/cgroup/a.slice/memory.current", "400000\n"),
            ("sys/fs/cgroup/a.slice/memory.stat", "anon 5\nfile 9\ninactive_file 100000\n"),
        ];
        let unlimited = [
            ("sys/fs/cgroup/a.slice/b.scope/memory.max", "max\n"),
            ("sys/fs/cgroup/a.slice/b.scope/memory.high", "max\n"),
            ("sys/fs/cgroup/a.slice/b.scope/memory.current", "300000\n"),
        ];
        check(&[&[group], &around[..], &unlimited].concat(), Some(700_000));
        let high = [("sys/fs/cgroup/a.slice/b.scope/memory.high", "350000\n")];
        check(&[&[group], &around[..], &unlimited, &high].concat(), Some(50_000));
        let full = [("sys/fs/cgroup/a.slice/b.scope/memory.max", "200000\n")];
        check(&[&[group], &around[..], &unlimited, &full].concat(), Some(0));
    }

    #[test]
    fn cgroup_of_a_container_is_read_at_the_mount() {
        let files = [
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "500000\n"),
            ("sys/fs/cgroup/memory/memory.usage_in_bytes", "300000\n"),
            ("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 50000\n"),
        ];
        for group in ["5:cpu:/x\n7:memory:/docker/abc\n", "7:hugetlb,memory:/../../abc\n"] {
            check(&[&[("proc/self/cgroup", group)], &files[..]].concat(), Some(250_000));
        }
        check(&[&[("proc/self/cgroup", "7:cpu:/docker\n")], &files[..]].concat(), Some(4000 << 10));
        // Not a limit.
        let none = [("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")];
        let group = [("proc/self/cgroup", "7:memory:/\n")];
        check(&[&group[..], &files, &none].concat(), Some(4000 << 10));
    }
}
