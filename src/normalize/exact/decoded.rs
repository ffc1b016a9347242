//! The second result of a URL under `servlet`: the path that the container maps.

use std::borrow::Cow;

use crate::bytes::{Reject, Troubles};
use crate::normalize::exact::system::read;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::parts::Parts;
use crate::normalize::ruleset::Ruleset;
use crate::normalize::trace::NoTrace;
use crate::profile::System;
use crate::simd::UrlKind;

impl Normalizer {
    /// Appends the decoded path of `url`: under `servlet`, the path that the container maps. It may hold any
    /// bytes, and holds at least one. Under any other profile there is none, and nothing is appended.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let servlet = Normalizer::new(Profile::Servlet);
    /// let mut out = Vec::new();
    /// servlet.decoded(b"http://h/a;v=1/./%20b?q", &mut out)?;
    /// assert_eq!(out, b"/a/ b");
    /// # Ok::<(), uniqurl::Reject>(())
    /// ```
    ///
    /// Scheme and authority are not checked, so the result is meaningful only if `url` has a canonical form.
    ///
    /// # Errors
    ///
    /// The rejection, if the path cannot be decoded.
    pub fn decoded(&self, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        self.decoded_as(UrlKind::Absolute, url, out)
    }
}

// What the other crates of this repository ask, and nobody else.
#[doc(hidden)]
impl Normalizer {
    /// Whether URLs have a second result, [`Normalizer::decoded`]: all of them under `servlet`, and those of
    /// hosts whose rules a profile file bases on it.
    pub fn has_decoded(&self) -> bool {
        self.all_rules().any(|rules| rules.profile.system == System::Servlet)
    }

    /// The same for a URL or a target.
    ///
    /// # Errors
    ///
    /// The rejection, if the path cannot be decoded.
    pub fn decoded_as(&self, kind: UrlKind, url: &[u8], out: &mut Vec<u8>) -> Result<(), Reject> {
        if let Some(end) = self.redirected(kind, url) {
            let rules = match kind {
                UrlKind::Absolute => self.rules_for(&end),
                UrlKind::Target => Cow::Borrowed(&self.rules),
            };
            // A chain may lead from a target to a URL, so its end is read as one.
            return rules.decode(&read(UrlKind::Absolute, &end), out);
        }
        match &self.hosts {
            Some(hosts) if kind == UrlKind::Absolute => self.decoded_by_host(hosts, url, out),
            _ => self.rules.decoded(url, kind, out),
        }
    }
}

impl Ruleset {
    /// Like [`Normalizer::decoded_as`], by these rules and without redirects.
    pub(in crate::normalize) fn decoded(
        &self,
        url: &[u8],
        kind: UrlKind,
        out: &mut Vec<u8>,
    ) -> Result<(), Reject> {
        #[cfg(feature = "transcode")]
        if let Some(transcoded) = self.transcoded(url, kind) {
            return self
                .decoded_as_it_is(&transcoded.url, kind, out)
                .map_err(|reject| transcoded.reject(reject));
        }
        self.decoded_as_it_is(url, kind, out)
    }

    fn decoded_as_it_is(&self, url: &[u8], kind: UrlKind, out: &mut Vec<u8>) -> Result<(), Reject> {
        let front = self.assume_for(kind, url);
        self.decode(&read(kind, &front.text), out).map_err(|reject| front.reject(reject))
    }

    fn decode(&self, parts: &Parts<'_>, out: &mut Vec<u8>) -> Result<(), Reject> {
        if self.profile.system == System::Servlet {
            let mut troubles = Troubles::new(self.allowed);
            let path = self.servlet_path(parts, &mut troubles, &mut NoTrace);
            troubles.result()?;
            path.write_decoded(out);
        }
        Ok(())
    }
}
