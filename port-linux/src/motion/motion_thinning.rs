//! Thins motions for a robot whose cycle is longer than the time between waypoints, or for a controller that receives
//! one waypoint per cycle.

use std::fmt;

use outrigger_core::trajectory::{Spacing, Waypoint, WaypointUse};
use outrigger_wire::time::Duration;

use super::Motion;

/// A waypoint that a thinned motion would miss by more than permitted: the one with the largest distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Missed {
    number: usize,
    /// The distance at which the thinned motion passes the waypoint \[rad\].
    off: f32,
    least: Duration,
}

impl fmt::Display for Missed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, off, least } = self;
        let millis = least.as_micros() as f64 * 1e-3;
        write!(f, "waypoint {number} would be passed at {off:.3} rad: it is less than {millis} ms from another")
    }
}

/// Returns the waypoints that are kept when a motion is thinned. The thinned motion passes all others closely enough.
///
/// # Errors
/// Returns the waypoint that would be missed.
pub(crate) fn spaced<const N: usize>(all: Vec<Waypoint<N>>, spacing: &Spacing) -> Result<Vec<Waypoint<N>>, Missed> {
    let mut kept: Vec<Waypoint<N>> = Vec::with_capacity(all.len());
    for (number, next) in (1..).zip(&all) {
        match spacing.place(&kept, next, number == all.len()) {
            WaypointUse::LeftOut => continue,
            WaypointUse::InPlace => drop(kept.pop()),
            WaypointUse::Kept => {}
        }
        kept.push(*next);
    }
    let mut legs = kept.windows(2);
    let mut leg = legs.next();
    let mut missed: Option<Missed> = None;
    for (number, waypoint) in all.iter().enumerate() {
        while let Some([_, to]) = leg
            && to.at < waypoint.at
        {
            leg = legs.next();
        }
        let Some([from, to]) = leg else { break };
        if waypoint.at == from.at || waypoint.at == to.at {
            continue;
        }
        if let Err(off) = spacing.allows(from, to, waypoint)
            && missed.is_none_or(|before| off.is_nan() || off > before.off)
        {
            missed = Some(Missed { number, off, least: spacing.least });
        }
    }
    missed.map_or(Ok(kept), Err)
}

/// Thins a motion for a controller that executes it by itself: waypoints closer than 40 ms are omitted (see
/// [`Spacing::PLAYER`]).
///
/// # Errors
/// Returns a message if the thinned motion would miss a waypoint.
pub(crate) fn thinned<const N: usize>(all: Vec<Waypoint<N>>) -> Result<Vec<Waypoint<N>>, String> {
    let other =
        |missed| format!("{missed}, and the controller accepts none that are closer; use --mode servo or stream");
    spaced(all, &Spacing::PLAYER).map_err(other)
}

impl<const N: usize> Motion<N> {
    /// Removes the waypoints of this motion that are closer together than `spacing` permits, e.g. than the cycle of a
    /// robot.
    ///
    /// # Errors
    /// Returns the waypoint that would be missed.
    pub(crate) fn spaced(self, spacing: &Spacing) -> Result<Self, Missed> {
        Ok(Self { waypoints: spaced(self.waypoints, spacing)?, ..self })
    }
}

#[cfg(test)]
mod tests {
    use outrigger_core::trajectory::Setpoint;
    use outrigger_wire::robot::{JointPositions, JointVelocities};

    use super::*;

    fn way(millis: u64, q: f32, v: f32) -> Waypoint<1> {
        let setpoint = Setpoint { positions: JointPositions([q]), velocities: JointVelocities([v]) };
        Waypoint { setpoint, accelerations: None, at: Duration::from_millis(millis) }
    }

    /// Creates a sine of half a radian in four seconds, with a waypoint every `millis`.
    fn sine(millis: u64) -> Motion<1> {
        let turn = std::f32::consts::TAU / 4.0;
        let waypoint = |at: u64| {
            let (sine, cosine) = (turn * at as f32 * 1e-3).sin_cos();
            let velocity = if at == 0 || at == 4_000 { 0.0 } else { 0.25 * turn * sine };
            way(at, 0.25 - 0.25 * cosine, velocity)
        };
        Motion::through((0..=4_000 / millis).map(|number| waypoint(number * millis)).collect()).expect("a motion")
    }

    fn for_cycle(motion: &Motion<1>, millis: u64) -> Result<Motion<1>, Missed> {
        motion.clone().spaced(&Spacing::for_cycle(Duration::from_millis(millis), 1e-5))
    }

    #[test]
    fn a_short_cycle_leaves_a_motion_as_it_is_and_a_long_one_has_four_waypoints_of_it() {
        let whole = sine(4);
        assert_eq!(for_cycle(&whole, 12), Ok(whole.clone()));
        let thin = for_cycle(&whole, 100).expect("a sine is smooth");
        let gaps = thin.waypoints().windows(2).map(|pair| (pair[1].at - pair[0].at).as_micros());
        assert!(gaps.clone().rev().skip(1).all(|gap| gap == 28_000), "{:?}", gaps.collect::<Vec<_>>());
        assert_eq!((thin.goal(), thin.duration()), (whole.goal(), whole.duration()));
    }

    #[test]
    fn what_would_be_cut_off_is_told_by_the_worst() {
        let mut waypoints = sine(4).into_waypoints();
        // One waypoint deviates between two that are kept.
        waypoints[101].setpoint.positions = JointPositions([0.3]);
        waypoints[201].setpoint.positions = JointPositions([-0.9]);
        let toothed = Motion::through(waypoints).expect("a motion");
        let missed = for_cycle(&toothed, 100).expect_err("they are left out");
        assert!(missed.number == 201 && missed.off > 1.0, "{missed}");
        assert!(missed.to_string().ends_with("rad: it is less than 25 ms from another"), "{missed}");
    }

    #[test]
    fn waypoints_that_are_too_close_are_left_out_where_they_say_nothing_new() {
        let steady: Vec<_> = (0..=100).map(|i| way(i * 4, i as f32 * 0.004, 1.0)).collect();
        let kept = thinned(steady.clone()).unwrap();
        assert!(kept.windows(2).all(|pair| pair[1].at - pair[0].at >= Spacing::PLAYER.least), "{kept:?}");
        assert_eq!((kept.first(), kept.last()), (steady.first(), steady.last()));
        let far: Vec<_> = (0..5).map(|i| way(i * 50, i as f32 * 0.01, 0.1)).collect();
        assert_eq!(thinned(far.clone()), Ok(far));
        let mut bent = steady;
        bent[41].setpoint.positions.0[0] += 0.01;
        assert!(thinned(bent).is_err_and(|said| said.starts_with("waypoint 41 would be passed at 0.010 rad")));
    }
}
