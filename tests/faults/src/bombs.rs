//! The memory budget at any number of threads: files of many small members that unpack to a lot.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::budget::{End, mega, promised, run};
use crate::place::Place;
use crate::{Extent, Row, Torture};

/// The budget of each run.
const BUDGET: u64 = 8 << 20;

/// Numbers of threads.
pub const THREADS: [u64; 4] = [1, 2, 8, 32];

/// Records a run that held more than it may, or did not exit with `code`. Returns its peak.
pub fn judge(
    extent: Extent,
    row: &mut Row,
    what: &str,
    (budget, threads): (u64, u64),
    code: i32,
    end: Result<End, String>,
) -> u64 {
    let end = match end {
        Ok(end) => end,
        Err(why) => {
            row.broken.push(format!("{what}: {why}"));
            return 0;
        }
    };
    let most = promised(extent, budget, threads);
    if end.peak > most {
        row.broken.push(format!("{what}: peak of {} MB, of {}", mega(end.peak), mega(most)));
    }
    if end.code != Some(code) {
        row.broken.push(format!("{what}: status {:?}, and it said {:?}", end.code, end.said));
    }
    end.peak
}

/// Gzip members and zstd frames of 1 MiB each: as an input, as URLs from before, and as an archive.
pub fn many_members(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("bombs of many members, -j 1 to 32: within the budget and 12 MiB a thread");
    let place = Place::new(torture, "members", 10);
    let members = if torture.extent == Extent::Full { 20_000 } else { 600 };
    let made = write_members(&place.path.join("more.gz"), members)
        .and_then(|()| fs::write(place.path.join("more.zst"), zstd(1 << 20).repeat(members)));
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
            most.push(mega(judge(extent, &mut row, &what, (BUDGET, threads), code, end)));
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

/// A frame of this many bytes (RFC 8878 section 3.1.1): a block of 1 KiB, and blocks of one byte and its
/// repeat count.
fn zstd(size: u32) -> Vec<u8> {
    const BLOCK: u32 = 128 << 10;
    const RAW: u32 = 1 << 10;
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0, 7 << 3];
    frame.extend_from_slice(&(RAW << 3).to_le_bytes()[..3]);
    frame.extend((0..RAW).map(|i| b'a' + (i * i % 23) as u8));
    let blocks = size / BLOCK;
    for block in 1..=blocks {
        let header = BLOCK << 3 | 1 << 1 | u32::from(block == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(b'a');
    }
    frame
}
