//! Leave to put one command that makes an arm ready, and whom that leaves with a request to command.

use crate::mode::Mode;
use outrigger_wire::dashboard::Outcome;

/// Decides when a command that makes an arm ready may go out, so that the arm which is ready by it does not begin to be commanded
/// by it: one command at a time, for whoever asks.
///
/// | stage | input | in `Offline` or `Monitor` | in any other mode |
/// |---|---|---|---|
/// | idle | `Asked` | `Connect` | `End(Commanding)` |
/// | connecting | `Listens` | `Release` | `End(Commanding)` |
/// | releasing | `Released` | `Send` | `End(Commanding)` |
/// | connecting, releasing | `Looked` | | `End(Commanding)` |
/// | any but idle | `Asked` | `End(Busy)`, of the later one alone | the same |
/// | any | `Over` | idle again | idle again |
///
/// Anything else changes nothing. The release is asked for once the server listens and right before the command: no request that was
/// made before is still to be granted when the command goes out, the device's own and the one that waits in a mailbox among them. What
/// is requested after that is newer than the command, and is granted or refused as at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Leave {
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Stage {
    /// Nothing is asked for.
    #[default]
    Idle,
    /// The server is being connected to.
    Connecting,
    /// It listens, and the engine is being told to release.
    Releasing,
    /// The command is out.
    Sent,
}

/// What happened, each with the engine's mode at that moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeaveInput {
    /// Somebody asks for a command.
    Asked,
    /// The server is there and waits for it.
    Listens,
    /// The engine has been given the release and everything that was asked of it before, and nothing else waits for it.
    Released,
    /// Nothing but the mode.
    Looked,
    /// The command is over, whatever came of it.
    Over,
}

/// What is to be done now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum LeaveOutput {
    /// Nothing.
    Nothing,
    /// Connect to the server.
    Connect,
    /// Take back every request to command, and report `Released`.
    Release,
    /// Put the command, before anything else can be asked of the engine.
    Send,
    /// Nothing more is sent, for this.
    End(Outcome),
}

impl Leave {
    /// Nothing is asked for.
    #[must_use]
    pub const fn new() -> Self {
        Self { stage: Stage::Idle }
    }

    /// Whether a command may be put to a controller in this mode of the engine: never while the arm is commanded, or being stopped.
    #[must_use]
    pub const fn admits(mode: Mode) -> bool {
        match mode {
            Mode::Offline | Mode::Monitor => true,
            Mode::Arming | Mode::Command | Mode::Stopping => false,
        }
    }

    /// Whether a command is under way.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        !matches!(self.stage, Stage::Idle)
    }

    /// Takes one input, in this mode of the engine.
    pub const fn handle(&mut self, input: LeaveInput, mode: Mode) -> LeaveOutput {
        let (stage, output) = match (self.stage, input) {
            (stage, LeaveInput::Asked) if !matches!(stage, Stage::Idle) => (stage, LeaveOutput::End(Outcome::Busy)),
            (_, LeaveInput::Over) => (Stage::Idle, LeaveOutput::Nothing),
            (Stage::Idle, LeaveInput::Asked)
            | (Stage::Connecting, LeaveInput::Listens | LeaveInput::Looked)
            | (Stage::Releasing, LeaveInput::Released | LeaveInput::Looked)
                if !Self::admits(mode) =>
            {
                (Stage::Idle, LeaveOutput::End(Outcome::Commanding))
            }
            (Stage::Idle, LeaveInput::Asked) => (Stage::Connecting, LeaveOutput::Connect),
            (Stage::Connecting, LeaveInput::Listens) => (Stage::Releasing, LeaveOutput::Release),
            (Stage::Releasing, LeaveInput::Released) => (Stage::Sent, LeaveOutput::Send),
            (stage, _) => (stage, LeaveOutput::Nothing),
        };
        self.stage = stage;
        output
    }
}
