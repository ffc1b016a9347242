//! Reasons to reject a URL: codes, sets of codes, and the offset of the first fault.

use std::fmt;

use super::FlagSet;
use super::names::{flags, names};

/// Why a URL has no canonical form, and where the fault starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Reject {
    /// The reason. If there are several, the one whose fault starts first.
    pub code: RejectReason,
    /// Byte offset in the original URL, before anything was trimmed.
    pub at: usize,
    /// All reasons, including [`code`](Self::code). The profiles of the ladder give one; `servlet` and
    /// `sanitize` give all that apply.
    pub codes: RejectReasons,
}

impl Reject {
    /// All reasons: first [`code`](Self::code), to which [`at`](Self::at) belongs, then the others in
    /// the order of [`RejectReason::ALL`].
    pub fn in_order(&self) -> impl Iterator<Item = RejectReason> + Clone + use<> {
        let (code, codes) = (self.code, self.codes);
        std::iter::once(code).chain(codes.iter().filter(move |other| *other != code))
    }
}

// What the other crates of this repository ask, and nobody else.
#[doc(hidden)]
impl Reject {
    /// A rejection for one reason.
    pub const fn new(code: RejectReason, at: usize) -> Self {
        Self { code, at, codes: RejectReasons::of(&[code]) }
    }

    /// The same rejection, with its offset mapped by `place`.
    pub fn moved(self, place: impl FnOnce(usize) -> usize) -> Self {
        Self { at: place(self.at), ..self }
    }
}

impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: {}", self.code.name(), self.at, self.code.sentence())?;
        for other in self.in_order().skip(1) {
            write!(f, "; {}: {}", other.name(), other.sentence())?;
        }
        Ok(())
    }
}

impl std::error::Error for Reject {}

/// A set of codes.
pub type RejectReasons = FlagSet<RejectReason>;

/// Collects the faults of one URL: all their codes, and the first fault.
#[derive(Debug, Clone, Copy)]
pub struct Troubles {
    allowed: RejectReasons,
    reject: Option<Reject>,
}

impl Troubles {
    /// No faults so far. Faults with an allowed code are ignored.
    pub fn new(allowed: RejectReasons) -> Self {
        Self { allowed, reject: None }
    }

    /// True if faults with this code are ignored.
    pub fn allow(&self, code: RejectReason) -> bool {
        self.allowed.contains(code)
    }

    /// Adds a fault; the order of calls does not matter. At equal offsets the code listed first wins.
    pub fn add(&mut self, code: RejectReason, at: usize) {
        if !self.allowed.contains(code) {
            self.join(Reject::new(code, at));
        }
    }

    /// Adds a rejection, even if its code is allowed.
    pub fn join(&mut self, reject: Reject) {
        self.reject = Some(match self.reject {
            None => reject,
            Some(known) => {
                let first =
                    if (reject.at, reject.code) < (known.at, known.code) { reject } else { known };
                Reject { codes: known.codes.or(reject.codes), ..first }
            }
        });
    }

    /// Adds the rejection of `result`, if it has one.
    pub fn join_result(&mut self, result: Result<(), Reject>) {
        if let Err(reject) = result {
            self.join(reject);
        }
    }

    /// The first fault with the codes of all, or `Ok`.
    pub fn result(self) -> Result<(), Reject> {
        self.reject.map_or(Ok(()), Err)
    }
}

names! {
    /// The reasons for which a record yields no canonical URL.
    ///
    /// ```
    /// use uniqurl::RejectReason;
    ///
    /// assert_eq!("port-range".parse::<RejectReason>(), Ok(RejectReason::PortRange));
    /// assert!("Port".parse::<RejectReason>().is_err());
    /// ```
    RejectReason "code"
    Empty "empty" "nothing is left after trimming"
    Relative "relative" "a relative reference, and no base that resolves it"
    Scheme "scheme" "the part before the first colon is not a scheme"
    NoAuthority "no-authority" "this scheme needs // and a host after its colon"
    Byte "byte" "a byte that the grammar does not allow here"
    Escape "escape" "a percent sign that no two hexadecimal digits follow"
    Host "host" "a backslash, brackets without a valid IP literal, or a number that is no IP address"
    Port "port" "a port that is not all digits"
    PortRange "port-range" "a port above 65535"
    EmptyHost "empty-host" "this scheme needs a host, and it is empty"
    Idna "idna" "a host that UTS 46 ToASCII refuses"
    Newline "newline" "a carriage return or line feed inside the URL"
    TooLong "too-long" "longer than a URL may be"
    AsteriskForm "asterisk-form" "the target * names the server, not a resource"
    AuthorityForm "authority-form" "a CONNECT target names a host and port, not a resource"
    LogSyntax "log-syntax" "not a line of this log format, or no HTTP request in it"
    Truncated "truncated" "the quoted request never closes: the logger cut it"
    NoField "no-field" "the record lacks the field that holds the URL"
    NoHost "no-host" "the key is made from the host, and the URL has none"
    Fragment "fragment" "a request target holds no fragment"
    Decode "decode" "a triplet that is none, or a segment that does not decode to UTF-8"
    NoLeadingSlash "no-leading-slash" "a path that does not start with a slash"
    LeadingDotDot "leading-dot-dot" "the path leads above the root"
    EncodedSlash "encoded-slash" "a slash as %2F, which some take for a separator"
    DotSegmentParameter "dot-segment-parameter" "a dot segment with a parameter"
    EncodedDotSegment "encoded-dot-segment" "a dot segment with encoded dots"
    EmptySegmentBeforeDotDot "empty-segment-before-dot-dot" "a .. that removes an empty segment"
    EmptySegmentParameter "empty-segment-parameter" "an empty segment with a parameter"
    Backslash "backslash" "a backslash, which some take for a slash"
    Control "control" "a control character"
    EncodedUnreserved "encoded-unreserved" "a letter, digit or one of -._ as a triplet"
    EncodedBackslash "encoded-backslash" "a backslash as %5C, which some take for a slash"
    Nul "nul" "a NUL as %00, where some stop reading"
    DoubleEncoding "double-encoding" "a triplet whose percent sign is encoded once more"
    OverlongUtf8 "overlong-utf8" "a character in more UTF-8 bytes than it needs"
    RareIpv4 "rare-ipv4" "an IPv4 address in a form other than four plain decimal numbers"
    Userinfo "userinfo" "something before an @ that may look like the host"
    WellKnownPort "well-known-port" "a port below 1024 that is not the scheme's own"
    DeviceName "device-name" "a segment that Windows takes for a device or a directory above"
    BidiControl "bidi-control" "a character that changes the direction of the text around it"
    MixedScriptHost "mixed-script-host" "a label of the host mixes letters of several scripts"
    DoubleEncodingQuery "double-encoding-query" "a triplet encoded once more, after the path"
}

flags!(RejectReason);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_displayed_by_name_and_padded() {
        assert_eq!(
            format!("{:>6}|{:<6}|", RejectReason::Byte, RejectReason::Idna),
            "  byte|idna  |"
        );
    }

    #[test]
    fn rejection_reports_the_first_position_in_any_order_of_discovery() {
        let found = [
            (RejectReason::Control, 5),
            (RejectReason::Backslash, 3),
            (RejectReason::Decode, 3),
            (RejectReason::Nul, 9),
        ];
        for start in 0..found.len() {
            let mut troubles = Troubles::new(RejectReasons::from(RejectReason::Nul));
            for i in 0..found.len() {
                let (code, at) = found[(start + i) % found.len()];
                troubles.add(code, at);
            }
            let reject = troubles.result().unwrap_err();
            assert_eq!((reject.code, reject.at), (RejectReason::Decode, 3));
            let all: Vec<_> = reject.in_order().map(RejectReason::name).collect();
            assert_eq!(all, ["decode", "backslash", "control"]);
        }
        assert_eq!(Troubles::new(RejectReasons::NONE).result(), Ok(()));
    }

    #[test]
    fn rejection_displays_its_position_and_every_code() {
        let codes = RejectReasons::from([RejectReason::Nul, RejectReason::Control]);
        let reject = Reject { code: RejectReason::Nul, at: 7, codes };
        assert_eq!(
            reject.to_string(),
            format!(
                "nul at byte 7: {}; control: {}",
                RejectReason::Nul.sentence(),
                RejectReason::Control.sentence()
            )
        );
    }

    #[test]
    fn code_set_contains_exactly_its_codes() {
        let codes = [RejectReason::Port, RejectReason::Byte];
        let set = RejectReasons::from(codes);
        assert_eq!(set, codes.into_iter().collect());
        assert_eq!(set, RejectReasons::from(RejectReason::Byte).or(RejectReason::Port.into()));
        for code in RejectReason::ALL {
            assert_eq!(set.contains(*code), codes.contains(code));
        }
        assert_eq!(format!("{set:?}"), r#"{"byte", "port"}"#);
        assert!(RejectReasons::NONE.is_empty() && !set.is_empty());
    }

    #[test]
    fn every_code_is_found_by_its_name() {
        for code in RejectReason::ALL {
            assert_eq!(code.to_string().parse::<RejectReason>(), Ok(*code));
        }
    }
}
