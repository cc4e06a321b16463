//! The set-up of a run in virtual time.

use std::time::Duration;

use outrigger_core::command::{Limits, SourceConfig};
use outrigger_core::engine::ur::UrConfig;
use outrigger_core::law::{
    AnyLaw, JointServo, JointServoConfig, Reference, SensorFeedForward, Standoff, StandoffConfig,
};
use outrigger_core::mode::PendantStop;
use outrigger_core::trajectory::Trajectory;
use outrigger_sim::controller::{Controller, Options};
use outrigger_sim::simulated_workpiece::{DistanceSensor, Surface};
use outrigger_sim::time::SimTime;
use outrigger_wire::robot::{JointAccelerations, JointVelocities, SoftwareVersion};
use outrigger_wire::sensor::{SampleValue, SourceId};
use outrigger_wire::time as core;

/// The offset of the engine's clock to the simulation's: no result may depend on where either begins.
const CLOCK_OFFSET: core::Duration = core::Duration::from_secs(1_000);

/// Returns the engine's time at `at`.
#[must_use]
pub fn core_time(at: SimTime) -> core::Instant {
    core::Instant::from_micros(at.as_micros()) + CLOCK_OFFSET
}

/// Returns the simulation's time at `at`.
#[must_use]
pub fn sim_time(at: core::Instant) -> SimTime {
    SimTime::from_micros((at - CLOCK_OFFSET).as_micros())
}

/// Converts a time span to the engine's type.
#[must_use]
pub(super) fn core_span(span: Duration) -> core::Duration {
    core::Duration::from_micros(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
}

/// A function that reads a sensor; `None` if the sensor measures no value.
pub type Read = Box<dyn FnMut(&Controller) -> Option<SampleValue>>;

/// A sensor of the co-controller.
pub struct Sensor {
    /// The identifier of the sensor.
    pub id: SourceId,
    /// The time between two readings of the sensor.
    pub period: Duration,
    /// The function that reads the sensor.
    pub read: Read,
}

/// The timing with which the host's loop looks at its sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// The host's loop looks at its sockets as soon as data have arrived.
    #[default]
    AtOnce,
    /// The host's loop looks at its sockets only once in this time.
    Every(Duration),
}

/// The set-up of a run: controller, co-controller, sensors and network.
pub struct Setup {
    /// The options of the simulated controller and its arm.
    pub controller: Options,
    /// The configuration of the co-controller.
    pub config: UrConfig,
    /// The law by which the co-controller commands the arm.
    pub law: AnyLaw<6>,
    /// The co-controller's sensors.
    pub sensors: Vec<Sensor>,
    /// The transit time of a segment in each direction; default 100 µs.
    pub latency: Duration,
    /// The timing with which the host's loop looks at its sockets.
    pub reading: Reading,
}

/// The identifier of the sensor in every [`Setup`] that has one.
pub const SENSOR: SourceId = SourceId(1);

impl Setup {
    /// Creates a set-up with a running robot with this software, and a co-controller that holds it at its position.
    #[must_use]
    pub fn new(software: SoftwareVersion) -> Self {
        let mut config = UrConfig::default();
        // Many of these controllers send states on 30003 only.
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

    /// Creates a set-up with a sensor, read every 2 ms, that commands the speed of the base joint \[rad/s\]. The
    /// motion is steady as long as there is no fault.
    #[must_use]
    pub fn sweep(software: SoftwareVersion, speed: f32) -> Self {
        Self::wished(software, move |_| speed)
    }

    /// Creates a set-up like [`sweep`](Self::sweep), but to and fro between ±0.5 rad.
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

    /// Creates a set-up with a sensor, read every 2 ms, that turns the base joint's position \[rad\] into its
    /// commanded speed \[rad/s\].
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
        // A commanded speed may legitimately stay constant.
        setup.config.sources[0] = Some(SourceConfig { stuck_after: None, ..SourceConfig::new(SENSOR, 6, -2.0, 2.0) });
        let read = Box::new(move |controller: &Controller| {
            SampleValue::new(&[wish(controller.truth().q[0]), 0.0, 0.0, 0.0, 0.0, 0.0])
        });
        setup.sensors = vec![Sensor { id: SENSOR, period: Duration::from_millis(2), read }];
        setup
    }

    /// Creates a set-up in which the joints follow `trajectory`, given relative to their positions at the start.
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

    /// Creates a set-up in which the tool is held `distance` \[m\] over `surface`, by a distance sensor read every 10
    /// ms.
    #[must_use]
    pub fn standoff(software: SoftwareVersion, distance: f32, surface: Surface) -> Self {
        let mut setup = Self::new(software);
        setup.law = AnyLaw::Standoff(Standoff::new(StandoffConfig::new(SENSOR, distance)));
        // For controllers that do not report their geometry.
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
