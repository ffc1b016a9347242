//! The types of parts, and their names in braces.

use std::fmt;

/// The type of a variable part of a URL. Types are tried in this order, and the first one that fits
/// is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PartType {
    /// 8, 4, 4, 4 and 12 hexadecimal digits of any case, with `-` between.
    Uuid,
    /// A real day of the years 1990 to 2099: `20240229`, or with `-`, `_` or `.` twice between.
    Date,
    /// Decimal digits.
    Int,
    /// 8 or more hexadecimal digits whose letters have one case, and that change between digit and
    /// letter twice or more; 32, 40 or 64 of them need just one digit.
    Hex,
    /// An IPv6 address with a digit, or an IPv4 address with a number above 99.
    Ip,
    /// An address with `@` or `%40`. The last label of its domain is letters, and no file extension.
    Email,
    /// Letters, digits, `-`, `_` and `.` that begin with `eyJ`, as a JSON Web Token does. Or 16 or more
    /// of letters, digits, `-` and `_`, at most two `=` at the end, with at least one digit, and with a
    /// change between digit, lower case and upper case in four characters. Changes from upper to lower
    /// case do not count, since words have them.
    Token,
    /// Any text, where more of them than `--slugs` of the command names stand under one parent. No test of one URL
    /// finds it.
    Slug,
}

#[doc(hidden)]
impl PartType {
    /// Every type, in the order of the tests.
    pub const ALL: &'static [PartType] = &[
        PartType::Uuid,
        PartType::Date,
        PartType::Int,
        PartType::Hex,
        PartType::Ip,
        PartType::Email,
        PartType::Token,
        PartType::Slug,
    ];

    /// The name between the braces.
    pub const fn name(self) -> &'static str {
        let braced = self.braced();
        braced.split_at(braced.len() - 1).0.split_at(1).1
    }

    /// The name with its braces, as templates hold it.
    pub(super) const fn braced(self) -> &'static str {
        match self {
            PartType::Uuid => "{uuid}",
            PartType::Date => "{date}",
            PartType::Int => "{int}",
            PartType::Hex => "{hex}",
            PartType::Ip => "{ip}",
            PartType::Email => "{email}",
            PartType::Token => "{token}",
            PartType::Slug => "{slug}",
        }
    }
}

/// Prints the name with its braces.
impl fmt::Display for PartType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.braced())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_the_text_between_the_braces() {
        for part_type in PartType::ALL {
            assert_eq!(format!("{{{}}}", part_type.name()), part_type.to_string());
        }
        assert!(PartType::ALL.is_sorted());
    }
}
