//! The measurement of an arm's standstill, which is never assumed.

use crate::robot::settings;
use outrigger_wire::robot::{ControllerTime, JointPositions, State};
use outrigger_wire::time::{Duration, Instant};

settings! {
    /// The thresholds of an arm's standstill (`core/docs/mode-machine.md 9`).
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct StandstillConfig in "standstill." {
        /// The time for which fresh states must show standstill, on both clocks. Default 200 ms.
        pub window: Duration [0.02 to 5.0 "s"] = Duration::from_millis(200),
        /// The highest joint speed that counts as standstill \[rad/s\]. Default 0.02.
        pub speed: f32 [0.0001 to 0.5 "rad/s"] = 0.02,
        /// The highest joint travel within the window that counts as standstill \[rad\]. Default 0.002.
        pub travel: f32 [0.0001 to 0.1 "rad"] = 0.002,
        /// The controller's highest target speed that counts as standstill \[rad/s\]. Default 0.001.
        pub target_speed: f32 [0.0001 to 0.5 "rad/s"] = 0.001,
        /// The gap between states above which the window starts again. Default 100 ms.
        pub max_gap: Duration [0.001 to 5.0 "s"] = Duration::from_millis(100),
    }
}

/// The measurement of whether an arm with `N` joints is at standstill.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Standstill<const N: usize> {
    config: StandstillConfig,
    window: Option<Window<N>>,
    at_rest: bool,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Window<const N: usize> {
    arrival: Instant,
    stamp: ControllerTime,
    positions: JointPositions<N>,
    newest: (Instant, ControllerTime),
}

impl<const N: usize> Standstill<N> {
    /// Creates the measurement of standstill, before any state.
    #[must_use]
    pub const fn new(config: StandstillConfig) -> Self {
        Self { config, window: None, at_rest: false }
    }

    /// Takes the newest state and returns whether the arm is at rest. A state that is not `fresh`, read late from a
    /// backlog, ends the measurement, because the arm may be elsewhere by now. NaN is not standstill.
    pub fn observe(&mut self, state: &State<N>, arrival: Instant, fresh: bool) -> bool {
        let config = &self.config;
        let still =
            state.velocities.max_abs() <= config.speed && state.target_velocities.max_abs() <= config.target_speed;
        if !fresh || !still {
            self.reset();
            return false;
        }
        let stamp = state.controller_time;
        let begun = Window { arrival, stamp, positions: state.positions, newest: (arrival, stamp) };
        let Some(window) = self.window.as_mut().filter(|w| w.goes_on(state, arrival, config)) else {
            self.at_rest = false;
            self.window = Some(begun);
            return false;
        };
        window.newest = (arrival, stamp);
        if arrival.since(window.arrival) >= config.window && stamp.since(window.stamp) >= config.window {
            self.at_rest = true;
            // Travel is judged per window: a slow creep over hours is no motion.
            self.window = Some(begun);
        }
        self.at_rest
    }

    /// Returns the thresholds up to which the arm counts as being at standstill.
    #[must_use]
    pub const fn config(&self) -> &StandstillConfig {
        &self.config
    }

    /// Returns `true` if the arm was at rest when last observed.
    #[must_use]
    pub const fn at_rest(&self) -> bool {
        self.at_rest
    }

    /// Discards the measurement of standstill, as after a reconnect.
    pub const fn reset(&mut self) {
        self.window = None;
        self.at_rest = false;
    }
}

impl<const N: usize> Window<N> {
    fn goes_on(&self, state: &State<N>, arrival: Instant, config: &StandstillConfig) -> bool {
        let (last_arrival, last_stamp) = self.newest;
        // NaN is no travel within bounds either.
        let travel = state.positions.zip_with(self.positions.as_array(), |now, then| now - then).max_abs();
        travel <= config.travel
            && arrival.since(last_arrival) <= config.max_gap
            && state.controller_time >= last_stamp
            && state.controller_time.since(last_stamp) <= config.max_gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outrigger_wire::robot::JointVelocities;

    fn state(millis: u64) -> State<6> {
        State { controller_time: ControllerTime::from_micros(millis * 1_000), ..State::default() }
    }

    fn at(millis: u64) -> Instant {
        Instant::from_micros(millis * 1_000)
    }

    /// Returns the first millisecond at which standstill is found, with a state every 8 ms, modified by `spoil`.
    fn rests_at(until: u64, mut spoil: impl FnMut(u64, &mut State<6>)) -> Option<u64> {
        let mut standstill = Standstill::<6>::new(StandstillConfig::default());
        (0..until).step_by(8).find(|millis| {
            let mut state = state(*millis);
            spoil(*millis, &mut state);
            standstill.observe(&state, at(*millis), true)
        })
    }

    #[test]
    fn rest_needs_200_ms_of_states() {
        assert_eq!(rests_at(1_000, |_, _| {}), Some(200));
    }

    #[test]
    fn noise_of_the_encoders_is_rest() {
        let noisy = |millis: u64, s: &mut State<6>| {
            s.velocities = JointVelocities([if millis.is_multiple_of(16) { 0.019 } else { -0.019 }; 6]);
            s.positions.0[3] += if millis.is_multiple_of(16) { 0.000_5 } else { 0.0 };
        };
        assert_eq!(rests_at(1_000, noisy), Some(200));
    }

    #[test]
    fn motion_in_one_joint_begins_the_window_anew() {
        assert_eq!(rests_at(1_000, |ms, s| s.velocities.0[5] = if ms <= 104 { 0.03 } else { 0.0 }), Some(312));
    }

    #[test]
    fn a_creep_below_the_speed_limit_is_motion() {
        assert_eq!(rests_at(2_000, |ms, s| s.positions.0[0] = ms as f32 * 0.000_015), None);
    }

    #[test]
    fn a_target_that_is_not_zero_is_motion_to_come() {
        assert_eq!(rests_at(1_000, |_, s| s.target_velocities.0[0] = 0.01), None);
    }

    #[test]
    fn nan_is_not_rest() {
        assert_eq!(rests_at(1_000, |_, s| s.velocities.0[2] = f32::NAN), None);
        assert_eq!(rests_at(1_000, |_, s| s.positions.0[2] = f32::NAN), None);
    }

    #[test]
    fn a_backlog_read_at_once_is_no_measurement() {
        let mut standstill = Standstill::<6>::new(StandstillConfig::default());
        assert!((0..400).step_by(8).all(|millis| !standstill.observe(&state(millis), at(400), true)));
    }

    #[test]
    fn an_old_state_or_a_gap_on_either_clock_ends_the_measurement() {
        // (fresh, ms on the controller's clock, ms on ours) after 200 ms of rest.
        let cases = [
            (true, 8, 8, true),
            (true, 100, 100, true),
            (false, 8, 8, false),
            (true, 101, 8, false),
            (true, 8, 101, false),
            (true, -8, 8, false),
        ];
        for (fresh, stamp, arrival, rests) in cases {
            let mut standstill = Standstill::<6>::new(StandstillConfig::default());
            for millis in (0..=200).step_by(8) {
                let _ = standstill.observe(&state(millis), at(millis), true);
            }
            assert!(standstill.at_rest());
            let next = state(200_u64.saturating_add_signed(stamp));
            assert_eq!(standstill.observe(&next, at(200 + arrival), fresh), rests, "{stamp} ms, {arrival} ms");
        }
    }
}
