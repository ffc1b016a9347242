//! Names, threads and errors of the formats' types.

use std::error::Error;
use std::fmt::Debug;

use uniqurl_formats::record::{BadFilter, Context, Filter, Format, FormatError, Record, Records};

#[test]
fn a_format_is_read_as_it_is_shown() {
    for name in ["lines", "combined", "ws:3", "tsv:url", "w3c", "log:%h \"%r\"", "cdx"] {
        let format = Format::parse(name).unwrap();
        assert_eq!(format.to_string().parse::<Format>(), Ok(format));
    }
}

#[test]
fn types_go_from_thread_to_thread() {
    fn do_so<T: Send + Sync + Debug>() {}
    do_so::<(Format, Context, Records, Record, Filter)>();
}

#[test]
fn errors_are_those_of_the_standard_library() {
    fn is_one<T: Error + Send + Sync + 'static>() {}
    is_one::<FormatError>();
    is_one::<BadFilter>();
}
