//! Reads the times of the records of web archives.

use super::super::Archive;
use super::super::archive::field;
use super::{Measured, time};

/// The time of a record, from its head.
pub(super) fn archive(archive: Archive, head: &[u8]) -> Measured {
    let time = match archive {
        Archive::Warc(_) => field(head, b"warc-date").and_then(|date| time::written(&date)),
        // `URL IP-address date media-type length`
        Archive::Arc => {
            let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let mut fields = line.trim_ascii_end().rsplit(|byte| *byte == b' ');
            fields.nth(2).and_then(time::stamp)
        }
        Archive::Wat | Archive::WatLinks => None,
    };
    Measured { time, ..Measured::default() }
}
