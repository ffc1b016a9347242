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

/// A run with its standard output and error at a terminal, or either of them: what it shows, and its exit status.
fn shown(
    place: &Place,
    arguments: &[&str],
    columns: u16,
    [out, err]: [bool; 2],
    (name, value): (&str, &str),
) -> (String, Option<i32>) {
    let [person, command] = terminal(columns);
    let end = |is_shown: bool| match is_shown {
        true => command.try_clone().expect("one more").into(),
        false => Stdio::null(),
    };
    let mut run = built::process();
    run.args(arguments).current_dir(place.path("")).env_remove("NO_COLOR").env(name, value);
    let mut child =
        run.stdin(Stdio::null()).stdout(end(out)).stderr(end(err)).spawn().expect("started");
    drop((run, command));
    (seen(person), child.wait().expect("ended").code())
}

const XTERM: (&str, &str) = ("TERM", "xterm");

#[test]
fn explanation_fits_a_narrow_terminal_and_has_colors() {
    let place = Place::new();
    let narrow = ["explain", "-p", "all", "HTTP://ex%41mple.com:80/%zz"];
    for columns in [30, 44, 79] {
        let (text, status) = shown(&place, &narrow, columns, [true, false], ("NO_COLOR", "1"));
        assert!(status == Some(0) && text.contains("scheme-case"), "{text}");
        let fits = |line: &str| line.len() <= columns.into() || line.starts_with("  = ");
        assert!(text.lines().all(fits), "{columns}: {text}");
    }
    for (variable, has_colors) in
        [(XTERM, true), (("TERM", "dumb"), false), (("NO_COLOR", "1"), false)]
    {
        let (text, _) = shown(&place, &["explain", "HTTP://h/"], 80, [true, false], variable);
        assert_eq!(text.contains("- \x1b[1;31mHTTP\x1b[0m://h/"), has_colors, "{text}");
        assert_eq!(text.contains("+ \x1b[1;32mhttp\x1b[0m://h/"), has_colors, "{text}");
    }
}

#[test]
fn messages_at_a_terminal_group_digits_and_leave_out_empty_accounts() {
    let list = "http://a/\n".repeat(1_200) + "x\n";
    let place = Place::with([("in", list.as_bytes())]);
    let summary = "records 1,201 = unique 1 + duplicates 1,199 + rejected 1 + blank 0; \
                   inputs 1 ok, 0 damaged, 0 missing; 12,002 bytes in ";
    for (arguments, status, start, count) in [
        (&["dedup", "in", "-o", "out"][..], 0, summary, 1),
        (&["dedup", "in", "-q"], 0, "", 0),
        (&["dedup", "in", "--frob"], 2, "uniqurl: ", 2),
        (&["dedup", "missing"], 2, "uniqurl: ", 1),
        (&["dedup", "in", "-o", "none/x"], 2, "uniqurl: ", 1),
        (&["dedup", "in", "--seen", "missing"], 2, "uniqurl: ", 2),
        // Some of the input was read.
        (&["dedup", "in", "--max-rejected", "0"], 3, "uniqurl: ", 2),
    ] {
        let (text, code) = shown(&place, arguments, 100, [false, true], XTERM);
        assert_eq!((code, text.lines().count()), (Some(status), count), "{text}");
        assert!(text.starts_with(start), "{text}");
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
    let place = Place::with([("in", b"http://a/\n")]);
    for (option, out) in [("--report", ""), ("--rejects", "http://a/\n")] {
        let arguments = ["dedup", "-q", "in", option, "page"];
        assert_eq!(shown(&place, &arguments, 80, [true, false], XTERM).0, out);
    }
}

#[test]
fn progress_bar_is_drawn_unless_input_is_typed_or_lines_are_shown() {
    for (is_typed, is_shown, arguments, is_drawn) in [
        (false, false, &["-o", "out"][..], true),
        (true, false, &["-o", "out"], false),
        // A bar would be drawn after each line, and never cleared before the next.
        (false, true, &[], false),
        (false, true, &["--progress", "always"], true),
    ] {
        // A busy machine may take longer to draw a bar.
        for seconds in [1, 5, 25] {
            let place = Place::new();
            let [mut person, command] = terminal(80);
            let end = |is_at_terminal: bool, other: Stdio| match is_at_terminal {
                true => command.try_clone().expect("one more").into(),
                false => other,
            };
            let mut run = built::process();
            run.args(["normalize", "-"]).args(arguments).current_dir(place.path(""));
            run.env("TERM", "xterm").stdin(end(is_typed, Stdio::piped()));
            run.stdout(end(is_shown, Stdio::null())).stderr(end(true, Stdio::null()));
            let mut child = run.spawn().expect("started");
            drop((run, command));
            thread::sleep(Duration::from_secs(seconds));
            match child.stdin.take() {
                Some(mut pipe) => pipe.write_all(b"http://a/\n").expect("taken"),
                None => person.write_all(b"http://a/\n\x04").expect("taken"),
            }
            let text = seen(person);
            assert!(child.wait().expect("ended").success());
            assert!(text.contains("records 1 = "), "{text}");
            if text.contains("\x1b[2K") == is_drawn {
                break;
            }
            assert!(seconds < 25, "{arguments:?}: {text}");
        }
    }
}

#[test]
fn progress_draws_over_its_line_unless_the_terminal_is_dumb() {
    let place = Place::with([("in", b"http://a/\n")]);
    let always = ["dedup", "in", "--progress", "always"];
    for (term, is_drawn) in [("xterm", true), ("dumb", false)] {
        let (text, _) = shown(&place, &always, 100, [false, true], ("TERM", term));
        // A short run may be over with most phases before they are drawn.
        let phases = ["\rreading ", "\rsorting ", "\rwriting "];
        let is_phase = phases.iter().any(|phase| text.contains(phase));
        assert_eq!(is_phase, is_drawn, "{text:?}");
        assert_eq!(text.contains("\x1b[2K"), is_drawn, "{text:?}");
        assert!(text.contains("records 1 = unique 1 + "), "{text:?}");
    }
}
