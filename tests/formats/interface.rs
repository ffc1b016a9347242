//! Names, threads and errors of the formats' types.

use std::error::Error;
use std::fmt::Debug;

use uniqurl_formats::record::{BadFilter, Context, Filter, Format, FormatError, Record, Records};

#[test]
fn format_name_round_trips() {
    for name in ["lines", "combined", "ws:3", "tsv:url", "w3c", "log:%h \"%r\"", "cdx"] {
        let format = Format::parse(name).unwrap();
        assert_eq!(format.to_string().parse::<Format>(), Ok(format));
    }
}

#[test]
fn public_types_are_send_and_sync() {
    fn assert_send_sync<T: Send + Sync + Debug>() {}
    assert_send_sync::<(Format, Context, Records, Record, Filter)>();
}

#[test]
fn error_types_implement_std_error() {
    fn assert_error<T: Error + Send + Sync + 'static>() {}
    assert_error::<FormatError>();
    assert_error::<BadFilter>();
}
