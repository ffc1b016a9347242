//! Opens an input: finds its format, and decides whether it is read in ranges, as a stream or as a table.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use rustix::process::{Resource, getrlimit};

use super::{Ahead, FormatState, InputEnd, InputQueue, OpenInput, OpenedInput, Opener, QueueItem};
use crate::job::InputFormat;
use crate::output::{LineForm, RecordUnit};
use crate::plan::{InputOptions, JobPlan};
use uniqurl_formats::input::{
    self, Compression, Input, InputError, OpenFile, Packed, RangeBuffer, ReadAhead, Source,
    StreamSource, Trouble,
};
use uniqurl_formats::record::{
    self, Context, Detected, Doubts, EnvelopeChoice, Framing, HeadLines, Labels,
};

/// Most streams that are open at once, however many threads there are.
const STREAMS: usize = 64;

/// Streams take at most one in this many of the files that the process may open: chunks, outputs and
/// temporary files need most of them.
const FILES_SHARE: u64 = 8;

/// Streams before their turn hold at most one part in this many of the memory, and at most so many bytes for
/// each thread.
const SHARE: usize = 4;
const THREAD_SHARE: usize = 64 << 20;

/// When an input that is opened is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Now,
    /// Tables are not opened then: they use all threads and the whole budget.
    Later,
}

impl Ahead {
    pub(super) fn new(plan: &JobPlan, inputs: &[Input]) -> Self {
        let pipes = inputs.iter().filter(|input| input.source == Source::Stream).count();
        let decoders = plan.limits.decoders(pipes);
        let limit = (plan.budget() / SHARE).min(decoders * THREAD_SHARE);
        // Each shard is a file that stays open for the whole run.
        let shards = plan.output.split.as_ref().map_or(0, |split| u64::from(split.shards));
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let files = files.saturating_sub(shards) / FILES_SHARE;
        let most = decoders.min(STREAMS).min(files.max(1) as usize);
        let memory = ReadAhead::new(limit, decoders);
        Self { opened: VecDeque::new(), most, decoders, memory }
    }
}

impl InputQueue<'_> {
    /// Gives an input its turn. Opens it unless it is open.
    pub(super) fn begin(&mut self, index: usize) -> Option<QueueItem> {
        if let Some(first) = self.begin_small(index) {
            return first;
        }
        let opened = match self.ahead.opened.pop_front() {
            Some(opened) => opened,
            None => self.open(index, Turn::Now).map(Option::unwrap_or_default),
        };
        match opened {
            Ok(OpenedInput { input, first }) => {
                if let Some(OpenInput::Stream { pieces, .. }) = &input {
                    pieces.begin_turn();
                }
                self.current = input;
                first
            }
            Err(error) => Some(QueueItem::Trouble(index, error)),
        }
    }

    /// Opens the streams after the current one, up to the next input that is none. They begin to be decoded.
    pub(super) fn open_ahead(&mut self) {
        if !matches!(self.current, Some(OpenInput::Stream { .. })) || self.small.len() > 0 {
            return;
        }
        // A plain file has nothing to be decoded ahead, so nothing after it is opened.
        let ends_here = |opened: &Result<OpenedInput, InputError>| {
            matches!(opened, Ok(OpenedInput { input: Some(OpenInput::File { .. }), .. }))
        };
        while self.ahead.opened.len() + 1 < self.ahead.most
            && !self.ahead.opened.back().is_some_and(ends_here)
        {
            let index = self.next + self.ahead.opened.len();
            if index == self.opener.inputs.len() || self.has_to_wait(index) {
                return;
            }
            match self.open(index, Turn::Later) {
                Ok(Some(opened)) => self.ahead.opened.push_back(Ok(opened)),
                Ok(None) => return,
                Err(error) => self.ahead.opened.push_back(Err(error)),
            }
        }
    }

    /// Whether this input is a pipe that an input in progress is too: both would take parts of the same bytes.
    /// A file that is redirected to standard input is read in its turn alone, since its end may be the run's
    /// own output.
    fn has_to_wait(&self, index: usize) -> bool {
        let pipe = |input: &Input| match input.source {
            Source::Stream => input.identity(),
            Source::File { .. } | Source::Redirected { .. } => None,
        };
        let input = &self.opener.inputs[index];
        let before = &self.opener.inputs[self.next - 1..index];
        matches!(input.source, Source::Redirected { .. })
            || pipe(input).is_some_and(|id| before.iter().any(|other| pipe(other) == Some(id)))
    }

    /// None for a table whose turn is later.
    #[cfg_attr(not(feature = "tables"), allow(unused_variables, reason = "only tables ask"))]
    fn open(&self, index: usize, turn: Turn) -> Result<Option<OpenedInput>, InputError> {
        let input = &self.opener.inputs[index];
        let Some(file) = OpenFile::open(input)? else {
            #[cfg(feature = "tables")]
            if let InputFormat::Fixed(format) = &self.opener.plan.input.format
                && matches!(**format, record::Format::Table(_))
            {
                let trouble = Trouble::Refused(record::Refusal::TABLE);
                return Err(InputError::new(&input.path, None, trouble));
            }
            // Opening a pipe waits for its writer, so the thread that reads it does that.
            let pipe = StreamSource::Unopened(input.clone());
            let input = Some(self.begin_stream(index, pipe, None, None)?);
            return Ok(Some(OpenedInput { input, first: None }));
        };
        let file = Arc::new(file);
        let packing = input::compression_of(&file)
            .map_err(|error| InputError::new(&input.path, Some(0), Trouble::Io(error)))?;
        #[cfg(feature = "tables")]
        if let Some(table) = self.table_format(index, &file)? {
            return match turn {
                Turn::Now => self.open_table(index, file, packing, &table).map(Some),
                Turn::Later => Ok(None),
            };
        }
        if packing.is_some() {
            let source = StreamSource::File(Arc::clone(&file));
            let input = Some(self.begin_stream(index, source, None, Some(file))?);
            return Ok(Some(OpenedInput { input, first: None }));
        }
        // Compressed data is never empty, so this file was cut off.
        if let (0, Some(packing)) = (file.size(), Compression::meant_by(&input.path)) {
            let trouble = Trouble::Truncated(Packed { compression: packing, at: 0 });
            return Err(InputError::new(&input.path, Some(0), trouble));
        }
        if file.size() == 0 && matches!(self.opener.plan.input.format, InputFormat::Auto) {
            // Without a format, no column can be missing either.
            let end = QueueItem::End(index, InputEnd { bytes: 0, padding: 0 });
            return Ok(Some(OpenedInput { input: None, first: Some(end) }));
        }
        let (format, first) = self.opener.plain_format(index, &file)?;
        // Only records that are lines can be found from any offset of a file.
        let input = if format.framing() == Framing::Lines {
            OpenInput::File { file, state: FormatState::new(format), at: 0 }
        } else {
            let source = StreamSource::File(Arc::clone(&file));
            self.begin_stream(index, source, Some(format), Some(file))?
        };
        Ok(Some(OpenedInput { input: Some(input), first }))
    }
}

impl Opener<'_> {
    /// The format of a plain file, and a message if it was guessed.
    pub(super) fn plain_format(
        &self,
        index: usize,
        file: &OpenFile,
    ) -> Result<(Arc<record::Format>, Option<QueueItem>), InputError> {
        if let Some(format) = self.known_format() {
            return Ok((self.extracting(index, &format)?, None));
        }
        let block = self.read_head(file)?;
        let is_whole = block.bytes().len() as u64 == file.size();
        self.find_format(index, block.bytes(), is_whole)
    }

    /// The format, if no input can change it.
    fn known_format(&self) -> Option<Arc<record::Format>> {
        match &self.plan.input.format {
            InputFormat::Fixed(format)
                if !format.needs_head() && !self.plan.input.envelope.looks_into(format) =>
            {
                Some(Arc::clone(format))
            }
            InputFormat::Auto | InputFormat::Fixed(_) => None,
        }
    }

    /// The format with the columns that are extracted; an error if it lacks one.
    pub(super) fn extracting(
        &self,
        index: usize,
        format: &Arc<record::Format>,
    ) -> Result<Arc<record::Format>, InputError> {
        let path = &self.inputs[index].path;
        self.check_whole(path, format)?;
        if self.columns.is_empty() {
            return Ok(Arc::clone(format));
        }
        match record::carrying(format, self.columns) {
            Ok(format) => Ok(Arc::new(format)),
            Err(why) => Err(InputError::new(path, None, Trouble::Columns(why))),
        }
    }

    /// Fails if records of this format cannot be copied as they are asked for.
    pub(super) fn check_whole(
        &self,
        path: &Path,
        format: &record::Format,
    ) -> Result<(), InputError> {
        let LineForm::Places(unit) = self.plan.output.form else { return Ok(()) };
        let refusal = match (unit, matches!(format, record::Format::Table(_))) {
            (RecordUnit::Bytes, true) => record::Refusal::ROWS,
            (RecordUnit::Row, false) => record::Refusal::NO_ROWS,
            _ if !format.has_whole_records() => record::Refusal::NO_WHOLE_RECORDS,
            _ => return Ok(()),
        };
        Err(InputError::new(path, None, Trouble::Refused(refusal)))
    }

    /// The records at the start of a file, as many as it takes to detect its format.
    fn read_head(&self, file: &OpenFile) -> Result<RangeBuffer, InputError> {
        let Context { max_record, separator, .. } = self.context;
        let limit = match &self.plan.input.format {
            InputFormat::Fixed(format) if !self.plan.input.envelope.looks_into(format) => {
                record::HEAD
            }
            InputFormat::Auto | InputFormat::Fixed(_) => record::head_limit(self.plan.budget()),
        };
        let mut block = RangeBuffer::default();
        let mut length = record::HEAD as u64;
        let mut lines = HeadLines::default();
        loop {
            let range = 0..length.min(file.size());
            input::read_range(file, range, max_record.min(limit), separator.byte(), &mut block)?;
            lines.count(block.bytes());
            if length >= file.size().min(limit as u64) || lines.are_enough(limit) {
                return Ok(block);
            }
            // Each round reads from the start again. Because the length doubles, all rounds
            // together read twice the last one.
            length = (2 * length.max(block.bytes().len() as u64)).min(limit as u64);
        }
    }

    /// The format of an input that begins with `head`, and a message if it or its envelope was guessed.
    fn find_format(
        &self,
        index: usize,
        head: &[u8],
        is_whole: bool,
    ) -> Result<(Arc<record::Format>, Option<QueueItem>), InputError> {
        let path = &self.inputs[index].path;
        let why = match &self.plan.input.format {
            InputFormat::Auto => record::refusal_of_auto(head),
            InputFormat::Fixed(format) if format.may_refuse() => record::refusal(head),
            InputFormat::Fixed(format) if format.is_ambiguous(&self.context, head) => {
                Some(record::Refusal::AMBIGUOUS_ROWS)
            }
            InputFormat::Fixed(_) => None,
        };
        if let Some(why) = why {
            return Err(InputError::new(path, None, Trouble::Refused(why)));
        }
        let InputOptions { envelope, formats, .. } = &self.plan.input;
        let detected = match &self.plan.input.format {
            InputFormat::Fixed(format) => match record::wrap(*envelope, format, head, is_whole)
                .or_else(|| format.delimited(&self.context, head))
            {
                Some(format) => Detected { format, doubts: Doubts::default() },
                None => return Ok((self.extracting(index, format)?, None)),
            },
            InputFormat::Auto => {
                formats.detect_in(*envelope, &path.to_string_lossy(), head, is_whole)
            }
        };
        let format = Arc::new(self.as_asked(detected.format));
        let format = self.extracting(index, &format)?;
        let guessed = QueueItem::Guessed(index, Arc::clone(&format), detected.doubts);
        Ok((format, self.is_guessed().then_some(guessed)))
    }

    /// Whether the format of an input, or its envelope, is not said.
    pub(super) fn is_guessed(&self) -> bool {
        let InputOptions { format, envelope, .. } = &self.plan.input;
        matches!((format, envelope), (InputFormat::Auto, _) | (_, EnvelopeChoice::Auto))
    }

    /// A guessed format, with the options applied.
    pub(super) fn as_asked(&self, format: record::Format) -> record::Format {
        if let InputFormat::Fixed(_) = self.plan.input.format {
            // Only its envelope was guessed.
            return format;
        }
        match format {
            record::Format::Wrapped(wrapped) => {
                let format = self.as_asked(wrapped.format().clone());
                record::Format::Wrapped(Box::new(wrapped.with(format)))
            }
            record::Format::Lines => record::Format::Labelled(Labels::Spaced),
            // Targets of requests get no assumed scheme, so `//host/path` is none. And what begins with
            // a word and a colon may be a host and a port.
            record::Format::Target | record::Format::Labelled(Labels::Unregistered)
                if self.plan.normalizer.assumed_scheme().is_some() =>
            {
                record::Format::Labelled(Labels::Spaced)
            }
            format => format.with_kinds(self.plan.input.kinds),
        }
    }
}
