//! A small reader of decimal numbers, for boards. The parser of the standard library has tables and slow paths that are
//! several times the size of the code that needs a number.
//!
//! ```
//! use outrigger_wire::decimal;
//!
//! assert_eq!(decimal::parse(b"-12.5e-1"), Some(-1.25));
//! assert_eq!(decimal::parse(b"12mm"), None);
//! assert_eq!(decimal::unsigned(b"4096"), Some(4096));
//! ```

/// The powers of ten 10⁰ … 10²², which `f64` holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];
/// The exponent above which any mantissa but zero is infinite as an `f32`.
const EXPONENT_MAX: i32 = 60;
/// The exponent below which any mantissa of 20 digits is zero as an `f32`.
const EXPONENT_MIN: i32 = -80;

/// Reads a number `[+-]digits[.digits][e[+-]digits]`, or `nan`, `inf`, `infinity` in any case; `None` if `word` is
/// anything else.
///
/// Accepts exactly what `str::parse::<f32>` accepts. A number too large for an `f32` becomes infinity. Significant
/// digits that do not fit into a `u64`, the 20th or later, are ignored. The number is calculated in `f64` and rounded
/// once more at the end, so it is within one unit in the last place of the nearest `f32`, and nearly always equal to
/// it. A number printed from an `f32` is read back to the bit.
#[must_use]
pub fn parse(word: &[u8]) -> Option<f32> {
    let (negative, word) = match word {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, word),
    };
    let magnitude = if word.eq_ignore_ascii_case(b"nan") {
        f32::NAN
    } else if word.eq_ignore_ascii_case(b"inf") || word.eq_ignore_ascii_case(b"infinity") {
        f32::INFINITY
    } else {
        magnitude(word)?
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn magnitude(word: &[u8]) -> Option<f32> {
    let (mut mantissa, mut exponent) = (0_u64, 0_i32);
    let (mut any_digit, mut behind_point) = (false, false);
    let mut rest = word;
    while let [byte, after @ ..] = rest {
        rest = after;
        match byte {
            b'0'..=b'9' => {
                any_digit = true;
                // Once one digit is dropped, all later ones are: the mantissa stays as it is.
                let longer = mantissa.checked_mul(10).and_then(|m| m.checked_add(u64::from(byte & 0xf)));
                mantissa = longer.unwrap_or(mantissa);
                let shift = i32::from(longer.is_none()).saturating_sub(i32::from(behind_point));
                exponent = exponent.saturating_add(shift);
            }
            b'.' if !behind_point => behind_point = true,
            b'e' | b'E' if any_digit => return Some(scaled(mantissa, exponent.saturating_add(signed(rest)?))),
            _ => return None,
        }
    }
    any_digit.then(|| scaled(mantissa, exponent))
}

/// Reads the exponent of a decimal number, with its sign, limited to ±100 000; `None` if it is not a whole number.
fn signed(text: &[u8]) -> Option<i32> {
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let magnitude = unsigned(digits)?.min(100_000);
    let magnitude = i32::try_from(magnitude).ok()?;
    Some(if negative { magnitude.saturating_neg() } else { magnitude })
}

/// Reads a whole number without a sign; saturates at the greatest `u64`. `None` if `digits` is empty, or has anything but
/// digits.
#[must_use]
pub fn unsigned(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    let mut number = 0_u64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        number = number.saturating_mul(10).saturating_add(u64::from(digit & 0xf));
    }
    Some(number)
}

/// Returns `mantissa` · 10^`exponent`, rounded to an `f32`.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "rounding is what is wanted")]
fn scaled(mantissa: u64, exponent: i32) -> f32 {
    let mut value = mantissa as f64;
    let mut left = exponent.clamp(EXPONENT_MIN, EXPONENT_MAX).unsigned_abs() as usize;
    while left > 0 && mantissa > 0 {
        let step = left.min(POWERS.len().saturating_sub(1));
        let power = POWERS.get(step).copied().unwrap_or(1.0);
        value = if exponent < 0 { value / power } else { value * power };
        left = left.saturating_sub(step);
    }
    value as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn standard(word: &str) -> Option<f32> {
        word.parse().ok()
    }

    #[test]
    fn numbers_as_instruments_write_them() {
        for word in [
            "0",
            "-0",
            "1",
            "+1.5",
            "-12.75",
            ".5",
            "5.",
            "1e3",
            "2.5E-3",
            "1e+2",
            "0.0503",
            "00012.50",
            "16777217",
            "3.4028235e38",
            "3.5e38",
            "1e-45",
            "7e-46",
            "1e-46",
            "1e39",
            "1e100",
            "1e-100",
            "0e999999999999999999999",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "123456789012345678901234567890e-25",
            "0.00000000000000000000000000000000000000000000000000001e50",
            "nan",
            "NaN",
            "-inf",
            "+Infinity",
        ] {
            let (own, std) = (parse(word.as_bytes()).expect(word), standard(word).expect(word));
            assert!(own.to_bits() == std.to_bits() || own.is_nan() && std.is_nan(), "{word}: {own} {std}");
        }
    }

    #[test]
    fn words_that_are_no_numbers() {
        for word in [
            "", "-", "+", ".", "e5", "1e", "1e+", "1.2.3", "1,5", "0x10", "1e5.5", "--1", "+-1", "infinit", "1_0",
            "12mm",
        ] {
            assert_eq!(standard(word), None, "{word}");
            assert_eq!(parse(word.as_bytes()), None, "{word}");
        }
    }

    /// Returns whether [`parse`] and the standard library both reject `word`, or both read it with results that
    /// differ by at most one unit in the last place.
    fn agree(word: &str) -> bool {
        match (parse(word.as_bytes()), standard(word)) {
            (None, None) => true,
            (Some(own), Some(std)) if own.is_nan() || std.is_nan() => own.is_nan() && std.is_nan(),
            (Some(own), Some(std)) => {
                own.is_sign_negative() == std.is_sign_negative() && own.to_bits().abs_diff(std.to_bits()) <= 1
            }
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn what_a_number_is_written_as_is_read_back_to_the_bit(bits: u32) {
            let number = f32::from_bits(bits);
            prop_assume!(!number.is_nan());
            for word in [format!("{number}"), format!("{number:e}"), format!("{}", f64::from(number)), format!("{number:?}")] {
                prop_assert_eq!(parse(word.as_bytes()).map(f32::to_bits), Some(bits), "{}", word);
            }
        }

        #[test]
        fn any_word_is_a_number_where_the_standard_library_says_so(word in "[-+]?[0-9]{0,25}\\.?[0-9]{0,25}([eE][-+]?[0-9]{0,4})?") {
            prop_assert!(agree(&word), "{} {:?}", word, parse(word.as_bytes()));
        }

        #[test]
        fn any_garbage_is_a_number_where_the_standard_library_says_so(word in "[-+.eE0-9infatyNIT_ ]{0,12}") {
            prop_assert!(agree(&word), "{} {:?}", word, parse(word.as_bytes()));
        }
    }
}
