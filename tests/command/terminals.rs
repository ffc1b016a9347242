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
        explain.args(["explain", "-p", "all", "HTTP://ex%41mple.com:80/%zz"]).env("NO_COLOR", "1");
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
fn explanations_have_colors_at_a_terminal() {
    for (name, value, has_colors) in
        [("TERM", "xterm", true), ("TERM", "dumb", false), ("NO_COLOR", "1", false)]
    {
        let [person, command] = terminal(80);
        let mut explain = built::process();
        explain.args(["explain", "HTTP://h/"]).env_remove("NO_COLOR").env(name, value);
        let mut child = explain.stdout(command).stderr(Stdio::null()).spawn().expect("started");
        drop(explain);
        let text = seen(person);
        assert!(child.wait().expect("ended").success());
        assert_eq!(text.contains("- \x1b[1;31mHTTP\x1b[0m://h/"), has_colors, "{text}");
        assert_eq!(text.contains("+ \x1b[1;32mhttp\x1b[0m://h/"), has_colors, "{text}");
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

/// The standard error of a run at a terminal, and its exit status.
fn shown(place: &Place, arguments: &[&str], term: &str) -> (String, Option<i32>) {
    let [person, command] = terminal(100);
    let mut run = built::process();
    run.args(arguments).current_dir(place.path("")).env("TERM", term);
    let mut child =
        run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(command).spawn().expect("started");
    drop(run);
    (seen(person), child.wait().expect("ended").code())
}

#[test]
fn summary_at_a_terminal_groups_digits() {
    let list = "http://a/\n".repeat(1_200) + "x\n";
    let place = Place::with([("in", list.as_bytes())]);
    let (text, _) = shown(&place, &["dedup", "in", "-o", "out"], "xterm");
    let line = "records 1,201 = unique 1 + duplicates 1,199 + rejected 1 + blank 0; \
                inputs 1 ok, 0 damaged, 0 missing; 12,002 bytes in ";
    assert!(text.starts_with(line), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    let (text, _) = shown(&place, &["dedup", "in", "-q"], "xterm");
    assert_eq!(text, "");
}

#[test]
fn wrong_usage_at_a_terminal_has_no_accounting() {
    let place = Place::with([("in", b"http://a/\n")]);
    for arguments in [
        &["dedup", "in", "--frob"][..],
        &["dedup", "missing"],
        &["dedup", "in", "-o", "none/x"],
        &["dedup", "in", "--seen", "missing"],
    ] {
        let (text, status) = shown(&place, arguments, "xterm");
        assert_eq!(status, Some(2), "{text}");
        assert!(text.starts_with("uniqurl: ") && !text.contains("record"), "{text}");
    }
    // Some of the input was read.
    let (text, _) = shown(&place, &["dedup", "in", "--max-rejected", "0", "in"], "xterm");
    assert!(
        text.contains("records 2 = unique 1 + duplicates 1 + rejected 0 + blank 0; "),
        "{text}"
    );
}

#[test]
fn progress_draws_over_its_line_unless_the_terminal_is_dumb() {
    let place = Place::with([("in", b"http://a/\n")]);
    for (term, is_drawn) in [("xterm", true), ("dumb", false)] {
        let (text, _) = shown(&place, &["dedup", "in", "--progress", "always"], term);
        // A short run may be over with a phase before it is drawn.
        let is_phase = ["\rreading ", "\rwriting "].iter().any(|phase| text.contains(phase));
        assert_eq!(is_phase, is_drawn, "{text:?}");
        assert_eq!(text.contains("\x1b[2K"), is_drawn, "{text:?}");
        assert!(text.contains("records 1 = unique 1 + "), "{text:?}");
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

#[test]
fn report_alone_writes_no_list_to_a_terminal() {
    for options in [&["--report", "page"][..], &["--rejects", "page"]] {
        let place = Place::with([("in", b"http://a/\n")]);
        let [person, command] = terminal(80);
        let mut dedup = built::process();
        dedup.args(["dedup", "-q", "in"]).args(options).current_dir(place.path(""));
        let mut child = dedup.stdout(command).spawn().expect("started");
        drop(dedup);
        let text = seen(person);
        assert!(child.wait().expect("ended").success());
        assert_eq!(text.is_empty(), options[0] == "--report", "{text}");
    }
}
