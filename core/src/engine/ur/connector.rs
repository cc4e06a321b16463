//! The connector: the order in which links are opened, a deadline for every wait, and the back-off between attempts.
//!
//! | stage | waits for | next stage |
//! |---|---|---|
//! | `Idle` | start | `Primary` |
//! | `Primary` | 30001, else 30002: opened, first message | `Realtime`; without either port, `Realtime` or, if the primary link is required, `Waiting` |
//! | `Realtime` | 30003: opened, enough packets to identify the controller | `Rtde` if states are to come from it, else `Up`; lost: `Waiting` |
//! | `Rtde` | 30004: opened, negotiated, first state | `Up`; without it also `Up` or, if RTDE is required, `Waiting` |
//! | `Up` | nothing; a lost primary link is reopened meanwhile | another link lost: `Waiting` |
//! | `Waiting` | the back-off | `Primary`, a new session |

use super::config::{ConnectConfig, StatesFrom};
use super::event::{DownCause, Next};
use super::links::LINKS;
use crate::engine::io::{Endpoint, LinkId, Output};
use outrigger_wire::time::Instant;

/// Decides which links to the controller are opened or closed, and has the deadline of each.
#[derive(Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Connector {
    config: ConnectConfig,
    stage: ConnectorState,
    links: [Connection; LINKS.len()],
    /// The number of consecutive sessions that failed to be established or to last.
    failures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum ConnectorState {
    Idle,
    Waiting { until: Instant },
    Primary,
    Realtime,
    Rtde,
    Up { since: Instant },
}

/// The state of one link to the controller.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
struct Connection {
    phase: Phase,
    /// The index of the configured port that is tried for this link.
    candidate: usize,
    /// The number of consecutive failed attempts to connect, while the session is up.
    failures: u32,
    open_wanted: bool,
    abort_wanted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "record", derive(serde::Serialize, serde::Deserialize))]
enum Phase {
    Down {
        retry_at: Option<Instant>,
    },
    Opening {
        deadline: Instant,
    },
    /// The link is connected, and no message on it was understood yet.
    Greeting {
        deadline: Instant,
    },
    /// The link is in operation. It counts as lost if no message arrives until the deadline.
    Up {
        deadline: Instant,
    },
}

impl Connection {
    const DOWN: Self = Self {
        phase: Phase::Down { retry_at: None },
        candidate: 0,
        failures: 0,
        open_wanted: false,
        abort_wanted: false,
    };

    /// Takes the link down. Requests a reset of the link's socket, unless the socket is `closed` already.
    fn give_up(&mut self, closed: bool) {
        let asked = core::mem::take(&mut self.open_wanted);
        self.abort_wanted |= !matches!(self.phase, Phase::Down { .. }) && !closed && !asked;
        self.phase = Phase::Down { retry_at: None };
    }

    fn deadline(&self) -> Option<Instant> {
        match self.phase {
            Phase::Down { retry_at } => retry_at,
            Phase::Opening { deadline } | Phase::Greeting { deadline } | Phase::Up { deadline } => Some(deadline),
        }
    }
}

impl Connector {
    pub(super) fn new(config: ConnectConfig) -> Self {
        Self { config, stage: ConnectorState::Idle, links: [Connection::DOWN; LINKS.len()], failures: 0 }
    }

    /// Starts to connect to the controller for a session, unless a session is in progress or prepared.
    pub(super) fn start(&mut self, now: Instant) {
        if self.stage == ConnectorState::Idle {
            self.begin(now);
        }
    }

    /// Takes the report that a link is connected. Returns `false` if no connection was requested.
    pub(super) fn opened(&mut self, link: LinkId, now: Instant) -> bool {
        let deadline = now + self.config.first_message_timeout;
        let connection = self.link_mut(link);
        let expected = matches!(connection.phase, Phase::Opening { .. });
        if expected {
            connection.phase = Phase::Greeting { deadline };
        }
        expected
    }

    /// Records that the link has proven to be the expected service of the controller.
    pub(super) fn greeted(&mut self, link: LinkId, now: Instant) {
        let deadline = now + self.config.silence_timeout;
        let connection = self.link_mut(link);
        if !matches!(connection.phase, Phase::Greeting { .. }) {
            return;
        }
        connection.phase = Phase::Up { deadline };
        connection.failures = 0;
        match self.stage {
            ConnectorState::Primary if link == LinkId::PRIMARY => self.open_realtime(now),
            ConnectorState::Realtime if link == LinkId::REALTIME => self.up(now),
            ConnectorState::Rtde if link == LinkId::RTDE => self.up(now),
            _ => {}
        }
    }

    /// Opens RTDE, because the real-time link has identified the controller and states are to come from RTDE.
    pub(super) fn ask_rtde(&mut self, now: Instant) {
        if self.stage == ConnectorState::Realtime {
            self.stage = ConnectorState::Rtde;
            self.greeted(LinkId::REALTIME, now);
            self.open(LinkId::RTDE, now);
        }
    }

    /// Restarts the wait for the first message on a link that needs requests, because the controller has replied to
    /// one.
    pub(super) fn answered(&mut self, link: LinkId, now: Instant) {
        let later = now + self.config.first_message_timeout;
        if let Phase::Greeting { deadline } = &mut self.link_mut(link).phase {
            *deadline = later;
        }
    }

    fn up(&mut self, now: Instant) {
        self.stage = ConnectorState::Up { since: now };
        if self.link(LinkId::PRIMARY).phase == (Phase::Down { retry_at: None }) && self.primary_port(0).is_some() {
            self.retry_primary(now);
        }
    }

    /// Records that a message on the link was understood, so that it is not silent.
    pub(super) fn heard(&mut self, link: LinkId, now: Instant) {
        let deadline = now + self.config.silence_timeout;
        if let Phase::Up { deadline: at } = &mut self.link_mut(link).phase {
            *at = deadline;
        }
    }

    /// Records that a link is lost or closed by us. Returns the link's port and the consequence; `None` if the link
    /// was not open.
    pub(super) fn lost(&mut self, link: LinkId, cause: DownCause, now: Instant) -> Option<(Endpoint, Next)> {
        if matches!(self.link(link).phase, Phase::Down { .. }) {
            return None;
        }
        let endpoint = self.endpoint(link);
        self.link_mut(link).give_up(matches!(cause, DownCause::Refused | DownCause::Closed));
        let next = match (link, self.stage) {
            (_, ConnectorState::Idle | ConnectorState::Waiting { .. }) => Next::Nothing,
            (LinkId::REALTIME, _) => self.end_session(now),
            (LinkId::RTDE, ConnectorState::Rtde) if self.config.states != StatesFrom::Rtde => {
                self.up(now);
                Next::Without
            }
            (LinkId::RTDE, _) => self.end_session(now),
            (_, ConnectorState::Primary) => self.other_port(now),
            (_, ConnectorState::Realtime | ConnectorState::Rtde) => Next::Without,
            (_, ConnectorState::Up { .. }) => self.retry_primary(now),
        };
        Some((endpoint, next))
    }

    /// Returns the link whose deadline has passed, and the cause of its loss; `None` if there is none. The caller
    /// reports the loss; the end of a back-off is handled here.
    pub(super) fn tick(&mut self, now: Instant) -> Option<(LinkId, DownCause)> {
        if let ConnectorState::Waiting { until } = self.stage
            && until <= now
        {
            self.begin(now);
        }
        for link in LINKS {
            match self.link(link).phase {
                Phase::Down { retry_at: Some(at) } if at <= now => self.open(link, now),
                Phase::Opening { deadline } if deadline <= now => return Some((link, DownCause::OpenTimeout)),
                Phase::Greeting { deadline } if deadline <= now => return Some((link, DownCause::NoGreeting)),
                Phase::Up { deadline } if deadline <= now => return Some((link, DownCause::Silent)),
                Phase::Down { .. } | Phase::Opening { .. } | Phase::Greeting { .. } | Phase::Up { .. } => {}
            }
        }
        None
    }

    /// Closes every link to the controller and opens no more.
    pub(super) fn shut_down(&mut self) {
        self.stage = ConnectorState::Idle;
        self.links.iter_mut().for_each(|connection| connection.give_up(false));
    }

    /// Returns the next request to open or reset a socket; `None` once all are taken. A socket is closed before it is
    /// opened again.
    pub(super) fn poll_output(&mut self) -> Option<Output<'static>> {
        for link in LINKS {
            let endpoint = self.endpoint(link);
            let connection = self.link_mut(link);
            if core::mem::take(&mut connection.abort_wanted) {
                return Some(Output::Abort(link));
            }
            if core::mem::take(&mut connection.open_wanted) {
                return Some(Output::Open { link, endpoint });
            }
        }
        None
    }

    pub(super) fn has_output(&self) -> bool {
        self.links.iter().any(|connection| connection.abort_wanted || connection.open_wanted)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let waiting = if let ConnectorState::Waiting { until } = self.stage { Some(until) } else { None };
        self.links.iter().filter_map(Connection::deadline).chain(waiting).min()
    }

    /// Returns `true` if bytes of this link are read and text may be written to it.
    pub(super) fn is_connected(&self, link: LinkId) -> bool {
        matches!(self.link(link).phase, Phase::Greeting { .. } | Phase::Up { .. })
    }

    /// Returns `true` if the link has proven to be the expected service.
    pub(super) fn is_greeted(&self, link: LinkId) -> bool {
        matches!(self.link(link).phase, Phase::Up { .. })
    }

    /// Returns the port that the link is connected to, or tries next.
    pub(super) fn endpoint(&self, link: LinkId) -> Endpoint {
        let port = match link {
            LinkId::REALTIME => self.config.ports.realtime,
            LinkId::RTDE => self.config.ports.rtde,
            _ => self.primary_port(self.link(LinkId::PRIMARY).candidate).unwrap_or_default(),
        };
        Endpoint { port }
    }

    fn begin(&mut self, now: Instant) {
        self.link_mut(LinkId::PRIMARY).candidate = 0;
        if self.primary_port(0).is_some() {
            self.stage = ConnectorState::Primary;
            self.open(LinkId::PRIMARY, now);
        } else {
            self.open_realtime(now);
        }
    }

    fn open_realtime(&mut self, now: Instant) {
        self.stage = ConnectorState::Realtime;
        self.open(LinkId::REALTIME, now);
    }

    #[inline(never)]
    fn open(&mut self, link: LinkId, now: Instant) {
        let deadline = now + self.config.open_timeout;
        let connection = self.link_mut(link);
        connection.phase = Phase::Opening { deadline };
        connection.open_wanted = true;
    }

    /// Tries the primary link's next port during detection: 30002 after 30001. After the last one, continues with the
    /// real-time link, or ends the session if the primary link is required.
    fn other_port(&mut self, now: Instant) -> Next {
        let next = self.link(LinkId::PRIMARY).candidate.saturating_add(1);
        if self.primary_port(next).is_some() {
            self.link_mut(LinkId::PRIMARY).candidate = next;
            self.open(LinkId::PRIMARY, now);
            return Next::OtherPort;
        }
        if self.config.primary_required {
            return self.end_session(now);
        }
        self.open_realtime(now);
        Next::Without
    }

    fn retry_primary(&mut self, now: Instant) -> Next {
        let next = self.link(LinkId::PRIMARY).candidate.saturating_add(1);
        let candidate = if self.primary_port(next).is_some() { next } else { 0 };
        let wait = self.config.back_off(self.link(LinkId::PRIMARY).failures);
        let connection = self.link_mut(LinkId::PRIMARY);
        connection.candidate = candidate;
        connection.failures = connection.failures.saturating_add(1);
        connection.phase = Phase::Down { retry_at: Some(now + wait) };
        Next::Retry(wait)
    }

    fn end_session(&mut self, now: Instant) -> Next {
        if let ConnectorState::Up { since } = self.stage
            && now.since(since) >= self.config.settled_after
        {
            self.failures = 0;
        }
        self.links.iter_mut().for_each(|connection| connection.give_up(false));
        let wait = self.config.back_off(self.failures);
        self.failures = self.failures.saturating_add(1);
        self.stage = ConnectorState::Waiting { until: now + wait };
        Next::NewSession(wait)
    }

    /// Returns the configured port of the primary link at this place in the order of attempts; `None` after the last
    /// one.
    fn primary_port(&self, candidate: usize) -> Option<u16> {
        [self.config.ports.primary, self.config.ports.secondary].into_iter().flatten().nth(candidate)
    }

    fn link(&self, link: LinkId) -> &Connection {
        let [primary, realtime, rtde] = &self.links;
        match link {
            LinkId::REALTIME => realtime,
            LinkId::RTDE => rtde,
            _ => primary,
        }
    }

    fn link_mut(&mut self, link: LinkId) -> &mut Connection {
        let [primary, realtime, rtde] = &mut self.links;
        match link {
            LinkId::REALTIME => realtime,
            LinkId::RTDE => rtde,
            _ => primary,
        }
    }
}

#[cfg(test)]
mod tests;
