//! The library: published vectors, and every law against an oracle.
#![allow(missing_docs, reason = "tests are named by the fact that they protect")]

// Second implementations, laws, and the inputs to try them on.
use uniqurl_test_support::{browser, cases, generator, imports, law, oracle, shared, tsv, variant};

mod strategy;
mod subject;
mod windows;

mod aggressive;
mod agreement;
mod charsets;
mod choices;
mod domains;
mod exhaustive;
mod explain;
mod extract;
mod floors;
#[cfg(feature = "profile-file")]
mod host_rules;
mod interface;
mod keys;
mod laws;
mod lengths;
mod oracle_laws;
mod oracle_vectors;
#[cfg(feature = "profile-file")]
mod path_rules;
#[cfg(feature = "profile-file")]
mod profile_file;
mod redirects;
mod rows;
mod rust_examples;
mod sanitize_share;
mod shared_suites;
mod shared_uri;
mod shared_vectors;
mod shared_whatwg;
mod slugs;
mod systems;
mod template;
mod template_laws;
mod template_oracle;
mod transcode;
mod uri;
mod vectors;
mod whatwg;
