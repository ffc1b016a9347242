//! Sets of the values of an enum, as the bits of one word.

use std::fmt;
use std::marker::PhantomData;

/// A value that a [`FlagSet`] may contain. Its bit is its place in `ALL`.
pub trait Flag: Copy + Into<FlagSet<Self>> + 'static {
    /// Every value, in order.
    const ALL: &'static [Self];

    /// The name of the value.
    fn name(self) -> &'static str;
}

/// A set of the values of an enum: [`RejectReasons`](crate::RejectReasons) and
/// [`Switches`](crate::Switches).
///
/// ```
/// use uniqurl::{Profile, RejectReason, RejectReasons, Switch};
///
/// let codes = RejectReasons::from([RejectReason::Port, RejectReason::Byte]);
/// assert!(codes.contains(RejectReason::Byte) && !codes.contains(RejectReason::Host));
/// assert_eq!(codes.iter().map(RejectReason::name).collect::<Vec<_>>(), ["byte", "port"]);
///
/// let on = Profile::Aggressive.switches();
/// assert!(on.contains(Switch::SortQuery) && !on.contains(Switch::DropQuery));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlagSet<T> {
    bits: u64,
    of: PhantomData<T>,
}

impl<T: Flag> FlagSet<T> {
    /// The set that contains nothing.
    pub const NONE: Self = Self::from_bits(0);

    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self { bits, of: PhantomData }
    }

    pub(crate) const fn bits(self) -> u64 {
        self.bits
    }

    /// True if the set contains nothing.
    pub const fn is_empty(self) -> bool {
        self.bits == 0
    }

    /// The values of either set.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self::from_bits(self.bits | other.bits)
    }

    /// The values of both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self::from_bits(self.bits & other.bits)
    }

    /// The values of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self::from_bits(self.bits & !other.bits)
    }

    /// The values, in the order of the documentation.
    pub fn iter(self) -> impl Iterator<Item = T> + Clone {
        let all = T::ALL.iter().enumerate();
        all.filter(move |(place, _)| self.bits >> place & 1 == 1).map(|(_, flag)| *flag)
    }
}

impl<T: Flag> Default for FlagSet<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T: Flag, const N: usize> From<[T; N]> for FlagSet<T> {
    fn from(flags: [T; N]) -> Self {
        flags.into_iter().collect()
    }
}

impl<T: Flag> FromIterator<T> for FlagSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(flags: I) -> Self {
        flags.into_iter().fold(Self::NONE, |set, flag| set.or(flag.into()))
    }
}

/// Prints the names between commas, as the options of the command take them.
impl<T: Flag> fmt::Display for FlagSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, flag) in self.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { "," }, flag.name())?;
        }
        Ok(())
    }
}

/// Parses names between commas; the empty text is the empty set.
impl<T: Flag + std::str::FromStr> std::str::FromStr for FlagSet<T> {
    type Err = T::Err;

    fn from_str(names: &str) -> Result<Self, T::Err> {
        match names {
            // A split of the empty text would give one empty name.
            "" => Ok(Self::NONE),
            names => names.split(',').map(T::from_str).collect(),
        }
    }
}

impl<T: Flag> fmt::Debug for FlagSet<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(T::name)).finish()
    }
}
