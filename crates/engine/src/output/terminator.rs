//! Lines that end with NUL instead of a line feed (`-0`).
//!
//! In: text whose lines end with line feeds. Out: the same text with the separator in their place.

use std::io::{self, IoSlice, Write};

use super::vectored;
use uniqurl_formats::record::Separator;

/// Puts the separator in the place of each line feed. No canonical URL, key or column holds one, so a
/// line feed is always the end of a line.
#[derive(Debug)]
pub struct TerminatorWriter<W> {
    inner: W,
    separator: Separator,
    text: Vec<u8>,
}

impl<W: Write> TerminatorWriter<W> {
    /// Ends lines with `separator`.
    pub fn new(inner: W, separator: Separator) -> Self {
        Self { inner, separator, text: Vec::new() }
    }

    /// The writer that the text goes to.
    pub fn inner(&self) -> &W {
        &self.inner
    }

    /// The same, to be changed.
    pub fn inner_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Gives the writer back.
    pub fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for TerminatorWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.separator == Separator::LineFeed {
            return self.inner.write(bytes);
        }
        self.text.clear();
        let end = self.separator.byte();
        self.text.extend(bytes.iter().map(|byte| if *byte == b'\n' { end } else { *byte }));
        // The text is as long as `bytes`, so the number of bytes written holds for both.
        self.inner.write(&self.text)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self.separator {
            Separator::LineFeed => self.inner.write_vectored(parts),
            Separator::Nul => self.write(vectored::first(parts)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_line_feeds_are_replaced() {
        for (separator, expected) in
            [(Separator::LineFeed, &b"a\r\n\0b\n"[..]), (Separator::Nul, b"a\r\0\0b\0")]
        {
            let mut out = Vec::new();
            TerminatorWriter::new(&mut out, separator).write_all(b"a\r\n\0b\n").unwrap();
            assert_eq!(out, expected);
        }
    }
}
