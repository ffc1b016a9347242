//! Many files under a low limit of open files, as systems set it.

use super::packed::gzip;
use super::{Place, Run};
use std::fs;

/// Runs the command under `ulimit` with these arguments.
pub(super) fn run_under(place: &Place, limit: &str, arguments: &[&str]) -> Run {
    place.shell(&format!("ulimit {limit} && uniqurl {}", arguments.join(" ")))
}

/// A directory `in` of `count` files with the content of `text`.
fn files(count: u32, text: impl Fn(u32) -> Vec<u8>) -> Place {
    let place = Place::new();
    fs::create_dir(place.path("in")).expect("made");
    (0..count).for_each(|i| place.write(format!("in/{i:04}"), text(i)));
    place
}

fn url(i: u32) -> String {
    format!("HTTP://h{}.example/{i}\n", i % 9)
}

#[test]
fn many_inputs_are_read_under_a_low_limit_of_open_files() {
    let log = |i| format!("- - - [01/Jan/2026:00:00:00 +0000] \"GET /{i} HTTP/1.1\" 200 1\n");
    let table = |i| format!("a,url\n1,{}", url(i));
    for (place, format) in [
        (files(200, |i| url(i).into()), "auto"),
        (files(200, |i| url(i).into()), "lines"),
        (files(200, |i| log(i).into()), "auto"),
        (files(200, |i| table(i).into()), "csv:url"),
        (files(200, |i| gzip(url(i).as_bytes())), "auto"),
        // More than is read from each file when it is opened.
        (files(100, |i| url(i).repeat(3_500).into()), "auto"),
        (files(100, |i| url(i).repeat(3_500).into()), "lines"),
    ] {
        for command in ["dedup", "normalize"] {
            let arguments = [command, "-r", "in", "-f", format, "-j", "16", "--keep-going"];
            let whole = place.run(arguments).exits(0);
            let run = run_under(&place, "-n 64", &arguments).exits(0);
            assert!(run.out == whole.out, "{command} {format}");
            assert_eq!(run.summary("records"), whole.summary("records"));
        }
    }
}

#[test]
fn split_respects_the_limit_of_open_files() {
    let place = files(3, |i| url(i).into());
    let dedup = ["dedup", "-r", "in", "-o", "out", "--split-by"];
    let run = run_under(&place, "-n 64", &[&dedup[..], &["hash:200"]].concat()).exits(2);
    assert!(
        run.err.contains("200 shards (--split-by)") && run.err.contains("limit of 64"),
        "{}",
        run.err
    );
    assert_eq!(place.names(), ["in"], "refused before anything is made");
    // The soft limit that a process starts with is lower than its hard limit.
    for (limit, shards) in [("-n 64", "hash:10"), ("-Sn 64", "hash:200")] {
        run_under(&place, limit, &[&dedup[..], &[shards]].concat()).exits(0);
        fs::remove_dir_all(place.path("out")).expect("removed");
    }
}

#[test]
fn set_operations_respect_the_limit_of_open_files() {
    let place = files(100, |i| url(i).into());
    let names: Vec<_> = (0..100).map(|i| format!("in/{i:04}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let union = |limit, names: &[&str]| {
        run_under(&place, limit, &[&["set", "union", "-o", "out"], names].concat())
    };
    let run = union("-n 64", &names).exits(2);
    assert!(run.err.contains("100 sets") && run.err.contains("limit of 64"), "{}", run.err);
    assert_eq!(place.names(), ["in"]);
    union("-n 64", &names[..10]).exits(0);
    union("-Sn 64", &names).exits(0);
    assert_eq!(place.text("out").lines().count(), 100);
}
