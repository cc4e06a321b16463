//! Motion that the KRL program makes by itself, with or without FRI on top.

use super::model::{self, Joints, Spatial};
use crate::kinematics::{Vec3, norm};

/// One move of the program. Speed rises and falls as a sine does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Move {
    /// To joint positions \[rad\], at most at this speed of the fastest joint \[rad/s\].
    Ptp {
        /// Where to.
        to: Joints,
        /// How fast.
        speed: f64,
    },
    /// The flange along a straight line \[m\], at most at this speed \[m/s\], without turning.
    Lin {
        /// How far, in the base.
        by: Vec3,
        /// How fast.
        speed: f64,
    },
    /// Nothing for so long \[s\].
    Wait(f64),
}

/// Walks through a list of moves, over and over.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    moves: Vec<Move>,
    at: usize,
    /// Where the present move began.
    from: Joints,
    /// Time in the present move \[s\].
    time: f64,
}

impl Mover {
    pub(super) const fn new(moves: Vec<Move>, from: Joints) -> Self {
        Self { moves, at: 0, from, time: 0.0 }
    }

    /// Where the program wants the arm `dt` later, which is at `q` by its own command now.
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
        // The fastest moment of the profile is π/2 times its mean.
        std::f64::consts::FRAC_PI_2 * distance / speed
    }
}

/// Share of the way after `time` of `duration`.
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
