//! The cubic segment of a motion: for each joint one polynomial between two setpoints.

use outrigger_wire::math::{bounded, sqrt};
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};

/// A point of a motion: the desired joint angles, and the speeds there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Setpoint<const N: usize> {
    /// The desired joint angles at this point of the motion \[rad\].
    pub positions: JointPositions<N>,
    /// The desired joint speeds at this point of the motion \[rad/s\].
    pub velocities: JointVelocities<N>,
}

/// A cubic from one setpoint to another in a given time: q = q₀ + t (v₀ + t (b + t c)).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct CubicSegment<const N: usize> {
    start: Setpoint<N>,
    #[cfg_attr(feature = "record", serde(with = "outrigger_wire::robot::array_serde"))]
    quadratic: [f32; N],
    #[cfg_attr(feature = "record", serde(with = "outrigger_wire::robot::array_serde"))]
    cubic: [f32; N],
    seconds: f32,
}

impl<const N: usize> CubicSegment<N> {
    /// Creates the cubic from `start` to `end` in `seconds`. If `seconds` is zero, negative or NaN, the segment stays
    /// at `end`.
    #[must_use]
    pub fn new(start: Setpoint<N>, end: Setpoint<N>, seconds: f32) -> Self {
        if seconds.is_nan() || seconds <= 0.0 {
            return Self { start: end, quadratic: [0.0; N], cubic: [0.0; N], seconds: 0.0 };
        }
        let per_second = 1.0 / seconds;
        let (mut quadratic, mut cubic) = ([0.0; N], [0.0; N]);
        let begin = start.positions.iter().zip(start.velocities.iter());
        let stop = end.positions.iter().zip(end.velocities.iter());
        for ((b, c), (from, to)) in quadratic.iter_mut().zip(&mut cubic).zip(begin.zip(stop)) {
            (*b, *c) = coefficients(from, to, per_second);
        }
        Self { start, quadratic, cubic, seconds }
    }

    /// Returns the same as [`at`](Self::at) of the cubic from `start` to `end`, without building the cubic: half the
    /// code on a microcontroller.
    #[inline]
    pub(super) fn setpoint(start: &Setpoint<N>, end: &Setpoint<N>, seconds: f32, t: f32) -> Setpoint<N> {
        if seconds.is_nan() || seconds <= 0.0 {
            return *end;
        }
        let (t, per_second) = (bounded(t, 0.0, seconds), 1.0 / seconds);
        let mut setpoint = *start;
        let joints = setpoint.positions.0.iter_mut().zip(&mut setpoint.velocities.0);
        for ((q, v), to) in joints.zip(end.positions.iter().zip(end.velocities.iter())) {
            let (b, c) = coefficients((*q, *v), to, per_second);
            (*q, *v) = on_the_way(*q, *v, b, c, t);
        }
        setpoint
    }

    /// Returns the duration of the cubic segment \[s\].
    #[must_use]
    pub const fn seconds(&self) -> f32 {
        self.seconds
    }

    /// Returns the setpoint `t` seconds after the start of the segment. Outside the segment it is that of the nearer
    /// end.
    #[must_use]
    pub fn at(&self, t: f32) -> Setpoint<N> {
        let t = bounded(t, 0.0, self.seconds);
        let mut setpoint = self.start;
        let joints = setpoint.positions.0.iter_mut().zip(&mut setpoint.velocities.0);
        for (((q, v), b), c) in joints.zip(&self.quadratic).zip(&self.cubic) {
            (*q, *v) = on_the_way(*q, *v, *b, *c, t);
        }
        setpoint
    }

    /// Returns the lowest and the highest angle of each joint within the segment \[rad\].
    #[must_use]
    pub fn extent(&self) -> (JointPositions<N>, JointPositions<N>) {
        let end = self.at(self.seconds).positions;
        let mut lowest = self.start.positions.zip_with(end.as_array(), |s, e| s.min(*e));
        let mut highest = self.start.positions.zip_with(end.as_array(), |s, e| s.max(*e));
        let curves = self.start.positions.iter().zip(self.start.velocities.iter());
        let curves = curves.zip(&self.quadratic).zip(&self.cubic);
        for ((lowest, highest), (((q0, v0), b), c)) in lowest.0.iter_mut().zip(&mut highest.0).zip(curves) {
            // A turning point is where the speed v₀ + 2b·t + 3c·t² is zero. The roots are computed in the form without
            // cancellation. Roots that do not exist are NaN, for which both comparisons are false.
            let root = sqrt(b * b - 3.0 * c * v0);
            let sum = -(b + if *b < 0.0 { -root } else { root });
            for t in [sum / (3.0 * c), v0 / sum] {
                if t > 0.0 && t < self.seconds {
                    let q = q0 + t * (v0 + t * (b + t * c));
                    *lowest = lowest.min(q);
                    *highest = highest.max(q);
                }
            }
        }
        (lowest, highest)
    }

    /// Returns the highest speed of each joint within the segment, as a magnitude \[rad/s\].
    #[must_use]
    pub fn peak_velocities(&self) -> JointVelocities<N> {
        let end = self.at(self.seconds).velocities;
        let mut peaks = self.start.velocities.zip_with(end.as_array(), |s, e| s.abs().max(e.abs()));
        let curves = self.start.velocities.iter().zip(&self.quadratic).zip(&self.cubic);
        for (peak, ((v0, b), c)) in peaks.0.iter_mut().zip(curves) {
            // The speed is a parabola in time; its vertex counts if it is inside the segment.
            let vertex = -b / (3.0 * c);
            if vertex > 0.0 && vertex < self.seconds {
                *peak = peak.max((v0 + b * vertex).abs());
            }
        }
        peaks
    }

    /// Returns the highest acceleration of each joint, as a magnitude \[rad/s²\]. It occurs at one of the ends.
    #[must_use]
    pub fn peak_accelerations(&self) -> JointAccelerations<N> {
        let mut peaks = JointAccelerations::ZERO;
        for ((peak, b), c) in peaks.0.iter_mut().zip(&self.quadratic).zip(&self.cubic) {
            *peak = (2.0 * b).abs().max((2.0 * b + 6.0 * c * self.seconds).abs());
        }
        peaks
    }
}

/// Returns the factors of t² and t³ of one joint's cubic, from its angle \[rad\] and speed \[rad/s\] at both ends.
#[inline(always)]
fn coefficients((q0, v0): (f32, f32), (q1, v1): (f32, f32), per_second: f32) -> (f32, f32) {
    let mean = (q1 - q0) * per_second;
    ((3.0 * mean - 2.0 * v0 - v1) * per_second, (v0 + v1 - 2.0 * mean) * per_second * per_second)
}

/// Returns the angle \[rad\] and the speed \[rad/s\] of one joint at time `t` \[s\] of its cubic, which has the factors
/// `b` and `c`.
#[inline(always)]
fn on_the_way(q0: f32, v0: f32, b: f32, c: f32, t: f32) -> (f32, f32) {
    (q0 + t * (v0 + t * (b + t * c)), v0 + t * (2.0 * b + 3.0 * t * c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn setpoint(q: f32, v: f32) -> Setpoint<1> {
        Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) }
    }

    #[test]
    fn a_segment_without_time_is_its_end() {
        for seconds in [0.0, -1.0, f32::NAN] {
            let segment = CubicSegment::new(setpoint(1.0, 0.0), setpoint(2.0, 0.5), seconds);
            assert_eq!(segment.at(0.3), setpoint(2.0, 0.5));
        }
    }

    #[test]
    fn from_rest_to_rest_the_peaks_are_the_known_ones() {
        let segment = CubicSegment::new(setpoint(0.0, 0.0), setpoint(1.0, 0.0), 2.0);
        assert!((segment.peak_velocities().0[0] - 1.5 / 2.0).abs() < 1e-6);
        assert!((segment.peak_accelerations().0[0] - 6.0 / 4.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn a_segment_begins_and_ends_where_it_says_and_moves_as_fast_as_it_says(
            (q0, v0) in (-6.0_f32..6.0, -2.0_f32..2.0),
            (q1, v1) in (-6.0_f32..6.0, -2.0_f32..2.0),
            seconds in 0.1_f32..10.0,
        ) {
            let segment = CubicSegment::new(setpoint(q0, v0), setpoint(q1, v1), seconds);
            let (start, end) = (segment.at(0.0), segment.at(seconds));
            prop_assert_eq!(start, setpoint(q0, v0));
            prop_assert!((end.positions.0[0] - q1).abs() < 2e-5, "{:?}", end);
            prop_assert!((end.velocities.0[0] - v1).abs() < 2e-3, "{:?}", end);
            let peak = segment.peak_velocities().0[0];
            let steps: Vec<_> = (0..=1000_u16).map(|i| segment.at(seconds * f32::from(i) / 1000.0)).collect();
            let fastest = steps.iter().map(|s| s.velocities.max_abs()).fold(0.0, f32::max);
            prop_assert!(fastest <= peak * 1.0001 + 1e-4, "{fastest} above {peak}");
            prop_assert!(fastest >= peak * 0.999 - 1e-3, "{fastest} below {peak}");
            let (lowest, highest) = segment.extent();
            let reached = |pick: fn(f32, f32) -> f32| steps.iter().map(|s| s.positions.0[0]).reduce(pick).unwrap();
            prop_assert!((reached(f32::min) - lowest.0[0]).abs() < 1e-4, "{lowest:?}");
            prop_assert!((reached(f32::max) - highest.0[0]).abs() < 1e-4, "{highest:?}");
            for pair in steps.windows(2) {
                let slope = (pair[1].positions.0[0] - pair[0].positions.0[0]) / (seconds / 1000.0);
                let mean = 0.5 * (pair[0].velocities.0[0] + pair[1].velocities.0[0]);
                prop_assert!((slope - mean).abs() < 0.02 + 2e-3 / seconds, "slope {slope}, speed {mean}");
            }
        }
    }
}
