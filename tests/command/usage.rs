//! Help and its examples, completions, man pages, and what a word alone means.

use super::packed::gzip;
use super::{Place, built};
use std::fs;
use std::process::{Command, Stdio};
use uniqurl::internal::Backend;

#[test]
fn help_and_version_are_no_errors() {
    let place = Place::new();
    for (flags, same) in [
        (&["help", "--help"][..], &["--help"][..]),
        (&["help", "-h"], &["--help"]),
        (&["help", "set", "--help"], &["set", "--help"]),
    ] {
        assert_eq!(place.run(flags).exits(0).out(), place.run(same).exits(0).out());
    }
    let scanner = &built::scanners()[0];
    let expected = format!("uniqurl {} (scanner {scanner})\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.run(["--version"]).exits(0).out(), expected);
}

#[test]
fn input_without_a_command_is_deduplicated() {
    let place = Place::with([("urls.txt", b"http://a/\n")]);
    let list = "http://b/\nHTTP://B\n";
    assert_eq!(place.run_on::<&str>([], list).exits(0).out(), "http://b/\n");
    assert_eq!(place.run_on(["--count"], list).exits(0).out(), "2\thttp://b/\n");
    // The same options work with a file, whose name alone is enough.
    for arguments in [&["urls.txt"][..], &["-q", "--limit-by", "template:1", "urls.txt"]] {
        assert_eq!(place.run_on(arguments, list).exits(0).out(), "http://a/\n");
    }
    // Nobody sends anything to a device.
    let run = built::process().stdin(Stdio::null()).output().expect("started");
    assert_eq!((run.status.code(), &run.stdout[..]), (Some(2), &b""[..]));
    assert!(String::from_utf8_lossy(&run.stderr).contains("Usage: uniqurl"));
}

/// The examples of a help text.
fn examples(help: &str) -> Vec<&str> {
    let (_, examples) = help.split_once("Examples:\n").expect("examples");
    let (examples, _) = examples.split_once("\nUsage:").expect("examples before the usage");
    let lines = examples.lines().map(str::trim);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn each_example_of_the_help_works() {
    let log =
        b"1.2.3.4 - - [01/Jan/2026:00:00:00 +0000] \"GET /a%2Fb HTTP/1.1\" 200 5 \"-\" \"x\"\n";
    let list = b"http://a/\nHTTP://A/?ref=1&utm_source=b\nhttp://b/c\nhttp://b/c\n";
    let index = b" CDX N b a m s k r M S V g\n\
        com,a)/ 20260101000000 http://a.com/ text/html 200 AAAA - - 9 0 a.warc.gz\n";
    let links = b"WARC/1.0\r\nWARC-Type: warcinfo\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    let about_stores = [
        "seen",
        "seen add",
        "seen contains",
        "seen remove",
        "seen forget",
        "seen stats",
        "seen verify",
        "seen compact",
        "seen export",
    ];
    let others = ["", "dedup", "normalize", "explain", "compare", "profiles", "formats", "set"];
    for command in others.into_iter().chain(about_stores) {
        let help = Place::new().run(command.split_whitespace().chain(["--help"])).exits(0);
        for example in examples(help.out()) {
            // It measures for a minute; the tests of bench run it on less.
            if example == "uniqurl bench" {
                continue;
            }
            let place = Place::with([
                ("urls.txt", list),
                ("more.txt", list),
                ("today.txt", b"http://a/\nhttp://b/\n"),
                ("yesterday.txt", b"http://a/\n"),
                ("a.txt", b"http://a/\n"),
                ("b.txt", b"http://a/\n"),
                ("mon.txt", b"http://a/\n"),
                ("tue.txt", b"http://b/\n"),
                ("mon-counts.txt", b"1\thttp://a/\n"),
                ("tue-counts.txt", b"2\thttp://a/\n"),
                ("crawl-1.txt", list),
                ("paths.txt", b"/a%2Fb\n"),
                ("links.txt", b"../a\n"),
                ("access.log", log),
                ("index.cdx", index),
                ("export.csv", b"link,code\nhttp://a/,200\n"),
                ("crawl.warc.wat", links),
            ]);
            place.write("vhost.log", [b"www.example.com ", &log[..]].concat());
            place.write(
                "access.json",
                "{\"request\":{\"host\":\"a.example.com\",\"uri\":\"/\"},\"status\":200}\n",
            );
            fs::create_dir(place.path("indexes")).expect("made");
            place.write("indexes/a.cdx", index);
            for (file, packed) in [
                ("urls.txt", "urls.txt.gz"),
                ("a.txt", "wed.txt.gz"),
                ("crawl.warc.wat", "crawl.warc.wat.gz"),
            ] {
                place.write(packed, gzip(&place.read(file)));
            }
            if example.starts_with("uniqurl seen") {
                place.write("example", "http://example.com/\n");
                place.run(["dedup", "-q", "example", "urls.txt", "--save-seen", "seen"]).exits(0);
            }
            if example.contains("--profile-file") {
                place.write("shop.toml", place.run(["profiles", "crawl"]).exits(0).out);
            }
            if example.contains("--format-file own.toml") {
                place.write("own.toml", place.run(["formats", "envoy"]).exits(0).out);
            }
            if example.contains("--ring upload.c") {
                let table = place.run(["profiles", "upload", "--as", "c"]).exits(0).out;
                place.write("upload.c", table);
            }
            let run = place.shell(&format!("a=http://a/; b=http://A/; {example}"));
            assert_eq!(run.status, Some(0), "{example}: {}", run.err);
        }
    }
}

/// Whether a shell offers these completions after some words, in a directory with the file `union.txt`.
#[track_caller]
fn assert_completed(shell: &str, words: &str, expected: &[&str]) {
    let place = Place::with([("union.txt", b"")]);
    place.write("script", place.run(["completions", shell]).exits(0).out);
    let program = match shell {
        // An empty answer leaves completion to bash, which completes files.
        "bash" => {
            ". ./script; COMP_WORDS=($1 ''); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
             _uniqurl uniqurl '' ${COMP_WORDS[COMP_CWORD - 1]}
             printf '%s\\n' ${COMPREPLY[@]:-$(compgen -f)}"
        }
        _ => "source script; complete -C \"$argv[1] \"",
    };
    let name = if shell == "bash" { &["bash"][..] } else { &[] };
    let mut command = Command::new(shell);
    command.args(["-c", program]).args(name).arg(words).current_dir(place.path(""));
    let output = command.output().unwrap_or_else(|error| panic!("{shell}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let all: Vec<&str> = text.lines().filter_map(|line| line.split('\t').next()).collect();
    for name in expected {
        assert!(all.contains(name), "{shell}: {words}: {all:?}");
    }
    assert!(!all.contains(&"union.txt"), "{shell}: {words}: {all:?}");
}

fn assert_values_are_completed(shell: &str) {
    let shells = ["bash", "elvish", "fish", "powershell", "zsh"];
    assert_completed(shell, "uniqurl dedup --count --order", &["count", "first", "sorted"]);
    assert_completed(shell, "uniqurl completions", &shells);
    assert_completed(shell, "uniqurl dedup --format", &["cdxj"]);
    assert_completed(shell, "uniqurl normalize -f", &["wat:links"]);
}

#[test]
fn bash_completes_values() {
    assert_values_are_completed("bash");
}

#[test]
#[ignore = "needs fish"]
fn fish_completes_values() {
    assert_values_are_completed("fish");
}

#[test]
fn completions_and_man_pages_are_written() {
    let place = Place::new();
    assert!(place.run(["completions", "bash"]).exits(0).out().contains("--files-from"));
    assert!(!place.run(["--help"]).exits(0).out().contains("completions"));
    fs::create_dir(place.path("man")).expect("made");
    place.run(["man", "--all", "man"]).exits(0);
    assert!(place.text("man/uniqurl-seen-export.1").contains(".SH NAME"));
    for page in [&["man"][..], &["man", "completions"], &["man", "dedup"]] {
        assert!(place.run(page).exits(0).out().contains(".TH uniqurl"));
    }
}

#[test]
fn unavailable_backend_is_wrong_usage() {
    let place = Place::with([("in", b"http://a/\n")]);
    for backend in Backend::ALL {
        let is_there = built::scanners().iter().any(|name| name == backend.name());
        let status = if is_there { 0 } else { 2 };
        place.run(["dedup", "in", "--backend", backend.name()]).exits(status);
    }
}
