//! Stage *read*, after the bytes are there: records, canonical forms, keys, and entries by shard.

#[cfg(feature = "tables")]
use super::text::PLACE_SHIFT;
use super::text::{AT_ONCE, IN_CHUNK, IN_REWRITTEN, IN_SIDE, Url};
use super::{Raw, Rejected, Rules, Sheet, untold};
use crate::url_filter::UrlFilter;
use uniqurl::bytes::AllocError;
use uniqurl::bytes::Reject;
use uniqurl::bytes::Span;
use uniqurl::bytes::alloc::{self};
use uniqurl::key;
use uniqurl::normalize::GROWTH;
use uniqurl::set::{Entry, Hash};
use uniqurl::simd::UrlKind;
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::{self, BufferId, Context, Extracted, Record, Records};
use uniqurl_store::keep_policy::KeepPolicy;

impl Sheet {
    /// Makes of the chunk what the set is asked about.
    pub(crate) fn digest(
        &mut self,
        format: &record::Format,
        rules: &Rules<'_>,
    ) -> Result<(), AllocError> {
        // So that all places in it can be told.
        Url::new(IN_CHUNK, self.text.chunk().len(), 0)?;
        self.has_queries = format.has_queries();
        match format {
            record::Format::Lines => self.lines(rules)?,
            #[cfg(feature = "tables")]
            record::Format::Table(table) if table.is_list() && self.has_no_repeats() => {
                self.cells(rules)?;
            }
            format => self.records(format, rules)?,
        }
        if let Some(wanted) = rules.wanted {
            self.choose(wanted);
        }
        #[cfg(feature = "tables")]
        self.count_alike(rules);
        if rules.written != key::Key::Url {
            self.make_keys(rules)?;
        }
        if rules.shards > 0 {
            self.partition(rules)?;
        }
        Ok(())
    }

    /// Room for what may become of a URL.
    #[inline]
    pub(super) fn make_room_for(
        &mut self,
        url: &[u8],
        rules: &Rules<'_>,
    ) -> Result<(), AllocError> {
        alloc::try_reserve(&mut self.text.rewritten, GROWTH * url.len() + rules.brought + 64)
    }

    /// Any other format.
    fn records(&mut self, format: &record::Format, rules: &Rules<'_>) -> Result<(), AllocError> {
        self.scratch.lines.clear();
        let Some(mut chunk) = self.text.chunk.take() else { return Ok(()) };
        let mut records = std::mem::take(&mut self.text.records);
        records.limit(self.from, AT_ONCE);
        read(format, &rules.context, &mut chunk, &mut records);
        reserve(&mut self.urls, records.records.len())?;
        let headers = records.headers();
        let mut read = records.records.len();
        for (row, record) in records.records.iter().enumerate().skip(headers) {
            if self.text.rewritten.len() > AT_ONCE {
                read = row;
                break;
            }
            if let Some(url) = self.repeated(&chunk, row, *record, rules) {
                self.urls.push(url);
            } else {
                self.record(chunk.bytes(), &records.scratch, *record, rules)?;
            }
        }
        if read < records.records.len() || records.is_full() {
            self.rest = Some(self.from + read - headers);
            records.records.truncate(read);
        }
        let records_found = self.urls.len() as u64;
        self.tally.records = records_found;
        self.tally.canonical =
            records_found - self.tally.rejected - self.tally.blank - self.tally.filtered;
        self.text.chunk = Some(chunk);
        self.text.records = records;
        Ok(())
    }

    /// Whether no row of a table is known to hold the same as one before it.
    #[cfg(feature = "tables")]
    fn has_no_repeats(&self) -> bool {
        let rows = self.text.chunk.as_ref().and_then(Chunk::rows);
        rows.is_some_and(|rows| rows.first.is_empty())
    }

    /// Counts the rows that a row of a table stands for, besides itself.
    #[cfg(feature = "tables")]
    fn count_alike(&mut self, rules: &Rules<'_>) {
        let Some(chunk) = &self.text.chunk else { return };
        let mut rejected = self.rejected.iter();
        for ((times, url), cell) in chunk.times().iter().zip(&self.urls).zip(&self.scratch.lines) {
            let more = u64::from(*times) - 1;
            let codes = match url.is_rejected() {
                true => rejected.next().map(|rejected| rejected.reject.codes),
                false => None,
            };
            match codes {
                Some(codes) => {
                    self.tally.reject_again(codes, more);
                    continue;
                }
                None if url.is_canonical() => self.tally.canonical += more,
                None if url.is_blank() => self.tally.blank += more,
                None => self.tally.filtered += more,
            }
            self.tally.records += more;
            if url.has_form() && url.at >> PLACE_SHIFT != IN_CHUNK {
                let hostless = rules.normalizer.is_hostless(cell.of(chunk.bytes()));
                self.hostless += more * u64::from(hostless);
            }
        }
    }

    /// What was made of an earlier row with the same cell, where nothing else is wanted of this one.
    #[inline]
    fn repeated(
        &self,
        chunk: &Chunk,
        row: usize,
        record: Record,
        rules: &Rules<'_>,
    ) -> Option<Url> {
        let earlier = chunk.earlier(row)?;
        let is_url = matches!(record.found, Extracted::Url(..));
        let url = self.urls[earlier];
        (is_url && url.is_canonical() && !rules.decoded && !rules.count_rules).then_some(url)
    }

    fn record(
        &mut self,
        chunk: &[u8],
        side: &[u8],
        record: Record,
        rules: &Rules<'_>,
    ) -> Result<(), AllocError> {
        let normalizer = rules.normalizer;
        let (place, span, mut prefix) = match record.found {
            Extracted::Blank => {
                self.tally.blank += 1;
                self.urls.push(Url::BLANK);
                return Ok(());
            }
            Extracted::Skipped => {
                self.tally.skipped += 1;
                return Ok(());
            }
            Extracted::Filtered => {
                self.tally.filtered += 1;
                self.urls.push(Url::FILTERED);
                return Ok(());
            }
            Extracted::Reject(code, at) => {
                let reject = Reject::new(code, at as usize);
                let what = if self.has_queries { Raw::Columns } else { Raw::Record };
                self.reject(record.line, BufferId::Chunk, record.line, what, reject);
                return Ok(());
            }
            Extracted::Url(place, span) | Extracted::Target(place, span) => (place, span, 0),
            Extracted::Joined { url, prefix } => (BufferId::Scratch, url, prefix),
        };
        let (buffer, tag) = match place {
            BufferId::Chunk => (chunk, IN_CHUNK),
            BufferId::Scratch => (side, IN_SIDE),
        };
        let url = span.of(buffer);
        let kind = match record.found {
            Extracted::Target(..) => UrlKind::Target,
            _ => UrlKind::Absolute,
        };
        let hostless = u64::from(kind == UrlKind::Target);
        if normalizer.is_clean_in(buffer, span.range(), kind) {
            self.hostless += hostless;
            self.decode(url, kind, rules)?;
            self.urls.push(Url::new(tag, span.start as usize, span.len())?);
            return Ok(());
        }
        let start = self.text.rewritten.len();
        self.make_room_for(url, rules)?;
        let result = normalizer.rewrite_in(url, 0..url.len(), kind, &mut self.text.rewritten);
        match &result {
            Ok(()) => {
                self.hostless += hostless;
                self.decode(url, kind, rules)?;
                self.count_rules(url, kind, start, rules);
            }
            Err(reject) => prefix = untold(url, prefix, reject),
        }
        self.rewritten(result, start, record.line, place, span, prefix)
    }

    /// Keeps the decoded path of a URL that has a canonical form, where that is wanted.
    pub(super) fn decode(
        &mut self,
        url: &[u8],
        kind: UrlKind,
        rules: &Rules<'_>,
    ) -> Result<(), AllocError> {
        if rules.decoded {
            let paths = &mut self.decoded.paths;
            alloc::try_reserve(paths, 3 * url.len() + 64)?;
            let _canonical = rules.normalizer.decoded_as(kind, url, paths);
            self.decoded.ends.push(paths.len());
        }
        Ok(())
    }

    /// Counts the rules that made what was rewritten from `start` on of a URL, where that is wanted.
    pub(super) fn count_rules(
        &mut self,
        url: &[u8],
        kind: UrlKind,
        start: usize,
        rules: &Rules<'_>,
    ) {
        if rules.count_rules && self.text.rewritten[start..] != *url {
            rules.normalizer.count_rules(kind, url, &mut self.tally.by_rule);
        }
    }

    /// Takes what the exact normalizer made of a URL.
    pub(super) fn rewritten(
        &mut self,
        result: Result<(), Reject>,
        start: usize,
        line: Span,
        place: BufferId,
        raw: Span,
        prefix: u32,
    ) -> Result<(), AllocError> {
        match result {
            Ok(()) => {
                let len = self.text.rewritten.len() - start;
                self.urls.push(Url::new(IN_REWRITTEN, start, len)?);
            }
            Err(reject) => {
                self.text.rewritten.truncate(start);
                let reject = reject.moved(|at| at - prefix as usize);
                let raw = Span { start: raw.start + prefix, end: raw.end };
                self.reject(line, place, raw, Raw::Url, reject);
            }
        }
        Ok(())
    }

    pub(super) fn reject(
        &mut self,
        line: Span,
        place: BufferId,
        raw: Span,
        what: Raw,
        reject: Reject,
    ) {
        self.tally.reject(reject.codes);
        let sequence = self.urls.len() as u32;
        self.rejected.push(Rejected { sequence, line, place, raw, what, reject });
        self.urls.push(Url::REJECTED);
    }

    /// Drops the canonical URLs that are not wanted.
    fn choose(&mut self, wanted: &UrlFilter) {
        for url in self.urls.iter_mut().filter(|url| url.is_canonical()) {
            if !wanted.keeps(self.text.get(*url)) {
                *url = Url::UNWANTED;
                self.tally.filtered += 1;
                self.tally.canonical -= 1;
            }
        }
    }

    /// Puts the keys of the canonical URLs in their place.
    fn make_keys(&mut self, rules: &Rules<'_>) -> Result<(), AllocError> {
        if rules.columns.is_some() || rules.observes {
            alloc::try_reserve(&mut self.canonical, self.urls.len())?;
            self.canonical.extend_from_slice(&self.urls);
        }
        let key = &mut self.scratch.key;
        for url in self.urls.iter_mut().filter(|url| url.is_canonical()) {
            key.clear();
            rules.written.append_bytes(self.text.get(*url), key);
            let start = self.text.rewritten.len();
            alloc::try_reserve(&mut self.text.rewritten, key.len())?;
            self.text.rewritten.extend_from_slice(key);
            *url = Url::new(IN_REWRITTEN, start, key.len())?;
        }
        Ok(())
    }

    /// Hashes the canonical URLs and sorts them by shard, keeping their order within one.
    pub(crate) fn partition(&mut self, rules: &Rules<'_>) -> Result<(), AllocError> {
        let hashes = &mut self.scratch.hashes;
        hashes.clear();
        reserve(hashes, self.urls.len())?;
        let buffers = self.text.buffers();
        let texts = self.urls.iter().map(|url| buffers.get(*url));
        rules.key.hash_all(texts, |hash| hashes.push(hash));
        let urls = self.urls.iter().zip(&*hashes).enumerate();
        let entries = urls.filter(|(_, (url, _))| url.is_canonical());
        let entries =
            entries.map(|(i, (url, hash))| (hash.shard(rules.shards), entry(i, *url, *hash)));
        sort_by_shard(entries, rules.shards, &mut self.entries, &mut self.ends)?;
        if rules.survivor() != KeepPolicy::First {
            alloc::try_reserve(&mut self.places, self.entries.len())?;
            self.places.resize(self.entries.len(), 0);
        }
        Ok(())
    }
}

fn entry(sequence: usize, url: Url, hash: Hash) -> Entry {
    Entry { hash, start: url.at, len: url.len, sequence: sequence as u32, new: None }
}

/// Sorts entries by the shard that stands before each, keeping their order within one, and says where
/// those of each shard end.
fn sort_by_shard(
    unsorted: impl Iterator<Item = (usize, Entry)> + Clone,
    shards: usize,
    entries: &mut Vec<Entry>,
    ends: &mut Vec<usize>,
) -> Result<(), AllocError> {
    ends.clear();
    alloc::try_reserve(ends, shards)?;
    ends.resize(shards, 0);
    unsorted.clone().for_each(|(shard, _)| ends[shard] += 1);
    let mut start = 0;
    for end in &mut *ends {
        (*end, start) = (start, start + *end);
    }
    // Those of the chunk before are all written over.
    reserve(entries, start.saturating_sub(entries.len()))?;
    entries.resize(start, entry(0, Url::BLANK, Hash::default()));
    for (shard, entry) in unsorted {
        entries[ends[shard]] = entry;
        ends[shard] += 1;
    }
    Ok(())
}

/// Reads the records of a chunk in any format but a list's.
fn read(format: &record::Format, context: &Context, chunk: &mut Chunk, records: &mut Records) {
    match format {
        record::Format::Archive(archive) => {
            let mut frames = std::mem::take(&mut chunk.frames);
            archive.read(context, chunk.bytes(), &mut frames, records);
            chunk.frames = frames;
        }
        #[cfg(feature = "tables")]
        record::Format::Table(table) => {
            if let Some(rows) = chunk.rows() {
                table.read(context, chunk.bytes(), rows, records);
            }
        }
        format => format.read(context, chunk.bytes(), records),
    }
}

/// Makes room for `more` elements and a few. A chunk has about as many records as the one before: with
/// twice the room for the few more that it may have, all buffers together would take twice the memory.
pub(super) fn reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), AllocError> {
    const STEP: usize = 512;
    match vec.capacity() - vec.len() >= more {
        true => Ok(()),
        false => {
            alloc::try_reserve_exact(vec, (vec.len() + more).next_multiple_of(STEP) - vec.len())
        }
    }
}
