//! Reads the numbers of logs whose fields have fixed places around the request.

use memchr::memrchr_iter;

use super::super::clf;
use super::number::{status, whole};
use super::{Measured, time};

/// `clf`, `combined` and `vhost`: the time stands in brackets before the request, the status and the
/// bytes after it. A dash for the bytes is no number.
pub(super) fn clf(line: &[u8]) -> Measured {
    let Ok(request) = clf::quoted_request(line) else {
        let time = clf::bracketed_time(line).and_then(|range| bracketed(&line[range]));
        return Measured { time, ..Measured::default() };
    };
    // The last time before the request: the client may have written one into the name of the user.
    let before = &line[..request.start];
    let open = memrchr_iter(b'[', before).find(|open| clf::begins_as_time(&before[open + 1..]));
    let time = open.and_then(|open| {
        let close = memchr::memchr(b']', &before[open..])?;
        bracketed(&before[open..=open + close])
    });
    let mut after = line[request.end + 1..].trim_ascii_start().split(|byte| *byte == b' ');
    let told = after.next().unwrap_or_default();
    let status = status(told);
    // If neither is the status, other fields may stand before the bytes.
    let is_usual = status.is_some() || told == b"-" || told == b"000";
    let bytes = after.next().filter(|_| is_usual).and_then(whole);
    Measured { status, bytes, duration: None, time }
}

/// A time with the brackets around it.
fn bracketed(text: &[u8]) -> Option<i64> {
    time::written(text.strip_prefix(b"[")?.strip_suffix(b"]")?)
}
