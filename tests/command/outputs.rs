//! An output is whole or absent.

use super::bench::cannot_restart;
use super::shared::say;
use super::{Place, Run, built};
use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::Stdio;

const URLS: &[u8] = b"http://b/\nHTTP://A/\nhttp://a\n";

#[test]
fn output_goes_to_standard_output_or_a_file() {
    let place = Place::with([("in", URLS)]);
    for output in [&[][..], &["-o", "-"], &["-o", "/dev/stdout"]] {
        let run = place.run([&["dedup", "in"], output].concat()).exits(0);
        assert_eq!(run.out(), "http://b/\nhttp://a/\n");
    }
    // The ending of a name decides the form.
    for (name, start) in [
        ("out", &b"http"[..]),
        ("x.GZ", b"\x1F\x8B"),
        ("x.Zst", b"\x28\xB5\x2F\xFD"),
        ("x.PARQUET", b"PAR1"),
    ] {
        assert!(place.run(["dedup", "in", "--output", name]).exits(0).out.is_empty());
        assert!(place.read(name).starts_with(start), "{name}");
        assert_eq!(place.run(["dedup", name]).exits(0).out(), "http://b/\nhttp://a/\n");
    }
    assert_eq!(place.names(), ["in", "out", "x.GZ", "x.PARQUET", "x.Zst"]);
}

#[test]
fn full_disk_is_an_error_of_help_and_of_a_run() {
    let place = Place::with([("in", URLS)]);
    for arguments in ["--help", "dedup --help", "help set", "--version", "normalize -q in"] {
        let run = place.shell(&format!("uniqurl {arguments} > /dev/full")).exits(2);
        assert!(run.err.starts_with("uniqurl: standard output: No space"), "{}", run.err);
    }
}

#[test]
fn file_of_a_standard_stream_is_appended_to_and_not_replaced() {
    let place = Place::with([("in", URLS)]);
    symlink("/dev/stdout", place.path("link")).expect("linked");
    symlink("link", place.path("other")).expect("linked");
    for (name, stream) in [
        ("/dev/stdout", ">"),
        ("/dev/fd/1", ">"),
        ("link", ">"),
        ("other", ">"),
        ("/dev/stderr", "2>"),
        ("/dev/fd/2", "2>"),
    ] {
        let echo = if stream == ">" { "echo" } else { ">&2 echo" };
        let run = format!("uniqurl dedup -q in -o {name}");
        place.shell(&format!("{{ {echo} before; {run}; {echo} behind; }} {stream} log")).exits(0);
        assert_eq!(place.text("log"), "before\nhttp://b/\nhttp://a/\nbehind\n", "{name}");
    }
}

#[test]
fn output_may_replace_an_input() {
    for command in ["dedup", "normalize"] {
        let place = Place::with([("a", b"http://A/\n"), ("b", b"http://B/\n")]);
        place.run([command, "a", "b", "-o", "b"]).exits(0);
        assert_eq!(place.text("b"), "http://a/\nhttp://b/\n");
        assert_eq!(place.names(), ["a", "b"]);
    }
}

#[test]
fn warning_for_an_input_truncated_by_the_shell() {
    for (line, is_emptied) in [
        ("uniqurl dedup more list > list", true),
        ("uniqurl set union list > list", true),
        // A file opened for appending keeps its contents.
        ("uniqurl dedup more list >> list", false),
        ("uniqurl set union list >> list", false),
        // `-r` finds mostly new files, so there is no warning.
        ("uniqurl dedup -r . > list", false),
        (": > list; uniqurl dedup more list > other", false),
        (": > list; uniqurl set union list > other", false),
    ] {
        let place = Place::with([("more", b"http://b/\n"), ("list", b"http://a/\n")]);
        let run = place.shell(line).exits(0);
        let warning = "uniqurl: warning: list: the shell emptied this input";
        assert_eq!(run.err.starts_with(warning), is_emptied, "{line}: {}", run.err);
        assert!(is_emptied || !run.err.contains("warning"), "{line}: {}", run.err);
    }
}

#[test]
fn failed_run_keeps_the_old_output() {
    let place = Place::with([("in", URLS), ("bad", b"relative\n"), ("old", b"old")]);
    for (arguments, status) in [
        (&["dedup", "in", "missing"][..], 2),
        (&["normalize", "in", "missing"], 2),
        (&["dedup", "in", "--base", "relative"], 2),
        (&["dedup", "in", "--rejects", "no/such"], 2),
        (&["dedup", "in", "--stats", "no/such"], 2),
        (&["dedup", "in", "--rejects", "/dev/full", "bad"], 2),
        (&["dedup", "in", "--stats", "/dev/full"], 2),
        (&["dedup", "bad"], 3),
    ] {
        place.run([arguments, &["-o", "old"]].concat()).exits(status);
        assert_eq!(place.text("old"), "old", "{arguments:?}");
        assert_eq!(place.names(), ["bad", "in", "old"], "{arguments:?}");
    }
}

#[test]
fn trace_is_a_file_of_json_lines_and_replaces_no_other_output() {
    let place = Place::with([("in", URLS)]);
    place.run(["dedup", "in", "-o", "out", "--trace", "trace"]).exits(0);
    assert!(place.json_lines("trace").iter().any(|task| task["stage"] == "read"));
    place.run(["dedup", "in", "-o", "out", "--trace", "out"]).exits(2);
}

#[test]
fn rejecting_all_records_is_status_3_for_dedup_only() {
    let place = Place::with([("bad", b"relative\n/x\n")]);
    let run = place.run(["dedup", "bad", "--stats", "stats"]).exits(3);
    assert!(run.out.is_empty());
    assert_eq!((run.summary("records"), run.summary("rejected")), (2, 2));
    assert_eq!(place.json("stats")["status"], 3);
    assert_eq!(place.run(["normalize", "bad"]).exits(0).out(), "\n\n");
}

#[test]
fn impossible_output_is_reported_before_reading() {
    let place = Place::with([("in", URLS), ("file", b""), ("protected", b"old")]);
    fs::create_dir(place.path("dir")).expect("made");
    for bad in ["missing/out", "dir", "file/out", "new/", "new/."] {
        for arguments in [&["-o", bad, "--rejects", "rejects"][..], &["--rejects", bad]] {
            let run = place.run([&["dedup", "in"], arguments].concat()).exits(2);
            assert!(run.err.contains(bad) && run.summary("records") == 0, "{}", run.err);
            assert_eq!((run.out(), place.names().len()), ("", 4));
        }
    }
    // The owner may not write to it.
    place.set_mode("", 0o777);
    place.set_mode("protected", 0o444);
    let Some(run) = place.run_as_other(&["dedup", "in", "-o", "protected"]) else { return };
    run.exits(2);
    assert_eq!(place.text("protected"), "old");
}

#[cfg(target_os = "linux")]
#[test]
fn unwritable_proc_directory_is_not_reported_as_missing() {
    let place = Place::with([("in", URLS)]);
    for more in [&["-o", "/proc/x"][..], &["-o", "/proc/x", "--split-by", "hash:2"]] {
        let run = place.run(["dedup", "in"].iter().chain(more)).exits(2);
        let told = "uniqurl: /proc/x: nothing can be made in the directory /proc: ";
        assert!(run.err.starts_with(told), "{}", run.err);
    }
}

#[test]
fn stats_of_a_failed_run_hold_its_status() {
    let place = Place::with([("in", URLS)]);
    let run = place.run(["dedup", "in", "-o", "/dev/full", "--stats", "-"]).exits(2);
    assert!(run.out().contains("\"status\": 2"), "{}", run.out());
    assert_eq!(place.names(), ["in"]);
}

#[test]
fn unwritable_stats_file_is_reported_once() {
    let place = Place::with([("in", URLS)]);
    // In blocks of 512 bytes: enough for an emulator's output, too little for an account of so many inputs.
    let limited = format!("ulimit -f 8; uniqurl dedup{}", " in".repeat(100));
    for accounts in ["--stats s", "--report s", "--stats s --report r"] {
        let run = place.shell(&format!("{limited} {accounts}")).exits(2);
        assert!(run.err.starts_with("uniqurl: s: File too large"), "{}", run.err);
        assert_eq!((run.err.lines().count(), run.summary("unique")), (3, 2), "{}", run.err);
        assert_eq!(place.names(), ["in"]);
    }
}

#[test]
fn output_keeps_permissions_and_links() {
    let place = Place::with([("in", URLS), ("old", b"old"), ("plain", b"")]);
    fs::set_permissions(place.path("old"), fs::Permissions::from_mode(0o640)).expect("set");
    symlink("old", place.path("link")).expect("linked");
    place.run(["dedup", "in", "-o", "link"]).exits(0);
    place.run(["dedup", "in", "-o", "new"]).exits(0);
    let mode = |name| fs::metadata(place.path(name)).expect("there").permissions().mode();
    assert!(place.path("link").is_symlink());
    assert_eq!((place.text("old").lines().count(), mode("old") & 0o777), (2, 0o640));
    assert_eq!(mode("new"), mode("plain"));
}

/// With an access control list the group bits hold the mask of the list. The output has no list, and its group
/// may not do what the list let others do.
#[cfg(target_os = "linux")]
#[test]
fn mask_of_an_access_control_list_is_no_permission_of_the_group() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    const ACL: &str = "system.posix_acl_access";
    // Version 2; the owner, user 5 and the mask may read and write, the group and others nothing
    // (acl(5), and linux/posix_acl_xattr.h).
    let entry = |tag: u16, may: u16, id: u32| {
        [&tag.to_le_bytes()[..], &may.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let none = u32::MAX;
    let list = [
        2u32.to_le_bytes().to_vec(),
        entry(0x01, 6, none),
        entry(0x02, 6, 5),
        entry(0x04, 0, none),
        entry(0x10, 6, none),
        entry(0x20, 0, none),
    ]
    .concat();
    let place = Place::with([("in", URLS), ("old", b"old")]);
    let old = place.path("old");
    if setxattr(&old, ACL, &list, XattrFlags::empty()).is_err() {
        return say("NOT TRIED: this file system has no access control lists");
    }
    let mode = || fs::metadata(&old).expect("there").mode() & 0o777;
    assert_eq!(mode(), 0o660);
    place.run(["dedup", "in", "-o", "old"]).exits(0);
    assert_eq!(mode(), 0o600);
    assert!(getxattr(&old, ACL, &mut [0; 100]).is_err());
    assert_eq!(place.text("old").lines().count(), 2);
}

#[test]
fn two_outputs_at_one_path_are_wrong_usage() {
    let place = Place::with([("in", URLS)]);
    fs::create_dir(place.path("d")).expect("made");
    symlink("x", place.path("link")).expect("linked");
    symlink(".", place.path("here")).expect("linked");
    let absolute = place.path("x").into_os_string().into_string().expect("text");
    let spellings = ["x", "./x", "d/../x", "d//.././x", "here/x", "link", &absolute];
    let options = ["--stats", "--rejects", "--report", "--save-seen"];
    for (spelling, option) in spellings.into_iter().zip(options.into_iter().cycle()) {
        let run = place.run(["dedup", "in", "-o", "x", option, spelling]).exits(2);
        assert!(run.err.contains("would write to the same place"), "{spelling}: {}", run.err);
    }
    place.run(["normalize", "in", "-o", "link", "--stats", "here/link"]).exits(2);
    assert_eq!(place.names(), ["d", "here", "in", "link"]);
    place.run(["dedup", "in", "-o", "/dev/null", "--stats", "/dev/null"]).exits(0);
    place.run(["dedup", "in", "-o", "x", "--stats", "d/x", "--rejects", "./-"]).exits(0);
    assert_eq!(place.names(), ["-", "d", "here", "in", "link", "x"]);
}

#[test]
fn closed_pipe_ends_the_run_without_an_error() {
    let place = Place::new();
    let line = |i| format!("http://example.com/a/rather/long/path/to/fill/the/pipe/{i:09}\n");
    place.write("in", (0..50_000).map(line).collect::<String>());
    for arguments in
        [&["normalize", "in"][..], &["normalize", "--json", "in"], &["set", "union", "in"]]
    {
        // As of one that SIGPIPE ended.
        assert_eq!(place.run_closed(arguments).exits(141).err, "", "{arguments:?}");
    }
}

#[test]
fn stats_into_a_closed_pipe_end_the_run_without_an_error() {
    let place = Place::with([("in", URLS)]);
    let bench = "bench -q --size 4K --corpus clean -j 1 --runs 1 --save -";
    for (arguments, status) in [
        ("dedup in -o x --stats -", 141),
        ("dedup in -o x --report -", 141),
        // The missing input is still reported, once.
        ("dedup in none -o x --stats -", 2),
        (bench, 141),
    ] {
        if arguments == bench && cannot_restart() {
            continue;
        }
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = built::process();
        command.args(arguments.split(' ')).current_dir(place.path("")).stdout(writer);
        let run = Run::of(command.output().expect("started")).exits(status);
        assert_eq!(run.err.contains("none: missing"), status == 2, "{}", run.err);
        assert!(run.err.is_empty() || !run.err.contains("Broken pipe"), "{}", run.err);
        assert_eq!(place.names(), ["in"], "nothing is committed");
    }
}

#[test]
fn output_must_not_replace_a_list_that_the_run_reads() {
    let place = Place::with([("in", URLS), ("list", b"http://old/\n")]);
    symlink("list", place.path("link")).expect("linked");
    for (list, output, option) in [
        ("--seen", "-o", "--output"),
        ("--files-from", "--rejects", "--rejects"),
        ("--redirects", "--stats", "--stats"),
        ("--profile-file", "--report", "--report"),
    ] {
        let run = place.run(["dedup", "in", list, "list", output, "./link"]).exits(2);
        let words = format!("{option} would replace the file of {list}");
        assert!(run.err.contains(&words), "{}", run.err);
    }
    assert_eq!(place.text("list"), "http://old/\n");
    // A file that the shell appends to is not replaced, and may be an input.
    place.shell("uniqurl dedup in --seen list >> list").exits(0);
    assert_eq!(place.text("list"), "http://old/\nhttp://b/\nhttp://a/\n");
    place.run(["dedup", "in", "-o", "in"]).exits(0);
}

#[test]
fn standard_output_counts_as_an_output_path() {
    let place = Place::with([("in", b"http://a/\nrelative\n")]);
    for (arguments, is_of_pipes) in [
        ("dedup -o f --rejects -", false),
        ("dedup -o ./f --stats -", false),
        ("dedup --stats f", false),
        ("dedup --save-seen f", false),
        ("normalize -o f --report -", false),
        // A pipe is a place too, and `f` is not.
        ("dedup -o /dev/fd/1 --rejects -", true),
        ("dedup -o - --rejects /dev/stdout", true),
        ("dedup -o g --stats /dev/fd/1 --rejects -", true),
    ] {
        for to in if is_of_pipes { &["> f", ""][..] } else { &["> f"] } {
            let run = place.shell(&format!("uniqurl {arguments} in {to}")).exits(2);
            assert!(run.err.contains("would write to the same place"), "{arguments}: {}", run.err);
            assert_eq!((run.out(), place.names()), ("", vec!["f".into(), "in".into()]));
            assert_eq!(place.text("f"), "");
        }
    }
    let run = place.run(["dedup", "in", "-o", "f", "--rejects", "-"]).exits(0);
    assert!(run.out().contains("relative"), "{}", run.out());
    assert_eq!(place.text("f"), "http://a/\n");
}

/// Runs with these arguments on standard input, and calls `meanwhile` once the outputs are open.
fn run_while(place: &Place, arguments: &[&str], meanwhile: impl FnOnce()) -> Run {
    let mut command = built::process();
    command.arg("dedup").args(arguments).stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.current_dir(place.path("")).spawn().expect("started");
    let mut input = child.stdin.take().expect("piped");
    // More than a pipe and its buffers hold, so the outputs are open once it is accepted.
    input.write_all(&b"http://c/\n".repeat(200_000)).expect("taken");
    meanwhile();
    drop(input);
    Run::of(child.wait_with_output().expect("over")).exits(2)
}

#[test]
fn removed_output_directory_leaves_no_other_output() {
    let place = Place::with([("first", URLS)]);
    let remove = || fs::remove_dir_all(place.path("dir")).expect("removed");
    let missing = ": the directory dir is missing";
    fs::create_dir(place.path("dir")).expect("made");
    let arguments = ["first", "-", "-o", "dir/out", "--rejects", "rejects"];
    let run = run_while(&place, &arguments, remove);
    assert!(run.err.contains(&format!("dir/out{missing}")), "{}", run.err);
    assert_eq!(place.names(), ["first"]);
    // The report is written where the statistics cannot be.
    fs::create_dir(place.path("dir")).expect("made");
    let arguments = ["-", "-o", "out", "--stats", "dir/stats", "--report", "page.html"];
    let run = run_while(&place, &arguments, remove);
    assert!(run.err.contains(&format!("dir/stats{missing}")), "{}", run.err);
    assert_eq!(place.names(), ["first", "page.html"]);
    assert!(place.text("page.html").contains("Failed, before the output was complete."));
}

#[test]
fn output_name_taken_during_the_run_leaves_no_other_output() {
    for (split, why) in
        [(&[][..], "out: is a directory"), (&["--split-by", "hash:2"], "out: the directory")]
    {
        let place = Place::new();
        let arguments = [&["-", "-o", "out", "--rejects", "rejects"], split].concat();
        let run = run_while(&place, &arguments, || {
            fs::create_dir(place.path("out")).expect("made");
            place.write("out/mine", "mine");
        });
        assert!(run.err.contains(why), "{}", run.err);
        assert_eq!((place.names(), place.text("out/mine")), (vec!["out".into()], "mine".into()));
    }
}
