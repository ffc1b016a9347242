//! Where a run writes, and how batches are formatted for it.

use std::fmt;
use std::io::{self, Write};

use crate::batch::{BatchOutput, Header, WorkBatch};
use crate::output::vectored;
use crate::split::mark_record;
use crate::stages::format::Formatter;
use uniqurl_formats::record::without_mark;
use uniqurl_store::seen::KeySink;
use uniqurl_text::Printable;

/// Where a run writes.
pub struct Sinks<'s> {
    /// The output of the job.
    pub out: &'s mut (dyn Write + Send),
    /// The rejected records.
    pub rejects: Option<&'s mut (dyn Write + Send)>,
    /// Takes the keys of a set that are written, at the end of the run.
    pub keys: Option<&'s mut dyn KeySink>,
}

impl<'s> Sinks<'s> {
    /// Only the output of the job.
    pub fn to(out: &'s mut (dyn Write + Send)) -> Self {
        Self { out, rejects: None, keys: None }
    }

    /// The same, and the rejected records.
    #[must_use]
    pub fn with_rejects(self, rejects: &'s mut (dyn Write + Send)) -> Self {
        Self { rejects: Some(rejects), ..self }
    }
}

impl fmt::Debug for Sinks<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rejects, keys) = (self.rejects.is_some(), self.keys.is_some());
        f.debug_struct("Sinks")
            .field("rejects", &rejects)
            .field("keys", &keys)
            .finish_non_exhaustive()
    }
}

/// The end of the pipeline.
pub(crate) struct Sink<'a> {
    pub(crate) formatter: Formatter<'a>,
    pub(crate) out: &'a mut (dyn Write + Send),
    rejects: Option<&'a mut (dyn Write + Send)>,
    pub(crate) keys: Option<&'a mut dyn KeySink>,
    headers: Headers,
}

/// The headers of records that are written as they came: all inputs have the same ones, and they are written once.
#[derive(Default)]
struct Headers {
    written: Vec<Vec<u8>>,
    /// Whether records were written after them.
    are_complete: bool,
}

impl Headers {
    /// Adds those of a batch, and gives back the new ones.
    fn add<'b>(&mut self, batch: &'b BatchOutput) -> io::Result<Vec<&'b [u8]>> {
        let mut new = Vec::new();
        for Header { path, bytes } in &batch.headers {
            let text = without_mark(bytes).trim_ascii_end();
            if self.written.iter().any(|header| header == text) {
                continue;
            }
            if self.are_complete {
                let path = Printable::path(path);
                let why = format!("{path}: its header differs from that of the inputs before it");
                return Err(io::Error::other(why));
            }
            self.written.push(text.to_vec());
            new.push(&bytes[..]);
        }
        self.are_complete |= !(batch.lines.is_empty() && batch.rejects.is_empty());
        Ok(new)
    }
}

impl<'a> Sink<'a> {
    pub(crate) fn new<'s: 'a>(sinks: Sinks<'s>, formatter: Formatter<'a>) -> Self {
        let Sinks { out, rejects, keys } = sinks;
        // A trait object behind an Option keeps its lifetime. Coerced one by one, they get the shorter one.
        let (rejects, keys) = (rejects.map(|out| out as _), keys.map(|keys| keys as _));
        Self { formatter, out, rejects, keys, headers: Headers::default() }
    }

    /// Flushes the outputs.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()?;
        self.rejects.as_mut().map_or(Ok(()), |rejects| rejects.flush())
    }

    /// Stage *write*.
    pub(crate) fn write(&mut self, batches: &[WorkBatch]) -> io::Result<()> {
        for batch in batches {
            for header in self.headers.add(&batch.out)? {
                self.write_header(header)?;
            }
        }
        let lines = batches.iter().map(|batch| batch.out.lines.as_slice());
        // All batches at once, since few large writes are faster than many small ones.
        vectored::write_all(lines, |parts| self.out.write_vectored(parts))?;
        let Some(rejects) = &mut self.rejects else { return Ok(()) };
        let lines = batches.iter().map(|batch| batch.out.rejects.as_slice());
        vectored::write_all(lines, |parts| rejects.write_vectored(parts))
    }
}

impl Sink<'_> {
    /// Writes a header to each output of records.
    fn write_header(&mut self, header: &[u8]) -> io::Result<()> {
        match self.formatter.split() {
            None => self.out.write_all(header)?,
            Some(split) => {
                let mut marked = Vec::new();
                for shard in 0..split.shards {
                    mark_record(shard, header.len(), &mut marked);
                    marked.extend_from_slice(header);
                }
                self.out.write_all(&marked)?;
            }
        }
        self.rejects.as_mut().map_or(Ok(()), |rejects| rejects.write_all(header))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, JobPlan};
    use uniqurl::{Normalizer, Profile};

    #[test]
    fn batches_reach_each_output_in_order() {
        let plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(Default::default()));
        let batch = |lines: &str, rejects: &str| {
            let mut batch = WorkBatch::default();
            batch.out.lines = lines.into();
            batch.out.rejects = rejects.into();
            batch
        };
        let batches = [batch("a\n", "1\n"), batch("", "2\n"), batch("b\n", "")];
        let (mut out, mut rejects) = (Vec::new(), Vec::new());
        let sinks = Sinks::to(&mut out).with_rejects(&mut rejects);
        Sink::new(sinks, Formatter::new(&plan, &[], true)).write(&batches).unwrap();
        assert_eq!((&out[..], &rejects[..]), (&b"a\nb\n"[..], &b"1\n2\n"[..]));
    }
}
