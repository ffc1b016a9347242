//! The texts of `-h` and `--help` that several subcommands share, and the long lists in them.
//!
//! A paragraph is one line here, because clap wraps lines. Lines that begin with spaces are rows of a
//! table.

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, ValueEnum};
use uniqurl::Profile;

/// The options for few users, by their ids: `--help` leaves them out, and the man pages and `docs/advanced.md`
/// have them.
#[rustfmt::skip]
pub(crate) const ADVANCED: [&str; 11] = [
    "record_types", "max_url", "max_record", "allow", "deny", "transcode", "ring", "keep", "split_suffix", "wait",
    "backend",
];

/// The options of long lists that `-h` shows, by their ids; `--help` has the others.
#[rustfmt::skip]
pub(crate) const SHORT: [&str; 17] = [
    "output", "format", "profile", "quiet", "help", "recursive", "base", "host", "patterns", "with", "rejects", "order",
    "count", "limit", "seen", "save_seen", "memory",
];

// The headings, in the order of `--help`.
pub(crate) const COMMON: &str = "Common";
pub(crate) const INPUT: &str = "Input";
pub(crate) const FILTERS: &str = "Filters";
pub(crate) const RULES: &str = "Rules";
pub(crate) const OUTPUT: &str = "Output";
pub(crate) const INCREMENTAL: &str = "Incremental";
pub(crate) const RESOURCES: &str = "Resources";

/// Puts the examples, which are the text before the help, after the first sentence.
pub(crate) const TEMPLATE: &str = "\
{about-with-newline}
{before-help}{usage-heading} {usage}

{all-args}{after-help}";

/// The last line of `-h` if it leaves options out.
pub(crate) const MORE: &str = "--help lists all options, with examples and details.";

/// The end of `--help` for `dedup` and `normalize`.
pub(crate) const EXIT_STATUS: &str = "\
Exit status:
  0    The run is complete.
  1    The output is written, but an input was skipped (--keep-going).
  2    The run failed or the usage is wrong. No file of results is written.
  3    A limit stopped the run. No file of results is written.
  141  The reader of a pipe is gone.";

/// `-h` and `--help`, under the heading that clap gives to no option by itself.
pub(crate) fn help_flag() -> Arg {
    Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help_heading(COMMON)
        .help("Show the common options (-h), or all of them (--help)")
}

/// The help of an option with a few values, which get a line each.
///
/// `-h` has room for their names only, and clap can only hide them in both texts.
pub(crate) fn of_values<T: ValueEnum>(first_sentence: &str) -> String {
    let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let row = |value: PossibleValue| {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        format!("\n  {:10}  {help}", value.get_name())
    };
    format!("{first_sentence}\n{}", values.map(row).collect::<String>())
}

/// The help of an option that takes names of profiles.
///
/// `-h` has no room for them, and clap can only hide them in both texts.
pub(crate) fn of_profiles(first_sentence: &str, details: &str) -> String {
    let row = |profile: &Profile| format!("\n  {:10}  {}", profile.name(), profile.summary());
    let rows: String = Profile::ALL.iter().map(row).collect();
    format!("{first_sentence}\n\n{details}{rows}")
}
