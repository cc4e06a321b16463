//! The Denavit–Hartenberg parameters of an arm.

use super::models;
use outrigger_wire::math::double_conversion::to_f32_by_call;
use outrigger_wire::math::sin_cos;
use outrigger_wire::robot::RobotModel;

/// The Denavit–Hartenberg parameters of one joint, with sine and cosine of its turn about x computed in advance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Joint {
    /// The offset θ added to the joint's measured angle \[rad\].
    pub(super) theta: f32,
    /// The shift along the x axis to the next joint \[m\].
    pub(super) a: f32,
    /// The shift along the joint's axis of rotation, z \[m\].
    pub(super) d: f32,
    /// The sine of the turn about the x axis to the next joint.
    pub(super) sin_alpha: f32,
    /// The cosine of the turn about the x axis to the next joint.
    pub(super) cos_alpha: f32,
}

/// The Denavit–Hartenberg parameters of an arm with `N` joints.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct DhParameters<const N: usize> {
    #[cfg_attr(feature = "record", serde(with = "outrigger_wire::robot::array_serde"))]
    pub(super) joints: [Joint; N],
}

/// The error for Denavit–Hartenberg parameters that cannot be those of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DhError {
    /// The first joint, counted from 0, with a parameter that is NaN, infinite or larger than in any arm.
    pub joint: u8,
}

impl core::fmt::Display for DhError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "the kinematic parameters of joint {} are invalid", self.joint.saturating_add(1))
    }
}

impl core::error::Error for DhError {}

/// The largest accepted shift in Denavit–Hartenberg parameters \[m\]. Calibration can shift the nearly parallel axes of
/// upper arm and forearm by tens of metres along each other, with opposite signs, although the arm itself is small.
const LARGEST_SHIFT: f64 = 1_000.0;
/// The largest accepted angle in Denavit–Hartenberg parameters \[rad\].
const LARGEST_ANGLE: f64 = 100.0;

impl<const N: usize> DhParameters<N> {
    /// Builds the parameters from four arrays in the order of the kinematics-info sub-package
    /// (`core/docs/protocol/ur-client-interfaces.md 3.7`): θ \[rad\], a \[m\], d \[m\], α \[rad\], as the robot itself
    /// sends them (absolute, calibrated).
    ///
    /// # Errors
    /// Returns the first joint with a number that is not finite or out of range.
    pub fn from_arrays(theta: [f64; N], a: [f64; N], d: [f64; N], alpha: [f64; N]) -> Result<Self, DhError> {
        let mut joints = [Joint { theta: 0.0, a: 0.0, d: 0.0, sin_alpha: 0.0, cos_alpha: 1.0 }; N];
        let values = theta.iter().zip(&a).zip(d.iter().zip(&alpha));
        for ((number, joint), ((theta, a), (d, alpha))) in (0_u8..).zip(&mut joints).zip(values) {
            let small = |value: &f64, largest: f64| value.abs() <= largest;
            let angles = small(theta, LARGEST_ANGLE) && small(alpha, LARGEST_ANGLE);
            if !(angles && small(a, LARGEST_SHIFT) && small(d, LARGEST_SHIFT)) {
                return Err(DhError { joint: number });
            }
            let (sin_alpha, cos_alpha) = sin_cos(to_f32_by_call(*alpha));
            *joint = Joint {
                theta: to_f32_by_call(*theta),
                a: to_f32_by_call(*a),
                d: to_f32_by_call(*d),
                sin_alpha,
                cos_alpha,
            };
        }
        Ok(Self { joints })
    }
}

impl DhParameters<6> {
    /// Returns the nominal Denavit–Hartenberg parameters of a model. The calibrated parameters of a particular arm move
    /// the tool by up to some millimetres: prefer them if the robot sends them.
    #[must_use]
    pub fn of(model: RobotModel) -> Self {
        let [d1, a2, a3, d4, d5, d6] = models::lengths(model);
        let joint = |a, d, (sin_alpha, cos_alpha)| Joint { theta: 0.0, a, d, sin_alpha, cos_alpha };
        let (straight, quarter_turn, back) = ((0.0, 1.0), (1.0, 0.0), (-1.0, 0.0));
        let joints = [
            joint(0.0, d1, quarter_turn),
            joint(a2, 0.0, straight),
            joint(a3, 0.0, straight),
            joint(0.0, d4, quarter_turn),
            joint(0.0, d5, back),
            joint(0.0, d6, straight),
        ];
        Self { joints }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_describe_no_arm_are_refused_by_joint() {
        let zero = [0.0; 6];
        for bad in [f64::NAN, f64::INFINITY, -1e9] {
            let with = |joint: usize| {
                let mut values = zero;
                values[joint] = bad;
                values
            };
            assert_eq!(DhParameters::from_arrays(with(0), zero, zero, zero), Err(DhError { joint: 0 }));
            assert_eq!(DhParameters::from_arrays(zero, with(3), zero, zero), Err(DhError { joint: 3 }));
            assert_eq!(DhParameters::from_arrays(zero, zero, with(5), zero), Err(DhError { joint: 5 }));
            assert_eq!(DhParameters::from_arrays(zero, zero, zero, with(1)), Err(DhError { joint: 1 }));
        }
    }
}
