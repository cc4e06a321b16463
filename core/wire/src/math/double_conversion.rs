//! Conversions of the doubles on the wire to the types of the control path, by integer arithmetic.
//!
//! A microcontroller without a double-precision unit calls a routine for every operation on a double, 30 to 100
//! instructions each, and every packet has about forty doubles. The functions of this module take half of that time and
//! link none of the routines. A processor with a double-precision unit uses it, with the same resulting bits.
//!
//! ```
//! use outrigger_wire::math::double_conversion::{is_nan, scaled, to_f32};
//!
//! assert_eq!(to_f32(102.312), 102.312_f32);
//! assert_eq!(scaled(102.312, 1_000_000), 102_312_000); // s to µs
//! assert!(is_nan(f64::NAN));
//! ```

/// The number of mantissa bits of a double.
const MANTISSA: u32 = 52;
/// The number of mantissa bits of a double that an `f32` does not have.
const DROPPED: u32 = MANTISSA - 23;
/// The exponent field of 1.0 in a double.
const ONE: u32 = 1023;
/// The difference of the exponent fields of 1.0 in a double and in an `f32`.
const LESS: u32 = ONE - 127;
/// The upper 32 bits of the doubles 2⁻¹²⁶ and 2¹²⁸. A double between these bounds is an `f32` with a full mantissa
/// after rounding.
const FULL: core::ops::Range<u32> = (897 << (MANTISSA - 32))..(1151 << (MANTISSA - 32));
const INFINITY: u64 = f64::INFINITY.to_bits();
/// The number of binary places to which [`scaled`] truncates the fraction of a double.
const PLACES: u32 = 44;

/// `true` if the program is compiled for a processor that is known to have a double-precision floating-point unit: x86-64
/// with SSE2, or AArch64 with NEON.
const HAS_UNIT: bool = cfg!(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
));

/// Returns the `f32` nearest to the double `value`; of two equally near ones the even one. The bits are those of the
/// cast `value as f32`, except that all NaN of one sign become the same NaN.
#[must_use]
#[inline]
pub const fn to_f32(value: f64) -> f32 {
    if HAS_UNIT { by_unit(value) } else { by_integers(value) }
}

/// Returns [`to_f32`] of `value` without inlining. Saves flash where the conversion is rare.
#[must_use]
#[inline(never)]
pub const fn to_f32_by_call(value: f64) -> f32 {
    to_f32(value)
}

/// Converts a double to the nearest `f32` by the processor's own instruction, in place of integer arithmetic.
#[inline]
const fn by_unit(value: f64) -> f32 {
    if value.is_nan() {
        let sign = (value.to_bits() >> 32) as u32 & 1 << 31;
        return f32::from_bits(sign | f32::NAN.to_bits());
    }
    value as f32
}

/// Converts a double to the nearest `f32` by integer arithmetic.
#[inline]
const fn by_integers(value: f64) -> f32 {
    // In two words of 32 bits, because a shift of 64 bits takes about ten instructions.
    let bits = value.to_bits();
    let (high, low) = ((bits >> 32) as u32, bits as u32);
    let (sign, magnitude) = (high & 1 << 31, high << 1 >> 1);
    let unsigned = if FULL.start <= magnitude && magnitude < FULL.end {
        let kept = high << (32 - DROPPED) | low >> DROPPED;
        // More than a half is rounded up, and a half if that makes an even number.
        let up = (low << (32 - DROPPED)).wrapping_add(kept & 1) > 1 << 31;
        kept.wrapping_add(up as u32).wrapping_sub(LESS << 23) << 1 >> 1
    } else if magnitude | low == 0 {
        0
    } else {
        rare(value)
    };
    f32::from_bits(sign | unsigned)
}

/// Returns the bits of the `f32`, without the sign, for a double that is too small for a full mantissa, too large, or
/// NaN.
#[cold]
#[inline(never)]
const fn rare(value: f64) -> u32 {
    let magnitude = magnitude(value);
    if exponent(magnitude) <= LESS {
        let shift = LESS.wrapping_add(DROPPED).wrapping_add(1).wrapping_sub(exponent(magnitude));
        if shift < 64 { nearest_even(mantissa(magnitude), shift) as u32 } else { 0 }
    } else if !is_nan(value) {
        f32::INFINITY.to_bits()
    } else {
        f32::NAN.to_bits()
    }
}

/// Returns |`value`| · `factor`, rounded to the nearest whole number, a half upwards. Saturates if the result is too
/// large and for NaN. `factor` must be at most 2²⁰; the result is then exact to 2⁻²⁴ of the last place.
#[must_use]
#[inline]
pub const fn scaled(value: f64, factor: u32) -> u64 {
    let magnitude = magnitude(value);
    // The first bit of the mantissa goes to the top. A subnormal number has no such bit, but its result is 0 in any
    // case.
    let top = mantissa(magnitude) << (63 - MANTISSA);
    let exponent = exponent(magnitude);
    let (whole, fraction) = match exponent {
        ..ONE => {
            let shift = (ONE - 1).wrapping_sub(exponent);
            (0, if shift < 64 { top >> shift } else { 0 })
        }
        ONE..=1086 => {
            let places = exponent.wrapping_sub(ONE - 1);
            (top >> 64_u32.wrapping_sub(places), if places < 64 { top << places } else { 0 })
        }
        _ => (u64::MAX, 0),
    };
    let factor = factor as u64;
    let part = (fraction >> (64 - PLACES)).wrapping_mul(factor).wrapping_add(1 << (PLACES - 1)) >> PLACES;
    whole.saturating_mul(factor).saturating_add(part)
}

/// Returns whether `value` is NaN.
#[must_use]
#[inline]
pub const fn is_nan(value: f64) -> bool {
    magnitude(value) > INFINITY
}

#[inline]
const fn magnitude(value: f64) -> u64 {
    value.to_bits() << 1 >> 1
}

#[inline]
const fn exponent(magnitude: u64) -> u32 {
    (magnitude >> MANTISSA) as u32
}

/// Returns the mantissa, with its implicit leading bit, of the double that has these bits without the sign.
#[inline]
const fn mantissa(magnitude: u64) -> u64 {
    magnitude << 12 >> 12 | 1 << MANTISSA
}

/// Returns `bits` · 2^−`shift`, rounded to the nearest whole number, a half to the even one. `shift` is 1 … 63.
#[inline]
const fn nearest_even(bits: u64, shift: u32) -> u64 {
    // Just under a half, plus one for an odd number.
    let just_under = (1_u64 << shift.wrapping_sub(1)).wrapping_sub(1);
    bits.wrapping_add(just_under).wrapping_add(bits >> shift & 1) >> shift
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Generates doubles of any bits, and doubles near the limits of the range of `f32`.
    fn doubles() -> impl Strategy<Value = f64> {
        let near = |exponents: core::ops::Range<i32>| exponents.prop_map(|e| 2.0_f64.powi(e));
        prop_oneof![
            any::<u64>().prop_map(f64::from_bits),
            -10.0..10.0,
            (near(-152..-120), -2.0..2.0).prop_map(|(power, factor)| power * factor),
            (near(125..130), -2.0..2.0).prop_map(|(power, factor)| power * factor),
            any::<f32>().prop_map(f64::from),
            // Halfway between two neighbours.
            any::<u32>()
                .prop_map(|bits| f64::from_bits(f64::from(f32::from_bits(bits)).to_bits() | 1 << (DROPPED - 1))),
        ]
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        assert!(to_f32(f64::NAN).is_nan() && to_f32(-f64::NAN).is_nan());
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY].map(to_f32), [f32::INFINITY, f32::NEG_INFINITY]);
        assert_eq!([f64::INFINITY, f64::NAN, 1e300].map(|v| scaled(v, 1)), [u64::MAX; 3]);
    }

    #[test]
    fn both_conversions_agree_in_every_class() {
        // The dropped part of the mantissa (zero, just under a half, a half, just over it, nearly one), for each kept
        // part.
        let half = 1_u64 << (DROPPED - 1);
        let dropped = [0, 1, half - 1, half, half + 1, 2 * half - 1];
        let kept = [0_u64, 1, 2, 3, 0x2a_aaaa, 0x3f_ffff, 0x40_0000, 0x7f_fffe, 0x7f_ffff];
        // Every exponent: zero and subnormal doubles, subnormal and normal `f32`, overflow, infinities and NaN.
        for exponent in 0..=0x7ff_u64 {
            for kept in kept {
                // A subnormal `f32` drops more bits: the same patterns at each position of the last kept bit.
                for more in 0..=23 {
                    for dropped in dropped.map(|dropped| dropped << more & ((1 << MANTISSA) - 1)) {
                        for sign in [0, 1 << 63] {
                            let bits = sign | exponent << MANTISSA | (kept << DROPPED) ^ dropped;
                            let value = f64::from_bits(bits);
                            assert_eq!(by_unit(value).to_bits(), by_integers(value).to_bits(), "{bits:#x}");
                            if !value.is_nan() {
                                assert_eq!(by_integers(value).to_bits(), (value as f32).to_bits(), "{bits:#x}");
                            }
                        }
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn the_nearest_f32_has_the_bits_that_a_cast_gives(value in doubles()) {
            for ours in [by_integers(value), by_unit(value), to_f32(value)] {
                let cast = value as f32;
                prop_assert!(ours.to_bits() == cast.to_bits() || (ours.is_nan() && cast.is_nan()), "{value:e}: {ours:e} {cast:e}");
            }
        }

        #[test]
        fn both_conversions_give_the_same_bits(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assert_eq!(by_unit(value).to_bits(), by_integers(value).to_bits(), "{:#x}", bits);
        }

        #[test]
        fn a_whole_number_of_a_unit_is_found_again(micros in 0_u64..1_000_000_000_000_000, whole in 0_u64..1 << 53) {
            prop_assert_eq!(scaled(micros as f64 * 1e-6, 1_000_000), micros);
            prop_assert_eq!(scaled(-(whole as f64), 1), whole);
        }

        #[test]
        fn a_number_is_rounded_to_the_nearest(value in -1e6_f64..1e6) {
            prop_assert_eq!(scaled(value, 1), value.abs().round() as u64);
        }

        #[test]
        fn every_bit_pattern_has_a_whole_number(value in doubles()) {
            let expected = if value.is_nan() { u64::MAX } else { value.abs().round() as u64 };
            prop_assert_eq!(scaled(value, 1), expected);
        }
    }
}
