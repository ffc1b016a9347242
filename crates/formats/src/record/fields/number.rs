//! Parses the numbers that logs write. Text that is not entirely one number gives none.

/// A status: three digits from 100, perhaps with a point and zeros, as tables of decimals write it.
pub(in crate::record) fn status(text: &[u8]) -> Option<u16> {
    let [a @ b'1'..=b'9', b, c, fraction @ ..] = text else { return None };
    let digit = |byte: &u8| byte.is_ascii_digit().then(|| u16::from(byte - b'0'));
    Some(100 * digit(a)? + 10 * digit(b)? + digit(c)?).filter(|_| is_zero(fraction))
}

/// True if the text after a whole number does not change its value: nothing, or a point and zeros.
/// A column of decimals writes statuses so, and so does an integer column with gaps read as floats.
pub(in crate::record) fn is_zero(fraction: &[u8]) -> bool {
    match fraction.strip_prefix(b".") {
        Some(digits) => digits.iter().all(|digit| *digit == b'0'),
        None => fraction.is_empty(),
    }
}

/// A whole number without a sign.
pub(in crate::record) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// Digits of a decimal that are read; further ones of a fraction are dropped.
const DIGITS: u32 = 30;

/// A decimal without a sign, perhaps with an exponent, as JSON writes numbers, times 10 to the power
/// `power`. Rounds down.
pub(in crate::record) fn decimal(text: &[u8], power: i32) -> Option<u64> {
    let mark = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (mantissa, exponent) = match mark {
        Some(mark) => (&text[..mark], exponent(&text[mark + 1..])?),
        None => (text, 0),
    };
    let point = mantissa.iter().position(|byte| *byte == b'.');
    let (before, fraction) = match point {
        Some(point) => (&mantissa[..point], &mantissa[point + 1..]),
        None => (mantissa, &[][..]),
    };
    if before.is_empty() || point.is_some() && fraction.is_empty() {
        return None;
    }
    let (mut number, mut shift) = (0u128, power.checked_add(exponent)?);
    for (at, byte) in before.iter().chain(fraction).enumerate() {
        let digit = byte.is_ascii_digit().then(|| u128::from(byte - b'0'))?;
        // A u128 holds 38 digits, so one more digit and a factor still have room. The further
        // digits of a fraction round away.
        match (at < before.len(), number < 10u128.pow(DIGITS)) {
            (is_before, true) => {
                number = 10 * number + digit;
                shift = shift.checked_sub(i32::from(!is_before))?;
            }
            (true, false) => return None,
            (false, false) => {}
        }
    }
    let factor = 10u128.checked_pow(shift.unsigned_abs());
    match (shift >= 0, factor) {
        (true, Some(factor)) => u64::try_from(number.checked_mul(factor)?).ok(),
        (true, None) => (number == 0).then_some(0),
        (false, factor) => u64::try_from(factor.map_or(0, |factor| number / factor)).ok(),
    }
}

/// The exponent of a decimal.
fn exponent(text: &[u8]) -> Option<i32> {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    // Any greater exponent gives zero or an overflow, and this bound keeps sums of exponents far
    // from their own.
    let number = whole(digits).filter(|number| *number < 1000)?;
    Some(sign * number as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_three_digits() {
        for (text, number) in [
            ("200", Some(200)),
            ("999", Some(999)),
            ("404.00", Some(404)),
            ("404.", Some(404)),
            ("200.1", None),
            ("000", None),
            ("099", None),
            ("20", None),
            ("2000", None),
            ("-1", None),
            ("-", None),
            ("", None),
            ("2x0", None),
            ("+200", None),
        ] {
            assert_eq!(status(text.as_bytes()), number, "{text}");
        }
        assert_eq!(status(b"\xFF00"), None);
    }

    #[test]
    fn a_whole_number_fits_or_is_none() {
        for (text, number) in [
            ("0", Some(0)),
            ("007", Some(7)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("", None),
            ("-", None),
            ("-5", None),
            ("+5", None),
            ("5 ", None),
            ("1.5", None),
        ] {
            assert_eq!(whole(text.as_bytes()), number, "{text}");
        }
    }

    #[test]
    fn a_decimal_is_scaled_and_rounded_down() {
        for (text, micros) in [
            ("0", Some(0)),
            ("0.000", Some(0)),
            ("1", Some(1_000_000)),
            ("0.004", Some(4_000)),
            ("12.3456789", Some(12_345_678)),
            ("0.0000009", Some(0)),
            ("9.29e-05", Some(92)),
            ("1E+1", Some(10_000_000)),
            ("0e999", Some(0)),
            ("1e-999", Some(0)),
            ("1e999", None),
            ("18446744073709.551615", Some(u64::MAX)),
            ("18446744073709.551616", None),
            ("99999999999999999999999999999999999999999", None),
            ("0.00000000000000000000000000000000000000000000000001", Some(0)),
            ("1.99999999999999999999999999999999999999999999999999", Some(1_999_999)),
            ("", None),
            (".", None),
            (".5", None),
            ("5.", None),
            ("1.2.3", None),
            ("1e", None),
            ("1e2000", None),
            ("e5", None),
            ("-1", None),
            ("+1", None),
            ("-", None),
            ("0x10", None),
            ("nan", None),
        ] {
            assert_eq!(decimal(text.as_bytes(), 6), micros, "{text}");
        }
        assert_eq!(decimal(b"1482424252.999", 0), Some(1_482_424_252));
        assert_eq!(decimal(b"1482424252999", -3), Some(1_482_424_252));
    }
}
