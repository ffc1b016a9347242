//! The outputs of a run: opened before any input is read, and committed together or not at all.

use std::io::{self, IoSlice, Write};
use std::path::{Path, PathBuf};

use crate::args::run_args::RunArgs;
use crate::request::Division;
use crate::{open_files, tables};
use uniqurl_engine::Trace;
use uniqurl_engine::output::{Output, ReportPage, ShardFiles, TableFile, TerminatorWriter};
use uniqurl_formats::record::Separator;

/// The properties of the outputs, besides the options that all jobs share.
pub(crate) struct OutputSpec<'a> {
    /// Whether there is a main output; some runs only change a store.
    pub(crate) writes_urls: bool,
    pub(crate) division: Option<&'a Division>,
    pub(crate) table: Option<tables::TableSpec>,
    /// The line of column names before the others.
    pub(crate) header: Option<String>,
    pub(crate) end: Separator,
}

/// Where the URLs go.
pub(crate) enum MainOutput {
    /// Lines, into one file.
    Lines(TerminatorWriter<Output>),
    /// Lines after marks, into several files or tables.
    Shards(ShardFiles),
    /// Into a table.
    Table(Box<TableFile>),
    /// Nowhere: the run only changes a store.
    Nothing,
}

impl MainOutput {
    fn create(path: &Path, spec: &mut OutputSpec<'_>) -> io::Result<Self> {
        if !spec.writes_urls {
            return Ok(MainOutput::Nothing);
        }
        let table = spec.table.take();
        if let Some(Division { shards, suffix }) = spec.division {
            let enough = open_files::suffice_for((*shards).into(), "shards (--split-by)");
            enough.map_err(io::Error::other)?;
            let files = match table {
                None => ShardFiles::create(path, *shards, suffix, spec.end),
                Some(tables::TableSpec { kind, columns, sorted_by }) => {
                    let columns = (kind, columns);
                    ShardFiles::create_tables(path, *shards, suffix, columns, sorted_by)
                }
            };
            return files.map(MainOutput::Shards);
        }
        match table {
            None => {
                let output = Output::create(path)?;
                // A pipe leads to a program, which counts on lines of one kind.
                let is_read = path != Path::new("-") || output.is_terminal();
                let mut lines = TerminatorWriter::new(output, spec.end);
                if let Some(header) = spec.header.take().filter(|_| is_read) {
                    lines.write_all(header.as_bytes())?;
                }
                Ok(MainOutput::Lines(lines))
            }
            Some(tables::TableSpec { kind, columns, sorted_by }) => {
                let table = TableFile::create(path, kind, columns, sorted_by)?;
                Ok(MainOutput::Table(Box::new(table)))
            }
        }
    }

    /// A sentence about output that cannot be taken back, if there is any.
    pub(crate) fn given(&self) -> Option<String> {
        match self {
            MainOutput::Lines(output) => output.inner().given(),
            MainOutput::Shards(_) | MainOutput::Table(_) | MainOutput::Nothing => None,
        }
    }

    fn prepare(&mut self) -> io::Result<()> {
        match self {
            MainOutput::Lines(output) => output.inner_mut().prepare(),
            MainOutput::Shards(shards) => shards.prepare(),
            MainOutput::Table(table) => table.prepare(),
            MainOutput::Nothing => Ok(()),
        }
    }

    fn commit(self) -> io::Result<()> {
        match self {
            MainOutput::Lines(output) => output.into_inner().commit(),
            MainOutput::Shards(shards) => shards.commit(),
            MainOutput::Table(table) => table.commit(),
            MainOutput::Nothing => Ok(()),
        }
    }
}

impl Write for MainOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            MainOutput::Lines(output) => output.write(bytes),
            MainOutput::Shards(shards) => shards.write(bytes),
            MainOutput::Table(table) => table.write(bytes),
            MainOutput::Nothing => io::sink().write(bytes),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            MainOutput::Lines(output) => output.write_vectored(parts),
            MainOutput::Shards(shards) => shards.write_vectored(parts),
            MainOutput::Table(table) => table.write_vectored(parts),
            MainOutput::Nothing => io::sink().write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            MainOutput::Lines(output) => output.flush(),
            MainOutput::Shards(shards) => shards.flush(),
            MainOutput::Table(table) => table.flush(),
            MainOutput::Nothing => Ok(()),
        }
    }
}

/// The outputs of a run. All are opened before any input is read.
pub(crate) struct Outputs {
    pub(crate) main: MainOutput,
    pub(crate) rejects: Option<Output>,
    accounts: Vec<Account>,
}

/// An output for the accounting of a run, written at its end.
pub(crate) struct Account {
    output: Output,
    form: AccountForm,
}

/// The form of the accounting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AccountForm {
    /// The document of `--stats`.
    Json,
    /// The page of `--report`.
    Page,
    /// The tasks of `--trace`.
    Trace,
}

/// The accounting of a run at its end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) page: ReportPage<'a>,
    pub(crate) trace: Option<&'a Trace>,
}

impl Outputs {
    pub(crate) fn create(common: &RunArgs, mut spec: OutputSpec<'_>) -> io::Result<Self> {
        let mut accounts = Vec::new();
        for (path, form) in [
            (&common.stats, AccountForm::Json),
            (&common.report, AccountForm::Page),
            (&common.trace, AccountForm::Trace),
        ] {
            if let Some(path) = path {
                accounts.push(Account { output: Output::create(path)?, form });
            }
        }
        Ok(Self {
            main: MainOutput::create(&common.output, &mut spec)?,
            rejects: common.rejects.as_deref().map(Output::create).transpose()?,
            accounts,
        })
    }

    /// Whether an output written during the run is a terminal, where a bar would get in its way.
    pub(crate) fn are_watched(&self) -> bool {
        let main = match &self.main {
            MainOutput::Lines(output) => output.inner().is_terminal(),
            MainOutput::Shards(_) | MainOutput::Table(_) | MainOutput::Nothing => false,
        };
        main || self.rejects.as_ref().is_some_and(Output::is_terminal)
    }

    /// The accounts that go to files.
    pub(crate) fn account_files(&self) -> Vec<(PathBuf, AccountForm)> {
        let files = self.accounts.iter().filter(|account| !account.output.is_direct());
        files.map(|account| (account.output.name().to_owned(), account.form)).collect()
    }

    /// Brings all bytes to the disk or their pipes, so that a full disk commits neither output.
    pub(crate) fn prepare(&mut self) -> io::Result<()> {
        self.main.prepare()?;
        self.rejects.as_mut().map_or(Ok(()), Output::prepare)
    }

    /// Writes the accounts of a run that is about to be committed, and brings them to the disk too.
    pub(crate) fn write_accounts(&mut self, known: &Known<'_>) -> io::Result<()> {
        let mut written = Vec::new();
        let mut left = std::mem::take(&mut self.accounts).into_iter();
        while let Some(mut account) = left.next() {
            if let Err(error) = account.write(known).and_then(|()| account.output.prepare()) {
                self.accounts = left.collect();
                return Err(error);
            }
            written.push(account);
        }
        self.accounts = written;
        Ok(())
    }

    /// Commits the outputs. The main one comes after those about it, so a new main output implies new ones
    /// about it.
    pub(crate) fn commit(self) -> io::Result<()> {
        let accounts = self.accounts.into_iter().map(|account| account.output);
        for output in self.rejects.into_iter().chain(accounts) {
            output.commit()?;
        }
        self.main.commit()
    }

    /// Gives up all outputs except the accounts, into which nothing was written.
    pub(crate) fn give_up(self) -> Vec<Account> {
        self.accounts
    }
}

impl Account {
    fn write(&mut self, known: &Known<'_>) -> io::Result<()> {
        let mut document = Vec::new();
        match self.form {
            AccountForm::Json => return known.page.stats.write(&mut self.output),
            AccountForm::Page => known.page.write(&mut document),
            AccountForm::Trace => {
                known.trace.map_or(Ok(()), |trace| trace.write(&mut document))?;
            }
        }
        self.output.write_all(&document)
    }
}

/// Writes the accounts of a failed run, with the reason of its failure. A file may hold the account of a
/// success, so it is made anew; a pipe gets the account unless it has one already. An account that cannot
/// be written does not stop the others; the first error is returned.
pub(crate) fn write_anew(
    known: &Known<'_>,
    files: Vec<(PathBuf, AccountForm)>,
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
