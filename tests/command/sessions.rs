//! What commands print, as a shell would show it: the facts of `sessions/`.
//!
//! Below `## ` and a fact stand commands and their outputs, in the notation of the guide. Those of a fact run in a
//! directory of their own, which is empty at first. A line that begins with `records ` shows the summary of a run.
//!
//! `UNIQURL_WRITE=1 cargo test -p uniqurl-cli --test command sessions` writes the outputs into the files.

use super::Place;
use super::guide::{prelude, root, run_block};
use std::fs;

fn check(name: &str) {
    let path = root().join("tests/command/sessions").join(name);
    let page = fs::read_to_string(&path).expect(name);
    let facts = page.strip_prefix("## ").and_then(|page| page.strip_suffix('\n')).expect("facts");
    let (mut written, mut wrong) = (String::new(), Vec::new());
    for fact in facts.split("\n## ") {
        let (fact, commands) = fact.split_once('\n').expect("commands");
        let before = wrong.len();
        let commands = run_block(&format!("{commands}\n"), &prelude(), &Place::new(), &mut wrong);
        wrong[before..].iter_mut().for_each(|why| *why = format!("{fact}\n{why}"));
        written += &format!("## {fact}\n{commands}");
    }
    if std::env::var_os("UNIQURL_WRITE").is_some() {
        fs::write(path, written).expect("written");
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn sessions_of_explain() {
    check("explain.txt");
}

#[test]
fn sessions_of_filters() {
    check("filters.txt");
}

#[test]
fn sessions_of_keys() {
    check("keys.txt");
}

#[test]
fn sessions_of_systems() {
    check("systems.txt");
}
