//! `uniqurl bench`: measures uniqurl against the limits of this machine.

use crate::args::bench::BenchArgs;
use crate::args::memory::MemoryArgs;
use crate::signals::Signals;
use crate::status::{Status, eprint_message, wrote};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::sync::{Arc, OnceLock};
use std::time::SystemTime;
use uniqurl::internal::Backend;
use uniqurl_bench::machine::Machine;
use uniqurl_bench::measure::compare::Comparison;
use uniqurl_bench::measure::order::RunOrder;
use uniqurl_bench::measure::passes::PROFILE;
use uniqurl_bench::measure::restart::serve;
use uniqurl_bench::measure::result::{Document, Program};
use uniqurl_bench::measure::score::SIZE;
use uniqurl_bench::measure::table::ResultTable;
use uniqurl_bench::measure::{prepare, session};
use uniqurl_engine::output::{Output, Temporary};

/// A run takes this many times as much memory as a corpus: five of them in memory while they are drawn, and in the
/// page cache.
const MEMORY_FOR_A_CORPUS: u64 = 10;

/// Runs the subcommand.
pub fn main(bench: &BenchArgs) -> ExitCode {
    if bench.one_run {
        return one_run();
    }
    let text = match bench.compare.as_slice() {
        [a, b] => Comparison::read(a, b).map_err(Failure::from).map(|comparison| {
            comparison.warnings().into_iter().for_each(eprint_message);
            Some(comparison.to_string())
        }),
        _ => run(bench),
    };
    match text {
        Ok(Some(text)) => wrote(io::stdout().lock().write_all(text.as_bytes())),
        Ok(None) => ExitCode::SUCCESS,
        Err(Failure::ClosedPipe) => ExitCode::from(Status::ClosedPipe as u8),
        Err(Failure::Message(message)) => {
            eprint_message(message);
            ExitCode::from(Status::Failed as u8)
        }
    }
}

/// The reason why the result is missing or incomplete.
enum Failure {
    Message(String),
    ClosedPipe,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::Message(message)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
            _ => Failure::Message(error.to_string()),
        }
    }
}

/// Measures once, for the process that started this one.
fn one_run() -> ExitCode {
    match serve() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(Status::Failed as u8),
        Err(error) => {
            eprint_message(error);
            ExitCode::from(Status::Failed as u8)
        }
    }
}

/// Measures, and gives the table unless standard output has the JSON.
fn run(bench: &BenchArgs) -> Result<Option<String>, Failure> {
    let directory = watch_signals()?;
    // Open the output first, so that one that cannot be written fails before minutes of measuring.
    let json = bench.save.as_deref().map(Output::create).transpose()?;
    // The same program, wherever this one was started from, and not another of its name in PATH.
    let program = std::env::current_exe();
    let program = program.map_err(|error| format!("cannot find this program: {error}"))?;
    let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
    let size = bench.size.unwrap_or_else(default_size);
    let kinds = bench.corpora();
    let tell = |line: String| {
        if !bench.quiet {
            // A line that cannot be shown is no reason to stop.
            let _ = writeln!(io::stderr(), "{line}");
        }
    };
    tell(format!("drawing {} corpora of {size} bytes", kinds.len()));
    let corpora = prepare::corpora(&kinds, size, directory.path())?;
    let order = RunOrder { run: 1, threads: bench.threads(), corpora };
    let command = || {
        let mut command = Command::new(&program);
        command.args(["bench", "--one-run"]);
        command
    };
    let session = session::measure(&command, order, bench.runs, &tell)?;
    let mut document = Document::new(&session, this_program(), Machine::here(), date);
    document.add_score();
    // Before the table is printed: a closed pipe must not lose minutes of measuring.
    if let Some(mut json) = json {
        json.write_all(&document.json()).and_then(|()| json.commit())?;
    }
    Ok((!bench.writes_to_stdout()).then(|| ResultTable(&document).to_string()))
}

/// Bytes of a corpus: as many as the number to cite needs, or fewer for want of memory.
fn default_size() -> u64 {
    let free = MemoryArgs { memory: None, temp_dir: None }.memory(1, |_| {});
    let most = free.map_or(SIZE, |free| free.budget / MEMORY_FOR_A_CORPUS);
    // Whole MiB.
    (most.min(SIZE) >> 20 << 20).max(1 << 20)
}

/// Makes the directory of the corpora, which a signal removes.
fn watch_signals() -> Result<Temporary, Failure> {
    let path = Arc::<OnceLock<PathBuf>>::default();
    let to_remove = Arc::clone(&path);
    Signals::watch(move || {
        // A thread that writes a file meanwhile may have kept the directory from being removed.
        if let Some(path) = to_remove.get() {
            while path.exists() && fs::remove_dir_all(path).is_err() {}
        }
    })
    .map_err(|error| format!("cannot watch for signals: {error}"))?;
    let directory = prepare::directory()?;
    let _ = path.set(directory.path().to_owned());
    Ok(directory)
}

fn this_program() -> Program {
    let own = |value: Option<&str>| value.filter(|value| !value.is_empty()).map(str::to_owned);
    Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: own(option_env!("UNIQURL_COMMIT")),
        compiler: own(option_env!("UNIQURL_COMPILER")),
        build: own(option_env!("UNIQURL_PROFILE")),
        scanner: Backend::best().name().to_owned(),
        profile: PROFILE.to_string(),
    }
}
