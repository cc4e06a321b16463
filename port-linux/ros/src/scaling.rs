//! The speed scaling that is published: the controller's own scaling times the speed slider, and its rise after a
//! pause.

use crate::readings::{Readings, Variable};

/// The amount by which the speed scaling rises with each robot state after a pause
/// (`core/docs/protocol/ros2-surface.md` 7.1).
const RISE: f64 = 0.01;

/// The value of the controller's `runtime_state` while a program plays. The next two constants are its values while a
/// program is paused and while it resumes.
const PLAYING: i64 = 2;
const PAUSED: i64 = 4;
const RESUMING: i64 = 5;

/// The state of the controller's program, as far as the published speed scaling depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum ProgramPhase {
    #[default]
    Runs,
    Paused,
    /// The program runs again after a pause, with the scaling limited to this value.
    Rises(f64),
}

/// Tracks the pauses of the controller's program and computes the speed scaling to publish.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scaling {
    stands: ProgramPhase,
}

impl Scaling {
    /// Creates a tracker for a controller's program that has not paused yet.
    #[must_use]
    pub(crate) const fn new() -> Self {
        Self { stands: ProgramPhase::Runs }
    }

    /// Returns the speed scaling (0 … 1) for a new robot state; `None` if the controller reports neither the scaling
    /// nor the slider.
    pub(crate) fn observe(&mut self, readings: &Readings) -> Option<f64> {
        let (own, slider) = (readings.number(Variable::SpeedScaling), readings.number(Variable::TargetSpeedFraction));
        let product = match (own, slider) {
            (None, None) => return None,
            (own, slider) => own.unwrap_or(1.0) * slider.unwrap_or(1.0),
        };
        let state = readings.integer(Variable::RuntimeState);
        self.stands = match (self.stands, state) {
            (_, Some(PAUSED)) => ProgramPhase::Paused,
            (ProgramPhase::Paused, Some(PLAYING)) => ProgramPhase::Rises(0.0),
            (ProgramPhase::Rises(at), _) if at + RISE > product => ProgramPhase::Runs,
            (ProgramPhase::Rises(at), Some(PLAYING)) => ProgramPhase::Rises(at + RISE),
            (stands, _) => stands,
        };
        Some(match (self.stands, state) {
            (_, Some(RESUMING)) => 0.0,
            (ProgramPhase::Rises(at), _) => at.min(product),
            _ => product,
        })
    }
}

#[cfg(test)]
mod tests {
    use outrigger_wire::fields::Value;

    use super::*;
    use crate::readings::Port;

    #[test]
    fn it_rises_again_after_a_pause_and_is_nothing_while_a_program_resumes() {
        let (mut readings, mut scaling) = (Readings::default(), Scaling::default());
        assert_eq!(scaling.observe(&readings), None);
        let mut at = |state: i64, slider: f64| {
            readings.state(Port::Rtde, 0, |visitor| {
                visitor.field("runtime_state", Value::Signed(state));
                visitor.field("speed_scaling", Value::F64(1.0));
                visitor.field("target_speed_fraction", Value::F64(slider));
            });
            scaling.observe(&readings).expect("both are told")
        };
        assert_eq!(at(PLAYING, 0.5), 0.5);
        assert_eq!(at(PAUSED, 0.0), 0.0);
        assert_eq!(at(RESUMING, 0.5), 0.0);
        let risen: Vec<f64> = (0..60).map(|_| at(PLAYING, 0.5)).collect();
        assert_eq!((risen[0], risen[59]), (0.0, 0.5));
        assert!(risen.windows(2).all(|pair| pair[1] >= pair[0] && pair[1] - pair[0] < 0.021), "{risen:?}");
        assert_eq!(risen.iter().filter(|value| **value < 0.5).count(), 50);
    }
}
