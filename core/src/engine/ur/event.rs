//! What only an engine beside a controller of Universal Robots reports.

use super::identity::Identity;
use super::rtde::Unusable;
use crate::client::rtde::NotOurs;
use crate::engine::io::{Endpoint, LinkId};
use crate::robot::Reason;
use outrigger_wire::WireError;
use outrigger_wire::forward::TrajectoryResult;
use outrigger_wire::frame::{Found, FrameError};
use outrigger_wire::primary::Report;
use outrigger_wire::program::Ending;
use outrigger_wire::time::Duration;

/// About the connections to a controller of Universal Robots, and what it says.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum UrEvent {
    /// A connection is asked for.
    Opening {
        /// The link.
        link: LinkId,
        /// Where to.
        endpoint: Endpoint,
    },
    /// A connection stands; nothing is understood on it yet.
    Opened(LinkId),
    /// A link is down.
    Down {
        /// The link.
        link: LinkId,
        /// Which port it was, or was to be, connected to.
        endpoint: Endpoint,
        /// Why.
        cause: DownCause,
        /// What follows.
        next: Next,
    },
    /// A new session: this controller was found.
    Established(Identity),
    /// An input of RTDE that was claimed is not ours in this session.
    NotOurs(NotOurs),
    /// About the program that carries our commands.
    Program(ProgramNews),
    /// A message of the controller to people.
    Report(Report),
    /// A stream was not one message after the other; bytes were skipped.
    Skipped {
        /// The link.
        link: LinkId,
        /// What happened.
        error: FrameError,
    },
    /// A message could not be used.
    Malformed {
        /// The link.
        link: LinkId,
        /// What is wrong with it.
        error: WireError,
    },
}

/// About the program of ours that carries commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ProgramNews {
    /// This controller's software cannot run it.
    Unfit,
    /// Its text goes out.
    Sent,
    /// It has connected, and takes orders.
    Connected,
    /// It has ended.
    Ended(Ending),
    /// A connection from the controller's address was closed, since it did not prove to be of our program in this session, or sent
    /// something that our program never does. Told of the first since ours connected, the second, the fourth and so on.
    Other {
        /// The link on which it connected.
        link: LinkId,
        /// The number of bytes that came, 0 where none did.
        bytes: u8,
        /// The first four bytes that came at once, most significant first; 0 where fewer did.
        said: i32,
        /// The version of a greeting: [`Hello::VERSION`](outrigger_wire::program::Hello::VERSION) of an earlier text of ours, 0 where
        /// there was no greeting.
        version: i32,
    },
    /// Somebody has connected who is not the controller, or whom nobody waits for: so many by now, all turned away. Told at the
    /// first, the second, the fourth and so on.
    Stranger(u32),
    /// The tool touches something, and the motion that the program makes ends for it.
    Contact {
        /// So many control cycles before the program saw it, the contact began.
        cycles: u32,
    },
    /// A program of External Control says how the trajectory has ended that it was given.
    Trajectory(TrajectoryResult),
    /// The arm is behind what the program was given, by so much of the controller's time: behind a trajectory that External
    /// Control makes, reported once of each; or behind positions that came late, which it then follows within its limits,
    /// reported the first time since the program connected, the second, the fourth and so on.
    Late(Duration),
    /// The last position of a motion was repeated until the arm came to it, or for as long as it may take.
    Converged {
        /// Set where every joint is within `convergence`, which a build with feature `motions` takes.
        converged: bool,
        /// The distance of the joint that is furthest away from it \[µrad\].
        off: u32,
    },
}

/// What follows the loss of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum Next {
    /// The link's other port is tried at once.
    OtherPort,
    /// The session goes on without the link.
    Without,
    /// The session goes on; the link is tried again after this time.
    Retry(Duration),
    /// The session is over; a new one begins after this time.
    NewSession(Duration),
    /// Nothing: the engine was told to shut down.
    Nothing,
}

/// Why a link is down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub enum DownCause {
    /// The connection was refused.
    Refused,
    /// No connection within the time allowed.
    OpenTimeout,
    /// Connected, but nothing came that could be understood.
    NoGreeting,
    /// Something else than the expected service answers.
    WrongService(Found),
    /// The peer closed the connection.
    Closed,
    /// Nothing came for too long.
    Silent,
    /// The peer acknowledges nothing.
    Unacknowledged,
    /// The controller is not the one the session began with.
    OtherController,
    /// It was in local control, and connections made then take no text: they are made anew.
    LocalControl,
    /// RTDE cannot give the states.
    Rtde(Unusable),
}

impl DownCause {
    /// What ends commanding where the link goes down for this cause.
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
