//! Seen stores: whatever happens to a writer, the store is as it was before or after, and damage is found.

use crate::faults::{self, Traced};
use crate::place::{Place, run, wait};
use crate::{Extent, Row, Torture};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

/// The store that trials begin with, and the one that they change.
const BASE: &str = "more-base";
pub const STORE: &str = "more-store";

/// Adds of the base: one more makes enough runs of a size to be merged.
const ADDS: usize = 9;

/// What writers do. The store holds `more-old`, and `more-new` is added.
pub const WRITERS: &[&[&str]] = &[
    &["seen", "add", STORE, "more-new", "-j", "2"],
    &["dedup", "more-new", "--save-seen", STORE, "-o", "more-out", "-j", "2"],
    &["seen", "remove", STORE, "more-gone"],
    &["seen", "compact", STORE],
    &["seen", "forget", STORE, "--older-than", "2001-01-01"],
];

/// A place with a base.
pub struct Trials {
    pub place: Place,
    program: PathBuf,
    /// The keys before, with the new ones, and without those that are removed.
    before: Vec<u8>,
    added: Vec<u8>,
    removed: Vec<u8>,
}

/// The file of the run that an add of `more-new` makes of all others.
const MERGED: &str = "more-store/run-0000000011";

/// Errors that calls return.
const ERRORS: &[&str] = &["ENOSPC", "EIO", "EROFS", "EDQUOT"];

/// What a store holds after a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    Before,
    After,
}

impl Trials {
    pub fn new(torture: &Torture, name: &str) -> Self {
        let place = Place::new(torture, name, 10);
        let url = |i: usize| format!("http://host{}.example/{i}\n", i % 7);
        let list = |range: std::ops::Range<usize>| range.map(url).collect::<String>();
        for add in 0..ADDS {
            let file = format!("more-old{add}");
            fs::write(place.path.join(&file), list(add * 20..add * 20 + 20)).expect("written");
            let mut command = place.command(&torture.command);
            let made = command.args(["seen", "add", BASE, &file]).output().expect("started");
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        }
        fs::write(place.path.join("more-new"), list(170..260)).expect("written");
        fs::write(place.path.join("more-gone"), list(30..40)).expect("written");
        let sorted = |lines: String| {
            let mut lines: Vec<&str> = lines.split_inclusive('\n').collect();
            lines.sort_unstable();
            lines.concat().into_bytes()
        };
        let (before, added) = (sorted(list(0..180)), sorted(list(0..260)));
        let removed = sorted(list(0..30) + &list(40..180));
        Self { place, program: torture.command.clone(), before, added, removed }
    }

    /// Puts the base in place of the store.
    pub fn renew(&self) {
        let store = self.place.path.join(STORE);
        let _ = fs::remove_dir_all(&store);
        copy(&self.place.path.join(BASE), &store);
        let _ = fs::remove_file(self.place.path.join("more-out"));
    }

    fn export(&self) -> Result<Vec<u8>, String> {
        let exported = run(self.place.command(&self.program).args(["seen", "export", STORE]))?;
        match exported.status.success() {
            true => Ok(exported.stdout),
            false => Err(String::from_utf8_lossy(&exported.stderr).into_owned()),
        }
    }

    /// What the store holds after a writer, whose end this was. The next writer must find it in order, and
    /// leave nothing behind.
    fn held(&self, writer: &[&str]) -> Result<Held, String> {
        let verified = run(self.place.command(&self.program).args(["seen", "verify", STORE]))?;
        if !verified.status.success() {
            return Err(format!("verify: {}", String::from_utf8_lossy(&verified.stderr)));
        }
        let keys = self.export()?;
        let after = match writer[1] {
            "remove" => &self.removed,
            "compact" | "forget" => &self.before,
            _ => &self.added,
        };
        let held = match () {
            () if keys == self.before => Held::Before,
            () if keys == *after => Held::After,
            () => return Err(format!("the store has {} bytes of keys", keys.len())),
        };
        if held == Held::After && writer[0] == "dedup" && !self.place.path.join("more-out").exists()
        {
            return Err("keys were added whose URLs were not written".to_owned());
        }
        let again =
            run(self.place.command(&self.program).args(["seen", "add", STORE, "more-new"]))?;
        let left = fs::read_dir(self.place.path.join(STORE)).expect("readable").flatten();
        let manifest = fs::read_to_string(self.place.path.join(STORE).join("manifest"));
        let manifest = manifest.map_err(|error| error.to_string())?;
        let names = left.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let is_leftover = |name: &String| {
            name != "manifest" && name != "lock" && !manifest.contains(&format!("\"{name}\""))
        };
        let left: Vec<String> = names.filter(is_leftover).collect();
        let runs = manifest.matches("\"name\"").count();
        let expects_removed = writer[1] == "remove" && held == Held::After;
        match self.export()? {
            _ if !again.status.success() => {
                Err(format!("add: {}", String::from_utf8_lossy(&again.stderr)))
            }
            _ if runs > ADDS => Err(format!("the next add left {runs} runs")),
            _ if !left.is_empty() => Err(format!("left behind: {}", left.join(" "))),
            keys if keys != self.added && !expects_removed => Err("the next add lost keys".into()),
            _ => Ok(held),
        }
    }
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("made");
    for entry in fs::read_dir(from).expect("readable").flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

/// `kill -9` of writers, at random times and at every call that changes files.
pub fn kills(torture: &mut Torture) -> Row {
    let mut row = Row::new("kill -9 of a seen store's writer: no key is lost, none invented");
    let trials = Trials::new(torture, "seen-kills");
    let (start, mut tried, mut found) = (Instant::now(), 0, [0; 2]);
    while torture.goes_on(tried, 1000, start) {
        let writer = WRITERS[tried % WRITERS.len()];
        trials.renew();
        let mut child = trials.place.command(&trials.program);
        let child = child.args(writer).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("started");
        thread::sleep(Duration::from_micros(torture.below(40_000)));
        let _ = child.kill();
        let _ = wait(&mut child);
        match trials.held(writer) {
            Ok(held) => found[held as usize] += 1,
            Err(why) => row.broken.push(format!("{writer:?}: {why}")),
        }
        tried += 1;
    }
    let [before, after] = found;
    row.figure = format!("{tried} kills: {before} before, {after} after");
    if let Err(why) = faults::can_trace() {
        row.figure += &format!("; none at calls: {why}");
        return row;
    }
    let (start, mut at_calls) = (Instant::now(), 0);
    for writer in WRITERS {
        for call in ["openat", "write", "fsync", "rename", "unlink", "flock", "mkdir", "close"] {
            for k in 1.. {
                if !torture.goes_on(at_calls, usize::MAX, start) {
                    break;
                }
                trials.renew();
                let injection = format!("{call}:signal=KILL:when={k}");
                match faults::inject(torture, &trials.place, writer, call, &injection) {
                    Ok(run) if !run.injected => break,
                    Ok(_) => at_calls += 1,
                    Err(why) => {
                        row.broken.push(format!("{injection}: {why}"));
                        break;
                    }
                }
                if let Err(why) = trials.held(writer) {
                    row.broken.push(format!("{writer:?} {injection}: {why}"));
                }
            }
        }
    }
    row.figure += &format!("; {at_calls} kills at calls");
    row
}

/// Calls of a writer fail.
pub fn faults(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("a system call of a store's writer fails: told with a name, store whole");
    if let Err(why) = faults::can_trace() {
        return row.skipped(why);
    }
    const CALLS: &str = "openat read pread64 write fsync fdatasync ?rename ?renameat ?unlink unlinkat flock \
                         ?mkdir mkdirat ?newfstatat statx getdents64 close";
    let trials = Trials::new(torture, "seen-faults");
    row.figure = fail_everywhere(torture, &trials, &mut row, WRITERS, CALLS, None);
    row
}

/// Calls about the file fail into which an add merges all runs: the add has happened by then.
pub fn merges(torture: &mut Torture) -> Row {
    let mut row =
        Row::new("a merge after an add fails: status 0, a warning, all keys; the next add merges");
    if let Err(why) = faults::can_trace() {
        return row.skipped(why);
    }
    const CALLS: &str = "openat write fsync pread64 statx";
    let trials = Trials::new(torture, "seen-merge");
    row.figure = fail_everywhere(torture, &trials, &mut row, &WRITERS[..2], CALLS, Some(MERGED));
    if row.figure.contains(" 0 were told") {
        row.broken.push("no merge failed".to_owned());
    }
    row
}

/// Lets each call fail, about a file or about any, and returns the figure of the row.
fn fail_everywhere(
    torture: &Torture,
    trials: &Trials,
    row: &mut Row,
    writers: &[&[&str]],
    calls: &str,
    file: Option<&str>,
) -> String {
    let (start, mut tried, mut told, mut turn) = (Instant::now(), 0, 0, 0);
    for writer in writers {
        for call in calls.split(' ') {
            'calls: for k in 1.. {
                // If there is little time, each call fails with one of the errors, in turn.
                let errors = match torture.extent {
                    Extent::Full => ERRORS,
                    Extent::Short => {
                        turn += 1;
                        &ERRORS[turn % ERRORS.len()..][..1]
                    }
                };
                for error in errors {
                    if !torture.goes_on(tried, usize::MAX, start) {
                        break 'calls;
                    }
                    let injection = format!("{call}:error={error}:when={k}");
                    trials.renew();
                    let place = &trials.place;
                    match faults::inject_at(torture, place, writer, call, &injection, file) {
                        Ok(run) if !run.injected => break 'calls,
                        Ok(run) => {
                            tried += 1;
                            let is_named = place.path.join("more-out").exists();
                            let judged = judge(&run, is_named, trials.held(writer), writer);
                            match judged {
                                Ok(_) if file.is_some() && run.output.status.code() != Some(0) => {
                                    let status = run.output.status;
                                    row.broken.push(format!("{writer:?} {injection}: {status}"));
                                }
                                Ok(is_told) => told += usize::from(is_told),
                                Err(why) => {
                                    row.broken.push(format!("{writer:?} {injection}: {why}"))
                                }
                            }
                        }
                        Err(why) => {
                            row.broken.push(format!("{injection}: {why}"));
                            break 'calls;
                        }
                    }
                }
            }
        }
    }
    format!("{tried} faults: {} made no difference, {told} were told", tried - told)
}

/// Whether the fault was told; an error if it was neither told nor without effect. After status 0 all is done,
/// and after another one nothing is. `is_named` tells whether the output has its name.
fn judge(
    run: &Traced,
    is_named: bool,
    held: Result<Held, String>,
    writer: &[&str],
) -> Result<bool, String> {
    let said = String::from_utf8_lossy(&run.output.stderr);
    let changes = !matches!(writer[1], "compact" | "forget");
    // Nothing can take a name back, so the two calls that come after it may be the ones that fail.
    let is_late = ["rename", "fsync"]
        .iter()
        .any(|call| run.log.lines().any(|line| line.contains(call) && line.contains("INJECTED")));
    match (run.output.status.code(), held?) {
        (Some(0), Held::Before) if changes => Err("status 0, but nothing was done".to_owned()),
        (Some(0), _) => Ok(said.contains("warning: ") && said.contains("the store is changed")),
        (Some(_), Held::After) if changes => Err("a failure, but the keys are changed".to_owned()),
        (Some(2 | 3), _) if is_named && !is_late => Err("the output has its name".to_owned()),
        (Some(2 | 3), _) => {
            let names = ["more-", "standard output", "threads", "watch for signals"];
            let is_named = said.contains(':') && names.iter().any(|name| said.contains(name));
            let is_silenced = run.log.contains("write(2, ") && run.log.contains("INJECTED");
            match is_named || is_silenced {
                true => Ok(true),
                false => Err(format!("the message names nothing: {said:?}")),
            }
        }
        // The standard library panics if a directory cannot be closed.
        (Some(101), Held::Before) if said.contains("closedir") => Ok(true),
        (Some(127 | 1), Held::Before) if said.contains("error while loading") => Ok(true),
        (code, held) => Err(format!("{code:?}, {held:?}, it said {said:?}")),
    }
}

/// Two writers at once, and readers meanwhile.
pub fn writers(torture: &mut Torture) -> Row {
    let mut row = Row::new("two writers of a seen store, and a reader: each key once, no error");
    let trials = Trials::new(torture, "seen-writers");
    let (start, mut tried, mut reads) = (Instant::now(), 0, 0);
    while torture.goes_on(tried, 100, start) {
        trials.renew();
        let writers = [
            &["seen", "add", STORE, "more-new", "--wait"][..],
            &["dedup", "more-new", "--save-seen", STORE, "--wait", "-q", "-o", "more-out"],
            &["seen", "compact", STORE, "--wait"],
        ];
        let mut running = writers.map(|arguments| {
            let mut command = trials.place.command(&trials.program);
            command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().expect("started")
        });
        while running.iter_mut().any(|child| matches!(child.try_wait(), Ok(None))) {
            reads += 1;
            match trials.export() {
                Ok(keys) if keys == trials.before || keys == trials.added => {}
                Ok(keys) => row.broken.push(format!("a reader saw {} bytes of keys", keys.len())),
                Err(why) => row.broken.push(format!("a reader: {why}")),
            }
        }
        for (arguments, child) in writers.iter().zip(&mut running) {
            match wait(child) {
                Ok(status) if status.success() => {}
                end => row.broken.push(format!("{arguments:?}: {end:?}")),
            }
        }
        if let Err(why) = trials.held(writers[0]) {
            row.broken.push(why);
        }
        tried += 1;
    }
    row.figure = format!("{tried} times three writers, {reads} reads");
    row
}
