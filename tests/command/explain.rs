//! `explain`: the text for people fits a terminal. Sessions say what it shows.

use super::Place;

#[test]
fn each_line_of_an_explanation_fits_80_columns() {
    let long = format!("http://h/{}%7e{}", "a".repeat(300), "\u{e9}".repeat(300));
    for arguments in [
        &["-p", "scheme", "HTTP://LocalHost:80/%c3%B6/a/../b"][..],
        &["-p", "syntax,scheme", "http://cities/\u{f6}rebro?foo bar"],
        &["-p", "all", "http://ex%61mple.com/"],
        &["--key", "template", "HTTP://h.example/2024/02/29/item12345.html?7&q=x"],
        &["--key", "domain", "mailto:a@h"],
        &[&long],
    ] {
        let run = Place::new().run(["explain"].iter().chain(arguments)).exits(0);
        // A result is on one line, so that it can be copied.
        let fits = |line: &str| line.len() <= 80 || line.starts_with("  = ");
        assert!(run.err.is_empty() && run.out().lines().all(fits), "{}", run.out());
        // Rows of a long URL that do not change are left out.
        let is_cut = run.out().contains("  - ...\n");
        assert_eq!(is_cut, arguments == [&long], "{}", run.out());
        assert!(run.out().lines().count() < 120, "{}", run.out());
    }
}
