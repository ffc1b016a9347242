//! `uniqurl seen stats`: numbers about a store, and its rules.

use std::fmt::Write as _;
use std::io::{self, Write};

use super::failure::SeenFailure;
use crate::args::seen::StatsArgs;
use crate::dates;
use crate::status::{Status, printable};
use uniqurl_engine::output::Object;
use uniqurl_store::seen::{AddStats, RunStats, SeenStore, StoreRules, StoreStats};

/// Runs the subcommand.
pub(super) fn main(args: &StatsArgs) -> Result<Status, SeenFailure> {
    let store = SeenStore::open(&args.of.store)?;
    let stats = store.stats();
    let text = match args.json {
        true => as_json(&stats, store.rules()),
        false => as_text(&stats, store.rules()),
    };
    io::stdout().write_all(text.as_bytes())?;
    Ok(Status::Complete)
}

/// Bytes for each key, with one decimal; 0 if there is no key.
fn bytes_a_key(stats: &StoreStats) -> String {
    let bytes = if stats.keys == 0 { 0 } else { stats.bytes };
    format!("{:.1}", bytes as f64 / stats.keys.max(1) as f64)
}

/// Lines of names and numbers, then a line for each run and for each of its adds.
fn as_text(stats: &StoreStats, rules: &StoreRules) -> String {
    let mut text = String::new();
    for (name, value) in [
        ("keys", stats.keys.to_string()),
        ("bytes", stats.bytes.to_string()),
        ("bytes a key", bytes_a_key(stats)),
        ("runs", stats.runs.len().to_string()),
        ("rules", printable(rules.description())),
        ("key", printable(rules.key())),
    ] {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:12} {value}");
    }
    for RunStats { name, bytes, keys, removed, adds } in &stats.runs {
        let name = printable(name);
        let _ = writeln!(text, "\n{name}: keys {keys}, removed {removed}, bytes {bytes}");
        for AddStats { number, time, keys } in adds {
            let _ = writeln!(text, "  add {number}: {}, keys {keys}", dates::shown(*time));
        }
    }
    text
}

fn as_json(stats: &StoreStats, rules: &StoreRules) -> String {
    let of_add = |add: &AddStats| {
        let object = Object::default().number("add", add.number);
        object.text("time", &dates::shown(add.time)).number("keys", add.keys).end()
    };
    let of_run = |run: &RunStats| {
        let object = Object::default().text("run", &run.name).number("keys", run.keys);
        let object = object.number("removed", run.removed).number("bytes", run.bytes);
        object.list("adds", run.adds.iter().map(of_add)).end()
    };
    let object = Object::default().number("keys", stats.keys).number("bytes", stats.bytes);
    let object = object.raw("bytes_a_key", bytes_a_key(stats));
    let object = object.text("rules", rules.description()).text("key", rules.key());
    format!("{}\n", object.list("runs", stats.runs.iter().map(of_run)).end())
}
