//! Lines of a web server's log in the combined format, as Apache and nginx write it.

use super::random::Rng;
use super::url::{Base, Hex, Style, decimal, hex, host};
use super::words::*;

/// Scheme and authority of the targets in absolute-form, and the value of `--base` that joins the others to
/// the same host.
pub const ORIGIN: &str = "http://www.example.org";

/// The request target of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// A target in origin-form.
    Origin,
    /// A target in absolute-form, as a proxy gets it.
    Absolute,
    /// `OPTIONS *`.
    Asterisk,
    /// `CONNECT host:port`.
    Authority,
    /// `-` or a TLS handshake: no HTTP request at all.
    None,
    /// The log ends inside the request.
    Truncated,
}

impl Request {
    /// One request, in the proportions of a busy public server.
    pub fn draw(rng: &mut Rng) -> Self {
        match rng.below(1000) {
            0..=2 => Self::Absolute,
            3 => Self::Asterisk,
            4..=5 => Self::Authority,
            6..=9 => Self::None,
            10 if rng.chance(200) => Self::Truncated,
            _ => Self::Origin,
        }
    }
}

/// The shape of the targets.
pub const STYLE: Style = Style { triplets: 20, idn: 0 };

/// Writes line after line, the clock going on.
#[derive(Debug)]
pub struct Log {
    seconds: u64,
    day: u64,
    date: String,
}

impl Log {
    pub fn new() -> Self {
        Self { seconds: 0, day: u64::MAX, date: String::new() }
    }

    /// Appends one line; `base` is the target. Returns whether the target needs work.
    pub fn write(
        &mut self,
        request: Request,
        base: &Base,
        rng: &mut Rng,
        out: &mut Vec<u8>,
    ) -> bool {
        self.client_and_time(rng, out);
        out.push(b'"');
        let mut dirty = false;
        match request {
            Request::Origin | Request::Absolute | Request::Truncated => {
                text(
                    out,
                    rng.pick(&["GET ", "GET ", "GET ", "GET ", "GET ", "GET ", "POST ", "HEAD "]),
                );
                if request == Request::Absolute {
                    text(out, ORIGIN);
                }
                // A cut line has no quotes, so that no byte looks like its end.
                dirty = request != Request::Truncated && rng.chance(20);
                if dirty {
                    base.write_target_variant(rng, out);
                } else {
                    out.extend_from_slice(&base.bytes);
                }
                match rng.below(1000) {
                    _ if request == Request::Truncated => return false,
                    0..=299 => text(out, " HTTP/2.0"),
                    // HTTP/0.9, which scanners still send. A raw blank would make its end ambiguous.
                    300 if !dirty => {}
                    _ => text(out, " HTTP/1.1"),
                }
            }
            Request::Asterisk => text(out, "OPTIONS * HTTP/1.1"),
            Request::Authority => {
                text(out, "CONNECT ");
                host(out, rng.rank(1000, 6));
                text(out, ":443 HTTP/1.1");
            }
            Request::None if rng.chance(500) => out.push(b'-'),
            Request::None => {
                text(out, "\\x16\\x03\\x01\\x02\\x00\\x01\\x00\\x01\\xFC\\x03\\x03");
                for _ in 0..rng.below(40) {
                    match rng.bits() as u8 {
                        // A blank would part a method from a target.
                        b' ' | b'"' | b'\\' => out.push(b'_'),
                        b @ 0x21..=0x7E => out.push(b),
                        b => {
                            text(out, "\\x");
                            hex(out, b, Hex::Upper);
                        }
                    }
                }
            }
        }
        let status = match request {
            Request::None => "\" 400 ",
            Request::Asterisk | Request::Authority => "\" 405 ",
            _ => rng.pick(&[
                "\" 200 ", "\" 200 ", "\" 200 ", "\" 200 ", "\" 304 ", "\" 301 ", "\" 404 ",
            ]),
        };
        text(out, status);
        decimal(out, rng.rank(3_000_000, 16));
        text(out, " \"");
        if rng.chance(400) {
            out.push(b'-');
        } else {
            text(out, ORIGIN);
            out.push(b'/');
            text(out, rng.pick(&WORDS));
            out.push(b'/');
            text(out, rng.pick(&WORDS));
        }
        text(out, "\" \"");
        text(out, AGENTS[rng.rank(AGENTS.len() as u64, 4) as usize]);
        out.push(b'"');
        dirty
    }

    fn client_and_time(&mut self, rng: &mut Rng, out: &mut Vec<u8>) {
        let client = rng.bits();
        if client >> 60 == 0 {
            text(out, "2001:db8:");
            for byte in client.to_le_bytes() {
                hex(out, byte | 0x10, Hex::Lower);
                if byte & 1 == 0 {
                    out.push(b':');
                }
            }
            out.push(b'1');
        } else {
            // Some clients come again and again: 16 bits of the address are a rank.
            let often = rng.rank(65_536, 10);
            for (i, byte) in [100 + (client & 63), client >> 8 & 15, often >> 8, often & 255]
                .into_iter()
                .enumerate()
            {
                if i > 0 {
                    out.push(b'.');
                }
                decimal(out, byte);
            }
        }
        text(out, if rng.chance(5) { " - frank [" } else { " - - [" });
        // Some 40 lines a second.
        if rng.chance(25) {
            self.seconds += 1;
        }
        let day = self.seconds / 86_400;
        if day != self.day {
            self.day = day;
            self.date = date(day);
        }
        text(out, &self.date);
        let time = self.seconds % 86_400;
        for part in [time / 3600, time / 60 % 60, time % 60] {
            out.extend_from_slice(&[b':', b'0' + (part / 10) as u8, b'0' + (part % 10) as u8]);
        }
        text(out, " +0000] ");
    }
}

/// The date `day` days after the first of January 2025, as logs write it.
fn date(mut day: u64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut year = 2025;
    loop {
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        for (month, length) in MONTHS.iter().zip(lengths) {
            if day < length {
                return format!("{:02}/{month}/{year}", day + 1);
            }
            day -= length;
        }
        year += 1;
    }
}

fn text(out: &mut Vec<u8>, s: &str) {
    out.extend_from_slice(s.as_bytes());
}
