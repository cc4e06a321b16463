//! A robot with its control loop, put together from settings.

use outrigger_core::engine::{ConfigError, Peer};
use outrigger_core::robot::BadValue;
use outrigger_embassy::Handle;

use crate::desk::Desk;

/// One robot with its control loop `R`, ready to be run.
pub struct Ready<const N: usize, P: Peer<N> + 'static, R> {
    pub(crate) runner: R,
    pub(crate) handle: Handle<'static>,
    pub(crate) desk: &'static Desk<N, P>,
}

impl<const N: usize, P: Peer<N>, R> Ready<N, P, R> {
    /// Speaks to the robot.
    #[must_use]
    pub const fn handle(&self) -> Handle<'static> {
        self.handle
    }

    /// What the control loop leaves for others.
    #[must_use]
    pub const fn desk(&self) -> &'static Desk<N, P> {
        self.desk
    }
}

/// Settings that were compiled in and cannot be run: they were not made by the build script of this firmware.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum StartError {
    /// The law cannot work with them.
    Law(BadValue),
    /// The engine cannot.
    Engine(ConfigError),
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
