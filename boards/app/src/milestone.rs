//! What a log of this device says: few lines, always the same for the same story.
//!
//! States come 500 times a second, and so may garbage; both are counted, not told. A line is written when something
//! happened that a person would want to know hours later.

use outrigger_core::link::GradeChange;
use outrigger_core::mode::{Mode, Transition};
use outrigger_core::robot::Reason;
use outrigger_core::session::{DownCause, Endpoint, Event, Identity, LinkId, Next};
use outrigger_embassy::Trouble;

/// One line of the log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Milestone {
    /// The network interface is connected, or no longer.
    Network(bool),
    /// A session with this controller began.
    Connected(Identity),
    /// The grade of the link changed.
    Grade(GradeChange),
    /// A request was accepted.
    Arming,
    /// Command was granted, for the how manyth time since boot.
    Armed(u32),
    /// A request or an acknowledgement was refused.
    Refused(Reason),
    /// Arming was given up.
    NotArmed(Reason),
    /// Commanding ended.
    Fallback(Reason),
    /// Commanding ended because an operator took the request back.
    Released,
    /// Standstill was measured, or could not be.
    AtRest(Option<Reason>),
    /// A link is down.
    Down {
        /// The link.
        link: LinkId,
        /// Its port.
        endpoint: Endpoint,
        /// Why.
        cause: DownCause,
        /// What the network stack knows about it.
        trouble: Option<Trouble>,
        /// What follows.
        next: Next,
    },
    /// Lines that found no room.
    Missed(u32),
}

impl Milestone {
    /// What `event` is in the log; `None` for what is only counted. `armed` is how often command was granted before,
    /// `trouble` what the network stack knows about a link.
    pub(crate) fn of(event: &Event, armed: u32, trouble: impl Fn(LinkId) -> Option<Trouble>) -> Option<Self> {
        match *event {
            Event::Established(identity) => Some(Self::Connected(identity)),
            Event::Grade(change) => Some(Self::Grade(change)),
            Event::Refused(reason) => Some(Self::Refused(reason)),
            Event::Transition(transition) => Self::of_transition(&transition, armed),
            Event::Down { link, endpoint, cause, next } => {
                Some(Self::Down { link, endpoint, cause, trouble: trouble(link), next })
            }
            Event::Lost(count) => Some(Self::Missed(count)),
            _ => None,
        }
    }

    fn of_transition(transition: &Transition, armed: u32) -> Option<Self> {
        let Transition { from, to, reason, .. } = *transition;
        match (from, to) {
            (_, Mode::Arming) => Some(Self::Arming),
            (_, Mode::Command) => Some(Self::Armed(armed.saturating_add(1))),
            (Mode::Arming, _) => reason.map(Self::NotArmed),
            (Mode::Command, _) => match reason {
                None | Some(Reason::Released) => Some(Self::Released),
                Some(reason) => Some(Self::Fallback(reason)),
            },
            (Mode::Stopping, Mode::Monitor) => Some(Self::AtRest(None)),
            (Mode::Stopping, _) => Some(Self::AtRest(Some(Reason::MotionUnknown))),
            (Mode::Offline | Mode::Monitor, _) => None,
        }
    }

    /// Writes the line.
    pub fn log(&self) {
        match self {
            Self::Network(true) => info!("network: link up"),
            Self::Network(false) => info!("network: link down"),
            Self::Connected(identity) => info!("connected: {}", identity),
            Self::Grade(change) => info!("grade: {} -> {} ({})", change.from, change.to, change.cause),
            Self::Arming => info!("arming"),
            Self::Armed(1) => info!("armed"),
            Self::Armed(times) => info!("armed again ({})", times),
            Self::Refused(reason) => info!("refused: {}, {}", reason, reason.text()),
            Self::NotArmed(reason) => info!("not armed: {}, {}", reason, reason.text()),
            Self::Fallback(reason) => info!("fallback: {}, {}", reason, reason.text()),
            Self::Released => info!("released"),
            Self::AtRest(None) => info!("at rest"),
            Self::AtRest(Some(reason)) => info!("not known to be at rest: {}", reason.text()),
            Self::Down { endpoint, cause, trouble, next, .. } => {
                let why = trouble.map_or("", Trouble::text);
                match next {
                    Next::Retry(after) | Next::NewSession(after) => {
                        info!("port {}: {}; {}; again in {} ms", endpoint.port, cause, why, after.as_millis());
                    }
                    Next::OtherPort | Next::Without | Next::Nothing => {
                        info!("port {}: {}; {}; {}", endpoint.port, cause, why, next);
                    }
                }
            }
            Self::Missed(count) => info!("{} lines missed", count),
        }
    }
}
