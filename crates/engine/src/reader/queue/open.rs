//! Opens an input: finds its format, and decides whether it is read in ranges, as a stream or as a table.

use std::sync::Arc;

use super::{FormatState, InputEnd, InputQueue, OpenInput, QueueItem};
use crate::job::InputFormat;
use uniqurl_formats::input::{
    self, Compression, InputError, OpenFile, Packed, StreamSource, Trouble,
};
use uniqurl_formats::record::{self, Context, Framing};

impl InputQueue<'_> {
    pub(super) fn open(&mut self, index: usize) -> Option<QueueItem> {
        self.try_open(index).unwrap_or_else(|error| Some(QueueItem::Trouble(index, error)))
    }

    fn try_open(&mut self, index: usize) -> Result<Option<QueueItem>, InputError> {
        let input = &self.inputs[index];
        let known = self.known_format();
        let Some(file) = OpenFile::open(input)? else {
            #[cfg(feature = "tables")]
            if let InputFormat::Fixed(format) = &self.plan.input.format
                && matches!(**format, record::Format::Table(_))
            {
                let trouble = Trouble::Refused(record::Refusal::Table);
                return Err(InputError::new(&input.path, None, trouble));
            }
            let pipe = StreamSource::Pipe(input.open_stream()?);
            self.begin_stream(index, pipe, None, None)?;
            return Ok(None);
        };
        let file = Arc::new(file);
        let packing = input::compression_of(&file)
            .map_err(|error| InputError::new(&input.path, Some(0), Trouble::Io(error)))?;
        #[cfg(feature = "tables")]
        if let Some(next) = self.try_table(index, &file, packing)? {
            return Ok(next);
        }
        if packing.is_some() {
            let source = StreamSource::File(Arc::clone(&file));
            self.begin_stream(index, source, None, Some(file))?;
            return Ok(None);
        }
        // Compressed data is never empty, so this file was cut off.
        if let (0, Some(packing)) = (file.size(), Compression::meant_by(&input.path)) {
            let trouble = Trouble::Truncated(Packed { compression: packing, at: 0 });
            return Err(InputError::new(&input.path, Some(0), trouble));
        }
        if file.size() == 0 && matches!(self.plan.input.format, InputFormat::Auto) {
            // Without a format, no column can be missing either.
            return Ok(Some(QueueItem::End(index, InputEnd { bytes: 0, padding: 0 })));
        }
        let (format, next) = match known {
            Some(format) => (self.extracting(index, &format)?, None),
            None => {
                let mut block = input::RangeBuffer::default();
                let head = 0..file.size().min(record::HEAD as u64);
                let Context { max_record, separator, .. } = self.context;
                input::read_range(&file, head, max_record, separator.byte(), &mut block)?;
                self.find_format(index, block.bytes())?
            }
        };
        // Only records that are lines can be found from any offset of a file.
        if format.framing() == Framing::Lines {
            let state = FormatState::new(format);
            self.current = Some(OpenInput::File { file, state, at: 0 });
        } else {
            let source = StreamSource::File(Arc::clone(&file));
            self.begin_stream(index, source, Some(format), Some(file))?;
        }
        Ok(next)
    }

    /// The format, if no input can change it.
    fn known_format(&self) -> Option<Arc<record::Format>> {
        match &self.plan.input.format {
            InputFormat::Fixed(format) if !format.may_refuse() => Some(Arc::clone(format)),
            InputFormat::Auto | InputFormat::Fixed(_) => None,
        }
    }

    /// The format with the columns that are extracted; an error if it lacks one.
    pub(super) fn extracting(
        &self,
        index: usize,
        format: &Arc<record::Format>,
    ) -> Result<Arc<record::Format>, InputError> {
        if self.columns.is_empty() {
            return Ok(Arc::clone(format));
        }
        let path = &self.inputs[index].path;
        match record::carrying(format, self.columns) {
            Ok(format) => Ok(Arc::new(format)),
            Err(why) => Err(InputError::new(path, None, Trouble::Columns(why))),
        }
    }

    /// The format of an input that begins with `head`, and a message if it was guessed.
    fn find_format(
        &self,
        index: usize,
        head: &[u8],
    ) -> Result<(Arc<record::Format>, Option<QueueItem>), InputError> {
        let path = &self.inputs[index].path;
        let why = match &self.plan.input.format {
            InputFormat::Auto => record::refusal_of_auto(head),
            InputFormat::Fixed(_) => record::refusal(head),
        };
        if let Some(why) = why {
            return Err(InputError::new(path, None, Trouble::Refused(why)));
        }
        if let InputFormat::Fixed(format) = &self.plan.input.format {
            return Ok((self.extracting(index, format)?, None));
        }
        let format = self.as_asked(record::detect(&path.to_string_lossy(), head));
        let format = self.extracting(index, &Arc::new(format))?;
        Ok((Arc::clone(&format), Some(QueueItem::Guessed(index, format))))
    }

    /// A guessed format, with the options applied.
    pub(super) fn as_asked(&self, format: record::Format) -> record::Format {
        match format {
            // Targets of requests get no assumed scheme, so `//host/path` is none.
            record::Format::Target if self.plan.normalizer.assumed_scheme().is_some() => {
                record::Format::Lines
            }
            format => format.with_kinds(self.plan.input.kinds),
        }
    }
}
