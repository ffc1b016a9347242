//! Arrow files and streams whose headers claim impossible sizes, or more than memory holds: each is
//! an error that says so, and none ends the process.

use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, RecordBatch, StringArray, StructArray,
};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions};
use arrow_ipc::{CompressionType, DictionaryBatch};
use arrow_schema::{DataType, Field, Fields, Schema};

use uniqurl_engine::RunError;
use uniqurl_formats::input::InputState;

use crate::claims::{is_refused_as, read_as};
use crate::runs::{FIRST, Outcome, cases, memory, plan_of, ran_on};
use crate::tables::footer;
use crate::written::{self, Packed};

/// A number of rows that differs from every other number in the file.
const ROWS: usize = 1009;

/// Bytes of the offsets of that many texts.
const OFFSETS: i64 = (ROWS as i64 + 1) * 4;

fn urls() -> Vec<String> {
    (0..ROWS).map(|i| format!("http://example.com/{}", i % 100)).collect()
}

fn one_column(array: ArrayRef) -> RecordBatch {
    let field = Field::new("url", array.data_type().clone(), true);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

fn texts() -> RecordBatch {
    one_column(Arc::new(StringArray::from(urls())))
}

/// The batch as a file and as a stream.
fn written(batch: &RecordBatch, packed: Packed) -> [Vec<u8>; 2] {
    written::arrow(batch, batch.num_rows(), packed)
}

fn read(bytes: &[u8], budget: Option<u64>) -> Outcome {
    read_as("arrow:1", bytes, budget)
}

/// A false claim of size and a file that takes too much memory cannot be told apart.
#[track_caller]
fn is_refused(name: &str, bytes: &[u8], words: &str) {
    is_refused_as("arrow:1", name, bytes, words);
}

/// The n-th position of a number.
#[track_caller]
fn place(bytes: &[u8], number: &[u8], nth: usize) -> usize {
    let mut places = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(number));
    places.nth(nth).expect("it is there")
}

/// A copy with other bytes at an offset.
fn with(bytes: &[u8], at: usize, others: &[u8]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    changed[at..at + others.len()].copy_from_slice(others);
    changed
}

#[track_caller]
fn assert_all_rows(found: &Outcome) {
    assert!(found.result.is_ok(), "{:?}", found.result);
    let counts = (found.text().lines().count(), found.report.tally.records);
    assert_eq!(counts, (100, ROWS as u64));
}

#[test]
fn unmodified_test_file_is_readable() {
    for packing in [None, Some(CompressionType::ZSTD), Some(CompressionType::LZ4_FRAME)] {
        for bytes in written(&texts(), packing) {
            assert_all_rows(&read(&bytes, Some(64 << 20)));
        }
    }
}

#[test]
fn buffer_bounds_are_checked_against_the_message_body() {
    let urls: usize = urls().iter().map(String::len).sum();
    for bytes in written(&texts(), None) {
        let offsets = place(&bytes, &OFFSETS.to_le_bytes(), 0);
        let data = place(&bytes, &(urls as i64).to_le_bytes(), 0);
        for (name, at, number, words) in [
            ("longer", data, 1 << 20, "reaches behind its body"),
            ("endless", data, i64::MAX, "reaches behind its body"),
            ("below nothing", offsets, -1, "a length that none can have"),
            // The position comes before the length.
            ("elsewhere", offsets - 8, 1 << 40, "reaches behind its body"),
            ("nowhere", data - 8, i64::MIN, "a length that none can have"),
            ("shorter", offsets, OFFSETS - 4, ""),
            ("shorter texts", data, urls as i64 - 1, ""),
        ] {
            is_refused(name, &with(&bytes, at, &number.to_le_bytes()), words);
        }
        for (name, rows) in [("rows", 1 << 40), ("negative", -1), ("one more", ROWS as i64 + 1)] {
            for nth in 0..2 {
                let at = place(&bytes, &(ROWS as i64).to_le_bytes(), nth);
                is_refused(name, &with(&bytes, at, &i64::to_le_bytes(rows)), "");
            }
        }
    }
}

#[test]
fn message_lengths_are_checked_against_the_file() {
    let [file, stream] = written(&texts(), None);
    let end = file.len() - 10;
    for (length, words) in [
        (i32::MAX, "its footer is longer than it is"),
        (-1, "its footer is longer than it is"),
        (3, "its footer: "),
    ] {
        is_refused("footer", &with(&file, end, &length.to_le_bytes()), words);
    }
    // The batch follows the schema. The footer holds its offset, the length of its metadata,
    // padding, and the length of its body.
    let schema = place(&file, &[0xFF; 4], 0);
    let length = i32::from_le_bytes(file[schema + 4..schema + 8].try_into().unwrap());
    let start = (schema + 8) as i64 + i64::from(length);
    let footer = end - u32::from_le_bytes(file[end..end + 4].try_into().unwrap()) as usize;
    let body_at =
        |block: usize| i64::from_le_bytes(file[block + 16..block + 24].try_into().unwrap());
    let block = (footer..end - 24)
        .filter(|at| file[*at..].starts_with(&start.to_le_bytes()))
        .find(|at| (OFFSETS..file.len() as i64).contains(&body_at(*at)))
        .expect("a block");
    let body = body_at(block);
    for (name, at, number, words) in [
        ("place", block, 1_i64 << 62, "reaches behind its end"),
        ("no place", block, -8, "a length that none can have"),
        ("body", block + 16, 1 << 40, "reaches behind its end"),
        ("huge body", block + 16, i64::MAX, "reaches behind its end"),
        ("no body", block + 16, -1, "a length that none can have"),
    ] {
        is_refused(name, &with(&file, at, &number.to_le_bytes()), words);
    }
    for (length, words) in [
        (i32::MAX, "what a message says of itself reaches behind its end"),
        (7, "a length that none can have"),
        (-1, "a length that none can have"),
    ] {
        is_refused("message", &with(&file, block + 8, &length.to_le_bytes()), words);
    }

    // The format is detected from the start of the schema, so this changes the batch instead.
    let schema = i32::from_le_bytes(stream[4..8].try_into().unwrap()) as usize;
    let batch = 8 + schema + 4;
    let words = "what a message says of itself reaches behind its end";
    is_refused("huge", &with(&stream, batch, &i32::MAX.to_le_bytes()), words);
    is_refused("negative", &with(&stream, batch, &(-9_i32).to_le_bytes()), "none can have");
    let at = place(&stream, &body.to_le_bytes(), 0);
    for (length, words) in [
        (1 << 40, "reaches behind its end"),
        (i64::MAX, "reaches behind its end"),
        (-1, "a length that none can have"),
    ] {
        is_refused("body", &with(&stream, at, &i64::to_le_bytes(length)), words);
    }
}

#[test]
fn compressed_buffer_that_claims_more_than_fits_in_memory_is_rejected() {
    let urls: i64 = urls().iter().map(|url| url.len() as i64).sum();
    for (packing, magic) in [
        (CompressionType::ZSTD, [0x28, 0xB5, 0x2F, 0xFD]),
        (CompressionType::LZ4_FRAME, [0x04, 0x22, 0x4D, 0x18]),
    ] {
        for bytes in written(&texts(), Some(packing)) {
            let at = place(&bytes, &[&urls.to_le_bytes()[..], &magic].concat(), 0);
            for (length, words) in [
                (i64::MAX, "more than there is memory for"),
                (-2, "a length that none can have"),
                (urls + 1, ""),
                (urls - 1, ""),
                (-1, ""),
            ] {
                is_refused("buffer", &with(&bytes, at, &i64::to_le_bytes(length)), words);
            }
            // This file would be readable with more memory.
            let bytes = with(&bytes, at, &(1_i64 << 36).to_le_bytes());
            let error = read(&bytes, Some(64 << 20)).error("64 GiB");
            let all = [": limit: ", "a batch takes 68719", "more than there is memory for"];
            assert!(all.iter().all(|words| error.contains(words)), "{error}");
        }
    }
}

#[test]
fn unordered_offsets_and_missing_dictionary_keys_are_errors() {
    for bytes in written(&texts(), None) {
        // The second and the third text, of 20 bytes each.
        let offsets: Vec<u8> = [0_i32, 20, 40].iter().flat_map(|at| at.to_le_bytes()).collect();
        let at = place(&bytes, &offsets, 0);
        for (first, second) in [(40, 20), (-1, 40), (20, i32::MAX), (i32::MIN, i32::MIN)] {
            let others = [i32::to_le_bytes(first), i32::to_le_bytes(second)].concat();
            is_refused("offsets", &with(&bytes, at + 4, &others), "");
        }
    }
    let mut texts = StringDictionaryBuilder::<Int32Type>::new();
    texts.extend(urls().iter().map(Some));
    for bytes in written(&one_column(Arc::new(texts.finish())), None) {
        let keys: Vec<u8> = (96_i32..100).flat_map(i32::to_le_bytes).collect();
        let at = place(&bytes, &keys, 0);
        for key in [100, -1, i32::MAX, i32::MIN] {
            is_refused("key", &with(&bytes, at, &i32::to_le_bytes(key)), "");
        }
    }
}

#[test]
fn dictionary_that_contains_itself_terminates() {
    // A dictionary of structs with a dictionary in each, then both with the same ID.
    let inner: DictionaryArray<Int32Type> = vec!["a", "b", "a"].into_iter().collect();
    let fields = Fields::from(vec![Field::new("x", inner.data_type().clone(), true)]);
    let values = StructArray::new(fields, vec![Arc::new(inner)], None);
    let outer = DictionaryArray::new(Int32Array::from(vec![0, 1, 2]), Arc::new(values) as ArrayRef);
    let outer = Arc::new(outer) as ArrayRef;
    let url = Arc::new(StringArray::from(vec!["http://a/", "http://b/", "http://c/"])) as ArrayRef;
    let schema = Schema::new(vec![
        Field::new("url", DataType::Utf8, true),
        Field::new("d", outer.data_type().clone(), true),
    ]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![url, outer]).unwrap();
    for bytes in written(&batch, None) {
        assert_eq!(read(&bytes, None).unwrap().text().lines().count(), 3);
        // Numbers count from 0, and a 0 may be left out: each 1 becomes a 0 in turn.
        for at in (0..bytes.len() - 8).filter(|at| bytes[*at..].starts_with(&1_i64.to_le_bytes())) {
            let changed = with(&bytes, at, &0_i64.to_le_bytes());
            let result = read(&changed, Some(64 << 20)).result;
            assert!(matches!(result, Ok(()) | Err(RunError::Input(_))), "{at}: {result:?}");
        }
    }
}

#[test]
fn stream_with_foreign_byte_order_is_rejected() {
    let [_, stream] = written(&texts(), None);
    let message = arrow_ipc::root_as_message(&stream[8..]).unwrap();
    let schema = 8 + message.header_as_schema().unwrap()._tab.loc();
    // A table's vtable lists the offsets of its fields, the byte order first: this points it at a
    // 1.
    let vtable =
        schema as i64 - i64::from(i32::from_le_bytes(*stream[schema..].first_chunk().unwrap()));
    let big = (schema + 4..).step_by(2).find(|at| stream[*at..*at + 2] == [1, 0]).unwrap();
    let to = u16::try_from(big - schema).unwrap();
    let changed = with(&stream, vtable as usize + 4, &to.to_le_bytes());
    is_refused("big endian", &changed, "its numbers have their bytes in the other order");
}

/// The second dictionary of a file, and the position of one of its fields.
fn second_dictionary(file: &[u8], field: u16) -> (DictionaryBatch<'_>, usize) {
    let (_, footer) = footer(file);
    let start = footer.dictionaries().unwrap().get(1).offset() as usize + 8;
    let message = arrow_ipc::root_as_message(&file[start..]).unwrap();
    let dictionary = message.header_as_dictionary_batch().unwrap();
    let table = dictionary._tab;
    (dictionary, start + table.loc() + usize::from(table.vtable().get(field)))
}

/// Batches are read in any order, so "it is invalid to have more than one non-delta dictionary batch per
/// dictionary ID".
#[test]
fn replacement_dictionary_in_a_file_is_an_error() {
    let keyed = |urls: &[&str]| {
        let array: DictionaryArray<Int32Type> = urls.iter().copied().collect();
        one_column(Arc::new(array))
    };
    let (one, both) = (keyed(&["http://a/"]), keyed(&["http://a/", "http://b/"]));
    let options = IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
    let mut file = FileWriter::try_new_with_options(Vec::new(), &one.schema(), options).unwrap();
    file.write(&one).unwrap();
    file.write(&both).unwrap();
    let file = file.into_inner().unwrap();
    assert_eq!(read(&file, None).unwrap().text(), "http://a/\nhttp://b/\n");

    let (dictionary, at) = second_dictionary(&file, DictionaryBatch::VT_ISDELTA);
    assert!(dictionary.isDelta());
    let words = "a dictionary of it comes twice";
    is_refused("replaced", &with(&file, at, &[0]), words);
}

/// The dictionary of a column that is not read, and one that belongs to no column.
#[test]
fn only_dictionaries_of_selected_columns_are_decompressed() {
    let url = Arc::new(StringArray::from(urls())) as ArrayRef;
    let other: DictionaryArray<Int32Type> =
        (0..ROWS).map(|row| if row % 2 == 0 { "even" } else { "odd" }).collect();
    let schema = Schema::new(vec![
        Field::new("url", DataType::Utf8, true),
        Field::new("other", other.data_type().clone(), true),
    ]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![url, Arc::new(other)]).unwrap();
    for bytes in written(&batch, Some(CompressionType::ZSTD)) {
        // The texts are too short to compress, so -1 is stored instead of their length.
        let texts = [&(-1_i64).to_le_bytes()[..], b"evenodd"].concat();
        let long = with(&bytes, place(&bytes, &texts, 0), &(1_i64 << 36).to_le_bytes());
        assert_all_rows(&read(&long, Some(64 << 20)));
    }
}

#[test]
fn dictionary_without_a_column_is_damage() {
    let url = Arc::new(StringArray::from(vec!["http://a/", "http://b/"])) as ArrayRef;
    let other: DictionaryArray<Int32Type> = vec!["x", "y"].into_iter().collect();
    let other = Arc::new(other) as ArrayRef;
    let columns = [("url", url), ("one", Arc::clone(&other)), ("two", other)];
    let [file, _] = written(&RecordBatch::try_from_iter(columns).unwrap(), None);
    read(&file, None).unwrap();
    let (dictionary, at) = second_dictionary(&file, DictionaryBatch::VT_ID);
    assert_eq!(dictionary.id(), 1);
    is_refused("lost", &with(&file, at, &[9]), "it has dictionary 9, and no column of it");
}

#[test]
fn repeated_column_names_count_against_the_memory_limit() {
    let leaves = (0..2000).map(|i| Field::new(format!("u{i}"), DataType::Utf8, true));
    let leaves = DataType::Struct(leaves.collect());
    let schema = Schema::new(vec![Field::new("n".repeat(1 << 20), leaves, true)]);
    let batch = RecordBatch::new_empty(Arc::new(schema));
    for bytes in written(&batch, None) {
        assert!(bytes.len() < 8 << 20);
        let error = read(&bytes, Some(64 << 20)).error("4 GB of names");
        assert!(error.contains("what it says of its columns takes"), "{error}");
    }
}

#[test]
fn large_number_at_any_offset_neither_panics_nor_loses_rows_silently() {
    let mut dictionary = StringDictionaryBuilder::<Int32Type>::new();
    dictionary.extend(urls().iter().take(40).map(Some));
    let short = texts().slice(0, 40);
    let short =
        one_column(Arc::new(StringArray::from_iter_values(urls().iter().take(short.num_rows()))));
    let mut plan = plan_of("arrow:1", FIRST);
    plan.limits.threads = 2;
    plan.limits.memory = Some(memory(64 << 20, &std::env::temp_dir()));
    plan.input.keep_going = true;
    let numbers = [0_u64, 1 << 31, (1 << 31) - 1, 1 << 62, u64::MAX];
    for (name, [file, stream]) in [
        ("plain", written(&short, None)),
        ("packed", written(&short, Some(CompressionType::ZSTD))),
        ("dictionary", written(&one_column(Arc::new(dictionary.finish())), None)),
    ] {
        for (kind, bytes) in [("file", file), ("stream", stream)] {
            let places = bytes.len() / 4 - 1;
            let step = (places * numbers.len() * 12 / cases()).max(1);
            for case in (0..places * numbers.len()).step_by(step) {
                let (at, number) = (case / numbers.len() * 4, numbers[case % numbers.len()]);
                for width in [4, 8] {
                    let changed = with(&bytes, at, &number.to_le_bytes()[..width]);
                    let report = ran_on(&plan, &changed).unwrap().report;
                    let records = report.tally.records;
                    let damaged = report.files[0].state != InputState::Ok;
                    let holds = damaged || records == 40 || (kind == "file" && records < 40);
                    assert!(holds, "{name} {kind} {at} {number}: {records}");
                }
            }
        }
    }
}
