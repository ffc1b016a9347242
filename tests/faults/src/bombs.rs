//! The memory budget at any number of threads: files of many small members that unpack to a lot.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::budget::{judge, mega, run, zstd};
use crate::place::Place;
use crate::{Extent, Row, Torture};

/// The budget of each run.
const BUDGET: u64 = 8 << 20;

/// Numbers of threads.
pub const THREADS: [u64; 4] = [1, 2, 8, 32];

/// Gzip members and zstd frames of 1 MiB each: as an input, as URLs from before, and as an archive.
pub fn many_members(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("bombs of many members, -j 1 to 32: within the budget and 12 MiB a thread");
    let place = Place::new(torture, "members", 10);
    let members = if torture.extent == Extent::Full { 20_000 } else { 600 };
    let made = write_members(&place.path.join("more.gz"), members).and_then(|()| {
        fs::write(place.path.join("more.zst"), zstd(17, 1 << 10, 1 << 20).repeat(members))
    });
    if let Err(error) = made {
        return row.skipped(error.to_string());
    }
    let extent = torture.extent;
    let mut peaks = Vec::new();
    for (arguments, code) in [
        (&["-f", "lines", "more.gz"][..], 0),
        (&["-f", "lines", "more.zst"], 3),
        (&["-f", "lines", "--seen", "more.gz", "in"], 0),
        (&["-f", "warc", "more.gz"], 3),
    ] {
        let mut most = Vec::new();
        for threads in THREADS {
            // In a short run, as many threads as show most: each has two segments at most.
            if extent == Extent::Short && threads != 8 && arguments != ["-f", "lines", "more.gz"] {
                continue;
            }
            let mut command = place.command(&torture.command);
            command.args(["dedup", "--memory", "8M", "-o", "out", "-j", &threads.to_string()]);
            let end = run(command.args(arguments), |_| Ok(()));
            let what = format!("{} -j {threads}", arguments[1..].join(" "));
            let end = judge(extent, &mut row, &what, (BUDGET, threads), code, end);
            most.extend(end.map(|end| mega(end.peak)));
        }
        peaks.push(most);
    }
    row.figure = format!("{members} members of 1 MiB, -j {THREADS:?}; peaks {peaks:?} MB");
    row
}

/// Writes a file of so many gzip members of 1 MiB each.
pub fn write_members(path: &Path, members: usize) -> io::Result<()> {
    fs::write(path, gzip(1 << 20)?.repeat(members))
}

/// A member of a URL and a line of this length.
fn gzip(size: usize) -> io::Result<Vec<u8>> {
    let mut command = Command::new("gzip");
    let mut child = command.arg("-9").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(b"http://a.example/\n")?;
        input.write_all(&vec![b'a'; size])?;
        input.write_all(b"\n")?;
    }
    Ok(child.wait_with_output()?.stdout)
}
