//! Parquet and Arrow: the same rows in every encoding, split and filter, nested columns, outputs
//! that are read back, and files with false metadata.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, Int32Array, LargeBinaryArray, LargeStringArray,
    NullArray, RecordBatch, StringArray, StringViewArray, StructArray, UInt64Array,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_ipc::{CompressionType, MetadataVersion};
use arrow_schema::{DataType, Field, Fields, Schema};
use parquet::arrow::ArrowWriter;
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
use uniqurl_engine::output::{TableColumn, TableFile, TableKind, TableValues, Tally};
use uniqurl_engine::{
    CHUNK_SIZE, Dedup, InputFormat, Job, JobPlan, Memory, Report, RunError, SetOrder, Sinks, Watch,
    run,
};
use uniqurl_formats::input;
use uniqurl_formats::input::InputState;
use uniqurl_formats::input::{Input, InputError, Source};
use uniqurl_formats::record::{self, Filter};

use crate::pipeline::assert_rewriting_is_an_error;

const FIRST: Dedup = Dedup { order: SetOrder::First, count: false, min_count: 1, limit: None };

/// The options for reading a file that differ from the default.
#[derive(Clone)]
struct How {
    profile: Profile,
    format: &'static str,
    job: Job,
    threads: usize,
    chunk_size: usize,
    filter: Filter,
    keep_going: bool,
    memory: Option<u64>,
    /// Whether rejected records are listed.
    lists: bool,
    /// A list of URLs seen before.
    seen: Option<&'static str>,
}

impl Default for How {
    fn default() -> Self {
        Self {
            profile: Profile::Crawl,
            format: "auto",
            job: Job::Dedup(FIRST),
            threads: 2,
            chunk_size: CHUNK_SIZE,
            filter: Filter::default(),
            keep_going: false,
            memory: None,
            lists: true,
            seen: None,
        }
    }
}

struct Outcome {
    out: String,
    rejects: String,
    report: Report,
    result: Result<(), RunError>,
}

fn read(bytes: &[u8], how: &How) -> Outcome {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read_file(file.path().to_owned(), how)
}

fn read_file(path: PathBuf, how: &How) -> Outcome {
    let inputs = input::check(&[path]).0;
    let format = match how.format {
        "auto" => InputFormat::Auto,
        name => InputFormat::Fixed(Arc::new(record::Format::parse(name).unwrap())),
    };
    let directory = tempfile::tempdir().unwrap();
    let memory = how.memory.map(|budget| Memory {
        budget,
        directory: directory.path().to_owned(),
        tell: |_| {},
    });
    let watch = Watch::default();
    let seen = directory.path().join("seen");
    std::fs::write(&seen, how.seen.unwrap_or_default()).unwrap();
    let seen = if how.seen.is_some() { input::check(&[seen]).0 } else { Vec::new() };
    let mut plan = JobPlan::new(Normalizer::new(how.profile), how.job.clone());
    plan.input.format = format;
    plan.input.seen = seen;
    plan.limits.threads = how.threads;
    plan.limits.chunk_size = how.chunk_size;
    plan.policy.records = how.filter.clone();
    plan.input.keep_going = how.keep_going;
    plan.limits.memory = memory;
    let (mut out, mut rejects) = (Vec::new(), Vec::new());
    let list = how.lists.then_some(&mut rejects as &mut (dyn Write + Send));
    let (report, result) =
        run(&plan, &inputs, Sinks { rejects: list, ..Sinks::to(&mut out) }, &watch);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Outcome { out: text(out), rejects: text(rejects), report, result }
}

/// The error of an input that cannot be read.
fn error(bytes: &[u8], format: &'static str) -> InputError {
    match read(bytes, &How { format, ..How::default() }).result {
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

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let fields =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    RecordBatch::try_new(schema, columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

fn parquet(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    file
}

fn plain() -> WriterProperties {
    WriterProperties::builder().set_dictionary_enabled(false).build()
}

fn arrow(batch: &RecordBatch, rows: usize, packing: Option<CompressionType>) -> [Vec<u8>; 2] {
    let options = || IpcWriteOptions::default().try_with_compression(packing).unwrap();
    let (mut file, mut stream) = (Vec::new(), Vec::new());
    let schema = batch.schema();
    let mut files = FileWriter::try_new_with_options(&mut file, &schema, options()).unwrap();
    let mut streams = StreamWriter::try_new_with_options(&mut stream, &schema, options()).unwrap();
    for start in (0..batch.num_rows()).step_by(rows) {
        let part = batch.slice(start, rows.min(batch.num_rows() - start));
        files.write(&part).unwrap();
        streams.write(&part).unwrap();
    }
    files.finish().unwrap();
    streams.finish().unwrap();
    drop((files, streams));
    [file, stream]
}

/// The outcome for a list of the same rows.
fn as_lines(rows: &[Option<String>], how: &How) -> Outcome {
    let list: String = rows.iter().map(|row| row.clone().unwrap_or_default() + "\n").collect();
    read(list.as_bytes(), &How { format: "lines", ..how.clone() })
}

/// The reports of rejected records without the file and the offset.
fn rejects(outcome: &Outcome) -> Vec<String> {
    let records = outcome.rejects.lines();
    records.map(|line| line[line.find("\"record\"").unwrap()..].to_owned()).collect()
}

#[test]
fn table_of_any_type_and_encoding_equals_the_list_of_its_rows() {
    let rows = rows(1500);
    let dedups =
        [FIRST, Dedup { order: SetOrder::Sorted, count: true, min_count: 2, limit: Some(99) }];
    let hows = dedups.map(Job::Dedup).into_iter().chain([Job::Tabulate]).flat_map(|job| {
        let one = How { job: job.clone(), ..How::default() };
        let other = How { threads: 3, chunk_size: 700, job, ..How::default() };
        // Only a set spills.
        let memory = matches!(one.job, Job::Dedup(_)).then_some(1 << 12);
        [one.clone(), other, How { memory, ..one }]
    });
    let hows: Vec<How> = hows.collect();
    // If no output needs each record, equal rows are read once.
    let seen = Some("http://example.com/7\nhttps://example.org/a/b/c/9?q=a&b\nhttp://new/\n");
    let unlisted = hows.iter().map(|how| How { lists: false, ..how.clone() });
    let unlisted: Vec<How> = unlisted.flat_map(|how| [how.clone(), How { seen, ..how }]).collect();
    let hows = [hows, unlisted].concat();
    let expected: Vec<Outcome> = hows.iter().map(|how| as_lines(&rows, how)).collect();
    let check = |file: &[u8], what: &str| {
        for (how, expected) in hows.iter().zip(&expected) {
            let found = read(file, how);
            found.result.unwrap();
            let case = (how.chunk_size, &how.job, how.memory, how.lists, how.seen);
            assert!(found.out == expected.out, "{what}: {case:?}");
            assert_eq!(found.report.tally, expected.report.tally, "{what}");
            assert_eq!(rejects(&Outcome { result: Ok(()), ..found }), rejects(expected), "{what}");
        }
    };
    let builder = WriterProperties::builder;
    for array in arrays(&rows) {
        let other = Arc::new(UInt64Array::from_iter_values(0..rows.len() as u64)) as ArrayRef;
        let kind = array.data_type().to_string();
        let batch = batch(vec![("n", other), ("url", array)]);
        let of_two =
            |version| builder().set_writer_version(version).set_data_page_row_count_limit(90);
        for (name, properties) in [
            ("dictionary", builder().build()),
            ("plain", plain()),
            ("row groups", builder().set_max_row_group_row_count(Some(401)).build()),
            ("pages", of_two(WriterVersion::PARQUET_2_0).build()),
            (
                "full dictionary",
                of_two(WriterVersion::PARQUET_1_0).set_dictionary_page_size_limit(900).build(),
            ),
            (
                "delta",
                builder()
                    .set_dictionary_enabled(false)
                    .set_encoding(Encoding::DELTA_BYTE_ARRAY)
                    .set_column_encoding("n".into(), Encoding::PLAIN)
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .build(),
            ),
            ("snappy", builder().set_compression(Compression::SNAPPY).build()),
            ("gzip", builder().set_compression(Compression::GZIP(Default::default())).build()),
            ("brotli", builder().set_compression(Compression::BROTLI(Default::default())).build()),
            ("lz4", builder().set_compression(Compression::LZ4_RAW).build()),
        ] {
            // One type is enough for each encoding, and one encoding for each type.
            if kind == "Utf8" || name == "dictionary" {
                check(&parquet(&batch, properties), &format!("{kind} {name}"));
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
    let urls: StringArray = (0..20_000).map(|n| Some(format!("http://h/{n}"))).collect();
    let batch = batch(vec![("url", Arc::new(urls))]);
    assert_rewriting_is_an_error("parquet:url", &parquet(&batch, plain()));
    for file in arrow(&batch, 1000, None) {
        assert_rewriting_is_an_error("arrow:url", &file);
    }
}

#[test]
fn repeated_rows_without_a_host_are_counted_each_time() {
    let rows: Vec<Option<String>> = ["/a/b", " ", "http://h/x", "/c;d", "/%zz"]
        .iter()
        .map(|row| Some((*row).to_owned()))
        .chain([None])
        .cycle()
        .take(600)
        .collect();
    let how = How { profile: Profile::Servlet, lists: false, ..How::default() };
    let array = arrays(&rows).pop().unwrap();
    let found = read(&parquet(&batch(vec![("url", array)]), WriterProperties::default()), &how);
    found.result.unwrap();
    let expected = as_lines(&rows, &how);
    assert_eq!(found.report.tally, expected.report.tally);
    assert_eq!((found.report.hostless, expected.report.hostless), (200, 200));
}

#[test]
fn column_is_selected_by_name_number_or_type() {
    let urls = Arc::new(StringArray::from(vec!["http://a/", "http://b/"])) as ArrayRef;
    let texts = Arc::new(StringArray::from(vec!["x", "y"])) as ArrayRef;
    let numbers = Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
    let inner = Fields::from(vec![Field::new("u", DataType::Utf8, true)]);
    let nested = Arc::new(StructArray::new(inner, vec![Arc::clone(&urls)], None)) as ArrayRef;
    let both = |batch: &RecordBatch| {
        let [file, stream] = arrow(batch, 9, None);
        [("parquet", parquet(batch, plain())), ("arrow", file), ("arrow", stream)]
    };
    let named = batch(vec![("t", Arc::clone(&texts)), ("URL", Arc::clone(&urls))]);
    let alone = batch(vec![("n", Arc::clone(&numbers)), ("link", Arc::clone(&urls))]);
    let deep = batch(vec![("n", numbers), ("t", texts), ("s", nested)]);
    for (table, column) in [(&named, "URL"), (&alone, "link")] {
        for (container, file) in both(table) {
            let found = read(&file, &How::default());
            assert_eq!(found.out, "http://a/\nhttp://b/\n");
            assert_eq!(*found.report.guessed[0].1, format!("{container}:{column}"));
        }
    }
    for (container, file) in both(&deep) {
        let of = |column: &str| -> &'static str {
            String::leak(if column.is_empty() {
                container.into()
            } else {
                format!("{container}:{column}")
            })
        };
        for column in ["s.u", "S.U", "3"] {
            let how = How { format: of(column), ..How::default() };
            assert_eq!(read(&file, &how).out, "http://a/\nhttp://b/\n", "{container}:{column}");
        }
        for (column, words) in [
            (
                "",
                "it has no column `url`, and more or fewer than one column of text: its columns are n \
                 (numbers), t (text), s.u (text)",
            ),
            ("nope", "it has no column `nope`: its columns are n (numbers)"),
            ("4", "it has no column `4`"),
            ("n", "its column `n` holds numbers instead of URLs"),
        ] {
            let error = error(&file, of(column)).to_string();
            assert!(error.contains(": format: ") && error.contains(words), "{error}");
        }
    }
}

#[test]
fn table_without_columns_is_an_error() {
    let nothing = RecordBatch::new_empty(Arc::new(Schema::empty()));
    let [file, stream] = arrow(&nothing, 1, None);
    for (table, formats) in [
        (parquet(&nothing, plain()), ["auto", "parquet", "parquet:url"]),
        (file, ["auto", "arrow", "arrow:url"]),
        (stream, ["auto", "arrow", "arrow:1"]),
    ] {
        for format in formats {
            let error = error(&table, format).to_string();
            assert!(error.ends_with(": format: it has no columns"), "{error}");
        }
    }
}

#[test]
fn column_of_nulls_is_blank() {
    let nothing = Arc::new(NullArray::new(3)) as ArrayRef;
    let urls = Arc::new(StringArray::from(vec!["http://a/", "http://b/", "http://c/"])) as ArrayRef;
    let batch = batch(vec![("url", Arc::clone(&nothing)), ("link", urls), ("code", nothing)]);
    let [file, stream] = arrow(&batch, 2, None);
    for file in [parquet(&batch, plain()), file, stream] {
        let tally = read(&file, &How::default()).report.tally;
        assert_eq!((tally.records, tally.blank), (3, 3));
        let container = if file.starts_with(b"PAR1") { "parquet" } else { "arrow" };
        let format = String::leak(format!("{container}:link,status=code"));
        let how = How { format, ..How::default() };
        assert_eq!(read(&file, &how).out, "http://a/\nhttp://b/\nhttp://c/\n");
        let error = error(&file, String::leak(format!("{container}:nope"))).to_string();
        assert!(
            error.contains("its columns are url (nulls), link (text), code (nulls)"),
            "{error}"
        );
    }
}

#[test]
fn parts_of_a_row_are_joined_and_filtered() {
    let hosts = vec![Some("a.example"), Some("b.example"), None, Some("a.example"), None];
    let hosts = Arc::new(StringArray::from(hosts)) as ArrayRef;
    let paths = vec![Some("/1"), Some("/2?q"), Some("/3"), None, Some("/1")];
    let paths = Arc::new(StringArray::from(paths)) as ArrayRef;
    let codes = vec![Some(200), Some(404), Some(200), Some(200), None];
    let codes = Arc::new(Int32Array::from(codes)) as ArrayRef;
    let table = batch(vec![("h", hosts), ("p", paths), ("c", codes)]);
    let [file, stream] = arrow(&table, 2, None);
    let mut filter = Filter::default();
    filter.status("2xx").unwrap();
    for (format, file) in [
        ("parquet:host=h,target=p,status=c", parquet(&table, WriterProperties::default())),
        ("arrow:host=h,target=p,status=c", file),
        ("arrow:status=3,target=2,host=1", stream),
    ] {
        let all = read(&file, &How { format, ..How::default() });
        assert_eq!(all.out, "http://a.example/1\nhttp://b.example/2?q\n/3\n/1\n", "{format}");
        assert_eq!(all.report.tally.blank, 1);
        let some = read(&file, &How { format, filter: filter.clone(), ..How::default() });
        assert_eq!(some.out, "http://a.example/1\n/3\n", "{format}");
        assert_eq!((some.report.tally.filtered, some.report.tally.blank), (2, 1), "{format}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_kept_and_rejects_name_their_row() {
    let rows: Vec<&[u8]> = vec![b"http://a/\xFF", b"bad \xC3", b"http://a/\xFF"];
    let table = batch(vec![("url", Arc::new(BinaryArray::from(rows)) as ArrayRef)]);
    let [file, stream] = arrow(&table, 2, None);
    for file in [parquet(&table, plain()), parquet(&table, Default::default()), file, stream] {
        let found = read(&file, &How::default());
        assert_eq!(found.out, "http://a/%FF\n");
        let reject: serde_json::Value = serde_json::from_str(&found.rejects).unwrap();
        assert_eq!((&reject["record"], &reject["offset"]), (&2.into(), &1.into()));
        assert_eq!(reject["raw_base64"], "YmFkIMM=");
    }
}

#[test]
fn set_written_as_a_table_round_trips() {
    let directory = tempfile::tempdir().unwrap();
    let rows = rows(400_000 / 64);
    let set = as_lines(&rows, &How::default()).out;
    let column = |name: &str, holds| TableColumn { name: name.into(), holds };
    for (kind, name) in [(TableKind::Parquet, "s.parquet"), (TableKind::Arrow, "s.arrow")] {
        let path = directory.path().join(name);
        assert_eq!(TableKind::of(&path), Some(kind));
        let columns =
            vec![column("count", TableValues::Numbers), column("canonical", TableValues::Text)];
        let mut table = TableFile::create(&path, kind, columns, Some(1)).unwrap();
        let lines: String = set.lines().map(|url| format!("7\t{url}\n")).collect();
        // For any split of the input.
        for part in lines.as_bytes().chunks(1001) {
            table.write_all(part).unwrap();
        }
        table.prepare().unwrap();
        assert!(!path.exists());
        table.commit().unwrap();
        let found = read_file(path, &How::default());
        assert!(found.out == set, "{name}");
        assert_eq!(*found.report.guessed[0].1, format!("{}:canonical", &name[2..]));
    }
}

#[test]
fn finished_table_takes_no_more_rows() {
    let directory = tempfile::tempdir().unwrap();
    for (kind, name) in [(TableKind::Parquet, "s.parquet"), (TableKind::Arrow, "s.arrow")] {
        let path = directory.path().join(name);
        let columns = vec![TableColumn { name: "url".into(), holds: TableValues::Text }];
        let mut table = TableFile::create(&path, kind, columns, None).unwrap();
        table.write_all(b"http://a/\n").unwrap();
        table.prepare().unwrap();
        let error = table.write_all(b"http://b/\nhttp://c/\n").unwrap_err().to_string();
        assert!(error.starts_with(path.to_str().unwrap()) && error.contains("rows"), "{error}");
        table.commit().unwrap_err();
        assert!(!path.exists());
    }
}

#[test]
fn no_table_appears_after_an_error() {
    let directory = tempfile::tempdir().unwrap();
    for (kind, name) in [(TableKind::Parquet, "s.parquet"), (TableKind::Arrow, "s.arrow")] {
        let path = directory.path().join(name);
        let columns = vec![TableColumn { name: "url".into(), holds: TableValues::Text }];
        let mut table = TableFile::create(&path, kind, columns, None).unwrap();
        table.write_all(b"a\n\xff\nb\n").unwrap();
        for words in ["UTF", "an earlier error ended the table"] {
            let error = table.prepare().unwrap_err().to_string();
            assert!(error.starts_with(path.to_str().unwrap()) && error.contains(words), "{error}");
        }
        table.write_all(b"c\n").unwrap_err();
        table.commit().unwrap_err();
        assert!(!path.exists());
    }
}

#[test]
fn row_group_of_long_rows_is_bounded_by_memory() {
    const LONG: usize = 1 << 20;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("long.parquet");
    let columns = vec![TableColumn { name: "original".into(), holds: TableValues::Text }];
    let mut table = TableFile::create(&path, TableKind::Parquet, columns, None).unwrap();
    let mut state = 1_u64;
    for _ in 0..110 {
        // Six random bits in a byte: three quarters remain after packing.
        let mut line: Vec<u8> = Vec::with_capacity(LONG + 8);
        while line.len() < LONG {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            line.extend((0..5).map(|i| b'0' + (state >> (30 + 6 * i) & 63) as u8));
        }
        line.push(b'\n');
        table.write_all(&line).unwrap();
    }
    table.commit().unwrap();
    let file = std::fs::File::open(path).unwrap();
    let metadata = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().metadata().clone();
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
            lines.as_bytes().chunks(300_000).for_each(|part| table.write_all(part).unwrap());
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
fn row_groups_of_a_sorted_set_have_min_and_max_statistics() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("set.parquet");
    let columns = vec![TableColumn { name: "canonical".into(), holds: TableValues::Text }];
    let mut table = TableFile::create(&path, TableKind::Parquet, columns, Some(0)).unwrap();
    for i in 0..300_000 {
        writeln!(table, "http://example.com/{i:06}").unwrap();
    }
    table.commit().unwrap();
    let file = std::fs::File::open(path).unwrap();
    let metadata = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().metadata().clone();
    assert_eq!(metadata.num_row_groups(), 5);
    let mut before = Vec::new();
    for group in metadata.row_groups() {
        assert_eq!(group.sorting_columns().map(|sorted| sorted[0].column_idx), Some(0));
        let column = group.column(0);
        assert!(column.column_index_offset().is_some() && column.offset_index_offset().is_some());
        let statistics = column.statistics().unwrap();
        let [least, greatest] = [statistics.min_bytes_opt(), statistics.max_bytes_opt()];
        assert!(least.unwrap() > &before[..] && least < greatest);
        before = greatest.unwrap().to_vec();
    }
}

#[test]
fn page_index_of_a_table_leads_to_each_page() {
    let rows: Vec<_> = (0..100_000).map(|i| Some(format!("http://example.com/{i:06}"))).collect();
    let file = bytes::Bytes::from(own_parquet(&rows));
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).unwrap();
    let metadata = builder.metadata();
    for (i, group) in metadata.row_groups().iter().enumerate() {
        let index = metadata.page_index_for_row_group(i);
        let pages = index.page_locations(0).unwrap();
        assert!(pages.len() > 2);
        let (start, length) = group.column(0).byte_range();
        let mut place = start as i64;
        for page in pages {
            assert_eq!(page.offset, place);
            place += i64::from(page.compressed_page_size);
        }
        assert_eq!(place as u64, start + length);
    }
    // The last row alone: a reader with the index goes straight to its page.
    let last = RowSelection::from(vec![RowSelector::skip(rows.len() - 1), RowSelector::select(1)]);
    let mut batches = builder.with_row_selection(last).build().unwrap();
    let batch = batches.next().unwrap().unwrap();
    let urls: &StringArray = batch.column(0).as_any().downcast_ref().unwrap();
    assert_eq!(urls.value(0), "http://example.com/099999");
}

#[test]
fn rows_before_damage_count_if_the_run_continues() {
    let rows = rows(4000);
    let table = batch(vec![("url", Arc::clone(&arrays(&rows)[0]))]);
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1000))
        .set_dictionary_enabled(false)
        .set_compression(Compression::ZSTD(ZstdLevel::default()));
    let file = parquet(&table, properties.build());
    let metadata = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(file.clone()));
    let metadata = metadata.unwrap().metadata().clone();
    // Overwrites compressed bytes of the third row group.
    let (start, length) = metadata.row_group(2).column(0).byte_range();
    let mut bad = file.clone();
    bad[start as usize + 40..(start + length) as usize - 8].fill(0xA5);
    let stopped = error(&bad, "auto");
    assert_eq!(stopped.code(), "damaged");
    assert!(stopped.to_string().contains("damaged: row group 3 of 4: "), "{stopped}");
    let found = read(&bad, &How { keep_going: true, ..How::default() });
    found.result.unwrap();
    assert_eq!(found.report.tally.records, 2000);
    assert_eq!(found.report.files[0].state, InputState::Damaged);
    assert_eq!(found.out, as_lines(&rows[..2000], &How::default()).out);

    for cut in [0, 1, 4, 8, 100, file.len() / 2, file.len() - 9, file.len() - 1] {
        for format in ["auto", "parquet:url"] {
            let found = read(&file[..cut], &How { format, ..How::default() });
            if cut > 4 || (cut == 4 && format == "auto") || format == "parquet:url" {
                assert!(matches!(found.result, Err(RunError::Input(_))), "{cut} {format}");
            }
        }
    }
}

#[test]
fn rows_before_damage_do_not_depend_on_memory_or_threads() {
    const BEFORE: usize = 1234;
    let urls: Vec<String> = (0..3000).map(|row| format!("http://example.com/{row}")).collect();
    let table = batch(vec![("url", Arc::new(StringArray::from(urls.clone())))]);
    let mut bad = parquet(&table, plain());
    // A text longer than its page.
    let is_at = |bytes: &[u8]| bytes == urls[BEFORE].as_bytes();
    let at = bad.windows(urls[BEFORE].len()).position(is_at).unwrap();
    bad[at - 1] = 0x7F;
    for (chunk_size, threads) in [(100, 1), (10_000, 1), (10_000, 3), (CHUNK_SIZE, 2)] {
        let found = read(&bad, &How { chunk_size, threads, keep_going: true, ..How::default() });
        found.result.unwrap();
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
    let said = metadata.file_metadata();
    let said = FileMetaData::new(
        said.version(),
        rows * count as i64,
        None,
        None,
        said.schema_descr_ptr(),
        None,
    );
    let built = ParquetMetaDataBuilder::new(said).set_row_groups(vec![group; count]).build();
    let length = u32::from_le_bytes(*file[file.len() - 8..].first_chunk().unwrap());
    let mut changed = file[..file.len() - 8 - length as usize].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &built).finish().unwrap();
    changed
}

#[test]
fn row_groups_that_share_bytes_are_damage() {
    let rows = rows(1000);
    let table = batch(vec![("url", Arc::clone(&arrays(&rows)[0]))]);
    let file = parquet(&table, plain());
    assert_eq!(read(&with_row_groups(&file, 1, 1000), &How::default()).report.tally.records, 1000);
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
    let expected = as_lines(&rows, &How::default()).out;
    for array in [&arrays(&rows)[0], &arrays(&rows)[6]] {
        let table = batch(vec![("url", Arc::clone(array))]);
        for legacy in [false, true] {
            let options = || IpcWriteOptions::try_new(8, legacy, MetadataVersion::V4).unwrap();
            let (mut file, mut stream) = (Vec::new(), Vec::new());
            let schema = table.schema();
            let mut files =
                FileWriter::try_new_with_options(&mut file, &schema, options()).unwrap();
            let mut streams =
                StreamWriter::try_new_with_options(&mut stream, &schema, options()).unwrap();
            files.write(&table).unwrap();
            streams.write(&table).unwrap();
            files.finish().unwrap();
            streams.finish().unwrap();
            drop((files, streams));
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
                let found = read(&file, &How { format: "arrow:url", ..How::default() });
                found.result.unwrap();
                assert_eq!(found.out, expected);
            }
            if !legacy {
                assert_eq!(read(&stream, &How::default()).out, expected);
            }
        }
    }
}

#[test]
fn arrow_stream_must_end_with_its_marker_and_the_file() {
    let rows = rows(100);
    let table = batch(vec![("url", Arc::clone(&arrays(&rows)[0]))]);
    let [file, stream] = arrow(&table, 10, None);
    for cut in (8..stream.len()).step_by(13) {
        let found = read(&stream[..cut], &How { format: "arrow:url", ..How::default() });
        assert!(matches!(found.result, Err(RunError::Input(_))), "{cut} of {}", stream.len());
    }
    let two = [&stream[..], &stream[..]].concat();
    let words = error(&two, "auto").to_string();
    assert!(words.contains("bytes follow the end of the stream"), "{words}");
    let mut other = file.clone();
    *other.last_mut().unwrap() = b'2';
    let words = error(&other, "auto").to_string();
    assert!(words.contains("damaged: it does not end as an Arrow file does"), "{words}");
    for cut in (8..file.len()).step_by(37) {
        let found = read(&file[..cut], &How { format: "arrow:url", ..How::default() });
        assert!(matches!(found.result, Err(RunError::Input(_))), "{cut} of {}", file.len());
    }
}

#[test]
fn batch_named_twice_in_an_arrow_footer_is_damage() {
    let rows = rows(50);
    for array in [&arrays(&rows)[0], &arrays(&rows)[6]] {
        let table = batch(vec![("url", Arc::clone(array))]);
        let mut writer = FileWriter::try_new(Vec::new(), &table.schema()).unwrap();
        // Losing the batch without rows would not change the count.
        writer.write(&table).unwrap();
        writer.write(&table.slice(0, 0)).unwrap();
        let file = writer.into_inner().unwrap();
        assert_eq!(read(&file, &How::default()).report.tally.records, 50);
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
    let rows = rows(10);
    let table = batch(vec![("url", Arc::clone(&arrays(&rows)[0]))]);
    let [file, stream] = arrow(&table, 10, None);
    for bytes in [parquet(&table, plain()), file, stream] {
        for format in ["auto", "parquet:url"] {
            let mut pipe = tempfile::NamedTempFile::new().unwrap();
            pipe.write_all(&bytes).unwrap();
            let inputs = [Input { path: pipe.path().to_owned(), source: Source::Stream }];
            let watch = Watch::default();
            let format = match format {
                "auto" => InputFormat::Auto,
                name => InputFormat::Fixed(Arc::new(record::Format::parse(name).unwrap())),
            };
            let mut plan = JobPlan::new(Normalizer::new(Profile::Crawl), Job::Dedup(FIRST));
            plan.input.format = format;
            let (_, result) = run(&plan, &inputs, Sinks::to(&mut Vec::new()), &watch);
            let error = result.unwrap_err().to_string();
            assert!(error.contains("a table is read from its end"), "{error}");
        }
    }
}

/// Flips of single bits of a small file, spread evenly: as many as there are cases, at most 2,000.
fn flips(file: &[u8]) -> impl Iterator<Item = (usize, Vec<u8>)> {
    // Emulated processors get fewer.
    let default = if cfg!(target_arch = "aarch64") { 500 } else { 2_000 };
    let cases = std::env::var("UNIQURL_CASES").map_or(default, |n| n.parse().expect("a number"));
    let bits = file.len() * 8;
    let step = (bits / (cases / 20).clamp(1usize, 2000)).max(1);
    (0..bits).step_by(step).map(|bit| {
        let mut flipped = file.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        (bit, flipped)
    })
}

/// A table of our own, with nulls.
fn own_parquet(rows: &[Option<String>]) -> Vec<u8> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("own.parquet");
    let columns = vec![TableColumn { name: "url".into(), holds: TableValues::Text }];
    let mut table = TableFile::create(&path, TableKind::Parquet, columns, None).unwrap();
    for row in rows {
        writeln!(table, "{}", row.as_deref().unwrap_or_default()).unwrap();
    }
    table.commit().unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn flipped_bit_under_a_checksum_neither_panics_nor_changes_a_url() {
    // That of pyarrow has dictionaries.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpora/tables/checked.parquet");
    for (name, checked) in
        [("pyarrow", std::fs::read(path).unwrap()), ("own", own_parquet(&rows(90)))]
    {
        let expected = read(&checked, &How::default());
        expected.result.unwrap();
        assert_eq!(expected.report.tally.records, 90);
        let mut found_out = 0;
        let mut tried = 0;
        for (bit, file) in flips(&checked) {
            let how = How { format: "parquet:1", ..How::default() };
            let found = read(&file, &how);
            tried += 1;
            match found.result {
                Ok(()) => {
                    assert!(found.out == expected.out, "{name}, bit {bit}: {}", found.out);
                    assert_eq!(found.report.tally, expected.report.tally, "{name}, bit {bit}");
                }
                Err(RunError::Input(_)) => found_out += 1,
                Err(other) => panic!("{name}, bit {bit}: {other}"),
            }
        }
        assert!(found_out > tried / 4, "{name}: {found_out} of {tried}");
    }
}

#[test]
fn flipped_bit_without_a_checksum_neither_panics_nor_loses_rows_silently() {
    let rows = rows(90);
    let table = batch(vec![("url", Arc::clone(&arrays(&rows)[0]))]);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(40));
    let packed = properties.clone().set_compression(Compression::SNAPPY).build();
    let plain = properties.clone().set_dictionary_enabled(false);
    let deltas = plain.clone().set_encoding(Encoding::DELTA_BYTE_ARRAY).build();
    let lengths = plain.set_encoding(Encoding::DELTA_LENGTH_BYTE_ARRAY).build();
    let dictionary = batch(vec![("url", Arc::clone(&arrays(&rows)[6]))]);
    let [file, _] = arrow(&table, 40, None);
    let [_, stream] = arrow(&dictionary, 90, None);
    for (name, table) in [
        ("dictionary", parquet(&table, properties.build())),
        ("snappy", parquet(&table, packed)),
        ("deltas", parquet(&table, deltas)),
        ("lengths", parquet(&table, lengths)),
        ("file", file),
        ("stream", stream),
    ] {
        for (bit, file) in flips(&table) {
            let format = if ["file", "stream"].contains(&name) { "arrow:1" } else { "parquet:1" };
            let found = read(&file, &How { format, keep_going: true, ..How::default() });
            found.result.unwrap();
            let Tally { records, .. } = found.report.tally;
            let damaged = found.report.files[0].state != InputState::Ok;
            // The footer of an Arrow file says how many batches there are, and nothing else does.
            let holds = damaged || records == 90 || (name == "file" && records < 90);
            assert!(holds, "{name}, bit {bit}: {records} records");
            for (_, error) in &found.report.damaged {
                let words = error.to_string();
                // Bytes that are not one line of text are reported as such.
                assert!(!words.contains(r"\x"), "{name}, bit {bit}: {words}");
            }
        }
    }
}
