//! The subcommands: each takes its arguments and gives an exit status.

pub mod dedup;
pub mod normalize;
pub mod explain;
mod explained_key;
pub mod compare;
pub mod profiles;
pub mod formats;
pub mod set;
pub mod seen;
pub mod bench;
pub mod generate;
