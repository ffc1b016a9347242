//! Names, threads and errors of the engine's types.

use std::error::Error;
use std::fmt::Debug;

use uniqurl_engine::output::Field;
use uniqurl_engine::{
    BadUrlFilter, JobPlan, Report, RunError, SeenError, TooManyRejected, UrlFilter, Watch,
};
use uniqurl_formats::input::{Input, InputError};
use uniqurl_store::spill::SpillError;

#[test]
fn a_field_is_read_as_it_is_shown() {
    for field in Field::ALL {
        assert_eq!(field.to_string().parse::<Field>(), Ok(*field));
    }
}

#[test]
fn types_go_from_thread_to_thread() {
    fn do_so<T: Send + Sync + Debug>() {}
    do_so::<(JobPlan, Report, UrlFilter, Watch, Input)>();
}

#[test]
fn errors_are_those_of_the_standard_library() {
    fn is_one<T: Error + Send + Sync + 'static>() {}
    is_one::<BadUrlFilter>();
    is_one::<RunError>();
    is_one::<SeenError>();
    is_one::<TooManyRejected>();
    is_one::<InputError>();
    is_one::<SpillError>();
}
