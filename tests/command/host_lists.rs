//! `--hosts` and `--not-hosts`: names of hosts in files.

use super::Place;
use super::packed::gzip;
use serde_json::json;

const URLS: &[u8] =
    b"http://a.example/\nhttp://b.a.example/1\nhttp://other.example/\nhttp://192.0.2.1/\n/target\n";

fn place() -> Place {
    Place::with([
        ("urls", URLS),
        ("sites", b"# sites\n0.0.0.0 a.example\n".as_slice()),
        ("blocked", b"||B.A.example^\n192.0.2.1\n".as_slice()),
    ])
}

#[test]
fn lists_of_hosts_keep_and_drop_the_names_below_theirs() {
    let place = place();
    for (options, out) in [
        (&["--hosts", "sites"][..], "http://a.example/\nhttp://b.a.example/1\n"),
        (&["--not-hosts", "blocked"], "http://a.example/\nhttp://other.example/\n/target\n"),
        (&["--hosts", "sites", "--not-hosts", "blocked"], "http://a.example/\n"),
        (
            &["--hosts", "sites", "--hosts", "blocked"],
            "http://a.example/\nhttp://b.a.example/1\nhttp://192.0.2.1/\n",
        ),
        // One match of a glob or a list is enough.
        (
            &["--hosts", "sites", "--host", "other.*"],
            "http://a.example/\nhttp://b.a.example/1\nhttp://other.example/\n",
        ),
    ] {
        let always = ["dedup", "-q", "-f", "target", "urls"];
        let run = place.run(always.iter().chain(options).collect::<Vec<_>>()).exits(0);
        assert_eq!(run.out(), out, "{options:?}");
    }
}

#[test]
fn stats_count_the_records_of_each_list() {
    let place = place();
    place.write("packed.gz", gzip(b"*.other.example\n"));
    let lists = ["--hosts", "sites", "--hosts", "packed.gz", "--not-hosts", "blocked"];
    let run = place.run(["dedup", "urls", "urls", "--stats", "s"].iter().chain(&lists)).exits(0);
    // The same number of all that a list decides, at any number of threads; targets have no host.
    assert_eq!((run.summary("unique"), run.summary("filtered")), (2, 4));
    let list = |option: &str, file: &str, names: u64, records: u64| json!({"option": option, "file": file, "names": names, "records": records});
    assert_eq!(
        place.json("s")["host_lists"],
        json!([
            list("hosts", "sites", 1, 4),
            list("hosts", "packed.gz", 1, 2),
            list("not-hosts", "blocked", 2, 2),
        ])
    );
}

#[test]
fn a_list_that_cannot_be_read_is_named_with_its_line() {
    let place = place();
    place.write("bad", b"a.example\nhttp://b.example/\n");
    for (options, told) in [
        (&["--hosts", "bad"][..], "bad: line 2: `http://b.example/` is no name of a host"),
        (&["--not-hosts", "absent"], "absent: "),
        (&["--not-host", "blocked"], "--not-hosts reads one"),
        (&["--hosts", "-", "-"], "standard input cannot be both --hosts and another input"),
        (&["--hosts", "-", "--not-hosts", "-", "urls"], "standard input cannot be both"),
        (&["--hosts", "sites", "-o", "sites", "urls"], "would replace the file of --hosts"),
    ] {
        let run = place.run(["dedup"].iter().chain(options).chain(&["urls"])).exits(2);
        assert!(run.err.contains(told), "{}", run.err);
        assert!(run.out.is_empty());
    }
    let run = place.run_on(["dedup", "-q", "--hosts", "-", "urls"], b"other.example\n").exits(0);
    assert_eq!(run.out(), "http://other.example/\n");
}
