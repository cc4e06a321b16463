//! A client that sends one command that makes an arm ready, over a connection of its own: for users without access to
//! the pendant.

use super::client::Client;
use super::interlock::{CommandInterlock, InterlockInput, InterlockOutput};
use super::service_interface::{Event, Input, Service, Timeouts};
use crate::client::Output;
use crate::mode::Mode;
use outrigger_wire::dashboard::{Outcome, Request};
use outrigger_wire::time::{Duration, Instant};

/// A command to a dashboard server that is needed to make an arm ready to move. None starts a program, and none moves
/// anything except the brakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum ArmCommand {
    /// `power on`: powers the arm's drives, with the brakes closed.
    PowerOn,
    /// `brake release`: releases the arm's brakes, from robot mode `IDLE` to `RUNNING`.
    BrakeRelease,
    /// `unlock protective stop`: ends a protective stop, at the earliest 5 s after the stop occurred. The user must
    /// have seen the cause of the stop.
    UnlockProtectiveStop,
    /// `close popup`: closes a pop-up on the pendant.
    ClosePopup,
    /// `close safety popup`: closes a safety message on the pendant.
    CloseSafetyPopup,
}

impl ArmCommand {
    /// The list of all commands that make an arm ready.
    pub const ALL: [Self; 5] =
        [Self::PowerOn, Self::BrakeRelease, Self::UnlockProtectiveStop, Self::ClosePopup, Self::CloseSafetyPopup];

    /// Returns the name by which requests to this driver select the command, such as `brake-release`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::PowerOn => "power-on",
            Self::BrakeRelease => "brake-release",
            Self::UnlockProtectiveStop => "unlock-protective-stop",
            Self::ClosePopup => "close-popup",
            Self::CloseSafetyPopup => "close-safety-popup",
        }
    }

    /// Returns the command that requests to this driver select by this name; `None` for an unknown name.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    const fn request(self) -> Request<'static> {
        match self {
            Self::PowerOn => Request::PowerOn,
            Self::BrakeRelease => Request::BrakeRelease,
            Self::UnlockProtectiveStop => Request::UnlockProtectiveStop,
            Self::ClosePopup => Request::ClosePopup,
            Self::CloseSafetyPopup => Request::CloseSafetyPopup,
        }
    }
}

/// The longest wait for the report that every request to command the arm was revoked,
/// [`ServiceCommandInput::Released`]. Without the report it is unknown whether the arm is commanded: the command is not
/// sent.
const RELEASED_IN: Duration = Duration::from_secs(1);

/// A client that sends one command at a time to a dashboard server. On request it opens a connection,
/// [revokes](ServiceCommandOutput::Release) every request to command the arm when the server has greeted it, sends the
/// command, and closes the connection after the reply. A command that [`CommandInterlock`] does not permit at that time
/// is not sent, whatever the engine's mode was at the request.
///
/// Pass one input, then drain [`poll_output`](Self::poll_output) and [`poll_event`](Self::poll_event) until both are
/// `None`, then sleep until [`poll_timeout`](Self::poll_timeout).
///
/// ```
/// use outrigger_core::client::dashboard::{
///     ArmCommand, Outcome, ServiceCommand, ServiceCommandInput, ServiceCommandOutput,
/// };
/// use outrigger_core::mode::Mode;
/// use outrigger_wire::time::Instant;
///
/// let (mut memory, now) = ([0; 512], Instant::ZERO);
/// let mut command = ServiceCommand::new(&mut memory);
/// command.handle(now, ServiceCommandInput::Ask(ArmCommand::BrakeRelease, Mode::Monitor));
/// assert_eq!(command.poll_output(), Some(ServiceCommandOutput::Open { port: 29_999 }));
/// command.handle(now, ServiceCommandInput::Refused);
/// assert_eq!(command.poll_event(), Some(Outcome::NotConnected));
/// ```
#[derive(Debug)]
pub struct ServiceCommand<'m> {
    client: Client<'m>,
    leave: CommandInterlock,
    asked: Option<ArmCommand>,
    mode: Mode,
    release: bool,
    /// The deadline for the engine's report that it has revoked every request to command the arm; `None` while no
    /// report is awaited.
    released_by: Option<Instant>,
    close: bool,
    event: Option<Outcome>,
}

/// An input of a [`ServiceCommand`]: a request, the engine's mode, a change of the connection, or the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceCommandInput {
    /// A request to send this command to the controller, with the engine's present mode.
    Ask(ArmCommand, Mode),
    /// The present mode of the engine, which shows whether the arm is commanded: to be passed before bytes received
    /// from the dashboard server.
    Mode(Mode),
    /// The engine has revoked every request to command the arm, as [`ServiceCommandOutput::Release`] demands, has
    /// processed all earlier requests, and is in this mode. Pass the resulting transmission to the connection before
    /// the engine receives another request.
    Released(Mode),
    /// The connection requested by [`ServiceCommandOutput::Open`] is established.
    Opened,
    /// The connection to the dashboard server was refused or could not be made.
    Refused,
    /// The peer, or the network stack, closed the connection to the dashboard server.
    Closed,
    /// The time has advanced: passed deadlines are processed. Permitted at any time.
    Tick,
}

/// An output of a [`ServiceCommand`], for its caller to carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServiceCommandOutput<'a> {
    /// Connect to the dashboard server, and report `Opened` or `Refused`. The client observes its own deadline.
    Open {
        /// The TCP port on a real controller; the ports of a simulated one may be offset, which the caller takes into
        /// account.
        port: u16,
    },
    /// Revoke every request to command the arm, as an operator's release does, and report
    /// [`ServiceCommandInput::Released`].
    Release,
    /// Write all of these bytes to the connection to the dashboard server.
    Transmit(&'a [u8]),
    /// Close the connection to the dashboard server, or give up opening it. No event of it is to be reported
    /// afterwards.
    Close,
}

impl<'m> ServiceCommand<'m> {
    /// Creates a client that executes no command yet. `memory` holds received bytes: at least the longest reply, a few
    /// hundred bytes.
    #[must_use]
    pub fn new(memory: &'m mut [u8]) -> Self {
        let client = Client::new(memory, Timeouts::default());
        let (leave, mode) = (CommandInterlock::new(), Mode::Offline);
        Self { client, leave, asked: None, mode, release: false, released_by: None, close: false, event: None }
    }

    /// Returns whether a command to the dashboard server is in progress.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        self.leave.is_busy()
    }

    /// Processes one input of this client of the dashboard server at `now`, which must never decrease.
    pub fn handle(&mut self, now: Instant, input: ServiceCommandInput) {
        match input {
            ServiceCommandInput::Ask(arm_command, mode) => {
                if !self.is_busy() {
                    self.asked = Some(arm_command);
                }
                self.judge(now, InterlockInput::Asked, mode);
            }
            ServiceCommandInput::Mode(mode) => self.judge(now, InterlockInput::Looked, mode),
            ServiceCommandInput::Released(mode) => self.judge(now, InterlockInput::Released, mode),
            ServiceCommandInput::Opened => self.client.handle(now, Input::Opened),
            ServiceCommandInput::Refused => self.client.handle(now, Input::Refused),
            ServiceCommandInput::Closed => self.client.handle(now, Input::Closed),
            ServiceCommandInput::Tick if self.released_by.is_some_and(|by| now >= by) => {
                self.end(now, Outcome::Commanding);
            }
            ServiceCommandInput::Tick => self.client.handle(now, Input::Tick),
        }
        self.follow(now);
    }

    /// Passes an input to the [`CommandInterlock`], and carries out the action that it returns.
    fn judge(&mut self, now: Instant, input: InterlockInput, mode: Mode) {
        self.mode = mode;
        match (self.leave.handle(input, mode), self.asked) {
            (InterlockOutput::Connect, _) => self.client.handle(now, Input::Start),
            (InterlockOutput::Release, _) => (self.release, self.released_by) = (true, Some(now + RELEASED_IN)),
            (InterlockOutput::Send, Some(arm_command)) => {
                self.released_by = None;
                self.client.handle(now, Input::Request(arm_command.request()));
            }
            // Another command is in progress; the later one is rejected.
            (InterlockOutput::End(Outcome::Busy), _) => self.event = Some(Outcome::Busy),
            (InterlockOutput::End(outcome), _) => self.end(now, outcome),
            (InterlockOutput::Nothing | InterlockOutput::Send, _) => {}
        }
    }

    /// Returns the buffer for bytes received from the dashboard server.
    pub fn receive_window(&mut self) -> &mut [u8] {
        self.client.receive_window()
    }

    /// Records that `count` bytes were received into the [window](Self::receive_window).
    pub fn commit(&mut self, count: usize, now: Instant) {
        self.client.commit(count, now);
        self.follow(now);
    }

    /// Handles the events of the dashboard client, and continues or ends the present command.
    fn follow(&mut self, now: Instant) {
        loop {
            let outcome = match self.client.poll_event() {
                None => return,
                // A line without a request is not a reply.
                Some(Event::Unasked(_)) => continue,
                Some(Event::Ready) => {
                    self.judge(now, InterlockInput::Listens, self.mode);
                    continue;
                }
                Some(Event::Replied { reply, .. }) => Outcome::of_reply(&reply),
                Some(
                    Event::NotConnected { .. }
                    | Event::WrongService { .. }
                    | Event::Silent { request: None, .. }
                    | Event::Closed { request: None },
                ) => Outcome::NotConnected,
                Some(_) => Outcome::NoAnswer,
            };
            self.end(now, outcome);
        }
    }

    /// Ends the command with this outcome and closes its connection to the dashboard server.
    fn end(&mut self, now: Instant, outcome: Outcome) {
        if self.asked.take().is_none() {
            return;
        }
        // The command ends in any mode.
        let _ = self.leave.handle(InterlockInput::Over, self.mode);
        (self.release, self.released_by) = (false, None);
        self.event = Some(outcome);
        self.close = true;
        // Further outputs of the client are of no use.
        self.client.handle(now, Input::Closed);
        while self.client.poll_output().is_some() {}
    }

    /// Returns the next action that the caller has to carry out, on the connection or the engine; `None` if there is
    /// none.
    pub fn poll_output(&mut self) -> Option<ServiceCommandOutput<'_>> {
        if core::mem::take(&mut self.close) {
            return Some(ServiceCommandOutput::Close);
        }
        if core::mem::take(&mut self.release) {
            return Some(ServiceCommandOutput::Release);
        }
        self.client.poll_output().map(|output| match output {
            Output::Open { port } => ServiceCommandOutput::Open { port },
            Output::Transmit(bytes) => ServiceCommandOutput::Transmit(bytes),
            Output::Close => ServiceCommandOutput::Close,
        })
    }

    /// Returns the outcome of the command to the dashboard server; `None` if there is none, or it was taken.
    pub fn poll_event(&mut self) -> Option<Outcome> {
        self.event.take()
    }

    /// Returns the latest time of a [`ServiceCommandInput::Tick`]; `None` while no deadline runs.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.released_by.or_else(|| self.client.poll_timeout())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREETING: &str = "Connected: Universal Robots Dashboard Server\n";
    const START: Instant = Instant::from_micros(7_000_000);

    fn after(millis: u64) -> Instant {
        START + Duration::from_millis(millis)
    }

    /// Passes `text` to the client as bytes received from the dashboard server, in pieces of this size.
    fn told(command: &mut ServiceCommand<'_>, text: &str, piece: usize, now: Instant) {
        for bytes in text.as_bytes().chunks(piece) {
            command.receive_window()[..bytes.len()].copy_from_slice(bytes);
            command.commit(bytes.len(), now);
        }
    }

    /// Returns the text that the client sends to the dashboard server next; `None` if the client has no output.
    fn sent(command: &mut ServiceCommand<'_>) -> Option<String> {
        match command.poll_output()? {
            ServiceCommandOutput::Transmit(bytes) => Some(String::from_utf8(bytes.to_vec()).unwrap()),
            other => panic!("{other:?}"),
        }
    }

    fn greeted(command: &mut ServiceCommand<'_>, arm_command: ArmCommand, piece: usize) {
        command.handle(START, ServiceCommandInput::Ask(arm_command, Mode::Monitor));
        assert_eq!(command.poll_output(), Some(ServiceCommandOutput::Open { port: 29_999 }));
        command.handle(after(1), ServiceCommandInput::Opened);
        assert_eq!(command.poll_output(), None, "the server speaks first");
        told(command, GREETING, piece, after(2));
        assert_eq!(command.poll_output(), Some(ServiceCommandOutput::Release));
        assert_eq!(command.poll_output(), None, "nothing is sent before the engine has had that");
        command.handle(after(2), ServiceCommandInput::Released(Mode::Monitor));
    }

    #[test]
    fn each_is_asked_once_over_a_connection_of_its_own_in_whatever_pieces_it_is_answered() {
        let mut memory = [0; 512];
        let mut command = ServiceCommand::new(&mut memory);
        for piece in [1, 3, 512] {
            for (arm_command, line, reply) in [
                (ArmCommand::PowerOn, "power on\n", "Powering on\n"),
                (ArmCommand::BrakeRelease, "brake release\n", "Brake releasing\n"),
                (ArmCommand::UnlockProtectiveStop, "unlock protective stop\n", "Protective stop releasing\n"),
                (ArmCommand::ClosePopup, "close popup\n", "closing popup\n"),
                (ArmCommand::CloseSafetyPopup, "close safety popup\n", "closing safety popup\n"),
            ] {
                assert_eq!(ArmCommand::of_word(arm_command.word()), Some(arm_command));
                greeted(&mut command, arm_command, piece);
                assert_eq!(sent(&mut command).as_deref(), Some(line));
                assert_eq!((command.poll_event(), command.poll_output()), (None, None));
                told(&mut command, reply, piece, after(40));
                assert_eq!(command.poll_event(), Some(Outcome::Taken), "{arm_command:?}");
                assert_eq!(command.poll_output(), Some(ServiceCommandOutput::Close));
                assert_eq!((command.poll_timeout(), command.is_busy(), command.poll_output()), (None, false, None));
            }
        }
    }

    #[test]
    fn a_refusal_is_told_by_its_cause() {
        let mut memory = [0; 512];
        let mut command = ServiceCommand::new(&mut memory);
        let late = "Cannot unlock protective stop until 5s after occurrence. Always inspect cause of protective stop before unlocking\n";
        for (reply, outcome) in [
            ("Command is not allowed due to safety reasons\n", Outcome::LocalControl),
            ("Failed to execute: unlock protective stop\n", Outcome::Refused),
            (late, Outcome::TooEarly),
            ("could not understand: 'unlock protective stop'\n", Outcome::NotKnown),
            ("Robotmode: RUNNING\n", Outcome::NoAnswer),
        ] {
            greeted(&mut command, ArmCommand::UnlockProtectiveStop, 64);
            assert!(sent(&mut command).is_some());
            told(&mut command, reply, 64, after(40));
            assert_eq!(
                (command.poll_event(), command.poll_output()),
                (Some(outcome), Some(ServiceCommandOutput::Close)),
                "{reply}"
            );
        }
    }

    #[test]
    fn nothing_is_sent_while_the_arm_is_commanded_whatever_it_was_when_it_was_asked() {
        let mut memory = [0; 512];
        let mut command = ServiceCommand::new(&mut memory);
        for mode in [Mode::Arming, Mode::Command, Mode::Stopping] {
            command.handle(START, ServiceCommandInput::Ask(ArmCommand::BrakeRelease, mode));
            assert_eq!(command.poll_event(), Some(Outcome::Commanding));
            assert_eq!(
                command.poll_output(),
                Some(ServiceCommandOutput::Close),
                "there is nothing to be closed, and no harm in it"
            );
            assert_eq!(command.poll_output(), None, "no connection is opened");
            // The arm is armed while the connection is made.
            command.handle(START, ServiceCommandInput::Ask(ArmCommand::BrakeRelease, Mode::Monitor));
            assert!(matches!(command.poll_output(), Some(ServiceCommandOutput::Open { .. })));
            command.handle(after(1), ServiceCommandInput::Opened);
            command.handle(after(2), ServiceCommandInput::Mode(mode));
            told(&mut command, GREETING, 512, after(2));
            assert_eq!(
                (command.poll_event(), command.poll_output()),
                (Some(Outcome::Commanding), Some(ServiceCommandOutput::Close))
            );
            assert_eq!(command.poll_output(), None, "nothing was sent");
            // The arm is armed while the release is being processed.
            for armed in [ServiceCommandInput::Mode(mode), ServiceCommandInput::Released(mode)] {
                command.handle(START, ServiceCommandInput::Ask(ArmCommand::BrakeRelease, Mode::Monitor));
                assert!(matches!(command.poll_output(), Some(ServiceCommandOutput::Open { .. })));
                command.handle(after(1), ServiceCommandInput::Opened);
                told(&mut command, GREETING, 512, after(2));
                assert_eq!(command.poll_output(), Some(ServiceCommandOutput::Release));
                command.handle(after(3), armed);
                assert_eq!(
                    (command.poll_event(), command.poll_output()),
                    (Some(Outcome::Commanding), Some(ServiceCommandOutput::Close))
                );
                assert_eq!(command.poll_output(), None, "nothing was sent");
                assert!(!command.is_busy());
            }
        }
    }

    #[test]
    fn every_wait_ends() {
        let mut memory = [0; 512];
        let mut command = ServiceCommand::new(&mut memory);
        let tick = |command: &mut ServiceCommand<'_>| {
            let due = command.poll_timeout().expect("a deadline");
            command.handle(due, ServiceCommandInput::Tick);
            let (outcome, closes) = (command.poll_event(), command.poll_output() == Some(ServiceCommandOutput::Close));
            (due.since(START).as_millis(), outcome, closes)
        };
        command.handle(START, ServiceCommandInput::Ask(ArmCommand::PowerOn, Mode::Offline));
        assert!(matches!(command.poll_output(), Some(ServiceCommandOutput::Open { .. })));
        assert_eq!(tick(&mut command), (5_000, Some(Outcome::NotConnected), true));
        command.handle(START, ServiceCommandInput::Ask(ArmCommand::PowerOn, Mode::Offline));
        assert!(matches!(command.poll_output(), Some(ServiceCommandOutput::Open { .. })));
        command.handle(after(10), ServiceCommandInput::Opened);
        assert_eq!(tick(&mut command), (2_010, Some(Outcome::NotConnected), true));
        // The engine does not report that it has processed the release.
        command.handle(START, ServiceCommandInput::Ask(ArmCommand::PowerOn, Mode::Offline));
        assert!(matches!(command.poll_output(), Some(ServiceCommandOutput::Open { .. })));
        command.handle(after(1), ServiceCommandInput::Opened);
        told(&mut command, GREETING, 512, after(2));
        assert_eq!(command.poll_output(), Some(ServiceCommandOutput::Release));
        assert_eq!(tick(&mut command), (1_002, Some(Outcome::Commanding), true));
        greeted(&mut command, ArmCommand::PowerOn, 64);
        assert!(sent(&mut command).is_some());
        command.handle(after(3), ServiceCommandInput::Ask(ArmCommand::BrakeRelease, Mode::Offline));
        assert_eq!(command.poll_event(), Some(Outcome::Busy));
        assert_eq!(tick(&mut command), (10_002, Some(Outcome::NoAnswer), true));
        assert_eq!((command.is_busy(), command.poll_timeout()), (false, None));
    }

    #[test]
    fn a_connection_that_ends_or_is_somebody_elses_is_told() {
        let mut memory = [0; 512];
        let mut command = ServiceCommand::new(&mut memory);
        for (text, asks, outcome) in
            [("HTTP/1.1 400 Bad Request\r\n", false, Outcome::NotConnected), (GREETING, true, Outcome::NoAnswer)]
        {
            command.handle(START, ServiceCommandInput::Ask(ArmCommand::ClosePopup, Mode::Offline));
            assert!(matches!(command.poll_output(), Some(ServiceCommandOutput::Open { .. })));
            command.handle(after(1), ServiceCommandInput::Opened);
            told(&mut command, text, 512, after(2));
            if asks {
                assert_eq!(command.poll_output(), Some(ServiceCommandOutput::Release));
                command.handle(after(2), ServiceCommandInput::Released(Mode::Offline));
                assert!(sent(&mut command).is_some());
                command.handle(after(3), ServiceCommandInput::Closed);
            }
            assert_eq!(
                (command.poll_event(), command.poll_output()),
                (Some(outcome), Some(ServiceCommandOutput::Close)),
                "{text}"
            );
        }
    }
}
