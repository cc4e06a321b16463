//! The engine and the memory of a robot whose controller is a KRC.

use core::mem::MaybeUninit;

use embassy_net::Stack;
use embedded_hal::digital::OutputPin;
pub use outrigger_core::engine::krc::KrcSettings as Settings;
use outrigger_core::engine::krc::{Krc, KrcEngine};
use outrigger_core::law::AnyLaw;
use outrigger_embassy::Shared as Mailbox;
use outrigger_embassy::krc::{Buffers, KrcRunner};
use outrigger_remote::telemetry::{Device, Pace};

use crate::log_event::LogEvent;
use crate::recorder;
use crate::robot::{Ready, StartError};
use crate::shared::{self, LoopObserver};

type Engine = KrcEngine<'static, AnyLaw<7>>;

/// The state shared between the control loop and the other tasks of a KRC's board.
pub type Shared = shared::Shared<7, Krc>;

/// The memory for the engine, the sockets and the shared state of one robot, to be stored in a static. It is all zeros
/// and takes no flash. The flight recorder has separate memory, which a reset leaves unchanged.
pub struct Memory {
    buffers: Buffers,
    engine: MaybeUninit<Engine>,
    mailbox: MaybeUninit<Mailbox>,
    shared: MaybeUninit<Shared>,
}

impl Memory {
    /// Creates memory for engine and sockets that no robot uses yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buffers: Buffers::new(),
            engine: MaybeUninit::uninit(),
            mailbox: MaybeUninit::uninit(),
            shared: MaybeUninit::uninit(),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

/// The engine, control law and control loop of a robot with a KRC.
pub type Robot = Ready<7, Krc, KrcRunner<'static, 'static, AnyLaw<7>>>;

impl Robot {
    /// Creates the robot of these settings; `device` has the names for telemetry.
    ///
    /// # Errors
    /// [`StartError`] if the settings cannot be used.
    pub fn new(
        stack: Stack<'static>,
        settings: &Settings,
        device: Device<'static>,
        memory: &'static mut Memory,
    ) -> Result<Self, StartError> {
        let Memory { buffers, engine, mailbox, shared } = memory;
        let law = AnyLaw::new(settings.law.clone())?;
        let period = settings.device.telemetry.map(|target| target.period);
        let pace = period.map_or(Pace::default(), Pace::every);
        let built = KrcEngine::new(settings.config, law, ())?;
        let built = recorder::record(built, settings.device.recorder, &device, period.map(|_| pace));
        let (handle, runner) =
            outrigger_embassy::krc::new(stack, engine.write(built), buffers, mailbox.write(Mailbox::new()));
        let shared = shared.write(Shared::new(device, pace));
        shared.note(LogEvent::BootedForKrc {
            address: settings.device.address,
            prefix: settings.device.prefix,
            port: settings.config.peer.port,
            law: settings.law.name(),
        });
        Ok(Self {
            runner,
            handle,
            shared,
            #[cfg(feature = "motion")]
            motion: Default::default(),
        })
    }

    /// Runs the control loop until a shutdown has been executed. The pin `cycle` changes its level with each
    /// measurement.
    pub async fn run(mut self, cycle: impl OutputPin) {
        let mut observer = LoopObserver::new(self.shared, self.handle, cycle);
        #[cfg(feature = "motion")]
        observer.feeds(self.motion);
        self.runner.run(&mut observer).await;
        self.shared.note_end();
    }
}

#[cfg(feature = "provision")]
crate::provision::stored_settings!(Settings);
