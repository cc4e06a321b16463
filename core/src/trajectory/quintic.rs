//! The quintic segment of a motion: for each joint one polynomial between two setpoints with accelerations.

use super::Setpoint;
use super::polynomial::Polynomial;
use outrigger_wire::math::bounded;
use outrigger_wire::robot::{JointAccelerations, JointPositions, JointVelocities};

/// A quintic from one setpoint and acceleration to another in a given time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuinticSegment<const N: usize> {
    start: JointPositions<N>,
    /// The displacement of each joint from the start \[rad\] as a function of the elapsed fraction of the time.
    joints: [Polynomial; N],
    seconds: f32,
}

impl<const N: usize> QuinticSegment<N> {
    /// Creates the quintic between two setpoints, each with the accelerations \[rad/s²\] there, in `seconds`. If
    /// `seconds` is zero, negative or NaN, the segment stays at the end.
    #[must_use]
    pub fn new(
        (start, begin): (&Setpoint<N>, &JointAccelerations<N>),
        (end, stop): (&Setpoint<N>, &JointAccelerations<N>),
        seconds: f32,
    ) -> Self {
        let mut joints = [Polynomial::default(); N];
        if seconds.is_nan() || seconds <= 0.0 {
            return Self { start: end.positions, joints, seconds: 0.0 };
        }
        let way = start.positions.iter().zip(end.positions.iter());
        let speeds = start.velocities.iter().zip(end.velocities.iter());
        let accelerations = begin.iter().zip(stop.iter());
        for (joint, (((q0, q1), (v0, v1)), (a0, a1))) in joints.iter_mut().zip(way.zip(speeds).zip(accelerations)) {
            let h = q1 - q0;
            let (v0, v1) = (v0 * seconds, v1 * seconds);
            let (a0, a1) = (0.5 * a0 * seconds * seconds, 0.5 * a1 * seconds * seconds);
            *joint = Polynomial([
                0.0,
                v0,
                a0,
                10.0 * h - 6.0 * v0 - 4.0 * v1 - 3.0 * a0 + a1,
                -15.0 * h + 8.0 * v0 + 7.0 * v1 + 3.0 * a0 - 2.0 * a1,
                6.0 * h - 3.0 * (v0 + v1) - a0 + a1,
            ]);
        }
        Self { start: start.positions, joints, seconds }
    }

    /// Returns the setpoint `t` seconds after the start. Outside the segment it is that of the nearer end.
    #[must_use]
    pub fn at(&self, t: f32) -> Setpoint<N> {
        let mut setpoint = Setpoint { positions: self.start, velocities: JointVelocities::ZERO };
        if self.seconds <= 0.0 {
            return setpoint;
        }
        let per_second = 1.0 / self.seconds;
        let share = bounded(t, 0.0, self.seconds) * per_second;
        let joints = setpoint.positions.0.iter_mut().zip(&mut setpoint.velocities.0);
        for ((q, v), joint) in joints.zip(&self.joints) {
            *q += joint.at(share);
            *v = joint.derivative().at(share) * per_second;
        }
        setpoint
    }

    /// Returns the accelerations \[rad/s²\] `t` seconds after the start. Outside the segment they are those of the
    /// nearer end.
    #[must_use]
    pub fn accelerations_at(&self, t: f32) -> JointAccelerations<N> {
        if self.seconds <= 0.0 {
            return JointAccelerations::ZERO;
        }
        let (share, squared) = (bounded(t, 0.0, self.seconds) / self.seconds, self.seconds * self.seconds);
        JointAccelerations(self.joints.map(|joint| joint.derivative().derivative().at(share) / squared))
    }

    /// Returns the lowest and the highest angle of each joint within the segment \[rad\].
    #[must_use]
    pub fn extent(&self) -> (JointPositions<N>, JointPositions<N>) {
        let (mut lowest, mut highest) = (self.start, self.start);
        for ((low, high), joint) in lowest.0.iter_mut().zip(&mut highest.0).zip(&self.joints) {
            let (least, most) = joint.extremes();
            *low += least;
            *high += most;
        }
        (lowest, highest)
    }

    /// Returns the highest speed of each joint within the segment, as a magnitude \[rad/s\].
    #[must_use]
    pub fn peak_velocities(&self) -> JointVelocities<N> {
        JointVelocities(self.joints.map(|joint| self.peak(joint.derivative(), self.seconds)))
    }

    /// Returns the highest acceleration of each joint within the segment, as a magnitude \[rad/s²\].
    #[must_use]
    pub fn peak_accelerations(&self) -> JointAccelerations<N> {
        let squared = self.seconds * self.seconds;
        JointAccelerations(self.joints.map(|joint| self.peak(joint.derivative().derivative(), squared)))
    }

    fn peak(&self, of: Polynomial, per: f32) -> f32 {
        let (least, most) = of.extremes();
        if per > 0.0 { most.abs().max(least.abs()) / per } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn end(q: f32, v: f32, a: f32) -> (Setpoint<1>, JointAccelerations<1>) {
        (Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) }, JointAccelerations([a]))
    }

    fn between(
        from: &(Setpoint<1>, JointAccelerations<1>),
        to: &(Setpoint<1>, JointAccelerations<1>),
        s: f32,
    ) -> QuinticSegment<1> {
        QuinticSegment::new((&from.0, &from.1), (&to.0, &to.1), s)
    }

    #[test]
    fn a_segment_without_time_is_where_it_ends() {
        for seconds in [0.0, -1.0, f32::NAN] {
            let segment = between(&end(1.0, 0.5, 0.0), &end(2.0, 0.0, 1.0), seconds);
            assert_eq!(segment.at(0.3), end(2.0, 0.0, 0.0).0);
            assert_eq!(segment.peak_velocities(), JointVelocities([0.0]));
        }
    }

    #[test]
    fn from_rest_to_rest_the_peaks_are_the_known_ones() {
        // The minimum-jerk motion: 15/8 of the mean speed, 10/√3 of distance over time squared.
        let segment = between(&end(0.0, 0.0, 0.0), &end(1.0, 0.0, 0.0), 2.0);
        assert!((segment.peak_velocities().0[0] - 1.875 / 2.0).abs() < 1e-5);
        assert!((segment.peak_accelerations().0[0] - 5.773_503 / 4.0).abs() < 1e-4);
        assert_eq!(segment.extent().0, JointPositions([0.0]));
    }

    proptest! {
        #[test]
        fn a_segment_begins_and_ends_where_it_says_and_moves_as_fast_as_it_says(
            (q0, v0, a0) in (-6.0_f32..6.0, -2.0_f32..2.0, -5.0_f32..5.0),
            (q1, v1, a1) in (-6.0_f32..6.0, -2.0_f32..2.0, -5.0_f32..5.0),
            seconds in 0.1_f32..10.0,
        ) {
            let segment = between(&end(q0, v0, a0), &end(q1, v1, a1), seconds);
            let (first, last) = (segment.at(0.0), segment.at(seconds));
            // The terms for a long segment with steep ends are hundreds of radians that cancel.
            let size = 12.0 + 10.0 * seconds + 3.0 * seconds * seconds;
            prop_assert!((first.positions.0[0] - q0).abs() < 1e-5);
            prop_assert!((first.velocities.0[0] - v0).abs() < 1e-4);
            prop_assert!((last.positions.0[0] - q1).abs() < 3e-6 * size, "{last:?}");
            prop_assert!((last.velocities.0[0] - v1).abs() < 1e-5 * size / seconds, "{last:?}");
            let steps: Vec<_> = (0..=1000_u16).map(|i| segment.at(seconds * f32::from(i) / 1000.0)).collect();
            let fastest = steps.iter().map(|s| s.velocities.max_abs()).fold(0.0, f32::max);
            let peak = segment.peak_velocities().0[0];
            prop_assert!(fastest <= peak * 1.0001 + 1e-4, "{fastest} above {peak}");
            prop_assert!(fastest >= peak * 0.999 - 2e-3, "{fastest} below {peak}");
            let (lowest, highest) = segment.extent();
            let reached = |pick: fn(f32, f32) -> f32| steps.iter().map(|s| s.positions.0[0]).reduce(pick).unwrap();
            prop_assert!((reached(f32::min) - lowest.0[0]).abs() < 1e-3, "{lowest:?}");
            prop_assert!((reached(f32::max) - highest.0[0]).abs() < 1e-3, "{highest:?}");
            let step = seconds / 1000.0;
            let steepest = segment.peak_accelerations().0[0];
            for pair in steps.windows(2) {
                let slope = (pair[1].positions.0[0] - pair[0].positions.0[0]) / step;
                let mean = 0.5 * (pair[0].velocities.0[0] + pair[1].velocities.0[0]);
                prop_assert!((slope - mean).abs() < 0.02 + 2e-5 * size / step, "slope {slope}, speed {mean}");
                let turn = (pair[1].velocities.0[0] - pair[0].velocities.0[0]).abs() / step;
                prop_assert!(turn <= steepest * 1.001 + 2e-5 * size / (seconds * step), "{turn} above {steepest}");
            }
        }
    }
}
