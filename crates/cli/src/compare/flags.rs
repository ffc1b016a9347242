//! The arguments of `uniqurl compare`.

use clap::error::ErrorKind;
use clap::{ArgAction, Args};

use crate::choices::Foreign;
use crate::flags::{Common, OUTPUT, ProfileParser, RULES, usage};
use crate::paint::Color;
use uniqurl::{NoSuchChoice, Normalizer, Profile};

/// What `--output`, `--redact` and `--ring` do here; of a set and of `normalize` the first two do more, and
/// the last one chooses the profile.
pub(crate) const OUTPUT_HELP: &str = "Write to FILE, whole or not at all, compressed if it ends in \
                                         .gz or .zst; -: standard output";
pub(crate) const REDACT_HELP: &str =
    "Mask userinfo, values of queries and fragments in what --profiles lists";
pub(in crate) const RING_HELP: &str =
    "Decode and encode these bytes of a path, as in 'decode=2F,3A encode=21,24'

Bytes are in hexadecimal, and either list may be left out. It can name these sixteen, each in one \
     list: : / [ ] @ ! $ & ' ( ) * + , ; = (the others of them stay as they are spelled). It is for the \
     profile ring, which --profiles has to name.";

/// `uniqurl compare`
#[derive(Debug, Args)]
#[command(
    override_usage = "uniqurl compare [OPTIONS] URL URL\n       \
                      uniqurl compare --profiles A,B [OPTIONS] [FILE]...",
    after_help = "\
Examples:
  uniqurl compare http://example.com 'HTTP://Example.com:80/#top'
  if uniqurl compare -q \"$a\" \"$b\" > /dev/null; then echo the same; fi
  uniqurl compare --profiles syntax,crawl links.txt
  uniqurl compare --profiles crawl,ia --json access.log

Two URLs: the name of the lowest rung at which they are the same goes to standard output, one of
string, syntax, scheme, crawl, aggressive and different; why it is not a lower one goes to standard
error.
--profiles: the URLs of FILEs for which the two profiles name different hosts, give different
forms, or which only one of them rejects, and the counts of them on standard error. --redact masks
userinfo, values of queries and fragments in them.

Exit status: 0 the same; 1 different, or an input was skipped (--keep-going); 2 failed or wrong
usage; 3 stopped by a limit, such as --max-rejected; 141 the reader of a pipe is gone."
)]
pub struct Compare {
    /// List the URLs of inputs that these two profiles read differently
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        value_parser = ProfileParser::new(),
        hide_possible_values = true,
        help_heading = RULES
    )]
    pub profiles: Vec<&'static Profile>,

    /// Write JSON: an object for the two URLs, or one for each URL that is listed
    #[arg(long, action = ArgAction::SetTrue, help_heading = OUTPUT)]
    pub json: bool,

    /// When to write colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = Color::Auto, help_heading = OUTPUT)]
    pub color: Color,

    /// The options that all subcommands with inputs have.
    #[command(flatten)]
    pub common: Common,
}

/// What is said of a choice that none of the rungs has, of which nobody has named one.
fn none_of_the_ladder(lacking: NoSuchChoice) -> String {
    let wanted = match lacking {
        NoSuchChoice::Ring(_) => "takes a ring".to_owned(),
        NoSuchChoice::Check(_, code) => format!("makes a check {}", code.name()),
        NoSuchChoice::Switch(_, switch) => format!("has a switch {}", switch.name()),
        other => return other.to_string(),
    };
    format!("no rung of the ladder {wanted}; with --profiles A,B name a profile that does")
}

/// What is to be compared.
pub enum Compared<'a> {
    /// Two URLs, under each rung.
    Urls([&'a [u8]; 2]),
    /// Two profiles, on each URL of the inputs.
    Profiles([Box<Normalizer>; 2]),
}

impl Compare {
    /// What is to be compared, or a usage error.
    pub fn compared(&self) -> Result<Compared<'_>, clap::Error> {
        let wrong = |kind, message: &str| Err(usage("compare", kind, message));
        match (&self.profiles[..], &self.common.files[..]) {
            ([], [a, b]) => match self.common.choices().are_had_by(Profile::LADDER) {
                Ok(()) => Ok(Compared::Urls([a, b].map(|url| url.as_os_str().as_encoded_bytes()))),
                Err(lacking) => wrong(ErrorKind::ValueValidation, &none_of_the_ladder(lacking)),
            },
            ([], _) => wrong(
                ErrorKind::WrongNumberOfValues,
                "two URLs are compared; --profiles A,B compares what two profiles make of inputs",
            ),
            ([a, b], _) if a != b => {
                let choices = self.common.choices();
                let made = |profile| {
                    let normalizer = choices.normalizer(profile, Foreign::IsLeft)?;
                    Ok::<_, String>(Box::new(normalizer.with_backend(self.common.backend)))
                };
                let made = choices
                    .are_had_by(&self.profiles)
                    .map_err(|error| error.to_string())
                    .and_then(|()| Ok(Compared::Profiles([made(a)?, made(b)?])));
                made.or_else(|message| wrong(ErrorKind::ValueValidation, &message))
            }
            _ => wrong(
                ErrorKind::WrongNumberOfValues,
                "--profiles takes two different profiles, as in --profiles crawl,ia",
            ),
        }
    }

    /// The rungs of the ladder, finest first.
    ///
    /// # Errors
    ///
    /// What is wrong, in words.
    pub fn rungs(&self) -> Result<Vec<Normalizer>, String> {
        let made =
            |profile: &&'static Profile| self.common.choices().normalizer(profile, Foreign::IsLeft);
        Profile::LADDER.iter().map(made).collect()
    }
}
