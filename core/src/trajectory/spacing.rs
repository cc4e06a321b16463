//! Which waypoints may be left out for who is told of them at a time, and what that changes.

use super::{Leg, Waypoint};
use outrigger_wire::time::Duration;

/// Of one cycle, at most so many waypoints are kept: of the [`MAX_WAYPOINTS`](super::MAX_WAYPOINTS) that an engine holds, a fresh state
/// finds enough for itself and for three that are missing before it.
const PER_CYCLE: u64 = 4;
/// How far beside the way a waypoint may be that is left out, as a share of the path tolerance.
const NOTED: f32 = 0.1;

/// How close waypoints may be in time, and how far beside the way those may be that are left out for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// The shortest time between two that are kept; between the first and the last it may be shorter.
    pub least: Duration,
    /// How far each joint may be, at a waypoint that is left out, from where it would have been \[rad\].
    pub beside: f32,
}

/// What becomes of a waypoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It is left out.
    LeftOut,
    /// It is kept, behind those before it.
    Kept,
    /// It is kept in place of the one before it, which is too close.
    InPlace,
}

impl Spacing {
    /// For the program that makes motions on a UR controller, which is given one waypoint in each cycle: four of them outlast what may
    /// come late.
    pub const PLAYER: Self = Self { least: Duration::from_millis(40), beside: 5e-4 };

    /// For a law that is told of states so far apart, and held to this path tolerance \[rad\].
    #[must_use]
    pub fn for_cycle(cycle: Duration, path_tolerance: f32) -> Self {
        Self { least: Duration::from_micros(cycle.as_micros() / PER_CYCLE), beside: NOTED * path_tolerance }
    }

    /// What becomes of the `next` waypoint, the `last` or not, behind those that are `kept` so far.
    #[must_use]
    pub fn place<const N: usize>(&self, kept: &[Waypoint<N>], next: &Waypoint<N>, last: bool) -> Place {
        match kept {
            [.., before] if next.at - before.at < self.least => match (last, kept.len()) {
                (false, _) => Place::LeftOut,
                // Where the motion begins is kept, too.
                (true, 1) => Place::Kept,
                (true, _) => Place::InPlace,
            },
            _ => Place::Kept,
        }
    }

    /// Whether a waypoint may be left out between these two, which are kept.
    ///
    /// # Errors
    /// How far beside the way it is \[rad\].
    pub fn allows<const N: usize>(
        &self,
        from: &Waypoint<N>,
        to: &Waypoint<N>,
        left_out: &Waypoint<N>,
    ) -> Result<(), f32> {
        let on = Leg::between(from, to).at((left_out.at - from.at).as_secs_f32()).positions;
        let off = on.zip_with(left_out.setpoint.positions.as_array(), |on, q| on - q).max_abs();
        // What is no number is beside everything.
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
                Place::LeftOut => {}
                Place::Kept => kept.push(*next),
                Place::InPlace => *kept.last_mut().expect("there is one") = *next,
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
            // None is left out that could have been kept behind the one before it.
            for pair in kept.windows(2).take(kept.len().saturating_sub(2)) {
                let first = all.iter().find(|way| way.at >= pair[0].at + spacing.least && way.at > pair[0].at);
                prop_assert_eq!(first, Some(&pair[1]));
            }
        }
    }
}
