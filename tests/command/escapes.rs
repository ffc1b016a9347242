//! Bytes that act on a terminal: none of them stands raw in a message, in JSON or on a page. And secrets in
//! arguments that were taken for file names.

use super::{Place, built, cases};
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

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
    for wrong in HOSTILE.chars().chain(['\n', '\t', '\r']) {
        let run = place.run(fixed.iter().chain(&[&format!(".{wrong}x")[..]])).exits(2);
        assert!(run.err.contains("a name has no control characters in it"), "{}", run.err);
    }
    assert_eq!(place.names(), ["in"]);
    place.run(fixed.iter().chain(&[".\u{E9}"])).exits(0);
    assert!(place.path("shards/shard-00001.\u{E9}").exists());
}

/// Names, values and an environment of random bytes.
#[test]
fn no_byte_of_a_name_or_of_the_environment_reaches_standard_error_raw() {
    cases::for_each_case(50, |rng| {
        let mut text = || {
            let hostile = b"\x1b[]0;\x07\x9b\n\r\\\xc3\xa9\xff\x7f'\"% ";
            let bytes = (0..1 + rng.below(40)).map(|_| match rng.below(3) {
                0 => hostile[rng.below(hostile.len())],
                1 => 1 + rng.below(255) as u8,
                _ => b'a' + rng.below(26) as u8,
            });
            let bytes = bytes.map(|byte| if byte == b'/' { b'_' } else { byte });
            OsString::from_vec(bytes.collect())
        };
        let (name, environment) = (text(), text());
        let mut option = OsString::from("--");
        option.push(&name);
        let place = Place::with([("in", b"http://a/\nx\n")]);
        let options =
            ["-o", "--rejects", "--stats", "--files-from", "--base", "-f", "-p", "--host"];
        let named = options.map(|option| vec!["in".into(), option.into(), name.clone()]);
        for arguments in named.into_iter().chain([vec![name.clone()], vec![option]]) {
            let mut command = built::command();
            command.arg("dedup").args(&arguments).current_dir(place.path(""));
            for variable in ["LANG", "LC_ALL", "TERM", "COLUMNS", "TMPDIR", "HOME", "RUST_LOG"] {
                command.env(variable, &environment);
            }
            let err = command.env("CLICOLOR_FORCE", "1").output().expect("started").stderr;
            let is_printable = err.iter().all(|byte| matches!(byte, b'\n' | 0x20..=0x7E));
            assert!(is_printable && !err.is_empty(), "{arguments:?}: {}", err.escape_ascii());
        }
    });
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
        place.write("list", format!("{url}\n"));
        for arguments in [
            "dedup URL",
            "normalize URL",
            "dedup URL --keep-going",
            "dedup --files-from list",
            "dedup in -o URL",
            "dedup in -o URL --split-by hash:2",
            "dedup in --seen URL",
            "dedup in --save-seen URL",
            "dedup in --rejects URL",
            "dedup in --stats URL",
            "dedup in --report URL",
            "dedup in --redirects URL",
            "dedup in --profile-file URL",
            "dedup in --files-from URL",
            "dedup in --temp-dir URL",
            "set union URL",
            "explain --redirects URL http://a/",
            "bench --compare URL URL",
            "compare a b URL",
            "dedup in -p URL",
            "dedup in --URL",
            "URL",
        ] {
            let run = place.run(arguments.split(' ').map(|word| word.replace("URL", url)));
            assert_ne!(run.status, Some(0), "{arguments}");
            let shown = format!("{}{}", run.err, String::from_utf8_lossy(&run.out));
            assert!(!shown.contains("SECRET") && shown.contains("***"), "{arguments}: {shown}");
        }
    }
    // It is no URL, and its name tells which file it is.
    let run = place.run(["dedup", "part-0?.gz", "me@host.log"]).exits(2);
    assert!(run.err.contains("part-0?.gz: ") && run.err.contains("me@host.log: "), "{}", run.err);
}

/// A wrong value is masked, and so is the cause that quotes it.
#[test]
fn no_option_prints_a_password_in_its_value() {
    let mut tried = 0;
    for command in ["dedup", "explain", "compare"] {
        let place = Place::new();
        let help = place.run([command, "--help"]).exits(0).out().to_owned();
        let options = help.lines().filter_map(|line| {
            let (option, value) = line[line.find("--")?..].split_once(' ')?;
            (line.starts_with(' ') && value.starts_with('<')).then_some(option)
        });
        for option in options {
            for value in ["http://u:SECRET@h/(", "200,u:SECRET,x@h", "http:\\\\u:1#SECRET@h"] {
                let run = place.run_on([command, option, value], "http://a/\n");
                assert!(!run.err.contains("SECRET"), "{option}: {}", run.err);
                tried += 1;
            }
        }
    }
    assert!(tried >= 200, "{tried}");
    for format in ["csv:u:SECRET@h", "csv:url", "json:/url"] {
        let arguments = ["dedup", "-f", format, "--carry", "http://u:SECRET@h"];
        let run = Place::new().run_on(arguments, "url\n{}\n");
        assert!(!run.err.contains("SECRET"), "{format}: {}", run.err);
    }
    let urls = "http://u:SECRET@h:x/\nhttp://h:x/?SECRET\nSECRET@h\nhttp://[u:SECRET@h/?t=SECRET\n\
                http://ok/\n";
    let run = Place::new().run_on(["dedup", "--stats", "-", "-o", "/dev/null"], urls).exits(0);
    assert!(!run.err.contains("SECRET") && !run.out().contains("SECRET"), "{}", run.err);
}
