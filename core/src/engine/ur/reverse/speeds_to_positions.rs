//! The conversion of approved speeds to joint positions, for a program that moves by `servoj`.
//!
//! Positions are stored in whole nanoradians, because a cycle's share of a slow motion is below the last digit of an
//! `f32` angle.

use crate::command::{Approved, Limits};
use crate::engine::ur::command_path::SETTLING;
use crate::robot::Reason;
use outrigger_wire::robot::{ControllerTime, JointVelocities, State};
use outrigger_wire::time::{Duration, divided};

/// The number of nanoradians in a microradian, to convert stored positions to those that are sent.
const NANO: i64 = 1_000;
/// The joint speed below which the controller's target is at rest \[rad/s\].
const AT_REST: f32 = 1e-3;

/// The commanded joint positions of the arm, which the approved speeds move.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Positions {
    /// The commanded position of each joint \[nrad\].
    at: [i64; 6],
    /// The controller's time of the positions in `at`; `None` before the first target of an arming, and after an order
    /// to rest.
    since: Option<ControllerTime>,
    /// The newest approved joint speeds \[rad/s\].
    speeds: [f32; 6],
    /// The share of `speeds` that the target moves with, 0 … 1.
    share: f32,
}

/// One step of the commanded joint positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The joint positions to move to in this step \[µrad\], one per joint.
    pub(super) to: [i32; 6],
    /// The number of the controller's cycles that this step covers. With a ring buffer on the controller: the time since
    /// the previous step, at least 1. Without one always 1.
    pub(super) cycles: u16,
}

impl Positions {
    pub(super) const UNKNOWN: Self = Self { at: [0; 6], since: None, speeds: [0.0; 6], share: 1.0 };

    /// Discards the commanded joint positions, because nothing is commanded any more.
    pub(super) const fn forget(&mut self) {
        self.since = None;
    }

    /// Returns the target \[µrad\] that keeps the arm where it is: the controller's own, from the first state of an
    /// arming on.
    pub(super) fn hold(&mut self, state: &State<6>) -> [i32; 6] {
        if self.since.is_none() {
            // The values are finite, because nothing is armed otherwise.
            self.at = state.target_positions.0.map(nanoradians);
            (self.speeds, self.share) = ([0.0; 6], 1.0);
        }
        self.since = Some(state.controller_time);
        self.micros()
    }

    /// Moves the target by one step at the approved speeds. No other function makes positions of them. The robot's
    /// speed scaling shortens the step, unless positions wait in a ring buffer on the controller: then `ring` is the
    /// period in which one is taken out, and zero, for a full ring, stops the target. After lost states the step covers
    /// `longest` at most.
    ///
    /// # Errors
    /// `PositionLimit` if the target would leave its range, `TrackingError` if the arm is more than `divergence`
    /// \[rad\] away.
    pub(super) fn advance(
        &mut self,
        approved: Approved<'_, 6>,
        state: &State<6>,
        limits: &Limits<6>,
        divergence: f32,
        ring: Option<Duration>,
        longest: Duration,
    ) -> Result<Step, Reason> {
        let (JointVelocities(speeds), _authority) = approved.into_parts();
        self.advance_at(speeds, state, limits, divergence, ring, longest)
    }

    fn advance_at(
        &mut self,
        speeds: [f32; 6],
        state: &State<6>,
        limits: &Limits<6>,
        divergence: f32,
        ring: Option<Duration>,
        longest: Duration,
    ) -> Result<Step, Reason> {
        if self.since.is_none() {
            self.hold(state);
        }
        let mut next = *self;
        next.speeds = speeds;
        let share = if ring.is_some() { 1.0 } else { state.scaling() };
        let passed = next.go_on(state, longest, share, ring != Some(Duration::ZERO));
        for ((to, measured), (lowest, highest)) in next
            .micros()
            .iter()
            .zip(state.positions.iter())
            .zip(limits.position_min.iter().zip(limits.position_max.iter()))
        {
            let to = *to as f32 * 1e-6;
            if to < lowest || to > highest {
                return Err(Reason::PositionLimit);
            }
            // NaN is rejected, too.
            let near = (to - measured).abs() <= divergence;
            if !near {
                return Err(Reason::TrackingError);
            }
        }
        *self = next;
        Ok(self.step(passed, ring))
    }

    /// Brings the target to rest, in its present direction. Once the controller's own target is at rest as well, ours
    /// returns to it, no faster than a joint may move: the distance that it gained before the speed scaling was known
    /// to hold the arm must not be made up later. Positions in a `ring` are on their way already, and ours does not
    /// return then.
    pub(super) fn settle(
        &mut self,
        state: &State<6>,
        limits: &Limits<6>,
        ring: Option<Duration>,
        longest: Duration,
    ) -> Step {
        let before = *self;
        let passed = self.go_on(state, longest, 0.0, ring != Some(Duration::ZERO));
        let ranges = limits.position_min.iter().zip(limits.position_max.iter());
        if self.micros().iter().zip(ranges).any(|(to, (lowest, highest))| {
            let to = *to as f32 * 1e-6;
            to < lowest || to > highest
        }) {
            (self.at, self.share) = (before.at, 0.0);
        }
        let rests = self.share <= 0.0 && state.target_velocities.iter().all(|speed| speed.abs() < AT_REST);
        if rests && ring.is_none() {
            let nanos = passed.as_micros() as f32 * 1e3;
            let joints = self.at.iter_mut().zip(state.target_positions.iter()).zip(limits.velocity.iter());
            for ((at, target), fastest) in joints {
                let (away, most) = (nanoradians(target).saturating_sub(*at), (fastest * nanos) as i64);
                *at = at.saturating_add(away.max(most.saturating_neg()).min(most));
            }
        }
        self.step(passed, ring)
    }

    /// Returns the distance of the joint that is farthest from the target \[rad\].
    #[cfg(feature = "motions")]
    pub(super) fn off(&self, state: &State<6>) -> f32 {
        self.micros().iter().zip(state.positions.iter()).fold(0.0, |most, (to, measured)| {
            let off = (*to as f32 * 1e-6 - measured).abs();
            match off.partial_cmp(&most) {
                Some(core::cmp::Ordering::Greater) => off,
                Some(_) => most,
                // NaN is not near.
                None => f32::INFINITY,
            }
        })
    }

    /// Returns `true` if the commanded joint positions were brought to rest.
    pub(super) fn rests(&self) -> bool {
        self.share <= 0.0
    }

    /// Moves the target at its speeds, whose share approaches `share` gradually; it stays in place unless time
    /// `passes`. Returns the time that passed: `longest` at most after lost states.
    fn go_on(&mut self, state: &State<6>, longest: Duration, share: f32, passes: bool) -> Duration {
        let passed = self.since.map_or(Duration::ZERO, |since| state.controller_time.since(since)).min(longest);
        self.since = Some(state.controller_time);
        if passes {
            let change = share - self.share;
            if change != 0.0 {
                let most = passed.as_secs_f32() / SETTLING.as_secs_f32();
                self.share += change.max(-most).min(most);
            }
            let nanos = passed.as_micros() as f32 * 1e3 * self.share;
            for (at, speed) in self.at.iter_mut().zip(self.speeds) {
                *at = at.saturating_add((speed * nanos) as i64);
            }
        }
        passed
    }

    fn step(&self, passed: Duration, ring: Option<Duration>) -> Step {
        let cycles = ring.and_then(|period| (passed + period.percent(50)).whole(period));
        Step { to: self.micros(), cycles: cycles.map_or(1, |cycles| u16::try_from(cycles).unwrap_or(u16::MAX).max(1)) }
    }

    fn micros(&self) -> [i32; 6] {
        self.at.map(|at| {
            let micros = i32::try_from(divided(at.unsigned_abs(), NANO.unsigned_abs())).unwrap_or_default();
            if at < 0 { micros.saturating_neg() } else { micros }
        })
    }
}

const fn nanoradians(angle: f32) -> i64 {
    ((angle * 1e6) as i64).saturating_mul(NANO)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use outrigger_wire::robot::JointPositions;

    const PERIOD: Duration = Duration::from_millis(8);
    const SPEED: f32 = 0.8;

    fn limits() -> Limits<6> {
        Limits { position_max: JointPositions([0.5; 6]), position_min: JointPositions([-0.5; 6]), ..Limits::default() }
    }

    /// An event of one cycle in a test of the positions.
    #[derive(Clone, Copy, Debug)]
    enum Cycle {
        /// The law's speed is sent, with this speed scaling.
        Move(f32),
        /// The arm is held in this cycle.
        Held,
        /// The ring on the controller is full.
        Full,
        /// The states of this cycle are lost.
        Lost,
    }

    fn cycle() -> impl Strategy<Value = Cycle> {
        prop_oneof![
            prop_oneof![Just(0.0_f32), Just(0.3), Just(1.0)].prop_map(Cycle::Move),
            Just(Cycle::Held),
            Just(Cycle::Full),
            Just(Cycle::Lost),
        ]
    }

    /// A controller that follows the target with a lag and stops while it is held.
    #[derive(Debug)]
    struct Follower {
        state: State<6>,
        scaling: f32,
    }

    impl Follower {
        fn step(&mut self, to: [i32; 6]) {
            let passed = PERIOD.as_secs_f32();
            self.state.controller_time = ControllerTime::from_micros(self.state.controller_time.as_micros() + 8_000);
            for (joint, to) in to.iter().enumerate() {
                let speed = (*to as f32 * 1e-6 - self.state.target_positions.0[joint]) / 0.1 * self.scaling;
                self.state.target_positions.0[joint] += speed * passed;
                self.state.target_velocities.0[joint] = speed;
            }
            self.state.positions = self.state.target_positions;
        }
    }

    proptest! {
        #[test]
        fn a_target_never_turns_nor_jumps_nor_leaves_its_range(
            cycles in prop::collection::vec(cycle(), 1..200), ring in any::<bool>(),
        ) {
            let limits = limits();
            let mut follower = Follower { state: State::default(), scaling: 1.0 };
            let mut positions = Positions::UNKNOWN;
            positions.hold(&follower.state);
            let (mut to, mut since) = ([0; 6], 1_i32);
            for cycle in cycles {
                follower.step(to);
                let waits = |period| ring.then_some(period);
                let before = to[0];
                let cycles = if ring { 5 } else { 3 };
                let longest = PERIOD.times(cycles as u64);
                let most = (1e6 * PERIOD.as_secs_f32()) as i32 * since.min(cycles) + 1;
                follower.state.speed_scaling = Some(follower.scaling);
                let step = match cycle {
                    Cycle::Lost => {
                        since += 1;
                        continue;
                    }
                    Cycle::Move(scaling) => {
                        follower.scaling = scaling;
                        follower.state.speed_scaling = Some(scaling);
                        let period = waits(PERIOD);
                        positions.advance_at([SPEED; 6], &follower.state, &limits, 1.0, period, longest)
                    }
                    Cycle::Full => positions.advance_at([SPEED; 6], &follower.state, &limits, 1.0, waits(Duration::ZERO), longest),
                    Cycle::Held => {
                        follower.scaling = 0.0;
                        Ok(positions.settle(&follower.state, &limits, waits(PERIOD), longest))
                    }
                };
                let Ok(step) = step else { break };
                let rests = follower.state.target_velocities.0[0].abs() < AT_REST;
                prop_assert!(step.to[0] >= before || rests, "turns: {before} to {}", step.to[0]);
                prop_assert!((step.to[0] - before).abs() <= most, "jumps: {before} to {}", step.to[0]);
                prop_assert!(step.to[0] <= 500_000, "leaves its range");
                prop_assert!(step.cycles >= 1);
                (to, since) = (step.to, 1);
            }
        }
    }
}
