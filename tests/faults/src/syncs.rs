//! A crash of the system: a file that has its name is on the disk, and so is the name.

use crate::place::{DEDUP, Found, OUTPUTS, Place, run};
use crate::seen_syncs::{CALLS, Call, calls};
use crate::{Row, Torture, faults};
use std::collections::HashSet;
use std::fs;
use std::process::{Command, Stdio};

/// Runs under strace and gives the calls about files that succeeded, or records why it cannot.
fn traced(torture: &Torture, place: &Place, arguments: &[&str], row: &mut Row) -> Vec<Call> {
    let log = torture.root.join("strace.log");
    let mut command = Command::new("strace");
    command.current_dir(&place.path).stdin(Stdio::null()).args(["-f", "-q", "-y", "-o"]).arg(&log);
    command.arg(format!("--trace={CALLS}")).arg(&torture.command).args(arguments);
    match run(&mut command) {
        Ok(output) if output.status.success() => {}
        Ok(output) => row.broken.push(String::from_utf8_lossy(&output.stderr).into_owned()),
        Err(why) => row.broken.push(why),
    }
    let log = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    calls(&log, &place.path).collect()
}

/// Every output is synced before it gets its name, and the directory after.
pub fn before_names(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("an output is on the disk before it has its name, and its name at the end");
    if let Err(why) = faults::can_trace() {
        return row.skipped(why);
    }
    let place = Place::new(torture, "sync", 300);
    let calls = traced(torture, &place, DEDUP, &mut row);
    let found = place.outputs();
    if !matches!(found, Ok(Found::New)) {
        row.broken.push(format!("{found:?}"));
    }
    match named_files(&calls) {
        Ok(files) => row.figure = format!("{files} files were named"),
        Err(why) => row.broken.push(why),
    }
    row
}

/// A directory of shards is on the disk with all that is in it before it has its name, and is synced once for all
/// files: there may be thousands.
pub fn shards(torture: &mut Torture) -> Row {
    let mut row = Row::new("a directory of shards is synced once, after all its files");
    if let Err(why) = faults::can_trace() {
        return row.skipped(why);
    }
    const COUNT: usize = 64;
    let place = Place::new(torture, "sync-shards", 3_000);
    for suffix in ["txt", "parquet"] {
        let target = format!("more-shards-{suffix}");
        let (split, suffixed) = (format!("hash:{COUNT}"), format!(".{suffix}"));
        let split = ["dedup", "in", "-j", "2", "--split-by", &split, "--split-suffix", &suffixed];
        let calls = traced(torture, &place, &[&split[..], &["-o", &target]].concat(), &mut row);
        let is_temporary = |path: &str| path.starts_with(".uniqurl-");
        let is_shard = |path: &str| is_temporary(path) && path.ends_with(suffix);
        // Files that were synced, that were made, and syncs of the directory after so many of both.
        let (mut files, mut names, mut syncs) = (0, 0, Vec::new());
        for call in &calls {
            match call {
                Call::Sync(path) if is_temporary(path) && path.contains('/') => files += 1,
                Call::Sync(path) if is_temporary(path) => syncs.push((files, names)),
                Call::Make(path) if is_shard(path) => names += 1,
                Call::Name(Some(_), path) if *path == target && syncs != [(COUNT, COUNT)] => {
                    row.broken.push(format!("the directory was synced after files {syncs:?}"));
                }
                _ => {}
            }
        }
        if files != COUNT || names != COUNT {
            row.broken.push(format!("{files} files were synced, {names} were made"));
        }
        let is_name = |call: &&Call| matches!(call, Call::Name(_, path) if *path == target);
        let mut after = calls.iter().skip_while(|call| !is_name(call));
        if !after.any(|call| matches!(call, Call::Sync(around) if around.is_empty())) {
            row.broken.push("the name of the directory is not on the disk at the end".to_owned());
        }
        row.figure = format!("{COUNT} files each, {} syncs of their directory", syncs.len());
    }
    row
}

/// The number of files that got a name. An error if one was not on the disk by then, or its name not at the end.
fn named_files(calls: &[Call]) -> Result<usize, String> {
    // Files with bytes that are not on the disk. One without a name is known by the name of its descriptor.
    let mut unsynced = HashSet::new();
    let (mut files, mut is_name_synced) = (0, true);
    for call in calls {
        match call {
            Call::Make(path) => drop(unsynced.remove(path)),
            Call::Write(path) => drop(unsynced.insert(path)),
            // A synced descriptor that nothing was written to is a directory.
            Call::Sync(path) => is_name_synced |= !unsynced.remove(path),
            Call::Name(old, path) => {
                if old.as_ref().is_some_and(|old| unsynced.contains(old)) {
                    return Err(format!("{path} is not on the disk before it has its name"));
                }
                files += usize::from(OUTPUTS.contains(&path.as_str()));
                is_name_synced = false;
            }
            Call::Remove(_) => {}
        }
    }
    match (files, is_name_synced) {
        (0, _) => Err("no file was named".to_owned()),
        (_, false) => Err("the last name is not on the disk".to_owned()),
        (files, true) => Ok(files),
    }
}
