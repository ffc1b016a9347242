//! Who may read and replace outputs and temporary files.

use super::{Place, built};
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::Command;

const URLS: &[u8] = b"http://b/\nHTTP://A/\nhttp://a\n";

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.path(name)).expect("there").mode() & 0o7777
}

#[test]
fn an_output_is_no_program_of_the_file_that_it_replaces() {
    let place = Place::with([("in", URLS)]);
    for output in ["out", "out.gz", "out.parquet"] {
        for old in [0o4755, 0o2755, 0o6711, 0o1644, 0o7777] {
            place.write(output, "old");
            place.set_mode(output, old);
            place.run(["dedup", "in", "-o", output]).exits(0);
            assert_eq!(mode(&place, output), old & 0o777, "{output}");
        }
    }
    for (option, output) in [("--rejects", "r"), ("--stats", "s"), ("--report", "h")] {
        place.write(output, "old");
        place.set_mode(output, 0o6755);
        place.run(["dedup", "in", "-o", "out", option, output]).exits(0);
        assert_eq!(mode(&place, output), 0o755, "{option}");
    }
    fs::create_dir(place.path("shards")).expect("made");
    place.set_mode("shards", 0o5755);
    place.run(["dedup", "in", "--split-by", "hash:2", "-o", "shards"]).exits(0);
    assert_eq!(mode(&place, "shards"), 0o1755);
}

#[test]
fn new_outputs_have_the_permissions_that_the_umask_leaves() {
    for umask in ["000", "022", "027", "077", "777"] {
        let place = Place::with([("in", URLS)]);
        let left = !u32::from_str_radix(umask, 8).expect("octal");
        place.shell(&format!("umask {umask}; uniqurl dedup in -o out --rejects rejects")).exits(0);
        place
            .shell(&format!("umask {umask}; uniqurl dedup in --split-by hash:2 -o shards"))
            .exits(0);
        assert_eq!((mode(&place, "out"), mode(&place, "rejects")), (0o666 & left, 0o666 & left));
        assert_eq!(mode(&place, "shards"), 0o777 & left, "{umask}");
        place.set_mode("shards", 0o700);
        assert_eq!(mode(&place, "shards/shard-00001"), 0o666 & left, "{umask}");
    }
}

/// The modes of the files that a process has open for writing in a directory, and of the directories in it
/// that have a temporary name. A file in such a directory is as private as that.
#[cfg(target_os = "linux")]
fn temporary_modes(process: u32, place: &Place) -> Vec<u32> {
    let around = place.path("").canonicalize().expect("there");
    let mut modes = Vec::new();
    for entry in fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
        let Ok(to) = fs::read_link(entry.path()) else { continue };
        match fs::metadata(entry.path()) {
            Ok(found)
                if to.starts_with(&around) && found.is_file() && !entry.path().ends_with("0") =>
            {
                modes.push(found.mode() & bits_of_entry(&around, &to));
            }
            _ => {}
        }
    }
    for name in place.names().iter().filter(|name| name.starts_with(".uniqurl-")) {
        // It may have got its final name in the meantime.
        modes.extend(fs::metadata(place.path(name)).map(|found| found.mode() & 0o7777));
    }
    modes
}

/// The bits of a mode that the directory of a file leaves, below `around`: none for those who may not enter it.
#[cfg(target_os = "linux")]
fn bits_of_entry(around: &Path, file: &Path) -> u32 {
    let directory = file.parent().filter(|directory| *directory != around);
    let is_private = directory
        .and_then(|directory| fs::metadata(directory).ok())
        .is_some_and(|found| found.mode() & 0o077 == 0);
    if is_private { 0o7600 } else { 0o7777 }
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_else_may_read_records_before_the_output_is_complete() {
    for (arguments, files) in [
        (&["dedup", "-", "-o", "out", "--rejects", "rejects"][..], 2),
        (&["dedup", "-", "--split-by", "hash:3", "-o", "shards"], 4),
        (&["dedup", "-", "-o", "table.parquet"], 1),
        (&["dedup", "-", "--memory", "1M", "--temp-dir", ".", "-o", "out"], 2),
    ] {
        let place = Place::with([("out", b"old")]);
        place.set_mode("out", 0o666);
        let built = built::process();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(built.get_program());
        command.args(built.get_args()).args(arguments).args(["-f", "lines", "-q"]);
        command.current_dir(place.path(""));
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().expect("started");
        // As many as spill. The pipe stays open, and the run with it.
        let mut input = child.stdin.take().expect("piped");
        let lines: String = (0..60_000).map(|i| format!("http://h/{i}\n")).collect();
        input.write_all(lines.as_bytes()).expect("taken");
        let start = std::time::Instant::now();
        let mut modes = Vec::new();
        while modes.len() < files && start.elapsed().as_secs() < 60 {
            modes = temporary_modes(child.id(), &place);
        }
        drop(input);
        assert!(child.wait().expect("ended").success());
        assert!(modes.len() >= files, "{arguments:?}: {modes:?}");
        for mode in modes {
            // A file just opened has no bytes, and no name.
            assert!(matches!(mode, 0o600 | 0o700), "{arguments:?}: {mode:o}");
        }
    }
}
