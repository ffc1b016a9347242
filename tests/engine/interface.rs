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
fn field_name_round_trips() {
    for field in Field::ALL {
        assert_eq!(field.to_string().parse::<Field>(), Ok(*field));
    }
}

#[test]
fn public_types_are_send_and_sync() {
    fn assert_send_sync<T: Send + Sync + Debug>() {}
    assert_send_sync::<(JobPlan, Report, UrlFilter, Watch, Input)>();
}

#[test]
fn error_types_implement_std_error() {
    fn assert_error<T: Error + Send + Sync + 'static>() {}
    assert_error::<BadUrlFilter>();
    assert_error::<RunError>();
    assert_error::<SeenError>();
    assert_error::<TooManyRejected>();
    assert_error::<InputError>();
    assert_error::<SpillError>();
}
