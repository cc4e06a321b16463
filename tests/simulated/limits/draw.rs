//! Random numbers, a law that demands arbitrary speeds, and axes of the tool with arbitrary sensor values.

use outrigger_core::command::{Limits, Samples, SourceConfig};
use outrigger_core::kinematics::{DampedLeastSquares, KinematicChain};
use outrigger_core::law::{AxisConfig, Law, PerAxis, Start, ToolAxes, ToolAxesConfig, ToolAxis, ToolSpaceConfig};
use outrigger_core::recorder::Checkpoint;
use outrigger_core::robot::Reason;
use outrigger_sim::rng::Rng;
use outrigger_wire::robot::{JointVelocities, State};
use outrigger_wire::sensor::{SampleValue, SourceId};
use outrigger_wire::time::Duration;

/// The source of random numbers for one configuration.
#[derive(Clone, Debug)]
pub(crate) struct Draw(Rng);

impl Draw {
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        Self(Rng::new(seed, stream))
    }

    /// Creates an independent generator, whose seed this one draws.
    pub(crate) fn another(&mut self) -> Self {
        Self::new(self.0.up_to(u64::MAX - 1), 3)
    }

    /// Returns a random number in 0 … 1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.0.up_to(1 << 30) as f64 / f64::from(1 << 30)
    }

    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Returns a random number between `low` and `high`. All orders of magnitude are equally likely.
    pub(crate) fn magnitude(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }

    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.0.up_to(count - 1) == 0
    }

    pub(crate) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.up_to(choices.len() as u64 - 1) as usize]
    }

    /// Returns a random time between `low` and `high` seconds, in whole microseconds.
    pub(crate) fn span(&mut self, low: f64, high: f64) -> Duration {
        Duration::from_micros((self.magnitude(low, high) * 1e6) as u64)
    }
}

/// A law with speeds that change at random moments and mostly keep their direction, as fast as the limits permit.
#[derive(Clone, Debug)]
pub(crate) struct Wild<const N: usize> {
    draw: Draw,
    fastest: [f32; N],
    wanted: [f32; N],
    side: f32,
    left: f32,
    sources: Vec<SourceId>,
    /// The limits that the law approaches as fast as just permitted, reducing its speeds in time; `None` if it
    /// ignores them.
    lands: Option<Limits<N>>,
    /// `true` if the law reverses the direction of a joint near its limits instead of reducing the joint's speed.
    turns: bool,
}

impl<const N: usize> Wild<N> {
    pub(crate) fn new(seed: u64, fastest: [f32; N], limits: &Limits<N>, sources: Vec<SourceId>) -> Self {
        let mut draw = Draw::new(seed, 7);
        let (lands, turns) = ((!draw.one_in(3)).then_some(*limits), draw.one_in(2));
        Self { draw, fastest, wanted: [0.0; N], side: 1.0, left: 0.0, sources, lands, turns }
    }
}

impl<const N: usize> Checkpoint for Wild<N> {}

impl<const N: usize> Law<N> for Wild<N> {
    fn arm(&mut self, _: &Start<'_, N>) -> Result<(), Reason> {
        self.left = 0.0;
        self.side = self.draw.of(&[-1.0, 1.0]);
        Ok(())
    }

    fn step(&mut self, state: &State<N>, _: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        self.left -= dt.as_secs_f32();
        if self.left <= 0.0 {
            self.left = self.draw.magnitude(0.005, 0.8) as f32;
            // Fast and slow joints at the same time; now and then all slower; rarely in the other direction.
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

/// The control law that moves the arm in a run.
pub(crate) enum Mover<const N: usize> {
    Wild(Wild<N>),
    /// A law that moves axes of the tool. Its kinematics may be those of another arm: limits hold for any kinematics.
    Axes(Box<ToolAxes<N>>),
}

impl<const N: usize> Checkpoint for Mover<N> {}

impl<const N: usize> Law<N> for Mover<N> {
    fn arm(&mut self, start: &Start<'_, N>) -> Result<(), Reason> {
        match self {
            Self::Wild(law) => law.arm(start),
            Self::Axes(law) => law.arm(start),
        }
    }

    fn step(&mut self, state: &State<N>, samples: &Samples<'_>, dt: Duration) -> Result<JointVelocities<N>, Reason> {
        match self {
            Self::Wild(law) => law.step(state, samples, dt),
            Self::Axes(law) => law.step(state, samples, dt),
        }
    }

    fn sources(&self) -> &[SourceId] {
        match self {
            Self::Wild(law) => law.sources(),
            Self::Axes(law) => Law::<N>::sources(&**law),
        }
    }
}

/// Draws settings of a law that moves axes of the tool by one sensor, with one of its values for each axis. Some of the
/// settings are rejected.
pub(crate) fn axes(draw: &mut Draw, source: SourceId) -> ToolAxesConfig {
    let mut axis = |value: u8, name: ToolAxis| {
        let slope = draw.magnitude(1e-3, 1e5) as f32 * draw.of(&[-1.0, 1.0]);
        let target = (10.0 * draw.between(-1.0, 1.0)) as f32 * slope;
        let least = if draw.one_in(20) { 0.0 } else { 1e-3 };
        let config = AxisConfig {
            value,
            range: draw.one_in(8).then(|| [target - 0.2 * slope.abs(), target + 0.2 * slope.abs()]),
            proportional: draw.magnitude(0.01, 100.0) as f32,
            speed_limit: draw.magnitude(1e-3, 1.0) as f32,
            deceleration: draw.magnitude(1e-3, 10.0) as f32,
            reach: draw.magnitude(0.01, if name.turns() { 0.5 } else { 1.0 }).max(least) as f32,
            ..AxisConfig::new(source, target, if least > 0.0 { slope } else { 0.0 })
        };
        (!draw.one_in(3)).then_some(config)
    };
    let mut axes = [None; 6];
    for ((value, (_, name)), place) in (1..).zip(ToolAxis::WORDS).zip(&mut axes) {
        *place = axis(value, *name);
    }
    ToolAxesConfig {
        axes,
        hold_gain: draw.magnitude(0.01, 100.0) as f32,
        hold_tolerance: draw.magnitude(0.01, 1.0) as f32,
        turn_tolerance: draw.magnitude(0.02, 1.5) as f32,
        tool_space: ToolSpaceConfig {
            solver: DampedLeastSquares {
                damping: draw.magnitude(1e-3, 1.0) as f32,
                length: draw.magnitude(0.1, 2.0) as f32,
            },
            unreached_limit: if draw.one_in(3) { draw.unit() as f32 } else { 1.0 },
            joint_speed: draw.magnitude(0.05, 6.0) as f32,
        },
    }
}

/// Returns the configuration of a sensor with six values and a random highest age, which moves axes of the tool.
pub(crate) fn senses(draw: &mut Draw, source: SourceId) -> SourceConfig {
    let max_age = draw.span(0.01, 0.2);
    SourceConfig { max_age, stuck_after: None, ..SourceConfig::new(source, 6, -1e9, 1e9) }
}

/// Returns a law with these settings for an arm with these dimensions, and the sensor that moves its axes; `None` if
/// the settings are rejected.
pub(crate) fn sensed<const N: usize>(
    seed: u64,
    config: ToolAxesConfig,
    chain: &KinematicChain<N>,
) -> Option<(Mover<N>, Senses)> {
    config.check().ok()?;
    let mut law = ToolAxes::new(config);
    // The law keeps these kinematics if the engine knows none.
    let _ = law.arm(&Start::at(&State::default()).with_kinematics(chain));
    let aims = config.axes.map(|axis| axis.map_or((0.0, 0.0), |axis| (axis.target, axis.slope)));
    Some((Mover::Axes(Box::new(law)), Senses { draw: Draw::new(seed, 11), aims, ways: [0.0; 6], until: 0 }))
}

/// A simulated sensor for a law that moves axes of the tool. Its readings have an error for each axis that mostly keeps
/// its sign and changes at random moments.
pub(crate) struct Senses {
    draw: Draw,
    aims: PerAxis<(f32, f32)>,
    ways: PerAxis<f32>,
    until: u64,
}

impl Senses {
    /// Returns the simulated sensor's reading, one value for each axis of the tool, at the time `now` \[µs\].
    pub(crate) fn read(&mut self, now: u64) -> SampleValue {
        if now >= self.until {
            self.until = now + (self.draw.magnitude(0.005, 0.8) * 1e6) as u64;
            for way in &mut self.ways {
                let side = if *way < 0.0 { -1.0 } else { 1.0 };
                let side = if self.draw.one_in(6) { -side } else { side };
                *way = side * self.draw.magnitude(1e-3, 2.0) as f32;
            }
        }
        let numbers = core::array::from_fn::<_, 6, _>(|at| {
            let (target, slope) = self.aims[at];
            target - slope * self.ways[at]
        });
        SampleValue::new(&numbers).expect("six numbers")
    }
}
