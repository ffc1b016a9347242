//! A crash of the system while a seen store is written: what refers to bytes or names reaches the disk after them.
//!
//! strace lists the calls of a writer. A power failure keeps every synced write, and any part of the others.

use crate::place::run;
use crate::seen_store::{STORE, Trials, WRITERS};
use crate::{Row, Torture, faults};
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Calls that make, write, sync, name or remove a file. `?`: not on every processor.
pub const CALLS: &str = "openat,write,writev,pwrite64,fsync,fdatasync,linkat,?rename,renameat,?renameat2,\
                     ?unlink,unlinkat,?mkdir,mkdirat";

/// More writers than those that are killed, and the state of the store that each begins with.
const MORE: &[(Start, &[&str])] = &[
    (Start::Base, &["seen", "forget", STORE, "--older-than", "9999-12-31"]),
    (Start::Leftovers, &["seen", "add", STORE, "more-new"]),
    (Start::Nothing, &["seen", "add", STORE, "more-new"]),
    (Start::Nothing, &["dedup", "more-none", "--save-seen", STORE, "-o", "more-out"]),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    Nothing,
    Base,
    /// The base, and what a killed writer left.
    Leftovers,
}

/// Every writer brings bytes and names to the disk before it lets the store refer to them, and removes runs once
/// nothing on the disk refers to them any more.
pub fn before_names(torture: &mut Torture) -> Row {
    let mut row = Row::new("a seen store refers only to what is on the disk, outputs come first");
    if let Err(why) = faults::can_trace() {
        return row.skipped(why);
    }
    let trials = Trials::new(torture, "seen-syncs");
    let place = &trials.place.path;
    fs::write(place.join("more-none"), "").expect("written");
    let log = torture.root.join("strace.log");
    let mut swaps = 0;
    let killed = WRITERS.iter().map(|writer| (Start::Base, *writer));
    for (start, writer) in killed.chain(MORE.iter().copied()) {
        trials.renew();
        match start {
            Start::Nothing => fs::remove_dir_all(place.join(STORE)).expect("removed"),
            Start::Base => {}
            Start::Leftovers => {
                fs::write(place.join(STORE).join("run-0000000099"), "").expect("written");
            }
        }
        let mut command = Command::new("strace");
        command.current_dir(place).stdin(Stdio::null());
        command.args(["-f", "-q", "-y", "-o"]).arg(&log).arg(format!("--trace={CALLS}"));
        command.arg(&torture.command).args(writer);
        let ended = match run(&mut command) {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(output.status.to_string()),
            Err(why) => Err(why),
        };
        let log = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
        let mut disk = Disk { is_new: start == Start::Nothing, ..Disk::default() };
        let followed = ended.and_then(|()| {
            calls(&log, place).try_for_each(|call| disk.follow(&call))?;
            disk.end(writer)
        });
        if let Err(why) = followed {
            row.broken.push(format!("{writer:?}: {why}"));
        }
        swaps += disk.swaps;
    }
    row.figure = format!("{swaps} manifests were renamed");
    row
}

/// A call that succeeded, with its paths relative to the place.
#[derive(Debug)]
pub enum Call {
    Make(String),
    Write(String),
    Sync(String),
    /// A file gets this name, and loses the other one if it has one.
    Name(Option<String>, String),
    Remove(String),
}

/// The calls of a log of strace with the paths of descriptors. One that another thread's interrupts has two lines.
pub fn calls<'l>(log: &'l str, place: &'l Path) -> impl Iterator<Item = Call> + 'l {
    // Calls by the thread that began them, and files without a name by their descriptor.
    let (mut begun, mut nameless) = (HashMap::new(), HashMap::new());
    log.lines().filter_map(move |line| {
        let (thread, said) = line.split_once(' ')?;
        let said = said.trim_start();
        if let Some(start) = said.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, start.to_owned());
            return None;
        }
        let said = match said.strip_prefix("<... ").and_then(|rest| rest.split_once(" resumed>")) {
            Some((_, end)) => begun.remove(thread)? + end,
            None => said.to_owned(),
        };
        if said.contains("O_TMPFILE") {
            let (descriptor, file) = said.rsplit_once(" = ")?.1.split_once('<')?;
            let file = relative(file.split_once('>')?.0, place);
            nameless.insert(format!("/proc/self/fd/{descriptor}"), file);
        }
        call(&said, place, &nameless)
    })
}

fn relative(path: &str, place: &Path) -> String {
    let path = Path::new(path).strip_prefix(place).unwrap_or(Path::new(path));
    path.strip_prefix(".").unwrap_or(path).to_string_lossy().into_owned()
}

fn call(said: &str, place: &Path, nameless: &HashMap<String, String>) -> Option<Call> {
    let (name, arguments) = said.split_once('(')?;
    let (arguments, result) = arguments.rsplit_once(" = ")?;
    if result.starts_with('-') {
        return None;
    }
    // The file that a descriptor leads to, as strace tells.
    let opened = || Some(relative(arguments.split_once('<')?.1.split_once('>')?.0, place));
    let mut quoted = arguments.split('"').skip(1).step_by(2).map(|path| relative(path, place));
    match name {
        "openat" if arguments.contains("O_CREAT") => Some(Call::Make(quoted.next()?)),
        "write" | "writev" | "pwrite64" => Some(Call::Write(opened()?)),
        "fsync" | "fdatasync" => Some(Call::Sync(opened()?)),
        "linkat" => Some(Call::Name(nameless.get(&quoted.next()?).cloned(), quoted.next()?)),
        "rename" | "renameat" | "renameat2" => Some(Call::Name(quoted.next(), quoted.next()?)),
        "unlink" | "unlinkat" => Some(Call::Remove(quoted.next()?)),
        "mkdir" | "mkdirat" => Some(Call::Make(quoted.next()?)),
        _ => None,
    }
}

/// Writes and names that are not on the disk yet.
#[derive(Default)]
struct Disk {
    /// Files with bytes that are not.
    unsynced: HashSet<String>,
    /// Files whose names are not.
    unnamed: HashSet<String>,
    /// Whether the name of the manifest is.
    is_manifest_named: bool,
    /// Whether the writer makes the store.
    is_new: bool,
    /// Whether the output has its name.
    is_output_named: bool,
    /// Whether a manifest waits for its name.
    waits: bool,
    swaps: usize,
}

impl Disk {
    fn follow(&mut self, call: &Call) -> Result<(), String> {
        let manifest = format!("{STORE}/manifest");
        let new_manifest = format!("{STORE}/manifest.new");
        let is_run = |path: &str| path.starts_with(&format!("{STORE}/run-"));
        let is_stored = |path: &String| path.starts_with(&format!("{STORE}/"));
        match call {
            Call::Make(path) | Call::Write(path) if self.is_output_named && self.waits => {
                if is_stored(path) {
                    return Err(format!("{path} is written after the output has its name"));
                }
            }
            Call::Make(path) => {
                self.unnamed.insert(path.clone());
                // A lock is made again by nobody, and holds nothing.
                self.unnamed.remove(&format!("{STORE}/lock"));
            }
            Call::Write(path) => {
                self.unsynced.insert(path.clone());
                self.waits |= *path == new_manifest;
            }
            Call::Sync(path) => {
                self.unsynced.remove(path);
                let is_in = |name: &String| Path::new(name).parent() == Some(Path::new(path));
                self.unnamed.retain(|name| !is_in(name));
                self.is_manifest_named |= path == STORE;
            }
            Call::Name(old, path) => {
                self.unnamed.insert(path.clone());
                if let Some(old) = old {
                    self.unnamed.remove(old);
                }
                if *path == "more-out" {
                    self.is_output_named = true;
                    let waits = self.waits && !self.unsynced.contains(&new_manifest);
                    if !waits && !self.is_new {
                        return Err("the output has its name before the manifest is there".into());
                    }
                }
                if *path == manifest {
                    let mut left = self.unsynced.iter().filter(|path| is_stored(path));
                    if let Some(path) = left.next() {
                        return Err(format!("{path} is not on the disk before the manifest"));
                    }
                    let is_around = |name: &&String| is_run(name) || *name == STORE;
                    if let Some(path) = self.unnamed.iter().find(is_around) {
                        return Err(format!("the name {path} is not on the disk"));
                    }
                    if self.unnamed.contains("more-out") {
                        return Err("the output's name is not on the disk before the keys".into());
                    }
                    (self.is_manifest_named, self.waits) = (false, false);
                    self.swaps += 1;
                }
            }
            // The manifest on the disk may name it until the next one has its name there.
            Call::Remove(path) if is_run(path) && (self.waits || !self.is_manifest_named) => {
                return Err(format!("{path} went before the name of the manifest was on the disk"));
            }
            Call::Remove(path) => {
                self.unsynced.remove(path);
                self.unnamed.remove(path);
            }
        }
        Ok(())
    }

    fn end(&self, writer: &[&str]) -> Result<(), String> {
        let is_changed = self.swaps > 0;
        let is_expected = is_changed || writer.contains(&"2001-01-01");
        match () {
            () if !is_expected => Err("no manifest was renamed".to_owned()),
            () if is_changed && !self.is_manifest_named => {
                Err("the last manifest's name is not on the disk".to_owned())
            }
            () if writer[0] == "dedup" && !self.is_output_named => {
                Err("the output was not named".to_owned())
            }
            () => Ok(()),
        }
    }
}
