//! The options of a normalizer, one call for each.

use std::fmt::Display;

use library::{Builder, Normalizer, Profile, RejectReason, Ring, Switch};
use wasm_bindgen::prelude::*;

use crate::rules::Rules;

/// The options so far.
#[wasm_bindgen]
pub struct Options {
    /// `None` after [`Options::build`], and after an error, with which JavaScript drops the options.
    builder: Option<Builder>,
    dropped: Vec<String>,
    kept: Option<Vec<String>>,
}

#[wasm_bindgen]
impl Options {
    /// The options of a built-in profile.
    ///
    /// # Errors
    ///
    /// There is no such profile.
    #[wasm_bindgen(constructor)]
    pub fn new(profile: &str) -> Result<Self, JsError> {
        let unknown =
            |unknown| Profile::unknown_version(profile).unwrap_or_else(|| format!("{unknown}"));
        Ok(Self::from(Normalizer::builder(profile.parse().map_err(unknown).map_err(error)?)))
    }

    /// The options of a profile file.
    ///
    /// # Errors
    ///
    /// The text is no profile file.
    #[wasm_bindgen(js_name = ofFile)]
    pub fn of_file(text: &str) -> Result<Self, JsError> {
        Ok(Self::from(Builder::from(Normalizer::from_profile_file(text).map_err(error)?)))
    }

    /// Adds an option of JavaScript. Those that hold lists come once for each value.
    ///
    /// # Errors
    ///
    /// There is no such option or value.
    pub fn set(&mut self, option: &str, value: &str) -> Result<(), JsError> {
        let builder = self.builder.take().expect("options are set before they are built");
        self.builder = Some(match option {
            "with" => builder.with([value.parse::<Switch>().map_err(error)?]),
            "without" => builder.without([value.parse::<Switch>().map_err(error)?]),
            "allow" => builder.allow([value.parse::<RejectReason>().map_err(error)?]),
            "deny" => builder.deny([value.parse::<RejectReason>().map_err(error)?]),
            "ring" => builder.ring(Ring::parse(value).map_err(error)?),
            "assumeScheme" => builder.assume_scheme(value.as_bytes()),
            "base" => builder.base(value.as_bytes()),
            "dropParams" => {
                self.dropped.push(value.to_owned());
                builder
            }
            "keepParams" => {
                self.kept.get_or_insert_default().push(value.to_owned());
                builder
            }
            _ => return Err(JsError::new(&format!("unknown option `{option}`"))),
        });
        Ok(())
    }

    /// The rules that these options make.
    ///
    /// # Errors
    ///
    /// The profile does not support one of them.
    pub fn build(mut self) -> Result<Rules, JsError> {
        let mut builder = self.builder.take().expect("options are built once");
        // A second call replaces the patterns of the first.
        if !self.dropped.is_empty() {
            builder = builder.drop_parameters(&self.dropped);
        }
        if let Some(kept) = &self.kept {
            builder = builder.keep_parameters(kept);
        }
        Ok(Rules::from(builder.build().map_err(error)?))
    }
}

impl From<Builder> for Options {
    fn from(builder: Builder) -> Self {
        Self { builder: Some(builder), dropped: Vec::new(), kept: None }
    }
}

/// The error that JavaScript throws for a wrong option.
fn error(error: impl Display) -> JsError {
    JsError::new(&error.to_string())
}
