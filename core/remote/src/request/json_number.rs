//! The reader of numbers in JSON's grammar, based on the decimal reader of `outrigger-wire`.

use outrigger_wire::decimal;

/// Returns the number in `text` as an `f32`, within one unit in the last place. `None` if `text` is not a number in JSON's
/// grammar (leading zeros are accepted), or too large for an `f32`.
#[must_use]
pub fn number(text: &str) -> Option<f32> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let all = digits(whole) && digits(fraction) && digits(exponent);
    if all { f32_of(text.as_bytes()) } else { None }
}

/// Returns a number that is known to be in JSON's grammar as an `f32`, within one unit in the last place; `None` if it is
/// too large.
pub(super) fn f32_of(number: &[u8]) -> Option<f32> {
    decimal::parse(number).filter(|value| value.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::f32_of;

    #[test]
    fn what_is_no_number_is_none() {
        for (text, value) in [("0.5", 0.5), ("-12", -12.0), ("1e-3", 0.001), ("2E+1", 20.0)] {
            assert_eq!(super::number(text), Some(value), "{text}");
        }
        for text in ["", "-", ".5", "5.", "1e", "1e+", "+1", "0x1", "inf", "NaN", "1.2.3", "1 ", "--1", "1e39"] {
            assert_eq!(super::number(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_what_the_standard_library_reads() {
        for text in [
            "0",
            "-0",
            "1",
            "-1.5",
            "0.1",
            "1e3",
            "1E-3",
            "12.50e+01",
            "3.4028235e38",
            "1e-45",
            "1e-60",
            "0.3333333333333333333333",
        ] {
            assert_eq!(f32_of(text.as_bytes()), text.parse().ok(), "{text}");
        }
        for text in ["1e39", "-1e39", "3.5e38", "1e999999999999", "1234567890123456789012345678901234567890"] {
            assert_eq!(f32_of(text.as_bytes()), None, "{text}");
        }
        assert_eq!(f32_of(b"0e999999999"), Some(0.0));
    }

    proptest! {
        #[test]
        fn what_was_printed_from_a_number_is_that_number(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let (plain, short) = (value.to_string(), format!("{value:e}"));
            prop_assert_eq!(f32_of(plain.as_bytes()), Some(value));
            prop_assert_eq!(f32_of(short.as_bytes()), Some(value));
        }

        #[test]
        fn any_digits_give_the_nearest_number_or_the_one_beside_it(text in "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?") {
            let expected: f32 = text.parse().expect("a number");
            match f32_of(text.as_bytes()) {
                Some(value) => prop_assert!((value - expected).abs() <= expected.abs() * f32::EPSILON + f32::from_bits(1)),
                None => prop_assert!(expected.abs() >= f32::MAX),
            }
        }
    }
}
