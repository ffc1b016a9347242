//! A limited address space (`ulimit -v`), without `--memory`.

use std::fs;
use std::path::Path;

use crate::place::Place;
use crate::{Extent, Row, Torture};

/// From this many MiB on a run has to be complete.
const ENOUGH: u64 = 300;

/// A list under many limits: the run is complete, or ends by the limit with its accounting.
pub fn default_budget(torture: &mut Torture) -> Row {
    let mut row = Row::new("in a limited address space, without --memory: done or status 3");
    let place = Place::new(torture, "address-space", 10);
    let (bytes, step, times) = match torture.extent {
        Extent::Full => (213_000_000, 50, 8),
        Extent::Short => (4_000_000, 200, 1),
    };
    let line =
        |i: u64| format!("http://host{}.example.com/{}/path\n", i % 997, i * 7919 % 3_000_017);
    let mut lines = String::with_capacity(bytes + 100);
    for i in 0.. {
        if lines.len() >= bytes {
            break;
        }
        lines += &line(i);
    }
    fs::write(place.path.join("more"), lines).expect("written");
    let mut runs = 0;
    for limit in (200..=800).step_by(step) {
        for order in ["first", "sorted"] {
            for _ in 0..times {
                runs += 1;
                if let Err(why) = try_once(torture, &place, limit, order) {
                    row.broken.push(format!("{limit} MiB, {order}: {why}"));
                }
            }
        }
    }
    row.figure = format!("{runs} runs over {} MB, 200 to 800 MiB", bytes / 1_000_000);
    row
}

fn try_once(torture: &Torture, place: &Place, limit: u64, order: &str) -> Result<(), String> {
    let mut shell = place.command(Path::new("sh"));
    let script = "ulimit -v \"$1\" && shift && exec \"$@\"";
    shell.args(["-c", script, "sh", &(limit << 10).to_string()]).arg(&torture.command);
    shell.args(["dedup", "more", "--order", order, "--temp-dir", ".", "-o", "out"]);
    let run = shell.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&run.stderr);
    let is_accounted =
        said.lines().any(|line| line.starts_with("records ") && line.contains(" = unique "));
    match run.status.code() {
        Some(0) if is_accounted => Ok(()),
        Some(3) if is_accounted && limit < ENOUGH => Ok(()),
        _ => Err(format!("{}, and it said {said:?}", run.status)),
    }
}
