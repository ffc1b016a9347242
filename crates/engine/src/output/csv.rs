//! Rows of CSV, quoted as RFC 4180 says. Each ends with a line feed, as the lines of every other output do.

use std::borrow::Cow;

/// Appends a row of these cells.
pub(super) fn append_row<'a>(cells: impl Iterator<Item = Cow<'a, [u8]>>, out: &mut Vec<u8>) {
    let start = out.len();
    for (i, cell) in cells.enumerate() {
        if i > 0 {
            out.push(b',');
        }
        // A single CR too: some readers end a row at it, though RFC 4180 ends rows with CRLF.
        if !cell.iter().any(|byte| matches!(byte, b'"' | b',' | b'\n' | b'\r')) {
            out.extend_from_slice(&cell);
            continue;
        }
        out.push(b'"');
        for (i, part) in cell.split(|byte| *byte == b'"').enumerate() {
            out.extend_from_slice(if i > 0 { b"\"\"" } else { b"" });
            out.extend_from_slice(part);
        }
        out.push(b'"');
    }
    // Readers skip an empty line, so a single cell without text shows that it is there.
    if out.len() == start {
        out.extend_from_slice(b"\"\"");
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cells_that_need_quotes_have_them() {
        for (cells, row) in [
            (&["a b", "", "\t'"][..], "a b,,\t'\n"),
            (
                &["a,b", "say \"x\"", "two\nlines", "\r"],
                "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\"\r\"\n",
            ),
            (&["", ""], ",\n"),
            (&[""], "\"\"\n"),
        ] {
            let mut out = b"before\n".to_vec();
            append_row(cells.iter().map(|cell| Cow::Borrowed(cell.as_bytes())), &mut out);
            assert_eq!(out, ["before\n", row].concat().as_bytes());
        }
    }
}
