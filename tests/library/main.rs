//! The library: published vectors, every law against an oracle, and the whole job without the command.
#![allow(missing_docs, reason = "tests are named by the fact that they protect")]

// What is true, told a second time, and what to ask.
mod browser;
mod cases;
mod generator;
mod law;
mod oracle;
mod record_oracle;
mod shared;
mod subject;
mod tsv;
mod variant;
mod worded;

mod aggressive;
mod agreement;
#[cfg(feature = "tables")]
mod carry;
#[cfg(feature = "transcode")]
mod charsets;
mod choices;
#[cfg(feature = "tables")]
mod claims;
#[cfg(feature = "batch")]
mod containers;
#[cfg(feature = "cli")]
mod corpus;
mod explain;
mod extract;
mod interface;
mod keys;
mod laws;
mod lengths;
#[cfg(feature = "tables")]
mod messages;
mod oracle_laws;
mod oracle_vectors;
#[cfg(feature = "batch")]
mod pipeline;
#[cfg(feature = "profile-file")]
mod profile_file;
mod records;
mod redirects;
mod shared_indexes;
mod shared_logs;
mod shared_uri;
mod shared_vectors;
mod shared_whatwg;
#[cfg(feature = "batch")]
mod spill;
mod systems;
#[cfg(feature = "tables")]
mod tables;
#[cfg(feature = "transcode")]
mod transcode;
mod uri;
mod vectors;
mod whatwg;
