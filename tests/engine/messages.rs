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

use crate::claims::{is_refused_as, read_as};
use crate::runs::Outcome;
use crate::tables::footer;
use crate::written::{self, Packed, batch};

/// A number of rows that differs from every other number in the file.
const ROWS: usize = 1009;

/// Bytes of the offsets of that many texts.
const OFFSETS: i64 = (ROWS as i64 + 1) * 4;

fn urls() -> Vec<String> {
    (0..ROWS).map(|i| format!("http://example.com/{}", i % 100)).collect()
}

fn one_column(array: impl Array + 'static) -> RecordBatch {
    batch([("url", Arc::new(array) as ArrayRef)])
}

fn texts() -> RecordBatch {
    one_column(StringArray::from(urls()))
}

/// The texts by keys of a dictionary.
fn keyed() -> RecordBatch {
    let mut texts = StringDictionaryBuilder::<Int32Type>::new();
    texts.extend(urls().iter().map(Some));
    one_column(texts.finish())
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

/// What is said of an impossible number.
const NO_LENGTH: &str = "a length that none can have";
const BEHIND_BODY: &str = "reaches behind its body";
const BEHIND_END: &str = "reaches behind its end";

/// Each of these numbers of so many bytes is an error at an offset, with words about it.
#[track_caller]
fn are_refused(bytes: &[u8], at: usize, width: usize, numbers: &[(i64, &str)]) {
    for (number, words) in numbers {
        let changed = with(bytes, at, &number.to_le_bytes()[..width]);
        is_refused(&format!("{number} at {at}"), &changed, words);
    }
}

fn i32_at(bytes: &[u8], at: usize) -> usize {
    i32::from_le_bytes(*bytes[at..].first_chunk().unwrap()) as usize
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
    let urls: i64 = urls().iter().map(|url| url.len() as i64).sum();
    for bytes in written(&texts(), None) {
        let offsets = place(&bytes, &OFFSETS.to_le_bytes(), 0);
        let data = place(&bytes, &urls.to_le_bytes(), 0);
        are_refused(&bytes, data, 8, &[(1 << 20, BEHIND_BODY), (i64::MAX, BEHIND_BODY)]);
        are_refused(&bytes, data, 8, &[(urls - 1, "")]);
        are_refused(&bytes, offsets, 8, &[(-1, NO_LENGTH), (OFFSETS - 4, "")]);
        // The position comes before the length.
        are_refused(&bytes, offsets - 8, 8, &[(1 << 40, BEHIND_BODY)]);
        are_refused(&bytes, data - 8, 8, &[(i64::MIN, NO_LENGTH)]);
        for nth in 0..2 {
            let rows = place(&bytes, &(ROWS as i64).to_le_bytes(), nth);
            are_refused(&bytes, rows, 8, &[(1 << 40, ""), (-1, ""), (ROWS as i64 + 1, "")]);
        }
    }
}

#[test]
fn message_lengths_are_checked_against_the_file() {
    const HUGE: i64 = i32::MAX as i64;
    let [file, stream] = written(&texts(), None);
    let end = file.len() - 10;
    let longer = "its footer is longer than it is";
    are_refused(&file, end, 4, &[(HUGE, longer), (-1, longer), (3, "its footer: ")]);
    // The batch follows the schema. The footer holds its offset, the length of its metadata,
    // padding, and the length of its body.
    let schema = place(&file, &[0xFF; 4], 0);
    let start = (schema + 8 + i32_at(&file, schema + 4)) as i64;
    let body_at = |block: usize| i64::from_le_bytes(*file[block + 16..].first_chunk().unwrap());
    let block = (end - i32_at(&file, end)..end - 24)
        .filter(|at| file[*at..].starts_with(&start.to_le_bytes()))
        .find(|at| (OFFSETS..file.len() as i64).contains(&body_at(*at)))
        .expect("a block");
    let long_head = "what a message says of itself reaches behind its end";
    let bodies = [(1 << 40, BEHIND_END), (i64::MAX, BEHIND_END), (-1, NO_LENGTH)];
    are_refused(&file, block, 8, &[(1 << 62, BEHIND_END), (-8, NO_LENGTH)]);
    are_refused(&file, block + 8, 4, &[(HUGE, long_head), (7, NO_LENGTH), (-1, NO_LENGTH)]);
    are_refused(&file, block + 16, 8, &bodies);

    // The format is detected from the start of the schema, so this changes the batch instead.
    let batch = 8 + i32_at(&stream, 4) + 4;
    are_refused(&stream, batch, 4, &[(HUGE, long_head), (-9, "none can have")]);
    are_refused(&stream, place(&stream, &body_at(block).to_le_bytes(), 0), 8, &bodies);
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
            let more = "more than there is memory for";
            are_refused(&bytes, at, 8, &[(i64::MAX, more), (-2, NO_LENGTH)]);
            are_refused(&bytes, at, 8, &[(urls + 1, ""), (urls - 1, ""), (-1, "")]);
            // This file would be readable with more memory.
            let bytes = with(&bytes, at, &(1_i64 << 36).to_le_bytes());
            let error = read(&bytes, Some(64 << 20)).error("64 GiB");
            let all = [": limit: ", "a batch takes 68719", more];
            assert!(all.iter().all(|words| error.contains(words)), "{error}");
        }
    }
}

#[test]
fn unordered_offsets_and_missing_dictionary_keys_are_errors() {
    let bytes_of = |numbers: &[i32]| -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    for bytes in written(&texts(), None) {
        // The second and the third text, of 20 bytes each.
        let at = place(&bytes, &bytes_of(&[0, 20, 40]), 0) + 4;
        for offsets in [[40, 20], [-1, 40], [20, i32::MAX], [i32::MIN; 2]] {
            is_refused("offsets", &with(&bytes, at, &bytes_of(&offsets)), "");
        }
    }
    for bytes in written(&keyed(), None) {
        let at = place(&bytes, &bytes_of(&[96, 97, 98, 99]), 0);
        for key in [100, -1, i32::MAX, i32::MIN] {
            is_refused("key", &with(&bytes, at, &bytes_of(&[key])), "");
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
    let url = Arc::new(StringArray::from(vec!["http://a/", "http://b/", "http://c/"])) as ArrayRef;
    let batch = batch([("url", url), ("d", Arc::new(outer))]);
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
    let vtable = schema.wrapping_sub(i32_at(&stream, schema));
    let big = (schema + 4..).step_by(2).find(|at| stream[*at..*at + 2] == [1, 0]).unwrap();
    let to = u16::try_from(big - schema).unwrap();
    let changed = with(&stream, vtable + 4, &to.to_le_bytes());
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
    let keyed =
        |urls: &[&str]| one_column(urls.iter().copied().collect::<DictionaryArray<Int32Type>>());
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
    let batch = batch([("url", url), ("other", Arc::new(other))]);
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
    let [file, _] = written(&batch(columns), None);
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
