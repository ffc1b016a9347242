//! The second half of *read*: finds the records of a chunk, normalizes their URLs in batches, and makes
//! keys of them, grouped by shard.

#[cfg(feature = "tables")]
use super::text::IN_CHUNK;
use super::text::{BUFFER_SHIFT, IN_REWRITTEN, UrlRef};
use super::{BatchTally, ParseRules, WorkBatch};
use crate::url_filter::UrlFilter;
use uniqurl::internal::AllocError;
#[cfg(feature = "tables")]
use uniqurl::internal::Span;
use uniqurl::internal::alloc;
use uniqurl::key::Key;
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::{self, Context, Format, Records};

/// Lines that are shorter on average, with their ends, are hardly URLs.
const SHORT_LINE: usize = 8;

/// The shape of the records of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// URLs and nothing else.
    List,
    /// Records of a format.
    Records,
}

impl WorkBatch {
    /// Makes keys and entries of the chunk.
    pub(crate) fn parse(
        &mut self,
        format: &Format,
        rules: &ParseRules<'_>,
    ) -> Result<(), AllocError> {
        // Most jobs need no extras, and then batches have none.
        if rules.needs.any() {
            self.extras.get_or_insert_default();
        }
        self.text.limit(rules.at_once);
        match self.find_records(format, rules)? {
            Shape::List => self.normalize_list(format.labels(), rules)?,
            Shape::Records => self.normalize_records(format.has_queries(), rules)?,
        }
        match format {
            Format::Lines | Format::Labelled(_) => self.tally.listed = self.tally.records.records,
            // Tabs in cells separate nothing.
            _ => self.tally.tabbed = 0,
        }
        // Filters come before hosts are asked for: a URL that nobody wants is filtered, not
        // rejected, and stays in one term.
        if let Some(urls) = rules.filters.urls {
            self.filter(urls);
        }
        if rules.key.needs_host() {
            self.reject_hostless(rules.key)?;
        }
        // Before keys are made, since it asks which URLs were rewritten, and afterwards all are.
        #[cfg(feature = "tables")]
        self.count_alike(rules);
        if rules.key != Key::Url {
            self.make_keys(rules)?;
        }
        if rules.shards > 0 {
            self.group_by_shard(rules)?;
        }
        Ok(())
    }

    /// Finds the records of the chunk, without those of earlier batches.
    fn find_records(
        &mut self,
        format: &Format,
        rules: &ParseRules<'_>,
    ) -> Result<Shape, AllocError> {
        let (from, at_once) = (self.sequence.from, self.text.at_once());
        let Some(chunk) = &mut self.text.chunk else { return Ok(Shape::List) };
        match format {
            Format::Lines | Format::Labelled(_) => {
                let lines = &mut self.text.lines;
                let (kernel, separator) = (rules.normalizer.kernel(), rules.context.separator);
                record::cut(kernel, separator, chunk.bytes(), lines);
                // Earlier batches took these records of the chunk.
                lines.drain(..from.min(lines.len()));
                let all = lines.len();
                // To look into each line costs time, which a chunk of real URLs need not pay.
                if rules.drops_blanks && chunk.bytes().len() < SHORT_LINE * lines.len() {
                    self.text.drop_blanks();
                }
                self.text.lines_read = all;
                Ok(Shape::List)
            }
            #[cfg(feature = "tables")]
            // The cells of a column are normalized by the fast loop over lines, unless rows stand for several.
            Format::Table(table) if table.is_list() && has_no_repeats(chunk) => {
                let cells = chunk.rows().map_or(&[][..], |rows| &rows.cells);
                alloc::try_reserve(&mut self.text.lines, cells.len())?;
                self.text.lines_read = cells.len();
                // Null is a mark and not a range, and nothing could be sliced by it.
                let blank =
                    |cell: &Span| if *cell == record::NULL { Span::default() } else { *cell };
                self.text.lines.extend(cells.iter().map(blank));
                Ok(Shape::List)
            }
            format => {
                self.text.records.limit(from, at_once);
                read(format, &rules.context, chunk, &mut self.text.records);
                if let Some(requests) = rules.filters.requests {
                    requests.apply(format, chunk, &mut self.text.records)?;
                }
                Ok(Shape::Records)
            }
        }
    }

    /// Counts the rows that a row of a table stands for, besides itself.
    #[cfg(feature = "tables")]
    fn count_alike(&mut self, rules: &ParseRules<'_>) {
        let Some(chunk) = &self.text.chunk else { return };
        let tally = &mut self.tally.records;
        let mut rejected = self.rejected.iter();
        for ((times, url), cell) in chunk.times().iter().zip(&self.keys).zip(&self.text.lines) {
            // The row itself is counted already.
            let more = u64::from(*times) - 1;
            let codes = match url.is_rejected() {
                true => rejected.next().map(|rejected| rejected.reject.codes),
                false => None,
            };
            match codes {
                Some(codes) => {
                    tally.reject_again(codes, more);
                    continue;
                }
                None if url.is_canonical() => tally.canonical += more,
                None if url.is_blank() => tally.blank += more,
                None => tally.filtered += more,
            }
            tally.records += more;
            // Only cells that were rewritten can be hostless.
            if url.has_form() && url.at >> BUFFER_SHIFT != IN_CHUNK {
                let hostless = rules.normalizer.is_hostless(cell.of(chunk.bytes()));
                self.tally.hostless += more * u64::from(hostless);
            }
        }
    }

    /// Drops the canonical URLs that the filter does not keep.
    fn filter(&mut self, urls: &UrlFilter) {
        let BatchTally { records: tally, in_lists, .. } = &mut self.tally;
        in_lists.clear();
        in_lists.resize(urls.host_lists().count(), 0);
        // A cell of a dictionary stands for all rows that have it.
        let times = self.text.chunk.as_ref().map_or(&[][..], Chunk::times);
        for (i, url) in self.keys.iter_mut().enumerate().filter(|(_, url)| url.is_canonical()) {
            let rows = times.get(i).map_or(1, |times| u64::from(*times));
            if !urls.keeps_counting(self.text.get(*url), |list| in_lists[list] += rows) {
                *url = UrlRef::UNWANTED;
                tally.filtered += 1;
                tally.canonical -= 1;
            }
        }
    }

    /// Replaces the canonical URLs by their keys.
    fn make_keys(&mut self, rules: &ParseRules<'_>) -> Result<(), AllocError> {
        if let Some(extras) = &mut self.extras
            && rules.needs.canonical
        {
            alloc::try_reserve(&mut extras.canonical, self.keys.len())?;
            extras.canonical.extend_from_slice(&self.keys);
        }
        let Self { text, keys, scratch, .. } = self;
        for url in keys.iter_mut().filter(|url| url.is_canonical()) {
            *url = match rules.key {
                Key::Template
                    if rules.routes.is_none() && url.at >> BUFFER_SHIFT != IN_REWRITTEN =>
                {
                    text.append_template(rules.normalizer.kernel(), *url)?
                }
                // Built aside, since the URL may itself be in `rewritten`.
                key => {
                    scratch.clear();
                    key.append_by(rules.routes, text.get(*url), scratch);
                    let start = text.rewritten.len();
                    alloc::try_reserve(&mut text.rewritten, scratch.len())?;
                    text.rewritten.extend_from_slice(scratch);
                    UrlRef::new(IN_REWRITTEN, start, scratch.len())?
                }
            };
        }
        Ok(())
    }
}

/// Whether each row of a table has a cell of its own.
#[cfg(feature = "tables")]
fn has_no_repeats(chunk: &Chunk) -> bool {
    chunk.rows().is_some_and(|rows| rows.first.is_empty())
}

/// Reads the records of a chunk in any format except a list's.
fn read(format: &Format, context: &Context, chunk: &mut Chunk, records: &mut Records) {
    match format {
        // Taken out, since the bytes of the chunk are borrowed beside them.
        Format::Archive(archive) => {
            let mut frames = std::mem::take(&mut chunk.frames);
            archive.read(context, chunk.bytes(), &mut frames, records);
            chunk.frames = frames;
        }
        #[cfg(feature = "tables")]
        Format::Table(table) => {
            if let Some(rows) = chunk.rows() {
                table.read(context, chunk.bytes(), rows, records);
            }
        }
        format => format.read(context, chunk.bytes(), records),
    }
}

/// Reserves space for little more than `more` elements. A chunk has about as many records as the one before,
/// and doubling the capacity for a few more would double the memory of all buffers together.
pub(super) fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    const STEP: usize = 512;
    match vec.capacity() - vec.len() >= more {
        true => Ok(()),
        false => {
            alloc::try_reserve_exact(vec, (vec.len() + more).next_multiple_of(STEP) - vec.len())
        }
    }
}
