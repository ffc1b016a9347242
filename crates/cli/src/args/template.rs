//! The option that changes templates.

use crate::args::help::RULES;
use clap::{ArgAction, Args};

use uniqurl::{Key, Template};

/// How templates are made.
#[derive(Debug, Clone, Args)]
pub struct TemplateArgs {
    /// Write {locale} in templates for segments such as en and pt-BR
    ///
    /// This also replaces short words that are codes of languages, such as is, no and to.
    #[arg(
        long = "template-locales",
        action = ArgAction::SetTrue,
        hide_short_help = true,
        help_heading = RULES
    )]
    has_locales: bool,
}

impl TemplateArgs {
    /// How templates are made.
    pub(crate) fn template(&self) -> Template {
        if self.has_locales { Template::with_locales() } else { Template::new() }
    }

    /// The key of this name, made so.
    pub(crate) fn applied_to(&self, named: Key) -> Key {
        match named {
            Key::Template(_) => Key::Template(self.template()),
            key => key,
        }
    }
}
