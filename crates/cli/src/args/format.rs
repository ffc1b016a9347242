//! The value of `--format`: a name, which a column or a pattern may follow.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};

use uniqurl_formats::record::{Format, FormatError, FormatTable};

/// The format of the inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FormatChoice {
    /// Detected for each input.
    Auto,
    /// The same for all of them.
    Named(Format),
    /// The same for all of them: an entry of --format-file, which is not read yet.
    InFile(String),
}

/// The formats that are complete by their names, which a shell can offer.
pub(crate) const FORMATS: [&str; 22] = [
    "auto",
    "lines",
    "target",
    "text",
    "sitemap",
    "clf",
    "combined",
    "vhost",
    "w3c",
    "elb",
    "alb",
    "cloudfront",
    "haproxy",
    "ltsv",
    "cdx",
    "cdxj",
    "warc",
    "wat",
    "wat:links",
    "arc",
    "parquet",
    "arrow",
];

/// Reads the name of a format, which a column or a pattern may follow.
#[derive(Clone)]
pub(crate) struct FormatParser;

impl TypedValueParser for FormatParser {
    type Value = FormatChoice;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        match value.to_str().map(format) {
            Some(Ok(choice)) => Ok(choice),
            // It may be an entry of --format-file, which is read once all arguments are known.
            Some(Err(error)) if error.is_unknown() => {
                Ok(FormatChoice::InFile(value.to_string_lossy().into_owned()))
            }
            // Asked once more, for the error in clap's words.
            _ => format.parse_ref(command, argument, value),
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let entries = FormatTable::shipped().entries().map(|entry| &entry.name[..]);
        // An entry of the table may have a name that is listed already.
        let entries = entries.filter(|name| !FORMATS.contains(name));
        Some(Box::new(FORMATS.into_iter().chain(entries).map(PossibleValue::new)))
    }
}

fn format(name: &str) -> Result<FormatChoice, FormatError> {
    match name {
        "auto" => Ok(FormatChoice::Auto),
        _ => Format::parse(name).map(FormatChoice::Named),
    }
}
