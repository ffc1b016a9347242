//! URLs in 80 columns, or in the width of a narrower terminal. The differences between two are marked below
//! each, and coloured on a terminal.

use std::env;
use std::fmt::Write;
use std::io::IsTerminal;
use std::ops::Range;
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// Kinds of text that have a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Heading,
    Removed,
    Added,
    Wrong,
}

/// How text is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextStyle {
    colors: Colors,
    /// Columns of a line.
    width: usize,
}

/// Whether text has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colors {
    Written,
    LeftOut,
}

/// Columns of a line, and the minimum for narrower terminals.
const WIDTH: usize = 80;
const LEAST_WIDTH: usize = 20;

impl TextStyle {
    /// The style for an output: with colours at a terminal, unless NO_COLOR is set, and in its width.
    pub(crate) fn of(to: &(impl IsTerminal + AsFd)) -> Self {
        let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colors = match to.is_terminal() && !set("NO_COLOR") && !dumb {
            true => Colors::Written,
            false => Colors::LeftOut,
        };
        // Terminals that do not know their width report 0.
        let columns = tcgetwinsize(to).map_or(0, |size| usize::from(size.ws_col));
        let width = if columns == 0 { WIDTH } else { columns.clamp(LEAST_WIDTH, WIDTH) };
        Self { colors, width }
    }

    /// `text` in the colour of its role, by the codes of ECMA-48.
    pub(crate) fn text(self, role: Role, text: &str) -> String {
        let code = match role {
            Role::Heading => "1",
            Role::Removed | Role::Wrong => "1;31",
            Role::Added => "1;32",
        };
        match self.colors {
            Colors::Written => format!("\x1b[{code}m{text}\x1b[0m"),
            Colors::LeftOut => text.to_owned(),
        }
    }

    /// Appends `text` after `lead`, in lines broken at spaces, its first word a heading.
    pub(crate) fn headed(self, lead: &str, heading: &str, text: &str, out: &mut String) {
        // Coloured after it is broken into lines, for colour codes take no columns.
        let mut lines = String::new();
        wrapped(lead, &format!("{heading}{text}"), self, &mut lines);
        out.push_str(&lines.replacen(heading, &self.text(Role::Heading, heading), 1));
    }
}

/// The maximum of marked rows shown for one URL.
const ROWS: usize = 8;
/// The minimum of columns in a row, however long its lead is.
const MIN_ROW: usize = 8;

/// Appends a URL after `lead`, its marked bytes coloured, with carets below them. If it
/// takes several rows, those without a mark are left out. An empty mark marks the byte at its start.
pub(crate) fn marked(
    lead: &str,
    url: &[u8],
    marks: &[Range<usize>],
    (style, role): (TextStyle, Role),
    out: &mut String,
) {
    let cells = cells(url, marks);
    let rows = rows(&cells, style.width.saturating_sub(lead.len()).max(MIN_ROW));
    let blank = " ".repeat(lead.len());
    let mut shown = 0;
    let mut gap = false;
    for (i, row) in rows.iter().enumerate() {
        let is_marked = row.iter().any(|cell| cell.marked);
        let left_out = rows.len() > 1 && (!is_marked || shown == ROWS) && !marks.is_empty();
        if left_out || shown == ROWS {
            if !gap {
                let _ = writeln!(out, "{}...", if i == 0 { lead } else { &blank });
            }
            gap = true;
            continue;
        }
        gap = false;
        shown += 1;
        let mut carets = String::new();
        let mut painted = String::new();
        // Codes stand around runs of bytes. Around each byte, they would be longer than the URL.
        for run in row.chunk_by(|a, b| a.marked == b.marked) {
            // The mark at the end of a URL has no text, and colour codes around nothing would only be noise.
            let text: String = run.iter().map(|cell| cell.text.as_str()).collect();
            let is_painted = run[0].marked && !text.is_empty();
            let columns = run.iter().map(Cell::columns).sum();
            carets.push_str(&if run[0].marked { "^" } else { " " }.repeat(columns));
            painted.push_str(&if is_painted { style.text(role, &text) } else { text });
        }
        // Lines end in no spaces except those of the URL.
        let lead = if i == 0 { lead } else { &blank };
        out.push_str(if painted.is_empty() { lead.trim_end() } else { lead });
        let _ = writeln!(out, "{painted}");
        if is_marked {
            let indent = carets.len() - carets.trim_start().len();
            let carets = style.text(role, carets.trim());
            let _ = writeln!(out, "{blank}{}{carets}", " ".repeat(indent));
        }
    }
}

/// A byte as it is shown, or nothing for the end of the URL.
struct Cell {
    text: String,
    marked: bool,
}

impl Cell {
    fn is_end(&self) -> bool {
        self.text.is_empty()
    }

    /// How many it takes, one also below the end.
    fn columns(&self) -> usize {
        self.text.len().max(1)
    }
}

fn cells(url: &[u8], marks: &[Range<usize>]) -> Vec<Cell> {
    let is_marked = |at: usize| {
        marks.iter().any(|mark| mark.contains(&at) || (mark.is_empty() && mark.start == at))
    };
    let shown = url.iter().enumerate().map(|(at, byte)| Cell {
        text: uniqurl_text::Printable(&[*byte]).to_string(),
        marked: is_marked(at),
    });
    let mut cells: Vec<Cell> = shown.collect();
    if is_marked(url.len()) {
        cells.push(Cell { text: String::new(), marked: true });
    }
    cells
}

fn rows(cells: &[Cell], width: usize) -> Vec<&[Cell]> {
    let mut rows = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (i, cell) in cells.iter().enumerate() {
        if used + cell.columns() > width {
            // A row with only the end mark would show no part of the URL.
            let end = if cell.is_end() { usize::midpoint(start, i) } else { i };
            rows.push(&cells[start..end]);
            (start, used) = (end, 0);
        }
        used += cell.columns();
    }
    rows.push(&cells[start..]);
    rows
}

/// Appends `text` after `lead`, in lines broken at spaces.
pub(crate) fn wrapped(lead: &str, text: &str, style: TextStyle, out: &mut String) {
    let mut column = 0;
    for word in text.split(' ') {
        if column == 0 || column + 1 + word.len() > style.width {
            out.push_str(if column == 0 { "" } else { "\n" });
            out.push_str(lead);
            column = lead.len();
        } else {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += word.len();
    }
    out.push('\n');
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init, reason = "a list of marks may have one")]
mod tests {
    use super::*;

    const PLAIN: TextStyle = TextStyle { colors: Colors::LeftOut, width: WIDTH };
    const COLORED: TextStyle = TextStyle { colors: Colors::Written, width: WIDTH };

    fn shown(url: &str, marks: &[Range<usize>]) -> String {
        let mut out = String::new();
        marked("  - ", url.as_bytes(), marks, (PLAIN, Role::Removed), &mut out);
        out
    }

    #[test]
    fn carets_are_below_the_marked_bytes() {
        assert_eq!(shown("abc", &[1..2]), "  - abc\n     ^\n");
        assert_eq!(shown("abc", &[3..3]), "  - abc\n       ^\n");
        assert_eq!(shown("a\nb", &[2..3]), "  - a\\x0Ab\n         ^\n");
        assert_eq!(shown("a\nb", &[1..2]), "  - a\\x0Ab\n     ^^^^\n");
        assert_eq!(shown("abc", &[]), "  - abc\n");
        assert_eq!(shown("", &[0..0]), "  -\n    ^\n");
        assert_eq!(shown("", &[]), "  -\n");
    }

    #[test]
    fn trailing_spaces_are_shown() {
        assert_eq!(shown("a ", &[1..2]), "  - a \n     ^\n");
        assert_eq!(shown("a  ", &[3..3]), "  - a  \n       ^\n");
        assert_eq!(shown(" ", &[]), "  -  \n");
        let row = format!("{} ", "x".repeat(75));
        assert_eq!(shown(&format!("{row}y"), &[]), format!("  - {row}\n    y\n"));
    }

    #[test]
    fn mark_at_the_end_is_shown_with_bytes_before_it() {
        let text = shown(&"x".repeat(76), &[76..76]);
        let half = "x".repeat(38);
        assert_eq!(text, format!("  - ...\n    {half}\n{}^\n", " ".repeat(42)));
        assert_eq!(shown(&"x".repeat(75), &[75..75]).lines().count(), 2);
    }

    #[test]
    fn empty_mark_colors_only_its_caret() {
        let mut out = String::new();
        marked("", b"a", &[1..1], (COLORED, Role::Wrong), &mut out);
        assert_eq!(out, "a\n \x1b[1;31m^\x1b[0m\n");
    }

    #[test]
    fn rows_without_a_mark_are_left_out() {
        let long = "x".repeat(300);
        let text = shown(&long, &[150..151]);
        let row = "x".repeat(76);
        let caret = " ".repeat(4 + 150 - 76);
        assert_eq!(text, format!("  - ...\n    {row}\n{caret}^\n    ...\n"));
        for text in [text, shown(&long, &[0..300]), shown(&long, &[300..300]), shown(&long, &[])] {
            assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        }
        let huge = "x".repeat(100_000);
        assert!(shown(&huge, &[0..100_000]).lines().count() < 20);
        assert!(shown(&huge, &[]).lines().count() < 20);
    }

    #[test]
    fn only_marked_bytes_are_colored() {
        let mut out = String::new();
        marked("", b"abc", &[1..2], (COLORED, Role::Added), &mut out);
        assert_eq!(out, "a\x1b[1;32mb\x1b[0mc\n \x1b[1;32m^\x1b[0m\n");
        let file = tempfile::tempfile().expect("a file");
        assert_eq!(TextStyle::of(&file), PLAIN);
    }

    #[test]
    fn lines_fit_a_narrow_terminal() {
        for width in [LEAST_WIDTH, 33, 60] {
            let narrow = TextStyle { width, ..PLAIN };
            let mut out = String::new();
            marked("  - ", &[b'x'; 300], &[150..151], (narrow, Role::Removed), &mut out);
            narrow.headed("  ", "rule", &" word".repeat(40), &mut out);
            assert!(out.lines().all(|line| line.len() <= width), "{out}");
            assert!(out.contains(&format!("\n    {}\n", "x".repeat(width - 4))), "{out}");
        }
    }

    #[test]
    fn color_codes_do_not_count_as_columns_of_a_heading() {
        let [mut plain, mut colored] = [String::new(), String::new()];
        let text = format!(" {}", ["word"; 14].join(" "));
        PLAIN.headed("  ", "rule", &text, &mut plain);
        COLORED.headed("  ", "rule", &text, &mut colored);
        assert_eq!(plain, format!("  rule{text}\n"));
        assert_eq!(colored, format!("  \x1b[1mrule\x1b[0m{text}\n"));
    }

    #[test]
    fn text_wraps_at_spaces() {
        let mut out = String::new();
        wrapped("  ", &["word"; 40].join(" "), PLAIN, &mut out);
        assert!(out.lines().all(|line| line.len() <= 80 && line.starts_with("  word")));
        assert_eq!(out.split_whitespace().count(), 40);
    }
}
