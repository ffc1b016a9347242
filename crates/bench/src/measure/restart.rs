//! Restarts the process for each run, so that a result is not that of one layout of memory.
//!
//! A run gets its [`RunOrder`] as one line of JSON on standard input, and writes messages as lines of JSON to standard
//! output. It ends when its standard input does, so it does not outlive the process that waits for it.

use super::plan::RunOrder;
use super::rounds::{self, RunResult};
use crate::counters::Counters;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

/// A message of a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RunMessage {
    /// A pass over so many bytes is done.
    Did(u64),
    /// The run is complete.
    Result(Box<RunResult>),
    /// The run failed, for this reason.
    Error(String),
}

/// Starts the command, which has to call [`serve`], and waits for its result.
pub fn restart(
    mut command: Command,
    order: &RunOrder,
    did: &dyn Fn(u64),
) -> Result<RunResult, String> {
    let cannot = |error: io::Error| format!("cannot restart: {error}");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(cannot)?;
    let mut orders = child.stdin.take().ok_or("cannot restart")?;
    let messages = child.stdout.take().ok_or("cannot restart")?;
    let mut line = serde_json::to_vec(order).map_err(|error| error.to_string())?;
    line.push(b'\n');
    // A child that ends at once closes the pipe, and its status says more.
    let _ = orders.write_all(&line);
    let mut answer = None;
    for line in BufReader::new(messages).lines() {
        let line = line.map_err(cannot)?;
        match serde_json::from_str(&line) {
            Ok(RunMessage::Did(bytes)) => did(bytes),
            Ok(RunMessage::Result(result)) => answer = Some(Ok(*result)),
            Ok(RunMessage::Error(error)) => answer = Some(Err(error)),
            Err(error) => answer = Some(Err(format!("the answer of a run is damaged: {error}"))),
        }
    }
    drop(orders);
    let status = child.wait().map_err(cannot)?;
    answer.unwrap_or_else(|| Err(format!("a run ended without a result ({})", ended(status))))
}

fn ended(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("status {code}"),
        (None, None) => "unknown status".to_owned(),
    }
}

/// The part of the restarted process: reads the order, measures, and writes the result. False if it failed.
pub fn serve() -> io::Result<bool> {
    // Counters count the threads that are started after them.
    let mut counters = Counters::open();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let order: RunOrder = serde_json::from_str(&line)?;
    std::thread::Builder::new().name("orders".into()).spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(1);
    })?;
    // A message that cannot be written has no reader: the thread above ends the process.
    let did = |bytes| drop(send(&RunMessage::Did(bytes)));
    let (message, is_complete) = match rounds::measure(&order, &mut counters, &did) {
        Ok(result) => (RunMessage::Result(Box::new(result)), true),
        Err(error) => (RunMessage::Error(error), false),
    };
    send(&message)?;
    Ok(is_complete)
}

fn send(message: &RunMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> RunOrder {
        RunOrder {
            order_seed: 1,
            repeats: 1,
            pin: "none".into(),
            directory: "/".into(),
            corpora: Vec::new(),
            limits: Vec::new(),
            rows: Vec::new(),
        }
    }

    fn shell(script: &str) -> Result<RunResult, String> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        restart(command, &order(), &|_| ())
    }

    #[test]
    fn failure_of_a_run_is_reported() {
        for (script, error) in [
            (r#"echo '{"error":"clean, scan: 1 found"}'; exit 2"#, "clean, scan: 1 found"),
            ("exit 3", "a run ended without a result (status 3)"),
            ("kill -9 $$", "a run ended without a result (signal 9)"),
            ("echo x", "the answer of a run is damaged"),
        ] {
            let found = shell(script).expect_err("a failure");
            assert!(found.starts_with(error), "{script}: {found}");
        }
        let missing = restart(Command::new("/no/such/file"), &order(), &|_| ());
        assert!(missing.is_err_and(|error| error.starts_with("cannot restart")));
    }

    #[test]
    fn a_run_gets_its_order_and_reports_each_pass() {
        let sum = std::cell::Cell::new(0);
        let result = rounds::measure(&order(), &mut Counters::open(), &|_| ()).expect("measured");
        let message = RunMessage::Result(Box::new(result.clone()));
        let message = serde_json::to_string(&message).expect("JSON");
        let script = format!(
            "read -r order; case $order in *order_seed*) ;; *) exit 1;; esac; \
             echo '{{\"did\":5}}'; echo '{{\"did\":6}}'; echo '{message}'"
        );
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &script]);
        let found = restart(command, &order(), &|bytes| sum.set(sum.get() + bytes));
        assert_eq!(sum.get(), 11);
        // JSON may lose the last digit of a number.
        assert_eq!(found.expect("a result").rows, result.rows);
    }
}
