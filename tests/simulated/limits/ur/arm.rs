//! The arm and the programs on its controller: ramps limited by one axis, stops as weak as permitted, drives as late
//! as permitted.

use std::collections::VecDeque;

use outrigger_core::command::Limits;
use outrigger_core::engine::ur::{FormChoice, UrConfig};
use outrigger_wire::robot::SoftwareVersion;

use super::Worse;

/// The program that runs on the controller.
#[derive(Clone, Copy, Debug)]
enum Program {
    Nothing,
    /// A motion towards these speeds for so long [s], then `then`.
    Speed {
        wanted: [f64; 6],
        acceleration: f64,
        left: f64,
        then: Then,
    },
    Stop(f64),
}

/// The continuation of a program after its `speedj`.
#[derive(Clone, Copy, Debug)]
enum Then {
    Stop(f64),
    /// `sleep` for the first time [s], counted from when the speed is reached, then a stop.
    Sleep(f64, f64),
    /// The arm keeps its speed without a time limit.
    Endless,
}

#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub(super) q: [f64; 6],
    /// The actual speeds; `target` has the target speeds.
    pub(super) qd: [f64; 6],
    pub(super) target: [f64; 6],
    pub(super) held: bool,
    period: f64,
    program: Program,
    on_the_way: VecDeque<[f64; 6]>,
    /// `true` if the controller's stops use the deceleration that is sent; `own` is the deceleration of the
    /// controller's own stops.
    obeys: bool,
    own: f64,
    ends_bare: bool,
    omits_time: bool,
    worse: Worse,
    weakest: f64,
    steepest: f64,
}

impl Arm {
    pub(super) fn new(config: &UrConfig, software: SoftwareVersion, period: u64, worse: Worse) -> Self {
        let lag = config.limits.reaction.as_micros() / period;
        let lag = if worse == Worse::Reaction { lag + 100_000 / period } else { lag };
        let weakest = config.limits.braking.iter().fold(f32::INFINITY, f32::min);
        let steepest = config.limits.acceleration.iter().fold(0.0, f32::max);
        let own = f64::from(config.peer.text.own_stop);
        let ends_bare =
            software.at_least(3, 5) && !(worse == Worse::Endless && config.peer.text.form != FormChoice::SelfEnding);
        Self {
            q: super::START,
            qd: [0.0; 6],
            target: [0.0; 6],
            held: false,
            period: period as f64 * 1e-6,
            program: Program::Nothing,
            on_the_way: VecDeque::from(vec![[0.0; 6]; lag as usize]),
            obeys: software.at_least(3, 2),
            own: if worse == Worse::OwnStop { 0.4 * f64::from(weakest) } else { own },
            ends_bare,
            omits_time: software.at_least(3, 1) && !software.at_least(3, 3),
            worse,
            weakest: f64::from(weakest),
            steepest: f64::from(steepest),
        }
    }

    pub(super) fn runs(&self) -> bool {
        !matches!(self.program, Program::Nothing)
    }

    pub(super) fn rests(&self) -> bool {
        self.qd == [0.0; 6] && self.target == [0.0; 6] && self.on_the_way.iter().all(|v| *v == [0.0; 6])
    }

    /// Starts a program in place of the one that runs.
    pub(super) fn take_up(&mut self, text: &str) {
        let number = |call: &str| {
            let rest = text.split_once(call)?.1;
            rest.split_once(')')?.0.parse::<f64>().ok()
        };
        let sent = |a: f64| if self.worse == Worse::Stop { 0.4 * self.weakest } else { a };
        let stop = number("stopj(").map(|a| if self.obeys { sent(a) } else { self.own });
        let Some((list, rest)) = text.split_once("speedj([").and_then(|(_, rest)| rest.split_once(']')) else {
            self.program = Program::Stop(stop.expect("a stop, where it is no speed"));
            return;
        };
        let speeds: Vec<f64> = list.split(',').map(|v| v.parse().expect("a number")).collect();
        let wanted: [f64; 6] = speeds.try_into().expect("six joints");
        let arguments = rest.split_once(')').expect("a closed call").0.trim_start_matches(',');
        let mut arguments = arguments.split(',').map(|v| v.parse::<f64>().expect("a number"));
        let mut acceleration = arguments.next().expect("an acceleration");
        if wanted == [0.0; 6] {
            acceleration = sent(acceleration);
        } else if self.worse == Worse::Ramp
            && self.target.iter().zip(wanted).any(|(have, want)| want * have.signum() < have.abs())
        {
            acceleration = 0.1 * self.steepest;
        }
        let longer = if self.worse == Worse::Hold { 4.0 } else { 1.0 };
        let left = arguments.next().map_or(f64::INFINITY, |t| t * longer);
        let then = match (stop, number("sleep(")) {
            (Some(stop), Some(sleep)) => Then::Sleep(sleep * longer, stop),
            (Some(stop), None) => Then::Stop(stop),
            (None, _) if self.ends_bare => Then::Stop(self.own),
            (None, _) => Then::Endless,
        };
        assert!(self.omits_time || left.is_finite(), "{text}");
        self.program = Program::Speed { wanted, acceleration, left, then };
    }

    pub(super) fn cycle(&mut self) {
        let before = self.target;
        self.program = match self.program {
            Program::Nothing => Program::Nothing,
            Program::Speed { wanted, acceleration, left, then } => {
                self.approach(wanted, acceleration);
                let reached = self.target == wanted;
                let left = left - self.period;
                match then {
                    Then::Sleep(sleep, stop) if left.is_infinite() && reached => {
                        // The call returns a cycle later.
                        let left = sleep + self.period;
                        Program::Speed { wanted, acceleration, left, then: Then::Stop(stop) }
                    }
                    Then::Stop(stop) if left <= 1e-9 => Program::Stop(stop),
                    Then::Stop(_) | Then::Sleep(..) | Then::Endless => {
                        Program::Speed { wanted, acceleration, left, then }
                    }
                }
            }
            Program::Stop(deceleration) => {
                self.approach([0.0; 6], deceleration);
                if self.target == [0.0; 6] { Program::Nothing } else { Program::Stop(deceleration) }
            }
        };
        let mean = core::array::from_fn(|joint| 0.5 * (before[joint] + self.target[joint]));
        self.on_the_way.push_back(mean);
        self.qd = self.on_the_way.pop_front().unwrap_or(mean);
        if self.held {
            self.qd = [0.0; 6];
        }
        for (q, v) in self.q.iter_mut().zip(self.qd) {
            *q += v * self.period;
        }
    }

    /// Changes the speed of all joints together; the joint with the largest change accelerates with `acceleration`.
    fn approach(&mut self, wanted: [f64; 6], acceleration: f64) {
        let longest = self.target.iter().zip(&wanted).map(|(have, want)| (want - have).abs()).fold(0.0, f64::max);
        let step = acceleration * self.period;
        let share = if longest > step { step / longest } else { 1.0 };
        for (have, want) in self.target.iter_mut().zip(wanted) {
            *have = if share < 1.0 { *have + (want - *have) * share } else { want };
        }
    }

    /// Returns an error that describes the limit that is violated at present, if there is one.
    pub(super) fn check(&self, config: &UrConfig) -> Result<(), String> {
        let limits = &config.limits;
        for joint in 0..6 {
            let (q, v) = (self.q[joint], self.target[joint]);
            let (min, max) = (f64::from(limits.position_min.0[joint]), f64::from(limits.position_max.0[joint]));
            let fastest = f64::from(limits.velocity.0[joint]);
            if q < min - 1e-4 || q > max + 1e-4 {
                return Err(format!("joint {joint} is at {q:.5} outside {min:.5} to {max:.5} rad"));
            }
            if v.abs() > fastest + 1e-4 {
                return Err(format!("joint {joint} goes {v} of {fastest} rad/s"));
            }
        }
        Ok(())
    }

    /// Returns whether a joint is nearer to its limit than this fraction of the distance that it would need to stop.
    pub(super) fn is_near(&self, limits: &Limits<6>, share: f64) -> bool {
        let stops = self.target.iter().zip(limits.braking.iter()).map(|(v, a)| v.abs() / f64::from(a));
        let stop = 0.5 * stops.fold(0.0, f64::max);
        let seconds = 2.0 * self.period + f64::from(limits.reaction.as_secs_f32()) + stop;
        (0..6).any(|joint| {
            let v = self.target[joint];
            let (min, max) = (f64::from(limits.position_min.0[joint]), f64::from(limits.position_max.0[joint]));
            let room = if v > 0.0 { max - self.q[joint] } else { self.q[joint] - min };
            v.abs() > 1e-3 && room < share * v.abs() * seconds
        })
    }
}
