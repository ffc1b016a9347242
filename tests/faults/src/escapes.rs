//! Characters that act on a terminal do not stand raw in what a program or a person reads: JSON, text, pages,
//! messages, names of shards. And a secret of an argument that was taken for a file name stays secret.

use crate::place::{Place, run};
use crate::{Row, Torture};
use std::fs;

/// Control characters of ASCII and ISO 8859, DEL, those that turn the direction of text, and ends of lines.
const HOSTILE: &str = "\u{1}\u{1b}\u{7f}\u{80}\u{9b}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2028}\
                       \u{2029}\u{2066}\u{2069}";

/// The first character that acts on a terminal, besides line feeds and tabs.
fn raw(text: &[u8]) -> Option<String> {
    let Ok(text) = std::str::from_utf8(text) else { return Some("no UTF-8".to_owned()) };
    let acts = |char: &char| HOSTILE.contains(*char) || char.is_control();
    let raw = text.chars().filter(|char| !"\n\t".contains(*char)).find(acts);
    raw.map(|char| format!("{char:?}"))
}

/// Every way out, with hostile names and URLs.
pub fn every_way_out(torture: &mut Torture) -> Row {
    let mut row = Row::new("no control, bidi or line character leaves raw, in text or in JSON");
    let place = Place::new(torture, "escapes", 10);
    let url = format!("http://h/{HOSTILE}x");
    let name = format!("more{HOSTILE}");
    fs::write(place.path.join(&name), &url).expect("written");
    let list = ["-p", "string", "-f", "lines", &name];
    let mut tried = 0;
    for (arguments, is_json) in [
        (&["normalize", "--json"][..], true),
        (&["dedup", "--json", "--fields", "canonical,original,first"], true),
        (&["dedup", "-o", "out", "--stats", "-"], true),
        (&["dedup", "--fields", "canonical,original,first"], false),
        (&["dedup", "-o", "out", "--report", "-"], false),
        (&["dedup", "-o", "out", "-p", "syntax", "--rejects", "-"], true),
    ] {
        let mut command = place.command(&torture.command);
        command.args(&arguments[..1]);
        // The last profile counts.
        command.args(list).args(&arguments[1..]);
        tried += check(&mut command, is_json, &mut row);
    }
    for (arguments, is_json) in [
        (&["explain", "--json", "-p", "all", &url][..], true),
        (&["compare", "--json", &url, "http://h/"], true),
        (&["explain", "-p", "all", &url], false),
        (&["compare", &url, "http://h/"], false),
        (&["explain", "-p", "aggressive", "--drop-param", &url, &url], false),
    ] {
        tried += check(place.command(&torture.command).args(arguments), is_json, &mut row);
    }
    row.figure = format!("{tried} runs");
    row
}

fn check(command: &mut std::process::Command, is_json: bool, row: &mut Row) -> usize {
    match run(command) {
        Ok(run) => {
            let arguments: Vec<_> = command.get_args().take(3).collect();
            if let Some(char) = raw(&run.stdout).or_else(|| raw(&run.stderr)) {
                row.broken.push(format!("{arguments:?}: {char}"));
            }
            if run.stdout.is_empty() || (is_json && !run.stdout.starts_with(b"{")) {
                row.broken.push(format!("{arguments:?}: no output"));
            }
        }
        Err(why) => row.broken.push(why),
    }
    1
}

/// Suffixes of shards, one for each character.
pub fn names_of_shards(torture: &mut Torture) -> Row {
    let mut row = Row::new("no such character gets into the name of a shard");
    let place = Place::new(torture, "shard-names", 10);
    let mut tried = 0;
    for char in HOSTILE.chars().chain(['\n', '\t', '\r']) {
        let suffix = format!(".{char}");
        let arguments = ["dedup", "-q", "in", "--split-by", "hash:2", "-o", "more-shards"];
        let mut command = place.command(&torture.command);
        match run(command.args(arguments).args(["--split-suffix", &suffix])) {
            Ok(run) if run.status.code() == Some(2) => {}
            Ok(run) => row.broken.push(format!("{char:?}: {}", run.status)),
            Err(why) => row.broken.push(why),
        }
        let _ = fs::remove_dir_all(place.path.join("more-shards"));
        tried += 1;
    }
    row.figure = format!("{tried} suffixes");
    row
}

/// URLs in place of every file that the command takes, and usage that quotes arguments.
pub fn secrets_and_lines_of_arguments(torture: &mut Torture) -> Row {
    let mut row = Row::new("a message shows neither a secret nor a second line of an argument");
    let place = Place::new(torture, "arguments", 10);
    let mut tried = 0;
    for url in [
        "https://u:SECRET@h/?t=SECRET",
        "https:/SECRET@h/a?SECRET#SECRET",
        "u:SECRET@h/a?t=SECRET",
        "//h/a\nSECRET?SECRET",
    ] {
        for options in [
            &["dedup"][..],
            &["normalize"],
            &["dedup", "in", "-o"],
            &["dedup", "in", "--split-by", "hash:2", "-o"],
            &["dedup", "in", "--seen"],
            &["dedup", "in", "--save-seen"],
            &["dedup", "in", "--rejects"],
            &["dedup", "in", "--stats"],
            &["dedup", "in", "--report"],
            &["dedup", "in", "--redirects"],
            &["dedup", "in", "--profile-file"],
            &["dedup", "in", "--files-from"],
            &["dedup", "in", "--temp-dir"],
            &["set", "union"],
            &["bench"],
            &["compare", "a", "b"],
            &[],
        ] {
            match run(place.command(&torture.command).args(options).arg(url)) {
                Ok(run) => {
                    let said = String::from_utf8_lossy(&run.stderr).into_owned();
                    let hides = match url.contains('\n') {
                        true => !said.lines().any(|line| line.starts_with("SECRET")),
                        false => !said.contains("SECRET"),
                    };
                    if !hides || run.status.success() {
                        row.broken.push(format!("{options:?}: {said:?}"));
                    }
                }
                Err(why) => row.broken.push(why),
            }
            tried += 1;
        }
    }
    row.figure = format!("{tried} arguments");
    row
}
