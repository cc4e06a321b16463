//! Engine and memory of a robot beside a KRC.

use core::mem::MaybeUninit;

use embassy_net::Stack;
use embedded_hal::digital::OutputPin;
use outrigger_core::law::AnyLaw;
pub use outrigger_core::session::KrcSettings as Settings;
use outrigger_core::session::fri::{FriSession, KrlConvention};
use outrigger_core::telemetry::{Device, Pace};
use outrigger_embassy::{Shared, fri};

use crate::desk::{Clerk, Desk};
use crate::milestone::Milestone;
use crate::robot::{Ready, StartError};

type Engine = FriSession<AnyLaw<7>, KrlConvention>;

/// All memory of a robot, to be kept in a static: it begins as zeros, and costs no flash.
pub struct Memory {
    buffers: fri::Buffers,
    engine: MaybeUninit<Engine>,
    shared: MaybeUninit<Shared>,
    desk: MaybeUninit<Desk>,
}

impl Memory {
    /// Unused.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buffers: fri::Buffers::new(),
            engine: MaybeUninit::uninit(),
            shared: MaybeUninit::uninit(),
            desk: MaybeUninit::uninit(),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// A robot beside a KRC.
pub type Robot = Ready<fri::Runner<'static, AnyLaw<7>, KrlConvention>>;

impl Robot {
    /// The robot of these settings; `device` is what telemetry says of who speaks.
    ///
    /// # Errors
    /// What is wrong with the settings.
    pub fn new(
        stack: Stack<'static>,
        settings: &Settings,
        device: Device<'static>,
        memory: &'static mut Memory,
    ) -> Result<Self, StartError> {
        let Memory { buffers, engine, shared, desk } = memory;
        let law = AnyLaw::new(settings.law.clone())?;
        let engine = engine.write(FriSession::new(settings.config, law, settings.handshake)?);
        let (handle, runner) = fri::new(stack, settings.port, engine, buffers, shared.write(Shared::new()));
        let pace = settings.device.telemetry.map_or(Pace::default(), |target| Pace::every(target.period));
        let desk = desk.write(Desk::new(device, pace));
        desk.note(Milestone::BootedForKrc {
            address: settings.device.address,
            prefix: settings.device.prefix,
            port: settings.port,
            law: settings.law.name(),
        });
        Ok(Self { runner, handle, desk })
    }

    /// The control loop, until a shutdown has been carried out. `cycle` changes its level with each measurement.
    pub async fn run(mut self, cycle: impl OutputPin) {
        let mut clerk = Clerk::new(self.desk, self.handle, cycle);
        self.runner.run(&mut clerk).await;
    }
}
