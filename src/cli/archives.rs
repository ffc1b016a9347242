//! The flags of archives.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::record::Kinds;

/// What to take of web archives.
#[derive(Debug, Clone, Args)]
pub struct Archives {
    /// Of WARC files, read the records of these kinds
    ///
    /// A list between commas of response, revisit, resource, conversion, request, metadata, warcinfo,
    /// continuation. The others are skipped.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "response,revisit,resource,conversion",
        value_parser = PossibleValuesParser::new(Kinds::ALL).map(|name: String| name),
        hide_possible_values = true,
        help_heading = "Input"
    )]
    record_types: Vec<String>,
}

impl Archives {
    /// The kinds that were chosen.
    pub fn kinds(&self) -> Kinds {
        Kinds::named(self.record_types.iter().map(String::as_str)).unwrap_or_default()
    }
}
