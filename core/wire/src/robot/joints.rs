//! Vectors with one value per joint, base joint first. Numbers of the control path are `f32` on every port.

use crate::math::double_conversion::to_f32;

macro_rules! joint_vector {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub struct $name<const N: usize>(
            #[cfg_attr(feature = "serde", serde(with = "crate::robot::array_serde"))] pub [f32; N],
        );

        impl<const N: usize> $name<N> {
            /// The joint vector that is zero for every joint.
            pub const ZERO: Self = Self([0.0; N]);

            /// Returns the joint vector for the controller's `f64` values, each rounded to the nearest `f32`.
            #[must_use]
            pub fn from_wire(values: [f64; N]) -> Self {
                Self(values.map(to_f32))
            }

            /// Returns the values of all joints, base joint first.
            #[must_use]
            pub const fn as_array(&self) -> &[f32; N] {
                &self.0
            }

            /// Iterates over the values of all joints, base joint first.
            pub fn iter(&self) -> impl Iterator<Item = f32> + '_ {
                self.0.iter().copied()
            }

            /// Returns a joint vector with the result of `f` for each joint's values in `self` and `other`.
            #[must_use]
            pub fn zip_with<T>(&self, other: &[T; N], mut f: impl FnMut(f32, &T) -> f32) -> Self {
                let mut out = *self;
                for (o, b) in out.0.iter_mut().zip(other) {
                    *o = f(*o, b);
                }
                out
            }

            /// Returns a joint vector with the result of `f` for each joint's value.
            #[must_use]
            pub fn map(&self, f: impl FnMut(f32) -> f32) -> Self {
                Self(self.0.map(f))
            }

            /// Returns the largest magnitude among the joints' values; NaN if a joint is NaN.
            #[must_use]
            pub fn max_abs(&self) -> f32 {
                // Magnitudes have the order of their bits, with NaN as the largest.
                f32::from_bits(self.iter().fold(0, |largest, v| largest.max(v.abs().to_bits())))
            }

            /// Returns whether no joint's value is NaN or infinite.
            #[must_use]
            pub fn is_finite(&self) -> bool {
                self.max_abs().is_finite()
            }
        }

        impl<const N: usize> Default for $name<N> {
            fn default() -> Self {
                Self::ZERO
            }
        }

        impl<const N: usize> From<[f32; N]> for $name<N> {
            fn from(values: [f32; N]) -> Self {
                Self(values)
            }
        }
    };
}

joint_vector! {
    /// The angles of all joints of an arm \[rad\].
    #[doc(alias = "q")]
    JointPositions
}
joint_vector! {
    /// The speeds of all joints of an arm \[rad/s\].
    #[doc(alias = "qd")]
    JointVelocities
}
joint_vector! {
    /// The accelerations of all joints of an arm \[rad/s²\].
    #[doc(alias = "qdd")]
    JointAccelerations
}
joint_vector! {
    /// The torques of all joints of an arm \[Nm\].
    #[doc(alias = "tau")]
    JointTorques
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_magnitude_keeps_nan_visible() {
        assert_eq!(JointVelocities([0.5, -2.0]).max_abs(), 2.0);
        assert!(JointVelocities([f32::NAN, 1.0]).max_abs().is_nan());
    }
}
