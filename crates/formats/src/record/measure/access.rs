//! Reads the numbers of logs whose fields have fixed places around the request.

use memchr::{memchr, memrchr_iter};

use super::super::{clf, haproxy};
use super::number::{decimal, status, whole};
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
        let close = memchr(b']', &before[open..])?;
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

/// `elb` and `alb`: the last of 11 or 12 fields before the request. A part of the duration is -1 if
/// the target did not answer.
pub(super) fn elb(line: &[u8]) -> Measured {
    let Some(quote) = memchr(b'"', line) else { return Measured::default() };
    let mut fields = line[..quote].trim_ascii_end().rsplit(|byte| *byte == b' ');
    let mut last: [&[u8]; 11] = [b""; 11];
    for place in last.iter_mut().rev() {
        let Some(field) = fields.next() else { return Measured::default() };
        *place = field;
    }
    // Application balancers put their type in front.
    if fields.count() > 1 {
        return Measured::default();
    }
    let [written, _, _, _, first, second, third, told, _, _, sent] = last;
    let time = time::written(written);
    if time.is_none() {
        return Measured::default();
    }
    let parts = [first, second, third].into_iter();
    let duration =
        parts.map(|part| decimal(part, 6)).try_fold(0u64, |sum, part| sum.checked_add(part?));
    Measured { status: status(told), bytes: whole(sent), duration, time }
}

/// `haproxy`: after the time, frontend, server, timers, status and bytes. A plus sign says that the
/// record was logged before the end: then the number is not the last one.
pub(super) fn haproxy(line: &[u8]) -> Measured {
    let Some(accepted) = clf::bracketed_time(line) else { return Measured::default() };
    let time = bracketed(&line[accepted.clone()]);
    let only_time = Measured { time, ..Measured::default() };
    let Some(quote) = memchr(b'"', &line[accepted.end..]) else { return only_time };
    let mut fields = haproxy::from_timers(&line[accepted.end..accepted.end + quote]);
    let (Some(timers), Some(told), Some(read)) = (fields.next(), fields.next(), fields.next())
    else {
        return only_time;
    };
    let Some(total) = timers.split(|byte| *byte == b'/').nth(4) else { return only_time };
    // A sixth timer would be of another layout.
    if timers.iter().filter(|byte| **byte == b'/').count() != 4 {
        return only_time;
    }
    let duration = whole(total).and_then(|millis| millis.checked_mul(1000));
    Measured { status: status(told), bytes: whole(read), duration, time }
}

/// A time with the brackets around it.
fn bracketed(text: &[u8]) -> Option<i64> {
    time::written(text.strip_prefix(b"[")?.strip_suffix(b"]")?)
}
