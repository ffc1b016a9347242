//! Real indexes of web archives: the URLs equal those of a second reader.

use crate::record_oracle::Holds;
use crate::records::{holds, read};
use crate::shared::unpacked;
use uniqurl_formats::record::{Context, Extracted, Filter, Format, detect};

/// The URLs found and the number of filtered records. Any other record is an error.
fn urls(format: &Format, filter: Filter, bytes: &[u8]) -> (Vec<String>, usize) {
    let out = read(format, &Context { filter, ..Context::default() }, bytes);
    let (mut urls, mut filtered) = (Vec::new(), 0);
    for record in &out.records {
        match record.found {
            Extracted::Filtered => filtered += 1,
            Extracted::Skipped if record.line.of(bytes).starts_with(b" CDX") => {}
            _ => match holds(record, bytes, &out.scratch) {
                Holds::Url(url) => urls.push(String::from_utf8(url).unwrap()),
                other => panic!("{other:?}: {}", record.line.of(bytes).escape_ascii()),
            },
        }
    }
    (urls, filtered)
}

/// The column of a CDX file by its number.
fn column(bytes: &[u8], number: usize) -> Vec<String> {
    let text = std::str::from_utf8(bytes).expect("these are");
    let lines = text.lines().filter(|line| !line.starts_with(" CDX"));
    lines.map(|line| line.split(' ').nth(number).expect("a column").to_owned()).collect()
}

#[test]
#[ignore = "needs ../shared"]
fn urls_of_a_cdx_file_are_its_third_column() {
    for (name, records) in [("iana.cdx", 171), ("sample.cdx.gz", 2144)] {
        let bytes = unpacked(name);
        let format = detect(name, &bytes, true);
        assert_eq!(format.name(), "cdx");
        let (found, _) = urls(&format, Filter::default(), &bytes);
        assert_eq!(found.len(), records, "{name}");
        assert_eq!(found, column(&bytes, 2));
    }
}

#[test]
#[ignore = "needs ../shared"]
fn urls_of_a_cdxj_file_are_the_url_members_of_its_objects() {
    let bytes = unpacked("iana.cdxj");
    let format = detect("iana.cdxj", &bytes, true);
    assert_eq!(format.name(), "cdxj");
    let (found, _) = urls(&format, Filter::default(), &bytes);
    let text = std::str::from_utf8(&bytes).expect("it is");
    let parsed = text.lines().map(|line| {
        let object: serde_json::Value =
            serde_json::from_str(line.splitn(3, ' ').nth(2).unwrap()).unwrap();
        object["url"].as_str().expect("a string").to_owned()
    });
    assert_eq!(found, parsed.collect::<Vec<_>>());
    // It indexes the same archive as the file of the other format.
    assert_eq!(found, column(&unpacked("iana.cdx"), 2));
}

#[test]
#[ignore = "needs ../shared"]
fn filters_agree_with_the_cdx_columns() {
    for (name, statuses) in [("iana.cdx", "200"), ("sample.cdx.gz", "3xx")] {
        let bytes = unpacked(name);
        let mut filter = Filter::default();
        filter.status(statuses).unwrap();
        filter.mime("text/*").unwrap();
        let (found, filtered) = urls(&detect(name, &bytes, true), filter, &bytes);
        let columns = [2, 3, 4].map(|number| column(&bytes, number));
        let expected: Vec<String> = (0..columns[0].len())
            .filter(|at| columns[1][*at].starts_with("text/"))
            .filter(|at| columns[2][*at].starts_with(&statuses[..1]) && columns[2][*at].len() == 3)
            .map(|at| columns[0][at].clone())
            .collect();
        assert!(!expected.is_empty());
        assert_eq!(filtered + expected.len(), columns[0].len(), "{name}");
        assert_eq!(found, expected, "{name}");
    }
}
