//! Enums whose values have names: options, reasons, rules, output forms.
//!
//! Users type these names, and outputs print and count them. In: a table of variants. Out: the enum with
//! `ALL`, `name`, `sentence`, `Display` and `FromStr`.

/// Declares an enum from a table with one row for each variant: its name, and a short description.
macro_rules! names {
    (
        $(#[$attribute:meta])*
        $Type:ident $kind:literal
        $($variant:ident $name:literal $sentence:literal)*
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum $Type {
            $(#[doc = concat!("`", $name, "`: ", $sentence, ".")] $variant,)*
        }

        impl $Type {
            /// Every value, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name, as it is printed and counted, and as options and profile files take it.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),* }
            }

            /// A short description for people.
            pub const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence),* }
            }
        }

        crate::bytes::names::by_name!($Type $kind);
    };
}

/// Looks the values of a type up by their names, and prints these. The type has `ALL` and `name`.
macro_rules! by_name {
    ($Type:ident $kind:literal) => {
        /// Prints the name.
        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                // Unlike `write_str`, this keeps a width, as in `{:<12}`.
                f.pad(self.name())
            }
        }

        /// Parses the name.
        impl std::str::FromStr for $Type {
            type Err = crate::bytes::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                let unknown = || crate::bytes::UnknownName::new(name, $kind, Self::ALL);
                Self::ALL.iter().copied().find(|one| one.name() == name).ok_or_else(unknown)
            }
        }
    };
}

/// Lets sets of a type of `names!` be made: [`FlagSet`](super::FlagSet).
macro_rules! flags {
    ($Type:ident) => {
        const _: () = assert!($Type::ALL.len() <= 64, "a set is one word");

        impl crate::bytes::Flag for $Type {
            const ALL: &'static [Self] = Self::ALL;

            fn name(self) -> &'static str {
                self.name()
            }
        }

        // Not generic: a `const fn` cannot call a method of a trait, and profiles are constants.
        impl crate::bytes::FlagSet<$Type> {
            /// The set of exactly these values.
            pub const fn of(flags: &[$Type]) -> Self {
                let mut bits = 0;
                let mut i = 0;
                while i < flags.len() {
                    bits |= 1 << flags[i] as u8;
                    i += 1;
                }
                Self::from_bits(bits)
            }

            /// True if the set contains the value.
            #[inline]
            pub const fn contains(self, flag: $Type) -> bool {
                self.bits() >> flag as u8 & 1 == 1
            }
        }

        impl From<$Type> for crate::bytes::FlagSet<$Type> {
            fn from(flag: $Type) -> Self {
                Self::of(&[flag])
            }
        }
    };
}

pub(crate) use {by_name, flags, names};
