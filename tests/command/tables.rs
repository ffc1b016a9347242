//! Tables by name: `-o set.parquet`, `-o set.arrow`, and the requests that are refused.

use super::Place;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, Date32Array, Decimal32Array, Decimal64Array,
    Decimal128Array, Decimal256Array, DictionaryArray, Float16Array, Float64Array, Int16Array,
    Int32Array, Int64Array, PrimitiveArray, RecordBatch, StringArray, StructArray,
    Time32MillisecondArray, Time64NanosecondArray, TimestampMicrosecondArray,
    TimestampMillisecondArray, TimestampNanosecondArray,
};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::basic::Encoding;
use parquet::errors::ParquetError;
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::fs;
use std::sync::Arc;

/// A binary fraction of 16 bits.
type Half = <Float16Type as ArrowPrimitiveType>::Native;

const URLS: &[u8] = b"http://b/\nHTTP://A/\n\nno url\nhttp://a\nhttp://c/?q\n";

#[test]
fn table_of_a_set_reads_as_its_list() {
    for name in ["set.parquet", "set.arrow"] {
        let place = Place::with([("urls", URLS)]);
        for options in [&["--order", "first"][..], &["--order", "sorted"], &["--limit", "2"]] {
            let lines = place.run([&["dedup", "urls"][..], options].concat()).exits(0);
            let table = place.run([&["dedup", "urls", "-o", name][..], options].concat()).exits(0);
            assert!(table.out.is_empty());
            assert_eq!(table.summary("unique"), lines.summary("unique"));
            let read = place.run(["dedup", name]).exits(0);
            assert_eq!(read.out(), lines.out(), "{name} {options:?}");
            let format = format!("{name}: read as {}:canonical", &name[4..]);
            assert!(read.err.contains(&format), "{}", read.err);
        }
        assert_eq!(place.names(), [name, "urls"]);
    }
}

#[test]
fn counts_and_fields_are_table_columns() {
    let place = Place::with([("urls", URLS)]);
    place.run(["dedup", "urls", "--count", "-o", "set.parquet"]).exits(0);
    let first = ["dedup", "-f", "parquet:canonical", "set.parquet", "--fields"];
    let fields = [&first[..], &["original,first"]].concat();
    assert_eq!(
        place.run(fields).exits(0).out(),
        "http://b/\tset.parquet:1:0\nhttp://a/\tset.parquet:2:1\nhttp://c/?q\tset.parquet:3:2\n"
    );
    // A filter can judge by a number.
    let by_count = ["dedup", "-f", "parquet:canonical,status=count", "--status", "2xx"];
    let counted = place.run([&by_count[..], &["set.parquet"]].concat()).exits(0);
    assert_eq!((counted.summary("filtered"), counted.summary("unique")), (3, 0));
    place.run(["dedup", "urls", "--fields", "host,canonical", "-o", "f.arrow"]).exits(0);
    let canonical = place.run(["dedup", "-f", "arrow:2", "f.arrow"]).exits(0);
    assert_eq!(canonical.out(), "http://b/\nhttp://a/\nhttp://c/?q\n");
}

#[test]
fn index_of_common_crawl_is_filtered_by_its_columns() {
    let columns: [(&str, ArrayRef); 4] = [
        ("url_surtkey", Arc::new(StringArray::from(vec!["a)/", "b)/", "c)/"]))),
        ("url", Arc::new(StringArray::from(vec!["http://a/", "http://b/", "http://c/"]))),
        ("fetch_status", Arc::new(Int16Array::from(vec![200, 404, 200]))),
        (
            "content_mime_type",
            Arc::new(StringArray::from(vec!["text/html", "text/html", "image/png"])),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let place = both("part", &batch, WriterProperties::default());
    let all = ["dedup", "-f", "cc-index", "part.parquet"];
    assert_eq!(place.run(all).exits(0).out(), "http://a/\nhttp://b/\nhttp://c/\n");
    let run = |filters: &[&str]| place.run([&all[..], filters].concat()).exits(0);
    assert_eq!(run(&["--status", "2xx"]).out(), "http://a/\nhttp://c/\n");
    assert_eq!(run(&["--mime", "text/*"]).out(), "http://a/\nhttp://b/\n");
    let carried = run(&["--status", "200", "--mime", "text/html", "--carry", "url_surtkey"]);
    assert_eq!(carried.out(), "http://a/\ta)/\n");
    place.run([&all[..], &["--method", "GET"]].concat()).exits(2);
    // Without the columns it is another table.
    place.run(["dedup", "-f", "cc-index", "part.arrow"]).exits(2);
}

/// A table as `NAME.parquet` and `NAME.arrow`.
fn both(name: &str, batch: &RecordBatch, properties: WriterProperties) -> Place {
    let (mut parquet, mut arrow) = (Vec::new(), Vec::new());
    let mut writer = ArrowWriter::try_new(&mut parquet, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    let mut writer = StreamWriter::try_new(&mut arrow, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    let place = Place::new();
    place.write(format!("{name}.parquet"), parquet);
    place.write(format!("{name}.arrow"), arrow);
    place
}

#[test]
fn carried_numbers_and_booleans_compare_as_their_values() {
    fn decimals<A: Array + 'static>(array: Result<A, arrow_schema::ArrowError>) -> ArrayRef {
        Arc::new(array.unwrap())
    }
    fn floats<T: ArrowPrimitiveType>(values: [T::Native; 3]) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter_values(values))
    }
    let odd = Float64Array::from(vec![Some(f64::NAN), None, Some(f64::INFINITY)]);
    let d32 = Decimal32Array::from(vec![1, 20, 300]).with_precision_and_scale(4, 0);
    let d64 = Decimal64Array::from(vec![-5, 905, 1_000]).with_precision_and_scale(15, 2);
    let small = Decimal128Array::from(vec![Some(-1_050), Some(7), None]);
    let large = Decimal128Array::from(vec![10_i128.pow(30), -1, 0]);
    let huge = Decimal256Array::from([-15, 0, 4].map(arrow_buffer::i256::from_i128).to_vec());
    let flag = BooleanArray::from(vec![Some(false), None, Some(true)]);
    let keys = Int32Array::from(vec![Some(1), None, Some(0)]);
    let of = DictionaryArray::try_new(keys, Arc::new(Int64Array::from(vec![5, 20]))).unwrap();
    let halves = |values: [f64; 3]| floats::<Float16Type>(values.map(Half::from_f64));
    let (million, huge_text) = ("1000000000000000000000", "100000000000000000000000000000.0");
    // The column, its texts, and which of them is the greatest.
    let columns: Vec<(&str, ArrayRef, [&str; 3], usize)> = vec![
        ("f64", floats::<Float64Type>([-1.5e-7, 200.0, 1e21]), ["-0.00000015", "200", million], 2),
        ("odd", Arc::new(odd), ["NaN", "", "inf"], 2),
        ("f32", floats::<Float32Type>([0.1, -9.0, -10.0]), ["0.1", "-9", "-10"], 0),
        ("f16", halves([1.5, -0.25, 65_504.0]), ["1.5", "-0.25", "65504"], 2),
        ("short", halves([0.1, -24.83, 1e-6]), ["0.1", "-24.83", "0.000001"], 0),
        ("d32", decimals(d32), ["1", "20", "300"], 2),
        ("d64", decimals(d64), ["-0.05", "9.05", "10.00"], 2),
        ("small", decimals(small.with_precision_and_scale(20, 3)), ["-1.050", "0.007", ""], 1),
        ("large", decimals(large.with_precision_and_scale(38, 1)), [huge_text, "-0.1", "0.0"], 0),
        ("huge", decimals(huge.with_precision_and_scale(60, 1)), ["-1.5", "0.0", "0.4"], 2),
        ("flag", Arc::new(flag), ["false", "", "true"], 2),
        ("of", Arc::new(of), ["20", "", "5"], 0),
    ];
    let urls = ["http://a/", "http://b/", "http://c/"];
    let table = |url: Vec<&str>| {
        let url: ArrayRef = Arc::new(StringArray::from(url));
        let arrays = columns.iter().map(|(name, array, ..)| (*name, Arc::clone(array)));
        RecordBatch::try_from_iter([("url", url)].into_iter().chain(arrays)).unwrap()
    };
    let split = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::BYTE_STREAM_SPLIT)
        .set_column_encoding("url".into(), Encoding::PLAIN)
        .set_column_encoding("flag".into(), Encoding::RLE);
    for properties in [WriterProperties::default(), split.build()] {
        let place = both("t", &table(urls.to_vec()), properties.clone());
        let same = both("t", &table(vec![urls[0]; 3]), properties);
        for file in ["t.parquet", "t.arrow"] {
            for (name, _, texts, greatest) in &columns {
                let lines = urls.iter().zip(texts).map(|(url, text)| format!("{url}\t{text}\n"));
                let run = place.run(["dedup", "--carry", name, file]).exits(0);
                assert_eq!(run.out(), lines.collect::<String>(), "{file} {name}");
                let keep = format!("max:{name}");
                let run = same.run(["dedup", "--carry", name, "--keep", &keep, file]).exits(0);
                assert_eq!(
                    run.out(),
                    format!("{}\t{}\n", urls[0], texts[*greatest]),
                    "{file} {name}"
                );
            }
            // A status that became a fraction because its column has gaps.
            let format = format!("{}:url,status=f64", &file[2..]);
            let run = place.run(["dedup", "-f", &format, "--status", "2xx", file]).exits(0);
            assert_eq!(run.out(), "http://b/\n", "{file}");
            for (column, holds) in [("f32", "numbers"), ("small", "numbers"), ("flag", "booleans")]
            {
                let format = format!("{}:{column}", &file[2..]);
                let run = place.run(["dedup", "-f", &format, file]).exits(2);
                let told = format!("its column `{column}` holds {holds} instead of URLs:");
                assert!(run.err.contains(&told), "{}", run.err);
            }
        }
    }
}

#[test]
fn status_with_a_zero_fraction_is_a_whole_number() {
    let decimals = Decimal128Array::from(vec![20_000, 20_050, 40_400]);
    let decimals = decimals.with_precision_and_scale(10, 2).expect("in range");
    let floats = Float64Array::from(vec![200.0, 200.5, 404.0]);
    let texts = StringArray::from(vec!["200.0", "200.01", "404.0"]);
    let url = StringArray::from(vec!["http://a/", "http://b/", "http://c/"]);
    let columns: [(_, ArrayRef); 4] = [
        ("url", Arc::new(url)),
        ("d", Arc::new(decimals)),
        ("f", Arc::new(floats)),
        ("t", Arc::new(texts)),
    ];
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let place = both("t", &batch, WriterProperties::default());
    for (kind, column) in ["parquet", "arrow"].map(|k| ["d", "f", "t"].map(|c| (k, c))).concat() {
        let (file, format) = (format!("t.{kind}"), format!("{kind}:url,status={column}"));
        for (status, kept) in
            [("200", "http://a/\t"), ("2xx", "http://a/\t"), ("4xx,500", "http://c/\t")]
        {
            let carry = ["dedup", "-f", &format, "--status", status, "--carry", "d", &file];
            let run = place.run(carry).exits(0);
            // Carried values stay unchanged.
            let value = if status.starts_with('4') { "404.00\n" } else { "200.00\n" };
            assert_eq!(run.out(), format!("{kept}{value}"), "{format} {status}");
        }
    }
}

/// Two bytes per value are fewer than a number or a text length takes.
#[test]
fn dictionary_of_short_values_is_not_taken_for_damage() {
    let urls = (0..500).map(|n| format!("http://a/{n}"));
    let url: ArrayRef = Arc::new(StringArray::from_iter_values(urls));
    let halves = (0..500).map(|n| Half::from_f64(f64::from(n)));
    let halves: ArrayRef = Arc::new(Float16Array::from_iter_values(halves));
    let batch = RecordBatch::try_from_iter([("url", url), ("n", halves)]).unwrap();
    // Version 1 writes no dictionary for it.
    let version = WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
    let place = both("t", &batch, version.build());
    let run = place.run(["dedup", "--carry", "n", "t.parquet"]).exits(0);
    assert!(run.out().ends_with("http://a/499\t499\n"), "{}", run.err);
}

#[test]
fn carried_dates_and_times_sort_as_their_values() {
    let micros = || TimestampMicrosecondArray::from(vec![Some(1_500_000), None]);
    let nanos = TimestampNanosecondArray::from(vec![-1, 1_767_225_600_000_000_000]);
    let milli = Time32MillisecondArray::from(vec![0, 86_399_999]);
    let nano = Time64NanosecondArray::from(vec![1, 3_600_000_000_000]);
    let utc = micros().with_timezone("Europe/Berlin");
    // Beyond the range of a calendar.
    let far = TimestampMillisecondArray::from(vec![i64::MAX, 0]);
    let columns: [(&str, ArrayRef, [&str; 2]); 7] = [
        ("date", Arc::new(Date32Array::from(vec![0, 20_454])), ["1970-01-01", "2026-01-01"]),
        ("milli", Arc::new(milli), ["00:00:00", "23:59:59.999"]),
        ("nano", Arc::new(nano), ["00:00:00.000000001", "01:00:00"]),
        ("local", Arc::new(micros()), ["1970-01-01 00:00:01.500", ""]),
        ("utc", Arc::new(utc), ["1970-01-01 00:00:01.500+00:00", ""]),
        ("before", Arc::new(nanos), ["1969-12-31 23:59:59.999999999", "2026-01-01 00:00:00"]),
        ("far", Arc::new(far), ["9223372036854775807", "1970-01-01 00:00:00"]),
    ];
    let url: ArrayRef = Arc::new(StringArray::from(vec!["http://h/"; 2]));
    let arrays = columns.iter().map(|(name, array, _)| (*name, Arc::clone(array)));
    let batch = RecordBatch::try_from_iter([("url", url)].into_iter().chain(arrays)).unwrap();
    let place = both("times", &batch, WriterProperties::default());
    for kind in ["parquet", "arrow"] {
        let file = format!("times.{kind}");
        for (name, _, [first, second]) in &columns {
            let carried = ["dedup", "--carry", name, &file, "--keep"];
            for (keep, text) in [("first", first), ("last", second)] {
                let run = place.run([&carried[..], &[keep]].concat()).exits(0);
                assert_eq!(run.out(), format!("http://h/\t{text}\n"), "{file} {name}");
            }
        }
        for (name, greatest) in [("before", "2026-01-01 00:00:00"), ("date", "2026-01-01")] {
            let keep = format!("max:{name}");
            let run = place.run(["dedup", "--carry", name, "--keep", &keep, &file]).exits(0);
            assert_eq!(run.out(), format!("http://h/\t{greatest}\n"), "{file} {name}");
        }
        let format = format!("{kind}:url,status=date");
        place.run(["dedup", "-f", &format, "--status", "200", &file]).exits(0);
        let format = format!("{kind}:date");
        let run = place.run(["dedup", "-f", &format, &file]).exits(2);
        assert!(run.err.contains("its column `date` holds times instead of URLs:"), "{}", run.err);
    }
}

#[test]
fn normalize_writes_a_table_row_for_each_record() {
    let place = Place::with([("urls", URLS)]);
    place.run(["normalize", "urls", "-o", "rows.parquet"]).exits(0);
    let column = |column: &str| {
        let format = format!("parquet:{column}");
        let run = place.run(["normalize", "-p", "string", "-f", &format, "rows.parquet"]);
        run.exits(0).out().to_owned()
    };
    assert_eq!(column("original"), "http://b/\nHTTP://A/\n\nno url\nhttp://a\nhttp://c/?q\n");
    assert_eq!(column("canonical"), "http://b/\nhttp://a/\n\n\nhttp://a/\nhttp://c/?q\n");
    assert_eq!(column("reject"), "\n\n\nrelative\n\n\n");
    place.write("urls", "http://a/\u{E9}\\\n".as_bytes());
    place.run(["normalize", "urls", "-o", "rows.parquet"]).exits(0);
    let run = place.run(["normalize", "-p", "string", "-f", "parquet:original", "rows.parquet"]);
    assert_eq!(run.exits(0).out(), "http://a/\u{E9}\\\n");
}

#[test]
fn csv_has_a_header_and_quoted_values() {
    let input = "{\"url\":\"http://h/a,b\",\"v\":\"caf\u{E9} \\\"q\\\"\\n,\\\\\"}\n\
                 {\"url\":\"http://h/a,b\"}\n{\"url\":\"http://h/c\",\"v\":null}\n";
    let log = "1.2.3.4 - - [01/Jan/2026:00:00:00 +0000] \"GET http://h/1 HTTP/1.1\" 404 7\n";
    let place = Place::with([("t.jsonl", input.as_bytes()), ("t.log", log.as_bytes())]);
    let value = "\"caf\u{E9} \"\"q\"\"\n,\\\"";
    for (arguments, csv) in [
        (&["dedup", "t.jsonl"][..], "canonical\n\"http://h/a,b\"\nhttp://h/c\n".to_owned()),
        (
            &["dedup", "t.jsonl", "--key", "surt", "--top", "1"],
            "count,surt\n2,\"h)/a,b\"\n".to_owned(),
        ),
        (
            &["dedup", "t.jsonl", "--fields", "path,count", "--carry", "v"],
            format!("path,count,v\n\"/a,b\",2,{value}\n/c,1,\n"),
        ),
        (
            &["dedup", "t.log", "--tally", "status,bytes"],
            "count,canonical,status_1xx,status_2xx,status_3xx,status_4xx,status_5xx,bytes\n\
             1,http://h/1,0,0,0,1,0,7\n"
                .to_owned(),
        ),
        (
            &["normalize", "t.jsonl"],
            "record,original,canonical,reject\n1,\"http://h/a,b\",\"http://h/a,b\",\n\
             2,\"http://h/a,b\",\"http://h/a,b\",\n3,http://h/c,http://h/c,\n"
                .to_owned(),
        ),
        (&["dedup", "t.jsonl", "--match", "nothing"], "canonical\n".to_owned()),
    ] {
        let run = place.run([arguments, &["-o", "out.csv"]].concat()).exits(0);
        assert!(run.out.is_empty());
        assert_eq!(String::from_utf8(place.read("out.csv")).unwrap(), csv, "{arguments:?}");
    }
    for name in ["out.csv.gz", "out.CSV.zst"] {
        place.run(["dedup", "t.jsonl", "--carry", "v", "-o", name]).exits(0);
        let run = place.run(["dedup", "-f", "csv:canonical", "--json", "--carry", "v", name]);
        let line = "{\"canonical\":\"http://h/a,b\",\"v\":\"caf\u{E9} \\\"q\\\"\\n,\\\\\"}";
        assert_eq!(run.exits(0).out().lines().next(), Some(line), "{name}");
    }
}

#[test]
fn shards_of_csv_have_a_header_each() {
    let place = Place::with([("urls", URLS)]);
    for suffix in [".csv", ".csv.gz"] {
        let split = ["--split-by", "hash:2", "--split-suffix", suffix];
        let shards = format!("d{}", suffix.replace('.', "-"));
        place.run([&["dedup", "urls", "-o", &shards][..], &split].concat()).exits(0);
        let files = [0, 1].map(|shard| format!("{shards}/shard-0000{shard}{suffix}"));
        let read = ["normalize", "-p", "string", "-f", "csv:canonical", &files[0], &files[1]];
        let mut urls: Vec<_> = place.run(read).exits(0).out().lines().map(str::to_owned).collect();
        urls.sort();
        assert_eq!(urls, ["http://a/", "http://b/", "http://c/?q"], "{suffix}");
    }
}

#[test]
fn page_over_the_memory_limit_is_read_with_more_memory() {
    let long = format!("http://a/{}\n", "b".repeat(9 << 20));
    let place = Place::with([("urls", long.as_bytes())]);
    place.run(["dedup", "--max-url", "16M", "urls", "-o", "long.parquet"]).exits(0);
    let little = ["dedup", "--max-url", "16M", "--memory", "16M", "long.parquet", "-o", "out"];
    let refused = place.run(little).exits(3);
    assert!(refused.err.contains("uniqurl: long.parquet: limit: "), "{}", refused.err);
    assert!(refused.err.contains("give more with --memory"), "{}", refused.err);
    assert_eq!(place.names(), ["long.parquet", "urls"]);
    let enough =
        place.run(["dedup", "--max-url", "16M", "--memory", "1G", "long.parquet"]).exits(0);
    assert!(enough.out() == long);
}

#[test]
fn cut_table_is_reported_in_one_line() {
    let place = Place::with([("urls", URLS)]);
    place.run(["dedup", "urls", "--fields", "host,path", "-o", "two.parquet"]).exits(0);
    let table = place.read("two.parquet");
    for cut in (8..table.len()).step_by(41) {
        place.write("cut.parquet", &table[..cut]);
        let cut = place.run(["dedup", "cut.parquet"]).exits(2);
        assert!(cut.err.starts_with("uniqurl: cut.parquet: damaged: "), "{}", cut.err);
        assert_eq!(cut.err.lines().count(), 2, "{}", cut.err);
    }
    let with = place.run(["dedup", "--keep-going", "cut.parquet", "urls"]).exits(1);
    assert_eq!(with.out(), "http://b/\nhttp://a/\nhttp://c/?q\n");
    assert!(with.err.contains(", after 0 records, which were taken"), "{}", with.err);
}

#[test]
fn sorted_column_of_a_table_holds_its_keys_in_order() {
    let place = Place::with([("urls", b"http://a/~\nhttp://a/\xE9\nhttp://a/\\\n")]);
    for (arguments, sorted) in [
        // Bytes, in sorted order.
        (&["-p", "string"][..], true),
        (&["-p", "string", "--count"], true),
        (&["-p", "string", "--fields", "canonical"], true),
        (&["-p", "string", "--fields", "surt", "--key", "surt"], true),
        (&["--fields", "host,canonical"], true),
        (&["--fields", "host"], false),
    ] {
        let sort = ["dedup", "urls", "--order", "sorted", "-o", "set.parquet"];
        place.run([&sort[..], arguments].concat()).exits(0);
        let file = fs::File::open(place.path("set.parquet")).expect("there");
        let reader = SerializedFileReader::new(file).expect("Parquet");
        let columns = reader.metadata().row_group(0).sorting_columns();
        assert_eq!(columns.is_some(), sorted, "{arguments:?}");
        let Some([column]) = columns.map(Vec::as_slice) else { continue };
        let values = values(&reader, column.column_idx as usize);
        assert!(values.is_sorted(), "{arguments:?}: {values:?}");
    }
}

#[test]
fn columns_of_any_bytes_keep_urls_apart_in_a_table() {
    // The escape of the second is the text of the first.
    let urls = b"http://a/\\xE9\nhttp://a/\xE9\n";
    let place = Place::with([("urls", urls)]);
    for table in ["set.parquet", "set.arrow"] {
        for fields in ["canonical", "canonical,count,path,hash"] {
            place.run(["dedup", "-p", "string", "urls", "--fields", fields, "-o", table]).exits(0);
            let read = place.run(["dedup", "-p", "string", table]).exits(0);
            assert_eq!(read.out, urls, "{table} {fields}");
        }
    }
}

fn values(reader: &SerializedFileReader<fs::File>, column: usize) -> Vec<Vec<u8>> {
    let rows = reader.get_row_iter(None).expect("rows");
    let value = |row: Result<Row, ParquetError>| match row.expect("a row").into_columns()[column].1
    {
        Field::Str(ref text) => text.clone().into_bytes(),
        Field::Bytes(ref bytes) => bytes.data().to_vec(),
        ref other => panic!("{other}"),
    };
    rows.map(value).collect()
}

#[test]
fn duplicate_column_names_are_selected_by_number() {
    let text = |letter: &str| -> ArrayRef {
        let urls = [1, 2].map(|n| format!("http://{letter}/{n}"));
        Arc::new(StringArray::from_iter_values(urls))
    };
    let within = |columns: &[(&str, &str)]| -> ArrayRef {
        let column = |(name, letter): &(&str, &str)| {
            let field = arrow_schema::Field::new(*name, DataType::Utf8, true);
            (Arc::new(field), text(letter))
        };
        Arc::new(StructArray::from(columns.iter().map(column).collect::<Vec<_>>()))
    };
    let batch = RecordBatch::try_from_iter([
        ("x", text("a")),
        ("x", text("b")),
        ("s", within(&[("x", "c"), ("x", "d")])),
        ("s", within(&[("y", "e"), ("z", "f")])),
    ]);
    let place = both("t", &batch.expect("a batch"), WriterProperties::default());
    for kind in ["parquet", "arrow"] {
        let file = format!("t.{kind}");
        let read = |column: &str, carry: &str| {
            let format = format!("{kind}:{column}");
            let mut arguments = vec!["dedup", "--limit", "1", "-f", &format, &file];
            if !carry.is_empty() {
                arguments.extend(["--carry", carry]);
            }
            place.run(arguments).exits(0).out().trim_end().to_owned()
        };
        for (number, url) in
            (1..).zip(["a", "b", "c", "d", "e", "f"].map(|l| format!("http://{l}/1")))
        {
            let number = number.to_string();
            assert_eq!(read(&number, ""), url, "{file}");
            assert_eq!(read(&number, "1"), format!("{url}\thttp://a/1"), "{file}");
            assert_eq!(read("4", &number), format!("http://d/1\t{url}"), "{file}");
        }
        // A repeated name refers to the first column.
        assert_eq!(read("x", "s.x"), "http://a/1\thttp://c/1", "{file}");
        assert_eq!(read("s.z", "s.y"), "http://f/1\thttp://e/1", "{file}");
    }
}

#[test]
fn normalize_names_the_key_column_after_the_key() {
    let place = Place::with([("urls", URLS)]);
    for name in ["rows.parquet", "rows.arrow"] {
        place.run(["normalize", "urls", "--key", "surt", "-o", name]).exits(0);
        let format = format!("{}:surt", name.rsplit('.').next().expect("an ending"));
        let run = place.run(["normalize", "-p", "string", "-f", &format, name]).exits(0);
        assert_eq!(run.out(), "b)/\na)/\n\n\na)/\nc)/?q\n");
    }
}
