//! The messages of the command, and the words it never uses.

use super::shared::say;
use super::{Place, built};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::{Command, Stdio};
use uniqurl::internal::Backend;

#[track_caller]
fn is_printable(text: &str) {
    assert!(text.bytes().all(|b| b == b'\n' || (0x20..=0x7E).contains(&b)), "{text:?}");
}

#[test]
fn help_and_version_succeed_and_usage_errors_exit_with_status_2() {
    let place = Place::new();
    let help = place.run(["--help"]).exits(0);
    assert!(help.out().contains("Examples:") && help.out().contains("normalize"));
    for (flags, same) in [
        (&["help", "--help"][..], &["--help"][..]),
        (&["help", "-h"], &["--help"]),
        (&["help", "set", "--help"], &["set", "--help"]),
    ] {
        assert_eq!(place.run(flags).exits(0).out(), place.run(same).exits(0).out());
    }
    let version = place.run(["--version"]).exits(0);
    let scanner = &built::scanners()[0];
    let expected = format!("uniqurl {} (scanner {scanner})\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(version.out(), expected);
    for wrong in [&["frob"][..], &["dedup", "--frob"], &["dedup", "-p", "frob"]] {
        let run = place.run(wrong).exits(2);
        let tells = ["Usage: uniqurl", "--help", "uniqurl profiles"];
        let tells = tells.iter().any(|told| run.err.contains(told));
        assert!(run.out.is_empty() && tells, "{}", run.err);
    }
}

#[test]
fn input_without_a_command_is_deduplicated() {
    let place = Place::with([("urls.txt", b"http://a/\n")]);
    let list = "http://b/\nHTTP://B\n";
    assert_eq!(place.run_on::<&str>([], list).exits(0).out(), "http://b/\n");
    assert_eq!(place.run_on(["--count"], list).exits(0).out(), "2\thttp://b/\n");
    let run = place.run_on(["--cuont"], list).exits(2);
    assert!(run.err.contains("\nhint: did you mean `--count`?"), "{}", run.err);
    // The same options work with a file, whose name alone is enough.
    for arguments in [&["urls.txt"][..], &["-q", "--limit-by", "template:1", "urls.txt"]] {
        assert_eq!(place.run_on(arguments, list).exits(0).out(), "http://a/\n");
    }
    let run = place.run(["none.txt"]).exits(2);
    assert!(run.err.contains("none.txt: missing"), "{}", run.err);
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
    // The program, and arguments if an emulator runs it.
    let process = built::process();
    let words = std::iter::once(process.get_program()).chain(process.get_args());
    let program = words.collect::<Vec<_>>().join(OsStr::new(" "));
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
                let gzip = format!("gzip -c {file} > {packed}");
                let status =
                    Command::new("sh").args(["-c", &gzip]).current_dir(place.path("")).status();
                assert!(status.expect("sh").success());
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
            let script =
                format!("a=http://a/; b=http://A/; uniqurl() {{ $UNIQURL \"$@\"; }}; {example}");
            let run = Command::new("sh")
                .args(["-c", &script])
                .env("UNIQURL", &program)
                .current_dir(place.path(""))
                .output()
                .expect("sh");
            let told = String::from_utf8_lossy(&run.stderr);
            assert!(run.status.success(), "{example}: {told}");
        }
    }
}

/// The completions a shell offers after these words, in a directory with the file `union.txt`. None
/// if the shell is not installed, and a line that says so.
fn completed(shell: &str, words: &str) -> Option<Vec<String>> {
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
    let behind = if shell == "bash" { &["-c", program, "bash"][..] } else { &["-c", program] };
    let mut command = Command::new(shell);
    let output = command.args(behind).arg(words).current_dir(place.0.path()).output();
    let output = match output {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            say(&format!("NOT TRIED: {shell} is not installed, so it completes nothing"));
            return None;
        }
        output => output.expect("started"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text");
    let mut all: Vec<String> = text
        .lines()
        .filter_map(|line| line.split('\t').next())
        .filter(|word| !word.starts_with('-') && *word != "script")
        .map(str::to_owned)
        .collect();
    all.sort();
    Some(all)
}

#[test]
fn shells_complete_values() {
    for shell in ["bash", "fish"] {
        for (words, expected) in [
            ("uniqurl dedup --count --order", &["count", "first", "sorted"][..]),
            ("uniqurl completions", &["bash", "elvish", "fish", "powershell", "zsh"]),
        ] {
            let Some(all) = completed(shell, words) else { break };
            let has_all = expected.iter().all(|name| all.iter().any(|word| word == name));
            assert!(has_all, "{shell}: {words}: {all:?}");
        }
        for (words, name) in
            [("uniqurl dedup --format", "cdxj"), ("uniqurl normalize -f", "wat:links")]
        {
            let Some(all) = completed(shell, words) else { break };
            let has = |name: &str| all.iter().any(|word| word == name);
            assert!(has(name) && !has("union.txt"), "{shell}: {words}: {all:?}");
        }
    }
}

#[test]
fn completions_and_man_pages_are_written() {
    let place = Place::new();
    assert!(place.run(["completions", "bash"]).exits(0).out().contains("--files-from"));
    assert!(!place.run(["--help"]).exits(0).out().contains("completions"));
    fs::create_dir(place.path("man")).expect("made");
    place.run(["man", "--all", "man"]).exits(0);
    assert!(place.text("man/uniqurl-seen-export.1").contains(".SH NAME"));
    assert!(place.run(["man"]).exits(0).out().contains(".TH uniqurl"));
    assert!(place.run(["man", "completions"]).exits(0).out().contains(".TH uniqurl"));
    assert!(place.run(["man", "dedup"]).exits(0).out().contains("min\\-count"));
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

#[test]
fn summary_is_the_last_line_and_adds_up() {
    let place = Place::with([("in", b"http://a/\nhttp://A\n\nx\n")]);
    let run = place.run(["dedup", "in"]).exits(0);
    let line = run.err.lines().last().expect("a summary");
    let expected = "records 4 = unique 1 + duplicates 1 + rejected 1 + blank 1; \
                    inputs 1 ok, 0 damaged, 0 missing; 22 bytes in ";
    assert!(line.starts_with(expected), "{line}");
    // The rate of a run below a second would be that of its start.
    assert!(line.ends_with(" s") || line.ends_with(" MB/s)"), "{line}");
    let run = place.run(["normalize", "in"]).exits(0);
    assert!(run.err.contains("records 4 = canonical 2 + rejected 1 + blank 1; "), "{}", run.err);
}

#[test]
fn abandoned_input_is_not_counted_as_ok() {
    let place = Place::with([("first", b"http://first/\n")]);
    let mut list: Vec<u8> =
        (0..200_000).flat_map(|n| format!("http://h/{n}\n").into_bytes()).collect();
    list.extend(b"bad\n");
    list.extend((0..200_000).flat_map(|n| format!("http://k/{n}\n").into_bytes()));
    place.write("large", &list);
    for (command, options, status) in [
        ("dedup", &["--max-rejected", "0"][..], 3),
        ("normalize", &["--max-rejected", "0"], 3),
        ("dedup", &["-o", "/dev/full"], 2),
    ] {
        let arguments = [&[command, "first", "large", "--stats", "s", "-j", "1"], options].concat();
        let run = place.run(arguments).exits(status);
        assert_eq!((run.summary("ok"), run.summary("unfinished")), (1, 1), "{}", run.err);
        let bytes = run.summary("bytes");
        assert!((1 << 16..=list.len() as u64 + 14).contains(&bytes), "{}", run.err);
        let stats = place.json("s");
        assert_eq!(
            (&stats["files"][0]["state"], &stats["files"][0]["bytes"]),
            (&"ok".into(), &14.into())
        );
        assert_eq!(stats["files"][1]["state"], "unfinished");
        assert_eq!(stats["inputs"]["unfinished"], 1);
        assert_eq!(stats["files"][1]["bytes"], bytes - 14);
    }
    // The whole input was read when the limit is checked at the end.
    let run = place.run(["dedup", "large", "--max-rejected", "0%"]).exits(3);
    assert!(run.summary("ok") == 1 && !run.err.contains("unfinished"), "{}", run.err);
    assert_eq!(run.summary("bytes"), list.len() as u64);
}

#[test]
fn wrong_kind_of_input_is_not_counted_as_damaged() {
    let place = Place::with([("table", b"a,b\nhttp://a/,1\n"), ("in", b"http://a/\n")]);
    std::fs::create_dir(place.path("dir")).expect("made");
    for (arguments, status) in [
        (&["dedup", "-f", "csv:nope", "table"][..], 2),
        (&["dedup", "dir"], 2),
        (&["dedup", "in", "dir", "--keep-going", "--stats", "s"], 1),
        (&["dedup", "-f", "parquet:url", "in"], 2),
    ] {
        let run = place.run(arguments).exits(status);
        let counts = ["refused", "damaged", "missing"].map(|word| run.summary(word));
        assert_eq!(counts, [1, 0, 0], "{}", run.err);
    }
    let stats = place.json("s");
    assert_eq!(
        stats["inputs"],
        serde_json::json!({"ok": 1, "damaged": 0, "missing": 0, "refused": 1})
    );
    assert_eq!(stats["files"][1]["state"], "refused");
}

#[test]
fn quiet_run_prints_errors_and_warnings_only() {
    let place = Place::with([("in", b"http://a/\nx\n")]);
    for flag in ["-q", "--quiet"] {
        let arguments = ["dedup", "in", flag, "--progress", "always", "--stats", "stats"];
        assert_eq!(place.run(arguments).exits(0).err, "");
        assert_eq!(place.json("stats")["records"], 2);
    }
    assert!(place.run(["dedup", "missing", "-q"]).exits(2).err.contains("missing"));
    place.write("a.log", "/a\n");
    place.write("b.log", "/a\n");
    let run = place.run(["dedup", "-q", "a.log", "b.log"]).exits(0);
    assert_eq!(run.err, "", "neither the format nor the hosts nor the summary");
    place.write("seen", "http://b/\nno url\n");
    let run = place.run(["dedup", "-q", "in", "--seen", "seen"]).exits(0);
    assert!(
        run.err.starts_with("uniqurl: warning: seen: 1 of 2 lines are not URLs"),
        "{}",
        run.err
    );
}

#[test]
fn run_that_fails_before_reading_has_a_summary() {
    let place = Place::with([("in", b"http://a/\n"), ("other", b"http://b/\n")]);
    place.write("file", "");
    std::fs::create_dir(place.path("full")).expect("made");
    place.write("full/file", "");
    for arguments in [
        &["dedup", "in", "-o", "none/x"][..],
        &["dedup", "in", "-o", "full"],
        &["dedup", "in", "--rejects", "file/x"],
        &["normalize", "--files-from", "none"],
        &["dedup", "in", "--split-by", "hash:2", "-o", "full"],
        &["dedup", "missing"],
        &["dedup", "in", "--seen", "missing"],
    ] {
        let run = place.run(arguments).exits(2);
        assert_eq!(run.summary("records"), 0, "{arguments:?}");
        assert_eq!(
            place.run([arguments, &["-q"]].concat()).exits(2).err.lines().count() + 1,
            run.err.lines().count(),
            "{arguments:?}"
        );
    }
    place.run(["dedup", "missing", "--stats", "stats"]).exits(2);
    assert_eq!(place.json("stats")["status"], 2);
}

#[test]
fn error_messages_name_the_cause_and_the_alternatives() {
    let place = Place::with([("in", b"http://a/\n")]);
    std::fs::create_dir(place.path("dir")).expect("made");
    for (arguments, told) in [
        // A missing output directory, input and list.
        (&["dedup", "in", "-o", "none/out"][..], "none/out: the directory none is missing\n"),
        (
            &["dedup", "http://example.com/"],
            "\nhint: curl -s http://example.com/ | uniqurl dedup\n",
        ),
        (&["dedup", "in", "--seen", "all"], "\nhint: make a store with --save-seen\n"),
        (
            &["dedup", "dir"],
            "uniqurl: dir: directory: is a directory\nhint: name the files in it, or use -r\n",
        ),
        // Values: a bad one, an unknown name, an unknown version, and an incomplete one.
        (&["dedup", "in", "--assume-scheme", "https://"], "is not a scheme, as https is: "),
        (
            &["dedup", "in", "-p", "frob@1"],
            "for '--profile <NAME>'\nhint: list the profiles with `uniqurl profiles`\n",
        ),
        (&["dedup", "in", "-p", "crawl@2"], "the only version of the profile crawl is crawl@1"),
        (&["dedup", "in", "-f", "csv"], "format `csv`: it is followed by a column, as in csv:url"),
        (
            &["dedup", "in", "-f", "frob"],
            "unknown format `frob`\nhint: list the formats with `uniqurl formats`\n",
        ),
        // Words that are not commands, and options of another command.
        (&["sort", "in"], "\nhint: use `uniqurl dedup --order sorted`\n"),
        (&["normalize", "in", "--fields", "host"], "\nhint: use it with `uniqurl dedup`\n"),
    ] {
        let run = place.run(arguments).exits(2);
        assert!(run.err.contains(told), "{arguments:?}: {}", run.err);
    }
    place.run(["dedup", "in", "-p", "crawl@1"]).exits(0);
}

#[test]
fn a_message_has_one_line_and_at_most_one_hint() {
    let place = Place::with([("in", b"http://a/\n"), ("log", b"/a\n"), ("bad", b"x\ny\n")]);
    std::fs::create_dir(place.path("dir")).expect("made");
    place.write("table.csv", "http://a/\t1\n");
    for arguments in [
        &["frob"][..],
        &["dedpu"],
        &["union", "in"],
        &["dedup", "--frobnicate"],
        &["dedup", "in", "--ordr", "count"],
        &["dedup", "in", "--order", "frob"],
        &["dedup", "in", "--order"],
        &["dedup", "in", "-p", "frob"],
        &["dedup", "in", "-f", "frob"],
        &["dedup", "in", "-f", "csv"],
        &["dedup", "in", "--with", "frob"],
        &["dedup", "in", "--base", "h:80"],
        &["dedup", "in", "--drop-param", "a,b"],
        &["dedup", "in", "--memory", "much"],
        &["dedup", "in", "--match", "("],
        &["dedup", "in", "--min-count", "-1"],
        &["dedup", "in", "--json", "-o", "x.parquet"],
        &["dedup", "in", "-o", "in/x"],
        &["dedup", "in", "--seen", "none"],
        &["dedup", "in", "--save-seen", "in"],
        &["seen", "frob", "dir"],
        &["seen", "stats", "none"],
        &["seen", "add", "in", "in"],
        &["seen", "forget", "dir", "--older-than", "yesterday"],
        &["stats", "dir"],
        &["dedup", "dir"],
        &["dedup", "none", "s3://b/k"],
        &["dedup", "bad"],
        &["dedup", "bad", "--max-rejected", "0"],
        &["dedup", "log", "log"],
        &["dedup", "table.csv"],
        &["explain", "in"],
        &["explain"],
        &["compare", "http://a/"],
        &["set", "union", "log", "none"],
        &["set", "frob", "in"],
        &["profiles", "frob"],
        &["bench", "--size", "x"],
    ] {
        let run = place.run(arguments);
        assert!(!run.err.is_empty(), "{arguments:?}");
        let mut may_hint = false;
        for line in run.err.lines() {
            let is_hint = line.starts_with("hint: ");
            let is_known = line.starts_with("uniqurl: ") || line.starts_with("records ");
            assert!(is_known || (is_hint && may_hint), "{arguments:?}: {}", run.err);
            assert!(!line.contains("tip: ") && !line.contains("hint: ") || is_hint, "{line}");
            may_hint = line.starts_with("uniqurl: ");
        }
    }
}

#[test]
fn an_unknown_name_is_reported_with_the_nearest_one() {
    let place = Place::with([("in", b"http://a/\n")]);
    for (arguments, told) in [
        (
            &["-f", "combned"][..],
            "unknown format `combned` (did you mean `combined`?)\n\
             hint: list the formats with `uniqurl formats`\n",
        ),
        (&["-f", "jsonl"], "unknown format `jsonl` (did you mean `json:POINTER`?)\n"),
        (
            &["-p", "crwal"],
            "invalid value 'crwal' for '--profile <NAME>'\nhint: did you mean `crawl`?\n",
        ),
        (
            &["-p", "frob"],
            "invalid value 'frob' for '--profile <NAME>'\n\
             hint: list the profiles with `uniqurl profiles`\n",
        ),
        (
            &["--key", "md5"],
            "invalid value 'md5' for '--key <KEY>' \
             (expected one of url, template, host, domain, surt, ssurt, hash)\n",
        ),
        (
            &["--with", "sort-qurey"],
            "invalid value 'sort-qurey' for '--with <NAME>'\nhint: did you mean `sort-query`?\n",
        ),
        (
            &["--thread", "2"],
            "unexpected argument '--thread' found\nhint: did you mean `--threads`?\n",
        ),
    ] {
        let run = place.run([&["dedup", "in"], arguments].concat()).exits(2);
        assert!(run.err.starts_with(&format!("uniqurl: {told}")), "{arguments:?}: {}", run.err);
    }
}

#[test]
fn an_option_is_suggested_only_if_it_is_close() {
    let place = Place::with([("in", b"http://a/\n")]);
    // The last asks for the opposite of an option.
    for far in ["--frobnicate", "--colour-blind", "--verbatim", "--no-keep-going"] {
        let run = place.run(["dedup", "in", far]).exits(2);
        let told = format!(
            "uniqurl: unexpected argument '{far}' found\nhint: see `uniqurl dedup --help`\n"
        );
        assert_eq!(run.err, told);
    }
    for (wish, action) in [
        ("--unique", "leave the option out: dedup writes each URL once"),
        ("--parallel", "use -j N"),
        ("--sort", "use --order sorted"),
        ("--out", "use -o FILE"),
        ("--no-progress", "use --progress never"),
        ("-u", "leave the option out: dedup writes each URL once"),
        ("--drop-query", "use --with drop-query under a profile that has this switch"),
    ] {
        let run = place.run(["dedup", "in", wish]).exits(2);
        let told = format!("uniqurl: unexpected argument '{wish}' found\nhint: {action}\n");
        assert_eq!(run.err, told);
    }
    let run = place.run(["dedup", "--not-host", "in", "in"]).exits(2);
    assert!(run.err.contains("--not-host \"{$(paste -sd, FILE)}\"\n"), "{}", run.err);
    // The action names an option of dedup alone.
    let run = place.run(["normalize", "in", "--sort"]).exits(2);
    assert!(run.err.ends_with("hint: see `uniqurl normalize --help`\n"), "{}", run.err);
}

#[test]
fn an_input_that_is_a_url_has_the_pipe_to_type() {
    let place = Place::new();
    for (url, command) in [
        ("s3://b/k.gz", "aws s3 cp s3://b/k.gz - | uniqurl dedup"),
        ("gs://b/k", "gcloud storage cat gs://b/k | uniqurl dedup"),
        ("https://h/a", "curl -s https://h/a | uniqurl dedup"),
        ("https://u:SECRET@h/a?SECRET", "curl -s 'https://***@h/a?***' | uniqurl dedup"),
    ] {
        let run = place.run(["dedup", url]).exits(2);
        assert!(run.err.contains(&format!("\nhint: {command}\n")), "{}", run.err);
        assert!(!run.err.contains("SECRET"), "{}", run.err);
    }
}

#[test]
fn urls_given_as_inputs_are_reported_once() {
    let place = Place::with([("list", b"http://a/\nhttp://b/\nnowhere\nhttp://c/\n")]);
    for arguments in
        [&["--files-from", "list"][..], &["http://a/", "http://b/", "nowhere", "http://c/"]]
    {
        let run = place.run([&["dedup"], arguments].concat()).exits(2);
        let told: Vec<&str> = run.err.lines().collect();
        assert_eq!(told.len(), 4, "{}", run.err);
        assert!(told[0].starts_with("uniqurl: http://a/: missing: "), "{}", run.err);
        assert!(told[0].ends_with(", and 2 more of this kind"), "{}", run.err);
        assert!(told[2].starts_with("uniqurl: nowhere: missing: "), "{}", run.err);
        assert_eq!(run.summary("missing"), 4);
    }
    let one = place.run(["dedup", "http://a/"]).exits(2);
    assert!(!one.err.contains("more of this kind"), "{}", one.err);
}

#[test]
fn progress_follows_its_option() {
    let place = Place::with([("in", b"http://a/\n")]);
    let never = place.run(["dedup", "in", "--progress", "never"]).exits(0);
    let auto = place.run(["dedup", "in"]).exits(0);
    for run in [never, auto] {
        is_printable(&run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
    place.run(["dedup", "in", "--progress", "always"]).exits(0);
}

#[test]
fn hostile_names_are_shown_printably() {
    let place = Place::new();
    let names: Vec<OsString> = [
        &b"\x1b[31mred"[..],
        b"two\nlines",
        b"caf\xC3\xA9",
        b"not text \xFF",
        b"back\\slash",
        b"--\x1b[31mflag",
        b"bell\x07\x7f",
    ]
    .map(|name| OsString::from_vec(name.to_vec()))
    .into();
    for name in &names {
        let run = place.run([OsStr::new("dedup"), name]).exits(2);
        is_printable(&run.err);
        assert!(!run.err.is_empty());
        for option in ["-o", "--rejects", "--stats", "--files-from", "--base", "-f", "-p"] {
            let value = OsStr::from_bytes(name.as_bytes());
            let run =
                place.run_on([OsStr::new("dedup"), OsStr::new(option), value], "http://a/\nx\n");
            is_printable(&run.err);
        }
    }
}

#[test]
fn environment_variables_do_not_reach_standard_error() {
    let place = Place::with([("in", b"http://a/\nx\n")]);
    let hostile = "\x1b[31m\u{e9}\x07";
    for name in ["LANG", "LC_ALL", "TERM", "COLUMNS", "TMPDIR", "PATH", "HOME", "RUST_LOG"] {
        for arguments in [&["dedup", "in"][..], &["dedup", "none"], &["dedup", "--frob"]] {
            let mut command = built::command();
            command.args(arguments).current_dir(place.path("")).env(name, hostile);
            let output = command.env("CLICOLOR_FORCE", "1").output().expect("started");
            is_printable(&String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// A wrong value is masked, and so is the cause that quotes it.
#[test]
fn no_option_prints_a_password_in_its_value() {
    for (arguments, shown) in [
        (
            ["--match", "http://u:SECRET@h/("],
            "invalid value 'http://***@h/(' for '--match <REGEX>': \
             regex parse error: http://***@h/(, ^, error: unclosed group\n",
        ),
        (["-f", "http://u:SECRET@h/"], "unknown format `http://***@h/`\n"),
        (
            ["-f", "log:u:SECRET@h"],
            "invalid value '***@h' for '--format <FORMAT>': format `***@h`: ",
        ),
        // Only a part of the list is wrong, and that part may be one of the password.
        (["--status", "u:SECRET,x@h"], "invalid value '***@h' for '--status <LIST>'\n"),
    ] {
        let run = Place::new().run([&["dedup"], &arguments[..]].concat()).exits(2);
        assert!(run.err.starts_with(&format!("uniqurl: {shown}")), "{}", run.err);
    }
    for format in ["csv:u:SECRET@h", "csv:url", "json:/url"] {
        let arguments = ["dedup", "-f", format, "--carry", "http://u:SECRET@h"];
        let run = Place::new().run_on(arguments, "url\n{}\n");
        assert!(!run.err.contains("SECRET"), "{format}: {}", run.err);
    }
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
}

#[test]
fn messages_hold_no_credentials_or_queries() {
    let place = Place::new();
    place.write(
        "in",
        "http://u:SECRET@h:x/\nhttp://h:x/?SECRET\nSECRET@h\nhttp://[u:SECRET@h/?t=SECRET\n\
         http://ok/\n",
    );
    let run = place.run(["dedup", "in", "--stats", "stats"]).exits(0);
    assert!(!run.err.contains("SECRET"), "{}", run.err);
    assert!(!place.text("stats").contains("SECRET"));
    for base in ["http://u:SECRET@h:x/?SECRET", "1:SECRET@h/", "//u:SECRET@h/", "/x?SECRET"] {
        let run = place.run(["dedup", "in", "--base", base]).exits(2);
        assert!(!run.err.contains("SECRET"), "{base}: {}", run.err);
    }
    // Without a header, the first row is taken for one.
    for (format, row) in [
        ("csv:url", "http://u:SECRET@h/,h/?t=SECRET,1"),
        ("tsv:url", "http://h/#SECRET\th?t=SECRET\t1"),
    ] {
        let run = place.run_on(["dedup", "-f", format], format!("{row}\n")).exits(2);
        assert!(!run.err.contains("SECRET") && run.err.contains("***, 1\n"), "{}", run.err);
    }
    let run = place.run_on(["dedup", "-f", "csv:url"], "#uri,cs(Host),a/b\n").exits(2);
    assert!(run.err.contains("its columns are #uri, cs(Host), a/b\n"), "{}", run.err);
}
