//! Bytes that act on a terminal: none of them stands raw in a message, in JSON or on a page. And secrets in
//! arguments that were taken for file names.

use super::{Place, Run, built};
use serde_json::Value;
use std::ffi::OsStr;
use std::fs;

/// Control characters of ASCII and of ISO 8859, DEL, those that turn the direction of text, and ends of
/// lines of Unicode. (A line cannot hold a line feed.)
const HOSTILE: &str = "\u{1}\u{1b}\u{7f}\u{80}\u{9b}\u{61c}\u{200e}\u{200f}\u{202a}\u{202e}\u{2028}\
                       \u{2029}\u{2066}\u{2069}";

#[track_caller]
fn is_safe(text: &[u8]) -> String {
    let text = std::str::from_utf8(text).expect("text");
    let is_raw = |char: &char| HOSTILE.contains(*char) || char.is_control();
    let raw = text.chars().filter(|char| !"\n\t".contains(*char)).find(is_raw);
    assert_eq!(raw, None, "{text:?}");
    text.to_owned()
}

#[track_caller]
fn json_lines(text: &[u8]) -> Vec<Value> {
    is_safe(text).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

#[test]
fn json_escapes_what_acts_on_a_terminal_and_stays_the_same_text() {
    let url = format!("http://h/{HOSTILE}x");
    let file = format!("f{HOSTILE}");
    let place = Place::with([(&file[..], url.as_bytes())]);
    place.write("rows", format!("{}\n", serde_json::json!({"u": url, "c": HOSTILE})));
    let run = place.run(["normalize", "--json", "-p", "string", "-f", "lines", &file]).exits(0);
    assert_eq!(json_lines(&run.out)[0]["out"], url);
    let run = place.run(["normalize", "--json", "-p", "servlet", "-f", "lines", &file]);
    json_lines(&run.out);
    let rejects = ["dedup", "-p", "syntax", "-f", "lines", &file, "--rejects", "-", "-o", "out"];
    let run = place.run(rejects).exits(3);
    let rejected = &json_lines(&run.out)[0];
    assert_eq!((&rejected["raw"], &rejected["file"]), (&url.clone().into(), &file.clone().into()));
    let stats = ["dedup", "-p", "string", "-f", "lines", &file, "--stats", "-", "-o", "out"];
    let document: Value = serde_json::from_str(&is_safe(&place.run(stats).exits(0).out)).unwrap();
    assert_eq!(document["files"][0]["file"], file);
    let format = ["--json", "-p", "string", "-f", "json:/u", "rows", "--carry", "c"];
    let fields = ["dedup", "--fields", "canonical,original,first"];
    let run = place.run([&fields[..], &format].concat()).exits(0);
    let row = &json_lines(&run.out)[0];
    assert_eq!((&row["canonical"], &row["original"]), (&url.clone().into(), &url.clone().into()));
    assert_eq!(row["c"], HOSTILE);
    let run = place.run(["explain", "--json", "-p", "all", &url]).exits(0);
    assert!(json_lines(&run.out).iter().all(|object| object["url"] == *url));
    let run = place.run(["compare", "--json", &url, "http://h/"]).exits(1);
    assert_eq!(json_lines(&run.out)[0]["a"], url);
}

#[test]
fn text_for_people_is_ascii_whatever_stands_in_urls_and_names() {
    let url = format!("http://h/{HOSTILE}x");
    let file = format!("f{HOSTILE}");
    let place = Place::with([(&file[..], url.as_bytes())]);
    let glob = format!("{HOSTILE}*");
    for arguments in [
        &["explain", "-p", "all", &url][..],
        &["explain", "-p", "aggressive", "--drop-param", &glob, &url],
        &["compare", &url, "http://h/"],
        &["dedup", "-p", "string", "-f", "lines", &file, "--fields", "canonical,original,first"],
        &["dedup", "-p", "syntax", "-f", "lines", &file, "--report", "page.html", "-o", "out"],
        &["dedup", &file, "-o", &format!("no/{HOSTILE}")],
        &["dedup", &file, "-o", "out", &format!("--{HOSTILE}")],
        &[&format!("{HOSTILE}\nuniqurl: a line")],
        &["dedup", &file, &format!("--a\nuniqurl: a line{HOSTILE}")],
        &["dedup", &file, "--host", &format!("{HOSTILE}\nuniqurl: a line")],
    ] {
        let run = place.run(arguments);
        let shown = [run.out.clone(), run.err.clone().into_bytes()].concat();
        let shown = is_safe(&shown);
        let text = shown.replace(['\n', '\t'], "");
        assert!(text.bytes().all(|byte| (0x20..=0x7E).contains(&byte)), "{arguments:?}: {shown}");
        assert!(!shown.contains("\nuniqurl: a line"), "{arguments:?}: {shown}");
    }
    assert!(is_safe(&place.read("page.html")).is_ascii());
}

#[test]
fn a_suffix_of_shards_holds_no_control_characters() {
    let place = Place::with([("in", b"http://a/\n")]);
    let fixed = ["dedup", "in", "--split-by", "hash:2", "-o", "shards", "--split-suffix"];
    for wrong in HOSTILE.chars().chain(['\n', '\t']) {
        let run = place.run(fixed.iter().chain(&[&format!(".{wrong}x")[..]])).exits(2);
        assert!(run.err.contains("a name has no control characters in it"), "{}", run.err);
    }
    assert_eq!(place.names(), ["in"]);
    place.run(fixed.iter().chain(&[".\u{E9}"])).exits(0);
    assert!(place.path("shards/shard-00001.\u{E9}").exists());
}

#[test]
fn a_url_in_place_of_a_file_keeps_its_secrets() {
    let place = Place::with([("in", b"http://a/\n")]);
    for url in [
        "https://u:SECRET@h/?t=SECRET",
        "https://SECRET@h/a?SECRET#SECRET",
        "u:SECRET@h/a?t=SECRET",
        "//u:SECRET@h/x/y",
    ] {
        for arguments in [
            &["dedup", url][..],
            &["normalize", url],
            &["dedup", url, "--keep-going"],
            &["dedup", "in", "-o", url],
            &["dedup", "in", "-o", url, "--split-by", "hash:2"],
            &["dedup", "in", "--seen", url],
            &["dedup", "in", "--save-seen", url],
            &["dedup", "in", "--rejects", url],
            &["dedup", "in", "--stats", url],
            &["dedup", "in", "--report", url],
            &["dedup", "in", "--redirects", url],
            &["dedup", "in", "--profile-file", url],
            &["dedup", "in", "--files-from", url],
            &["dedup", "in", "--temp-dir", url],
            &["set", "union", url],
            &["explain", "--redirects", url, "http://a/"],
            &["bench", "--compare", url, url],
            &["compare", "a", "b", url],
            &["dedup", "in", "-p", url],
            &["dedup", "in", &format!("--{url}")],
            &[url],
        ] {
            let run = place.run(arguments);
            assert_ne!(run.status, Some(0), "{arguments:?}");
            let shown = format!("{}{}", run.err, String::from_utf8_lossy(&run.out));
            assert!(!shown.contains("SECRET") && shown.contains("***"), "{arguments:?}: {shown}");
        }
        let listed = place.path("list");
        fs::write(&listed, format!("{url}\n")).expect("written");
        let mut command = built::command();
        command.args([OsStr::new("dedup"), OsStr::new("--files-from"), listed.as_os_str()]);
        let run = Run::of(command.current_dir(place.path("")).output().expect("started"));
        assert!(!run.err.contains("SECRET") && run.err.contains("***"), "{}", run.err);
    }
    // It is no URL, and its name tells which file it is.
    let run = place.run(["dedup", "part-0?.gz", "me@host.log"]).exits(2);
    assert!(run.err.contains("part-0?.gz: ") && run.err.contains("me@host.log: "), "{}", run.err);
}
