//! Inputs that cannot be cut are read side by side, in the order of the command line.

use super::packed::gzip;
use super::{Place, Run, built};
use std::fs;
use std::io::Write;
use std::thread;

/// Starts the command, which is killed if it hangs.
fn run_soon(place: &Place, arguments: &[&str]) -> Run {
    let mut command = built::command();
    Run::of(command.args(arguments).current_dir(place.path("")).output().expect("started"))
}

#[test]
fn pipes_are_opened_at_once_and_written_in_order() {
    let place = Place::new();
    let pipes = ["a", "b", "c"];
    pipes.iter().for_each(|pipe| place.pipe(pipe));
    let paths: Vec<_> = pipes.iter().map(|pipe| place.path(pipe)).collect();
    // Each gets its writer only when the one after it is written.
    let writing = thread::spawn(move || {
        for path in paths.iter().rev() {
            let mut pipe = fs::OpenOptions::new().write(true).open(path).expect("opened");
            let name = path.file_name().expect("one").to_string_lossy();
            writeln!(pipe, "http://h/{name}\nhttp://h/all").expect("written");
        }
    });
    let run = run_soon(&place, &["dedup", "-f", "lines", "-j", "3", "a", "b", "c"]).exits(0);
    assert_eq!(run.out(), "http://h/a\nhttp://h/all\nhttp://h/b\nhttp://h/c\n");
    assert_eq!(run.summary("ok"), 3);
    writing.join().expect("ended");
}

#[test]
fn pipe_without_a_writer_does_not_hold_up_a_run_that_fails() {
    let mut damaged = gzip(b"http://h/1\n");
    damaged.truncate(15);
    let place = Place::with([("damaged.gz", &damaged)]);
    place.pipe("pipe");
    for threads in ["1", "4"] {
        let run = run_soon(&place, &["dedup", "-j", threads, "damaged.gz", "pipe"]).exits(2);
        assert!(run.err.contains("truncated") && run.out().is_empty(), "{}", run.err);
    }
    place.write("bad.gz", gzip(b"http://h:99999/\n"));
    let limited = ["dedup", "--max-rejected", "0", "-j", "2", "-f", "lines", "bad.gz", "pipe"];
    run_soon(&place, &limited).exits(3);
}
