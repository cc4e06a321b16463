//! The selection of waypoints that may be omitted for a receiver with limited space, and a bound for the resulting
//! deviation.

use super::{Leg, Waypoint};
use outrigger_wire::time::Duration;

/// The number of waypoints that are kept at most for each cycle. Out of the [`MAX_WAYPOINTS`](super::MAX_WAYPOINTS)
/// that an engine holds, there are then enough for a fresh state and for three missed ones before it.
const PER_CYCLE: u64 = 4;
/// The permitted deviation of an omitted waypoint from the path, as a fraction of the path tolerance.
const NOTED: f32 = 0.1;

/// The least time between waypoints, and the permitted deviation of those omitted for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// The shortest time between two kept waypoints; between the first and the last it may be shorter.
    pub least: Duration,
    /// The permitted deviation of each joint, at an omitted waypoint, from the path through the kept ones \[rad\].
    pub beside: f32,
}

/// The decision whether a waypoint of a motion is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaypointUse {
    /// The waypoint is omitted from the motion.
    LeftOut,
    /// The waypoint is kept in the motion, after the earlier ones.
    Kept,
    /// The waypoint replaces the previous one, which is too close in time.
    InPlace,
}

impl Spacing {
    /// The spacing for the program that executes motions on a UR controller and receives one waypoint in each cycle:
    /// four waypoints last longer than the delays to expect.
    pub const PLAYER: Self = Self { least: Duration::from_millis(40), beside: 5e-4 };

    /// Returns the spacing for a control law whose states are `cycle` apart and whose path tolerance is
    /// `path_tolerance` \[rad\].
    #[must_use]
    pub fn for_cycle(cycle: Duration, path_tolerance: f32) -> Self {
        Self { least: Duration::from_micros(cycle.as_micros() / PER_CYCLE), beside: NOTED * path_tolerance }
    }

    /// Decides whether the waypoint `next` is kept, given the `kept` ones so far. `last` is `true` if it is the last of
    /// the motion.
    #[must_use]
    pub fn place<const N: usize>(&self, kept: &[Waypoint<N>], next: &Waypoint<N>, last: bool) -> WaypointUse {
        match kept {
            [.., before] if next.at - before.at < self.least => match (last, kept.len()) {
                (false, _) => WaypointUse::LeftOut,
                // The first waypoint of the motion must be kept, too.
                (true, 1) => WaypointUse::Kept,
                (true, _) => WaypointUse::InPlace,
            },
            _ => WaypointUse::Kept,
        }
    }

    /// Checks that the waypoint `left_out` may be omitted between `from` and `to`, which are kept.
    ///
    /// # Errors
    /// Returns the deviation from the path \[rad\] if it is too large.
    pub fn allows<const N: usize>(
        &self,
        from: &Waypoint<N>,
        to: &Waypoint<N>,
        left_out: &Waypoint<N>,
    ) -> Result<(), f32> {
        let on = Leg::between(from, to).at((left_out.at - from.at).as_secs_f32()).positions;
        let off = on.zip_with(left_out.setpoint.positions.as_array(), |on, q| on - q).max_abs();
        // NaN counts as too far.
        if off <= self.beside { Ok(()) } else { Err(off) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trajectory::Setpoint;
    use outrigger_wire::robot::{JointPositions, JointVelocities};

    fn way(millis: u64, q: f32, v: f32) -> Waypoint<1> {
        let setpoint = Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) };
        Waypoint { setpoint, accelerations: None, at: Duration::from_millis(millis) }
    }

    fn kept(spacing: &Spacing, all: &[Waypoint<1>]) -> Vec<Waypoint<1>> {
        let mut kept = Vec::new();
        for (i, next) in all.iter().enumerate() {
            match spacing.place(&kept, next, i + 1 == all.len()) {
                WaypointUse::LeftOut => {}
                WaypointUse::Kept => kept.push(*next),
                WaypointUse::InPlace => *kept.last_mut().expect("there is one") = *next,
            }
        }
        kept
    }

    #[test]
    fn a_waypoint_between_may_be_as_far_beside_the_way_as_is_said() {
        let (from, to) = (way(0, 0.0, 1.0), way(40, 0.04, 1.0));
        let spacing = Spacing::PLAYER;
        assert_eq!(spacing.allows(&from, &to, &way(20, 0.02, 1.0)), Ok(()));
        assert_eq!(spacing.allows(&from, &to, &way(20, 0.0204, 9.0)), Ok(()), "its speed is the way's");
        let off = spacing.allows(&from, &to, &way(20, 0.0206, 1.0)).unwrap_err();
        assert!((off - 6e-4).abs() < 1e-6, "{off}");
        assert!(spacing.allows(&from, &to, &way(20, f32::NAN, 1.0)).is_err());
    }

    #[test]
    fn a_short_cycle_leaves_everything_and_the_tolerance_is_a_share_of_the_path_s() {
        let spacing = Spacing::for_cycle(Duration::from_millis(12), 0.5);
        assert_eq!((spacing.least, spacing.beside), (Duration::from_millis(3), 0.05));
        let all: Vec<_> = (0..100).map(|i| way(4 * i, 0.0, 0.0)).collect();
        assert_eq!(kept(&spacing, &all), all);
        assert_eq!(kept(&spacing, &all[..1]), all[..1]);
        let close = [way(0, 0.0, 0.0), way(1, 0.1, 0.0)];
        assert_eq!(kept(&spacing, &close), close, "both ends are kept, however close");
    }

    proptest! {
        #[test]
        fn what_is_kept_is_far_enough_apart_and_has_both_ends(
            least in 0_u64..200, gaps in prop::collection::vec(1_u64..120, 1..80),
        ) {
            let mut at = 0;
            let mut all = vec![way(0, 0.0, 0.0)];
            for gap in gaps {
                at += gap;
                all.push(way(at, 0.0, 0.0));
            }
            let spacing = Spacing { least: Duration::from_millis(least), beside: 0.0 };
            let kept = kept(&spacing, &all);
            prop_assert_eq!((kept.first(), kept.last()), (all.first(), all.last()));
            prop_assert!(kept.len() == 2 || kept.windows(2).all(|pair| pair[1].at - pair[0].at >= spacing.least));
            prop_assert!(kept.windows(2).all(|pair| pair[1].at > pair[0].at));
            // No waypoint was omitted that could have been kept after its predecessor.
            for pair in kept.windows(2).take(kept.len().saturating_sub(2)) {
                let first = all.iter().find(|way| way.at >= pair[0].at + spacing.least && way.at > pair[0].at);
                prop_assert_eq!(first, Some(&pair[1]));
            }
        }
    }
}
