//! `f32` functions of the control path that compute the same bits on every host and board.
//!
//! They use only IEEE additions, multiplications, divisions and conversions, in a fixed order, without fused
//! multiply-add. No platform's math library is called, so a law replayed on another machine gives the same command. The
//! cost: about 60 instructions for a sine and cosine on a Cortex-M4F; a double-precision library call takes about
//! thirty times as many.
//!
//! Accuracy, checked by the tests below against `f64`: sine and cosine within 10⁻⁷, arc tangent within 3.5·10⁻⁷ rad,
//! square root within one unit in the last place.
//!
//! ```
//! use outrigger_wire::math::{self, Rotation};
//!
//! let (sin, cos) = math::sin_cos(core::f32::consts::FRAC_PI_6);
//! assert!((sin - 0.5).abs() < 1e-6 && (cos - 0.866_025_4).abs() < 1e-6);
//! let quarter = Rotation::from_vector([0.0, 0.0, core::f32::consts::FRAC_PI_2]);
//! assert!((quarter.apply([1.0, 0.0, 0.0])[1] - 1.0).abs() < 1e-6);
//! ```

pub mod double_conversion;

/// The constant π/2 in three parts, whose sum it is. The first two, times a whole number up to 2¹³, are exact in `f32`.
const HALF_PI_PARTS: [f32; 3] = [1.570_312_5, 4.837_513e-4, 7.549_79e-8];
/// The largest angle of [`sin_cos`] \[rad\]. Beyond it the products with the parts of π/2 are no longer exact.
const LARGEST_ANGLE: f32 = 12_800.0;
/// A minimax fit of (sin √z − √z) / z^(3/2) on \[0, (π/4)²\].
const SIN: [f32; 3] = [-0.166_666_55, 8.332_178e-3, -1.951_726_6e-4];
/// A minimax fit of (cos √z − 1 + z/2) / z² on \[0, (π/4)²\].
const COS: [f32; 3] = [4.166_664_6e-2, -1.388_736_8e-3, 2.443_841_6e-5];
/// A minimax fit of (atan √z − √z) / z^(3/2) on \[0, tan²(π/8)\].
const ATAN: [f32; 4] = [-0.333_329_56, 0.199_779_2, -0.138_797_77, 8.060_057_5e-2];
const TAN_PI_8: f32 = 0.414_213_57;

/// Returns the value of the polynomial with these coefficients, constant term first.
#[inline]
fn polynomial<const N: usize>(coefficients: [f32; N], z: f32) -> f32 {
    coefficients.into_iter().rev().reduce(|sum, c| sum * z + c).unwrap_or(0.0)
}

/// Returns `value` limited to the range from `low` to `high`; NaN stays NaN. Unlike [`f32::clamp`] it does not panic if
/// the bounds are in the wrong order or NaN: the result is then one of the three arguments.
#[must_use]
#[inline]
pub fn bounded(value: f32, low: f32, high: f32) -> f32 {
    if value < low {
        low
    } else if value > high {
        high
    } else {
        value
    }
}

/// Returns sine and cosine of an angle \[rad\]; NaN beyond ±12 800 rad, which no joint angle reaches.
#[must_use]
pub fn sin_cos(angle: f32) -> (f32, f32) {
    if angle.is_nan() || angle.abs() > LARGEST_ANGLE {
        return (f32::NAN, f32::NAN);
    }
    let turns = angle * core::f32::consts::FRAC_2_PI;
    let quarter = (turns + if turns < 0.0 { -0.5 } else { 0.5 }) as i32;
    let k = quarter as f32;
    let [high, middle, low] = HALF_PI_PARTS;
    let r = ((angle - k * high) - k * middle) - k * low;
    let z = r * r;
    let sin = r + r * z * polynomial(SIN, z);
    let cos = (1.0 - 0.5 * z) + z * z * polynomial(COS, z);
    match quarter & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Returns the angle of the point (x, y) \[rad\], −π … π; 0 at the origin.
#[must_use]
#[inline]
pub fn atan2(y: f32, x: f32) -> f32 {
    let (small, large) = if y.abs() > x.abs() { (x.abs(), y.abs()) } else { (y.abs(), x.abs()) };
    if large <= 0.0 {
        return 0.0;
    }
    let ratio = small / large;
    let (base, u) =
        if ratio > TAN_PI_8 { (core::f32::consts::FRAC_PI_4, (ratio - 1.0) / (ratio + 1.0)) } else { (0.0, ratio) };
    let z = u * u;
    let mut angle = base + (u + u * z * polynomial(ATAN, z));
    if y.abs() > x.abs() {
        angle = core::f32::consts::FRAC_PI_2 - angle;
    }
    if x < 0.0 {
        angle = core::f32::consts::PI - angle;
    }
    if y < 0.0 { -angle } else { angle }
}

/// Returns the square root; NaN for negative numbers and NaN, infinity for infinity.
#[must_use]
#[inline]
pub fn sqrt(x: f32) -> f32 {
    if x < 0.0 || x.is_nan() {
        return f32::NAN;
    }
    if x <= 0.0 || x == f32::INFINITY {
        return x;
    }
    // Subnormal numbers have too few bits for the estimate below: scale them by an even power of two.
    let (x, scale) = if x < f32::MIN_POSITIVE { (x * 16_777_216.0, 1.0 / 4_096.0) } else { (x, 1.0) };
    // Halving and negating the exponent estimates 1/√x within 4 %; each step squares the error.
    let mut inverse = f32::from_bits(0x5f37_59df_u32.wrapping_sub(x.to_bits() >> 1));
    let half = 0.5 * x;
    for _ in 0..2 {
        inverse *= 1.5 - half * inverse * inverse;
    }
    let root = x * inverse;
    // One step of Heron's method on the root itself removes the rounding of the inverse.
    0.5 * (root + x / root) * scale
}

/// A vector with three components, in the frame that its name states.
pub type Vector3 = [f32; 3];

/// Returns the sum of two vectors, a + b.
#[must_use]
#[inline]
pub fn add([ax, ay, az]: Vector3, [bx, by, bz]: Vector3) -> Vector3 {
    [ax + bx, ay + by, az + bz]
}

/// Returns the difference of two vectors, a − b.
#[must_use]
#[inline]
pub fn subtract([ax, ay, az]: Vector3, [bx, by, bz]: Vector3) -> Vector3 {
    [ax - bx, ay - by, az - bz]
}

/// Returns a vector with each component multiplied by `factor`.
#[must_use]
#[inline]
pub fn scale([x, y, z]: Vector3, factor: f32) -> Vector3 {
    [x * factor, y * factor, z * factor]
}

/// Returns the scalar product of two vectors, a · b.
#[must_use]
#[inline]
pub fn dot([ax, ay, az]: Vector3, [bx, by, bz]: Vector3) -> f32 {
    ax * bx + ay * by + az * bz
}

/// Returns the cross product of two vectors, a × b.
#[must_use]
#[inline]
pub fn cross([ax, ay, az]: Vector3, [bx, by, bz]: Vector3) -> Vector3 {
    [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
}

/// Returns the length of a vector, |a|.
#[must_use]
#[inline]
pub fn norm(a: Vector3) -> f32 {
    sqrt(dot(a, a))
}

/// A rotation, stored as the three axes of the rotated frame in coordinates of the original frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rotation {
    /// The rotated x axis, in coordinates of the original frame.
    pub x: Vector3,
    /// The rotated y axis, in coordinates of the original frame.
    pub y: Vector3,
    /// The rotated z axis, in coordinates of the original frame.
    pub z: Vector3,
}

impl Rotation {
    /// The rotation by zero, which changes no vector.
    pub const IDENTITY: Self = Self { x: [1.0, 0.0, 0.0], y: [0.0, 1.0, 0.0], z: [0.0, 0.0, 1.0] };

    /// Returns the rotation of a rotation vector \[rad\], which is axis times angle.
    #[must_use]
    #[inline]
    pub fn from_vector(vector: Vector3) -> Self {
        let angle = norm(vector);
        // sin(θ)/θ and (1 − cos θ)/θ² by half angles, to avoid cancellation; by series for a tiny θ.
        let (a, b) = if angle < 1e-4 {
            (1.0, 0.5)
        } else {
            let (s, c) = sin_cos(0.5 * angle);
            (2.0 * s * c / angle, 2.0 * (s / angle) * (s / angle))
        };
        let [x, y, z] = vector;
        let [sx, sy, sz] = scale(vector, a);
        let (xx, yy, zz) = (b * x * x, b * y * y, b * z * z);
        let (xy, xz, yz) = (b * x * y, b * x * z, b * y * z);
        Self {
            x: [1.0 - (yy + zz), xy + sz, xz - sy],
            y: [xy - sz, 1.0 - (xx + zz), yz + sx],
            z: [xz + sy, yz - sx, 1.0 - (xx + yy)],
        }
    }

    /// Returns the rotation vector, axis times angle \[rad\]; its length is 0 … π.
    #[must_use]
    #[inline]
    pub fn to_vector(&self) -> Vector3 {
        let ([xx, xy, xz], [yx, yy, yz], [zx, zy, zz]) = (self.x, self.y, self.z);
        // Twice the quaternion, from its largest component: exact near no rotation and near half turns.
        let (w, v) = if xx + yy + zz > 0.0 {
            let w = sqrt(1.0 + xx + yy + zz);
            (w, scale([yz - zy, zx - xz, xy - yx], 1.0 / w))
        } else if xx >= yy && xx >= zz {
            let x = sqrt(1.0 + xx - yy - zz);
            ((yz - zy) / x, [x, (yx + xy) / x, (zx + xz) / x])
        } else if yy >= zz {
            let y = sqrt(1.0 - xx + yy - zz);
            ((zx - xz) / y, [(yx + xy) / y, y, (zy + yz) / y])
        } else {
            let z = sqrt(1.0 - xx - yy + zz);
            ((xy - yx) / z, [(zx + xz) / z, (zy + yz) / z, z])
        };
        let (w, v) = if w < 0.0 { (-w, scale(v, -1.0)) } else { (w, v) };
        let length = norm(v);
        // For tiny rotations the angle is 2·|v| / w, since |v| itself may underflow.
        let factor = if length < 1e-6 { 2.0 / w } else { 2.0 * atan2(length, w) / length };
        scale(v, factor)
    }

    /// Converts a vector from coordinates of the rotated frame to those of the original frame.
    #[must_use]
    #[inline]
    pub fn apply(&self, [x, y, z]: Vector3) -> Vector3 {
        add(add(scale(self.x, x), scale(self.y, y)), scale(self.z, z))
    }

    /// Returns the rotation that first rotates by `inner`, then by `self`.
    #[must_use]
    #[inline]
    pub fn after(&self, inner: &Self) -> Self {
        Self { x: self.apply(inner.x), y: self.apply(inner.y), z: self.apply(inner.z) }
    }
}

/// A coordinate frame: its origin, and its rotation as a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Frame {
    /// The origin of the frame in its reference frame \[m\].
    pub position: Vector3,
    /// The axes of the frame, in coordinates of its reference frame.
    pub rotation: Rotation,
}

impl Frame {
    /// Converts `inner`, which is relative to this frame, to the reference frame of this frame.
    #[must_use]
    #[inline]
    pub fn then(&self, inner: &Self) -> Self {
        Self {
            position: add(self.position, self.rotation.apply(inner.position)),
            rotation: self.rotation.after(&inner.rotation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bounds_hold_a_value_and_never_hide_what_is_no_number() {
        assert_eq!([-2.0, 0.5, 2.0].map(|v| bounded(v, -1.0, 1.0)), [-1.0, 0.5, 1.0]);
        assert_eq!(bounded(f32::INFINITY, -1.0, 1.0), 1.0);
        assert!(bounded(f32::NAN, -1.0, 1.0).is_nan());
        assert_eq!(bounded(0.5, f32::NAN, f32::NAN), 0.5);
        assert_eq!(bounded(0.5, 1.0, -1.0), 1.0);
    }

    #[test]
    fn sine_and_cosine_stay_within_their_bound_over_many_turns() {
        let mut worst = 0.0_f64;
        for i in -400_000..=400_000 {
            let angle = i as f32 * 3.1e-5;
            let (s, c) = sin_cos(angle);
            worst = worst.max((f64::from(s) - f64::from(angle).sin()).abs());
            worst = worst.max((f64::from(c) - f64::from(angle).cos()).abs());
        }
        for i in -12_799..12_799 {
            let angle = i as f32 + 0.123;
            let (s, c) = sin_cos(angle);
            worst = worst.max((f64::from(s) - f64::from(angle).sin()).abs());
            worst = worst.max((f64::from(c) - f64::from(angle).cos()).abs());
        }
        assert!(worst < 1e-7, "worst error {worst:e}");
    }

    #[test]
    fn an_angle_no_joint_can_have_gives_nan() {
        for angle in [f32::NAN, f32::INFINITY, -13_000.0, 1e30] {
            let (s, c) = sin_cos(angle);
            assert!(s.is_nan() && c.is_nan());
        }
    }

    /// Checks that the math functions give the bits that every host and board computes. Other bits would change the
    /// replay of every recorded run.
    #[test]
    fn the_bits_are_the_same_on_every_machine() {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut take = |value: f32| hash = (hash ^ u64::from(value.to_bits())).wrapping_mul(0x0100_0000_01b3);
        for i in -20_000_i16..20_000 {
            let x = f32::from(i) * 3.3e-4;
            let (s, c) = sin_cos(x);
            [s, c, atan2(s, x), sqrt(x.abs())].into_iter().for_each(&mut take);
        }
        assert_eq!(hash, 0x6bdd_cd46_101e_b9a8, "{hash:#018x}");
    }

    #[test]
    fn the_arc_tangent_knows_all_quadrants_and_the_axes() {
        for i in 0..3_600 {
            let angle = f64::from(i) * 0.1_f64.to_radians();
            for radius in [1e-20, 1.0, 1e20] {
                let (y, x) = ((angle.sin() * radius) as f32, (angle.cos() * radius) as f32);
                let expected = f64::from(y).atan2(f64::from(x));
                assert!((f64::from(atan2(y, x)) - expected).abs() < 3.5e-7, "{angle}");
            }
        }
        assert_eq!(atan2(0.0, 0.0), 0.0);
        assert_eq!(atan2(0.0, -1.0), core::f32::consts::PI);
        assert_eq!(atan2(-1.0, 0.0), -core::f32::consts::FRAC_PI_2);
    }

    #[test]
    fn the_square_root_has_its_special_values() {
        assert_eq!(sqrt(0.0), 0.0);
        assert_eq!(sqrt(f32::INFINITY), f32::INFINITY);
        assert!(sqrt(-1.0).is_nan() && sqrt(f32::NAN).is_nan());
    }

    proptest! {
        #[test]
        fn the_square_root_is_within_one_unit_in_the_last_place(bits in 1_u32..0x7f80_0000) {
            let x = f32::from_bits(bits);
            prop_assert!(sqrt(x).to_bits().abs_diff(x.sqrt().to_bits()) <= 1, "{x:e}");
        }

        #[test]
        fn a_rotation_vector_comes_back(x in -1.0_f32..1.0, y in -1.0_f32..1.0, z in -1.0_f32..1.0, angle in 0.0_f32..3.1) {
            let length = norm([x, y, z]);
            prop_assume!(length > 0.1);
            let vector = scale([x, y, z], angle / length);
            let back = Rotation::from_vector(vector).to_vector();
            prop_assert!(norm(subtract(vector, back)) < 3e-6, "{vector:?} {back:?}");
        }

        #[test]
        fn axes_of_a_rotation_stay_perpendicular_units(x in -7.0_f32..7.0, y in -7.0_f32..7.0, z in -7.0_f32..7.0) {
            let r = Rotation::from_vector([x, y, z]);
            for (a, b) in [(r.x, r.y), (r.y, r.z), (r.z, r.x)] {
                prop_assert!(dot(a, b).abs() < 2e-6 && (norm(a) - 1.0).abs() < 2e-6);
            }
            prop_assert!(norm(subtract(cross(r.x, r.y), r.z)) < 3e-6);
        }
    }

    #[test]
    fn a_half_turn_about_any_axis_keeps_its_axis() {
        for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.6, 0.0, 0.8], [-0.48, 0.6, 0.64]] {
            let vector = scale(axis, core::f32::consts::PI);
            let back = Rotation::from_vector(vector).to_vector();
            let apart = norm(subtract(vector, back)).min(norm(add(vector, back)));
            assert!(apart < 2e-6, "{axis:?}: {back:?}");
        }
    }
}
