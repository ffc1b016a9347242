//! Files, lists of files, pipes, and the errors of each.

use super::{Place, Run, built};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::thread;

#[test]
fn all_bad_inputs_are_reported_before_reading() {
    let place = Place::with([("good", b"http://a/\n"), ("secret", b"http://b/\n")]);
    fs::create_dir(place.path("dir")).expect("made");
    place.set_mode("", 0o755);
    place.set_mode("secret", 0o000);
    let arguments = ["normalize", "good", "missing1", "dir", "secret", "missing2"];
    let Some(run) = place.run_as_other(&arguments) else { return };
    assert_eq!((run.status, run.out()), (Some(2), ""));
    for name in ["missing1", "dir", "secret", "missing2"] {
        assert!(run.err.contains(&format!("uniqurl: {name}")), "{name}: {}", run.err);
    }
    assert!(run.err.contains("nothing was read\n") && !run.err.contains("good"), "{}", run.err);
}

#[test]
fn keep_going_skips_bad_inputs_with_status_1() {
    let place = Place::with([("a", b"http://a/\n"), ("b", b"http://b/\n")]);
    fs::create_dir(place.path("dir")).expect("made");
    let arguments = ["dedup", "a", "missing", "dir", "b", "--keep-going", "--stats", "stats"];
    let run = place.run(arguments).exits(1);
    assert_eq!(run.out(), "http://a/\nhttp://b/\n");
    let stats = place.json("stats");
    let inputs = serde_json::json!({"ok": 2, "damaged": 0, "missing": 1, "refused": 1});
    assert_eq!((&stats["inputs"], &stats["status"]), (&inputs, &1.into()));
    let files = stats["files"].as_array().expect("files").iter();
    assert!(files.clone().any(|file| file["file"] == "dir" && file["state"] == "refused"));
    assert_eq!(place.run(["dedup", "a", "--keep-going"]).exits(0).out(), "http://a/\n");
}

#[test]
fn line_endings_byte_order_marks_and_empty_files_are_handled() {
    let place = Place::new();
    for (bytes, lines) in [
        (&b""[..], &[][..]),
        (b"\n", &[""]),
        (b"http://a/", &["http://a/"]),
        (b"http://a/\n", &["http://a/"]),
        (b"http://a/\r\n", &["http://a/"]),
        (b"http://a/\r\nhttp://b/\r\n", &["http://a/", "http://b/"]),
        (b"http://a/\r", &["http://a/"]),
        (b"\xEF\xBB\xBFhttp://a/\n", &["http://a/"]),
        (b"\xEF\xBB\xBF", &[]),
        (b"\n\nhttp://a/\n\n", &["", "", "http://a/", ""]),
        (b" \t\r\nhttp://a/", &["", "http://a/"]),
    ] {
        place.write("in", bytes);
        let expected: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let run = place.run(["normalize", "in"]).exits(0);
        assert_eq!(run.out(), expected, "{:?}", bytes.escape_ascii().to_string());
        assert_eq!(run.summary("records"), lines.len() as u64);
        assert_eq!(run.summary("bytes"), bytes.len() as u64);
        let piped = place.run_on(["normalize", "-"], bytes).exits(0);
        assert_eq!(piped.out(), expected, "{:?}", bytes.escape_ascii().to_string());
    }
}

#[test]
fn byte_order_mark_is_skipped_at_the_start_of_each_line_of_a_list() {
    let place = Place::with([
        ("a", b"\xEF\xBB\xBFhttp://a/\n\xEF\xBB\xBFhttp://b/\n"),
        ("c", b"\xEF\xBB\xBFhttp://c/\n"),
    ]);
    let run = place.run(["normalize", "a", "c"]).exits(0);
    assert_eq!(run.out(), "http://a/\nhttp://b/\nhttp://c/\n");
    let run = place.run(["normalize", "-p", "scheme", "a", "c"]).exits(0);
    assert_eq!(run.out(), "\n\n\n");
}

#[test]
fn standard_input_is_read_by_default_and_as_dash() {
    let place = Place::with([("a", b"http://a/\n")]);
    let piped = "http://p/\n";
    assert_eq!(place.run_on(["dedup"], piped).exits(0).out(), "http://p/\n");
    assert_eq!(place.run_on(["dedup", "-"], piped).exits(0).out(), "http://p/\n");
    let run = place.run_on(["dedup", "a", "-"], piped).exits(0);
    assert_eq!((run.out(), run.summary("ok")), ("http://a/\nhttp://p/\n", 2));
}

#[test]
fn a_named_pipe_is_streamed() {
    let place = Place::new();
    place.pipe("pipe");
    let path = place.path("pipe");
    let writer = thread::spawn(move || fs::write(path, "http://a/\n".repeat(50_000)));
    let run = place.run(["dedup", "pipe"]).exits(0);
    writer.join().expect("no panic").expect("all of it was read");
    assert_eq!((run.out(), run.summary("duplicates")), ("http://a/\n", 49_999));
}

#[test]
fn redirected_file_is_read_up_to_its_initial_size() {
    // More than the command reads ahead of its output.
    let path = "http://example.com/a/path/that/makes/the/list/a/long/one";
    let list: String = (0..250_000).map(|n| format!("{path}/{n}\n")).collect();
    let place = Place::with([("list", list.as_bytes())]);
    let run = place.shell("uniqurl dedup - -j 1 < list >> list").exits(0);
    assert_eq!((run.summary("records"), run.summary("duplicates")), (250_000, 0));
    assert!(place.text("list") == list.repeat(2));
    // A line that is still being written is skipped, and reading at an offset starts there.
    place.write("list", format!("{list}http://cut"));
    let run = place.shell("uniqurl dedup -j 1 < list >> list").exits(0);
    let cut = format!("-@{}: cut: the last line was still being written", list.len());
    assert!(run.err.contains(&cut) && run.summary("skipped") == 1, "{}", run.err);
    assert!(place.text("list") == format!("{list}http://cut{list}"));
    place.write("list", "header\nhttp://a/\nhttp://b");
    let run = place.shell("{ read -r header; uniqurl dedup -q; } < list").exits(0);
    assert_eq!(run.out(), "http://a/\nhttp://b/\n");
}

/// Its turn comes after other inputs, when it may already hold output.
#[test]
fn redirected_file_after_other_inputs_keeps_its_initial_end() {
    for (before, records, skipped) in
        [("http://a/\n", 1, 0), ("http://a/\nhttp://b", 1, 1), ("", 0, 0)]
    {
        let place = Place::with([("list", before.as_bytes())]);
        place.pipe("pipe");
        let list = fs::File::open(place.path("list")).expect("there");
        let arguments = ["dedup", "-f", "lines", "pipe", "-"];
        let run = place.run_meanwhile("pipe", &arguments, list, || place.append("list", b"c/\n"));
        let run = run.exits(0);
        assert_eq!(run.summary("records"), records, "{before:?}: {}", run.err);
        assert_eq!(run.err.contains("-@10: cut: "), skipped == 1, "{before:?}: {}", run.err);
    }
}

#[test]
fn second_standard_input_is_empty() {
    let place = Place::with([("list", b"http://a/\nhttp://b/\n")]);
    for line in ["uniqurl dedup - - < list", "cat list | uniqurl dedup - -"] {
        let run = place.shell(line).exits(0);
        assert_eq!((run.out(), run.summary("ok")), ("http://a/\nhttp://b/\n", 2), "{line}");
    }
}

#[test]
fn redirected_file_that_shrinks_is_an_error() {
    let place = Place::new();
    place.write("list", "http://example.com/a/rather/long/path/to/fill/the/pipe\n".repeat(500_000));
    let mut command = built::process();
    command.args(["normalize", "-j", "1"]).current_dir(place.path(""));
    command.stdin(fs::File::open(place.path("list")).expect("there"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut out = BufReader::with_capacity(64, child.stdout.take().expect("piped"));
    out.read_line(&mut String::new()).expect("a line");
    // It waits for a reader, far from the end.
    fs::OpenOptions::new().write(true).truncate(true).open(place.path("list")).expect("emptied");
    io::copy(&mut out, &mut io::sink()).expect("read");
    let run = Run::of(child.wait_with_output().expect("ended")).exits(2);
    assert!(run.err.contains("changed: the file shrank while it was read"), "{}", run.err);
}

#[test]
fn line_from_a_slow_pipe_is_written_at_once() {
    for (arguments, more) in [
        (&["normalize"][..], ""),
        (&["normalize", "-f", "lines", "--json"], ""),
        (&["dedup"], ""),
        (&["dedup", "--rejects", "rejects"], "relative\n"),
        (&["normalize", "-f", "combined"], ""),
    ] {
        let place = Place::new();
        let mut child = place.start(arguments);
        let mut input = child.stdin.take().expect("piped");
        let mut output = BufReader::new(child.stdout.take().expect("piped"));
        for i in 0..4 {
            let line = match arguments.contains(&"combined") {
                false => format!("http://h{i}/\n"),
                true => format!("- - - [01/Jan/2026:00:00:00 +0000] \"GET /{i} HTTP/1.1\" 200 1\n"),
            };
            input.write_all((line + more).as_bytes()).expect("read");
            // Nothing is written before this is read: without an answer the test would wait
            // forever.
            let mut answer = String::new();
            output.read_line(&mut answer).expect("text");
            assert!(answer.contains(&i.to_string()), "{arguments:?}: {answer:?}");
        }
        drop(input);
        assert_eq!(child.wait().expect("ended").code(), Some(0), "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nonblocking_pipes_are_waited_for() {
    use rustix::fs::{OFlags, fcntl_setfl};
    use std::io::Read;
    use std::os::fd::AsFd;
    use std::time::Duration;
    let line = "http://example.com/a/rather/long/path/to/fill/the/pipe\n";
    for arguments in [&["normalize"][..], &["normalize", "-f", "lines", "--json"]] {
        let ((reader, mut input), (mut output, writer)) =
            (io::pipe().unwrap(), io::pipe().unwrap());
        for (end, access) in [(reader.as_fd(), OFlags::RDONLY), (writer.as_fd(), OFlags::WRONLY)] {
            fcntl_setfl(end, access | OFlags::NONBLOCK).unwrap();
        }
        let mut command = built::process();
        command.args(arguments).stdin(reader).stdout(writer).stderr(Stdio::piped());
        let child = command.spawn().expect("started");
        drop(command);
        let late = thread::spawn(move || {
            for _ in 0..4 {
                thread::sleep(Duration::from_millis(30));
                input.write_all(line.repeat(20_000).as_bytes()).expect("read");
            }
        });
        thread::sleep(Duration::from_millis(200));
        let mut text = String::new();
        output.read_to_string(&mut text).expect("text");
        late.join().expect("written");
        Run::of(child.wait_with_output().expect("ended")).exits(0);
        assert_eq!(text.lines().count(), 80_000, "{arguments:?}");
    }
}

#[test]
fn files_from_reads_names_ended_by_lines_or_nul() {
    let odd = OsStr::from_bytes(b"new\nline \xFF");
    let place = Place::with([
        ("a b", b"http://a/\n".as_slice()),
        ("c", b"http://c/\n"),
        ("lines", b"a b\r\n\nc"),
        ("lines.gz", &super::packed::gzip(b"a b\nc\n")),
        ("standard", b"-\n"),
    ]);
    place.write(odd, "http://odd/\n");
    let nul = [b"a b\0", odd.as_bytes(), b"\0"].concat();
    for (arguments, input, out) in [
        (&["lines"][..], &b""[..], "http://a/\nhttp://c/\n"),
        (&["lines.gz"], b"", "http://a/\nhttp://c/\n"),
        (&["-"], &nul, "http://a/\nhttp://odd/\n"),
        // The command line comes first.
        (&["lines", "c"], b"", "http://c/\nhttp://a/\n"),
        // An empty list names nothing.
        (&["/dev/null"], b"http://p/\n", ""),
        (&["standard"], b"http://p/\n", "http://p/\n"),
    ] {
        let run = place.run_on([&["dedup", "--files-from"], arguments].concat(), input).exits(0);
        assert_eq!(run.out(), out, "{arguments:?}");
    }
}

#[test]
fn overlong_line_is_one_rejected_record() {
    let place = Place::new();
    for length in [65_536, 65_537, 1_200_000, 20_000_000] {
        let mut long = b"http://h/".to_vec();
        long.resize(length, b'a');
        let input = [b"http://a/\n", &long[..], b"\nhttp://b/\n"].concat();
        place.write("in", &input);
        for arguments in [&["normalize", "--json", "in"][..], &["normalize", "--json", "-"]] {
            let run = place.run_on(arguments, input.clone()).exits(0);
            let objects = super::json_lines(&run.out);
            assert_eq!(objects.len(), 3, "{length}");
            assert_eq!(
                (&objects[0]["out"], &objects[2]["out"]),
                (&"http://a/".into(), &"http://b/".into())
            );
            match length {
                65_536 => assert_eq!(objects[1]["out"].as_str().map(str::len), Some(length)),
                _ => {
                    assert_eq!(objects[1]["reject"][0], "too-long");
                    assert_eq!(objects[1]["at"], 65_536);
                }
            }
        }
    }
    let run = place.run(["normalize", "in", "--max-url", "20M"]).exits(0);
    assert_eq!((run.summary("canonical"), run.summary("rejected")), (3, 0));
    let run = place.run_on(["normalize", "--max-url", "8"], "http://a\nhttp://ab\n").exits(0);
    assert_eq!(run.out(), "http://a/\n\n");
}

#[test]
fn input_named_twice_is_read_twice() {
    let place = Place::with([("a", b"http://a/\n")]);
    let run = place.run(["dedup", "a", "a"]).exits(0);
    assert_eq!((run.out(), run.summary("duplicates"), run.summary("ok")), ("http://a/\n", 1, 2));
}

#[test]
fn standard_input_that_is_a_file_may_have_other_readers() {
    let place = Place::with([("in", b"http://h/\n")]);
    place.shell("uniqurl dedup /dev/stdin --seen - --max-rejected 0 < in").exits(0);
    place.shell("cat in | uniqurl dedup /dev/stdin --seen in").exits(0);
}
