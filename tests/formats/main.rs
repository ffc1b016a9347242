//! Record formats against a slow second reader, real logs and indexes, and request targets against
//! the oracles.
#![allow(missing_docs, reason = "tests are named by the fact that they protect")]

use uniqurl_test_support::{cases, generator, oracle, shared, tsv};

#[allow(dead_code, reason = "a part of it is used")]
#[path = "../library/subject/mod.rs"]
mod subject;

mod envelope_oracle;
mod record_oracle;

mod detection_laws;
mod envelopes;
mod named;
mod records;
mod shared_indexes;
mod shared_logs;
mod targets;
