//! A robot with its control loop, created from settings.

use outrigger_core::engine::{ConfigError, Controller, NoPort};
use outrigger_core::robot::BadValue;
#[cfg(feature = "motion")]
use outrigger_core::trajectory::Stored;
use outrigger_embassy::Handle;

use crate::shared::Shared;

/// A robot that was created from settings: its control loop `R`, ready to be run, and its shared state.
pub struct Ready<const N: usize, P: Controller<N> + 'static, R> {
    pub(crate) runner: R,
    pub(crate) handle: Handle<'static>,
    pub(crate) shared: &'static Shared<N, P>,
    /// The rest of the control law's motion, behind the waypoints with which the engine begins.
    #[cfg(feature = "motion")]
    pub(crate) motion: Stored<'static, N>,
}

impl<const N: usize, P: Controller<N>, R> Ready<N, P, R> {
    /// Returns a handle that sends operators' requests and sensor readings to the robot's task.
    #[must_use]
    pub const fn handle(&self) -> Handle<'static> {
        self.handle
    }

    /// Returns the same robot with the rest of its law's motion, behind the waypoints of the settings. The rest is fed
    /// to the engine during the run.
    #[cfg(feature = "motion")]
    #[must_use]
    pub fn with_motion(self, stored: &'static [u8]) -> Self {
        Self { motion: Stored::new(stored), ..self }
    }

    /// Returns the state shared between the control loop and the other tasks.
    #[must_use]
    pub const fn shared(&self) -> &'static Shared<N, P> {
        self.shared
    }
}

/// The reason why the board's settings cannot be used. Settings that were compiled in were then not made by the build
/// script of this firmware.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StartError {
    /// The control law rejects the settings, because of this value.
    Law(BadValue),
    /// The engine rejects the settings, for this reason.
    Engine(ConfigError),
    /// The settings of the device itself, such as its address or its sensors, are invalid because of this value.
    Device(BadValue),
    /// A sensor of the settings has no port on this board.
    Port(NoPort),
}

impl core::fmt::Display for StartError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Law(error) => write!(f, "law.{error}"),
            Self::Engine(error) => write!(f, "{error}"),
            Self::Device(error) => write!(f, "device.{error}"),
            Self::Port(error) => write!(f, "{error}"),
        }
    }
}

impl From<BadValue> for StartError {
    fn from(error: BadValue) -> Self {
        Self::Law(error)
    }
}

impl From<ConfigError> for StartError {
    fn from(error: ConfigError) -> Self {
        Self::Engine(error)
    }
}
