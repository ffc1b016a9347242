//! Reads `robots`: the `Sitemap:` lines of a robots.txt (RFC 9309, and sitemaps.org for these lines).
//!
//! Names of fields ignore case, and `#` begins a comment. All other lines are skipped.

use memchr::memchr;

use super::line::{self, is_blank, without_mark};
use super::{BufferId, Context, Extracted, Records};
use uniqurl::RejectReason;

/// Appends a record for each line of `chunk`.
pub(super) fn read(ctx: &Context, chunk: &[u8], out: &mut Records) {
    line::each(ctx, 0, chunk, out, |line, _| match field(line.bytes) {
        Some((name, value)) if name.eq_ignore_ascii_case(b"sitemap") && !value.is_empty() => {
            if value.len() > ctx.max_url {
                return Extracted::Reject(RejectReason::TooLong, ctx.max_url as u32);
            }
            let range = line.range_of(value).unwrap_or_default();
            Extracted::Url(BufferId::Chunk, line.span(range))
        }
        _ => Extracted::Skipped,
    });
}

/// The name and the value of a line, without its comment.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = without_mark(line);
    let line = &line[..memchr(b'#', line).unwrap_or(line.len())];
    let colon = memchr(b':', line)?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

/// Fields of such files, the ones of single search engines too.
const FIELDS: [&str; 9] = [
    "user-agent",
    "disallow",
    "allow",
    "sitemap",
    "crawl-delay",
    "host",
    "clean-param",
    "request-rate",
    "noindex",
];

/// True if a file with these lines at its start is a robots.txt: all but a few begin with a field or are
/// comments, and the first one is about an agent or a sitemap.
pub(super) fn is_one<'a>(lines: impl Iterator<Item = &'a [u8]>) -> bool {
    let is_known =
        |name: &[u8]| FIELDS.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()));
    let (mut all, mut known, mut begins) = (0, 0, None);
    for line in lines.filter(|line| !is_blank(line)) {
        if without_mark(line).trim_ascii_start().starts_with(b"#") {
            continue;
        }
        all += 1;
        let name = field(line).map(|(name, _)| name).filter(|name| is_known(name));
        known += usize::from(name.is_some());
        begins.get_or_insert(name.is_some_and(|name| {
            ["user-agent", "sitemap"]
                .iter()
                .any(|first| name.eq_ignore_ascii_case(first.as_bytes()))
        }));
    }
    begins == Some(true) && known * 4 > all * 3
}

#[cfg(test)]
mod tests {
    use super::super::format::tests::show;
    use super::super::{Context, Format};
    use super::is_one;

    #[test]
    fn sitemap_lines_are_records_and_others_are_skipped() {
        let show = |line: &str| show(&Format::Robots, &Context::default(), line.as_bytes());
        assert_eq!(show("Sitemap: http://h/s.xml"), "url http://h/s.xml");
        assert_eq!(show("\u{feff}SITEMAP :\thttp://h/s.xml # all"), "url http://h/s.xml");
        assert_eq!(show("sitemap:http://h/s.xml#x"), "url http://h/s.xml");
        for line in ["User-agent: *", "Disallow: /a", "# Sitemap: http://h/", "Sitemap:", "x"] {
            assert_eq!(show(line), "skipped", "{line}");
        }
        assert_eq!(show(" "), "blank");
        let short = Context { max_url: 8, ..Context::default() };
        let shown =
            super::super::format::tests::show(&Format::Robots, &short, b"Sitemap: http://h/");
        assert_eq!(shown, "too-long 8");
    }

    #[test]
    fn file_is_recognized_by_its_fields() {
        let is_one = |text: &str| is_one(text.lines().map(str::as_bytes));
        assert!(is_one("User-agent: *\nDisallow:\n"));
        assert!(is_one("# all\n\nSITEMAP: http://h/s\n"));
        assert!(is_one("sitemap: http://h/a\nUser-Agent: x\nAllow: /\nCrawl-delay: 1\n"));
        for other in
            ["", "# x\n", "Host: h\nUser-agent: x\n", "sitemap: a\nhttp://h/\n", "http://h/\n"]
        {
            assert!(!is_one(other), "{other}");
        }
    }
}
