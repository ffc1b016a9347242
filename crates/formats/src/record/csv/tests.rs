use super::super::{BufferId, Context, Extracted, Format, Records, format::tests::read};
use super::{cut, value};
use csv_core::{ReadFieldResult, ReaderBuilder, Terminator};

fn csv(columns: &str) -> Format {
    Format::parse(&format!("csv:{columns}")).unwrap()
}

/// The content of each record, as text.
fn found(format: &Format, ctx: &Context, chunk: &[u8]) -> Vec<String> {
    let Records { records, scratch, .. } = read(format, ctx, chunk);
    let show = |found| match found {
        Extracted::Url(BufferId::Chunk, span) => span.of(chunk).escape_ascii().to_string(),
        Extracted::Url(BufferId::Scratch, span) => span.of(&scratch).escape_ascii().to_string(),
        Extracted::Reject(code, 0) => code.name().to_owned(),
        Extracted::Skipped => "skipped".into(),
        Extracted::Blank => "blank".into(),
        other => format!("{other:?}"),
    };
    records.iter().map(|record| show(record.found)).collect()
}

fn limited(max_record: usize) -> Context {
    Context { max_record, ..Context::default() }
}

#[test]
fn quoted_field_may_hold_commas_line_feeds_and_doubled_quotes() {
    let chunk = b"id,url\r\n1,http://a/\r\n\"2\",\"http://b/,\"\"x\ny\"\r\n\r\n3,http://c/\"q\"\n4\n5,\"\"\n6,\"a\"b";
    let expected = [
        "skipped",
        "http://a/",
        "http://b/,\\\"x\\ny",
        "blank",
        "http://c/\\\"q\\\"",
        "truncated",
        "blank",
        "ab",
    ];
    assert_eq!(found(&csv("url"), &Context::default(), chunk), expected);
}

#[test]
fn column_number_needs_no_header_and_names_ignore_case() {
    assert_eq!(found(&csv("2"), &Context::default(), b"1,u\n2,v\n"), ["u", "v"]);
    assert_eq!(
        found(&csv("URL"), &Context::default(), b"\n\"Url\",x\nu,v\n"),
        ["blank", "skipped", "u"]
    );
    let bom = b"\xEF\xBB\xBFurl\nu\n";
    assert_eq!(found(&csv("url"), &Context::default(), bom), ["skipped", "u"]);
    assert_eq!(found(&csv("nope"), &Context::default(), b"url\nu\n"), ["skipped", "no-field"]);
}

#[test]
fn byte_order_mark_stays_part_of_a_csv_record() {
    let chunk = b"\xEF\xBB\xBF,\"u\"\n\xEF\xBB\xBFx,\"u\"\n";
    assert_eq!(
        found(&csv("1"), &Context::default(), chunk),
        ["\\xef\\xbb\\xbf", "\\xef\\xbb\\xbfx"]
    );
}

#[test]
fn unclosed_quote_costs_one_line() {
    for ctx in [limited(1000), limited(12)] {
        let chunk = b"a\n\"b\nc\nd\n";
        assert_eq!(found(&csv("1"), &ctx, chunk), ["a", "truncated", "c", "d"]);
    }
    let chunk = b"\"b\ncccccccccccccccc\nd\"\ne\n";
    assert_eq!(found(&csv("1"), &limited(12), chunk), ["truncated", "too-long", "d\\\"", "e"]);
}

#[test]
fn a_carriage_return_without_a_line_feed_belongs_to_the_record() {
    let chunks: [(&[u8], _); 3] =
        [(b"a\nb\r", "a"), (b"\"a\nb\r", "truncated"), (b"\"a\r\nb\r", "truncated")];
    for (chunk, first) in chunks {
        assert_eq!(found(&csv("1"), &Context::default(), chunk), [first, "b\\r"]);
    }
}

#[test]
fn unclosed_quotes_on_every_line_take_linear_time() {
    // Such a line leaves a quotation open, whether or not it starts inside one.
    let chunk = b"x\",\"\n".repeat(50_000);
    let before = cut::LOOKED.get();
    let all = found(&csv("1"), &limited(40_000), &chunk);
    assert!(all.len() == 50_000 && all.iter().all(|found| found == "truncated"));
    let looked = cut::LOOKED.get() - before;
    assert!((1..=4).contains(&(looked / chunk.len())), "{looked} of {}", chunk.len());
}

#[test]
fn cutting_at_complete_records_does_not_change_the_records() {
    let words: &[&[u8]] = &[b"\"", b"\"\"", b",", b"\n", b"\r\n", b"ab", b"x\",\"\n", b" ", b"\""];
    for case in 0..20_000u64 {
        let mut state = case.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut text = Vec::new();
        for _ in 0..case % 24 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.extend_from_slice(words[(state >> 33) as usize % words.len()]);
        }
        let max_record = [3, 8, 100, usize::MAX][case as usize % 4];
        let all: Vec<_> = cut::CsvCutter::new(&text, b',', max_record).collect();
        let mut apart = Vec::new();
        let (mut start, mut seen) = (0, 0);
        while start < text.len() {
            // Add a line at a time, as a pipe delivers them.
            let line = text[seen..].iter().position(|byte| *byte == b'\n');
            seen = line.map_or(text.len(), |length| seen + length + 1);
            let at_end = seen == text.len();
            let known = &text[start..seen];
            let whole = if at_end { known.len() } else { cut::whole(known, b',', max_record) };
            for piece in cut::CsvCutter::new(&known[..whole], b',', max_record) {
                let range = piece.range();
                apart
                    .push((range.start + start..range.end + start, std::mem::discriminant(&piece)));
            }
            start += whole;
        }
        let all: Vec<_> =
            all.iter().map(|piece| (piece.range(), std::mem::discriminant(piece))).collect();
        assert_eq!(apart, all, "{max_record}: {}", text.escape_ascii());
    }
}

/// Texts of several blocks, mostly of ordinary quotations with a stray mark here and there.
fn texts() -> impl Iterator<Item = Vec<u8>> {
    let usual: &[&[u8]] =
        &[b",", b"\n", b"\r\n", b"\"\",", b"\"a,\n\",", b"\"\"\"\"\n", b"\"a\"\"b\"\n", b"abc"];
    let odd: &[&[u8]] = &[b"\"", b"\"x", b"x\"", b"\"\r", b"\"\"", b"\""];
    (0..20_000u64).map(move |case| {
        let mut state = case.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % n
        };
        let words = below(80);
        let pick =
            |_| if below(40) == 0 { odd[below(odd.len())] } else { usual[below(usual.len())] };
        (0..words).flat_map(pick).copied().collect()
    })
}

#[test]
fn mask_cutter_agrees_with_the_field_cutter() {
    let mut by_feeds = 0;
    for (case, text) in texts().enumerate() {
        let max_record = [3, 20, 70, 1000][case % 4];
        by_feeds += usize::from(cut::CsvCutter::new(&text, b',', max_record).finds_by_masks());
        let by_masks: Vec<_> = cut::CsvCutter::new(&text, b',', max_record).collect();
        let by_fields: Vec<_> = cut::CsvCutter::by_fields(&text, b',', max_record).collect();
        assert_eq!(by_masks, by_fields, "{max_record}: {}", text.escape_ascii());
    }
    assert!(by_feeds > 10_000, "masks found a record in {by_feeds} texts");
}

#[test]
fn another_delimiter_gives_the_records_of_commas() {
    for text in texts().step_by(7) {
        let swap = |byte: &u8| match byte {
            b',' => b';',
            b';' => b',',
            byte => *byte,
        };
        let swapped: Vec<u8> = text.iter().map(swap).collect();
        let pieces: Vec<_> = cut::CsvCutter::new(&text, b',', 70).collect();
        assert_eq!(cut::CsvCutter::new(&swapped, b';', 70).collect::<Vec<_>>(), pieces);
        assert_eq!(cut::whole(&swapped, b';', 70), cut::whole(&text, b',', 70));
        for piece in pieces {
            let [commas, others] = [&text, &swapped].map(|text| &text[piece.range()]);
            let fields = |record, delimiter| cut::fields(record, delimiter).map(<[u8]>::len);
            assert!(fields(commas, b',').eq(fields(others, b';')), "{}", text.escape_ascii());
        }
    }
}

#[test]
fn delimiter_is_found_in_the_first_record() {
    for (columns, head, delimiter) in [
        ("url", "id;url\n1;http://h/,x\n", b';'),
        ("URL", "\u{FEFF}\"Id\"|\"Url, long\"|\"url\"\n", b'|'),
        ("host=h,target=t", "\n \nh\tt\n", b'\t'),
        ("url", "id;x,url\n", b','),
        ("url", "a;b\n", b';'),
        ("1", "\"Address\";\"Title, long\"\nhttp://h/;\"a, b\"\n", b';'),
        ("1", "\"http://h/;a\nb\";\"x\"\n", b';'),
        ("2", "1;http://h/\n", b';'),
        ("1", "Address|Status\nhttp://h/|200\n", b'|'),
        ("1", "http://h/,1;2\n", b','),
        ("1", "a;b,c\n", b','),
        // These may be the bytes of a URL.
        ("1", "http://h/;a\nhttp://h/;b\n", b','),
        ("1", "http://h/|a\n", b','),
        ("1", "", b','),
        ("url", "url\nhttp://h/;a\n", b','),
    ] {
        let Format::Csv(csv) = csv(columns) else { panic!() };
        let found = csv.delimiter_of(&Context::default(), head.as_bytes());
        assert_eq!(char::from(found), char::from(delimiter), "{columns}: {head}");
    }
}

#[test]
fn fields_agree_with_csv_core() {
    let mut reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
    for text in texts() {
        for piece in cut::CsvCutter::new(&text, b',', 1000) {
            let cut::CsvRecord::Record(range) = piece else { continue };
            let record = &text[range];
            let own: Vec<Vec<u8>> =
                cut::fields(record, b',').map(|field| value(field).bytes().to_vec()).collect();
            let mut fields = vec![Vec::new()];
            for mut input in [record, b"\n"] {
                while !input.is_empty() {
                    let mut room = [0];
                    let (result, read, wrote) = reader.read_field(input, &mut room);
                    input = &input[read..];
                    fields.last_mut().unwrap().extend_from_slice(&room[..wrote]);
                    if matches!(result, ReadFieldResult::Field { .. }) {
                        fields.push(Vec::new());
                    }
                }
            }
            fields.pop();
            assert_eq!(own, fields, "{}", record.escape_ascii());
        }
    }
}

#[test]
fn a_line_that_is_too_long_is_rejected_whole_or_cut() {
    for chunk in [&b"\"aaaaaaaaaaaa\nb\n"[..], b"aaaaaaaaaaaaaa\nb\n"] {
        assert_eq!(found(&csv("1"), &limited(8), chunk), ["too-long", "b"]);
        let cut = &chunk[..9];
        assert_eq!(cut::whole(cut, b',', 8), 9);
        assert_eq!(found(&csv("1"), &limited(8), cut), ["too-long"]);
    }
}
