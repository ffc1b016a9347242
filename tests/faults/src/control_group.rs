//! The default budget in a control group: nothing is killed, whatever the input and the threads.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bombs;
use crate::place::Place;
use crate::{Extent, Row, Torture};

/// A group for one run, which is removed at the end.
struct Group(PathBuf);

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

impl Group {
    /// A group below that of this process.
    fn new(limit: u64) -> io::Result<Self> {
        let own = fs::read_to_string("/proc/self/cgroup")?;
        let memory = own.lines().find_map(|line| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            let is_memory = controllers.split(',').any(|controller| controller == "memory");
            is_memory.then(|| (Path::new("/sys/fs/cgroup/memory"), path, "memory.limit_in_bytes"))
        });
        let unified = || {
            let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
            Some((Path::new("/sys/fs/cgroup"), path, "memory.max"))
        };
        let none = || io::Error::other("no control group for memory");
        let (mount, path, name) = memory.or_else(unified).ok_or_else(none)?;
        let around = mount.join(path.trim_start_matches('/'));
        let group = Self(around.join(format!("uniqurl-torture-{}", std::process::id())));
        fs::create_dir(&group.0)?;
        fs::write(group.0.join(name), limit.to_string())?;
        Ok(group)
    }

    /// The command in the group.
    fn command(&self, place: &Place, command: &Path) -> Command {
        let mut shell = place.command(Path::new("sh"));
        let script = "echo $$ > \"$1\"; shift; exec \"$@\"";
        shell.args(["-c", script, "sh"]).arg(self.0.join("cgroup.procs")).arg(command);
        shell
    }
}

/// The bombs of many members, and many distinct URLs, without `--memory`.
pub fn default_budget(torture: &mut Torture) -> Row {
    let mut row = Row::new("in a control group, without --memory: done, and not killed");
    let place = Place::new(torture, "group", 10);
    let (limit, members, urls) = match torture.extent {
        Extent::Full => (512 << 20, 20_000, 20_000_000),
        Extent::Short => (192 << 20, 800, 20_000),
    };
    let group = match Group::new(limit) {
        Ok(group) => group,
        Err(error) => return row.skipped(format!("a control group cannot be made: {error}")),
    };
    let made = bombs::write_members(&place.path.join("more.gz"), members);
    if let Err(error) = made {
        return row.skipped(error.to_string());
    }
    let lines: String = (0..urls).map(|i| format!("http://host{i}.example/\n")).collect();
    fs::write(place.path.join("more-urls"), lines).expect("written");
    for name in ["more.gz", "more-urls"] {
        let mut command = group.command(&place, &torture.command);
        command.args(["dedup", "-f", "lines", "-j", "8", "--temp-dir", ".", "-o", "out", name]);
        match command.output() {
            Ok(run) if run.status.success() => {}
            Ok(run) => {
                let said = String::from_utf8_lossy(&run.stderr);
                row.broken.push(format!("{name}: {}, and it said {said:?}", run.status));
            }
            Err(error) => row.broken.push(format!("{name}: {error}")),
        }
    }
    row.figure = format!("{} MiB, -j 8: {members} members, {urls} URLs", limit >> 20);
    row
}
