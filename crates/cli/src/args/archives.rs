//! The flags of archives.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use uniqurl_formats::record::{Archive, Format, Kinds};

/// What to take of web archives.
#[derive(Debug, Clone, Args)]
pub struct ArchiveArgs {
    /// Of WARC files, read the records of these kinds
    ///
    /// A list between commas of response, revisit, resource, conversion, request, metadata, warcinfo,
    /// continuation. The others are skipped. Without it, the first four are read.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(Kinds::ALL).map(|name: String| name),
        hide_possible_values = true,
        help_heading = "Input",
        help = "Of WARC files, read the records of these kinds [default: \
                response,revisit,resource,conversion]"
    )]
    record_types: Vec<String>,
}

impl ArchiveArgs {
    /// The kinds that were chosen.
    pub fn kinds(&self) -> Kinds {
        match &self.record_types[..] {
            [] => Kinds::default(),
            names => Kinds::named(names.iter().map(String::as_str)).unwrap_or_default(),
        }
    }

    /// The option, where it was given and can do nothing to records of this format.
    pub fn idle(&self, format: &Format) -> Option<&'static str> {
        let has_kinds = matches!(format, Format::Archive(Archive::Warc(_)));
        (!self.record_types.is_empty() && !has_kinds).then_some("--record-types")
    }
}
