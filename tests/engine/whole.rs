//! Whole rows of tables: those of each first URL, and the others.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray, UInt32Array};
use arrow_ipc::reader::FileReader;
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use uniqurl_engine::output::TableKind;
use uniqurl_engine::{RunError, Sinks, Watch, WholeSinks, run_whole};

use crate::runs::{FIRST, checked, file, plan_of};
use crate::written::{Packed, arrow, batch, parquet, plain};

/// Rows with a list and a column of nulls beside the URL.
fn rows(count: usize) -> RecordBatch {
    let url = |n: usize| match n % 5 {
        0 => Some(format!("http://h/{}", n % 70)),
        1 => Some(format!("HTTP://H:80/{}", n % 30)),
        2 => None,
        3 => Some("no url".to_owned()),
        _ => Some(format!("http://h/{n}")),
    };
    let mut lists = ListBuilder::new(StringBuilder::new());
    for n in 0..count {
        (0..n % 3).for_each(|at| lists.values().append_value(format!("{n}-{at}")));
        lists.append(n % 7 != 0);
    }
    batch([
        ("tags", Arc::new(lists.finish()) as ArrayRef),
        ("url", Arc::new((0..count).map(url).collect::<StringArray>())),
        (
            "n",
            Arc::new((0..count).map(|n| (n % 4 > 0).then_some(n as i32)).collect::<Int32Array>()),
        ),
    ])
}

fn read(kind: TableKind, bytes: Vec<u8>) -> RecordBatch {
    let batches: Vec<RecordBatch> = match kind {
        TableKind::Arrow => {
            let reader = FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
            reader.map(Result::unwrap).collect()
        }
        _ => {
            let reader =
                ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).unwrap();
            reader.build().unwrap().map(Result::unwrap).collect()
        }
    };
    concat_batches(batches[0].schema_ref(), &batches).unwrap()
}

#[test]
fn rows_of_first_urls_and_the_others_are_copied_with_all_columns() {
    let all = rows(3_000);
    // What a plain program keeps: the first row of each path.
    let urls = all.column(1).as_any().downcast_ref::<StringArray>().unwrap();
    let (mut seen, mut kept, mut others) = (std::collections::HashSet::new(), vec![], vec![]);
    for (row, url) in (0..).zip(urls) {
        if let Some(path) = url.and_then(|url| url.rsplit_once('/')).map(|(_, path)| path) {
            if seen.insert(path) { kept.push(row) } else { others.push(row) }
        }
    }
    let of = |rows: Vec<u32>| take_record_batch(&all, &UInt32Array::from(rows)).unwrap();
    let (kept, others) = (of(kept), of(others));
    let [of_file, of_stream] = arrow(&all, 700, Packed::None);
    for (kind, bytes, format) in [
        (TableKind::Parquet, parquet(&all, plain()), "parquet:url"),
        (TableKind::Arrow, of_file, "arrow:url"),
        (TableKind::Arrow, of_stream, "arrow"),
    ] {
        let input = file(&bytes);
        let inputs = checked(&[input.path().to_owned()]);
        for threads in [1, 3] {
            let mut plan = plan_of(format, FIRST);
            plan.limits.threads = threads;
            let (mut out, mut dropped) = (Vec::new(), Vec::new());
            let sinks = WholeSinks {
                kept: Sinks::to(&mut out),
                dropped: Some(&mut dropped),
                table: Some(kind),
            };
            let (report, result) = run_whole(&plan, &inputs, sinks, &Watch::default());
            result.unwrap();
            assert_eq!(report.tally.unique as usize, kept.num_rows());
            for (found, expected) in [(out, &kept), (dropped, &others)] {
                let found = read(kind, found);
                assert_eq!(found.num_rows(), expected.num_rows());
                for (found, expected) in found.columns().iter().zip(expected.columns()) {
                    // The name of the items of a list is the writer's own.
                    assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{format}");
                }
            }
        }
    }
}

#[test]
fn tables_of_other_columns_are_refused() {
    let one = file(&parquet(&rows(10), plain()));
    let other = file(&parquet(&batch([("url", Arc::clone(rows(10).column(1)))]), plain()));
    let inputs = checked(&[one.path().to_owned(), other.path().to_owned()]);
    let mut out = Vec::new();
    let kept = Sinks::to(&mut out);
    let sinks = WholeSinks { kept, dropped: None, table: Some(TableKind::Parquet) };
    let (_, result) = run_whole(&plan_of("parquet:url", FIRST), &inputs, sinks, &Watch::default());
    let Err(RunError::Input(error)) = result else { panic!("{result:?}") };
    assert_eq!(error.path, other.path());
    assert!(error.to_string().contains("its columns differ"), "{error}");
}
