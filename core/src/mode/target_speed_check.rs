//! The comparison of the controller's target speed with the history of approved commands, which shows whether the
//! controller carries out its commands.

use crate::robot::{BadValue, settings};
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::time::Duration;

const HISTORY: usize = u32::BITS as usize;
/// The number of distinct moving commands that are stored; at 1.4 rad/s² those of the last 0.1 s, at a steady speed all
/// of them.
const MOVES: usize = 8;

settings! {
    /// The tolerances of comparing the controller's target speed with the commands.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct FollowingConfig in "following." by new(cycle: Duration) {}

    /// The tolerances that differ from their defaults ([`FollowingConfig::new`]), for comparing target speeds with
    /// commands.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub tuning FollowingTuning {
        /// The largest number of cycles after which a command shows in the target; it may show at once. Default 24 ms.
        pub delay: u8 [1 to 31 "cycles"] = u8::try_from(cycles(cycle, 24, 31)).unwrap_or(31),
        /// The number of consecutive cycles outside of the tolerance before the result is [`Followed::Lost`]. Default
        /// 40 ms.
        pub patience: u16 [1 to 1000 "cycles"] = patience(cycle, 40),
        /// For a scaling that is reported only now and then: the highest number of consecutive cycles in which the
        /// target may be slower than commanded before the result is [`Followed::Lost`]. Default 200 ms, two reports.
        pub late_patience: u16 [1 to 1000 "cycles"] = patience(cycle, 200),
        /// The absolute tolerance of the target speed \[rad/s\]. Default 0.02.
        pub tolerance: f32 [0.0001 to 0.5 "rad/s"] = 0.02,
        /// The tolerance of the target speed as a share of the commanded speed. Default 0.05.
        pub relative: f32 [0.0 to 0.5] = 0.05,
        /// The speed of approach \[rad/s²\] from which a target outside of the tolerance is on its ramp, not lost.
        /// Default 0.5.
        pub ramp: f32 [0.01 to 150.0 "rad/s²"] = 0.5,
        /// The highest rate at which the controller's speed scaling rises \[1/s\]: it lags behind the slider. Default
        /// 1.
        pub scaling_rate: f32 [0.01 to 1000.0 "1/s"] = 1.0,
    }
}

/// Returns the number of cycles in a time \[ms\], from two to `most`.
fn cycles(cycle: Duration, millis: u64, most: u64) -> u64 {
    Duration::from_millis(millis).whole_up(cycle).clamp(2, most)
}

fn patience(cycle: Duration, millis: u64) -> u16 {
    u16::try_from(cycles(cycle, millis, 1_000)).unwrap_or(1_000)
}

impl FollowingConfig {
    /// Checks every field of the tolerances for comparing target speeds with commands.
    ///
    /// # Errors
    /// The first field outside its range, or that does not go with another.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_ranges()?;
        BadValue::unless(self.patience <= self.late_patience, "following.late_patience", "at least following.patience")
    }
}

impl FollowingTuning {
    /// Returns the tolerances for a controller of this period. If only one of the two patiences is given, the other one
    /// follows it.
    #[must_use]
    pub fn of(&self, period: Duration) -> FollowingConfig {
        let mut following = FollowingConfig::new(period);
        self.apply(&mut following);
        match (self.patience, self.late_patience) {
            (Some(patience), None) => following.late_patience = following.late_patience.max(patience),
            (None, Some(late)) => following.patience = following.patience.min(late),
            _ => {}
        }
        following
    }
}

/// The time by which a report of the slider may be later than the packet that shows the effect of the slider.
const REPORT_DELAY: Duration = Duration::from_millis(20);

/// The result of comparing the target speed of one state with the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Followed {
    /// The target speed is within the range of the commands of the last cycles, scaled as the controller reports.
    Within,
    /// The target speed is outside of the range of the last commands, for this number of consecutive cycles.
    Outside(u16),
    /// The target speed has been outside of the range of the last commands for as many consecutive cycles as
    /// [`FollowingConfig`] permits.
    Lost,
}

impl Followed {
    /// Returns `true` if commanding may continue after this result of the comparison.
    #[must_use]
    pub const fn holds(self) -> bool {
        match self {
            Self::Within | Self::Outside(_) => true,
            Self::Lost => false,
        }
    }
}

/// Compares the controller's target speed with what was sent to an arm with `N` joints.
///
/// It detects a second commander, a killed program and a controller that ignores commands, as soon as their motion
/// differs from the commands. At rest they do not differ: that takes evidence of acceptance.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Following<const N: usize> {
    config: FollowingConfig,
    /// The history of commands: the newest at `at`, older ones behind it. Empty slots are zero, because arming begins
    /// at rest.
    history: [JointVelocities<N>; HISTORY],
    at: usize,
    /// One bit per cycle, the newest the lowest: nothing was sent in that cycle, and the command before lasts, or has
    /// ended by itself.
    repeated: u32,
    /// The newest moving commands, each different from the one before: the motion that an arm may still execute if it
    /// never received the stop.
    moves: [JointVelocities<N>; MOVES],
    moved: usize,
    outside: u16,
    excess: f32,
    /// The smallest speed scaling that may still be in force, 0 … 1.
    scaling_floor: f32,
}

impl<const N: usize> Following<N> {
    /// Creates the comparison of the controller's target speed with the commands, for an arm that was sent no command.
    #[must_use]
    pub fn new(config: FollowingConfig) -> Self {
        Self {
            config,
            history: [JointVelocities::ZERO; HISTORY],
            at: 0,
            repeated: 0,
            moves: [JointVelocities::ZERO; MOVES],
            moved: 0,
            outside: 0,
            excess: 0.0,
            scaling_floor: 1.0,
        }
    }

    /// Discards the history of commands to the arm, as at each arming.
    pub fn reset(&mut self) {
        *self = Self::new(self.config);
    }

    /// Records the joint speeds that were sent to the arm in this cycle; zero for a hold.
    pub fn sent(&mut self, velocities: &JointVelocities<N>) {
        self.push(*velocities, false);
        let last = self.moves.get(self.moved).map_or(JointVelocities::ZERO, |last| *last);
        if self.moves_visibly(velocities) && off_by(velocities, &last) > self.config.tolerance {
            self.moved = self.moved.saturating_add(1) % MOVES;
            if let Some(slot) = self.moves.get_mut(self.moved) {
                *slot = *velocities;
            }
        }
    }

    /// Records that no command was sent to the arm in this cycle.
    pub fn skipped(&mut self) {
        self.push(self.newest(), true);
    }

    /// Records that the command of this cycle is not carried out in it: the target may have any speed from the
    /// command's down to zero.
    pub fn held_back(&mut self) {
        self.repeated |= 1;
    }

    /// Returns the joint speeds of the newest command \[rad/s\].
    #[must_use]
    pub fn newest(&self) -> JointVelocities<N> {
        self.history.get(self.at).map_or(JointVelocities::ZERO, |sent| *sent)
    }

    /// Judges the target speed of a state, `dt` after the one before, against the commands sent before it, scaled as
    /// the state reports.
    ///
    /// `reported` is the age of the slower report (ten times a second) that the scaling comes from, which may be older
    /// than the target; `None` if the scaling comes with the packet alone.
    pub fn judge(&mut self, state: &State<N>, dt: Duration, reported: Option<Duration>) -> Followed {
        let (span, dt) = (dt, dt.as_secs_f32().min(1.0));
        let scaling = state.scaling();
        let risen = self.scaling_floor + self.config.scaling_rate * dt;
        self.scaling_floor = if scaling < risen { scaling } else { risen };
        let excess = self.excess_of(&state.target_velocities, self.scaling_floor);
        let before = core::mem::replace(&mut self.excess, excess);
        if excess <= 0.0 {
            self.outside = 0;
        } else if excess < before - self.config.ramp * dt {
            // On its ramp; the count so far is kept, so that noise around the limit does not excuse itself.
        } else {
            self.outside = self.outside.saturating_add(1);
        }
        if excess <= 0.0 {
            return Followed::Within;
        }
        // No report of the slider has arrived since the target left its tolerance, and the target is slower, not
        // different otherwise.
        let unreported = |age: Duration| age + REPORT_DELAY >= span.times(u64::from(self.outside));
        let excused = reported.is_some_and(unreported) && self.excess_of(&state.target_velocities, 0.0) <= 0.0;
        let patience = if excused { self.config.late_patience } else { self.config.patience };
        if self.outside >= patience { Followed::Lost } else { Followed::Outside(self.outside) }
    }

    /// Returns `true` if the target is one of our last moving commands, still in force: the arm continues by *our*
    /// command. Older commands are compared too, because the connection may have failed before the newest one and the
    /// stop after it arrived. A command that hardly moves does not count, because it cannot be attributed.
    #[must_use]
    pub fn is_moving_by_us(&self, state: &State<N>) -> bool {
        let target = &state.target_velocities;
        self.moves.iter().any(|sent| {
            // Other commands lie between two stored ones, up to a tolerance away.
            let tolerance = self.config.tolerance + self.tolerance_at(sent.max_abs());
            self.moves_visibly(sent) && off_by(target, sent) <= tolerance
        })
    }

    fn moves_visibly(&self, velocities: &JointVelocities<N>) -> bool {
        velocities.max_abs() > 3.0 * self.config.tolerance
    }

    fn push(&mut self, sent: JointVelocities<N>, repeated: bool) {
        self.repeated = (self.repeated << 1) | u32::from(repeated);
        self.at = self.at.saturating_add(1) % HISTORY;
        if let Some(slot) = self.history.get_mut(self.at) {
            *slot = sent;
        }
    }

    /// Returns the distance of the worst joint's target from its permitted range \[rad/s\], with commands scaled by
    /// `scaling_floor` … 1; infinite for NaN.
    fn excess_of(&self, target: &JointVelocities<N>, scaling_floor: f32) -> f32 {
        if !target.is_finite() {
            return f32::INFINITY;
        }
        // Mostly the newest command alone permits it. A board has no room for this shortcut.
        if cfg!(not(target_os = "none"))
            && scaling_floor.to_bits() == 1.0_f32.to_bits()
            && self.repeated & 1 == 0
            && self.allows(&self.newest(), target)
        {
            return 0.0;
        }
        let mut worst = 0.0_f32;
        for (joint, target) in target.iter().enumerate() {
            let excess = self.excess_of_joint(joint, target, scaling_floor);
            if excess > worst {
                worst = excess;
            }
        }
        worst
    }

    /// Returns `true` if every joint's target is within the tolerance of the joint speeds `sent`, unscaled.
    fn allows(&self, sent: &JointVelocities<N>, target: &JointVelocities<N>) -> bool {
        sent.iter().zip(target.iter()).all(|(sent, target)| {
            let tolerance = self.tolerance_at(sent.abs());
            // The expression of `excess_of_joint` with this command as both bounds, for the same rounding.
            sent - tolerance - target <= 0.0 && target - sent - tolerance <= 0.0
        })
    }

    /// Returns by how much the target speed of one joint is outside of its permitted range \[rad/s\]; zero or less if
    /// it is within. Older commands only widen the range, so the search stops at the one that permits the target. It
    /// uses comparisons, because `f32::min` is a call on a microcontroller.
    fn excess_of_joint(&self, joint: usize, target: f32, scaling_floor: f32) -> f32 {
        // The hull of the commands in the window, each between its full and its scaled size.
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        let mut excess = f32::INFINITY;
        let mut repeated = self.repeated;
        for behind in 0..=usize::from(self.config.delay) {
            let at = self.at.saturating_add(HISTORY).saturating_sub(behind) % HISTORY;
            let Some(sent) = self.history.get(at) else { break };
            let Some(full) = sent.as_array().get(joint) else { break };
            for end in [*full, full * if repeated & 1 == 1 { 0.0 } else { scaling_floor }] {
                if end < low {
                    low = end;
                }
                if end > high {
                    high = end;
                }
            }
            repeated >>= 1;
            // Each side has the tolerance of its own end: the tolerance of a scaled command is scaled with it.
            let below = low - self.tolerance_at(low.abs()) - target;
            let above = target - high - self.tolerance_at(high.abs());
            excess = if below > above { below } else { above };
            if excess <= 0.0 {
                break;
            }
        }
        excess
    }

    fn tolerance_at(&self, speed: f32) -> f32 {
        self.config.tolerance + self.config.relative * speed
    }
}

/// Returns the largest difference between the speeds of one joint in `a` and in `b` \[rad/s\]; NaN if one is NaN.
fn off_by<const N: usize>(a: &JointVelocities<N>, b: &JointVelocities<N>) -> f32 {
    a.zip_with(b.as_array(), |a, b| a - b).max_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CYCLE: Duration = Duration::from_millis(8);

    fn following() -> Following<6> {
        Following::new(FollowingConfig::new(CYCLE))
    }

    fn target(speed: f32) -> State<6> {
        State { target_velocities: JointVelocities([speed; 6]), ..State::default() }
    }

    /// Returns the results of the tested [`Following`] for each of `cycles`: in each cycle the `state` is judged, then
    /// the `command` is sent.
    fn run(cycles: usize, command: impl Fn(usize) -> f32, state: impl Fn(usize) -> State<6>) -> Vec<Followed> {
        let mut following = following();
        (0..cycles)
            .map(|cycle| {
                let verdict = following.judge(&state(cycle), CYCLE, None);
                following.sent(&JointVelocities([command(cycle); 6]));
                verdict
            })
            .collect()
    }

    fn lost_at(verdicts: &[Followed]) -> Option<usize> {
        verdicts.iter().position(|v| *v == Followed::Lost)
    }

    /// Returns a smoothly changing speed for a test, up to 1 rad/s.
    fn swing(cycle: usize) -> f32 {
        (cycle as f32 * 0.05).sin()
    }

    #[test]
    fn the_defaults_hold_their_own_check() {
        for (millis, delay, patience) in [(1, 24, 40), (2, 12, 20), (8, 3, 5)] {
            let config = FollowingConfig::new(Duration::from_millis(millis));
            assert_eq!((config.check(), config.delay, config.patience), (Ok(()), delay, patience));
        }
    }

    #[test]
    fn a_controller_one_to_three_cycles_behind_follows() {
        for delay in 1..=3 {
            let verdicts = run(500, swing, |c| target(if c < delay { 0.0 } else { swing(c - delay) }));
            assert!(verdicts.iter().all(|v| *v == Followed::Within), "delay {delay}");
        }
    }

    #[test]
    fn a_step_followed_by_a_ramp_is_no_loss() {
        // 1 rad/s at once, followed at 1.4 rad/s²: 90 cycles on the ramp.
        let verdicts = run(200, |_| 1.0, |c| target((c as f32 * 0.0112).min(1.0)));
        assert_eq!(lost_at(&verdicts), None);
        assert_eq!(verdicts.last(), Some(&Followed::Within));
    }

    #[test]
    fn a_killed_program_is_lost_within_the_patience() {
        let verdicts = run(100, |_| 0.5, |c| target(if (1..50).contains(&c) { 0.5 } else { 0.0 }));
        assert_eq!(lost_at(&verdicts), Some(54));
    }

    #[test]
    fn a_second_commander_is_lost_within_the_patience() {
        let verdicts = run(
            100,
            |_| 0.5,
            |c| {
                target(if c < 1 {
                    0.0
                } else if c < 50 {
                    0.5
                } else {
                    -0.3
                })
            },
        );
        assert_eq!(lost_at(&verdicts), Some(54));
    }

    #[test]
    fn motion_while_zero_is_commanded_is_somebody_elses() {
        let verdicts = run(100, |_| 0.0, |c| target(if c < 50 { 0.0 } else { 0.1 }));
        assert_eq!(lost_at(&verdicts), Some(54));
    }

    #[test]
    fn a_single_cycle_outside_is_forgiven() {
        let verdicts = run(100, |_| 0.5, |c| target(if c < 1 || c % 10 == 0 { 0.0 } else { 0.5 }));
        assert_eq!(lost_at(&verdicts), None);
        assert_eq!(verdicts[50], Followed::Outside(1));
    }

    #[test]
    fn the_speed_slider_down_to_zero_and_up_again_is_no_loss() {
        let slider = |c: usize| match c {
            0..=100 => 1.0,
            101..=200 => 1.0 - (c - 100) as f32 / 100.0,
            201..=300 => 0.0,
            _ => ((c - 300) as f32 / 125.0).min(1.0),
        };
        let state =
            |c: usize| State { speed_scaling: Some(slider(c)), ..target(if c < 1 { 0.0 } else { 0.8 * slider(c) }) };
        assert_eq!(lost_at(&run(600, |_| 0.8, state)), None);
    }

    #[test]
    fn a_slider_reported_late_is_awaited_but_only_for_a_slower_arm() {
        let judged = |report: Option<usize>, target_speed: f32, reported_after: usize| {
            let mut following = following();
            let mut lost = None;
            for cycle in 0..200 {
                let scaling = if cycle < 50 + reported_after { 1.0 } else { 0.5 };
                let now = if cycle == 0 {
                    0.0
                } else if cycle < 50 {
                    0.8
                } else {
                    target_speed
                };
                let state = State { speed_scaling: Some(scaling), ..target(now) };
                // Since `report`, every 13 cycles.
                let since = |report: usize| if cycle < report { cycle + 13 } else { (cycle - report) % 13 };
                let age = report.map(|report| CYCLE.times(u64::try_from(since(report)).unwrap()));
                let verdict = following.judge(&state, CYCLE, age);
                lost = lost.or((verdict == Followed::Lost).then_some(cycle));
                following.sent(&JointVelocities([0.8; 6]));
            }
            lost
        };
        assert_eq!(judged(Some(37), 0.4, 13), None, "100 ms late");
        assert_eq!(judged(None, 0.4, 13), Some(54), "a scaling in the packet is of the same moment");
        assert_eq!(judged(Some(37), 0.4, 1_000), Some(63), "the next report knows of no slider");
        assert_eq!(judged(Some(1_000), 0.4, 1_000), Some(74), "no report is awaited for more than 200 ms");
        assert_eq!(judged(Some(37), -0.4, 13), Some(54), "the other way is no slider");
    }

    #[test]
    fn a_controller_slower_than_its_own_slider_is_no_loss() {
        // The scaling reported jumps up, the speed follows at 1 per second.
        let slider = |c: usize| if c < 100 { 0.2 } else { 1.0 };
        let speed = |c: usize| match c {
            0 => 0.0,
            1..100 => 0.16,
            _ => (0.16 + (c - 100) as f32 * 0.0072).min(0.8),
        };
        let state = |c: usize| State { speed_scaling: Some(slider(c)), ..target(speed(c)) };
        assert!(run(300, |_| 0.8, state).iter().all(|v| *v == Followed::Within));
    }

    #[test]
    fn a_slider_at_zero_does_not_excuse_motion_beyond_the_command() {
        let state = |c: usize| State { speed_scaling: Some(0.0), ..target(if c < 50 { 0.0 } else { 0.8 }) };
        assert_eq!(lost_at(&run(100, |_| 0.4, state)), Some(54));
    }

    #[test]
    fn a_slowed_arm_is_held_to_the_scaled_command() {
        // (scaling, target after 50 cycles, lost): the command is 1 rad/s throughout.
        let cases = [(0.5, 0.5, false), (0.5, 0.0, true), (0.5, 0.3, true), (0.1, 0.1, false), (0.1, 0.0, true)];
        for (scaling, after, lost) in cases.into_iter().chain([(0.05, 0.0, true), (0.05, 0.05, false)]) {
            let speed = |c: usize| {
                if c < 1 {
                    0.0
                } else if c < 50 {
                    scaling
                } else {
                    after
                }
            };
            let state = |c: usize| State { speed_scaling: Some(scaling), ..target(speed(c)) };
            assert_eq!(lost_at(&run(100, |_| 1.0, state)), lost.then_some(54), "{scaling}, {after}");
        }
    }

    #[test]
    fn a_skipped_cycle_allows_the_command_to_last_or_to_have_ended() {
        for speed in [0.5, 0.0] {
            let mut following = following();
            following.sent(&JointVelocities([0.5; 6]));
            for _ in 0..10 {
                following.skipped();
                assert_eq!(following.judge(&target(speed), CYCLE, None), Followed::Within);
            }
        }
    }

    #[test]
    fn nan_is_not_following() {
        let verdicts = run(100, |_| 0.0, |c| target(if c < 50 { 0.0 } else { f32::NAN }));
        assert_eq!(lost_at(&verdicts), Some(54));
    }

    #[test]
    fn only_our_own_commands_are_recognised_after_a_reconnect() {
        let mut following = following();
        assert!(!following.is_moving_by_us(&target(0.0)), "rest is nobody's motion");
        for cycle in 0..200 {
            following.sent(&JointVelocities([0.4 * (cycle as f32 * 0.01).min(1.0); 6]));
        }
        // The stop was sent, and not received.
        for _ in 0..100 {
            following.sent(&JointVelocities::ZERO);
            following.skipped();
        }
        for (speed, ours) in [(0.4, true), (0.35, true), (0.1, false), (0.0, false), (-0.4, false), (f32::NAN, false)] {
            assert_eq!(following.is_moving_by_us(&target(speed)), ours, "{speed}");
        }
        following.reset();
        assert!(!following.is_moving_by_us(&target(0.4)));
    }
}
