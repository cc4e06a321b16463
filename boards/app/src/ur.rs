//! Engine and memory of a robot with a controller of Universal Robots.

use core::mem::MaybeUninit;

use embassy_net::Stack;
use embedded_hal::digital::OutputPin;
pub use outrigger_core::engine::ur::UrSettings as Settings;
use outrigger_core::engine::ur::rtde::{LEAST, RtdeMemory};
use outrigger_core::engine::ur::{Memory as EngineMemory, Ur, UrEngine};
use outrigger_core::law::AnyLaw;
use outrigger_embassy::{BuffersWithRtde, FOR_A_PROGRAM, Shared as Mailbox, UrRunner, Windows};
use outrigger_remote::telemetry::{Device, Pace};

use crate::log_event::LogEvent;
use crate::recorder;
use crate::robot::{Ready, StartError};
use crate::shared::{self, LoopObserver};

type Engine = UrEngine<'static, AnyLaw<6>>;

/// The state shared between the control loop and the other tasks of a UR robot's board.
pub type Shared = shared::Shared<6, Ur<'static>>;

/// The size of the buffers for the connection that Outrigger's URScript program opens, if commands to the arm may go
/// through such a program \[B\].
const PROGRAM: usize = if cfg!(feature = "programs") { FOR_A_PROGRAM } else { 0 };

/// The number of groups of RTDE inputs that the engine can write: Outrigger's URScript program may receive its commands
/// through such a group.
const GROUPS: usize = if cfg!(feature = "programs") { 1 } else { 0 };

/// The memory for the engine, the sockets and the shared state of one robot, to be stored in a static. It is all zeros
/// and takes no flash. The flight recorder has separate memory, which a reset leaves unchanged.
pub struct Memory {
    windows: Windows,
    rtde: MaybeUninit<RtdeMemory<'static, LEAST, GROUPS>>,
    buffers: BuffersWithRtde<PROGRAM>,
    engine: MaybeUninit<Engine>,
    mailbox: MaybeUninit<Mailbox>,
    shared: MaybeUninit<Shared>,
}

impl Memory {
    /// Creates memory for engine and sockets that no robot uses yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            windows: Windows::new(),
            // Not zeros: as a value here it would put all of this into flash.
            rtde: MaybeUninit::uninit(),
            buffers: BuffersWithRtde::<PROGRAM>::with_rtde(),
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

/// The engine, control law and control loop of a robot of Universal Robots.
pub type Robot = Ready<6, Ur<'static>, UrRunner<'static, 'static, AnyLaw<6>>>;

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
        let Memory { windows, rtde, buffers, engine, mailbox, shared } = memory;
        let law = AnyLaw::new(settings.law.clone())?;
        let period = settings.device.telemetry.map(|target| target.period);
        let pace = period.map_or(Pace::default(), Pace::every);
        let memory = EngineMemory { rtde: Some(rtde.write(RtdeMemory::new())), ..windows.memory() };
        let built = UrEngine::new(settings.config, law, memory)?;
        let built = recorder::record(built, settings.device.recorder, &device, period.map(|_| pace));
        let (handle, runner) =
            outrigger_embassy::new(stack, settings.robot, engine.write(built), buffers, mailbox.write(Mailbox::new()));
        let shared = shared.write(Shared::new(device, pace));
        shared.set_dashboard(settings.robot.into());
        shared.note(LogEvent::Booted {
            address: settings.device.address,
            prefix: settings.device.prefix,
            robot: settings.robot,
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

    /// Runs the control loop until a shutdown has been executed. The pin `cycle` changes its level with each new robot
    /// state.
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
