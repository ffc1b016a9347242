//! What only root can try: files of other users, mounts, limits of another user. Each test fails where it cannot be
//! tried; `cargo test --test command root:: -- --ignored` runs them.

use super::{Place, Run, built};
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::process::Command;

const URLS: &[u8] = b"http://b/\nHTTP://A/\nhttp://a\n";

/// The file may be writable although no new file can be made beside it to replace it, and a rename that would be
/// refused is reported before any work, too.
#[test]
#[ignore = "needs root"]
fn output_in_a_directory_of_another_user_is_refused_before_reading() {
    let place = Place::with([("in", URLS), ("theirs", b"old")]);
    place.set_mode("theirs", 0o666);
    for name in ["dir", "closed", "hidden"] {
        fs::create_dir(place.path(name)).expect("made");
    }
    for (name, owner) in [("theirs", 1), ("dir", 1), ("closed", 2), ("hidden", 2)] {
        chown(place.path(name), Some(owner), Some(owner)).expect("given");
    }
    place.set_mode("closed", 0o500);
    place.set_mode("hidden", 0o600);
    let names = place.names();
    let in_directory = "nothing can be made in the directory .: Permission";
    let in_it = "nothing can be made in it with its permissions";
    for (mode, output, told) in [
        (0o755, &["theirs"][..], in_directory),
        (0o755, &["new"], in_directory),
        (0o755, &["new", "--split-by", "hash:2"], in_directory),
        (0o1777, &["theirs"], "sticky bit"),
        (0o1777, &["dir", "--split-by", "hash:2"], "sticky bit"),
        (0o777, &["closed", "--split-by", "hash:2"], in_it),
        (0o777, &["hidden", "--split-by", "hash:2"], in_it),
    ] {
        place.set_mode("", mode);
        let arguments = [&["dedup", "in", "--rejects", "rejects", "-o"], output].concat();
        let run = place.run_as_other(&arguments).expect("a user 2").exits(2);
        assert!(run.err.starts_with(&format!("uniqurl: {}: ", output[0])), "{}", run.err);
        assert!(run.err.contains(told) && !run.err.contains(".uniqurl-"), "{}", run.err);
        assert_eq!((run.summary("records"), place.names()), (0, names.clone()), "{output:?}");
    }
    place.run(["dedup", "in", "-o", "theirs"]).exits(0);
    assert_eq!(place.text("theirs").lines().count(), 2);
}

/// The kept mode bits must not open the file to a group that could not read the old one.
#[test]
#[ignore = "needs root"]
fn output_is_not_opened_to_another_group() {
    let place = Place::with([("in", URLS)]);
    place.set_mode("", 0o777);
    let old = place.path("old");
    for (before, after) in [(0o770, 0o700), (0o774, 0o744), (0o706, 0o706)] {
        for split in [&[][..], &["--split-by", "hash:2"]] {
            if split.is_empty() {
                place.write("old", "old")
            } else {
                fs::create_dir(&old).expect("made")
            }
            place.set_mode("old", before);
            chown(&old, Some(2), Some(3)).expect("given");
            let arguments = [&["dedup", "in", "-o", "old"], split].concat();
            place.run_as_other(&arguments).expect("a user 2").exits(0);
            let found = fs::metadata(&old).expect("there");
            assert_eq!((found.gid(), found.mode() & 0o777), (2, after), "{split:?}");
            fs::remove_file(&old).or_else(|_| fs::remove_dir_all(&old)).expect("removed");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs root, and the right to mount"]
fn output_on_a_mount_point_is_rejected() {
    let place = Place::with([("in", URLS), ("file", b"old"), ("other", b"other")]);
    fs::create_dir(place.path("dir")).expect("made");
    for output in [&["file"][..], &["dir", "--split-by", "hash:2"]] {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c"]).current_dir(place.path(""));
        command.arg("mount --bind other file && mount -t tmpfs none dir || exit 77; exec \"$@\"");
        let run = built::process();
        command.arg("sh").arg(run.get_program()).args(run.get_args());
        command.args(["dedup", "in", "--rejects", "rejects", "-o"]).args(output);
        let run = Run::of(command.output().expect("unshare")).exits(2);
        assert!(run.err.contains("mount") && run.summary("records") == 0, "{}", run.err);
        assert_eq!(place.names(), ["dir", "file", "in", "other"]);
    }
}

#[test]
#[ignore = "needs root"]
fn a_directory_of_another_user_is_no_place_for_temporary_files() {
    let place = Place::with([("in", URLS)]);
    place.set_mode("", 0o755);
    for (name, mode, owner) in [("theirs", 0o777, 1), ("shared", 0o1777, 1), ("root", 0o777, 0)] {
        fs::create_dir(place.path(name)).expect("made");
        place.set_mode(name, mode);
        chown(place.path(name), Some(owner), Some(owner)).expect("given");
    }
    let told = "it is another user's, and not shared (mode +t)";
    let to_root =
        |directory| place.run(["dedup", "in", "-o", "/dev/null", "--temp-dir", directory]);
    let to_other = |directory| {
        let arguments = ["dedup", "in", "-o", "/dev/null", "--temp-dir", directory];
        place.run_as_other(&arguments).expect("a user 2")
    };
    for (run, status) in [
        (to_root("theirs"), 2),
        (to_root("shared"), 0),
        (to_root("root"), 0),
        (to_other("theirs"), 2),
        (to_other("shared"), 0),
        (to_other("root"), 2),
    ] {
        assert_eq!(run.err.contains(told), status == 2, "{}", run.err);
        run.exits(status);
    }
    let mut command = built::command();
    command.args(["dedup", "in"]).env("TMPDIR", "theirs").current_dir(place.path(""));
    let warned = Run::of(command.output().expect("started")).exits(0);
    assert!(warned.err.starts_with(&format!("uniqurl: warning: TMPDIR: theirs: {told}")));
}

/// The thread that flushes a large output to the disk early only helps; a run works without it.
#[test]
#[ignore = "needs root, and setpriv"]
fn run_without_a_flush_thread_succeeds() {
    let place = Place::new();
    let line = |i| format!("http://example.com/{i}{}\n", "x".repeat(60_000));
    place.write("in", (0..1200).map(line).collect::<String>());
    place.set_mode("", 0o777);
    let mut ends = [0; 2];
    // Root has no limit of processes, and this user has no others.
    for limit in 1..10 {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=54321", "--regid=54321", "--clear-groups"]);
        command.args(["prlimit", &format!("--nproc={limit}")]);
        let run = built::process();
        command.arg(run.get_program()).args(run.get_args());
        command.args(["dedup", "-p", "string", "-j", "1", "in", "-o", "out"]);
        let run = Run::of(command.current_dir(place.path("")).output().expect("setpriv"));
        // Either the run fails to start a thread, or it gets all of them.
        match run.status {
            Some(0) => ends[0] += 1,
            Some(2) => ends[1] += 1,
            other => panic!("{other:?}: {}", run.err),
        }
        assert!(!run.err.contains("uniqurl: out"), "{limit}: {}", run.err);
    }
    assert!(ends[0] > 0 && ends[1] > 0, "{ends:?}");
}
