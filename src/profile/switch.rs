//! The switches of profiles.

use std::fmt;
use std::str::FromStr;

use crate::bytes::UnknownName;

/// A set of switches.
///
/// ```
/// use uniqurl::{Profile, Switch};
///
/// let on = Profile::AGGRESSIVE.switches();
/// assert!(on.contains(Switch::SortQuery) && !on.contains(Switch::DropQuery));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Switches(u16);

const _: () = assert!(Switch::ALL.len() <= 16, "a set of switches is one word");

impl Switches {
    /// No switch.
    pub const NONE: Switches = Switches(0);

    /// The set of exactly these switches.
    pub const fn of(switches: &[Switch]) -> Self {
        let mut bits = 0;
        let mut i = 0;
        while i < switches.len() {
            bits |= 1 << switches[i] as u8;
            i += 1;
        }
        Self(bits)
    }

    /// True if the set contains the switch.
    #[inline]
    pub const fn contains(self, switch: Switch) -> bool {
        self.0 >> switch as u8 & 1 == 1
    }

    /// True if the set holds no switch.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The switches of either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The switches of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The switches of this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The switches, in the order of [`Switch::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Switch> + Clone {
        Switch::ALL.iter().copied().filter(move |switch| self.contains(*switch))
    }
}

impl From<Switch> for Switches {
    fn from(switch: Switch) -> Self {
        Self::of(&[switch])
    }
}

impl FromIterator<Switch> for Switches {
    fn from_iter<I: IntoIterator<Item = Switch>>(switches: I) -> Self {
        switches.into_iter().fold(Self::NONE, |set, switch| set.or(switch.into()))
    }
}

/// Prints the name.
impl fmt::Display for Switch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Parses the name.
impl FromStr for Switch {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Self::named(name).ok_or_else(|| UnknownName::new(name, "switch", Self::ALL))
    }
}

/// Prints the names between commas, as the options of the command take them.
impl fmt::Display for Switches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, switch) in self.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { "," }, switch.name())?;
        }
        Ok(())
    }
}

/// Parses names between commas; the empty text is no switch.
impl FromStr for Switches {
    type Err = UnknownName;

    fn from_str(names: &str) -> Result<Self, UnknownName> {
        match names {
            "" => Ok(Self::NONE),
            names => names.split(',').map(Switch::from_str).collect(),
        }
    }
}

impl fmt::Debug for Switches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Switch::name)).finish()
    }
}

macro_rules! switches {
    ($($variant:ident $name:literal $sentence:literal)*) => {
        /// An optional step of a profile
        /// ([`Normalizer::with_switches`](crate::Normalizer::with_switches)).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Switch {
            $(#[doc = concat!("`", $name, "`: ", $sentence, ".")] $variant,)*
        }

        impl Switch {
            /// Every switch: first those that keep something, then the others in the order of their
            /// steps.
            pub const ALL: &[Switch] = &[$(Switch::$variant),*];

            /// The name, as in options and profile files.
            pub const fn name(self) -> &'static str {
                match self { $(Switch::$variant => $name),* }
            }

            /// The switch of this name.
            pub fn named(name: &str) -> Option<Switch> {
                Switch::ALL.iter().copied().find(|switch| switch.name() == name)
            }

            /// A short description of its effect.
            pub const fn sentence(self) -> &'static str {
                match self { $(Switch::$variant => $sentence),* }
            }
        }
    };
}

switches! {
    KeepUserinfo "keep-userinfo" "credentials stay"
    KeepFragment "keep-fragment" "the fragment stays"
    FoldScheme "fold-scheme" "https becomes http where no port is left"
    StripWww "strip-www" "www. goes from the front of a host while two labels remain"
    LowerPath "lower-path" "the path goes to lower case, but for triplets"
    SqueezeSlashes "squeeze-slashes" "empty segments of the path go"
    StripSession "strip-session" "session ids go from path and query"
    StripIndex "strip-index" "index.html and kin go from the end of the path"
    StripTrailingSlash "strip-trailing-slash" "slashes at the end of the path go, but for the root"
    DropQuery "drop-query" "the query goes"
    StripTracking "strip-tracking" "parameters of the tracking list go"
    BlankValues "blank-values" "parameters keep their names and lose their values"
    SqueezeQuery "squeeze-query" "empty queries and blank parameters go"
    SortQuery "sort-query" "parameters are sorted by name, equal ones in the order they came in"
    KeepEmptySegments "keep-empty-segments" "empty segments of a servlet's path stay"
}

/// Kept by the profiles that compare URLs as identifiers.
pub(crate) const KEPT: Switches = Switches::of(&[Switch::KeepUserinfo, Switch::KeepFragment]);

/// The steps that follow a rung of the ladder.
pub(crate) const STEPS: Switches = Switches::of(&[
    Switch::FoldScheme,
    Switch::StripWww,
    Switch::LowerPath,
    Switch::SqueezeSlashes,
    Switch::StripSession,
    Switch::StripIndex,
    Switch::StripTrailingSlash,
    Switch::DropQuery,
    Switch::StripTracking,
    Switch::BlankValues,
    Switch::SqueezeQuery,
    Switch::SortQuery,
]);

/// The switches of `aggressive` beyond `crawl`. The others cost more than they find: dropping whole
/// queries or all values in them, folding the case of paths, and folding a scheme that is needed for
/// retrieval.
pub(crate) const AGGRESSIVE: Switches = STEPS.without(Switches::of(&[
    Switch::DropQuery,
    Switch::BlankValues,
    Switch::LowerPath,
    Switch::FoldScheme,
]));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_found_by_name() {
        for switch in Switch::ALL {
            assert_eq!(Switch::named(&switch.to_string()), Some(*switch));
            assert!(Switches::from(*switch).iter().eq([*switch]));
        }
        assert_eq!(Switch::named("Sort-Query"), None);
    }
}
