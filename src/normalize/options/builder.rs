//! All options of a normalizer in one place, so that their order does not matter.

use crate::bytes::RejectReason;
#[cfg(feature = "transcode")]
use crate::normalize::Charset;
use crate::normalize::normalizer::Normalizer;
use crate::normalize::options::unsupported::UnsupportedOption;
use crate::profile::{Profile, Ring, Switch};

/// The options of a [`Normalizer`]: [`Normalizer::builder`].
///
/// ```
/// use uniqurl::{Normalizer, Profile, Switch};
///
/// let links = Normalizer::builder(Profile::Crawl)
///     .base(b"http://example.com/shop/")
///     .with([Switch::SortQuery])
///     .drop_parameters(["utm_*"])
///     .build()?;
/// assert_eq!(links.normalize_str("item?b=2&utm_source=x&a=1")?, "http://example.com/shop/item?a=1&b=2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The base is normalized by all other options, wherever it stands. Of two options that contradict each
/// other, such as [`with`](Self::with) and [`without`](Self::without) the same switch, the later one holds.
/// The first option that the profile does not support is the error of [`build`](Self::build).
///
/// A normalizer, also one from a profile file, can be taken as the start: `Builder::from(normalizer)`. Its
/// base, if it has one, is dropped.
#[derive(Debug, Clone)]
#[must_use]
pub struct Builder {
    normalizer: Result<Normalizer, UnsupportedOption>,
    base: Option<Vec<u8>>,
}

impl Normalizer {
    /// A normalizer of this profile, with options.
    pub fn builder(profile: Profile) -> Builder {
        Normalizer::new(profile).into()
    }
}

impl From<Normalizer> for Builder {
    fn from(mut normalizer: Normalizer) -> Self {
        // It was normalized by options that may change now.
        normalizer.rules.base = None;
        Self { normalizer: Ok(normalizer), base: None }
    }
}

impl Builder {
    fn and(self, option: impl FnOnce(Normalizer) -> Result<Normalizer, UnsupportedOption>) -> Self {
        Self { normalizer: self.normalizer.and_then(option), ..self }
    }

    /// Turns these switches on: see [`Profile::switchable`].
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Switch};
    ///
    /// let sorted = Normalizer::builder(Profile::Scheme).with([Switch::SortQuery]).build()?;
    /// assert_eq!(sorted.normalize_str("http://h?b=2&a=1&b=1#f")?, "http://h/?a=1&b=2&b=1#f");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with(self, switches: impl IntoIterator<Item = Switch>) -> Self {
        self.and(|normalizer| normalizer.with_switches(switches))
    }

    /// Turns these switches off: see [`Profile::switchable`].
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, Switch};
    ///
    /// let with_www = Normalizer::builder(Profile::Aggressive).without([Switch::StripWww]).build()?;
    /// let url = with_www.normalize_str("http://www.example.com/index.html")?;
    /// assert_eq!(url, "http://www.example.com/");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn without(self, switches: impl IntoIterator<Item = Switch>) -> Self {
        self.and(|normalizer| normalizer.without_switches(switches))
    }

    /// Switches off these checks of the profile, as a container or a filter may: see [`Profile::checks`].
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, RejectReason};
    ///
    /// let servlet = Normalizer::new(Profile::Servlet);
    /// let reject = servlet.normalize_str("/a%2Fb\\c").unwrap_err();
    /// assert_eq!(reject.codes, [RejectReason::EncodedSlash, RejectReason::Backslash].into());
    ///
    /// let lax = [RejectReason::EncodedSlash, RejectReason::Backslash];
    /// let servlet = Normalizer::builder(Profile::Servlet).allow(lax).build()?;
    /// assert_eq!(servlet.normalize_str("/a%2Fb\\c")?, "/a%2Fb%5Cc");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn allow(self, codes: impl IntoIterator<Item = RejectReason>) -> Self {
        self.and(|normalizer| normalizer.with_allowed(codes))
    }

    /// Switches on these checks of the profile: those of [`Profile::checks`] that are off by default.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, RejectReason};
    ///
    /// let strict = [RejectReason::DeviceName];
    /// let sanitize = Normalizer::builder(Profile::Sanitize).deny(strict).build()?;
    /// let reject = sanitize.normalize_str("http://h/aux").unwrap_err();
    /// assert_eq!((reject.code, reject.at), (RejectReason::DeviceName, 9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn deny(self, codes: impl IntoIterator<Item = RejectReason>) -> Self {
        self.and(|normalizer| normalizer.with_denied(codes))
    }

    /// Drops the query parameters whose name matches one of these patterns, in which `*` stands for any
    /// bytes and `?` for any one byte. Names are compared with their triplets decoded, and case matters. A
    /// second call replaces the patterns. Of `scheme`, `crawl` and `aggressive` only.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile};
    ///
    /// let crawl = Normalizer::builder(Profile::Crawl).drop_parameters(["ref", "f[*]"]).build()?;
    /// assert_eq!(crawl.normalize_str("http://h/?f[a]=1&id=2&ref=3&REF")?, "http://h/?id=2&REF");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn drop_parameters(self, patterns: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        self.and(|normalizer| normalizer.with_dropped_parameters(patterns))
    }

    /// Drops all query parameters except those whose name matches one of these patterns, which are as for
    /// [`drop_parameters`](Self::drop_parameters). Without patterns, all parameters are dropped.
    pub fn keep_parameters(self, patterns: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        self.and(|normalizer| normalizer.with_kept_parameters(patterns))
    }

    /// Uses this ring in place of the default one of [`Profile::Ring`], which alone takes one.
    pub fn ring(self, ring: Ring) -> Self {
        self.and(|normalizer| normalizer.with_ring(ring))
    }

    /// Reads triplets that are not UTF-8 in this charset, and rewrites them as UTF-8 before the profile acts.
    /// Not of `string`, `ia` and `whatwg`.
    ///
    /// The unit is a run of octets between two delimiters, or between other octets that are never part of
    /// a longer character (0x00-0x2F, 0x3A-0x3F), raw or as triplets. A run that is valid UTF-8 stays.
    /// Any other run is decoded in the charset as a whole, even if a part of it looks like UTF-8.
    /// A run that the charset cannot decode stays too. Raw bytes of 0x80 or above count as octets
    /// if the profile does not reject them.
    ///
    /// ```
    /// use uniqurl::{Normalizer, Profile, uri::Charset};
    ///
    /// let crawl = Normalizer::builder(Profile::Crawl).charset(Charset::LATIN_1).build()?;
    /// let url = crawl.normalize_str("http://h/%F6re%26bro/%C3%B6")?;
    /// assert_eq!(url, "http://h/%C3%B6re%26bro/%C3%B6");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "transcode")]
    pub fn charset(self, charset: Charset) -> Self {
        self.and(|normalizer| normalizer.with_charset(charset))
    }

    /// Prepends `scheme://` (or `scheme:` before `//`) to a URL without a scheme.
    ///
    /// A URL lacks a scheme if none is found, or if the text before the first colon holds a dot, is
    /// `localhost` or is no scheme, and no `//` follows: `example.com:80/x`, `[::1]:8080/x`, `//h/x`. Text
    /// that starts with a single `/`, with `?` or with `#` stays a relative reference.
    pub fn assume_scheme(self, scheme: &[u8]) -> Self {
        self.and(|normalizer| normalizer.with_assumed_scheme(scheme))
    }

    /// Resolves relative references against `base`: see [`Normalizer::with_base`].
    pub fn base(self, base: &[u8]) -> Self {
        Self { base: Some(base.to_vec()), ..self }
    }

    /// The normalizer.
    ///
    /// # Errors
    ///
    /// The profile does not support one of the options, or rejects the base or the assumed scheme. Or the
    /// rules come from a profile file that gives single hosts their own rules, which the option would not
    /// reach.
    pub fn build(self) -> Result<Normalizer, UnsupportedOption> {
        let normalizer = self.normalizer?;
        match self.base {
            Some(base) => normalizer.with_base(&base),
            None => Ok(normalizer),
        }
    }
}
