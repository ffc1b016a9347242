//! What a killed run left for the next: the inputs that it had absorbed, and all that came of them.
//!
//! A checkpoint is a directory. `checkpoint.json` says which inputs are absorbed, with which options,
//! and what was counted; it lists the parts, each with a checksum, and has one itself. Parts hold what
//! was new since the part before: keys in order (`urls-N`), what the set did not take (`spilled-N`),
//! what it held until it was moved out of memory (`moved-N`), rejected records (`rejects-N`). Of others
//! only the last is there, which holds all so far: how often each key was counted and which record
//! survives (`counts-N`), what `--report` shows (`observed-N`). Each file appears whole, synced, under its name, the manifest last: so a kill at any
//! moment leaves the checkpoint before, or the new one. Whoever works with the directory holds a lock on
//! `lock`, whose text says whose it is.

mod manifest;
mod part;
mod stamp;

use std::collections::{BTreeMap, btree_map};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub(super) use manifest::{Absorbed, Manifest};
pub(super) use part::Groups;
use part::{Part, Seal};

use super::sheet::Sheet;
use crate::output::{self, Output};
use stamp::Stamp;
use uniqurl::bytes::Printable;
use uniqurl_formats::input::Input;
use uniqurl_store::spill::Entry;

/// The options of a run that its result depends on, by name: whatever its caller calls them, for errors
/// say so.
pub type Options = BTreeMap<String, Vec<String>>;

const MANIFEST: &str = "checkpoint.json";
const LOCK: &str = "lock";
/// What tells the lock of a run from other files of that name.
const LOCK_TEXT: &[u8] = b"A checkpoint of uniqurl.\n";
const PARTS: [&str; 4] = ["urls", "spilled", "moved", "rejects"];

/// Parts that replace the one before.
const WHOLE: [&str; 2] = ["counts", "observed"];

/// Writing a checkpoint may take so much of the time of a run: one part in so many.
const SHARE: u32 = 10;

/// The directory of a run's checkpoints, which no other run uses at the same time.
#[derive(Debug)]
pub struct Checkpoint {
    directory: PathBuf,
    /// Holds the lock.
    _lock: File,
    every: Duration,
    options: Options,
    /// What was seen before the run.
    seen: Vec<Stamp>,
    /// Whether the run saves a set, which may replace one of those.
    saves: bool,
    found: Option<Manifest>,
    /// Whether a run left parts there without a manifest, which say nothing and are gone.
    was_begun: bool,
}

impl Checkpoint {
    /// Makes the directory, or opens one that a run left. Checkpoints are written no more often than
    /// `every` so long, and take no more than a tenth of the time; with zero, there is one after each
    /// input.
    ///
    /// # Errors
    ///
    /// Where another run works with it; where it holds other files; and where what a run left is not
    /// of these `options`, this version, what was `seen` before the run, and the first of these `inputs`
    /// as they are. The error says what differs.
    pub fn open(
        directory: &Path,
        every: Duration,
        options: Options,
        inputs: &[Input],
        seen: &[Input],
    ) -> io::Result<Self> {
        Self::try_open(directory, every, options, inputs, seen).map_err(|error| {
            let text = format!("{}: {error}", Printable::path(directory));
            io::Error::new(error.kind(), text)
        })
    }

    fn try_open(
        directory: &Path,
        every: Duration,
        options: Options,
        inputs: &[Input],
        seen: &[Input],
    ) -> io::Result<Self> {
        match fs::create_dir(directory) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(output::because_of(output::directory(directory), error)),
            Ok(()) => takes_files(directory).inspect_err(|_| drop(fs::remove_dir(directory)))?,
        }
        if !directory.is_dir() {
            return Err(io::Error::other("it is a file, and no directory; name another directory"));
        }
        if let Some(name) = foreign(directory)? {
            let name = Printable(name.as_encoded_bytes());
            let text = format!("{name} is no part of a checkpoint; name another directory");
            return Err(io::Error::other(text));
        }
        let path = directory.join(LOCK);
        let mut lock = open_lock(&path)?;
        if !take(&lock, &path)? {
            return Err(io::Error::other("another run works with this checkpoint"));
        }
        if lock.metadata()?.len() == 0 {
            lock.write_all(LOCK_TEXT)?;
            lock.sync_all()?;
        }
        let found = match fs::read(directory.join(MANIFEST)) {
            Ok(text) => Some(Manifest::read(&text)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(io::Error::new(error.kind(), format!("{MANIFEST}: {error}"))),
        };
        let seen = seen.iter().map(Stamp::of).collect::<io::Result<Vec<_>>>()?;
        if let Some(found) = &found
            && let Some(why) = found.difference(&options, inputs, &seen)?
        {
            let text = format!(
                "the checkpoint is of another run: {why}; undo that to go on, or remove the \
                 directory to start anew"
            );
            return Err(io::Error::other(text));
        }
        let was_begun = found.is_none() && has_parts(directory)?;
        let directory = directory.to_owned();
        let saves = false;
        let this = Self { directory, _lock: lock, every, options, seen, saves, found, was_begun };
        this.clear(|name| this.is_needed(name))?;
        Ok(this)
    }

    /// The same of a run that saves a set ([`Sinks::seen`](super::Sinks::seen)), which may replace one
    /// that was `seen`.
    pub fn with_saved_set(self) -> Self {
        Self { saves: true, ..self }
    }

    /// How many inputs a run before has absorbed.
    pub fn absorbed(&self) -> usize {
        self.found.as_ref().map_or(0, |found| found.files.len())
    }

    /// Whether what a run left there is nothing to go on behind: it ended before its first checkpoint was
    /// whole, or somebody has removed what tells of that.
    pub fn begins_anew(&self) -> bool {
        self.was_begun
    }

    /// The bytes of those inputs.
    pub fn bytes(&self) -> u64 {
        self.found.iter().flat_map(|found| &found.files).map(|file| file.bytes).sum()
    }

    /// Leaves word of the run, where no checkpoint was due before its outputs are: one that is killed
    /// once its saved set has replaced one that was seen would else begin anew, find that all was seen,
    /// and replace its own output by an empty one.
    ///
    /// # Errors
    ///
    /// Where the directory takes no file.
    pub fn announce(&self) -> io::Result<()> {
        let may_replace = self.saves && !self.seen.is_empty();
        if !may_replace || self.directory.join(MANIFEST).exists() {
            return Ok(());
        }
        self.write(&Manifest {
            options: self.options.clone(),
            seen: self.seen.clone(),
            saves: self.saves,
            ..Manifest::new()
        })
    }

    fn write(&self, manifest: &Manifest) -> io::Result<()> {
        let mut output = Output::create(&self.directory.join(MANIFEST))?;
        output.write_all(&manifest.text())?;
        output.commit()
    }

    /// Removes it: the run is complete. What cannot be removed stays.
    pub fn remove(self) {
        // The manifest goes first: without it the rest is nothing.
        let _ = fs::remove_file(self.directory.join(MANIFEST));
        let _ = self.clear(|name| name == LOCK);
        let _ = fs::remove_file(self.directory.join(LOCK));
        let _ = fs::remove_dir(&self.directory);
    }

    fn is_needed(&self, name: &str) -> bool {
        let last = self.found.as_ref().map_or(0, |found| found.part);
        name == LOCK
            || name == MANIFEST
            || part_of(name).is_some_and(|(kind, number)| match WHOLE.contains(&kind) {
                true => number == last,
                false => number <= last,
            })
    }

    /// Removes the files that are not to be kept.
    fn clear(&self, keep: impl Fn(&str) -> bool) -> io::Result<()> {
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if is_ours(&name) && !keep(&name) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }
}

/// Whether a new directory, which has the permissions that the umask leaves it, takes files and tells of
/// them.
fn takes_files(directory: &Path) -> io::Result<()> {
    let made = fs::read_dir(directory).and_then(|_| open_lock(&directory.join(LOCK)));
    made.map(drop).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let text = "nothing can be made in it with the permissions that the umask gives it";
            io::Error::new(error.kind(), text)
        }
        _ => error,
    })
}

fn open_lock(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).truncate(false).write(true).open(path)
}

/// Locks a file, unless another run has. One that ended since the file was opened has removed it, and the
/// next one may have a new lock.
fn take(file: &File, path: &Path) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    let locked = file.metadata()?;
    Ok(fs::metadata(path).is_ok_and(|at| (at.dev(), at.ino()) == (locked.dev(), locked.ino())))
}

/// A file in the directory that no run has left. Names alone do not tell: `split FILE urls-` makes such
/// too, and what is taken for a part may be removed. A run locks before it writes anything else.
fn foreign(directory: &Path) -> io::Result<Option<OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            return Ok(Some(entry.file_name()));
        }
        names.push(entry.file_name());
    }
    let lock = directory.join(LOCK);
    // Of a run that was killed as it began there may be an empty one, and nothing else.
    let is_locked = match fs::metadata(&lock) {
        Ok(found) if found.is_file() && found.len() == LOCK_TEXT.len() as u64 => {
            fs::read(&lock)? == LOCK_TEXT
        }
        Ok(found) => names.len() == 1 && found.is_file() && found.len() == 0,
        // Who takes it for what a killed run forgot may have removed it. A manifest that is whole tells too.
        Err(_) => {
            fs::read(directory.join(MANIFEST)).is_ok_and(|text| Manifest::read(&text).is_ok())
        }
    };
    if !is_locked && lock.exists() {
        return Ok(Some(LOCK.into()));
    }
    let is_foreign = |name: &OsString| !is_locked || !is_ours(&name.to_string_lossy());
    names.sort();
    Ok(names.into_iter().find(is_foreign))
}

fn name(kind: &str, number: u64) -> String {
    format!("{kind}-{number}")
}

/// The kind and the number of a part.
fn part_of(text: &str) -> Option<(&str, u64)> {
    let (kind, number) = text.split_once('-')?;
    PARTS.iter().chain(&WHOLE).find(|name| **name == kind)?;
    let number = number.parse().ok()?;
    // No zeros before it, and no sign.
    (number > 0 && name(kind, number) == text).then_some((kind, number))
}

fn has_parts(directory: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(directory)? {
        if part_of(&entry?.file_name().to_string_lossy()).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_ours(name: &str) -> bool {
    let temporary = name.starts_with(".uniqurl-") && name.ends_with(".tmp");
    name == LOCK || name == MANIFEST || temporary || part_of(name).is_some()
}

/// A part by its kind, and what it holds.
pub(super) type NewPart<'e> = (&'static str, Box<dyn Iterator<Item = Entry<'e>> + 'e>);

/// The checkpoints of a run that is under way.
pub(super) struct Keeper<'a> {
    checkpoint: &'a Checkpoint,
    stamps: Vec<Stamp>,
    /// Number of the part that is being written.
    part: u64,
    /// Those of the checkpoint before, and the seal of each.
    parts: Vec<(String, Seal)>,
    /// Parts that are begun before the next checkpoint is written, by their kind.
    open: BTreeMap<&'static str, Part>,
    /// Keys that are in parts.
    pub(super) saved: usize,
    /// No checkpoint before; none at all where no clock goes so far.
    next: Option<Instant>,
}

impl<'a> Keeper<'a> {
    pub(super) fn new(checkpoint: &'a Checkpoint) -> Self {
        let found = checkpoint.found.as_ref();
        Self {
            checkpoint,
            stamps: found.map(|found| found.inputs.clone()).unwrap_or_default(),
            part: found.map_or(0, |found| found.part) + 1,
            parts: found.map(|found| found.parts.clone()).unwrap_or_default(),
            open: BTreeMap::new(),
            saved: 0,
            next: Instant::now().checked_add(checkpoint.every),
        }
    }

    /// What a run before has left.
    pub(super) fn found(&self) -> Option<&'a Manifest> {
        self.checkpoint.found.as_ref()
    }

    /// The parts of a kind that a run before has left, in order, and what each is known by.
    pub(super) fn parts(&self, kind: &str) -> impl Iterator<Item = (PathBuf, Seal)> {
        let is_one = move |name: &str| part_of(name).is_some_and(|(of, _)| of == kind);
        let parts = self.parts.iter().filter(move |(name, _)| is_one(name));
        parts.map(|(name, seal)| (self.checkpoint.directory.join(name), *seal))
    }

    pub(super) fn is_due(&self) -> bool {
        self.next.is_some_and(|next| Instant::now() >= next)
    }

    fn path(&self, kind: &str, number: u64) -> PathBuf {
        self.checkpoint.directory.join(name(kind, number))
    }

    /// Keeps what these sheets, which are being written, sent elsewhere than into the set.
    pub(super) fn keep(&mut self, sheets: &[Sheet], with_rejects: bool) -> io::Result<()> {
        for sheet in sheets {
            if with_rejects && !sheet.rejects.is_empty() {
                self.open_part("rejects")?.write(&sheet.rejects)?;
            }
            if sheet.spills && sheet.spilled.iter().any(|entries| !entries.is_empty()) {
                self.open_part("spilled")?.group(sheet.spilled.iter().map(Vec::as_slice))?;
            }
        }
        Ok(())
    }

    /// Keeps what was in the set and goes where it spills.
    pub(super) fn keep_moved<'e>(
        &mut self,
        entries: impl Iterator<Item = Entry<'e>>,
    ) -> io::Result<()> {
        self.open_part("moved")?.entries(entries)
    }

    fn open_part(&mut self, kind: &'static str) -> io::Result<&mut Part> {
        let path = self.path(kind, self.part);
        match self.open.entry(kind) {
            btree_map::Entry::Occupied(part) => Ok(part.into_mut()),
            btree_map::Entry::Vacant(none) => Ok(none.insert(Part::create(&path)?)),
        }
    }

    /// Writes a checkpoint of the first of the inputs, with these parts: of `urls` what is new since the
    /// last one, of others all. Whether it is written: behind an input that is gone since it was read no
    /// run could go on, which is no reason to end this one.
    pub(super) fn save(
        &mut self,
        inputs: &[Input],
        mut manifest: Manifest,
        parts: Vec<NewPart<'_>>,
    ) -> io::Result<bool> {
        let begun = Instant::now();
        for input in &inputs[self.stamps.len()..manifest.files.len()] {
            let Ok(stamp) = Stamp::of(input) else {
                self.next = begun.checked_add(self.checkpoint.every);
                return Ok(false);
            };
            self.stamps.push(stamp);
        }
        self.parts
            .retain(|(name, _)| part_of(name).is_some_and(|(kind, _)| !WHOLE.contains(&kind)));
        for (kind, entries) in parts {
            let mut part = Part::create(&self.path(kind, self.part))?;
            part.entries(entries)?;
            self.parts.push((name(kind, self.part), part.commit()?));
        }
        for (kind, part) in std::mem::take(&mut self.open) {
            self.parts.push((name(kind, self.part), part.commit()?));
        }
        manifest.options.clone_from(&self.checkpoint.options);
        manifest.inputs.clone_from(&self.stamps);
        manifest.seen.clone_from(&self.checkpoint.seen);
        manifest.saves = self.checkpoint.saves;
        manifest.part = self.part;
        manifest.parts.clone_from(&self.parts);
        self.checkpoint.write(&manifest)?;
        for kind in WHOLE {
            match fs::remove_file(self.path(kind, self.part - 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        self.part += 1;
        let now = Instant::now();
        self.next = match self.checkpoint.every {
            Duration::ZERO => Some(now),
            every => now.checked_add(every.max((now - begun).saturating_mul(SHARE))),
        };
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uniqurl_formats::input;

    #[test]
    fn a_lock_that_another_run_has_removed_is_none() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(LOCK);
        let old = File::create(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(!take(&old, &path).unwrap());
        let new = File::create(&path).unwrap();
        assert!(!take(&old, &path).unwrap());
        assert!(take(&new, &path).unwrap());
    }

    /// Whatever the options are called.
    #[test]
    fn a_run_that_may_replace_what_was_seen_leaves_word_and_others_do_not() {
        let directory = tempfile::tempdir().unwrap();
        let [seen, kept] = ["seen", "kept"].map(|name| directory.path().join(name));
        fs::write(&seen, "http://a/\n").unwrap();
        let (sets, _) = input::check(std::slice::from_ref(&seen));
        let open = |seen: &[input::Input]| {
            Checkpoint::open(&kept, Duration::ZERO, Options::new(), &[], seen)
        };
        let leaves_word = |checkpoint: Checkpoint| {
            checkpoint.announce().unwrap();
            kept.join(MANIFEST).exists()
        };
        assert!(!leaves_word(open(&sets).unwrap()));
        assert!(!leaves_word(open(&[]).unwrap().with_saved_set()));
        assert!(leaves_word(open(&sets).unwrap().with_saved_set()));
        fs::write(&seen, "http://a/\nhttp://b/\n").unwrap();
        let (sets, _) = input::check(std::slice::from_ref(&seen));
        let told = open(&sets).unwrap_err().to_string();
        assert!(told.contains("if the saved set has replaced it"), "{told}");
    }

    #[test]
    fn an_input_that_is_gone_puts_the_next_checkpoint_off() {
        let directory = tempfile::tempdir().unwrap();
        let [path, moved, kept] = ["in", "moved", "kept"].map(|name| directory.path().join(name));
        fs::write(&path, "http://a/\n").unwrap();
        let (inputs, _) = input::check(std::slice::from_ref(&path));
        let checkpoint =
            Checkpoint::open(&kept, Duration::ZERO, Options::new(), &inputs, &[]).unwrap();
        let mut keeper = Keeper::new(&checkpoint);
        let manifest = Manifest { files: vec![Absorbed::default()], ..Manifest::new() };
        fs::rename(&path, &moved).unwrap();
        assert!(!keeper.save(&inputs, manifest.clone(), Vec::new()).unwrap());
        assert!(!kept.join(MANIFEST).exists() && keeper.is_due());
        fs::rename(&moved, &path).unwrap();
        assert!(keeper.save(&inputs, manifest, Vec::new()).unwrap());
        assert!(kept.join(MANIFEST).exists());
    }
}
