//! What an engine reports.

use heapless::Deque;
#[cfg(feature = "postcard")]
use heapless::Vec;

use super::fri::FriEvent;
use super::identity::Identity;
use super::io::{Endpoint, LinkId};
use super::rtde::Unusable;
use crate::client::rtde::NotOurs;
use crate::command::Bridged;
use crate::command::outputs::{Write, WriteNews};
use crate::frame::{Found, FrameError};
use crate::link::GradeChange;
use crate::mode::{Lapse, Refusal, Transition};
use crate::robot::Reason;
use crate::time::Duration;
use crate::wire::WireError;
use crate::wire::primary::Report;

/// Something an operator or a log should know. None of them needs an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Event {
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
    /// The mode changed.
    Transition(Transition),
    /// A request, or an acknowledgement, was refused; it is spent.
    Refused(Refusal),
    /// The grade of the real-time link changed.
    Grade(GradeChange),
    /// The controller's clock began anew, or jumped; counted from the start of the session.
    ClockJump(u32),
    /// This device itself stood still, and was called late.
    LocalStall,
    /// A sensor's reading was too old and was bridged for a cycle.
    Bridged(Bridged),
    /// What became of an [`Input::Set`](super::Input::Set).
    Output {
        /// What was to be set.
        write: Write,
        /// What became of it.
        news: WriteNews,
    },
    /// An input of RTDE that was claimed is not ours in this session.
    NotOurs(NotOurs),
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
    /// About a KRC.
    Fri(FriEvent),
    /// So many events found no room, because nobody took them.
    Lost(u32),
    /// The robot's speed scaling is 0 while commanding, so that zero velocity goes out (`true`); or it no longer is.
    HeldByScaling(bool),
    /// The [automatic request](crate::mode::OperatorConfig::start_within) is not asked any more.
    Lapsed(Lapse),
    /// Commanding begins, and a stop at the pendant could not be told from our own text: it is overridden.
    PendantOverridden,
}

/// What follows the loss of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
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
#[cfg_attr(feature = "postcard", derive(serde::Serialize, serde::Deserialize))]
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

/// Events waiting to be taken.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: Deque<Event, 16>,
    lost: u32,
    /// Transitions since [`Events::begin`], whether or not there was room in the queue: the recorder's.
    #[cfg(feature = "postcard")]
    transitions: Vec<Transition, 8>,
}

impl Events {
    /// Appends; where there is no room it is counted as lost. The oldest stay: they explain what follows.
    pub(super) fn push(&mut self, event: Event) {
        #[cfg(feature = "postcard")]
        if let Event::Transition(transition) = event {
            // One input makes a handful at most; a further one would only be missing in a recording.
            let _ = self.transitions.push(transition);
        }
        if self.queue.push_back(event).is_err() {
            self.lost = self.lost.saturating_add(1);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.queue.pop_front().or_else(|| match core::mem::take(&mut self.lost) {
            0 => None,
            lost => Some(Event::Lost(lost)),
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.lost == 0
    }

    /// A new input begins.
    pub(super) fn begin(&mut self) {
        #[cfg(feature = "postcard")]
        self.transitions.clear();
    }

    /// Transitions since then.
    #[cfg(feature = "postcard")]
    pub(super) fn transitions(&self) -> &[Transition] {
        &self.transitions
    }
}
