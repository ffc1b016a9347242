//! Rejected records: their positions, the reasons, and the bytes of each that are shown.

use std::borrow::Cow;

use super::WorkBatch;
use super::text::UrlRef;
use uniqurl::internal::{AllocError, Span, alloc};
use uniqurl::key::Key;
use uniqurl::{Reject, RejectReason};
use uniqurl_formats::record::{BufferId, Extracted};
use uniqurl_text::{HIDDEN, redact, redact_record};

/// A rejected record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RejectedRecord {
    /// Number among the records of the batch.
    pub(crate) sequence: u32,
    pub(crate) line: Span,
    pub(crate) buffer: BufferId,
    /// The URL as it was read, without the host that it was joined to unless the host is wrong; or the
    /// whole record if no URL was found in it.
    pub(crate) raw: Span,
    pub(crate) shown: Shown,
    /// Why, and where in the URL.
    pub(crate) reject: Reject,
}

/// Which part of a rejected record is shown, and how secrets in it are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The URL that was read.
    Url,
    /// The record, in which a question mark stands before each query.
    Record,
    /// A record that may hold a query anywhere.
    Columns,
}

/// Longest excerpt of a record that was too long to be read.
const TOO_LONG_EXCERPT: usize = 1024;

impl WorkBatch {
    /// Notes the next record as rejected.
    pub(super) fn reject(
        &mut self,
        line: Span,
        buffer: BufferId,
        raw: Span,
        shown: Shown,
        reject: Reject,
    ) {
        self.tally.records.reject(reject.codes);
        let sequence = self.keys.len() as u32;
        self.rejected.push(RejectedRecord { sequence, line, buffer, raw, shown, reject });
        self.keys.push(UrlRef::REJECTED);
    }

    /// The beginning of the first record that was rejected.
    pub(crate) fn first_rejected(&self, most: usize) -> Option<Vec<u8>> {
        let line = self.rejected.first()?.line;
        let line = line.of(self.text.chunk.as_ref()?.bytes());
        Some(line[..line.len().min(most)].to_vec())
    }

    /// Rejects the canonical URLs that have no key of this kind, for want of a host.
    pub(super) fn reject_hostless(&mut self, key: Key) -> Result<(), AllocError> {
        let Self { text, keys, rejected, tally, .. } = self;
        let before = rejected.len();
        let found = text.all_records().filter(|(_, found)| *found != Extracted::Skipped);
        for (sequence, (url, (line, found))) in (0..).zip(keys.iter_mut().zip(found)) {
            if !url.is_canonical() || key.takes(text.get(*url)) {
                continue;
            }
            let (buffer, raw) = match found {
                Extracted::Url(buffer, raw) | Extracted::Target(buffer, raw) => (buffer, raw),
                // Of what a target was joined to, no host came either.
                Extracted::Joined { url, .. } => (BufferId::Scratch, url),
                _ => (BufferId::Chunk, line),
            };
            let (shown, reject) = (Shown::Url, Reject::new(RejectReason::NoHost, 0));
            alloc::try_reserve(rejected, 1)?;
            rejected.push(RejectedRecord { sequence, line, buffer, raw, shown, reject });
            *url = UrlRef::HOSTLESS;
            tally.records.reject_canonical(reject.codes);
        }
        // All of them are rejected, and reported as such.
        tally.hostless = 0;
        // They were added after those of the parser, and reports are in the order of the input.
        if rejected.len() > before {
            rejected.sort_by_key(|rejected| rejected.sequence);
        }
        Ok(())
    }

    /// The bytes of a rejected record that are shown. Only the start of one that was too long.
    pub(crate) fn raw(&self, rejected: &RejectedRecord) -> &[u8] {
        let raw = rejected.raw.of(self.text.buffer(rejected.buffer));
        match rejected.reject.code {
            // Such a record may be of any length.
            RejectReason::TooLong => &raw[..raw.len().min(TOO_LONG_EXCERPT)],
            _ => raw,
        }
    }

    /// Appends the same without possible secrets.
    pub(crate) fn mask_raw(&self, rejected: &RejectedRecord, out: &mut Vec<u8>) {
        let raw = self.raw(rejected);
        match rejected.shown {
            Shown::Url => redact(raw, out),
            Shown::Record => redact_record(raw, out),
            Shown::Columns if raw.is_empty() => {}
            // No part of the record is known to be free of secrets.
            Shown::Columns => out.extend_from_slice(HIDDEN.as_bytes()),
        }
    }

    /// The number of a record in its input, counted from 1.
    pub(crate) fn number_in_input(&self, sequence: usize) -> u64 {
        self.sequence.before.in_input + self.text.number_of(sequence) as u64 + 1
    }

    /// Number in its input and offset of the n-th rejected record, counted from 0.
    pub(crate) fn position_of_rejected(&self, n: usize) -> Option<(u64, u64)> {
        let rejected = self.rejected.get(n)?;
        let chunk = self.text.chunk.as_ref()?;
        let offset = chunk.offset_of(rejected.sequence as usize, rejected.line.start);
        Some((self.number_in_input(rejected.sequence as usize), offset))
    }
}

/// The URL as it stands in the record: without the `prefix` bytes of the host that it was joined to. Blanks
/// before the target were moved before the host.
pub(crate) fn without_host(url: &[u8], prefix: u32) -> Cow<'_, [u8]> {
    let target = &url[prefix as usize..];
    match blanks(url) {
        blanks if blanks > 0 && prefix > 0 => {
            Cow::Owned([&url[..blanks], &target[blanks..]].concat())
        }
        _ => Cow::Borrowed(target),
    }
}

/// Bytes before a URL that no scheme begins with.
fn blanks(url: &[u8]) -> usize {
    url.iter().take_while(|byte| **byte <= b' ').count()
}

/// How many bytes of a joined host are left out of a rejected URL: all of them, unless the error is in the
/// host, since the target alone would not show it.
pub(super) fn hidden_prefix(url: &[u8], prefix: u32, reject: &Reject) -> u32 {
    if reject.at < blanks(url) + prefix as usize { 0 } else { prefix }
}
