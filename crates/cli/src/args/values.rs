//! Parsers for the values of options: numbers, sizes, times, and names from lists.

use crate::ring_table;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command};
use std::ffi::OsStr;
use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::ops::{Bound, RangeBounds};
use std::path::Path;
use std::str::FromStr;
use uniqurl::internal::{Backend, GROWTH};
use uniqurl::uri::Charset;
use uniqurl::{Key, Profile, RejectReason, Ring, RingError};
use uniqurl_formats::input::read_whole;
use uniqurl_formats::record::LONGEST_KEY;
use uniqurl_formats::record::{LONGEST_RECORD, LONGEST_URL, parse_time};
use uniqurl_store::seen::{UnixTime, WhenBusy};

fn profiles() -> Vec<PossibleValue> {
    let value = |profile: &Profile| {
        let version = profile.version();
        let alias = profile.alias().map(|alias| [alias.to_owned(), format!("{alias}@{version}")]);
        // A name with its version is an alias, so that scripts can pin what a profile does.
        let aliases = alias.into_iter().flatten().chain([profile.to_string()]);
        PossibleValue::new(profile.name()).help(profile.summary()).aliases(aliases)
    };
    Profile::ALL.iter().map(value).collect()
}

/// What an option names that takes several profiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileSelection {
    /// Every one there is.
    All,
    /// This one.
    One(Profile),
}

/// Reads the name of a profile, which its version may follow.
#[derive(Clone)]
pub(crate) struct ProfileParser<T> {
    names: PossibleValuesParser,
    meant: fn(String) -> T,
}

impl ProfileParser<Profile> {
    pub(crate) fn new() -> Self {
        Self { names: PossibleValuesParser::new(profiles()), meant: profile }
    }
}

impl ProfileParser<ProfileSelection> {
    /// The same, and `all` for every profile.
    pub(crate) fn or_all() -> Self {
        let all = PossibleValue::new("all").help("every profile");
        let names = PossibleValuesParser::new(profiles().into_iter().chain([all]));
        let meant = |name: String| {
            // Among the accepted names, only `all` is not one of a profile.
            name.parse::<Profile>().map_or(ProfileSelection::All, ProfileSelection::One)
        };
        Self { names, meant }
    }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for ProfileParser<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Self::Value, clap::Error> {
        let known = self.names.parse_ref(command, argument, value).map(self.meant);
        match value.to_str().and_then(Profile::unknown_version) {
            // A version that does not exist is another mistake than an unknown name, and has its own words.
            Some(message) if known.is_err() => {
                Err(command.clone().error(ErrorKind::InvalidValue, message))
            }
            _ => known,
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.names.possible_values()
    }
}

fn profile(name: String) -> Profile {
    name.parse::<Profile>().expect("only names of profiles are accepted")
}

/// Reads one of these names, each of which `named` knows.
pub(crate) fn one_of<N: Into<PossibleValue>, T: Clone + Send + Sync + 'static>(
    names: impl IntoIterator<Item = N>,
    named: fn(&str) -> Option<T>,
) -> impl TypedValueParser<Value = T> {
    let meant = move |name: String| named(&name).expect("only these names are accepted");
    PossibleValuesParser::new(names).map(meant)
}

pub(crate) fn keys() -> impl TypedValueParser<Value = Key> {
    let value = |key: &Key| PossibleValue::new(key.name()).help(key.summary());
    one_of(Key::ALL.iter().map(value), |name| name.parse().ok())
}

pub(crate) fn checks() -> impl TypedValueParser<Value = RejectReason> {
    let value = |code: RejectReason| PossibleValue::new(code.name()).help(code.sentence());
    one_of(Profile::checks_of_all().iter().map(value), |name| name.parse().ok())
}

/// Lists of bytes, or a file that holds the table of a ring.
pub(crate) fn ring(text: &str) -> Result<Ring, String> {
    let path = Path::new(text);
    match ring_table::read_lists(text) {
        // Only a text that is no pair of lists is looked for as a file, so no file can
        // change what a list means.
        Err(RingError::Syntax(_)) if path.exists() => {
            let table = read_whole(path).map_err(|error| error.to_string())?;
            ring_table::read(&String::from_utf8_lossy(&table)).map_err(|error| error.to_string())
        }
        Err(error @ RingError::Syntax(0)) => Err(format!("{error}, and no file")),
        made => made.map_err(|error| error.to_string()),
    }
}

pub(crate) fn charset(label: &str) -> Result<Charset, String> {
    Charset::for_label(label.as_bytes()).ok_or_else(|| {
        "not a charset of the Encoding Standard that extends ASCII, as latin1 and shift_jis are"
            .into()
    })
}

pub(crate) fn backends() -> Vec<&'static str> {
    std::iter::once("auto").chain(Backend::ALL.iter().map(|backend| backend.name())).collect()
}

pub(crate) fn backend(name: String) -> Result<Backend, String> {
    match name.parse::<Backend>() {
        // Among the accepted names, only `auto` is not one of a scanner.
        Err(_) => Ok(Backend::best()),
        Ok(backend) if backend.is_available() => Ok(backend),
        Ok(_) => {
            let names: Vec<_> = Backend::available().iter().map(|backend| backend.name()).collect();
            Err(format!("this CPU has only {}", names.join(", ")))
        }
    }
}

// Written keys can be read again: a form is no more than [`GROWTH`] times as long as its URL, and a key
// is little longer than that.
const _: () = assert!((GROWTH + 1) * LONGEST_URL <= LONGEST_KEY);

/// A byte that may stand between the columns of CSV.
pub(crate) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\t" | b"\\t" => Ok(b'\t'),
        // URLs are full of letters and digits, and quotation marks have their own meaning in CSV.
        [byte @ b' '..=b'~'] if *byte != b'"' && !byte.is_ascii_alphanumeric() => Ok(*byte),
        _ => {
            Err("a delimiter is one character of ASCII, no letter, digit or quotation mark".into())
        }
    }
}

pub(crate) fn max_url(text: &str) -> Result<usize, String> {
    longest(text, "URL", LONGEST_URL)
}

pub(crate) fn max_record(text: &str) -> Result<usize, String> {
    longest(text, "record", LONGEST_RECORD)
}

fn longest(text: &str, of: &str, most: usize) -> Result<usize, String> {
    match size(text)? {
        0 => Err(format!("no {of} is that short")),
        bytes => usize::try_from(bytes)
            .ok()
            .filter(|bytes| *bytes <= most)
            .ok_or_else(|| format!("more than {}M", most >> 20)),
    }
}

/// Reads a whole number in a range; where it is none, says what to give instead.
pub(crate) fn number<N>(
    range: impl RangeBounds<N> + Clone,
) -> impl Fn(&str) -> Result<N, String> + Clone
where
    N: FromStr<Err = ParseIntError> + PartialOrd + Display,
{
    move |text| match (text.parse(), range.start_bound(), range.end_bound()) {
        (Ok(number), ..) if range.contains(&number) => Ok(number),
        (_, Bound::Included(least), Bound::Included(most)) => {
            Err(format!("not a whole number from {least} to {most}"))
        }
        // In a range with an end, the message above says it already.
        (Err(error), ..) if *error.kind() == IntErrorKind::PosOverflow => Err("too large".into()),
        (_, Bound::Included(least), _) => {
            Err(format!("not a whole number that is {least} or more"))
        }
        _ => Err("not a whole number".into()),
    }
}

/// A number of seconds: digits, and s, m, h, d or w for seconds, minutes, hours, days or weeks.
pub(crate) fn age(text: &str) -> Result<u64, String> {
    let unit = |letter: char| match letter {
        's' => Some(1u64),
        'm' => Some(60),
        'h' => Some(60 * 60),
        'd' => Some(24 * 60 * 60),
        'w' => Some(7 * 24 * 60 * 60),
        _ => None,
    };
    let unit = text.chars().last().and_then(unit);
    // The last character may have several bytes, and then there is no such slice.
    let digits = text.get(..text.len().saturating_sub(1)).unwrap_or_default();
    times(digits, unit, "not a number of s, m, h, d or w, like 12h, 30d or 2w")
}

/// A number of units, or why there is none.
fn times(digits: &str, unit: Option<u64>, malformed: &str) -> Result<u64, String> {
    // `parse` alone would take a sign, too.
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let unit = unit.filter(|_| is_number).ok_or(malformed)?;
    let number: Option<u64> = digits.parse().ok();
    number.and_then(|number| number.checked_mul(unit)).ok_or_else(|| "too large".into())
}

/// A day, whose first second counts, a time of RFC 3339, or an age, which ends now; in seconds since 1970.
pub(crate) fn time(text: &str) -> Result<i64, String> {
    let error = "not a time like 2026-11-27, 2026-11-27T08:00:00Z or 12h";
    let time = match text.as_bytes() {
        // Only an age ends in such a letter. A date ends in a digit or in Z.
        [.., b's' | b'm' | b'h' | b'd' | b'w'] => {
            let age = i64::try_from(age(text).map_err(|_| error)?).map_err(|_| error)?;
            UnixTime::now().0.try_into().ok().and_then(|now: i64| now.checked_sub(age))
        }
        [_, _, _, _, b'-', ..] if text.len() == 10 => parse_time(&format!("{text}T00:00:00Z")),
        [_, _, _, _, b'-', ..] => parse_time(text),
        _ => None,
    };
    time.ok_or_else(|| error.into())
}

/// What `--wait` chooses.
pub(crate) fn when_busy(wait: bool) -> WhenBusy {
    if wait { WhenBusy::Wait } else { WhenBusy::Fail }
}

/// A number of bytes: digits, and K, M, G, KiB, MiB or GiB for powers of 1024, or kB, MB or GB for powers of
/// 1000.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" => Some(1u64),
        // As for dd and sort: K is a power of 1024, and kB one of 1000.
        "k" | "kib" => Some(1 << 10),
        "m" | "mib" => Some(1 << 20),
        "g" | "gib" => Some(1 << 30),
        "kb" => Some(1_000),
        "mb" => Some(1_000_000),
        "gb" => Some(1_000_000_000),
        _ => None,
    };
    times(digits, unit, "not a number of bytes, like 65536, 64K, 1M, 2GiB or 2GB")
}
