//! A cursor that writes program text into the caller's memory.
//!
//! Numbers are fixed-point decimals, computed by integer arithmetic from the bits of an `f32`: exact, correctly
//! rounded, and without the float formatting code of `core::fmt` (several kilobytes and thousands of instructions on a
//! board).

use super::error::RenderError;

/// The number of digits after a number's decimal point: the resolution is one microradian, or one micrometre.
pub(crate) const DECIMALS: u32 = 6;

const ONE: u32 = 10_u32.pow(DECIMALS);

/// The length of the longest number of a range up to ±9999 \[B\]: sign, four digits, point, decimals.
pub(super) const NUMBER_LEN: usize = 1 + 4 + 1 + DECIMALS as usize;

/// A writer of text to a buffer. Bytes beyond its end are counted but not written, so that [`Line::finish`] can report
/// the necessary size.
pub(super) struct Line<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl<'a> Line<'a> {
    pub(super) fn new(out: &'a mut [u8]) -> Self {
        Self { out, at: 0 }
    }

    /// Returns the length of the written text \[B\] if the buffer had room for all of it.
    pub(super) fn finish(self) -> Result<usize, RenderError> {
        if self.at <= self.out.len() {
            return Ok(self.at);
        }
        let clamp = |n: usize| u16::try_from(n).unwrap_or(u16::MAX);
        Err(RenderError::BufferTooSmall { need: clamp(self.at), have: clamp(self.out.len()) })
    }

    #[inline]
    pub(super) fn put<const N: usize>(&mut self, bytes: &[u8; N]) {
        if let Some(room) = self.out.get_mut(self.at..).and_then(|rest| rest.first_chunk_mut()) {
            *room = *bytes;
        }
        self.at = self.at.saturating_add(N);
    }

    /// Writes a text to the program text unchanged. The caller has checked its characters.
    pub(super) fn text(&mut self, text: &str) {
        for byte in text.bytes() {
            self.put(&[byte]);
        }
    }

    /// Writes a truth value to the program text as `True` or `False`.
    pub(super) fn boolean(&mut self, value: bool) {
        if value { self.put(b"True") } else { self.put(b"False") }
    }

    /// Writes a whole number to the program text.
    // Not inlined: it has ten callers and would take 300 B in each.
    #[inline(never)]
    pub(super) fn integer(&mut self, value: u32) {
        let mut digits = [0_u8; 10];
        let mut rest = value;
        let mut len = 0_usize;
        for digit in digits.iter_mut().rev() {
            *digit = digit_of(rest % 10);
            rest /= 10;
            len = len.saturating_add(1);
            if rest == 0 {
                break;
            }
        }
        for digit in digits.iter().skip(digits.len().saturating_sub(len)) {
            self.put(&[*digit]);
        }
    }

    /// Writes a finite number below 2³² in magnitude to the program text, rounded to [`DECIMALS`] digits, half away
    /// from zero. Zero has no sign.
    #[inline]
    pub(super) fn number(&mut self, value: f32) {
        let Some(millionths) = millionths(value) else { return self.large(value) };
        if value.is_sign_negative() && millionths != 0 {
            self.put(b"-");
        }
        let upper = millionths / 10_000;
        let lower = millionths.wrapping_sub(upper.wrapping_mul(10_000));
        let [tens, ones, ..] = four_digits(upper).to_le_bytes();
        if tens != b'0' {
            self.put(&[tens]);
        }
        let before = four_digits(upper) & 0xffff_0000 | u32::from(b'.') << 8 | u32::from(ones);
        let text = u64::from(four_digits(lower)) << 32 | u64::from(before);
        self.put(&text.to_le_bytes());
    }

    /// Writes a number of 16 or more in magnitude to the program text, with its sign.
    #[cold]
    #[inline(never)]
    fn large(&mut self, value: f32) {
        let (whole, fraction) = fixed_point(value);
        if value.is_sign_negative() {
            self.put(b"-");
        }
        self.integer(whole);
        let upper = fraction / 10_000;
        let [_, _, d0, d1] = four_digits(upper).to_le_bytes();
        let [d2, d3, d4, d5] = four_digits(fraction.wrapping_sub(upper.wrapping_mul(10_000))).to_le_bytes();
        self.put(&[b'.', d0, d1, d2, d3, d4, d5]);
    }

    /// Writes a list of numbers to the program text: `[a,b,c]`.
    #[inline]
    pub(super) fn list(&mut self, values: &[f32]) {
        let mut before = b'[';
        for &value in values {
            self.put(&[before]);
            self.number(value);
            before = b',';
        }
        self.put(b"]");
    }
}

#[inline]
fn digit_of(value: u32) -> u8 {
    // Callers pass 0..=9; the mask shows this to the compiler at no cost.
    b'0' | (value & 0x0f) as u8
}

/// Returns the decimal digits of a number below 10⁴, the first one in the lowest byte. The number is split into halves,
/// and then both halves into digits at the same time.
#[inline]
fn four_digits(value: u32) -> u32 {
    // A reciprocal with so few bits gives exact quotients up to 9999, or up to 99.
    let hundreds = value.wrapping_mul(5_243) >> 19;
    let pairs = (value << 16).wrapping_sub(hundreds.wrapping_mul((100 << 16) - 1));
    let tens = pairs.wrapping_mul(103) >> 10 & 0x000f_000f;
    let digits = (pairs << 8).wrapping_sub(tens.wrapping_mul((10 << 8) - 1));
    digits | 0x3030_3030
}

/// Returns the magnitude of a number in millionths if it is below 16, otherwise `None`.
#[inline]
fn millionths(value: f32) -> Option<u32> {
    let bits = value.to_bits();
    // Subnormals round to zero, as in `fixed_point`.
    let mantissa = u64::from((bits & 0x007f_ffff) | 0x0080_0000);
    // |value| in millionths = mantissa · 15 625 / 2^shift, since 10⁶ is 15 625 · 2⁶.
    let shift = 144_u32.wrapping_sub((bits >> 23) & 0xff);
    match shift {
        // Brought to a common power, so that the quotient is the upper word of the product.
        14..=32 => {
            let factor = u64::from(15_625_u32.wrapping_shl(32_u32.wrapping_sub(shift)));
            Some((mantissa.wrapping_mul(factor).wrapping_add(1 << 31) >> 32) as u32)
        }
        33..=39 => {
            let half = 1_u64.wrapping_shl(shift.wrapping_sub(1));
            Some(mantissa.wrapping_mul(15_625).wrapping_add(half).wrapping_shr(shift) as u32)
        }
        // Less than 2³⁸ · 2⁻⁴⁰: rounds to zero.
        40..=144 => Some(0),
        _ => None,
    }
}

/// Returns the magnitude of a number as whole part and millionths. Values of 2³² and above saturate.
#[inline]
fn fixed_point(value: f32) -> (u32, u32) {
    let bits = value.to_bits();
    let exponent = (bits >> 23) & 0xff;
    // Subnormals (exponent 0) round to zero; adding the hidden bit does not change that.
    let mantissa = (bits & 0x007f_ffff) | 0x0080_0000;
    // value = mantissa · 2^(exponent − 150)
    if exponent >= 150 {
        let whole = if exponent > 158 { u32::MAX } else { mantissa.wrapping_shl(exponent.wrapping_sub(150)) };
        return (whole, 0);
    }
    let shift = 150_u32.wrapping_sub(exponent);
    // Less than 2⁴⁴ · 2⁻⁴⁶: rounds to zero.
    if shift > 45 {
        return (0, 0);
    }
    let (whole, part) = if shift < 24 {
        let whole = mantissa.wrapping_shr(shift);
        (whole, mantissa ^ whole.wrapping_shl(shift))
    } else {
        (0, mantissa)
    };
    let half = 1_u64.wrapping_shl(shift.wrapping_sub(1));
    let millionths = u64::from(part).wrapping_mul(u64::from(ONE)).wrapping_add(half).wrapping_shr(shift);
    // At most `ONE`, if the part rounds up to a whole.
    let millionths = millionths as u32;
    if millionths == ONE { (whole.saturating_add(1), 0) } else { (whole, millionths) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rendered(value: f32) -> String {
        let mut out = [0xa5; 32];
        let mut line = Line::new(&mut out);
        line.number(value);
        let len = line.finish().unwrap();
        String::from_utf8(out[..len].to_vec()).unwrap()
    }

    #[test]
    fn numbers_are_plain_decimals() {
        for (value, text) in [
            (0.0, "0.000000"),
            (-0.0, "0.000000"),
            (1.0, "1.000000"),
            (-0.25, "-0.250000"),
            (0.1, "0.100000"),
            (9.999_999, "9.999999"),
            (0.999_999_94, "1.000000"),
            (-4e-7, "0.000000"),
            (5e-7, "0.000000"),
            (5.1e-7, "0.000001"),
            (f32::MIN_POSITIVE / 2.0, "0.000000"),
            (core::f32::consts::PI, "3.141593"),
            (-core::f32::consts::TAU, "-6.283185"),
            (1234.5, "1234.500000"),
            (16_777_216.0, "16777216.000000"),
            (4_294_967_040.0, "4294967040.000000"),
        ] {
            assert_eq!(rendered(value), text, "{value:e}");
        }
    }

    #[test]
    fn a_text_that_does_not_fit_says_how_much_it_needs() {
        let mut out = [0; 4];
        let mut line = Line::new(&mut out);
        line.put(b"abc");
        line.number(-1.0);
        assert_eq!(line.finish(), Err(RenderError::BufferTooSmall { need: 12, have: 4 }));
    }

    #[test]
    fn four_digits_are_those_of_every_number() {
        for value in 0..10_000 {
            assert_eq!(four_digits(value).to_le_bytes().as_slice(), format!("{value:04}").as_bytes());
        }
    }

    #[test]
    fn small_numbers_are_those_of_the_general_conversion() {
        // Every exponent, with mantissas near each position at which the rounding could change.
        for exponent in 0..=0xff_u32 {
            for place in 0..23 {
                for near in [0, 1, 2, 0x7f_ffff, 0x40_0000, 0x55_5555, 0x2a_aaaa] {
                    for mantissa in [near, near ^ 1 << place, near ^ ((1 << place) - 1)] {
                        let value = f32::from_bits(exponent << 23 | mantissa & 0x7f_ffff);
                        let general = fixed_point(value);
                        let small = millionths(value);
                        assert_eq!(small.is_some(), value < 16.0, "{value:e}");
                        if let Some(small) = small {
                            assert_eq!((small / ONE, small % ONE), general, "{value:e}");
                        }
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_number_reads_back_within_half_a_unit_of_its_last_digit(value in prop_oneof![
            -4e9_f32..4e9, -7.0_f32..7.0, -1e-5_f32..1e-5, (0_u32..0x4f80_0000).prop_map(f32::from_bits),
        ]) {
            let text = rendered(value);
            let read: f64 = text.parse().unwrap();
            // The slack is the rounding of the parsed double itself, 1e-16 relative.
            let slack = 1e-15 * f64::from(value).abs();
            prop_assert!((read - f64::from(value)).abs() <= 0.5e-6 + slack, "{value:e} became {text}");
            prop_assert_eq!(text.rsplit('.').next().unwrap().len(), DECIMALS as usize);
            prop_assert!(!text.starts_with("-0.000000"));
        }

        #[test]
        fn a_whole_number_reads_back(value: u32) {
            let mut out = [0; 10];
            let mut line = Line::new(&mut out);
            line.integer(value);
            let len = line.finish().unwrap();
            prop_assert_eq!(core::str::from_utf8(&out[..len]).unwrap().parse::<u32>().unwrap(), value);
        }
    }
}
