//! An output whose bytes are counted in the last phase of a run.

use std::io::{self, IoSlice, Write};

use crate::watch::{Phase, Watch};

/// The output of the lines that waited. The first write begins the phase *writing*.
pub(crate) struct PhaseWriter<'a> {
    out: &'a mut (dyn Write + Send),
    watch: &'a Watch,
    written: u64,
}

impl<'a> PhaseWriter<'a> {
    pub(crate) fn new(out: &'a mut (dyn Write + Send), watch: &'a Watch) -> Self {
        Self { out, watch, written: 0 }
    }

    fn note(&mut self, written: usize) {
        self.written += written as u64;
        self.watch.enter(Phase::Writing(self.written));
    }
}

impl Write for PhaseWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.note(written);
        Ok(written)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        let written = self.out.write_vectored(parts)?;
        self.note(written);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_write_begins_the_last_phase() {
        let (watch, mut out) = (Watch::default(), Vec::new());
        let mut writer = PhaseWriter::new(&mut out, &watch);
        assert_eq!(watch.phase(), Phase::Reading);
        watch.enter(Phase::Sorting);
        writer.write_all(b"ab").unwrap();
        assert_eq!(watch.phase(), Phase::Writing(2));
        assert_eq!(writer.write_vectored(&[IoSlice::new(b"c"), IoSlice::new(b"d")]).unwrap(), 2);
        assert_eq!(watch.phase(), Phase::Writing(4));
        assert_eq!(out, b"abcd");
    }
}
