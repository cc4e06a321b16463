//! The motion of the KRL program itself, with or without FRI commands in addition.

use super::model::{self, Joints, Spatial};
use crate::kinematics::{Vec3, norm};

/// One move of the KRL program. Its speed over time has the shape of a sine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    /// A move to joint positions \[rad\], with at most this speed of the fastest joint \[rad/s\].
    Ptp {
        /// The joint positions at the end of the move \[rad\].
        to: Joints,
        /// The highest speed of the fastest joint during the move \[rad/s\].
        speed: f64,
    },
    /// A move of the flange along a straight line \[m\], at most at this speed \[m/s\], without rotation.
    Lin {
        /// The displacement of the flange by the move, in the base \[m\].
        by: Vec3,
        /// The highest speed of the flange during the move \[m/s\].
        speed: f64,
    },
    /// A pause of this duration between moves \[s\].
    Wait(f64),
}

/// An error: the text of a KRL program's move could not be parsed. It is displayed as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveError(String);

impl std::fmt::Display for MoveError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for MoveError {}

impl std::str::FromStr for Move {
    type Err = MoveError;
    /// Parses a move of the KRL program: `ptp:SPEED:J1,…,J7` in degrees, `lin:SPEED:X,Y,Z` in mm, `wait:SECONDS`.
    fn from_str(spec: &str) -> Result<Self, MoveError> {
        let wrong = |expected: &str| MoveError(format!("motion `{spec}`: expected {expected}"));
        let mut parts = spec.splitn(3, ':');
        let (kind, first) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let rest = parts.next().unwrap_or_default();
        let positive = |what| {
            let value = first.parse().ok().filter(|value: &f64| *value > 0.0 && value.is_finite());
            value.ok_or_else(|| wrong(what))
        };
        match kind {
            "ptp" => {
                let to = numbers(rest).ok_or_else(|| wrong("ptp:SPEED:J1,J2,J3,J4,J5,J6,J7, in degrees"))?;
                let speed = positive("a speed above 0 in degrees/s, as in ptp:20:30,23,0,-80,0,52,0")?;
                Ok(Self::Ptp { to: to.map(f64::to_radians), speed: speed.to_radians() })
            }
            "lin" => {
                let by = numbers(rest).ok_or_else(|| wrong("lin:SPEED:X,Y,Z, in mm"))?;
                let speed = positive("a speed above 0 in mm/s, as in lin:50:0,100,0")?;
                Ok(Self::Lin { by: by.map(|mm| mm * 1e-3), speed: speed * 1e-3 })
            }
            "wait" if rest.is_empty() => Ok(Self::Wait(positive("a time above 0 in s, as in wait:1.5")?)),
            _ => Err(wrong("ptp:SPEED:J1,…,J7 (degrees), lin:SPEED:X,Y,Z (mm) or wait:SECONDS")),
        }
    }
}

fn numbers<const N: usize>(text: &str) -> Option<[f64; N]> {
    let numbers: Option<Vec<f64>> =
        text.split(',').map(|number| number.trim().parse().ok().filter(|value: &f64| value.is_finite())).collect();
    numbers?.try_into().ok()
}

/// An executor that repeats a list of the KRL program's moves.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    moves: Vec<Move>,
    at: usize,
    /// The joint positions at the beginning of the present move \[rad\].
    from: Joints,
    /// The time since the present move of the list began \[s\].
    time: f64,
}

impl Mover {
    pub(super) const fn new(moves: Vec<Move>, from: Joints) -> Self {
        Self { moves, at: 0, from, time: 0.0 }
    }

    /// Continues the present move by `dt` \[s\], beginning the next one at its end. Returns the joint positions \[rad\]
    /// that the program then commands; `q` are those that it commanded before.
    pub(super) fn step(&mut self, q: &Joints, dt: f64) -> Joints {
        let Some(present) = self.moves.get(self.at).copied() else { return *q };
        let before = self.time;
        self.time += dt;
        let duration = self.duration(&present);
        let next = match present {
            Move::Ptp { to, .. } => {
                let share = progress(self.time, duration);
                std::array::from_fn(|j| self.from[j] + share * (to[j] - self.from[j]))
            }
            Move::Lin { by, .. } => {
                let share = progress(self.time, duration) - progress(before, duration);
                let step: Spatial = std::array::from_fn(|axis| by.get(axis).map_or(0.0, |by| by * share));
                let moved = model::joint_speeds_for(&model::jacobian(q), &step);
                std::array::from_fn(|j| q[j] + moved[j])
            }
            Move::Wait(_) => *q,
        };
        if self.time >= duration {
            self.at = (self.at + 1) % self.moves.len();
            self.from = next;
            self.time = 0.0;
        }
        next
    }

    fn duration(&self, present: &Move) -> f64 {
        let (distance, speed) = match present {
            Move::Ptp { to, speed } => {
                (to.iter().zip(self.from).map(|(to, from)| (to - from).abs()).fold(0.0, f64::max), *speed)
            }
            Move::Lin { by, speed } => (norm(*by), *speed),
            Move::Wait(seconds) => return *seconds,
        };
        // The maximum speed of the profile is π/2 times its mean.
        std::f64::consts::FRAC_PI_2 * distance / speed
    }
}

/// Returns the share of a move's distance, 0 … 1, that is covered after `time` of its `duration`.
fn progress(time: f64, duration: f64) -> f64 {
    if duration <= 0.0 || time >= duration {
        return 1.0;
    }
    0.5 - 0.5 * (std::f64::consts::PI * time / duration).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_goes_where_it_says_without_a_step_and_comes_back() {
        let start = [0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0];
        let mut there = start;
        there[0] = 0.3;
        let moves = vec![Move::Ptp { to: there, speed: 0.5 }, Move::Wait(0.1), Move::Ptp { to: start, speed: 0.5 }];
        let mut mover = Mover::new(moves, start);
        let (mut q, mut reached, mut fastest) = (start, 0.0_f64, 0.0_f64);
        for _ in 0..2_000 {
            let next = mover.step(&q, 1e-3);
            fastest = fastest.max((next[0] - q[0]).abs() / 1e-3);
            q = next;
            reached = reached.max(q[0]);
        }
        assert!((reached - 0.3).abs() < 1e-9 && q[0] < 0.01 && fastest < 0.501, "{reached} {q:?} {fastest}");
    }

    #[test]
    fn a_move_is_read_in_degrees_and_millimetres_and_a_wrong_one_is_told_its_form() {
        let read = |spec: &str| spec.parse::<Move>().map_err(|error| error.to_string());
        let Ok(Move::Ptp { to, speed }) = read("ptp:20:90,0,0,-90,0,0,0") else { panic!("a move") };
        assert!((to[0] - std::f64::consts::FRAC_PI_2).abs() < 1e-12 && (speed - 20_f64.to_radians()).abs() < 1e-12);
        assert_eq!(read("lin:50:0,100,-20"), Ok(Move::Lin { by: [0.0, 0.1, -0.02], speed: 0.05 }));
        assert_eq!(read("wait:1.5"), Ok(Move::Wait(1.5)));
        for (spec, expected) in [
            ("ptp:20:1,2,3", "J7"),
            ("lin:50:0,nan,0", "X,Y,Z"),
            ("lin:0:0,100,0", "above 0"),
            ("wait:1:2", "wait:SECONDS"),
            ("circ:1:2", "ptp:"),
        ] {
            assert!(read(spec).is_err_and(|error| error.contains(spec) && error.contains(expected)), "{spec}");
        }
    }

    #[test]
    fn a_line_is_straight() {
        let start = [0.0, 0.4, 0.0, -1.4, 0.0, 0.9, 0.0];
        let mut mover = Mover::new(vec![Move::Lin { by: [0.0, 0.1, 0.05], speed: 0.1 }, Move::Wait(100.0)], start);
        let (from, mut q) = (model::flange(&start), start);
        for _ in 0..3_000 {
            q = mover.step(&q, 1e-3);
            let at = model::flange(&q);
            let [x, y, z] = crate::kinematics::sub(at.position, from.position);
            assert!(x.abs() < 1e-4 && (z - y / 2.0).abs() < 1e-4, "{x} {y} {z}");
            assert!(norm(at.rotation.after(from.rotation.inverse()).to_vector()) < 1e-3);
        }
        assert!((model::flange(&q).position[1] - from.position[1] - 0.1).abs() < 1e-3);
    }
}
