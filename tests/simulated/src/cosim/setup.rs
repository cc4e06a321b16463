//! What a run is made from.

use std::time::Duration;

use outrigger_core::command::{Limits, SourceConfig};
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::law::{
    AnyLaw, JointServo, JointServoConfig, Reference, SensorFeedForward, Standoff, StandoffConfig,
};
use outrigger_core::mode::PendantStop;
use outrigger_core::trajectory::Trajectory;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::time::SimTime;
use outrigger_sim::world::{DistanceSensor, Surface};
use outrigger_wire::robot::{JointAccelerations, JointVelocities, SoftwareVersion};
use outrigger_wire::sensor::{SampleValue, SourceId};
use outrigger_wire::time as core;

/// The engine's clock does not begin with the simulation's: nothing may depend on where either begins.
const CLOCK_OFFSET: core::Duration = core::Duration::from_secs(1_000);

/// The engine's time at `at`.
#[must_use]
pub fn core_time(at: SimTime) -> core::Instant {
    core::Instant::from_micros(at.as_micros()) + CLOCK_OFFSET
}

/// The simulation's time at `at`.
#[must_use]
pub fn sim_time(at: core::Instant) -> SimTime {
    SimTime::from_micros((at - CLOCK_OFFSET).as_micros())
}

/// A span, for the engine.
#[must_use]
pub(super) fn core_span(span: Duration) -> core::Duration {
    core::Duration::from_micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

/// Reads a sensor; nothing, where it sees nothing.
pub type Read = Box<dyn FnMut(&Controller) -> Option<SampleValue>>;

/// A sensor beside the arm.
pub struct Sensor {
    /// Its number.
    pub id: SourceId,
    /// Time between two readings.
    pub period: Duration,
    /// How it is read.
    pub read: Read,
}

/// How the host's loop comes to its sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// As soon as something is there.
    #[default]
    AtOnce,
    /// Only once in this time.
    Every(Duration),
}

/// What a run is made from.
pub struct Setup {
    /// The controller and its arm.
    pub controller: Options,
    /// The co-controller.
    pub config: UrConfig,
    /// Its law.
    pub law: AnyLaw<6>,
    /// Its sensors.
    pub sensors: Vec<Sensor>,
    /// Time a segment takes each way; default 100 µs.
    pub latency: Duration,
    /// How the host's loop comes to its sockets.
    pub reading: Reading,
}

/// The sensor of every [`Setup`] that has one.
pub const SENSOR: SourceId = SourceId(1);

impl Setup {
    /// A running robot with this software, and a co-controller that holds it where it stands.
    #[must_use]
    pub fn new(software: SoftwareVersion) -> Self {
        let mut config = UrConfig::default();
        // Many of these controllers have states by 30003 alone.
        config.mode.pendant.stop = PendantStop::Overridden;
        Self {
            controller: Options::for_software(software),
            config,
            law: AnyLaw::JointServo(JointServo::new(Reference::Hold, JointServoConfig::default())),
            sensors: vec![],
            latency: Duration::from_micros(100),
            reading: Reading::default(),
        }
    }

    /// A sensor, read every 2 ms, says how fast the base joint is to move \[rad/s\]: a motion that is steady as long
    /// as everything is well.
    #[must_use]
    pub fn sweep(software: SoftwareVersion, speed: f32) -> Self {
        Self::wished(software, move |_| speed)
    }

    /// The same, to and fro between ±0.5 rad.
    #[must_use]
    pub fn to_and_fro(software: SoftwareVersion, speed: f32) -> Self {
        let mut direction = speed;
        Self::wished(software, move |base| {
            if base.abs() > 0.5 {
                direction = -speed * base.signum() as f32;
            }
            direction
        })
    }

    /// A sensor, read every 2 ms, turns the base joint's position \[rad\] into the speed it is to have \[rad/s\].
    fn wished(software: SoftwareVersion, mut wish: impl FnMut(f64) -> f32 + 'static) -> Self {
        let mut setup = Self::new(software);
        let config = JointServoConfig {
            proportional: 0.0,
            derivative: 0.0,
            path_tolerance: 6.0,
            sensor: Some(SensorFeedForward { source: SENSOR, gain: 1.0 }),
            ..JointServoConfig::default()
        };
        setup.law = AnyLaw::JointServo(JointServo::new(Reference::Hold, config));
        // A wish for a speed may rightly stay the same.
        setup.config.sources[0] = Some(SourceConfig { stuck_after: None, ..SourceConfig::new(SENSOR, 6, -2.0, 2.0) });
        let read = Box::new(move |controller: &Controller| {
            SampleValue::new(&[wish(controller.truth().q[0]), 0.0, 0.0, 0.0, 0.0, 0.0])
        });
        setup.sensors = vec![Sensor { id: SENSOR, period: Duration::from_millis(2), read }];
        setup
    }

    /// The joints follow `trajectory`, given relative to where they stand.
    #[must_use]
    pub fn servo(software: SoftwareVersion, trajectory: Trajectory<6>, config: JointServoConfig) -> Self {
        let mut setup = Self::new(software);
        setup.law = AnyLaw::JointServo(JointServo::new(Reference::Relative(trajectory), config));
        setup.config.limits = Limits {
            velocity: JointVelocities([3.0; 6]),
            acceleration: JointAccelerations([8.0; 6]),
            braking: JointAccelerations([8.0; 6]),
            ..Limits::default()
        };
        // The simulated controller's own stop is harder.
        setup.config.peer.text.own_stop = 8.0;
        setup
    }

    /// The tool is held `distance` \[m\] over `surface`, by a distance sensor read every 10 ms.
    #[must_use]
    pub fn standoff(software: SoftwareVersion, distance: f32, surface: Surface) -> Self {
        let mut setup = Self::new(software);
        setup.law = AnyLaw::Standoff(Standoff::new(StandoffConfig::new(SENSOR, distance)));
        // For controllers that do not tell their geometry.
        setup.config.peer.model = Some(setup.controller.model);
        setup.config.sources[0] = Some(SourceConfig::new(SENSOR, 1, 0.02, 0.5));
        let mut sensor = DistanceSensor::new(setup.controller.seed);
        let read = Box::new(move |controller: &Controller| {
            let distance = sensor.read(&surface, controller.truth().tool(), controller.now())?;
            Some(SampleValue::scalar(distance as f32))
        });
        setup.sensors = vec![Sensor { id: SENSOR, period: Duration::from_millis(10), read }];
        setup
    }
}
