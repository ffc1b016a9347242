//! The outputs of a run: opened before any input is read, and committed together or not at all.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::args::run_args::RunArgs;
use crate::request::Division;
use crate::{open_files, tables};
use uniqurl_engine::Trace;
use uniqurl_engine::output::{
    Framing, Output, ReportPage, ShardFiles, TableFile, TerminatorWriter,
};
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
    /// Whether records are written as they came.
    pub(crate) is_whole: bool,
    /// Where the other records go.
    pub(crate) dropped: Option<&'a Path>,
}

/// Where the URLs go.
pub(crate) trait MainOutput: Write + Send {
    /// Brings all bytes to the disk or their pipe.
    fn prepare(&mut self) -> io::Result<()>;

    /// Gives the output its name.
    fn commit(self: Box<Self>) -> io::Result<()>;

    /// A sentence about output that cannot be taken back, if there is any.
    fn given(&self) -> Option<String> {
        None
    }

    /// Whether it is written to a terminal during the run.
    fn is_watched(&self) -> bool {
        false
    }
}

/// Lines, into one file.
impl MainOutput for TerminatorWriter<Output> {
    fn prepare(&mut self) -> io::Result<()> {
        self.inner_mut().prepare()
    }

    fn commit(self: Box<Self>) -> io::Result<()> {
        self.into_inner().commit()
    }

    fn given(&self) -> Option<String> {
        self.inner().given()
    }

    fn is_watched(&self) -> bool {
        self.inner().is_terminal()
    }
}

/// Lines after marks, into several files or tables.
impl MainOutput for ShardFiles {
    fn prepare(&mut self) -> io::Result<()> {
        ShardFiles::prepare(self)
    }

    fn commit(self: Box<Self>) -> io::Result<()> {
        ShardFiles::commit(*self)
    }
}

impl MainOutput for TableFile {
    fn prepare(&mut self) -> io::Result<()> {
        TableFile::prepare(self)
    }

    fn commit(self: Box<Self>) -> io::Result<()> {
        TableFile::commit(*self)
    }
}

/// Nowhere: the run only changes a store, or writes a report.
impl MainOutput for io::Sink {
    fn prepare(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn commit(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

fn main_output(path: &Path, spec: OutputSpec<'_>) -> io::Result<Box<dyn MainOutput>> {
    if !spec.writes_urls {
        return Ok(Box::new(io::sink()));
    }
    if let Some(Division { shards, suffix }) = spec.division {
        // Before the first of thousands of files is made.
        let enough = open_files::suffice_for((*shards).into(), "shards (--split-by)");
        enough.map_err(io::Error::other)?;
        let framing = if spec.is_whole { Framing::Records } else { Framing::Lines(spec.end) };
        return Ok(Box::new(match spec.table {
            None => ShardFiles::create(path, *shards, suffix, framing)?,
            Some(tables::TableSpec { kind, columns, sorted_by }) => {
                let columns = (kind, columns);
                ShardFiles::create_tables(path, *shards, suffix, columns, sorted_by)?
            }
        }));
    }
    if let Some(tables::TableSpec { kind, columns, sorted_by }) = spec.table {
        return Ok(Box::new(TableFile::create(path, kind, columns, sorted_by)?));
    }
    let output = Output::create(path)?;
    // A pipe leads to a program, which counts on lines of one kind.
    let is_read = path != Path::new("-") || output.is_terminal();
    let mut lines = TerminatorWriter::new(output, spec.end);
    if let Some(header) = spec.header.filter(|_| is_read) {
        lines.write_all(header.as_bytes())?;
    }
    Ok(Box::new(lines))
}

/// The outputs of a run. All are opened before any input is read.
pub(crate) struct Outputs {
    pub(crate) main: Box<dyn MainOutput>,
    pub(crate) rejects: Option<Output>,
    /// Records that are not kept.
    pub(crate) dropped: Option<Output>,
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
    pub(crate) fn create(common: &RunArgs, spec: OutputSpec<'_>) -> io::Result<Self> {
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
        let dropped = spec.dropped.map(Output::create).transpose()?;
        Ok(Self {
            dropped,
            main: main_output(&common.output, spec)?,
            rejects: common.rejects.as_deref().map(Output::create).transpose()?,
            accounts,
        })
    }

    /// Whether an output written during the run is a terminal, where a bar would get in its way.
    pub(crate) fn are_watched(&self) -> bool {
        let mut others = self.rejects.iter().chain(&self.dropped);
        self.main.is_watched() || others.any(Output::is_terminal)
    }

    /// The accounts that go to files.
    pub(crate) fn account_files(&self) -> Vec<(PathBuf, AccountForm)> {
        let files = self.accounts.iter().filter(|account| !account.output.is_direct());
        files.map(|account| (account.output.name().to_owned(), account.form)).collect()
    }

    /// Brings all bytes to the disk or their pipes, so that a full disk commits neither output.
    pub(crate) fn prepare(&mut self) -> io::Result<()> {
        self.main.prepare()?;
        self.rejects.iter_mut().chain(&mut self.dropped).try_for_each(Output::prepare)
    }

    /// Writes the accounts of a run that is about to be committed, and brings them to the disk too.
    pub(crate) fn write_accounts(&mut self, known: &Known<'_>) -> io::Result<()> {
        let mut written = Vec::new();
        let mut left = std::mem::take(&mut self.accounts).into_iter();
        while let Some(mut account) = left.next() {
            if let Err(error) = account.write(known).and_then(|()| account.output.prepare()) {
                // Nothing was written to these, so they can still have the account of the failure.
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
        for output in self.rejects.into_iter().chain(self.dropped).chain(accounts) {
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
            // It goes out one input at a time: there may be a million.
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
    // Each of them is written, and `Result::and` keeps the first error.
    direct.chain(anew).map(write).fold(Ok(()), Result::and)
}
