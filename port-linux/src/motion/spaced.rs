//! A motion for a robot whose cycle is longer than its waypoints are apart.

use outrigger_core::robot::JointPositions;
use outrigger_core::time::Duration;
use outrigger_core::trajectory::{Leg, Waypoint};

use super::Motion;

/// Of one cycle, at most so many waypoints are kept: of the sixteen that an engine holds, a fresh state finds enough for itself and
/// for three that are missing before it.
const PER_CYCLE: u64 = 4;

impl<const N: usize> Motion<N> {
    /// The same motion without waypoints that a robot with this `cycle` passes by unseen: from one cycle to the next it has four at
    /// most. What is left out is passed at this distance at most \[rad\].
    pub(crate) fn for_cycle(self, cycle: Duration) -> (Self, f32) {
        let least = Duration::from_micros(cycle.as_micros() / PER_CYCLE);
        let count = self.waypoints.len();
        let mut kept: Vec<Waypoint<N>> = Vec::with_capacity(count);
        let mut left_out: Vec<Waypoint<N>> = Vec::new();
        let mut farthest = 0.0_f32;
        for (number, waypoint) in (1..).zip(self.waypoints) {
            match kept.last() {
                Some(from) if number < count && waypoint.at - from.at < least => left_out.push(waypoint),
                from => {
                    let leg = from.map(|from| (from.at, Leg::between(from, &waypoint)));
                    let off = leg.iter().flat_map(|(begin, leg)| {
                        left_out.iter().map(|way| {
                            let on_leg = leg.at((way.at - *begin).as_secs_f32()).positions;
                            distance(&on_leg, &way.setpoint.positions)
                        })
                    });
                    farthest = off.fold(farthest, f32::max);
                    left_out.clear();
                    kept.push(waypoint);
                }
            }
        }
        (Self { waypoints: kept, ..self }, farthest)
    }
}

fn distance<const N: usize>(a: &JointPositions<N>, b: &JointPositions<N>) -> f32 {
    a.zip_with(b.as_array(), |a, b| a - b).max_abs()
}

#[cfg(test)]
mod tests {
    use outrigger_core::robot::JointVelocities;
    use outrigger_core::trajectory::Setpoint;

    use super::*;

    /// A sine of half a radian in four seconds, with a waypoint every `millis`.
    fn sine(millis: u64) -> Motion<1> {
        let turn = std::f32::consts::TAU / 4.0;
        let waypoint = |at: u64| {
            let (sine, cosine) = (turn * at as f32 * 1e-3).sin_cos();
            let velocity = if at == 0 || at == 4_000 { 0.0 } else { 0.25 * turn * sine };
            let setpoint =
                Setpoint { positions: JointPositions([0.25 - 0.25 * cosine]), velocities: JointVelocities([velocity]) };
            Waypoint { setpoint, accelerations: None, at: Duration::from_millis(at) }
        };
        Motion::through((0..=4_000 / millis).map(|number| waypoint(number * millis)).collect()).expect("a motion")
    }

    #[test]
    fn a_short_cycle_leaves_a_motion_as_it_is_and_a_long_one_has_four_waypoints_of_it() {
        let whole = sine(4);
        assert_eq!(whole.clone().for_cycle(Duration::from_millis(12)), (whole.clone(), 0.0));
        let (thin, farthest) = whole.clone().for_cycle(Duration::from_millis(100));
        let gaps = thin.waypoints().windows(2).map(|pair| (pair[1].at - pair[0].at).as_micros());
        assert!(gaps.clone().rev().skip(1).all(|gap| gap == 28_000), "{:?}", gaps.collect::<Vec<_>>());
        assert_eq!((thin.goal(), thin.duration()), (whole.goal(), whole.duration()));
        assert!((1e-9..1e-6).contains(&farthest), "{farthest}");
    }

    #[test]
    fn what_would_be_cut_off_is_told() {
        let mut waypoints = sine(4).into_waypoints();
        // A tooth between two that are kept.
        waypoints[101].setpoint.positions = JointPositions([0.3]);
        let (_, farthest) = Motion::through(waypoints).expect("a motion").for_cycle(Duration::from_millis(100));
        assert!(farthest > 0.2, "{farthest}");
    }
}
