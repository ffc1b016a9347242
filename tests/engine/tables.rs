//! Parquet and Arrow: the same rows in every encoding, split and filter, nested columns, outputs
//! that are read back, and files with false metadata.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, Int32Array, LargeBinaryArray, LargeStringArray,
    NullArray, RecordBatch, StringArray, StringViewArray, StructArray, UInt64Array,
};
use arrow_ipc::writer::IpcWriteOptions;
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::{
    FileMetaData, PageIndexPolicy, ParquetMetaDataBuilder, ParquetMetaDataReader,
    ParquetMetaDataWriter,
};
use parquet::file::properties::{WriterProperties, WriterVersion};

use uniqurl::{Normalizer, Profile};
use uniqurl_engine::output::{TableColumn, TableFile, TableKind, TableValues};
use uniqurl_engine::{CHUNK_SIZE, Dedup, Job, JobPlan, RunError, SetOrder};
use uniqurl_formats::input::{InputError, InputState};
use uniqurl_formats::record::Filter;

use crate::pipeline::assert_rewriting_is_an_error;
use crate::runs::{
    FIRST, Outcome, Takes, cases, checked, file, limit, plan_of, ran, ran_for, ran_on, stream,
};
use crate::written::{Packed, arrow, arrow_with, batch, parquet, plain};

fn plan(format: &str) -> JobPlan {
    let mut plan = plan_of(format, FIRST);
    plan.limits.threads = 2;
    plan
}

/// A run with a list of rejected records.
fn read(bytes: &[u8], plan: &JobPlan) -> Outcome {
    ran_for(plan, &checked(&[file(bytes).path().to_owned()]), Takes::Rejects)
}

/// The same for a format by its name.
fn read_as(format: &str, bytes: &[u8]) -> Outcome {
    read(bytes, &plan(format))
}

/// The error of an input that cannot be read.
fn error(bytes: &[u8], format: &str) -> InputError {
    match read_as(format, bytes).result {
        Err(RunError::Input(error)) => error,
        other => panic!("{format}: {other:?}"),
    }
}

/// Some rows, many of them equal; some null, blank or not a URL, and some short enough for a view
/// to hold the text itself.
fn rows(count: usize) -> Vec<Option<String>> {
    let row = |i: usize| {
        let n = i.wrapping_mul(2_654_435_761) >> 7 & 63;
        match i % 8 {
            0 => Some(format!("HTTP://Example.COM:80/%7Ea/../{n}#x")),
            1 | 2 => Some(format!("http://example.com/{n}")),
            3 => None,
            4 => Some(format!("no-url-{n}")),
            5 => Some(format!("h:{n}")),
            6 => Some(" \t".repeat(i % 3)),
            _ => Some(format!("https://example.org/a/b/c/{n}?q=a&b")),
        }
    };
    (0..count).map(row).collect()
}

/// The same rows in every type of text.
fn arrays(rows: &[Option<String>]) -> Vec<ArrayRef> {
    let texts = || rows.iter().map(Option::as_deref);
    let bytes = || rows.iter().map(|row| row.as_ref().map(String::as_bytes));
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    dictionary.extend(texts());
    vec![
        Arc::new(texts().collect::<StringArray>()),
        Arc::new(texts().collect::<LargeStringArray>()),
        Arc::new(texts().collect::<StringViewArray>()),
        Arc::new(bytes().collect::<BinaryArray>()),
        Arc::new(bytes().collect::<LargeBinaryArray>()),
        Arc::new(bytes().collect::<BinaryViewArray>()),
        Arc::new(dictionary.finish()),
    ]
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(values.iter().map(Some).collect::<StringArray>())
}

/// The rows as Parquet, as an Arrow file and as a stream, each with the name of its format.
fn tables(batch: &RecordBatch, rows: usize) -> [(&'static str, Vec<u8>); 3] {
    let [file, stream] = arrow(batch, rows, Packed::None);
    [("parquet", parquet(batch, plain())), ("arrow", file), ("arrow", stream)]
}

/// The rows as one column of text.
fn one_column(rows: &[Option<String>]) -> RecordBatch {
    batch([("url", Arc::clone(&arrays(rows)[0]))])
}

/// The rows as one column of a dictionary.
fn keyed(rows: &[Option<String>]) -> RecordBatch {
    batch([("url", Arc::clone(&arrays(rows)[6]))])
}

/// The same rows as a list.
fn list(rows: &[Option<String>]) -> String {
    rows.iter().map(|row| row.clone().unwrap_or_default() + "\n").collect()
}

/// The outcome for a list of the same rows.
fn as_lines(rows: &[Option<String>]) -> Outcome {
    read_as("lines", list(rows).as_bytes())
}

/// The reports of rejected records without the file and the offset.
fn rejects(outcome: &Outcome) -> Vec<String> {
    let records = str::from_utf8(&outcome.rejects).unwrap().lines();
    records.map(|line| line[line.find("\"record\"").unwrap()..].to_owned()).collect()
}

#[test]
fn table_of_any_type_and_encoding_equals_the_list_of_its_rows() {
    let rows = rows(1500);
    let dedups =
        [FIRST, Dedup { order: SetOrder::Sorted, count: true, min_count: 2, limit: Some(99) }];
    let seen = b"http://example.com/7\nhttps://example.org/a/b/c/9?q=a&b\nhttp://new/\n";
    let seen = file(seen);
    // If no output needs each record, equal rows are read once.
    let mut runs = Vec::new();
    for job in dedups.map(Job::Dedup).into_iter().chain([Job::Tabulate]) {
        // Only a set spills.
        let budget = matches!(job, Job::Dedup(_)).then_some(1 << 12);
        for (threads, chunk_size, budget) in
            [(2, CHUNK_SIZE, None), (3, 700, None), (2, CHUNK_SIZE, budget)]
        {
            let mut plan = plan("auto");
            plan.job = job.clone();
            limit(&mut plan, threads, chunk_size, budget);
            runs.push((plan.clone(), Takes::Rejects));
            runs.push((plan.clone(), Takes::Output));
            plan.input.seen = checked(&[seen.path().to_owned()]);
            runs.push((plan, Takes::Output));
        }
    }
    let expected = runs.iter().map(|(plan, takes)| {
        let mut plan = plan.clone();
        plan.input.format = crate::runs::format("lines");
        ran_for(&plan, &checked(&[file(list(&rows).as_bytes()).path().to_owned()]), *takes)
    });
    let expected: Vec<Outcome> = expected.collect();
    let check = |bytes: &[u8], what: &str| {
        let file = file(bytes);
        let inputs = checked(&[file.path().to_owned()]);
        for ((plan, takes), expected) in runs.iter().zip(&expected) {
            let found = ran_for(plan, &inputs, *takes).unwrap();
            let case = (&plan.job, &plan.limits, takes, plan.input.seen.len());
            assert!(found.out == expected.out, "{what}: {case:?}");
            assert_eq!(found.report.tally, expected.report.tally, "{what}");
            assert_eq!(rejects(&found), rejects(expected), "{what}");
        }
    };
    let builder = WriterProperties::builder;
    for array in arrays(&rows) {
        let other = Arc::new(UInt64Array::from_iter_values(0..rows.len() as u64)) as ArrayRef;
        let kind = array.data_type().to_string();
        let batch = batch([("n", other), ("url", array)]);
        let of_two =
            |version| builder().set_writer_version(version).set_data_page_row_count_limit(90);
        let full = of_two(WriterVersion::PARQUET_1_0).set_dictionary_page_size_limit(900);
        let delta = builder()
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::DELTA_BYTE_ARRAY)
            .set_column_encoding("n".into(), Encoding::PLAIN);
        let zstd = Compression::ZSTD(ZstdLevel::default());
        for (name, properties) in [
            ("dictionary", builder()),
            ("plain", builder().set_dictionary_enabled(false)),
            ("row groups", builder().set_max_row_group_row_count(Some(401))),
            ("pages", of_two(WriterVersion::PARQUET_2_0)),
            ("full dictionary", full),
            ("delta", delta.set_compression(zstd)),
            ("snappy", builder().set_compression(Compression::SNAPPY)),
            ("gzip", builder().set_compression(Compression::GZIP(Default::default()))),
            ("brotli", builder().set_compression(Compression::BROTLI(Default::default()))),
            ("lz4", builder().set_compression(Compression::LZ4_RAW)),
        ] {
            // One type is enough for each encoding, and one encoding for each type.
            if kind == "Utf8" || name == "dictionary" {
                check(&parquet(&batch, properties.build()), &format!("{kind} {name}"));
            }
        }
        let packings = [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)];
        for packing in packings.into_iter().take(if kind == "Utf8" { 3 } else { 1 }) {
            for (file, name) in arrow(&batch, 600, packing).iter().zip(["file", "stream"]) {
                check(file, &format!("{kind} {name} {packing:?}"));
            }
        }
    }
}

#[test]
fn table_rewritten_while_it_is_read_is_an_error() {
    let urls: Vec<_> = (0..20_000).map(|n| Some(format!("http://h/{n}"))).collect();
    for (format, table) in tables(&one_column(&urls), 1000) {
        assert_rewriting_is_an_error(&format!("{format}:url"), &table);
    }
}

#[test]
fn repeated_rows_without_a_host_are_counted_each_time() {
    let rows = ["/a/b", " ", "http://h/x", "/c;d", "/%zz", ""]
        .map(|row| (!row.is_empty()).then(|| row.to_owned()));
    let rows: Vec<Option<String>> = rows.into_iter().cycle().take(600).collect();
    let table = parquet(&keyed(&rows), WriterProperties::default());
    let [found, expected] =
        [("auto", &table[..]), ("lines", list(&rows).as_bytes())].map(|(format, bytes)| {
            let mut plan = plan(format);
            plan.normalizer = Normalizer::new(Profile::Servlet);
            ran_on(&plan, bytes).unwrap()
        });
    assert_eq!(found.report.tally, expected.report.tally);
    assert_eq!((found.report.hostless, expected.report.hostless), (200, 200));
}

#[test]
fn column_is_selected_by_name_number_or_type() {
    let (urls, texts) = (texts(&["http://a/", "http://b/"]), texts(&["x", "y"]));
    let numbers = Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
    let inner = Fields::from(vec![Field::new("u", DataType::Utf8, true)]);
    let nested = Arc::new(StructArray::new(inner, vec![Arc::clone(&urls)], None)) as ArrayRef;
    let named = batch([("t", Arc::clone(&texts)), ("URL", Arc::clone(&urls))]);
    let alone = batch([("n", Arc::clone(&numbers)), ("link", Arc::clone(&urls))]);
    let deep = batch([("n", numbers), ("t", texts), ("s", nested)]);
    for (table, column) in [(&named, "URL"), (&alone, "link")] {
        for (container, file) in tables(table, 9) {
            let found = read_as("auto", &file);
            assert_eq!(found.text(), "http://a/\nhttp://b/\n");
            assert_eq!(*found.report.guessed[0].1, format!("{container}:{column}"));
        }
    }
    let all = "it has no column `url`, and more or fewer than one column of text: its columns are n \
               (numbers), t (text), s.u (text)";
    for (column, expected) in [
        ("s.u", Ok("http://a/\nhttp://b/\n")),
        ("S.U", Ok("http://a/\nhttp://b/\n")),
        ("3", Ok("http://a/\nhttp://b/\n")),
        ("", Err(all)),
        ("nope", Err("it has no column `nope`: its columns are n (numbers)")),
        ("4", Err("it has no column `4`")),
        ("n", Err("its column `n` holds numbers instead of URLs")),
    ] {
        column_gives(&deep, column, expected);
    }
}

/// Every kind of a table, read by this column, gives these lines, or an error with these words.
#[track_caller]
fn column_gives(table: &RecordBatch, column: &str, expected: Result<&str, &str>) {
    for (container, file) in tables(table, 2) {
        let format = match column {
            "auto" => "auto".to_owned(),
            "" => container.to_owned(),
            column => format!("{container}:{column}"),
        };
        match expected {
            Ok(lines) => assert_eq!(read_as(&format, &file).unwrap().text(), lines, "{format}"),
            Err(words) => {
                let error = error(&file, &format).to_string();
                assert!(error.contains(": format: ") && error.contains(words), "{error}");
            }
        }
    }
}

#[test]
fn table_without_columns_is_an_error() {
    let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
    for column in ["auto", "", "url", "1"] {
        column_gives(&nothing, column, Err("it has no columns"));
    }
}

#[test]
fn column_of_nulls_is_blank() {
    let nothing = Arc::new(NullArray::new(3)) as ArrayRef;
    let urls = texts(&["http://a/", "http://b/", "http://c/"]);
    let batch = batch([("url", Arc::clone(&nothing)), ("link", urls), ("code", nothing)]);
    for (_, file) in tables(&batch, 2) {
        let tally = read_as("auto", &file).report.tally;
        assert_eq!((tally.records, tally.blank), (3, 3));
    }
    column_gives(&batch, "link,status=code", Ok("http://a/\nhttp://b/\nhttp://c/\n"));
    let all = "its columns are url (nulls), link (text), code (nulls)";
    column_gives(&batch, "nope", Err(all));
}

#[test]
fn parts_of_a_row_are_joined_and_filtered() {
    let hosts = vec![Some("a.example"), Some("b.example"), None, Some("a.example"), None];
    let hosts = Arc::new(StringArray::from(hosts)) as ArrayRef;
    let paths = vec![Some("/1"), Some("/2?q"), Some("/3"), None, Some("/1")];
    let paths = Arc::new(StringArray::from(paths)) as ArrayRef;
    let codes = vec![Some(200), Some(404), Some(200), Some(200), None];
    let codes = Arc::new(Int32Array::from(codes)) as ArrayRef;
    let table = batch([("h", hosts), ("p", paths), ("c", codes)]);
    let mut filter = Filter::default();
    filter.status("2xx").unwrap();
    for (format, file) in tables(&table, 2) {
        for columns in ["host=h,target=p,status=c", "status=3,target=2,host=1"] {
            let mut plan = plan(&format!("{format}:{columns}"));
            let all = read(&file, &plan);
            assert_eq!(all.text(), "http://a.example/1\nhttp://b.example/2?q\n/3\n/1\n");
            assert_eq!(all.report.tally.blank, 1, "{format} {columns}");
            plan.policy.records = filter.clone();
            let some = read(&file, &plan);
            assert_eq!(some.text(), "http://a.example/1\n/3\n", "{format} {columns}");
            assert_eq!((some.report.tally.filtered, some.report.tally.blank), (2, 1));
        }
    }
}

#[test]
fn bytes_that_are_not_utf8_are_kept_and_rejects_name_their_row() {
    let rows: Vec<&[u8]> = vec![b"http://a/\xFF", b"bad \xC3", b"http://a/\xFF"];
    let table = batch([("url", Arc::new(BinaryArray::from(rows)) as ArrayRef)]);
    let with_dictionary = ("parquet", parquet(&table, Default::default()));
    for (_, file) in tables(&table, 2).into_iter().chain([with_dictionary]) {
        let found = read_as("auto", &file);
        assert_eq!(found.text(), "http://a/%FF\n");
        let reject: serde_json::Value = serde_json::from_slice(&found.rejects).unwrap();
        assert_eq!((&reject["record"], &reject["offset"]), (&2.into(), &1.into()));
        assert_eq!(reject["raw_base64"], "YmFkIMM=");
    }
}

/// A new table with a column of text.
fn create(path: &Path, kind: TableKind, sorted: Option<usize>) -> TableFile {
    let columns = vec![TableColumn { name: "url".into(), holds: TableValues::Text }];
    TableFile::create(path, kind, columns, sorted).unwrap()
}

#[test]
fn table_that_ended_takes_no_more_rows_and_does_not_appear_after_an_error() {
    let directory = tempfile::tempdir().unwrap();
    for (kind, name) in [(TableKind::Parquet, "s.parquet"), (TableKind::Arrow, "s.arrow")] {
        let path = directory.path().join(name);
        let tells = |error: io::Error, words: &str| {
            let error = error.to_string();
            assert!(error.starts_with(path.to_str().unwrap()) && error.contains(words), "{error}");
        };
        let mut finished = create(&path, kind, None);
        finished.write_all(b"http://a/\n").unwrap();
        finished.prepare().unwrap();
        tells(finished.write_all(b"http://b/\nhttp://c/\n").unwrap_err(), "rows");
        let mut failed = create(&path, kind, None);
        failed.write_all(b"a\n\xff\nb\n").unwrap();
        tells(failed.prepare().unwrap_err(), "UTF");
        tells(failed.prepare().unwrap_err(), "an earlier error ended the table");
        failed.write_all(b"c\n").unwrap_err();
        for table in [finished, failed] {
            table.commit().unwrap_err();
            assert!(!path.exists());
        }
    }
}

#[test]
fn row_group_of_long_rows_is_bounded_by_memory() {
    const LONG: usize = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.parquet");
    let mut table = create(&path, TableKind::Parquet, None);
    let mut next = crate::runs::numbers(1);
    for _ in 0..110 {
        // Six random bits in a byte: three quarters remain after packing.
        let mut line: Vec<u8> = Vec::with_capacity(LONG + 8);
        while line.len() < LONG {
            let bits = next(1 << 30);
            line.extend((0..5).map(|i| b'0' + (bits >> (6 * i) & 63) as u8));
        }
        line.push(b'\n');
        table.write_all(&line).unwrap();
    }
    table.commit().unwrap();
    let file = std::fs::File::open(path).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
    let groups = metadata.row_groups();
    assert!(groups.len() > 1);
    // A group may exceed the limit by one row.
    assert!(groups.iter().all(|group| group.total_byte_size() < 34 << 20));
    assert_eq!(groups.iter().map(|group| group.num_rows()).sum::<i64>(), 110);
}

#[test]
fn table_bytes_depend_only_on_its_rows() {
    let directory = tempfile::tempdir().unwrap();
    let rows: String = (0..150_000).map(|i| format!("{i}\thttp://a/{i}\n")).collect();
    // Half of the bytes that may wait, so that size ends a row group, too.
    let long = format!("1\thttp://a/{}\n", "b".repeat(32 << 20));
    let lines = [&rows[..], &long, &rows, &long, &rows, &rows].concat();
    let written = |kind, threads: usize| {
        let column = |name: &str, holds| TableColumn { name: name.into(), holds };
        let columns =
            vec![column("count", TableValues::Numbers), column("canonical", TableValues::Text)];
        let path = directory.path().join(threads.to_string());
        let write = || {
            let mut table = TableFile::create(&path, kind, columns, None).unwrap();
            let parts = lines.as_bytes().chunks(300_001 - 100_000 * (threads % 3));
            parts.for_each(|part| table.write_all(part).unwrap());
            table.commit().unwrap();
        };
        match threads {
            0 => write(),
            threads => {
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(write)
            }
        }
        std::fs::read(path).unwrap()
    };
    for kind in [TableKind::Parquet, TableKind::Arrow] {
        let outside_of_a_pool = written(kind, 0);
        for threads in [1, 2, 7] {
            assert!(written(kind, threads) == outside_of_a_pool, "{kind:?} {threads}");
        }
    }
}

#[test]
fn row_groups_of_a_sorted_set_have_statistics_and_an_index_of_their_pages() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("set.parquet");
    let url = |row: usize| format!("http://example.com/{row:06}");
    let mut table = create(&path, TableKind::Parquet, Some(0));
    (0..300_000).for_each(|row| writeln!(table, "{}", url(row)).unwrap());
    table.commit().unwrap();
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let file = std::fs::File::open(path).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).unwrap();
    let metadata = builder.metadata();
    assert_eq!(metadata.num_row_groups(), 5);
    let mut before = Vec::new();
    for (i, group) in metadata.row_groups().iter().enumerate() {
        assert_eq!(group.sorting_columns().map(|sorted| sorted[0].column_idx), Some(0));
        let column = group.column(0);
        assert!(column.column_index_offset().is_some() && column.offset_index_offset().is_some());
        let statistics = column.statistics().unwrap();
        let [least, greatest] = [statistics.min_bytes_opt(), statistics.max_bytes_opt()];
        assert!(least.unwrap() > &before[..] && least < greatest);
        before = greatest.unwrap().to_vec();
        // The index leads to each page.
        let index = metadata.page_index_for_row_group(i);
        let pages = index.page_locations(0).unwrap();
        assert!(pages.len() > 2);
        let (start, length) = column.byte_range();
        let mut place = start as i64;
        for page in pages {
            assert_eq!(page.offset, place);
            place += i64::from(page.compressed_page_size);
        }
        assert_eq!(place as u64, start + length);
    }
    // The last row alone: a reader with the index goes straight to its page.
    let last = RowSelection::from(vec![RowSelector::skip(299_999), RowSelector::select(1)]);
    let batch = builder.with_row_selection(last).build().unwrap().next().unwrap().unwrap();
    let urls: &StringArray = batch.column(0).as_any().downcast_ref().unwrap();
    assert_eq!(urls.value(0), url(299_999));
}

fn keeping_going(format: &str) -> JobPlan {
    let mut plan = plan(format);
    plan.input.keep_going = true;
    plan
}

#[test]
fn rows_before_damage_count_if_the_run_continues() {
    let rows = rows(4000);
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1000))
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(ZstdLevel::default()));
    let file = parquet(&one_column(&rows), properties.build());
    let bytes = bytes::Bytes::from(file.clone());
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
    // Overwrites compressed bytes of the third row group.
    let (start, length) = metadata.row_group(2).column(0).byte_range();
    let mut bad = file.clone();
    bad[start as usize + 40..(start + length) as usize - 8].fill(0xA5);
    let stopped = error(&bad, "auto");
    assert_eq!(stopped.code(), "damaged");
    assert!(stopped.to_string().contains("damaged: row group 3 of 4: "), "{stopped}");
    let found = read(&bad, &keeping_going("auto")).unwrap();
    assert_eq!(found.report.tally.records, 2000);
    assert_eq!(found.report.files[0].state, InputState::Damaged);
    assert_eq!(found.text(), as_lines(&rows[..2000]).text());
}

#[test]
fn rows_before_damage_do_not_depend_on_memory_or_threads() {
    const BEFORE: usize = 1234;
    let url = |row: usize| format!("http://example.com/{row}");
    let mut bad = parquet(&one_column(&(0..3000).map(url).map(Some).collect::<Vec<_>>()), plain());
    // A text longer than its page.
    let first = url(BEFORE);
    let at = bad.windows(first.len()).position(|bytes| bytes == first.as_bytes()).unwrap();
    bad[at - 1] = 0x7F;
    for (chunk_size, threads) in [(100, 1), (10_000, 1), (10_000, 3), (CHUNK_SIZE, 2)] {
        let mut plan = keeping_going("auto");
        limit(&mut plan, threads, chunk_size, None);
        let found = read(&bad, &plan).unwrap();
        assert_eq!(found.report.tally.records, BEFORE as u64, "{chunk_size} and {threads}");
        assert_eq!(found.report.files[0].state, InputState::Damaged);
        let words = found.report.damaged[0].1.to_string();
        assert!(words.ends_with(&format!(", behind row {BEFORE}")), "{words}");
    }
}

/// A Parquet file whose footer repeats its first row group `count` times, with `rows` rows each.
fn with_row_groups(file: &[u8], count: usize, rows: i64) -> Vec<u8> {
    let bytes = bytes::Bytes::copy_from_slice(file);
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes).unwrap();
    let group = metadata.row_group(0).clone().into_builder().set_num_rows(rows).build().unwrap();
    let (all, about) = (rows * count as i64, metadata.file_metadata());
    let schema = about.schema_descr_ptr();
    let said = FileMetaData::new(about.version(), all, None, None, schema, None);
    let built = ParquetMetaDataBuilder::new(said).set_row_groups(vec![group; count]).build();
    let length = u32::from_le_bytes(*file[file.len() - 8..].first_chunk().unwrap());
    let mut changed = file[..file.len() - 8 - length as usize].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &built).finish().unwrap();
    changed
}

#[test]
fn row_groups_that_share_bytes_are_damage() {
    let file = parquet(&one_column(&rows(1000)), plain());
    let one = read_as("auto", &with_row_groups(&file, 1, 1000));
    assert_eq!(one.report.tally.records, 1000);
    for rows in [0, 1000] {
        let words = error(&with_row_groups(&file, 20, rows), "auto").to_string();
        assert!(words.contains("damaged: column `url`: its row groups have "), "{words}");
    }
}

/// The offset and the content of an Arrow file's footer. Its length and six bytes that are the same
/// in every file follow it.
pub fn footer(file: &[u8]) -> (usize, arrow_ipc::Footer<'_>) {
    let end = file.len() - 10;
    let length = u32::from_le_bytes(*file[end..].first_chunk().unwrap());
    let start = end - length as usize;
    (start, arrow_ipc::root_as_footer(&file[start..end]).unwrap())
}

#[test]
fn arrow_file_of_metadata_v4_reads_as_its_stream() {
    let rows = rows(500);
    let expected = as_lines(&rows);
    for table in [one_column(&rows), keyed(&rows)] {
        for legacy in [false, true] {
            let options = || IpcWriteOptions::try_new(8, legacy, MetadataVersion::V4).unwrap();
            let [file, stream] = arrow_with(&table, rows.len(), options);
            // The version in the footer does not matter: V4 here, which Arrow of C++ writes as V5.
            let (start, footer) = footer(&file);
            assert_eq!(footer.version(), MetadataVersion::V4);
            let root = start + u32::from_le_bytes(*file[start..].first_chunk().unwrap()) as usize;
            let to = i32::from_le_bytes(*file[root..].first_chunk().unwrap());
            let table = (root as i64 - i64::from(to)) as usize;
            // The first field of a footer.
            let field = u16::from_le_bytes([file[table + 4], file[table + 5]]);
            let mut of_v5 = file.clone();
            of_v5[root + usize::from(field)] = 4;
            for file in [file, of_v5] {
                assert_eq!(read_as("arrow:url", &file).unwrap().text(), expected.text());
            }
            if !legacy {
                assert_eq!(read_as("auto", &stream).text(), expected.text());
            }
        }
    }
}

#[test]
fn table_must_end_with_its_marker_and_the_file() {
    let table = one_column(&rows(100));
    let [file, stream] = arrow(&table, 10, Packed::None);
    let parquet = parquet(&table, plain());
    for (format, whole, step) in
        [("arrow:url", &stream, 13), ("arrow:url", &file, 37), ("parquet:url", &parquet, 41)]
    {
        for cut in (8..whole.len()).step_by(step).chain([whole.len() - 1]) {
            let found = read_as(format, &whole[..cut]);
            assert!(matches!(found.result, Err(RunError::Input(_))), "{cut} of {}", whole.len());
        }
    }
    for (start, format) in [(0, "parquet:url"), (1, "parquet:url"), (4, "parquet:url"), (4, "auto")]
    {
        error(&parquet[..start], format);
    }
    let two = [&stream[..], &stream[..]].concat();
    let words = error(&two, "auto").to_string();
    assert!(words.contains("bytes follow the end of the stream"), "{words}");
    let mut other = file.clone();
    *other.last_mut().unwrap() = b'2';
    let words = error(&other, "auto").to_string();
    assert!(words.contains("damaged: it does not end as an Arrow file does"), "{words}");
}

#[test]
fn batch_named_twice_in_an_arrow_footer_is_damage() {
    let rows = rows(50);
    for table in [one_column(&rows), keyed(&rows)] {
        let mut writer =
            arrow_ipc::writer::FileWriter::try_new(Vec::new(), &table.schema()).unwrap();
        // Losing the batch without rows would not change the count.
        writer.write(&table).unwrap();
        writer.write(&table.slice(0, 0)).unwrap();
        let file = writer.into_inner().unwrap();
        assert_eq!(read_as("auto", &file).report.tally.records, 50);
        let (start, footer) = footer(&file);
        let blocks = footer.recordBatches().unwrap();
        let [first, second] = [0, 1].map(|number| {
            let block = blocks.get(number).0;
            let at = file[start..].windows(block.len()).position(|bytes| bytes == block);
            start + at.unwrap()
        });
        let mut twice = file.clone();
        twice.copy_within(first..first + 24, second);
        let words = error(&twice, "auto").to_string();
        assert!(words.contains("two of its messages are in one place"), "{words}");
    }
}

#[test]
fn table_through_a_pipe_is_an_error() {
    for (_, table) in tables(&one_column(&rows(10)), 10) {
        for format in ["auto", "parquet:url"] {
            let error = ran(&plan(format), &stream(file(&table).path())).error(format);
            assert!(error.contains("a table is read from its end"), "{error}");
        }
    }
}

/// Flips of single bits of a small file, spread evenly: as many as there are cases, at most 2,000.
fn flips(file: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    let bits = file.len() * 8;
    let step = (bits / (cases() / 20).clamp(1, 2000)).max(1);
    (0..bits).step_by(step).map(|bit| {
        let mut flipped = file.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        (bit, flipped)
    })
}

/// The same for large numbers of four or eight bytes, at offsets where a number may be.
fn large_numbers(file: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    const NUMBERS: [u64; 5] = [0, 1 << 31, (1 << 31) - 1, 1 << 62, u64::MAX];
    let places = file.len() / 4 - 1;
    let step = (places * NUMBERS.len() * 12 / cases()).max(1);
    (0..places * NUMBERS.len()).step_by(step).flat_map(move |case| {
        let (at, number) = (case / NUMBERS.len() * 4, NUMBERS[case % NUMBERS.len()]);
        [4, 8].map(|width| {
            let mut changed = file.to_vec();
            changed[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
            (at * 8, changed)
        })
    })
}

#[test]
fn damage_neither_panics_nor_loses_rows_silently_nor_changes_a_url_under_a_checksum() {
    let directory = tempfile::tempdir().unwrap();
    let own = directory.path().join("own.parquet");
    let rows = rows(90);
    let mut table = create(&own, TableKind::Parquet, None);
    table.write_all(list(&rows).as_bytes()).unwrap();
    table.commit().unwrap();
    // That of pyarrow has dictionaries.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpora/tables/checked.parquet");
    let table = one_column(&rows);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(40));
    let packed = properties.clone().set_compression(Compression::SNAPPY).build();
    let plain = properties.clone().set_dictionary_enabled(false);
    let deltas = plain.clone().set_encoding(Encoding::DELTA_BYTE_ARRAY).build();
    let lengths = plain.set_encoding(Encoding::DELTA_LENGTH_BYTE_ARRAY).build();
    let [file, stream] = arrow(&table, 40, Packed::None);
    let [zstd_file, zstd_stream] = arrow(&table, 90, Some(CompressionType::ZSTD));
    let [keyed_file, keyed_stream] = arrow(&keyed(&rows), 90, Packed::None);
    for (name, table) in [
        ("checked by pyarrow", std::fs::read(path).unwrap()),
        ("checked by us", std::fs::read(own).unwrap()),
        ("dictionary", parquet(&table, properties.build())),
        ("snappy", parquet(&table, packed)),
        ("deltas", parquet(&table, deltas)),
        ("lengths", parquet(&table, lengths)),
        ("arrow file", file),
        ("arrow stream", stream),
        ("arrow file, zstd", zstd_file),
        ("arrow stream, zstd", zstd_stream),
        ("arrow file, dictionary", keyed_file),
        ("arrow stream, dictionary", keyed_stream),
    ] {
        let is_checked = name.starts_with("checked");
        let is_arrow = name.starts_with("arrow");
        let mut plan = keeping_going(if is_arrow { "arrow:1" } else { "parquet:1" });
        limit(&mut plan, 2, CHUNK_SIZE, Some(64 << 20));
        let numbers = is_arrow.then(|| large_numbers(&table)).into_iter().flatten();
        let expected = read_as("auto", &table).unwrap();
        assert_eq!(expected.report.tally.records, 90);
        let (mut found_out, mut tried) = (0, 0);
        for (bit, file) in flips(&table).chain(numbers) {
            let found = read(&file, &plan).unwrap();
            let records = found.report.tally.records;
            let damaged = found.report.files[0].state != InputState::Ok;
            // The footer of an Arrow file says how many batches there are, and nothing else does.
            let holds = damaged || records == 90 || (name.contains("file") && records < 90);
            assert!(holds, "{name}, bit {bit}: {records} records");
            for (_, error) in &found.report.damaged {
                let words = error.to_string();
                // Bytes that are not one line of text are reported as such.
                assert!(!words.contains(r"\x"), "{name}, bit {bit}: {words}");
            }
            (found_out, tried) = (found_out + u32::from(damaged), tried + 1);
            if is_checked && !damaged {
                assert!(found.out == expected.out, "{name}, bit {bit}");
                assert_eq!(found.report.tally, expected.report.tally, "{name}, bit {bit}");
            }
        }
        assert!(!is_checked || found_out > tried / 4, "{name}: {found_out} of {tried}");
    }
}
