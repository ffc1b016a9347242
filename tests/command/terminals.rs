//! The output a person sees when running the command at a terminal.

use super::{Place, built};
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

/// A terminal of this width: the side of the person, and the side of the command.
fn terminal(columns: u16) -> [File; 2] {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    unlockpt(&person).expect("unlocked");
    let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&person, size).expect("sized");
    let name = ptsname(&person, Vec::new()).expect("a name");
    let command = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("opened");
    [person.into(), command.into()]
}

/// The text left on the terminal after the command has closed its side.
fn seen(mut person: File) -> String {
    let mut seen = Vec::new();
    // A read fails once the other side is closed.
    let _ = person.read_to_end(&mut seen);
    String::from_utf8(seen).expect("text").replace("\r\n", "\n")
}

#[test]
fn explanation_fits_a_narrow_terminal() {
    for columns in [30, 44, 79] {
        let [person, command] = terminal(columns);
        let mut explain = built::process();
        explain.args(["explain", "-p", "all", "--color", "never", "HTTP://ex%41mple.com:80/%zz"]);
        let mut child = explain.stdout(command).stderr(Stdio::null()).spawn().expect("started");
        drop(explain);
        let text = seen(person);
        assert!(child.wait().expect("ended").success());
        assert!(text.contains("scheme-case"), "{text}");
        let fits = |line: &str| line.len() <= columns.into() || line.starts_with("  = ");
        assert!(text.lines().all(fits), "{columns}: {text}");
    }
}

#[test]
fn no_progress_bar_is_drawn_while_input_is_typed() {
    for is_typed in [true, false] {
        let place = Place::new();
        let [mut person, command] = terminal(80);
        let mut dedup = built::process();
        dedup.args(["dedup", "-", "-o", "out"]).current_dir(place.path(""));
        let stdin = match is_typed {
            true => command.try_clone().expect("one more").into(),
            false => Stdio::piped(),
        };
        let mut child = dedup.stdin(stdin).stderr(command).spawn().expect("started");
        drop(dedup);
        // Otherwise a run of this length has a bar.
        thread::sleep(Duration::from_secs(1));
        match child.stdin.take() {
            Some(mut pipe) => pipe.write_all(b"http://a/\n").expect("taken"),
            None => person.write_all(b"http://a/\n\x04").expect("taken"),
        }
        let text = seen(person);
        assert!(child.wait().expect("ended").success());
        assert_eq!(place.text("out"), "http://a/\n");
        assert_eq!(!text.contains('\x1b'), is_typed, "{text}");
    }
}

#[test]
fn help_is_shown_at_a_terminal_without_a_command() {
    let [person, command] = terminal(80);
    let mut bare = built::process();
    bare.stdin(command.try_clone().expect("one more")).stdout(Stdio::null()).stderr(command);
    let mut child = bare.spawn().expect("started");
    drop(bare);
    assert!(seen(person).contains("Usage: uniqurl"));
    assert_eq!(child.wait().expect("ended").code(), Some(2));
}
