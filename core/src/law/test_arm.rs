//! A small simulated arm for tests of laws: each joint is an integrator that executes commands late and imperfectly.

use std::collections::VecDeque;

use super::Law;
use crate::command::{Governor, Limits, Samples};
use crate::robot::{Authority, Reason};
use outrigger_wire::robot::{JointPositions, JointVelocities, State};
use outrigger_wire::time::Duration;

pub(super) const CYCLE: Duration = Duration::from_millis(8);

#[derive(Clone)]
pub(super) struct Plant {
    pub(super) state: State<6>,
    q: [f64; 6],
    v: [f64; 6],
    pending: VecDeque<JointVelocities<6>>,
    /// The relative error of the simulated drive's speed.
    error: f64,
    governor: Option<Governor<6>>,
}

impl Plant {
    /// Creates a simulated arm at the joint angles `q` \[rad\] that executes commands two cycles late, with speeds 0.5
    /// % too low and a lag of one cycle.
    pub(super) fn at(q: [f32; 6]) -> Self {
        let state = State { positions: JointPositions(q), speed_scaling: Some(1.0), ..State::default() };
        let pending = [JointVelocities::ZERO; 2].into();
        Self { state, q: q.map(f64::from), v: [0.0; 6], pending, error: -0.005, governor: None }
    }

    /// Adds a [`Governor`](crate::command::Governor) with these limits between the law and the simulated arm.
    pub(super) fn held_to(mut self, limits: Limits<6>) -> Self {
        self.governor = Some(Governor::new(limits));
        self
    }

    /// Runs one control cycle of 8 ms of the simulated arm with `law` in command; returns the commanded joint speeds
    /// \[rad/s\].
    pub(super) fn cycle<L: Law<6>>(
        &mut self,
        law: &mut L,
        samples: &Samples<'_>,
    ) -> Result<JointVelocities<6>, Reason> {
        let mut wanted = law.step(&self.state, samples, CYCLE)?;
        if let Some(governor) = &mut self.governor {
            let mut machine = ();
            let approved = governor.approve(Authority::granted_by(&mut machine), wanted, &self.state, CYCLE)?;
            wanted = *approved.velocities();
        }
        self.pending.push_back(wanted);
        let taken_up = self.pending.pop_front().unwrap_or_default();
        let (dt, scaling) = (CYCLE.as_secs_f64(), f64::from(self.state.speed_scaling.unwrap_or(1.0)));
        for ((q, v), command) in self.q.iter_mut().zip(&mut self.v).zip(taken_up.iter()) {
            *v += 0.5 * (f64::from(command) * scaling * (1.0 + self.error) - *v);
            *q += *v * dt;
        }
        self.state.positions = JointPositions(self.q.map(|q| q as f32));
        self.state.velocities = JointVelocities(self.v.map(|v| v as f32));
        Ok(wanted)
    }
}
