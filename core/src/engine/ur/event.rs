//! The events that only an engine for a controller of Universal Robots reports.

use super::identity::Identity;
use super::rtde::Unusable;
use crate::client::rtde::UnownedInput;
use crate::engine::io::{Endpoint, LinkId};
use crate::robot::Reason;
use outrigger_wire::WireError;
use outrigger_wire::frame::{Found, FrameError};
use outrigger_wire::primary::Report;
use outrigger_wire::program_messages::Ending;
use outrigger_wire::time::Duration;
use outrigger_wire::trajectory_messages::TrajectoryResult;

/// An event of the connections to a controller of Universal Robots, or a message from it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum UrEvent {
    /// A connection to the controller is requested.
    Opening {
        /// The link to the controller that is to be connected.
        link: LinkId,
        /// The TCP port of the controller to connect to.
        endpoint: Endpoint,
    },
    /// A connection is established on this link; no message was understood on it yet.
    Opened(LinkId),
    /// A link to the controller is down, or a port for a program's connection could not be listened on.
    Down {
        /// The link to the controller that is down, or is to be listened for.
        link: LinkId,
        /// The port of the controller that the link was, or was to be, connected to; for a program's connection the port
        /// of this device.
        endpoint: Endpoint,
        /// The cause for which the link is down.
        cause: DownCause,
        /// The consequence of the loss for the session.
        next: Next,
    },
    /// A new session was established with this controller, which was identified.
    Established(Identity),
    /// An RTDE input that the configuration requests is not owned by this session.
    UnownedInput(UnownedInput),
    /// An event of the program on the controller that carries our commands.
    Program(ProgramEvent),
    /// A message of the controller for people, such as an error report.
    Report(Report),
    /// Received bytes were not a sequence of messages; some were skipped.
    Skipped {
        /// The link on which the bytes arrived.
        link: LinkId,
        /// The kind of the event: a message is too long, no message begins where one should, or one was found again.
        error: FrameError,
    },
    /// A received message of the controller could not be used.
    Malformed {
        /// The link on which the message arrived.
        link: LinkId,
        /// The reason for which the message could not be used.
        error: WireError,
    },
}

/// An event of the program of ours on the controller that carries the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ProgramEvent {
    /// The controller cannot run the program: its software is too old, or the program receives its orders in registers
    /// and states do not come by RTDE.
    Unfit,
    /// The text of the program is being sent to the controller.
    Sent,
    /// The program on the controller has connected to us, and accepts orders.
    Connected,
    /// The program on the controller has ended, for this reason.
    Ended(Ending),
    /// A connection from the controller's address was closed, because it did not prove to be our program of this
    /// session, or sent something that our program never does. Reported for the first since ours connected, the second,
    /// the fourth and so on.
    Other {
        /// The link on which the client that is not our program connected.
        link: LinkId,
        /// The number of bytes that the client sent, 0 if none arrived.
        bytes: u8,
        /// The first four of the bytes that arrived last, as a big-endian number that identifies the client's protocol; 0
        /// if fewer arrived at once.
        said: i32,
        /// The version in a greeting: [`Hello::VERSION`](outrigger_wire::program_messages::Hello::VERSION) of an earlier text of
        /// ours, 0 if there was no greeting.
        version: i32,
    },
    /// A connection from another address than the controller's, or one that was not expected, was closed. Contains the
    /// number of such connections so far. Reported for the first, the second, the fourth and so on.
    Stranger(u32),
    /// The tool touches something, and the motion of the program ends because of it.
    Contact {
        /// The number of control cycles between the beginning of the contact and its detection by the program.
        cycles: u32,
    },
    /// A program of External Control reports the result of its trajectory.
    Trajectory(TrajectoryResult),
    /// The arm lags behind the orders of the program, by this much of the controller's time. Either behind a trajectory
    /// that External Control executes, reported once for each; or behind positions that arrived late, which the program
    /// then follows within its limits, reported the first time since the program connected, the second, the fourth and
    /// so on.
    Late(Duration),
    /// The last position of a motion was repeated until the arm reached it, or for the longest time that is allowed.
    Converged {
        /// `true` if every joint is within `convergence` of the last position; that setting exists in builds with the
        /// feature `motions`.
        converged: bool,
        /// The distance from the last position of the joint that is farthest from it \[µrad\].
        off: u32,
    },
}

/// The consequence of the loss of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Next {
    /// The other port of the controller that is configured for the link is tried at once.
    OtherPort,
    /// The session continues without the link.
    Without,
    /// The session continues; the link is tried again after this time.
    Retry(Duration),
    /// The session is over; a new one starts after this time.
    NewSession(Duration),
    /// No consequence: the engine is shutting down.
    Nothing,
}

/// The cause for which a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum DownCause {
    /// The controller refused the connection, or the port for a program's connection could not be listened on.
    Refused,
    /// The connection to the controller could not be made within the timeout.
    OpenTimeout,
    /// The connection to the controller was established, but no message was understood.
    NoGreeting,
    /// Another service than the expected one answers on the link's port.
    WrongService(Found),
    /// The controller closed the connection.
    Closed,
    /// No message arrived on the link for too long.
    Silent,
    /// The controller does not acknowledge the data that was sent on the link.
    Unacknowledged,
    /// The controller reports another software version than that of the session: it is another controller, or the
    /// version was guessed from its packets.
    OtherController,
    /// The connection was made in local control, and accepts no text even afterwards: a new one is made.
    LocalControl,
    /// RTDE cannot deliver the states, for this reason.
    Rtde(Unusable),
}

impl DownCause {
    /// Returns the reason that ends commanding if the link goes down for this cause.
    pub(super) const fn reason(self) -> Reason {
        match self {
            Self::Silent => Reason::StateStale,
            Self::Unacknowledged => Reason::Unacknowledged,
            Self::LocalControl => Reason::NotRemote,
            Self::Refused
            | Self::OpenTimeout
            | Self::NoGreeting
            | Self::WrongService(_)
            | Self::Closed
            | Self::OtherController
            | Self::Rtde(_) => Reason::LinkClosed,
        }
    }
}
