//! The trajectory generator of the controller: computes the joint targets, cycle by cycle.

use super::tool_motion::WITHIN_LIMITS;
use crate::model::ACCELERATION_LIMIT;

/// The motion command by which the joint targets change. It is executed until another one replaces it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// The arm holds its position.
    Rest,
    /// Follow joint speeds \[rad/s\]; the leading axis accelerates with `acceleration` \[rad/s²\].
    Speed {
        /// Joint speeds that the motion command requests \[rad/s\].
        qd: [f64; 6],
        /// Acceleration of the leading axis, the joint with the largest change of speed \[rad/s²\].
        acceleration: f64,
    },
    /// Come to rest, the leading axis decelerating with `deceleration` \[rad/s²\].
    Stop {
        /// Deceleration of the leading axis, the fastest joint \[rad/s²\].
        deceleration: f64,
    },
    /// Follow a joint position \[rad\], smoothed over `lookahead` \[s\] (URScript's `servoj`).
    Servo {
        /// Joint positions that the motion command requests \[rad\].
        q: [f64; 6],
        /// Smoothing time of `servoj` \[s\], 0.03 … 0.2. At 0 the targets are not smoothed: at a speed scaling of 1,
        /// and unless a joint would be too fast, they reach the position within the cycle.
        lookahead: f64,
        /// Gain of `servoj`, 100 … 2000; the smoothing time is exact at 300.
        gain: f64,
    },
    /// Follow the arm's [`Route`](super::Route), a list of moves.
    Route {
        /// `true` if the arm is held at its present position on the path.
        held: bool,
    },
    /// Follow a commanded speed of the tool in the base \[m/s, rad/s\].
    Twist {
        /// Commanded speed of the tool, linear \[m/s\] and angular \[rad/s\].
        speed: [f64; 6],
        /// Acceleration of the linear part \[m/s²\] and of the rotation \[rad/s²\].
        acceleration: [f64; 2],
    },
    /// Move towards a pose of the tool \[m, rad\], no faster than the tool can brake within the remaining distance.
    Reach {
        /// Commanded pose of the tool in the base \[m, rad\].
        pose: [f64; 6],
        /// Highest speed of the tool \[m/s\]; its rotation takes as long as its translation.
        speed: f64,
        /// Acceleration of the tool \[m/s²\].
        acceleration: f64,
    },
    /// Apply joint torques in addition to gravity compensation \[Nm\], for one control cycle; then bring the arm to
    /// rest.
    Torque {
        /// Commanded torque of each joint \[Nm\].
        torque: [f64; 6],
        /// Shares, 0 … 1, of each joint's friction that the controller compensates: viscous friction first, then dry
        /// friction against any motion.
        compensation: [[f64; 6]; 2],
        /// `true` until the torque of this command has been applied in a cycle.
        fresh: bool,
    },
}

/// Position, velocity and acceleration targets of the six joints \[rad, rad/s, rad/s²\].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Targets {
    /// Position target of each joint \[rad\].
    pub q: [f64; 6],
    /// Velocity target of each joint \[rad/s\].
    pub qd: [f64; 6],
    /// Acceleration of each joint's target in the last cycle \[rad/s²\].
    pub qdd: [f64; 6],
}

impl Targets {
    /// Returns targets at rest at the joint positions `q` \[rad\].
    #[must_use]
    pub fn at(q: [f64; 6]) -> Self {
        Self { q, qd: [0.0; 6], qdd: [0.0; 6] }
    }

    /// Executes one control cycle of `dt` \[s\]: updates the joint targets by `motion`, slowed by the speed scaling
    /// `scaling`, 0 … 1. Routes and other motions of the tool are not executed here.
    pub fn step(&mut self, motion: &Motion, scaling: f64, dt: f64) {
        let before = self.qd;
        match *motion {
            Motion::Rest | Motion::Torque { .. } => self.qd = [0.0; 6],
            Motion::Speed { qd, acceleration } => self.approach(qd.map(|v| v * scaling), acceleration, dt),
            Motion::Stop { deceleration } => self.approach([0.0; 6], deceleration, dt),
            Motion::Servo { q, lookahead, .. } if lookahead <= 0.0 => {
                let towards = std::array::from_fn(|joint| self.q[joint] + (q[joint] - self.q[joint]) * scaling);
                return self.step_to(towards, dt);
            }
            Motion::Servo { q, lookahead, gain } => self.follow(q, lookahead, gain, scaling, dt),
            // The arm turns these into positions or joint speeds itself.
            Motion::Route { .. } | Motion::Twist { .. } | Motion::Reach { .. } => return,
        }
        self.moved(before, dt);
    }

    /// Updates positions and accelerations of the targets after their velocities have changed; `before` are the
    /// velocities of the last cycle \[rad/s\], `dt` is the cycle \[s\].
    fn moved(&mut self, before: [f64; 6], dt: f64) {
        for (joint, before) in before.into_iter().enumerate() {
            self.q[joint] += 0.5 * (before + self.qd[joint]) * dt;
            self.qdd[joint] = (self.qd[joint] - before) / dt;
        }
    }

    /// Updates the joint targets for one control cycle of `dt` \[s\] with the velocity targets `qd` \[rad/s\].
    pub(super) fn step_by(&mut self, qd: [f64; 6], dt: f64) {
        let before = std::mem::replace(&mut self.qd, qd);
        self.moved(before, dt);
    }

    /// Updates the joint targets for one control cycle of `dt` \[s\], in which the position targets become `q` \[rad\].
    pub(super) fn step_to(&mut self, q: [f64; 6], dt: f64) {
        for (joint, goal) in q.into_iter().enumerate() {
            let speed = (goal - self.q[joint]) / dt;
            self.qdd[joint] = (speed - self.qd[joint]) / dt;
            self.qd[joint] = speed;
        }
        self.q = q;
    }

    /// Slows down a `servoj` whose targets, which were `before` a cycle ago, are too fast for a joint, so that it
    /// continues towards the goal more slowly (`core/docs/protocol/ur-external-control.md` 1.4). A joint that brakes is
    /// not limited. Returns the factor on the time of this cycle, 0 … 1.
    pub(super) fn restrain(&mut self, before: &Self, limits: &[f64; 6], filters: bool, dt: f64) -> f64 {
        let share = |joint: usize| {
            let speed = self.qd[joint].abs();
            if speed < before.qd[joint].abs() { 0.0 } else { speed / limits[joint] }
        };
        let fastest = (0..6).map(share).fold(0.0, f64::max);
        if fastest <= 1.0 {
            return 1.0;
        }
        let restraint = WITHIN_LIMITS / fastest;
        let asked = std::mem::replace(self, *before);
        if filters {
            self.step_by(asked.qd.map(|speed| speed * restraint), dt);
        } else {
            let way = |joint: usize| before.q[joint] + (asked.q[joint] - before.q[joint]) * restraint;
            self.step_to(std::array::from_fn(way), dt);
        }
        restraint
    }

    /// Returns whether the velocity targets equal `qd` \[rad/s\].
    #[must_use]
    pub fn reached(&self, qd: &[f64; 6]) -> bool {
        self.qd.iter().zip(qd).all(|(have, want)| (have - want).abs() < 1e-9)
    }

    /// Sets the velocity targets to zero within one cycle, as when a `servoj` program is aborted.
    pub fn halt(&mut self) {
        self.qd = [0.0; 6];
    }

    /// Reduces the velocity targets by one cycle of braking at this deceleration of the fastest joint \[rad/s²\]; 0 for
    /// no braking.
    pub(crate) fn brake(&mut self, deceleration: f64, dt: f64) {
        if deceleration > 0.0 {
            self.approach([0.0; 6], deceleration, dt);
        }
    }

    /// Changes the velocity targets towards `wanted` \[rad/s\], all joints in proportion; the joint with the largest
    /// change has `acceleration` \[rad/s²\].
    fn approach(&mut self, wanted: [f64; 6], acceleration: f64, dt: f64) {
        let longest = self.qd.iter().zip(&wanted).map(|(have, want)| (want - have).abs()).fold(0.0, f64::max);
        let share = if longest > acceleration * dt { acceleration * dt / longest } else { 1.0 };
        for (have, want) in self.qd.iter_mut().zip(wanted) {
            *have = if share < 1.0 { *have + (want - *have) * share } else { want };
        }
    }

    /// Moves the targets towards the joint positions `q` with a critically damped second-order filter per joint. A
    /// steadily moving `q` is followed `lookahead` \[s\] late at gain 300.
    fn follow(&mut self, q: [f64; 6], lookahead: f64, gain: f64, scaling: f64, dt: f64) {
        let omega = 2.0 / lookahead * (gain / 300.0).sqrt();
        // The slider slows the trajectory's own time.
        let dt = dt * scaling;
        if dt <= 0.0 {
            self.qd = [0.0; 6];
            return;
        }
        // Exact over the cycle, so that stiff settings stay stable at 8 ms.
        let decay = (-omega * dt).exp();
        for (joint, goal) in q.into_iter().enumerate() {
            let speed = self.qd[joint] / scaling;
            let slope = speed + omega * (self.q[joint] - goal);
            let wanted = (speed - omega * slope * dt) * decay;
            self.qd[joint] = wanted.clamp(speed - ACCELERATION_LIMIT * dt, speed + ACCELERATION_LIMIT * dt) * scaling;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DT: f64 = 0.008;

    #[test]
    fn speedj_accelerates_the_leading_axis_with_a_and_the_others_in_proportion() {
        let mut targets = Targets::at([0.0; 6]);
        let motion = Motion::Speed { qd: [1.0, -0.5, 0.0, 0.0, 0.0, 0.25], acceleration: 2.0 };
        targets.step(&motion, 1.0, DT);
        let expected = [0.016, -0.008, 0.0, 0.0, 0.0, 0.004];
        assert!(targets.qd.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{:?}", targets.qd);
        assert!((targets.qdd[0] - 2.0).abs() < 1e-9);
        for _ in 1..63 {
            targets.step(&motion, 1.0, DT);
        }
        assert_eq!(targets.qd, [1.0, -0.5, 0.0, 0.0, 0.0, 0.25], "1 rad/s at 2 rad/s² takes 62.5 cycles");
    }

    #[test]
    fn stopping_from_speed_takes_v_over_a() {
        let mut targets = Targets::at([0.0; 6]);
        targets.qd = [0.8, -0.8, 0.4, 0.0, 0.0, 0.0];
        let cycles = (0..1000).take_while(|_| {
            targets.step(&Motion::Stop { deceleration: 4.0 }, 1.0, DT);
            targets.qd != [0.0; 6]
        });
        assert_eq!(cycles.count(), 24, "0.2 s is 25 cycles, the last of which ends at rest");
        assert!((targets.q[0] - 0.08).abs() < 1e-9, "v²/2a");
    }

    #[test]
    fn a_slider_at_half_halves_the_speed() {
        let mut targets = Targets::at([0.0; 6]);
        let motion = Motion::Speed { qd: [1.0; 6], acceleration: 40.0 };
        (0..10).for_each(|_| targets.step(&motion, 0.5, DT));
        assert_eq!(targets.qd, [0.5; 6]);
    }

    #[test]
    fn servoj_follows_a_ramp_by_its_lookahead_late_and_comes_to_rest_on_its_goal() {
        let mut targets = Targets::at([0.0; 6]);
        let speed = 0.5;
        let mut goal = 0.0;
        for _ in 0..400 {
            goal += speed * DT;
            targets.step(&Motion::Servo { q: [goal; 6], lookahead: 0.1, gain: 300.0 }, 1.0, DT);
        }
        let lag = (goal - targets.q[0]) / speed;
        assert!((lag - 0.1).abs() < 0.01, "lag {lag} s");
        for _ in 0..400 {
            targets.step(&Motion::Servo { q: [goal; 6], lookahead: 0.03, gain: 2000.0 }, 1.0, DT);
        }
        assert!((targets.q[0] - goal).abs() < 1e-6);
    }

    #[test]
    fn a_servoj_that_asks_for_too_much_speed_is_slowed_down_and_arrives() {
        let (goal, limits) = ([1.0, -2.0, 0.5, 0.0, 0.0, 0.0], [3.0; 6]);
        for lookahead in [0.0, 0.03, 0.2] {
            let (mut targets, mut least, mut newest) = (Targets::at([0.0; 6]), 1.0_f64, 1.0);
            for _ in 0..1_000 {
                let before = targets;
                targets.step(&Motion::Servo { q: goal, lookahead, gain: 2000.0 }, 1.0, 0.002);
                newest = targets.restrain(&before, &limits, lookahead > 0.0, 0.002);
                assert!(targets.qd.iter().zip(limits).all(|(speed, limit)| speed.abs() <= limit), "{targets:?}");
                // Without a filter, the joints move in proportion.
                if lookahead == 0.0 {
                    assert!((targets.q[1] + 2.0 * targets.q[0]).abs() < 1e-9, "{targets:?}");
                }
                least = least.min(newest);
            }
            let off = targets.q.iter().zip(goal).map(|(q, goal)| (q - goal).abs()).fold(0.0, f64::max);
            assert!(off < 1e-3 && least < 0.99 && newest == 1.0, "{lookahead} s: {off} rad off, {least}");
        }
    }
}
