//! Restarts the process for each run, so that a result is not that of one layout of memory.
//!
//! A run gets its [`RunOrder`] as one line of JSON on standard input, and writes messages as lines of JSON to standard
//! output. It ends when its standard input does, so it does not outlive the process that waits for it.

use super::order::RunOrder;
use super::run;
use crate::counters::{Cost, Counters};
use crate::machine::Disturbance;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// A message of a run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RunMessage {
    /// The row of this number is measured.
    Row(usize, Cost),
    /// The run is complete.
    Done(Disturbance),
    /// The run failed, for this reason.
    Error(String),
}

/// Starts the command, which has to call [`serve`], waits for its end, and tells the cost of each row.
pub fn restart(
    mut command: Command,
    order: &RunOrder,
    tell: &mut dyn FnMut(usize, Cost),
) -> Result<Disturbance, String> {
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
            Ok(RunMessage::Row(n, cost)) => tell(n, cost),
            Ok(RunMessage::Done(disturbance)) => answer = Some(Ok(disturbance)),
            Ok(RunMessage::Error(error)) => answer = Some(Err(error)),
            Err(error) => answer = Some(Err(format!("the answer of a run is damaged: {error}"))),
        }
    }
    // The child ends with its input, so the pipe stays open up to its last message.
    drop(orders);
    let status = child.wait().map_err(cannot)?;
    answer.unwrap_or_else(|| Err(format!("a run ended without a result ({status})")))
}

/// The part of the restarted process: reads the order, measures, and writes the result. False if it failed.
pub fn serve() -> io::Result<bool> {
    // Counters count the threads that are started after them.
    let mut counters = Counters::open();
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let order: RunOrder = serde_json::from_str(&line)?;
    // A run whose parent is gone would go on and disturb the next one.
    std::thread::Builder::new().name("orders".into()).spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(1);
    })?;
    // A message that cannot be written has no reader: the thread above ends the process.
    let tell = |n, cost| drop(send(&RunMessage::Row(n, cost)));
    let (message, is_complete) = match run::measure(&order, &mut counters, &tell) {
        Ok(disturbance) => (RunMessage::Done(disturbance), true),
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

    const ORDER: RunOrder = RunOrder { run: 1, threads: Vec::new(), corpora: Vec::new() };

    fn shell(script: &str) -> (Result<Disturbance, String>, Vec<usize>) {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        let mut rows = Vec::new();
        (restart(command, &ORDER, &mut |n, _| rows.push(n)), rows)
    }

    #[test]
    fn failure_of_a_run_is_reported() {
        for (script, error) in [
            (r#"echo '{"error":"clean, scan: 1 found"}'; exit 2"#, "clean, scan: 1 found"),
            ("exit 3", "a run ended without a result (exit status: 3)"),
            ("kill -9 $$", "a run ended without a result (signal: 9"),
            ("echo x", "the answer of a run is damaged"),
        ] {
            let found = shell(script).0.expect_err("a failure");
            assert!(found.starts_with(error), "{script}: {found}");
        }
        let missing = restart(Command::new("/no/such/file"), &ORDER, &mut |_, _| ());
        assert!(missing.is_err_and(|error| error.starts_with("cannot restart")));
    }

    #[test]
    fn a_run_gets_its_order_and_tells_of_each_row() {
        let cost = r#"{"seconds":1.5,"cpu_seconds":1,"cycles":null,"instructions":7}"#;
        let done = r#"{"done":{"others":0.5,"stolen":null,"load":1,"seconds":2}}"#;
        let script = format!(
            "read -r order; case $order in *threads*) ;; *) exit 1;; esac; \
             echo '{{\"row\":[5,{cost}]}}'; echo '{{\"row\":[6,{cost}]}}'; echo '{done}'"
        );
        let (found, rows) = shell(&script);
        assert_eq!((found.expect("complete").seconds, rows), (2.0, vec![5, 6]));
    }
}
