//! A crash of the system: a file that has its name is on the disk, and so is the name.

use crate::place::{DEDUP, Found, Place, run};
use crate::seen_syncs::{Call, calls};
use crate::{Row, Torture, faults, seen_syncs};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::process::{Command, Stdio};

/// Calls that open, write, sync or name a file.
const CALLS: &str =
    "openat,write,writev,pwrite64,fsync,fdatasync,linkat,?rename,renameat,?renameat2";

/// Every output is synced before it gets its name, and the directory after.
pub fn before_names(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("an output is on the disk before it has its name, and its name at the end");
    if let Err(why) = faults::can_trace() {
        return row.skipped(why);
    }
    let place = Place::new(torture, "sync", 300);
    let log = torture.root.join("strace.log");
    let mut command = Command::new("strace");
    command.current_dir(&place.path).stdin(Stdio::null());
    command.args(["-f", "-q", "-o"]).arg(&log).arg(format!("--trace={CALLS}"));
    command.arg(&torture.command).args(DEDUP);
    match run(&mut command) {
        Ok(output) if output.status.success() => {}
        Ok(output) => row.broken.push(format!("{}", output.status)),
        Err(why) => row.broken.push(why),
    }
    let found = place.outputs();
    if !matches!(found, Ok(Found::New)) {
        row.broken.push(format!("{found:?}"));
    }
    let log = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    match named_files(&log) {
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
    let log = torture.root.join("strace.log");
    for suffix in ["txt", "parquet"] {
        let target = format!("more-shards-{suffix}");
        let split = format!("hash:{COUNT}");
        let mut command = Command::new("strace");
        command.current_dir(&place.path).stdin(Stdio::null());
        command
            .args(["-f", "-q", "-y", "-o"])
            .arg(&log)
            .arg(format!("--trace={}", seen_syncs::CALLS));
        command.arg(&torture.command).args(["dedup", "in", "-j", "2", "--split-by", &split]);
        match run(command.args(["--split-suffix", &format!(".{suffix}"), "-o", &target])) {
            Ok(output) if output.status.success() => {}
            Ok(output) => row.broken.push(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(why) => row.broken.push(why),
        }
        let log = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
        let calls: Vec<Call> = calls(&log, &place.path).collect();
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

/// The number of files that got a name, by the log of strace. An error if a file was not on the
/// disk by then, or its name not at the end.
fn named_files(log: &str) -> Result<usize, String> {
    // By descriptor: files with bytes that are not on the disk, and syncs under way.
    let (mut unsynced, mut begun) = (HashSet::new(), HashMap::new());
    let (mut files, mut is_name_synced) = (0, true);
    for line in log.lines() {
        let Some((thread, said)) = line.split_once(' ') else { continue };
        let said = said.trim_start();
        let descriptor = |text: &str| -> Option<u32> {
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            text[..digits].parse().ok()
        };
        let (call, arguments) = said.split_once('(').unwrap_or((said, ""));
        let synced = match call {
            "write" | "writev" | "pwrite64" => {
                unsynced.extend(descriptor(arguments));
                None
            }
            "fsync" | "fdatasync" if said.contains("<unfinished") => {
                begun.insert(thread, descriptor(arguments));
                None
            }
            "fsync" | "fdatasync" => descriptor(arguments),
            _ if said.contains("sync resumed>") => begun.remove(thread).flatten(),
            "openat" => {
                // The number now belongs to another file.
                let opened = said.rsplit_once("= ").and_then(|(_, result)| descriptor(result));
                opened.map(|opened| unsynced.remove(&opened));
                None
            }
            "linkat" => {
                let at = arguments.split_once("/proc/self/fd/");
                match at.and_then(|(_, number)| descriptor(number)) {
                    // The name exists already: the file first gets a temporary one.
                    _ if said.contains("EEXIST") => {}
                    Some(file) if !unsynced.contains(&file) => files += 1,
                    _ => return Err(format!("it is not on the disk: {said}")),
                }
                is_name_synced = false;
                None
            }
            "rename" | "renameat" | "renameat2" => {
                is_name_synced = false;
                None
            }
            _ => None,
        };
        // A synced descriptor that nothing was written to is a directory.
        is_name_synced |= synced.is_some_and(|synced| !unsynced.remove(&synced));
    }
    match (files, is_name_synced) {
        (0, _) => Err("no file was named".to_owned()),
        (_, false) => Err("the last name is not on the disk".to_owned()),
        (files, true) => Ok(files),
    }
}
