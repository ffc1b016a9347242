//! The arguments of `uniqurl rules`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

/// The commands about rules from elsewhere.
#[derive(Debug, Subcommand)]
pub enum RuleFileCommand {
    /// Write rules from elsewhere as a profile file.
    #[command(
        before_long_help = "\
Examples:
  # Import the data file of ClearURLs
  uniqurl rules import clearurls data.min.json > rules.toml

  # Import a filter of AdGuard that removes parameters
  uniqurl rules import adguard filter_17.txt > rules.toml",
        after_long_help = "\
A rule is taken if the file can say exactly the same of URLs as crawl writes them. Two things are read as they are \
meant: a pattern that ends after a host stands for that host, and none that only begins with it, and schemes do not \
matter. All other rules are listed at the end of the file, each below its reason, and are counted on standard error. \
An exception that is listed is taken for more URLs than it names, unless the reason says that it is not."
    )]
    Import(ImportArgs),
}

/// `uniqurl rules import`
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The kind of rules
    #[arg(value_name = "KIND", value_enum)]
    pub kind: RuleKind,

    /// The rules; - is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}

/// Where rules come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RuleKind {
    /// The data file of ClearURLs, in JSON
    Clearurls,
    /// A list of filters with $removeparam, of AdGuard or uBlock Origin
    Adguard,
}
