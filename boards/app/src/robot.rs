//! The control loop of one robot, put together from its settings.

use core::mem::MaybeUninit;
use core::net::Ipv4Addr;

use embassy_net::Stack;
use embedded_hal::digital::OutputPin;
use outrigger_core::law::AnyLaw;
use outrigger_core::session::{CoController, Config, ConfigError};
use outrigger_embassy::{Buffers, Handle, Runner, Shared, Windows};

use crate::desk::{Clerk, Desk};

type Engine = CoController<'static, AnyLaw<6>>;

/// All memory of a robot, to be kept in a static: it begins as zeros, and costs no flash.
pub struct Memory {
    windows: Windows,
    buffers: Buffers,
    engine: MaybeUninit<Engine>,
    shared: MaybeUninit<Shared>,
    desk: MaybeUninit<Desk>,
}

impl Memory {
    /// Unused.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            windows: Windows::new(),
            buffers: Buffers::new(),
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

/// One robot, ready to be run.
pub struct Robot {
    runner: Runner<'static, 'static, AnyLaw<6>>,
    handle: Handle<'static>,
    desk: &'static Desk,
}

impl Robot {
    /// The robot at `address`.
    ///
    /// # Errors
    /// What is wrong with the configuration.
    pub fn new(
        stack: Stack<'static>,
        address: Ipv4Addr,
        config: Config,
        law: AnyLaw<6>,
        memory: &'static mut Memory,
    ) -> Result<Self, ConfigError> {
        let Memory { windows, buffers, engine, shared, desk } = memory;
        let engine = engine.write(CoController::new(config, law, windows.memory())?);
        let (handle, runner) = outrigger_embassy::new(stack, address, engine, buffers, shared.write(Shared::new()));
        Ok(Self { runner, handle, desk: desk.write(Desk::new()) })
    }

    /// Speaks to the robot.
    #[must_use]
    pub const fn handle(&self) -> Handle<'static> {
        self.handle
    }

    /// What the control loop leaves for others.
    #[must_use]
    pub const fn desk(&self) -> &'static Desk {
        self.desk
    }

    /// The control loop, until a shutdown has been carried out. `cycle` changes its level with each control cycle.
    pub async fn run(mut self, cycle: impl OutputPin) {
        let mut clerk = Clerk::new(self.desk, self.handle, cycle);
        self.runner.run(&mut clerk).await;
    }
}
