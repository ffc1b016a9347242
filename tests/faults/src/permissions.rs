//! Files and directories that hold records: whose they are, who may open them, and what a new output takes
//! from the file that it replaces.

use crate::place::{Place, run, wait};
use crate::{Row, Torture};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).map_or(0, |found| found.mode() & 0o7777)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("set");
}

/// Outputs over files with every special bit.
pub fn replaced_files(torture: &mut Torture) -> Row {
    let mut row = Row::new("no output is SUID, SGID or sticky like the file that it replaces");
    let place = Place::new(torture, "special-bits", 50);
    let mut tried = 0;
    for bits in [0o4755, 0o2755, 0o1644, 0o6711, 0o7777] {
        for (option, name) in
            [("-o", "more-out"), ("-o", "more.gz"), ("-o", "more.parquet"), ("--rejects", "more-r")]
        {
            let file = place.path.join(name);
            fs::write(&file, "old").expect("written");
            set_mode(&file, bits);
            let arguments = ["dedup", "-q", "in", option, name];
            match run(place.command(&torture.command).args(arguments)) {
                Ok(run) if run.status.success() => {}
                Ok(run) => row.broken.push(format!("{arguments:?}: {}", run.status)),
                Err(why) => row.broken.push(why),
            }
            if mode(&file) != bits & 0o777 {
                let found = mode(&file);
                row.broken.push(format!("{name}: {found:o} over a file of mode {bits:o}"));
            }
            tried += 1;
        }
    }
    row.figure = format!("{tried} outputs over files with special bits");
    row
}

/// Files and directories of running commands under a umask of 0.
pub fn temporary_files(torture: &mut Torture) -> Row {
    let mut row = Row::new("temporary files are 0600 and directories 0700, whatever the umask");
    let place = Place::new(torture, "private", 50);
    let mut seen = 0;
    for (arguments, files) in [
        (&["-o", "out", "--rejects", "rejects"][..], 2),
        (&["-o", "more-table.parquet"], 1),
        (&["--split-by", "hash:4", "-o", "more-shards"], 5),
        (&["--memory", "1M", "--temp-dir", ".", "-o", "out"], 2),
    ] {
        let mut command = place.command(Path::new("/bin/sh"));
        command.args(["-c", "umask 000; exec \"$@\"", "sh"]).arg(&torture.command);
        command.args(["dedup", "-", "-f", "lines", "-q"]).args(arguments).stdin(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let mut input = child.stdin.take().expect("piped");
        // As many as spill.
        let lines: String = (0..60_000).map(|i| format!("http://h/{i}\n")).collect();
        if let Err(why) = input.write_all(lines.as_bytes()) {
            row.broken.push(format!("{arguments:?}: {why}"));
        }
        let start = Instant::now();
        let mut modes = Vec::new();
        while modes.len() < files && start.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(20));
            modes = temporary_modes(child.id(), &place.path);
        }
        drop(input);
        if let Err(why) = wait(&mut child) {
            row.broken.push(format!("{arguments:?}: {why}"));
        }
        if modes.len() < files {
            row.broken.push(format!("{arguments:?}: only {} files were open", modes.len()));
        }
        for mode in modes.iter().filter(|mode| !matches!(mode, 0o600 | 0o700)) {
            row.broken.push(format!("{arguments:?}: mode {mode:o}"));
        }
        seen += modes.len();
    }
    row.figure = format!("{seen} files and directories of running commands");
    row
}

/// The modes of the files below `around` that a process has open, and of the temporary directories there.
fn temporary_modes(process: u32, around: &Path) -> Vec<u32> {
    let mut modes = Vec::new();
    let around = around.canonicalize().expect("there");
    for entry in fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
        let Ok(to) = fs::read_link(entry.path()) else { continue };
        // Nobody else reaches a file in a directory that only its owner may enter.
        let directory = to.parent().filter(|directory| *directory != around);
        let is_private = directory.is_some_and(|directory| mode(directory) == 0o700);
        let bits = if is_private { 0o7600 } else { 0o7777 };
        match fs::metadata(entry.path()) {
            Ok(found) if to.starts_with(&around) && found.is_file() => {
                modes.push(found.mode() & bits);
            }
            _ => {}
        }
    }
    for entry in fs::read_dir(&around).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b".uniqurl-") {
            modes.push(mode(&entry.path()));
        }
    }
    modes
}

/// Directories for temporary files that belong to others.
pub fn foreign_directories(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("no temporary file in another user's directory, unless it is shared (+t)");
    let place = Place::new(torture, "foreign", 50);
    for (name, mode) in [("more-theirs", 0o777), ("more-shared", 0o1777)] {
        fs::create_dir_all(place.path.join(name)).expect("a directory");
        set_mode(&place.path.join(name), mode);
        if chown(place.path.join(name), Some(1), Some(1)).is_err() {
            return row.skipped("only root gives directories away");
        }
    }
    for (name, status) in [("more-theirs", 2), ("more-shared", 0), (".", 0)] {
        let arguments = ["dedup", "-q", "in", "-o", "out", "--temp-dir", name];
        match run(place.command(&torture.command).args(arguments)) {
            Ok(run) if run.status.code() == Some(status) => {}
            Ok(run) => row.broken.push(format!("--temp-dir {name}: {}", run.status)),
            Err(why) => row.broken.push(why),
        }
    }
    row.figure = "3 directories".to_owned();
    row
}

/// `kill -9` of runs with shards, and the run after them.
pub fn killed_shards(torture: &mut Torture) -> Row {
    let mut row = Row::new("a killed run with shards leaves a temporary name, or all shards");
    let place = Place::new(torture, "killed-shards", 20_000);
    let program = torture.command.clone();
    let split = || {
        let mut command = Command::new(&program);
        command.args(["dedup", "-q", "in", "--split-by", "hash:4", "-o", "more-out"]);
        command.current_dir(&place.path).stdin(Stdio::null());
        command
    };
    let output = place.path.join("more-out");
    let shards = || -> Vec<Vec<u8>> {
        let shard = |i| fs::read(output.join(format!("shard-0000{i}"))).unwrap_or_default();
        (0..4).map(shard).collect()
    };
    let undisturbed = Instant::now();
    let _ = split().status();
    let duration = undisturbed.elapsed().as_micros() as u64;
    let whole = shards();
    let (start, mut tried, mut left, mut complete) = (Instant::now(), 0, 0, 0);
    while torture.goes_on(tried, 100, start) {
        let _ = fs::remove_dir_all(&output);
        let mut killed = split().spawn().expect("started");
        thread::sleep(Duration::from_micros(torture.below(duration * 6 / 5)));
        let _ = killed.kill();
        let _ = wait(&mut killed);
        if output.exists() {
            complete += 1;
            if shards() != whole {
                row.broken.push("a directory with its name is partial".to_owned());
            }
            let _ = fs::remove_dir_all(&output);
        }
        for entry in fs::read_dir(&place.path).expect("readable").flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(b".uniqurl-") {
                left += 1;
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        match run(&mut split()) {
            Ok(run) if run.status.success() && shards() == whole => {}
            Ok(run) => row.broken.push(format!("the run after a killed one: {}", run.status)),
            Err(why) => row.broken.push(why),
        }
        tried += 1;
    }
    row.figure = format!("{tried} kills: {left} temporary directories, {complete} whole outputs");
    row
}
