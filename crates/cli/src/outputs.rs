//! The outputs of a run: opened before any input is read, and committed together or not at all.

use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};

use super::flags::Common;
use super::status::{Status, say};
use super::{hints, open_files, tables};
use uniqurl_engine::output::{self, Observed, Output, Page, Shards, Stats, TableFile, Terminated};
use uniqurl_engine::{RunError, SplitBy};
use uniqurl_formats::input::{InputError, Trouble};
use uniqurl_formats::record::Separator;

/// Why nothing is committed.
pub(super) enum End {
    /// It has been said already.
    Told,
    /// With what is said of it.
    NothingButRejects(String),
    ClosedPipe,
    Failed(RunError),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            End::ClosedPipe
        } else {
            End::Failed(RunError::Output(error))
        }
    }
}

/// Says why nothing is committed of a `job`. `given` is what went where it cannot be taken back, and
/// `hint` stands where the error has none of its own.
pub(super) fn failure(
    why: End,
    job: output::Job,
    given: Option<String>,
    hint: Option<&str>,
) -> Status {
    match why {
        End::Told | End::ClosedPipe => Status::Failed,
        End::NothingButRejects(message) => {
            say(message);
            Status::Limit
        }
        End::Failed(error) => {
            match (&error, given) {
                (RunError::Rejected(_), Some(given)) => {
                    say(format_args!("{error}; stopped by --max-rejected when {given}"));
                }
                (RunError::Rejected(_), None) => {
                    say(format_args!("{error}; stopped by --max-rejected, nothing was written"));
                }
                _ => say(hints::with_hint(&error, hints::of_run(&error, job).or(hint))),
            }
            match error {
                RunError::Set(_) | RunError::Memory | RunError::Rejected(_) => Status::Limit,
                RunError::Input(InputError {
                    trouble: Trouble::Limit(..) | Trouble::Memory(_),
                    ..
                }) => Status::Limit,
                RunError::Output(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                    Status::Limit
                }
                _ => Status::Failed,
            }
        }
    }
}

/// How the main output is divided among files of a directory.
pub(super) struct Division {
    pub(super) by: SplitBy,
    pub(super) shards: u32,
    pub(super) suffix: String,
}

/// What the outputs are, beside what all jobs say of them.
pub(super) struct Shape<'a> {
    /// Where the set is kept for the next run.
    pub(super) seen: Option<&'a Path>,
    pub(super) division: Option<&'a Division>,
    pub(super) table: Option<tables::Plan>,
    pub(super) end: Separator,
}

/// Where the URLs go.
pub(super) enum Main {
    /// Lines, into one file.
    Lines(Terminated<Output>),
    /// Lines behind marks, into several files.
    Shards(Shards),
    /// Into a table.
    Table(Box<TableFile>),
}

impl Main {
    fn create(path: &Path, shape: &mut Shape<'_>) -> io::Result<Self> {
        if let Some(tables::Plan { kind, columns, sorted_by }) = shape.table.take() {
            let table = TableFile::create(path, kind, columns, sorted_by)?;
            return Ok(Main::Table(Box::new(table)));
        }
        match shape.division {
            None => Ok(Main::Lines(Terminated::new(Output::create(path)?, shape.end))),
            Some(Division { shards, suffix, .. }) => {
                let enough = open_files::suffice_for((*shards).into(), "shards (--split-by)");
                enough.map_err(io::Error::other)?;
                Shards::create(path, *shards, suffix, shape.end).map(Main::Shards)
            }
        }
    }

    /// What went where it cannot be taken back, in words.
    pub(super) fn given(&self) -> Option<String> {
        match self {
            Main::Lines(output) => output.inner().given(),
            Main::Shards(_) | Main::Table(_) => None,
        }
    }

    fn prepare(&mut self) -> io::Result<()> {
        match self {
            Main::Lines(output) => output.inner_mut().prepare(),
            Main::Shards(shards) => shards.prepare(),
            Main::Table(table) => table.prepare(),
        }
    }

    fn commit(self) -> io::Result<()> {
        match self {
            Main::Lines(output) => output.into_inner().commit(),
            Main::Shards(shards) => shards.commit(),
            Main::Table(table) => table.commit(),
        }
    }
}

impl Write for Main {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Main::Lines(output) => output.write(bytes),
            Main::Shards(shards) => shards.write(bytes),
            Main::Table(table) => table.write(bytes),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Main::Lines(output) => output.write_vectored(parts),
            Main::Shards(shards) => shards.write_vectored(parts),
            Main::Table(table) => table.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Main::Lines(output) => output.flush(),
            Main::Shards(shards) => shards.flush(),
            Main::Table(table) => table.flush(),
        }
    }
}

/// The outputs of a run. All are opened before any input is read.
pub(super) struct Outputs {
    pub(super) main: Main,
    pub(super) rejects: Option<Output>,
    accounts: Vec<Account>,
    /// The set for a later run.
    pub(super) seen: Option<Output>,
}

/// An output for what is known of a run at its end.
pub(super) struct Account {
    output: Output,
    form: Form,
}

/// How a run is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The document of `--stats`.
    Json,
    /// The page of `--report`.
    Page,
}

/// What is known of a run at its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) stats: Stats<'a>,
    pub(super) observed: Option<&'a Observed>,
}

impl Outputs {
    pub(super) fn create(common: &Common, mut shape: Shape<'_>) -> io::Result<Self> {
        let mut accounts = Vec::new();
        for (path, form) in [(&common.stats, Form::Json), (&common.report, Form::Page)] {
            if let Some(path) = path {
                accounts.push(Account { output: Output::create(path)?, form });
            }
        }
        Ok(Self {
            main: Main::create(&common.output, &mut shape)?,
            rejects: common.rejects.as_deref().map(Output::create).transpose()?,
            accounts,
            seen: shape.seen.map(Output::create).transpose()?,
        })
    }

    /// Whether what is written during the run goes to a terminal, where a bar would stand in its way.
    pub(super) fn are_watched(&self) -> bool {
        let main = match &self.main {
            Main::Lines(output) => output.inner().is_terminal(),
            Main::Shards(_) | Main::Table(_) => false,
        };
        main || self.rejects.as_ref().is_some_and(Output::is_terminal)
    }

    /// The accounts that go to files.
    pub(super) fn account_files(&self) -> Vec<(PathBuf, Form)> {
        let files = self.accounts.iter().filter(|account| !account.output.is_direct());
        files.map(|account| (account.output.name().to_owned(), account.form)).collect()
    }

    /// Brings all bytes to where they belong, so that a full disk commits neither output.
    pub(super) fn prepare(&mut self) -> io::Result<()> {
        self.main.prepare()?;
        self.seen.as_mut().map_or(Ok(()), Output::prepare)?;
        self.rejects.as_mut().map_or(Ok(()), Output::prepare)
    }

    /// Writes the accounts of a run that is about to be committed, and brings them to the disk too.
    pub(super) fn write_accounts(&mut self, known: &Known<'_>) -> Result<(), End> {
        let mut written = Vec::new();
        let mut left = std::mem::take(&mut self.accounts).into_iter();
        while let Some(mut account) = left.next() {
            if let Err(error) = account.write(known).and_then(|()| account.output.prepare()) {
                self.accounts = left.collect();
                return Err(End::from(error));
            }
            written.push(account);
        }
        self.accounts = written;
        Ok(())
    }

    /// Makes the outputs appear, the main one after those about it: where it is new, they are. What is
    /// kept for a later run comes last, so that an end between the two gives URLs twice and never loses
    /// one.
    pub(super) fn commit(self) -> Result<(), End> {
        let accounts = self.accounts.into_iter().map(|account| account.output);
        for output in self.rejects.into_iter().chain(accounts) {
            output.commit()?;
        }
        self.main.commit()?;
        Ok(self.seen.map_or(Ok(()), Output::commit)?)
    }

    /// Gives up the outputs, but for the accounts into which nothing was written.
    pub(super) fn give_up(self) -> Vec<Account> {
        self.accounts
    }
}

impl Account {
    fn write(&mut self, known: &Known<'_>) -> io::Result<()> {
        let mut document = Vec::new();
        match self.form {
            Form::Json => known.stats.write(&mut document),
            Form::Page => {
                let nothing = Observed::default();
                let observed = known.observed.unwrap_or(&nothing);
                Page { stats: &known.stats, observed }.write(&mut document);
            }
        }
        self.output.write_all(&document)
    }
}

/// The accounts of a run that failed: they go out whatever the end, and say what that was. A file may
/// hold the one of a success, so it is made anew; into a pipe goes what did not go there. One that cannot
/// be written keeps no other back; what is wrong with the first is given.
pub(super) fn write_anew(
    known: &Known<'_>,
    files: Vec<(PathBuf, Form)>,
    given_up: Vec<Account>,
) -> io::Result<()> {
    let direct = given_up.into_iter().filter(|account| account.output.is_direct()).map(Ok);
    let anew = files.into_iter().map(|(path, form)| {
        let output = Output::create(&path)?;
        Ok(Account { output, form })
    });
    let write = |account: io::Result<Account>| {
        let mut account = account?;
        account.write(known)?;
        account.output.commit()
    };
    direct.chain(anew).map(write).fold(Ok(()), Result::and)
}
