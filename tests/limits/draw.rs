//! Random numbers, and a law that asks for anything.

use outrigger_core::command::{Limits, Samples, SourceId};
use outrigger_core::law::Law;
use outrigger_core::robot::{JointVelocities, Reason, State};
use outrigger_core::time::Duration;
use outrigger_sim::rng::Rng;

/// Draws of one configuration.
#[derive(Clone, Debug)]
pub(crate) struct Draw(Rng);

impl Draw {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(Rng::new(seed, stream))
    }

    /// 0 … 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0.up_to(1 << 30) as f64 / f64::from(1 << 30)
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Every order of magnitude is as likely.
    pub(crate) fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.0.up_to(count - 1) == 0
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.up_to(choices.len() as u64 - 1) as usize]
    }

    /// Seconds, in whole microseconds.
    pub(crate) fn span(&mut self, low: f64, high: f64) -> Duration {
        Duration::from_micros((self.magnitude(low, high) * 1e6) as u64)
    }
}

/// Speeds that change at random moments and mostly go one way, as fast as the limits let them.
#[derive(Clone, Debug)]
pub(crate) struct Wild<const N: usize> {
    draw: Draw,
    fastest: [f32; N],
    wanted: [f32; N],
    side: f32,
    left: f32,
    sources: Vec<SourceId>,
    /// Nears the limits in force as fast as is just allowed, and slows down as its speeds may change.
    lands: Option<Limits<N>>,
    /// Turns back there instead.
    turns: bool,
}

impl<const N: usize> Wild<N> {
    pub(crate) fn new(seed: u64, fastest: [f32; N], limits: &Limits<N>, sources: Vec<SourceId>) -> Self {
        let mut draw = Draw::new(seed, 7);
        let (lands, turns) = ((!draw.one_in(3)).then_some(*limits), draw.one_in(2));
        Self { draw, fastest, wanted: [0.0; N], side: 1.0, left: 0.0, sources, lands, turns }
    }
}

impl<const N: usize> Law<N> for Wild<N> {
    fn arm(&mut self, _: &State<N>) -> Result<(), Reason> {
        self.left = 0.0;
        self.side = self.draw.of(&[-1.0, 1.0]);
        Ok(())
    }

    fn step(&mut self, state: &State<N>, _: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        self.left -= dt.as_secs_f32();
        if self.left <= 0.0 {
            self.left = self.draw.magnitude(0.005, 0.8) as f32;
            // At once fast and slow joints; all slower again now and then; seldom the other way.
            let all = if self.draw.one_in(3) { self.draw.unit() } else { 1.0 } as f32;
            let side = if self.draw.one_in(6) { -self.side } else { self.side };
            let Self { draw, wanted, fastest, .. } = self;
            for (joint, (wanted, fastest)) in wanted.iter_mut().zip(fastest).enumerate() {
                let share = if draw.one_in(2) { 1.0 } else { draw.unit() } as f32;
                let side = if joint % 2 == 0 { side } else { -side };
                *wanted = side * all * share * *fastest;
            }
        }
        let mut wanted = self.wanted;
        if let Some(limits) = &self.lands {
            for (joint, wanted) in wanted.iter_mut().enumerate() {
                let q = state.positions.0[joint];
                let (min, max) = (limits.position_min.0[joint], limits.position_max.0[joint]);
                let room = if *wanted > 0.0 { max - q } else { q - min };
                let a = 0.9 * limits.acceleration.0[joint].min(limits.braking.0[joint]);
                let goes_on = limits.reaction.as_secs_f32() + 2.0 * dt.as_secs_f32();
                let lands = a * ((goes_on * goes_on + 2.0 * room.max(0.0) / a).sqrt() - goes_on);
                if self.turns && wanted.abs() > 0.9 * lands {
                    *wanted = -*wanted;
                    self.wanted[joint] = *wanted;
                } else {
                    *wanted = wanted.signum() * wanted.abs().min(lands);
                }
            }
        }
        Ok(JointVelocities(wanted))
    }

    fn sources(&self) -> &[SourceId] {
        &self.sources
    }
}
