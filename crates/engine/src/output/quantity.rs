//! Numbers for people: digits in groups of three, and rates in one unit.

use std::fmt;

/// A number whose digits are in groups of three.
///
/// ```
/// assert_eq!(uniqurl_engine::output::Grouped(1_234_567).to_string(), "1,234,567");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grouped(pub u64);

/// Bytes a second, in MB/s, which are 10^6 bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ByteRate(f64);

impl Grouped {
    /// The number as the text of a formatter: in groups if that is for people (`{:#}`).
    pub(super) fn in_text(f: &fmt::Formatter<'_>, number: u64) -> String {
        if f.alternate() { Grouped(number).to_string() } else { number.to_string() }
    }
}

impl ByteRate {
    /// The rate of so many bytes in so many seconds; 0 if they took none.
    pub fn new(bytes: u64, seconds: f64) -> Self {
        Self(if seconds > 0.0 { bytes as f64 / seconds / 1e6 } else { 0.0 })
    }

    /// The rate in MB/s.
    pub fn megabytes(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut start = 0;
        // The first group has the digits that the others leave over.
        let mut end = (digits.len() - 1) % 3 + 1;
        while start < digits.len() {
            if start > 0 {
                f.write_str(",")?;
            }
            f.write_str(&digits[start..end])?;
            (start, end) = (end, end + 3);
        }
        Ok(())
    }
}

impl fmt::Display for ByteRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            slow if slow < 10.0 => write!(f, "{slow:.1} MB/s"),
            fast => write!(f, "{} MB/s", Grouped(fast.round() as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_from_the_right() {
        for (number, shown) in [
            (0, "0"),
            (12, "12"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345, "12,345"),
            (1_234_567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(Grouped(number).to_string(), shown);
        }
    }

    #[test]
    fn rates_are_in_megabytes_a_second() {
        for (bytes, seconds, shown) in [
            (1_234_000_000, 0.5, "2,468 MB/s"),
            (12_340_000, 1.0, "12 MB/s"),
            (1_230_000, 1.0, "1.2 MB/s"),
            (22, 0.0, "0.0 MB/s"),
        ] {
            assert_eq!(ByteRate::new(bytes, seconds).to_string(), shown);
        }
    }
}
