//! The robot's speed scaling: whether it carries out commands at all, slowed down by its slider and its limiter.
//!
//! The controller multiplies commands by its own scaling, so speeds are sent unscaled. If it scales by 0, a law that
//! continues would only wind up against an arm at rest: the law is then held too.
//!
//! | pace | output | next pace |
//! |---|---|---|
//! | [`Begin`](Pace::Begin) | the law's speeds, [`begin_speed`](ScalingConfig::begin_speed) at most | above 0 → `Free`; see below → `Held` |
//! | [`Free`](Pace::Free) | the law's speeds | 0 for `held_states` in a row → `Held` |
//! | [`Held`](Pace::Held) | zero velocity | `free_from` or more → `Free` |
//!
//! `Begin` lasts while the scaling has been 0 ever since `Command` began, which may only mean that the arm rests: until
//! motion was sent for `begin_time`, or the slider itself is at 0. In `Held` the law and the time of its trajectory are
//! stopped; after `held_timeout` it [is overdue](Scaling::is_overdue). A pause of the program that carries the commands
//! holds as well, from its first state on ([`observe_paused`](Scaling::observe_paused)), and its time is added to that
//! of the scaling.

use crate::robot::{BadValue, settings};
use outrigger_wire::time::Duration;

settings! {
    /// The thresholds by which [`Scaling`] judges the robot's speed scaling.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
    pub struct ScalingConfig in "scaling." {
        /// The speed scaling below which it counts as 0. Default 0.005.
        pub zero_below: f32 [0.0001 to 0.1] = 0.005,
        /// A scaling of this or more counts as above 0 again, once it was 0. Default 0.01.
        pub free_from: f32 [0.0001 to 0.2] = 0.01,
        /// The number of states in a row with a scaling of 0 before the arm is held. Default 3.
        pub held_states: u8 [1 to 50] = 3,
        /// The highest commanded joint speed until the speed scaling has once been above 0 \[rad/s\]: it is not
        /// confirmed whether controllers report a scaling of 0 while the arm rests. Default 0.02.
        pub begin_speed: f32 [0.0 to 0.1 "rad/s"] = 0.02,
        /// The longest time for which `begin_speed` applies. Default 0.5 s.
        pub begin_time: Duration [0.0 to 5.0 "s"] = Duration::from_millis(500),
        /// The longest time for which the arm is held; then commanding ends. Default 10 s.
        pub held_timeout: Duration [0.1 to 3600.0 "s"] = Duration::from_secs(10),
    }
}

impl ScalingConfig {
    /// Checks every threshold of the robot's speed scaling.
    ///
    /// # Errors
    /// The first field outside its range, or that does not go with another.
    pub fn check(&self) -> Result<(), BadValue> {
        self.check_ranges()?;
        BadValue::unless(self.free_from >= self.zero_below, "scaling.free_from", "at least scaling.zero_below")
    }
}

/// The speeds that the robot's speed scaling permits to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Pace {
    /// The control law's speeds, limited for a short time, because no state since commanding began has shown a speed
    /// scaling above 0.
    Begin,
    /// The control law's speeds are sent without a further limit.
    Free,
    /// Zero velocity is sent, because the speed scaling is 0, or the program that carries the commands is paused.
    Held,
}

/// The judge that derives the permitted [`Pace`] from the robot's speed scaling; one value from each beginning of
/// commanding to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub struct Scaling {
    pace: Pace,
    /// The number of states in a row with a speed scaling of 0.
    zeros: u8,
    /// The time for which motion was sent, in [`Pace::Begin`], or for which the arm has been held, in [`Pace::Held`].
    spent: Duration,
}

impl Scaling {
    /// The judge's state when commanding begins, before any state of the arm.
    pub const BEGIN: Self = Self { pace: Pace::Begin, zeros: 0, spent: Duration::ZERO };

    /// Takes a state, `dt` after the one before: its whole `scaling` (NaN is 0), and the `slider` alone if it is known.
    /// `moving` is called to find out whether the last command was not zero velocity.
    pub fn observe(
        &mut self,
        config: &ScalingConfig,
        scaling: f32,
        slider: Option<f32>,
        dt: Duration,
        moving: impl FnOnce() -> bool,
    ) -> Pace {
        if scaling >= config.free_from || (scaling >= config.zero_below && self.pace != Pace::Held) {
            if self.pace != Pace::Free || self.zeros > 0 {
                *self = Self { pace: Pace::Free, ..Self::BEGIN };
            }
            return Pace::Free;
        }
        match self.pace {
            Pace::Held => self.spent = self.spent + dt,
            Pace::Free => {
                self.zeros = self.zeros.saturating_add(1);
                if self.zeros >= config.held_states {
                    self.hold();
                }
            }
            Pace::Begin => {
                if moving() {
                    self.spent = self.spent + dt;
                }
                let by_hand = slider.is_some_and(|slider| slider < config.zero_below);
                // The present command lasts for another cycle.
                if by_hand || self.spent + dt > config.begin_time {
                    self.hold();
                }
            }
        }
        self.pace
    }

    /// Takes a state, `dt` after the one before, during a pause of the program that carries the commands.
    pub fn observe_paused(&mut self, dt: Duration) {
        if self.pace == Pace::Held {
            self.spent = self.spent + dt;
        } else {
            self.hold();
        }
    }

    const fn hold(&mut self) {
        *self = Self { pace: Pace::Held, ..Self::BEGIN };
    }

    /// Returns the pace that the speed scaling, or a pause of the program, permits.
    #[must_use]
    pub const fn pace(&self) -> Pace {
        self.pace
    }

    /// Returns `true` if a speed scaling of 0 or a pause has held the arm for longer than
    /// [`held_timeout`](ScalingConfig::held_timeout).
    #[must_use]
    pub fn is_overdue(&self, config: &ScalingConfig) -> bool {
        self.pace == Pace::Held && self.spent > config.held_timeout
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const DT: Duration = Duration::from_millis(8);

    /// The thresholds of the test, with few cycles, so that short sequences reach every state.
    const CONFIG: ScalingConfig = ScalingConfig {
        zero_below: 0.005,
        free_from: 0.01,
        held_states: 3,
        begin_speed: 0.02,
        begin_time: Duration::from_millis(32),
        held_timeout: Duration::from_millis(40),
    };

    /// The speed scalings that a state can show in the test.
    const READINGS: [f32; 6] = [0.0, 0.004_9, 0.007, 0.01, 1.0, f32::NAN];

    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    struct Input {
        reading: usize,
        /// `true` if the speed slider is up; `None` if that is not known.
        slider: Option<bool>,
        /// `true` if the control law wants to move the arm.
        wants: bool,
    }

    /// The history of a test so far, recorded independently of the tested [`Scaling`].
    #[derive(Clone, Copy, PartialEq, Eq, Hash)]
    struct History {
        ever_above: bool,
        zeros: u8,
        moved: u8,
        moving: bool,
        held_for: u8,
        last: Option<Pace>,
    }

    /// Passes one more state to the tested [`Scaling`] and asserts that its pace follows the rules, by the independent
    /// history.
    fn follow(machine: &mut Scaling, told: &mut History, input: Input) {
        let scaling = READINGS[input.reading];
        let slider = input.slider.map(|up| if up { 1.0 } else { 0.0 });
        let pace = machine.observe(&CONFIG, scaling, slider, DT, || told.moving);
        let (zero, clearly) = (scaling.is_nan() || scaling < 0.005, scaling >= 0.01);
        told.zeros = if zero { told.zeros.saturating_add(1).min(4) } else { 0 };
        let was_held = told.last == Some(Pace::Held);
        match pace {
            Pace::Begin => {
                assert!(!told.ever_above && zero && !was_held, "nothing was above 0 in this Command");
                assert!(slider != Some(0.0), "a slider at 0 is no rest");
                assert!(told.moved + u8::from(told.moving) < 4, "little, and not for long");
            }
            Pace::Free => {
                assert!(!zero || (told.ever_above && told.zeros < 3), "an arm that is held is not driven");
                assert!(!was_held || clearly, "what was held goes on when the scaling is clearly above 0");
            }
            Pace::Held => {
                assert!(!clearly, "what is carried along is not held");
                let begins = !told.ever_above && (slider == Some(0.0) || told.moved + u8::from(told.moving) >= 3);
                assert!(was_held || told.zeros >= 3 || begins, "held for a reason");
            }
        }
        assert_eq!(clearly, clearly && pace == Pace::Free, "above 0 frees at once");
        assert!(!(told.ever_above && told.zeros >= 3) || pace == Pace::Held, "three states of 0 hold");
        told.ever_above |= !zero && !was_held || clearly;
        if !told.ever_above && told.moving {
            told.moved = told.moved.saturating_add(1).min(4);
        }
        told.held_for = if pace == Pace::Held && was_held { told.held_for.saturating_add(1).min(7) } else { 0 };
        assert_eq!(machine.is_overdue(&CONFIG), told.held_for > 5, "held for 40 ms and no longer");
        told.moving = input.wants && pace != Pace::Held;
        told.last = Some(pace);
    }

    #[test]
    fn every_sequence_of_readings_is_held_and_let_go_by_the_rule() {
        let told = History { ever_above: false, zeros: 0, moved: 0, moving: false, held_for: 0, last: None };
        let mut worlds = HashSet::from([(Scaling::BEGIN, told)]);
        let mut seen = worlds.clone();
        // Sequences that lead to the same world are followed once; all are covered when nothing new is found.
        while !worlds.is_empty() {
            let mut next = HashSet::new();
            for (machine, told) in worlds {
                for (reading, scaling) in READINGS.into_iter().enumerate() {
                    for (slider, wants) in
                        [None, Some(false), Some(true)].into_iter().flat_map(|slider| [(slider, false), (slider, true)])
                    {
                        // A slider at 0 leaves no scaling.
                        if slider == Some(false) && scaling >= CONFIG.zero_below {
                            continue;
                        }
                        let (mut machine, mut told) = (machine, told);
                        follow(&mut machine, &mut told, Input { reading, slider, wants });
                        // Beyond its end the time spent makes no difference.
                        machine.spent = machine.spent.min(CONFIG.held_timeout + DT);
                        if seen.insert((machine, told)) {
                            next.insert((machine, told));
                        }
                    }
                }
            }
            worlds = next;
        }
        assert!((20..2_000).contains(&seen.len()), "{} worlds", seen.len());
        for pace in [Pace::Begin, Pace::Free, Pace::Held] {
            assert!(seen.iter().any(|(machine, _)| machine.pace == pace));
        }
    }

    #[test]
    fn the_defaults_hold_their_own_check_and_each_nonsense_names_its_field() {
        assert_eq!(ScalingConfig::default().check(), Ok(()));
        type Case = (&'static str, fn(&mut ScalingConfig));
        let cases: [Case; 6] = [
            ("scaling.zero_below", |c| c.zero_below = 0.0),
            ("scaling.free_from", |c| c.free_from = 0.001),
            ("scaling.held_states", |c| c.held_states = 0),
            ("scaling.begin_speed", |c| c.begin_speed = f32::NAN),
            ("scaling.begin_time", |c| c.begin_time = Duration::from_secs(6)),
            ("scaling.held_timeout", |c| c.held_timeout = Duration::ZERO),
        ];
        for (field, spoil) in cases {
            let mut config = ScalingConfig::default();
            spoil(&mut config);
            assert_eq!(config.check().map_err(|error| error.field), Err(crate::robot::wording(field)));
        }
    }
}
