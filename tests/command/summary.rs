//! The summary, and what a run says beside it.

use super::Place;

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
