//! Stage *format*: what of a sheet is written, once it is known which of its URLs are new.

use std::borrow::Cow;
use std::path::Path;

use super::text::Url;
use super::{Columns, Rejected, Rules, Sheet, without_host};
use crate::output::json::{self, FileMember};
use crate::output::{LineForm, Row, escaped};
use crate::split::{self, Split};
use uniqurl::bytes::AllocError;
use uniqurl::bytes::alloc::{self};
use uniqurl::bytes::{Printable, Secrets, redact};
use uniqurl_formats::input::Chunk;
use uniqurl_formats::record::{BufferId, Carrier, Extracted, Values};
use uniqurl_store::keep_policy::KeptRecord;
use uniqurl_store::spill::{self, PARTITIONS};

impl Sheet {
    /// Stage *format* of a set: the new URLs, in order, or a line about each.
    pub(crate) fn format_new(
        &mut self,
        columns: Option<Columns<'_>>,
        split: Option<Split>,
        path: &Path,
    ) -> Result<(), AllocError> {
        let bits = &mut self.scratch.by_sequence;
        bits.clear();
        alloc::try_reserve(bits, self.urls.len().div_ceil(64))?;
        let mut length = 0;
        bits.resize(self.urls.len().div_ceil(64), 0);
        for entry in &self.entries {
            if entry.new_place().is_some() {
                bits[entry.sequence as usize / 64] |= 1 << (entry.sequence % 64);
                self.tally.unique += 1;
                length += entry.len as usize + 1;
            }
            self.tally.seen += u64::from(entry.is_seen());
        }
        self.tally.duplicates = self.tally.canonical - self.tally.unique - self.tally.seen;
        if let Some(columns) = columns {
            let mut out = std::mem::take(&mut self.out);
            let is_new = |i: usize| self.scratch.by_sequence[i / 64] >> (i % 64) & 1 == 1;
            let formatted = self.format_columns(columns, split, path, is_new, &mut out);
            self.out = out;
            return formatted;
        }
        alloc::try_reserve(&mut self.out, length)?;
        let buffers = self.text.buffers();
        for (i, word) in bits.iter().enumerate() {
            let mut word = *word;
            while word != 0 {
                let url = self.urls[i * 64 + word.trailing_zeros() as usize];
                let key = buffers.get(url);
                split::mark(split, key, &mut self.out);
                self.out.extend_from_slice(key);
                self.out.push(b'\n');
                word &= word - 1;
            }
        }
        Ok(())
    }

    /// Stage *format* of a set that is written at the end: where the new URLs are in it, in order,
    /// and a line about each where that is asked for.
    pub(crate) fn list_new(
        &mut self,
        columns: Option<Columns<'_>>,
        path: &Path,
    ) -> Result<(), AllocError> {
        let places = &mut self.scratch.by_sequence;
        places.clear();
        alloc::try_reserve(places, self.urls.len())?;
        places.resize(self.urls.len(), u64::MAX);
        let mut start = 0;
        for (shard, end) in self.ends.iter().enumerate() {
            for entry in &self.entries[start..*end] {
                self.tally.seen += u64::from(entry.is_seen());
                if let Some(place) = entry.new_place() {
                    places[entry.sequence as usize] = (shard as u64) << 32 | u64::from(place.get());
                    self.tally.unique += 1;
                }
            }
            start = *end;
        }
        self.tally.duplicates = self.tally.canonical - self.tally.unique - self.tally.seen;
        alloc::try_reserve(&mut self.new, self.tally.unique as usize)?;
        self.new.extend(places.iter().filter(|place| **place != u64::MAX));
        if let Some(columns) = columns {
            let mut lines = std::mem::take(&mut self.lines_of_new);
            let is_new = |i: usize| self.scratch.by_sequence[i] != u64::MAX;
            let formatted = self.format_columns(columns, None, path, is_new, &mut lines);
            self.lines_of_new = lines;
            return formatted;
        }
        Ok(())
    }

    /// Stage *format* where the set took no more: the URLs it does not hold, by partition, in order.
    /// It is not known yet which of them are unique.
    pub(crate) fn spill_new(
        &mut self,
        columns: Option<Columns<'_>>,
        path: &Path,
    ) -> Result<(), AllocError> {
        self.tally.seen = self.entries.iter().filter(|entry| entry.is_seen()).count() as u64;
        self.spill(1, columns, path)?;
        self.tally.duplicates = self.tally.canonical - self.tally.seen - self.tally.undecided;
        Ok(())
    }

    /// The same for a list of what was seen before the run: URLs that have no record in it yet.
    pub(crate) fn spill_seen(&mut self) -> Result<(), AllocError> {
        self.spill(0, None, Path::new(""))
    }

    /// Makes entries of the URLs that the set does not hold, each record with this count.
    fn spill(
        &mut self,
        count: u64,
        columns: Option<Columns<'_>>,
        path: &Path,
    ) -> Result<(), AllocError> {
        let bits = &mut self.scratch.by_sequence;
        bits.clear();
        alloc::try_reserve(bits, self.urls.len().div_ceil(64))?;
        bits.resize(self.urls.len().div_ceil(64), 0);
        for entry in self.entries.iter().filter(|entry| entry.new_place().is_some()) {
            bits[entry.sequence as usize / 64] |= 1 << (entry.sequence % 64);
        }
        let is_new = |i: usize| self.scratch.by_sequence[i / 64] >> (i % 64) & 1 == 1;
        let mut lines = std::mem::take(&mut self.lines_of_new);
        if let Some(columns) = columns {
            self.format_columns(columns, None, path, is_new, &mut lines)?;
        }
        let mut each_line = lines.split_inclusive(|byte| *byte == b'\n');
        self.spilled.resize_with(PARTITIONS, Vec::new);
        let times = self.text.chunk.as_ref().map_or(&[][..], Chunk::times);
        for (i, hash) in self.scratch.hashes.iter().enumerate().filter(|(i, _)| is_new(*i)) {
            let entry = spill::SpillEntry {
                ordinal: self.before.in_run + i as u64,
                count: count * times.get(i).map_or(1, |times| u64::from(*times)),
                key: self.text.get(self.urls[i]),
                line: each_line.next().unwrap_or_default(),
            };
            entry.append(&mut self.spilled[hash.partition(PARTITIONS)])?;
            self.tally.undecided += entry.count;
        }
        lines.clear();
        self.lines_of_new = lines;
        Ok(())
    }

    /// A line of columns for each record that is the first of its key, in order; behind a mark where
    /// lines are divided here.
    fn format_columns(
        &self,
        columns: Columns<'_>,
        split: Option<Split>,
        path: &Path,
        is_new: impl Fn(usize) -> bool,
        out: &mut Vec<u8>,
    ) -> Result<(), AllocError> {
        self.each_row(columns, path, is_new, |sequence, row, _, room| {
            alloc::try_reserve(out, room)?;
            split::mark(split, self.text.get(self.urls[sequence]), out);
            row.append(&columns.layout, out);
            Ok(())
        })
    }

    /// Stage *format* of a set where a record may survive that is not the first: where the new URLs are
    /// in it, in order; and a candidate of each record, for the URL in the set or, where that does not
    /// hold it, as an entry by partition.
    pub(crate) fn list_candidates(
        &mut self,
        columns: Columns<'_>,
        path: &Path,
    ) -> Result<(), AllocError> {
        const NOT_WANTED: u64 = u64::MAX;
        const NOT_IN_SET: u64 = u64::MAX - 1;
        // Shards are few.
        const NEW: u64 = 1 << 63;
        let places = &mut self.scratch.by_sequence;
        places.clear();
        alloc::try_reserve(places, self.urls.len())?;
        places.resize(self.urls.len(), NOT_WANTED);
        let mut start = 0;
        for (shard, end) in self.ends.iter().enumerate() {
            let here = self.entries[start..*end].iter().zip(&self.places[start..*end]);
            for (entry, place) in here.filter(|(entry, _)| !entry.is_seen()) {
                let is_new = !self.spills && entry.new_place().is_some();
                let found = (shard as u64) << 32 | u64::from(*place);
                places[entry.sequence as usize] = match place {
                    0 => NOT_IN_SET,
                    _ => found | if is_new { NEW } else { 0 },
                };
                self.tally.unique += u64::from(is_new);
                self.tally.undecided += u64::from(*place == 0);
            }
            start = *end;
        }
        let tally = &mut self.tally;
        tally.seen = self.entries.iter().filter(|entry| entry.is_seen()).count() as u64;
        tally.duplicates = tally.canonical - tally.unique - tally.seen - tally.undecided;
        alloc::try_reserve(&mut self.new, self.tally.unique as usize)?;
        let is_new = |place: &u64| *place < NOT_IN_SET && place & NEW != 0;
        self.new.extend(places.iter().filter(|place| is_new(place)).map(|place| place & !NEW));
        let mut candidates = std::mem::take(&mut self.candidates);
        let mut spilled = std::mem::take(&mut self.spilled);
        spilled.resize_with(PARTITIONS, Vec::new);
        let mut one = Vec::new();
        let places = &self.scratch.by_sequence;
        let is_wanted = |sequence: usize| places[sequence] != NOT_WANTED;
        let listed = self.each_row(columns, path, is_wanted, |sequence, row, value, room| {
            let room = room + size_of::<u32>() + value.len();
            let place = places[sequence];
            let out = if place == NOT_IN_SET { &mut one } else { &mut candidates.bytes };
            alloc::try_reserve(out, room)?;
            KeptRecord::append_value(value, out);
            row.append(&columns.layout, out);
            if place != NOT_IN_SET {
                alloc::try_reserve(&mut candidates.ends, 1)?;
                candidates.ends.push((place & !NEW, candidates.bytes.len()));
                return Ok(());
            }
            let entry = spill::SpillEntry {
                ordinal: self.before.in_run + sequence as u64,
                count: 1,
                key: self.text.get(self.urls[sequence]),
                line: &one,
            };
            entry.append(&mut spilled[self.scratch.hashes[sequence].partition(PARTITIONS)])?;
            one.clear();
            Ok(())
        });
        (self.candidates, self.spilled) = (candidates, spilled);
        listed
    }

    /// Visits the records that are wanted, in order: the number of each, its row, what it is compared by,
    /// and how many bytes the row takes at most.
    fn each_row<'s>(
        &'s self,
        columns: Columns<'_>,
        path: &Path,
        is_wanted: impl Fn(usize) -> bool,
        mut visit: impl FnMut(usize, &Row<'_>, &[u8], usize) -> Result<(), AllocError>,
    ) -> Result<(), AllocError> {
        let Some(chunk) = &self.text.chunk else { return Ok(()) };
        let file = match columns.layout.form {
            LineForm::Tabs => Printable::path(path).to_string().into_bytes(),
            // As the objects of `--rejects` have it.
            LineForm::Json => path.as_os_str().as_encoded_bytes().to_vec(),
        };
        let canonical = if self.canonical.is_empty() { &self.urls } else { &self.canonical };
        let records = &self.text.records;
        let lines =
            self.scratch.lines.iter().map(|line| (*line, Extracted::Url(BufferId::Chunk, *line)));
        let found = records.records.iter().map(|record| (record.line, record.found));
        let mut carrier = self.format.as_ref().map(|f| Carrier::new(f, columns.taken_out));
        let mut values = Values::default();
        let mut decoded = self.decoded.iter();
        let mut canonical = canonical.iter().enumerate();
        // One of the two is empty: a list has lines, any other format records.
        for (line, found) in lines.chain(found) {
            let original: Cow<'s, [u8]> = match found {
                Extracted::Skipped => {
                    if let Some(carrier) = &mut carrier {
                        carrier.pass(line.of(chunk.bytes()));
                    }
                    continue;
                }
                Extracted::Url(BufferId::Chunk, url) | Extracted::Target(BufferId::Chunk, url) => {
                    url.of(chunk.bytes()).into()
                }
                Extracted::Url(BufferId::Scratch, url)
                | Extracted::Target(BufferId::Scratch, url) => url.of(&records.scratch).into(),
                // What the log says, without the host that was put before it.
                Extracted::Joined { url, prefix } => without_host(url.of(&records.scratch), prefix),
                Extracted::Blank | Extracted::Filtered | Extracted::Reject(..) => Cow::default(),
            };
            let Some((sequence, url)) = canonical.next() else { break };
            let decoded = if url.has_form() { decoded.next() } else { None };
            if !is_wanted(sequence) {
                continue;
            }
            if let Some(carrier) = &mut carrier {
                #[cfg(feature = "tables")]
                match chunk.rows() {
                    Some(rows) => carrier.row(chunk.bytes(), rows, sequence, &mut values)?,
                    None => carrier.values(line.of(chunk.bytes()), &mut values)?,
                }
                #[cfg(not(feature = "tables"))]
                carrier.values(line.of(chunk.bytes()), &mut values)?;
            }
            let is_masked = columns.secrets == Secrets::Masked;
            let mut masked = Vec::new();
            if is_masked {
                redact(&original, &mut masked);
            }
            let carry = columns.layout.carry.len();
            let masked_carry: Vec<Option<Vec<u8>>> = match &carrier {
                Some(carrier) if is_masked => {
                    let mask = |n: usize| {
                        let mut masked = Vec::new();
                        carrier.mask(n, values.get(n)?, &mut masked);
                        Some(masked)
                    };
                    (0..carry).map(mask).collect()
                }
                _ => Vec::new(),
            };
            let carried: Vec<Option<&[u8]>> = match is_masked {
                true => masked_carry.iter().map(Option::as_deref).collect(),
                false => (0..carry).map(|n| values.get(n)).collect(),
            };
            let row = Row {
                canonical: self.text.get(*url),
                original: if is_masked { &masked } else { &original },
                decoded: decoded.unwrap_or_default(),
                file: &file,
                record: self.before.in_input + sequence as u64 + 1,
                offset: chunk.offset_of(sequence, line.start),
                carried: &carried,
            };
            // A column has no more than this, which is a surt or an escaped text.
            let column = 4 * (row.canonical.len() + row.original.len() + row.decoded.len());
            let carried = carried.iter().flatten().map(|value| 6 * value.len()).sum::<usize>();
            let room =
                columns.layout.fields.len() * (column + file.len() + 64) + carried + 8 * carry;
            visit(sequence, &row, values.get(carry).unwrap_or_default(), room)?;
        }
        Ok(())
    }

    /// Stage *format* of `normalize`: a line for each record, empty where there is no URL.
    pub(crate) fn format_lines(&mut self) -> Result<(), AllocError> {
        for url in &self.urls {
            alloc::try_reserve(&mut self.out, url.len as usize + 1)?;
            self.out.extend_from_slice(self.text.get(*url));
            self.out.push(b'\n');
        }
        Ok(())
    }

    /// Stage *format* of `normalize --json`: an object for each record.
    pub(crate) fn format_json(&mut self) {
        let mut rejected = self.rejected.iter();
        let mut decoded = self.decoded.iter();
        for (number, url) in (self.before.in_run + 1..).zip(&self.urls) {
            let decoded = if url.has_form() { decoded.next() } else { None };
            if url.is_canonical() {
                let url = self.text.get(*url);
                match decoded.filter(|path| !path.is_empty()) {
                    Some(path) => json::canonical_and_decoded(number, url, path, &mut self.out),
                    None => json::canonical(number, url, &mut self.out),
                }
            } else if url.len == Url::BLANK.len {
                json::blank(number, &mut self.out);
            } else if url.len == Url::FILTERED.len || url.len == Url::UNWANTED.len {
                json::filtered(number, &mut self.out);
            } else if let Some(Rejected { reject, .. }) = rejected.next() {
                json::rejected(number, reject.in_order(), reject.at as u64, &mut self.out);
            }
        }
    }

    /// Stage *format* of `normalize` into a table: what became of each record, in columns.
    pub(crate) fn format_rows(&mut self, rules: &Rules<'_>) {
        let mut out = std::mem::take(&mut self.out);
        let any_byte = rules.normalizer.may_write_any_byte();
        let mut originals = vec![Cow::default(); self.urls.len()];
        self.each_url(|sequence, url, _, prefix| originals[sequence] = without_host(url, prefix));
        let mut rejected = self.rejected.iter();
        let records = self.before.in_run + 1..;
        for ((number, url), original) in records.zip(&self.urls).zip(originals) {
            json::number(number, &mut out);
            out.push(b'\t');
            // Of what is rejected, what --rejects shows of it.
            let reject = if url.is_rejected() { rejected.next() } else { None };
            let original = match reject {
                Some(reject) => self.raw(reject),
                None if url.is_blank() => &[],
                None => &*original,
            };
            if rules.secrets == Secrets::Masked {
                let mut masked = Vec::new();
                match reject {
                    Some(reject) => self.mask_raw(reject, &mut masked),
                    None => redact(original, &mut masked),
                }
                escaped(&masked, &mut out);
            } else {
                escaped(original, &mut out);
            }
            out.push(b'\t');
            match any_byte {
                true => escaped(self.text.get(*url), &mut out),
                false => out.extend_from_slice(self.text.get(*url)),
            }
            out.push(b'\t');
            let codes = reject.into_iter().flat_map(|reject| reject.reject.in_order());
            for (i, code) in codes.enumerate() {
                out.extend_from_slice(if i > 0 { b"," } else { b"" });
                out.extend_from_slice(code.name().as_bytes());
            }
            out.push(b'\n');
        }
        self.out = out;
    }

    /// The rejected records as JSON lines.
    pub(crate) fn format_rejects(&mut self, path: &Path, secrets: Secrets) {
        let Some(chunk) = &self.text.chunk else { return };
        if self.rejected.is_empty() {
            return;
        }
        let file = FileMember::new(path);
        let mut out = std::mem::take(&mut self.rejects);
        for reject in &self.rejected {
            let mut raw = self.raw(reject);
            let mut masked = Vec::new();
            if secrets == Secrets::Masked {
                self.mask_raw(reject, &mut masked);
                raw = &masked;
            }
            json::Rejected {
                file: &file,
                offset: chunk.offset_of(reject.sequence as usize, reject.line.start),
                record: self.before.in_input + u64::from(reject.sequence) + 1,
                codes: reject.reject.in_order(),
                url_offset: reject.reject.at as u64,
                raw,
            }
            .write(&mut out);
        }
        self.rejects = out;
    }
}
