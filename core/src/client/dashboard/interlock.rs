//! The interlock between commands that make an arm ready, such as brake release, and requests to command the arm.

use crate::mode::Mode;
use outrigger_wire::dashboard::Outcome;

/// Decides when a command that makes an arm ready may be sent, so that this arm does not start to move by an earlier
/// request to command. Only one command is in progress at a time, for all clients together.
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
/// All other inputs change nothing. The release is requested when the server listens, right before the command: when
/// the command is sent, no earlier request to command can be granted any more, including the device's own and one that
/// waits in a mailbox. Later requests are newer than the command, and are granted or refused as usual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CommandInterlock {
    stage: InterlockState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum InterlockState {
    /// No command that makes an arm ready is in progress.
    #[default]
    Idle,
    /// A connection to the dashboard server is being made.
    Connecting,
    /// The dashboard server is connected, and the engine is to revoke every request to command.
    Releasing,
    /// The command that makes the arm ready was sent; its end is awaited.
    Sent,
}

/// An input of [`CommandInterlock`]: a step of a command that makes an arm ready. Each input is passed with the
/// engine's present mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InterlockInput {
    /// A client requests that a command that makes an arm ready is sent.
    Asked,
    /// The dashboard server is connected and waits for the command.
    Listens,
    /// The engine has revoked every request to command the arm and processed all earlier requests, and no other request
    /// waits for it.
    Released,
    /// No event: only the engine's present mode is to be evaluated.
    Looked,
    /// The command that makes the arm ready has ended with any outcome.
    Over,
}

/// The action that the caller of [`CommandInterlock`] has to take now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum InterlockOutput {
    /// No action is needed from the caller.
    Nothing,
    /// Connect to the dashboard server, to which the command will be sent.
    Connect,
    /// Revoke every request to command the arm, and report [`InterlockInput::Released`].
    Release,
    /// Send the command to the dashboard server, before the engine receives any other request.
    Send,
    /// The command that makes the arm ready ends with this outcome; nothing more is sent.
    End(Outcome),
}

impl CommandInterlock {
    /// Creates the interlock with no command in progress.
    #[must_use]
    pub const fn new() -> Self {
        Self { stage: InterlockState::Idle }
    }

    /// Returns whether a command may be sent to the controller in this mode of the engine: never while the arm is
    /// commanded or being stopped.
    #[must_use]
    pub const fn admits(mode: Mode) -> bool {
        match mode {
            Mode::Offline | Mode::Monitor => true,
            Mode::Arming | Mode::Command | Mode::Stopping => false,
        }
    }

    /// Returns whether a command that makes an arm ready is in progress.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        !matches!(self.stage, InterlockState::Idle)
    }

    /// Processes one input of the interlock, with the engine's present mode; returns the action that the caller has to
    /// take.
    pub const fn handle(&mut self, input: InterlockInput, mode: Mode) -> InterlockOutput {
        let (stage, output) = match (self.stage, input) {
            (stage, InterlockInput::Asked) if !matches!(stage, InterlockState::Idle) => {
                (stage, InterlockOutput::End(Outcome::Busy))
            }
            (_, InterlockInput::Over) => (InterlockState::Idle, InterlockOutput::Nothing),
            (InterlockState::Idle, InterlockInput::Asked)
            | (InterlockState::Connecting, InterlockInput::Listens | InterlockInput::Looked)
            | (InterlockState::Releasing, InterlockInput::Released | InterlockInput::Looked)
                if !Self::admits(mode) =>
            {
                (InterlockState::Idle, InterlockOutput::End(Outcome::Commanding))
            }
            (InterlockState::Idle, InterlockInput::Asked) => (InterlockState::Connecting, InterlockOutput::Connect),
            (InterlockState::Connecting, InterlockInput::Listens) => {
                (InterlockState::Releasing, InterlockOutput::Release)
            }
            (InterlockState::Releasing, InterlockInput::Released) => (InterlockState::Sent, InterlockOutput::Send),
            (stage, _) => (stage, InterlockOutput::Nothing),
        };
        self.stage = stage;
        output
    }
}
