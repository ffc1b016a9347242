//! Record formats against a slow second reader, real logs and indexes, and request targets against
//! the oracles.
#![allow(missing_docs, reason = "tests are named by the fact that they protect")]

#[allow(dead_code, reason = "parts of them are used")]
#[path = "../library"]
mod told_twice {
    pub mod cases;
    pub mod generator;
    pub mod imports;
    pub mod oracle;
    pub mod shared;
    pub mod subject;
    pub mod tsv;
}
use told_twice::{cases, generator, imports, oracle, shared, subject, tsv};

mod envelope_oracle;
mod record_oracle;

mod detection_laws;
mod envelopes;
mod floors;
mod interface;
mod named;
mod records;
mod shared_indexes;
mod shared_logs;
mod targets;
