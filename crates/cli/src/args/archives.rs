//! The flags of archives.

use crate::args::help::INPUT;
use clap::Args;
use clap::builder::PossibleValuesParser;

use uniqurl_formats::record::{Format, Kinds};

/// The records of archives to read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = INPUT)]
pub struct ArchiveArgs {
    /// Read WARC records of these types [default: response,revisit,resource,conversion]
    ///
    /// LIST holds some of response, revisit, resource, conversion, request, metadata, warcinfo and
    /// continuation, separated by commas. Records of other types are skipped.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(Kinds::ALL),
        hide_possible_values = true
    )]
    record_types: Vec<String>,
}

impl ArchiveArgs {
    /// The types of records to read.
    pub fn kinds(&self) -> Kinds {
        match &self.record_types[..] {
            [] => Kinds::default(),
            // Clap accepts no other names.
            names => Kinds::named(names.iter().map(String::as_str)).unwrap_or_default(),
        }
    }

    /// The option, if it is given and has no effect on records of this format.
    pub fn idle(&self, format: &Format) -> Option<&'static str> {
        (!self.record_types.is_empty() && !format.has_kinds()).then_some("--record-types")
    }
}
