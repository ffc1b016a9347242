//! Control bytes that strangers put into names and URLs do not reach a terminal.

use crate::place::{Place, run};
use crate::{Row, Torture};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::time::Instant;

/// Names, arguments, contents and an environment of random bytes.
pub fn hostile_text(torture: &mut Torture) -> Row {
    let mut row = Row::new("no byte of a name, a URL or the environment reaches the terminal raw");
    let place = Place::new(torture, "terminal", 10);
    let (start, mut tried) = (Instant::now(), 0);
    while torture.goes_on(tried, 2_000, start) {
        tried += 1;
        let mut text = |length: u64| {
            let length = 1 + torture.below(length);
            let hostile = b"\x1b[]0;\x07\x9b\n\r\\\xc3\xa9\xff\x7f'\"% ";
            let bytes = (0..length).map(|_| match torture.below(3) {
                0 => hostile[torture.below(hostile.len() as u64) as usize],
                1 => 1 + torture.below(255) as u8,
                _ => b'a' + torture.below(26) as u8,
            });
            OsString::from_vec(bytes.map(|byte| if byte == b'/' { b'_' } else { byte }).collect())
        };
        let (name, value, environment) = (text(40), text(60), text(60));
        let mut name_of_file = OsString::from("more");
        name_of_file.push(&name);
        let file = place.path.join(&name_of_file);
        if fs::write(&file, value.as_encoded_bytes()).is_err() {
            continue;
        }
        let mut command = place.command(&torture.command);
        match tried % 6 {
            0 => command.args(["dedup", "in"]).arg(&name),
            1 => command.arg("dedup").arg(&name_of_file).arg("--rejects").arg("rejects"),
            2 => command.args(["normalize", "in", "--base"]).arg(&value),
            3 => command.args(["dedup", "in", "-o"]).arg(format!("no/{}", name.to_string_lossy())),
            4 => command
                .arg("dedup")
                .arg(OsString::from_vec([b"--", name.as_encoded_bytes()].concat())),
            _ => command.args(["dedup", "in", "--files-from"]).arg(&name_of_file),
        };
        for variable in ["LANG", "TERM", "COLUMNS", "TMPDIR", "MIMALLOC_VERBOSE", "RUST_BACKTRACE"]
        {
            command.env(variable, &environment);
        }
        command.env("CLICOLOR_FORCE", "1");
        let said = run(&mut command).map(|run| run.stderr);
        let _ = fs::remove_file(&file);
        place.leftovers();
        place.age();
        match said {
            Ok(said) if said.is_empty() => row.broken.push("a run said nothing".to_owned()),
            Ok(said) if said.iter().all(|b| matches!(b, b'\n' | 0x20..=0x7E)) => {}
            Ok(said) => row.broken.push(format!("{:?}", String::from_utf8_lossy(&said))),
            Err(why) => row.broken.push(why),
        }
    }
    row.figure = format!("{tried} runs");
    row
}
